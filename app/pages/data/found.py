"""The rows of a finding that the table cannot show by itself: those of another file, and each row beside the
one that it is like, which may stand in another file, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QHeaderView, QWidget

from app import words
from app.look.inputs import SpinBox
from app.look.labels import label
from app.look.layout import STRETCH, row
from app.look.rows_model import RowsModel, TableColumn, text_column
from app.look.table_view import TableView
from app.look.widgets import Card, button
from engine.text.recipe import RecipeStep

if TYPE_CHECKING:
    from engine.doctor.finding import Finding
    from engine.doctor.part import TablePart

SHOWN, TOLD = 240, 2000  # characters of a cell in its line, and in its tooltip
LIKE = 90  # per cent from which on rows are left out, until another number is chosen
LONG, MOST_MEASURED = 24, 50  # characters of a cell that is a text; rows that are looked at for that
WIDEST = 160  # pixels of a column that holds no texts


class FoundModel(RowsModel):
    """The rows of one finding, each with its partner: cells are made as they are shown."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lines: np.ndarray = np.zeros(0, np.int64)

    def set_finding(self, finding: Finding, parts: Mapping[str, TablePart]) -> None:
        """Show another finding. Args: parts: by name, its own and that of its partners."""
        own, other = parts[finding.part], parts.get(finding.other)
        self._lines = own.table.lines[finding.rows]
        columns = []
        if finding.similarity is not None:
            columns.append(_column(self.tr("similarity"), partial(_share, finding.similarity)))
        columns += self._cells(own, finding.rows)
        if other is not None and finding.twins is not None:
            lines = other.table.lines[finding.twins]
            columns.append(_column(self.tr("similar to line"), lambda place: words.number(int(lines[place]))))
            columns += self._cells(other, finding.twins)
        self.put(columns, range(len(self._lines)))

    def _cells(self, part: TablePart, rows: np.ndarray) -> list[TableColumn]:
        used = list(part.roles.columns)
        used = [name for name in used if name in part.table.columns]
        return [_column(name, partial(_cell, part.table.frame[name].array, rows)) for name in used]

    def texts(self) -> list[int]:
        """Return the columns whose cells are long."""
        first = self.rows[:MOST_MEASURED]
        return [
            at for at, column in enumerate(self.columns) if any(len(column.said(i)) > LONG for i in first)
        ]

    def row_head(self, place: int) -> str:
        return str(int(self._lines[place]))


def _column(name: str, cell: Callable[[int], str]) -> TableColumn:
    return text_column(words.shorten(name, 40), cell, longest=SHOWN, longest_tip=TOLD)


def _cell(cells: Any, rows: np.ndarray, place: int) -> str:
    return str(cells[int(rows[place])])


def _share(similarity: np.ndarray, place: int) -> str:
    return words.share(float(similarity[place]), 0)


class FoundCard(Card):
    """What a finding is about, row by row; near copies are left out from a chosen likeness on."""

    ended = Signal()
    mended = Signal(object)  # a Step

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("found_card")
        self._finding: Finding | None = None
        self._step: RecipeStep | None = None
        self.model = FoundModel(self)
        self.view = TableView()
        self.view.setObjectName("found_view")
        self.view.setAccessibleName(self.tr("Rows found"))
        self.view.setModel(self.model)
        self.said = label("", "muted", wrap=True, name="found_said")
        close = button(self.tr("Back to the table"), "link", name="found_done")
        close.clicked.connect(self.ended)
        self.add_corner(close)
        self.share = SpinBox(minimum=0, maximum=100, suffix=self.tr(" %"))
        self.share.setObjectName("found_share")
        self.share.setAccessibleName(self.tr("Exclude rows that are at least this similar"))
        self.share.setValue(LIKE)
        self.share.valueChanged.connect(self._show_step)
        self.drop_button = button("", name="found_drop")
        self.drop_button.clicked.connect(self._drop)
        self._least = label(self.tr("Similar to at least"), "muted")
        self._least.setBuddy(self.share)
        self.add(self.said)
        self.add(self.view, 1)
        self.add_layout(row(self._least, self.share, self.drop_button, STRETCH))

    def show_finding(self, finding: Finding, parts: Mapping[str, TablePart]) -> None:
        """Show the rows of a finding. Args: parts: by name."""
        self._finding = finding
        self.set_title(self.tr("Rows of {name}").format(name=words.shorten(finding.part, 48)))
        beside = ""
        if finding.twins is not None and finding.other == finding.part:
            beside = self.tr(" Next to each is the row that it resembles.")
        elif finding.twins is not None:
            beside = self.tr(" Next to each is the row of {name} that it resembles.").format(
                name=words.shorten(finding.other, 48)
            )
        self.said.setText(words.say(finding.sentence) + beside)
        self.model.set_finding(finding, parts)
        self._fit()
        self.view.scrollToTop()
        self._show_step()

    def _fit(self) -> None:
        """Share among the texts what room the other columns leave."""
        header, texts = self.view.horizontalHeader(), self.model.texts()
        header.setStretchLastSection(not texts)
        for place in range(self.model.columnCount()):
            is_text = place in texts
            how = QHeaderView.ResizeMode.Stretch if is_text else QHeaderView.ResizeMode.Interactive
            header.setSectionResizeMode(place, how)
            if not is_text:
                needed = max(self.view.sizeHintForColumn(place), header.sectionSizeHint(place))
                header.resizeSection(place, min(needed + 8, WIDEST))

    def _show_step(self) -> None:
        finding = self._finding
        if finding is None:
            return
        self._step = finding.leaving_out(self.share.value() / 100)
        for widget in (self._least, self.share, self.drop_button):
            widget.setVisible(self._step is not None)
        count = len(self._step.rows) if self._step is not None else 0
        said = words.counted(count, self.tr("Exclude one row"), self.tr("Exclude {count} rows"))
        self.drop_button.setText(said)
        self.drop_button.setEnabled(count > 0)

    def _drop(self) -> None:
        if self._step is not None:
            self.mended.emit(self._step)
            self.ended.emit()
