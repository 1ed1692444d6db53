"""What only this task's views show of an evaluation: intervals, kinds of errors, texts with what is wrong.

It is kept in a run's metrics, so it is bounded: MOST_TEXTS texts of at most MOST_CHARACTERS. What is read
back may have been edited: it is held to what it can be, and what cannot be is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import marked
from engine.settings.values import as_kind
from engine.train.run.records import count_of, real_numbers

if TYPE_CHECKING:
    from engine.text.tokenizer import Tokenizer
    from engine.train.tasks.correcting.kept import CorrectedRows  # it brings torch with it

MOST_TEXTS = 200
MOST_CHARACTERS = 160  # of a text; of a longer one those around its first error
_BEFORE = 40  # characters shown before the first error of a long text
MISSED, OTHER, NEEDLESS = ERRORS = ("missed", "other", "needless")
# wrong and left as it is; wrong and changed into another wrong piece; right and changed
NEVER_CHANGES = marked(
    "engine",
    "The model changes nothing in the {split} texts, of which {count:,} hold errors. Train longer, or at a "
    "higher rate.",
)


@dataclass(frozen=True, slots=True)
class WrongPlace:
    """Characters start to stop - 1 of a text: what belongs there, and what the model says."""

    start: int
    stop: int
    right: str
    said: str


@dataclass(frozen=True, slots=True)
class WrongText:
    """A text, or part of one, that is not corrected rightly. places: that are wrong, or were changed."""

    line: int
    text: str
    is_part: bool
    places: tuple[WrongPlace, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of its errors, of ERRORS, each once."""
        own = (kind_of(self.text[one.start : one.stop], one.right, one.said) for one in self.places)
        return tuple(dict.fromkeys(kind for kind in own if kind))


def kind_of(old: object, right: object, said: object) -> str:
    """Return the kind of an error; "" where the answer is right."""
    if said == right:
        return ""
    if said == old:
        return MISSED
    return NEEDLESS if right == old else OTHER


def error_counts(own: np.ndarray, right: np.ndarray, predicted: np.ndarray) -> dict[str, int]:
    """Return how many places there are of each kind of error. Args: (A,) pieces."""
    off, left, fine = predicted != right, predicted == own, right == own
    found = {MISSED: off & left, OTHER: off & ~left & ~fine, NEEDLESS: off & fine}
    return {kind: int(places.sum()) for kind, places in found.items()}


def wrong_texts(
    own: np.ndarray, right: np.ndarray, predicted: np.ndarray, data: CorrectedRows, wordpiece: Tokenizer
) -> list[dict[str, Any]]:
    """Return some of the texts that are not corrected rightly. Args: (A,) pieces."""
    from engine.train.tasks.correcting.answers import spelled

    listed, firsts = data.listed, data.firsts
    if not len(listed.texts) or not len(data.spans):
        return []
    places = np.unique(np.searchsorted(firsts, np.flatnonzero(predicted != right), "right") - 1)
    if len(places) > MOST_TEXTS:
        places = places[np.linspace(0, len(places) - 1, MOST_TEXTS).astype(int)]
    found = []
    for place in places.tolist():
        text, own_places = listed.texts[place], np.arange(firsts[place], firsts[place + 1])
        touched = own_places[(right != own)[own_places] | (predicted != own)[own_places]]
        off = own_places[(predicted != right)[own_places]]
        begin, end = _excerpt(len(text), int(data.spans[off[0], 0]))
        shown = []
        for piece in touched.tolist():
            start, stop = data.spans[piece].tolist()
            if begin <= start < stop <= end:
                old = text[start:stop]
                both = (
                    old if one[piece] == own[piece] else spelled([int(one[piece])], old, wordpiece)
                    for one in (right, predicted)
                )
                shown.append([start - begin, stop - begin, *both])
        part = text[begin:end]
        is_part = len(part) < len(text)
        found.append({"line": int(listed.lines[place]), "text": part, "is_part": is_part, "places": shown})
    return found


def _excerpt(length: int, error: int) -> tuple[int, int]:
    """Return the first character that is shown of a text and the end, so that a wrong one is among them."""
    if length <= MOST_CHARACTERS:
        return 0, length
    begin = max(0, min(error - _BEFORE, length - MOST_CHARACTERS))
    return begin, begin + MOST_CHARACTERS


def counts_in(details: Mapping[str, Any]) -> dict[str, int]:
    """Return how many errors there are of each kind that occurs."""
    found = details.get("errors")
    counts = {kind: count_of(found, kind) for kind in ERRORS} if isinstance(found, dict) else {}
    return {kind: count for kind, count in counts.items() if count}


def interval_in(details: Mapping[str, Any], metric: str) -> tuple[float, float] | None:
    """Return the 95 % interval of a metric; None where there is none."""
    found = details.get("intervals")
    ends = real_numbers(found.get(metric), 2) if isinstance(found, dict) else ()
    return (ends[0], ends[1]) if ends and 0 <= ends[0] <= ends[1] <= 1 else None


def texts_in(details: Mapping[str, Any]) -> list[WrongText]:
    """Return the texts that are not corrected rightly, those left out that cannot be."""
    listed, found = details.get("texts"), list[WrongText]()
    for one in listed[:MOST_TEXTS] if isinstance(listed, list) else ():
        with suppress(KeyError, TypeError, ValueError):
            text, places = as_kind(str, one["text"]), _places_of(one["places"])
            if all(0 <= place.start < place.stop <= len(text) for place in places):
                found.append(WrongText(count_of(one, "line"), text, one.get("is_part") is True, places))
    return found


def _places_of(values: Any) -> tuple[WrongPlace, ...]:
    found: Sequence[tuple[int, int, str, str]] = as_kind(tuple[tuple[int, int, str, str], ...], values)
    return tuple(WrongPlace(*one) for one in found)
