"""The card beside the picture: all heads as a mosaic or as a list, sorted by what a measure says of them."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QSizePolicy, QStackedWidget, QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.labels import ElidedLabel, label
from app.look.segmented_buttons import FoldingButtons
from app.look.widgets import Card, button
from app.pages.attention.head_list import HeadList, HeadValues
from app.pages.attention.state import Chosen
from app.plots.attention_image import MosaicPicture
from app.plots.buttons import yield_to_layout
from app.plots.mosaic import MosaicPlot
from engine.inspect.attention.head_measures import MEASURES

POSITION, RANKING = "position", "ranking"
LEAST_MOSAIC = 96  # px high
LOW = 280  # px; below, the keys are not told
NARROW = 330  # px; below, the boxes need the title's room


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
        self._shape: tuple[int, ...] = (0, 0)  # of the mosaic: layers, heads
        self._make_corner()
        self._make_measure_row()
        self.mosaic = MosaicPlot(self.tr("All heads"))
        self.mosaic.setObjectName("attention_mosaic")
        yield_to_layout(self.mosaic, LEAST_MOSAIC)
        self.list = HeadList()
        self.list.setMinimumHeight(LEAST_MOSAIC)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.mosaic)
        self._stack.addWidget(self.list)
        self.add(self._stack, 1)
        self.keys = ElidedLabel("", "muted")
        self.keys.setObjectName("attention_keys")
        self.add(self.keys)
        self._show_as("mosaic")
        self.mosaic.head_chosen.connect(self.head_chosen)
        self.mosaic.head_added.connect(self.head_added)
        self.list.head_chosen.connect(self.head_chosen)
        self.list.order_changed.connect(self._show_order)

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
        self.add_corner(self.sort)
        self.add_corner(self.toggles)

    def _make_measure_row(self) -> None:
        self._measure_row = QWidget()
        row = QHBoxLayout(self._measure_row)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self.help = label("", "muted", wrap=True)
        self.progress = QProgressBar(textVisible=False)
        self.progress.setFixedWidth(80)
        self.stop = button(self.tr("Stop"), "link", name="attention_stop_measuring")
        self.over = ChoiceBox("attention_over", self.tr("Measured over"))
        self.over.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.over.setFixedWidth(112)
        self.over.addItem(self.tr("This text"), "text")
        self.over.addItem(self.tr("Open table"), "table")
        row.addWidget(self.help, 1)
        row.addWidget(self.progress)
        row.addWidget(self.stop)
        row.addWidget(self.over)
        self.over.activated.connect(self._over_activated)
        self.stop.clicked.connect(self.stop_wanted)
        self.add(self._measure_row)
        self._measure_row.hide()
        self.show_progress(None)

    # ---- what is chosen here

    @property
    def measure(self) -> str:
        """A key of MEASURES, "position" or "ranking"."""
        return str(self.sort.currentData())

    @property
    def is_over_table(self) -> bool:
        return self.over.currentData() == "table" and self.measure not in (POSITION, RANKING)

    def sort_by(self, measure: str) -> None:
        """Choose a measure as if by hand; the list shows it."""
        self.sort.setCurrentIndex(self.sort.findData(measure))
        self._sort_activated()

    @Slot()
    def rank(self) -> None:
        """Sort all heads by what changes when each alone is off."""
        self.sort_by(RANKING)

    @Slot()
    def _sort_activated(self) -> None:
        measured = self.measure != POSITION
        self._measure_row.setVisible(measured)
        self.over.setVisible(self.measure != RANKING)
        self.tell_measure()
        self._show_as("list" if measured or self._is_listed else "mosaic")
        self.sort_changed.emit()

    def tell_measure(self) -> None:
        """Say what is measured, before anything is known of it."""
        one = MEASURES.get(self.measure)
        self.help.setText(words.tr_engine(one.help) if one else self.tr("Each head switched off alone."))

    @Slot()
    def _over_activated(self) -> None:
        self.sort_changed.emit()

    @Slot(str)
    def _as_chosen(self, key: str) -> None:
        self._show_as(key)
        self.sort_changed.emit()

    def _show_as(self, key: str) -> None:
        self.toggles.set_current(key)
        self._stack.setCurrentWidget(self.list if key == "list" else self.mosaic)
        keys = self.tr("Keys: [ ] head · PgUp PgDn layer · O on or off")
        rows = self.tr("Rows are layers.") if key == "mosaic" and self.measure == POSITION else ""
        self.keys.setText(f"{rows} {keys}".strip())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.keys.setVisible(event.size().height() >= LOW)
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

    # ---- what is shown here

    def set_can_measure(self, *, has_pair: bool, table: str) -> None:
        """Grey out what cannot be measured. Args: table: the open table's name, "" without one."""
        for name in ("a_to_b", "b_to_a", "across"):
            self._enable(self.sort.findData(name), has_pair or self.is_over_table)
        self.over.setItemText(1, words.shorten(table, 40) if table else self.tr("No table is open"))
        self.over.model().item(1).setEnabled(bool(table))  # type: ignore[attr-defined]

    def _enable(self, index: int, enabled: bool) -> None:
        self.sort.model().item(index).setEnabled(enabled)  # type: ignore[attr-defined]

    def show_mosaic(self, picture: MosaicPicture, chosen: Chosen) -> None:
        """Show all heads, in the order of the list."""
        self._shape = picture.strongest.shape
        self.mosaic.set_mosaic(picture)
        self._show_order()
        self.show_chosen(chosen)

    def show_values(self, held: HeadValues | None, chosen: Chosen, *, ascending: bool = False) -> None:
        """Sort by these values; None: by position."""
        self.list.show_values(held, ascending=ascending)
        self.list.show_heads(chosen.heads, chosen.off)
        self._show_order()

    @Slot()
    def _show_order(self) -> None:
        held = self.list.held
        if held is None or held.by_position or held.values.shape != self._shape:
            self.mosaic.set_order(None)
            self.mosaic.set_figures(None)
        else:
            self.mosaic.set_order(self.list.order)
            self.mosaic.set_figures(held.values, held.label)

    def show_chosen(self, chosen: Chosen) -> None:
        """Mark the heads that are chosen and those that are off."""
        self.mosaic.set_chosen(chosen.heads)
        self.mosaic.set_off(chosen.off)
        self.list.show_heads(chosen.heads, chosen.off)

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
