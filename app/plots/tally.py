"""What two sides knew, a row a round: what was hidden, what each said, and a tick or a cross before it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter

from app import words
from app.look import theme
from app.look.columns import CUT_PARTS, Column, WordsCell, of, row_itself
from app.plots.columns import ColumnsFigure
from app.plots.figure import Numbers

SHARES = (0.05, 0.43, 0.16, 0.16, 0.20)  # of the width: number, sentence, hidden, yours, the model's
SMALL = 12  # px of the font
EDGE, GAP = 6.0, 6.0


@dataclass(frozen=True, slots=True)
class PlayedRound:
    """A round that was played. number: from 1. shares: what the model held its own guess at, and what stood
    there; 0 to 1.
    """

    number: int
    sentence: str
    hidden: str
    yours: str
    is_yours_right: bool
    model: str
    is_model_right: bool
    shares: tuple[float, float]


class TallyPlot(ColumnsFigure):
    """Rounds under each other."""

    head = row_height = 26
    head_size = 11
    head_rim, has_line = (0.0, 0.0), False
    edges, gap = (EDGE, EDGE), GAP

    def numbers(self) -> Numbers:
        heads = ["sentence", "hidden", "yours", "right", "model", "right", "its share", "of the hidden"]
        said = of("sentence", "hidden", "yours", "is_yours_right", "model", "is_model_right", "shares")
        found: Numbers = [[*heads]]
        for *cells, shares in map(said, self.rows):
            found.append([*(int(cell) if isinstance(cell, bool) else cell for cell in cells), *shares])
        return found

    def words_of(self, target: int) -> str:
        one = self.rows[target]
        said = self.tr("{sentence} Masked: {hidden}. You: {yours}, {mine}. The model: {model}, {its}.")
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
        return QSize(480, self.head + self.row_height * 4)

    def matters(self, place: int) -> bool:
        return True  # what was hidden

    def columns(self) -> tuple[Column, ...]:
        widths = [(self.canvas().width() - 2 * EDGE) * share - GAP for share in SHARES]
        plain = partial(Column, cut=CUT_PARTS, size=SMALL)
        return (
            plain("", of("number"), words.number, widths[0], ink="muted", bolds=False),
            plain("", of("sentence"), str, widths[1], bolds=False),
            plain(self.tr("hidden"), of("hidden"), str, widths[2]),
            Column(self.tr("you"), row_itself, _yours, widths[3]),
            Column(self.tr("the model"), row_itself, _models, widths[4]),
        )

    def paint_ground(self, painter: QPainter, place: int, room: QRectF) -> None:
        painter.setPen(theme.current().color("line"))
        painter.drawLine(room.bottomLeft(), room.bottomRight())


def _yours(one: PlayedRound) -> WordsCell:
    return _judged(one.yours or "–", one.is_yours_right)


def _models(one: PlayedRound) -> WordsCell:
    return _judged(f"{one.model} · {words.probability(one.shares[0])}", one.is_model_right)


def _judged(said: str, is_right: bool) -> WordsCell:
    icon = ("fine", "fine") if is_right else ("close", "muted")
    return WordsCell(said, "text" if is_right else "muted", size=SMALL, cut=CUT_PARTS, icon=icon)
