"""The rows of a finding that the table cannot show by itself: those of another file, and each row beside the
one that it is like, which may stand in another file, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QModelIndex, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QHeaderView, QMenu, QWidget

from app import words
from app.look import theme
from app.look.columns import color_of
from app.look.inputs import SpinBox
from app.look.labels import label
from app.look.layout import STRETCH, row
from app.look.rows_model import Index, RowsModel, TableColumn, text_column
from app.look.table_view import TableView
from app.look.widgets import Card, button
from app.pages.data.hand import TableMenus
from app.session import Session
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
        self._rows: list[np.ndarray] = []  # of each column, those of the open table that its cells are of
        self._left_out: Collection[int] = ()

    def set_finding(self, finding: Finding, parts: Mapping[str, TablePart]) -> None:
        """Show another finding. Args: parts: by name, its own and that of its partners."""
        own, other = parts[finding.part], parts.get(finding.other)
        self._lines = own.table.lines[finding.rows]
        none = np.full(len(finding.rows), -1, np.int64)
        columns = []
        if finding.similarity is not None:
            columns.append(_column(self.tr("similarity"), partial(_share, finding.similarity)))
        columns += self._cells(own, finding.rows)
        if other is not None and finding.twins is not None:
            lines = other.table.lines[finding.twins]
            columns.append(_column(self.tr("similar to line"), lambda place: words.number(int(lines[place]))))
            columns += self._cells(other, finding.twins)
        firsts = len(columns)
        twins = none if finding.other != finding.part or finding.twins is None else finding.twins
        if other is not None and finding.twins is not None:
            firsts -= 1 + len(self._used(other))
        self._rows = [finding.rows] * firsts + [twins] * (len(columns) - firsts)
        self.put(columns, range(len(self._lines)))

    def set_left_out(self, rows: Collection[int]) -> None:
        """Say which rows of the open table are left out."""
        self._left_out = rows
        for place in range(len(self.columns)):
            self.touch(place)

    def table_row(self, index: QModelIndex) -> int:
        """Return the row of the finding's own table that a cell is of; -1: it is of another table."""
        return int(self._rows[index.column()][index.row()]) if index.isValid() else -1

    def _is_out(self, index: Index) -> bool:
        return int(self._rows[index.column()][index.row()]) in self._left_out

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.FontRole and index.isValid() and self._is_out(index):
            font = theme.ui_font()
            font.setStrikeOut(True)
            return font
        if role == Qt.ItemDataRole.ForegroundRole and index.isValid() and self._is_out(index):
            return color_of("muted")
        return super().data(index, role)

    def _used(self, part: TablePart) -> list[str]:
        return [name for name in part.roles.columns if name in part.table.columns]

    def _cells(self, part: TablePart, rows: np.ndarray) -> list[TableColumn]:
        frame = part.table.frame
        return [_column(name, partial(_cell, frame[name].array, rows)) for name in self._used(part)]

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

    def __init__(self, session: Session, hand: TableMenus, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("found_card")
        self._session, self._hand = session, hand
        session.data.mends.changed.connect(self._show_mends)
        self._finding: Finding | None = None
        self._step: RecipeStep | None = None
        self.model = FoundModel(self)
        self.view = TableView()
        self.view.setObjectName("found_view")
        self.view.setAccessibleName(self.tr("Rows found"))
        self.view.setModel(self.model)
        self.view.menu_asked.connect(self._open_menu)
        delete = QShortcut(QKeySequence("Del"), self.view, self._exclude)
        delete.setContext(Qt.ShortcutContext.WidgetShortcut)
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

    def show_finding(self, finding: Finding, parts: Mapping[str, TablePart], *, is_one: bool = False) -> None:
        """Show the rows of a finding. Args: parts: by name. is_one: it is of one row's pairs alone."""
        self._finding = finding
        self.set_title(self.tr("Rows of {name}").format(name=words.shorten(finding.part, 48)))
        beside = ""
        if finding.twins is not None and finding.other == finding.part:
            beside = self.tr(" Next to each is the row that it resembles.")
        elif finding.twins is not None:
            beside = self.tr(" Next to each is the row of {name} that it resembles.").format(
                name=words.shorten(finding.other, 48)
            )
        self.said.setText(beside.strip() if is_one else words.say(finding.sentence) + beside)
        self.model.set_finding(finding, parts)
        self._show_mends()
        self._fit()
        self.view.scrollToTop()
        self._show_step()

    def _is_own(self) -> bool:
        """Whether the rows are of the open table, which alone has a recipe."""
        return self._finding is not None and self._session.doctor.is_own(self._finding)

    def _show_mends(self) -> None:
        recipe = self._session.data.mends.recipe
        self.model.set_left_out(recipe.left_out() if recipe is not None and self._is_own() else ())

    def _rows(self) -> list[int]:
        """Return the rows of the open table that are selected."""
        chosen = map(self.model.table_row, self.view.selectionModel().selectedIndexes())
        return sorted({row for row in chosen if row >= 0}) if self._is_own() else []

    def _open_menu(self, at: QPoint) -> None:
        if rows := self._rows():
            menu = QMenu(self)
            menu.setObjectName("found_menu")
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            self._hand.add_rows(menu, rows)
            menu.popup(at)

    def _exclude(self) -> None:
        if rows := self._rows():
            self._hand.exclude(rows)

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
