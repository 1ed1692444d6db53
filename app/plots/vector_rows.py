"""A step of BERT as it is calculated, from left to right: a row a piece, vectors as stripes, shares as bars.

Vectors have two hues with the card between them; columns that are added share one scale. A sum stands under
its column, below a line, as on paper. The frame follows one number through the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen, QResizeEvent

from app import words
from app.look import theme
from app.look.columns import LEFT, RIGHT, Bar
from app.plots.attention_image import Picture, cells_of, compose
from app.plots.figure import Numbers
from app.plots.layered import LayeredFigure, paint_levels, value_words, whole_pixels
from app.plots.shown_figure import isolated
from app.plots.strokes import (
    ABSOLUTE,
    CENTER,
    level_line,
    paint_edge,
    upright_line,
    write,
    write_parts,
)  # fmt: skip

TEXT, STRIPES, BAR, SHARE, NUMBER = "text", "stripes", "bar", "share", "number"
LEAST_ROW, USUAL_ROW, MOST_ROW = 16.0, 30.0, 44.0  # px
TOP, HEAD, OVER = 3.0, 27.0, 26.0  # px: above the titles, with titles and hints; what stands over a column
FOOT, LEGEND = 34.0, 22.0
LOOK = 6  # px between two places of a row at which its numbers are looked for
SIGN, GAP, EDGE = 24.0, 14.0, 8.0  # px before a column, with a sign and without
WIDTHS = {TEXT: 120.0, BAR: 112.0, SHARE: 156.0, NUMBER: 124.0}
WIDEST = 400.0  # px of a column where there are no stripes
MOST_ZOOM = 1.3
FIGURE = 52.0  # px for the value beside a bar
STRIPE = 0.62  # of a row's height
NOTHING = (-1, -1, -1)

Target = tuple[int, int, int]  # row, column, number; -1 where it names none


@dataclass(frozen=True, slots=True)
class VectorRowHeader:
    """A row: what it is called, and what a click on it names. key: -1 of the row of all others."""

    text: str
    key: int
    is_chosen: bool = False
    is_quiet: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class VectorColumn:
    """One column. name: of the vector, where its numbers can be chosen; else "".

    values: (R,) or (R, N) of stripes; NaN where there is nothing to show. texts: in their place. top: what
    the strongest colour, or a whole bar, stands for. sign: what is done between this and the column before.
    parts: stripes side by side, of which `part` is the chosen one. foot: under a line, what rows add up to
    where `is_summed`; over: above the rows.
    """

    title: str
    kind: str = STRIPES
    hint: str = ""
    name: str = ""
    values: np.ndarray | None = None
    texts: tuple[str, ...] = ()
    top: float = 0.0
    sign: str = ""
    stretch: float = 1.0
    parts: int = 1
    part: int = -1
    is_off: bool = False
    foot: np.ndarray | None = None
    foot_words: str = ""
    is_summed: bool = False
    over: np.ndarray | None = None
    over_words: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class VectorPicture:
    """All of a step. frame: column -> number. legend: what the colours stand for."""

    rows: tuple[VectorRowHeader, ...] = ()
    columns: tuple[VectorColumn, ...] = ()
    frame: Mapping[int, int] = field(default_factory=dict)
    framed_row: int = -1
    legend: str = ""
    count: str = ""  # at the right of the legend


class VectorRows(LayeredFigure):
    """The picture of one step. A click on a stripe chooses its number, on a row the row."""

    nothing = NOTHING
    number_chosen = Signal(int, int)  # column, number
    foot_chosen = Signal(int, int)  # column, number of what stands below its line
    row_chosen = Signal(int)  # the row's key
    room_changed = Signal()  # for another count of rows

    picture = VectorPicture()
    _colors: Mapping[int, Picture] = MappingProxyType({})
    _most = 0

    @property
    def is_empty(self) -> bool:
        return not self.picture.rows

    @property
    def most_rows(self) -> int:
        """How many rows have room in any step, that of all others among them."""
        return max(5, int((self.height() - HEAD - OVER - FOOT - LEGEND) // LEAST_ROW))

    def room_for(self, picture: VectorPicture) -> int:
        """Return how many rows of such a picture have room."""
        return max(5, int((self.height() - _above(picture) - _below(picture)) // LEAST_ROW))

    def height_for(self, rows: int) -> int:
        """Return the px that so many rows take at least, in any step."""
        return int(HEAD + OVER + FOOT + LEGEND + rows * LEAST_ROW) + 1

    def least_height(self, picture: VectorPicture) -> int:
        """Return the px that a picture takes at least."""
        return int(_above(picture) + _below(picture) + len(picture.rows) * LEAST_ROW) + 1

    def chosen_rect(self) -> QRectF:
        """Return where the chosen row lies; the first where none is chosen."""
        places = (place for place, row in enumerate(self.picture.rows) if row.is_chosen)
        return self._row_rect(next(places, 0))

    def set_picture(self, picture: VectorPicture) -> None:
        """Show a step."""
        self.picture = picture
        self._colors = {
            place: compose(np.atleast_2d(column.values), top=column.top, signed=True)
            for place, column in enumerate(picture.columns)
            if column.kind == STRIPES and column.values is not None
        }
        self._hovered = self._walked = NOTHING
        self.describe()
        self.renew()

    def clear(self) -> None:
        """Show nothing."""
        self.set_picture(VectorPicture())

    def numbers(self) -> Numbers:
        """Return a row for each row, with every number of every column; what stands below comes last."""
        header: list[str | float | int] = ["piece"]
        for column in self.picture.columns:
            count = _count(column)
            title = column.title
            header += [title] if count == 1 else [f"{title} {i}" for i in range(1, count + 1)]
        rows: Numbers = [header]
        for place, head in enumerate(self.picture.rows):
            row: list[str | float | int] = [head.text]
            for column in self.picture.columns:
                row += _cells(column, place)
            rows.append(row)
        if any(column.foot is not None for column in self.picture.columns):
            foot: list[str | float | int] = ["="]
            for column in self.picture.columns:
                count, values = _count(column), column.foot
                foot += [""] * count if values is None else [_short(x) for x in np.atleast_1d(values)]
            rows.append(foot)
        return rows

    # ---- where things lie

    def _zoom(self) -> float:
        """Return how much larger all is where rows have much room, so that it is read from afar."""
        return min(MOST_ZOOM, max(1.0, self._row_height() / USUAL_ROW))

    def _size(self, size: int) -> int:
        """Return how large words of a size are now, px."""
        return round(size * self._zoom())

    def _row_height(self) -> float:
        rows = max(1, len(self.picture.rows))
        return min(MOST_ROW, max(LEAST_ROW - 3, (self._bottom() - self._top()) / rows))

    def _top(self) -> float:
        return _above(self.picture)

    def _bottom(self) -> float:
        return self.height() - _below(self.picture)

    def _end(self) -> float:
        """Return where the rows end."""
        return self._top() + self._row_height() * len(self.picture.rows)

    def _row_rect(self, row: int) -> QRectF:
        height = self._row_height()
        return QRectF(0, self._top() + row * height, self.width(), height)

    def columns(self) -> list[QRectF]:
        """Return where each column lies; only x and width count."""
        columns = self.picture.columns
        metrics = QFontMetricsF(theme.ui_font(self._size(13), bold=True))
        names = max((metrics.horizontalAdvance(row.text) for row in self.picture.rows), default=0.0) + 12
        has_stripes = any(column.kind == STRIPES for column in columns)
        if columns and columns[0].over_words:  # it stands before the first column
            names = max(names, metrics.horizontalAdvance(columns[0].over_words) + 12)
        left = EDGE + min(names, self.width() * (0.2 if has_stripes else 0.36))
        gaps = [SIGN if column.sign else GAP for column in columns]
        small = self.width() < 560
        scale = 0.78 if small else self._zoom()
        fixed = [WIDTHS.get(column.kind, 0.0) * scale for column in columns]
        room = self.width() - EDGE - left - sum(gaps) - sum(fixed)
        wide = [column.kind in (BAR, SHARE, TEXT) for column in columns]
        if any(wide) and all(column.kind != STRIPES for column in columns):
            more = max(0.0, room / sum(wide))
            fixed = [
                min(WIDEST, width + more) if can else width for width, can in zip(fixed, wide, strict=True)
            ]
        shares = sum(column.stretch for column in columns if column.kind == STRIPES) or 1.0
        found = []
        for column, gap, width in zip(columns, gaps, fixed, strict=True):
            width = width or max(20.0, room * column.stretch / shares)
            found.append(QRectF(left + gap, 0, width, 0))
            left += gap + width
        return found

    def looks(self) -> Iterator[QPointF]:
        for row in range(len(self.picture.rows)):
            middle = self._row_rect(row).center().y()
            for place in range(self.canvas().width() // LOOK):
                yield QPointF((place + 0.5) * LOOK, middle)

    def target_at(self, at: QPointF) -> Target:
        columns = self.columns() if self.picture.rows else []
        row = int((at.y() - self._top()) // self._row_height()) if self.picture.rows else -1
        is_row = 0 <= row < len(self.picture.rows)
        is_foot = self._end() <= at.y() <= self._end() + FOOT
        for place, room in enumerate(columns):
            column = self.picture.columns[place]
            inside = room.left() <= at.x() < room.right()
            has_numbers = column.kind == STRIPES and column.values is not None and bool(column.name)
            if inside and has_numbers and (is_row or (is_foot and column.foot is not None)):
                return (row if is_row else -1, place, self._number_at(column, room, at.x(), row, is_row))
        return (row, -1, -1) if is_row else NOTHING

    def _number_at(self, column: VectorColumn, room: QRectF, x: float, row: int, is_row: bool) -> int:
        """Return the strongest of the numbers that one pixel stands for."""
        assert column.values is not None
        values = column.values[row] if is_row else column.foot
        assert values is not None
        pixels = max(1, min(len(values), round(room.width())))
        pixel = min(pixels - 1, int((x - room.left()) / room.width() * pixels))
        cells = cells_of(pixel, pixels, len(values))
        return max(cells, key=lambda i: abs(float(values[i])) if np.isfinite(values[i]) else -1.0)

    def rect_of(self, target: Target) -> QRectF:
        row, column, number = target
        room = self._row_rect(row) if row >= 0 else QRectF(0, self._end() + 2, self.width(), FOOT - 4)
        if column < 0:
            return room
        area = self.columns()[column]
        values = self.picture.columns[column].values
        count = 1 if values is None else values.shape[-1]
        width = max(3.0, area.width() / count)
        left = area.left() + area.width() * number / count
        return QRectF(min(left, area.right() - width), room.top(), width, room.height())

    # ---- what is said

    def words_of(self, target: Target) -> str:
        row, place, number = target
        name = isolated(self.picture.rows[row].text) if row >= 0 else "="
        if place < 0:
            return name
        column = self.picture.columns[place]
        values = column.foot if row < 0 else None if column.values is None else column.values[row]
        value = float(values[number]) if values is not None else float("nan")
        if not np.isfinite(value):
            return name
        return self.tr("{piece}, {vector}, number {number}: {value}").format(
            piece=name, vector=column.title, number=number + 1, value=value_words(value, True)
        )

    def summary(self) -> str:
        if self.is_empty:
            return self.empty_text
        return words.listed(column.title for column in self.picture.columns)

    def can_choose(self, target: Target) -> bool:
        row, column, _number = target
        return column >= 0 or (row >= 0 and self.picture.rows[row].key >= 0)

    def choose(self, target: Target, event: QMouseEvent | QKeyEvent) -> None:
        row, column, number = target
        if column >= 0:
            (self.foot_chosen if row < 0 else self.number_chosen).emit(column, number)
        if row >= 0 and self.picture.rows[row].key >= 0:
            self.row_chosen.emit(self.picture.rows[row].key)

    def tip_of(self, target: Target) -> str:
        return self.words_of(target) if target[1] >= 0 else ""

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.most_rows != self._most:
            self._most = self.most_rows
            self.room_changed.emit()

    def sizeHint(self) -> QSize:
        return QSize(620, 360)

    def minimumSizeHint(self) -> QSize:
        return QSize(320, int(HEAD + OVER + FOOT + LEGEND + 5 * LEAST_ROW))

    # ---- painting

    def paint_still(self, painter: QPainter) -> None:
        columns = self.columns()
        self._paint_heads(painter, columns)
        for row in range(len(self.picture.rows)):
            self._paint_row(painter, columns, row)
        for place, column in enumerate(self.picture.columns):
            self._paint_beside(painter, columns, place, column)
        self._paint_legend(painter)

    def paint_chosen(self, painter: QPainter) -> None:
        if not self.picture.rows:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for column, number in self.picture.frame.items():
            top, last = self.rect_of((0, column, number)), self._end()
            has_foot = self.picture.columns[column].foot is not None
            high = (last + FOOT - 6 if has_foot else last) - top.top()
            frame = QRectF(top.left() - 1.5, top.top(), top.width() + 3, high)
            paint_edge(painter, frame, width=1.6, radius=2)
        if self.picture.framed_row >= 0:
            rect = self._row_rect(self.picture.framed_row).adjusted(1, 1, -2, -1)
            paint_edge(painter, rect, width=1.6, radius=3)

    def paint_moving(self, painter: QPainter) -> None:
        if self.current != NOTHING and self.can_choose(self.current):
            edge = self.rect_of(self.current).adjusted(0.5, 0.5, -0.5, -0.5)
            paint_edge(painter, edge, "muted", radius=2)

    def _paint_heads(self, painter: QPainter, columns: list[QRectF]) -> None:
        metrics = QFontMetricsF(theme.ui_font(bold=True))
        for place, (column, room) in enumerate(zip(self.picture.columns, columns, strict=True)):
            ahead = columns[place + 1].left() if place + 1 < len(columns) else self.width()
            width = max(room.width(), ahead - room.left() - 4)
            title = QRectF(room.left(), TOP, width, 18)
            write_parts(painter, title, column.title, bold=True)
            taken = metrics.horizontalAdvance(column.title) + 8
            write_parts(painter, title.adjusted(taken, 1, 0, 1), column.hint, "muted", size=11)
            centre = QRectF(room.left() - SIGN, TOP, SIGN, 18)
            write(painter, centre, column.sign, side=CENTER)
        painter.setPen(QPen(theme.current().color("line"), 1))
        level_line(painter, EDGE, self.width() - EDGE, HEAD - 2)

    def _paint_row(self, painter: QPainter, columns: list[QRectF], row: int) -> None:
        head, room = self.picture.rows[row], self._row_rect(row)
        if head.is_chosen:
            painter.fillRect(room, theme.current().color("hover"))
        size, ink = self._size(13 if room.height() > 16 else 11), "muted" if head.is_quiet else "text"
        width = (columns[0].left() if columns else self.width()) - EDGE - 8
        name = QRectF(EDGE + 2, room.top(), width, room.height())
        write_parts(painter, name, head.text, ink, size=size, bold=head.is_chosen, side=LEFT | ABSOLUTE)
        for place, (column, area) in enumerate(zip(self.picture.columns, columns, strict=True)):
            cell = QRectF(area.left(), room.top(), area.width(), room.height())
            self._paint_cell(painter, cell, place, column, row)

    def _paint_cell(
        self, painter: QPainter, cell: QRectF, place: int, column: VectorColumn, row: int
    ) -> None:
        if column.kind == TEXT:
            self._paint_words(painter, cell, column.texts[row], self.picture.rows[row].is_chosen)
            return
        assert column.values is not None
        values = column.values[row]
        if not np.isfinite(values).any():
            return
        if column.kind == STRIPES:
            self._paint_stripes(painter, cell, self._colors[place].levels[row : row + 1], column)
        elif column.kind == BAR:
            self._paint_bar(painter, cell, float(values), column)
        elif column.kind == SHARE:
            self._paint_share(painter, cell, float(values), self.picture.rows[row].is_chosen)
        else:
            said = column.texts[row] if column.texts else value_words(float(values))
            self._paint_words(painter, cell, said, self.picture.rows[row].is_chosen, is_right=True)

    def _paint_words(
        self, painter: QPainter, cell: QRectF, text: str, is_strong: bool = False, is_right: bool = False
    ) -> None:
        side = (RIGHT if is_right else LEFT) | ABSOLUTE
        write_parts(painter, cell, text, size=self._size(12), bold=is_strong, side=side)

    def _paint_stripes(
        self, painter: QPainter, cell: QRectF, levels: np.ndarray, column: VectorColumn
    ) -> None:
        colors = theme.current()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        height = cell.height() * STRIPE
        area = QRectF(cell.left(), cell.top() + (cell.height() - height) / 2, cell.width(), height)
        area = whole_pixels(painter, area)
        painter.setOpacity(0.3 if column.is_off else 1.0)
        paint_levels(painter, area, levels, is_signed=True)
        painter.setOpacity(1.0)
        ink, style = ("b", Qt.PenStyle.DashLine) if column.is_off else ("line", Qt.PenStyle.SolidLine)
        paint_edge(painter, area, ink, style=style)
        for part in range(1, column.parts):
            x = area.left() + area.width() * part / column.parts
            painter.setPen(QPen(colors.color("card"), 2))
            upright_line(painter, x, area.top(), area.bottom())
        if column.part >= 0:
            width = area.width() / column.parts
            painter.setPen(QPen(colors.color("accent"), 2))
            left = area.left() + width * column.part
            level_line(painter, left, left + width, area.bottom() + 2)

    def _paint_bar(self, painter: QPainter, cell: QRectF, value: float, column: VectorColumn) -> None:
        colors = theme.current()
        assert column.values is not None
        numbers = column.values[np.isfinite(column.values)]
        low, high = min(0.0, float(numbers.min())), max(0.0, float(numbers.max()))
        room = max(8.0, cell.width() - FIGURE * self._zoom())
        span = (high - low) or 1.0
        zero = cell.left() + room * -low / span
        end = zero + room * value / span
        bar = QRectF(min(zero, end), cell.center().y() - 4, max(1.0, abs(end - zero)), 8)
        painter.fillRect(bar, colors.color("muted"))
        painter.setPen(QPen(colors.color("line"), 1))
        upright_line(painter, zero, cell.top(), cell.bottom())
        self._paint_words(painter, cell, value_words(value), is_right=True)

    def _paint_share(self, painter: QPainter, cell: QRectF, value: float, is_strong: bool) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        room = QRectF(cell.left(), cell.center().y() - 4, max(8.0, cell.width() - FIGURE * self._zoom()), 8)
        Bar(value, height=8.0, radius=4.0).paint(painter, room)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        said = value_words(value) if value >= 0.001 or value == 0 else words.decimal(value, 4)
        self._paint_words(painter, cell, said, is_strong or value >= 0.145, is_right=True)

    def _paint_beside(
        self, painter: QPainter, columns: list[QRectF], place: int, column: VectorColumn
    ) -> None:
        """Paint what stands over the rows and, below a line, what they add up to."""
        room = columns[place]
        before = columns[0].left() if place == 0 else room.left() - SIGN / 2
        for values, said, top, height in (
            (column.over, column.over_words, HEAD, OVER),
            (column.foot, column.foot_words, self._end() + 4, FOOT - 6),
        ):
            if values is None:
                continue
            cell = QRectF(room.left(), top, room.width(), height)
            if column.kind == STRIPES:
                picture = compose(np.atleast_2d(values), top=column.top, signed=True)
                self._paint_stripes(painter, cell, picture.levels, VectorColumn(column.title))
            else:
                self._paint_words(painter, cell, value_words(float(values)), True, is_right=True)
            beside = QRectF(EDGE, top, before - EDGE - 4, height)
            write_parts(painter, beside, said, size=12, bold=True, side=RIGHT)
        if column.foot is not None:
            painter.setPen(QPen(theme.current().color("text"), 1.4))
            level_line(painter, room.left() - SIGN / 2 - 4, room.right(), self._end() + 1)
        if column.is_summed:
            plus = QRectF(room.left() - SIGN, self._end() - 18, SIGN, 18)
            write(painter, plus, "+", bold=True, side=CENTER)

    def _paint_legend(self, painter: QPainter) -> None:
        middle, quiet = self.height() - LEGEND / 2, partial(write, ink="muted", size=11)
        count = QFontMetricsF(theme.ui_font(11)).horizontalAdvance(self.picture.count) + 4
        right = QRectF(self.width() - EDGE - count, middle - 9, count, 18)
        quiet(painter, right, self.picture.count, side=RIGHT)
        if not self.picture.legend:
            return
        bar = whole_pixels(painter, QRectF(EDGE + 12, middle - 4, 84, 8))
        paint_levels(painter, bar, np.arange(1, 256, dtype=np.uint8)[None, :], is_signed=True)
        quiet(painter, QRectF(EDGE, middle - 9, 12, 18), "−")
        quiet(painter, QRectF(bar.right() + 4, middle - 9, 12, 18), "+")
        room = QRectF(bar.right() + 22, middle - 9, right.left() - bar.right() - 30, 18)
        write_parts(painter, room, self.picture.legend, "muted", size=11)


def _count(column: VectorColumn) -> int:
    return 1 if column.values is None or column.values.ndim == 1 else int(column.values.shape[1])


def _cells(column: VectorColumn, row: int) -> list[str | float | int]:
    if column.kind == TEXT:
        return [column.texts[row]]
    if column.values is None:
        return [""]
    return [_short(x) for x in np.atleast_1d(column.values[row])]


def _short(x: float) -> str | float:
    return float(f"{float(x):.6g}") if np.isfinite(x) else ""


def _above(picture: VectorPicture) -> float:
    """Return what the titles take, px, and what stands over a column."""
    return HEAD + (OVER if any(column.over is not None for column in picture.columns) else 0.0)


def _below(picture: VectorPicture) -> float:
    """Return what sums and the legend take, px."""
    foot = FOOT if any(column.foot is not None for column in picture.columns) else EDGE
    return foot + (LEGEND if picture.legend or picture.count else 0.0)
