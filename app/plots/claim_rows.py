"""Claims, a row each: what is said, a dot with its interval around none, the difference, and the verdict.

A filled dot is a difference that was decided, a hollow one is not. An interval that goes on beyond the scale
ends in an arrow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QScrollArea

from app import words
from app.look import theme
from app.look.columns import RIGHT, WHOLE, Cell, Column, Row, WordsCell, color_of, of, row_itself
from app.plots.axes import AXIS_SIZE
from app.plots.columns import ColumnsFigure, Span
from app.plots.strokes import CENTER, level_line, paint_edge, upright_line, write
from engine.train.metrics import rounded

DOT, CAP, ARROW = 4.0, 4.0, 7.0  # px
SCALE_WIDTH, SCALE_SHARE, CHIP_PAD = 170.0, 0.22, 8.0  # px, of all of the width, and px
ROOMY, ROOMY_SCALE = 1250.0, 380.0  # px of the picture with room to spare, and of the scale there
DIGITS = 3
STEPS = (0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0)  # ends that a scale may have
LEAST_MEASURE, LEAST_INTERVAL = 900.0, 780.0  # px of the picture, without which a column is left out
FOR, AGAINST = "fine", "wrong"


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim. said: in short. whole: all that is said of it. ink: of the verdict, "fine", "wrong" or
    "muted", which is hollow. is_bare: there is none to speak of.
    """

    said: str
    measure: str
    difference: float
    low: float
    high: float
    verdict: str
    ink: str
    whole: str
    is_bare: bool = False

    @property
    def interval(self) -> str:
        """Its ends in words."""
        return f"{signed(self.low)} … {signed(self.high)}"


def signed(x: float) -> str:
    """Return a difference with its sign."""
    return ("+" if rounded(x, DIGITS) > 0 else "") + words.decimal(x, DIGITS)


@dataclass(frozen=True, slots=True)
class _Difference(Cell):
    row: ClaimRow
    end: float  # of the scale, on both sides of none

    def paint(self, painter: QPainter, room: QRectF) -> None:
        middle, ink = room.center().y(), color_of(self.row.ink)
        painter.setPen(QPen(color_of("muted"), 1))
        upright_line(painter, _x_of(0.0, self.end, room), room.top(), room.bottom())
        painter.setPen(QPen(ink, 1.6))
        ends = [max(-self.end, min(self.end, one)) for one in (self.row.low, self.row.high)]
        left, right = (_x_of(one, self.end, room) for one in ends)
        level_line(painter, left, right, middle)
        for value, x in ((self.row.low, left), (self.row.high, right)):
            if abs(value) <= self.end:
                upright_line(painter, x, middle - CAP, middle + CAP)
            else:
                _paint_arrow(painter, x, middle, math.copysign(1.0, value), self.row.ink)
        painter.setPen(QPen(ink, 1.6))
        painter.setBrush(color_of("card") if self.row.ink == "muted" else ink)
        if abs(self.row.difference) <= self.end:
            x = _x_of(self.row.difference, self.end, room)
            painter.drawEllipse(QPointF(x, middle), DOT, DOT)
        painter.setBrush(Qt.BrushStyle.NoBrush)


def _x_of(value: float, end: float, room: QRectF) -> float:
    inner = room.adjusted(ARROW, 0, -ARROW, 0)
    return inner.center().x() + inner.width() / 2 * value / end


def _paint_arrow(painter: QPainter, x: float, y: float, way: float, ink: str) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color_of(ink))
    corners = [QPointF(x + way * ARROW, y), QPointF(x, y - CAP - 1), QPointF(x, y + CAP + 1)]
    painter.drawPolygon(QPolygonF(corners))
    painter.setBrush(Qt.BrushStyle.NoBrush)


@dataclass(frozen=True, slots=True)
class _Chip(Cell):
    row: ClaimRow

    def paint(self, painter: QPainter, room: QRectF) -> None:
        if self.row.is_bare:
            WordsCell(self.row.verdict, "muted").paint(painter, room.adjusted(CHIP_PAD, 0, 0, 0))
            return
        chip = QRectF(room.left(), room.center().y() - 11, room.width() - 1, 22)
        style = Qt.PenStyle.DashLine if self.row.ink == "muted" else Qt.PenStyle.SolidLine
        paint_edge(painter, chip, self.row.ink, 1.2, 11, style)
        is_bold = self.row.ink != "muted"
        write(painter, chip, self.row.verdict, self.row.ink, size=12, bold=is_bold, side=CENTER)


class ClaimRowsPlot(ColumnsFigure):
    """Claims in the order in which they are given; what does not fit is left to the hover."""

    rim = 0
    head, row_height = 40, 34
    head_rim = (0.0, 18.0)
    gap = 11.0
    edges = (8.0, 4.0)
    most_summed_up = 20

    def reveal(self, target: int) -> None:
        """Bring a row into view in what scrolls all of it."""
        super().reveal(target)
        area = self.parentWidget()
        while area is not None and not isinstance(area, QScrollArea):
            area = area.parentWidget()
        if area is not None and (inside := area.widget()) is not None:
            center = self.canvas().mapTo(inside, self.rect_of(target).center().toPoint())
            area.ensureVisible(0, center.y(), 0, self.row_height)

    def words_of(self, target: int) -> str:
        row = self.rows[target]
        return words.captioned(row.verdict, row.whole)

    @property
    def end(self) -> float:
        """Where the scale ends on both sides: round, and one claim may lie beyond it."""
        far = sorted(max(abs(row.low), abs(row.high)) for row in self.rows)
        most = far[-2] if len(far) > 2 else far[-1] if far else 0.0
        return next((step for step in STEPS if most <= step), max(STEPS[-1], most))

    def columns(self) -> Sequence[Column]:
        rows: Sequence[Row] = self.rows
        end, chips = self.end, self.widest((row.verdict for row in rows), bold=True, size=12)
        ends = self.widest((row.interval for row in rows), size=12)
        measure = min(self.widest(row.measure for row in rows) + 4, self.canvas().width() / 6)
        room = self.canvas().width()
        wide = min(SCALE_WIDTH if room < ROOMY else ROOMY_SCALE, room * SCALE_SHARE)
        return (
            Column(self.tr("Claim"), of("said"), saved="claim", also={"said": of("whole")}, least=80),
            Column(
                self.tr("Measure"), of("measure"), width=measure,
                ink="muted", saved="measure", least_room=LEAST_MEASURE,
            ),
            Column(
                "", row_itself, lambda row: _Difference(row, end), wide,
                also={"low": of("low"), "high": of("high")},
            ),
            Column(
                self.tr("Difference"), of("difference"), _bold,
                max(66.0, self.widest([self.tr("Difference")])), side=RIGHT, saved="difference",
            ),
            Column(
                self.tr("95 % interval"), of("interval"), width=ends + 4, ink="muted", size=12, cut=WHOLE,
                least_room=LEAST_INTERVAL,
            ),
            Column(
                self.tr("Verdict"), row_itself, _Chip, chips + 2 * CHIP_PAD + 2,
                also={"verdict": of("verdict")},
            ),
        )  # fmt: skip

    def paint_heads(self, painter: QPainter, spans: Sequence[Span]) -> None:
        """Paint the heads, and over the dots where their scale has its ends and its middle."""
        super().paint_heads(painter, spans)
        _column, left, right = next(span for span in spans if not span[0].head)
        room = QRectF(left, 0, right - left, self.head - 20)
        write(painter, room, self.tr("against · for"), "muted", size=self.head_size, side=CENTER)
        for value in (-self.end, 0.0, self.end):
            x = _x_of(value, self.end, room)
            said = "0" if not value else ("+" if value > 0 else words.MINUS) + f"{abs(value):g}"
            place = QRectF(x - 30, self.head - 26, 60, 16)
            write(painter, place, said, "muted", size=AXIS_SIZE, side=CENTER)
            painter.setPen(QPen(theme.current().color("line"), 1))
            upright_line(painter, x, self.head - 9, self.top_of(self.num_rows))

    def paint_ground(self, painter: QPainter, place: int, room: QRectF) -> None:
        super().paint_ground(painter, place, room)
        if place:
            is_other = self.rows[place].verdict != self.rows[place - 1].verdict
            painter.setPen(QPen(color_of("muted" if is_other else "line"), 1))
            level_line(painter, 0, room.right(), room.top())


def _bold(x: float) -> Cell:
    return WordsCell(signed(x), is_bold=True, side=RIGHT, cut=WHOLE)
