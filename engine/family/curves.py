"""How each member learned: its held-out loss and the blanks it filled, by words it had read and by seconds.

Losses of different kinds are not compared: `KINDS` says whose are of one kind. Blanks are one question to
all, so that their curves can cross.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import UserError
from engine.family.blanks import BLANKS, FILLED, MOST_BLANKS
from engine.train.metrics import NORMAL_95
from engine.train.run.runs import read_metrics

KINDS = {  # whose losses are of one kind
    "next": ("ngram", "nnlm", "elmo", "gpt"),  # a word from those before it; of ELMo also from those after
    "hidden": ("bert",),
    "drawn": ("cbow", "skipgram"),  # a word told from NEGATIVES drawn ones
    "counts": ("glove",),  # weighted squares
}


@dataclass(frozen=True, slots=True)
class Point:
    """One look at the held-out text. blanks: the share that was filled, None where that was not asked."""

    words: int
    seconds: float
    loss: float
    blanks: float | None = None


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
            found.append(Point(words, round(seconds, 2), round(float(loss), 4), metrics.get(FILLED)))
    return tuple(found)


def looks(report: Mapping[str, Any], name: str) -> tuple[Point, ...]:
    """Return a member's looks as a report keeps them, but for those before it had anything to look with."""
    return tuple(point for point in _points(report, name) if point.loss > 0.0)


def _points(report: Mapping[str, Any], name: str) -> Iterator[Point]:
    """Yield all looks of a member.

    GloVe's run counts pairs of words once it has read them all, so no more words are told than it has read.
    """
    most = int(report["reached"][name]["words_read"])
    for one in report["curves"].get(name, ()):
        words, blanks = min(int(one["words"]), most), one.get("blanks")
        yield Point(words, float(one["seconds"]), float(one["loss"]), blanks)


@dataclass(frozen=True, slots=True)
class Crossing:
    """From so many words read on, one member fills more blanks than another that was ahead of it before.
    share: of the blanks that both fill there.
    """

    above: str
    below: str
    words: float
    share: float


def blank_curves(report: Mapping[str, Any]) -> dict[str, tuple[Point, ...]]:
    """Return the looks at which each member was asked the blanks, those with words read alone."""
    found = {
        name: tuple(one for one in _points(report, name) if one.blanks is not None and one.words)
        for name in report["members"]
    }
    return {name: points for name, points in found.items() if points}


def crossings(report: Mapping[str, Any]) -> list[Crossing]:
    """Return where the curves of two members cross for good, in the order of words read.

    One is told only where each of the two is surely ahead once, the one before and the other after it: the
    difference of two shares is beyond its own error there. Between two looks a curve is straight over the log
    of words, and nothing is said of words that one of them has not read.
    """
    curves, count = blank_curves(report), _num_blanks(report)
    found = (_crossing(curves, one, other, count) for one, other in combinations(curves, 2))
    return sorted((one for one in found if one is not None), key=lambda one: one.words)


def _crossing(curves: Mapping[str, tuple[Point, ...]], one: str, other: str, count: int) -> Crossing | None:
    last_of = [{point.words: point for point in curves[name]} for name in (one, other)]
    at = [np.log([*points]) for points in last_of]
    shares = [np.array([point.blanks for point in points.values()], np.float64) for points in last_of]
    low, high = max(x[0] for x in at), min(x[-1] for x in at)
    x = np.unique(np.concatenate(at))
    x = x[(x >= low) & (x <= high)]
    if len(x) < 2:
        return None
    p, q = (np.interp(x, places, values) for places, values in zip(at, shares, strict=True))
    apart, error = p - q, _error(p, q, count)
    turns = np.flatnonzero(np.sign(apart[:-1]) * np.sign(apart[1:]) < 0)
    if not len(turns):
        return None
    last = int(turns[-1])
    sign = np.sign(apart[last + 1])
    was_behind = (sign * apart < -error)[: last + 1].any()
    is_ahead = (sign * apart > error)[last + 1 :].any()
    if not (was_behind and is_ahead):
        return None
    share = apart[last] / (apart[last] - apart[last + 1])
    words = float(np.exp(x[last] + share * (x[last + 1] - x[last])))
    both = float(p[last] + share * (p[last + 1] - p[last]))
    return Crossing(*((one, other) if sign > 0 else (other, one)), words, both)


@dataclass(frozen=True, slots=True)
class NotPassed:
    """With all that it had read, BERT surely filled fewer blanks than another member at its own end.

    above: that member. words: that BERT had read. share, above_share: of the blanks that each filled.
    """

    above: str
    words: int
    share: float
    above_share: float


def not_passed(report: Mapping[str, Any]) -> NotPassed | None:
    """Return the member that filled most blanks, where BERT had surely not come so far by its last look."""
    ends = {name: points[-1] for name, points in blank_curves(report).items()}
    shares = {name: float(point.blanks or 0.0) for name, point in ends.items()}
    if "bert" not in shares:
        return None
    above = max(shares, key=shares.__getitem__)
    p, q = shares[above], shares["bert"]
    if p - q <= _error(p, q, _num_blanks(report)):
        return None
    return NotPassed(above, ends["bert"].words, q, p)


def _error(p: Any, q: Any, count: int) -> Any:
    """Return half of the 95 % interval of the difference of two shares of so many blanks each."""
    return NORMAL_95 * np.sqrt((p * (1 - p) + q * (1 - q)) / max(1, count))


def _num_blanks(report: Mapping[str, Any]) -> int:
    """Return how many blanks each look asks."""
    scores = report["scores"][BLANKS].values()
    return max((int(one["count"]) for one in scores), default=MOST_BLANKS)
