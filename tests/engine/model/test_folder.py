"""Model folders that are broken or mean harm: each is refused in one sentence, and takes no memory."""

from __future__ import annotations

import io
import json
import os
import pickle
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from engine.errors import ModelError
from engine.model import names
from engine.model.weights import load_classifier, load_encoder, read_config
from tests.fakes import model_folder, same_weights, stored_tensors, tiny_classifier

KEY_BIAS = "bert.encoder.layer.1.attention.self.key.bias"
WORDS = "bert.embeddings.word_embeddings.weight"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return model_folder(tmp_path / "model")


def broken_json(folder: Path) -> None:
    (folder / "config.json").write_text('{"vocab_size": 37')


def deep_json(folder: Path) -> None:
    (folder / "config.json").write_text("[" * 200_000)


def huge_config(folder: Path) -> None:
    (folder / "config.json").write_text(" " * (11 * 2**20))


def change_config(folder: Path, **changes: Any) -> None:
    document = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**document, **changes}))


def many_layers(folder: Path) -> None:
    change_config(folder, num_hidden_layers=10**9)


def a_layer_more(folder: Path) -> None:
    change_config(folder, num_hidden_layers=3)


def a_thousand_layers(folder: Path) -> None:
    change_config(folder, num_hidden_layers=1024)


def other_width(folder: Path) -> None:
    change_config(folder, hidden_size=15, id2label={})


def many_words(folder: Path) -> None:
    change_config(folder, vocab_size=10_000_000)


def other_kind(folder: Path) -> None:
    change_config(folder, model_type="llama")


def no_config(folder: Path) -> None:
    (folder / "config.json").unlink()


def no_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def rewrite(folder: Path, **changes: Tensor | None) -> None:
    stored = {name.replace("/", "."): value for name, value in {**stored_tensors(folder), **changes}.items()}
    kept = {name: value for name, value in stored.items() if value is not None}
    save_file(kept, folder / "model.safetensors")


def a_weight_missing(folder: Path) -> None:
    rewrite(folder, **{KEY_BIAS: None})


def integers(folder: Path) -> None:
    rewrite(folder, **{KEY_BIAS: torch.ones(12, dtype=torch.int8)})


def not_a_number(folder: Path) -> None:
    rewrite(folder, **{KEY_BIAS: torch.full((12,), float("nan"))})


def cut(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def cut_in_header(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:300])


def empty(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"")


def longer(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes() + b"more")


def pointer(folder: Path) -> None:
    text = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 437955512\n"
    (folder / "model.safetensors").write_text(text)


def raw_header(folder: Path, header: bytes, length: int | None = None, num_bytes: int = 0) -> None:
    start = struct.pack("<Q", len(header) if length is None else length)
    (folder / "model.safetensors").write_bytes(start + header + bytes(num_bytes))


def header_of_90_mb(folder: Path) -> None:
    raw_header(folder, b"{}", length=90 * 2**20)
    os.truncate(folder / "model.safetensors", 100 * 2**20)


def empty_and_huge(folder: Path) -> None:
    raw_header(folder, b'{"x":{"dtype":"F32","shape":[0,1152921504606846976],"data_offsets":[0,0]}}')


def claims_much(folder: Path) -> None:
    change_config(folder, vocab_size=10_000_000, hidden_size=1536)
    raw_header(folder, b'{"x":{"dtype":"F32","shape":[10000000,1536],"data_offsets":[0,61440000000]}}')


def negative(folder: Path) -> None:
    raw_header(folder, b'{"x":{"dtype":"F32","shape":[-1,-4],"data_offsets":[0,16]}}', num_bytes=16)


def overlapping(folder: Path) -> None:
    """Every weight is the same few bytes, so that a small file claims a large model."""
    change_config(folder, vocab_size=9000)
    stored = {**stored_tensors(folder), WORDS: torch.zeros(9000, 12)}
    entries, most = {}, max(value.nbytes for value in stored.values())
    for name, value in stored.items():
        entries[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [0, value.nbytes]}
    header = json.dumps(entries).encode()
    header_and_data = struct.pack("<Q", len(header)) + header + bytes(most)
    (folder / "model.safetensors").write_bytes(header_and_data)


def link_out(folder: Path) -> None:
    outside = folder.parent / "outside.safetensors"
    (folder / "model.safetensors").rename(outside)
    (folder / "model.safetensors").symlink_to(outside)


def config_link_out(folder: Path) -> None:
    (folder / "config.json").unlink()
    (folder / "config.json").symlink_to("/etc/passwd")


def device(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").symlink_to("/dev/zero")


def index(folder: Path, shard: str, *, kind: str = "model.safetensors") -> None:
    (folder / "model.safetensors").rename(folder.parent / "outside.safetensors")
    (folder / f"{kind}.index.json").write_text(json.dumps({"weight_map": {WORDS: shard}}))


def shard_outside(folder: Path) -> None:
    index(folder, "../outside.safetensors")


def shard_absolute(folder: Path) -> None:
    index(folder, str(folder.parent / "outside.safetensors"))


def shard_pickle(folder: Path) -> None:
    index(folder, "weights.bin")


def shard_missing(folder: Path) -> None:
    index(folder, "model-00001-of-00001.safetensors")


def shard_without_its_weight(folder: Path) -> None:
    index(folder, "part.safetensors")
    save_file({"x": torch.zeros(3)}, folder / "part.safetensors")


class Gadget:
    """Runs a command when unpickled."""

    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> Any:
        return os.system, (f"touch '{self.canary}'",)


class Greedy:
    """Takes 100 GB when unpickled, by means that torch allows."""

    def __reduce__(self) -> Any:
        return bytearray, (10**11,)


def bin_of(folder: Path, data: bytes) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(data)


def zipped(table: bytes, compression: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        archive.writestr("model/data.pkl", table)
        archive.writestr("model/version", "3\n")
        archive.writestr("model/data/0", bytes(10**6))
    return buffer.getvalue()


def gadget(folder: Path) -> None:
    bin_of(folder, pickle.dumps({"x": Gadget(folder.parent / "canary")}, protocol=2))


def gadget_in_zip(folder: Path) -> None:
    bin_of(folder, zipped(pickle.dumps({"x": Gadget(folder.parent / "canary")}, protocol=2)))


def gadget_of_protocol_4(folder: Path) -> None:
    bin_of(folder, zipped(pickle.dumps({"x": Gadget(folder.parent / "canary")}, protocol=4)))


def greedy(folder: Path) -> None:
    bin_of(folder, zipped(pickle.dumps({"x": Greedy()}, protocol=2)))


def bomb(folder: Path) -> None:
    bin_of(folder, zipped(pickle.dumps({}, protocol=2), zipfile.ZIP_DEFLATED))


def large_table(folder: Path) -> None:
    bin_of(folder, zipped(pickle.dumps({"x": "y" * (3 * 2**20)}, protocol=2)))


def large_bare_table(folder: Path) -> None:
    bin_of(folder, pickle.dumps(["y"] * (3 * 2**20), protocol=2))


def expanded(folder: Path) -> None:
    """One stored number, viewed as a word embedding of 40 GB."""
    change_config(folder, vocab_size=10_000_000, hidden_size=1024, num_attention_heads=1, num_hidden_layers=1)
    (folder / "model.safetensors").unlink()
    shapes: dict[str, tuple[int, ...]] = {}
    for own, value in tiny_classifier(num_hidden_layers=1).state_dict().items():
        pieces = names.published_names(own)
        wide = tuple(1024 if size == 12 else 3 * 1024 if size == 36 else size for size in value.shape)
        shapes.update(dict.fromkeys(pieces, (wide[0] // len(pieces), *wide[1:])))
    shapes[WORDS] = (10_000_000, 1024)
    torch.save(
        {name: torch.zeros(1).expand(shape) for name, shape in shapes.items()}, folder / "pytorch_model.bin"
    )


def cut_bin(folder: Path) -> None:
    buffer = io.BytesIO()
    torch.save(stored_tensors(folder), buffer)
    bin_of(folder, buffer.getvalue()[:-200])


def no_table(folder: Path) -> None:
    buffer = io.BytesIO()
    torch.save({"epoch": 3, "state_dict": {"x": torch.zeros(3)}}, buffer)
    bin_of(folder, buffer.getvalue())


def a_list_for_an_activation(folder: Path) -> None:
    change_config(folder, hidden_act=["gelu"])


def half_a_token(folder: Path) -> None:
    change_config(folder, pad_token_id=0.5)


def one_label_twice(folder: Path) -> None:
    change_config(folder, id2label={"0": "bad", "1": "good", "2": "bad"})


def a_label_of_a_megabyte(folder: Path) -> None:
    change_config(folder, id2label={"0": "x" * 2**20, "1": "good", "2": "odd"})


def a_value_that_no_json_holds(folder: Path) -> None:
    change_config(folder, task_specific_params={"temperature": float("nan")})


def half_a_character(folder: Path) -> None:
    change_config(folder, _name_or_path="\ud800")


def tuples_in_tuples(folder: Path) -> None:
    """A key that holds a tuple twice, which holds another twice, and so on: its hash takes for ever."""
    inner = b"".join(b"h" + bytes([n]) + b"\x86q" + bytes([n + 1]) for n in range(1, 60))
    bin_of(folder, zipped(b"\x80\x02}q\x00(K\x01\x85q\x01" + inner + b"K\x01u."))


def many_parts(folder: Path) -> None:
    parts = b"PK\x01\x02".ljust(46, b"\0") * 50_000
    end = b"PK\x05\x06" + struct.pack("<4H2IH", 0, 0, 50_000, 50_000, len(parts), 4, 0)
    bin_of(folder, b"PK\x03\x04" + parts + end)


def many_shards(folder: Path) -> None:
    table = {f"weight{number}": f"part{number}.safetensors" for number in range(3000)}
    (folder / "model.safetensors").rename(folder / "part0.safetensors")
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": table}))


HOSTILE = {
    a_list_for_an_activation: r"asks for the activation \['gelu'\]; Cloze knows gelu, gelu_new",
    half_a_token: "pad_token_id is 0.5; it must be a whole number from 0 to 36",
    one_label_twice: "gives the label bad to two numbers",
    a_label_of_a_megabyte: "A label in config.json has 1048576 characters; Cloze reads at most 1000",
    a_value_that_no_json_holds: "config.json holds NaN at temperature, which cannot be saved again",
    half_a_character: "config.json holds half a character .* at _name_or_path, which cannot be saved again",
    tuples_in_tuples: "table of weights is too large",
    many_parts: "it has too many parts",
    many_shards: "it names more than 200 files",
    broken_json: "config.json is damaged: its JSON cannot be read",
    deep_json: "config.json is damaged: its JSON cannot be read",
    huge_config: "config.json is larger than 10 MB",
    many_layers: "num_hidden_layers is 1000000000; it must be a whole number from 1 to",
    a_layer_more: r"lacks 16 of the 5[35] weights that config.json asks for .encoder\.layer\.2\.",
    a_thousand_layers: "lacks 16352 of the 163[89]. weights",
    other_width: r"word_embeddings.weight in .* has the shape \(37, 12\); config.json asks for \(37, 15\)",
    many_words: r"word_embeddings.weight in .* has the shape \(37, 12\)",
    other_kind: "not a BERT .Llama.: it reads from left to right",
    no_config: "holds no config.json, so it is not a model",
    no_weights: "holds no weights: model.safetensors or pytorch_model.bin was expected",
    a_weight_missing: r"lacks 1 of the 3[79] weights .*\(encoder\.layer\.1\.attention\.self\.key\.bias\)\.",
    integers: "self.key.bias in .* is of a type that Cloze does not read",
    not_a_number: "self.key.bias in .* holds values that are not numbers",
    cut: "model.safetensors is truncated",
    cut_in_header: "model.safetensors is truncated",
    empty: "model.safetensors is truncated",
    longer: "longer than its header says",
    pointer: "only a Git LFS pointer",
    header_of_90_mb: "its header claims 94371840 bytes",
    empty_and_huge: "what it says of x cannot be",
    claims_much: "model.safetensors is truncated",
    negative: "what it says of x cannot be",
    overlapping: "claims .* bytes of weights, but is only .* bytes long",
    link_out: "model.safetensors in .* is a link to a place outside that folder",
    config_link_out: "config.json in .* is a link to a place outside that folder",
    device: "model.safetensors in .* is a link to a place outside that folder",
    shard_outside: "refers to '../outside.safetensors', which is not the name",
    shard_absolute: "refers to '/.*', which is not the name",
    shard_pickle: "refers to 'weights.bin', which is not the name of a .safetensors file",
    shard_missing: "lists model-00001-of-00001.safetensors, but that file is not there",
    shard_without_its_weight: "word_embeddings.weight is not in part.safetensors",
    gadget: "would run posix.system when opened, so it was not",
    gadget_in_zip: "would run posix.system when opened, so it was not",
    gadget_of_protocol_4: "would run something unnamed when opened",
    greedy: "would run __builtin__.bytearray when opened",
    bomb: "parts are not stored as PyTorch stores them",
    large_table: "table of weights is too large",
    large_bare_table: "table of weights is too large",
    expanded: "claims 40.* bytes of weights, but is only .* bytes long",
    cut_bin: "pytorch_model.bin is damaged .* truncated or not a PyTorch file",
    no_table: "holds no plain table of weights",
}


@pytest.mark.slow
@pytest.mark.parametrize("harm", HOSTILE, ids=lambda harm: harm.__name__)
def test_a_hostile_folder_is_refused_in_one_sentence(harm: Any, tmp_path: Path) -> None:
    if os.name == "nt" and harm in (config_link_out, device, link_out):
        pytest.skip("Windows keeps links for administrators")
    folder = model_folder(tmp_path / "model")
    harm(folder)
    for load in (load_encoder, load_classifier):
        with pytest.raises(ModelError, match=HOSTILE[harm]) as refusal:
            load(folder)
    assert not (tmp_path / "canary").exists()
    assert "\n" not in str(refusal.value) and len(str(refusal.value)) < 400


def test_the_gadget_of_these_tests_would_run(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Gadget(tmp_path / "canary"), protocol=2))
    assert (tmp_path / "canary").exists()


CHILD = """
import sys
from pathlib import Path
from engine.errors import ModelError
from engine.model.weights import load_classifier
def peak():
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0])
Path("/proc/self/clear_refs").write_text("5")  # the peak starts from here
before = peak()
refused = 0
for folder in map(Path, sys.argv[1:]):
    try:
        load_classifier(folder)
    except ModelError:
        refused += 1
print(refused, peak() - before)
"""


def in_child(code: str, *arguments: Path) -> list[int]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3])
    return [int(word) for word in done.stdout.split()]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_hostile_folder_takes_memory(tmp_path: Path) -> None:
    folders = []
    for harm in HOSTILE:
        folders.append(model_folder(tmp_path / harm.__name__ / "model"))
        harm(folders[-1])
    refused, grown = in_child(CHILD, *folders)
    assert refused == len(HOSTILE)
    assert grown < 40_000  # kB


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_loading_takes_the_memory_of_the_model_once(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "model", vocab_size=2_000_000)
    size = (folder / "model.safetensors").stat().st_size / 1024
    refused, grown = in_child(CHILD, folder)
    assert refused == 0
    assert 0.9 * size < grown < 1.2 * size


def test_a_file_or_nothing_in_the_place_of_a_folder_is_refused(folder: Path) -> None:
    with pytest.raises(ModelError, match="vocab.txt is a file. A model is a folder"):
        read_config(folder / "vocab.txt")
    with pytest.raises(ModelError, match="There is no folder .*nowhere"):
        load_encoder(folder / "nowhere")


@pytest.mark.slow
def test_loading_does_not_make_torch_import_its_compiler(folder: Path) -> None:
    code = CHILD + "\nprint(sum(name.startswith('torch._inductor') for name in sys.modules))"
    assert in_child(code, folder)[-1] == 0


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps links for administrators")
def test_links_inside_the_hugging_face_cache_are_followed(tmp_path: Path, folder: Path) -> None:
    blobs, snapshot = tmp_path / "models--x" / "blobs", tmp_path / "models--x" / "snapshots" / "0a1b"
    blobs.mkdir(parents=True)
    snapshot.mkdir(parents=True)
    for number, file in enumerate(folder.iterdir()):
        file.rename(blobs / str(number))
        (snapshot / file.name).symlink_to(f"../../blobs/{number}")
    assert same_weights(load_classifier(snapshot)[0], tiny_classifier())


def test_path_like_values_of_config_json_are_not_followed(tmp_path: Path, folder: Path) -> None:
    change_config(folder, _name_or_path="/nowhere", vocab_file="../../x", transformers_weights="../x.bin")
    assert same_weights(load_classifier(folder)[0], tiny_classifier())
