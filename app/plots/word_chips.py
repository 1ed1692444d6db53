"""A text whose words can be hidden: a click makes a word a [MASK], another one brings it back.

Colour never stands alone: a hidden word reads [MASK] and carries the number of its gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from app import words
from app.look import theme
from app.plots.figure import Numbers
from app.plots.strokes import write
from app.plots.word_flow import ChipStyle, TextWord, WordsFigure
from engine.text.vocabulary import MASK

PAD = 8.0
BADGE = 12.0  # px for a gap's number


@dataclass(frozen=True, slots=True)
class MaskableWord(TextWord):
    """gap: the number of the gap a word is hidden in, 0 while it is seen.

    is_special: it cannot be hidden, as [CLS].
    """

    gap: int = 0
    is_special: bool = False

    @property
    def is_typed_mask(self) -> bool:
        """Whether the text itself has [MASK] here, so that there is no word to bring back."""
        return self.gap > 0 and self.text == MASK


class WordChips(WordsFigure[MaskableWord]):
    """The words of A, then those of B; `word_chosen` tells which is to be hidden or brought back."""

    pad = PAD
    radius = 6.0
    can_hide = True

    def set_chips(self, chips: Sequence[MaskableWord], *, can_hide: bool = True) -> None:
        """Show these words. Args: can_hide: whether there is a model that could guess them."""
        self.can_hide = can_hide
        self.set_words(chips)

    def summary(self) -> str:
        return " ".join(MASK if chip.gap else chip.text for chip in self.words)

    def can_choose(self, target: int) -> bool:
        return self.can_hide and not (self.words[target].is_special or self.words[target].is_typed_mask)

    def numbers(self) -> Numbers:
        rows: Numbers = [["place", "text", "word", "gap"]]
        for place, chip in enumerate(self.words):
            rows.append([place, "B" if chip.segment else "A", chip.text, chip.gap or ""])
        return rows

    def words_of(self, target: int) -> str:
        chip = self.words[target]
        if chip.is_special:
            said = self.tr("{word}: a special token of the model, not a word of the text")
        elif chip.is_typed_mask:
            said = self.tr("Mask {number}: written as {word} in the text. Edit the text to fill it")
        elif chip.gap:
            said = self.tr("Mask {number}: original {word}. Click to bring it back")
        else:
            said = self.tr("{word}: click to mask it") if self.can_hide else "{word}"
        said = said.format(word=words.shorten(chip.text, 40), number=words.number(chip.gap))
        return f"{said} · {chip.note}" if chip.note else said

    def shown(self, index: int) -> str:
        return MASK if self.words[index].gap else super().shown(index) or "␣"

    def is_bold(self, index: int) -> bool:
        return self.words[index].gap > 0

    def word_width(self, index: int) -> float:
        chip, width = self.words[index], super().word_width(index)
        if chip.gap:
            return width + _badge(chip.gap)
        return width - (0 if len(chip.text) > 1 else 4)

    def look_of(self, index: int, is_hovered: bool) -> ChipStyle:
        chip, colors = self.words[index], theme.current()
        strong, soft = (colors.b, colors.b_soft) if chip.segment else (colors.accent, colors.accent_soft)
        if chip.is_special:
            return ChipStyle(colors.card, colors.line, colors.muted)
        if chip.gap:
            return ChipStyle(strong, strong, colors.on_accent)
        ground = theme.mix(colors.card, soft, 0.75)
        return ChipStyle(ground, strong if is_hovered else ground, colors.text)

    def paint_word(self, painter: QPainter, room: QRectF, index: int, is_hovered: bool) -> None:
        gap, look = self.words[index].gap, self.look_of(index, is_hovered)
        if not gap:
            super().paint_word(painter, room, index, is_hovered)
            return
        self.paint_ground(painter, room, look)
        write(painter, room.adjusted(PAD - 1, -7, 0, -7), str(gap), QColor(look.ink), size=10, bold=True)
        write(painter, room.adjusted(PAD + _badge(gap) - 2, 0, 0, 0), MASK, QColor(look.ink), bold=True)


def _badge(gap: int) -> float:
    """Return the room that a gap's number takes beside its [MASK]."""
    return max(BADGE, QFontMetricsF(theme.ui_font(10, bold=True)).horizontalAdvance(str(gap)) + 5)
