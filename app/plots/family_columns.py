"""The members of a family in equal columns, the oldest left: what each may see, what it says, what it cannot.

A filled bar is a probability, a hollow one a likeness; both run from 0 to 1 and are never compared. Where the
columns do not fit, they move under the words at the left, which stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QScrollArea

from app import words
from app.look import theme
from app.look.columns import CUT_RIGHT, RIGHT
from app.plots.family_left import (
    RANK,
    RIM,
    SCORE,
    SMALL,
    SMALLER,
    TOP,
    WRAPPED,
    LeftWords,
    tall_heights,
    wrapped_height,
)
from app.plots.figure import Numbers
from app.plots.member_column import (
    BLANK,
    OTHER_SIDE,
    SEEN_BAG,
    SEEN_FILL,
    FamilyLabels,
    MemberColumn,
    WordEntry,
)
from app.plots.pointed import ARROWS, PointedFigure, Target, cell_after, place_after
from app.plots.seen_words import paint_words, place_words
from app.plots.sense_planes import dot_at, paint_plane, scale_of
from app.plots.strokes import paint_chip, paint_edge, painter_on, write

LEFT = 148  # px of the words at the left
LEAST = 108  # px of a column
PAD = 9
NARROW_LEFT, NARROW, NARROW_PAD = 116, 73, 5  # where there is less room: a small window, or a lecture
FEW_WIDE = 150  # px of a column in which the words themselves are drawn, not blocks for them
ABREAST = 160  # px of a column in which its planes stand beside one another, not under one another
NARROW_ENTRY = 33  # px of a word with its value below it, beside the bar
NARROW_VALUE = 44  # px of the value there
CAPTION, HEAD, SEEN, ENTRY = 26, 41, 46, 25
NAME = 20.0  # px of a name in one line
_BREAKS = re.compile(r"(?<=[-_./ ])(?=.)|(?<=[a-z])(?=[A-Z]{2})")  # where a name may go on in another line
TWO_LINES, PLANE = 36, 96  # px of a score with its interval below it, and of a plane of sentences
MOST_PLANE = 140.0  # px of one that stands beside another
ROOMY_SMALL = 16  # px of a font
ROOMY, ROOMY_ENTRY = 320, 37  # px of a column that has room to spare, and of a word with its bar there
_write = partial(write, cut=CUT_RIGHT)


@dataclass(slots=True)
class _Rows:
    """Where each row begins, px, and how high it is."""

    tops: dict[str, float] = field(default_factory=dict)
    heights: dict[str, float] = field(default_factory=dict)
    height: float = 0.0

    def add(self, name: str, height: float) -> None:
        self.tops[name], self.heights[name] = self.height, height
        self.height += height


class FamilyColumns(PointedFigure):
    """Columns of members; a click on an entry, or Enter, tells its word."""

    entry_chosen = Signal(str)
    member_chosen = Signal(str)  # its name

    columns: tuple[MemberColumn, ...] = ()
    labels = FamilyLabels()
    hint = name_hint = ""  # what a click does: on an entry, on a name
    _rows = _Rows()
    _shift = 0  # px that the columns have moved to the left
    _lift = 0  # px that they have moved up, under their names
    _value_width = float(NARROW_VALUE)
    _sentence = -1  # whose marks are ringed in all planes

    def set_columns(self, columns: Sequence[MemberColumn], labels: FamilyLabels) -> None:
        """Show members, the oldest first."""
        self.columns, self.labels = tuple(columns), labels
        self._lay_out()
        self.forget()

    def clear(self) -> None:
        """Show nothing."""
        self.set_columns((), FamilyLabels())

    def set_shift(self, shift: int) -> None:
        """Keep the words at the left where they are while the columns move."""
        if shift != self._shift:
            self._shift = shift
            self.update()

    def set_lift(self, lift: int) -> None:
        """Keep the names where they are seen while the columns move up."""
        if lift != self._lift:
            self._lift = lift
            self.update()

    def row_above(self, y: float) -> str:
        """Return the name of the last row that ends above a height, "" where there is none."""
        rows = self._rows
        ends = {name: top + rows.heights[name] for name, top in rows.tops.items()}
        return max((name for name in ends if ends[name] <= y + 1), key=lambda name: ends[name], default="")

    def end_of(self, name: str) -> int:
        """Return where a row ends, px; 0 where there is no such row."""
        return round(self._rows.tops.get(name, 0.0) + self._rows.heights.get(name, 0.0))

    @property
    def num_entries(self) -> int:
        if self.is_abreast:
            return 0  # they stand over the planes
        return max((len(column.entries) for column in self.columns), default=0)

    @property
    def is_narrow(self) -> bool:
        """Whether not all columns have nearly their usual room: a scroll bar beside them alone does not make
        it so.
        """
        return self.width() < LEFT + (LEAST - 4) * len(self.columns)

    @property
    def shows_words(self) -> bool:
        """Whether the columns are wide enough for the words that are seen."""
        return self.column_width >= FEW_WIDE

    @property
    def is_abreast(self) -> bool:
        """Whether there are planes, and room for them beside one another."""
        return bool(self.labels.planes) and self.column_width >= ABREAST

    @property
    def left(self) -> int:
        """px of the words at the left."""
        return NARROW_LEFT if self.is_narrow else LEFT

    @property
    def pad(self) -> int:
        """px within a column, at each side."""
        return NARROW_PAD if self.is_narrow else PAD

    @property
    def entry(self) -> int:
        """px of a word with its bar."""
        if self.is_narrow:
            return NARROW_ENTRY
        return ENTRY if self.small == SMALL else ROOMY_ENTRY

    @property
    def small(self) -> int:
        """px of the font in a column: larger where columns are wide, as on a large screen."""
        return SMALL if self.column_width < ROOMY else ROOMY_SMALL

    @property
    def column_width(self) -> float:
        return max(float(NARROW), (self.width() - self.left) / max(1, len(self.columns)))

    def left_of(self, column: int) -> float:
        """Return where a column begins."""
        return self.left + column * self.column_width

    def _lay_out(self) -> None:
        rows, inner = _Rows(), self.column_width - 2 * self.pad
        rows.add("caption", CAPTION)
        names = [self._name_height(column.name, inner) for column in self.columns]
        rows.add("head", HEAD + max([0.0, *(high - NAME for high in names)]))
        if self.labels.seen[0]:
            lines = [place_words(column.words, inner, self.small)[1] for column in self.columns]
            rows.add("seen", max(lines, default=0.0) + 18 + self.small if self.shows_words else SEEN)
        says = TOP + self.num_entries * self.entry if self.num_entries else 0.0
        texts = [self._height(column.text, inner) for column in self.columns if column.text]
        if self.labels.says[0] and not self.is_abreast:
            rows.add("says", max([says, 4 * ENTRY if self.labels.legend[0] else ENTRY, *texts]) + 2 * TOP)
        if self.is_abreast:
            rows.add("planes", self._plane_side() + 18 + 3 * TOP)
        for number in range(0 if self.is_abreast else len(self.labels.planes)):
            rows.add(f"plane{number}", PLANE)
        if self.labels.rank:
            rows.add("rank", RANK + self.small - SMALL)
        for name, said, each in (
            ("why", self.labels.why, [column.why for column in self.columns]),
            ("cannot", self.labels.cannot, [column.cannot for column in self.columns]),
            ("shown", self.labels.shown, [column.shown for column in self.columns]),
        ):
            if said and any(each) and not (name == "cannot" and self.is_abreast):
                rows.add(name, max(self._height(text, inner) for text in each) + 2 * TOP)
        for number, (said, below) in enumerate(self.labels.scores):
            has_interval = any(
                column.scores[number].interval for column in self.columns if number < len(column.scores)
            )
            least = float(TWO_LINES if has_interval else SCORE)
            if (tall := tall_heights(said, below, self.left - RIM)) is not None:
                least = max(least, sum(tall) + 8)
            rows.add(f"score{number}", least)
        values = (self._value(column, entry) for column in self.columns for entry in column.entries)
        metrics = QFontMetricsF(theme.ui_font(self.small))
        widths = (metrics.horizontalAdvance(value) + 6 for value in values)
        self._value_width = max(float(NARROW_VALUE), *widths, 0.0)
        self._rows = rows
        self.setMinimumSize(NARROW_LEFT + NARROW * len(self.columns), int(rows.height) + 4)
        self.updateGeometry()
        self.update()

    @property
    def name_size(self) -> int:
        """px of the font of a name."""
        return SMALLER if self.is_narrow else self.small + 2

    def _name_height(self, name: str, width: float) -> float:
        """Return how high a name is: one that is too long has its parts in lines below one another."""
        metrics = QFontMetricsF(theme.ui_font(self.name_size, bold=True))
        if metrics.horizontalAdvance(name) <= width:
            return NAME
        return metrics.boundingRect(QRectF(0, 0, width, 1000), *self._broken(name, width)).height() + 4

    def _broken(self, name: str, width: float) -> tuple[Qt.AlignmentFlag, str]:
        """Return a name that may be broken between its parts, and anywhere where one of them is too long."""
        parts = _BREAKS.split(name)
        metrics = QFontMetricsF(theme.ui_font(self.name_size, bold=True))
        is_long = any(metrics.horizontalAdvance(part) > width for part in parts)
        how = Qt.TextFlag.TextWrapAnywhere if is_long else Qt.TextFlag.TextWordWrap
        return Qt.AlignmentFlag.AlignTop | how, "\u200b".join(parts)

    def _height(self, text: str, width: float) -> float:
        return wrapped_height(text, width, self.small)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._lay_out()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._lay_out()

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def numbers(self) -> Numbers:
        rows: Numbers = [["member", "year", "word", "value", "kind"]]
        for column in self.columns:
            kind = "likeness" if column.is_likeness else "probability"
            rows += [[column.name, column.year, one.word, one.value, kind] for one in column.entries]
            if column.text:
                rows.append([column.name, column.year, column.text, "", "text"])
            for (said, below), cell in zip(self.labels.scores, column.scores, strict=False):
                name, kind = f"{said} {below}".strip(), cell.interval or "score"
                kind = f"{kind}; best or tied" if cell.is_best else kind
                rows.append([column.name, column.year, name, cell.text, kind])
            for layer, plane in zip(self.labels.planes, column.planes, strict=False):
                rows += [[column.name, layer, dot.said, f"{dot.x:.4f} {dot.y:.4f}", "point"] for dot in plane]
        return rows

    # sentences in planes, which the mouse rings in all of them

    def _plane_side(self) -> float:
        """px of a plane that stands beside others."""
        count = len(self.labels.planes)
        return min(MOST_PLANE, (self.column_width - 2 * self.pad - (count - 1) * 8.0) / max(1, count))

    def _plane_room(self, layer: int, column: int) -> QRectF:
        if self.is_abreast:
            side = self._plane_side()
            x = self.left_of(column) + self.pad + layer * (side + 8.0)
            return QRectF(x, self._rows.tops["planes"] + TOP + 18, side, side)
        side = min(PLANE - 2.0 * TOP, self.column_width - 2 * self.pad)
        return QRectF(self.left_of(column) + self.pad, self._rows.tops[f"plane{layer}"] + TOP, side, side)

    def dot_at(self, at: QPointF) -> tuple[int, int, int] | None:
        """Return the layer, column and sentence of the mark at a place."""
        if at.x() < self.left + self._shift:
            return None
        for number, column in enumerate(self.columns):
            for layer, plane in enumerate(column.planes[: len(self.labels.planes)]):
                room = self._plane_room(layer, number)
                place = dot_at(at, plane, room, scale_of(column.planes)) if room.contains(at) else -1
                if place >= 0:
                    return layer, number, place
        return None

    def tip_at(self, at: QPointF) -> str:
        found = self.dot_at(at)
        if found is None:
            return super().tip_at(at)
        layer, number, place = found
        return words.captioned(self.labels.planes[layer], self.columns[number].planes[layer][place].said)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        found = self.dot_at(event.position())
        sentence = -1 if found is None else found[2]
        if sentence != self._sentence:
            self._sentence = sentence
            self.update()

    # what can be pointed at: (entry, column); the entry -1 is the member's name

    def rect_of(self, target: tuple[int, int]) -> QRectF:
        row, column = target
        if row < 0:
            wide = self.column_width - 2 * self.pad + 6
            high = self._rows.heights.get("head", HEAD) - 3
            return QRectF(self.left_of(column) + self.pad - 3, self._head_top() + 1, wide, high)
        top = self._rows.tops.get("says", 0.0) + TOP + row * self.entry
        return QRectF(
            self.left_of(column) + self.pad - 3, top, self.column_width - 2 * self.pad + 6, self.entry
        )

    def _head_top(self) -> float:
        """Return where the names are: at the top of what is seen, once the columns have moved up."""
        top = self._rows.tops.get("head", 0.0)
        return top if self._saving else max(top, float(self._lift))

    def things(self) -> Iterable[Target] | None:
        shown = enumerate(self.columns)
        return [(row, number) for number, column in shown for row in range(-1, len(column.entries))]

    def target_at(self, at: QPointF) -> tuple[int, int] | None:
        if at.x() < self.left + self._shift:
            return None
        for number, column in enumerate(self.columns):
            for row in range(-1, len(column.entries)):
                if self.rect_of((row, number)).contains(at):
                    return row, number
        return None

    def after(self, event: QKeyEvent) -> tuple[int, int] | None:
        if self.current is not None and self.current[0] < 0:
            return self._after_name(event, self.current[1])
        if event.key() == Qt.Key.Key_Up and self.columns and self.current in (None, *self._firsts()):
            return -1, 0 if self.current is None else self.current[1]
        if not self.num_entries:
            return (-1, 0) if self.columns and Qt.Key(event.key()) in ARROWS else None
        row, number = cell_after(event, self.current, (self.num_entries, len(self.columns))) or (-1, -1)
        if number < 0:
            return None
        by = -1 if event.key() == Qt.Key.Key_Left else 1
        while 0 <= number < len(self.columns) and not self.columns[number].entries:
            number += by  # who says nothing is passed over
        if not 0 <= number < len(self.columns):
            stays: tuple[int, int] | None = self.current
            return stays
        found: tuple[int, int] = min(row, len(self.columns[number].entries) - 1), number
        return found

    def _firsts(self) -> list[tuple[int, int]]:
        return [(0, number) for number in range(len(self.columns))]

    def _after_name(self, event: QKeyEvent, number: int) -> tuple[int, int] | None:
        """Return where a key leads from a name."""
        if event.key() == Qt.Key.Key_Down and self.columns[number].entries:
            return 0, number
        found = place_after(event, number, len(self.columns))
        return None if found is None else (-1, found)

    def words_of(self, target: tuple[int, int]) -> str:
        row, number = target
        column = self.columns[number]
        if row < 0:
            return words.phrases(part for part in (column.name, column.year) if part)
        entry = column.entries[row]
        kind = self.tr("similarity") if column.is_likeness else self.tr("probability")
        value = f"{kind} {self._value(column, entry)}"
        said = words.captioned(column.name, words.phrases((entry.word, value)))
        return self.tr("{said}; the answer").format(said=said) if entry.is_answer else said

    def tip_of(self, target: tuple[int, int]) -> str:
        hint = self.name_hint if target[0] < 0 else self.hint
        return f"{self.words_of(target)}\n{hint}" if hint else self.words_of(target)

    def summary(self) -> str:
        found = []
        for column in self.columns:
            cells = zip(self.labels.scores, column.scores, strict=False)
            reached = words.phrases(f"{said} {cell.text or self.labels.unable}" for (said, _), cell in cells)
            firsts = words.listed(entry.word for entry in column.entries[:3]) or column.text
            firsts = firsts or column.cannot or reached
            found.append(words.captioned(column.name, firsts))
        return words.clauses(found)

    def can_choose(self, target: tuple[int, int]) -> bool:
        return bool(self.name_hint if target[0] < 0 else self.hint)

    def choose(self, target: tuple[int, int], event: QMouseEvent | QKeyEvent) -> None:
        row, number = target
        column = self.columns[number]
        if row < 0:
            self.member_chosen.emit(column.name)
        else:
            self.entry_chosen.emit(column.entries[row].word)

    def reveal(self, target: tuple[int, int]) -> None:
        inside = self.parentWidget()
        area = None if inside is None else inside.parentWidget()
        if isinstance(area, QScrollArea):
            room = self.rect_of(target)
            area.ensureVisible(
                int(room.left()) - self.left // 2, int(room.center().y()), self.left // 2 + NARROW, 20
            )

    # painting

    def ring_room(self) -> QRect:
        return self.visibleRegion().boundingRect()  # it may be larger than what it is seen through

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = painter_on(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.columns:
            self._paint(painter)
        painter.end()
        super().paintEvent(event)

    def _paint(self, painter: QPainter) -> None:
        colors = theme.current()
        self._paint_captions(painter)
        for number, column in enumerate(self.columns):
            x, width = self.left_of(number) + self.pad, self.column_width - 2 * self.pad
            painter.setPen(QPen(colors.color("line"), 1))
            edge = self.left_of(number)
            painter.drawLine(QPointF(edge, self._rows.tops["head"]), QPointF(edge, self._rows.height))
            self._paint_head(painter, column, x, width)
            self._paint_entries(painter, number, column, x, width)
            if self.is_abreast:
                self._paint_over_planes(painter, number, column)
            for layer, plane in enumerate(column.planes[: len(self.labels.planes)]):
                pointed = -1 if self._saving else self._sentence
                room = self._plane_room(layer, number)
                paint_plane(painter, plane, room, scale_of(column.planes), pointed)
            self._paint_rest(painter, column, x, width)
        if self._head_top() > self._rows.tops["head"]:
            self._paint_names_again(painter)
        if self.current is not None and not self._saving:
            paint_edge(painter, self.rect_of(self.current).adjusted(1, 1, -1, -1), width=1.5, radius=4)
        self._left_words().paint(painter)
        if self._head_top() > self._rows.tops["head"]:
            room = QRectF(self._shift, self._head_top(), self.left - RIM, self._rows.heights["head"])
            painter.fillRect(room, theme.current().color("card"))

    def _paint_names_again(self, painter: QPainter) -> None:
        """Paint the names over the columns that have moved up under them."""
        band = QRectF(0, self._head_top(), self.width(), self._rows.heights["head"])
        painter.fillRect(band, theme.current().color("card"))
        for number, column in enumerate(self.columns):
            x = self.left_of(number) + self.pad
            self._paint_name(painter, column, x, self.column_width - 2 * self.pad, band.top())
        painter.setPen(QPen(theme.current().color("line"), 1))
        painter.drawLine(band.bottomLeft(), band.bottomRight())

    def _paint_over_planes(self, painter: QPainter, number: int, column: MemberColumn) -> None:
        """Paint what each plane is, with its similarity; in the room of planes that are lacking, why."""
        for layer, entry in enumerate(column.entries[: len(column.planes)]):
            plane = self._plane_room(layer, number)
            over = QRectF(plane.left(), plane.top() - 19, plane.width(), 18)
            value = self._value(column, entry)
            _write(painter, over, value, "text", size=self.small, bold=True, side=RIGHT)
            name = over.adjusted(0, 0, -2.5 * self.small, 0)
            _write(painter, name, entry.word, "muted", size=self.small if plane.width() > 100 else SMALLER)
        if column.cannot and len(column.planes) < len(self.labels.planes):
            free = self._plane_room(len(column.planes), number)
            right = self.left_of(number) + self.column_width - self.pad
            room = QRectF(free.left(), free.top(), right - free.left(), free.height())
            self._wrapped(painter, room, column.cannot)

    def _paint_captions(self, painter: QPainter) -> None:
        begin = 0
        while begin < len(self.columns):
            end = begin
            while end < len(self.columns) and self.columns[end].caption == self.columns[begin].caption:
                end += 1
            width = (end - begin) * self.column_width - 2 * self.pad
            room = QRectF(self.left_of(begin) + self.pad, 2, width, CAPTION - 8)
            said = self.columns[begin].caption.upper()
            _write(painter, room, said, "muted", size=10 if self.is_narrow else 11, bold=True)
            painter.setPen(QPen(theme.current().color("muted"), 1))
            painter.drawLine(room.bottomLeft(), room.bottomRight())
            begin = end

    def _paint_head(self, painter: QPainter, column: MemberColumn, x: float, width: float) -> None:
        self._paint_name(painter, column, x, width, self._rows.tops["head"])
        if "seen" not in self._rows.tops:
            return
        top = self._rows.tops["seen"]
        if self.shows_words:
            rooms, high = place_words(column.words, width, self.small)
            paint_words(painter, column.words, rooms, QPointF(x, top + 4), self.small)
            below = QRectF(x, top + high + 7, width, 18)
            _write(painter, below, column.seen, size=self.small, bold=True)
            return
        self._paint_blocks(painter, column, x, top + 6, width)
        room = QRectF(x, top + 26, width + self.pad - 2, 18)
        _write(painter, room, column.seen, size=10 if self.is_narrow else 11)

    def _paint_name(
        self, painter: QPainter, column: MemberColumn, x: float, width: float, top: float
    ) -> None:
        high = self._name_height(column.name, width)
        if high > NAME:
            side, name = self._broken(column.name, width)
            write(painter, QRectF(x, top + 3, width, high), name, size=self.name_size, bold=True, side=side)
        else:
            room = QRectF(x, top + 2, width, NAME)
            _write(painter, room, column.name, "text", size=self.name_size, bold=True)
        year = QRectF(x, top + high + 1, width, 18)
        size = fitting_size(column.year, 10 if self.is_narrow else SMALL, width)
        _write(painter, year, column.year, "muted", size=size)

    def _paint_blocks(
        self, painter: QPainter, column: MemberColumn, x: float, y: float, width: float
    ) -> None:
        colors, gap = theme.current(), 2.0
        lengths = [4 if one.kind == BLANK else len(one.text) for one in column.words]
        room = width - gap * max(0, len(lengths) - 1)
        for one, length in zip(column.words, lengths, strict=True):
            kind = one.kind
            block = QRectF(x, y, max(3.0, room * length / max(1, sum(lengths))), 14)
            color = colors.color("b" if kind == OTHER_SIDE else "accent")
            if kind == SEEN_BAG:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(color)
                half = min(9.0, block.width()) / 2
                painter.drawEllipse(block.center(), half, half)
            elif kind in (SEEN_FILL, OTHER_SIDE):
                paint_chip(painter, block, color.name(), radius=2)
            else:
                ink, wide = ("text", 1.6) if kind == BLANK else ("muted", 1.0)
                style = Qt.PenStyle.SolidLine if kind == BLANK else Qt.PenStyle.DashLine
                paint_edge(painter, block.adjusted(0.8, 0.8, -0.8, -0.8), ink, wide, 2, style)
            x += block.width() + gap

    def _value(self, column: MemberColumn, entry: WordEntry) -> str:
        if not column.is_likeness:
            return words.probability(entry.value)
        return words.decimal(round(entry.value, 2), 2)

    def _paint_entries(
        self, painter: QPainter, number: int, column: MemberColumn, x: float, width: float
    ) -> None:
        colors = theme.current()
        if self.is_abreast:
            return
        if column.text and self.labels.says[0]:
            room = QRectF(x, self._rows.tops["says"] + TOP, width, self._rows.heights["says"])
            self._wrapped(painter, room, column.text)
        for row, entry in enumerate(column.entries):
            place = self.rect_of((row, number))
            value = self._value(column, entry)
            font = theme.ui_font(self.small, entry.is_answer)
            value_width = QFontMetricsF(font).horizontalAdvance(value) + 2
            begin = x
            if entry.is_answer:
                theme.icon("check", "fine").paint(painter, QRectF(x - 2, place.top() + 2, 14, 14).toRect())
                begin += 14
            beside = 0.0 if self.is_narrow else value_width + 4
            line = QRectF(begin, place.top(), x + width - begin - beside, self.small + 6)
            _write(painter, line, entry.word, "text", size=self.small, bold=entry.is_answer)
            below = 13 if self.is_narrow else 0
            right = QRectF(x + width - value_width, place.top() + below, value_width, self.small + 6)
            color = "text" if entry.is_answer else "muted"
            _write(painter, right, value, color, size=self.small, bold=entry.is_answer, side=RIGHT)
            long = max(0.0, width - self._value_width) if self.is_narrow else width
            bar = 5.0 if self.small == SMALL else 8.0
            track = QRectF(x, place.top() + self.small + 7, long, bar)
            paint_chip(painter, track, colors.line, radius=bar / 2)
            share = min(1.0, max(0.0, entry.value))
            _paint_bar(painter, track, share, "fine" if entry.is_answer else "accent", column.is_likeness)

    def _wrapped(
        self, painter: QPainter, room: QRectF, text: str, color: str = "text", size: int = 0
    ) -> None:
        write(painter, room, text, color, size=size or self.small, side=WRAPPED)

    def _paint_rest(self, painter: QPainter, column: MemberColumn, x: float, width: float) -> None:
        tops, heights = self._rows.tops, self._rows.heights
        if "rank" in tops:
            room = QRectF(x, tops["rank"], width, heights["rank"])
            ink = "fine" if column.is_first else "text"
            _write(painter, room, column.rank, ink, size=self.small, bold=True)
            if column.rank and self.shows_words:
                wide = QFontMetricsF(theme.ui_font(self.small, bold=True)).horizontalAdvance(column.rank) + 6
                _write(painter, room.adjusted(wide, 0, 0, 0), column.rank_of, "muted", size=self.small)
        for name, text in (("why", column.why), ("cannot", column.cannot), ("shown", column.shown)):
            if name in tops:
                ink = "muted" if name == "why" else "text"
                self._wrapped(painter, QRectF(x, tops[name] + TOP, width, heights[name]), text, ink)
        small, value_size = (10, SMALL) if self.is_narrow else (SMALL, theme.UI_SIZE)
        for number, cell in enumerate(column.scores[: len(self.labels.scores)]):
            room = QRectF(x, tops[f"score{number}"], width, heights[f"score{number}"])
            if not cell.text:
                _write(painter, room, self.labels.unable, "muted", size=SMALL, side=RIGHT)
                continue
            if not cell.interval:
                _write(painter, room, cell.text, "text", size=small, bold=cell.is_best, side=RIGHT)
                continue
            value = QRectF(x, room.top() + 2, width, 18)
            _write(painter, value, cell.text, "text", size=value_size, bold=cell.is_best, side=RIGHT)
            below = QRectF(x - self.pad, room.top() + 18, width + self.pad, 15)
            interval, size = (cell.short or cell.interval, 10) if self.is_narrow else (cell.interval, SMALLER)
            _write(painter, below, interval, "muted", size=fitting_size(interval, size, width), side=RIGHT)

    def _left_words(self) -> LeftWords:
        size = QSizeF(self.size())
        return LeftWords(
            self.labels, self._rows.tops, self._shift, self.left - RIM, size, self.is_narrow, self.is_abreast
        )


def fitting_size(text: str, size: int, width: float) -> int:
    """Return a font's size, px, or the next smaller one where words do not fit otherwise."""
    return size if QFontMetricsF(theme.ui_font(size)).horizontalAdvance(text) <= width else size - 1


def _paint_bar(painter: QPainter, track: QRectF, share: float, ink: str, is_hollow: bool) -> None:
    """Paint a share of a track, cut off where it ends: a small share is as short as it is."""
    painter.save()
    painter.setClipRect(QRectF(track.left(), track.top() - 1, track.width() * share, track.height() + 2))
    color = theme.current().color(ink)
    painter.setBrush(theme.current().color("card") if is_hollow else color)
    painter.setPen(QPen(color, 1.2) if is_hollow else Qt.PenStyle.NoPen)
    round_by = track.height() / 2
    painter.drawRoundedRect(track.adjusted(0.6, 0, 0, 0) if is_hollow else track, round_by, round_by)
    painter.restore()
    if is_hollow and share > 0:  # the edge at which a hollow one ends
        painter.setPen(QPen(color, 1.2))
        x = track.left() + max(0.6, track.width() * share - 0.6)
        painter.drawLine(QPointF(x, track.top()), QPointF(x, track.bottom()))
