"""A passage as running text whose words are shaded by how likely the answer is, begins or ends there.

Colour never stands alone: the given answer is underlined, the right one dashed, and a word's number is said
under the pointer and by the keyboard.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt, QTimer
from PySide6.QtGui import QColor, QPainter, QPen

from app import words
from app.look import theme
from app.plots.figure import Numbers
from app.plots.strokes import CENTER, level_line, paint_edge
from app.plots.word_flow import ChipStyle, TextWord, WordsFigure

LINE, CHIP = 26, 23
ANSWER, RIGHT = "answer", "right"


@dataclass(frozen=True, slots=True)
class ShadedWord(TextWord):
    """value: 0 to 1. marks: ANSWER and RIGHT, where a word belongs to the given or to the right answer."""

    value: float = 0.0
    marks: frozenset[str] = frozenset()


class PassagePlot(WordsFigure[ShadedWord]):
    """The words of a passage."""

    line, chip, most_lines = LINE, CHIP, 9
    pad = 0.5
    radius = 3.0
    side = CENTER | Qt.TextFlag.TextDontClip

    def show_marked(self) -> None:
        """Bring the first word of an answer into view, once the words have their places."""
        QTimer.singleShot(0, self, self._reveal_marked)

    def _reveal_marked(self) -> None:
        marked = next((place for place, one in enumerate(self.words) if one.marks), None)
        if marked is not None:
            self.reveal(marked)

    def can_choose(self, target: int) -> bool:
        return False

    def numbers(self) -> Numbers:
        rows: Numbers = [["place", "word", "share", "answer", "right"]]
        for place, one in enumerate(self.words):
            rows.append([place, one.text, one.value, int(ANSWER in one.marks), int(RIGHT in one.marks)])
        return rows

    def summary(self) -> str:
        given, right = (self._marked(mark) for mark in (ANSWER, RIGHT))
        said = []
        if given:
            said.append(self.tr("Answer: {text}").format(text=given))
        if right:
            said.append(self.tr("True: {text}").format(text=right))
        return words.clauses(said)

    def _marked(self, mark: str) -> str:
        found = ""
        for one in self.words:
            if mark in one.marks:
                found += one.text if one.joined or not found else f" {one.text}"
        return words.shorten(found, 200)

    def words_of(self, target: int) -> str:
        one = self.words[target]
        return f"{one.text} · {one.note}" if one.note else one.text

    def shown(self, index: int) -> str:
        return self.words[index].text

    def is_bold(self, index: int) -> bool:
        return ANSWER in self.words[index].marks

    def look_of(self, index: int, is_hovered: bool) -> ChipStyle:
        value, colors = self.words[index].value, theme.current()
        if value <= 0.005:
            return ChipStyle()
        return ChipStyle(theme.mix(colors.card, colors.accent, 0.06 + 0.74 * min(1.0, value)))

    def paint_word(self, painter: QPainter, room: QRectF, index: int, is_hovered: bool) -> None:
        super().paint_word(painter, room, index, is_hovered)
        colors, marks = theme.current(), self.words[index].marks
        lines = ((ANSWER, colors.accent, Qt.PenStyle.SolidLine), (RIGHT, colors.fine, Qt.PenStyle.DashLine))
        for place, (mark, color, style) in enumerate(lines):
            if mark in marks:
                painter.setPen(QPen(QColor(color), 2, style))
                level_line(painter, room.left(), room.right() + 2, room.bottom() + 2 * place)
        if is_hovered:
            paint_edge(painter, room.adjusted(0.5, 0.5, -0.5, -0.5), radius=3)
