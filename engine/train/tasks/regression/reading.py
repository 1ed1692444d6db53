"""A number in a cell, and a number beside a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.events import Steps
from engine.text.example_rows import Indices
from engine.text.examples import COLLECTED, ExampleTable, LabelSettings
from engine.text.numbers import finding_numbers
from engine.text.roles import Roles
from engine.text.table import Table
from engine.text.tokenizer import Tokenizer
from engine.train import data_notes
from engine.train.tasks.regression.task import LABEL, Regression
from engine.train.tasks.rows.reading import RowReading


class OneNumber(RowReading):
    """A column of numbers."""

    name = Regression.name
    contradicting = data_notes.UNLIKE_NUMBERS

    def finding(self, table: Table, roles: Roles, rules: LabelSettings = COLLECTED) -> Steps[ExampleTable]:
        return finding_numbers(table, roles, is_learned=rules.known is None)

    def strata(self, found: ExampleTable) -> Indices:
        """Draw the parts of the data from all rows alike."""
        return np.zeros(len(found.examples), np.int64)

    def numbers(self, found: ExampleTable) -> np.ndarray | None:
        """Return the numbers themselves."""
        return None if found.values is None else found.targets(found.examples)

    def head_labels(self, found: ExampleTable) -> tuple[str, ...]:
        return (LABEL,)

    def answering(self, labels: tuple[str, ...], info: Mapping[str, Any], wordpiece: Tokenizer) -> Regression:
        return Regression(labels)
