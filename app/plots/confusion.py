"""What was taken for what: a row for each true label, a column for each predicted one.

Blue on the diagonal and red beside it are shares of the row, on one scale; the counts stand in the cells, so
colour never carries the meaning alone. With many labels the counts move to the hover.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter

from app import words
from app.look import theme
from app.look.columns import RIGHT
from app.plots.cell_grid import CellGrid
from app.plots.figure import Numbers, ink_on, paint_ring
from app.plots.layered import LayeredFigure
from app.plots.pointed import cell_after
from app.plots.strokes import CENTER, level_line, paint_edge, write

NAME_SIZE = 12
TITLE_SIZE = 11
SMALLEST = 8  # px; smaller figures are left out
EDGE = 6
MOST_COMPARED = 60  # names, when it is decided where to shorten them
FAINTEST, SPAN = 0.16, 0.64  # of the hue, for next to nothing of a row, and what all of it adds
FEW = 8  # labels; with more, zeros are left out for calm
MOST_OF_FEW, MOST_OF_MANY = 0.45, 0.3  # of the width, for the names of few labels, of many


class ConfusionPlot(LayeredFigure):
    """A confusion matrix. A target is a cell: true, predicted. Where it is a door, a click on one is told."""

    chosen = Signal(int, int)
    is_door = False
    least_size = (200, 160)
    _labels: tuple[str, ...] = ()
    _counts = np.zeros((0, 0), dtype=np.int64)
    _marked: tuple[int, int] | None = None

    def set_confusion(self, labels: Sequence[str], counts: np.ndarray) -> None:
        """Show (C, C) counts, a row for each true label."""
        counts = np.asarray(counts, dtype=np.int64)
        assert counts.shape == (len(labels), len(labels)), (counts.shape, len(labels))
        if tuple(labels) != self._labels:
            self.forget()
        self._labels, self._counts = tuple(labels), counts
        self.describe()
        self.renew()

    def refuse(self) -> None:
        """Say that there are too many labels for a picture."""
        self.clear()
        self.set_empty_text(self.tr("There are too many labels to draw a confusion matrix."))

    def clear(self) -> None:
        """Show nothing."""
        self.set_confusion((), np.zeros((0, 0), dtype=np.int64))

    def set_marked(self, cell: tuple[int, int] | None) -> None:
        """Mark the cell whose texts are shown."""
        self._marked = cell
        self.update()

    def can_choose(self, target: tuple[int, int]) -> bool:
        return self.is_door

    def choose(self, target: tuple[int, int], event: QMouseEvent | QKeyEvent) -> None:
        self.chosen.emit(*target)

    @property
    def is_empty(self) -> bool:
        return not self._labels

    def numbers(self) -> Numbers:
        rows: Numbers = [[self.tr("true \\ predicted"), *self._labels]]
        for name, row in zip(self._labels, self._counts.tolist(), strict=True):
            rows.append([name, *row])
        return rows

    def cell_words(self, true: int, predicted: int) -> str:
        """Return a cell as a sentence: "12 of 80 'sport' texts were taken for 'tech' (15.0 %)"."""
        if true == predicted:
            sentence = self.tr("{count} of {total} “{true}” texts were predicted correctly ({share}).")
        else:
            sentence = self.tr("{count} of {total} “{true}” texts were predicted as “{predicted}” ({share}).")
        return sentence.format(**self.values_of(true, predicted))

    def values_of(self, true: int, predicted: int) -> dict[str, str]:
        """Return what a sentence of a cell may say: its count, that of its row, both labels, the share."""
        count, total = int(self._counts[true, predicted]), int(self._counts[true].sum())
        return {
            "count": words.number(count),
            "total": words.number(total),
            "true": self._labels[true],
            "predicted": self._labels[predicted],
            "share": words.share(count / total if total else 0.0),
        }

    def cell_color(self, true: int, predicted: int) -> str:
        """Return a cell's background: how much of its row it holds, in the hue of right or wrong."""
        colors, total = theme.current(), int(self._counts[true].sum())
        share = self._counts[true, predicted] / total if total else 0.0
        if not share:
            return colors.card
        hue = colors.accent if true == predicted else colors.wrong
        return theme.mix(colors.card, hue, FAINTEST + SPAN * float(np.sqrt(share)))  # one in a hundred shows

    def sizeHint(self) -> QSize:
        side = 90 + 48 * max(3, min(len(self._labels), 12))
        return QSize(side, side * 3 // 4)

    def words_of(self, target: tuple[int, int]) -> str:
        return self.cell_words(*target)

    def summary(self) -> str:
        if self.is_empty:
            return self.empty_text
        right, total = int(np.trace(self._counts)), int(self._counts.sum())
        return self.tr("{right} of {total} texts were predicted correctly.").format(
            right=words.number(right), total=words.number(total)
        )

    def rect_of(self, target: tuple[int, int]) -> QRectF:
        return self._grid.rect(*target)

    def target_at(self, at: QPointF) -> tuple[int, int] | None:
        return None if self.is_empty else self._grid.under(at)

    def after(self, event: QKeyEvent) -> tuple[int, int] | None:
        return cell_after(event, self.current, self._counts.shape)

    @property
    def _grid(self) -> CellGrid:
        return self._layout()[0]

    def _layout(self) -> tuple[CellGrid, bool]:
        """Return where the cells lie, and whether the names above them are turned."""
        metrics, count = QFontMetricsF(theme.ui_font(NAME_SIZE)), len(self._labels)
        widest = max(metrics.horizontalAdvance(name) for name in (*self._labels, self.tr("true ↓")))
        least = MOST_OF_FEW if count <= FEW // 2 else MOST_OF_MANY
        corner = QFontMetricsF(theme.ui_font(TITLE_SIZE)).horizontalAdvance(self.tr("true ↓"))
        names = max(min(widest + 10, self.width() * least), corner + 10)
        width = self.width() - 2 * EDGE - names
        is_turned = widest + 8 > width / max(1, count)
        head = min(widest + 12, self.height() * 0.34) if is_turned else metrics.height() + 6
        top = EDGE + TITLE_SIZE + 6.0 + head
        area = QRectF(EDGE + names, top, max(1.0, width), max(1.0, self.height() - top - EDGE))
        return CellGrid(area, (count, count), is_whole=True), is_turned

    def paint_still(self, painter: QPainter) -> None:
        grid, is_turned = self._layout()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
        self._paint_cells(painter, grid)
        self._paint_titles(painter, grid.area)
        metrics = QFontMetricsF(theme.ui_font(NAME_SIZE))
        every_row = _every(grid.area.height() / len(self._labels), metrics.height() - 2)
        every_column = _every(grid.area.width() / len(self._labels), metrics.height() - 2) if is_turned else 1
        for place, name in enumerate(self._labels):
            if place % every_row == 0:
                self._paint_row_name(painter, grid.rect(place, 0), name)
            if place % every_column == 0:
                self._paint_column_name(painter, grid.rect(0, place), name, is_turned)

    def paint_moving(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        for cell in {self.current, self._marked} - {None}:
            if cell and max(cell) < len(self._labels):
                paint_ring(painter, self.rect_of(cell))

    def _paint_cells(self, painter: QPainter, grid: CellGrid) -> None:
        area, count, size = grid.area, len(self._labels), self._figures_size(grid.rect(0, 0))
        for row, column in np.ndindex(count, count):
            cell, color = grid.rect(row, column), self.cell_color(row, column)
            painter.fillRect(cell, QColor(color))
            figure = int(self._counts[row, column])
            if size and (figure or count <= FEW):
                ink = ink_on(color) if figure else "muted"
                write(painter, cell, words.number(figure), ink, size=size, side=CENTER)
        paint_edge(painter, area.adjusted(0, 0, -1, -1), "line")
        if area.height() / count > 12:
            for row in range(1, count):
                level_line(painter, area.left(), area.right(), grid.down(row)[0])

    def _figures_size(self, cell: QRectF) -> int:
        """Return the largest size in which every count fits its cell; 0 when that is too small to read."""
        widest = words.number(int(self._counts.max(initial=0)))
        for size in range(theme.UI_SIZE, SMALLEST - 1, -1):
            metrics = QFontMetricsF(theme.ui_font(size))
            if metrics.horizontalAdvance(widest) + 4 <= cell.width() and metrics.height() <= cell.height():
                return size
        return 0

    def _paint_titles(self, painter: QPainter, area: QRectF) -> None:
        top = QRectF(area.left(), EDGE, area.width(), TITLE_SIZE + 4)
        write(painter, top, self.tr("predicted →"), "muted", size=TITLE_SIZE, side=CENTER)
        left = QRectF(EDGE, area.top() - TITLE_SIZE - 8, area.left() - EDGE - 6, TITLE_SIZE + 4)
        write(painter, left, self.tr("true ↓"), "muted", size=TITLE_SIZE, side=RIGHT)

    def _paint_row_name(self, painter: QPainter, cell: QRectF, name: str) -> None:
        metrics = QFontMetricsF(theme.ui_font(NAME_SIZE))
        top, width = cell.center().y() - metrics.height() / 2, cell.left() - EDGE - 6
        place = QRectF(EDGE, top, width, metrics.height())
        mode = telling_elision(self._labels, metrics, width)
        write(painter, place, name, size=NAME_SIZE, side=RIGHT, cut=mode)

    def _paint_column_name(self, painter: QPainter, cell: QRectF, name: str, is_turned: bool) -> None:
        metrics = QFontMetricsF(theme.ui_font(NAME_SIZE))
        if not is_turned:
            place = QRectF(cell.left(), cell.top() - metrics.height() - 4, cell.width(), metrics.height())
            write(painter, place, name, size=NAME_SIZE, side=CENTER)
            return
        room = cell.top() - EDGE - TITLE_SIZE - 12.0 + 2
        painter.save()
        painter.translate(cell.center().x(), cell.top() - 5)
        painter.rotate(-90)
        place = QRectF(0, -metrics.height() / 2, room, metrics.height())
        mode = telling_elision(self._labels, metrics, room)
        write(painter, place, name, size=NAME_SIZE, cut=mode)
        painter.restore()


def _every(room: float, needed: float) -> int:
    """Return how many names share one place when there is no room for each."""
    return max(1, int(np.ceil(needed / max(room, 1.0))))


def telling_elision(names: Sequence[str], metrics: QFontMetricsF, width: float) -> Qt.TextElideMode:
    """Return where to shorten names so that the most of them still differ; in the middle among equals."""
    some = names[:MOST_COMPARED]
    modes = (Qt.TextElideMode.ElideMiddle, Qt.TextElideMode.ElideRight, Qt.TextElideMode.ElideLeft)
    return max(modes, key=lambda mode: len({metrics.elidedText(name, mode, width) for name in some}))
