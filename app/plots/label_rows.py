"""Labels in rows, each with the key that gives it: a codebook, or what a model suggests for a text.

A click on a row gives its label.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.look.columns import CUT_RIGHT, Bar, Cell, Column, WordsCell, figures, of, row_itself
from app.plots.columns import ColumnsFigure
from app.plots.strokes import CENTER, paint_chip, write

KEY, KEY_HEIGHT, HUE = 22.0, 20.0, 4.0  # px
MOST_NAME = 0.42  # of the width
RULE_SIZE = 12  # px


@dataclass(frozen=True, slots=True)
class LabelRow:
    """A label. key: that gives it, "" for none. rule: when. count: of texts that have it. share: how probable
    the model finds it for the text in view; None: it says nothing. hue: the place of its colour among those
    of tags; None: it has none.
    """

    key: str
    name: str
    rule: str = ""
    count: int = 0
    share: float | None = None
    hue: int | None = None


@dataclass(frozen=True, slots=True)
class _KeyCell(Cell):
    row: LabelRow

    def paint(self, painter: QPainter, room: QRectF) -> None:
        chip, colors = (
            QRectF(room.left(), room.center().y() - KEY_HEIGHT / 2, KEY, KEY_HEIGHT),
            theme.current(),
        )
        if self.row.key:
            paint_chip(painter, chip, colors.page, colors.edge)
            write(painter, chip, self.row.key, size=RULE_SIZE, side=CENTER)
        if self.row.hue is not None:
            hues = theme.CATEGORIES[colors.name]
            line = QRectF(chip.left() + 1, chip.bottom() - HUE, chip.width() - 2, HUE - 1)
            paint_chip(painter, line, hues[self.row.hue % len(hues)], radius=1.0)


@dataclass(frozen=True, slots=True)
class _NameAndRule(Cell):
    row: LabelRow

    def paint(self, painter: QPainter, room: QRectF) -> None:
        if not self.row.rule:
            WordsCell(self.row.name, is_bold=True).paint(painter, room)
            return
        half = room.height() / 2 - 2
        upper = QRectF(room.left(), room.top() + 3, room.width(), half)
        lower = QRectF(room.left(), upper.bottom() - 1, room.width(), half)
        WordsCell(self.row.name, is_bold=True).paint(painter, upper)
        write(painter, lower, self.row.rule, "muted", size=RULE_SIZE, cut=CUT_RIGHT)


class LabelRowsPlot(ColumnsFigure):
    """Labels from top to bottom. A target is a row's place."""

    is_door = True
    has_line = False
    edges = (2.0, 4.0)

    def columns(self) -> Sequence[Column]:
        key = Column("", row_itself, _KeyCell, KEY, also={"key": of("key")})
        wide = self.widest(words.number(row.count) for row in self.rows)
        count = figures("", of("count"), ink="text", width=wide, saved="labelled", bolds=True)
        return (key, *self.named_columns(), count)

    def named_columns(self) -> Sequence[Column]:
        """Return what stands between the key and the number of texts."""
        rule = {"label": of("name"), "rule": of("rule")}
        return (Column("", row_itself, _NameAndRule, also=rule),)

    def words_of(self, target: int) -> str:
        row = self.rows[target]
        said = [f"{row.key} {row.name}".strip(), row.rule]
        if row.share is not None:
            said.append(words.share(row.share, 0))
        labelled = words.counted(row.count, self.tr("{count} text"), self.tr("{count} texts"))
        return words.clauses(filter(None, (*said, labelled)))

    def summary(self) -> str:
        return words.counted(len(self.rows), self.tr("{count} label"), self.tr("{count} labels"))


class CodebookPlot(LabelRowsPlot):
    """A label: its name, and the rule under it where any label has one."""

    row_height = 46
    heights = row_height, 30  # px with rules, and without

    def show_rows(self, rows: Iterable[LabelRow]) -> None:
        shown = tuple(rows)
        self.row_height = self.heights[not any(row.rule for row in shown)]
        super().show_rows(shown)


class SuggestedLabelsPlot(LabelRowsPlot):
    """A line a label: its name, and a bar from 0 to 1 of how probable it is."""

    row_height = 26
    edges = (0.0, 0.0)

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.has_counts = False

    def set_counts(self, has_counts: bool) -> None:
        """Say whether the numbers of texts are shown, as where no codebook is in view."""
        self.has_counts = has_counts
        self.rows_grown()

    def matters(self, place: int) -> bool:
        return place == 0 and self.rows[0].share is not None

    def columns(self) -> Sequence[Column]:
        found = super().columns()
        return found if self.has_counts else found[:-1]

    def named_columns(self) -> Sequence[Column]:
        name = min(self.widest((row.name for row in self.rows), bold=True), self.canvas().width() * MOST_NAME)
        share = self.widest({"100 %", *(_share(row.share) for row in self.rows)}, bold=True)
        return (
            Column("", of("name"), width=name + 8, saved="label", also={"rule": of("rule")}),
            Column("", row_itself, _bar, least=40),
            figures(
                "", of("share"), _share, ink="text", bolds=True, width=share + 4, saved="probability",
            ),
        )  # fmt: skip


def _share(share: float | None) -> str:
    return "" if share is None else words.share(share, 0)


def _bar(row: LabelRow) -> Cell:
    return WordsCell("") if row.share is None else Bar(row.share, height=6.0, radius=3.0)
