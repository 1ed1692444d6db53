"""How each member learned: its held-out loss by words that it had read and by seconds.

Losses of different kinds are not compared: each member's is its own, as its run says it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.errors import UserError
from engine.train.run.runs import read_metrics


@dataclass(frozen=True, slots=True)
class Point:
    """One look at the held-out text."""

    words: int
    seconds: float
    loss: float


def curve(run_dir: Path) -> tuple[Point, ...]:
    """Return the looks of a member's run; none where its history cannot be read."""
    try:
        records = read_metrics(run_dir)
    except UserError:
        return ()
    words, seconds, found = 0, 0.0, list[Point]()
    for record in records:
        if record.get("event") == "step":
            words += int(record["num_tokens"])
            seconds = float(record["elapsed_s"])
        elif record.get("event") == "evaluated" and record.get("split") == "validation":
            metrics = record.get("metrics", {})
            loss = metrics.get("mlm_loss", record["loss"])
            found.append(Point(words, round(seconds, 2), round(float(loss), 4)))
    return tuple(found)
