"""Going on with a run of any kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engine.events import Event
from engine.settings.pretrain import PretrainConfig
from engine.train import finetune, pretrain
from engine.train.pretraining.watch import WatchQuestions
from engine.train.run.runs import read_config


def resume(run_dir: Path, *, questions: WatchQuestions | None = None) -> Iterator[Event]:
    """Continue a run from its folder alone. Raises: RunError if it is finished, in use or not a run."""
    if isinstance(read_config(Path(run_dir)), PretrainConfig):
        return pretrain.resume(run_dir, questions=questions)
    return finetune.resume(run_dir)
