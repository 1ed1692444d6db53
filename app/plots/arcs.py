"""Attention as arcs from token to token: between two columns, or over and under one line of text.

Only the strongest cells are drawn while nothing is in focus. A token in focus, on either side, shows the
strongest of its own whole row or column, and how strongly each partner is tied to it.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QPainter, QPen

from app.look import theme
from app.plots import token_labels
from app.plots.arc_layouts import EDGE, FOOT, ColumnsLayout, LineLayout
from app.plots.attention_image import MIDDLE, Picture
from app.plots.layered import dashed_pen, level_color, paint_label, paint_scale
from app.plots.pointed import ARROWS, WALKS
from app.plots.shown_figure import NONE, ShownFigure, leap_of, spans
from engine.inspect.attention.views import MatrixView, StrongestCells

MOST_IN_FOCUS = 24  # arcs of one token
MOST_NAMED = 3  # partners that are named although their labels have no room
THICKEST, THINNEST = 3.4, 0.6  # px of an arc
MOST_THICK = 40  # arcs of more than 1 px: each takes as long as ten thin ones
FAINT = 0.13  # of the arcs that are not in focus
LEAST = 0.02  # of the strongest; what is weaker cannot be seen


class ArcsPlot(ShownFigure):
    """Attention as arcs. Hover a token on either side, click to lock it, arrow keys and Enter too."""

    least_size = (240, 200)
    _cells: tuple[tuple[int, int, float], ...] = ()
    _way = "columns"
    _layout: ColumnsLayout | LineLayout | None = None
    _top = _scale_left = 0.0

    def set_arcs(self, shown: MatrixView | None, cells: StrongestCells | None) -> None:
        """Show a matrix.

        Args: shown: of `engine.inspect.attention.views`. cells: `views.strongest(shown, 300)`, which of
            it are drawn. Hovered and locked stay when the tokens are the same.
        """
        self._cells = ()
        if cells is not None:
            triples = zip(cells.rows.tolist(), cells.columns.tolist(), cells.values.tolist(), strict=True)
            self._cells = tuple(triples)
        self._top = 0.0 if shown is None else float(np.abs(shown.values).max(initial=0.0))
        self.set_shown(shown)

    def set_layout(self, way: str) -> None:
        """Lay tokens out in "columns", or in one "line" where rows and columns are the same tokens."""
        assert way in ("columns", "line"), way
        self._way = way
        self.renew()

    def clear(self) -> None:
        """Show nothing."""
        self.set_arcs(None, None)

    def renew(self) -> None:
        self._layout = None
        super().renew()

    def sizeHint(self) -> QSize:
        return QSize(460, 520) if self._way == "columns" else QSize(640, 360)

    def target_at(self, at: QPointF) -> tuple[int, int]:
        return NONE if self.is_empty else self.laid_out().target_at(at)

    def laid_out(self) -> ColumnsLayout | LineLayout:
        """Return where the tokens stand at the size there is."""
        if self._layout is None:
            assert self.shown is not None
            is_square = self.shown.row_places == self.shown.column_places
            layout = LineLayout if self._way == "line" and is_square else ColumnsLayout
            self._layout = layout(self.shown, self.width(), self.height())
        return self._layout

    def set_locked(self, row: int) -> None:
        before = self.locked_row
        super().set_locked(row)
        if (before < 0) != (self.locked_row < 0):
            self.renew()  # all other arcs step back, or come again

    def after(self, event: QKeyEvent) -> tuple[int, int]:
        """Return where a key leads: along the tokens; between columns along the strongest arc."""
        assert self.shown is not None
        key, (row, column) = Qt.Key(event.key()), self.current
        if key not in WALKS:
            return NONE
        if row < 0 and column < 0:
            return self.strongest_cell()[0], -1
        layout, side = self.laid_out(), int(row < 0)
        down, right = ARROWS.get(key, (0, 0))
        if layout.sides == 2 and right:
            values = self.shown.values[:, column] if side else self.shown.values[row]
            partner = int(np.argmax(np.abs(values)))
            if (right > 0) == bool(side):
                return row, column
            return (partner, -1) if side else (-1, partner)
        last = self.shown.values.shape[side] - 1
        along = layout.step_by(down, right) * leap_of(event)
        if key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            along = -last if key == Qt.Key.Key_Home else last
        token = min(max((column if side else row) + along, 0), last)
        return (-1, token) if side else (token, -1)

    def paint_still(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.locked_row < 0:
            self._paint_arcs(painter, self._cells)
        for side in range(self.laid_out().sides):
            self._paint_side(painter, side)
        self._paint_captions(painter)
        middle = self.height() - FOOT / 2
        self._scale_left = paint_scale(painter, self.width() - EDGE - 2, middle, self._scale())
        if self._saving:
            self.paint_readout(painter, self._foot())

    def paint_chosen(self, painter: QPainter) -> None:
        if self.locked_row >= 0:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_focus(painter, self.locked_row, -1)

    def paint_moving(self, painter: QPainter) -> None:
        row, column = self.current
        if (row >= 0 or column >= 0) and row != self.locked_row:
            veil = theme.current().color("card")
            veil.setAlphaF(1 - FAINT)
            for area in self.laid_out().arcs_areas():
                painter.fillRect(area, veil)
            self._paint_focus(painter, row, -1 if row >= 0 else column)
        if row >= 0 and column >= 0:  # by keys, which go from cell to cell
            self._paint_arcs(painter, [(row, column, self._value(row, column))])
            self._paint_mark(painter, 1, column, self._fill(self._value(row, column)), [], is_bold=True)
        self.paint_readout(painter, self._foot())

    def _paint_focus(self, painter: QPainter, row: int, column: int) -> None:
        """Paint one token's own arcs, and how strongly it is tied to each token of the other side."""
        assert self.shown is not None
        values = self.shown.values[row] if row >= 0 else self.shown.values[:, column]
        order = np.argsort(-np.abs(values), kind="stable")[:MOST_IN_FOCUS]
        partners = [int(i) for i in order if abs(values[i]) > LEAST * self._top]
        ties = [(row, i) if row >= 0 else (i, column) for i in partners]
        self._paint_arcs(painter, [(*tie, self._value(*tie)) for tie in ties])
        side, token = (0, row) if row >= 0 else (1, column)
        segments = self.shown.column_segments if side else self.shown.row_segments
        is_b = token < len(segments) and segments[token] == 1
        soft = theme.current().b_soft if is_b else theme.current().accent_soft
        taken: list[QRectF] = []
        self._paint_mark(painter, side, token, soft, taken, is_bold=True)
        for rank, (tie, partner) in enumerate(zip(ties, partners, strict=True)):
            if self.laid_out().sides == 2 or partner != token:
                fill = self._fill(self._value(*tie))
                self._paint_mark(painter, 1 - side, partner, fill, taken, is_named=rank < MOST_NAMED)

    def _paint_mark(
        self,
        painter: QPainter,
        side: int,
        token: int,
        fill: str,
        taken: list[QRectF],
        *,
        is_named: bool = True,
        is_bold: bool = False,
    ) -> None:
        """Paint a token of a side on a ground; without a label only when it is to be named and has room."""
        assert self.shown is not None
        layout, ink = self.laid_out(), _ink_for(fill)
        has_label = layout.plan.way != "places" and token % layout.plan.every == 0
        text = (self.shown.column_labels if side else self.shown.row_labels)[token]
        painter.setFont(theme.ui_font(layout.plan.size if has_label and not is_bold else 12, bold=is_bold))
        metrics = QFontMetricsF(painter.font())
        text = token_labels.cut(metrics, text, self.width() * 0.28)
        chip = layout.chip(side, token, metrics.horizontalAdvance(text))
        if not has_label and (not is_named or any(chip.intersects(other) for other in taken)):
            return
        taken.append(chip)
        if layout.plan.way == "turned" and layout.sides == 1:
            paint_label(painter, chip, "", fill, ink)
            painter.setPen(theme.current().color(ink))
            layout.paint_label(painter, side, token, text)
        else:
            paint_label(painter, chip, text, fill, ink)

    def _paint_side(self, painter: QPainter, side: int) -> None:
        assert self.shown is not None
        layout, colors, shown = self.laid_out(), theme.current(), self.shown
        labels = shown.column_labels if side else shown.row_labels
        segments = shown.column_segments if side else shown.row_segments
        specials = shown.column_is_special if side else shown.row_is_special
        if layout.plan.way != "places":
            for token in range(0, len(labels), layout.plan.every):
                is_special = token < len(specials) and specials[token]
                painter.setPen(colors.color("muted" if is_special else "text"))
                layout.paint_label(painter, side, token, labels[token])
        found = spans(segments) or {0: (0, len(labels))}
        if layout.plan.way == "places" or 1 in found:
            for segment, (start, stop) in found.items():
                for band in layout.bands(side, start, stop):
                    painter.fillRect(band, colors.color("b" if segment else "accent"))
        boundary = shown.column_boundary if side else shown.row_boundary
        ends = layout.boundary(side, boundary) if boundary else None
        if ends is not None:
            painter.setPen(dashed_pen())
            painter.drawLine(*ends)

    def _paint_captions(self, painter: QPainter) -> None:
        """Say which side looks, or which way."""
        painter.setFont(theme.ui_font(11))
        painter.setPen(theme.current().color("muted"))
        layout = self.laid_out()
        if layout.sides == 2:
            texts = (self.tr("from"), self.tr("to"))
        else:
            texts = (self.tr("above: looks forward"), self.tr("below: looks back"))
        for (place, ends_there), text in zip(layout.captions(), texts, strict=True):
            side = Qt.AlignmentFlag.AlignRight if ends_there else Qt.AlignmentFlag.AlignLeft
            painter.drawText(place, side | Qt.AlignmentFlag.AlignVCenter, text)

    def _paint_arcs(self, painter: QPainter, cells: Iterable[tuple[int, int, float]]) -> None:
        """Paint arcs, the weakest first so that the strongest lie on top."""
        painter.setBrush(Qt.BrushStyle.NoBrush)
        layout = self.laid_out()
        weakest_first = sorted(cells, key=lambda cell: abs(cell[2]))
        for rank, (row, column, value) in enumerate(weakest_first, start=MOST_THICK - len(weakest_first)):
            strength = abs(value) / self._top if self._top else 0.0
            if strength > LEAST:
                width = THINNEST + (THICKEST - THINNEST) * strength
                pen = QPen(self._color(value), width if rank >= 0 else min(width, 1.0))
                pen.setCapStyle(Qt.PenCapStyle.FlatCap)
                painter.setPen(pen)
                painter.drawPath(layout.arc(row, column))

    def _value(self, row: int, column: int) -> float:
        assert self.shown is not None
        return float(self.shown.values[row, column])

    def _fill(self, value: float) -> str:
        """Return the colour of a value by name."""
        return self._color(value).name()

    def _color(self, value: float) -> QColor:
        """Return the colour of a value, as a cell of the heatmap has it."""
        assert self.shown is not None
        share = max(-1.0, min(1.0, value / self._top)) if self._top else 0.0
        level = MIDDLE + int(share * 127) if self.shown.signed else int(max(0.0, share) * 255)
        return level_color(level, self.shown.signed)

    def _scale(self) -> Picture:
        assert self.shown is not None
        signed = self.shown.signed
        return Picture(np.zeros((1, 1), np.uint8), -self._top if signed else 0.0, self._top, signed)

    def _foot(self) -> QRectF:
        width = max(0.0, self._scale_left - EDGE - 18)
        return QRectF(EDGE + 2, self.height() - FOOT, width, FOOT)


def _ink_for(fill: str) -> str:
    """Return the token of the text colour that reads best on a ground."""
    colors = theme.current()
    return max(("text", "card"), key=lambda token: theme.contrast(getattr(colors, token), fill))
