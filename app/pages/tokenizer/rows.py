"""The rows as a table: position, piece, id, segment, mask, characters; cells are made when they are shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRectF,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QHeaderView, QStyledItemDelegate, QStyleOptionViewItem, QTableView, QWidget

from app import words
from app.look import theme
from app.look.labels import tip
from app.look.table_view import TableView
from app.pages.tokenizer.requests import Tokenization
from engine.inspect.token_rows import Row

Index = QModelIndex | QPersistentModelIndex
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
PIECE, CHARACTERS = 1, 5  # columns


class LinesModel(QAbstractTableModel):
    """Lines of text cells, asked for one by one."""

    def __init__(
        self, names: Sequence[str], *, right: Sequence[int] = (), parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._names, self._right = tuple(names), set(right)
        self._count = 0
        self._cell: Callable[[int, int], str] = lambda _line, _column: ""

    def set_lines(self, count: int, cell: Callable[[int, int], str]) -> None:
        """Show `count` lines. Args: cell: line, column -> what stands there."""
        self.beginResetModel()
        self._count, self._cell = count, cell
        self.endResetModel()

    def rename(self, column: int, name: str) -> None:
        """Give a column another name."""
        names = list(self._names)
        names[column] = name
        self._names = tuple(names)
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, column, column)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else self._count

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else len(self._names)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.UserRole):
            return self._cell(index.row(), index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            said = self._cell(index.row(), index.column())
            return tip(said) if len(said) > 12 else None
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() in self._right:
            return RIGHT
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._names[section]
        if role == Qt.ItemDataRole.TextAlignmentRole and section in self._right:
            return RIGHT
        return None


class RowsModel(LinesModel):
    """The rows that a model is given."""

    def __init__(self, parent: QObject | None = None) -> None:
        names = [
            self.tr("Position"), self.tr("Piece"), self.tr("ID"), self.tr("Segment"), self.tr("Mask"),
            self.tr("Characters"), self.tr("Word"),
        ]  # fmt: skip
        super().__init__(names, right=(0, 2, 3, 4), parent=parent)
        self.found: Tokenization | None = None

    def set_tokenization(self, found: Tokenization | None) -> None:
        """Show the rows of a text, or none."""
        self.found = found
        self.set_lines(len(found.rows) if found else 0, self._words)

    def row_at(self, number: int) -> Row:
        """Return a row."""
        assert self.found is not None
        return self.found.rows[number]

    def _words(self, number: int, column: int) -> str:
        row = self.row_at(number)
        if column == 0:
            return self.tr("cut") if row.position is None else str(row.position)
        if column == PIECE:
            return row.piece
        if column in (2, 3, 4):
            return str((row.id, row.segment, row.mask)[column - 2])
        if row.word < 0:
            return ""
        assert self.found is not None
        if column == CHARACTERS:
            return f"{row.start}–{row.stop}"
        text = self.found.traces[row.segment].text
        word = self.found.word_of(row)
        return words.shorten(text[word.start : word.stop], 60) if word is not None else ""

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.ForegroundRole:
            row = self.row_at(index.row())
            if row.kind in ("cut", "padding"):
                return QColor(theme.current().muted)
            if index.column() == 3:
                return QColor(theme.current().b if row.segment else theme.current().accent)
            return None
        return super().data(index, role)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if role == Qt.ItemDataRole.ToolTipRole and orientation == Qt.Orientation.Horizontal:
            return (
                self.tr("position_ids: the place in what the model reads"),
                self.tr("## before a piece: it goes on with the word before it"),
                self.tr("input_ids: the place in the vocabulary"),
                self.tr("token_type_ids: 0 for A, 1 for B"),
                self.tr("attention_mask: 1 is read, 0 is padding"),
                self.tr("From which to which character of the text, counted from 0"),
                self.tr("The word as it was written"),
            )[section]
        return super().headerData(section, orientation, role)


class ChipDelegate(QStyledItemDelegate):
    """Paints a piece as a chip in the colours of its word and segment."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        option.text = ""  # the ground alone: the chip has the text

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        model = index.model()
        assert isinstance(model, RowsModel)
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
        elif text == "[UNK]":
            fill, frame, ink, style = colors.card, colors.wrong, colors.wrong, Qt.PenStyle.DashLine
        painter.setPen(QPen(QColor(frame), 1.2, style))
        painter.setBrush(QColor(fill))
        painter.drawRoundedRect(chip, 4, 4)
        painter.setPen(QColor(ink))
        painter.drawText(
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
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(28)
        self.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QTableView.SelectionMode.ContiguousSelection)
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

    @Slot(QModelIndex, QModelIndex)
    def _walked(self, current: QModelIndex, _before: QModelIndex) -> None:
        if not self._quiet and current.isValid():
            self.walked.emit(current.row())
