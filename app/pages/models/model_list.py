"""The models of this computer as a list of two lines each: name and weights, shape and what they answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import (
    QDir,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app import words
from app.look import theme
from app.look.labels import label, tip
from app.look.widgets import Card, button
from app.work.library import OPENED, SHIPPED, TRAINED, ModelEntry, entry_words

Index = QModelIndex | QPersistentModelIndex
ENTRY = Qt.ItemDataRole.UserRole + 1
SECOND = Qt.ItemDataRole.UserRole + 2
RIGHT = Qt.ItemDataRole.UserRole + 3
ROW, CAPTION = 46, 28


class ModelsList(Card):
    """Groups of models; the arrow keys walk, Enter looks inside."""

    chosen = Signal(object)  # ModelEntry
    opened = Signal(object)  # ModelEntry
    folder_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("On this computer"))
        self._quiet = False
        self._known: list[ModelEntry] | None = None  # what is shown
        self.view = QListView()
        self.view.setObjectName("models_list")
        self.view.setAccessibleName(self.tr("Models on this computer"))
        self.view.setFrameShape(QListView.Shape.NoFrame)
        self.view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.view.setMinimumHeight(96)
        self.model = QStandardItemModel(self)
        self.view.setModel(self.model)
        self.view.setItemDelegate(EntryDelegate(self.view))
        self.empty = label("", "muted", wrap=True)
        self.empty.setObjectName("models_empty")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.browse_button = button(self.tr("Open a folder…"), "link", name="models_browse")
        self.browse_button.setToolTip(self.tr("Show a model that lies somewhere else on this computer"))
        self.add_corner(self.browse_button)
        self.add(self.view, 1)
        self.add(self.empty, 1)
        self.browse_button.clicked.connect(self.folder_wanted)
        self.view.selectionModel().currentChanged.connect(self._walked)
        self.view.clicked.connect(self._walked)
        self.view.activated.connect(self._activated)
        theme.on_theme_change(self, self.view.viewport().update)
        self.show_entries((), is_read=False)

    @property
    def entries(self) -> tuple[ModelEntry, ...]:
        items = (self.model.item(row) for row in range(self.model.rowCount()))
        return tuple(item.data(ENTRY) for item in items if item.data(ENTRY) is not None)

    def show_entries(self, entries: Sequence[ModelEntry], *, is_read: bool = True) -> None:
        """Show the models there are; the chosen one stays chosen. is_read: the list is complete."""
        before = self.current
        known = list(entries) if is_read else None
        if known is not None and known == self._known:
            return
        self._known = known
        self._quiet = True
        self.model.clear()
        for origin, caption in self._captions().items():
            mine = [one for one in entries if one.origin == origin]
            if mine:
                self.model.appendRow(_caption_item(caption))
            for entry in mine:
                self.model.appendRow(_entry_item(entry))
        self.empty.setText(
            self.tr("No model yet. Open a folder, or pretrain or fine-tune one: its result appears here.")
            if is_read
            else self.tr("Looking…")
        )
        self.view.setVisible(bool(entries))
        self.empty.setVisible(not entries)
        self._quiet = False
        self.set_current(before.path if before else None)

    @property
    def current(self) -> ModelEntry | None:
        """The model that is chosen."""
        index = self.view.currentIndex()
        return index.data(ENTRY) if index.isValid() else None

    def set_current(self, path: Path | None) -> None:
        """Choose a model, or none, without a signal."""
        self._quiet = True
        index = self.model.index(self.row_of(path), 0)
        self.view.setCurrentIndex(index)
        if index.isValid():
            self.view.scrollTo(index)
        else:
            self.view.clearSelection()
        self._quiet = False

    def row_of(self, path: Path | None) -> int:
        """Return where a model stands in the list, captions counted; -1 where it does not."""
        rows = range(self.model.rowCount()) if path is not None else ()
        return next((row for row in rows if self._path(row) == path), -1)

    def _path(self, row: int) -> Path | None:
        entry = self.model.item(row).data(ENTRY)
        return entry.path if entry is not None else None

    def _captions(self) -> dict[str, str]:
        return {
            SHIPPED: self.tr("Comes with Cloze"),
            TRAINED: self.tr("Trained here"),
            OPENED: self.tr("Opened lately"),
        }

    @Slot(QModelIndex)
    def _walked(self, index: QModelIndex) -> None:
        entry = index.data(ENTRY)
        if entry is not None and not self._quiet:
            self.chosen.emit(entry)

    @Slot(QModelIndex)
    def _activated(self, index: QModelIndex) -> None:
        entry = index.data(ENTRY)
        if entry is not None:
            self.opened.emit(entry)


def millions(count: int) -> str:
    """Return a number of weights as it is spoken: 110.1 M."""
    if count < 100_000:
        return words.number(count)
    return words.translate("models", "{count} M").format(count=words.decimal(count / 1e6, 1))


def _caption_item(text: str) -> QStandardItem:
    item = QStandardItem(text)
    item.setFlags(Qt.ItemFlag.NoItemFlags)
    return item


def _entry_item(entry: ModelEntry) -> QStandardItem:
    title, found = entry.title, entry.inventory
    right = ""
    second = entry_words(entry)
    if found is not None:
        right = millions(found.num_weights)
    item = QStandardItem(title)
    item.setEditable(False)
    item.setData(entry, ENTRY)
    item.setData(second, SECOND)
    item.setData(right, RIGHT)
    item.setData(tip(QDir.toNativeSeparators(str(entry.path))), Qt.ItemDataRole.ToolTipRole)
    item.setData(", ".join(filter(None, (title, right, second))), Qt.ItemDataRole.AccessibleTextRole)
    return item


class EntryDelegate(QStyledItemDelegate):
    """Paints a caption, or a model in two lines."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(120, ROW if index.data(ENTRY) is not None else CAPTION)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        colors, room = theme.current(), option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if index.data(ENTRY) is None:
            painter.setFont(theme.ui_font(11, bold=True))
            painter.setPen(colors.color("muted"))
            bottom = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom
            painter.drawText(room.adjusted(8, 0, 0, -5), bottom, str(index.data()).upper())
        else:
            self._paint_entry(painter, option, index)
        painter.restore()

    def _paint_entry(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        colors, room = theme.current(), option.rect.adjusted(0, 1, 0, -1)
        state = option.state
        is_chosen = bool(state & QStyle.StateFlag.State_Selected)
        if is_chosen or state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.color("accent_soft" if is_chosen else "hover"))
            painter.drawRoundedRect(room, 6, 6)
        if is_chosen and state & QStyle.StateFlag.State_HasFocus:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(colors.color("focus"), 2))
            painter.drawRoundedRect(room.adjusted(1, 1, -1, -1), 6, 6)
        inner = room.adjusted(8, 4, -8, -4)
        first = QRect(inner.left(), inner.top(), inner.width(), inner.height() // 2)
        second = first.translated(0, inner.height() // 2)
        entry: ModelEntry = index.data(ENTRY)
        ink = "text" if is_chosen else "muted"  # muted keeps too little contrast on the accent's ground
        taken = _paint_right(painter, first, str(index.data(RIGHT)), colors.color(ink))
        _paint_line(
            painter, first.adjusted(0, 0, -taken, 0), str(index.data()), colors.color("text"), bold=True
        )
        color = colors.color("wrong" if entry.problem is not None and not is_chosen else ink)
        _paint_line(painter, second, str(index.data(SECOND)), color)


def _paint_right(painter: QPainter, room: QRect, text: str, color: QColor) -> int:
    """Paint a figure at the right; return the room it takes."""
    painter.setFont(theme.ui_font(12))
    painter.setPen(color)
    painter.drawText(room, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
    return QFontMetrics(painter.font()).horizontalAdvance(text) + 8


def _paint_line(painter: QPainter, room: QRect, text: str, color: QColor, *, bold: bool = False) -> None:
    painter.setFont(theme.ui_font(theme.UI_SIZE if bold else 12, bold=bold))
    painter.setPen(color)
    mode = Qt.TextElideMode.ElideMiddle if bold else Qt.TextElideMode.ElideRight
    shown = QFontMetrics(painter.font()).elidedText(text, mode, room.width())
    painter.drawText(room, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
