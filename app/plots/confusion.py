"""What was taken for what: a row for each true label, a column for each predicted one.

Blue on the diagonal and red beside it are shares of the row, on one scale; the counts stand in the cells, so
colour never carries the meaning alone. With many labels the counts move to the hover.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
)
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.plots.figure import Numbers, ink_on, paint_ring
from app.plots.pointed import PointedFigure, cell_after

NAME_SIZE = 12
TITLE_SIZE = 11
SMALLEST = 8  # px; smaller figures are left out
EDGE = 6
MOST_COMPARED = 60  # names, when it is decided where to shorten them
FAINTEST, SPAN = 0.16, 0.64  # of the hue, for next to nothing of a row, and what all of it adds
FEW = 8  # labels; with more, zeros are left out for calm
MOST_OF_FEW, MOST_OF_MANY = 0.45, 0.3  # of the width, for the names of few labels, of many


class ConfusionPlot(PointedFigure):
    """A confusion matrix. A target is a cell: true, predicted. Where it is a door, a click on one is told."""

    chosen = Signal(int, int)
    is_door = False
    least_size = (200, 160)

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self._labels: tuple[str, ...] = ()
        self._counts = np.zeros((0, 0), dtype=np.int64)
        self._marked: tuple[int, int] | None = None
        self._pixmap = QPixmap()
        self._painted_for: object = None  # how large it was, and in which colours
        theme.on_theme_change(self, self.update)

    def set_confusion(self, labels: Sequence[str], counts: np.ndarray) -> None:
        """Show (C, C) counts, a row for each true label."""
        counts = np.asarray(counts, dtype=np.int64)
        assert counts.shape == (len(labels), len(labels)), (counts.shape, len(labels))
        if tuple(labels) != self._labels:
            self.forget()
        self._labels, self._counts, self._painted_for = tuple(labels), counts, None
        self.describe()
        self.update()

    def refuse(self) -> None:
        """Say that there are too many labels for a picture."""
        self.clear()
        self.set_empty_text(self.tr("There are too many labels to draw which was taken for which."))

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
        count, total = int(self._counts[true, predicted]), int(self._counts[true].sum())
        values = {
            "count": words.number(count),
            "total": words.number(total),
            "true": self._labels[true],
            "predicted": self._labels[predicted],
            "share": words.share(count / total if total else 0.0),
        }
        if true == predicted:
            sentence = self.tr("{count} of {total} “{true}” texts were recognised ({share}).")
        else:
            sentence = self.tr("{count} of {total} “{true}” texts were taken for “{predicted}” ({share}).")
        return sentence.format(**values)

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

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        if not self.is_empty and self._saving:
            self._paint(painter)
        elif not self.is_empty:
            painter.drawPixmap(0, 0, self._picture())
            self._paint_marks(painter)
        self.paint_frame(painter)
        painter.end()

    def _picture(self) -> QPixmap:
        """Return the matrix as it was painted last: a hundred labels take longer than a mouse should wait."""
        key = (self.size(), self.devicePixelRatioF(), theme.current().name)
        if key != self._painted_for:
            self._pixmap = QPixmap(self.size() * self.devicePixelRatioF())
            self._pixmap.setDevicePixelRatio(self.devicePixelRatioF())
            self._pixmap.fill(Qt.GlobalColor.transparent)
            painter = QPainter(self._pixmap)
            self._paint(painter)
            painter.end()
            self._painted_for = key
        return self._pixmap

    def words_of(self, target: tuple[int, int]) -> str:
        return self.cell_words(*target)

    def summary(self) -> str:
        if self.is_empty:
            return self.empty_text
        right, total = int(np.trace(self._counts)), int(self._counts.sum())
        return self.tr("{right} of {total} texts were recognised.").format(
            right=words.number(right), total=words.number(total)
        )

    def rect_of(self, target: tuple[int, int]) -> QRectF:
        return self._cell(self._layout(), *target)

    def target_at(self, at: QPointF) -> tuple[int, int] | None:
        if self.is_empty:
            return None
        area, count = self._layout()[0], len(self._labels)
        row = int((at.y() - area.top()) / area.height() * count)
        column = int((at.x() - area.left()) / area.width() * count)
        return (row, column) if area.contains(at) and row < count and column < count else None

    def after(self, event: QKeyEvent) -> tuple[int, int] | None:
        return cell_after(event, self.current, self._counts.shape)

    def _layout(self) -> tuple[QRectF, bool]:
        """Return where the cells lie, and whether the names above them are turned."""
        metrics = QFontMetricsF(theme.ui_font(NAME_SIZE))
        widest = max(metrics.horizontalAdvance(name) for name in (*self._labels, self.tr("true ↓")))
        least = MOST_OF_FEW if len(self._labels) <= FEW // 2 else MOST_OF_MANY
        corner = QFontMetricsF(theme.ui_font(TITLE_SIZE)).horizontalAdvance(self.tr("true ↓"))
        names = max(min(widest + 10, self.width() * least), corner + 10)
        width = self.width() - 2 * EDGE - names
        title = TITLE_SIZE + 6.0
        turned = widest + 8 > width / max(1, len(self._labels))
        head = min(widest + 12, self.height() * 0.34) if turned else metrics.height() + 6
        top = EDGE + title + head
        return QRectF(EDGE + names, top, max(1.0, width), max(1.0, self.height() - top - EDGE)), turned

    def _cell(self, layout: tuple[QRectF, bool], row: int, column: int) -> QRectF:
        area, count = layout[0], len(self._labels)
        left, right = (area.left() + round(area.width() * x / count) for x in (column, column + 1))
        top, bottom = (area.top() + round(area.height() * y / count) for y in (row, row + 1))
        return QRectF(left, top, right - left, bottom - top)

    def _paint(self, painter: QPainter) -> None:
        layout = self._layout()
        painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
        self._paint_cells(painter, layout)
        self._paint_names(painter, layout)

    def _paint_marks(self, painter: QPainter) -> None:
        layout = self._layout()
        for cell in {self.current, self._marked} - {None}:
            if cell and max(cell) < len(self._labels):
                paint_ring(painter, self._cell(layout, *cell))

    def _paint_cells(self, painter: QPainter, layout: tuple[QRectF, bool]) -> None:
        font = self._figures_font(self._cell(layout, 0, 0))
        line = QPen(theme.current().color("line"), 1)
        if font:
            painter.setFont(font)
        for row in range(len(self._labels)):
            for column in range(len(self._labels)):
                cell, color = self._cell(layout, row, column), self.cell_color(row, column)
                painter.fillRect(cell, QColor(color))
                count = int(self._counts[row, column])
                if font and (count or len(self._labels) <= FEW):
                    painter.setPen(ink_on(color) if count else theme.current().color("muted"))
                    painter.drawText(cell, Qt.AlignmentFlag.AlignCenter, words.number(count))
        painter.setPen(line)
        area, count = layout[0], len(self._labels)
        if area.height() / count > 12:
            for i in range(1, count):
                y = self._cell(layout, i, 0).top()
                painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
        painter.drawRect(area.adjusted(0, 0, -1, -1))

    def _figures_font(self, cell: QRectF) -> QFont | None:
        """Return the largest font in which every count fits its cell; None when that is too small to read."""
        widest = words.number(int(self._counts.max(initial=0)))
        for size in range(theme.UI_SIZE, SMALLEST - 1, -1):
            metrics = QFontMetricsF(theme.ui_font(size))
            if metrics.horizontalAdvance(widest) + 4 <= cell.width() and metrics.height() <= cell.height():
                return theme.ui_font(size)
        return None

    def _paint_names(self, painter: QPainter, layout: tuple[QRectF, bool]) -> None:
        area, turned = layout
        colors = theme.current()
        painter.setFont(theme.ui_font(TITLE_SIZE))
        painter.setPen(colors.color("muted"))
        top = QRectF(area.left(), EDGE, area.width(), TITLE_SIZE + 4)
        painter.drawText(top, Qt.AlignmentFlag.AlignCenter, self.tr("predicted →"))
        left = QRectF(EDGE, area.top() - TITLE_SIZE - 8, area.left() - EDGE - 6, TITLE_SIZE + 4)
        painter.drawText(left, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, self.tr("true ↓"))
        painter.setPen(colors.color("text"))
        painter.setFont(theme.ui_font(NAME_SIZE))
        metrics = QFontMetricsF(painter.font())
        for i, name in enumerate(self._labels):
            self._paint_row_name(painter, metrics, layout, i, name)
            self._paint_column_name(painter, metrics, layout, i, name, turned)

    def _every(self, room: float, needed: float) -> int:
        """Return how many names share one place when there is no room for each."""
        return max(1, int(np.ceil(needed / max(room, 1.0))))

    def _paint_row_name(
        self, painter: QPainter, metrics: QFontMetricsF, layout: tuple[QRectF, bool], i: int, name: str
    ) -> None:
        cell = self._cell(layout, i, 0)
        if i % self._every(layout[0].height() / len(self._labels), metrics.height() - 2):
            return
        place = QRectF(
            EDGE, cell.center().y() - metrics.height() / 2, cell.left() - EDGE - 6, metrics.height()
        )
        cut = metrics.elidedText(name, telling_elision(self._labels, metrics, place.width()), place.width())
        painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, cut)

    def _paint_column_name(
        self,
        painter: QPainter,
        metrics: QFontMetricsF,
        layout: tuple[QRectF, bool],
        i: int,
        name: str,
        turned: bool,
    ) -> None:
        cell = self._cell(layout, 0, i)
        if not turned:
            place = QRectF(cell.left(), cell.top() - metrics.height() - 4, cell.width(), metrics.height())
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, name)
            return
        if i % self._every(layout[0].width() / len(self._labels), metrics.height() - 2):
            return
        room = cell.top() - EDGE - TITLE_SIZE - 12.0 + 2
        painter.save()
        painter.translate(cell.center().x(), cell.top() - 5)
        painter.rotate(-90)
        place = QRectF(0, -metrics.height() / 2, room, metrics.height())
        cut = metrics.elidedText(name, telling_elision(self._labels, metrics, room), room)
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, cut)
        painter.restore()


def telling_elision(names: Sequence[str], metrics: QFontMetricsF, width: float) -> Qt.TextElideMode:
    """Return where to shorten names so that the most of them still differ; in the middle among equals."""
    some = names[:MOST_COMPARED]
    modes = (Qt.TextElideMode.ElideMiddle, Qt.TextElideMode.ElideRight, Qt.TextElideMode.ElideLeft)
    return max(modes, key=lambda mode: len({metrics.elidedText(name, mode, width) for name in some}))
