"""Scores of the members as cells: what a row is called, and figures with their intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict

from app import words
from app.look.labels import PART
from app.plots.member_column import MemberScore
from app.words import tr_engine, translate
from engine.family.card import ANALOGIES, PERCENT, RANKS, CardLine
from engine.family.reached import ReachedScore


def shares_line(scores: Mapping[str, ReachedScore | None]) -> CardLine:
    """Return shares of the members as a row without a name."""
    return CardLine("", "", PERCENT, {name: asdict(one) for name, one in scores.items() if one is not None})


def said(line: CardLine) -> tuple[str, str]:
    """Return the words of a row: of a file its name, and over how many questions; before training the same
    question again.
    """
    count = max((int(one["count"]) for one in line.scores.values()), default=0)
    if line.is_start:
        asked = (tr_engine(line.name), line.source)
        return translate("family", "Before training"), PART.join(part for part in asked if part)
    if not line.source:
        name, _, rest = tr_engine(line.name).partition(", ")
        return name, line.unit or rest
    many = translate("family", "{unit} of {count}").format(unit=line.unit, count=words.number(count))
    if line.left_out:
        many = translate("family", "{many}, {left} skipped").format(
            many=many, left=words.number(line.left_out)
        )
    name = line.source if line.unit == RANKS or line.name == ANALOGIES else tr_engine(line.name)
    return name, many


def with_starts(lines: Iterable[CardLine]) -> list[CardLine]:
    """Return rows, each before that of what was reached before training, where that is known."""
    return [one for line in lines for one in (line, line.before()) if one is not None]


def cell(line: CardLine, name: str) -> MemberScore:
    """Return a score with its interval from low to high."""
    one = line.scores.get(name)
    if one is None:
        return MemberScore("")
    times, digits = (100, 1) if line.unit == PERCENT else (1, 2 if line.unit == RANKS else 1)
    few = 0 if line.unit != RANKS and times * one["high"] >= 1000 else digits
    value, low, high = (
        words.decimal(round(times * one[key], few), few)
        for key in ("value", "low", "high")  # as in the card
    )
    if line.is_start:
        return MemberScore(value, translate("family", "no less") if name in line.unlearned else "")
    interval = translate("family", "{low} to {high}").format(low=low, high=high)
    return MemberScore(value, interval, line.is_best(name), f"{low}…{high}")
