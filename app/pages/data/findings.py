"""What the doctor found as remarks: what the page counts by itself gains mends, the rest is said beside it.

A finding that is mended says so, with the way back; steps of the recipe that belong to no finding follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QCoreApplication

from app import words
from app.pages.advice.remark import AdviceLine
from app.work.doctor import Doctor
from app.work.open_data import OpenData
from app.work.table_rows import Rows
from engine.doctor.labels import on_similar
from engine.text.recipe import (
    DISAGREEMENT,
    DROP,
    HALF_WIDTH,
    KEEP,
    MERGE,
    RELABEL,
    SECOND,
    TOGETHER,
    RecipeStep,
)

if TYPE_CHECKING:
    from engine.doctor.finding import Finding

translate = QCoreApplication.translate

COUNTED = {  # kinds that the page tells of by itself
    "missing_texts",
    "missing_labels",
    "rare_labels",
    "imbalance",
    "too_long",
    "unknown_pieces",
    "exact_duplicates",
    "contradicting_labels",
}

BESIDE = {"near_duplicates", "near_leaks", "leaks"}  # kinds of which each row is shown beside its partner
NEAR = {"near_duplicates", "near_leaks"}  # that are left out row by row, never all by one click


def step_words(step: RecipeStep) -> str:
    """Return what a click that adds a step says."""
    return {
        DROP: translate("findings", "Exclude"),
        TOGETHER: translate("findings", "Keep in one split"),
        MERGE: translate("findings", "Merge"),
        HALF_WIDTH: translate("findings", "Write half-width"),
    }[step.do]


def rows_words(kind: str) -> str:
    """Return what the rows of a kind of finding are, after their number."""
    return {
        "exact_duplicates": translate("findings", "a text in several rows"),
        "contradicting_labels": translate("findings", "a text with more than one label, next to each other"),
        "similar_labels": translate("findings", "labels that may mean the same"),
        "other_script": translate("findings", "in another script"),
        "other_language": translate("findings", "in another language"),
        "traditional_rows": translate("findings", "traditional characters"),
        "simplified_rows": translate("findings", "simplified characters"),
        "full_width": translate("findings", "full-width letters or digits"),
        "hidden_characters": translate("findings", "invisible characters"),
        "lost_characters": translate("findings", "a lost character, �"),
        "mixed_words": translate("findings", "letters of two scripts in one word"),
        "nearly_empty": translate("findings", "almost no letters"),
        "header_as_row": translate("findings", "column names"),
        "wrong_case": translate("findings", "all capitals"),
        "unknown_labels": translate("findings", "a label without training rows"),
    }.get(kind, translate("findings", "findings"))


def with_findings(remarks: Sequence[AdviceLine], doctor: Doctor, data: OpenData) -> list[AdviceLine]:
    """Return remarks with what the doctor found among them and the mends that there are."""
    summary, steps = data.table_summary, data.mends.steps
    counted = [each for each in doctor.findings if each.kind in COUNTED and doctor.is_own(each)]
    found = {finding.kind: finding for finding in reversed(counted)}
    said = [_with_mends(remark, found, steps) for remark in remarks]
    merged = {each.label for each in summary.spellings} if summary is not None else set()
    for finding in doctor.findings:
        if finding not in counted:
            said += _of_finding(finding, doctor, steps, merged)
    said += _of_steps(steps)
    return said


def _with_mends(remark: AdviceLine, found: Mapping[str, Finding], steps: Sequence[RecipeStep]) -> AdviceLine:
    """Return a remark on copies or contradictions with what a click can do about them."""
    finding = found.get(remark.kind)
    if finding is None or remark.rows is None or not len(remark.rows):
        return remark
    offered = tuple(step for step in finding.mends if step not in steps)
    return replace(remark, more=_more(finding), steps=offered)


def _of_finding(
    finding: Finding, doctor: Doctor, steps: Sequence[RecipeStep], merged: set[str]
) -> Iterator[AdviceLine]:
    offered = [step for step in finding.mends if step not in steps]
    if finding.kind == "similar_labels" and finding.mends:
        others = _without(finding, doctor, merged)
        offered = [step for step in others.mends if step not in steps] if others is not None else []
        if others is None or not offered:
            return  # told of, or mended
        finding = others
    elif len(offered) < len(finding.mends) and any(
        step.do == DROP for step in finding.mends if step in steps
    ):
        return
    is_beside = finding.kind in BESIDE or not doctor.is_own(finding)
    yield AdviceLine(
        finding.level,
        words.say(finding.sentence),
        finding.to_show if len(finding.to_show) else None,
        rows_words(finding.kind),
        finding=finding if is_beside else None,
        more=_more(finding),
        steps=tuple(step for step in offered if step.do != DROP or finding.kind not in NEAR),
    )


def _without(finding: Finding, doctor: Doctor, told: set[str]) -> Finding | None:
    """Return what is found of labels but for those that the page tells of; None where that is all."""
    pairs = zip(finding.values["label"], finding.values["meant"], strict=True)
    meant = {label: other for label, other in pairs if label not in told}
    return next(on_similar(doctor.parts[finding.part], meant), None)


def _more(finding: Finding) -> str:
    return words.sentences([words.say(finding.why), words.say(finding.advice)])


def _of_steps(steps: Sequence[RecipeStep]) -> Iterator[AdviceLine]:
    """Say each mend, with the way back."""
    for step in steps:
        text = translate("findings", "Fixed: {what}{reason}.")
        if step.do == KEEP:
            text = translate("findings", "Looked at: {what}{reason}.")
        said = text.format(what=words.say(step.words()), reason=_reason(step))
        yield AdviceLine("note", said, _rows_of(step), translate("findings", "fixed"), taken=step)


def _rows_of(step: RecipeStep) -> Rows | None:
    return np.array(step.rows, np.int64) if step.rows else None


def _reason(step: RecipeStep) -> str:
    said = {
        "exact_duplicates": translate("findings", "duplicates"),
        "near_duplicates": translate("findings", "near-duplicates"),
        "near_leaks": translate("findings", "near-duplicate leaks"),
        "contradicting_labels": translate("findings", "contradicting labels"),
        "leaks": translate("findings", "leaks"),
        "suspected_labels": translate("findings", "suspected labels"),
        DISAGREEMENT: translate("findings", "disagreements"),
        SECOND: translate("findings", "second annotator"),
    }.get(step.reason, "")
    return f" ({said})" if said and step.do in (DROP, TOGETHER, RELABEL) else ""
