"""How one head came to look from one token: query, keys, products, scores, weights, values, and the output.

A row a token. Every dimension is a stripe: the accent for values above zero, the other hue for those below.
The query stands over the keys; a score is the sum of a row of products over the square root of their number.
Under the rows the sum is done with this head's numbers, and the output stands under the values it is made of.
"""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Signal
from PySide6.QtGui import QFocusEvent, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.look.columns import RIGHT
from app.look.labels import fitting
from app.plots import token_labels
from app.plots.attention_image import Picture, compose
from app.plots.figure import Figure, Numbers
from app.plots.layered import paint_label, paint_levels, value_words, whole_pixels
from app.plots.scrolled import RowsFigure
from app.plots.shown_figure import isolated
from app.plots.strokes import level_line, upright_line, write, write_parts
from engine.inspect.attention.weights import HeadAttention

ROW, STRIPES, BAR = 22, 14, 10  # px
HEADER = 52  # captions and the query
LINE, FOOTER = 18, 60  # a line of the sum under the rows, and all of it
EDGE, GAP = 8.0, 14.0
FIGURE = 44.0  # px for the value beside a bar


class QueryKeyPlot(RowsFigure):
    """Query and keys of one token in one head. A click or Enter chooses a key's token.

    Over the rows lies a header, under them a footer; both stay in view.
    """

    key_hovered = Signal(int)  # place of the token, -1 for none
    key_chosen = Signal(int)
    row_height = ROW
    head = HEADER
    wanted_size = (620, HEADER + 12 * ROW + FOOTER + 8)
    least_size = (320, HEADER + 3 * ROW + FOOTER)

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.detail: HeadAttention | None = None
        self._colors: dict[str, Picture] = {}
        # header and footer stay in view, so scrolling moves them over the rows
        self._scroll.verticalScrollBar().valueChanged.connect(self.canvas().update)

    @property
    def num_rows(self) -> int:
        return 0 if self.detail is None else len(self.detail.weights)

    def set_detail(self, detail: HeadAttention | None) -> None:
        """Show a token's query and all keys (`engine.inspect.attention.weights.detail`), or nothing."""
        self.detail = detail
        self._colors = {} if detail is None else _colors_of(detail)
        self.rows_changed()

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
        for place, token in enumerate(detail.tokens):
            parts = (detail.keys[place], detail.products[place], detail.values[place])
            figures = (detail.scores[place], detail.weights[place], *np.concatenate(parts).tolist())
            rows.append([place, token, *(float(f"{float(value):.6g}") for value in figures)])
        output = [float(f"{value:.6g}") for value in detail.output.tolist()]
        rows.append([detail.place, "output = sum of weight x value", "", "", *empty, *empty, *output])
        return rows

    def working(self) -> tuple[str, str, str]:
        """Return the way from query to output in numbers, for the marked token or the strongest."""
        assert self.detail is not None
        detail, size = self.detail, len(self.detail.query)
        place = int(detail.weights.argmax()) if self.current is None else self.current
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
            third = self.tr("output = Σ weight × value: counts as zero, because the head is off")
        return first, second, third

    def row_words(self, row: int) -> str:
        """Return a row in words: "bank → river   score 2.1   weight 0.31"."""
        assert self.detail is not None
        detail = self.detail
        return self.tr("{query} → {key}   score {score}   weight {weight}").format(
            query=isolated(detail.tokens[detail.place]),
            key=isolated(detail.tokens[row]),
            score=value_words(float(detail.scores[row]), True),
            weight=value_words(float(detail.weights[row])),
        )

    def words_of(self, target: int) -> str:
        return words.clauses((self.row_words(target), *self.working()))

    def tip_of(self, target: int) -> str:
        return ""  # the footer says it

    def current_changed(self) -> None:
        self.key_hovered.emit(-1 if self.current is None else self.current)

    def can_choose(self, target: int) -> bool:
        return True

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        self.key_chosen.emit(target)

    def target_at(self, at: QPointF) -> int | None:
        is_on_rows = self._scrolled() + HEADER <= at.y() < self._foot()
        return super().target_at(at) if is_on_rows else None

    def reveal(self, target: int) -> None:
        middle = self.rect_of(target).center().y()
        self._scroll.ensureVisible(0, int(middle), 0, ROW + HEADER + FOOTER)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        Figure.focusOutEvent(self, event)  # the working stays, to be saved with the picture

    @property
    def content_height(self) -> int:
        """How high header, rows and footer are together."""
        return self.top_of(self.num_rows) + 6 + FOOTER if self.num_rows else 0

    def columns(self) -> dict[str, QRectF]:
        """Return where each column lies, from left to right; only x and width count."""
        detail, width = self.detail, self.canvas().width()
        assert detail is not None
        metrics = QFontMetricsF(theme.ui_font(12))
        query = QFontMetricsF(theme.ui_font(12, bold=True)).horizontalAdvance(detail.tokens[detail.place])
        names = max(query + 8, *(metrics.horizontalAdvance(token) for token in detail.tokens)) + 8
        names = min(names, width * 0.2)
        left, rest = EDGE + names + 6, width - names - 2 * EDGE - 6
        shares = {"key": 0.21, "product": 0.21, "score": 0.18, "weight": 0.19, "value": 0.21}
        found = {"name": QRectF(EDGE, 0, names, 0)}
        for name, share in shares.items():
            found[name] = QRectF(left, 0, rest * share - GAP, 0)
            left += rest * share
        return found

    def paint(self, painter: QPainter, area: QRectF) -> None:
        if self.detail is None:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        columns = self.columns()
        for row, room in self.rows_in(area):
            self._paint_row(painter, columns, int(room.top()), row)
        self.paint_mark(painter)
        self._paint_header(painter, columns, 0.0 if self._saving else float(self._scrolled()))
        self._paint_footer(painter, columns, self._foot())

    def _foot(self) -> float:
        """Return where the footer begins: under the rows, or at the end of what is in view."""
        rows, holder = self.top_of(self.num_rows) + 6, self.canvas().parentWidget()
        if self._saving or holder is None:
            return float(rows)
        return float(min(rows, self._scrolled() + holder.height() - FOOTER))

    def _paint_footer(self, painter: QPainter, columns: dict[str, QRectF], top: float) -> None:
        """Do the sum with this head's numbers, and paint the output under the values."""
        colors = theme.current()
        painter.fillRect(QRectF(0, top, self.canvas().width(), FOOTER), colors.color("card"))
        painter.setPen(QPen(colors.color("line"), 1))
        level_line(painter, EDGE, self.canvas().width() - EDGE, top + 1)
        left = columns["name"].left()
        for number, line in enumerate(self.working()):
            right = columns["value"].left() - 6 if number == 2 else self.canvas().width() - EDGE
            write_parts(painter, QRectF(left, top + 4 + LINE * number, right - left, LINE), line, size=12)
        self._paint_stripes(
            painter, columns["value"], top + 4 + 2 * LINE - (ROW - LINE) / 2, self._colors["output"], 0
        )

    def _scrolled(self) -> int:
        return max(0, -self.canvas().pos().y())

    def _paint_header(self, painter: QPainter, columns: dict[str, QRectF], top: float) -> None:
        colors = theme.current()
        assert self.detail is not None
        painter.fillRect(QRectF(0, top, self.canvas().width(), HEADER - 3), colors.color("card"))
        for name, caption in self._captions(columns, QFontMetricsF(theme.ui_font(11))).items():
            place = QRectF(columns[name].left(), top, columns[name].width() + GAP, 22)
            write(painter, place, caption, "muted", size=11)
        painter.setFont(theme.ui_font(12, bold=True))
        metrics, names = QFontMetricsF(painter.font()), columns["name"]
        token = token_labels.cut(metrics, self.detail.tokens[self.detail.place], names.width() - 6)
        width = metrics.horizontalAdvance(token) + 8
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_label(painter, QRectF(names.right() - width, top + 24, width, 18), token, colors.accent_soft)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        self._paint_stripes(painter, columns["key"], top + 22, self._colors["query"], 0)
        painter.setPen(QPen(colors.color("line"), 1))
        level_line(painter, EDGE, self.canvas().width() - EDGE, top + HEADER - 4)

    def _captions(self, columns: dict[str, QRectF], metrics: QFontMetricsF) -> dict[str, str]:
        """Return each column's caption; what the strongest colour stands for is part of it, with room."""
        spread = "{caption}  ±{value}"
        whole = {
            "key": spread.format(
                caption=self.tr("query, keys"), value=value_words(self._colors["keys"].high)
            ),
            "product": spread.format(
                caption=self.tr("query × key"), value=value_words(self._colors["products"].high)
            ),
            "score": self.tr("score"),
            "weight": self.tr("weight"),
            "value": spread.format(caption=self.tr("value"), value=value_words(self._colors["values"].high)),
        }
        room = {name: column.width() + GAP - 6 for name, column in columns.items()}
        if all(metrics.horizontalAdvance(said) <= room[name] for name, said in whole.items()):
            return whole
        short = {
            **whole,
            "key": self.tr("query, keys"),
            "product": self.tr("query × key"),
            "value": self.tr("value"),
        }
        return {name: fitting(said, metrics, room[name]) for name, said in short.items()}

    def _paint_row(self, painter: QPainter, columns: dict[str, QRectF], top: int, place: int) -> None:
        detail, colors = self.detail, theme.current()
        assert detail is not None
        name = columns["name"]
        plan = token_labels.LabelPlan("flat", 1, 12, name.width())
        painter.setPen(colors.color("text"))
        token_labels.paint_row(painter, plan, detail.tokens[place], name.right() + 2, top + ROW / 2)
        self._paint_stripes(painter, columns["key"], top, self._colors["keys"], place)
        self._paint_stripes(painter, columns["product"], top, self._colors["products"], place)
        self._paint_score(painter, columns["score"], top, float(detail.scores[place]))
        weight, most = float(detail.weights[place]), float(detail.weights.max()) or 1.0
        room = max(4.0, columns["weight"].width() - FIGURE)
        bar = QRectF(columns["weight"].left(), top + (ROW - BAR) / 2, max(1.0, room * weight / most), BAR)
        painter.fillRect(bar, colors.color("accent"))
        beside = QRectF(bar.right() + 5, top, FIGURE + 8, ROW)
        write(painter, beside, value_words(weight), "muted", size=11)
        self._paint_stripes(painter, columns["value"], top, self._colors["values"], place)

    def _paint_score(self, painter: QPainter, column: QRectF, top: int, score: float) -> None:
        detail, colors = self.detail, theme.current()
        assert detail is not None
        low, high = min(0.0, float(detail.scores.min())), max(0.0, float(detail.scores.max()))
        room = max(4.0, column.width() - FIGURE)
        zero = column.left() + room * -low / ((high - low) or 1.0)
        end = zero + room * score / ((high - low) or 1.0)
        bar = QRectF(min(zero, end), top + (ROW - BAR) / 2, max(1.0, abs(end - zero)), BAR)
        painter.fillRect(bar, colors.color("accent" if score >= 0 else "b"))
        painter.setPen(QPen(colors.color("line"), 1))
        upright_line(painter, zero, top + 2, top + ROW - 2)
        place = QRectF(column.left() + room, top, FIGURE + 4, ROW)
        write(painter, place, value_words(score, True), "muted", size=11, side=RIGHT)

    def _paint_stripes(
        self, painter: QPainter, column: QRectF, top: float, picture: Picture, place: int
    ) -> None:
        area = QRectF(column.left(), top + (ROW - STRIPES) / 2, column.width(), STRIPES)
        paint_levels(painter, whole_pixels(painter, area), picture.levels[place : place + 1], is_signed=True)


def _colors_of(detail: HeadAttention) -> dict[str, Picture]:
    """Return numbers as colours; query and keys share a scale, and so do values and output."""
    top = float(max(np.abs(detail.query).max(initial=0.0), np.abs(detail.keys).max(initial=0.0)))
    most = float(np.abs(detail.values).max(initial=0.0))  # a mean of values is not beyond them
    return {
        "query": compose(detail.query[None, :], top=top, signed=True),
        "keys": compose(detail.keys, top=top, signed=True),
        "products": compose(detail.products, signed=True),
        "values": compose(detail.values, top=most, signed=True),
        "output": compose(detail.output[None, :] * detail.is_on, top=most, signed=True),
    }
