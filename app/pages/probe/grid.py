"""A template's scores as a table: a row a sentence, a column a word. Plain reading of the engine's grid."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QBrush, QColor, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from app import words
from app.look import theme
from app.look.columns import RIGHT
from app.look.labels import tip
from app.look.rows_model import Index, RowsModel, TableColumn
from engine.inspect.masked.grid import TemplateTable

PROBABILITY, CORRECTED = "probability", "corrected"


class GridModel(RowsModel):
    """Shows probabilities, or scores that are corrected by what the gap prefers anyway."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.grid: TemplateTable | None = None
        self.what = PROBABILITY

    def set_grid(self, grid: TemplateTable | None, what: str) -> None:
        """Show a grid's probabilities or corrected scores."""
        self.grid, self.what = grid, what
        targets, cells = (grid.targets, grid.cells) if grid is not None else ((), ())
        self.put([self._column(at, target) for at, target in enumerate(targets)], range(len(cells)))

    def _column(self, at: int, target: str) -> TableColumn:
        return TableColumn(
            target,
            lambda row: self.value(row, at),
            words.probability if self.what == PROBABILITY else signed,
            side=RIGHT,
            whole=lambda row: _digits(self.value(row, at)),
            told=lambda row: self._cell_words(row, at),
        )

    def values(self) -> np.ndarray:
        """Return what is shown, (sentences, words); NaN where there is none."""
        if self.grid is None:
            return np.zeros((0, 0))
        shape = (len(self.grid.cells), len(self.grid.targets))
        found = [self.value(row, column) for row in range(shape[0]) for column in range(shape[1])]
        return np.array(found, dtype=np.float64).reshape(shape)

    def value(self, row: int, column: int) -> float:
        """Return one number."""
        assert self.grid is not None
        found = self.grid.scores[row][column]
        if self.what == PROBABILITY:
            return found.score.probability
        return math.nan if found.corrected is None else found.corrected

    def row_name(self, row: int) -> str:
        """Return what sets a sentence apart: its alternatives."""
        assert self.grid is not None
        return row_name(self.grid, row)

    def row_head(self, place: int) -> str:
        return words.shorten(self.row_name(place), 40)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role != Qt.ItemDataRole.BackgroundRole or not index.isValid():
            return super().data(index, role)
        value = self.value(index.row(), index.column())
        return None if math.isnan(value) else QBrush(QColor(self._ground(value)))

    def _ground(self, value: float) -> str:
        colors = theme.current()
        if self.what == PROBABILITY:
            return theme.mix(colors.card, colors.accent, 0.3 * min(1.0, value * 4))
        full = colors.accent if value > 0 else colors.b
        return theme.mix(colors.card, full, 0.3 * min(1.0, abs(value) / 3))

    def _cell_words(self, row: int, column: int) -> str:
        assert self.grid is not None
        found, cell = self.grid.scores[row][column], self.grid.cells[row]
        said = self.tr("{sentence} {word}: {share}, rank {rank}").format(
            sentence=cell.text,
            word=self.grid.targets[column],
            share=words.share(found.score.probability, 2),
            rank=words.number(found.score.rank),
        )
        if found.prior is not None and found.corrected is not None:
            said += " · " + self.tr("with the alternatives masked {share}, corrected {score}").format(
                share=words.share(found.prior.probability, 2), score=signed(found.corrected)
            )
        return f"{said} · {words.say(found.score.explanation)}"

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Vertical and role == Qt.ItemDataRole.ToolTipRole:
            return None if self.grid is None else tip(self.grid.cells[section].text)
        return super().headerData(section, orientation, role)


class GridDelegate(QStyledItemDelegate):
    """Paints a cell's ground, which a style sheet with a border for items would leave out."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        ground = index.data(Qt.ItemDataRole.BackgroundRole)
        if isinstance(ground, QBrush):
            painter.fillRect(option.rect.adjusted(1, 1, -1, -1), ground)
        super().paint(painter, option, index)


def row_name(grid: TemplateTable, row: int, between: str = " · ") -> str:
    """Return a sentence's alternatives, or the sentence where the template has none."""
    cell = grid.cells[row]
    named = [option.strip() or "–" for option in cell.options]
    return between.join(named) if named else cell.text


def _digits(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.6g}"


def signed(value: float) -> str:
    """Return a score with its sign: "+1.2", "−0.4"."""
    if math.isnan(value):
        return "–"
    sign = "+" if value >= 0.005 else "−" if value <= -0.005 else ""
    return f"{sign}{words.decimal(abs(value), 2)}"
