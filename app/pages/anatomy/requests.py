"""What the Anatomy page asks the models worker: every number of a text, as it is and as it was, and a lesson.

Plain functions that touch no Qt object.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.work.models import OpenModels
from engine.inspect.anatomy.changes import AS_IT_IS, PassSettings
from engine.inspect.anatomy.learning import Lesson, learn
from engine.inspect.anatomy.vectors import Anatomy, trace

MOST_SCORES = 2**24  # of words at all places together; of more, those of the first places alone


@dataclass(frozen=True, slots=True)
class AnatomyRequest:
    """A text, or pair, in one model, with some parts otherwise."""

    folder: Path
    text: str
    text_pair: str | None = None
    changes: PassSettings = AS_IT_IS


@dataclass(frozen=True, eq=False, slots=True)
class ChangedAnatomy:
    """Every number now, and before the changes. changed: the names of the arrays that are otherwise."""

    now: Anatomy
    before: Anatomy
    changed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class TaughtWeight:
    """A weight, and the word that it is to learn."""

    answer: str
    weight: str
    row: int
    column: int
    place: int
    rate: float


def find(models: OpenModels, asked: AnatomyRequest, before: Anatomy | None) -> ChangedAnatomy:
    """Return every number. Args: before: without changes, where it is known. Raises: UserError."""
    subject = models.subject(asked.folder)
    encoding = subject.encode(asked.text, asked.text_pair)
    mask_id = subject.wordpiece.mask_id
    length = len(encoding.input_ids)
    places = tuple(i for i, number in enumerate(encoding.input_ids) if number == mask_id)
    if not places:
        places = tuple(range(max(1, min(length, MOST_SCORES // subject.config.vocab_size))))
    if before is None or before.about.fingerprint != subject.fingerprint:
        before = trace(subject, asked.text, asked.text_pair, places=places)
    changes = asked.changes.fitted(subject.config, length)
    if not changes:
        return ChangedAnatomy(before, before)
    now = trace(subject, asked.text, asked.text_pair, changes=changes, places=places)
    names = (name for name, array in now.arrays.items() if not np.array_equal(array, before[name]))
    return ChangedAnatomy(now, before, frozenset(names))


def teach(models: OpenModels, asked: AnatomyRequest, taught: TaughtWeight) -> Lesson:
    """Return what a hidden word teaches one weight. Raises: UserError, ModelError."""
    return learn(
        models.subject(asked.folder),
        asked.text,
        asked.text_pair,
        answer=taught.answer,
        weight=taught.weight,
        row=taught.row,
        column=taught.column,
        place=taught.place,
        rate=taught.rate,
    )
