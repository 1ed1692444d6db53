"""The texts behind a number as Qt sees them: cells are made when they are shown, of a million as of ten."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QColor, QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app import words
from app.look import theme
from app.look.columns import LEFT, RIGHT, WHOLE, Bar, Words
from app.look.labels import tip
from app.pages.evaluate.state import ScoredPair
from app.pages.tasks.known import views_of
from engine.train.scored import Scored

Index = QModelIndex | QPersistentModelIndex
ANSWER, OTHER, SURE, TEXT, LINE, OPEN = range(6)
SHOWN, TOLD = 240, 2000  # characters of a text on its line, in its tip
ROW = 28  # px


class TextRows(QAbstractTableModel):
    """Some scored texts in an order of their own."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.scored: Scored | None = None
        self.both: ScoredPair | None = None
        self.places: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self.opened = -1  # the row that is open
        self._second: dict[int, int] = {}
        self._has_lines = True

    def set_rows(self, scored: Scored | None, places: npt.NDArray[np.int64], both: ScoredPair | None) -> None:
        """Show other texts."""
        self.beginResetModel()
        if both is not self.both:
            self._second = {}
            if both is not None:
                each, found = both.compared.second.each, both.compared
                pairs = zip(found.first_rows.tolist(), found.second_rows.tolist(), strict=True)
                self._second = {first: int(each.predicted[second]) for first, second in pairs}
        if scored is not self.scored:
            self._has_lines = scored is None or bool(scored.listed.lines.any())
        self.scored, self.places, self.both, self.opened = scored, places, both, -1
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() or self.scored is None else len(self.places)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else 6

    def place(self, row: int) -> int:
        """Return which text a row is of."""
        return int(self.places[row])

    def answer(self, row: int) -> tuple[str, str]:
        """Return what is true of a row's text and what was answered."""
        assert self.scored is not None
        each, place = self.scored.each, self.place(row)
        return each.names[each.true[place]], each.names[each.predicted[place]]

    def other(self, row: int) -> str:
        """Return what the second model answered; "" without one."""
        if self.both is None or self.place(row) not in self._second:
            return ""
        names: tuple[str, ...] = self.both.compared.second.each.names
        return names[self._second[self.place(row)]]

    def sure(self, row: int) -> float:
        """Return the probability of the answer; of a number, how far off it is."""
        assert self.scored is not None
        return float(self.scored.each.sure[self.place(row)])

    def said(self, row: int) -> str:
        """Return a row's text, whole."""
        assert self.scored is not None
        return self.scored.listed.said(self.place(row))

    def is_right(self, row: int) -> bool:
        assert self.scored is not None
        return bool(self.scored.each.right[self.place(row)] >= 1)

    @property
    def is_of_numbers(self) -> bool:
        return self.scored is not None and views_of(self.scored.task).is_of_numbers

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or self.scored is None:
            return None
        row, column = index.row(), index.column()
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.UserRole):
            return self._cell(row, column, whole=role == Qt.ItemDataRole.UserRole)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(words.shorten(self._cell(row, column, whole=True), TOLD))
        if role == Qt.ItemDataRole.TextAlignmentRole and column == LINE:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def _cell(self, row: int, column: int, *, whole: bool) -> str:
        if column == ANSWER:
            return " → ".join(self.answer(row))
        if column == OTHER:
            return self.other(row)
        if column == SURE:
            value = self.sure(row)
            return (
                words.scientific(value, 3) if self.is_of_numbers else words.decimal(value, 4 if whole else 2)
            )
        if column == TEXT:
            return self.said(row) if whole else words.shorten(self.said(row), SHOWN)
        if column == LINE:
            assert self.scored is not None
            line = int(self.scored.listed.lines[self.place(row)])
            return str(line) if line else str(int(self.scored.listed.rows[self.place(row)]) + 1)
        return ""

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            sure = self.tr("off by") if self.is_of_numbers else self.tr("probability")
            line = self.tr("line") if self._has_lines else self.tr("number")
            return (self.tr("true → predicted"), self.tr("second model"), sure, self.tr("text"), line, "")[
                section
            ]
        if role == Qt.ItemDataRole.TextAlignmentRole and section == LINE:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None


class TextCells(QStyledItemDelegate):
    """Answers with the predicted one in bold, probabilities as bars, a mark that opens; at the row's top."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        model, colors = index.model(), theme.current()
        assert isinstance(model, TextRows)
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        painter.save()
        is_open = index.row() == model.opened
        if is_open or state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, colors.color("hover" if is_open else "accent_soft"))
        painter.setClipRect(rect)
        line = QRectF(rect.left() + 8, rect.top(), rect.width() - 16, ROW)
        painter.setFont(theme.ui_font())
        if index.column() == ANSWER:
            self._paint_answer(painter, line, model, index.row())
        elif index.column() == SURE and not model.is_of_numbers:
            self._paint_sure(painter, line, model.sure(index.row()))
        elif index.column() == OPEN:
            icon = theme.icon("chevron-down" if is_open else "chevron-right", "muted")
            icon.paint(painter, QRect(rect.center().x() - 8, rect.top() + (ROW - 16) // 2, 16, 16))
        elif index.column() == OTHER:
            other, own = model.other(index.row()), model.answer(index.row())[0]
            self._paint_words(painter, line, other, bold=bool(other) and other != own)
        elif index.column() != TEXT or not is_open:
            self._paint_plain(painter, line, index)
        painter.restore()

    def _paint_plain(self, painter: QPainter, line: QRectF, index: Index) -> None:
        ink, side = "text" if index.column() == TEXT else "muted", RIGHT if index.column() == LINE else LEFT
        Words(str(index.data()), ink, side=side).paint(painter, line)

    def _paint_words(self, painter: QPainter, line: QRectF, text: str, *, bold: bool) -> None:
        Words(text, "text" if bold else "muted", bold).paint(painter, line)

    def _paint_answer(self, painter: QPainter, line: QRectF, model: TextRows, row: int) -> None:
        true, predicted = (" ".join(one.split()) or "–" for one in model.answer(row))
        is_right = model.is_right(row)
        plain, bold = QFontMetricsF(theme.ui_font()), QFontMetricsF(theme.ui_font(bold=not is_right))
        arrow = plain.horizontalAdvance("  →  ")
        room = max(10.0, line.width() - arrow)
        first = min(
            plain.horizontalAdvance(true) + 1, max(room / 2, room - bold.horizontalAdvance(predicted))
        )
        colors = theme.current()
        align = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.setPen(colors.color("text"))
        cut = plain.elidedText(true, Qt.TextElideMode.ElideRight, first)
        painter.drawText(line, align, cut)
        painter.setPen(colors.color("muted"))
        rest = line.adjusted(plain.horizontalAdvance(cut), 0, 0, 0)
        painter.drawText(rest, align, "  →  ")
        painter.setFont(theme.ui_font(bold=not is_right))
        painter.setPen(QColor(colors.muted if is_right else colors.text))
        rest.adjust(arrow, 0, 0, 0)
        painter.drawText(rest, align, bold.elidedText(predicted, Qt.TextElideMode.ElideRight, rest.width()))

    def _paint_sure(self, painter: QPainter, line: QRectF, value: float) -> None:
        figure = QFontMetricsF(painter.font()).horizontalAdvance("0.00") + 8
        track = QRectF(line.left(), line.top(), max(10.0, line.width() - figure), line.height())
        Bar(value).paint(painter, track)
        Words(words.decimal(value, 2), side=RIGHT, cut=WHOLE).paint(painter, line)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(60, ROW)
