"""The heads of a model under each other, sorted by what a measure says of them; a row chooses its head."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRectF,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app import words
from app.look import theme
from app.look.table_view import TableView
from app.pages.attention.state import Head

Index = QModelIndex | QPersistentModelIndex
VALUE_WIDTH = 66  # px, beside the bar
PATTERN_WIDTH = 126  # px
NARROW = 350  # px; below, the last column is left out
ROW = 26  # px


@dataclass(frozen=True, eq=False)
class HeadValues:
    """One number a head. kind: "share", "change" (of a probability) or "" for a number with a unit."""

    name: str
    label: str
    values: np.ndarray  # (L, H)
    kind: str = "share"
    unit: str = ""
    by_position: bool = False
    patterns: tuple[tuple[str, ...], ...] = ()  # what most of each head's attention goes to, in words

    def words(self, head: Head) -> str:
        """Return a head's value as it is read."""
        value = float(self.values[head])
        if self.kind == "share":
            return words.share(value)
        if self.kind == "change":
            return f"{value:+.4f}".replace("-", "−")
        return f"{value:.{1 if self.values.max(initial=0.0) >= 100 else 2}f}"

    @property
    def heading(self) -> str:
        """Its name, with the unit of its numbers."""
        return f"{self.label}, {self.unit}" if self.unit else self.label

    def order(self, ascending: bool) -> tuple[Head, ...]:
        """Return all heads, the largest (or smallest) first; changes by their size, whatever their sign."""
        if self.by_position:
            layers, heads = self.values.shape
            found = [(layer, head) for layer in range(layers) for head in range(heads)]
            return tuple(found[::-1] if ascending else found)
        keys = np.abs(self.values) if self.kind == "change" else self.values
        flat = np.argsort(keys if ascending else -keys, axis=None, kind="stable")
        layers, heads = np.unravel_index(flat, self.values.shape)
        return tuple(zip(layers.tolist(), heads.tolist(), strict=True))


class _HeadModel(QAbstractTableModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.held: HeadValues | None = None
        self.order: tuple[Head, ...] = ()
        self.off: frozenset[Head] = frozenset()
        self.largest = 1.0

    def put(self, held: HeadValues | None, ascending: bool) -> None:
        self.beginResetModel()
        self.held = held
        self.order = () if held is None else held.order(ascending)
        self.largest = 1.0 if held is None else float(np.abs(held.values).max(initial=0.0)) or 1.0
        self.endResetModel()

    def put_off(self, off: frozenset[Head]) -> None:
        if off != self.off:
            self.off = off
            if self.order:
                last = self.index(len(self.order) - 1, self.columnCount() - 1)
                self.dataChanged.emit(self.index(0, 0), last)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - as Qt has it
        return 0 if parent.isValid() else len(self.order)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 4

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if self.held is None or not index.isValid():
            return None
        head = self.order[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._words(head, index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() < 2:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.UserRole and index.column() == 2:
            return float(self.held.values[head])
        if role == Qt.ItemDataRole.ForegroundRole and index.column() == 3:
            return theme.current().color("muted")
        return None

    def _words(self, head: Head, column: int) -> str:
        assert self.held is not None
        if column < 2:
            return str(head[column] + 1)
        if column == 2:
            return self.held.words(head)
        if head in self.off:
            return self.tr("switched off")
        return self.held.patterns[head[0]][head[1]] if self.held.patterns else ""

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if orientation == Qt.Orientation.Vertical:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            value = self.held.heading if self.held else ""
            return (self.tr("Layer"), self.tr("Head"), value, self.tr("Mostly at"))[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section < 2 else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None


class _BarDelegate(QStyledItemDelegate):
    """The value as a bar, scaled to the largest, with its words behind it."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        model = index.model()
        assert isinstance(model, _HeadModel)
        option.widget.style().drawPrimitive(
            QStyle.PrimitiveElement.PE_PanelItemViewItem, option, painter, option.widget
        )
        value = float(index.data(Qt.ItemDataRole.UserRole) or 0.0)
        room = QRectF(option.rect).adjusted(8, 7, -VALUE_WIDTH - 8, -7)
        colors = theme.current()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.color("b" if value < 0 else "accent"))
        width = max(1.0, room.width() * min(1.0, abs(value) / model.largest))
        painter.drawRoundedRect(QRectF(room.left(), room.top(), width, room.height()), 3, 3)
        painter.setPen(colors.color("text"))
        beside = QRectF(room.right() + 4, option.rect.top(), VALUE_WIDTH, option.rect.height())
        painter.drawText(
            beside, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(index.data())
        )
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(VALUE_WIDTH + 60, ROW)


class HeadList(TableView):
    """Layer, head, value with a bar, and what the head mostly looks at; the third heading turns the order."""

    head_chosen = Signal(int, int)
    order_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("attention_head_list")
        self.setAccessibleName(self.tr("Heads, sorted"))
        self.is_ascending = False
        self._heads = _HeadModel(self)
        self._is_told = False
        self._chosen: Head | None = None
        self.setModel(self._heads)
        self.setItemDelegateForColumn(2, _BarDelegate(self))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setStretchLastSection(False)
        header.setSectionsClickable(True)
        header.setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
        for section, width in ((0, 64), (1, 64), (3, PATTERN_WIDTH)):
            header.setSectionResizeMode(section, QHeaderView.ResizeMode.Fixed)
            header.resizeSection(section, width)
        self.verticalHeader().setDefaultSectionSize(ROW)
        header.sectionClicked.connect(self._turn)
        self.selectionModel().currentRowChanged.connect(self._moved)

    @property
    def held(self) -> HeadValues | None:
        return self._heads.held

    @property
    def order(self) -> tuple[Head, ...]:
        """The heads from top to bottom."""
        return self._heads.order

    def show_values(self, held: HeadValues | None, *, ascending: bool | None = None) -> None:
        """Show a measure, or nothing."""
        if ascending is not None:
            self.is_ascending = ascending
        self._quietly(lambda: self._heads.put(held, self.is_ascending))
        self._fit_columns()
        arrow = Qt.SortOrder.AscendingOrder if self.is_ascending else Qt.SortOrder.DescendingOrder
        self.horizontalHeader().setSortIndicatorShown(held is not None)
        self.horizontalHeader().setSortIndicator(2, arrow)
        self.scrollToTop()

    def show_heads(self, chosen: Sequence[Head], off: frozenset[Head]) -> None:
        """Mark the current head and those that are off; emits nothing.

        The list moves to another head than before, but another order shows its first rows.
        """
        self._heads.put_off(off)
        self._fit_columns()
        if chosen and chosen[0] in self._heads.order:
            index = self._heads.index(self._heads.order.index(chosen[0]), 0)
            flags = QItemSelectionModel.SelectionFlag
            self.setAutoScroll(chosen[0] != self._chosen)
            self._quietly(
                lambda: self.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
            )
            self.setAutoScroll(True)
            self._chosen = chosen[0]

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()

    def _fit_columns(self) -> None:
        """Leave out the last column where there is no room for it, or nothing to stand in it."""
        has_words = bool(self._heads.off) or (self.held is not None and bool(self.held.patterns))
        self.setColumnHidden(3, self.width() < NARROW or not has_words)

    def _quietly(self, call: Callable[[], None]) -> None:
        self._is_told = True
        try:
            call()
        finally:
            self._is_told = False

    @Slot(QModelIndex, QModelIndex)
    def _moved(self, current: QModelIndex, _before: QModelIndex) -> None:
        if not self._is_told and current.isValid():
            self.head_chosen.emit(*self._heads.order[current.row()])

    @Slot(int)
    def _turn(self, section: int) -> None:
        if section == 2 and self.held is not None:
            self.show_values(self.held, ascending=not self.is_ascending)
            self.order_changed.emit()
