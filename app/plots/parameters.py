"""Where the weights of a model are: an area for each part, a column for each layer; areas are true to scale.

The part that is chosen is marked in every layer, and named below with its formula and this model's numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen

from app import words
from app.look import theme
from app.look.columns import RIGHT
from app.plots.figure import Numbers, ink_on, paint_ring
from app.plots.pointed import ARROWS, PointedFigure
from app.plots.strokes import upright_line, write
from engine.model.arithmetic import Arithmetic, ModelPart
from engine.model.parts import GROUPS

EDGE = 4.0
HEAD, FOOT = 20.0, 22.0
GAP = 4.0  # px between the groups
LEAST = 3.0  # px of a group's width, so that the smallest can be seen and pointed at
LEAST_LABEL = 15.0  # px of height that a name needs
SHARE_ROOM = 52.0
HUES = {"embeddings": 0, "layers": 2, "pooler": 4, "heads": 1}  # places among the theme's categories
SHADES = (0.62, 0.34, 0.5, 0.24)  # of a group's parts in turn: how much of the hue


@dataclass(frozen=True, slots=True)
class PartCell:
    """Where a part is painted. whole: over all layers."""

    part: ModelPart
    whole: QRectF
    shade: float


class ParametersPlot(PointedFigure):
    """Groups side by side, as wide as their share; their parts above each other, as high as theirs.

    A target is the key of a part, "" for none; the arrow keys choose one part after the other.
    """

    nothing = ""
    part_chosen = Signal(str)
    found: Arithmetic | None = None
    chosen = ""

    def set_arithmetic(self, found: Arithmetic | None) -> None:
        """Show where a model's weights are; the part that was chosen stays so where there is one."""
        self.found = found
        if found is None or all(part.key != self.chosen for part in found.parts):
            self.chosen = ""
        self.forget()

    def set_chosen(self, key: str) -> None:
        """Mark a part, "" for none, without a signal."""
        if key != self.chosen:
            self.chosen = key
            self.describe()
            self.update()

    @property
    def is_empty(self) -> bool:
        return self.found is None

    def numbers(self) -> Numbers:
        header: list[str | float | int] = [
            "part", "group", "formula", "with numbers", "weights", "share"
        ]  # fmt: skip
        rows: Numbers = [header]
        found = self.found
        if found is None:
            return rows
        for part in found.parts:
            said = [words.tr_engine(part.kind.name), words.tr_engine(GROUPS[part.kind.group])]
            formulas = [found.spelled([part]), found.with_numbers([part], str)]
            rows.append([*said, *formulas, part.count, part.count / found.total])
        rows.append(["total", "", found.spelled(), found.with_numbers(number=str), found.total, 1.0])
        return rows

    def part_words(self, part: ModelPart) -> str:
        """Return a part in a line: its name, its formula with this model's numbers, and its share."""
        assert self.found is not None
        return self.tr("{name}: {formula} = {numbers} = {count} · {share}").format(
            name=words.tr_engine(part.kind.name),
            formula=self.found.spelled([part]),
            numbers=self.found.with_numbers([part], words.number),
            count=words.number(part.count),
            share=words.share(part.count / self.found.total),
        )

    def readout(self) -> str:
        """Return what the line below says: the part that is pointed at or chosen, else the largest."""
        if self.found is None:
            return ""
        wanted = "" if self._saving else self.current
        wanted = wanted or self.chosen
        shown = next((part for part in self.found.parts if part.key == wanted), None)
        if shown is not None:
            return self.part_words(shown)
        largest = max(self.found.parts, key=lambda part: part.count)
        return self.tr("Largest: {part}").format(part=self.part_words(largest))

    def sizeHint(self) -> QSize:
        return QSize(560, 112)  # grows with the room; a hint above would push text away

    def minimumSizeHint(self) -> QSize:
        return QSize(240, 112)

    def cells(self) -> Iterator[PartCell]:
        """Return where each part is painted, in the parts' order."""
        if self.found is None:
            return
        for group, room in self._rooms().items():
            top = room.top()
            parts = self.found.of_group(group)
            for place, part in enumerate(parts):
                height = room.height() * part.count / max(1, self.found.count_of(group))
                yield PartCell(
                    part, QRectF(room.left(), top, room.width(), height), SHADES[place % len(SHADES)]
                )
                top += height

    def _rooms(self) -> dict[str, QRectF]:
        """Return the room of each group that has weights."""
        assert self.found is not None
        counts = {group: self.found.count_of(group) for group in GROUPS if self.found.of_group(group)}
        free = self.width() - 2 * EDGE - GAP * (len(counts) - 1)
        small = [group for group, count in counts.items() if free * count / self.found.total < LEAST]
        rest = sum(count for group, count in counts.items() if group not in small)
        rooms, left = {}, EDGE
        height = self.height() - HEAD - FOOT - 2 * EDGE
        for group, count in counts.items():
            width = LEAST if group in small else (free - LEAST * len(small)) * count / rest
            rooms[group] = QRectF(left, EDGE + HEAD, max(1.0, width), max(1.0, height))
            left += width + GAP
        return rooms

    def words_of(self, target: str) -> str:
        return self.readout()

    def summary(self) -> str:
        return self.empty_text if self.found is None else self.readout()

    def tip_of(self, target: str) -> str:
        why = (cell.part.kind.why for cell in self.cells() if cell.part.key == target)
        return words.tr_engine(next(why))

    def rect_of(self, target: str) -> QRectF:
        return next(cell.whole for cell in self.cells() if cell.part.key == target)

    def target_at(self, at: QPointF) -> str:
        cells = list(self.cells())
        for beside in (0.0, 1.0):  # a sliver can be met beside it too
            for cell in cells:
                if cell.whole.adjusted(-beside * GAP / 2, -beside, beside * GAP / 2, beside).contains(at):
                    return cell.part.key
        return ""

    def after(self, event: QKeyEvent) -> str:
        key = Qt.Key(event.key())
        if self.found is None or key not in ARROWS:
            return ""
        keys, by = [part.key for part in self.found.parts], sum(ARROWS[key])
        here = keys.index(self.chosen) if self.chosen in keys else -1 if by > 0 else 0
        return keys[(here + by) % len(keys)]

    def walk_to(self, target: str, event: QKeyEvent) -> None:
        self._choose(target)
        self.say_beside(target)

    def can_choose(self, target: str) -> bool:
        return True

    def choose(self, target: str, event: QMouseEvent | QKeyEvent) -> None:
        self._choose(target)

    def let_go(self) -> bool:
        was_chosen = bool(self.chosen)
        self._choose("")
        return super().let_go() or was_chosen

    def _choose(self, key: str) -> None:
        if key != self.chosen:
            self.set_chosen(key)
            self.part_chosen.emit(key)

    def paint(self, painter: QPainter, area: QRectF) -> None:
        cells = list(self.cells())
        for cell in cells:
            painter.fillRect(cell.whole, QColor(self._ground(cell)))
        self._paint_layers(painter)
        self._paint_heads(painter)
        for cell in cells:
            self._paint_name(painter, cell)
            is_hovered = cell.part.key == self.current and not self._saving
            if cell.part.key == self.chosen or is_hovered:
                wide = max(0.0, LEAST + 1 - cell.whole.height()) / 2
                paint_ring(painter, cell.whole.adjusted(0, -wide, 0, wide), 2 if is_hovered else 1.5)
        self._paint_readout(painter)

    def _ground(self, cell: PartCell) -> str:
        return theme.mix(theme.current().card, theme.category(HUES[cell.part.kind.group]), cell.shade)

    def _paint_layers(self, painter: QPainter) -> None:
        """Part the layers by soft lines, for names stand over them, as long as there is room between them."""
        assert self.found is not None
        room, count = self._rooms()["layers"], self.found.config.num_blocks
        if room.width() / count < 4:
            return
        soft = theme.current().color("card")
        soft.setAlphaF(0.55)
        painter.setPen(QPen(soft, 1))
        for number in range(1, count):
            upright_line(painter, room.left() + room.width() * number / count, room.top(), room.bottom())

    def _paint_heads(self, painter: QPainter) -> None:
        """Name each group above it, where its name fits."""
        assert self.found is not None
        metrics = QFontMetricsF(theme.ui_font(11, bold=True))
        for group, room in self._rooms().items():
            name = words.tr_engine(GROUPS[group])
            if group == "layers":
                name = words.counted(self.found.sizes["L"], self.tr("1 layer"), self.tr("{count} layers"))
            share = words.share(self.found.count_of(group) / self.found.total)
            for said in (f"{name}  {share}", share):
                if metrics.horizontalAdvance(said) <= room.width():
                    place = QRectF(room.left(), EDGE, room.width(), HEAD - 3)
                    write(painter, place, said, "muted", size=11, bold=True)
                    break

    def _paint_name(self, painter: QPainter, cell: PartCell) -> None:
        room = cell.whole.adjusted(6, 0, -6, 0)
        if room.height() < LEAST_LABEL or room.width() < 24:
            return
        assert self.found is not None
        ink, name = ink_on(self._ground(cell)), words.tr_engine(cell.part.kind.name)
        wanted = QFontMetricsF(theme.ui_font(12)).horizontalAdvance(name)
        if wanted > room.width():
            return  # the hover names it; half a word would be no help
        write(painter, room, name, ink, size=12)
        if wanted + SHARE_ROOM + 16 < room.width():
            share = words.share(cell.part.count / self.found.total)
            write(painter, room, share, ink, size=12, side=RIGHT)

    def _paint_readout(self, painter: QPainter) -> None:
        is_told = bool(self.chosen or (self.current and not self._saving))
        place = QRectF(EDGE, self.height() - FOOT - EDGE / 2, self.width() - 2 * EDGE, FOOT)
        ink, end = "text" if is_told else "muted", Qt.TextElideMode.ElideRight
        write(painter, place, self.readout(), ink, size=12, cut=end)
