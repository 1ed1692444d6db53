"""How one head came to look from one token: query, keys, products, scores, weights, values, and the output.

A row a token. Every dimension is a stripe: the accent for values above zero, the other hue for those below.
The query stands over the keys; a score is the sum of a row of products over the square root of their number.
Under the rows the sum is done with this head's numbers, and the output stands under the values it is made of.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.look.labels import fitting
from app.look.widgets import set_role
from app.plots import token_labels
from app.plots.attention_image import Picture, compose
from app.plots.figure import Numbers
from app.plots.layered import line_at, paint_chip, paint_levels, value_words, whole_pixels
from app.plots.scrolled import ScrolledFigure
from app.plots.shown_figure import isolated
from engine.inspect.attention.weights import Detail

ROW, STRIPES, BAR = 22, 14, 10  # px
HEADER = 52  # captions and the query
LINE, FOOTER = 18, 60  # a line of the sum under the rows, and all of it
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
        """Show a token's query and all keys (`engine.inspect.attention.weights.detail`), or nothing."""
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
        """Return a row for the query, for each token (score, weight, every number), and for the output."""
        if self.detail is None:
            return [["place", "token"]]
        detail, size = self.detail, len(self.detail.query)
        dimensions = range(1, size + 1)
        keys, products = (f"key {i}" for i in dimensions), (f"product {i}" for i in dimensions)
        values = (f"value {i}" for i in dimensions)
        rows: Numbers = [["place", "token", "score", "weight", *keys, *products, *values]]
        query = [float(f"{value:.6g}") for value in detail.query.tolist()]
        empty = [""] * size
        rows.append([detail.place, f"query of {detail.tokens[detail.place]}", "", "", *query, *empty, *empty])
        for place in self.order:
            parts = (detail.keys[place], detail.products[place], detail.values[place])
            figures = (
                detail.scores[place],
                detail.weights[place],
                *(x for part in parts for x in part.tolist()),
            )
            rows.append([place, detail.tokens[place], *(float(f"{float(value):.6g}") for value in figures)])
        output = [float(f"{value:.6g}") for value in detail.output.tolist()]
        rows.append([detail.place, "output = sum of weight x value", "", "", *empty, *empty, *output])
        return rows

    def working(self) -> tuple[str, str, str]:
        """Return the way from query to output in numbers, for the marked token or the strongest."""
        assert self.detail is not None
        detail, size = self.detail, len(self.detail.query)
        place = int(detail.weights.argmax()) if self.current is None else self.order[self.current]
        product, score = float(detail.products[place].sum()), float(detail.scores[place])
        powers = np.exp(detail.scores.astype(np.float64))
        first = self.tr("“{key}”: score = q · k / √{size} = {product} / {root} = {score}").format(
            key=isolated(detail.tokens[place]),
            size=size,
            product=value_words(product),
            root=words.decimal(math.sqrt(size), 2),
            score=value_words(score),
        )
        second = self.tr("weight = softmax = e^{score} / Σ e^score = {power} / {total} = {weight}").format(
            score=value_words(score),
            power=words.scientific(float(powers[place])),
            total=words.scientific(float(powers.sum())),
            weight=value_words(float(detail.weights[place])),
        )
        if detail.is_on:
            third = self.tr("output of this head = Σ weight × value, {size} numbers").format(size=size)
        else:
            third = self.tr("output = Σ weight × value: counts as zero, the head is off")
        return first, second, third

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
        return QSize(620, HEADER + 12 * ROW + FOOTER + 8)

    def minimumSizeHint(self) -> QSize:
        return QSize(320, HEADER + 3 * ROW + FOOTER)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        moves = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -10, Qt.Key.Key_PageDown: 10}
        if key in moves and self.order:
            here = self.current + moves[key] if self.current is not None else 0
            self.go_to(min(max(here, 0), len(self.order) - 1))
            self._scroll.ensureVisible(
                0, HEADER + ROW * (self.current or 0) + ROW // 2, 0, ROW + HEADER + FOOTER
            )
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self.current is not None:
            self.key_chosen.emit(self.order[self.current])
        else:
            super().keyPressEvent(event)

    def go_to(self, row: int | None) -> None:
        """Mark a row, or none."""
        if row != self.current:
            self.current = row
            told = "" if row is None else "; ".join((self.row_words(row), *self.working()))
            self.setAccessibleDescription(told)
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
        height = HEADER + ROW * len(self.order) + 6 + FOOTER
        self._canvas.setMinimumHeight(height if self.order else 0)
        self.updateGeometry()
        self._canvas.update()
        self.update()

    @Slot()
    def _repaint_header(self) -> None:
        self._canvas.update()  # header and footer stay in view, so scrolling moves them over the rows


class _Canvas(QWidget):
    """The rows, as tall as they need to be, between a header and a footer that stay in view."""

    def __init__(self, plot: QueryKeyPlot) -> None:
        super().__init__()
        self._plot = plot
        self._keys = self._products = self._query = Picture(np.zeros((1, 1), np.uint8), 0.0, 0.0, True)
        self._values = self._output = self._keys
        self.is_saving = False
        self.setMouseTracking(True)
        set_role(self, "clear")

    def take(self, detail: Detail | None) -> None:
        """Turn numbers into colours; query and keys share a scale, and so do values and output."""
        if detail is not None:
            top = float(max(np.abs(detail.query).max(initial=0.0), np.abs(detail.keys).max(initial=0.0)))
            self._query = compose(detail.query[None, :], top=top, signed=True)
            self._keys = compose(detail.keys, top=top, signed=True)
            self._products = compose(detail.products, signed=True)
            most = float(np.abs(detail.values).max(initial=0.0))  # a mean of values is not beyond them
            self._values = compose(detail.values, top=most, signed=True)
            self._output = compose(detail.output[None, :] * detail.is_on, top=most, signed=True)

    # Geometry

    def _columns(self) -> dict[str, QRectF]:
        """Return where each column lies, from left to right; only x and width count."""
        detail = self._plot.detail
        assert detail is not None
        metrics = QFontMetricsF(theme.ui_font(12))
        query = QFontMetricsF(theme.ui_font(12, bold=True)).horizontalAdvance(detail.tokens[detail.place])
        names = max(query + 8, *(metrics.horizontalAdvance(token) for token in detail.tokens)) + 8
        names = min(names, self.width() * 0.2)
        left, rest = EDGE + names + 6, self.width() - names - 2 * EDGE - 6
        shares = {"key": 0.21, "product": 0.21, "score": 0.18, "weight": 0.19, "value": 0.21}
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
        self._paint_footer(painter, columns, self._foot())
        painter.end()

    def _foot(self) -> float:
        """Return where the footer begins: under the rows, or at the end of what is in view."""
        rows = HEADER + ROW * len(self._plot.order) + 6
        holder = self.parentWidget()
        if self.is_saving or holder is None:
            return float(rows)
        return float(min(rows, self._scrolled() + holder.height() - FOOTER))

    def _paint_footer(self, painter: QPainter, columns: dict[str, QRectF], top: float) -> None:
        """Do the sum with this head's numbers, and paint the output under the values."""
        colors = theme.current()
        painter.fillRect(QRectF(0, top, self.width(), FOOTER), colors.color("card"))
        painter.setPen(QPen(colors.color("line"), 1))
        line_at(painter, EDGE, top + 1, self.width() - EDGE, top + 1)
        painter.setFont(theme.ui_font(12))
        painter.setPen(colors.color("text"))
        metrics, left = QFontMetricsF(painter.font()), columns["name"].left()
        for number, line in enumerate(self._plot.working()):
            right = columns["value"].left() - 6 if number == 2 else self.width() - EDGE
            place = QRectF(left, top + 4 + LINE * number, right - left, LINE)
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, fitting(line, metrics, place.width()))
        self._paint_stripes(painter, columns["value"], top + 4 + 2 * LINE - (ROW - LINE) / 2, self._output, 0)

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
            "value": spread.format(
                caption=words.translate("QueryKeyPlot", "value"), value=value_words(self._values.high)
            ),
        }
        room = {name: column.width() + GAP - 6 for name, column in columns.items()}
        if all(metrics.horizontalAdvance(said) <= room[name] for name, said in whole.items()):
            return whole
        short = {
            **whole,
            "key": words.translate("QueryKeyPlot", "query, keys"),
            "product": words.translate("QueryKeyPlot", "query × key"),
            "value": words.translate("QueryKeyPlot", "value"),
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
        self._paint_stripes(painter, columns["value"], top, self._values, place)

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
        is_on_rows = self._scrolled() + HEADER <= y < self._foot()
        return row if 0 <= row < len(self._plot.order) and is_on_rows else None
