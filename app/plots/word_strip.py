"""A text whose words are shaded by a number each: how surprising they are, or which way they pull an answer.

Colour never stands alone: the number stands under each word, with its sign.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.plots.figure import Numbers, ink_on
from app.plots.word_flow import WordFlow

PAD = 7.0
CHIP = 24
UNDER = 15  # px for the number


@dataclass(frozen=True, slots=True)
class Rated:
    """A word and its number; NaN: it has none. said: the number as it is written under the word."""

    text: str
    segment: int
    value: float
    said: str = ""
    note: str = ""  # more, under the pointer


class WordStrip(WordFlow):
    """The words of a text, or of A and B. Signed numbers: accent above 0, B's colour below.

    Args: what: the number's name, as a column of the saved table. scale: the number that has the full colour;
    None: the largest of the text, but at least `least`.
    """

    def __init__(
        self,
        title: str = "",
        *,
        what: str = "value",
        is_signed: bool = False,
        scale: float | None = None,
        least: float = 0.0,
        most_lines: int = 8,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(title, line=CHIP + UNDER + 7, chip=CHIP, most_lines=most_lines, parent=parent)
        self.what, self.is_signed, self.scale, self.least = what, is_signed, scale, least
        self.rated: tuple[Rated, ...] = ()
        self.is_dim = False

    def set_words(self, rated: Sequence[Rated]) -> None:
        """Show these words."""
        self.rated, self.is_dim = tuple(rated), False
        self.set_flow([word.text for word in rated], [word.segment for word in rated])

    def set_dim(self, dim: bool) -> None:
        """Say that a newer answer is on its way."""
        if dim != self.is_dim:
            self.is_dim = dim
            self.canvas().update()

    def clear(self) -> None:
        """Show nothing."""
        self.set_words([])

    def share_of(self, index: int) -> float:
        """Return how much colour a word has, -1 to 1."""
        known = [abs(word.value) for word in self.rated if math.isfinite(word.value)]
        full = self.scale or max(self.least, max(known, default=0.0)) or 1.0
        value = self.rated[index].value
        return max(-1.0, min(1.0, value / full)) if math.isfinite(value) else 0.0

    def ground_of(self, index: int) -> str:
        """Return the colour behind a word: from the card's own to the full one."""
        colors, share = theme.current(), self.share_of(index)
        full = colors.b if share < 0 else colors.accent
        return theme.mix(colors.card, full, 0.06 + 0.74 * abs(share))

    def numbers(self) -> Numbers:
        rows: Numbers = [["place", "text", "word", self.what]]
        for place, word in enumerate(self.rated):
            value = word.value if math.isfinite(word.value) else ""
            rows.append([place, "B" if word.segment else "A", word.text, value])
        return rows

    def summary(self) -> str:
        known = [word for word in self.rated if math.isfinite(word.value)]
        most = sorted(known, key=lambda word: -abs(word.value))[:5]
        return "; ".join(f"{word.text} {word.said}" for word in most)

    def words_of(self, target: int) -> str:
        word = self.rated[target]
        return " · ".join(part for part in (word.text, word.said, word.note) if part)

    def word_width(self, index: int) -> float:
        word = self.rated[index]
        text = QFontMetricsF(theme.ui_font()).horizontalAdvance(_short(word.text)) + 2 * PAD
        return max(text, QFontMetricsF(theme.ui_font(11)).horizontalAdvance(word.said) + 2)

    def paint_word(self, painter: QPainter, room: QRectF, index: int, is_hovered: bool) -> None:
        word, colors = self.rated[index], theme.current()
        painter.setOpacity(0.55 if self.is_dim and not self._saving else 1.0)
        ground = self.ground_of(index)
        painter.setPen(QPen(QColor(colors.text if is_hovered else ground), 1))
        painter.setBrush(QColor(ground))
        painter.drawRoundedRect(room.adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)
        painter.setFont(theme.ui_font())
        painter.setPen(ink_on(ground))
        painter.drawText(room, Qt.AlignmentFlag.AlignCenter, _short(word.text))
        painter.setFont(theme.ui_font(11))
        painter.setPen(colors.color("muted"))
        under = QRectF(room.left() - 4, room.bottom() + 1, room.width() + 8, UNDER)
        painter.drawText(under, Qt.AlignmentFlag.AlignCenter, word.said)
        painter.setOpacity(1.0)


def _short(text: str) -> str:
    return words.shorten(text, 40)
