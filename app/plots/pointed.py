"""What mouse and keys do in a picture of things that can be pointed at, written once for all of them.

A child class says what lies where, what is said of it, and where a key leads. What the mouse is over is
marked, else what the keyboard is on: there is never more than one mark.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from typing import Any

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QHelpEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolTip, QWidget

from app.look.labels import tip
from app.plots.figure import Figure

Target = Any  # a row, a cell, a point: what tells one thing of a picture from the others
ARROWS = {  # how many rows down, how many columns to the right
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}
WALKS = (*ARROWS, Qt.Key.Key_Home, Qt.Key.Key_End)
CHOOSES = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
PAGE = 10  # rows
MOST_LOOKS = 6_000  # places of a canvas at which it is found out what lies there
LEAST_LOOK = 3.0  # px between two of them
MOST_MARKS = 4_000
MOST_LOOKING_S = 0.4  # then what was found has to do: the window waits
POINT = 7.0  # px around a point that answers to the pointer in a shared picture


class PointedFigure(Figure):
    """Base of the pictures of things that can be pointed at, walked to with keys, and perhaps chosen."""

    menu_opened = Signal(QMenu, object)  # about a thing: whoever hears it may add to the menu
    nothing: Target = None  # what is marked while nothing is
    says_at_once = False  # whether a thing's words appear under the mouse without a wait

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self._hovered = self._walked = self._pressed = self.nothing

    @property
    def current(self) -> Target:
        """What is marked: what the mouse is over, else what the keyboard is on, else `nothing`."""
        return self._walked if self._hovered == self.nothing else self._hovered

    def target_at(self, at: QPointF) -> Target:
        """Return what lies at a place of the canvas, `nothing` beside all."""
        raise NotImplementedError

    def rect_of(self, target: Target) -> QRectF:
        """Return where a thing lies on the canvas; asked for where it has a tip, or scrolls."""
        raise NotImplementedError

    def words_of(self, target: Target) -> str:
        """Return what is said of a thing, to screen readers and in its tip."""
        raise NotImplementedError

    def summary(self) -> str:
        """Return what is said to screen readers while nothing is marked."""
        return ""

    def tip_of(self, target: Target) -> str:
        """Return what appears beside a thing; "" for none."""
        return self.words_of(target)

    def tip_at(self, at: QPointF) -> str:
        """Return what appears under a mouse that waits at a place of the canvas."""
        target = self.target_at(at)
        return "" if target == self.nothing else self.tip_of(target)

    def marks(self) -> list[tuple[QRectF, str]]:
        things = self.things()
        found = self._found() if things is None else [(target, QRectF()) for target in things]
        own = type(self).rect_of is not PointedFigure.rect_of
        marked = []
        for target, seen in found[:MOST_MARKS]:
            said = self.tip_of(target) or self.words_of(target)
            room = self.rect_of(target) if own else seen
            if room.isEmpty():  # a point
                room = room.adjusted(-POINT, -POINT, POINT, POINT) if seen.isEmpty() else seen
            if said:
                marked.append((room, said))
        return marked

    def things(self) -> Iterable[Target] | None:
        """Return what can be pointed at, where a picture knows it at once; None: it is looked for."""
        return None

    def looks(self) -> Iterator[QPointF]:
        """Yield the places of the canvas at which things are looked for, those of a grid."""
        size = self.canvas().size()
        step = self._look_step()
        for row in range(int(size.height() / step)):
            for column in range(int(size.width() / step)):
                yield QPointF((column + 0.5) * step, (row + 0.5) * step)

    def _look_step(self) -> float:
        size = self.canvas().size()
        return max(LEAST_LOOK, math.sqrt(size.width() * size.height() / MOST_LOOKS))

    def _found(self) -> list[tuple[Target, QRectF]]:
        """Return whatever the mouse would find, with the box in which it was found."""
        half, end = self._look_step() / 2, time.perf_counter() + MOST_LOOKING_S
        boxes: dict[Target, QRectF] = {}
        for at in self.looks():
            if time.perf_counter() > end:
                break
            target = self.target_at(at)
            if target != self.nothing:
                box = QRectF(at.x() - half, at.y() - half, 2 * half, 2 * half)
                boxes[target] = boxes[target].united(box) if target in boxes else box
        return list(boxes.items())

    def after(self, event: QKeyEvent) -> Target:
        """Return where a key leads from what is marked; `nothing`: the key is none of this picture's."""
        return self.nothing

    def can_choose(self, target: Target) -> bool:
        """Whether a click on a thing, or Enter, does something."""
        return False

    def choose(self, target: Target, event: QMouseEvent | QKeyEvent) -> None:
        """Do what a click on a thing does, or Enter or Space; called where it can be chosen."""

    def drop_words(self, dragged: Target, target: Target) -> str:
        """Return what dragging one thing onto another does; "": nothing."""
        return ""

    def drop(self, dragged: Target, target: Target) -> None:
        """Do what dragging one thing onto another does; called where there are words for it."""

    def let_go(self) -> bool:
        """Do what Escape does, or a click beside all; False where there was nothing to let go of."""
        was_marked = bool(self.current != self.nothing)
        self.go_to(self.nothing)
        return was_marked

    def current_changed(self) -> None:
        """Tell others what is marked now; called where mouse or keys changed it."""

    def go_to(self, target: Target) -> None:
        """Mark a thing as the keyboard does; `nothing`: none."""
        self._mark(self.nothing, target)

    def forget(self) -> None:
        """Mark nothing and tell nobody, for there are other things now."""
        self._hovered = self._walked = self._pressed = self.nothing
        self.describe()
        self.canvas().update()

    def describe(self) -> None:
        """Say to screen readers what is marked, or what all of it is."""
        marked = self.current != self.nothing
        self.setAccessibleDescription(self.words_of(self.current) if marked else self.summary())

    def walk_to(self, target: Target, event: QKeyEvent) -> None:
        """Go where a key leads, and say beside it at once what a mouse would have to wait for."""
        self.go_to(target)
        self.reveal(target)
        self.say_beside(target)

    def say_beside(self, target: Target) -> None:
        """Show a thing's tip beside it."""
        said = self.tip_of(target)
        corner = self.rect_of(target).bottomRight().toPoint() if said else QPoint()
        self._show_tip(self.canvas().mapToGlobal(corner), said)

    def reveal(self, target: Target) -> None:
        """Bring a thing into view, where a picture scrolls."""

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        is_by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        about = self._walked if is_by_key else self.current
        menu = self.menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if about != self.nothing:
            self.menu_opened.emit(menu, about)
        menu.popup(event.globalPos())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        before, target = self._hovered, self.target_at(self._place_of(event))
        self._mark(target, self._walked)
        can = target != self.nothing and self.can_choose(target)
        self.canvas().setCursor(Qt.CursorShape.PointingHandCursor if can else Qt.CursorShape.ArrowCursor)
        if dropped := self._drop_words(target):
            self.canvas().setCursor(Qt.CursorShape.DragMoveCursor)
            self._show_tip(event.globalPosition().toPoint(), dropped)
        elif self.says_at_once and target != before:
            said = "" if target == self.nothing else self.tip_of(target)
            self._show_tip(event.globalPosition().toPoint(), said)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._mark(self.nothing, self._walked)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed = self.target_at(self._place_of(event))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        target, pressed = self.target_at(self._place_of(event)), self._pressed
        can_drop = bool(self._drop_words(target))
        self._pressed = self.nothing
        if event.button() == Qt.MouseButton.LeftButton and can_drop:
            QToolTip.hideText()
            self.drop(pressed, target)
        if event.button() != Qt.MouseButton.LeftButton or target != pressed:
            return
        if target == self.nothing:
            self.let_go()
        elif self.can_choose(target):
            self.choose(target, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        target = self.after(event)
        if target != self.nothing:
            self.walk_to(target, event)
        elif event.key() in CHOOSES and self.current != self.nothing and self.can_choose(self.current):
            self.choose(self.current, event)
        elif event.key() == Qt.Key.Key_Escape and self.let_go():
            QToolTip.hideText()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        lent = (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason)
        if event.reason() not in lent:  # a menu or another window gives the keyboard back
            self._mark(self._hovered, self.nothing)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            at = self.canvas().mapFromGlobal(QPointF(event.globalPos()))
            self._show_tip(event.globalPos(), self.tip_at(at))
            return True
        return super().event(event)

    def _mark(self, hovered: Target, walked: Target) -> None:
        before = self.current
        if (hovered, walked) != (self._hovered, self._walked):
            self._hovered, self._walked = hovered, walked
            self.canvas().update()
        if self.current != before:
            self.describe()
            self.current_changed()

    def _drop_words(self, target: Target) -> str:
        """Return what letting go of the mouse here would do to what it was pressed on; "": nothing."""
        if self.nothing in (self._pressed, target) or target == self._pressed:
            return ""
        return self.drop_words(self._pressed, target)

    def _place_of(self, event: QMouseEvent) -> QPointF:
        return self.canvas().mapFromGlobal(event.globalPosition())

    def _show_tip(self, at: QPoint, said: str) -> None:
        QToolTip.showText(at, tip(said).replace("\n", "<br>"), self)


class DoorsFigure(PointedFigure):
    """Base of the pictures of texts in groups, one beside the other: a click on one asks for its texts."""

    chosen = Signal(int)
    wanted_size = (360, 170)
    least_size = (180, 90)
    marked = -1  # the place of the group whose texts are shown; -1: none

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def set_marked(self, place: int) -> None:
        """Mark the group whose texts are shown; -1: none."""
        self.marked = place
        self.update()

    def can_choose(self, target: int) -> bool:
        return True

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        self.chosen.emit(target)


def row_after(event: QKeyEvent, row: int | None, num_rows: int) -> int | None:
    """Return the row that a key leads to, from none to the first; None: the key leads nowhere."""
    key, last = Qt.Key(event.key()), num_rows - 1
    moves = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -PAGE, Qt.Key.Key_PageDown: PAGE}
    if not num_rows:
        return None
    if key in (Qt.Key.Key_Home, Qt.Key.Key_End):
        return 0 if key == Qt.Key.Key_Home else last
    if key not in moves:
        return None
    return 0 if row is None else min(max(row + moves[key], 0), last)


def place_after(event: QKeyEvent, place: int | None, count: int) -> int | None:
    """Return the place in a line of things that a key leads to, from none to the first."""
    found = cell_after(event, None if place is None else (0, place), (1, count))
    return None if found is None else found[1]


def cell_after(
    event: QKeyEvent, cell: tuple[int, int] | None, shape: tuple[int, int], *, by: int = 1
) -> tuple[int, int] | None:
    """Return the (row, column) that a key leads to, from none to the first; None: the key leads nowhere.

    Home and End lead to the first and the last cell of a row, arrows `by` cells on.
    """
    key = Qt.Key(event.key())
    if not all(shape) or key not in WALKS:
        return None
    if cell is None:
        return 0, 0
    row, column = cell
    if key in (Qt.Key.Key_Home, Qt.Key.Key_End):
        return row, 0 if key == Qt.Key.Key_Home else shape[1] - 1
    down, right = ARROWS[key]
    row, column = row + down * by, column + right * by
    return min(max(row, 0), shape[0] - 1), min(max(column, 0), shape[1] - 1)
