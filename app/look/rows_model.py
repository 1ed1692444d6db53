"""A table as Qt sees it, declared by its columns: what a row has there, how it is shown, copied and told of.

Cells are made when they are shown, so rows may be any sequence: those of a million texts, or a range.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app import words
from app.look import theme
from app.look.columns import Cell, Column, Row, color_of
from app.look.labels import tip

Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class TableColumn(Column):
    """A column of a table. longest: characters that are shown of a cell, 0 for all.

    whole: what is copied of it; None: all of what is said. told: what its tooltip says; None: nothing.
    drawn: what a CellsDelegate paints, where that is more than what is said.
    """

    longest: int = 0
    whole: Callable[[Row], str] | None = None
    told: Callable[[Row], str] | None = None
    drawn: Callable[[Row], Cell] | None = None

    def cell(self, row: Row, matters: bool = False) -> Cell:
        return Column.cell(self, row, matters) if self.drawn is None else self.drawn(row)

    def said(self, row: Row) -> str:
        """Return what stands here in a row, in full."""
        return str(self.say(self.value(row)))


def text_column(
    head: str, whole: Callable[[Row], str], *, longest: int, longest_tip: int, **more: Any
) -> TableColumn:
    """Return a column of texts: shortened on their lines, longer in their tips, copied whole."""

    def told(row: Row) -> str:
        return words.shorten(whole(row), longest_tip)

    return TableColumn(head, whole, longest=longest, told=told, **more)


class RowsModel(QAbstractTableModel):
    """Rows by columns. A child class says more of a cell's look where its column alone does not tell it."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns: tuple[TableColumn, ...] = ()
        self.rows: Sequence[Row] = ()

    def put(self, columns: Sequence[TableColumn], rows: Sequence[Row]) -> None:
        """Show other rows, and other columns."""
        self.beginResetModel()
        self.columns, self.rows = tuple(columns), rows
        self.endResetModel()

    def touch(self, column: int) -> None:
        """Ask for a column's cells again."""
        if len(self.rows):
            self.dataChanged.emit(self.index(0, column), self.index(len(self.rows) - 1, column))

    def is_bold(self, row: Row, column: TableColumn) -> bool | None:
        """Whether a cell is bold; None: it has the font of its table."""
        return None

    def ink_of(self, row: Row, column: TableColumn) -> str:
        """Return the name of a cell's colour; "" for that of its table."""
        return str(column.ink) if column.ink != "text" else ""

    def row_head(self, place: int) -> str | None:
        """Return what stands before a row."""
        return None

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row, column = self.rows[index.row()], self.columns[index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                said = column.said(row)
                return words.shorten(said, column.longest) if column.longest else said
            case Qt.ItemDataRole.UserRole:
                return column.said(row) if column.whole is None else column.whole(row)
            case Qt.ItemDataRole.ToolTipRole:
                return None if column.told is None else tip(column.told(row)) or None
            case Qt.ItemDataRole.TextAlignmentRole:
                return column.side
            case Qt.ItemDataRole.FontRole:
                is_bold = self.is_bold(row, column)
                return None if is_bold is None else theme.ui_font(bold=is_bold)
            case Qt.ItemDataRole.ForegroundRole:
                ink = self.ink_of(row, column)
                return color_of(ink) if ink else None
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Vertical:
            return self.row_head(section) if role == Qt.ItemDataRole.DisplayRole else None
        if not 0 <= section < len(self.columns):
            return None
        column = self.columns[section]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return column.head
            case Qt.ItemDataRole.TextAlignmentRole:
                return column.side
            case Qt.ItemDataRole.ToolTipRole:
                return column.help or None
        return None


class CellsDelegate(QStyledItemDelegate):
    """Paints what the columns of a RowsModel have in a row. A child class says what lies under it."""

    size = (60, 28)  # px, the least of a cell
    pads = (8, 8)  # px at the left and the right of what stands in a cell

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        model = index.model()
        assert isinstance(model, RowsModel)
        row, column = model.rows[index.row()], model.columns[index.column()]
        painter.save()
        painter.setClipRect(option.rect)
        self.paint_ground(painter, option, index)
        room = QRectF(option.rect)
        room.setHeight(min(room.height(), self.size[1]))  # of a row that is opened, its first line
        left, right = self.pads
        column.cell(row).paint(painter, room.adjusted(left, 0, -right, 0))
        painter.restore()

    def paint_ground(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint what lies under a cell."""
        panel = QStyle.PrimitiveElement.PE_PanelItemViewItem
        option.widget.style().drawPrimitive(panel, option, painter, option.widget)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(*self.size)
