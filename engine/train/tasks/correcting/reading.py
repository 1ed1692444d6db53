"""A column of texts with errors, and one of the right texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from engine.errors import marked
from engine.events import Steps
from engine.model.heads import MaskedWords
from engine.text.corrections import (
    finding_corrections,
    fitting_corrections,
    likely_corrections,
    num_apart,
)
from engine.text.example_rows import ExampleRows, Indices
from engine.text.examples import COLLECTED, ExampleTable, LabelSettings
from engine.text.roles import OF_CORRECTION, Roles
from engine.text.table import Table
from engine.text.tokenizer import Tokenizer
from engine.train.tasks.correcting.kept import CorrectedRows, encode_corrections
from engine.train.tasks.correcting.task import Correction
from engine.train.tasks.rows.reading import RowReading

UNLIKE_TEXTS = (
    marked("engine", "{count:,} texts of {name} are in several rows with different right texts."),
    marked("engine", "One text of {name} is in several rows with different right texts."),
)


class RightText(RowReading):
    """A column of the right texts."""

    name = Correction.name
    roles = OF_CORRECTION
    head = MaskedWords
    sets = CorrectedRows
    contradicting = UNLIKE_TEXTS

    def likely(self, table: Table) -> Roles:
        return likely_corrections(table) or super().likely(table).only(self.roles)

    def with_label(self, table: Table, roles: Roles) -> Roles:
        """Return roles with the right text that can be found where none is named."""
        found = Roles() if roles.label else likely_corrections(table)
        return roles.with_columns(label=found.label) if found.text == roles.text else roles

    def finding(self, table: Table, roles: Roles, rules: LabelSettings = COLLECTED) -> Steps[ExampleTable]:
        return finding_corrections(table, roles.only(self.roles), is_learned=rules.known is None)

    def fitting(
        self, table: Table, found: ExampleTable, wordpiece: Callable[[], Tokenizer]
    ) -> Steps[ExampleTable]:
        return fitting_corrections(table, found, wordpiece)

    def encode(
        self,
        found: ExampleTable,
        examples: ExampleRows,
        wordpiece: Tokenizer,
        max_length: int,
        truncation: str,
        *,
        is_learned: bool = False,
    ) -> Steps[tuple[CorrectedRows, int]]:
        return encode_corrections(found, examples, wordpiece, max_length, is_learned=is_learned)

    def strata(self, found: ExampleTable) -> Indices:
        """Draw the parts of the data so that each has its share of the texts with an error."""
        return (num_apart(found) > 0).astype(np.int64)

    def numbers(self, found: ExampleTable) -> np.ndarray | None:
        """Return in how many characters each text differs from its right one."""
        return None if found.values is None else num_apart(found)

    def head_labels(self, found: ExampleTable) -> tuple[str, ...]:
        return ()

    def answering(self, labels: tuple[str, ...], info: Mapping[str, Any], wordpiece: Tokenizer) -> Correction:
        return Correction(wordpiece)
