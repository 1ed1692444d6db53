"""The few building blocks that every page is made of: cards, headers, labels, the rail, calm tables.

People's own text is always shown as plain text, never guessed to be markup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QElapsedTimer, QEvent, QObject, QPoint, QRect, QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLayout,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.look import theme
from app.look.inputs import PushButton, ToolButton
from app.look.labels import PART, ElidedLabel, label, tip
from app.look.layout import STRETCH, FoldingRow, column, row

PAGE_MARGIN = 24
GAP = 14
EMPTY_MARGIN = 9  # px
EMPTY_WIDTH = 420
CARD_X = 16
CARD_Y = 12
DIALOG_MARGINS = (PAGE_MARGIN, PAGE_MARGIN, PAGE_MARGIN, 16)
SETTINGS_WIDTH = 312
SETTLED_MS = 700  # after remarks have moved, until a click means what stands there now
LINKS = 2  # of a remark beside each other
ICON_ROOM = 4  # px between a button's icon and its words, beside the style's own 4
_Widget = TypeVar("_Widget", bound=QWidget)
_Spin = TypeVar("_Spin", bound=QAbstractSpinBox)


def set_role(widget: QWidget, role: str) -> None:
    """Give a widget its place in the style sheet, also when it is already on screen."""
    widget.setProperty("role", role)
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def primary_buttons(place: QWidget) -> list[QPushButton]:
    """Return the blue buttons that are in view somewhere on a widget."""
    every = place.findChildren(QPushButton)
    return [one for one in every if one.property("role") == "primary" and one.isVisible()]


def named(widget: _Widget, name: str, accessible: str = "", *, tool_tip: str = "") -> _Widget:
    """Return a widget with its object name, what it is called where it is heard, and what it says of itself.

    PySide takes these as arguments of any widget, but its stubs do not know those that a class inherits.
    """
    widget.setObjectName(name)
    if accessible:
        widget.setAccessibleName(accessible)
    if tool_tip:
        widget.setToolTip(tool_tip)
    return widget


def keep_private(widget: QWidget, private: bool = True) -> None:
    """Say that a widget shows texts of a person's table: they are shared only where that is asked for."""
    widget.setProperty("private", private)


def is_private(widget: QWidget) -> bool:
    """Whether a widget shows texts of a person's table."""
    return bool(widget.property("private"))


def holder(layout: QLayout) -> QWidget:
    """Return a widget with no ground of its own, for what is laid out in it."""
    made = QWidget()
    set_role(made, "clear")
    made.setLayout(layout)
    return made


def button(
    text: str,
    role: str = "",
    *,
    icon: str = "",
    parent: QWidget | None = None,
    name: str = "",
    tool_tip: str = "",
    call: Callable[..., object] | SignalInstance | None = None,
) -> QPushButton:
    """Return a push button; role is "", "primary" or "link". Args: call: what it does."""
    result = named(PushButton(text, parent, autoDefault=False), name, tool_tip=tool_tip)
    if call is not None:
        result.clicked.connect(call)
    if role:
        set_role(result, role)
    if icon:
        show_icon(result, icon, "on_accent" if role == "primary" else "text")
    if role == "link":
        result.setCursor(Qt.CursorShape.PointingHandCursor)
        result.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
    return result


def icon_button(
    icon: str,
    said: str,
    *,
    color: str = "muted",
    role: str = "corner",
    name: str = "",
    call: Callable[..., object] | SignalInstance | None = None,
) -> ToolButton:
    """Return a small button with an icon, as in the corner of a card. Args: said: what it does, in words."""
    result = named(ToolButton(), name, said, tool_tip=said)
    if call is not None:
        result.clicked.connect(call)
    if role:
        set_role(result, role)
        result.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    theme.on_theme_change(result, lambda: result.setIcon(theme.icon(icon, color)))
    return result


def show_icon(target: QPushButton, name: str, color: str = "text") -> None:
    """Show an icon before a button's words; a style sheet has no word for the room between them."""
    target.setIconSize(QSize(16 + ICON_ROOM, 16))
    theme.on_theme_change(target, lambda: target.setIcon(theme.icon(name, color, ICON_ROOM)))


def leave_room(dialog: QDialog) -> None:
    """Keep a dialog as tall as its wrapped words need, on a screen of any size."""
    layout = dialog.layout()
    if layout is not None:
        dialog.setMinimumHeight(layout.totalMinimumHeightForWidth(dialog.width()))


class Card(QFrame):
    """A bordered area with a title, the one hint that matters in its right corner, and a body."""

    def __init__(self, title: str = "", hint: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "card")
        self._head = FoldingRow(needed=self._head_width)
        self.title_label = label(title, "card-title")
        self.title_label.setMinimumHeight(24)
        self.fact = hint  # what the hint says of what is shown, without what can be done
        self.hint_label = ElidedLabel(hint, "muted")
        self.hint_label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._lead, self._corner = row(self.title_label), row((self.hint_label, 1))
        self._head.put(self._lead, (self._corner, 1))
        self.body = column()
        column(self._head, (self.body, 1), margins=(CARD_X, CARD_Y, CARD_X, CARD_Y), parent=self)
        self._show_head()

    def set_title(self, title: str) -> None:
        """Replace the title."""
        self.title_label.setText(title)
        self._show_head()

    def set_hint(self, fact: str, more: str | None = None, *, deed: str = "") -> None:
        """Replace the words in the right corner.

        Args: fact: what is shown. more: said under the pointer; None: what was. deed: what a person can do,
        said after the fact, in the window alone.
        """
        self.fact = fact
        hint = PART.join(filter(None, (fact, deed)))
        if more is not None:
            self.hint_label.setToolTip(tip(more))
        if hint != self.hint_label.text():
            self.hint_label.setText(hint)
            self._show_head()

    def add(self, widget: QWidget, stretch: int = 0) -> None:
        """Add a widget to the body."""
        self.body.addWidget(widget, stretch)

    def add_layout(self, layout: QLayout) -> None:
        """Add items in a layout to the body."""
        self.body.addLayout(layout)

    def add_corner(self, *widgets: QWidget) -> None:
        """Add controls to the right of the hint."""
        for widget in widgets:
            self._corner.addWidget(widget)
        self._show_head()

    def add_lead(self, widget: QWidget) -> None:
        """Put a control before the title, where it stays in whatever width the card has."""
        self._lead.insertWidget(0, widget)
        self._show_head()

    def _head_width(self) -> int:
        """Return the px that the head takes beside each other, with the first part of the hint."""
        first = self.hint_label.text().partition(PART)[0]
        said = self.hint_label.fontMetrics().horizontalAdvance(first) + 2 if first else 0
        return self._lead.sizeHint().width() + 8 + self._corner.minimumSize().width() + said

    def _show_head(self) -> None:
        has_more = self._lead.count() + self._corner.count() > 2
        shown = bool(self.title_label.text() or self.hint_label.text()) or has_more
        self._head.setVisible(shown)
        self.setAccessibleName(self.title_label.text())


class EmptyState(QWidget):
    """Says why a card is empty and what fills it, with the one button that does.

    Args: least_width: px of the sentence before it wraps.
    """

    activated = Signal()

    def __init__(
        self, text: str, action: str = "", parent: QWidget | None = None, *, least_width: int = EMPTY_WIDTH
    ) -> None:
        super().__init__(parent)
        self.label = label(text, "muted", wrap=True)
        self.label.setMinimumWidth(least_width)
        self.label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.button = button(action)
        self.button.clicked.connect(self.activated)
        if not action:
            self.button.hide()
        centred = Qt.AlignmentFlag.AlignHCenter
        layout = column(gap=12, margins=EMPTY_MARGIN, parent=self)
        layout.setAlignment(Qt.AlignmentFlag.AlignCenter)  # before there are items, or Qt does not heed it
        layout.addWidget(self.label)
        layout.addWidget(self.button, 0, centred)

    def set_text(self, text: str) -> None:
        """Replace the sentence."""
        self.label.setText(text)


class LevelMark(QWidget):
    """A level as a shape in its colour: a ticked ring, a triangle, an octagon, a dot."""

    def __init__(self, level: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._level = level if level in ("fine", "look", "wrong") else "note"
        self.setFixedSize(16, 16)
        names = {
            "fine": self.tr("Fine"),
            "look": self.tr("Look"),
            "wrong": self.tr("Wrong"),
            "note": self.tr("Note"),
        }
        self.setAccessibleName(names[self._level])
        self.setToolTip(names[self._level])

    def paintEvent(self, event: QPaintEvent) -> None:
        color = self._level if self._level != "note" else "muted"
        painter = QPainter(self)
        theme.icon(self._level, color).paint(painter, self.rect())
        painter.end()


Action = tuple[str, Callable[[], None]]  # what a remark offers to do, in words, and what does it


class Advice(QScrollArea):
    """Remarks under each other: the mark of its level, text that hangs beside it, maybe an action."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, widgetResizable=True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._rows: dict[str, tuple[str, str]] = {}
        self._actions: dict[str, Sequence[Action]] = {}
        self._more: dict[str, str] = {}
        self._links: list[tuple[int, str, QPushButton]] = []  # of which remark, and its words
        self._held: tuple[int, str, str] | None = None  # with the keyboard, until there are links again
        self._links_a_row, self._wide = LINKS, 0  # px that two a row take, where they have no room
        self._built = QElapsedTimer()
        self._stood: list[tuple[QRect, str, str]] = []  # links before that, where on the screen
        self._build()

    def set_items(
        self,
        items: Iterable[tuple[str, str]],
        actions: Mapping[str, Sequence[Action]] | None = None,
        more: Mapping[str, str] | None = None,
    ) -> None:
        """Replace all remarks by (level, text) pairs.

        Args: actions: text -> what can be done about it. more: text -> what stands below it, less loud.
        """
        before = self._look()
        self._rows = {str(i): item for i, item in enumerate(items)}
        self._actions, self._more = dict(actions or {}), dict(more or {})
        if self._look() == before:
            return  # nothing moves under the pointer
        place = self.verticalScrollBar().value()
        self._build()
        self.verticalScrollBar().setValue(place)

    def _look(self) -> tuple[object, ...]:
        """Return all that is to be seen."""
        links = {text: [words for words, _call in actions] for text, actions in self._actions.items()}
        return list(self._rows.values()), links, self._more

    def put(self, key: str, level: str, text: str) -> None:
        """Add a remark, or replace the one with the same key."""
        if self._rows.get(key) != (level, text):
            self._rows[key] = (level, text)
            self._build()

    def remove(self, key: str) -> None:
        """Drop the remark with this key, if there is one."""
        if self._rows.pop(key, None):
            self._build()

    def clear(self) -> None:
        """Drop all remarks."""
        self._rows.clear()
        self._build()

    def items(self) -> list[tuple[str, str]]:
        """Return the remarks with their levels."""
        return list(self._rows.values())

    def texts(self) -> list[str]:
        """Return the remarks as a person reads them."""
        return [text for _level, text in self._rows.values()]

    def step_in(self) -> None:
        """Give the keyboard to the first thing that can be done about the next remark, from the top again."""
        held = self.window().focusWidget()
        here = next((place for place, _text, link in self._links if link is held), -1)
        later = [each for each in self._links if each[0] > here] or self._links
        if later:
            later[0][2].setFocus(Qt.FocusReason.TabFocusReason)
            self.ensureWidgetVisible(later[0][2])

    def _keep_keyboard(self) -> None:
        """Give the keyboard back to what it was at before all was built anew, else to the remark there.

        There to what only shows, so that a key that is pressed twice changes nothing twice.
        """
        if self._held is None or not self._links:
            return
        (place, text, words), self._held = self._held, None
        if self.window().focusWidget() is not None:
            return  # it has gone elsewhere meanwhile
        same = [link for _, own, link in self._links if (own, link.text()) == (text, words)]
        later = [link for at, _, link in self._links if at >= place]
        link = (same or later or [self._links[-1][2]])[0]
        link.setFocus(Qt.FocusReason.OtherFocusReason)
        self.ensureWidgetVisible(link)

    def _build(self) -> None:
        focused = self.window().focusWidget()  # also while the window is not the active one
        held = [(place, text, link.text()) for place, text, link in self._links if link is focused]
        self._held = held[0] if held else self._held
        if not self._built.isValid() or self._built.elapsed() > SETTLED_MS:
            self._stood = [(_on_screen(link), text, link.text()) for _, text, link in self._links]
        self._built.start()
        self._links = []
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(1, 1)
        for place, (level, text) in enumerate(self._rows.values()):
            grid.addWidget(LevelMark(level), place, 0, Qt.AlignmentFlag.AlignTop)
            grid.addLayout(self._remark(place, text), place, 1)
        grid.setRowStretch(len(self._rows), 1)
        self.setWidget(holder(grid))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        before: QWidget = self.viewport()
        for _, _, link in self._links:  # new widgets would come last of all
            QWidget.setTabOrder(before, link)
            before = link
        self._keep_keyboard()
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Put one link under the other where two have no room: what is wider than its list is cut off."""
        inner, room = self.widget(), self.viewport().width()
        least = inner.minimumSizeHint().width() if inner is not None else 0
        if self._links_a_row > 1 and least > room:
            self._links_a_row, self._wide = 1, least
            self._build()
        elif self._links_a_row == 1 and room >= self._wide:
            self._links_a_row = LINKS
            self._build()

    def _remark(self, at: int, text: str) -> QVBoxLayout:
        more = [label(self._more[text], "muted", wrap=True)] if self._more.get(text) else []
        links: list[QHBoxLayout] = []
        for place, (words, _call) in enumerate(self._actions.get(text, ())):
            link = button(words, "link")
            link.installEventFilter(self)
            link.setAccessibleDescription(text)
            link.clicked.connect(partial(self._act, text, place))
            self._links.append((at, text, link))
            if place % self._links_a_row == 0:
                links.append(row(STRETCH, gap=12))
            links[-1].insertWidget(links[-1].count() - 1, link)
        return column(label(text, wrap=True), *more, *links, gap=2)

    def _act(self, text: str, place: int, _checked: bool = False) -> None:
        self._actions[text][place][1]()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let no click through that was meant for what stood there a moment ago."""
        if not isinstance(event, QMouseEvent) or not isinstance(watched, QPushButton):
            return super().eventFilter(watched, event)
        if event.type() == QEvent.Type.MouseButtonRelease:
            return not watched.isDown()  # its press was not let through
        if event.type() not in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick):
            return super().eventFilter(watched, event)
        if self._built.elapsed() > SETTLED_MS or not self._stood:
            return super().eventFilter(watched, event)
        at = event.globalPosition().toPoint()
        meant = [(text, words) for place, text, words in self._stood if place.contains(at)]
        return meant != [(watched.accessibleDescription(), watched.text())]


def _on_screen(widget: QWidget) -> QRect:
    return QRect(widget.mapToGlobal(QPoint(0, 0)), widget.size())


class ScrollView(QScrollArea):
    """Room that scrolls where it is too low for what lies in it; the keys are not its own.

    Args: inner: what lies in it; as wide as there is room.
    """

    def __init__(self, inner: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent, widgetResizable=True)
        set_role(inner, "clear")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(inner)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()  # Qt's would scroll by the arrow keys


def tidy_spin(spin: _Spin, width: int = 0) -> _Spin:
    """Set a spin box's number right, with room beside it, and return it.

    NoButtons would hide it (see style_sheet.py).

    Args: width: px that it keeps; 0: as wide as there is room.
    """
    spin.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    spin.lineEdit().setTextMargins(9, 0, 9, 0)
    across = QSizePolicy.Policy.Fixed if width else QSizePolicy.Policy.Ignored
    spin.setSizePolicy(across, QSizePolicy.Policy.Fixed)
    if width:
        spin.setFixedWidth(width)
    return spin
