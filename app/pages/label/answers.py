"""What a person has chosen for the text in view and not yet given, for each kind of label.

An answer begins with what was given to the text before; each step of it can be taken back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

from engine.labelling.entry import GIVE, OPEN, JournalEntry, Span
from engine.labelling.kinds import A_NUMBER, ONE_LABEL, SEVERAL_LABELS, TAGS_OF_WORDS, LabelKind

NOTHING = JournalEntry(GIVE)


class Answer(ABC):
    """An answer that is not finished. Args: before: what was given. text: that is in view."""

    def __init__(self, before: JournalEntry | None, text: str) -> None:
        self.text = text
        self.entry = self._first = self.begun(before or NOTHING)
        self._steps: list[JournalEntry] = []

    def begun(self, before: JournalEntry) -> JournalEntry:
        """Return what the answer begins with."""
        return replace(NOTHING, label=before.label, labels=before.labels, text=before.text)

    @property
    def is_changed(self) -> bool:
        """Whether a person has chosen something since it began."""
        return self.entry != self._first

    def begin_anew(self) -> None:
        """Count what it began with as chosen: it is given no more."""
        self._first = NOTHING

    @property
    def chosen(self) -> tuple[int, ...]:
        """The labels that are chosen."""
        return ()

    def press(self, label: int) -> bool:
        """Choose a label. Returns: whether the answer is finished by that."""
        return False

    @property
    @abstractmethod
    def fields(self) -> dict[str, Any] | None:
        """What is given by it, as fields of `JournalEntry`; None: there is nothing to give yet."""

    def is_as(self, before: JournalEntry) -> bool:
        """Whether it gives what was given before."""
        fields = self.fields or {}
        return all(getattr(before, name) == value for name, value in fields.items())

    def undo(self) -> bool:
        """Take the last step back; False: there is none."""
        if self._steps:
            self.entry = self._steps.pop()
            return True
        return False

    def _step(self, **values: Any) -> None:
        self._steps.append(self.entry)
        self.entry = replace(self.entry, **values)


class LabelAnswer(Answer):
    """One label: its key gives it."""

    @property
    def chosen(self) -> tuple[int, ...]:
        return (self.entry.label,) if self.entry.label >= 0 else ()

    def press(self, label: int) -> bool:
        self.entry = replace(self.entry, label=label)
        return True

    @property
    def fields(self) -> dict[str, Any] | None:
        return {"label": self.entry.label} if self.entry.label >= 0 else None


class LabelsAnswer(Answer):
    """Several labels: a key chooses one, or chooses it no more."""

    @property
    def chosen(self) -> tuple[int, ...]:
        return self.entry.labels

    def press(self, label: int) -> bool:
        self._step(labels=tuple(sorted({*self.entry.labels} ^ {label})))
        return False

    @property
    def fields(self) -> dict[str, Any] | None:
        return {"labels": self.entry.labels}


class TagsAnswer(Answer):
    """Tags of words: a key gives a label to the characters that are selected. selected: start and stop."""

    selected = (0, 0)

    def begun(self, before: JournalEntry) -> JournalEntry:
        return replace(NOTHING, text=self.text, spans=before.spans if before.text == self.text else ())

    @property
    def chosen(self) -> tuple[int, ...]:
        start, stop = self.selected
        return tuple({label for first, end, label in self.entry.spans if first < stop and end > start})

    @property
    def open_span(self) -> Span | None:
        """The first span whose label was split, and that is to have another."""
        return next((span for span in self.entry.spans if span[2] == OPEN), None)

    def press(self, label: int) -> bool:
        start, stop = self.selected
        if start < stop:
            span = (start, stop, label)
            others = [one for one in self.entry.spans if one[1] <= start or one[0] >= stop]
            is_there = span in self.entry.spans
            self._step(spans=tuple(sorted(others if is_there else [*others, span])))
        return False

    def clear(self) -> None:
        """Take the tags off what is selected."""
        start, stop = self.selected
        kept = tuple(one for one in self.entry.spans if one[1] <= start or one[0] >= stop)
        if kept != self.entry.spans:
            self._step(spans=kept)

    @property
    def fields(self) -> dict[str, Any] | None:
        return None if self.open_span else {"text": self.text, "spans": self.entry.spans}


class NumberAnswer(Answer):
    """A number, as it is typed."""

    def type(self, text: str) -> None:
        """Take what is typed by now."""
        self.entry = replace(self.entry, text=text.strip())

    @property
    def fields(self) -> dict[str, Any] | None:
        return {"text": self.entry.text} if A_NUMBER.fits(self.entry) else None


ANSWERS: dict[LabelKind, type[Answer]] = {
    ONE_LABEL: LabelAnswer,
    SEVERAL_LABELS: LabelsAnswer,
    TAGS_OF_WORDS: TagsAnswer,
    A_NUMBER: NumberAnswer,
}
