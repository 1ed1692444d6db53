"""What heatmap and arcs share: who looks at what, hovered and locked, by mouse and keyboard, in words.

A row is the token that looks, a column the token that it looks at. Hovering and locking are told by signals;
what a page sets comes back by no signal, so that two pictures can follow each other.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property

import numpy as np
from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter

from app.look.columns import CUT_RIGHT, LEFT
from app.plots.figure import Numbers
from app.plots.layered import LayeredFigure, value_words
from app.plots.pointed import WALKS, cell_after
from app.plots.strokes import write
from app.words import bracketed, listed
from engine.inspect.attention.views import MatrixView

NONE = (-1, -1)
TELLING = 0.0005  # weights below it are not worth a word
LEAP = 10  # cells that an arrow key with Shift moves


class TokenNames:
    """How the tokens of a matrix are called: by themselves, with their place where they stand twice."""

    def __init__(self, shown: MatrixView) -> None:
        self._shown = shown

    def row(self, row: int) -> str:
        return self._name(self._shown.row_labels, self._shown.row_places, self._row_counts, row)

    def column(self, column: int) -> str:
        return self._name(self._shown.column_labels, self._shown.column_places, self._column_counts, column)

    @cached_property
    def _row_counts(self) -> Counter[str]:
        return Counter(self._shown.row_labels)

    @cached_property
    def _column_counts(self) -> Counter[str]:
        return Counter(self._shown.column_labels)

    def _name(
        self, labels: tuple[str, ...], places: tuple[tuple[int, ...], ...], counts: Counter[str], i: int
    ) -> str:
        name = isolated(labels[i])
        return bracketed(name, places[i][0]) if counts[labels[i]] > 1 and places[i] else name


class ShownFigure(LayeredFigure):
    """Base of pictures of one matrix. A target is a (row, column), each -1 where it names none.

    A child class says what lies under a point, and where it lies.
    """

    nothing = NONE
    hovered = Signal(int, int)  # row, column; -1 where the pointer names none
    locked = Signal(int)  # row, -1 when let go
    shown: MatrixView | None = None
    names: TokenNames | None = None
    locked_row = -1

    @property
    def is_empty(self) -> bool:
        return self.shown is None or self.shown.values.size == 0

    def set_shown(self, shown: MatrixView | None) -> None:
        """Take another matrix; hovered and locked stay where the labels are the same."""
        old, self.shown = self.shown, shown
        self.names = TokenNames(shown) if shown is not None else None
        before, now = (one and (one.row_labels, one.column_labels) for one in (old, shown))
        if before is None or before != now:
            self.locked_row = -1
            self._hovered = self._walked = NONE
        self.describe()
        self.renew()

    def set_locked(self, row: int) -> None:
        """Lock a row, -1 for none, without a signal."""
        row = row if self.shown is not None and 0 <= row < len(self.shown.row_labels) else -1
        if row != self.locked_row:
            self.locked_row = row
            self.describe()
            self.update()

    def strongest_cell(self) -> tuple[int, int]:
        """Return the cell with the largest value, of a difference the largest either way."""
        assert self.shown is not None
        values = np.abs(self.shown.values) if self.shown.signed else self.shown.values
        row, column = divmod(int(np.argmax(values)), values.shape[1])
        return row, column

    def numbers(self) -> Numbers:
        if self.shown is None:
            return [["place", "from"]]
        shown = self.shown
        heads = (
            f"{place[0] if place else ''} {label}"
            for place, label in zip(shown.column_places, shown.column_labels, strict=True)
        )
        rows: Numbers = [["place", "from \\ to", *heads]]
        for place, label, values in zip(
            shown.row_places, shown.row_labels, shown.values.tolist(), strict=True
        ):
            rows.append([place[0] if place else "", label, *(float(f"{value:.6g}") for value in values)])
        return rows

    def cell_words(self, row: int, column: int) -> str:
        """Return a cell, a row or a column in words."""
        if self.shown is None or self.names is None:
            return ""
        values, signed = self.shown.values, self.shown.signed
        if row >= 0 and column >= 0:
            line = self.tr("{row} → {column}   {value}")
            value = value_words(float(values[row, column]), signed)
            return line.format(row=self.names.row(row), column=self.names.column(column), value=value)
        if row >= 0:
            best = [(self.names.column(i), float(values[row, i])) for i in _largest(values[row])]
            line = self.tr("{token} → {most}")
            return line.format(token=self.names.row(row), most=_listed(best, signed))
        if column >= 0:
            best = [(self.names.row(i), float(values[i, column])) for i in _largest(values[:, column])]
            line = self.tr("{most} → {token}")
            return line.format(token=self.names.column(column), most=_listed(best, signed))
        return ""

    def readout(self) -> str:
        """Return what the line under the picture says: the cell in focus, else the strongest."""
        if self.is_empty:
            return ""
        if self.current != NONE and not self._saving:
            return self.cell_words(*self.current)
        return self.summary()

    def words_of(self, target: tuple[int, int]) -> str:
        return self.cell_words(*target)

    def tip_of(self, target: tuple[int, int]) -> str:
        return ""  # the line under the picture says it

    def summary(self) -> str:
        if self.is_empty:
            return self.empty_text
        if self.locked_row >= 0:
            return self.cell_words(self.locked_row, -1)
        return self.tr("Strongest: {cell}").format(cell=self.cell_words(*self.strongest_cell()))

    def paint_readout(self, painter: QPainter, place: QRectF) -> None:
        """Paint the line under the picture."""
        ink, side = "muted" if self.current == NONE else "text", LEFT | Qt.AlignmentFlag.AlignAbsolute
        write(painter, place, self.readout(), ink, size=12, side=side, cut=CUT_RIGHT)

    def can_choose(self, target: tuple[int, int]) -> bool:
        return True

    def choose(self, target: tuple[int, int], event: QMouseEvent | QKeyEvent) -> None:
        if isinstance(event, QMouseEvent) or target[0] >= 0:
            self._lock(target[0])

    def let_go(self) -> bool:
        was_marked = self.locked_row >= 0 or self.current != NONE
        self._lock(-1)
        self.go_to(NONE)
        return was_marked

    def current_changed(self) -> None:
        self.hovered.emit(*self.current)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        others = Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier
        if self.is_empty or event.modifiers() & ~others:  # the page's own keys
            event.ignore()
        else:
            super().keyPressEvent(event)

    def after(self, event: QKeyEvent) -> tuple[int, int]:
        assert self.shown is not None
        if event.key() not in WALKS:
            return NONE
        if self.current == NONE:
            return self.strongest_cell()
        row, column = self.current  # from a whole row or column to its first cell
        here = max(row, 0), max(column, 0)
        return cell_after(event, here, self.shown.values.shape, by=leap_of(event)) or NONE

    def _lock(self, row: int) -> None:
        row = -1 if row == self.locked_row else row
        if row != self.locked_row:
            self.set_locked(row)
            self.locked.emit(row)


def leap_of(event: QKeyEvent) -> int:
    """Return how many cells an arrow key moves."""
    return LEAP if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1


def spans(segments: tuple[int, ...]) -> dict[int, tuple[int, int]]:
    """Return where A (0) and B (1) begin, and where they end."""
    found: dict[int, tuple[int, int]] = {}
    for i, segment in enumerate(segments):
        found[segment] = (found.get(segment, (i, i))[0], i + 1)
    return found


def isolated(text: str) -> str:
    """Return a token that keeps its own direction inside a line of another one."""
    return text if text.isascii() else f"\u2068{text}\u2069"


def _largest(values: np.ndarray, count: int = 3) -> list[int]:
    order = np.argsort(-np.abs(values), kind="stable")[:count]
    return [int(i) for i in order if abs(values[i]) >= TELLING]


def _listed(best: list[tuple[str, float]], signed: bool) -> str:
    return listed(f"{name} {value_words(value, signed)}" for name, value in best) or "–"
