"""Endings in columns of their own, and the right one's number, letter or text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from engine.errors import marked
from engine.events import Steps
from engine.model.heads import MultipleChoice
from engine.model.info import temperature_in
from engine.text.choices import finding_choices, likely_choices
from engine.text.example_rows import ExampleRows
from engine.text.examples import COLLECTED, ExampleTable, LabelSettings
from engine.text.roles import OF_CHOICES, Roles
from engine.text.table import Table
from engine.text.tokenizer import Tokenizer
from engine.train.tasks.choice.kept import ChoiceRows, encode_choices
from engine.train.tasks.choice.task import Choice
from engine.train.tasks.rows.reading import RowReading, RowTask

UNLIKE_ENDINGS = (
    marked("engine", "{count:,} texts of {name} occur again with the same endings, but another right one."),
    marked("engine", "One text of {name} occurs again with the same endings, but another right one."),
)


class RightEnding(RowReading):
    """A column for each ending, and one for the right one."""

    name = Choice.name
    roles = OF_CHOICES
    head = MultipleChoice
    sets = ChoiceRows
    contradicting = UNLIKE_ENDINGS

    def likely(self, table: Table) -> Roles:
        return likely_choices(table)

    def with_label(self, table: Table, roles: Roles) -> Roles:
        """Return roles with the endings that can be found where none are named."""
        found = likely_choices(table)
        return roles if "choices" in roles or not found else found

    def finding(self, table: Table, roles: Roles, rules: LabelSettings = COLLECTED) -> Steps[ExampleTable]:
        return finding_choices(table, roles.only(self.roles))

    def encode(
        self,
        found: ExampleTable,
        examples: ExampleRows,
        wordpiece: Tokenizer,
        max_length: int,
        truncation: str,
        *,
        is_learned: bool = False,
    ) -> Steps[tuple[ChoiceRows, int]]:
        return encode_choices(examples, wordpiece, max_length, truncation)

    def answering(self, labels: tuple[str, ...], info: Mapping[str, Any], wordpiece: Tokenizer) -> Choice:
        known = Roles.from_json(info.get("roles")).get("choices", ())
        return Choice(known or labels, temperature=temperature_in(info))

    def answering_over(self, task: RowTask, roles: Roles) -> RowTask:
        assert isinstance(task, Choice)
        return replace(task, labels=roles.get("choices", ()))

    def written(self, table: Table, roles: Roles, rows: np.ndarray, predictions: np.ndarray) -> np.ndarray:
        """Return the texts of the endings, in the place of their columns."""
        cells = {name: table.frame[name].array for name in roles.get("choices", ())}
        said = [str(cells[name][row]) for row, name in zip(rows.tolist(), predictions.tolist(), strict=True)]
        return np.array(said, object)
