"""The pieces of a text one after the other, wrapped: those of a word in one shade, what is unknown in a frame
of dashes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from app.look import theme
from app.plots.figure import Numbers
from app.plots.word_flow import ChipStyle, TextWord, WordsFigure


@dataclass(frozen=True, slots=True)
class FlowPiece(TextWord):
    """A piece. span: the characters that it is from. shade: 0 and 1 in turn, word by word."""

    span: str = field(default="", kw_only=True)
    id: int = field(default=-1, kw_only=True)
    shade: int = field(default=0, kw_only=True)
    is_unknown: bool = field(default=False, kw_only=True)


class PieceFlow(WordsFigure[FlowPiece]):
    """A chip a piece; nothing is chosen by a click."""

    line, chip = 26, 21
    letters = 12
    pad = 4.0
    radius = 4.0
    most_lines = 9

    def can_choose(self, target: int) -> bool:
        return False

    def numbers(self) -> Numbers:
        rows: Numbers = [["place", "piece", "id", "characters", "known"]]
        for place, one in enumerate(self.words):
            rows.append([place, one.text, one.id, one.span, "no" if one.is_unknown else "yes"])
        return rows

    def words_of(self, target: int) -> str:
        one = self.words[target]
        said = (
            self.tr("{piece}, id {id}: the vocabulary cannot spell “{span}”")
            if one.is_unknown
            else self.tr("{piece}, id {id}, from “{span}”")
        )
        return said.format(piece=one.text, id=one.id, span=one.span)

    def summary(self) -> str:
        return " ".join(one.text for one in self.words[:60])

    def look_of(self, index: int, is_hovered: bool) -> ChipStyle:
        one, colors = self.words[index], theme.current()
        if one.is_unknown:
            return ChipStyle(colors.card, colors.wrong, colors.wrong, 1.2, is_dashed=True)
        strong, soft = (colors.b, colors.b_soft) if one.segment else (colors.accent, colors.accent_soft)
        ground = theme.mix(colors.card, soft, 1.0 if one.shade else 0.55)
        return ChipStyle(ground, strong if is_hovered else ground, colors.text)
