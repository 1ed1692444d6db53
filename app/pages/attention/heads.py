"""The card beside the picture: all heads as a mosaic or as a list, sorted by what a measure says of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from PySide6.QtCore import (
    QItemSelectionModel,
    QModelIndex,
    QObject,
    Qt,
    Signal,
)
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QHeaderView,
    QProgressBar,
    QSizePolicy,
    QWidget,
)

from app import words
from app.look.boxes import ChoiceBox
from app.look.columns import RIGHT, WHOLE, Bar, Beside, Cell, WordsCell
from app.look.labels import label
from app.look.layout import row, stacked
from app.look.rows_model import CellsDelegate, RowsModel, TableColumn
from app.look.segmented_buttons import FoldingButtons
from app.look.table_view import TableView
from app.look.widgets import Card, button, named
from app.pages.attention.state import IMPORTANCE, POSITION, RANKING, AttentionChoice, Head
from app.plots.attention_image import MosaicPicture
from app.plots.buttons import yield_to_layout
from app.plots.mosaic import MosaicPlot
from engine.inspect.attention.head_measures import MEASURES

VALUE_WIDTH = 66  # px, beside the bar
PATTERN_WIDTH = 126  # px
LEAST_LIST = 350  # px; below, the last column is left out
ROW_HEIGHT = 26  # px
LEAST_MOSAIC = 96  # px high
NARROW = 330  # px wide; below, the boxes need the title's room


@dataclass(frozen=True, eq=False)
class HeadValues:
    """One number a head. kind: "share", "change" (of a probability) or "" for a number with a unit.

    half: (L, H), how far its 95 % interval goes to either side, where it is a mean over texts.
    """

    name: str
    label: str
    values: np.ndarray  # (L, H)
    kind: str = "share"
    unit: str = ""
    by_position: bool = False
    patterns: tuple[tuple[str, ...], ...] = ()  # what most of each head's attention goes to, in words
    half: np.ndarray | None = None

    def words(self, head: Head) -> str:
        """Return a head's value as it is read."""
        return self._said(float(self.values[head]))

    def interval_words(self, head: Head) -> str:
        """Return between what its value lies; "" where that is not known."""
        if self.half is None or not np.isfinite(self.half[head]):
            return ""
        value, half = float(self.values[head]), float(self.half[head])
        said = words.translate("HeadsCard", "95 % over texts: {low} to {high}")
        return said.format(low=self._said(value - half), high=self._said(value + half))

    def _said(self, value: float) -> str:
        if self.kind == "share":
            return words.share(value)
        if self.kind == "change":
            return f"{value:+.4f}".replace("-", "−")
        largest = self.values.max(initial=0.0)
        return f"{value:.{1 if largest >= 100 else 2 if largest >= 1 else 3}f}"

    @property
    def heading(self) -> str:
        """Its name, with the unit of its numbers."""
        return words.phrases((self.label, self.unit)) if self.unit else self.label

    def order(self, ascending: bool) -> tuple[Head, ...]:
        """Return all heads, the largest (or smallest) first; changes by their size, whatever their sign."""
        if self.by_position:
            layers, heads = self.values.shape
            found = [(layer, head) for layer in range(layers) for head in range(heads)]
            return tuple(found[::-1] if ascending else found)
        keys = np.abs(self.values) if self.kind == "change" else self.values
        flat = np.argsort(keys if ascending else -keys, axis=None, kind="stable")
        layers, heads = np.unravel_index(flat, self.values.shape)
        return tuple(zip(layers.tolist(), heads.tolist(), strict=True))


class _HeadModel(RowsModel):
    """A row a head, in the order of its values."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.head_values: HeadValues | None = None
        self.off: frozenset[Head] = frozenset()
        self.largest = 1.0
        self.set_values(None, ascending=False)

    def set_values(self, values: HeadValues | None, ascending: bool) -> None:
        self.head_values = values
        self.largest = 1.0
        if values is not None:
            ends = np.abs(values.values) + (0.0 if values.half is None else np.nan_to_num(values.half))
            self.largest = float(ends.max(initial=0.0)) or 1.0
        self.put(self._columns_of(values), () if values is None else values.order(ascending))

    def _columns_of(self, values: HeadValues | None) -> tuple[TableColumn, ...]:
        column = partial(TableColumn, told=self._interval)
        return (
            column(self.tr("Layer"), lambda head: head[0] + 1, side=RIGHT),
            column(self.tr("Head"), lambda head: head[1] + 1, side=RIGHT),
            column(
                values.heading if values else "",
                self._value,
                whole=lambda head: str(self.bar_of(head)[0]),
                drawn=self._bar,
            ),
            column(self.tr("Mostly at"), self._pattern, ink="muted"),
        )

    def _interval(self, head: Head) -> str:
        return "" if self.head_values is None else self.head_values.interval_words(head)

    def _value(self, head: Head) -> str:
        return "" if self.head_values is None else self.head_values.words(head)

    def _pattern(self, head: Head) -> str:
        if head in self.off:
            return self.tr("turned off")
        known = self.head_values is not None and self.head_values.patterns
        return known[head[0]][head[1]] if known else ""

    def bar_of(self, head: Head) -> tuple[float, float]:
        """Return a head's value, and how far its interval goes to either side."""
        assert self.head_values is not None
        half = self.head_values.half
        return float(self.head_values.values[head]), 0.0 if half is None else float(half[head])

    def _bar(self, head: Head) -> Cell:
        value, half = self.bar_of(head)
        ends = (max(0.0, abs(value) - half) / self.largest, (abs(value) + half) / self.largest)
        bar = Bar(
            min(1.0, abs(value) / self.largest),
            "b" if value < 0 else "accent",
            track="",
            height=ROW_HEIGHT - 14,
            radius=3.0,
            interval=ends if half else None,
        )
        return Beside(bar, WordsCell(self._value(head), side=RIGHT, cut=WHOLE), VALUE_WIDTH + 4)

    def set_off(self, off: frozenset[Head]) -> None:
        if off != self.off:
            self.off = off
            for column in range(len(self.columns)):
                self.touch(column)


class _BarCells(CellsDelegate):
    """The value as a bar, scaled to the largest, with its words behind it."""

    size = (VALUE_WIDTH + 60, ROW_HEIGHT)
    pads = (8, 4)


class HeadList(TableView):
    """Layer, head, value with a bar, and what the head mostly looks at; the third heading turns the order."""

    head_chosen = Signal(int, int)
    order_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("attention_head_list")
        self.setAccessibleName(self.tr("Heads, sorted"))
        self.is_ascending = False
        self._heads = _HeadModel(self)
        self._chosen: Head | None = None
        self.setModel(self._heads)
        self.setItemDelegateForColumn(2, _BarCells(self))
        self.choose_rows(is_one=True)
        header = self.horizontalHeader()
        header.setStretchLastSection(False)
        header.setSectionsClickable(True)
        header.setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
        for section, width in ((0, 64), (1, 64), (3, PATTERN_WIDTH)):
            header.setSectionResizeMode(section, QHeaderView.ResizeMode.Fixed)
            header.resizeSection(section, width)
        self.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
        header.sectionClicked.connect(self._turn)
        self.selectionModel().currentRowChanged.connect(self._moved)

    @property
    def head_values(self) -> HeadValues | None:
        return self._heads.head_values

    @property
    def order(self) -> tuple[Head, ...]:
        """The heads from top to bottom."""
        return tuple(self._heads.rows)

    def show_values(self, values: HeadValues | None, *, ascending: bool | None = None) -> None:
        """Show a measure, or nothing."""
        if ascending is not None:
            self.is_ascending = ascending
        self._heads.set_values(values, self.is_ascending)
        self._fit_columns()
        arrow = Qt.SortOrder.AscendingOrder if self.is_ascending else Qt.SortOrder.DescendingOrder
        self.horizontalHeader().setSortIndicatorShown(values is not None)
        self.horizontalHeader().setSortIndicator(2, arrow)
        self.scrollToTop()

    def show_heads(self, chosen: Sequence[Head], off: frozenset[Head]) -> None:
        """Mark the current head and those that are off; emits nothing.

        The list moves to another head than before, but another order shows its first rows.
        """
        self._heads.set_off(off)
        self._fit_columns()
        if chosen and chosen[0] in self._heads.rows:
            index = self._heads.index(self._heads.rows.index(chosen[0]), 0)
            flags = QItemSelectionModel.SelectionFlag
            self.setAutoScroll(chosen[0] != self._chosen)
            self._chosen = chosen[0]
            self.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
            self.setAutoScroll(True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()

    def _fit_columns(self) -> None:
        """Leave out the last column where there is no room for it, or nothing to stand in it."""
        known = self.head_values
        has_words = bool(self._heads.off) or (known is not None and bool(known.patterns))
        self.setColumnHidden(3, self.width() < LEAST_LIST or not has_words)

    def _moved(self, current: QModelIndex, _before: QModelIndex) -> None:
        if current.isValid() and self._heads.rows[current.row()] != self._chosen:
            self.head_chosen.emit(*self._heads.rows[current.row()])

    def _turn(self, section: int) -> None:
        if section == 2 and self.head_values is not None:
            self.show_values(self.head_values, ascending=not self.is_ascending)
            self.order_changed.emit()


class HeadsCard(Card):
    """A mosaic of all heads, or a list of them; both choose a head, and both follow one order."""

    head_chosen = Signal(int, int)
    head_added = Signal(int, int)
    sort_changed = Signal()
    stop_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("All heads"))
        self.setObjectName("attention_heads")
        self._is_listed = False
        self._is_keyless = False
        self._order: tuple[str, bool] | None = None  # a measure, and whether its smallest comes first
        self._shape: tuple[int, ...] = (0, 0)  # of the mosaic: layers, heads
        self._make_corner()
        self._make_measure_row()
        self.mosaic = named(MosaicPlot(self.tr("All heads")), "attention_mosaic")
        yield_to_layout(self.mosaic, LEAST_MOSAIC)
        self.list = HeadList()
        self.list.setMinimumHeight(LEAST_MOSAIC)
        self._stack = stacked(self.mosaic, self.list)
        self.add(self._stack, 1)
        self._show_as("mosaic")
        self.mosaic.head_chosen.connect(self.head_chosen)
        self.mosaic.head_added.connect(self.head_added)
        self.list.head_chosen.connect(self.head_chosen)
        self.list.order_changed.connect(self._turned)

    def _make_corner(self) -> None:
        self.sort = ChoiceBox("attention_sort", self.tr("Sort heads by"))
        self.sort.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.sort.setMinimumWidth(84)
        self.sort.setMaximumWidth(164)
        self.sort.addItem(self.tr("By position"), POSITION)
        for name, one in MEASURES.items():
            self.sort.addItem(words.tr_engine(one.label), name)
            self.sort.setItemData(
                self.sort.count() - 1, words.tr_engine(one.help), Qt.ItemDataRole.ToolTipRole
            )
        self.sort.addItem(self.tr("Change when off"), RANKING)
        self.sort.addItem(self.tr("Importance"), IMPORTANCE)
        said = self.tr(
            "Over the open table: how fast the loss changes with a head’s share, by one "
            "backward pass. (Michel et al. 2019)"
        )
        self.sort.setItemData(self.sort.count() - 1, said, Qt.ItemDataRole.ToolTipRole)
        self.sort.setToolTip(self.tr("Find a head: sort all heads by what they do"))
        self.sort.activated.connect(self._sort_activated)
        self.toggles = FoldingButtons(
            "attention_heads_as",
            self.tr("Heads as"),
            (
                ("mosaic", self.tr("Mosaic"), self.tr("Every head as a small picture")),
                ("list", self.tr("List"), self.tr("Every head with its measure, sorted")),
            ),
        )
        self.toggles.chosen.connect(self._as_chosen)
        self.add_corner(self.sort, self.toggles)

    def _make_measure_row(self) -> None:
        self._measure_row = QWidget()
        self.help = label("", "muted", wrap=True)
        self.progress = QProgressBar(textVisible=False)
        self.progress.setFixedWidth(80)
        self.stop = button(self.tr("Stop"), "link", name="attention_stop_measuring", call=self.stop_wanted)
        entries = ((self.tr("This text"), "text"), (self.tr("Open table"), "table"))
        self.over = ChoiceBox("attention_over", self.tr("Measured over"), entries=entries, width=112)
        row((self.help, 1), self.progress, self.stop, self.over, parent=self._measure_row)
        self.over.activated.connect(self.sort_changed)
        self.add(self._measure_row)
        self._measure_row.hide()
        self.show_progress(None)

    @property
    def measure(self) -> str:
        """A key of MEASURES, "position", "ranking" or "importance"."""
        return str(self.sort.currentData())

    @property
    def is_over_table(self) -> bool:
        chosen = self.over.currentData() == "table" and self.measure not in (POSITION, RANKING)
        return chosen or self.measure == IMPORTANCE

    def sort_as(self, measure: str, *, is_listed: bool, is_ascending: bool) -> None:
        """Sort by what a measure says of this text, and show the heads as a list or as a mosaic."""
        self.over.choose("text")
        self._order = (measure, is_ascending)
        self.sort.choose(measure)
        self._sort_activated()
        self._as_chosen("list" if is_listed or self._is_listed else "mosaic")

    def sort_by(self, measure: str) -> None:
        """Choose a measure as if by hand; the list shows it."""
        self.sort.choose(measure)
        self._sort_activated()

    def rank(self) -> None:
        """Sort all heads by what changes when each alone is off."""
        self.sort_by(RANKING)

    def _sort_activated(self) -> None:
        measured = self.measure != POSITION
        self._measure_row.setVisible(measured)
        self.over.setVisible(self.measure not in (RANKING, IMPORTANCE))
        self.say_measure()
        self._show_as("list" if measured or self._is_listed else "mosaic")
        self.sort_changed.emit()

    def say_measure(self) -> None:
        """Say what is measured, before anything is known of it."""
        one = MEASURES.get(self.measure)
        said = self.tr("Each head turned off alone.")
        if self.measure == IMPORTANCE:
            said = self.tr("How fast the loss changes with each head.")
        self.help.setText(words.tr_engine(one.help) if one else said)

    def _as_chosen(self, key: str) -> None:
        self._show_as(key)
        self.sort_changed.emit()

    def _show_as(self, key: str) -> None:
        self.toggles.set_current(key)
        self._stack.setCurrentWidget(self.list if key == "list" else self.mosaic)
        keys = self.tr("Keys: [ ] head · PgUp PgDn layer · O on or off")
        rows = self.tr("Rows are layers.") if key == "mosaic" and self.measure == POSITION else ""
        self.set_hint("" if self._is_keyless else "?", f"{rows} {keys}".strip())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.title_label.setVisible(event.size().width() >= NARROW)

    @property
    def is_list(self) -> bool:
        """Whether the list is on screen."""
        return self.toggles.current == "list"

    def set_listed(self, listed: bool) -> None:
        """Show the list alone: the mosaic stands elsewhere, large. Or both again."""
        if listed != self._is_listed:
            self._is_listed = listed
            self.toggles.setVisible(not listed)
            self.set_title(self.tr("Find a head") if listed else self.tr("All heads"))
            self._as_chosen("list" if listed or self.measure != POSITION else "mosaic")

    def set_can_measure(self, *, has_pair: bool, table: str) -> None:
        """Grey out what cannot be measured. Args: table: the open table's name, "" without one."""
        for name in ("a_to_b", "b_to_a", "across"):
            self._enable(self.sort.findData(name), has_pair or self.is_over_table)
        self.over.setItemText(1, words.shorten(table, 40) if table else self.tr("No table is open"))
        self.over.model().item(1).setEnabled(bool(table))  # type: ignore[attr-defined]

    def _enable(self, index: int, enabled: bool) -> None:
        self.sort.model().item(index).setEnabled(enabled)  # type: ignore[attr-defined]

    def show_mosaic(self, picture: MosaicPicture, chosen: AttentionChoice) -> None:
        """Show all heads, in the order of the list."""
        self._shape = picture.strongest.shape
        self.mosaic.set_mosaic(picture)
        self._show_order()
        self.show_chosen(chosen)

    def show_values(
        self, values: HeadValues | None, chosen: AttentionChoice, *, ascending: bool = False
    ) -> None:
        """Sort by these values; None: by position."""
        if self._order is not None and self._order[0] == self.measure:
            ascending = self._order[1]
        self.list.show_values(values, ascending=ascending)
        self.list.show_heads(chosen.heads, chosen.off)
        self._show_order()

    def _turned(self) -> None:
        self._order = None
        self._show_order()

    def _show_order(self) -> None:
        known = self.list.head_values
        if known is None or known.by_position or known.values.shape != self._shape:
            self.mosaic.set_order(None)
            self.mosaic.set_figures(None)
        else:
            self.mosaic.set_order(self.list.order)
            self.mosaic.set_figures(known.values, known.label)

    def show_chosen(self, chosen: AttentionChoice) -> None:
        """Mark the heads that are chosen and those that are off."""
        self.mosaic.set_chosen(chosen.heads)
        self.mosaic.set_off(chosen.off)
        self.list.show_heads(chosen.heads, chosen.off)

    def set_keyless(self, keyless: bool) -> None:
        """Leave out the words on keys, which mean something else now."""
        self._is_keyless = keyless
        self._show_as(self.toggles.current)

    def show_progress(self, share: float | None, words: str = "") -> None:
        """Show how far measuring is; None: it is not under way."""
        self.progress.setVisible(share is not None)
        self.stop.setVisible(share is not None)
        if share is not None:
            self.progress.setRange(0, 100 if share >= 0 else 0)
            self.progress.setValue(round(100 * max(share, 0.0)))
            self.progress.setAccessibleName(words)
            if words:
                self.help.setText(words)

    def say(self, text: str) -> None:
        """Say in the measure's row why there is nothing, or what was read."""
        self.help.setText(text)
