"""Is that fair? How long each member learned, and how long the BERT did that stands for practice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app import words
from app.words import translate
from engine.family.card import UNREAD_IN_PRACTICE
from engine.family.practice import PracticeTraining

Report = Mapping[str, Any]
MILLION = 1e6


@dataclass(frozen=True, slots=True)
class PracticeModel:
    """The BERT that was trained longer. training: None where its card does not say how much."""

    folder: Path
    training: PracticeTraining | None = None


def given_to_each(report: Report, *, is_short: bool = False) -> str:
    """Return what each member was given, the same for all: minutes, words to read, or steps; "" for neither.
    Args: is_short: in fewer letters.
    """
    if count := report.get("words_each"):
        return translate("family", "{count} M words").format(count=words.decimal(count / MILLION, 1))
    if count := report.get("steps_each"):
        return translate("family", "{count} steps").format(count=words.number(count))
    minutes = report.get("minutes", 0.0)
    if not minutes:
        return ""
    said = translate("family", "{minutes} min") if is_short else translate("family", "{minutes} minutes")
    return said.format(minutes=f"{minutes:.3g}")


def why_not(model: PracticeModel | None, *, is_chinese: bool, has_bert: bool, can: bool) -> str:
    """Return why the BERT trained longer cannot be asked, "" where it can. Args: can: of this question."""
    if not can:
        return translate("family", "This question was measured for the family only.")
    if model is None and is_chinese:
        return translate("family", "The starter model reads English, but this family reads Chinese.")
    if model is None:
        return translate("family", "The starter model is not in this build.")
    if not has_bert:
        return translate("family", "This family has no BERT that the starter model could replace.")
    return ""


def as_given(report: Report) -> str:
    """Return what the members read with what all were given."""
    reached = report.get("reached", {})
    given, bert, ngram = given_to_each(report), reached.get("bert"), reached.get("ngram")
    if bert is None or ngram is None:
        said = translate("family", "Each member was given {given} and the same text.")
        return said.format(given=given)
    said = translate(
        "family",
        "Each member was given {given}. With that BERT read {bert} M "
        "words. The n-gram counted {ngram} M in {seconds}.",
    )
    return said.format(
        given=given,
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
        "were given {given}.",
    )
    base = translate("family", ", starting from {name}").format(name=found.base) if found.base else ""
    return said.format(
        pieces=words.decimal(found.pieces / MILLION, 0),
        duration=words.duration(found.seconds),
        base=base,
        given=given_to_each(report),
    )


def would_be(model: PracticeModel) -> str:
    """Return what changes where the BERT answers that was trained longer."""
    found = model.training
    if found is None:
        return ""
    said = translate("family", "In practice it reads far more: the starter model read {pieces} M WordPieces.")
    return said.format(pieces=words.decimal(found.pieces / MILLION, 0))


def of_held_out(report: Report) -> str:
    """Return why scores and claims are of the same budget for all."""
    said = translate(
        "family",
        "Scores and claims are for {given} each. The starter model was not "
        "measured: it may have read the held-out text.",
    )
    if any(one["name"] == UNREAD_IN_PRACTICE for one in report.get("questions", ())):
        said = translate(
            "family",
            "Scores and claims are for {given} each. The starter model may have read the "
            "held-out text, so it fills blanks in another one.",
        )
    return said.format(given=given_to_each(report))


def of_rings(report: Report) -> str:
    """Return what the rings beside the dots are; "" where what was before training is not known."""
    if "starts" not in report:
        return ""
    return translate("family", "A ring is what a member reached before training.")
