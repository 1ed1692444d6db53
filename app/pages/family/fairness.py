"""Is that fair? How long each member learned, and how long the BERT did that stands for practice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app import words
from app.words import translate
from engine.family.practice import PracticeTraining

Report = Mapping[str, Any]
MILLION = 1e6


@dataclass(frozen=True, slots=True)
class PracticeModel:
    """The BERT that was trained longer. training: None where its card does not say how much."""

    folder: Path
    training: PracticeTraining | None = None


def minutes_of(report: Report) -> str:
    """Return the minutes that each member was given."""
    return f"{report.get('minutes', 0.0):.3g}"


def why_not(model: PracticeModel | None, *, is_chinese: bool, has_bert: bool, can: bool) -> str:
    """Return why the BERT trained longer cannot be asked, "" where it can. Args: can: of this question."""
    if not can:
        return translate("family", "This question was measured for the family only.")
    if model is None:
        return translate("family", "The starter model is not in this build.")
    if is_chinese:
        return translate("family", "The starter model reads English, but this family reads Chinese.")
    if not has_bert:
        return translate("family", "This family has no BERT that the starter model could replace.")
    return ""


def as_given(report: Report) -> str:
    """Return what the members read in the minutes that all were given."""
    reached = report.get("reached", {})
    minutes, bert, ngram = minutes_of(report), reached.get("bert"), reached.get("ngram")
    if bert is None or ngram is None:
        said = translate("family", "Each member was given {minutes} minutes and the same text.")
        return said.format(minutes=minutes)
    said = translate(
        "family",
        "Each member was given {minutes} minutes. In that time BERT read {bert} M "
        "words. The n-gram counted {ngram} M in {seconds}.",
    )
    return said.format(
        minutes=minutes,
        bert=words.decimal(bert["words_read"] / MILLION, 1),
        ngram=words.decimal(ngram["words_read"] / MILLION, 1),
        seconds=words.duration(ngram["seconds"]),
    )


def in_practice(model: PracticeModel, report: Report) -> str:
    """Return how much more the BERT was trained that answers for the family's."""
    found = model.training
    if found is None:
        return translate(
            "family", "BERT here is the starter model; its card does not say how long it was trained."
        )
    said = translate(
        "family",
        "BERT here is the starter model: it read {pieces} M WordPieces in {duration}{base}. All others "
        "were given {minutes} minutes.",
    )
    base = translate("family", ", starting from {name}").format(name=found.base) if found.base else ""
    return said.format(
        pieces=words.decimal(found.pieces / MILLION, 0),
        duration=words.duration(found.seconds),
        base=base,
        minutes=minutes_of(report),
    )


def would_be(model: PracticeModel) -> str:
    """Return what changes where the BERT answers that was trained longer."""
    found = model.training
    if found is None:
        return ""
    said = translate("family", "In practice it reads far more: the starter model read {pieces} M WordPieces.")
    return said.format(pieces=words.decimal(found.pieces / MILLION, 0))


def of_held_out(report: Report) -> str:
    """Return why scores and claims are of the minutes alone."""
    said = translate(
        "family",
        "Scores and claims are for {minutes} minutes each. The starter model was not "
        "measured: it may have read the held-out text.",
    )
    return said.format(minutes=minutes_of(report))
