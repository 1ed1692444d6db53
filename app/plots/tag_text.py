"""A text whose words are given tags: words are selected by mouse or keys, and whoever hears that tags them.

A drag selects words, a click one word or a whole tag; arrow keys go from word to word, with Shift on to them.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QWidget

from app.look import theme
from app.plots.strokes import paint_chip, paint_edge
from app.plots.tagged_words import BETWEEN, TRUE, TaggedStretch, TaggedWordsPlot, tagged_words

LEAST_LINES = 2  # that are in view, however low the room is


class TagTextPlot(TaggedWordsPlot):
    """A text as high as it is, and no higher than there is room. `selected`: the first and last word."""

    selected = Signal(int, int)
    cleared = Signal()  # what is selected is to have no tag
    word, letters, pad = 24, 15, 1.0  # px

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent=parent)
        self.selection: tuple[int, int] | None = None
        self._anchor: int | None = None  # where the selection began
        self._is_dragging = False
        self._widths: dict[str, float] = {}

    def show_text(
        self,
        text: str,
        pieces: Sequence[tuple[int, int]],
        tags: Sequence[TaggedStretch],
        types: Sequence[str],
    ) -> None:
        """Show a text. Args: pieces: where its words stand. tags: that they have. types: all there are."""
        self.set_text(tagged_words(text, true=tags, pieces=pieces), types, (TRUE,))

    def select(self, first: int, last: int) -> None:
        """Select words by their places, also where these were selected in another text."""
        self.selection = None
        self._anchor, self._walked = first, last
        self._take(first, last)
        self.reveal(first)

    def let_go(self) -> bool:
        had = self.selection is not None
        self.selection = self._anchor = None
        self.canvas().update()
        return super().let_go() or had

    def place(self) -> None:
        super().place()
        height = self.line * LEAST_LINES + BETWEEN
        self.setMinimumHeight(min(height, self.canvas().minimumHeight() + BETWEEN))
        self.setMaximumHeight(self.canvas().minimumHeight() + BETWEEN)
        if self.selection is not None and self.selection[1] < len(self.words):
            self.reveal(self.selection[1])

    def word_width(self, index: int) -> float:
        one = self.words[index]
        if one.true is not None:
            return super().word_width(index)
        if one.text not in self._widths:  # to measure thousands of words anew takes long
            if not self._widths:
                self._metrics = QFontMetricsF(theme.ui_font(self.letters))
            self._widths[one.text] = self._metrics.horizontalAdvance(self.shown(index)) + 2 * self.pad
        return self._widths[one.text]

    # ---- selecting

    def _take(self, here: int, there: int) -> None:
        first, last = sorted((here, there))
        if self.selection != (first, last):
            self.selection = (first, last)
            self.canvas().update()
            self.selected.emit(first, last)

    def _stretch_at(self, place: int) -> tuple[int, int]:
        """Return the first and last word of the tag that a word is in, else the word twice."""
        first = last = place
        mark = self.words[place].true
        if mark is not None:
            while not (begins := self.words[first].true) or not begins.begins:
                first -= 1
            last = first + mark.num_words - 1
        return first, last

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        target = self.target_at(self._place_of(event))
        if event.button() == Qt.MouseButton.LeftButton and target is not None:
            self._is_dragging = True
            is_longer = event.modifiers() & Qt.KeyboardModifier.ShiftModifier and self._anchor is not None
            self._anchor = self._anchor if is_longer else target
            assert self._anchor is not None
            self._walked = target
            self._take(self._anchor, target)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        target = self.target_at(self._place_of(event))
        self.canvas().setCursor(Qt.CursorShape.IBeamCursor)
        if self._is_dragging and target is not None and self._anchor is not None:
            self._walked = target
            self._take(self._anchor, target)
            self.reveal(target)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        target, was_dragging = self.target_at(self._place_of(event)), self._is_dragging
        self._is_dragging = False
        if not was_dragging:
            super().mouseReleaseEvent(event)
        elif target is not None and target == self._anchor and self.selection == (target, target):
            self.select(*self._stretch_at(target))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        target = self.after(event)
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and not held:
            self.cleared.emit()
        elif target is None or held & ~Qt.KeyboardModifier.ShiftModifier:
            super().keyPressEvent(event)
        else:
            if not held or self._anchor is None:
                self._anchor = target if not held or self._walked is None else self._walked
            self.go_to(target)
            self.reveal(target)
            self._take(self._anchor, target)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if self.selection is not None:
            self._walked = self.selection[1]

    # ---- painting

    def paint_word(self, painter: QPainter, room: QRectF, index: int, is_hovered: bool) -> None:
        is_in = self.selection is not None and self.selection[0] <= index <= self.selection[1]
        if is_in and not self._saving:
            wide = self._selected_room(room, index)
            paint_chip(painter, wide, theme.current().accent_soft, radius=0.0)
        super().paint_word(painter, room, index, is_hovered and not is_in)
        if is_in and not self._saving:
            wide = self._selected_room(room, index)
            base = QRectF(wide.left(), wide.bottom() - 1, wide.width(), 0)
            paint_edge(painter, base, "accent", 2.0)

    def paint_walked(self, painter: QPainter, room: QRectF) -> None:
        super().paint_walked(painter, room.adjusted(0, self._above + 1, 0, 0))

    def _selected_room(self, room: QRectF, index: int) -> QRectF:
        """Return the room of a selected word, up to the next one if that is selected, too."""
        assert self.selection is not None
        right = room.right()
        if index < self.selection[1]:
            following = self.rect_of(index + 1)
            is_next = abs(following.top() - room.top()) < 1 and following.left() > room.left()
            right = following.left() if is_next else right
        return QRectF(room.left(), room.top() + self._above, right - room.left(), self.word)
