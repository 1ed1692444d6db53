"""Words as chips that wrap at the width there is, in any script; the mouse and arrow keys choose among them.

A child class says how a word looks, what stands over or under it, and what it says under the pointer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QWidget

from app.look import theme
from app.look.direction import is_right_to_left, turn_back
from app.plots.figure import Figure, ink_on, paint_ring
from app.plots.scrolled import ScrolledFigure
from app.plots.strokes import CENTER, paint_chip, write
from app.words import shorten

Word = TypeVar("Word", bound="TextWord")

SPACE, CLOSE, JOINED = 5.0, 3.0, 1.0  # px between words: in general, in scripts without spaces, joined
LONGEST = 40  # characters of a word that are shown
LETTER = 18.0  # px for the A or B before a text
_CLOSE = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")


@dataclass(frozen=True, slots=True)
class TextWord:
    """A word of a text, or a piece. segment: 0 for A, 1 for B.

    joined: it follows the one before it without white space. note: more to say of it under the pointer.
    """

    text: str
    segment: int = 0
    joined: bool = field(default=False, kw_only=True)
    note: str = field(default="", kw_only=True)


@dataclass(frozen=True, slots=True)
class ChipStyle:
    """How a word's chip is painted. ground, edge: colours, "" for none. ink: "" for one that can be read."""

    ground: str = ""
    edge: str = ""
    ink: str = ""
    edge_width: float = 1.0
    is_dashed: bool = False


class WordsFigure(ScrolledFigure, Generic[Word]):
    """Base of the pictures of a text: a chip a word, B on a line of its own. A target is a word's index.

    The ring around a word is seen while the picture has the keyboard; its place stays for the next time.
    """

    word_chosen = Signal(int)
    line, chip = 33, 26  # px, the heights of a line, and of a word in it
    letters = theme.UI_SIZE  # px, their size
    most_lines = 5  # that are shown before it scrolls
    pad = 7.0  # px beside a word's letters
    radius = 5.0  # px of a chip's corners
    side = CENTER
    rim = (0, 3, 0, 3)  # words begin where titles do

    def __init__(self, title: str = "", *, most_lines: int = 0, parent: QWidget | None = None) -> None:
        """Args: most_lines: other than this kind of picture shows."""
        super().__init__(title, parent)
        self.most_lines = most_lines or self.most_lines
        self.words: tuple[Word, ...] = ()
        self._places: list[QRectF] = []
        self.setFixedHeight(self.line + 6)

    def shown(self, index: int) -> str:
        """Return a word as it stands in its chip."""
        return shorten(self.words[index].text, LONGEST)

    def is_bold(self, index: int) -> bool:
        """Whether a word is written in bold."""
        return False

    def look_of(self, index: int, is_hovered: bool) -> ChipStyle:
        """Return how a word's chip is painted."""
        return ChipStyle()

    def word_width(self, index: int) -> float:
        """Return how wide a word's chip is."""
        metrics = QFontMetricsF(theme.ui_font(self.letters, bold=self.is_bold(index)))
        return metrics.horizontalAdvance(self.shown(index)) + 2 * self.pad

    def paint_word(self, painter: QPainter, room: QRectF, index: int, is_hovered: bool) -> None:
        """Paint a word's chip."""
        look = self.look_of(index, is_hovered)
        self.paint_ground(painter, room, look)
        ink = QColor(look.ink) if look.ink else ink_on(look.ground or theme.current().card)
        bold = self.is_bold(index)
        write(painter, room, self.shown(index), ink, size=self.letters, bold=bold, side=self.side)

    def paint_ground(self, painter: QPainter, room: QRectF, look: ChipStyle) -> None:
        """Paint what lies behind a word."""
        if look.ground:
            width = look.edge_width
            paint_chip(painter, room, look.ground, look.edge, width, self.radius, is_dashed=look.is_dashed)

    def set_words(self, words: Sequence[Word]) -> None:
        """Show these words."""
        is_same = len(words) == len(self.words)
        self.words = tuple(words)
        self.place_anew()
        if not is_same:
            self.forget()
            self._walked = 0 if self.hasFocus() and self.words else None
        self.describe()

    def clear(self) -> None:
        """Show nothing."""
        self.set_words(())

    @property
    def is_empty(self) -> bool:
        return not self.words

    def sizeHint(self) -> QSize:
        return QSize(400, self.height())

    def place(self) -> None:
        """Wrap all words at the width there is, and ask for the height that they need."""
        measured = [(word.text, word.segment, self.word_width(i)) for i, word in enumerate(self.words)]
        joined = [word.joined for word in self.words]
        self._places = flow(measured, float(self.canvas().width()), self.line, self.chip, joined)
        num_lines = round(self._places[-1].top() / self.line) + 1 if self._places else 1
        self.set_content_height(num_lines * self.line)
        self.setFixedHeight(min(num_lines, self.most_lines) * self.line + 6)

    def rect_of(self, target: int) -> QRectF:
        return QRectF(self._places[target])

    def target_at(self, at: QPointF) -> int | None:
        return next((i for i, room in enumerate(self._places) if room.contains(at)), None)

    def after(self, event: QKeyEvent) -> int | None:
        return word_after(event, self.current, self._places)

    def can_choose(self, target: int) -> bool:
        return True

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        self._mark(self._hovered, target)
        self.word_chosen.emit(target)

    def reveal(self, target: int) -> None:
        middle = self._places[target].center()
        self._scroll.ensureVisible(int(middle.x()), int(middle.y()), 0, self.line)

    def describe(self) -> None:
        if self._hovered is None and not self.hasFocus():
            self.setAccessibleDescription(self.summary())
        else:
            super().describe()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if self.current is None and self.words and event.reason() != Qt.FocusReason.MouseFocusReason:
            first = next((i for i in range(len(self.words)) if self.can_choose(i)), 0)
            self.go_to(first)
            self.reveal(first)
        self.describe()
        self.canvas().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        Figure.focusOutEvent(self, event)
        self.describe()
        self.canvas().update()

    def paint_frame(self, painter: QPainter) -> None:
        if self.is_empty or self._walked is None:  # else the word has the ring
            super().paint_frame(painter)

    def paint(self, painter: QPainter, area: QRectF) -> None:
        self._paint_letters(painter)
        for index, room in enumerate(self._places):
            if room.bottom() + self.line < area.top() or room.top() > area.bottom():
                continue
            self.paint_word(painter, room, index, index == self._hovered and not self._saving)
            if index == self._walked and self.hasFocus() and not self._saving:
                self.paint_walked(painter, room)

    def paint_walked(self, painter: QPainter, room: QRectF) -> None:
        """Paint the ring around the word that the keyboard is on."""
        paint_ring(painter, room.adjusted(-2, -2, 2, 2), 1.5)

    def _paint_letters(self, painter: QPainter) -> None:
        segments = [word.segment for word in self.words]
        if 1 not in segments:
            return
        for segment, letter, ink in ((0, self.tr("A"), "accent"), (1, self.tr("B"), "b")):
            if segment in segments:
                top = self._places[segments.index(segment)].top()
                write(painter, QRectF(0, top, LETTER, self.chip), letter, ink, size=11, bold=True)


def word_after(event: QKeyEvent, here: int | None, places: Sequence[QRectF]) -> int | None:
    """Return the word that a key leads to; None: nowhere, as up from the first line.

    Left and right lead to the word before and after, or after and before where the text runs to the left, up
    and down to the nearest of the next line.
    """
    key, last = Qt.Key(event.key()), len(places) - 1
    on = -1 if last > 0 and places[1].top() == places[0].top() and places[1].x() < places[0].x() else 1
    moves = {Qt.Key.Key_Left: -on, Qt.Key.Key_Right: on, Qt.Key.Key_Home: -last - 1, Qt.Key.Key_End: last + 1}
    if not places:
        return None
    if key in moves:
        return min(max((-1 if here is None else here) + moves[key], 0), last)
    if here is None or key not in (Qt.Key.Key_Up, Qt.Key.Key_Down):
        return None
    room, by = places[here], -1 if key == Qt.Key.Key_Up else 1
    away = [(place.top() - room.top()) * by for place in places]
    nearest = min((far for far in away if far > 1), default=None)
    if nearest is None:
        return None
    line = [i for i, far in enumerate(away) if abs(far - nearest) < 1]
    return min(line, key=lambda i: abs(places[i].center().x() - room.center().x()))


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
    turn_back([text for text, _segment, _room in words], [[place] for place in places])
    return places
