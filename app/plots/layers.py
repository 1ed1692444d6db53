"""What each layer would put into a gap: its best guesses shaded by probability, and a line for one word.

The last layer, which is the model's own answer, stands at the bottom, as it is read last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from app import words
from app.look import theme
from app.look.columns import RIGHT
from app.plots.figure import Numbers, ink_on
from app.plots.scrolled import RowsFigure
from app.plots.strokes import paint_dots, paint_line, write

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
class LayerGuesses:
    """A layer's answer. guesses: (word, probability), the likeliest first.

    probability, rank: of the word that is followed; None where there is none.
    """

    guesses: tuple[tuple[str, float], ...]
    probability: float | None = None
    rank: int | None = None


class LayersPlot(RowsFigure):
    """A row a layer, the embeddings on top. word: the one that is followed, "" for none."""

    row_height = ROW
    head = HEAD
    least_size = (260, HEAD + 3 * ROW)
    layers: tuple[LayerGuesses, ...] = ()
    word = ""

    def set_layers(self, layers: Sequence[LayerGuesses], word: str = "") -> None:
        """Show the answers of the embeddings, then of each layer."""
        self.layers, self.word, self.is_dim = tuple(layers), word, False
        self.rows_grown()

    def clear(self) -> None:
        """Show nothing."""
        self.set_layers([])

    @property
    def num_rows(self) -> int:
        return len(self.layers)

    def name_of(self, layer: int) -> str:
        """Return what a layer is called."""
        if layer == 0:
            return self.tr("Embeddings")
        return self.tr("Layer {number}").format(number=words.number(layer))

    def words_of(self, target: int) -> str:
        """Return a layer's answer in words."""
        found = self.layers[target]
        said = words.listed(f"{word} {words.probability(value)}" for word, value in found.guesses)
        said = words.captioned(self.name_of(target), said)
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

    def summary(self) -> str:
        return words.clauses(map(self.words_of, range(self.num_rows)))

    def sizeHint(self) -> QSize:
        return QSize(560, HEAD + ROW * max(3, len(self.layers)) + 6)

    def paint(self, painter: QPainter, area: QRectF) -> None:
        if self.is_dim and not self._saving:
            painter.setOpacity(0.55)
        cells, count, line = self.rooms()
        self._paint_head(painter, cells, line)
        for number, _room in self.rows_in(area):
            self._paint_row(painter, number, self.layers[number], cells, count)
        if line.width():
            self._paint_line(painter, line)
        self.paint_mark(painter)

    def rooms(self) -> tuple[QRectF, int, QRectF]:
        """Return where the guesses stand, how many of a layer, and where the line runs; none: no width."""
        height = float(ROW * len(self.layers))
        known = any(layer.probability is not None for layer in self.layers)
        name = self._name_width()
        free = self.canvas().width() - name - 8.0
        value = self._value_width()
        right = max(LEAST_LINE, 0.3 * free) + value if known and free > 3 * LEAST_CELL else 0.0
        wanted = max((len(layer.guesses) for layer in self.layers), default=1) or 1
        count = max(1, min(wanted, MOST_GUESSES, int((free - right) // LEAST_CELL)))
        cells = QRectF(name, HEAD, free - right - (14 if right else 0), height)
        line = QRectF(cells.right() + 18, HEAD, right - value - 4, height) if right else QRectF()
        return cells, count, line

    def _name_width(self) -> float:
        """Return the room that the longest name of a layer takes, and a margin."""
        metrics = QFontMetricsF(theme.ui_font(bold=True))
        names = (self.name_of(number) for number in {0, max(0, len(self.layers) - 1)})
        return max([NAME - 14.0, *map(metrics.horizontalAdvance, names)]) + 14

    def _value_width(self) -> float:
        """Return the room that the longest probability with its rank takes, and a margin."""
        metrics = QFontMetricsF(theme.ui_font(12))
        said = [_value_words(layer) for layer in self.layers if layer.probability is not None]
        return max([VALUE - 12.0, *map(metrics.horizontalAdvance, said)]) + 12

    def _paint_head(self, painter: QPainter, cells: QRectF, line: QRectF) -> None:
        over = QRectF(cells.left() + 2, 0, cells.width(), HEAD)
        write(painter, over, self.tr("best guesses"), "muted", size=11, bold=True)
        if line.width():
            said = self.tr("probability of “{word}”").format(word=words.shorten(self.word, 24))
            over = QRectF(line.left() - 6, 0, self.canvas().width() - line.left() + 2, HEAD)
            write(painter, over, said, "muted", size=11, bold=True)

    def _paint_row(
        self, painter: QPainter, number: int, layer: LayerGuesses, cells: QRectF, count: int
    ) -> None:
        top, is_last = HEAD + ROW * number, number == len(self.layers) - 1
        name, ink = QRectF(4, top, cells.left() - 8, ROW), "text" if is_last else "muted"
        write(painter, name, self.name_of(number), ink, bold=is_last)
        width = (cells.width() - CELL_GAP * (count - 1)) / count
        for place, (word, value) in enumerate(layer.guesses[:count]):
            cell = QRectF(cells.left() + place * (width + CELL_GAP), top + 2, width, ROW - 4)
            self._paint_cell(painter, cell, word, value)

    def _paint_cell(self, painter: QPainter, cell: QRectF, word: str, value: float) -> None:
        colors = theme.current()
        is_word = bool(self.word) and word.lower() == self.word.lower()
        ground = theme.mix(colors.card, colors.accent, 0.05 + 0.75 * value)
        painter.setPen(QPen(colors.color("fine"), 2) if is_word else Qt.PenStyle.NoPen)
        painter.setBrush(QColor(ground))
        painter.drawRoundedRect(cell.adjusted(1, 1, -1, -1), 4, 4)
        ink, inner, said = ink_on(ground), cell.adjusted(8, 0, -7, 0), words.probability(value)
        write(painter, inner, said, ink, size=11, side=RIGHT)
        inner.setWidth(inner.width() - QFontMetricsF(theme.ui_font(11)).horizontalAdvance(said) - 6)
        write(painter, inner, word, ink, bold=is_word, cut=Qt.TextElideMode.ElideRight)

    def _paint_line(self, painter: QPainter, line: QRectF) -> None:
        colors = theme.current()
        known = [layer.probability for layer in self.layers if layer.probability is not None]
        top = max(LEAST_TOP, max(known, default=0.0))
        painter.setPen(QPen(colors.color("line"), 1))
        painter.drawLine(line.topLeft(), line.bottomLeft())
        points, last = [], len(self.layers) - 1
        for number, layer in enumerate(self.layers):
            if layer.probability is None:
                continue
            y = line.top() + ROW * (number + 0.5)
            points.append(QPointF(line.left() + line.width() * layer.probability / top, y))
            room = QRectF(line.right() + 4, y - ROW / 2, self.canvas().width() - 16 - line.right(), ROW)
            ink = "text" if number == last else "muted"
            write(painter, room, _value_words(layer), ink, size=12, side=RIGHT)
        paint_line(painter, points, colors.color("fine"), 2)
        paint_dots(painter, points, colors.color("fine"), 4.5, 1.5)


def _value_words(layer: LayerGuesses) -> str:
    template = words.translate("LayersPlot", "{share} · rank {rank}")
    return template.format(
        share=words.probability(layer.probability or 0.0), rank=words.number(layer.rank or 0)
    )
