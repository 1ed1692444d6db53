"""Words as chips that wrap at the width there is, in any script; the mouse and arrow keys choose among them.

A child class says how wide a word is, how it looks and what it says under the pointer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import cast

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from app import words
from app.look import theme
from app.look.labels import tip
from app.look.widgets import set_role
from app.plots.figure import paint_ring
from app.plots.scrolled import ScrolledFigure

SPACE, CLOSE, JOINED = 5.0, 3.0, 1.0  # px between words: in general, in scripts without spaces, joined
LETTER = 18.0  # px for the A or B before a text
_CLOSE = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")


class WordFlow(ScrolledFigure):
    """Base of the pictures of a text: a chip a word, B on a line of its own. Enter and Space choose.

    Args: line: height of a line in px; chip: of a word in it; most_lines: that are shown before it scrolls.
    """

    word_chosen = Signal(int)

    def __init__(
        self, title: str = "", *, line: int, chip: int, most_lines: int, parent: QWidget | None = None
    ) -> None:
        super().__init__(title, parent)
        self.line, self.chip, self.most_lines = line, chip, most_lines
        self.current: int | None = None
        self.texts: tuple[str, ...] = ()
        self.segments: tuple[int, ...] = ()
        self.joined: tuple[bool, ...] = ()
        self._canvas = _Canvas(self)
        self.hold(self._canvas)
        layout = self.layout()
        assert layout is not None
        layout.setContentsMargins(0, 3, 0, 3)  # words begin where titles do
        self.setFixedHeight(line + 6)

    # ---- for the child class

    def word_width(self, index: int) -> float:
        """Return how wide a word's chip is."""
        raise NotImplementedError

    def paint_word(self, painter: QPainter, room: QRectF, index: int, is_hovered: bool) -> None:
        """Paint a word's chip."""
        raise NotImplementedError

    def word_words(self, index: int) -> str:
        """Return what is said of a word under the pointer and to screen readers."""
        raise NotImplementedError

    def can_choose(self, index: int) -> bool:
        """Whether a click on a word does something."""
        return True

    def set_flow(self, texts: Sequence[str], segments: Sequence[int], joined: Sequence[bool] = ()) -> None:
        """Take the words in, after the child class has taken in what it knows of them.

        Args: joined: True for a word that follows the one before it without white space.
        """
        is_same = len(texts) == len(self.texts)
        self.texts, self.segments, self.joined = tuple(texts), tuple(segments), tuple(joined)
        if not is_same:
            self.current = 0 if self.hasFocus() and self.texts else None
        self._scroll.setVisible(bool(self.texts))
        self._canvas.place()
        self.update()

    # ---- what Qt asks

    @property
    def is_empty(self) -> bool:
        return not self.texts

    @property
    def is_saving(self) -> bool:
        return self._saving

    def repaint_words(self) -> None:
        """Paint the words anew where they stand."""
        self._canvas.update()

    def rect_of(self, index: int) -> QRectF:
        """Return where a word stands on the canvas."""
        return QRectF(self._canvas.places[index])

    def sizeHint(self) -> QSize:
        return QSize(400, self.height())

    def go_to(self, index: int | None) -> None:
        """Mark a word, or none."""
        self.current = index
        if index is not None:
            self.setAccessibleDescription(self.word_words(index))
            middle = self._canvas.places[index].center()
            self._scroll.ensureVisible(int(middle.x()), int(middle.y()), 0, self.line)
        self._canvas.update()

    def paint_frame(self, painter: QPainter) -> None:
        if self.is_empty or self.current is None:  # else the word has the ring
            super().paint_frame(painter)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if self.current is None and self.texts and event.reason() != Qt.FocusReason.MouseFocusReason:
            self.go_to(next((i for i in range(len(self.texts)) if self.can_choose(i)), 0))
        self._canvas.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._canvas.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        moves = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Home: -(10**9), Qt.Key.Key_End: 10**9}
        if key in moves and self.texts:
            here = -1 if self.current is None else self.current
            self.go_to(min(max(here + moves[key], 0), len(self.texts) - 1))
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down) and self._move_line(-1 if key == Qt.Key.Key_Up else 1):
            pass
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self.current is not None:
            if self.can_choose(self.current):
                self.word_chosen.emit(self.current)
        else:
            super().keyPressEvent(event)

    def _move_line(self, by: int) -> bool:
        """Go to the nearest word a line above or below; False where there is none."""
        if self.current is None:
            return False
        here = self._canvas.places[self.current]
        beside = [i for i, room in enumerate(self._canvas.places) if (room.top() - here.top()) * by > 1]
        if not beside:
            return False
        nearest = min(abs(self._canvas.places[i].top() - here.top()) for i in beside)
        row = [i for i in beside if abs(self._canvas.places[i].top() - here.top()) - nearest < 1]
        self.go_to(min(row, key=lambda i: abs(self._canvas.places[i].center().x() - here.center().x())))
        return True


class _Canvas(QWidget):
    """All words, placed once for a width."""

    def __init__(self, plot: WordFlow) -> None:
        super().__init__()
        self._plot = plot
        self.places: list[QRectF] = []
        self._hovered = -1
        self._pressed = -1
        self.setMouseTracking(True)
        set_role(self, "clear")

    def place(self) -> None:
        """Wrap all words at the width there is, and ask for the height that they need."""
        plot = self._plot
        widths = [plot.word_width(i) for i in range(len(plot.texts))]
        words = list(zip(plot.texts, plot.segments, widths, strict=True))
        self.places = flow(words, float(self.width()), plot.line, plot.chip, plot.joined)
        num_lines = round(self.places[-1].top() / plot.line) + 1 if self.places else 1
        self.setMinimumHeight(num_lines * plot.line)
        plot.setFixedHeight(min(num_lines, plot.most_lines) * plot.line + 6)
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.place()

    def paintEvent(self, event: QPaintEvent) -> None:
        plot, painter = self._plot, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_letters(painter)
        for index, room in enumerate(self.places):
            if room.bottom() + plot.line < event.rect().top() or room.top() > event.rect().bottom():
                continue
            plot.paint_word(painter, room, index, index == self._hovered and not plot.is_saving)
            if index == plot.current and plot.hasFocus() and not plot.is_saving:
                paint_ring(painter, room.adjusted(-2, -2, 2, 2), 1.5)
        painter.end()

    def _paint_letters(self, painter: QPainter) -> None:
        plot = self._plot
        if 1 not in plot.segments:
            return
        painter.setFont(theme.ui_font(11, bold=True))
        for segment, letter, token in (
            (0, words.translate("WordFlow", "A"), "accent"),
            (1, words.translate("WordFlow", "B"), "b"),
        ):
            if segment in plot.segments:
                top = self.places[plot.segments.index(segment)].top()
                painter.setPen(theme.current().color(token))
                painter.drawText(QRectF(0, top, LETTER, plot.chip), Qt.AlignmentFlag.AlignVCenter, letter)

    def index_at(self, at: QPointF) -> int:
        """Return the word at a place, -1 for none."""
        return next((i for i, room in enumerate(self.places) if room.contains(at)), -1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = self.index_at(event.position()) if event.button() == Qt.MouseButton.LeftButton else -1
        self._plot.setFocus(Qt.FocusReason.MouseFocusReason)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        index, self._pressed = self._pressed, -1
        if index >= 0 and index == self.index_at(event.position()) and self._plot.can_choose(index):
            self._plot.go_to(index)
            self._plot.word_chosen.emit(index)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self.index_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover(-1)

    def _hover(self, index: int) -> None:
        if index != self._hovered:
            self._hovered = index
            can = index >= 0 and self._plot.can_choose(index)
            self.setCursor(Qt.CursorShape.PointingHandCursor if can else Qt.CursorShape.ArrowCursor)
            self.update()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            help_event = cast(QHelpEvent, event)
            index = self.index_at(QPointF(help_event.pos()))
            said = self._plot.word_words(index) if 0 <= index < len(self._plot.texts) else ""
            QToolTip.showText(help_event.globalPos(), tip(said), self)
            return True
        return super().event(event)


def flow(
    words: Sequence[tuple[str, int, float]],
    width: float,
    line: float,
    chip: float,
    joined: Sequence[bool] = (),
) -> list[QRectF]:
    """Return where each word stands: lines from the top, B begins a line; right to left where the text is.

    Args: words: text, segment and width of each. joined: True for one that has no white space before it.
    """
    left = 2.0 + (LETTER if any(segment for _text, segment, _room in words) else 0.0)
    places: list[QRectF] = []
    x, y = left, 2.0
    for index, (text, segment, room) in enumerate(words):
        turns = index > 0 and segment != words[index - 1][1]
        if x > left:
            is_joined = bool(joined) and joined[index]
            near = _CLOSE.match(text[:1]) and _CLOSE.match(words[index - 1][0][-1:])
            x += JOINED if is_joined else CLOSE if near else SPACE
        if turns or (x + room > width - 3 and x > left):
            x, y = left, y + line
        places.append(QRectF(x, y, min(room, max(24.0, width - 3 - left)), chip))
        x += room
    if is_right_to_left([text for text, _segment, _room in words]):
        for place in places:
            place.moveRight(width - 3 - (place.left() - left))
    return places


def is_right_to_left(texts: Sequence[str]) -> bool:
    """Whether the first letter that has a direction runs to the left."""
    kinds = (unicodedata.bidirectional(letter) for text in texts for letter in text)
    return next((kind for kind in kinds if kind in ("L", "R", "AL")), "L") != "L"
