"""What an evaluation of answers tells beside its metrics, as it comes back from a run's files.

Somebody may have edited those: what cannot be what it says is left out, so that nobody has to look twice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from engine.errors import marked
from engine.settings.values import Unfit, as_kind, read_value
from engine.train.run.records import real_number

Placed = tuple[str, int, int]  # an answer's text, and where it stands in its passage

NEVER_ANSWERS = marked(
    "engine",
    "The model answers none of the {count} {split} questions. It finds that no passage holds the answer.",
)
_NUMBERS = ("value", "reported", "at_zero", "num_chosen", "num_reported")


@dataclass(frozen=True, slots=True)
class Mistake:
    """A wrong answer. excerpt: of the passage, from the character `excerpt_start` on.

    start, stop: characters of the passage; -1 for "no answer". candidates: with their probabilities.
    """

    question: str
    answer: str
    start: int
    stop: int
    right: tuple[Placed, ...]
    probability: float
    candidates: tuple[tuple[str, int, int, float], ...]
    excerpt: str
    excerpt_start: int


def scores_by_word(details: Mapping[str, Any]) -> dict[str, tuple[float, float, int]]:
    """Return question word -> exact match, F1, questions."""
    found = {}
    for word, figures in _object(details.get("words")).items():
        try:
            exact, f1, count = as_kind(tuple[float, float, int], figures)
        except (TypeError, ValueError):
            continue
        if 0 <= exact <= 1 and 0 <= f1 <= 1 and count > 0:
            found[str(word)] = (exact, f1, count)
    return found


def mistakes_in(details: Mapping[str, Any]) -> list[Mistake]:
    """Return the wrong answers."""
    listed, found = details.get("mistakes"), list[Mistake]()
    for one in listed if isinstance(listed, list) else ():
        with suppress(Unfit):
            found.append(read_value(Mistake, one))
    return found


def threshold_in(details: Mapping[str, Any]) -> dict[str, float]:
    """Return what was found of a threshold; nothing where there is none."""
    threshold = _object(details.get("threshold"))
    found = {name: threshold.get(name) for name in _NUMBERS}
    numbers = {
        name: float(value)
        for name, value in found.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    }
    return numbers if len(numbers) == len(_NUMBERS) else {}


def used_threshold(details: Mapping[str, Any]) -> float | None:
    """Return the threshold of "no answer" that an evaluation used; None where it had none."""
    return real_number(_object(details.get("threshold")).get("used"))


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
