"""How each member learned: its held-out loss by words that it had read and by seconds.

Losses of different kinds are not compared: `KINDS` says whose are of one kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import UserError
from engine.train.run.runs import read_metrics

KINDS = {  # whose losses are of one kind
    "next": ("ngram", "nnlm", "elmo", "gpt"),  # a word from those before it; of ELMo also from those after
    "hidden": ("bert",),
    "drawn": ("cbow", "skipgram"),  # a word told from NEGATIVES drawn ones
    "counts": ("glove",),  # weighted squares
}


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


def looks(report: Mapping[str, Any], name: str) -> tuple[Point, ...]:
    """Return a member's looks as a report keeps them; those before it had anything to look with are left out.

    GloVe's run counts pairs of words once it has read them all, so no more words are told than it has read.
    """
    most = int(report["reached"][name]["words_read"])
    found = (
        Point(min(int(one["words"]), most), float(one["seconds"]), float(one["loss"]))
        for one in report["curves"].get(name, ())
    )
    return tuple(point for point in found if point.loss > 0.0)
