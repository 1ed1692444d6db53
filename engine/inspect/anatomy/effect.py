"""What stands at the end of a pass, and what a change to a part of BERT does to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.inspect.anatomy.vectors import Anatomy
from engine.inspect.attention.weights import Floats

MASKED, NEXT, LABEL = "masked_word", "next_sentence", "label"


@dataclass(frozen=True, slots=True)
class AnswerChange:
    """One of the things that a head on top can say. key: its place among all that it can say."""

    key: int
    name: str
    before: float
    now: float


def heads_of(anatomy: Anatomy) -> tuple[str, ...]:
    """Return which heads have answered: masked words first, then a label, then the next sentence."""
    return tuple(name for name in (MASKED, LABEL, NEXT) if f"{name}.logits" in anatomy)


def usual_head(anatomy: Anatomy) -> str:
    """Return the head that a text asks for: masked words where one is hidden; "" where there is no head."""
    there = heads_of(anatomy)
    wanted = [
        name for name in (LABEL, NEXT) if name in there and (name != NEXT or anatomy.text_pair is not None)
    ]
    if MASKED in there and (masks(anatomy) or not wanted):
        return MASKED
    return wanted[0] if wanted else there[0] if there else ""


def masks(anatomy: Anatomy) -> tuple[int, ...]:
    """Return where a [MASK] stands."""
    mask_id = anatomy.about.wordpiece.mask_id
    return tuple(place for place, number in enumerate(anatomy.ids) if number == mask_id)


def shares(anatomy: Anatomy, head: str, place: int = 0) -> Floats:
    """Return the probability of each thing that a head can say. Args: place: of masked words."""
    logits = anatomy.logits_at(place) if head == MASKED else anatomy[f"{head}.logits"]
    if head == MASKED:
        logits = logits[: anatomy.about.wordpiece.vocab_size]  # not what it knows beyond its vocabulary
    powers = np.exp(logits.astype(np.float64) - float(logits.max()))
    return np.asarray(powers / powers.sum(), np.float64)


def largest(values: Floats, count: int) -> list[int]:
    """Return the places of the largest values, the largest first; of equal ones those that come first."""
    some = np.flatnonzero(values >= np.partition(values, -count)[-count]) if count < len(values) else None
    order = np.argsort(-(values if some is None else values[some]), kind="stable")[:count]
    return [int(i) for i in (order if some is None else some[order])]


def name_of(anatomy: Anatomy, head: str, key: int) -> str:
    """Return what a head can say as it is written: a piece, a label; "0" and "1" of the next sentence."""
    if head == MASKED:
        return anatomy.about.wordpiece.shown[key]
    return anatomy.about.labels[key] if head == LABEL else str(key)


def effect(
    before: Anatomy, now: Anatomy, head: str, place: int = 0, count: int = 3
) -> tuple[AnswerChange, ...]:
    """Return the likeliest answers before and now: `count` of before, and the likeliest of now among them."""
    was, is_now = shares(before, head, place), shares(now, head, place)
    keys = largest(was, count)
    best = int(is_now.argmax())
    if best not in keys:
        keys[-1] = best
    return tuple(
        AnswerChange(key, name_of(before, head, key), float(was[key]), float(is_now[key])) for key in keys
    )
