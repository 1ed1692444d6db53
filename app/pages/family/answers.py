"""What a family answered, as columns: in words a student understands, and what each cannot in its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app import words
from app.pages.family.requests import ANALOGY, FILL, NEAREST, SENSES, TASK, WRITE, Told
from app.plots.family_columns import (
    BLANK,
    OTHER_SIDE,
    SEEN_BAG,
    SEEN_FILL,
    UNSEEN,
    Cell,
    Column,
    Entry,
    Labels,
)
from app.words import tr_engine, translate
from engine.family.members import (
    ABOUT,
    ALL,
    CAPTIONS,
    COUNTS,
    LEFT,
    LIKENESS,
    NEAR,
    PLACE_VECTORS,
    SIDES,
    About,
)
from engine.family.scores import BLANKS, BOTH_SIDES, FROM_LEFT

SCORES = (BLANKS, FROM_LEFT, BOTH_SIDES)


def columns_of(told: Told) -> tuple[Column, ...]:
    """Return a column for each member of the family, the oldest first."""
    return tuple(_column(told, ABOUT[name]) for name in told.names)


def labels_of(told: Told) -> Labels:
    """Return the words at the left for what was asked."""
    scores = (
        (translate("family", "Blanks filled"), "%"),
        (translate("family", "Perplexity"), translate("family", "left only")),
        (translate("family", "Pseudo-perplexity"), ""),
    )
    cannot, unable = translate("family", "Cannot"), translate("family", "cannot")
    if told.question.kind == FILL:
        rank = translate("family", "“{word}” is").format(word=told.question.answer)
        return Labels(
            seen=(translate("family", "May see"), translate("family", "of the sentence")),
            says=(translate("family", "Guesses"), translate("family", "bars from 0 to 1")),
            rank=rank if told.question.answer else "",
            cannot=cannot,
            scores=scores,
            unable=unable,
            legend=(translate("family", "probability"), translate("family", "likeness")),
        )
    if told.question.kind == NEAREST:
        says = (translate("family", "Nearest"), translate("family", "bars from 0 to 1"))
        return Labels(says=says, legend=("", translate("family", "likeness")), cannot=cannot, unable=unable)
    if told.question.kind == ANALOGY:
        says = (translate("family", "Then"), translate("family", "bars from 0 to 1"))
        return Labels(says=says, legend=("", translate("family", "likeness")), cannot=cannot, unable=unable)
    if told.question.kind == TASK:
        rows = ((translate("family", "Right"), "%"),)
        return Labels(says=(translate("family", "How"), ""), scores=rows, unable=unable)
    if told.question.kind == WRITE:
        return Labels(says=(translate("family", "Goes on"), ""), cannot=cannot, unable=unable)
    says = (translate("family", "Likeness"), translate("family", "layer by layer"))
    return Labels(says=says, cannot=cannot, unable=unable)


def _column(told: Told, about: About) -> Column:
    kind, name = told.question.kind, about.name
    head: dict[str, Any] = {
        "name": about.said,
        "year": str(about.year),
        "caption": tr_engine(CAPTIONS[about.age]),
    }
    if kind == FILL:
        filled = told.filled[name]
        rank = "" if filled.rank is None else _ordinal(filled.rank)
        answer = told.question.answer.lower()
        entries = tuple(
            Entry(one.word, one.value, bool(answer) and one.word == answer) for one in filled.guesses
        )
        return Column(
            **head,
            seen=tr_engine(about.seen),
            blocks=_blocks(about, told.words, told.place),
            entries=entries,
            is_likeness=about.says == LIKENESS,
            rank=rank,
            is_first=filled.rank == 1,
            cannot=tr_engine(about.cannot),
            scores=tuple(_cell(told.report, score, name) for score in SCORES),
        )
    if kind == TASK:
        return Column(**head, text=_how(about), scores=(_share(told, name),))
    if kind in (NEAREST, ANALOGY):
        entries = tuple(Entry(one.word, one.value) for one in told.near.get(name, ()))
        cannot = translate("family", "Counts words and knows no vectors.") if about.age == COUNTS else ""
        return Column(**head, entries=entries, is_likeness=True, cannot=cannot)
    if kind == WRITE:
        text = told.written.get(name)
        if text is None:
            return Column(**head, cannot=translate("family", "Does not write from left to right."))
        return Column(**head, text=text or translate("family", "(ends the sentence)"))
    if kind == SENSES:
        return _senses(told, about, head)
    return Column(**head)


def _how(about: About) -> str:
    """Return how a member answers a labelled text."""
    if about.age == COUNTS:
        return translate("family", "One model of word pairs for each label.")
    if about.age == PLACE_VECTORS:
        return translate("family", "Mean of its places, frozen, under a logistic regression.")
    return translate("family", "Mean of its words’ vectors, frozen, under a logistic regression.")


def _share(told: Told, name: str) -> Cell:
    found = {one: solved.frozen for one, solved in told.solved.items()}
    score, best = found[name], max(found.values(), key=lambda one: one.value)
    half = 50 * (score.high - score.low)
    return Cell(words.decimal(100 * score.value, 1), f"± {words.decimal(half, 1)}", score.high >= best.low)


def _senses(told: Told, about: About, head: Mapping[str, Any]) -> Column:
    likeness = told.likeness.get(about.name)
    if likeness is None:
        return Column(**head, cannot=translate("family", "Counts words and knows no vectors."))
    layers = tuple(
        Entry(
            translate("family", "alone")
            if not number
            else translate("family", "layer {number}").format(number=number),
            one,
        )
        for number, one in enumerate(likeness)
    )
    cannot = (
        "" if about.age == PLACE_VECTORS else translate("family", "One point: the sentence changes nothing.")
    )
    return Column(**head, entries=layers, is_likeness=True, cannot=cannot)


def _blocks(about: About, tokens: tuple[str, ...], place: int) -> tuple[tuple[float, str], ...]:
    """Return how each word of the sentence is seen, each as long as the word."""
    lengths = [len(token) if number != place else 4 for number, token in enumerate(tokens)]
    total = max(1, sum(lengths))
    return tuple(
        (length / total, BLANK if number == place else _seen(about, number, place))
        for number, length in enumerate(lengths)
    )


def _seen(about: About, number: int, place: int) -> str:
    is_near = not about.reach or abs(number - place) <= about.reach
    if not is_near or (about.sees == LEFT and number > place):
        return UNSEEN
    if about.sees in (NEAR, ALL):
        return SEEN_BAG
    return OTHER_SIDE if about.sees == SIDES and number > place else SEEN_FILL


def _cell(report: Mapping[str, Any], score: str, name: str) -> Cell:
    """Return a score; it is best where none is better, but for what the intervals do not tell apart."""
    found = report.get("scores", {}).get(score, {})
    one = found.get(name)
    if one is None:
        return Cell("")
    is_share = score == BLANKS
    best = (max if is_share else min)(found.values(), key=lambda other: other["value"])
    is_best = len(found) > 1 and (one["high"] >= best["low"] if is_share else one["low"] <= best["high"])
    times = 100 if is_share else 1
    digits = 1 if times * one["value"] < 100 else 0
    half = times * (one["high"] - one["low"]) / 2
    return Cell(
        words.decimal(times * one["value"], digits),
        f"± {words.decimal(half, 1 if half < 10 else 0)}",
        is_best,
    )


def _ordinal(rank: int) -> str:
    return translate("family", "no. {rank}").format(rank=words.number(rank))
