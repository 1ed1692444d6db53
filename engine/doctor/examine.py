"""The doctor's round: everything that can be told of a table, and of its other parts, without a model.

A task: `Found` for each finding, `Progress` between. Nothing is changed, and nothing is refused that can be
read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.doctor.copies import comparing, on_copies
from engine.doctor.finding import Finding, Found
from engine.doctor.labels import on_labels
from engine.doctor.learned import Learned, on_learning
from engine.doctor.part import Part
from engine.doctor.shift import on_shift
from engine.doctor.texts import on_texts
from engine.events import Event
from engine.text.wordpiece import WordPiece

ORDER = {"wrong": 0, "look": 1, "note": 2}


def examining(
    parts: Sequence[Part],
    wordpiece: WordPiece | None = None,
    max_length: int = 128,
    learned: Learned | None = None,
) -> Iterator[Event]:
    """Tell what is doubtful in the first part, in each of the others, and between any two.

    Args: wordpiece, max_length: of the model that is to read the texts, if there is one. learned: how a run
    went that learned from the first part.
    """
    for part in parts:
        yield from _found(on_labels(part))
    for part in parts:
        yield from _found((yield from on_texts(part, wordpiece, max_length)))
    yield from _found(on_shift(parts))
    texts = yield from comparing(parts)
    yield from _found(on_copies(parts, texts))
    if learned is not None:
        yield from _found(on_learning(parts[0], learned))


def _found(findings: Iterator[Finding] | Sequence[Finding]) -> Iterator[Found]:
    for finding in findings:
        yield Found(finding=finding)


def in_order(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings, what is wrong first; of equals as they were found."""
    return sorted(findings, key=lambda finding: ORDER[finding.level])
