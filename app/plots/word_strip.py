"""A text whose words are shaded by a number each: how surprising they are, or which way they pull an answer.

Colour never stands alone: the number stands under each word, with its sign.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QWidget

from app.look import theme
from app.plots.figure import Numbers
from app.plots.strokes import CENTER, write
from app.plots.word_flow import ChipStyle, TextWord, WordsFigure
from app.words import clauses

CHIP = 24
UNDER = 15  # px for the number


@dataclass(frozen=True, slots=True)
class RatedWord(TextWord):
    """A word and its number; NaN: it has none. said: the number as it is written under the word."""

    value: float = math.nan
    said: str = ""


class WordStrip(WordsFigure[RatedWord]):
    """The words of a text, or of A and B. Signed numbers: accent above 0, B's colour below.

    Args: what: the number's name, as a column of the saved table. scale: the number that has the full colour;
    None: the largest of the text, but at least `least`.
    """

    line, chip, most_lines = CHIP + UNDER + 7, CHIP, 8

    def __init__(
        self,
        title: str = "",
        *,
        what: str = "value",
        scale: float | None = None,
        least: float = 0.0,
        most_lines: int = 0,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(title, most_lines=most_lines, parent=parent)
        self.what, self.scale, self.least = what, scale, least

    def set_words(self, words: Sequence[RatedWord]) -> None:
        self.is_dim = False
        super().set_words(words)

    def share_of(self, index: int) -> float:
        """Return how much colour a word has, -1 to 1."""
        known = [abs(word.value) for word in self.words if math.isfinite(word.value)]
        full = self.scale or max(self.least, max(known, default=0.0)) or 1.0
        value = self.words[index].value
        return max(-1.0, min(1.0, value / full)) if math.isfinite(value) else 0.0

    def ground_of(self, index: int) -> str:
        """Return the colour behind a word: from the card's own to the full one."""
        colors, share = theme.current(), self.share_of(index)
        full = colors.b if share < 0 else colors.accent
        return theme.mix(colors.card, full, 0.06 + 0.74 * abs(share))

    def numbers(self) -> Numbers:
        rows: Numbers = [["place", "text", "word", self.what]]
        for place, word in enumerate(self.words):
            value = word.value if math.isfinite(word.value) else ""
            rows.append([place, "B" if word.segment else "A", word.text, value])
        return rows

    def summary(self) -> str:
        known = [word for word in self.words if math.isfinite(word.value)]
        most = sorted(known, key=lambda word: -abs(word.value))[:5]
        return clauses(f"{word.text} {word.said}" for word in most)

    def words_of(self, target: int) -> str:
        word = self.words[target]
        return " · ".join(part for part in (word.text, word.said, word.note) if part)

    def word_width(self, index: int) -> float:
        under = QFontMetricsF(theme.ui_font(11)).horizontalAdvance(self.words[index].said)
        return max(super().word_width(index), under + 2)

    def look_of(self, index: int, is_hovered: bool) -> ChipStyle:
        ground = self.ground_of(index)
        return ChipStyle(ground, theme.current().text if is_hovered else ground)

    def paint_word(self, painter: QPainter, room: QRectF, index: int, is_hovered: bool) -> None:
        painter.setOpacity(0.55 if self.is_dim and not self._saving else 1.0)
        super().paint_word(painter, room, index, is_hovered)
        under = QRectF(room.left() - 4, room.bottom() + 1, room.width() + 8, UNDER)
        write(painter, under, self.words[index].said, "muted", size=11, side=CENTER)
        painter.setOpacity(1.0)
