"""A guided tour over a window of pages: all is dimmed but one widget, and a card beside it speaks of it.

What is lit stays usable with the mouse; the keyboard stays with the card. Esc leaves at any point. A step may
act, such as asking a model something: its action is a generator that yields what it waits for.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

import shiboken6
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QRegion,
    QShortcut,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QFrame, QPushButton, QScrollArea, QWidget

from app import words
from app.look import theme
from app.tour.card import TourCard, place

LOOK_MS = 100  # between two looks at what a step waits for, what it says, and where its widget is
GAP, RADIUS, RING = 5, 10, 2  # px: from the widget to the ring, its corners and its width
DIM_LIGHT, DIM_DARK = 0.46, 0.72  # how much of the window the dimming hides

Wait = Callable[[], bool]
Action = Callable[[], Generator[Wait, None, None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TourStep:
    """One stop of a tour.

    page, target: where it is: a page's key and a widget's object name; the whole card that holds it is lit.
    clear: the name of another widget there that the card speaks of, and does not cover.
    words: may change while the step is shown. action: done on arrival; Next never waits for it. is_long: it
    takes minutes, and Next reads Skip until it is done. can_show: a step that has nothing to show yet is
    passed over; its turn comes at the end if it has something by then.
    """

    key: str
    page: str = ""
    target: str = ""
    title: str
    words: str | Callable[[], str]
    action: Action | None = None
    clear: str = ""
    is_long: bool = False
    can_show: Callable[[], bool] | None = None


class Guide(QWidget):
    """Leads through steps, over everything else in a window."""

    step_changed = Signal(int)
    ended = Signal(bool)  # whether it came to its end

    def __init__(
        self,
        window: QWidget,
        steps: Sequence[TourStep],
        *,
        page: Callable[[str], QWidget],
        show_page: Callable[[str], None],
    ) -> None:
        """Args: page, show_page: return, and open, the page of a key."""
        super().__init__(window)
        self.setObjectName("tour")
        self.setAccessibleName(self.tr("Tour"))
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self.host = window
        self.steps = tuple(steps)
        self.index = -1
        self._way: list[int] = []  # the steps that were shown, up to this one
        self._page, self._show_page = page, show_page
        self._action: Generator[Wait, None, None] | None = None
        self._wait: Wait | None = None
        self._lit: QWidget | None = None
        self.lit: QRect | None = None  # what is not dimmed; None where the step is about nothing on screen
        self._has_to_reveal = False  # once the pages have found their places
        self._before: QWidget | None = None  # what had the keyboard
        self.card = TourCard(self)
        self.card.next_wanted.connect(self.next)
        self.card.back_wanted.connect(self.back)
        self.card.leave_wanted.connect(self.leave)
        for each in self.card.findChildren(QPushButton):
            each.installEventFilter(self)
        self._clock = QTimer(self, interval=LOOK_MS)
        self._clock.timeout.connect(self.look)
        QShortcut(QKeySequence(Qt.Key.Key_Escape), self).activated.connect(self.leave)
        theme.on_theme_change(self, self.update)
        self.hide()

    # ---- from outside

    @property
    def step(self) -> TourStep:
        """The step that is shown."""
        return self.steps[self.index]

    @property
    def is_ready(self) -> bool:
        """Whether the step's action is done."""
        return self._action is None

    @property
    def shown_keys(self) -> tuple[str, ...]:
        """The keys of the steps on the way here, this one the last."""
        return tuple(self.steps[index].key for index in self._way)

    @property
    def following(self) -> int | None:
        """The step that Next leads to: the next that has something to show, then those passed over."""
        furthest = max(self._way, default=-1)
        passed_over = (index for index in range(furthest) if index not in self._way)
        candidates: tuple[int, ...] = (*range(furthest + 1, len(self.steps)), *passed_over)
        for index in candidates:
            can_show = self.steps[index].can_show
            if can_show is None or can_show():
                return index
        return None

    @property
    def has_ended(self) -> bool:
        """Whether it was left, or came to its end."""
        return self.index >= len(self.steps)

    def start(self) -> None:
        """Begin with the first step, in the place of any other tour of this window."""
        window = self.host
        for other in window.findChildren(Guide):
            if other is not self:
                other.leave()
        self._before = window.focusWidget()
        window.installEventFilter(self)
        QApplication.instance().focusChanged.connect(self._focus_changed)  # type: ignore[union-attr]
        self.setGeometry(window.rect())
        self.show()
        self.raise_()
        self._clock.start()
        self.go(0)

    def go(self, index: int) -> None:
        """Show a step; what the one before still waits for is given up."""
        if self._action is not None:
            self._action.close()
        self.index, self._wait = index, None
        self._way = (
            [*self._way[: self._way.index(index)], index] if index in self._way else [*self._way, index]
        )
        step = self.step
        if step.page:
            self._show_page(step.page)
        self._action = step.action() if step.action is not None else None
        self.card.show_step(step.title, self._count(), is_first=len(self._way) == 1)
        self.look()
        self._reveal()
        self.take_keyboard()
        self.card.announce()
        self.step_changed.emit(index)

    def _count(self) -> str:
        """Return which step this is of how many; at the last one, of those that were shown."""
        count = len(self._way) if self.following is None else len(self.steps)
        return self.tr("{step} of {all}").format(step=words.number(len(self._way)), all=words.number(count))

    def next(self) -> None:
        """Go on, whatever the step still waits for."""
        if self.has_ended:
            return
        following = self.following
        if following is None:
            self._end(True)
        else:
            self.go(following)

    def back(self) -> None:
        """Show the step before."""
        if not self.has_ended and len(self._way) > 1:
            self.go(self._way[-2])

    def leave(self) -> None:
        """End here; what is on screen stays."""
        self._end(False)

    def _end(self, is_whole: bool) -> None:
        if self.has_ended:
            return
        if self._action is not None:
            self._action.close()
        self._action, self.index = None, len(self.steps)
        self._clock.stop()
        self.host.removeEventFilter(self)
        QApplication.instance().focusChanged.disconnect(self._focus_changed)  # type: ignore[union-attr]
        self.hide()
        if self._before is not None and shiboken6.isValid(self._before) and self._before.isVisible():
            self._before.setFocus()
        self.ended.emit(is_whole)
        self.deleteLater()

    # ---- what a step waits for, says and lights

    def look(self) -> None:
        """Go on with the action where it can, and show everything as it is now."""
        if not 0 <= self.index < len(self.steps):
            return
        while self._action is not None and (self._wait is None or self._wait()):
            self._wait = next(self._action, None)
            if self._wait is None:
                self._action = None
        step = self.step
        self.card.show_words(step.words if isinstance(step.words, str) else step.words())
        self.card.count.setText(self._count())
        self.card.show_way_on(is_skip=step.is_long and not self.is_ready, is_last=self.following is None)
        if self._has_to_reveal:
            self._has_to_reveal = False
            self._reveal()
        self._show_place()

    def _find(self) -> QWidget | None:
        """Return the step's widget, or the card that holds it; None where it is not on screen."""
        return self._named(self.step.target)

    def _named(self, name: str) -> QWidget | None:
        """Return what has this name on the step's page, or the card that holds it; None where it is not."""
        if not name:
            return None
        place = self._page(self.step.page) if self.step.page else self.host
        found = next((one for one in place.findChildren(QWidget, name) if one.isVisible()), None)
        widget = found
        while widget is not None and widget is not place:
            if isinstance(widget, QFrame) and widget.property("role") == "card":
                return widget
            widget = widget.parentWidget()
        return found

    def _reveal(self) -> None:
        """Scroll so that the step's widget is seen."""
        area = self._lit
        while self._lit is not None and area is not None:
            area = area.parentWidget()
            if isinstance(area, QScrollArea):
                area.ensureWidgetVisible(self._lit, 0, 0)
        self._show_place()

    def _show_place(self) -> None:
        """Light the widget where it is now, and put the card beside it."""
        self._lit = self._find()
        hole = self._seen(self._lit) if self._lit is not None else None
        clear = self._named(self.step.clear)
        at = place(hole, self.card.size(), self.rect(), self._seen(clear) if clear is not None else None)
        is_whole = self.mask().boundingRect() == self.rect()  # all of the window as it is now
        if (hole, at) != (self.lit, self.card.pos()) or not is_whole:
            self.lit = hole
            self.card.move(at)
            self._cut()
            self.update()

    def _seen(self, widget: QWidget) -> QRect | None:
        """Return the part of a widget that no scroll area cuts off, in the window's pixels."""
        window = self.host
        found = QRect(widget.mapTo(window, QPoint()), widget.size()) & window.rect()
        holder = widget.parentWidget()
        while holder is not None and holder is not window:
            found &= QRect(holder.mapTo(window, QPoint()), holder.size())
            holder = holder.parentWidget()
        return found if found.isValid() else None

    def _cut(self) -> None:
        """Leave the inside of what is lit to the mouse."""
        region = QRegion(self.rect())
        if self.lit is not None:
            region -= QRegion(self.lit.adjusted(GAP, GAP, -GAP, -GAP))  # inside the ring's soft edges
            region += QRegion(self.card.geometry())
        self.setMask(region)

    def paintEvent(self, event: QPaintEvent) -> None:
        colors = theme.current()
        ink = colors.color("rail" if colors.is_dark else "text")
        ink.setAlphaF(DIM_DARK if colors.is_dark else DIM_LIGHT)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        path = QPainterPath()
        path.addRect(QRectF(self.rect()))
        if self.lit is None:
            painter.fillPath(path, ink)
        else:
            ring = QRectF(self.lit.adjusted(-GAP, -GAP, GAP, GAP) & self.rect())
            hole = QPainterPath()
            hole.addRoundedRect(ring, RADIUS, RADIUS)
            painter.fillPath(path - hole, ink)
            painter.setPen(QPen(colors.color("focus"), RING))
            painter.drawRoundedRect(ring.adjusted(1, 1, -1, -1), RADIUS, RADIUS)
        painter.end()

    # ---- keyboard, mouse, window

    def take_keyboard(self) -> None:
        """Give the keyboard to the way on."""
        if not self.has_ended:
            self.card.next_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def focusNextPrevChild(self, onward: bool) -> bool:
        entries = self.card.buttons
        here = next((n for n, one in enumerate(entries) if one.hasFocus()), -1)
        entries[(here + (1 if onward else -1)) % len(entries)].setFocus(Qt.FocusReason.TabFocusReason)
        return True

    def _focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        """Take the keyboard back from whatever is neither on the card nor lit; dialogs keep it."""
        self.update()
        if new is None or new.window() is not self.window() or self.isAncestorOf(new):
            return
        if self._lit is None or not (new is self._lit or self._lit.isAncestorOf(new)):
            QTimer.singleShot(0, self, self.take_keyboard)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._press(event)
        event.accept()  # nothing below is meant

    def _press(self, event: QKeyEvent) -> bool:
        """Do what a key is for; return whether it is for anything."""
        key = event.key()
        onward, backward = Qt.Key.Key_Right, Qt.Key.Key_Left
        if self.layoutDirection() == Qt.LayoutDirection.RightToLeft:
            onward, backward = backward, onward
        if key in (onward, Qt.Key.Key_Down, Qt.Key.Key_PageDown):
            self.next()
        elif key in (backward, Qt.Key.Key_Up, Qt.Key.Key_PageUp):
            self.back()
        else:
            return False
        return True

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.accept()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and watched is not self.host:
            assert isinstance(event, QKeyEvent)
            return self._press(event)  # before the button, for which arrows lead to its neighbours
        if event.type() == QEvent.Type.Resize and watched is self.host:
            self.setGeometry(self.host.rect())
            self._has_to_reveal = True
            QTimer.singleShot(0, self, self.look)
        return False
