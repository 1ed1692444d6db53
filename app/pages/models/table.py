"""The parts of a model as a table: groups with their parts, formula, numbers, weights, share, and the sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal, Slot
from PySide6.QtGui import QColor, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QTableView, QWidget

from app import words
from app.look import theme
from app.look.labels import tip
from app.look.table_view import TableView
from engine.model.arithmetic import Arithmetic, Part
from engine.model.parts import GROUPS

Index = QModelIndex | QPersistentModelIndex
MIDDLE = Qt.AlignmentFlag.AlignVCenter
PART, FORMULA, NUMBERS, WEIGHTS, SHARE = range(5)
FITTED = (PART, FORMULA, WEIGHTS, SHARE)
LEAST_NUMBERS = 150  # px; with less room, numbers and share are left to the tooltip


@dataclass(frozen=True, slots=True)
class WeightRow:
    """A row: a group, one of its parts, or the sum of all. parts: those that are added up."""

    name: str
    parts: tuple[Part, ...]
    level: int  # 0 the sum, 1 a group, 2 a part


class PartsModel(QAbstractTableModel):
    """The lines of one model; none while there is no model."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.found: Arithmetic | None = None
        self.lines: tuple[WeightRow, ...] = ()

    def set_arithmetic(self, found: Arithmetic | None) -> None:
        """Show another model."""
        self.beginResetModel()
        self.found = found
        self.lines = tuple(self._lines_of(found)) if found is not None else ()
        self.endResetModel()

    def _lines_of(self, found: Arithmetic) -> list[WeightRow]:
        lines = []
        for group, name in GROUPS.items():
            parts = found.of_group(group)
            said = words.tr_engine(name)
            if group == "layers":
                count = found.sizes["L"]
                many = self.tr("{count} layers").format(count=words.number(count))
                said = many if count > 1 else self.tr("1 layer")
            if len(parts) > 1:
                lines.append(WeightRow(said, parts, 1))
                lines += [WeightRow(words.tr_engine(part.kind.name), (part,), 2) for part in parts]
            elif parts:
                alone = said if group == "pooler" else words.tr_engine(parts[0].kind.name)
                lines.append(WeightRow(alone, parts, 1))
        return [*lines, WeightRow(self.tr("All weights"), found.parts, 0)]

    def row_of(self, key: str) -> int:
        """Return the row of a part; -1 where there is none."""
        for row, line in enumerate(self.lines):
            if len(line.parts) == 1 and line.parts[0].key == key:
                return row
        return -1

    def key_of(self, row: int) -> str:
        """Return the key of the part in a row; "" for a group or the sum."""
        parts = self.lines[row].parts if 0 <= row < len(self.lines) else ()
        return parts[0].key if len(parts) == 1 else ""

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else len(self.lines)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else 5

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        line = self.lines[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.UserRole):
            text = self._cell(line, index.column())
            is_shown = role == Qt.ItemDataRole.DisplayRole
            return f"  {text}" if is_shown and line.level == 2 and index.column() == PART else text
        if role == Qt.ItemDataRole.TextAlignmentRole:
            right = index.column() >= WEIGHTS
            return (Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft) | MIDDLE
        if role == Qt.ItemDataRole.FontRole:
            return theme.ui_font(bold=line.level < 2 and index.column() in (PART, WEIGHTS))
        if role == Qt.ItemDataRole.ForegroundRole and index.column() in (NUMBERS, SHARE):
            return QColor(theme.current().muted)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(line)
        return None

    def _cell(self, line: WeightRow, column: int) -> str:
        found = self.found
        assert found is not None
        count = sum(part.count for part in line.parts)
        if column == PART:
            return line.name
        if column == WEIGHTS:
            return words.number(count)
        if column == SHARE:
            return words.share(count / found.total)
        if line.level < 2 and len(line.parts) > 1 and not all(part.per_layer for part in line.parts):
            return ""  # only a layer is shorter as a whole; the rest is the sum of what stands below
        return (
            found.spelled(line.parts) if column == FORMULA else found.with_numbers(line.parts, words.number)
        )

    def _tip(self, line: WeightRow) -> str:
        assert self.found is not None
        why = words.tr_engine(line.parts[0].kind.why) if len(line.parts) == 1 else ""
        count = sum(part.count for part in line.parts)
        said = self.found.with_numbers(line.parts, words.number)
        sums = f"{said} = {words.number(count)} · {words.share(count / self.found.total)}"
        return tip(f"{why} {sums}".strip())

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return (
                self.tr("Part"), self.tr("Formula"), self.tr("With its numbers"), self.tr("Weights"),
                self.tr("Share"),
            )[section]  # fmt: skip
        if role == Qt.ItemDataRole.TextAlignmentRole and section >= WEIGHTS:
            return Qt.AlignmentFlag.AlignRight | MIDDLE
        return None


class PartsView(TableView):
    """A calm table; `walked` tells the key of the part that is chosen, "" for a group."""

    walked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("models_parts")
        self.setAccessibleName(self.tr("Parts of the model"))
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(27)
        self.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self._quiet = False
        self.parts = PartsModel(self)
        self.setModel(self.parts)
        header = self.horizontalHeader()
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(40)
        self.selectionModel().currentRowChanged.connect(self._walked)
        theme.on_theme_change(self, self.viewport().update)

    def show_arithmetic(self, found: Arithmetic) -> None:
        """Show the parts of a model, each column as wide as its cells."""
        self.parts.set_arithmetic(found)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Give what room is left to the numbers; where that is too little, hide them and the shares."""
        header = self.horizontalHeader()
        taken = sum(max(self.sizeHintForColumn(one), header.sectionSizeHint(one)) for one in FITTED)
        has_room = self.viewport().width() - taken >= LEAST_NUMBERS
        for column in (NUMBERS, SHARE):
            self.setColumnHidden(column, not has_room)
        stretched = NUMBERS if has_room else FORMULA
        for column in (FORMULA, NUMBERS):
            is_stretched = column == stretched
            modes = QHeaderView.ResizeMode
            header.setSectionResizeMode(column, modes.Stretch if is_stretched else modes.Interactive)
        for column in FITTED:
            if column != stretched:
                self.resizeColumnToContents(column)

    def go_to(self, key: str) -> None:
        """Choose a part's row, "" for none, without a signal."""
        self._quiet = True
        row = self.parts.row_of(key)
        if row < 0:
            self.clearSelection()
            self.setCurrentIndex(QModelIndex())
        else:
            self.selectRow(row)
            self.scrollTo(self.parts.index(row, 0))
        self._quiet = False

    @Slot(QModelIndex, QModelIndex)
    def _walked(self, current: QModelIndex, _before: QModelIndex) -> None:
        if not self._quiet and current.isValid():
            self.walked.emit(self.parts.key_of(current.row()))
