"""All steps on a strip that tells where one is: passed ones tinted, the current one full, residuals as lines.

Where there is no room for every step's name, the strip moves so that the current one is in the middle.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen, QPolygonF

from app.look import theme
from app.plots.figure import Numbers
from app.plots.pointed import PointedFigure, Target
from app.plots.strokes import CENTER, level_line, upright_line, write, write_parts

CAPTION, LINES, CHIP = 18.0, 9.0, 25.0  # px: from the top
PAD, GAP, GROUP = 4.0, 2.0, 8.0
SIZE = 11  # px of the names
MORE = 16.0  # px at an end beyond which there are more


@dataclass(frozen=True, slots=True)
class StepChip:
    """A step. group: its heading stands over the first of a group. round_from: the step, by its place, from
    which a residual goes round to this one; -1: none. is_off: a part of it is switched off.
    """

    name: str
    group: str
    round_from: int = -1
    is_off: bool = False
    is_changed: bool = False


class StepChips(PointedFigure):
    """All steps in a row. A click on one chooses it."""

    nothing = -1
    step_chosen = Signal(int)
    wanted_size = (600, int(CAPTION + LINES + CHIP + 2))
    least_size = (320, int(CAPTION + LINES + CHIP + 2))
    chips: tuple[StepChip, ...] = ()
    place = 0

    @property
    def is_empty(self) -> bool:
        return not self.chips

    def set_steps(self, chips: tuple[StepChip, ...], place: int) -> None:
        """Show all steps, and where one is."""
        if (chips, place) != (self.chips, self.place):
            self.chips, self.place = chips, place
            self.describe()
            self.update()

    def numbers(self) -> Numbers:
        rows: Numbers = [["step", "name"]]
        return rows + [[i, chip.name] for i, chip in enumerate(self.chips, start=1)]

    def rects(self) -> list[QRectF]:
        """Return where each chip lies; beyond the ends, where not all have room."""
        fonts = [theme.ui_font(SIZE, bold=place == self.place) for place in range(len(self.chips))]
        widths = [
            QFontMetricsF(font).horizontalAdvance(chip.name) + 2 * PAD
            for font, chip in zip(fonts, self.chips, strict=True)
        ]
        left, found = 1.0, []
        for place, width in enumerate(widths):
            left += self._gap(place)
            found.append(QRectF(left, CAPTION + LINES, width, CHIP))
            left += width
        over = left + 1.0 - self.width()
        if over <= 0 or not found:
            return found
        shift = min(max(0.0, found[self.place].center().x() - self.width() / 2), over)
        return [one.translated(-shift, 0) for one in found]

    def _gap(self, place: int) -> float:
        if place == 0:
            return 0.0
        return GAP if self.chips[place].group == self.chips[place - 1].group else GROUP

    def things(self) -> Iterable[Target] | None:
        return range(len(self.chips))

    def target_at(self, at: QPointF) -> int:
        return next((i for i, rect in enumerate(self.rects()) if rect.contains(at)), -1)

    def rect_of(self, target: int) -> QRectF:
        return self.rects()[target]

    def words_of(self, target: int) -> str:
        chip = self.chips[target]
        said = self.tr("{step} of {count}: {name}").format(
            step=target + 1, count=len(self.chips), name=chip.name
        )
        parts = [said, self.tr("turned off") if chip.is_off else ""]
        parts.append(self.tr("not as before the change") if chip.is_changed else "")
        return "; ".join(part for part in parts if part)

    def summary(self) -> str:
        return self.words_of(self.place) if self.chips else ""

    def can_choose(self, target: int) -> bool:
        return True

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        self.step_chosen.emit(target)

    def paint(self, painter: QPainter, area: QRectF) -> None:
        rects = self.rects()
        for place, rect in enumerate(rects):
            self._paint_chip(painter, place, rect)
        for place, chip in enumerate(self.chips):
            if chip.round_from >= 0:
                self._paint_round(painter, rects[chip.round_from], rects[place], chip.is_off)
        self._paint_groups(painter, rects)
        self._paint_more(painter, rects)

    def _paint_chip(self, painter: QPainter, place: int, rect: QRectF) -> None:
        colors, chip = theme.current(), self.chips[place]
        fill, ink = colors.card, "muted"
        if place == self.place:
            fill, ink = colors.accent, "on_accent"
        elif place < self.place:
            fill, ink = colors.accent_soft, "text"
        edge = QPen(colors.color("b" if chip.is_off else "line"), 1.4 if chip.is_off else 1)
        if chip.is_off:
            edge.setStyle(Qt.PenStyle.DashLine)
            ink = "b" if place != self.place else ink
        if place == self.current and not self._saving:
            edge = QPen(colors.color("muted"), 1.4)
        painter.setPen(
            edge if place >= self.place or chip.is_off or place == self.current else Qt.PenStyle.NoPen
        )
        painter.setBrush(QColor(fill))
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)
        write(painter, rect, chip.name, ink, size=SIZE, bold=place == self.place, side=CENTER)
        if chip.is_changed:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.color("b"))
            painter.drawEllipse(QPointF(rect.right() - 4, rect.top() + 4), 2.6, 2.6)

    def _paint_round(self, painter: QPainter, start: QRectF, end: QRectF, is_off: bool) -> None:
        colors = theme.current()
        pen = QPen(colors.color("b" if is_off else "muted"), 1)
        if is_off:
            pen.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(pen)
        top, left, right = CAPTION + 3.0, start.left() + 5, end.center().x()
        upright_line(painter, left, start.top() - 1, top)
        level_line(painter, left, right, top)
        upright_line(painter, right, top, end.top() - 4)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.color("b" if is_off else "muted"))
        tip = [
            QPointF(right - 3.5, end.top() - 5),
            QPointF(right + 3.5, end.top() - 5),
            QPointF(right, end.top()),
        ]
        painter.drawPolygon(QPolygonF(tip))

    def _paint_groups(self, painter: QPainter, rects: list[QRectF]) -> None:
        starts = [i for i in range(len(rects)) if i == 0 or self.chips[i].group != self.chips[i - 1].group]
        for place, after in zip(starts, [*starts[1:], len(rects)], strict=True):
            right = min(rects[after].left() - 4 if after < len(rects) else math.inf, float(self.width()))
            left = max(rects[place].left(), 1.0 if rects[0].left() > 0 else MORE)
            if right <= left:
                continue
            room = QRectF(left, 0, right - left, CAPTION - 2)
            write_parts(painter, room, self.chips[place].group.upper(), "muted", size=11, bold=True)

    def _paint_more(self, painter: QPainter, rects: list[QRectF]) -> None:
        """Show at which end there is more than is seen."""
        for is_there, name, left in (
            (rects[0].left() < 0, "chevron-left", 0.0),
            (rects[-1].right() > self.width(), "chevron-right", self.width() - MORE),
        ):
            if is_there:
                end = QRectF(left, CAPTION, MORE, LINES + CHIP + 1)
                painter.fillRect(end, theme.current().color("card"))
                mark = QRectF(left + 1, CAPTION + LINES + CHIP / 2 - 7, 14, 14)
                theme.icon(name, "muted").paint(painter, mark.toRect())
