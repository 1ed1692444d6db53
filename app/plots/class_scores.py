"""Precision, recall, F1 and texts of every class, a row each; a click on one asks for its texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.plots.figure import Numbers
from app.plots.scrolled import RowsFigure

HEAD, BAR, GAP = 26, 7.0, 8.0  # px
NARROW = 400  # px; below, precision and recall give way to the bar


@dataclass(frozen=True, slots=True)
class ClassRow:
    """A class. interval: of 95 %, of its F1; None where it was not asked for."""

    name: str
    precision: float
    recall: float
    f1: float
    count: int
    interval: tuple[float, float] | None = None


class ClassScoresPlot(RowsFigure):
    """A row for each class, and last the mean of all. A target is a row's place."""

    chosen = Signal(int)
    head = HEAD
    row_height = 27

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.rows: tuple[ClassRow, ...] = ()
        self.mean: ClassRow | None = None
        self.marked = -1

    def set_rows(self, rows: Sequence[ClassRow], mean: ClassRow | None) -> None:
        """Show classes, and the mean in which each counts alike."""
        self.rows, self.mean = tuple(rows), mean
        self.rows_changed()

    def set_marked(self, place: int) -> None:
        """Mark the class whose texts are shown; -1: none."""
        self.marked = place
        self.canvas().update()

    @property
    def num_rows(self) -> int:
        return len(self.rows) + (self.mean is not None)

    def row(self, place: int) -> ClassRow:
        """Return a class, or the mean."""
        if place < len(self.rows):
            return self.rows[place]
        assert self.mean is not None
        return self.mean

    def numbers(self) -> Numbers:
        found: Numbers = [["class", "precision", "recall", "F1", "F1 low", "F1 high", "texts"]]
        for place in range(self.num_rows):
            one = self.row(place)
            ends = ("", "") if one.interval is None else one.interval
            found.append([one.name, one.precision, one.recall, one.f1, *ends, one.count])
        return found

    def words_of(self, target: int) -> str:
        one = self.row(target)
        said = self.tr("{name}: precision {precision}, recall {recall}, F1 {f1}, {count} texts").format(
            name=one.name,
            precision=words.score(one.precision),
            recall=words.score(one.recall),
            f1=words.score(one.f1),
            count=words.number(one.count),
        )
        if one.interval is None:
            return said
        between = self.tr("F1 {low} to {high} in 95 % of cases")
        low, high = map(words.score, one.interval)
        return f"{said}. {between.format(low=low, high=high)}"

    def summary(self) -> str:
        return self.tr("{count} classes").format(count=words.number(len(self.rows)))

    def can_choose(self, target: int) -> bool:
        return target < len(self.rows)

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        self.chosen.emit(target)

    def paint(self, painter: QPainter, area: QRectF) -> None:
        width = float(self.canvas().width())
        columns = self._columns(width)
        self._paint_head(painter, columns)
        for place, room in self.rows_in(area):
            self._paint_row(painter, place, room, columns)
        self.paint_mark(painter)

    def _columns(self, width: float) -> dict[str, tuple[float, float]]:
        """Return left and right of each column that there is room for."""
        figure = QFontMetricsF(theme.ui_font(bold=True)).horizontalAdvance("0.000") + GAP
        texts = QFontMetricsF(theme.ui_font()).horizontalAdvance("00,000") + GAP
        found, right = {"count": (width - texts, width)}, width - texts
        found["f1"] = (right - figure, right)
        heads = QFontMetricsF(theme.ui_font(12)).horizontalAdvance(self.tr("precision")) + GAP
        beside = 2 * max(figure, heads) if width >= NARROW else 0.0
        names = QFontMetricsF(theme.ui_font(bold=True))
        every = (self.row(place).name for place in range(self.num_rows))
        widest = max(map(names.horizontalAdvance, every), default=0.0)
        bar = min(110.0, max(36.0, right - figure - beside - widest - 4 * GAP))
        right -= figure + GAP
        found["bar"] = (right - bar, right)
        right -= bar + GAP
        if width >= NARROW:
            for name in ("recall", "precision"):
                found[name] = (right - max(figure, heads), right)
                right -= max(figure, heads)
        found["name"] = (2, right - GAP)
        return found

    def _paint_head(self, painter: QPainter, columns: dict[str, tuple[float, float]]) -> None:
        colors = theme.current()
        painter.setFont(theme.ui_font(12))
        painter.setPen(colors.color("muted"))
        titles = {
            "name": self.tr("class"),
            "precision": self.tr("precision"),
            "recall": self.tr("recall"),
            "bar": self.tr("F1"),
            "count": self.tr("texts"),
        }
        for name, title in titles.items():
            if name in columns:
                left, right = columns[name]
                side = Qt.AlignmentFlag.AlignLeft if name in ("name", "bar") else Qt.AlignmentFlag.AlignRight
                room = QRectF(left, 0, right - left, HEAD - 4)
                painter.drawText(room, side | Qt.AlignmentFlag.AlignVCenter, title)
        painter.setPen(QPen(colors.color("line"), 1))
        painter.drawLine(QPointF(0, HEAD - 2), QPointF(self.canvas().width(), HEAD - 2))

    def _paint_row(
        self, painter: QPainter, place: int, room: QRectF, columns: dict[str, tuple[float, float]]
    ) -> None:
        one, colors = self.row(place), theme.current()
        is_mean, is_marked = place == len(self.rows), place == self.marked
        if is_marked:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.color("accent_soft"))
            painter.drawRoundedRect(room.adjusted(0, 1, 0, -1), 4, 4)
        if is_mean:
            painter.setPen(QPen(colors.color("line"), 1))
            painter.drawLine(room.topLeft(), room.topRight())
        painter.setPen(colors.color("text"))
        painter.setFont(theme.ui_font(bold=is_mean or is_marked))
        left, right = columns["name"]
        cut = QFontMetricsF(painter.font()).elidedText(one.name, Qt.TextElideMode.ElideMiddle, right - left)
        align = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(
            QRectF(left, room.top(), right - left, room.height()), Qt.AlignmentFlag.AlignLeft | align, cut
        )
        figures = {
            "precision": words.score(one.precision),
            "recall": words.score(one.recall),
            "f1": words.score(one.f1),
            "count": words.number(one.count),
        }
        for name, text in figures.items():
            if name not in columns:
                continue
            left, right = columns[name]
            painter.setPen(colors.color("text" if name == "f1" else "muted"))
            painter.setFont(theme.ui_font(bold=name == "f1" and (is_mean or is_marked)))
            spot = QRectF(left, room.top(), right - left, room.height())
            painter.drawText(spot, Qt.AlignmentFlag.AlignRight | align, text)
        if not is_mean:
            self._paint_bar(painter, one, QRectF(columns["bar"][0], room.top(), 0, room.height()), columns)

    def _paint_bar(
        self, painter: QPainter, one: ClassRow, room: QRectF, columns: dict[str, tuple[float, float]]
    ) -> None:
        colors, (left, right) = theme.current(), columns["bar"]
        track = QRectF(left, room.center().y() - BAR / 2, right - left, BAR)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.color("line"))
        painter.drawRoundedRect(track, BAR / 2, BAR / 2)
        if one.f1 > 0:
            width = max(BAR, track.width() * one.f1)
            painter.setBrush(colors.color("accent"))
            painter.drawRoundedRect(QRectF(left, track.top(), width, BAR), BAR / 2, BAR / 2)
        if one.interval is not None:
            low, high = (left + track.width() * end for end in one.interval)
            painter.setPen(QPen(QColor(colors.text), 1))
            painter.drawLine(QPointF(low, track.center().y()), QPointF(high, track.center().y()))
        painter.setBrush(Qt.BrushStyle.NoBrush)
