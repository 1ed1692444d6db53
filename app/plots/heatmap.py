"""One matrix of attention as coloured cells, with the tokens on both axes.

Rows look, columns are looked at. Labels turn, thin out or go to the hover as the room gets smaller; cells
smaller than a pixel of the screen share one, which shows the strongest of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from app.look import theme
from app.plots import token_labels
from app.plots.attention_image import Picture, cells_of
from app.plots.cell_grid import CellGrid
from app.plots.figure import paint_ring
from app.plots.layered import dashed_pen, paint_label, paint_levels, paint_scale, whole_pixels
from app.plots.shown_figure import ShownFigure, spans
from app.plots.strokes import CENTER, level_line, paint_edge, upright_line, write
from app.plots.token_labels import LabelPlan
from engine.inspect.attention.views import MatrixView

EDGE = 8.0
FOOT = 30.0  # the line with the readout and the scale
STRIP = 4.0  # the colour of A or B between labels and cells
SIDE = 16.0  # room for the letters A and B
WIDEST, HIGHEST = 96.0, 64.0  # px of a cell
STRETCH = 1.7  # a cell is at most this much wider than high, or higher than wide
EVEN = 8.0  # px; cells from this size on are all of the same size
THIN = 6.0  # px; a locked row under it lies between two lines
VEIL = 0.66  # of the card's colour over the rows that are not locked


@dataclass(frozen=True, slots=True)
class Frame(CellGrid):
    """Where everything lies: the cells, and how both axes are labelled."""

    rows: LabelPlan = field(kw_only=True)
    columns: LabelPlan = field(kw_only=True)


class HeatmapPlot(ShownFigure):
    """Attention from rows to columns. Hover tells a cell, a click locks its row, arrow keys and Enter too."""

    wanted_size = (560, 520)
    least_size = (240, 220)
    _picture: Picture | None = None
    _frame: Frame | None = None

    def set_picture(self, picture: Picture | None, shown: MatrixView | None) -> None:
        """Show a matrix.

        Args: picture: `attention_image.compose` of shown.values. shown: of `engine.inspect.attention.views`.
            Hovered and locked stay when the tokens are the same.
        """
        assert (picture is None) == (shown is None)
        assert picture is None or shown is None or picture.levels.shape == shown.values.shape
        self._picture = picture
        self.set_shown(shown)

    def clear(self) -> None:
        """Show nothing."""
        self.set_picture(None, None)

    def renew(self) -> None:
        self._frame = None
        super().renew()

    def cell_rect(self, row: int, column: int) -> QRectF:
        """Return where a cell lies."""
        return self.frame().rect(row, column)

    def target_at(self, at: QPointF) -> tuple[int, int]:
        if self.shown is None or self.is_empty:
            return -1, -1
        area, (num_rows, num_columns) = self.frame().area, self.shown.values.shape
        rows = self._under(at.y() - area.top(), area.height(), num_rows)
        columns = self._under(at.x() - area.left(), area.width(), num_columns)
        if rows and columns:  # of several under one pixel, the one that is seen
            part = np.abs(self.shown.values[rows.start : rows.stop, columns.start : columns.stop])
            row, column = divmod(int(np.argmax(part)), part.shape[1])
            return rows[row], columns[column]
        if rows and at.x() < area.left():
            return rows[0], -1
        if columns and at.y() < area.top():
            return -1, columns[0]
        return -1, -1

    def _under(self, offset: float, length: float, count: int) -> range:
        """Return the rows or columns at a distance from the edge of the cells; empty outside."""
        if not 0 <= offset < length:
            return range(0)
        pixels = round(length * self.devicePixelRatioF())
        if pixels >= count:
            cell = min(int(offset / length * count), count - 1)
            return range(cell, cell + 1)
        return cells_of(min(int(offset / length * pixels), pixels - 1), pixels, count)

    def frame(self) -> Frame:
        """Return where everything lies at the size there is."""
        if self._frame is None:
            assert self.shown is not None
            self._frame = self._laid_out(self.shown)
        return self._frame

    def _laid_out(self, shown: MatrixView) -> Frame:
        rows_used, columns_used = shown.row_labels, shown.column_labels
        strip = STRIP + 2 if self._has_b(shown) else 0.0
        side = SIDE if self._has_b(shown) else 0.0
        left, top, right = 60.0, 40.0, 0.0
        for _ in range(3):  # the room for labels depends on the cells, and the cells on the labels
            width = self.width() - left - max(right, side) - 2 * EDGE
            height = self.height() - top - side - EDGE - FOOT
            cell = self._cell_size(width, height, shown.values.shape)
            rows = token_labels.plan_rows(rows_used, cell[1], self.width() * 0.26)
            columns = token_labels.plan_columns(columns_used, cell[0], self.height() * 0.26)
            left, top = rows.depth + strip, columns.depth + strip
            right = token_labels.overhang(columns_used, columns, cell[0])
        width = self.width() - left - max(right, side) - 2 * EDGE
        height = self.height() - top - side - EDGE - FOOT
        cell = self._cell_size(width, height, shown.values.shape)
        size = (round(cell[0] * len(columns_used)), round(cell[1] * len(rows_used)))  # as it is painted
        spare = max(0.0, (width - size[0]) / 2)
        area = QRectF(round(EDGE + left + spare), round(EDGE + top), *size)
        return Frame(area, shown.values.shape, rows=rows, columns=columns)

    def _cell_size(self, width: float, height: float, shape: tuple[int, int]) -> tuple[float, float]:
        across, down = max(width, 8.0) / shape[1], max(height, 8.0) / shape[0]
        across, down = min(across, WIDEST), min(down, HIGHEST)
        across, down = min(across, down * STRETCH), min(down, across * STRETCH)
        return (
            float(int(across)) if across >= EVEN else across,
            float(int(down)) if down >= EVEN else down,
        )

    def _has_b(self, shown: MatrixView) -> bool:
        return 1 in shown.row_segments or 1 in shown.column_segments

    def paint_still(self, painter: QPainter) -> None:
        assert self._picture is not None and self.shown is not None
        frame = self.frame()
        area = whole_pixels(painter, frame.area)
        paint_levels(painter, area, self._picture.levels, self._picture.is_signed)
        paint_edge(painter, area.adjusted(-0.5, -0.5, 0.5, 0.5), "line")
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_rows(painter, frame)
        self._paint_columns(painter, frame)
        self._paint_corner(painter, frame)
        if self._has_b(self.shown):
            self._paint_segments(painter, frame)
        middle = self.height() - FOOT / 2
        left = paint_scale(painter, self.width() - EDGE - 2, middle, self._picture)
        if self._saving:
            self.paint_readout(painter, self._foot(left))
        self._scale_left = left

    def _foot(self, right: float) -> QRectF:
        return QRectF(EDGE + 2, self.height() - FOOT, max(0.0, right - EDGE - 18), FOOT)

    def _paint_rows(self, painter: QPainter, frame: Frame) -> None:
        assert self.shown is not None
        shown, room, right = self.shown, frame.rect(0, 0).height(), frame.area.left() - self._strip()
        side = shown.row_labels, shown.row_places, shown.row_is_special
        for row, said, ink in _written(frame.rows, *side, room, 24):
            painter.setPen(theme.current().color(ink))
            middle = frame.area.top() + (row + 0.5) * room
            token_labels.paint_row(painter, frame.rows, said, right, middle)

    def _paint_columns(self, painter: QPainter, frame: Frame) -> None:
        assert self.shown is not None
        shown, room, bottom = self.shown, frame.rect(0, 0).width(), frame.area.top() - self._strip()
        side = shown.column_labels, shown.column_places, shown.column_is_special
        plan, most = frame.columns, float(self.width())
        if plan.way == "places":
            plan, most = LabelPlan("flat", 1, plan.size, plan.depth), most - 14
        for column, said, ink in _written(frame.columns, *side, room, 40):
            painter.setPen(theme.current().color(ink))
            middle = min(frame.area.left() + (column + 0.5) * room, most)
            token_labels.paint_column(painter, plan, said, middle, bottom)

    def _paint_corner(self, painter: QPainter, frame: Frame) -> None:
        """Say which side looks, where there is room for it."""
        metrics = QFontMetricsF(theme.ui_font(11))
        lines = (self.tr("to →"), self.tr("from ↓"))
        width = max(metrics.horizontalAdvance(line) for line in lines) + 2
        right = frame.area.left() - self._strip() - token_labels.GAP
        height = metrics.height() - 1
        if right - width < 2 or frame.columns.depth + EDGE < 2 * height:
            return
        bottom = frame.area.top() - self._strip() - 3
        side = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute
        for i, line in enumerate(reversed(lines)):
            place = QRectF(right - width, bottom - (i + 1) * height, width, height)
            write(painter, place, line, "muted", size=11, side=side)

    def _paint_segments(self, painter: QPainter, frame: Frame) -> None:
        assert self.shown is not None
        shown, area = self.shown, frame.area
        for segment, (start, stop) in spans(shown.row_segments).items():
            top, bottom = frame.down(start, stop - start)
            strip = QRectF(area.left() - STRIP - 1, top, STRIP - 1, bottom - top)
            letter = QRectF(area.right() + 3, (top + bottom) / 2 - 9, SIDE - 2, 18)
            self._paint_segment(painter, segment, strip, letter)
        for segment, (start, stop) in spans(shown.column_segments).items():
            left, right = frame.across(start, stop - start)
            strip = QRectF(left, area.top() - STRIP - 1, right - left, STRIP - 1)
            letter = QRectF((left + right) / 2 - 9, area.bottom() + 1, 18, SIDE)
            self._paint_segment(painter, segment, strip, letter)
        painter.setPen(dashed_pen())
        if shown.row_boundary:
            y = frame.down(shown.row_boundary)[0]
            level_line(painter, area.left() - STRIP - 2, area.right() + SIDE - 2, y)
        if shown.column_boundary:
            x = frame.across(shown.column_boundary)[0]
            upright_line(painter, x, area.top() - STRIP - 2, area.bottom() + SIDE - 2)

    def _paint_segment(self, painter: QPainter, segment: int, strip: QRectF, room: QRectF) -> None:
        letter, ink = (self.tr("B"), "b") if segment else (self.tr("A"), "accent")
        painter.fillRect(strip, theme.current().color(ink))
        write(painter, room, letter, ink, size=11, bold=True, side=CENTER)

    def _strip(self) -> float:
        return STRIP + 2 if self.shown is not None and self._has_b(self.shown) else 0.0

    def paint_chosen(self, painter: QPainter) -> None:
        if self.locked_row < 0 or self.shown is None:
            return
        area, row = self.frame().area, self.cell_rect(self.locked_row, 0)
        veil = theme.current().color("card")
        veil.setAlphaF(VEIL)
        painter.fillRect(QRectF(area.topLeft(), QPointF(area.right(), row.top())), veil)
        painter.fillRect(QRectF(QPointF(area.left(), row.bottom()), area.bottomRight()), veil)
        if row.height() < THIN:
            painter.setPen(QPen(theme.current().color("muted"), 1))
            for y in (row.center().y() - THIN / 2, row.center().y() + THIN / 2):
                level_line(painter, area.left(), area.right(), y)
        self._paint_row_chip(painter, self.locked_row)

    def paint_moving(self, painter: QPainter) -> None:
        assert self.shown is not None
        (row, column), area = self.current, self.frame().area
        hair = QColor(theme.current().text)
        hair.setAlphaF(0.55)
        if row >= 0:
            place = self.cell_rect(row, 0)
            paint_edge(painter, QRectF(area.left(), place.top(), area.width(), place.height()), hair)
            self._paint_row_chip(painter, row)
        if column >= 0:
            place = self.cell_rect(0, column)
            paint_edge(painter, QRectF(place.left(), area.top(), place.width(), area.height()), hair)
            self._paint_column_chip(painter, column)
        if row >= 0 and column >= 0:
            cell = self.cell_rect(row, column)
            grow = max(0.0, (9 - min(cell.width(), cell.height())) / 2)
            paint_ring(painter, cell.adjusted(-grow, -grow, grow, grow))
        self.paint_readout(painter, self._foot(self._scale_left))

    def _paint_row_chip(self, painter: QPainter, row: int) -> None:
        assert self.shown is not None
        painter.setFont(theme.ui_font(12, bold=True))
        metrics = QFontMetricsF(painter.font())
        area, middle = self.frame().area, self.cell_rect(row, 0).center().y()
        text = token_labels.cut(metrics, self.shown.row_labels[row], max(40.0, area.left() - 24))
        width = metrics.horizontalAdvance(text) + 10
        right = max(area.left() - self._strip() - 1, width + 1)
        place = QRectF(right - width, middle - 9, width, 18)
        paint_label(painter, place, text, self._soft(self.shown.row_segments, row))

    def _paint_column_chip(self, painter: QPainter, column: int) -> None:
        assert self.shown is not None
        painter.setFont(theme.ui_font(12, bold=True))
        metrics = QFontMetricsF(painter.font())
        text = token_labels.cut(metrics, self.shown.column_labels[column], self.width() * 0.6)
        width = metrics.horizontalAdvance(text) + 10
        area, middle = self.frame().area, self.cell_rect(0, column).center().x()
        left = min(max(middle - width / 2, 2.0), self.width() - width - 2)
        place = QRectF(left, area.top() - self._strip() - 19, width, 18)
        paint_label(painter, place, text, self._soft(self.shown.column_segments, column))

    def _soft(self, segments: tuple[int, ...], place: int) -> str:
        colors = theme.current()
        return colors.b_soft if place < len(segments) and segments[place] else colors.accent_soft


def _written(
    plan: LabelPlan,
    labels: Sequence[str],
    places: Sequence[tuple[int, ...]],
    is_special: Sequence[bool],
    room: float,
    least: float,
) -> Iterator[tuple[int, str, str]]:
    """Return which labels of an axis are written: its cell, its text and its ink."""
    if plan.way == "places":
        for cell in token_labels.nice_places(len(labels), room, least):
            yield cell, str(places[cell][0] if places[cell] else cell), "muted"
    else:
        for cell in range(0, len(labels), plan.every):
            yield cell, labels[cell], "muted" if cell < len(is_special) and is_special[cell] else "text"
