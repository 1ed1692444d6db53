"""The words at the left of a family's columns, which stay where they are while the columns move."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen

from app.look import theme
from app.look.columns import CUT_RIGHT
from app.plots.member_column import FamilyLabels
from app.plots.sense_planes import paint_mark
from app.plots.strokes import write

SMALL, SMALLER = 12, 11  # px of fonts
TOP, RANK, SCORE = 6, 26, 27  # px above a row's words, and of rows
RIM = 8  # px at the right of the words
WRAPPED = Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap
_NO_LINE = ("caption", "head", "seen")  # rows without a line above them
_write = partial(write, cut=CUT_RIGHT)


def wrapped_height(text: str, width: float, size: int) -> float:
    """Return how high words are in lines so wide, px."""
    metrics = QFontMetricsF(theme.ui_font(size))
    room = QRectF(0, 0, max(40.0, width), 10_000)
    return metrics.boundingRect(room, Qt.TextFlag.TextWordWrap, text).height() if text else 0.0


def tall_heights(said: str, below: str, width: float) -> tuple[float, float] | None:
    """Return how high a score's words are, and those below them, where they do not fit side by side."""
    wide = QFontMetricsF(theme.ui_font(SMALL)).horizontalAdvance(said) + 5
    if wide + QFontMetricsF(theme.ui_font(SMALLER)).horizontalAdvance(below) <= width:
        return None
    return wrapped_height(said, width, SMALL), wrapped_height(below, width, SMALLER)


@dataclass(frozen=True, slots=True)
class LeftWords:
    """The words of all rows. tops: where each begins. shift, width: of the words. size: of the picture.
    is_abreast: planes stand beside one another.
    """

    labels: FamilyLabels
    tops: Mapping[str, float]
    shift: float
    width: float
    size: QSizeF
    is_narrow: bool
    is_abreast: bool

    def paint(self, painter: QPainter) -> None:
        """Paint them, and a line over each row."""
        colors, labels = theme.current(), self.labels
        if self.shift:
            ground = QRectF(self.shift, 0, self.width + RIM - 1, self.size.height())
            painter.fillRect(ground, colors.color("card"))
        painter.setPen(QPen(colors.color("line"), 1))
        for name, top in self.tops.items():
            if name not in _NO_LINE:
                painter.drawLine(QPointF(self.shift, top), QPointF(self.size.width(), top))
        for name, (said, below) in (("seen", labels.seen), ("says", labels.says)):
            if name in self.tops and said:
                top = self.tops[name] + (0 if name == "seen" else TOP)
                _write(painter, self._line(top + 2), said, "text", bold=True)
                _write(painter, self._line(top + 20, 17), below, "muted", size=SMALL)
        if labels.note:
            room = self._line(self.tops["head"] + 21).adjusted(0, 0, 2, 0)
            _write(painter, room, labels.note, "muted", size=10 if self.is_narrow else SMALLER)
        self._paint_legends(painter)
        names = (
            ("rank", labels.rank),
            ("why", labels.why),
            ("cannot", labels.cannot),
            ("shown", labels.shown),
        )
        for name, said in names:
            if name in self.tops:
                _write(painter, self._line(self.tops[name], RANK), said, "text", bold=True)
        self._paint_planes(painter)
        for number, (said, below) in enumerate(labels.scores):
            self._paint_score(painter, self.tops[f"score{number}"], said, below)

    def _line(self, top: float, height: float = 18) -> QRectF:
        return QRectF(self.shift, top, self.width, height)

    def _paint_planes(self, painter: QPainter) -> None:
        labels = self.labels
        for number, said in enumerate(labels.planes[:1] if self.is_abreast else labels.planes):
            top = self.tops["planes" if self.is_abreast else f"plane{number}"] + TOP
            name = labels.says[0] if self.is_abreast else said
            _write(painter, self._line(top), name, "text", bold=not number)
            for group, sense in enumerate(labels.groups if not number else ()):
                paint_mark(painter, QPointF(self.shift + 6, top + 28 + 17 * group), group)
                room = self._line(top + 20 + 17 * group, 17).adjusted(16, 0, 0, 0)
                _write(painter, room, sense, "muted", size=SMALL)

    def _paint_score(self, painter: QPainter, top: float, said: str, below: str) -> None:
        heights = tall_heights(said, below, self.width)
        if heights is not None:
            high, rest = heights
            write(painter, self._line(top + 4, high), said, size=SMALL, side=WRAPPED)
            write(painter, self._line(top + 4 + high, rest), below, "muted", size=SMALLER, side=WRAPPED)
            return
        _write(painter, self._line(top, SCORE), said, "text", size=SMALL)
        wide = QFontMetricsF(theme.ui_font(SMALL)).horizontalAdvance(said) + 5
        beside = QRectF(self.shift + wide, top, max(0.0, self.width - wide), SCORE)
        _write(painter, beside, below, "muted", size=SMALLER)

    def _paint_legends(self, painter: QPainter) -> None:
        """Paint what a filled bar is, and a hollow one."""
        ink = theme.current().color("accent")
        for number, said in enumerate(self.labels.legend):
            if not said or "says" not in self.tops:
                continue
            top = self.tops["says"] + TOP + 42 + 20 * number
            painter.setPen(QPen(ink, 1.2) if number else Qt.PenStyle.NoPen)
            painter.setBrush(theme.current().color("card") if number else ink)
            painter.drawRoundedRect(QRectF(self.shift, top + 5, 18, 6), 3, 3)
            room = self._line(top - 1).adjusted(25, 0, 0, 0)
            _write(painter, room, said, "muted", size=SMALL)
