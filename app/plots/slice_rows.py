"""Slices of texts, a row each: how many are right, beside the rest; a click on one asks for its texts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.plots.figure import Numbers
from app.plots.scrolled import RowsFigure

HEAD, BAR, GAP = 24, 7.0, 8.0  # px


@dataclass(frozen=True, slots=True)
class SliceRow:
    """Some texts. share: that is right, with low and high of its interval; others: of the rest.

    chance: how often chance makes them that much worse, in words; "" where nobody asked.
    """

    name: str
    count: int
    share: float
    low: float
    high: float
    others: float
    chance: str = ""


class SliceRowsPlot(RowsFigure):
    """A row for each slice. A target is a row's place."""

    chosen = Signal(int)
    head = HEAD
    row_height = 26

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.rows: tuple[SliceRow, ...] = ()
        self.marked: frozenset[int] = frozenset()

    def set_slices(self, rows: Sequence[SliceRow]) -> None:
        """Show slices in the given order."""
        self.rows = tuple(rows)
        self.rows_changed()

    def set_marked(self, places: Collection[int]) -> None:
        """Mark the slices whose texts are shown."""
        self.marked = frozenset(places)
        self.canvas().update()

    @property
    def num_rows(self) -> int:
        return len(self.rows)

    def numbers(self) -> Numbers:
        found: Numbers = [["slice", "texts", "share right", "low", "high", "the rest", "chance"]]
        found += [
            [one.name, one.count, one.share, one.low, one.high, one.others, one.chance] for one in self.rows
        ]
        return found

    def words_of(self, target: int) -> str:
        one = self.rows[target]
        said = self.tr(
            "{name}: {share} of {count} texts are right ({low} to {high}), {others} of the rest"
        ).format(
            name=one.name,
            share=words.share(one.share),
            count=words.number(one.count),
            low=words.share(one.low),
            high=words.share(one.high),
            others=words.share(one.others),
        )
        if not one.chance:
            return said
        return self.tr("{said}; chance alone in {chance} of cases").format(said=said, chance=one.chance)

    def summary(self) -> str:
        return self.tr("{count} slices").format(count=words.number(len(self.rows)))

    def can_choose(self, target: int) -> bool:
        return True

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        self.chosen.emit(target)

    def paint(self, painter: QPainter, area: QRectF) -> None:
        columns = self._columns(float(self.canvas().width()))
        colors = theme.current()
        painter.setFont(theme.ui_font(12))
        painter.setPen(colors.color("muted"))
        titles = {
            "name": self.tr("slice"),
            "count": self.tr("texts"),
            "bar": self.tr("right"),
            "chance": self.tr("chance"),
        }
        for name, title in titles.items():
            left, right = columns[name]
            side = Qt.AlignmentFlag.AlignLeft if name in ("name", "bar") else Qt.AlignmentFlag.AlignRight
            painter.drawText(
                QRectF(left, 0, right - left, HEAD - 4), side | Qt.AlignmentFlag.AlignVCenter, title
            )
        painter.setPen(QPen(colors.color("line"), 1))
        painter.drawLine(QPointF(0, HEAD - 2), QPointF(self.canvas().width(), HEAD - 2))
        for place, room in self.rows_in(area):
            self._paint_row(painter, place, room, columns)
        self.paint_mark(painter)

    def _columns(self, width: float) -> dict[str, tuple[float, float]]:
        metrics = QFontMetricsF(theme.ui_font())
        chance = metrics.horizontalAdvance("< 0.1 %") + GAP
        found = {"chance": (width - chance, width)}
        right = width - chance - GAP
        figure = metrics.horizontalAdvance("00.0 %") + GAP
        found["share"] = (right - figure, right)
        right -= figure
        bar = max(50.0, width * 0.22)
        found["bar"] = (right - bar, right - GAP)
        right -= bar + GAP
        count = metrics.horizontalAdvance("00,000") + GAP
        found["count"] = (right - count, right)
        found["name"] = (2, right - count - GAP)
        return found

    def _paint_row(
        self, painter: QPainter, place: int, room: QRectF, columns: dict[str, tuple[float, float]]
    ) -> None:
        one, colors = self.rows[place], theme.current()
        if place in self.marked:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.color("accent_soft"))
            painter.drawRoundedRect(room.adjusted(0, 1, 0, -1), 4, 4)
        painter.setFont(theme.ui_font())
        middle = Qt.AlignmentFlag.AlignVCenter
        figures = {"count": words.number(one.count), "share": words.share(one.share), "chance": one.chance}
        for name, text in figures.items():
            left, right = columns[name]
            painter.setPen(colors.color("text" if name == "share" else "muted"))
            spot = QRectF(left, room.top(), right - left, room.height())
            painter.drawText(spot, Qt.AlignmentFlag.AlignRight | middle, text)
        left, right = columns["name"]
        painter.setPen(colors.color("text"))
        cut = QFontMetricsF(painter.font()).elidedText(one.name, Qt.TextElideMode.ElideRight, right - left)
        spot = QRectF(left, room.top(), right - left, room.height())
        painter.drawText(spot, Qt.AlignmentFlag.AlignLeft | middle, cut)
        self._paint_bar(painter, one, room, columns["bar"])

    def _paint_bar(self, painter: QPainter, one: SliceRow, room: QRectF, ends: tuple[float, float]) -> None:
        colors, (left, right) = theme.current(), ends
        track = QRectF(left, room.center().y() - BAR / 2, right - left, BAR)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.color("line"))
        painter.drawRoundedRect(track, BAR / 2, BAR / 2)
        painter.setBrush(colors.color("wrong" if one.high < one.others else "accent"))
        painter.drawRoundedRect(
            QRectF(left, track.top(), max(BAR, track.width() * one.share), BAR), BAR / 2, BAR / 2
        )
        x = left + track.width() * one.others
        painter.setPen(QPen(colors.color("text"), 1.6))
        painter.drawLine(QPointF(x, track.top() - 4), QPointF(x, track.bottom() + 4))
        painter.setBrush(Qt.BrushStyle.NoBrush)
