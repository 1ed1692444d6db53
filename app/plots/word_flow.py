"""Words as chips that wrap at the width there is, in any script; the mouse and arrow keys choose among them.

A child class says how wide a word is, how it looks and what it says under the pointer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QWidget

from app.look import theme
from app.plots.figure import Figure, paint_ring
from app.plots.scrolled import ScrolledFigure

SPACE, CLOSE, JOINED = 5.0, 3.0, 1.0  # px between words: in general, in scripts without spaces, joined
LETTER = 18.0  # px for the A or B before a text
_CLOSE = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")


class WordFlow(ScrolledFigure):
    """Base of the pictures of a text: a chip a word, B on a line of its own. A target is a word's index.

    The ring around a word is seen while the picture has the keyboard; its place stays for the next time.
    Args: line: height of a line in px; chip: of a word in it; most_lines: that are shown before it scrolls.
    """

    word_chosen = Signal(int)

    def __init__(
        self, title: str = "", *, line: int, chip: int, most_lines: int, parent: QWidget | None = None
    ) -> None:
        super().__init__(title, parent)
        self.line, self.chip, self.most_lines = line, chip, most_lines
        self.texts: tuple[str, ...] = ()
        self.segments: tuple[int, ...] = ()
        self.joined: tuple[bool, ...] = ()
        self._places: list[QRectF] = []
        layout = self.layout()
        assert layout is not None
        layout.setContentsMargins(0, 3, 0, 3)  # words begin where titles do
        self.setFixedHeight(line + 6)

    def word_width(self, index: int) -> float:
        """Return how wide a word's chip is."""
        raise NotImplementedError

    def paint_word(self, painter: QPainter, room: QRectF, index: int, is_hovered: bool) -> None:
        """Paint a word's chip."""
        raise NotImplementedError

    def set_flow(self, texts: Sequence[str], segments: Sequence[int], joined: Sequence[bool] = ()) -> None:
        """Take the words in, after the child class has taken in what it knows of them.

        Args: joined: True for a word that follows the one before it without white space.
        """
        is_same = len(texts) == len(self.texts)
        self.texts, self.segments, self.joined = tuple(texts), tuple(segments), tuple(joined)
        self.place_anew()
        if not is_same:
            self.forget()
            self._walked = 0 if self.hasFocus() and self.texts else None
        self.describe()

    @property
    def is_empty(self) -> bool:
        return not self.texts

    def sizeHint(self) -> QSize:
        return QSize(400, self.height())

    def place(self) -> None:
        """Wrap all words at the width there is, and ask for the height that they need."""
        words = [(text, self.segments[i], self.word_width(i)) for i, text in enumerate(self.texts)]
        self._places = flow(words, float(self.canvas().width()), self.line, self.chip, self.joined)
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
        if self.current is None and self.texts and event.reason() != Qt.FocusReason.MouseFocusReason:
            first = next((i for i in range(len(self.texts)) if self.can_choose(i)), 0)
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
                paint_ring(painter, room.adjusted(-2, -2, 2, 2), 1.5)

    def _paint_letters(self, painter: QPainter) -> None:
        if 1 not in self.segments:
            return
        painter.setFont(theme.ui_font(11, bold=True))
        letters = ((0, self.tr("A"), "accent"), (1, self.tr("B"), "b"))
        for segment, letter, token in letters:
            if segment in self.segments:
                top = self._places[self.segments.index(segment)].top()
                painter.setPen(theme.current().color(token))
                painter.drawText(QRectF(0, top, LETTER, self.chip), Qt.AlignmentFlag.AlignVCenter, letter)


def word_after(event: QKeyEvent, here: int | None, places: Sequence[QRectF]) -> int | None:
    """Return the word that a key leads to; None: nowhere, as up from the first line.

    Left and right lead to the word before and after, up and down to the nearest of the next line.
    """
    key, last = Qt.Key(event.key()), len(places) - 1
    moves = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Home: -last - 1, Qt.Key.Key_End: last + 1}
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
    return places


def is_right_to_left(texts: Sequence[str]) -> bool:
    """Whether the first letter that has a direction runs to the left."""
    kinds = (unicodedata.bidirectional(letter) for text in texts for letter in text)
    return next((kind for kind in kinds if kind in ("L", "R", "AL")), "L") != "L"
