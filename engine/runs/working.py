"""What the process that works a queue off does with one job: train it anew, or go on with its run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engine.events import Event
from engine.runs.queue import QueueJob
from engine.settings.pretrain import PretrainConfig
from engine.train.finetune import fine_tune
from engine.train.pretrain import pretrain
from engine.train.resume import resume
from engine.train.run.runs import CONFIG


def train_job(job: QueueJob, place: Path) -> Iterator[Event]:
    """Train a job in its run's folder, or go on there. Raises: UserError."""
    if (place / CONFIG).is_file():
        return resume(place)
    config = job.config
    return pretrain(config, place) if isinstance(config, PretrainConfig) else fine_tune(config, place)
