"""Going on with a run of any kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engine.errors import RunError, marked
from engine.events import Event
from engine.settings.pretrain import PretrainConfig
from engine.train import finetune, pretrain
from engine.train.pretraining.watch import WatchQuestions
from engine.train.run.mirrored import host_of
from engine.train.run.runs import read_config


def resume(run_dir: Path, *, questions: WatchQuestions | None = None) -> Iterator[Event]:
    """Continue a run from its folder alone. Raises: RunError if it is finished, in use or not a run."""
    if host := host_of(Path(run_dir)):
        raise RunError(
            marked("engine", "The run in {path} is trained on {host}. Continue it there."),
            path=run_dir,
            host=host,
        )
    if isinstance(read_config(Path(run_dir)), PretrainConfig):
        return pretrain.resume(run_dir, questions=questions)
    return finetune.resume(run_dir)
