"""What the Welcome page is made of: a way in, and lists whose rows are opened by a click or a key."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QFrame,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QWidget,
)

from app.look import theme
from app.look.inputs import PressedByEnter
from app.look.labels import PART, fitting, label, tip
from app.look.layout import STRETCH, column, row
from app.look.widgets import CARD_X, CARD_Y, Card, LevelMark, set_role

ROW_HEIGHT = 42
ROW_X = 8  # from a row's edge to its icon, which stands under the card's title
ICON = 16
BESIDE_ICON = 10
LINE_HEIGHT = 26  # of a sketch
LINK_X = 4  # what a link has beside its words, given back
CHIP_X = 8
WORD_GAP = 5
NEW_LINE = "\n"
CLAUSE = re.compile(r"[,.:;] |[，。：；]")  # ends the first clause of a sentence
DETAIL_SIZE = 12
LEAST_LIST = 2 * ROW_HEIGHT


@dataclass(frozen=True, slots=True)
class ListEntry:
    """A row: what it is, what is known of it, what opens it. level: of "look" or "wrong", said by a mark."""

    name: str  # the row's object name
    title: str
    detail: str
    icon: str
    tooltip: str
    call: Callable[[], None] = field(compare=False)
    level: str = ""


class EntryRow(PressedByEnter, QAbstractButton):
    """Two lines beside an icon, drawn in the theme's colours; Enter and Space open it."""

    def __init__(self, entry: ListEntry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.entry = entry
        self.setObjectName(entry.name)
        self.setAccessibleName(f"{entry.title}, {entry.detail}")
        said = f"{entry.detail}{PART}{entry.tooltip}" if entry.tooltip else entry.detail
        self.setToolTip(tip(entry.tooltip if entry.tooltip.startswith(entry.detail) else said))
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.clicked.connect(entry.call)
        theme.on_theme_change(self, self.update)

    def sizeHint(self) -> QSize:
        return QSize(200, ROW_HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(100, ROW_HEIGHT)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        above = self.parentWidget()
        while above is not None and not isinstance(above, QScrollArea):
            above = above.parentWidget()
        if isinstance(above, QScrollArea):
            above.ensureWidgetVisible(self, 0, 4)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            event.ignore()  # the list's: a button would walk on to whatever is next on the page
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter)
        left = ROW_X
        icon = QRect(left, (self.height() - ICON) // 2, ICON, ICON)
        theme.icon(self.entry.icon, "muted").paint(painter, icon)
        left += ICON + BESIDE_ICON
        width = self.width() - left - ROW_X
        if self.entry.level:
            mark = QRect(self.width() - ROW_X - ICON, icon.y(), ICON, ICON)
            theme.icon(self.entry.level, self.entry.level).paint(painter, mark)
            width -= ICON + BESIDE_ICON
        half = self.height() // 2
        colors = theme.current()
        self._paint_line(painter, QRect(left, 3, width, half - 3), self.entry.title, 13, colors.color("text"))
        muted = colors.color(self.entry.level or "muted")
        self._paint_line(painter, QRect(left, half, width, half - 3), self.entry.detail, DETAIL_SIZE, muted)
        painter.end()

    def _paint_ground(self, painter: QPainter) -> None:
        colors, rect = theme.current(), QRectF(self.rect())
        if self.underMouse() or self.isDown():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.color("line" if self.isDown() else "hover"))
            painter.drawRoundedRect(rect, 6, 6)
        if self.hasFocus():
            painter.setPen(QPen(colors.color("focus"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), 6, 6)

    def _paint_line(self, painter: QPainter, rect: QRect, text: str, size: int, color: QColor) -> None:
        painter.setFont(theme.ui_font(size))
        painter.setPen(color)
        shown = fitting(text, painter.fontMetrics(), rect.width())
        painter.drawText(rect, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)


class EntryList(QScrollArea):
    """Rows under each other; the arrow keys move among them. Empty, it says what will stand here."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, widgetResizable=True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMinimumHeight(LEAST_LIST)
        self._entries: tuple[ListEntry, ...] | None = None
        self.rows: list[EntryRow] = []
        self.empty = label("", "muted", wrap=True)
        self.empty.setContentsMargins(ROW_X, 0, ROW_X, 0)
        inner = QWidget()
        set_role(inner, "clear")
        self._column = column(self.empty, STRETCH, gap=2, parent=inner)
        self.setWidget(inner)

    def set_entries(self, entries: Sequence[ListEntry], empty: str = "") -> None:
        """Show these rows, or why there are none; the row that has the keyboard keeps it."""
        self.empty.setText(empty)
        self.empty.setVisible(not entries)
        if tuple(entries) == self._entries:
            return
        self._entries = tuple(entries)
        held = next((entry_row.entry.name for entry_row in self.rows if entry_row.hasFocus()), "")
        for entry_row in self.rows:
            self._column.removeWidget(entry_row)
            entry_row.hide()
            entry_row.deleteLater()
        self.rows = [EntryRow(entry) for entry in entries]
        for place, entry_row in enumerate(self.rows):
            self._column.insertWidget(1 + place, entry_row)
            entry_row.show()  # now: a layout shows it with the next event only
            if entry_row.entry.name == held:
                entry_row.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        here = next((place for place, entry_row in enumerate(self.rows) if entry_row.hasFocus()), -1)
        move = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()), 0)
        if here >= 0 and move:
            entry_row = self.rows[(here + move) % len(self.rows)]
            entry_row.setFocus(Qt.FocusReason.TabFocusReason)
            self.ensureWidgetVisible(entry_row, 0, 0)
        else:
            super().keyPressEvent(event)


class ListCard(Card):
    """A card whose rows reach beyond its title, so that their icons stand under it."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(title, parent=parent)
        inset = CARD_X - ROW_X
        frame = self.layout()
        assert frame is not None
        frame.setContentsMargins(inset, CARD_Y, inset, CARD_Y)
        self.title_label.setContentsMargins(ROW_X, 0, 0, 0)
        self.hint_label.setContentsMargins(0, 0, ROW_X, 0)
        self.list = EntryList()
        self.add(self.list, 1)

    def add_link(self, link: QPushButton) -> None:
        """Add a link to the corner; its words end where those of other cards do."""
        holder = QWidget()
        row(link, margins=(0, 0, LINK_X, 0), parent=holder)
        self.add_corner(holder)


Piece = tuple[str, str]  # a word, and the colour of the chip that it stands on; "" for none


class Sketch(QWidget):
    """Two lines that show what a way in is about: words, some of them on chips."""

    def __init__(self, pieces: Sequence[Piece], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pieces = tuple(pieces)
        self.setAccessibleName(" ".join(word for word, _color in pieces))
        self.setFixedHeight(2 * LINE_HEIGHT + 12)
        theme.on_theme_change(self, self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        colors = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.color("page"))
        painter.drawRoundedRect(QRectF(self.rect()), 6, 6)
        painter.setFont(theme.ui_font())
        left, top = CHIP_X, 6
        for word, color in self._pieces:
            width = painter.fontMetrics().horizontalAdvance(word) + (2 * CHIP_X if color else 0)
            if word == NEW_LINE or left + width > self.width() - CHIP_X:
                left, top = CHIP_X, top + LINE_HEIGHT
            if word == NEW_LINE or top > LINE_HEIGHT + 6:
                continue
            rect = QRect(left, top, width, LINE_HEIGHT)
            if color:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(colors.color(color))
                painter.drawRoundedRect(QRectF(rect).adjusted(0, 3, 0, -3), 4, 4)
            painter.setPen(colors.color("text"))
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, word)
            left += width + WORD_GAP
        painter.end()


class Sign(QWidget):
    """An icon in the corner of a card."""

    def __init__(self, icon: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon = icon
        self.setFixedSize(20, 20)
        theme.on_theme_change(self, self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme.icon(self._icon, "accent").paint(painter, self.rect())
        painter.end()


class WayCard(Card):
    """A way in: what it is in a sentence or two, what may be missing, and at most two things to do."""

    def __init__(
        self, icon: str, title: str, text: str, pieces: Sequence[Piece], parent: QWidget | None = None
    ) -> None:
        super().__init__(title, parent=parent)
        self.add_corner(Sign(icon))
        self.add(label(text, "muted", wrap=True))
        self.sketch = Sketch(pieces)
        self.add(self.sketch)
        self._remark = QWidget()
        self.remark = label("", wrap=True)
        row((LevelMark("look"), Qt.AlignmentFlag.AlignTop), (self.remark, 1), parent=self._remark)
        self.add(self._remark)
        self.body.addStretch(1)
        self.set_remark("")

    def set_remark(self, text: str) -> None:
        """Say what is missing; "" for nothing."""
        self.remark.setText(text)
        self._remark.setVisible(bool(text))
