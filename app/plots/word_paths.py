"""A word's way from the word table through the layers, a line for each sentence that uses it.

A dot on a line is a layer; where a line ends is where the word is at the layer that is shown. Meanings differ
by shape as well as by colour. One unit is as long across as down.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.look.direction import in_one_line
from app.plots import marks
from app.plots.figure import Numbers
from app.plots.marks import PointClasses
from app.plots.pointed import PointedFigure, place_after
from app.plots.scatter_legend import LegendEntry, legend_rows, paint_legend
from app.plots.strokes import CENTER, paint_chip, paint_dots, paint_line, write

EDGE = 12.0  # px, as REACH, RADIUS, LABEL_GAP and LINE
LEGEND_ROW = 18.0
REACH = 14.0
RADIUS = 5.5
LABEL_GAP = 12.0
LINE = 16.0
MARGIN = 0.07  # of the width, around all
MOST_PATHS = 60  # uses; of more only the points are drawn, smaller, and none is named
CROWDED = 3.6  # px
MOST_NOTED = 3  # sentences that are named in the picture
WIDEST = 250.0  # px of a sentence
SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))  # of a point, to write at
FAINT = 0.5  # of a line's colour


@dataclass(frozen=True, slots=True)
class WordUse:
    """A sentence in three parts: what stands before the word, the word, what comes after."""

    before: str
    word: str
    after: str

    @property
    def text(self) -> str:
        return self.before + self.word + self.after


class WordPathsPlot(PointedFigure):
    """The way of each use. A target is a use's place, -1 for none."""

    nothing = -1
    says_at_once = True
    hovered = Signal(int)  # a use, -1 for none
    chosen = Signal(int)  # clicked, or Enter; -1: Escape
    wanted_size = (560, 360)
    least_size = (220, 160)

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self._maps = np.zeros((1, 1, 0, 2))
        self._limits = np.zeros(2), np.ones(2)
        self._uses: Sequence[WordUse] = ()
        self._classes: PointClasses | None = None
        self._starts = 1
        self._position = 0.0
        self._chosen = -1
        self._notes: Mapping[int, str] = {}

    def set_paths(
        self, maps: np.ndarray, uses: Sequence[WordUse], classes: PointClasses | None, starts: int
    ) -> None:
        """Show (L + 1, L + 1, E, 2) points: for each layer the uses at every step. Args: starts: how many
        different points they are in the word table.
        """
        assert maps.shape[2] == len(uses), (maps.shape, len(uses))
        self._maps, self._uses, self._classes = np.asarray(maps, np.float64), tuple(uses), classes
        self._starts, self._notes, self._chosen = starts, {}, -1
        ways = [self._maps[layer, : layer + 1].reshape(-1, 2) for layer in range(len(maps))]
        shown = np.concatenate([*ways, np.zeros((1, 2))])
        self._limits = shown.min(0), shown.max(0)
        self._position = min(self._position, float(len(maps) - 1))
        self.forget()

    def set_position(self, position: float) -> None:
        """Show a layer, or what lies between two; 0 is the word table."""
        self._position = float(np.clip(position, 0, max(0, len(self._maps) - 1)))
        self.describe()
        self.update()

    def set_notes(self, notes: Mapping[int, str]) -> None:
        """Name some uses in the picture, each with why."""
        self._notes = dict(notes)
        self.update()

    def set_chosen(self, place: int) -> None:
        """Ring a use and write its sentence; emits nothing. -1: none."""
        self._chosen = place if place < len(self._uses) else -1
        self.update()

    def point_to(self, place: int) -> None:
        """Mark a use as the pointer does; emits nothing. -1: none."""
        self._hovered, self._walked = -1, place if place < len(self._uses) else -1
        self.update()

    def clear(self) -> None:
        """Show nothing."""
        self.set_paths(np.zeros((1, 1, 0, 2)), (), None, 1)

    @property
    def is_empty(self) -> bool:
        return not self._uses

    @property
    def chosen_use(self) -> int:
        return self._chosen

    @property
    def position(self) -> float:
        """Which layer is shown."""
        return self._position

    def numbers(self) -> Numbers:
        rows: Numbers = [["x", "y", self.tr("meaning"), self.tr("sentence")]]
        ends = self._ends() if self._uses else np.zeros((0, 2))
        for place, (x, y) in enumerate(ends.tolist()):
            rows.append([x, y, self._meaning(place), self._uses[place].text])
        return rows

    def words_of(self, target: int) -> str:
        note, meaning = self._notes.get(target, ""), self._meaning(target)
        return "\n".join(part for part in (self._uses[target].text, meaning, note) if part)

    def position_of(self, place: int) -> QPointF:
        """Return where a use lies on this widget."""
        return self._pixel(self._ends()[place])

    def things(self) -> Iterable[int]:
        return range(len(self._uses))

    def target_at(self, at: QPointF) -> int:
        if self.is_empty:
            return -1
        distances = [(at - self._pixel(end)).manhattanLength() for end in self._ends()]
        nearest = int(np.argmin(distances))
        return nearest if distances[nearest] <= REACH else -1

    def rect_of(self, target: int) -> QRectF:
        return QRectF(self.position_of(target), QSizeF(0, 0))

    def after(self, event: QKeyEvent) -> int:
        found = place_after(event, self.current if self.current >= 0 else None, len(self._uses))
        return -1 if found is None else found

    def can_choose(self, target: int) -> bool:
        return True

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        self._choose(target)

    def let_go(self) -> bool:
        was_chosen = self._chosen >= 0
        self._choose(-1)
        return super().let_go() or was_chosen

    def current_changed(self) -> None:
        self.hovered.emit(self.current)

    def _choose(self, place: int) -> None:
        if place != self._chosen:
            self._chosen = place
            self.chosen.emit(place)
            self.update()

    # ---- where things lie

    def _points(self) -> np.ndarray:
        """Return (S, E, 2): the uses at every step on the map that is shown, or between two maps."""
        low = int(self._position)
        high, part = min(low + 1, len(self._maps) - 1), self._position - low
        found: np.ndarray = self._maps[low] * (1 - part) + self._maps[high] * part
        return found

    def _ends(self) -> np.ndarray:
        """Return (E, 2), where the uses are at the layer that is shown, or between two."""
        points, low = self._points(), int(self._position)
        part = self._position - low
        found: np.ndarray = points[low] * (1 - part) + points[min(low + 1, len(points) - 1)] * part
        return found

    def _entries(self) -> list[LegendEntry]:
        if self._classes is None:
            return []
        counts = [int((self._classes.numbers == number).sum()) for number in range(len(self._classes.names))]
        named = zip(self._classes.names, counts, strict=True)
        return [
            LegendEntry(place, self._counted(count).format(name=name, count=words.number(count)))
            for place, (name, count) in enumerate(named)
        ]

    def _counted(self, count: int) -> str:
        return words.counted(count, self.tr("{name}, 1 sentence"), self.tr("{name}, {count} sentences"))

    def _area(self) -> QRectF:
        rows = len(legend_rows(self._entries(), self.width() - EDGE)) if self._classes else 0
        top = rows * LEGEND_ROW + EDGE / 2
        return QRectF(EDGE, top, max(1.0, self.width() - 2 * EDGE), max(1.0, self.height() - top - EDGE))

    def _pixel(self, point: np.ndarray) -> QPointF:
        """Return where a point of a map lies: the same scale for all layers."""
        area, (low, high) = self._area(), self._limits
        span, middle = np.maximum(high - low, 1e-9), (low + high) / 2
        scale = float(min(np.array([area.width(), area.height()]) * (1 - 2 * MARGIN) / span))
        x, y = ((point - middle) * scale).tolist()
        return QPointF(area.center().x() + x, area.center().y() - y)

    def _meaning(self, place: int) -> str:
        number = marks.OTHER if self._classes is None else int(self._classes.numbers[place])
        return "" if number == marks.OTHER or self._classes is None else self._classes.names[number]

    def _number(self, place: int) -> int:
        if self._classes is None:
            return 0
        return int(self._classes.numbers[place])

    # ---- painting

    def paint(self, painter: QPainter, area: QRectF) -> None:
        legend = QRectF(0, 0, self.width() - EDGE, 0)
        paint_legend(painter, self._classes, self._entries(), legend)
        points = self._points()
        if len(self._uses) <= MOST_PATHS:
            self._paint_paths(painter, points)
        self._paint_start(painter, points)
        ends = [self._pixel(end) for end in self._ends()]
        radius = RADIUS if len(self._uses) <= MOST_PATHS else CROWDED
        if self._position > 0 or self._starts > 1:
            for place, end in enumerate(ends):
                marks.paint_one(painter, end, self._number(place), radius, is_shade=False)
        now = -1 if self._saving else self.current
        for place, ink in ((self._chosen, "text"), (now, "focus")):
            if place >= 0 and not (place == now == self._chosen and ink == "focus"):
                marks.paint_ring(painter, ends[place], RADIUS + 4, ink)
        self._paint_words(painter, ends, points)

    def _color(self, place: int) -> QColor:
        colors = theme.current()
        return QColor(theme.mix(colors.card, marks.class_color(self._number(place)).name(), FAINT))

    def _paint_paths(self, painter: QPainter, points: np.ndarray) -> None:
        """Paint each way up to the layer that is shown, with a dot at each layer before."""
        last, ends = int(self._position), self._ends()
        for place in range(len(self._uses)):
            way = [self._pixel(points[step, place]) for step in range(last + 1)]
            end = self._pixel(ends[place])
            paint_line(painter, [*way, end], self._color(place), 1.3)
            paint_dots(painter, [one for one in way[1:] if one != end], self._color(place), 2.4, 0.6)

    def _paint_start(self, painter: QPainter, points: np.ndarray) -> None:
        """Paint the word table: a ring for each vector that the uses have there."""
        if self._starts > 1 and not self._position:
            return  # the marks lie there
        for start in {(one.x(), one.y()) for one in (self._pixel(point) for point in points[0])}:
            painter.setPen(QPen(theme.current().color("text"), 1.6))
            painter.setBrush(theme.current().color("card"))
            painter.drawEllipse(QPointF(*start), 4.0, 4.0)

    def _paint_words(self, painter: QPainter, ends: list[QPointF], points: np.ndarray) -> None:
        """Write what the start is, which sentences do not fit, and the one that is chosen."""
        taken = [QRectF(end - QPointF(RADIUS, RADIUS), QSizeF(2 * RADIUS, 2 * RADIUS)) for end in ends]
        begin = self._pixel(points[0].mean(0))
        taken.append(QRectF(begin - QPointF(6, 6), QSizeF(12, 12)))
        taken.append(QRectF(0, 0, self.width(), self._area().top()))  # the legend
        if self._chosen >= 0:
            self._paint_named(painter, ends[self._chosen], self._chosen, "", taken)
        if self._position or self._starts == 1:
            self._paint_begin(painter, begin, taken)
        is_few = len(self._uses) <= MOST_PATHS
        noted = [place for place in self._notes if place != self._chosen and is_few]
        for place in noted[:MOST_NOTED]:
            self._paint_named(painter, ends[place], place, self._notes[place], taken)

    def _paint_begin(self, painter: QPainter, begin: QPointF, taken: list[QRectF]) -> None:
        first, second = self.tr("word table:"), self.tr("all in one point")
        lines = [first, second] if self._starts == 1 and len(self._uses) > 1 else [self.tr("word table")]
        metrics = QFontMetricsF(theme.ui_font(12))
        size = QSizeF(max(map(metrics.horizontalAdvance, lines)) + 4, LINE * len(lines))
        room = self._room(begin, size, taken, 3 * LABEL_GAP, ((0, 1), (0, -1), *SIDES))
        self._paint_leader(painter, begin, room, dotted=True)
        for row, line in enumerate(lines):
            spot = QRectF(room.left(), room.top() + row * LINE, room.width(), LINE)
            write(painter, spot, line, "muted", size=12, side=CENTER)

    def _paint_named(
        self, painter: QPainter, at: QPointF, place: int, note: str, taken: list[QRectF]
    ) -> None:
        """Write a use's sentence beside its mark, the chosen one on a ground of its own."""
        plain, bold = (QFontMetricsF(theme.ui_font(12, bold=weight)) for weight in (False, True))
        use = fitting_use(self._uses[place], plain, WIDEST)
        widths = [metrics.horizontalAdvance(part) for metrics, part in _parts(use, plain, bold)]
        height = LINE * (2 if note else 1)
        width = max(sum(widths), plain.horizontalAdvance(note)) + (16 if not note else 4)
        room = self._room(at, QSizeF(width, height + (0 if note else 10)), taken, LABEL_GAP + RADIUS, SIDES)
        self._paint_leader(painter, at, room, dotted=False)
        if not note:
            colors = theme.current()
            paint_chip(painter, room, colors.card, colors.muted)
        places = in_one_line(_text(use), widths, room.left() + (room.width() - sum(widths)) / 2)
        for weight, part, x, length in zip((False, True, False), _text(use), places, widths, strict=True):
            spot = QRectF(x, room.top() + (0 if note else 5), length + 2, LINE)
            write(painter, spot, part, size=12, bold=weight)
        if note:
            spot = QRectF(room.left(), room.top() + LINE, room.width(), LINE)
            write(painter, spot, note, "muted", size=12, side=CENTER)

    def _paint_leader(self, painter: QPainter, at: QPointF, room: QRectF, *, dotted: bool) -> None:
        style = Qt.PenStyle.DotLine if dotted else Qt.PenStyle.SolidLine
        painter.setPen(QPen(theme.current().color("muted"), 1, style))
        nearest = QPointF(
            min(max(at.x(), room.left()), room.right()), min(max(at.y(), room.top()), room.bottom())
        )
        way = nearest - at
        length = max(1e-6, float(np.hypot(way.x(), way.y())))
        if length > RADIUS + 4:
            painter.drawLine(at + way * ((RADIUS + 1) / length), nearest)

    def _room(
        self,
        at: QPointF,
        size: QSizeF,
        taken: list[QRectF],
        gap: float,
        sides: Sequence[tuple[int, int]],
    ) -> QRectF:
        """Return where words stand beside a point: where they hide least; it is taken then."""
        whole, best, least = QRectF(self.rect()).adjusted(2, 2, -2, -2), QRectF(), np.inf
        for far in (1.0, 2.5, 4.0):
            for rank, (across, down) in enumerate(sides):
                middle = at + QPointF(
                    across * (gap * far + size.width() / 2), down * (gap * far + size.height() / 2)
                )
                room = QRectF(middle - QPointF(size.width() / 2, size.height() / 2), size)
                room.moveLeft(min(max(room.left(), whole.left()), whole.right() - room.width()))
                room.moveTop(min(max(room.top(), whole.top()), whole.bottom() - room.height()))
                hidden = sum(_overlap(room, other) for other in taken)
                cost = hidden + 0.01 * rank + 30 * (far - 1)
                if cost < least:
                    best, least = room, cost
        taken.append(best)
        return best


def fitting_use(use: WordUse, metrics: QFontMetricsF, width: float) -> WordUse:
    """Return a use whose sentence is cut around the word so that it fits about so many px."""
    room = max(40.0, width - metrics.horizontalAdvance(use.word))
    before, after = (metrics.horizontalAdvance(part) for part in (use.before, use.after))
    left = min(before, max(room / 2, room - after))
    first = metrics.elidedText(use.before, Qt.TextElideMode.ElideLeft, left + 1)
    last = metrics.elidedText(use.after, Qt.TextElideMode.ElideRight, room - left + 1)
    return WordUse(first, use.word, last)


def _text(use: WordUse) -> tuple[str, str, str]:
    return use.before, use.word, use.after


def _parts(use: WordUse, plain: QFontMetricsF, bold: QFontMetricsF) -> list[tuple[QFontMetricsF, str]]:
    return list(zip((plain, bold, plain), _text(use), strict=True))


def _overlap(one: QRectF, other: QRectF) -> float:
    """Return how much two rooms share, px²."""
    both = one.adjusted(-2, -2, 2, 2).intersected(other)
    return max(0.0, both.width()) * max(0.0, both.height())
