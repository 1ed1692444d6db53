"""Things as a list of two lines each: a name and a figure, and what else is known of it.

An item's text is the name; SECOND, RIGHT and IS_WRONG hold the rest. An item without SECOND is a caption.
"""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen, QStandardItem
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.look import theme
from app.look.labels import tip
from app.words import phrases

Index = QModelIndex | QPersistentModelIndex
THING = Qt.ItemDataRole.UserRole + 1
SECOND = Qt.ItemDataRole.UserRole + 2
RIGHT = Qt.ItemDataRole.UserRole + 3
IS_WRONG = Qt.ItemDataRole.UserRole + 4  # the second line says what is wrong
ROW, CAPTION = 46, 28


def caption_item(text: str) -> QStandardItem:
    """Return a caption, which cannot be chosen."""
    item = QStandardItem(text)
    item.setFlags(Qt.ItemFlag.NoItemFlags)
    return item


def two_lines_item(
    thing: object, name: str, right: str, second: str, told: str, *, is_wrong: bool = False
) -> QStandardItem:
    """Return a thing in two lines. Args: told: said where the mouse rests."""
    item = QStandardItem(name)
    item.setEditable(False)
    item.setData(thing, THING)
    item.setData(second, SECOND)
    item.setData(right, RIGHT)
    item.setData(is_wrong, IS_WRONG)
    item.setData(tip(told), Qt.ItemDataRole.ToolTipRole)
    item.setData(phrases(filter(None, (name, right, second))), Qt.ItemDataRole.AccessibleTextRole)
    return item


class TwoLines(QStyledItemDelegate):
    """Paints a caption, or a thing in two lines with a figure at its right."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(120, ROW if index.data(SECOND) is not None else CAPTION)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        colors, room = theme.current(), option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if index.data(SECOND) is None:
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
        ink = "text" if is_chosen else "muted"  # muted keeps too little contrast on the accent's ground
        taken = _paint_right(painter, first, str(index.data(RIGHT)), colors.color(ink))
        beside = QStyle.visualRect(option.direction, first, first.adjusted(0, 0, -taken, 0))
        _paint_line(painter, beside, str(index.data()), colors.color("text"), bold=True)
        color = colors.color("wrong" if index.data(IS_WRONG) and not is_chosen else ink)
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
    shown = QFontMetrics(painter.font()).elidedText(text, Qt.TextElideMode.ElideRight, room.width())
    painter.drawText(room, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
