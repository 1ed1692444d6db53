"""The rows as a table: position, piece, id, segment, mask, characters; cells are made when they are shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRectF,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QHeaderView, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app import words
from app.look import theme
from app.look.columns import LEFT, RIGHT, of
from app.look.direction import paint_text
from app.look.rows_model import RowsModel, TableColumn
from app.look.table_view import TableView
from app.pages.tokenizer.requests import Tokenization
from engine.inspect.token_rows import TokenRow

Index = QModelIndex | QPersistentModelIndex
PIECE, SEGMENT, CHARACTERS = 1, 3, 5  # columns


class LinesModel(RowsModel):
    """Lines of text cells, asked for one by one."""

    def __init__(
        self, names: Sequence[str], *, right: Sequence[int] = (), parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._cell: Callable[[int, int], str] = lambda _line, _column: ""
        self.put([self._column(at, name, at in right) for at, name in enumerate(names)], ())

    def _column(self, at: int, name: str, is_right: bool) -> TableColumn:
        def said(line: int) -> str:
            return self._cell(line, at)

        return TableColumn(name, said, side=RIGHT if is_right else LEFT, told=lambda line: _long(said(line)))

    def set_lines(self, count: int, cell: Callable[[int, int], str]) -> None:
        """Show `count` lines. Args: cell: line, column -> what stands there."""
        self._cell = cell
        self.put(self.columns, range(count))


class TokenRows(RowsModel):
    """The rows that a model is given."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.found: Tokenization | None = None
        self.put(self._columns_of(), ())

    def set_tokenization(self, found: Tokenization | None) -> None:
        """Show the rows of a text, or none."""
        self.found = found
        self.put(self.columns, found.rows if found else ())

    @property
    def unk_id(self) -> int:
        """The id of what the vocabulary does not know."""
        return self.found.asked.first.wordpiece.unk_id if self.found else -1

    def row_at(self, number: int) -> TokenRow:
        """Return a row."""
        row: TokenRow = self.rows[number]
        return row

    def _columns_of(self) -> tuple[TableColumn, ...]:
        def column(head: str, value: Callable[[TokenRow], Any], said: str, **more: Any) -> TableColumn:
            return TableColumn(head, value, help=said, told=lambda row: _long(str(value(row))), **more)

        number = partial(column, side=RIGHT)
        marks = self.tr("## before a piece: it continues the word. Ġ or ▁: there is a space before it")
        place = self.tr("position_ids: the position in the model input")
        span = self.tr("Where the piece begins and ends in the text, in characters counted from 0")
        return (
            number(self.tr("Position"), self._position, place),
            column(self.tr("Piece"), of("piece"), marks),
            number(self.tr("ID"), of("id"), self.tr("input_ids: the number in the vocabulary")),
            number(self.tr("Segment"), self._segment, self.tr("token_type_ids: 0 for A, 1 for B")),
            number(self.tr("Mask"), of("mask"), self.tr("attention_mask: 1 is read, 0 is padding")),
            column(self.tr("Characters"), _span, span),
            column(self.tr("Word"), self._word, self.tr("The word as it was written")),
        )

    def _position(self, row: TokenRow) -> str:
        return self.tr("truncated") if row.position is None else str(row.position)

    def _segment(self, row: TokenRow) -> int:
        tells = self.found is None or self.found.asked.first.wordpiece.tells_segments
        return row.segment if tells else 0

    def _word(self, row: TokenRow) -> str:
        if row.word < 0:
            return ""
        assert self.found is not None
        text = self.found.traces[row.segment].text
        word = self.found.word_of(row)
        return words.shorten(text[word.start : word.stop], 60) if word is not None else ""

    def ink_of(self, row: TokenRow, column: TableColumn) -> str:
        if row.kind in ("cut", "padding"):
            return "muted"
        if column is self.columns[SEGMENT]:
            return "b" if row.segment else "accent"
        return ""


def _span(row: TokenRow) -> str:
    return "" if row.word < 0 else f"{row.start}–{row.stop}"


def _long(said: str) -> str:
    """Return what a cell's tooltip says: itself where it is long."""
    return said if len(said) > 12 else ""


class ChipDelegate(QStyledItemDelegate):
    """Paints a piece as a chip in the colours of its word and segment."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        option.text = ""  # the ground alone: the chip has the text

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        model = index.model()
        assert isinstance(model, TokenRows)
        row = model.row_at(index.row())
        text = row.piece
        colors = theme.current()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.ui_font())
        room = QRectF(option.rect)
        metrics = QFontMetricsF(painter.font())
        width = min(metrics.horizontalAdvance(text) + 14, room.width() - 12)
        chip = QRectF(room.left() + 6, room.center().y() - 10, max(width, 20), 20)
        soft = colors.b_soft if row.segment else colors.accent_soft
        fill = theme.mix(colors.card, soft, 1.0 if row.word % 2 else 0.55)
        frame = theme.mix(colors.card, colors.b if row.segment else colors.accent, 0.35)
        ink, style = colors.text, Qt.PenStyle.SolidLine
        if row.kind != "piece":
            fill, frame, ink = colors.card, colors.line, colors.muted
        elif row.id == model.unk_id:
            fill, frame, ink, style = colors.card, colors.wrong, colors.wrong, Qt.PenStyle.DashLine
        painter.setPen(QPen(QColor(frame), 1.2, style))
        painter.setBrush(QColor(fill))
        painter.drawRoundedRect(chip, 4, 4)
        painter.setPen(QColor(ink))
        paint_text(
            painter,
            chip,
            Qt.AlignmentFlag.AlignCenter,
            metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, chip.width() - 6),
        )
        painter.restore()


class RowsView(TableView):
    """A calm table without line numbers; the arrow keys walk through the rows. `walked`: a row was chosen."""

    walked = Signal(int)

    def __init__(self, name: str, accessible: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(accessible)
        self.choose_rows(28)
        self._quiet = False

    def show_model(self, model: QAbstractTableModel, widths: Sequence[int]) -> None:
        """Show a model; the last column takes the room that is left."""
        self.setModel(model)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.set_widths(widths)
        self.selectionModel().currentRowChanged.connect(self._walked)

    def set_widths(self, widths: Sequence[int], hidden: Sequence[int] = ()) -> None:
        """Set the widths of all columns but the last, which takes what is left, however little."""
        header = self.horizontalHeader()
        header.setStretchLastSection(False)
        for column, width in enumerate(widths):
            self.setColumnHidden(column, False)  # hidden, it would take no width
            self.setColumnWidth(column, width)
            self.setColumnHidden(column, column in hidden)
        self.setColumnWidth(len(widths), header.minimumSectionSize())
        header.setStretchLastSection(True)

    def go_to(self, row: int) -> None:
        """Choose a row; `walked` stays silent. -1: none."""
        self._quiet = True
        if row < 0 or row >= self.model().rowCount():
            self.clearSelection()
        elif row != self.currentIndex().row() or not self.selectionModel().hasSelection():
            self.selectRow(row)
            self.scrollTo(self.model().index(row, 0))
        self._quiet = False

    def _walked(self, current: QModelIndex, _before: QModelIndex) -> None:
        if not self._quiet and current.isValid():
            self.walked.emit(current.row())
