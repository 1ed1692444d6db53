"""The sentences of a word, each with the mark of its meaning; they are changed in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QEvent, QModelIndex, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app import words
from app.look import theme
from app.look.direction import in_one_line, is_right_to_left
from app.look.inputs import LineEdit
from app.look.labels import tip
from app.look.rows_model import Index
from app.look.widgets import Card, button, named, set_role
from app.pages.embeddings.paths import PathsCard, uses_of
from app.plots import marks
from app.plots.strokes import write
from app.plots.word_paths import WordUse, fitting_use

ROW = 23  # px, as MARK and SIGN
MARK = 26.0
SIGN = 16.0
USE = Qt.ItemDataRole.UserRole


@dataclass(frozen=True, slots=True)
class SentenceLine:
    """A row. use: its place among the word's uses, -1 where the word is not in it. number: of its meaning.

    typed: as it is edited; "": it cannot be. note: why it is marked.
    """

    parts: WordUse
    use: int = -1
    number: int = marks.OTHER
    typed: str = ""
    note: str = ""


class SentencesModel(QAbstractListModel):
    """Emits `edited` with a row's number and what was typed; the row after the last adds one."""

    edited = Signal(int, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.lines: Sequence[SentenceLine] = ()
        self.can_add = False

    def put(self, lines: Sequence[SentenceLine], *, can_add: bool) -> None:
        """Show some lines."""
        self.beginResetModel()
        self.lines, self.can_add = tuple(lines), can_add
        self.endResetModel()

    def line_at(self, row: int) -> SentenceLine | None:
        return self.lines[row] if row < len(self.lines) else None

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.lines) + self.can_add

    def flags(self, index: Index) -> Qt.ItemFlag:
        line = self.line_at(index.row())
        shown = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return shown | Qt.ItemFlag.ItemIsEditable if line is None or line.typed else shown

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        line = self.line_at(index.row())
        if role == Qt.ItemDataRole.DisplayRole:
            return self.tr("Add a sentence…") if line is None else line.parts.text
        if role == Qt.ItemDataRole.EditRole:
            return "" if line is None else line.typed
        if role == Qt.ItemDataRole.ToolTipRole and line is not None:
            return tip("\n".join(part for part in (line.parts.text, line.note) if part))
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.EditRole or str(value) == self.data(index, role):
            return False
        self.edited.emit(index.row(), str(value))
        return True


class SentenceDelegate(QStyledItemDelegate):
    """Paints the mark of the meaning, the sentence with the word in bold, a sign where it does not fit."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(80, ROW)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        panel = QStyle.PrimitiveElement.PE_PanelItemViewItem
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        option.widget.style().drawPrimitive(panel, option, painter, option.widget)
        room, model = QRectF(option.rect), index.model()
        assert isinstance(model, SentencesModel)
        line = model.line_at(index.row())
        if line is None:
            write(painter, room.adjusted(MARK, 0, -4, 0), str(index.data()), "accent")
        else:
            self._paint_line(painter, room, line)
        painter.restore()

    def _paint_line(self, painter: QPainter, room: QRectF, line: SentenceLine) -> None:
        ink = "text" if line.use >= 0 else "muted"
        middle = QPointF(room.left() + MARK / 2, room.center().y())
        marks.paint_one(painter, middle, line.number, 4.5, is_shade=False)
        right = SIGN + 4 if line.note else 4
        width = room.width() - MARK - right
        plain, bold = (QFontMetricsF(theme.ui_font(bold=weight)) for weight in (False, True))
        shown = fitting_use(line.parts, plain, width - bold.horizontalAdvance(line.parts.word) * 0.12)
        parts = (shown.before, shown.word, shown.after)
        weights = (False, True, False)
        widths = [
            (bold if w else plain).horizontalAdvance(part) for w, part in zip(weights, parts, strict=True)
        ]
        left = room.right() - right - sum(widths) if is_right_to_left(parts) else room.left() + MARK
        places = in_one_line(parts, widths, left)
        for weight, part, x, length in zip(weights, parts, places, widths, strict=True):
            write(painter, QRectF(x, room.top(), length + 2, room.height()), part, ink, bold=weight)
        if line.note:
            spot = QRectF(room.right() - SIGN - 2, room.center().y() - SIGN / 2, SIGN, SIGN)
            theme.icon("look", "look").paint(painter, spot.toRect())

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        return LineEdit(parent, placeholderText=self.tr("meaning | sentence"))

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        room, height = option.rect, editor.sizeHint().height()
        top = max(0, min(room.center().y() - height // 2, option.widget.height() - height - 4))
        editor.setGeometry(room.left(), top, room.width(), height)

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        assert isinstance(editor, QLineEdit)
        editor.setText(str(index.data(Qt.ItemDataRole.EditRole)))

    def setModelData(self, editor: QWidget, model: Any, index: Index) -> None:
        assert isinstance(editor, QLineEdit)
        model.setData(index, editor.text())


class SentencesView(QListView):
    """A click chooses, a second one edits; Enter and F2 edit, Delete removes."""

    left = Signal()  # by the mouse

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, uniformItemSizes=True)
        self.setMouseTracking(True)
        set_role(self, "flat")
        triggers = QAbstractItemView.EditTrigger
        self.setEditTriggers(triggers.DoubleClicked | triggers.EditKeyPressed)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabKeyNavigation(False)
        self.setMinimumHeight(3 * ROW)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.currentIndex()
        is_editing = self.state() == QAbstractItemView.State.EditingState
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and index.isValid() and not is_editing:
            if index.flags() & Qt.ItemFlag.ItemIsEditable:
                self.edit(index)
        elif event.key() == Qt.Key.Key_Delete and index.flags() & Qt.ItemFlag.ItemIsEditable:
            self.model().setData(index, "")
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        index, model = self.indexAt(event.position().toPoint()), self.model()
        assert isinstance(model, SentencesModel)
        if index.isValid() and model.line_at(index.row()) is None:
            self.edit(index)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.left.emit()


class SentencesCard(Card):
    """Emits `edited` (row, what was typed), `chosen` (a use, -1: none) and `pointed` (a use, -1: none)."""

    edited = Signal(int, str)
    chosen = Signal(int)
    pointed = Signal(int)
    edit_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("Sentences"))
        self.view = named(SentencesView(), "embeddings_sentences", self.tr("Sentences"))
        self.model = SentencesModel(self.view)
        self.view.setModel(self.model)
        self.view.setItemDelegate(SentenceDelegate(self.view))
        self.edit_button = button(self.tr("Edit"), "link", name="embeddings_edit", call=self.edit_wanted)
        self.edit_button.setToolTip(self.tr("Change the word and all sentences at once"))
        self.add(self.view, 1)
        self.add_corner(self.edit_button)
        self.model.edited.connect(self.edited)
        self.view.selectionModel().currentChanged.connect(self._current_changed)
        self.view.entered.connect(lambda index: self.pointed.emit(self._use(index)))
        self.view.left.connect(lambda: self.pointed.emit(-1))

    def put(self, lines: Sequence[SentenceLine], *, can_add: bool) -> None:
        """Show some lines; the one that is chosen stays so."""
        kept = self.view.currentIndex().row()
        bar = self.view.verticalScrollBar()
        at = bar.value()
        self.model.put(lines, can_add=can_add)
        if 0 <= kept < len(lines):
            self._set_current(kept)
        bar.setValue(at)

    def choose_use(self, use: int) -> None:
        """Light the row of a use; emits nothing. -1: none."""
        rows = [row for row, line in enumerate(self.model.lines) if line.use == use and use >= 0]
        if rows:
            self._set_current(rows[0])
        else:
            self.view.clearSelection()

    def _set_current(self, row: int) -> None:
        selection = self.view.selectionModel()
        selection.blockSignals(True)
        index = self.model.index(row)
        selection.setCurrentIndex(index, selection.SelectionFlag.ClearAndSelect)
        selection.blockSignals(False)
        self.view.scrollTo(index)
        self.view.viewport().update()

    def _use(self, index: Index) -> int:
        line = self.model.line_at(index.row())
        return -1 if line is None else line.use

    def _current_changed(self, index: QModelIndex, _before: QModelIndex) -> None:
        if index.isValid():
            self.chosen.emit(self._use(index))


def sentence_lines(card: PathsCard) -> list[SentenceLine]:
    """Return a word's sentences as rows: those that were typed in their order, or each use in a table."""
    found = card.found
    assert found is not None
    vectors, uses, layer = found.vectors, uses_of(found.vectors), card.layer
    numbers = [marks.OTHER] * len(uses) if card.classes is None else card.classes.numbers.tolist()
    misfits = set(card.misfits(layer))
    notes = {use: card.note(use, layer) for use in misfits}
    if not vectors.source.lines:
        return [
            SentenceLine(use, place, number, note=notes.get(place, ""))
            for place, (use, number) in enumerate(zip(uses, numbers, strict=True))
        ]
    first = {sentence: use for use, sentence in reversed(list(enumerate(vectors.order.tolist())))}
    lacking = words.translate("SentencesCard", "“{word}” does not occur in this sentence.")
    lines = []
    for place, (group, text) in enumerate(vectors.source.lines):
        typed, use = f"{group} | {text}" if group else text, first.get(place, -1)
        if use < 0:
            note = lacking.format(word=vectors.source.word)
            lines.append(SentenceLine(WordUse(text, "", ""), typed=typed, note=note))
        else:
            lines.append(SentenceLine(uses[use], use, numbers[use], typed, notes.get(use, "")))
    return lines
