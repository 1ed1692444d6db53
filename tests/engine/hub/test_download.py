"""Published models by name, from a hub of our own that huggingface_hub's real client is sent to."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import time
import tracemalloc
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load, save

from engine.commands.command_line import main
from engine.errors import UserError
from engine.events import Event, Fetched, Finished, result_of
from engine.hub.asked import HubSettings, parse_name, spellings
from engine.hub.client import Client
from engine.hub.download import downloading
from engine.hub.fetch import fetch as child_fetch
from engine.hub.fetch import look
from engine.hub.files import choose
from engine.hub.guard import Guard
from engine.hub.kept import begun_in, discard, hub_record, models_in, part_of, place_of, unfinished
from engine.hub.look import PublishedModel, looked_at, looking, searching
from engine.hub.refusals import HostRefusal, explained
from engine.model.weights import load_pretraining, save_model
from engine.text.read_tokenizer import read_tokenizer
from tests.engine.hostile_folders import Gadget
from tests.engine.text.test_unigram import write_file
from tests.engine.tiny_texts import notes
from tests.fakes import same_weights, tiny_pretraining, tiny_wordpiece
from tests.local_hub import Fault, LocalHub

NAME, WEIGHTS = "google-bert/bert-tiny-tests", "model.safetensors"
HASTE = HubSettings(stall_s=0.5, tries=2, wait_s=0.05, longest_s=0.2)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published") / "model"
    save_model(folder, tiny_pretraining(max_position_embeddings=9000), tiny_wordpiece(), {})
    return folder


@pytest.fixture
def hub(published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalHub]:
    """The hub with one model, and a computer that knows no other."""
    with LocalHub() as made:
        made.publish(NAME, published, license="apache-2.0", language=["en", "zh"])
        monkeypatch.setenv("HF_ENDPOINT", made.url)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
        monkeypatch.setenv("NO_PROXY", "*")
        for name in ("HF_HUB_CACHE", "HF_HUB_OFFLINE", "HF_TOKEN", "HF_TOKEN_PATH", "TRANSFORMERS_OFFLINE"):
            monkeypatch.delenv(name, raising=False)
        yield made


def look_at(name: str = NAME, revision: str = "", settings: HubSettings = HASTE) -> PublishedModel:
    return result_of(looking(name, revision, settings))


def fetch(
    out: Path, name: str = NAME, settings: HubSettings = HASTE, look: PublishedModel | None = None
) -> list[Event]:
    return list(downloading(name, out, settings=settings, look=look))


def refusal(out: Path, settings: HubSettings = HASTE, look: PublishedModel | None = None) -> str:
    with pytest.raises(UserError) as caught:
        fetch(out, settings=settings, look=look)
    assert not out.exists()
    return str(caught.value)


def test_a_name_is_a_name_or_the_address_of_a_page() -> None:
    assert parse_name(" bert-base-chinese ") == ("bert-base-chinese", "")
    assert parse_name("https://somewhere.org/hfl/rbt3/tree/main/") == ("hfl/rbt3", "main")
    for text in ("", "a/b/c", "../etc", "a b", "a--b", "-x", "https://somewhere.org/"):
        with pytest.raises(UserError, match="not the name of a published model"):
            parse_name(text)
    with pytest.raises(UserError, match="not a revision"):
        parse_name("bert-base-chinese", "../x")
    assert spellings("bert-base-chinese") == ["bert-base-chinese", "google-bert/bert-base-chinese"]
    assert spellings("google-bert/bert-base-cased")[1] == "bert-base-cased"
    assert spellings("hfl/rbt3") == ["hfl/rbt3"]


@pytest.mark.slow
def test_a_model_is_looked_at_without_fetching_its_weights(hub: LocalHub) -> None:
    found = look_at("bert-tiny-tests")  # its owner is found
    assert (found.name, found.commit, found.licence, found.languages) == (
        NAME, hub.commit(NAME), "apache-2.0", ("en", "zh"),
    )  # fmt: skip
    assert found.inventory is not None and found.inventory.heads.masked_words
    assert found.kind == "BertForPreTraining" and found.problem is None
    assert set(found.files) == {
        "config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "vocab.txt",
        WEIGHTS,
    }
    assert found.to_fetch == found.num_bytes > hub.served[WEIGHTS] <= 2**16
    assert [one.name for one in result_of(searching("tiny", HASTE))] == [NAME]


def publish_as(hub: LocalHub, published: Path, name: str, kind: str, *languages: str) -> None:
    """Have a model published that says of itself that it is of another family."""
    hub.publish(name, published, language=list(languages))
    document = json.loads(hub.models[name]["config.json"])
    hub.models[name]["config.json"] = json.dumps(
        {**document, "model_type": kind, "architectures": []}
    ).encode()


def test_a_search_finds_every_family_that_is_opened_and_models_by_their_language(
    hub: LocalHub, published: Path
) -> None:
    publish_as(hub, published, "someone/tiny-roberta", "roberta", "de")
    publish_as(hub, published, "someone/tiny-llama", "llama", "de")
    publish_as(hub, published, "someone/tiny-bert-de", "bert", "de", "en")

    def found(words: str) -> set[str]:
        return {one.name for one in result_of(searching(words, HASTE))}

    assert found("tiny") == {NAME, "someone/tiny-roberta", "someone/tiny-bert-de"}
    assert found("German") == {"someone/tiny-roberta", "someone/tiny-bert-de"}
    assert found("Swedish") == set()


@pytest.mark.parametrize(
    ("languages", "instead"),
    [
        (["zh"], "google-bert/bert-base-chinese"),
        (["de"], "google-bert/bert-base-german-cased"),
        (["en", "zh", "de"], "google-bert/bert-base-multilingual-cased"),
        (["en"], "google-bert/bert-base-uncased"),
        ([], "google-bert/bert-base-uncased"),
    ],
)
def test_another_family_is_refused_with_a_model_of_the_same_language(
    hub: LocalHub, published: Path, languages: list[str], instead: str
) -> None:
    publish_as(hub, published, "someone/longformer", "longformer", *languages)
    problem = str(look_at("someone/longformer").problem)
    assert "(Longformer): its attention skips most pairs" in problem and f"Use {instead} instead." in problem


@pytest.mark.slow
def test_a_fetched_model_has_its_source_bit_for_bit_and_says_where_it_is_from(
    hub: LocalHub, published: Path, tmp_path: Path
) -> None:
    hub.aliases["bert-old"] = NAME
    events = fetch(tmp_path / "out", "bert-old")
    assert isinstance(events[-1], Finished) and events[-1].path == tmp_path / "out"
    moved = [event for event in events if isinstance(event, Fetched)]
    assert moved[-1].done == moved[-1].total == sum(len(data) for data in hub.models[NAME].values())
    assert same_weights(load_pretraining(tmp_path / "out")[0], load_pretraining(published)[0])
    record = hub_record(tmp_path / "out")
    assert (record["name"], record["revision"], record["commit"]) == (NAME, "main", hub.commit(NAME))
    assert not part_of(tmp_path / "out").exists()
    before = hub.served[WEIGHTS]
    assert "already" in notes(fetch(tmp_path / "out"))
    assert hub.served[WEIGHTS] - before <= 2**16  # only looked at
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").touch()
    with pytest.raises(UserError, match=r"already holds mine\.txt"):
        fetch(tmp_path / "other")


@pytest.mark.slow
def test_after_a_cut_only_what_is_missing_is_read(hub: LocalHub, published: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    found = look_at()
    hub.faults[WEIGHTS] = Fault(cut_at=200_001)
    assert f"stops sending {WEIGHTS} after 200,001 of" in refusal(out, look=found)
    hub.faults[WEIGHTS] = Fault(cut_at=333_333, times=1)
    fetch(out)  # looked at again, cut once more, and gone on with by itself
    assert hub.served == {file: len(data) for file, data in hub.models[NAME].items()}
    assert (out / WEIGHTS).read_bytes() == (published / WEIGHTS).read_bytes()


@pytest.mark.slow
def test_a_transfer_that_stalls_is_given_up_within_two_seconds(hub: LocalHub, tmp_path: Path) -> None:
    found, out = look_at(), tmp_path / "out"
    hub.faults[WEIGHTS] = Fault(stall_at=100_000)
    steps = downloading(NAME, out, settings=HubSettings(stall_s=60), look=found)
    while unfinished(out) < 100_000:
        next(steps)
    began = time.monotonic()
    steps.close()  # type: ignore[attr-defined]
    assert time.monotonic() - began < 2
    assert not out.exists() and unfinished(out) > 100_000
    assert (part_of(out) / f"{WEIGHTS}.part").stat().st_size == 100_000
    discard(out)
    assert not part_of(out).exists()


@pytest.mark.slow
def test_the_child_ends_with_its_parent(hub: LocalHub, tmp_path: Path) -> None:
    hub.faults["config.json"] = Fault(stall_at=10)
    words = [sys.executable, "-m", "engine.hub"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        question = {"what": "look", "name": NAME, "revision": "", "folder": str(tmp_path)}
        process.stdin.write(json.dumps({**question, "settings": {"stall_s": 60}}).encode() + b"\n")
        process.stdin.flush()
        while not any("config.json" in line for line in hub.asked) and process.poll() is None:
            time.sleep(0.02)
        process.stdin.close()
        assert process.wait(30) == 1


@pytest.mark.slow
def test_the_command_says_what_it_is_and_fetches_it(
    hub: LocalHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["download", "bert-tiny-tests", "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert f"{NAME} at {hub.commit(NAME)[:12]} (main), apache-2.0" in said
    assert "will be loaded" in said and load_pretraining(tmp_path / "out")


def _faults(hub: LocalHub) -> dict[str, tuple[str, Fault, str]]:
    """Return what goes wrong -> with what, how, and what is said of it."""
    far = "localhost:" + hub.host.partition(":")[2]
    return {
        "401": ("api", Fault(status=401), f"{hub.host} does not show"),
        "403": ("api", Fault(status=403), f"{hub.host} does not give you {NAME}"),
        "gated": ("api", Fault(status=403, code="GatedRepo"), "accepted its terms"),
        "404": ("api", Fault(status=404, code="RepoNotFound"), f"{hub.host} has no model named"),
        "revision": ("api", Fault(status=404, code="RevisionNotFound"), "has no revision"),
        "429": ("api", Fault(status=429, headers={"Retry-After": "77"}), "for 77 s"),
        "500": ("api", Fault(status=500), f"{hub.host} has an error of its own (500)"),
        "no hub": ("api", Fault(status=200, body=b"<html>"), "does not answer as a model hub"),
        "deep": ("api", Fault(status=200, body=b"[" * 200_000), "does not answer as a model hub"),
        "a list": ("api", Fault(status=200, body=b"[1]"), "does not answer as a model hub"),
        "stall": (WEIGHTS, Fault(stall_at=99_999), f"{far} stops sending {WEIGHTS} after 99,999 of"),
        "lost": (WEIGHTS, Fault(to="http://127.0.0.1:9/x"), "127.0.0.1:9 cannot be reached"),
        "nowhere": (
            WEIGHTS,
            Fault(to="file:///etc/passwd"),
            "redirects to an address that does not belong to a model",
        ),
        "loop": (WEIGHTS, Fault(to=f"{hub.url}/cdn/{NAME.replace('/', '--')}/{WEIGHTS}"), "without end"),
        "file 503": (WEIGHTS, Fault(status=503), f"{far} has an error of its own (503)"),
        "too long": (WEIGHTS, Fault(body=b"x" * 600_000), f"{far} announced {WEIGHTS}"),
        "digest": (WEIGHTS, Fault(digest="0" * 64), f"{WEIGHTS} from {far} does not match"),
        "small file": ("vocab.txt", Fault(digest="0" * 40), f"vocab.txt from {hub.host} does not match"),
        "no ranges": (WEIGHTS, Fault(cut_at=100_000, no_ranges=True), "stops sending"),
    }


class Asker:
    """A person who asks a hub without a process between: what the child does, in this one."""

    def __init__(self, hub: LocalHub, folder: Path, settings: HubSettings = HASTE) -> None:
        self.client, self.folder = Client(settings, hub.url), folder

    def look(self, name: str = NAME) -> dict[str, Any]:
        self.folder.mkdir(exist_ok=True)
        return self._asked(lambda: look(self.client, name, "", self.folder, self._tell))

    def fetch(self, said: dict[str, Any], out: Path) -> dict[str, Any]:
        out.mkdir(exist_ok=True)
        return self._asked(lambda: child_fetch(self.client, said, out, self._tell))

    def refusal(self, said: dict[str, Any] | None, out: Path) -> str:
        with pytest.raises(UserError) as caught:
            _ = self.look() if said is None else self.fetch(said, out)
        return str(caught.value)

    def _tell(self, *_: object) -> None: ...

    def _asked(self, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        try:
            return work()
        except Exception as error:
            withheld = self.client.guard.withheld
            raise explained(error, NAME, self.client.host, withheld=withheld) or error from error


@pytest.mark.slow
def test_each_fault_of_a_hub_is_one_sentence_that_names_its_host(hub: LocalHub, tmp_path: Path) -> None:
    asker, out = Asker(hub, tmp_path / "look"), tmp_path / "out"
    said = asker.look()
    for what, (key, fault, words) in _faults(hub).items():
        hub.faults = {key: fault}
        found = asker.refusal(None if key == "api" else said, out)
        assert words in found and not (out / WEIGHTS).exists(), f"{what}: {found}"
    hub.faults = {WEIGHTS: Fault(status=416, times=1)}
    asker.fetch(said, out)  # and nothing of all that is left in it
    assert (out / WEIGHTS).read_bytes() == hub.models[NAME][WEIGHTS]
    with LocalHub() as other:
        pass
    assert f"{other.host} cannot be reached" in Asker(other, tmp_path).refusal(None, out)


@pytest.mark.slow
def test_a_part_that_is_no_beginning_of_its_file_is_thrown_away(hub: LocalHub, tmp_path: Path) -> None:
    asker, out = Asker(hub, tmp_path / "look"), tmp_path / "out"
    said = asker.look()
    hub.faults[WEIGHTS] = Fault(cut_at=100_000)
    asker.refusal(said, out)
    hub.faults.clear()
    part = out / f"{WEIGHTS}.part"
    part.write_bytes(b"?" * 100_000)
    assert "checksum" in asker.refusal(said, out)
    part.write_bytes(b"?" * 1_000_000)  # longer than the file
    asker.fetch(said, out)
    assert (out / WEIGHTS).read_bytes() == hub.models[NAME][WEIGHTS]
    hub.models[NAME]["vocab.txt"] += b"x\n"  # a new version: only what changed is fetched
    hub.served.clear()
    asker.fetch(asker.look(), out)
    assert (hub.served["vocab.txt"], hub.served[WEIGHTS]) == (len(hub.models[NAME]["vocab.txt"]), 0)


@pytest.mark.slow
def test_without_a_line_the_cache_of_this_computer_will_do(
    hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert "works offline" in refusal(tmp_path / "out", HubSettings(offline=True))
    commit = hub.commit(NAME)
    cache = tmp_path / "hf" / "hub" / f"models--{NAME.replace('/', '--')}"
    snapshot = cache / "snapshots" / commit
    snapshot.mkdir(parents=True)
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text(commit)
    for file, data in hub.models[NAME].items():
        (snapshot / file).write_bytes(data)
    said = fetch(tmp_path / "reached", "bert-tiny-tests")
    assert "127.0.0.1:9 cannot be reached. The cache of this computer is used." in notes(said)
    assert (tmp_path / "reached" / WEIGHTS).read_bytes() == hub.models[NAME][WEIGHTS]
    hub.served.clear()
    fetch(tmp_path / "beside", settings=HubSettings(mirror=hub.url))  # what is there is not fetched again
    assert not hub.served


@pytest.mark.slow
def test_what_cloze_cannot_open_is_refused_before_it_is_fetched(hub: LocalHub, tmp_path: Path) -> None:
    document = json.loads(hub.models[NAME]["config.json"])

    def config(**changes: Any) -> dict[str, bytes]:
        return {"config.json": json.dumps({**document, **changes}).encode()}

    def shards(*names: str) -> dict[str, bytes]:
        index = {"weight_map": dict.fromkeys("ab", names[0])}
        return {WEIGHTS: b"", f"{WEIGHTS}.index.json": json.dumps(index).encode()}

    cases: dict[str, dict[str, bytes]] = {
        "GPT-2": {**config(model_type="gpt2"), "vocab.txt": b"", "tokenizer.json": b""},
        "has the shape": config(vocab_size=38),
        "no weights that Cloze reads, only weights for TensorFlow": {WEIGHTS: b"", "tf_model.h5": b"x"},
        "cannot read text": {"vocab.txt": b"", "tokenizer.json": b""},
        "names files that are not allowed": shards("../../x.safetensors"),
        "but does not hold it": shards("x.safetensors"),
        "is truncated": {WEIGHTS: hub.models[NAME][WEIGHTS][:-4]},
    }
    whole = dict(hub.models[NAME])
    for number, (words, changes) in enumerate(cases.items()):
        hub.models[NAME] = {file: data for file, data in {**whole, **changes}.items() if data}
        hub.served.clear()
        asker = Asker(hub, tmp_path / str(number))
        with pytest.raises(UserError) as caught:
            found = looked_at(asker.look(), asker.folder)
            raise found.problem or AssertionError(words)
        assert words in str(caught.value) and str(tmp_path) not in str(caught.value)
        assert hub.served[WEIGHTS] <= 2**16


@pytest.mark.slow
def test_a_model_with_a_file_of_pieces_alone_is_fetched_and_a_damaged_one_is_refused(
    hub: LocalHub, tmp_path: Path
) -> None:
    files = hub.models[NAME]
    for name in ("vocab.txt", "tokenizer.json", "tokenizer_config.json"):
        del files[name]
    pieces = [
        ("<pad>", 0.0, 3),
        ("<unk>", 0.0, 2),
        ("[CLS]", 0.0, 3),
        ("[SEP]", 0.0, 3),
        ("\u2581a", -1.0, 1),
    ]
    write_file(tmp_path / "whole.model", pieces)
    files["spiece.model"] = (tmp_path / "whole.model").read_bytes()
    fetch(tmp_path / "out")
    assert read_tokenizer(tmp_path / "out").encode("a A").tokens == ["[CLS]", *["\u2581a"] * 2, "[SEP]"]
    assert choose({WEIGHTS, "config.json", "spm.model"}, NAME).small == ("config.json", "spm.model")
    files["spiece.model"] = b"\x0a\xff\xff"
    with pytest.raises(UserError, match=r"spiece\.model is damaged .*: it is truncated"):
        fetch(tmp_path / "other")


@pytest.mark.slow
def test_a_token_goes_to_its_hub_alone(
    hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.token = "hf_secret"
    asker, out = Asker(hub, tmp_path / "look"), tmp_path / "out"
    assert "sign in" in asker.refusal(None, out)
    with pytest.raises(HostRefusal) as caught:
        asker.client.search("bert")
    assert str(explained(caught.value, "", hub.host)).startswith(f"{hub.host} cannot be searched (401).")
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    assert "Your token was not sent" in asker.refusal(None, out) and not hub.tokens
    allowed = Asker(hub, tmp_path / "allowed", replace(HASTE, send_token=True))
    said = allowed.look()
    assert allowed.refusal(said, out).startswith(
        "localhost"
    )  # where the weights lie: it did not get the token
    assert hub.tokens == {"Bearer hf_secret"}


@pytest.mark.slow
def test_a_mirror_gets_no_token_unasked_and_that_is_told(
    hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.delenv("HF_ENDPOINT")
    at = ["download", NAME, "--look", "--mirror", hub.url]
    assert main(at) == 0 and not hub.tokens
    assert f"Your token was not sent to {hub.host}" in capsys.readouterr().err
    assert main([*at, "--send-token"]) == 0 and hub.tokens == {"Bearer hf_secret"}
    assert "token" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("url", "may"),
    [
        ("https://huggingface.co/api/models", True), ("http://huggingface.co/", False),
        ("https://huggingface.co:444/", False), ("https://huggingface.co.evil.org/", False),
        ("https://evil.org/?huggingface.co", False), ("https://huggingface.co@evil.org/", False),
        ("https://cdn.huggingface.co/", False), ("http://127.0.0.1:9/", False),
        ("https://mirror.org/", False),
    ],
)  # fmt: skip
def test_a_token_goes_to_one_host_on_one_port_and_never_in_the_clear(url: str, may: bool) -> None:
    assert Guard("https://mirror.org", sends_token=False).may_have_token(url) == may
    assert Guard("https://mirror.org", sends_token=True).may_have_token(url) == (may or "mirror.org" in url)


@pytest.mark.slow
@pytest.mark.parametrize(
    "bad",
    [
        "http://127.0.0.1:99999/",
        "http://[::1",
        f"http://{'a' * 300}/",
        "http://a b/",
        "//",
        "http://",
        "\x01",
    ],
)
def test_a_redirect_to_no_address_is_one_sentence(hub: LocalHub, tmp_path: Path, bad: str) -> None:
    asker, out = Asker(hub, tmp_path / "look"), tmp_path / "out"
    said = asker.look()
    for key, found in (("api", None), (WEIGHTS, said)):
        hub.faults = {key: Fault(to=bad)}
        assert asker.refusal(found, out).endswith(".")


def packed(count: int, kind: str = "gzip") -> Fault:
    """Return an answer that unpacks to so many blanks, written without holding them."""
    packing = zlib.compressobj(9, wbits=31 if kind == "gzip" else 15)
    body = b"".join(packing.compress(b" " * 2**20) for _ in range(count // 2**20)) + packing.flush()
    return Fault(status=200, headers={"Content-Encoding": kind}, body=body)


@pytest.mark.skipif(os.name == "nt", reason="memory is not bounded there")
@pytest.mark.parametrize("kind", ["gzip", "deflate", "gzip, gzip", "zstd", "br"])
def test_an_answer_that_unpacks_without_end_is_refused_before_it_fills_the_memory(
    hub: LocalHub, tmp_path: Path, kind: str
) -> None:
    fault = packed(2**26, kind.split(",")[0])
    hub.faults = {"api": replace(fault, headers={"Content-Encoding": kind})}
    asker = Asker(hub, tmp_path / "look")
    tracemalloc.start()
    said = asker.refusal(None, tmp_path / "out")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert said.startswith(hub.host) and most < 40 * 2**20


def test_an_answer_that_is_packed_is_understood(hub: LocalHub, tmp_path: Path) -> None:
    asker = Asker(hub, tmp_path / "look")
    plain = asker.look()
    address = f"{hub.url}/api/models/{NAME}?blobs=true"
    with urllib.request.urlopen(address) as answer:
        body = answer.read()
    for kind, wbits in (("gzip", 31), ("deflate", 15)):
        packing = zlib.compressobj(wbits=wbits)
        data = packing.compress(body) + packing.flush()
        hub.faults = {"api": Fault(status=200, headers={"Content-Encoding": kind}, body=data)}
        assert asker.look() == plain


def test_what_lies_here_of_published_models_is_known_by_their_names(tmp_path: Path) -> None:
    here, begun = place_of(tmp_path, "hfl/rbt3"), place_of(tmp_path, "bert-base-chinese")
    for folder in (here, part_of(begun)):
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")
    (part_of(begun) / "download.json").write_text('{"name": "bert-base-chinese"}')
    assert list(models_in(tmp_path)) == [here]
    assert list(begun_in(tmp_path)) == [("bert-base-chinese", begun)]


@pytest.mark.slow
def test_what_would_run_something_or_holds_no_numbers_is_thrown_away(hub: LocalHub, tmp_path: Path) -> None:
    files = hub.models[NAME]
    stored = load(files.pop(WEIGHTS))
    out, trace = tmp_path / "out", tmp_path / "ran"
    files["pytorch_model.bin"] = pickle.dumps({"x": Gadget(trace)})
    assert "pytorch_model.bin" in refusal(out) and not trace.exists()
    assert not part_of(out).exists()
    stored["bert.embeddings.word_embeddings.weight"][3, 1] = float("nan")
    files[WEIGHTS] = save(stored)
    assert refusal(out).startswith("bert.embeddings.word_embeddings.weight in google-bert/bert-tiny-tests/")
    assert not part_of(out).exists()
