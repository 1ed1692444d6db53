"""Exact match and F1 of each question word: two bars a row, with how many questions there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.plots.figure import Numbers
from app.plots.scrolled import RowsFigure

THICK, THIN = 12.0, 5.0  # px of the bars of F1 and, in it, of exact match


def word_name(word: str) -> str:
    """Return how a question word is shown."""
    return words.translate("AnswerWordsPlot", "no question word") if word == "other" else word


class AnswerWordsPlot(RowsFigure):
    """One row a question word, the commonest first. Where it is a door, a click on one is told."""

    chosen = Signal(str)
    is_door = False
    row_height = 28

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.rows: list[tuple[str, float, float, int]] = []

    def set_scores(self, scores: Mapping[str, Sequence[float]]) -> None:
        """Show question word -> exact match, F1, how many questions."""
        self.rows = [(word, float(em), float(f1), int(num)) for word, (em, f1, num) in scores.items()]
        self.rows_changed()

    def clear(self) -> None:
        """Show nothing."""
        self.set_scores({})

    @property
    def num_rows(self) -> int:
        return len(self.rows)

    def numbers(self) -> Numbers:
        header: Numbers = [["question word", "exact match", "F1", "questions"]]
        return header + [list(row) for row in self.rows]

    def words_of(self, target: int) -> str:
        word, exact, f1, num = self.rows[target]
        text = self.tr("{word}: F1 {f1}, exact match {exact}, {questions}")
        questions = words.counted(num, self.tr("1 question"), self.tr("{count} questions"))
        return text.format(
            word=word_name(word), f1=words.share(f1), exact=words.share(exact), questions=questions
        )

    def can_choose(self, target: int) -> bool:
        return self.is_door

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        self.chosen.emit(self.rows[target][0])

    def summary(self) -> str:
        return "; ".join(map(self.words_of, range(min(10, len(self.rows)))))

    def sizeHint(self) -> QSize:
        return QSize(300, min(10, max(3, len(self.rows))) * self.row_height + 6)

    def minimumSizeHint(self) -> QSize:
        return QSize(180, 3 * self.row_height)

    def paint(self, painter: QPainter, area: QRectF) -> None:
        metrics, width = QFontMetricsF(painter.font()), self.canvas().width()
        said = [self.said(row) for row in range(self.num_rows)]
        names = [f"{word_name(word)} · {words.number(num)}" for word, _, _, num in self.rows]
        left = min(max(map(metrics.horizontalAdvance, names), default=0.0), 0.4 * width)
        right = max(map(metrics.horizontalAdvance, said), default=0.0)
        for row, room in self.rows_in(area):
            self._paint_row(painter, room, names[row], said[row], (left, right), self.rows[row][1:3])
        self.paint_mark(painter)

    def said(self, row: int) -> str:
        """Return a row's figures as they stand beside its bars."""
        _, exact, f1, _ = self.rows[row]
        return self.tr("F1 {f1} · exact {exact}").format(f1=words.share(f1, 0), exact=words.share(exact, 0))

    def _paint_row(
        self,
        painter: QPainter,
        room: QRectF,
        name: str,
        said: str,
        sides: tuple[float, float],
        scores: tuple[float, float],
    ) -> None:
        colors, metrics = theme.current(), QFontMetricsF(theme.ui_font())
        middle = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.setFont(theme.ui_font())
        painter.setPen(colors.color("text"))
        cut = metrics.elidedText(name, Qt.TextElideMode.ElideRight, sides[0])
        painter.drawText(QRectF(4, room.top(), sides[0], room.height()), middle, cut)
        painter.setPen(colors.color("muted"))
        painter.drawText(room.adjusted(0, 0, -4, 0), middle, said)
        painter.setPen(Qt.PenStyle.NoPen)
        long = max(8.0, room.width() - sum(sides) - 32)
        for share, height, color in (
            (1.0, THICK, "rail"),
            (scores[1], THICK, "accent_soft"),
            (scores[0], THIN, "accent"),
        ):
            painter.setBrush(colors.color(color))
            top = room.center().y() - height / 2
            painter.drawRoundedRect(QRectF(4 + sides[0] + 10, top, long * share, height), 3, 3)
