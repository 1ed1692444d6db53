"""Several labels in a cell, or a column of 0 and 1 for each; and a row's labels in one cell beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from engine.events import Steps
from engine.settings.finetune import DataConfig
from engine.text.example_rows import Indices
from engine.text.examples import COLLECTED, ExampleTable, LabelSettings
from engine.text.label_sets import finding_sets, label_columns, switch_columns
from engine.text.roles import Roles, joined_names
from engine.text.table import Table
from engine.text.tokenizer import Tokenizer
from engine.train import data_notes
from engine.train.prepare import roles_of
from engine.train.tasks.multi_label.task import MultiLabel, known_thresholds
from engine.train.tasks.rows.reading import RowReading


class SeveralLabels(RowReading):
    """A column with all labels of a row, or a column for each label."""

    name = MultiLabel.name
    is_side_by_side = True
    contradicting = data_notes.UNLIKE_SETS

    def named(self, data: DataConfig, table: Table) -> Roles:
        """Return the columns that the settings name; without a label, all of 0 and 1 beside the text."""
        text, pair = (table.column(name) if name else "" for name in (data.text, data.text_pair))
        label = self.with_label(table, Roles(text, pair, data.label)).label
        named = self.label(table, label) if label else ""
        first = replace(data, label=label_columns(table, label)[0] if label else "")
        return roles_of(first, table, self.roles).with_columns(label=named)

    def with_label(self, table: Table, roles: Roles) -> Roles:
        if roles.label:
            return roles
        columns = switch_columns(table, roles.read)
        return roles.with_columns(label=joined_names(columns) if len(columns) > 1 else "")

    def label(self, table: Table, named: str) -> str:
        return joined_names(label_columns(table, named))

    def finding(self, table: Table, roles: Roles, rules: LabelSettings = COLLECTED) -> Steps[ExampleTable]:
        return finding_sets(table, roles, rules)

    def strata(self, found: ExampleTable) -> Indices:
        """Return the rarest label of each row, so that every label has its share; C where it has none."""
        sets = found.targets(found.examples)
        support = np.append(sets.sum(0), len(sets) + 1)
        with_none = np.column_stack([sets, ~sets.any(1)])
        rarest: Indices = np.where(with_none, support, len(sets) + 2).argmin(1).astype(np.int64)
        return rarest

    def answering(self, labels: tuple[str, ...], info: Mapping[str, Any], wordpiece: Tokenizer) -> MultiLabel:
        return MultiLabel(labels, thresholds=known_thresholds(labels, info))
