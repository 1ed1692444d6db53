"""Where one is among many steps: their groups with a line that fills, and the steps of the open group alone.

No name is ever shortened: where the open group's steps have no room, they move so that the current one is in
the middle.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen

from app.look import theme
from app.look.columns import RIGHT
from app.plots.figure import Numbers
from app.plots.pointed import PointedFigure, Target, place_after
from app.plots.strokes import CENTER, paint_chip, paint_edge, write
from app.words import captioned, clauses, listed

CHIP, PAD, GAP = 28.0, 8.0, 5.0  # px: a step's height, what is beside its name, and between two
SIZE, SMALL = 12, 11  # px of the words
BETWEEN, LINE = 20.0, 3.0  # px between groups, and of the line over them
WORDS_TOP, GROUP_HEIGHT = 8.0, 30.0
MORE = 18.0  # px at an end beyond which there are more
DOT = 2.6


@dataclass(frozen=True, slots=True)
class StepChip:
    """A step, and its group. is_off: a part of it is switched off. is_changed: it is not as it was."""

    name: str
    group: str
    is_off: bool = False
    is_changed: bool = False


@dataclass(frozen=True, slots=True)
class StepGroup:
    """Steps that belong together. places: of its steps among all."""

    name: str
    places: tuple[int, ...]


def groups_of(chips: Sequence[StepChip]) -> tuple[StepGroup, ...]:
    """Return the groups of steps that stand in order."""
    found: dict[str, list[int]] = {}
    for place, chip in enumerate(chips):
        found.setdefault(chip.group, []).append(place)
    return tuple(StepGroup(name, tuple(places)) for name, places in found.items())


class StepsFigure(PointedFigure):
    """Base of the two: all steps, the current one, and a click that chooses a step by its place."""

    nothing = -1
    step_chosen = Signal(int)
    chips: tuple[StepChip, ...] = ()
    place = 0

    @property
    def is_empty(self) -> bool:
        return not self.chips

    @property
    def groups(self) -> tuple[StepGroup, ...]:
        return groups_of(self.chips)

    @property
    def open_group(self) -> StepGroup:
        """The group of the current step."""
        return next(group for group in self.groups if self.place in group.places)

    def set_steps(self, chips: tuple[StepChip, ...], place: int) -> None:
        """Show all steps, and where one is."""
        if (chips, place) != (self.chips, self.place):
            self.chips, self.place = chips, place
            self.forget()

    def numbers(self) -> Numbers:
        rows: Numbers = [["step", "group", "name"]]
        return rows + [[i, chip.group, chip.name] for i, chip in enumerate(self.chips, start=1)]

    def rects(self) -> dict[int, QRectF]:
        """Return where each thing lies that can be pointed at."""
        raise NotImplementedError

    def things(self) -> Iterable[Target] | None:
        return list(self.rects())

    def target_at(self, at: QPointF) -> int:
        return next((target for target, rect in self.rects().items() if rect.contains(at)), -1)

    def rect_of(self, target: int) -> QRectF:
        return self.rects()[target]

    def can_choose(self, target: int) -> bool:
        return True


class StepGroups(StepsFigure):
    """The groups beside each other, a line over each that fills. One is opened at its first step."""

    wanted_size = (600, int(GROUP_HEIGHT))
    least_size = (320, int(GROUP_HEIGHT))

    def rects(self) -> dict[int, QRectF]:
        """Return where each group lies, as wide as its words ask for and with the rest shared."""
        groups = self.groups
        if not groups:
            return {}
        wanted = [self._width_of(group, self._says_count(group)) for group in groups]
        rest = (self.width() - sum(wanted) - BETWEEN * (len(groups) - 1)) / len(groups)
        found, left = {}, 0.0
        for place, width in enumerate(wanted):
            found[place] = QRectF(left, 0, width + rest, GROUP_HEIGHT)
            left += width + rest + BETWEEN
        return found

    def _width_of(self, group: StepGroup, with_count: bool) -> float:
        name, small = QFontMetricsF(theme.ui_font(bold=True)), QFontMetricsF(theme.ui_font(SMALL))
        beside = 10 + small.horizontalAdvance(self._count_of(group)) if with_count else 0.0
        return name.horizontalAdvance(group.name) + beside

    def _says_count(self, group: StepGroup) -> bool:
        """Whether a group's count stands beside its name: all where there is room, else the open group's."""
        wanted = sum(self._width_of(each, True) for each in self.groups) + BETWEEN * (len(self.groups) - 1)
        return wanted <= self.width() or self.place in group.places

    def _count_of(self, group: StepGroup) -> str:
        count = len(group.places)
        if self.place in group.places:
            place = group.places.index(self.place) + 1
            return self.tr("{place} of {count}").format(place=place, count=count)
        off = [self.chips[place].name for place in group.places if self.chips[place].is_off]
        return off[0] if off else self.tr("{count} steps").format(count=count)

    def words_of(self, target: int) -> str:
        group = self.groups[target]
        parts = [captioned(group.name, self._count_of(group))]
        if any(self.chips[place].is_changed for place in group.places):
            parts.append(self.tr("not as before the change"))
        return clauses(parts)

    def tip_of(self, target: int) -> str:
        group = self.groups[target]
        return listed(self.chips[place].name for place in group.places)

    def summary(self) -> str:
        groups = self.groups
        return self.words_of(groups.index(self.open_group)) if groups else ""

    def after(self, event: QKeyEvent) -> int:
        if Qt.Key(event.key()) in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            return -1
        here = self.groups.index(self.open_group) if self.current < 0 else self.current
        found = place_after(event, here, len(self.groups))
        return -1 if found is None else found

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        self.step_chosen.emit(self.groups[target].places[0])

    def paint(self, painter: QPainter, area: QRectF) -> None:
        colors = theme.current()
        for target, room in self.rects().items():
            group = self.groups[target]
            done = sum(place <= self.place for place in group.places) / len(group.places)
            is_open, is_off = self.place in group.places, any(self.chips[i].is_off for i in group.places)
            paint_chip(painter, QRectF(room.left(), 0, room.width(), LINE), colors.line, radius=LINE / 2)
            if done:
                filled = QRectF(room.left(), 0, room.width() * done, LINE)
                paint_chip(painter, filled, colors.accent, radius=LINE / 2)
            is_marked = target == self.current and not self._saving
            ink = "accent" if is_open else "text" if done or is_marked else "muted"
            words = room.adjusted(0, WORDS_TOP, 0, 0)
            write(painter, words, group.name, ink, bold=is_open or is_off)
            if self._says_count(group):
                count = self._count_of(group)
                write(painter, words, count, "b" if is_off else "muted", size=SMALL, side=RIGHT)
            if any(self.chips[i].is_changed for i in group.places):
                width = QFontMetricsF(theme.ui_font(bold=is_open or is_off)).horizontalAdvance(group.name)
                _paint_dot(painter, QPointF(room.left() + width + 6, words.center().y() - 5))


class StepChips(StepsFigure):
    """The steps of the open group in a row, passed ones tinted, the current one full."""

    wanted_size = (500, int(CHIP))
    least_size = (160, int(CHIP))

    def rects(self) -> dict[int, QRectF]:
        """Return where each step of the open group lies, by its place among all steps."""
        if not self.chips:
            return {}
        left, found = 0.0, dict[int, QRectF]()
        for place in self.open_group.places:
            metrics = QFontMetricsF(theme.ui_font(SIZE, bold=place == self.place))
            width = metrics.horizontalAdvance(self.chips[place].name) + 2 * PAD
            found[place] = QRectF(left, 0, width, CHIP)
            left += width + GAP
        over = left - GAP - self.width()
        if over <= 0:
            return found
        shift = min(max(0.0, found[self.place].center().x() - self.width() / 2), over)
        return {place: rect.translated(-shift, 0) for place, rect in found.items()}

    def words_of(self, target: int) -> str:
        chip = self.chips[target]
        said = self.tr("{step} of {count}: {name}").format(
            step=target + 1, count=len(self.chips), name=chip.name
        )
        parts = [said, self.tr("turned off") if chip.is_off else ""]
        parts.append(self.tr("changed") if chip.is_changed else "")
        return clauses(part for part in parts if part)

    def summary(self) -> str:
        return self.words_of(self.place) if self.chips else ""

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        self.step_chosen.emit(target)

    def paint(self, painter: QPainter, area: QRectF) -> None:
        rects = self.rects()
        for place, rect in rects.items():
            self._paint_chip(painter, place, rect)
        ends = list(rects.values())
        for is_there, name, left in (
            (ends[0].left() < 0, "chevron-left", 0.0),
            (ends[-1].right() > self.width() + 1, "chevron-right", self.width() - MORE),
        ):
            if is_there:
                painter.fillRect(QRectF(left, 0, MORE, CHIP), theme.current().color("card"))
                mark = QRectF(left + 2, CHIP / 2 - 7, 14, 14)
                theme.icon(name, "muted").paint(painter, mark.toRect())

    def _paint_chip(self, painter: QPainter, place: int, rect: QRectF) -> None:
        colors, chip = theme.current(), self.chips[place]
        fill, ink = colors.card, "text"
        if place == self.place:
            fill, ink = colors.accent, "on_accent"
        elif place < self.place:
            fill = colors.accent_soft
        room = rect.adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QPen(colors.color("line"), 1) if place > self.place else Qt.PenStyle.NoPen)
        painter.setBrush(QColor(fill))
        painter.drawRoundedRect(room, 6, 6)
        if chip.is_off:
            paint_edge(painter, room, "b", 1.4, 6, Qt.PenStyle.DashLine)
            ink = ink if place == self.place else "b"
        elif place == self.current and not self._saving:
            paint_edge(painter, room, "muted", 1.4, 6)
        write(painter, rect, chip.name, ink, size=SIZE, bold=place == self.place, side=CENTER)
        if chip.is_changed:
            _paint_dot(painter, QPointF(rect.right() - 5, rect.top() + 5))


def _paint_dot(painter: QPainter, at: QPointF) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.current().color("b"))
    painter.drawEllipse(at, DOT, DOT)
