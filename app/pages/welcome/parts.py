"""What the Welcome page is made of: lists whose rows are opened by a click or a key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QFrame,
    QGridLayout,
    QScrollArea,
    QSizePolicy,
    QWidget,
)

from app.look import theme
from app.look.inputs import PressedByEnter
from app.look.labels import PART, fitting, label, tip
from app.look.layout import STRETCH, column
from app.look.widgets import CARD_X, CARD_Y, Card, set_role
from app.words import phrases

ROW_HEIGHT = 42
ROW_X = 8  # from a row's edge to its icon, which stands under the card's title
ICON = 16
BESIDE_ICON = 10
DETAIL_SIZE = 12
WIDE, VERB = 420, 72  # px of a row that has room for a day, and of a verb or a day
MOST_COLUMNS = 3
LEAST_LIST = 2 * ROW_HEIGHT


@dataclass(frozen=True, slots=True)
class ListEntry:
    """A row: what it is, what is known of it, what opens it.

    state: in a word, beside its title; ink: the colour of it. when: a day. verb: what a click does.
    """

    name: str  # the row's object name
    title: str
    detail: str
    icon: str
    tooltip: str
    call: Callable[[], None] = field(compare=False)
    state: str = ""
    ink: str = "muted"
    when: str = ""
    verb: str = ""


class EntryRow(PressedByEnter, QAbstractButton):
    """Two lines beside an icon, drawn in the theme's colours; Enter and Space open it."""

    def __init__(self, entry: ListEntry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.entry = entry
        self.setObjectName(entry.name)
        heard = (entry.title, entry.state, entry.detail, entry.when, entry.verb)
        self.setAccessibleName(phrases(part for part in heard if part))
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
        width = self._paint_right(painter) - left
        half, colors = self.height() // 2, theme.current()
        title = QRect(left, 3, width, half - 3)
        self._paint_line(painter, title, self.entry.title, 13, colors.color("text"))
        taken = painter.fontMetrics().horizontalAdvance(self.entry.title) + 10
        state = title.adjusted(taken, 0, 0, 0)
        self._paint_line(painter, state, self.entry.state, DETAIL_SIZE, colors.color(self.entry.ink))
        detail = QRect(left, half, width, half - 3)
        self._paint_line(painter, detail, self.entry.detail, DETAIL_SIZE, colors.color("muted"))
        painter.end()

    def _paint_right(self, painter: QPainter) -> int:
        """Paint what a click does, and the day where there is room; return where the words may end."""
        colors, right, half = theme.current(), self.width() - ROW_X, self.height() // 2
        for text, token, size, room in (
            (self.entry.verb, "accent", 13, 0),
            (self.entry.when, "muted", DETAIL_SIZE, WIDE),
        ):
            if not text or self.width() < room:
                continue
            painter.setFont(theme.ui_font(size))
            painter.setPen(colors.color(token))
            width = max(VERB, painter.fontMetrics().horizontalAdvance(text))
            cell = QRect(right - width, 3, width, half - 3)
            painter.drawText(cell, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
            right -= width + BESIDE_ICON
        return right

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
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setVerticalSpacing(2)
        self._grid.setHorizontalSpacing(2 * ROW_X)
        column(self.empty, self._grid, STRETCH, gap=2, parent=inner)
        self.setWidget(inner)
        self._num_columns = 1

    def set_columns(self, count: int) -> None:
        """Show the rows in so many columns."""
        if count != self._num_columns:
            self._num_columns = count
            self._lay_out()

    def _lay_out(self) -> None:
        for entry_row in self.rows:
            self._grid.removeWidget(entry_row)
        for place, entry_row in enumerate(self.rows):
            self._grid.addWidget(entry_row, *divmod(place, self._num_columns))
        for place in range(MOST_COLUMNS):
            self._grid.setColumnStretch(place, int(place < self._num_columns))

    def set_entries(self, entries: Sequence[ListEntry], empty: str = "") -> None:
        """Show these rows, or why there are none; the row that has the keyboard keeps it."""
        self.empty.setText(empty)
        self.empty.setVisible(not entries)
        if tuple(entries) == self._entries:
            return
        self._entries = tuple(entries)
        held = next((entry_row.entry.name for entry_row in self.rows if entry_row.hasFocus()), "")
        for entry_row in self.rows:
            self._grid.removeWidget(entry_row)
            entry_row.hide()
            entry_row.deleteLater()
        self.rows = [EntryRow(entry) for entry in entries]
        self._lay_out()
        for entry_row in self.rows:
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
