"""The doctor's round: everything that can be told of a table, and of its other parts, without a model.

A task: `NewFinding` for each finding, `Progress` between. Nothing is changed, and nothing is refused that can
be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from engine.doctor.characters import on_characters
from engine.doctor.copies import comparing, on_copies
from engine.doctor.finding import Finding, NewFinding
from engine.doctor.labels import on_labels
from engine.doctor.languages import on_languages
from engine.doctor.learned import LearnedRows, on_learning
from engine.doctor.part import TablePart
from engine.doctor.shift import on_shift
from engine.doctor.texts import on_texts
from engine.errors import Sentence, marked
from engine.events import Event
from engine.text.tokenizer import Tokenizer

ORDER = {"wrong": 0, "look": 1, "note": 2}


def examining(
    parts: Sequence[TablePart],
    wordpiece: Tokenizer | None = None,
    max_length: int = 128,
    learned: LearnedRows | None = None,
) -> Iterator[Event]:
    """Tell what is doubtful in the first part, in each of the others, and between any two.

    Args: wordpiece, max_length: of the model that is to read the texts, if there is one. learned: how a run
    went that learned from the first part.
    """
    mendable = parts[0].name
    for part in parts:
        yield from _found(on_labels(part), mendable)
    for part in parts:
        yield from _found((yield from on_texts(part, wordpiece, max_length)), mendable)
    for part in parts:
        yield from _found((yield from on_languages(part)), mendable)
        yield from _found((yield from on_characters(part)), mendable)
    yield from _found(on_shift(parts), mendable)
    texts = yield from comparing(parts)
    yield from _found(on_copies(parts, texts), mendable)
    if learned is not None:
        yield from _found(on_learning(parts[0], learned), mendable)


def _found(findings: Iterable[Finding], mendable: str) -> Iterator[NewFinding]:
    """Tell of findings; mends are rows of a recipe, and only the first part has one."""
    for finding in findings:
        if finding.mends and finding.part != mendable:
            there = Sentence(marked("engine", "To fix {name}, open it on its own."), {"name": finding.part})
            advice = Sentence("{advice} {there}", {"advice": finding.advice, "there": there})
            finding = replace(finding, mends=(), advice=advice)
        yield NewFinding(finding=finding)


def in_order(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings, what is wrong first; of equals as they were found."""
    return sorted(findings, key=lambda finding: ORDER[finding.level])
