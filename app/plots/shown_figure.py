"""What heatmap and arcs share: who looks at what, hovered and locked, by mouse and keyboard, in words.

A row is the token that looks, a column the token that it looks at. Hovering and locking are told by signals;
what a page sets comes back by no signal, so that two pictures can follow each other.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QWidget

from app.look import theme
from app.plots.figure import Numbers
from app.plots.layered import LayeredFigure, value_words
from engine.inspect.attention.views import Shown

NONE = (-1, -1)
TELLING = 0.0005  # weights below it are not worth a word
LEAP = 10  # cells that an arrow key with Shift moves
MOVES = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}


class Names:
    """How the tokens of a matrix are called: by themselves, with their place where they stand twice."""

    def __init__(self, shown: Shown) -> None:
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
        return f"{name} ({places[i][0]})" if counts[labels[i]] > 1 and places[i] else name


class ShownFigure(LayeredFigure):
    """Base of pictures of one matrix. A child class says what lies under a point."""

    hovered = Signal(int, int)  # row, column; -1 where the pointer names none
    locked = Signal(int)  # row, -1 when let go

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.shown: Shown | None = None
        self.names: Names | None = None
        self.current = NONE
        self.locked_row = -1

    @property
    def is_empty(self) -> bool:
        return self.shown is None or self.shown.values.size == 0

    def set_shown(self, shown: Shown | None) -> None:
        """Take another matrix; hovered and locked stay where the labels are the same."""
        old, self.shown = self.shown, shown
        self.names = Names(shown) if shown is not None else None
        same = (
            old is not None
            and shown is not None
            and (old.row_labels, old.column_labels)
            == (
                shown.row_labels,
                shown.column_labels,
            )
        )
        if not same:
            self.current, self.locked_row = NONE, -1
        self._describe()
        self.renew()

    def set_locked(self, row: int) -> None:
        """Lock a row, -1 for none, without a signal."""
        row = row if self.shown is not None and 0 <= row < len(self.shown.row_labels) else -1
        if row != self.locked_row:
            self.locked_row = row
            self._describe()
            self.update()

    def set_hovered(self, row: int, column: int) -> None:
        """Show a cell as if the pointer were on it, (-1, -1) for none, without a signal."""
        if (row, column) != self.current:
            self.current = (row, column)
            self._describe()
            self.update()

    def target_at(self, position: QPointF) -> tuple[int, int]:
        """Return the (row, column) under a point, each -1 where it names none."""
        raise NotImplementedError

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
        if self.locked_row >= 0:
            return self.cell_words(self.locked_row, -1)
        return self.tr("Strongest: {cell}").format(cell=self.cell_words(*self.strongest_cell()))

    def paint_readout(self, painter: QPainter, place: QRectF) -> None:
        """Paint the line under the picture."""
        painter.setFont(theme.ui_font(12))
        painter.setPen(theme.current().color("text" if self.current != NONE else "muted"))
        metrics = QFontMetricsF(painter.font())
        text = metrics.elidedText(self.readout(), Qt.TextElideMode.ElideRight, place.width())
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute
        painter.drawText(place, left | Qt.AlignmentFlag.AlignVCenter, text)

    # Mouse and keys

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._go_to(self.target_at(event.position()))
        hand = self.current != NONE
        self.setCursor(Qt.CursorShape.PointingHandCursor if hand else Qt.CursorShape.ArrowCursor)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._go_to(NONE)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and not self.is_empty:
            self._lock(self.target_at(event.position())[0])
        super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, shift = Qt.Key(event.key()), Qt.KeyboardModifier.ShiftModifier
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if self.is_empty or held & ~shift:  # the page's own keys
            super().keyPressEvent(event)
        elif key in MOVES or key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self._go_to(self._moved(key, LEAP if held & shift else 1))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self.current[0] >= 0:
            self._lock(self.current[0])
        elif key == Qt.Key.Key_Escape and (self.locked_row >= 0 or self.current != NONE):
            self._lock(-1)
            self._go_to(NONE)
        else:
            super().keyPressEvent(event)

    def _moved(self, key: Qt.Key, count: int) -> tuple[int, int]:
        """Return where a key leads, `count` cells on; from nowhere to the strongest cell."""
        assert self.shown is not None
        row, column = self.current
        if row < 0 and column < 0:
            return self.strongest_cell()
        num_rows, num_columns = self.shown.values.shape
        if key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            return max(row, 0), 0 if key == Qt.Key.Key_Home else num_columns - 1
        down, right = MOVES[key]
        row, column = max(row, 0) + down * count, max(column, 0) + right * count
        return min(max(row, 0), num_rows - 1), min(max(column, 0), num_columns - 1)

    def _go_to(self, cell: tuple[int, int]) -> None:
        if cell != self.current:
            self.set_hovered(*cell)
            self.hovered.emit(*cell)

    def _lock(self, row: int) -> None:
        row = -1 if row == self.locked_row else row
        if row != self.locked_row:
            self.set_locked(row)
            self.locked.emit(row)

    def _describe(self) -> None:
        self.setAccessibleDescription(self.empty_text if self.is_empty else self.readout())


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
    return ", ".join(f"{name} {value_words(value, signed)}" for name, value in best) or "–"
