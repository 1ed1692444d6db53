"""Attention heads as slices: the same three squares of weights, cut into any number of heads."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from app import words
from app.look import theme
from app.plots.figure import Figure, Numbers
from app.plots.strokes import CENTER, upright_line, write
from engine.model.arithmetic import Arithmetic, divisors

EDGE = 8.0
HEAD, FOOT = 20.0, 22.0
GAP = 34.0
WIDEST = 190.0
LEAST_SLICE = 3.0  # px between two lines


class HeadSlicesPlot(Figure):
    """Queries, keys and values as squares of H × H; a strip is a head's part, the first one is marked."""

    wanted_size = (560, 120)
    least_size = (240, 120)
    found: Arithmetic | None = None
    num_heads = 1

    def set_heads(self, found: Arithmetic | None, num_heads: int) -> None:
        """Show a model's attention cut into `num_heads`, which share out its width evenly."""
        self.found, self.num_heads = found, num_heads
        self.setAccessibleDescription("" if found is None else self.slice_words())
        self.update()

    @property
    def is_empty(self) -> bool:
        return self.found is None

    @property
    def width_of_head(self) -> int:
        return 0 if self.found is None else self.found.sizes["H"] // self.num_heads

    def slice_words(self) -> str:
        """Return the cut in words."""
        assert self.found is not None
        return self.tr("{heads} heads × {each} wide = {width}").format(
            heads=words.number(self.num_heads),
            each=words.number(self.width_of_head),
            width=words.number(self.found.sizes["H"]),
        )

    def numbers(self) -> Numbers:
        rows: Numbers = [["heads", "width of a head", "weights of queries, keys, values", "weights in all"]]
        if self.found is not None:
            width = self.found.sizes["H"]
            cut = next(part.count for part in self.found.parts if part.key == "qkv")
            rows += [[heads, width // heads, cut, self.found.total] for heads in divisors(width)]
        return rows

    def paint(self, painter: QPainter, area: QRectF) -> None:
        names = (self.tr("Queries"), self.tr("Keys"), self.tr("Values"))
        for name, square in zip(names, self.squares(), strict=True):
            self._paint_square(painter, name, square)
        self._paint_foot(painter)

    def squares(self) -> list[QRectF]:
        """Return where the three are painted."""
        room = self.width() - 2 * EDGE - 2 * GAP
        side = max(10.0, min(WIDEST, room / 3, self.height() - HEAD - FOOT - 2 * EDGE))
        left = (self.width() - 3 * side - 2 * GAP) / 2
        return [QRectF(left + place * (side + GAP), EDGE + HEAD, side, side) for place in range(3)]

    def _paint_square(self, painter: QPainter, name: str, square: QRectF) -> None:
        colors = theme.current()
        above = QRectF(square.left(), square.top() - HEAD, square.width(), HEAD - 2)
        write(painter, above, name, size=12)
        painter.fillRect(square, QColor(theme.mix(colors.card, colors.accent, 0.24)))
        step = square.width() / self.num_heads
        first = QRectF(square.left(), square.top(), max(1.0, step), square.height())
        painter.fillRect(first, QColor(theme.mix(colors.card, colors.accent, 0.75)))
        if step >= LEAST_SLICE:
            painter.setPen(QPen(colors.color("card"), 1))
            for number in range(1, self.num_heads):
                upright_line(painter, square.left() + step * number, square.top(), square.bottom())

    def _paint_foot(self, painter: QPainter) -> None:
        assert self.found is not None
        width, each = words.number(self.found.sizes["H"]), words.number(self.width_of_head)
        said = self.tr("Each square: {width} × {width} weights. Marked: one head, {width} × {each}.")
        place = QRectF(EDGE, self.squares()[0].bottom() + 4, self.width() - 2 * EDGE, FOOT)
        said, end = said.format(width=width, each=each), Qt.TextElideMode.ElideRight
        write(painter, place, said, "muted", size=12, side=CENTER, cut=end)
