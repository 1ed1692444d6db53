"""The texts behind a number as a table: cells are made when they are shown, of a million as of ten."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QObject, QRectF
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

from app import words
from app.look import theme
from app.look.columns import RIGHT, WHOLE, Bar, Beside, Cell, WordsCell
from app.look.rows_model import CellsDelegate, Index, RowsModel, TableColumn
from app.pages.evaluate.opened_scores import ScoredPair
from app.pages.tasks.known import views_of
from engine.train.scored import ScoredTable

ANSWER, OTHER, SURE, TEXT, LINE, OPEN = range(6)
SHOWN, TOLD = 240, 2000  # characters of a text on its line, in its tip
ROW = 28  # px


class TextRows(RowsModel):
    """Some scored texts in an order of their own; a row is a text's place among all."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.scored: ScoredTable | None = None
        self.both: ScoredPair | None = None
        self.places: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self.opened = -1  # the row that is open
        self._second: dict[int, int] = {}
        self._has_lines = True
        self.put(self._columns(), ())

    def set_rows(
        self, scored: ScoredTable | None, places: npt.NDArray[np.int64], both: ScoredPair | None
    ) -> None:
        """Show other texts."""
        if both is not self.both:
            self._second = {}
            if both is not None:
                each, found = both.compared.second.each, both.compared
                pairs = zip(found.first_rows.tolist(), found.second_rows.tolist(), strict=True)
                self._second = {first: int(each.predicted[second]) for first, second in pairs}
        if scored is not self.scored:
            self._has_lines = scored is None or bool(scored.listed.lines.any())
        self.scored, self.places, self.both, self.opened = scored, places, both, -1
        self.put(self._columns(), cast(Sequence[int], places))

    def _columns(self) -> list[TableColumn]:
        """Return the columns, in the order of ANSWER to OPEN."""
        said: Callable[[float], str] = words.share
        whole: Callable[[float], str] = partial(words.decimal, digits=4)
        if self.is_of_numbers:
            said = whole = partial(words.scientific, digits=3)
        off = self.tr("off by") if self.is_of_numbers else self.tr("probability")
        line = self.tr("line") if self._has_lines else self.tr("number")
        return [
            _column(self.tr("true → predicted"), self._answer_words, drawn=self._answer_cell),
            _column(self.tr("second model"), self.other, drawn=self._other_cell),
            _column(
                off,
                lambda place: whole(self.sure(place)),
                shown=lambda place: said(self.sure(place)),
                ink="muted",
                drawn=None if self.is_of_numbers else self._sure_cell,
            ),
            _column(self.tr("text"), self.said, longest=SHOWN, drawn=self._text_cell),
            _column(line, self._line, ink="muted", side=RIGHT),
            _column("", lambda place: "", drawn=lambda place: _Opens(self.is_open(place))),
        ]

    def place(self, row: int) -> int:
        """Return which text a row is of."""
        return int(self.places[row])

    def is_open(self, place: int) -> bool:
        return self.opened >= 0 and self.place(self.opened) == place

    def answer(self, place: int) -> tuple[str, str]:
        """Return what is true of a text and what was answered."""
        assert self.scored is not None
        each = self.scored.each
        return each.names[each.true[place]], each.names[each.predicted[place]]

    def other(self, place: int) -> str:
        """Return what the second model answered; "" without one."""
        if self.both is None or place not in self._second:
            return ""
        names: tuple[str, ...] = self.both.compared.second.each.names
        return names[self._second[place]]

    def sure(self, place: int) -> float:
        """Return the probability of the answer; of a number, how far off it is."""
        assert self.scored is not None
        return float(self.scored.each.sure[place])

    def said(self, place: int) -> str:
        """Return a text, whole."""
        assert self.scored is not None
        return self.scored.listed.said(int(place))

    def is_right(self, place: int) -> bool:
        assert self.scored is not None
        return bool(self.scored.each.right[place] >= 1)

    @property
    def is_of_numbers(self) -> bool:
        return self.scored is not None and views_of(self.scored.task).is_of_numbers

    def _line(self, place: int) -> str:
        assert self.scored is not None
        line = int(self.scored.listed.lines[place])
        return str(line) if line else str(int(self.scored.listed.rows[place]) + 1)

    def _answer_words(self, place: int) -> str:
        return " → ".join(self.answer(place))

    def _answer_cell(self, place: int) -> Cell:
        true, predicted = (" ".join(one.split()) or "–" for one in self.answer(place))
        return _Answer(true, predicted, self.is_right(place))

    def _other_cell(self, place: int) -> Cell:
        other = self.other(place)
        is_another = bool(other) and other != self.answer(place)[0]
        return WordsCell(other, "text" if is_another else "muted", is_another)

    def _sure_cell(self, place: int) -> Cell:
        figure = WordsCell(words.share(self.sure(place)), side=RIGHT, cut=WHOLE)
        return Beside(
            Bar(self.sure(place)), figure, QFontMetricsF(figure.font).horizontalAdvance("99.9 %") + 8
        )

    def _text_cell(self, place: int) -> Cell:
        return WordsCell("" if self.is_open(place) else words.shorten(self.said(place), SHOWN))


def _column(
    head: str, whole: Callable[[int], str], shown: Callable[[int], str] | None = None, **more: object
) -> TableColumn:
    """Return a column whose cells are copied whole. Args: shown: what stands there, if not all."""

    def told(place: int) -> str:
        return words.shorten(whole(place), TOLD)

    return TableColumn(head, shown or whole, whole=whole, told=told, **more)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class _Answer(Cell):
    """What is true and what was predicted, which is bold where it is wrong."""

    true: str
    predicted: str
    is_right: bool

    def paint(self, painter: QPainter, room: QRectF) -> None:
        true, arrow = WordsCell(self.true), WordsCell("  →  ", "muted", cut=WHOLE)
        predicted = WordsCell(self.predicted, "muted" if self.is_right else "text", not self.is_right)
        plain, bold = QFontMetricsF(true.font), QFontMetricsF(predicted.font)
        taken = plain.horizontalAdvance(arrow.text)
        both = max(10.0, room.width() - taken)
        longest = max(both / 2, both - bold.horizontalAdvance(self.predicted))
        first = min(plain.horizontalAdvance(self.true) + 1, longest)
        cut = true.shown_in(first)
        WordsCell(cut, cut=WHOLE).paint(painter, room)
        rest = room.adjusted(plain.horizontalAdvance(cut), 0, 0, 0)
        arrow.paint(painter, rest)
        predicted.paint(painter, rest.adjusted(taken, 0, 0, 0))


@dataclass(frozen=True, slots=True)
class _Opens(Cell):
    """The mark that opens a row."""

    is_open: bool

    def paint(self, painter: QPainter, room: QRectF) -> None:
        icon = theme.icon("chevron-down" if self.is_open else "chevron-right", "muted")
        place = room.toRect()
        icon.paint(painter, place.center().x() - 8, place.top() + (ROW - 16) // 2, 16, 16)


class TextCells(CellsDelegate):
    """Answers with the predicted one in bold, probabilities as bars, a mark that opens; at the row's top."""

    size = (60, ROW)

    def paint_ground(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        model, colors = index.model(), theme.current()
        assert isinstance(model, TextRows)
        is_open = index.row() == model.opened
        if is_open or option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, colors.color("hover" if is_open else "accent_soft"))
