"""The labels that the open table's own column has, looked for so that they can be taken over."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.session import Session
from app.work.worker import Channel
from engine.events import Steps
from engine.labelling.columns import ColumnLabels, finding_labels
from engine.labelling.labelled_table import own_column

if TYPE_CHECKING:
    from engine.text.recipe import Recipe
    from engine.text.roles import Roles
    from engine.text.table import Table


class ColumnOffer(QObject):
    """`changed`: other labels are offered, or none."""

    changed = Signal(object)

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._data, self._labels = session.data, session.labels
        self._asked = Channel(self, session.workers.files)
        session.data.summary_changed.connect(self.look)
        session.data.opened.connect(self._forget)

    def look(self) -> None:
        """Look for labels, once it is known what the table is for."""
        data, summary = self._data, self._data.table_summary
        if data.table is None or summary is None or not summary.roles.label:
            self._forget()
            return
        is_own = summary.roles.label == own_column(data.table)
        if is_own and self._labels.num_given:  # they were given here, and the journal has them
            self._forget()
            return
        asked = (data.table, data.mends.recipe, summary.roles, summary.task, summary.is_whole)
        self._asked.ask(asked, partial(_finding, *asked), heard=self.changed.emit)

    def _forget(self) -> None:
        self._asked.drop()
        self.changed.emit(None)


def _finding(
    table: Table, recipe: Recipe | None, roles: Roles, task: str, is_whole: bool
) -> Steps[ColumnLabels | None]:
    table = table if recipe is None else recipe.applied(table)
    return (yield from finding_labels(table, roles, task, whole=is_whole))
