"""Run folders that were edited, cut or made up: one hides no other, and each is refused in a sentence."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.errors import UserError
from engine.events import Evaluated, Event, Noted, Pinned, Step
from engine.train.finetune import fine_tune
from engine.train.pretrain import pretrain
from engine.train.pretraining import setup as pretraining_setup
from engine.train.resume import resume
from engine.train.run.runs import list_runs, read_events, read_metrics
from tests.engine.tiny_runs import tiny_config
from tests.engine.tiny_texts import text_config

pytestmark = pytest.mark.skipif(os.name == "nt", reason="pipes and devices are not files of this system")
MOST_S, MOST_CHARACTERS = 5.0, 600
Spoil = Callable[[Path], object]


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole run of fine-tuning, stopped after its fourth step."""
    folder = tmp_path_factory.mktemp("stopped")
    task = fine_tune(tiny_config(folder, num_epochs=1), folder / "run")
    next(event for event in task if isinstance(event, Step) and event.step == 4)
    task.close()  # type: ignore[attr-defined]
    return folder / "run"


@pytest.fixture(scope="module")
def stopped_pretraining(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole run of pretraining, stopped after its fourth step."""
    folder = tmp_path_factory.mktemp("pretraining")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pretraining_setup, "default_store_root", lambda: folder / "cache")
        task = pretrain(text_config(folder, checkpoint_every_steps=2), folder / "run")
        next(event for event in task if isinstance(event, Step) and event.step == 4)
        task.close()  # type: ignore[attr-defined]
    return folder / "run"


@pytest.fixture
def root(tmp_path: Path, stopped: Path) -> Path:
    """A folder of two runs, "sound" and "spoilt"."""
    for name in ("sound", "spoilt"):
        shutil.copytree(stopped, tmp_path / "runs" / name)
    return tmp_path / "runs"


# ---- what may be done to a file


def text(words: str) -> Spoil:
    return lambda path: path.write_text(words)


def last_line(words: str) -> Spoil:
    def spoil(path: Path) -> None:
        with open(path, "a", encoding="utf-8") as file:
            file.write(words + "\n")

    return spoil


def values(**changes: Any) -> Spoil:
    """Change some of a JSON file's values; ... takes one away."""

    def spoil(path: Path) -> None:
        document = {**json.loads(path.read_text(encoding="utf-8")), **changes}
        path.write_text(json.dumps({k: v for k, v in document.items() if v is not ...}), encoding="utf-8")

    return spoil


def endless(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def pipe(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


def huge(path: Path) -> None:
    with open(path, "ab") as file:
        file.truncate(300 * 2**20)


def gone(path: Path) -> None:
    path.unlink()


DEEP = "[" * 200_000
STEP = {
    "event": "step", "step": 5, "epoch": 1.0, "loss": 0.5, "accuracy": None, "learning_rate": 1e-3,
    "gradient_norm": 1.0, "num_tokens": 9, "tokens_per_s": 9.0, "elapsed_s": 1.0, "remaining_s": 0.0,
}  # fmt: skip
MEASURED = {
    "event": "evaluated", "step": 5, "epoch": 1.0, "split": "validation", "loss": 0.5,
    "metrics": {"accuracy": 1.0}, "labels": ["a", "b"], "confusion": [[1, 0], [0, 1]],
    "per_label": {"a": [1.0, 1.0, 1.0, 1]},
}  # fmt: skip
ASKED = {
    "event": "pinned",
    "step": 5,
    "progress": 0.5,
    "readings": [{"sentence": "x", "guesses": [["y", 0.5]]}],
}

STATUS: dict[str, Spoil] = {
    "step null": values(step=None),
    "step a word": values(step="x"),
    "step infinite": text('{"state": "stopped", "step": 1e999}'),
    "step negative": values(step=-7),
    "step true": values(step=True),
    "step of 5,000 digits": text('{"step": ' + "9" * 5000 + "}"),
    "steps a list": values(num_steps=[1]),
    "metric a word": values(best_metric="abc"),
    "metric a list": values(best_metric=[1]),
    "metric huge": values(best_metric=10**400),
    "name of a metric a number": values(metric=5),
    "name of a metric of 1 MB": values(metric="x" * 900_000),
    "state a number": values(state=5),
    "state unknown": values(state="dreaming"),
    "a list": text("[1]"),
    "a number": text("5"),
    "deep": text(DEEP),
    "300 MB": huge,
    "endless": endless,
    "a pipe": pipe,
    "a folder": folder,
}


@pytest.mark.parametrize("name", STATUS)
def test_a_run_with_a_damaged_status_hides_no_other_and_says_so(root: Path, name: str) -> None:
    STATUS[name](root / "spoilt" / "status.json")
    began = time.process_time()
    found = {run.name: run for run in list_runs(root)}
    assert time.process_time() - began < MOST_S
    assert found["sound"].problem is None and found["sound"].step == 4
    assert "status.json" in str(found["spoilt"].problem) and found["spoilt"].step == 4
    assert len(str(found["spoilt"].problem)) < MOST_CHARACTERS


def line(record: dict[str, Any], **changes: Any) -> Spoil:
    return last_line(json.dumps({**record, **changes}))


METRICS: dict[str, Spoil] = {
    "a number": last_line("5"),
    "a list": last_line("[1]"),
    "null": last_line("null"),
    "deep": last_line(DEEP),
    "no JSON": last_line("\0" * 5000),
    "a step without a number": last_line('{"event": "step"}'),
    "a step whose number is a word": line(STEP, step="x"),
    "a step whose number is infinite": last_line('{"event": "step", "step": 1e999}'),
    "a step whose loss is a word": line(STEP, loss="x"),
    "a step whose loss is infinite": last_line(json.dumps(STEP).replace("0.5", "1e999")),
    "a step whose measures are a list": line(STEP, measures=[1]),
    "a ragged confusion": line(MEASURED, confusion=[[1], [0, 1]]),
    "a confusion of words": line(MEASURED, confusion=[["x", 1], [0, 1]]),
    "a confusion of other labels": line(MEASURED, confusion=[[1]]),
    "labels that are a number": line(MEASURED, labels=5),
    "scores that are too few": line(MEASURED, per_label={"a": [1.0]}),
    "scores of no label": line(MEASURED, per_label={"z": [1.0, 1.0, 1.0, 1]}),
    "metrics that are words": line(MEASURED, metrics={"accuracy": "x"}),
    "guesses that are a number": line(ASKED, readings=[{"sentence": "x", "guesses": 5}]),
    "guesses without a share": line(ASKED, readings=[{"sentence": "x", "guesses": [["y"]]}]),
    "readings that are words": line(ASKED, readings=["x"]),
    "a sentence without its value": last_line(
        '{"event": "noted", "sentence": {"template": "{n} rows.", "values": {}}}'
    ),
    "a sentence that asks for endless room": last_line(
        '{"event": "noted", "sentence": {"template": "{n:>999999999}", "values": {"n": 1}}}'
    ),
    "a sentence that looks inside": last_line(
        '{"event": "noted", "sentence": {"template": "{n.__class__}", "values": {"n": 1}}}'
    ),
}


@pytest.mark.parametrize("name", METRICS)
def test_a_line_of_the_metrics_that_cannot_be_is_left_out_and_counted(root: Path, name: str) -> None:
    METRICS[name](root / "spoilt" / "metrics.jsonl")
    events = list(read_events(root / "spoilt"))
    assert [event.step for event in events if isinstance(event, Step)] == [1, 2, 3, 4]
    assert not any(isinstance(event, Evaluated | Pinned) and event.step == 5 for event in events)
    assert [
        str(event.sentence) for event in events if isinstance(event, Noted) and event.level == "wrong"
    ] == [f"One line of {root / 'spoilt' / 'metrics.jsonl'} cannot be read and is skipped."]
    assert {run.name: run.step for run in list_runs(root)}["sound"] == 4
    assert all(isinstance(record, dict) for record in read_metrics(root / "spoilt"))


@pytest.mark.slow
@pytest.mark.parametrize("spoil", [endless, pipe, folder, huge])
def test_metrics_that_are_no_file_to_read_are_told_at_once(root: Path, spoil: Spoil) -> None:
    spoil(root / "spoilt" / "metrics.jsonl")
    began = time.process_time()
    found = list_runs(root)
    events = list(read_events(root / "spoilt"))
    assert time.process_time() - began < MOST_S
    assert [run.step for run in found] == [4, 4]
    assert isinstance(events[-1], Noted) and len(str(events[-1].sentence)) < MOST_CHARACTERS


def test_lines_that_are_sound_come_back_as_their_events(root: Path) -> None:
    for record in (STEP, MEASURED, ASKED):
        line(record)(root / "spoilt" / "metrics.jsonl")
    kinds = [type(event) for event in read_events(root / "spoilt")]
    assert kinds[-3:] == [Step, Evaluated, Pinned]


# ---- going on with one


def signed(spoil: Spoil) -> Spoil:
    """Spoil a file of a checkpoint and make its manifest hold again."""

    def sign(path: Path) -> None:
        spoil(path)
        content = path.read_bytes()
        about = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        values(**{path.name: about})(path.with_name("manifest.json"))

    return sign


def other_tensors(path: Path) -> None:
    import torch

    from engine.model.weights import save_tensors

    save_tensors(path, {"strange": torch.zeros(3)})


NEWEST = "checkpoints/step-00000004"
AGAIN: dict[str, tuple[str, Spoil]] = {
    "settings empty": ("config.toml", text("")),
    "settings no TOML": ("config.toml", text("[[[")),
    "settings of odd kinds": ("config.toml", text("[training]\nbatch_size = [1]\n")),
    "settings unknown": ("config.toml", text("colour = 1\n")),
    "settings a date": ("config.toml", text("learning_rate = 2020-01-01\n")),
    "settings of another task": ("config.toml", text('task = "pretrain"\n')),
    "settings of 300 MB": ("config.toml", huge),
    "settings a pipe": ("config.toml", pipe),
    "setup empty": ("setup/setup.json", text("{}")),
    "setup a list": ("setup/setup.json", text("[]")),
    "setup deep": ("setup/setup.json", text(DEEP)),
    "setup a pipe": ("setup/setup.json", pipe),
    "setup endless": ("setup/setup.json", endless),
    "setup of 300 MB": ("setup/setup.json", huge),
    "labels a number": ("setup/setup.json", values(labels=5)),
    "labels too few": ("setup/setup.json", values(labels=["bad"])),
    "recipe missing": ("setup/setup.json", values(recipe=...)),
    "recipe a word": ("setup/setup.json", values(recipe="x")),
    "recipe empty": ("setup/setup.json", values(recipe={})),
    "recipe of odd kinds": (
        "setup/setup.json",
        values(recipe={"device": 5, "precision": [], "num_threads": "x", "micro_batch_tokens": -1}),
    ),
    "chain a word": ("setup/setup.json", values(chain="x")),
    "cut share a word": ("setup/setup.json", values(cut_share="x")),
    "data missing": ("setup/setup.json", values(data=...)),
    "shape empty": ("setup/config.json", text("{}")),
    "shape a pipe": ("setup/config.json", pipe),
    "texts missing": ("setup/data.safetensors", gone),
    "texts of other names": ("setup/data.safetensors", other_tensors),
    "a lock that is a pipe": ("lock", pipe),
    "a lock that is endless": ("lock", endless),
    "a lock that is a folder": ("lock", folder),
    "metrics a pipe": ("metrics.jsonl", pipe),
    "metrics endless": ("metrics.jsonl", endless),
    "state empty, signed": (f"{NEWEST}/state.json", signed(text("{}"))),
    "state a list, signed": (f"{NEWEST}/state.json", signed(text("[]"))),
    "state of odd kinds, signed": (f"{NEWEST}/state.json", signed(values(tokens="x", elapsed_s=[], feed={}))),
    "time beyond all numbers, signed": (f"{NEWEST}/state.json", signed(values(elapsed_s=10**400))),
    "weights of another model, signed": (f"{NEWEST}/weights.safetensors", signed(other_tensors)),
    "weights a pipe": (f"{NEWEST}/weights.safetensors", pipe),
    "manifest a list": (f"{NEWEST}/manifest.json", text("[]")),
    "manifest endless": (f"{NEWEST}/manifest.json", endless),
    "manifest of files elsewhere": (
        f"{NEWEST}/manifest.json",
        text('{"../../../../../../dev/zero": {"bytes": 0, "sha256": ""}}'),
    ),
}


def gone_on(run: Path) -> Iterator[Event]:
    task = resume(run)
    for event in task:
        yield event
        if isinstance(event, Step):
            break
    task.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", AGAIN)
def test_a_damaged_run_goes_on_or_is_refused_in_a_sentence(root: Path, name: str) -> None:
    file, spoil = AGAIN[name]
    spoil(root / "spoilt" / file)
    began = time.process_time()
    try:
        events = list(gone_on(root / "spoilt"))
        assert any(isinstance(event, Step) for event in events)
    except UserError as error:
        assert len(str(error)) < MOST_CHARACTERS
        assert str(error).endswith(".") and "\n" not in str(error)
    assert time.process_time() - began < MOST_S
    assert [run.name for run in list_runs(root)][-1] == "sound"


PRETRAINING: dict[str, tuple[str, Spoil]] = {
    "setup empty": ("setup/setup.json", text("{}")),
    "setup a pipe": ("setup/setup.json", pipe),
    "text of odd kind": ("setup/setup.json", values(text="x")),
    "recipe of odd kinds": ("setup/setup.json", values(recipe={"device": []})),
    "notes of odd kinds": ("setup/setup.json", values(notes=[5, {"sentence": 5}])),
    "what was kept is a pipe": ("setup/keep.npy", pipe),
    "what was kept is no array": ("setup/keep.npy", text("x")),
    "the tokens' header is a pipe": ("setup/tokens/header.json", pipe),
    "the tokens' header is endless": ("setup/tokens/header.json", endless),
    "the tokens are a pipe": ("setup/tokens/ids.bin", pipe),
    "place in the text of odd kinds, signed": (f"{NEWEST}/state.json", signed(values(feed={"place": "x"}))),
    "place in no text, signed": (f"{NEWEST}/state.json", signed(values(feed={"block": 10**9, "length": 9}))),
    "place of other names, signed": (f"{NEWEST}/state.json", signed(values(feed={"x": 1}))),
    "weights of another model, signed": (f"{NEWEST}/weights.safetensors", signed(other_tensors)),
}


@pytest.mark.parametrize("name", PRETRAINING)
def test_a_damaged_pretraining_goes_on_or_is_refused_in_a_sentence(
    tmp_path: Path, stopped_pretraining: Path, name: str
) -> None:
    file, spoil = PRETRAINING[name]
    run = tmp_path / "run"
    shutil.copytree(stopped_pretraining, run)
    spoil(run / file)
    began = time.process_time()
    try:
        assert any(isinstance(event, Step) for event in gone_on(run))
    except UserError as error:
        assert len(str(error)) < MOST_CHARACTERS and str(error).endswith(".")
    assert time.process_time() - began < MOST_S


def test_a_history_that_was_deleted_is_told_as_lost_and_goes_on_without_a_gap(root: Path) -> None:
    (root / "spoilt" / "metrics.jsonl").unlink()
    events = list(gone_on(root / "spoilt"))
    assert any("are lost" in str(event.sentence) for event in events if isinstance(event, Noted))
    written = (root / "spoilt" / "metrics.jsonl").read_bytes()
    assert b"\0" not in written
    assert [record["step"] for record in read_metrics(root / "spoilt") if record["event"] == "step"] == [5]
