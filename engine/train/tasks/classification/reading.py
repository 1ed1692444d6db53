"""One label in a cell, and the likeliest label beside a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.events import Steps
from engine.model.info import temperature_in
from engine.text.examples import COLLECTED, ExampleTable, LabelSettings, finding_examples
from engine.text.roles import Roles
from engine.text.table import Table
from engine.text.tokenizer import Tokenizer
from engine.train.tasks.classification.task import Classification
from engine.train.tasks.rows.reading import RowReading


class OneLabel(RowReading):
    """A column with one label a row."""

    name = Classification.name
    has_cells_of_labels = True

    def finding(self, table: Table, roles: Roles, rules: LabelSettings = COLLECTED) -> Steps[ExampleTable]:
        return finding_examples(table, roles, rules)

    def answering(
        self, labels: tuple[str, ...], info: Mapping[str, Any], wordpiece: Tokenizer
    ) -> Classification:
        return Classification(labels, temperature=temperature_in(info))
