"""The parts of a model as a table: groups with their parts, formula, numbers, weights, share, and the sum."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHeaderView, QWidget

from app import words
from app.look import theme
from app.look.columns import RIGHT, of, row_itself
from app.look.rows_model import RowsModel, TableColumn
from app.look.table_view import TableView
from engine.model.arithmetic import Arithmetic, ModelPart
from engine.model.parts import GROUPS

PART, FORMULA, NUMBERS, WEIGHTS, SHARE = range(5)
FITTED = (PART, FORMULA, WEIGHTS, SHARE)
LEAST_NUMBERS = 150  # px; with less room, numbers and share are left to the tooltip


@dataclass(frozen=True, slots=True)
class WeightRow:
    """A row: a group, one of its parts, or the sum of all. parts: those that are added up."""

    name: str
    parts: tuple[ModelPart, ...]
    level: int  # 0 the sum, 1 a group, 2 a part

    @property
    def count(self) -> int:
        """How many weights they have together."""
        return sum(part.count for part in self.parts)

    @property
    def is_one_sum(self) -> bool:
        """Whether it has a formula: only a layer is shorter as a whole, the rest sums up what is below."""
        return self.level == 2 or len(self.parts) == 1 or all(part.per_layer for part in self.parts)


class PartsModel(RowsModel):
    """The lines of one model; none while there is no model."""

    def set_arithmetic(self, found: Arithmetic | None) -> None:
        """Show another model."""
        rows = () if found is None else tuple(self._lines_of(found))
        self.put(() if found is None else self._columns_of(found), rows)

    def _columns_of(self, found: Arithmetic) -> tuple[TableColumn, ...]:
        def formula(line: WeightRow) -> str:
            return found.spelled(line.parts) if line.is_one_sum else ""

        def numbers(line: WeightRow) -> str:
            return found.with_numbers(line.parts, words.number) if line.is_one_sum else ""

        def share(line: WeightRow) -> str:
            return words.share(line.count / found.total)

        def told(line: WeightRow) -> str:
            why = words.tr_engine(line.parts[0].kind.why) if len(line.parts) == 1 else ""
            said = found.with_numbers(line.parts, words.number)
            return f"{why} {said} = {words.number(line.count)} · {share(line)}".strip()

        column = partial(TableColumn, told=told)
        quiet = partial(column, ink="muted", bolds=False)
        return (
            column(self.tr("Part"), row_itself, _indented, whole=of("name")),
            column(self.tr("Formula"), formula, bolds=False),
            quiet(self.tr("With its numbers"), numbers),
            column(self.tr("Weights"), of("count"), words.number, side=RIGHT),
            quiet(self.tr("Share"), share, side=RIGHT),
        )

    def is_bold(self, row: WeightRow, column: TableColumn) -> bool:
        return row.level < 2 and column.bolds

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
        for row, line in enumerate(self.rows):
            if len(line.parts) == 1 and line.parts[0].key == key:
                return row
        return -1

    def key_of(self, row: int) -> str:
        """Return the key of the part in a row; "" for a group or the sum."""
        parts: tuple[ModelPart, ...] = self.rows[row].parts if 0 <= row < len(self.rows) else ()
        return parts[0].key if len(parts) == 1 else ""


class PartsView(TableView):
    """A calm table; `walked` tells the key of the part that is chosen, "" for a group."""

    walked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("models_parts")
        self.setAccessibleName(self.tr("Parts of the model"))
        self.choose_rows(27)
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

    def _walked(self, current: QModelIndex, _before: QModelIndex) -> None:
        if not self._quiet and current.isValid():
            self.walked.emit(self.parts.key_of(current.row()))


def _indented(line: WeightRow) -> str:
    return f"  {line.name}" if line.level == 2 else line.name
