"""What can be given to a text: one label, several, tags of its words, or a number. Chosen once for a table.

Each kind is called as the task that learns from it, and says all that journal, saved table and window obey.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import ClassVar

from engine.errors import marked
from engine.labelling.entry import OPEN, JournalEntry


class LabelKind(ABC):
    """One of them. name: of the task that is fine-tuned on it. title: in a box of choices.

    has_codebook: whether it is made of labels. is_of_rows: whether its task reads a row of a table for each
    text; else a file of its own. on_learning: what a person is told of the model that learns along, "" where
    the usual holds. is_measured: whether it is measured how good that model is. needs: what is told while
    nothing can be fine-tuned on it.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    has_codebook: ClassVar[bool] = True
    is_of_rows: ClassVar[bool] = True
    on_learning: ClassVar[str] = ""
    is_measured: ClassVar[bool] = False
    needs: ClassVar[str]

    def can_teach(self, given: Iterable[JournalEntry]) -> bool:
        """Whether a model can be fine-tuned on what was given: it has to differ."""
        return len({(frozenset(self.labels_in(entry)), entry.text) for entry in given}) > 1

    @abstractmethod
    def labels_in(self, entry: JournalEntry) -> tuple[int, ...]:
        """Return the labels that an entry gives, one that it gives several times so often."""

    @abstractmethod
    def with_label(self, entry: JournalEntry, label: int, into: int) -> JournalEntry:
        """Return an entry with another label in the place of one; OPEN: one that is to be given anew."""

    @abstractmethod
    def fits(self, entry: JournalEntry) -> bool:
        """Whether an entry gives what this kind can give."""

    @abstractmethod
    def cell(self, entry: JournalEntry, names: Mapping[int, str]) -> str:
        """Return what a cell of a saved table has of it, as the task reads it. Args: names: of labels."""

    def answer(self, entry: JournalEntry, names: Mapping[int, str]) -> str:
        """Return it as a model's answer of its task is written. Args: names: of labels."""
        return self.cell(entry, names)

    @abstractmethod
    def of_cell(self, entry: JournalEntry, numbers: tuple[int, ...], names: tuple[str, ...]) -> JournalEntry:
        """Return an entry that gives what a cell of a column has. Args: numbers: of the labels that it has.
        names: how they stand there.
        """


class OneLabel(LabelKind):
    """The usual kind."""

    name = "classification"
    is_measured = True
    title = marked("engine", "One label")
    needs = marked("engine", "Fine-tuning needs texts with two different labels.")

    def labels_in(self, entry: JournalEntry) -> tuple[int, ...]:
        return (entry.label,)

    def with_label(self, entry: JournalEntry, label: int, into: int) -> JournalEntry:
        return replace(entry, label=into) if entry.label == label else entry

    def fits(self, entry: JournalEntry) -> bool:
        return entry.label >= 0 and not entry.labels and not entry.spans

    def cell(self, entry: JournalEntry, names: Mapping[int, str]) -> str:
        return names[entry.label]

    def of_cell(self, entry: JournalEntry, numbers: tuple[int, ...], names: tuple[str, ...]) -> JournalEntry:
        return replace(entry, label=numbers[0] if len(numbers) == 1 else OPEN)


class SeveralLabels(LabelKind):
    """Any number of labels, none among them."""

    name = "multi-label"
    title = marked("engine", "Several labels")
    needs = marked("engine", "Fine-tuning needs texts with different labels.")
    on_learning = marked(
        "engine",
        "A model learns along, yes or no for each label. Only a fine-tuned one is measured.",
    )

    def labels_in(self, entry: JournalEntry) -> tuple[int, ...]:
        return entry.labels

    def with_label(self, entry: JournalEntry, label: int, into: int) -> JournalEntry:
        moved = (into if one == label else one for one in entry.labels)
        return replace(entry, labels=tuple(dict.fromkeys(one for one in moved if one != OPEN)))

    def fits(self, entry: JournalEntry) -> bool:
        return entry.label < 0 and not entry.spans and len({*entry.labels}) == len(entry.labels)

    def cell(self, entry: JournalEntry, names: Mapping[int, str]) -> str:
        return json.dumps([names[one] for one in entry.labels], ensure_ascii=False)

    def answer(self, entry: JournalEntry, names: Mapping[int, str]) -> str:
        from engine.train.tasks.multi_label.task import BETWEEN  # here: torch takes seconds

        return BETWEEN.join(names[one] for one in entry.labels)

    def of_cell(self, entry: JournalEntry, numbers: tuple[int, ...], names: tuple[str, ...]) -> JournalEntry:
        return replace(entry, labels=tuple(dict.fromkeys(numbers)))


class TagsOfWords(LabelKind):
    """Spans of a text, no two of which overlap."""

    name = "token-labels"
    title = marked("engine", "Tags of words")
    needs = marked("engine", "Fine-tuning needs texts with tags.")
    is_of_rows = False
    on_learning = marked(
        "engine",
        "No model learns tags of words along. Texts come spread over the table, and some at random.",
    )

    def can_teach(self, given: Iterable[JournalEntry]) -> bool:
        return any(entry.spans for entry in given)

    def labels_in(self, entry: JournalEntry) -> tuple[int, ...]:
        return tuple(label for _start, _stop, label in entry.spans)

    def with_label(self, entry: JournalEntry, label: int, into: int) -> JournalEntry:
        spans = tuple((start, stop, into if one == label else one) for start, stop, one in entry.spans)
        return replace(entry, spans=spans)

    def fits(self, entry: JournalEntry) -> bool:
        end = 0
        for start, stop, _label in entry.spans:
            if not end <= start < stop <= len(entry.text):
                return False
            end = stop
        return entry.label < 0 and not entry.labels

    def cell(self, entry: JournalEntry, names: Mapping[int, str]) -> str:
        return json.dumps([[start, stop, names[one]] for start, stop, one in entry.spans], ensure_ascii=False)

    def of_cell(self, entry: JournalEntry, numbers: tuple[int, ...], names: tuple[str, ...]) -> JournalEntry:
        raise ValueError("a table with a column of tags is opened as a file of its own")


class ANumber(LabelKind):
    """A number, kept as it was typed."""

    name = "regression"
    title = marked("engine", "A number")
    needs = marked("engine", "Fine-tuning needs texts with two different numbers.")
    on_learning = marked(
        "engine",
        "A model learns along and suggests numbers. Texts come spread over the table, and some at random.",
    )
    has_codebook = False

    def labels_in(self, entry: JournalEntry) -> tuple[int, ...]:
        return ()

    def with_label(self, entry: JournalEntry, label: int, into: int) -> JournalEntry:
        return entry

    def fits(self, entry: JournalEntry) -> bool:
        from engine.text.numbers import number_in  # here: tables take half a second

        return entry.label < 0 and not entry.labels and not entry.spans and number_in(entry.text) is not None

    def cell(self, entry: JournalEntry, names: Mapping[int, str]) -> str:
        return entry.text

    def of_cell(self, entry: JournalEntry, numbers: tuple[int, ...], names: tuple[str, ...]) -> JournalEntry:
        return replace(entry, text=names[0] if len(names) == 1 else "")


ONE_LABEL, SEVERAL_LABELS, TAGS_OF_WORDS, A_NUMBER = OneLabel(), SeveralLabels(), TagsOfWords(), ANumber()
KINDS: dict[str, LabelKind] = {
    kind.name: kind for kind in (ONE_LABEL, SEVERAL_LABELS, TAGS_OF_WORDS, A_NUMBER)
}
