"""Steps made ahead on a thread are those that the feed would have given, wherever a run is broken off."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from engine.errors import UserError
from engine.events import Step
from engine.train import loop as loop_module
from engine.train.ahead import Ahead
from engine.train.finetune import fine_tune
from engine.train.loop import Loop
from engine.train.pretrain import pretrain, resume
from engine.train.pretraining import text_feed
from engine.train.pretraining.text_feed import TextFeed
from tests.engine.tiny_runs import tiny_config
from tests.engine.tiny_texts import promised, text_config

GROWING = {"start_length": 12, "growth_share": 0.6, "steps": 40, "checkpoint_every_steps": 7}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_feed, "BLOCK_TOKENS", 300)
    monkeypatch.setattr(text_feed, "BLOCK_STEPS", 3)


@pytest.fixture
def ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make five steps ahead on a CPU too."""
    monkeypatch.setattr(loop_module, "STEPS_AHEAD", {"cpu": 5})


def no_thread_left() -> bool:
    return not any(thread.name.startswith("ahead") for thread in threading.enumerate())


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [True, False])
def test_a_run_whose_steps_are_made_ahead_has_the_same_bits_also_when_stopped(
    tmp_path: Path, pairs: bool, request: pytest.FixtureRequest
) -> None:
    config = text_config(tmp_path, next_sentence=pairs, **GROWING)
    list(pretrain(config, tmp_path / "whole"))
    request.getfixturevalue("ahead")
    list(pretrain(config, tmp_path / "ahead"))
    wanted = promised(tmp_path / "whole")
    assert promised(tmp_path / "ahead") == wanted
    begun = pretrain(config, tmp_path / "run")
    for stop in (4, 11, 23):  # within a length, at its end, and where it is the last
        next(event for event in begun if isinstance(event, Step) and event.step == stop)
        begun.close()  # type: ignore[attr-defined]
        assert no_thread_left()
        begun = resume(tmp_path / "run")
    list(begun)
    assert promised(tmp_path / "run") == wanted and no_thread_left()


@pytest.mark.slow
@pytest.mark.usefixtures("ahead")
def test_steps_are_made_on_a_thread_before_they_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, take = [], TextFeed.take

    def noting(feed: TextFeed, step: int, progress: float) -> Any:
        made.append((step, threading.current_thread().name.startswith("ahead")))
        return take(feed, step, progress)

    monkeypatch.setattr(TextFeed, "take", noting)
    task = pretrain(text_config(tmp_path, steps=30), tmp_path / "run")
    next(event for event in task if isinstance(event, Step) and event.step == 20)
    while made[-1][0] < 25:  # the thread comes there by itself
        pass
    task.close()  # type: ignore[attr-defined]
    assert [step for step, _ in made] == list(range(1, len(made) + 1)) and all(there for _, there in made)


@pytest.mark.slow
@pytest.mark.usefixtures("ahead")
def test_a_smaller_part_and_a_fault_on_the_thread_reach_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_config(tmp_path, num_epochs=1, hidden_dropout=0.0, attention_dropout=0.0)
    whole = [event.loss for event in fine_tune(config, tmp_path / "whole") if isinstance(event, Step)]
    micro, gone = Loop._micro_batch, []

    def short(loop: Loop, part: Any, totals: Any) -> Any:
        if part.num_tokens > 40 and not gone:
            gone.append(part.num_tokens)
            raise MemoryError("too little")
        return micro(loop, part, totals)

    monkeypatch.setattr(Loop, "_micro_batch", short)
    halved = [event.loss for event in fine_tune(config, tmp_path / "halved") if isinstance(event, Step)]
    assert gone and halved == pytest.approx(whole, rel=1e-4)

    def fails(feed: Any, step: int, progress: float) -> Any:
        raise UserError("The text is gone.")

    monkeypatch.setattr(TextFeed, "take", fails)
    with pytest.raises(UserError, match="The text is gone"):
        list(pretrain(text_config(tmp_path), tmp_path / "run"))
    assert no_thread_left()


def test_nothing_is_made_ahead_on_a_cpu(tmp_path: Path) -> None:
    task = pretrain(text_config(tmp_path, steps=2), tmp_path / "run")
    next(event for event in task if isinstance(event, Step))
    assert no_thread_left() and Ahead.__module__ == "engine.train.ahead"
    task.close()  # type: ignore[attr-defined]
