"""What two sides knew, a row a round: what was hidden, what each said, and a tick or a cross before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.look.labels import fitting
from app.plots.figure import Numbers
from app.plots.scrolled import RowsFigure

ROW, MARK = 26, 18.0
SHARES = (0.05, 0.43, 0.16, 0.16, 0.20)  # of the width: number, sentence, hidden, yours, the model's


@dataclass(frozen=True, slots=True)
class Tallied:
    """A round that was played. shares: what the model held its own guess at, and what stood there; 0 to 1."""

    sentence: str
    hidden: str
    yours: str
    is_yours_right: bool
    model: str
    is_model_right: bool
    shares: tuple[float, float]


class TallyPlot(RowsFigure):
    """Rounds under each other."""

    row_height = ROW
    head = ROW

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.rounds: tuple[Tallied, ...] = ()

    def set_rounds(self, rounds: Sequence[Tallied]) -> None:
        """Show rounds."""
        self.rounds = tuple(rounds)
        self.rows_changed()

    @property
    def num_rows(self) -> int:
        return len(self.rounds)

    def numbers(self) -> Numbers:
        rows: Numbers = [
            ["sentence", "hidden", "yours", "right", "model", "right", "its share", "of the hidden"]
        ]
        for one in self.rounds:
            right = [int(one.is_yours_right), int(one.is_model_right)]
            rows.append(
                [
                    one.sentence,
                    one.hidden,
                    one.yours,
                    right[0],
                    one.model,
                    right[1],
                    one.shares[0],
                    one.shares[1],
                ]
            )
        return rows

    def words_of(self, target: int) -> str:
        one = self.rounds[target]
        said = self.tr("{sentence} Hidden: {hidden}. You: {yours}, {mine}. The model: {model}, {its}.")
        verdict = {True: self.tr("right"), False: self.tr("wrong")}
        return said.format(
            sentence=one.sentence,
            hidden=one.hidden,
            yours=one.yours or "–",
            mine=verdict[one.is_yours_right],
            model=one.model,
            its=verdict[one.is_model_right],
        )

    def sizeHint(self) -> QSize:
        return QSize(480, self.head + ROW * 4)

    def paint(self, painter: QPainter, area: QRectF) -> None:
        colors = theme.current()
        heads = ("", "", self.tr("hidden"), self.tr("you"), self.tr("the model"))
        painter.setFont(theme.ui_font(11))
        painter.setPen(colors.color("muted"))
        for room, text in zip(self._cells(QRectF(0, 0, self.canvas().width(), ROW)), heads, strict=True):
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, text)
        for row, room in self.rows_in(area):
            self._paint_round(painter, row, room)
        self.paint_mark(painter)

    def _cells(self, room: QRectF) -> list[QRectF]:
        left, found = room.left() + 6, []
        for share in SHARES:
            width = (room.width() - 12) * share
            found.append(QRectF(left, room.top(), width - 6, room.height()))
            left += width
        return found

    def _paint_round(self, painter: QPainter, row: int, room: QRectF) -> None:
        colors, one = theme.current(), self.rounds[row]
        number, sentence, hidden, yours, model = self._cells(room)
        self._paint_text(painter, number, words.number(row + 1), "muted")
        self._paint_text(painter, sentence, one.sentence, "text")
        self._paint_text(painter, hidden, one.hidden, "text", is_strong=True)
        share = words.probability(one.shares[0])
        for cell, said, is_right in (
            (yours, one.yours or "–", one.is_yours_right),
            (model, f"{one.model} · {share}", one.is_model_right),
        ):
            icon = theme.icon("fine" if is_right else "close", "fine" if is_right else "muted")
            icon.paint(painter, QRectF(cell.left(), cell.center().y() - 7, 14, 14).toRect())
            self._paint_text(painter, cell.adjusted(MARK, 0, 0, 0), said, "text" if is_right else "muted")
        painter.setPen(colors.color("line"))
        painter.drawLine(room.bottomLeft(), room.bottomRight())

    def _paint_text(
        self, painter: QPainter, room: QRectF, text: str, ink: str, is_strong: bool = False
    ) -> None:
        painter.setFont(theme.ui_font(12, bold=is_strong))
        painter.setPen(theme.current().color(ink))
        shown = fitting(text, QFontMetricsF(painter.font()), room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, shown)
