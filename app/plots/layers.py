"""What each layer would put into a gap: its best guesses shaded by probability, and a line for one word.

The last layer, which is the model's own answer, stands at the bottom, as it is read last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from app import words
from app.look import theme
from app.look.labels import tip
from app.look.widgets import set_role
from app.plots.figure import Numbers, ink_on
from app.plots.scrolled import ScrolledFigure

ROW = 30
HEAD = 26
NAME = 92
VALUE = 142
CELL_GAP = 4
MOST_GUESSES = 5
LEAST_CELL = 108
LEAST_LINE = 120  # px of the line's own room
LEAST_TOP = 0.01  # a probability below which the line is not stretched to the full width


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer's answer. guesses: (word, probability), the likeliest first.

    probability, rank: of the word that is followed; None where there is none.
    """

    guesses: tuple[tuple[str, float], ...]
    probability: float | None = None
    rank: int | None = None


class LayersPlot(ScrolledFigure):
    """A row a layer, the embeddings on top; up and down move. word: the one that is followed, "" for none."""

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.layers: tuple[Layer, ...] = ()
        self.word = ""
        self.current: int | None = None
        self.is_dim = False
        self._canvas = _Canvas(self)
        self.hold(self._canvas)

    def set_layers(self, layers: Sequence[Layer], word: str = "") -> None:
        """Show the answers of the embeddings, then of each layer."""
        self.layers, self.word, self.is_dim = tuple(layers), word, False
        if self.current is not None and self.current >= len(self.layers):
            self.current = None
        self._scroll.setVisible(bool(layers))
        self._canvas.setMinimumHeight(HEAD + ROW * len(self.layers))
        self.setAccessibleDescription("; ".join(map(self.row_words, range(len(self.layers)))))
        self._canvas.update()
        self.update()

    def set_dim(self, dim: bool) -> None:
        """Say that a newer answer is on its way."""
        if dim != self.is_dim:
            self.is_dim = dim
            self._canvas.update()

    def clear(self) -> None:
        """Show nothing."""
        self.set_layers([])

    @property
    def is_empty(self) -> bool:
        return not self.layers

    def name_of(self, layer: int) -> str:
        """Return what a layer is called."""
        if layer == 0:
            return self.tr("Embeddings")
        return self.tr("Layer {number}").format(number=words.number(layer))

    def row_words(self, layer: int) -> str:
        """Return a layer's answer in words."""
        found = self.layers[layer]
        said = ", ".join(f"{word} {words.probability(value)}" for word, value in found.guesses)
        said = f"{self.name_of(layer)}: {said}"
        if self.word and found.probability is not None:
            template = self.tr("{said}; {word} {share}, rank {rank}")
            said = template.format(
                said=said,
                word=self.word,
                share=words.probability(found.probability),
                rank=words.number(found.rank or 0),
            )
        return said

    def numbers(self) -> Numbers:
        header: list[str | float | int] = ["layer", "word", "probability of the word", "rank of the word"]
        count = max((len(layer.guesses) for layer in self.layers), default=0)
        for place in range(1, count + 1):
            header += [f"guess {place}", f"probability {place}"]
        rows: Numbers = [header]
        for number, layer in enumerate(self.layers):
            row: list[str | float | int] = [number, self.word]
            row.append("" if layer.probability is None else layer.probability)
            row.append("" if layer.rank is None else layer.rank)
            for word, value in layer.guesses:
                row += [word, value]
            rows.append(row + [""] * (len(header) - len(row)))
        return rows

    def set_saving(self, saving: bool) -> None:
        super().set_saving(saving)
        self._canvas.is_saving = saving

    def sizeHint(self) -> QSize:
        return QSize(560, HEAD + ROW * max(3, len(self.layers)) + 6)

    def minimumSizeHint(self) -> QSize:
        return QSize(260, HEAD + 3 * ROW)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        move = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        if move and self.layers:
            here = -1 if self.current is None else self.current
            self.current = min(max(here + move, 0), len(self.layers) - 1)
            self.setAccessibleDescription(self.row_words(self.current))
            self._scroll.ensureVisible(0, HEAD + ROW * self.current + ROW // 2, 0, ROW)
            self._canvas.update()
        elif event.key() == Qt.Key.Key_Escape and self.current is not None:
            self.current = None
            self._canvas.update()
        else:
            super().keyPressEvent(event)


class _Canvas(QWidget):
    """The rows, as tall as they need to be."""

    def __init__(self, plot: LayersPlot) -> None:
        super().__init__()
        self._plot = plot
        self.is_saving = False
        set_role(self, "clear")

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        plot = self._plot
        if plot.is_dim and not self.is_saving:
            painter.setOpacity(0.55)
        cells, count, line = self._rooms()
        self._paint_head(painter, cells, line)
        for number, layer in enumerate(plot.layers):
            self._paint_row(painter, number, layer, cells, count)
        if line.width():
            self._paint_line(painter, line)
        if plot.current is not None and not self.is_saving:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.current().color("text"), 1.5))
            row = QRectF(1, HEAD + ROW * plot.current + 1, self.width() - 2, ROW - 2)
            painter.drawRoundedRect(row, 4, 4)
        painter.end()

    def _rooms(self) -> tuple[QRectF, int, QRectF]:
        """Return where the guesses stand, how many of a layer, and where the line runs; none: no width."""
        plot, height = self._plot, float(ROW * len(self._plot.layers))
        known = any(layer.probability is not None for layer in plot.layers)
        free = self.width() - NAME - 8.0
        value = self._value_width()
        right = max(LEAST_LINE, 0.3 * free) + value if known and free > 3 * LEAST_CELL else 0.0
        wanted = max((len(layer.guesses) for layer in plot.layers), default=1) or 1
        count = max(1, min(wanted, MOST_GUESSES, int((free - right) // LEAST_CELL)))
        cells = QRectF(NAME, HEAD, free - right - (14 if right else 0), height)
        line = QRectF(cells.right() + 18, HEAD, right - value - 4, height) if right else QRectF()
        return cells, count, line

    def _value_width(self) -> float:
        """Return the room that the longest probability with its rank takes, and a margin."""
        metrics = QFontMetricsF(theme.ui_font(12))
        said = [_value_words(layer) for layer in self._plot.layers if layer.probability is not None]
        return max([VALUE - 12.0, *map(metrics.horizontalAdvance, said)]) + 12

    def _paint_head(self, painter: QPainter, cells: QRectF, line: QRectF) -> None:
        painter.setFont(theme.ui_font(11, bold=True))
        painter.setPen(theme.current().color("muted"))
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(
            QRectF(cells.left() + 2, 0, cells.width(), HEAD),
            left,
            words.translate("LayersPlot", "best guesses"),
        )
        if line.width():
            said = words.translate("LayersPlot", "probability of “{word}”").format(
                word=words.shorten(self._plot.word, 24)
            )
            painter.drawText(QRectF(line.left() - 6, 0, self.width() - line.left() + 2, HEAD), left, said)

    def _paint_row(self, painter: QPainter, number: int, layer: Layer, cells: QRectF, count: int) -> None:
        colors, plot = theme.current(), self._plot
        top = HEAD + ROW * number
        is_last = number == len(plot.layers) - 1
        painter.setFont(theme.ui_font(bold=is_last))
        painter.setPen(colors.color("text" if is_last else "muted"))
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(4, top, NAME - 8, ROW), middle, plot.name_of(number))
        width = (cells.width() - CELL_GAP * (count - 1)) / count
        for place, (word, value) in enumerate(layer.guesses[:count]):
            cell = QRectF(cells.left() + place * (width + CELL_GAP), top + 2, width, ROW - 4)
            self._paint_cell(painter, cell, word, value)

    def _paint_cell(self, painter: QPainter, cell: QRectF, word: str, value: float) -> None:
        colors = theme.current()
        is_word = bool(self._plot.word) and word.lower() == self._plot.word.lower()
        ground = theme.mix(colors.card, colors.accent, 0.05 + 0.75 * value)
        painter.setPen(QPen(colors.color("fine"), 2) if is_word else Qt.PenStyle.NoPen)
        painter.setBrush(QColor(ground))
        painter.drawRoundedRect(cell.adjusted(1, 1, -1, -1), 4, 4)
        ink, inner = ink_on(ground), cell.adjusted(8, 0, -7, 0)
        painter.setPen(ink)
        painter.setFont(theme.ui_font(11))
        said = words.probability(value)
        taken = QFontMetricsF(painter.font()).horizontalAdvance(said) + 6
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(inner, Qt.AlignmentFlag.AlignRight | middle, said)
        painter.setFont(theme.ui_font(bold=is_word))
        cut = QFontMetricsF(painter.font()).elidedText(
            word, Qt.TextElideMode.ElideRight, inner.width() - taken
        )
        painter.drawText(inner, Qt.AlignmentFlag.AlignLeft | middle, cut)

    def _paint_line(self, painter: QPainter, line: QRectF) -> None:
        colors, plot = theme.current(), self._plot
        known = [layer.probability for layer in plot.layers if layer.probability is not None]
        top = max(LEAST_TOP, max(known, default=0.0))
        painter.setPen(QPen(colors.color("line"), 1))
        painter.drawLine(line.topLeft(), line.bottomLeft())
        points, last = [], len(plot.layers) - 1
        painter.setFont(theme.ui_font(12))
        for number, layer in enumerate(plot.layers):
            if layer.probability is None:
                continue
            y = line.top() + ROW * (number + 0.5)
            points.append(QPointF(line.left() + line.width() * layer.probability / top, y))
            painter.setPen(colors.color("text" if number == last else "muted"))
            room = QRectF(line.right() + 4, y - ROW / 2, self.width() - 16 - line.right(), ROW)
            side = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(room, side, _value_words(layer))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(colors.color("fine"), 2))
        painter.drawPolyline(points)
        painter.setPen(QPen(colors.color("card"), 1.5))
        painter.setBrush(colors.color("fine"))
        for point in points:
            painter.drawEllipse(point, 4.5, 4.5)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            help_event = cast(QHelpEvent, event)
            layer = int((help_event.pos().y() - HEAD) // ROW)
            inside = 0 <= layer < len(self._plot.layers)
            said = self._plot.row_words(layer) if inside else ""
            QToolTip.showText(help_event.globalPos(), tip(said), self)
            return True
        return super().event(event)


def _value_words(layer: Layer) -> str:
    template = words.translate("LayersPlot", "{share} · rank {rank}")
    return template.format(
        share=words.probability(layer.probability or 0.0), rank=words.number(layer.rank or 0)
    )
