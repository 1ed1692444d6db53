"""How good each pooling's vectors are, a row each: shares as bars, mean similarities as figures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter

from app import words
from app.look import theme
from app.look.columns import CUT_MIDDLE, Bar, Column, figures, of, row_itself
from app.plots.columns import ColumnsFigure
from app.plots.figure import Numbers
from app.plots.strokes import paint_chip

EDGE, GAP = 8.0, 12.0
FIGURE, SHARE = 46.0, 54.0  # px of a column without a bar, and of the figure beside one
COSINES = ("within", "between", "any_two")
LEAST_BAR = 112.0  # px; with less room, only the last of those columns is shown


@dataclass(frozen=True, slots=True)
class PoolingRow:
    """agreement, separation: 0..1. within, between, any_two: cosines. is_followed: printed strongly."""

    name: str
    agreement: float
    separation: float
    within: float
    between: float
    any_two: float
    is_followed: bool = False

    @property
    def values(self) -> tuple[float, float, float, float, float]:
        return self.agreement, self.separation, self.within, self.between, self.any_two


class PoolingsPlot(ColumnsFigure):
    """The rows as they were measured, with the share that chance would reach marked in each bar.

    Where there is little room, two columns are left to the hover.
    """

    rim = 0
    head, row_height, head_size = 42, 30, 11
    head_rim, head_side, has_line = (EDGE, 6.0), Qt.AlignmentFlag.AlignBottom, False
    edges, gap = (EDGE, EDGE), GAP
    _chances = (0.0, 0.5)

    def set_rows(self, rows: Sequence[PoolingRow], chance: float) -> None:
        """Show some poolings. Args: chance: the agreement that chance reaches, 0..1."""
        self._chances = (chance, 0.5)
        self.show_rows(rows)

    def heads(self) -> tuple[tuple[str, str], ...]:
        """Return each column's name and what it means."""
        return (
            (
                self.tr("Nearest is of\nthe same class"),
                self.tr("Texts whose nearest neighbour is of their class"),
            ),
            (
                self.tr("Same class is\nmore similar"),
                self.tr("How often two texts of one class are more similar than two of different classes"),
            ),
            (self.tr("Same\nclass"), self.tr("Mean cosine similarity of two texts of one class")),
            (self.tr("Other\nclass"), self.tr("Mean cosine similarity of two texts of different classes")),
            (
                self.tr("Any\ntwo"),
                self.tr("Mean cosine similarity of any two texts. Near 1, all vectors point the same way"),
            ),
        )

    def numbers(self) -> Numbers:
        heads = [head.replace("\n", " ") for head, _help in self.heads()]
        rows: Numbers = [[self.tr("pooling"), *heads]]
        rows.extend([row.name, *row.values] for row in self.rows)
        if self.rows:
            rows.append([self.tr("chance"), *self._chances, "", "", ""])
        return rows

    def words_of(self, target: int) -> str:
        """Return a row as lines of words."""
        held = self.rows[target]
        lines = [held.name]
        for (_head, said), value, is_share in zip(
            self.heads(), held.values, (True, True, False, False, False), strict=True
        ):
            lines.append(words.captioned(said, words.share(value) if is_share else words.decimal(value)))
        return "\n".join(lines)

    def sizeHint(self) -> QSize:
        return QSize(480, self.minimumSizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(300, int(EDGE) + self.top_of(max(3, self.num_rows)))

    def rect_of(self, target: int) -> QRectF:
        return super().rect_of(target).adjusted(EDGE - 4, 0, 4 - EDGE, 0)

    def matters(self, place: int) -> bool:
        return bool(self.rows[place].is_followed)

    def columns(self) -> tuple[Column, ...]:
        width = self.canvas().width()
        names = min(self.widest((row.name for row in self.rows), bold=True) + 4, width * 0.32)
        for num_figures in (3, 1):
            room = width - 2 * EDGE - names - GAP - num_figures * (FIGURE + GAP / 2) - 2 * GAP
            if room / 2 >= LEAST_BAR:
                break
        bar = max(60.0, min(room / 2, 260.0))
        agreement, separation, *figures_of = self.heads()
        return (
            Column("", of("name"), str, names, cut=CUT_MIDDLE),
            *self._share(agreement, "agreement", bar, self._chances[0]),
            *self._share(separation, "separation", bar, self._chances[1]),
            *(
                figures(
                    head,
                    of(name),
                    _two_digits,
                    ink="text",
                    help=said,
                    width=FIGURE,
                    gap=GAP if place == 3 - num_figures else GAP / 2,
                    least_room=0.0 if place >= 3 - num_figures else math.inf,
                )
                for place, ((head, said), name) in enumerate(zip(figures_of, COSINES, strict=True))
            ),
        )

    def _share(self, head: tuple[str, str], name: str, width: float, chance: float) -> Iterator[Column]:
        """Yield the columns of a share: its bar, with a line where chance would be, and its figure."""

        def bar(row: PoolingRow) -> Bar:
            ink, dotted = "accent" if row.is_followed else "bar", (1.0, Qt.PenStyle.DotLine)
            return Bar(getattr(row, name), ink, "", 16.0, 3.0, line=chance, line_pen=dotted)

        beside = max(10.0, width - SHARE - 2)
        yield Column(head[0], row_itself, bar, beside, help=head[1])
        rest = {"ink": "text", "bolds": True, "width": SHARE, "gap": width - SHARE - beside}
        yield figures("", of(name), words.share, help=head[1], **rest)

    def paint_ground(self, painter: QPainter, place: int, room: QRectF) -> None:
        if place == self.current and not self._saving:
            paint_chip(painter, room, theme.current().hover)

    def paint_mark(self, painter: QPainter) -> None:
        """Paint no ring: the row that is marked has a ground."""


def _two_digits(value: float) -> str:
    return words.decimal(value, 2)
