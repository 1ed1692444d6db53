"""How one head came to look from one token: its query, each key, their product, the score and the weight.

A row a token. Every dimension is a stripe: the accent for values above zero, the other hue for those below.
The query stands over the keys; a score is the sum of a row of products over the square root of their number.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app import theme, words
from app.fitted_text import fitting
from app.plots import token_labels
from app.plots.attention_image import Picture, compose
from app.plots.figure import Numbers
from app.plots.layered import line_at, paint_chip, paint_levels, value_words, whole_pixels
from app.plots.scrolled import ScrolledFigure
from app.plots.shown_figure import isolated
from app.widgets import set_role
from engine.inspect.attention import Detail

ROW, STRIPES, BAR = 22, 14, 10  # px
HEADER = 52  # captions and the query
EDGE, GAP = 8.0, 14.0
FIGURE = 44.0  # px for the value beside a bar


class QueryKeyPlot(ScrolledFigure):
    """Query and keys of one token in one head. Up and down move, a click or Enter chooses a key's token."""

    key_hovered = Signal(int)  # place of the token, -1 for none
    key_chosen = Signal(int)

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.detail: Detail | None = None
        self.is_sorted = False
        self.current: int | None = None  # the row, from the top
        self.order: list[int] = []
        self._canvas = _Canvas(self)
        self.hold(self._canvas)
        self._scroll.verticalScrollBar().valueChanged.connect(self._repaint_header)

    @property
    def is_empty(self) -> bool:
        return self.detail is None

    def set_detail(self, detail: Detail | None) -> None:
        """Show a token's query and all keys (`engine.inspect.attention.detail`), or nothing."""
        self.detail = detail
        self._scroll.setVisible(detail is not None)
        self._canvas.take(detail)
        self._lay_out()

    def set_sorted(self, is_sorted: bool) -> None:
        """Show the largest weights first, or the tokens as they stand in the text."""
        self.is_sorted = is_sorted
        self._lay_out()

    def clear(self) -> None:
        """Show nothing."""
        self.set_detail(None)

    def numbers(self) -> Numbers:
        """Return a row for the query and for each key: score, weight, every dimension, every product."""
        if self.detail is None:
            return [["place", "token"]]
        detail, size = self.detail, len(self.detail.query)
        dimensions = range(1, size + 1)
        keys, products = (f"key {i}" for i in dimensions), (f"product {i}" for i in dimensions)
        rows: Numbers = [["place", "token", "score", "weight", *keys, *products]]
        query = [float(f"{value:.6g}") for value in detail.query.tolist()]
        empty = [""] * size
        rows.append([detail.place, f"query of {detail.tokens[detail.place]}", "", "", *query, *empty])
        for place in self.order:
            values = (*detail.keys[place].tolist(), *detail.products[place].tolist())
            figures = (detail.scores[place], detail.weights[place], *values)
            rows.append([place, detail.tokens[place], *(float(f"{float(value):.6g}") for value in figures)])
        return rows

    def row_words(self, row: int) -> str:
        """Return a row in words: "bank → river   score 2.1   weight 0.31"."""
        assert self.detail is not None
        detail, place = self.detail, self.order[row]
        return self.tr("{query} → {key}   score {score}   weight {weight}").format(
            query=isolated(detail.tokens[detail.place]),
            key=isolated(detail.tokens[place]),
            score=value_words(float(detail.scores[place]), True),
            weight=value_words(float(detail.weights[place])),
        )

    def set_saving(self, saving: bool) -> None:
        super().set_saving(saving)
        self._canvas.is_saving = saving

    def sizeHint(self) -> QSize:
        return QSize(620, HEADER + 12 * ROW + 8)

    def minimumSizeHint(self) -> QSize:
        return QSize(320, HEADER + 3 * ROW)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        moves = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -10, Qt.Key.Key_PageDown: 10}
        if key in moves and self.order:
            here = self.current + moves[key] if self.current is not None else 0
            self.go_to(min(max(here, 0), len(self.order) - 1))
            self._scroll.ensureVisible(0, HEADER + ROW * (self.current or 0) + ROW // 2, 0, ROW + HEADER)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self.current is not None:
            self.key_chosen.emit(self.order[self.current])
        else:
            super().keyPressEvent(event)

    def go_to(self, row: int | None) -> None:
        """Mark a row, or none."""
        if row != self.current:
            self.current = row
            self.setAccessibleDescription(self.row_words(row) if row is not None else "")
            self.key_hovered.emit(self.order[row] if row is not None else -1)
            self._canvas.update()

    def _lay_out(self) -> None:
        self.current, self.order = None, []
        if self.detail is not None:
            count = len(self.detail.tokens)
            weights = self.detail.weights
            self.order = (
                np.argsort(-weights, kind="stable").tolist() if self.is_sorted else list(range(count))
            )
        self._canvas.setMinimumHeight(HEADER + ROW * len(self.order) + 6 if self.order else 0)
        self.updateGeometry()
        self._canvas.update()
        self.update()

    @Slot()
    def _repaint_header(self) -> None:
        self._canvas.update()  # the header stays in view, so scrolling moves it over the rows


class _Canvas(QWidget):
    """The rows, as tall as they need to be, under a header that stays in view."""

    def __init__(self, plot: QueryKeyPlot) -> None:
        super().__init__()
        self._plot = plot
        self._keys = self._products = self._query = Picture(np.zeros((1, 1), np.uint8), 0.0, 0.0, True)
        self.is_saving = False
        self.setMouseTracking(True)
        set_role(self, "clear")

    def take(self, detail: Detail | None) -> None:
        """Turn numbers into colours; query and keys share a scale."""
        if detail is not None:
            top = float(max(np.abs(detail.query).max(initial=0.0), np.abs(detail.keys).max(initial=0.0)))
            self._query = compose(detail.query[None, :], top=top, signed=True)
            self._keys = compose(detail.keys, top=top, signed=True)
            self._products = compose(detail.products, signed=True)

    # Geometry

    def _columns(self) -> dict[str, QRectF]:
        """Return where each column lies, from left to right; only x and width count."""
        detail = self._plot.detail
        assert detail is not None
        metrics = QFontMetricsF(theme.ui_font(12))
        names = max(metrics.horizontalAdvance(token) for token in detail.tokens) + 8
        names = min(names, self.width() * 0.2)
        left, rest = EDGE + names + 6, self.width() - names - 2 * EDGE - 6
        shares = {"key": 0.27, "product": 0.27, "score": 0.22, "weight": 0.24}
        found = {"name": QRectF(EDGE, 0, names, 0)}
        for name, share in shares.items():
            found[name] = QRectF(left, 0, rest * share - GAP, 0)
            left += rest * share
        return found

    def _visible(self, event: QPaintEvent) -> Iterator[tuple[int, int]]:
        first = max(0, (event.rect().top() - HEADER) // ROW)
        last = (event.rect().bottom() - HEADER) // ROW + 1
        yield from list(enumerate(self._plot.order))[first:last]

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._plot.detail is None:
            return
        painter = QPainter(self)
        columns = self._columns()
        for row, place in self._visible(event):
            self._paint_row(painter, columns, HEADER + row * ROW, place)
            if row == self._plot.current and not self.is_saving:
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(QPen(theme.current().color("text"), 1.5))
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.drawRoundedRect(QRectF(2, HEADER + row * ROW + 0.5, self.width() - 4, ROW - 1), 4, 4)
        self._paint_header(painter, columns, 0.0 if self.is_saving else float(self._scrolled()))
        painter.end()

    def _scrolled(self) -> int:
        return max(0, -self.pos().y())

    def _paint_header(self, painter: QPainter, columns: dict[str, QRectF], top: float) -> None:
        plot, colors = self._plot, theme.current()
        assert plot.detail is not None
        painter.fillRect(QRectF(0, top, self.width(), HEADER - 3), colors.color("card"))
        painter.setFont(theme.ui_font(11))
        painter.setPen(colors.color("muted"))
        for name, caption in self._captions(columns, QFontMetricsF(painter.font())).items():
            place = QRectF(columns[name].left(), top, columns[name].width() + GAP, 22)
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, caption)
        painter.setFont(theme.ui_font(12, bold=True))
        metrics, names = QFontMetricsF(painter.font()), columns["name"]
        token = token_labels.cut(metrics, plot.detail.tokens[plot.detail.place], names.width() - 6)
        width = metrics.horizontalAdvance(token) + 8
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_chip(painter, QRectF(names.right() - width, top + 24, width, 18), token, colors.accent_soft)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        self._paint_stripes(painter, columns["key"], top + 22, self._query, 0)
        painter.setPen(QPen(colors.color("line"), 1))
        line_at(painter, EDGE, top + HEADER - 4, self.width() - EDGE, top + HEADER - 4)

    def _captions(self, columns: dict[str, QRectF], metrics: QFontMetricsF) -> dict[str, str]:
        """Return each column's caption; what the strongest colour stands for is part of it, with room."""
        spread = "{caption}  ±{value}"
        whole = {
            "key": spread.format(
                caption=words.translate("QueryKeyPlot", "query, keys"), value=value_words(self._keys.high)
            ),
            "product": spread.format(
                caption=words.translate("QueryKeyPlot", "query × key"), value=value_words(self._products.high)
            ),
            "score": words.translate("QueryKeyPlot", "score"),
            "weight": words.translate("QueryKeyPlot", "weight"),
        }
        room = {name: column.width() + GAP - 6 for name, column in columns.items()}
        if all(metrics.horizontalAdvance(said) <= room[name] for name, said in whole.items()):
            return whole
        short = {
            **whole,
            "key": words.translate("QueryKeyPlot", "query, keys"),
            "product": words.translate("QueryKeyPlot", "query × key"),
        }
        return {name: fitting(said, metrics, room[name]) for name, said in short.items()}

    def _paint_row(self, painter: QPainter, columns: dict[str, QRectF], top: int, place: int) -> None:
        detail, colors = self._plot.detail, theme.current()
        assert detail is not None
        name = columns["name"]
        plan = token_labels.Plan("flat", 1, 12, name.width())
        painter.setPen(colors.color("text"))
        token_labels.paint_row(painter, plan, detail.tokens[place], name.right() + 2, top + ROW / 2)
        self._paint_stripes(painter, columns["key"], top, self._keys, place)
        self._paint_stripes(painter, columns["product"], top, self._products, place)
        self._paint_score(painter, columns["score"], top, float(detail.scores[place]))
        weight, most = float(detail.weights[place]), float(detail.weights.max()) or 1.0
        room = max(4.0, columns["weight"].width() - FIGURE)
        bar = QRectF(columns["weight"].left(), top + (ROW - BAR) / 2, max(1.0, room * weight / most), BAR)
        painter.fillRect(bar, colors.color("accent"))
        self._paint_figure(
            painter, QRectF(bar.right() + 5, top, FIGURE + 8, ROW), value_words(weight), "left"
        )

    def _paint_score(self, painter: QPainter, column: QRectF, top: int, score: float) -> None:
        detail, colors = self._plot.detail, theme.current()
        assert detail is not None
        low, high = min(0.0, float(detail.scores.min())), max(0.0, float(detail.scores.max()))
        room = max(4.0, column.width() - FIGURE)
        zero = column.left() + room * -low / ((high - low) or 1.0)
        end = zero + room * score / ((high - low) or 1.0)
        bar = QRectF(min(zero, end), top + (ROW - BAR) / 2, max(1.0, abs(end - zero)), BAR)
        painter.fillRect(bar, colors.color("accent" if score >= 0 else "b"))
        painter.setPen(QPen(colors.color("line"), 1))
        line_at(painter, zero, top + 2, zero, top + ROW - 2)
        place = QRectF(column.left() + room, top, FIGURE + 4, ROW)
        self._paint_figure(painter, place, value_words(score, True), "right")

    def _paint_figure(self, painter: QPainter, place: QRectF, text: str, side: str) -> None:
        painter.setFont(theme.ui_font(11))
        painter.setPen(theme.current().color("muted"))
        sides = {"left": Qt.AlignmentFlag.AlignLeft, "right": Qt.AlignmentFlag.AlignRight}
        painter.drawText(place, sides[side] | Qt.AlignmentFlag.AlignVCenter, text)

    def _paint_stripes(
        self, painter: QPainter, column: QRectF, top: float, picture: Picture, place: int
    ) -> None:
        area = QRectF(column.left(), top + (ROW - STRIPES) / 2, column.width(), STRIPES)
        paint_levels(painter, whole_pixels(painter, area), picture.levels[place : place + 1], is_signed=True)

    # Mouse

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._plot.go_to(self._row_at(event.position().y()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._plot.go_to(None)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        row = self._row_at(event.position().y())
        if event.button() == Qt.MouseButton.LeftButton and row is not None:
            self._plot.key_chosen.emit(self._plot.order[row])

    def _row_at(self, y: float) -> int | None:
        row = int((y - HEADER) // ROW)
        is_under_header = y < self._scrolled() + HEADER
        return row if 0 <= row < len(self._plot.order) and not is_under_header else None
