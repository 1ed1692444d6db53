"""What a model folder answers to a file, and how good that is, whatever it was fine-tuned for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engine.events import Event, Steps
from engine.settings.finetune import DataConfig
from engine.train.scored import Scored
from engine.train.tasks.kind import StandIn
from engine.train.tasks.known import task_of


def evaluate_file(
    model: Path, data: DataConfig, device: str = "auto", stand_in: StandIn | None = None
) -> Steps[Scored]:
    """Measure a model folder on a file: Progress, Noted, one Evaluated (split "test"), Finished.

    Args: data: the file and how to read it; columns that are not named are those of the training data.
    stand_in: makes what is measured in the model's place.
    """
    return (yield from task_of(model).evaluate_file(model, data, device, stand_in))


def predict_file(
    model: Path, data: DataConfig, out: Path, *, raw: bool = False, device: str = "auto"
) -> Iterator[Event]:
    """Write what a model folder answers to a file: Progress, Noted, Finished and, of tables, Predicted.

    Args: raw: leave cells as they are that a spreadsheet would run. Raises: UserError in one sentence.
    """
    yield from task_of(model).predict_file(model, data, out, raw=raw, device=device)
