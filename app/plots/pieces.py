"""A text over its pieces: each word as it was written, the pieces under it, their ids, and what ties them.

Colour never stands alone: an unknown word has a broken frame, what is cut is struck through, a mark of the
model's own has a frame and no ground. Under the pieces may stand those of a second vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QWidget

from app import words
from app.plots.figure import Numbers
from app.plots.pieces_canvas import PiecesCanvas
from app.plots.scrolled import ScrolledFigure


@dataclass(frozen=True, slots=True)
class Chip:
    """A piece. kind: "piece", "unknown", "special", "cut" or "padding".

    row: its place among the rows of the model, -1 for a piece of the second vocabulary. start, stop: its
    characters in the column's text.
    """

    text: str
    id: int
    row: int
    kind: str
    start: int = 0
    stop: int = 0
    segment: int = 0


@dataclass(frozen=True, slots=True)
class Column:
    """A word as it was written, and its pieces. beside: those of the second vocabulary.

    shade: 0 and 1 in turn, so that neighbours differ. joined: no blank before it.
    """

    text: str
    segment: int
    shade: int
    chips: tuple[Chip, ...]
    beside: tuple[Chip, ...] = ()
    joined: bool = False


class PiecesPlot(ScrolledFigure):
    """Columns that wrap at the width there is; the mouse, the arrow keys and others choose a piece."""

    chosen = Signal(int)  # the row of a piece that was clicked or walked to
    hovered = Signal(int)  # the row of the piece under the pointer, -1 for none

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.columns: tuple[Column, ...] = ()
        self.has_beside = False
        self.current = -1  # a row
        self._canvas = PiecesCanvas(self)
        self.hold(self._canvas)

    @property
    def is_empty(self) -> bool:
        return not self.columns

    @property
    def is_saving(self) -> bool:
        return self._saving

    def set_columns(self, columns: Sequence[Column], *, has_beside: bool = False) -> None:
        """Show these words. Args: has_beside: keep a line for the second vocabulary."""
        self.columns, self.has_beside = tuple(columns), has_beside
        rows = [chip.row for column in self.columns for chip in column.chips]
        self.current = self.current if self.current in rows else -1
        self._scroll.setVisible(bool(self.columns))
        self._canvas.place()
        said = [chip.text for column in self.columns[:60] for chip in column.chips]
        self.setAccessibleDescription(" ".join(said))
        self.update()

    def clear(self) -> None:
        """Show nothing."""
        self.set_columns([])

    def set_current(self, row: int) -> None:
        """Mark the piece of a row; emits nothing. -1: none."""
        if row != self.current:
            self.current = row
            self._canvas.show_row(row)
            self._canvas.update()

    def numbers(self) -> Numbers:
        names = ["text", "piece", "id", "segment", "characters", "kind", "second vocabulary"]
        rows: Numbers = [[*names]]
        for column in self.columns:
            beside = " ".join(chip.text for chip in column.beside)
            for number, chip in enumerate(column.chips):
                span = column.text[chip.start : chip.stop]
                first = beside if number == 0 else ""
                rows.append([column.text, chip.text, chip.id, chip.segment, span, chip.kind, first])
        return rows

    def chip_words(self, column: Column, chip: Chip) -> str:
        """Return what is said of a piece under the pointer and to screen readers."""
        span = words.shorten(column.text[chip.start : chip.stop], 60)
        said = {
            "special": self.tr("{piece}, id {id}: a mark that is put around a text"),
            "padding": self.tr("{piece}, id {id}: fills up; the attention mask is 0, so it is not read"),
            "unknown": self.tr("{piece}, id {id}: the vocabulary cannot spell “{span}”"),
            "cut": self.tr("{piece}, id {id}: cut off, the model does not see “{span}”"),
        }.get(chip.kind, self.tr("{piece}, id {id}, from “{span}”"))
        return said.format(piece=chip.text, id=chip.id, span=span)

    def sizeHint(self) -> QSize:
        return QSize(480, 180)

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 84)

    # ---- keyboard

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if self.current < 0 and event.reason() != Qt.FocusReason.MouseFocusReason:
            self._go(self._canvas.next_row(-1, 1))
        self._canvas.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._canvas.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        aside = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        if key in aside and self.columns:
            self._go(self._canvas.next_row(self.current, aside[key]))
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down) and self.columns:
            self._go(self._canvas.row_on_line(self.current, -1 if key == Qt.Key.Key_Up else 1))
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End) and self.columns:
            self._go(self._canvas.end_row(last=key == Qt.Key.Key_End))
        else:
            super().keyPressEvent(event)

    def choose(self, row: int) -> None:
        """Mark the piece of a row as a person does: it is told on."""
        self._go(row)

    def _go(self, row: int) -> None:
        if row >= 0:
            self.set_current(row)
            column, chip = self._canvas.chip_of(row)
            if column is not None and chip is not None:
                self.setAccessibleDescription(self.chip_words(column, chip))
            self.chosen.emit(row)

    def reveal(self, x: float, y: float) -> None:
        """Scroll to a place on the canvas."""
        self._scroll.ensureVisible(int(x), int(y), 0, 4)
