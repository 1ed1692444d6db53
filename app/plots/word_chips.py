"""A text whose words can be hidden: a click makes a word a [MASK], another one brings it back.

Colour never stands alone: a hidden word reads [MASK] and carries the number of its gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.plots.figure import Numbers
from app.plots.word_flow import WordFlow
from engine.text.vocabulary import MASK

PAD = 8.0
BADGE = 12.0  # px for a gap's number


@dataclass(frozen=True, slots=True)
class Chip:
    """A word or piece. gap: the number of the gap it is hidden in, 0 while it is seen.

    note: more to say of it under the pointer. is_special: it cannot be hidden, as [CLS].
    """

    text: str
    segment: int
    gap: int = 0
    note: str = ""
    is_special: bool = False

    @property
    def is_typed_mask(self) -> bool:
        """Whether the text itself has [MASK] here, so that there is no word to bring back."""
        return self.gap > 0 and self.text == MASK


class WordChips(WordFlow):
    """The words of A, then those of B; `word_chosen` tells which is to be hidden or brought back."""

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, line=33, chip=26, most_lines=5, parent=parent)
        self.chips: tuple[Chip, ...] = ()
        self.can_hide = True

    def set_chips(self, chips: Sequence[Chip], *, can_hide: bool = True) -> None:
        """Show these words. Args: can_hide: whether there is a model that could guess them."""
        self.chips, self.can_hide = tuple(chips), can_hide
        self.set_flow([chip.text for chip in chips], [chip.segment for chip in chips])

    def clear(self) -> None:
        """Show nothing."""
        self.set_chips([])

    def summary(self) -> str:
        return " ".join(MASK if chip.gap else chip.text for chip in self.chips)

    def can_choose(self, target: int) -> bool:
        return self.can_hide and not (self.chips[target].is_special or self.chips[target].is_typed_mask)

    def numbers(self) -> Numbers:
        rows: Numbers = [["place", "text", "word", "gap"]]
        for place, chip in enumerate(self.chips):
            rows.append([place, "B" if chip.segment else "A", chip.text, chip.gap or ""])
        return rows

    def words_of(self, target: int) -> str:
        chip = self.chips[target]
        if chip.is_special:
            said = self.tr("{word}: a mark of the model's own, not a word of the text")
        elif chip.is_typed_mask:
            said = self.tr("Gap {number}: written as {word} in the text; edit the text to fill it")
        elif chip.gap:
            said = self.tr("Gap {number}: was {word}; click to bring it back")
        else:
            said = self.tr("{word}: click to mask it") if self.can_hide else "{word}"
        said = said.format(word=words.shorten(chip.text, 40), number=words.number(chip.gap))
        return f"{said} · {chip.note}" if chip.note else said

    def word_width(self, index: int) -> float:
        chip = self.chips[index]
        if chip.gap:
            return (
                QFontMetricsF(theme.ui_font(bold=True)).horizontalAdvance(MASK) + 2 * PAD + _badge(chip.gap)
            )
        width = QFontMetricsF(theme.ui_font()).horizontalAdvance(_short(chip.text))
        return width + 2 * (PAD if len(chip.text) > 1 else PAD - 2)

    def paint_word(self, painter: QPainter, room: QRectF, index: int, is_hovered: bool) -> None:
        chip, colors = self.chips[index], theme.current()
        strong, soft = (colors.b, colors.b_soft) if chip.segment else (colors.accent, colors.accent_soft)
        if chip.is_special:
            ground, ink, edge = colors.card, colors.muted, colors.line
        elif chip.gap:
            ground, ink, edge = strong, colors.on_accent, strong
        else:
            ground, ink = theme.mix(colors.card, soft, 0.75), colors.text
            edge = strong if is_hovered else theme.mix(colors.card, soft, 0.75)
        painter.setPen(QPen(QColor(edge), 1))
        painter.setBrush(QColor(ground))
        painter.drawRoundedRect(room.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        painter.setPen(QColor(ink))
        if chip.gap:
            self._paint_gap(painter, room, chip)
            return
        painter.setFont(theme.ui_font())
        painter.drawText(room, Qt.AlignmentFlag.AlignCenter, _short(chip.text))

    def _paint_gap(self, painter: QPainter, room: QRectF, chip: Chip) -> None:
        painter.setFont(theme.ui_font(10, bold=True))
        middle = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(room.adjusted(PAD - 1, -7, 0, -7), middle, str(chip.gap))
        painter.setFont(theme.ui_font(bold=True))
        painter.drawText(room.adjusted(PAD + _badge(chip.gap) - 2, 0, 0, 0), middle, MASK)


def _badge(gap: int) -> float:
    """Return the room that a gap's number takes beside its [MASK]."""
    return max(BADGE, QFontMetricsF(theme.ui_font(10, bold=True)).horizontalAdvance(str(gap)) + 5)


def _short(text: str) -> str:
    return words.shorten(text, 40) or "␣"
