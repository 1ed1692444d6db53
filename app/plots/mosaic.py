"""All heads at once, a tile each: layers from top to bottom, heads from left to right, or in a given order.

A tile's pixel shows the strongest of the cells it stands for. Layers and heads are counted from 0 in the code
and from 1 on screen and in files.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPaintEngine, QPainter, QPen

from app import words
from app.look import theme
from app.look.columns import RIGHT
from app.plots.attention_image import MosaicPicture, Picture, colored, shrink
from app.plots.cell_grid import CellGrid
from app.plots.figure import Numbers, paint_ring
from app.plots.layered import LayeredFigure, colors_of, image_over, paint_scale, value_words
from app.plots.pointed import cell_after
from app.plots.strokes import CENTER, paint_edge, write, write_parts

EDGE = 8.0
FOOT = 30.0
HEAD, SIDE = 20.0, 26.0  # px for the numbers of heads and layers
GAP = 4.0  # px between tiles
STRETCH = 1.7  # a tile is at most this much wider than high, or higher than wide
FINE = 128  # pixels along a tile's side in a file that can be enlarged, at least
CAPTION = 46.0  # px of a tile from which on it is named in a given order
VEIL = 0.62  # of the card's colour over a head that is off
Head = tuple[int, int]


class MosaicPlot(LayeredFigure):
    """Every head as a small picture. A click, Enter or an arrow key chooses; with Ctrl or Shift a click or
    Enter (or Space) adds a head, and arrows only move.
    """

    head_chosen = Signal(int, int)  # layer, head
    head_added = Signal(int, int)  # one more or one less to be averaged
    wanted_size = (430, 450)
    least_size = (240, 240)
    _picture: MosaicPicture | None = None
    _figures: np.ndarray | None = None
    _figure_name = ""
    _chosen: tuple[Head, ...] = ()
    _off: frozenset[Head] = frozenset()
    _order: tuple[Head, ...] = ()
    is_sorted = False

    def set_mosaic(
        self, picture: MosaicPicture | None, *, figures: np.ndarray | None = None, figure_name: str = ""
    ) -> None:
        """Show all heads.

        Args: picture: `attention_image.compose_mosaic` of `views.tiles`. figures: (L, H), what the hover
            tells of each head. figure_name: what it is, as people read it. Another number of layers or
            heads forgets what was chosen, off and sorted.
        """
        shape = picture.strongest.shape if picture else (0, 0)
        if self._picture is None or self._picture.strongest.shape != shape:
            self._chosen, self._off, self.is_sorted = (), frozenset(), False
            self._hovered = self._walked = None
            self._order = tuple(np.ndindex(*shape))
        self._picture = picture
        self.set_figures(figures, figure_name)

    def set_figures(self, figures: np.ndarray | None, figure_name: str = "") -> None:
        """Say what the hover tells of each head, (L, H)."""
        self._figures, self._figure_name = figures, figure_name
        self.describe()
        self.renew()

    def set_chosen(self, heads: Sequence[Head]) -> None:
        """Mark the heads that are shown large: the first with a strong ring, others with a thin one."""
        self._chosen = tuple(heads)
        self.describe()
        self.update()

    def set_off(self, heads: Collection[Head]) -> None:
        """Strike out the heads that are switched off."""
        self._off = frozenset(heads)
        self.update()

    def set_order(self, order: Sequence[Head] | None) -> None:
        """Lay tiles out in this order, from left to right and top to bottom; None: layers and heads."""
        if self._picture is not None:
            shape = self._picture.strongest.shape
            plain: tuple[Head, ...] = tuple(np.ndindex(*shape))
            assert order is None or sorted(order) == list(plain), "an order names every head once"
            self._order, self.is_sorted = tuple(order) if order is not None else plain, order is not None
            self.renew()

    def clear(self) -> None:
        """Show nothing."""
        self.set_mosaic(None)

    @property
    def is_empty(self) -> bool:
        return self._picture is None or self._picture.strongest.size == 0

    @property
    def chosen(self) -> tuple[Head, ...]:
        """The heads that are marked."""
        return self._chosen

    def numbers(self) -> Numbers:
        if self._picture is None:
            return [["layer", "head"]]
        rows: Numbers = [["layer", "head", "turned off", "strongest"]]
        if self._figures is not None:
            rows[0].append(self._figure_name)
        for layer, head in self._order:
            off = int((layer, head) in self._off)
            rows.append([layer + 1, head + 1, off, _short(self._picture.strongest[layer, head])])
            if self._figures is not None:
                rows[-1].append(_short(self._figures[layer, head]))
        return rows

    def head_words(self, layer: int, head: int) -> str:
        """Return a head in words: "Layer 3, head 4 · strongest 0.83 · entropy 1.23"."""
        assert self._picture is not None
        parts = [self.tr("Layer {layer}, head {head}").format(layer=layer + 1, head=head + 1)]
        strongest = value_words(float(self._picture.strongest[layer, head]))
        parts.append(self.tr("strongest {value}").format(value=strongest))
        if self._figures is not None:
            figure = words.scientific(float(self._figures[layer, head]))
            parts.append(f"{self._figure_name} {figure}")
        if (layer, head) in self._off:
            parts.append(self.tr("turned off"))
        return " · ".join(parts)

    @property
    def _grid(self) -> CellGrid:
        """Where the tiles lie, gaps included."""
        assert self._picture is not None
        rows, columns = self._picture.strongest.shape
        side, head = (0.0, 0.0) if self.is_sorted else (SIDE, HEAD)
        width = self.width() - 2 * EDGE - side
        height = self.height() - EDGE - head - FOOT
        across, down = max(4.0, width / columns), max(4.0, height / rows)
        across, down = min(across, down * STRETCH), min(down, across * STRETCH)
        across, down = (float(int(x)) if x >= 8 else x for x in (across, down))
        left = EDGE + side + max(0.0, (width - across * columns) / 2)
        return CellGrid(QRectF(round(left), EDGE + head, across * columns, down * rows), (rows, columns))

    def tile_rect(self, layer: int, head: int) -> QRectF:
        """Return where a head's tile lies."""
        grid = self._grid
        cell = grid.rect(*divmod(self._order.index((layer, head)), grid.shape[1]))
        gap = (GAP if min(cell.width(), cell.height()) >= 20 else 2.0) / 2
        return cell.adjusted(gap, gap, -gap, -gap)

    def target_at(self, at: QPointF) -> Head | None:
        cell = None if self.is_empty else self._grid.under(at)
        return None if cell is None else self._order[cell[0] * self._grid.shape[1] + cell[1]]

    def words_of(self, target: Head) -> str:
        return self.head_words(*target)

    def tip_of(self, target: Head) -> str:
        return ""  # the line under the tiles says it

    def summary(self) -> str:
        if self.is_empty:
            return self.empty_text
        return self.head_words(*self._chosen[0]) if self._chosen else ""

    def after(self, event: QKeyEvent) -> Head | None:
        if self.is_empty or event.modifiers() & Qt.KeyboardModifier.AltModifier:
            return None
        rows, columns = self._grid.shape
        here = self.current or (self._chosen[0] if self._chosen else None)
        cell = None if here is None else divmod(self._order.index(here), columns)
        found = cell_after(event, cell, (rows, columns))
        return None if found is None else self._order[found[0] * columns + found[1]]

    def walk_to(self, target: Head, event: QKeyEvent) -> None:
        super().walk_to(target, event)
        if not _adds(event):
            self.head_chosen.emit(*target)

    def can_choose(self, target: Head) -> bool:
        return True

    def choose(self, target: Head, event: QMouseEvent | QKeyEvent) -> None:
        is_space = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Space
        (self.head_added if is_space or _adds(event) else self.head_chosen).emit(*target)

    def _readout(self) -> str:
        return self.head_words(*self.current) if self.current and not self._saving else self.summary()

    def paint_still(self, painter: QPainter) -> None:
        self._paint_tiles(painter)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not self.is_sorted:
            self._paint_numbers(painter)
        self._scale_left = self._paint_scale(painter)

    def _paint_tiles(self, painter: QPainter) -> None:
        if painter.paintEngine().type() == QPaintEngine.Type.Raster:
            self._paint_each(painter)
        else:
            self._paint_whole(painter)
        for head in self._order:
            paint_edge(painter, self.tile_rect(*head).adjusted(-0.5, -0.5, 0.5, 0.5), "line")

    def _paint_each(self, painter: QPainter) -> None:
        """Paint all tiles out of one image, in which they stand under each other."""
        assert self._picture is not None
        tile = painter.deviceTransform().mapRect(self.tile_rect(*self._order[0]))
        levels = shrink(self._picture.levels, round(tile.height()), round(tile.width()))
        num_heads, height, width = levels.shape[1:]
        pixels = colored(levels.reshape(-1, width), colors_of(is_signed=False))
        image = image_over(pixels)
        for layer, head in self._order:
            source = QRectF(0, (layer * num_heads + head) * height, width, height)
            painter.drawImage(self.tile_rect(layer, head), image, source)

    def _paint_whole(self, painter: QPainter) -> None:
        """Paint all tiles as one image, gaps included: a file would hold it anew for each of its parts."""
        assert self._picture is not None
        first, last = self.tile_rect(*self._order[0]), self.tile_rect(*self._order[-1])
        area, fine = first.united(last), math.ceil(FINE / min(first.width(), first.height()))
        whole = np.zeros((round(area.height() * fine), round(area.width() * fine)), np.uint8)
        height, width = round(first.height() * fine), round(first.width() * fine)
        levels = shrink(self._picture.levels, height, width)
        rows = np.arange(height) * levels.shape[2] // height
        columns = np.arange(width) * levels.shape[3] // width
        for head in self._order:
            corner = self.tile_rect(*head).topLeft() - area.topLeft()
            y, x = round(corner.y() * fine), round(corner.x() * fine)
            place = whole[y : y + height, x : x + width]
            place[:] = levels[head][np.ix_(rows, columns)][: place.shape[0], : place.shape[1]]
        pixels = colored(whole, colors_of(is_signed=False))
        painter.setRenderHint(QPainter.RenderHint.LosslessImageRendering)  # a PDF's JPEG would smear cells
        painter.drawImage(area, image_over(pixels))

    def _paint_numbers(self, painter: QPainter) -> None:
        grid, metrics = self._grid, QFontMetricsF(theme.ui_font(11))
        (rows, columns), tile = grid.shape, grid.rect(0, 0)
        every = 1 if tile.width() >= metrics.horizontalAdvance("24") + 3 else 2
        for column in range(0, columns, every):
            left, right = grid.across(column - 1, 3)
            place = QRectF(left, tile.top() - 17, right - left, 15)
            write(painter, place, str(column + 1), "muted", size=11, side=CENTER)
        every = math.ceil(metrics.height() / tile.height())
        for row in range(0, rows, every):
            place = QRectF(0, grid.down(row)[0], tile.left() - 5, tile.height())
            write(painter, place, str(row + 1), "muted", size=11, side=RIGHT)

    def _paint_scale(self, painter: QPainter) -> float:
        """Paint the scale; where each head has its own, say so instead."""
        assert self._picture is not None
        middle, right = self.height() - FOOT / 2, self.width() - EDGE - 2
        if self._picture.is_shared:
            top = float(self._picture.high.max(initial=0.0))
            return paint_scale(painter, right, middle, Picture(np.zeros((1, 1), np.uint8), 0.0, top))
        said = self.tr("each head scaled to its own strongest")
        width = QFontMetricsF(theme.ui_font(11)).horizontalAdvance(said) + 2
        write(painter, QRectF(right - width, middle - 9, width, 18), said, "muted", size=11, side=RIGHT)
        return right - width

    def paint_chosen(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_off(painter)
        if self.is_sorted:
            self._paint_names(painter)
        for head in reversed(self._chosen):
            if head in self._order:
                self._paint_choice(painter, self.tile_rect(*head), is_first=head == self._chosen[0])
        if self._saving:
            self._paint_readout(painter)

    def _paint_off(self, painter: QPainter) -> None:
        veil = theme.current().color("card")
        veil.setAlphaF(VEIL)
        for head in self._off:
            if head in self._order:
                place = self.tile_rect(*head)
                painter.fillRect(place, veil)
                painter.setPen(QPen(theme.current().color("text"), 1.4))
                painter.drawLine(place.bottomLeft(), place.topRight())

    def _paint_names(self, painter: QPainter) -> None:
        """Name the tiles of a given order, where there is room."""
        metrics = QFontMetricsF(theme.ui_font(10))
        for layer, head in self._order:
            place = self.tile_rect(layer, head)
            if min(place.width(), place.height()) < CAPTION - GAP:
                return
            name = f"{layer + 1}-{head + 1}"
            ground = theme.current().color("card")
            ground.setAlphaF(0.85)
            corner = QRectF(place.left(), place.top(), metrics.horizontalAdvance(name) + 6, 14)
            painter.fillRect(corner, ground)
            write(painter, corner, name, size=10, side=CENTER)

    def _paint_choice(self, painter: QPainter, tile: QRectF, *, is_first: bool) -> None:
        wide, out = (2.6, 1.8) if is_first else (1.2, 1.4)
        paint_edge(painter, tile.adjusted(-out, -out, out, out), "accent", wide, 2)

    def paint_moving(self, painter: QPainter) -> None:
        if self.current:
            paint_ring(painter, self.tile_rect(*self.current).adjusted(-2, -2, 2, 2))
        self._paint_readout(painter)

    def _paint_readout(self, painter: QPainter) -> None:
        place = QRectF(EDGE + 2, self.height() - FOOT, max(0.0, self._scale_left - EDGE - 18), FOOT)
        write_parts(painter, place, self._readout(), "text" if self.current else "muted", size=12)


def _adds(event: QMouseEvent | QKeyEvent) -> bool:
    return bool(event.modifiers() & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier))


def _short(value: float) -> float:
    return float(f"{float(value):.6g}")
