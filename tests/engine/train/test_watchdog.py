"""What a watchdog says of a run's learning stands in the run, whoever started it and however it ended."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.errors import Sentence
from engine.events import Evaluated, Finished, Noted, Step
from engine.train import lifecycle
from engine.train.finetune import fine_tune, resume
from engine.train.run.runs import read_events, read_status
from engine.train.watchdog import NO_NUMBER, OVERFITTING, Watchdog
from tests.engine.tiny_runs import tiny_config

STEP = Step(
    step=1, epoch=1.0, loss=0.5, accuracy=None, learning_rate=1e-4, gradient_norm=1.0, num_tokens=1,
    tokens_per_s=1.0, elapsed_s=1.0, remaining_s=1.0,
)  # fmt: skip
LOOK = Evaluated(
    step=1, epoch=1.0, split="validation", loss=0.5, metrics={}, labels=("bad", "good"),
    confusion=np.array([[5, 1], [2, 4]]), per_label={},
)  # fmt: skip


def said(*events: Step | Evaluated, is_whole: bool = True) -> list[str]:
    watchdog = Watchdog()
    for event in events:
        watchdog.take(event)
    return [note.sentence.template for note in watchdog.remarks(is_whole=is_whole)]


def losses(*pairs: tuple[float, float]) -> list[Step | Evaluated]:
    """Return an epoch for each pair of training and validation loss."""
    found: list[Step | Evaluated] = []
    for epoch, (train, validation) in enumerate(pairs, start=1):
        found += [replace(STEP, loss=train), replace(LOOK, loss=validation, epoch=float(epoch))]
    return found


def test_overfitting_is_said_where_validation_rises_and_training_falls_and_only_there() -> None:
    assert said(*losses((0.6, 0.5), (0.4, 0.45), (0.2, 0.6))) == [OVERFITTING]
    assert said(*losses((0.6, 0.5), (0.4, 0.45), (0.2, 0.451))) == []
    assert said(*losses((0.6, 0.5), (0.6, 0.7))) == []
    assert said(*losses((0.6, 0.5))) == []


def test_a_loss_that_is_no_number_is_said_with_its_first_step() -> None:
    assert said(replace(STEP, step=7, loss=math.nan)) == [NO_NUMBER]


def test_one_answer_for_all_is_said_of_a_run_that_was_stopped_for_a_whole_one_says_so_itself() -> None:
    one = replace(LOOK, confusion=np.array([[6, 0], [6, 0]]))
    assert len(said(one, is_whole=False)) == 1 and said(one, is_whole=True) == []


class Barks(Watchdog):
    def remarks(self, *, is_whole: bool) -> Iterator[Noted]:
        yield Noted(sentence=Sentence("It came to its end." if is_whole else "It was stopped."))


def told(run_dir: Path) -> list[str]:
    return [str(event.sentence) for event in read_events(run_dir) if isinstance(event, Noted)]


@pytest.mark.slow
def test_a_run_that_is_stopped_keeps_what_the_watchdog_said_and_what_was_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle, "Watchdog", Barks)
    task = fine_tune(tiny_config(tmp_path), tmp_path / "run")
    for event in task:
        if isinstance(event, Evaluated):
            break
    task.close()  # type: ignore[attr-defined]
    assert told(tmp_path / "run")[-1] == "It was stopped."
    assert (tmp_path / "run" / "model" / "config.json").is_file()
    assert read_status(tmp_path / "run")["state"] == "stopped"
    events = list(resume(tmp_path / "run"))
    assert [type(event) for event in events[-2:]] == [Noted, Finished]
    assert "It came to its end." in told(tmp_path / "run")
