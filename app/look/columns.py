"""What a row of cells is made of, said once for pictures and for tables: columns, and what stands in a cell.

Words are the commonest cell; the others here paint themselves into the room that they are given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from app import words
from app.look import theme
from app.look.direction import paint_line
from app.look.labels import fitting

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
CUT_RIGHT, CUT_MIDDLE = Qt.TextElideMode.ElideRight, Qt.TextElideMode.ElideMiddle
WHOLE = Qt.TextElideMode.ElideNone
CUT_PARTS = None  # without its last parts: "a · b" of "a · b · c"
CLIP = Qt.ClipOperation.IntersectClip
ICON, ICON_ROOM = 14.0, 18.0  # px of an icon before words, and from its left to them
of = attrgetter  # of("name") is what a column shows of a row

Row = Any  # what a row holds: a value class of the picture's or the table's own
Value = str | float | int
Ink = str | QColor  # a name among the theme's colours, or a colour


def color_of(ink: Ink) -> QColor:
    """Return the colour that an ink has now."""
    return theme.current().color(ink) if isinstance(ink, str) else ink


class Cell:
    """What stands in one place, and paints itself there."""

    def paint(self, painter: QPainter, room: QRectF) -> None:
        """Paint it into a room."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class WordsCell(Cell):
    """One line of words, as much of it as fits. icon: before them, in an ink of its own."""

    text: str
    ink: Ink = "text"
    is_bold: bool = False
    side: Qt.AlignmentFlag = LEFT
    size: int = theme.UI_SIZE
    cut: Qt.TextElideMode | None = CUT_RIGHT
    icon: tuple[str, str] | None = None

    def paint(self, painter: QPainter, room: QRectF) -> None:
        if self.icon is not None:
            place = QRectF(room.left(), room.center().y() - ICON / 2, ICON, ICON)
            theme.icon(*self.icon).paint(painter, place.toRect())
            room = room.adjusted(ICON_ROOM, 0, 0, 0)
        painter.setFont(self.font)
        painter.setPen(color_of(self.ink))
        is_whole = self.cut == WHOLE
        side = self.side | Qt.TextFlag.TextDontClip if is_whole else self.side
        paint_line(painter, room, side, self.shown_in(room.width()))

    @property
    def font(self) -> QFont:
        return theme.ui_font(self.size, bold=self.is_bold)

    def shown_in(self, width: float) -> str:
        """Return what of the words is painted in a room of a width, px."""
        metrics = QFontMetricsF(self.font)
        if self.cut is None:
            return fitting(self.text, metrics, width)
        return metrics.elidedText(self.text, self.cut, width)


@dataclass(frozen=True, slots=True)
class Bar(Cell):
    """A share of 1 as a bar on a track as long as 1 is; track: its ink, "" for none.

    It is cut at its true length: its left corners are the track's, its right ones square. covered: px at its
    right that words take. interval: where its ends are, as a line over it. line: another share, an upright
    line across it, with its pen and how far it hangs over.
    """

    share: float
    ink: Ink = "accent"
    track: str = "track"
    height: float = 7.0
    radius: float = 3.5
    covered: float = 0.0
    interval: tuple[float, float] | None = None
    line: float | None = None
    line_pen: tuple[float, Qt.PenStyle] = (1.6, Qt.PenStyle.SolidLine)
    overhang: float = 4.0

    def paint(self, painter: QPainter, room: QRectF) -> None:
        whole = QRectF(room.left(), room.center().y() - self.height / 2, room.width(), self.height)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        seen = whole.adjusted(0, 0, -self.covered, 0)
        if self.track:
            self._paint_part(painter, seen, seen.width(), self.track)
        self._paint_part(painter, seen, min(seen.width(), whole.width() * self.share), self.ink)
        if self.interval is not None:
            painter.setPen(QPen(color_of("text"), 1))
            ends = (QPointF(room.left() + room.width() * end, room.center().y()) for end in self.interval)
            painter.drawLine(*ends)
        if self.line is not None:
            x, (width, style) = room.left() + room.width() * self.line, self.line_pen
            painter.setPen(QPen(color_of("text"), width, style))
            painter.drawLine(
                QPointF(x, whole.top() - self.overhang), QPointF(x, whole.bottom() + self.overhang)
            )
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _paint_part(self, painter: QPainter, room: QRectF, length: float, ink: Ink) -> None:
        """Fill a rounded room from its left as far as a length, px."""
        if room.width() <= 0 or length <= 0:
            return
        painter.save()
        painter.setClipRect(QRectF(room.left(), room.top(), length, room.height()), CLIP)
        painter.setBrush(color_of(ink))
        painter.drawRoundedRect(room, self.radius, self.radius)
        painter.restore()


@dataclass(frozen=True, slots=True)
class Beside(Cell):
    """A cell, and another at its right that takes so many px."""

    first: Cell
    last: Cell
    taken: float

    def paint(self, painter: QPainter, room: QRectF) -> None:
        self.first.paint(painter, room.adjusted(0, 0, -min(self.taken, room.width() - 10), 0))
        self.last.paint(painter, room.adjusted(max(0.0, room.width() - self.taken), 0, 0, 0))


@dataclass(frozen=True, slots=True)
class Column:
    """A column. head: over it; help: said of it there. value: what a row has there; say: how that is shown,
    in words or as a cell that paints itself.

    ink, side, cut, size: of plain words in it. bolds: they are bold in a row that matters. saved: the name
    under which the value is written into a file, "" for none; also: what else is, by its names there.

    In a picture, width: px, None for what the others leave, but no less than least; least_room: px of the
    picture's width without which it is left out; gap: px before it, where that is not as between all.
    """

    head: str
    value: Callable[[Row], Any]
    say: Callable[[Any], str | Cell] = str
    width: float | None = None
    help: str = ""
    ink: Ink = "text"
    side: Qt.AlignmentFlag = LEFT
    cut: Qt.TextElideMode | None = CUT_RIGHT
    size: int = theme.UI_SIZE
    bolds: bool = True
    saved: str = ""
    also: Mapping[str, Callable[[Row], Value]] = field(default_factory=dict)
    least: float = 0.0
    least_room: float = 0.0
    gap: float | None = None

    def of_file(self) -> Iterator[tuple[str, Callable[[Row], Value]]]:
        """Yield what of a row is written into a file, each with its name there."""
        if self.saved:
            yield self.saved, self.value
        yield from self.also.items()

    def cell(self, row: Row, matters: bool = False) -> Cell:
        """Return what stands here in a row. Args: matters: whether that row does."""
        found = self.say(self.value(row))
        if isinstance(found, Cell):
            return found
        is_strong = self.bolds and matters
        return WordsCell(found, "text" if is_strong else self.ink, is_strong, self.side, self.size, self.cut)


def row_itself(row: Row) -> Row:
    """Return a row as what a column shows of it."""
    return row


def figures(
    head: str, value: Callable[[Row], Any], say: Callable[[Any], str] = words.number, **more: Any
) -> Column:
    """Return a column of numbers: at the right, never cut, and quiet."""
    return Column(head, value, say, side=RIGHT, cut=WHOLE, **{"ink": "muted", "bolds": False, **more})
