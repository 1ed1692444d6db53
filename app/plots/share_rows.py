"""Shares of labels in a table, a row each: a dot with its interval on one scale, and both in figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QWidget

from app import words
from app.look.columns import RIGHT, Cell, Column, WordsCell, color_of, figures, of, row_itself
from app.plots.columns import ColumnsFigure
from app.plots.interval import IntervalScale, paint_interval

MOST_NAME, LEAST_SCALE = 0.36, 40.0  # of the width, px
NARROW_ROW, GAP = 40, 8.0  # px


@dataclass(frozen=True, slots=True)
class ShareRow:
    """A label. share, low, high: 0 to 1. counted: what the model merely counts."""

    name: str
    share: float
    low: float
    high: float
    counted: float

    @property
    def ends(self) -> str:
        """Its interval, in words."""
        return f"{words.decimal(100 * self.low, 0)}–{words.share(self.high, 0)}"


@dataclass(frozen=True, slots=True)
class _Interval(Cell):
    row: ShareRow
    scale: IntervalScale

    def paint(self, painter: QPainter, room: QRectF) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ends = (self.row.low, self.row.high)
        paint_interval(painter, room, self.scale, self.row.share, ends, (), color_of("accent"))


@dataclass(frozen=True, slots=True)
class _OverScale(Cell):
    """Name and figures over the interval. taken: px of the share."""

    row: ShareRow
    scale: IntervalScale
    taken: float

    def paint(self, painter: QPainter, room: QRectF) -> None:
        half = room.height() / 2
        upper, ends = room.adjusted(0, 0, 0, -half), WordsCell(self.row.ends, "muted", side=RIGHT)
        width = QFontMetricsF(ends.font).horizontalAdvance(self.row.ends) + GAP
        ends.paint(painter, upper)
        share = WordsCell(words.share(self.row.share, 0), side=RIGHT)
        share.paint(painter, upper.adjusted(0, 0, -width, 0))
        WordsCell(self.row.name).paint(painter, upper.adjusted(0, 0, -width - self.taken - GAP, 0))
        _Interval(self.row, self.scale).paint(painter, room.adjusted(0, half, 0, 0))


class ShareRowsPlot(ColumnsFigure):
    """Labels from top to bottom. A target is a row's place.

    Args: is_narrow: the scale stands below names and figures, as wide as all of it.
    """

    row_height = 26
    has_line = False
    edges = (0.0, 0.0)
    most_summed_up = 40

    def __init__(self, title: str = "", parent: QWidget | None = None, *, is_narrow: bool = False) -> None:
        super().__init__(title, parent)
        self._is_narrow = is_narrow
        if is_narrow:
            self.row_height = NARROW_ROW

    def columns(self) -> Sequence[Column]:
        scale = IntervalScale(0.0, max((row.high for row in self.rows), default=1.0))
        name = min(self.widest(row.name for row in self.rows), self.canvas().width() * MOST_NAME)
        share = self.widest((words.share(row.share, 0) for row in self.rows), bold=True)
        ends = {"low": of("low"), "high": of("high"), "counted": of("counted")}
        if self._is_narrow:
            kept = {"label": of("name"), "share": of("share"), **ends}
            return (Column("", row_itself, lambda row: _OverScale(row, scale, share), also=kept),)
        return (
            Column("", of("name"), width=name, saved="label"),
            Column("", row_itself, lambda row: _Interval(row, scale), also=ends, least=LEAST_SCALE),
            figures(
                "", of("share"), lambda share: words.share(share, 0), ink="text", width=share, saved="share"
            ),
            figures("", of("ends"), str, width=self.widest((row.ends for row in self.rows), size=13)),
        )

    def words_of(self, target: int) -> str:
        row = self.rows[target]
        return self.tr("{name}: {share} ({low} to {high}); counted by the model: {counted}").format(
            name=row.name,
            share=words.share(row.share),
            low=words.share(row.low),
            high=words.share(row.high),
            counted=words.share(row.counted),
        )
