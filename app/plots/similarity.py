"""How alike each two texts are: a square of cosines, in an order that puts like texts together.

Classes are told by their mark at the edge and by lines between them; where there is room the texts stand
beside their rows. Hover, or the arrow keys, tell both texts and their cosine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen

from app import words
from app.look import theme
from app.look.columns import RIGHT
from app.plots import marks
from app.plots.attention_image import Picture, compose
from app.plots.cell_grid import CellGrid
from app.plots.figure import Numbers, ink_on, paint_ring
from app.plots.layered import LayeredFigure, level_color, paint_levels, paint_scale, whole_pixels
from app.plots.marks import PointClasses
from app.plots.pointed import cell_after
from app.plots.scatter_legend import LegendEntry, legend_rows, paint_legend
from app.plots.strokes import CENTER, level_line, paint_edge, upright_line, write

EDGE = 8.0
FOOT = 26.0  # the scale
STRIP = 12.0  # the marks of the classes
LEGEND_ROW = 18.0
WIDEST_CELL = 46.0
LABEL_ROW = 14.0  # px a row needs for its text
FIGURE_CELL = 30.0  # px a cell needs for its number
LONGEST_TIP = 160
MANY = 40  # texts; from here on a few pairs must not stretch the scale
OUTER = 0.005  # of the pairs at either end


def picture_of(values: np.ndarray) -> Picture:
    """Return the picture of (E, E) cosines, for the worker: from the least like pair to the most like.

    The diagonal, every text beside itself, takes no part in the scale; of many pairs the outermost neither.
    """
    others = values[~np.eye(len(values), dtype=bool)]
    ends = (0.0, 1.0) if len(values) < MANY else (OUTER, 1 - OUTER)
    low, high = map(float, np.quantile(others, ends)) if len(others) else (0.0, 1.0)
    if high - low < 1e-6:
        low, high = low - 0.5, high
    return replace(compose(np.clip(values - low, 0, high - low), top=high - low), low=low, high=high)


class SimilarityPlot(LayeredFigure):
    """A matrix of cosines. A target is a cell: places in the order that is shown."""

    says_at_once = True
    hovered = Signal(int, int)
    chosen = Signal(int, int)  # clicked, or Enter: places in the order that is shown
    wanted_size = (520, 440)
    least_size = (220, 180)
    _picture: Picture | None = None
    _values = np.zeros((0, 0), np.float32)
    _texts: Sequence[str] = ()
    _classes: PointClasses | None = None

    def set_matrix(
        self, picture: Picture, values: np.ndarray, texts: Sequence[str], classes: PointClasses | None = None
    ) -> None:
        """Show (E, E) cosines of E texts. Args: picture: `picture_of` the values. classes: of the texts."""
        assert values.shape == (len(texts), len(texts)) == picture.levels.shape
        self._picture, self._values, self._texts, self._classes = picture, values, texts, classes
        self.forget()
        self.renew()

    def clear(self) -> None:
        """Show nothing."""
        self._picture, self._values, self._texts = None, np.zeros((0, 0), np.float32), ()
        self.forget()
        self.renew()

    @property
    def is_empty(self) -> bool:
        return self._picture is None

    def numbers(self) -> Numbers:
        rows: Numbers = [[self.tr("text"), *self._texts]]
        for text, row in zip(self._texts, self._values.tolist(), strict=True):
            rows.append([text, *row])
        return rows

    def words_of(self, target: tuple[int, int]) -> str:
        """Return what the hover says of a cell: the cosine, and both texts."""
        row, column = target
        first, second = (words.shorten(self._texts[place], LONGEST_TIP) for place in (row, column))
        value = words.decimal(float(self._values[row, column]), 3)
        if row == column:
            return self.tr("{number}: {text}").format(number=row + 1, text=first)
        return self.tr("Similarity {value}\n{row}: {first}\n{column}: {second}").format(
            value=value, row=row + 1, first=first, column=column + 1, second=second
        )

    def rect_of(self, target: tuple[int, int]) -> QRectF:
        return self._grid.rect(*target)

    def target_at(self, at: QPointF) -> tuple[int, int] | None:
        return None if self.is_empty else self._grid.under(at)

    def after(self, event: QKeyEvent) -> tuple[int, int] | None:
        return cell_after(event, self.current, self._values.shape)

    def can_choose(self, target: tuple[int, int]) -> bool:
        return True

    def choose(self, target: tuple[int, int], event: QMouseEvent | QKeyEvent) -> None:
        self.chosen.emit(*target)

    def current_changed(self) -> None:
        self.hovered.emit(*(self.current or (-1, -1)))

    def _entries(self) -> list[LegendEntry]:
        if self._classes is None:
            return []
        entries = [LegendEntry(place, name) for place, name in enumerate(self._classes.names)]
        if (self._classes.numbers == marks.OTHER).any():
            entries.append(LegendEntry(marks.OTHER, self._classes.other))
        return entries

    def _label_width(self, height: float) -> float:
        """Return the room for texts beside the rows; none where a row is too low for one."""
        if not self._texts or height / len(self._texts) < LABEL_ROW:
            return 0.0
        metrics = QFontMetricsF(theme.ui_font(12))
        widest = max(metrics.horizontalAdvance(text) for text in self._texts) + 30
        return float(min(widest, max(90.0, self.width() * 0.42)))

    @property
    def _grid(self) -> CellGrid:
        """Where the cells lie: a square."""
        legend = len(legend_rows(self._entries(), self.width() - 2 * EDGE)) * LEGEND_ROW
        strip, count = STRIP if self._classes else 0.0, len(self._texts)
        labels = self._label_width(self.height() - EDGE - legend - FOOT - LABEL_ROW)
        top = EDGE + legend + (LABEL_ROW if labels else 0.0)
        left = EDGE + labels + strip
        side = min(self.width() - left - EDGE, self.height() - top - FOOT)
        side = max(24.0, min(side, WIDEST_CELL * max(1, count)))
        spare = max(0.0, self.width() - left - EDGE - side)
        return CellGrid(QRectF(left + spare / 2, top, side, side), (count, count))

    def paint_still(self, painter: QPainter) -> None:
        assert self._picture is not None
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        grid = replace(self._grid, area=whole_pixels(painter, self._grid.area))
        area = grid.area
        paint_legend(painter, None, self._entries(), QRectF(EDGE, EDGE - 4, self.width() - 2 * EDGE, 0))
        paint_levels(painter, area, self._picture.levels)
        paint_edge(painter, area, "line")
        self._paint_classes(painter, grid)
        self._paint_labels(painter, grid)
        self._paint_figures(painter)
        middle = area.bottom() + FOOT / 2 + 3
        left = paint_scale(painter, area.right(), middle, self._picture)
        room = QRectF(EDGE, middle - 8, max(0.0, left - 8 - EDGE), 16)
        write(painter, room, self.tr("cosine similarity"), "muted", size=11, side=RIGHT)

    def _paint_classes(self, painter: QPainter, grid: CellGrid) -> None:
        """Paint a mark and a line for each run of one class."""
        if self._classes is None:
            return
        numbers, area = self._classes.numbers, grid.area
        starts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(numbers)]
        for start, stop in pairwise(starts):
            number, (top, bottom) = int(numbers[start]), grid.down(start, stop - start)
            color, left = marks.class_color(number), area.left() - STRIP
            painter.fillRect(QRectF(left + STRIP - 4, top + 0.5, 3, max(1.0, bottom - top - 1)), color)
            if bottom - top > 9:
                marks.paint_mark(painter, QPointF(left + 3, (top + bottom) / 2), number, 3.5, color)
            if start and len(starts) < 40:
                painter.setPen(QPen(theme.current().color("text"), 1))
                level_line(painter, area.left(), area.right(), top)
                upright_line(painter, grid.across(start)[0], area.top(), area.bottom())

    def _paint_labels(self, painter: QPainter, grid: CellGrid) -> None:
        side, left = grid.rect(0, 0).height(), grid.area.left()
        if side < LABEL_ROW:
            return
        room = left - (STRIP if self._classes else 0.0) - EDGE - 26
        for place, text in enumerate(self._texts):
            cell, end = grid.rect(place, place), Qt.TextElideMode.ElideRight
            beside = QRectF(EDGE, cell.center().y() - 9, room, 18)
            write(painter, beside, " ".join(text.split()), size=12, side=RIGHT, cut=end)
            number = QRectF(EDGE + room, beside.top(), 22, 18)
            write(painter, number, str(place + 1), "muted", size=12, side=RIGHT)
            head = QRectF(cell.left(), grid.area.top() - LABEL_ROW - 1, side, LABEL_ROW)
            write(painter, head, str(place + 1), "muted", size=12, side=CENTER)

    def _paint_figures(self, painter: QPainter) -> None:
        """Write the cosines into their cells where there is room."""
        assert self._picture is not None
        grid = self._grid
        if grid.rect(0, 0).width() < FIGURE_CELL:
            return
        for row, column in np.ndindex(*grid.shape):
            if row != column:
                ground = level_color(int(self._picture.levels[row, column])).name()
                text = words.decimal(float(self._values[row, column]), 2)
                write(painter, grid.rect(row, column), text, ink_on(ground), size=11, side=CENTER)

    def paint_moving(self, painter: QPainter) -> None:
        if self.current:
            cell = self.rect_of(self.current)
            grown = max(0.0, 5 - cell.width()) / 2
            paint_ring(painter, cell.adjusted(-grown, -grown, grown, grown))
