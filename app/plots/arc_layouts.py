"""Where the tokens of an arcs picture stand, and which way their arcs run: in two columns, or in one line.

Both layouts answer the same questions; a side is 0 for the tokens that look, 1 for those looked at. In the
line both sides are the same tokens; arcs above look onward in the text, arcs below look back, and scripts
that run to the left are laid out to the left.
"""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPainterPath

from app.look import theme
from app.look.direction import is_right_to_left, paint_text
from app.plots import token_labels
from engine.inspect.attention.views import MatrixView

EDGE = 8.0
FOOT, HEAD = 30.0, 20.0  # px under and over the picture, for the readout and the captions
TALLEST, BROADEST = 38.0, 64.0  # px from token to token
LONGEST = 340.0  # px of a curve between the columns; longer ones say no more
BAND = 3.0  # px of the colour of A or B beside the tokens
CHIP = 18.0


class ColumnsLayout:
    """Tokens that look at the left, tokens that are looked at at the right."""

    sides = 2

    def __init__(self, shown: MatrixView, width: float, height: float) -> None:
        self.counts = (len(shown.row_labels), len(shown.column_labels))
        self.step = min(TALLEST, (height - HEAD - FOOT - EDGE) / max(self.counts))
        labels = (*shown.row_labels, *shown.column_labels)
        self.plan = token_labels.plan_rows(labels, self.step, width * 0.3)
        reach = self.plan.depth + EDGE + BAND + 3
        spare = max(0.0, (width - 2 * reach - LONGEST) / 2)
        self.left, self.right = reach + spare, width - reach - spare
        self._start, self._bottom = HEAD + 2, height - FOOT

    def target_at(self, position: QPointF) -> tuple[int, int]:
        """Return the (row, column) of the token under a point, -1 for the other side."""
        side = int(position.x() >= (self.left + self.right) / 2)
        token = int((position.y() - self._start) // self.step)
        token = token if 0 <= token < self.counts[side] else -1
        return (-1, token) if side else (token, -1)

    def step_by(self, down: int, right: int) -> int:
        """Return how many tokens an arrow key moves on."""
        return down

    def arc(self, row: int, column: int) -> QPainterPath:
        """Return the curve of a cell."""
        start, end = QPointF(self.left, self._y(row)), QPointF(self.right, self._y(column))
        bend = QPointF((end.x() - start.x()) * 0.42, 0)
        path = QPainterPath(start)
        path.cubicTo(start + bend, end - bend, end)
        return path

    def arcs_areas(self) -> list[QRectF]:
        """Return where arcs lie."""
        return [QRectF(self.left - 1, HEAD + 1, self.right - self.left + 2, self._bottom - HEAD - 1)]

    def bands(self, side: int, start: int, stop: int) -> list[QRectF]:
        """Return the strips beside the tokens from `start` up to `stop`."""
        left = self.right + 1 if side else self.left - 1 - BAND
        return [QRectF(left, self._start + start * self.step, BAND, (stop - start) * self.step)]

    def boundary(self, side: int, token: int) -> tuple[QPointF, QPointF] | None:
        """Return the ends of the line before a token; None where it would cut labels, and the bands tell."""
        if self.step < QFontMetricsF(theme.ui_font(self.plan.size)).height() + 2:
            return None
        y, reach = self._start + token * self.step, self.plan.depth + BAND + 3
        left = self.right + 1 if side else self.left - 1 - reach
        return QPointF(left, y), QPointF(left + reach, y)

    def chip(self, side: int, token: int, width: float) -> QRectF:
        """Return where a token stands when it is marked. Args: width: of its text, px."""
        width, height = width + 8, min(CHIP, max(self.step, self.plan.size + 3.0))
        left = self.right + BAND + 3 if side else self.left - BAND - 3 - width
        return QRectF(left, self._y(token) - height / 2, width, height)

    def paint_label(self, painter: QPainter, side: int, token: int, label: str) -> None:
        """Paint a token in the painter's pen."""
        y = self._y(token)
        if side == 0:
            token_labels.paint_row(painter, self.plan, label, self.left - BAND - 2, y)
            return
        painter.setFont(theme.ui_font(self.plan.size))
        metrics = QFontMetricsF(painter.font())
        left = self.right + BAND + 2 + token_labels.GAP
        room = QRectF(left, y - metrics.height() / 2, self.plan.depth, metrics.height())
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignAbsolute
        paint_text(painter, room, flags, token_labels.cut(metrics, label, self.plan.depth - 4))

    def captions(self) -> list[tuple[QRectF, bool]]:
        """Return where each side's caption stands, and whether it ends there."""
        gap = BAND + 2 + token_labels.GAP
        return [
            (QRectF(0, 0, self.left - gap, HEAD), True),
            (QRectF(self.right + gap, 0, 200, HEAD), False),
        ]

    def _y(self, token: int) -> float:
        return self._start + (token + 0.5) * self.step


class LineLayout:
    """One line of tokens across the middle."""

    sides = 1

    def __init__(self, shown: MatrixView, width: float, height: float) -> None:
        labels = shown.row_labels
        self._count = len(labels)
        inner = width - 2 * EDGE - 8
        self.step = min(BROADEST, inner / self._count)
        plan = token_labels.plan_columns(labels, self.step, height * 0.3)
        if plan.way == "tilted":  # a tilted word would stand under its neighbour's arcs
            plan = replace(token_labels.plan_columns(labels, plan.size + 2, height * 0.3), size=plan.size)
        self.plan = plan
        self._start = EDGE + 4 + (inner - self.step * self._count) / 2
        self._is_leftward = sum(map(is_right_to_left, labels)) * 2 > self._count
        self._middle = (height - FOOT) / 2
        self._half = (10.0 if plan.way == "places" else plan.depth / 2 + 4) + BAND  # of the line of tokens
        self._width, self._bottom = width, height - FOOT - HEAD

    def target_at(self, position: QPointF) -> tuple[int, int]:
        """Return (token, -1) under a point."""
        slot = int((position.x() - self._start) // self.step)
        inside = HEAD < position.y() < self._bottom and 0 <= slot < self._count
        return (self._slot(slot), -1) if inside else (-1, -1)

    def step_by(self, down: int, right: int) -> int:
        """Return how many tokens an arrow key moves on."""
        return -right if self._is_leftward else right

    def arc(self, row: int, column: int) -> QPainterPath:
        """Return the curve of a cell."""
        up = -1 if column >= row else 1
        y = self._middle + up * self._half
        start, end = QPointF(self._x(row), y), QPointF(self._x(column), y)
        room = self._middle - HEAD - self._half - 3
        path = QPainterPath(start)
        if row == column:
            wide, high = min(11.0, self.step * 0.45), min(room, 24.0)
            path.cubicTo(start + QPointF(-wide, up * high), start + QPointF(wide, up * high), end)
        else:
            high = up * min(room, 14 + abs(end.x() - start.x()) * 0.45) * 4 / 3
            path.cubicTo(start + QPointF(0, high), end + QPointF(0, high), end)
        return path

    def arcs_areas(self) -> list[QRectF]:
        """Return where arcs lie: above and below the tokens."""
        low, high = self._middle - self._half, self._middle + self._half
        return [QRectF(0, HEAD, self._width, low - HEAD), QRectF(0, high, self._width, self._bottom - high)]

    def bands(self, side: int, start: int, stop: int) -> list[QRectF]:
        """Return the strips over and under the tokens from `start` up to `stop`."""
        slots = sorted((self._slot(start), self._slot(stop - 1)))
        left, right = self._start + slots[0] * self.step, self._start + (slots[1] + 1) * self.step
        ys = (self._middle - self._half, self._middle + self._half - BAND)
        return [QRectF(left, y, right - left, BAND) for y in ys]

    def boundary(self, side: int, token: int) -> tuple[QPointF, QPointF]:
        """Return the ends of the line before a token."""
        x = self._start + (self._slot(token) + int(self._is_leftward)) * self.step
        return QPointF(x, self._middle - self._half), QPointF(x, self._middle + self._half)

    def chip(self, side: int, token: int, width: float) -> QRectF:
        """Return where a token stands when it is marked. Args: width: of its text, px."""
        x = self._x(token)
        if self.plan.way == "turned":
            across = max(self.step, self.plan.size + 3.0)
            return QRectF(x - across / 2, self._middle - self._half + BAND, across, 2 * (self._half - BAND))
        width += 8
        left = min(max(x - width / 2, 2.0), self._width - width - 2)
        return QRectF(left, self._middle - CHIP / 2, width, CHIP)

    def paint_label(self, painter: QPainter, side: int, token: int, label: str) -> None:
        """Paint a token in the painter's pen."""
        bottom = self._middle + self.plan.depth / 2 + 2
        token_labels.paint_column(painter, self.plan, label, self._x(token), bottom)

    def captions(self) -> list[tuple[QRectF, bool]]:
        """Return where the captions of arcs above and below stand."""
        left = EDGE + 2
        return [(QRectF(left, 0, 400, HEAD), False), (QRectF(left, self._bottom, 400, HEAD), False)]

    def _slot(self, token: int) -> int:
        return self._count - 1 - token if self._is_leftward else token

    def _x(self, token: int) -> float:
        return self._start + (self._slot(token) + 0.5) * self.step
