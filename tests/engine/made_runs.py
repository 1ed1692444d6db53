"""Run folders made up in milliseconds: what a run leaves in files, without a model and without training."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import Sentence
from engine.events import Evaluated, Event, Finished, Noted, Started, Step
from engine.settings.config import with_values
from engine.settings.finetune import FineTuneConfig
from engine.train.run.records import record_of
from engine.train.run.runs import CONFIG, METRICS, STATUS, document_of

BEGAN = time.mktime((2026, 11, 20, 9, 0, 0, 0, 0, -1))


def made_run(
    root: Path,
    name: str,
    *,
    right: int = 80,
    rows: int = 100,
    state: str = "finished",
    why: str = "",
    number: int = 0,
    steps: int = 12,
    seconds: float = 60.0,
    notes: tuple[str, ...] = (),
    losses: Any = None,
    evaluations: tuple[float, ...] | None = None,
    **settings: Any,
) -> Path:
    """Write a classifier's run of so many right among its validation rows. number: hours after `BEGAN`."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(BEGAN + 3600 * number))
    path = root / f"{stamp}-{name}"
    path.mkdir(parents=True)
    values = {"data": str(root.parent / "films.csv"), "text": "text", "label": "label", "model": "new:tiny"}
    config = with_values(FineTuneConfig(), {**values, **settings})
    (path / CONFIG).write_text(document_of(config), encoding="utf-8")
    events = _events(path, right, rows, steps, seconds, state, notes, losses, evaluations)
    text = "".join(json.dumps(record_of(event)) + "\n" for event in events)
    (path / METRICS).write_text(text, encoding="utf-8")
    status = {"state": state, "step": steps, "num_steps": steps, "metric": "accuracy"}
    if state == "finished":
        status |= {"best_step": steps, "best_metric": right / rows}
    if why:
        status["reason"] = why
    (path / STATUS).write_text(json.dumps(status), encoding="utf-8")
    return path


def _events(
    path: Path,
    right: int,
    rows: int,
    steps: int,
    seconds: float,
    state: str,
    notes: tuple[str, ...],
    losses: Any,
    evaluations: tuple[float, ...] | None,
) -> list[Event]:
    found: list[Event] = [Noted(sentence=Sentence(note), level="wrong") for note in notes]
    found.append(
        Started(
            run_dir=path,
            task="classification",
            device="cpu",
            num_steps=steps,
            first_step=1,
            num_epochs=1.0,
            steps_per_epoch=steps,
            num_train=10 * rows,
            num_validation=rows,
            num_test=0,
            labels=("bad", "good"),
            metric="accuracy",
            num_parameters=4_000,
            learning_rate=1e-4,
            cut_share=0.0,
        )
    )
    values = np.linspace(0.7, 0.3, steps) if losses is None else losses
    for step, loss in enumerate(values, start=1):
        found.append(
            Step(
                step=step,
                epoch=step / steps,
                loss=float(loss),
                accuracy=0.5,
                learning_rate=1e-4,
                gradient_norm=1.0,
                num_tokens=100,
                tokens_per_s=1000.0,
                elapsed_s=seconds * step / steps,
                remaining_s=0.0,
                progress=step / steps,
            )
        )
    if state == "finished":
        for share in evaluations or ():
            found.append(_evaluated(max(1, steps // 2), round(share * rows), rows, is_best=False))
        found.append(_evaluated(steps, right, rows, is_best=True))
        found.append(
            Finished(path=path / "model", seconds=seconds, best_step=steps, best_metric=right / rows)
        )
    return found


def _evaluated(step: int, right: int, rows: int, *, is_best: bool) -> Evaluated:
    share = right / rows
    return Evaluated(
        step=step,
        epoch=1.0,
        split="validation",
        loss=0.4,
        metrics={"accuracy": share, "macro_f1": share},
        labels=("bad", "good"),
        confusion=np.array([[right, rows - right], [0, 0]]),
        per_label={"bad": (share, share, share, rows), "good": (0.0, 0.0, 0.0, 0)},
        is_best=is_best,
    )


def touch_later(path: Path) -> None:
    """Let a file be written a second later than it was."""
    about = os.stat(path)
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns + 10**9))
