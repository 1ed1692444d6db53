"""A passage as running text whose words are shaded by how likely the answer is, begins or ends there.

Colour never stands alone: the given answer is underlined, the right one dashed, and a word's number is said
under the pointer and by the keyboard.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt, QTimer, Slot
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.plots.figure import Numbers, ink_on
from app.plots.word_flow import WordFlow

PAD = 0.5
LINE, CHIP = 26, 23
ANSWER, RIGHT = "answer", "right"


@dataclass(frozen=True, slots=True)
class Shaded:
    """A word. value: 0 to 1. joined: it follows the one before it without white space.

    marks: ANSWER and RIGHT, where it belongs to the given or to the right answer. note: more to say of it.
    """

    text: str
    value: float = 0.0
    joined: bool = False
    marks: frozenset[str] = frozenset()
    note: str = ""


class PassagePlot(WordFlow):
    """The words of a passage. Args: what: the shares' name, as a column of the saved table."""

    def __init__(
        self, title: str = "", *, what: str = "share", most_lines: int = 9, parent: QWidget | None = None
    ) -> None:
        super().__init__(title, line=LINE, chip=CHIP, most_lines=most_lines, parent=parent)
        self.what = what
        self.shaded: tuple[Shaded, ...] = ()

    def set_words(self, shaded: Sequence[Shaded]) -> None:
        """Show a passage."""
        self.shaded = tuple(shaded)
        self.set_flow([one.text for one in shaded], [0] * len(shaded), [one.joined for one in shaded])

    def clear(self) -> None:
        """Show nothing."""
        self.set_words([])

    def show_marked(self) -> None:
        """Bring the first word of an answer into view, once the words have their places."""
        QTimer.singleShot(0, self, self._reveal_marked)

    @Slot()
    def _reveal_marked(self) -> None:
        marked = next((place for place, one in enumerate(self.shaded) if one.marks), None)
        if marked is not None:
            self.reveal(marked)

    def can_choose(self, target: int) -> bool:
        return False

    def numbers(self) -> Numbers:
        rows: Numbers = [["place", "word", self.what, "answer", "right"]]
        for place, one in enumerate(self.shaded):
            rows.append([place, one.text, one.value, int(ANSWER in one.marks), int(RIGHT in one.marks)])
        return rows

    def summary(self) -> str:
        given, right = (self._marked(mark) for mark in (ANSWER, RIGHT))
        said = []
        if given:
            said.append(self.tr("Answer: {text}").format(text=given))
        if right:
            said.append(self.tr("Right: {text}").format(text=right))
        return "; ".join(said)

    def _marked(self, mark: str) -> str:
        found = ""
        for one in self.shaded:
            if mark in one.marks:
                found += one.text if one.joined or not found else f" {one.text}"
        return words.shorten(found, 200)

    def words_of(self, target: int) -> str:
        one = self.shaded[target]
        return f"{one.text} · {one.note}" if one.note else one.text

    def word_width(self, index: int) -> float:
        font = theme.ui_font(bold=ANSWER in self.shaded[index].marks)
        return QFontMetricsF(font).horizontalAdvance(self.shaded[index].text) + 2 * PAD

    def paint_word(self, painter: QPainter, room: QRectF, index: int, is_hovered: bool) -> None:
        one, colors = self.shaded[index], theme.current()
        ground = colors.card
        if one.value > 0.005:
            ground = theme.mix(colors.card, colors.accent, 0.06 + 0.74 * min(1.0, one.value))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(ground))
            painter.drawRoundedRect(room, 3, 3)
        painter.setFont(theme.ui_font(bold=ANSWER in one.marks))
        painter.setPen(ink_on(ground))
        painter.drawText(room, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextDontClip, one.text)
        style = {ANSWER: Qt.PenStyle.SolidLine, RIGHT: Qt.PenStyle.DashLine}
        for place, (mark, color) in enumerate(((ANSWER, colors.accent), (RIGHT, colors.fine))):
            if mark in one.marks:
                bottom = room.bottom() + 2 * place
                painter.setPen(QPen(QColor(color), 2, style[mark]))
                painter.drawLine(QPointF(room.left(), bottom), QPointF(room.right() + 2, bottom))
        if is_hovered:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(colors.color("text"), 1))
            painter.drawRoundedRect(room.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
