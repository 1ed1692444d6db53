"""What pretraining refuses: one clear sentence each, and no run is left behind."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.errors import ConfigError, DataError, ModelError, RunError, UserError
from engine.events import Step
from engine.model.weights import save_model
from engine.train.pretrain import pretrain, resume
from engine.train.pretraining import setup as pretraining_setup
from engine.train.pretraining.forecast import forecast
from engine.train.pretraining.refusals import check_quickly, check_ranks
from engine.train.ranks import Ranks
from engine.train.run.folder import Run
from engine.train.run.runs import read_status
from tests.engine.tiny_texts import SPECIALS, notes, text_config, word_vocabulary, write_text
from tests.fakes import foreign_folder, model_folder, stored_tensors, tiny_pretraining, tiny_wordpiece

pytestmark = pytest.mark.usefixtures("cache")
SENTENCES = "the cat eats fish .\nthe dog eats grass .\n"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pretraining_setup, "default_store_root", lambda: tmp_path / "cache")


def refused(folder: Path, kind: type[UserError], says: str, **settings: Any) -> UserError:
    """Run with some settings; return the refusal, which is one sentence or two and leaves no run."""
    before = {path for path in folder.rglob("*") if "cache" not in path.parts}
    config = text_config(folder, **settings)
    before |= {path for path in folder.rglob("*") if "cache" not in path.parts}
    with pytest.raises(kind) as caught:
        list(pretrain(config, folder / "run"))
    said = str(caught.value)
    assert says in said and said.endswith(".") and "\n" not in said and "{" not in said, said
    assert type(caught.value) is kind
    assert {path for path in folder.rglob("*") if "cache" not in path.parts} == before
    assert not list((folder / "cache").rglob("*.partial"))
    return caught.value


# Settings


BAD_VALUES: list[tuple[dict[str, Any], str, str]] = [
    ({"text": ""}, "text", "No text was chosen"),
    ({"text": " \n "}, "text", "No text was chosen"),
    ({"model": ""}, "model", "No model was chosen"),
    ({"model": "new:huge"}, "model", "after new: use one of tiny, mini"),
    ({"model": "new:0x12"}, "model", "after new: use one of tiny, mini"),
    ({"steps": 3, "tokens": 5}, "tokens", "give one of minutes, steps and tokens (given: steps, tokens)"),
    ({"steps": 3, "minutes": 5.0}, "steps", "(given: minutes, steps)"),
    ({"steps": 0}, "minutes", "give one of minutes, steps and tokens (given: -)"),
    ({"mask_share": 0.8, "random_share": 0.3}, "random_share", "are 1.10 together; they can be 1 at most"),
    ({"max_length": 42}, "max_length", "max_length is 42, but the model has positions for 41"),
    ({"start_length": 3}, "start_length", "start_length is 3; it can be 0, for the maximum, or 8 and more"),
    ({"mask_unit": "term"}, "terms", "There is no list of terms"),
    ({"mask_unit": "term", "terms": "nowhere.txt"}, "terms", "There is no list of terms at"),
    ({"device": "cpu", "precision": "bfloat16"}, "precision", "precision is bfloat16"),
    ({"vocab_size": 130}, "vocab_size", "the characters of this text alone take"),
]


@pytest.mark.parametrize(("values", "field", "says"), BAD_VALUES, ids=lambda value: str(value)[:50])
def test_a_setting_is_refused_by_its_name(
    tmp_path: Path, values: dict[str, Any], field: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.device.cpu_has_bfloat16", lambda: False)
    error = refused(tmp_path, ConfigError, says, **values)
    assert isinstance(error, ConfigError) and error.field == field


def test_a_list_of_terms_in_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "terms.txt").write_bytes("über\n".encode("latin-1"))
    settings = {"mask_unit": "term", "terms": str(tmp_path / "terms.txt")}
    refused(tmp_path, ConfigError, "cannot be read as a list of terms in UTF-8", **settings)


# Text


@pytest.mark.parametrize(
    ("name", "content", "kind", "says"),
    [
        ("text.txt", b"", DataError, "text.txt is empty"),
        ("text.txt", b" \n\n \t\n", DataError, "holds only blanks"),
        ("text.txt", b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 40, DataError, "text.txt"),
        ("text.csv", b"text,label\ngood,1\n", UserError, "is a table. Name the column"),
        ("text.txt.gz", b"\x1f\x8b\x08\x00cut short", DataError, "text.txt.gz"),
    ],
)  # fmt: skip
def test_a_text_that_is_none_is_refused(
    tmp_path: Path, name: str, content: bytes, kind: type[UserError], says: str
) -> None:
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / name).write_bytes(content)
    refused(tmp_path, kind, says, text=str(tmp_path / "given" / name))


def test_a_text_that_is_not_there_is_refused(tmp_path: Path) -> None:
    refused(tmp_path, UserError, "There is no file or folder", text=str(tmp_path / "nowhere.txt"))
    (tmp_path / "empty").mkdir()
    refused(tmp_path, UserError, "There is no text in", text=str(tmp_path / "empty"))


def test_text_in_the_wrong_encoding_is_refused_wherever_the_bad_bytes_are(tmp_path: Path) -> None:
    text = write_text(tmp_path / "text.txt", 100)
    good = text.read_bytes()
    text.write_bytes("größer\n".encode("latin-1") + good)
    refused(tmp_path, DataError, "text.txt", encoding="utf-8")
    text.write_bytes(good * 50 + "größer\n".encode("latin-1"))  # after the first megabyte
    refused(tmp_path, DataError, "Line ", encoding="utf-8")
    refused(tmp_path, DataError, "utf-99", encoding="utf-99")


def test_one_document_is_refused_with_next_sentences_and_taken_without(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(SENTENCES * 100)
    refused(tmp_path, DataError, "Next sentences need a second document to draw wrong ones from")
    list(pretrain(text_config(tmp_path, next_sentence=False, steps=1), tmp_path / "run"))
    assert read_status(tmp_path / "run")["state"] == "finished"


def test_two_documents_of_which_one_is_kept_apart_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(SENTENCES * 100 + "\n" + SENTENCES)
    refused(tmp_path, DataError, "but there is 1 besides the held-out ones")
    list(pretrain(text_config(tmp_path, validation_share=0.0, steps=1), tmp_path / "run"))


def test_a_single_held_out_document_is_refused_when_it_comes_as_a_text_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "held.txt").write_text(SENTENCES * 9)
    refused(
        tmp_path,
        DataError,
        "Next sentences need a second document",
        validation_text=str(tmp_path / "held.txt"),
    )


def test_documents_of_one_sentence_are_refused_with_next_sentences(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("the cat eats fish .\n" * 200)
    refused(tmp_path, DataError, "No document has two sentences", layout="lines")


def test_a_text_smaller_than_a_step_is_refused(tmp_path: Path) -> None:
    write_text(tmp_path / "text.txt", 7)
    error = refused(tmp_path, DataError, "fewer than one step takes (4096)", batch_tokens=4096)
    assert 50 < error.sentence.values["tokens"] < 500


# Vocabulary and model


def test_a_vocabulary_that_knows_nothing_of_the_text_is_refused_and_little_of_it_is_told(
    tmp_path: Path,
) -> None:
    path = word_vocabulary(tmp_path / "vocab.txt")
    config = text_config(tmp_path, vocab=str(path), next_sentence=False, steps=1)
    text = tmp_path / "text.txt"
    known = text.read_text()
    text.write_text("\u4e2d\u6587\n" * 500)
    refused(tmp_path, DataError, "knows nothing of the text", vocab=str(path), next_sentence=False)
    text.write_text(known + "\n\u4e2d\u6587\n" * 300)
    assert "of the text is unknown to the vocabulary" in notes(pretrain(config, tmp_path / "run"))


@pytest.mark.slow
def test_a_step_in_which_nothing_can_be_masked_is_survived(tmp_path: Path) -> None:
    path = word_vocabulary(tmp_path / "vocab.txt")
    text_config(tmp_path)
    (tmp_path / "text.txt").write_text("the cat eats fish .\n" + "\u4e2d\u6587\n" * 90, encoding="utf-8")
    settings = {"layout": "lines", "next_sentence": False, "validation_share": 0.0, "micro_batch_tokens": 9}
    events = list(
        pretrain(text_config(tmp_path, vocab=str(path), batch_tokens=64, **settings), tmp_path / "run")
    )
    assert read_status(tmp_path / "run")["state"] == "finished" and events


def test_a_vocabulary_without_mask_is_refused(tmp_path: Path) -> None:
    path = word_vocabulary(tmp_path / "vocab.txt", specials=SPECIALS[:4])
    refused(tmp_path, DataError, "lacks [MASK], so no word can be masked", vocab=str(path))


def test_a_vocabulary_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nowhere\.txt"):
        list(pretrain(text_config(tmp_path, vocab=str(tmp_path / "nowhere.txt")), tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def pretrained(path: Path) -> Path:
    save_model(path, tiny_pretraining(), tiny_wordpiece())
    return path


def test_a_model_with_another_vocabulary_is_refused(tmp_path: Path) -> None:
    model = pretrained(tmp_path / "model")
    given = word_vocabulary(tmp_path / "vocab.txt")
    settings = {"model": str(model), "vocab": str(given)}
    error = refused(tmp_path, ConfigError, "which is not the model’s own of 37", **settings)
    assert isinstance(error, ConfigError) and error.field == "vocab"
    (model / "tokenizer.json").unlink()
    (model / "vocab.txt").write_text((model / "vocab.txt").read_text() + "zebra\n")
    refused(
        tmp_path,
        ModelError,
        "The vocabulary has 38 pieces, but the model knows 37",
        model=str(model),
    )


def test_a_model_without_mask_segments_or_weights_is_refused(tmp_path: Path) -> None:
    pieces = replace(
        tiny_wordpiece(), base=tuple(t for t in tiny_wordpiece().base if t != "[MASK]") + ("extra",)
    )
    save_model(tmp_path / "no_mask", tiny_pretraining(), pieces)
    refused(tmp_path, DataError, "lacks [MASK]", model=str(tmp_path / "no_mask"))
    save_model(tmp_path / "one", tiny_pretraining(type_vocab_size=1), tiny_wordpiece())
    error = refused(tmp_path, ConfigError, "it cannot read pairs", model=str(tmp_path / "one"))
    assert isinstance(error, ConfigError) and error.field == "next_sentence"
    model_folder(tmp_path / "bare")
    (tmp_path / "bare" / "model.safetensors").unlink()
    refused(tmp_path, ModelError, "holds no weights", model=str(tmp_path / "bare"))
    weights = stored_tensors(pretrained(tmp_path / "whole"))
    weights.pop("bert.encoder.layer.0.output.dense.weight")
    refused(tmp_path, ModelError, "lacks 1 of the", model=str(foreign_folder(tmp_path / "cut", weights)))


def test_a_vocabulary_trimmed_too_far_is_refused(tmp_path: Path) -> None:
    model = pretrained(tmp_path / "model")
    error = refused(tmp_path, ConfigError, "Choose at least", model=str(model), trim_vocab=20)
    assert isinstance(error, ConfigError) and error.field == "trim_vocab"


# Places


def test_a_folder_in_use_or_not_empty_is_refused_and_not_touched(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.tex").write_text("years of work")
    refused(tmp_path, RunError, "is not empty")
    (tmp_path / "run" / "thesis.tex").unlink()
    config = text_config(tmp_path)
    with Run.create(tmp_path / "run", config), pytest.raises(RunError, match="is not empty"):
        list(pretrain(config, tmp_path / "run"))
    assert (tmp_path / "run" / "config.toml").is_file()


def test_a_folder_that_was_there_before_is_left_empty(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    write_text(tmp_path / "text.txt", 7)
    refused(tmp_path, DataError, "fewer than one step takes", batch_tokens=4096)
    assert not list((tmp_path / "run").iterdir())


def test_a_disk_that_is_too_small_is_refused_before_the_text_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 1000})())
    refused(tmp_path, UserError, "The disk has too little room")


def stopped(folder: Path) -> Path:
    """Leave a run that was stopped after its second step."""
    events = pretrain(text_config(folder), folder / "run")
    next(event for event in events if isinstance(event, Step) and event.step == 2)
    events.close()  # type: ignore[attr-defined]
    return folder / "run"


DAMAGE: dict[str, tuple[str, str | None, str]] = {  # files of the run, what is in them then, what is said
    "no setup.json": ("setup/setup.json", None, "setup.json"),
    "a cut setup.json": ("setup/setup.json", "{", "setup.json"),
    "a cut config.toml": ("config.toml", "[text", "cannot be read as settings"),
    "no vocabulary": ("setup/[vt]o*.*", None, "vocab"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_run_is_told_in_a_sentence_and_kept(tmp_path: Path, name: str) -> None:
    run_dir = stopped(tmp_path)
    pattern, content, says = DAMAGE[name]
    for path in run_dir.glob(pattern):
        path.unlink()
        if content is not None:
            path.write_text(content)
    with pytest.raises(UserError) as caught:
        list(resume(run_dir))
    assert says in str(caught.value) and (run_dir / "checkpoints").is_dir()


def test_a_cut_store_whose_text_has_changed_is_refused_and_the_run_is_kept(tmp_path: Path) -> None:
    run_dir = stopped(tmp_path)
    ids = run_dir / "setup" / "tokens" / "ids.bin"
    ids.write_bytes(ids.read_bytes()[:-2])
    write_text(tmp_path / "text.txt", 40, seed=1)
    with pytest.raises(DataError, match="and the text has changed since"):
        list(resume(run_dir))
    status = read_status(run_dir)
    assert status["state"] == "failed" and "text has changed" in status["reason"]
    assert json.loads((run_dir / "model" / "cloze.json").read_text())["chain"][0]["steps"] == 2


def test_a_finished_run_is_not_resumed_and_a_missing_one_is_none(tmp_path: Path) -> None:
    list(pretrain(text_config(tmp_path, steps=1), tmp_path / "run"))
    with pytest.raises(RunError, match="is finished. Its model is in"):
        list(resume(tmp_path / "run"))
    with pytest.raises(RunError, match="is not a run folder"):
        list(resume(tmp_path / "nowhere"))


# Before a run


def test_a_forecast_refuses_lengths_that_the_model_cannot_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the model has positions for 41"):
        list(forecast(text_config(tmp_path, max_length=64)))


def test_steps_too_small_for_several_processes_are_refused(tmp_path: Path) -> None:
    class Two(Ranks):
        world_size = 2

    config = text_config(tmp_path, batch_tokens=64, max_length=33)
    with pytest.raises(ConfigError, match="batch_tokens is 64; 2 processes that share") as caught:
        check_ranks(config, Two())
    assert caught.value.field == "batch_tokens" and "at least 66" in str(caught.value)
    check_ranks(config, Ranks())
    check_quickly(config)
