"""How a task reads the label cells of a table, and what it writes beside the rows that it answers.

All else about rows (columns of text, parts kept apart, remarks on repeats) is the same for every such task.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Protocol

import numpy as np

from engine.events import Steps
from engine.model.heads import HeadedEncoder, SequenceClassifier
from engine.settings.finetune import DataConfig
from engine.text.batch import EncodedRows
from engine.text.example_rows import ExampleRows, Indices
from engine.text.examples import COLLECTED, ExampleTable, LabelSettings
from engine.text.label_sets import likely_roles
from engine.text.roles import USUAL, Role, Roles
from engine.text.table import Table
from engine.text.tokenizer import Tokenizer
from engine.train import data_notes
from engine.train.prepare import encode, roles_of
from engine.train.task import Answering
from engine.train.tasks.rows.kept import MeasuredRows

PREDICTION, PROBABILITY = "prediction", "probability: {label}"


class RowTask(Answering, Protocol):
    """A task that answers once for each row: to (E, ...), what `RowModel.by_row` makes of decoded answers."""

    def columns(self) -> list[str]:
        """Return the names of the columns that predicting adds, PREDICTION first."""

    def predictions(self, answers: np.ndarray) -> np.ndarray:
        """Return (E,) str, what stands in the first of them."""

    def others(self, answers: np.ndarray) -> list[list[str]]:
        """Return the cells of the other ones, column by column."""

    def said(self, answer: Any) -> dict[str, Any]:
        """Return what is answered to one text, as JSON has it. Args: answer: one of those."""

    def needs_no_guard(self) -> bool:
        """Whether the predictions are numbers, which a spreadsheet would not run."""


class RowReading(ABC):
    """What a task has to say of its label cells and of its answers.

    name: of the task. roles: what columns of its tables are for. has_cells_of_labels: each cell of a label
    column is a label, so that it is known by them. is_side_by_side: a row may have several labels, or none.
    contradicting: what is said of texts that stand in a table with unlike labels: of many, of one.
    """

    name: ClassVar[str]
    roles: ClassVar[tuple[Role, ...]] = USUAL
    head: ClassVar[type[HeadedEncoder]] = SequenceClassifier
    sets: ClassVar[type[MeasuredRows]] = MeasuredRows
    has_cells_of_labels: ClassVar[bool] = False
    is_side_by_side: ClassVar[bool] = False
    contradicting: ClassVar[tuple[str, str]] = data_notes.SEVERAL_LABELS

    def named(self, data: DataConfig, table: Table) -> Roles:
        """Return the columns that the settings name. Raises: DataError, ConfigError."""
        return roles_of(data, table, self.roles)

    def likely(self, table: Table) -> Roles:
        """Return the columns that most likely have its roles. Raises: DataError."""
        return likely_roles(table)

    def with_label(self, table: Table, roles: Roles) -> Roles:
        """Return roles with the label that can be found where none is named; as they are if none can."""
        return roles

    def label(self, table: Table, named: str) -> str:
        """Return the label column that is named, as `Roles` have it. Raises: DataError."""
        return table.column(named)

    @abstractmethod
    def finding(self, table: Table, roles: Roles, rules: LabelSettings = COLLECTED) -> Steps[ExampleTable]:
        """Return the rows that can be used, as `finding_examples` of engine/text/examples.py does."""

    def fitting(
        self, table: Table, found: ExampleTable, wordpiece: Callable[[], Tokenizer]
    ) -> Steps[ExampleTable]:
        """Return the rows that can be used by a tokenizer, too; it reports those that cannot.

        Args: wordpiece: opens it, where it matters.
        """
        yield from ()
        return found

    def encode(
        self,
        found: ExampleTable,
        examples: ExampleRows,
        wordpiece: Tokenizer,
        max_length: int,
        truncation: str,
        *,
        is_learned: bool = False,
    ) -> Steps[tuple[EncodedRows, int]]:
        """Cut some of the examples into WordPieces, with their targets, and return how many were cut.

        Args: is_learned: whether they are learned from, and not measured or answered.
        """
        encoded, num_cut = yield from encode(examples, wordpiece, max_length, truncation)
        return replace(encoded, targets=found.targets(examples)), num_cut

    def answering_over(self, task: RowTask, roles: Roles) -> RowTask:
        """Return the task as it answers to the rows of a table. Args: roles: of its columns."""
        return task

    def written(self, table: Table, roles: Roles, rows: np.ndarray, predictions: np.ndarray) -> np.ndarray:
        """Return what a file of answers says in the place of (E,) predictions to some rows of a table."""
        return predictions

    def strata(self, found: ExampleTable) -> Indices:
        """Return (E,) numbers; each part of the data is drawn to have its share of every one."""
        return found.examples.labels.astype(np.int64)

    def numbers(self, found: ExampleTable) -> np.ndarray | None:
        """Return (E,) a number of each row, which tells of the data what counted labels would; None: those
        do.
        """
        return None

    def head_labels(self, found: ExampleTable) -> tuple[str, ...]:
        """Return the labels of the head."""
        return found.labels

    @abstractmethod
    def answering(self, labels: tuple[str, ...], info: Mapping[str, Any], wordpiece: Tokenizer) -> RowTask:
        """Return the task as a finished model answers.

        Args: labels: of its head. info: its cloze.json. wordpiece: that it reads by.
        """
