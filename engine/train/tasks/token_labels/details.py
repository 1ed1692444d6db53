"""What only this task's views show of an evaluation: errors by kind, which types are taken for which, and
some texts with what is wrong in them.

It is kept in a run's metrics, so it is bounded: MOST_TEXTS texts of at most MOST_WORDS words. What is read
back may have been edited: it is held to what it can be, and what cannot be is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import marked
from engine.settings.values import as_kind
from engine.text.tagged.texts import Entity
from engine.train.entity_scores import KINDS, EntityError, EntityScores, lenient_spans
from engine.train.run.records import count_of

if TYPE_CHECKING:
    from engine.train.tasks.token_labels.kept import TaggedRows  # it brings torch with it

MOST_TEXTS = 200
MOST_WORDS = 80  # of a text; of a longer one those around its first error
MOST_TYPES = 100  # whose confusion is kept
MOST_PAIRS = 50  # of tags that are taken for each other
_BEFORE = 20  # words shown before the first error of a long text
NONE_FOUND = marked(
    "engine",
    "The model finds no entity in the {split} texts, which hold {count:,}. It has "
    "learned that most words are none. Train longer, or at a higher rate.",
)


def entity_details(scores: EntityScores, found: Sequence[Sequence[str]], data: TaggedRows) -> dict[str, Any]:
    """Return what is shown of entities. Args: found: the predicted tags of each text."""
    by_text = [(place, list(errors)) for place, errors in groupby(scores.errors, key=lambda one: one.text)]
    confusion: dict[str, Any] = {}
    if len(scores.types) <= MOST_TYPES:
        confusion = {"types": list(scores.types), "counts": scores.confusion.tolist()}
    return {
        "scheme": "IOB2",
        "errors": scores.num_errors,
        "confusion": confusion,
        "num_wrong_texts": len(by_text),
        "texts": [_wrong_text(place, errors, found[place], data) for place, errors in _some(by_text)],
    }


def _some(values: Sequence[Any]) -> list[Any]:
    """Return MOST_TEXTS of many, evenly from all of them."""
    if len(values) <= MOST_TEXTS:
        return list(values)
    return [values[place] for place in np.linspace(0, len(values) - 1, MOST_TEXTS).astype(int).tolist()]


def _wrong_text(
    place: int, errors: Sequence[EntityError], found: Sequence[str], data: TaggedRows
) -> dict[str, Any]:
    """Return a text with its entities, true and predicted, each as [start, stop, type] in characters."""
    text, spans = data.store.text(place)
    touched = [one for error in errors for one in (error.true, error.predicted) if one is not None]
    first, stop = _excerpt(len(spans), min(one.first for one in touched))
    begin = spans[first][0] if first else 0
    end = spans[stop - 1][1] if stop < len(spans) else len(text)
    wrong = {error.true for error in errors if error.true}
    others = {error.predicted for error in errors if error.predicted}
    predicted = lenient_spans(found)
    true = sorted((set(predicted) - others) | wrong)  # what is not wrong is true

    def shown(entity: Entity | None) -> list[Any] | None:
        if entity is None or entity.first < first or entity.stop > stop:
            return None
        return [spans[entity.first][0] - begin, spans[entity.stop - 1][1] - begin, entity.type]

    return {
        "line": int(data.lines[place]),
        "text": text[begin:end],
        "is_part": (first, stop) != (0, len(spans)),
        "true": [one for one in map(shown, true) if one],
        "predicted": [one for one in map(shown, predicted) if one],
        "errors": [
            [error.kind, shown(error.true), shown(error.predicted)]
            for error in errors
            if shown(error.true) or shown(error.predicted)
        ],
    }


def tag_details(names: Sequence[str], predicted: np.ndarray, data: TaggedRows) -> dict[str, Any]:
    """Return what is shown of plain tags. Args: predicted: (W,) places in `names`."""
    wrong = np.flatnonzero(data.tags != predicted)
    cells, counts = np.unique(
        data.tags[wrong].astype(np.int64) * len(names) + predicted[wrong], return_counts=True
    )
    order = np.argsort(-counts, kind="stable")[:MOST_PAIRS].tolist()
    pairs = [(*divmod(int(cells[place]), len(names)), int(counts[place])) for place in order]
    places = np.unique(np.searchsorted(data.firsts, wrong, "right") - 1)
    return {
        "scheme": "none",
        "errors": {},
        "confused": [[names[a], names[b], count] for a, b, count in pairs],
        "num_wrong_texts": len(places),
        "texts": [_wrong_words(place, names, predicted, data) for place in _some(places.tolist())],
    }


def _wrong_words(place: int, names: Sequence[str], predicted: np.ndarray, data: TaggedRows) -> dict[str, Any]:
    """Return a text with its wrong words, each as [start, stop, tag] in characters."""
    text, spans = data.store.text(place)
    words = slice(int(data.firsts[place]), int(data.firsts[place + 1]))
    true, found = data.tags[words].tolist(), predicted[words].tolist()
    wrong = [number for number, (a, b) in enumerate(zip(true, found, strict=True)) if a != b]
    first, stop = _excerpt(len(spans), wrong[0])
    begin = spans[first][0] if first else 0
    wrong = [number for number in wrong if first <= number < stop]
    bounds = [(spans[number][0] - begin, spans[number][1] - begin) for number in wrong]
    return {
        "line": int(data.lines[place]),
        "text": text[begin : spans[stop - 1][1]],
        "is_part": (first, stop) != (0, len(spans)),
        "true": [[*bound, names[true[number]]] for bound, number in zip(bounds, wrong, strict=True)],
        "predicted": [[*bound, names[found[number]]] for bound, number in zip(bounds, wrong, strict=True)],
        "errors": [],
    }


def _excerpt(num_words: int, error: int) -> tuple[int, int]:
    """Return the first word that is shown of a text and the end, so that a wrong one is among them."""
    if num_words <= MOST_WORDS:
        return 0, num_words
    first = max(0, min(error - _BEFORE, num_words - MOST_WORDS))
    return first, first + MOST_WORDS


Span = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class WrongText:
    """A text, or part of one, with what is true and what was predicted in it; kinds: of its errors."""

    line: int
    text: str
    is_part: bool
    true: tuple[Span, ...]
    predicted: tuple[Span, ...]
    kinds: tuple[str, ...]


def error_counts(details: Mapping[str, Any]) -> dict[str, int]:
    """Return how many errors there are of each kind that occurs."""
    found = details.get("errors")
    counts = {kind: count_of(found, kind) for kind in KINDS} if isinstance(found, dict) else {}
    return {kind: count for kind, count in counts.items() if count}


def pairs_in(details: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    """Return which plain tag was taken for which, and how often, the most frequent first."""
    listed, found = details.get("confused"), list[tuple[str, str, int]]()
    for one in listed[:MOST_PAIRS] if isinstance(listed, list) else ():
        with suppress(TypeError, ValueError):
            true, predicted, count = as_kind(tuple[str, str, int], one)
            found += [(true, predicted, count)] if count > 0 else []
    return found


def confusion_in(details: Mapping[str, Any]) -> tuple[tuple[str, ...], np.ndarray] | None:
    """Return the types and (K + 1, K + 1) how often each was taken for which, no entity last."""
    found = details.get("confusion")
    try:
        types = as_kind(tuple[str, ...], found["types"])  # type: ignore[index]
        counts = as_kind(np.ndarray, found["counts"])  # type: ignore[index]
    except (KeyError, TypeError, ValueError):
        return None
    return (types, counts) if 0 < len(types) == len(counts) - 1 <= MOST_TYPES else None


def texts_in(details: Mapping[str, Any]) -> list[WrongText]:
    """Return the texts with errors, those left out that cannot be."""
    listed, found = details.get("texts"), list[WrongText]()
    for one in listed[:MOST_TEXTS] if isinstance(listed, list) else ():
        with suppress(KeyError, TypeError, ValueError):
            found.append(_text_of(one))
    return found


def _text_of(value: dict[str, Any]) -> WrongText:
    """Return a text with errors. Raises: KeyError, TypeError, ValueError: it cannot be."""
    text, errors = as_kind(str, value["text"]), value["errors"]
    true, predicted = (_spans_of(value[name], len(text)) for name in ("true", "predicted"))
    if not isinstance(errors, list):
        raise TypeError
    kinds = tuple(one[0] for one in errors if isinstance(one, list) and one and one[0] in KINDS)
    return WrongText(count_of(value, "line"), text, value.get("is_part") is True, true, predicted, kinds)


def _spans_of(values: Any, length: int) -> tuple[Span, ...]:
    spans: tuple[Span, ...] = as_kind(tuple[Span, ...], values)
    if not all(0 <= start < stop <= length for start, stop, _ in spans):
        raise ValueError
    return spans
