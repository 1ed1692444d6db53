"""Numbers that arrive late, as a GPU's do: told in order, none lost, and nobody waits for the newest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.events import Evaluated, Event, Saved, Step
from engine.train import loop as loop_module
from engine.train.loop import MOST_AHEAD
from engine.train.pretrain import pretrain
from engine.train.ranks import ALONE, Ranks
from engine.train.underway import Underway
from tests.engine.tiny_texts import of, promised, text_config


class Late:
    """Numbers that have arrived once `late` more steps were launched, or somebody waited for them."""

    made: list[Late] = []  # noqa: RUF012
    late = 3

    def __init__(self, values: Tensor) -> None:
        self.values, self.place, self.was_waited_for = values, len(self.made), False
        self.made.append(self)

    def has_arrived(self) -> bool:
        return self.was_waited_for or len(self.made) - self.place > self.late

    def read(self) -> Tensor:
        self.was_waited_for |= not self.has_arrived()
        return self.values


@pytest.fixture(params=[3, 100])
def late(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(Late, "made", [])
    monkeypatch.setattr(Late, "late", request.param)
    monkeypatch.setattr(loop_module, "Underway", Late)
    return int(request.param)


def test_on_a_cpu_numbers_are_there_at_once() -> None:
    values = torch.tensor([1.5, 2.5], requires_grad=True)
    found = Underway(values)
    assert found.has_arrived() and found.read().tolist() == [1.5, 2.5] and not found.read().requires_grad


@pytest.mark.slow
def test_steps_are_told_in_order_as_they_arrive_and_all_before_whatever_is_kept(
    tmp_path: Path, late: int
) -> None:
    config = text_config(tmp_path, steps=24, evaluations=1, checkpoint_every_steps=20)
    launched, behind = 0, []
    told = 0
    for event in pretrain(config, tmp_path / "run"):
        launched = len(Late.made)
        if isinstance(event, Step):
            told += 1
            assert event.step == told
            behind.append(launched - told)
        if isinstance(event, Saved | Evaluated):
            assert told == launched == event.step
    assert told == 24 and max(behind[:8]) == min(late, MOST_AHEAD)


@pytest.mark.slow
def test_what_arrives_late_changes_no_bit_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = text_config(tmp_path, steps=13)
    list(pretrain(config, tmp_path / "whole"))
    monkeypatch.setattr(loop_module, "Underway", Late)
    monkeypatch.setattr(Late, "made", [])
    begun = pretrain(config, tmp_path / "run")
    next(event for event in begun if isinstance(event, Step) and event.step == 3)
    begun.close()  # type: ignore[attr-defined]
    assert promised(tmp_path / "run")["metrics"][-1]["event"] == "step"
    from engine.train.pretrain import resume

    list(resume(tmp_path / "run"))
    assert promised(tmp_path / "run") == promised(tmp_path / "whole")


@pytest.mark.slow
def test_processes_ask_each_other_how_far_they_are_only_where_the_clock_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []

    def agreed(ranks: Ranks, value: float) -> float:
        asked.append(value)
        return value

    monkeypatch.setattr(type(ALONE), "agreed", agreed)

    def run(name: str, **budget: Any) -> Iterator[Event]:
        return pretrain(text_config(tmp_path, evaluations=1, **budget), tmp_path / name)

    assert len(of(Step, run("steps", steps=5))) == 5 and len(of(Step, run("tokens", tokens=500))) > 2
    assert asked == []
    steps = len(of(Step, run("minutes", minutes=0.01)))
    assert 2 * steps <= len(asked) <= 2 * steps + 3
