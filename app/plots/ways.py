"""What several ways reached, a row each: a dot a seed, a mark at the mean, a line over its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.plots.axes import round_ticks
from app.plots.figure import Numbers
from app.plots.scrolled import RowsFigure

DOT = 3.5  # px, half as wide as a seed's dot
GAP = 12
VALUE = 56  # px of the mean in figures
LEAST_SPAN = 0.02  # of the axis


@dataclass(frozen=True, slots=True)
class WayRow:
    """values: of each seed, shares of 1. interval: 95 % of their mean, None for one seed."""

    name: str
    values: tuple[float, ...]
    interval: tuple[float, float] | None = None

    @property
    def mean(self) -> float:
        return sum(self.values) / len(self.values)


class WaysPlot(RowsFigure):
    """The rows as they are known so far, on one axis."""

    row_height, head = 40, 26

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self._rows: tuple[WayRow, ...] = ()
        self._metric = ""

    def set_rows(self, rows: Sequence[WayRow], metric: str) -> None:
        """Show some ways. Args: metric: what their values are."""
        self._rows, self._metric = tuple(rows), metric
        self.rows_changed()

    def clear(self) -> None:
        """Show nothing."""
        self.set_rows((), "")

    @property
    def num_rows(self) -> int:
        return len(self._rows)

    def numbers(self) -> Numbers:
        most = max((len(row.values) for row in self._rows), default=0)
        seeds = [f"seed {number + 1}" for number in range(most)]
        rows: Numbers = [["way", self._metric, "low", "high", *seeds]]
        for row in self._rows:
            low, high = row.interval or ("", "")
            rows.append([row.name, row.mean, low, high, *row.values])
        return rows

    def words_of(self, target: int) -> str:
        row = self._rows[target]
        said = f"{row.name}: {words.score(row.mean)}"
        if row.interval is not None:
            low, high = map(words.score, row.interval)
            said = self.tr("{said} (95 %: {low} to {high})").format(said=said, low=low, high=high)
        return f"{said}\n{', '.join(map(words.score, row.values))}"

    def tip_of(self, target: int) -> str:
        return self.words_of(target)

    def summary(self) -> str:
        return "; ".join(f"{row.name} {words.score(row.mean)}" for row in self._rows)

    def sizeHint(self) -> QSize:
        return QSize(420, self.head + max(4, self.num_rows) * self.row_height + 6)

    def minimumSizeHint(self) -> QSize:
        return QSize(240, self.head + 3 * self.row_height)

    def _span(self) -> tuple[float, float]:
        """Return the ends of the axis."""
        ends = [end for row in self._rows for end in (*row.values, *(row.interval or ()))]
        low, high = min(ends), max(ends)
        room = max(LEAST_SPAN, high - low) * 0.06
        return max(0.0, low - room), min(1.0, high + room)

    def paint(self, painter: QPainter, area: QRectF) -> None:
        if not self._rows:
            return
        metrics, colors = QFontMetricsF(theme.ui_font()), theme.current()
        width = self.canvas().width()
        names = min(max(metrics.horizontalAdvance(row.name) for row in self._rows) + 6, width * 0.42)
        axis = QRectF(names + GAP, 0, max(40.0, width - names - 2 * GAP - VALUE), 1)
        low, high = self._span()

        def x_of(value: float) -> float:
            return axis.left() + axis.width() * (value - low) / (high - low)

        painter.setFont(theme.ui_font(11))
        for tick in round_ticks(low, high, 4):
            x = x_of(tick)
            painter.setPen(QPen(colors.color("line"), 1))
            painter.drawLine(QPointF(x, self.head - 4), QPointF(x, self.top_of(self.num_rows)))
            painter.setPen(colors.color("muted"))
            place = QRectF(x - 30, 2, 60, self.head - 8)
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, words.score(tick).rstrip("0").rstrip("."))
        best = max(self._rows, key=lambda row: row.mean)
        for number, room in self.rows_in(area):
            row, middle = self._rows[number], room.center().y()
            painter.setFont(theme.ui_font(bold=row is best))
            painter.setPen(colors.color("text"))
            name = painter.fontMetrics().elidedText(row.name, Qt.TextElideMode.ElideRight, int(names))
            beside = Qt.AlignmentFlag.AlignVCenter
            place = QRectF(4, room.top(), names, room.height())
            painter.drawText(place, beside | Qt.AlignmentFlag.AlignLeft, name)
            mean, right = words.score(row.mean), beside | Qt.AlignmentFlag.AlignRight
            painter.drawText(room.adjusted(0, 0, -6, 0), right, mean)
            if row.interval is not None:
                painter.setPen(QPen(colors.color("accent"), 2))
                ends = [QPointF(x_of(min(max(end, low), high)), middle) for end in row.interval]
                painter.drawLine(*ends)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.color("muted"))
            for value in row.values:
                painter.drawEllipse(QPointF(x_of(value), middle), DOT, DOT)
            painter.setPen(QPen(colors.color("accent"), 3))
            painter.drawLine(QPointF(x_of(row.mean), middle - 9), QPointF(x_of(row.mean), middle + 9))
        self.paint_mark(painter)
