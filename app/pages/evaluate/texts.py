"""The list of texts behind a number: filters as chips that add up, search, order, export, one text open."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QHeaderView, QToolButton, QWidget

from app import words
from app.look import theme
from app.look.inputs import ComboBox, LineEdit, ToolButton
from app.look.labels import label
from app.look.layout import row
from app.look.table_view import TableView
from app.look.widgets import Card, button, named, set_role
from app.pages.evaluate.by import column_words
from app.pages.evaluate.opened_scores import ScoredPair
from app.pages.evaluate.opened_text import OpenedText
from app.pages.evaluate.requests import Places
from app.pages.evaluate.state import FILE, LONG, SHORT, SURE, UNSURE, Listing
from app.pages.evaluate.texts_model import ANSWER as ANSWER_COLUMN
from app.pages.evaluate.texts_model import LINE, OPEN, OTHER, ROW, TEXT, TextCells, TextRows
from app.pages.evaluate.texts_model import SURE as SURE_COLUMN
from app.pages.tasks.known import views_of
from app.work import text_filter
from app.work.text_filter import Filter
from engine.train.scored import ScoredTable

SETTLE_MS = 200  # after the last key, before a search is made
LEAST_ROWS = 2


class TextsView(TableView):
    """The rows; Enter, Space and a click open one."""

    toggled = Signal(int)
    doubted = Signal(int)  # the row whose label is said to be wrong

    def __init__(self, rows: TextRows, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("evaluate_texts")
        self.setAccessibleName(self.tr("Texts"))
        self.rows = rows
        self.setModel(rows)
        self.setItemDelegate(TextCells(self))
        self.setSelectionBehavior(TableView.SelectionBehavior.SelectRows)
        self.setSelectionMode(TableView.SelectionMode.SingleSelection)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(ROW)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = self.horizontalHeader()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(TEXT, QHeaderView.ResizeMode.Stretch)
        self.setColumnHidden(OTHER, True)
        self.setMinimumHeight(ROW * (LEAST_ROWS + 1))
        self.clicked.connect(lambda index: self.toggled.emit(index.row()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def fit(self) -> None:
        """Give the text what room the others leave."""
        width = self.viewport().width()
        is_narrow = width < 800
        widths = {
            ANSWER_COLUMN: min(260, max(140, width // 5)),
            OTHER: min(160, max(116, width // 8)),
            SURE_COLUMN: 96 if is_narrow else 150,
            LINE: 78,
            OPEN: 30,
        }
        for place, room in widths.items():
            self.setColumnWidth(place, room)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if (
            event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
            and self.currentIndex().isValid()
        ):
            self.toggled.emit(self.currentIndex().row())
        elif event.key() == Qt.Key.Key_W and self.currentIndex().isValid():
            self.doubted.emit(self.currentIndex().row())
        elif event.key() == Qt.Key.Key_Escape:
            event.ignore()  # the page takes a filter off
        else:
            super().keyPressEvent(event)


class TextsCard(Card):
    """What is listed is asked for by `wanted`; what the list opens is told by `opened`, "" closes it."""

    wanted = Signal(object)  # Listing
    opened = Signal(int)  # place of a text, -1: none
    led = Signal(str)
    doubted = Signal(int)  # place of a text whose label is said to be wrong
    export_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("Texts"))
        self.listing = Listing()
        self._scored: ScoredTable | None = None
        self._others: tuple[str, str] = ("", "")
        self._chips: list[QToolButton] = []
        self.chips = QWidget()
        set_role(self.chips, "clear")
        self._chip_row = row(gap=6, parent=self.chips)
        self.count = label("", "muted", name="evaluate_count")
        self.search = named(LineEdit(), "evaluate_search", self.tr("Search these texts"))
        self.search.setPlaceholderText(self.tr("Search these texts…"))
        self.search.setClearButtonEnabled(True)
        self.search.setMaximumWidth(220)
        self.order = named(ComboBox(), "evaluate_order", self.tr("Order"))
        self.export = named(ToolButton(), "evaluate_export", self.tr("Export these texts…"))
        self.export.setToolTip(self.tr("Export these texts as a table"))
        self.export.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        set_role(self.export, "corner")
        theme.on_theme_change(self.export, lambda: self.export.setIcon(theme.icon("save", "muted")))
        self.right = button(self.tr("Only wrong"), "link", name="evaluate_only_wrong")
        self.rows = TextRows(self)
        self.view = TextsView(self.rows)
        self.none = label("", "muted", wrap=True, name="evaluate_none")
        self.none.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.detail: OpenedText | None = None
        self._to_open = -1  # the place of a text, once it is listed
        self._settle = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        self._corner.removeWidget(self.hint_label)
        self.hint_label.hide()
        self._corner.addWidget(self.chips)
        self._corner.addWidget(self.count)
        self._corner.addWidget(self.right)
        self._corner.addStretch(1)
        for widget in (self.search, self.order, self.export):
            self._corner.addWidget(widget)
        self.add(self.view, 1)
        self.add(self.none)
        self.none.hide()

    def _connect(self) -> None:
        self._settle.timeout.connect(self._searched)
        self.search.textChanged.connect(lambda _text: self._settle.start())
        self.search.returnPressed.connect(self._searched)
        self.order.activated.connect(self._ordered)
        self.export.clicked.connect(self.export_wanted)
        self.right.clicked.connect(lambda: self.toggle(Filter(text_filter.RIGHT, (0,))))
        self.view.toggled.connect(self.toggle_row)
        self.view.doubted.connect(lambda place: self.doubted.emit(self.rows.place(place)))
        slash = QShortcut(QKeySequence("/"), self)
        slash.setContext(Qt.ShortcutContext.WindowShortcut)
        slash.activated.connect(self._to_search)

    def _to_search(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def show_scored(self, scored: ScoredTable | None) -> None:
        """List other texts, none of which is filtered."""
        self._scored = scored
        is_of_numbers = scored is not None and views_of(scored.task).is_of_numbers
        orders = [
            (SURE, self.tr("Furthest off first") if is_of_numbers else self.tr("Most confident first")),
            (UNSURE, self.tr("Nearest first") if is_of_numbers else self.tr("Least confident first")),
            (LONG, self.tr("Longest first")),
            (SHORT, self.tr("Shortest first")),
            (FILE, self.tr("As in the file")),
        ]
        self.order.clear()
        for key, text in orders:
            self.order.addItem(text, key)
        self._close()
        self.show_listing(Listing())
        if scored is None:
            self.rows.set_rows(None, np.zeros(0, np.int64), None)
            self.count.setText("")

    def name_models(self, first: str, second: str) -> None:
        """Say what the two models are called that are compared."""
        self._others = first, second
        self.view.setColumnHidden(OTHER, not second)

    def show_listing(self, listing: Listing, place: int = -1) -> None:
        """Ask for other texts, whatever is typed and chosen here. Args: place: of one to open; -1: none."""
        self._settle.stop()
        with QSignalBlocker(self.search):
            self.search.setText(listing.search)
        self.order.setCurrentIndex(self.order.findData(listing.order))
        self.set_listing(listing)
        self._to_open = place

    def set_listing(self, listing: Listing) -> None:
        """Ask for other texts."""
        self.listing, self._to_open = listing, -1
        self._show_chips()
        if self._scored is not None:
            self.wanted.emit(listing)

    def toggle(self, wanted: Filter) -> None:
        """Filter the list, or take the filter off again."""
        self.set_listing(self.listing.toggled(wanted))

    def show_places(self, places: Places, both: ScoredPair | None) -> None:
        """Show the texts that were asked for."""
        self._close()
        self.rows.set_rows(self._scored, places, both)
        self.view.fit()
        self.view.scrollToTop()
        total = 0 if self._scored is None else len(self._scored.each)
        text = self.tr("{count} of {total}").format(
            count=words.number(len(places)), total=words.number(total)
        )
        self.count.setText(text if len(places) < total else words.number(total))
        self.none.setText(self.tr("No text matches. Remove a filter."))
        self.none.setVisible(not len(places) and total > 0)
        self.export.setEnabled(len(places) > 0)
        self.toggle_row(next(iter(np.flatnonzero(places == self._to_open).tolist()), -1))
        self._to_open = -1

    def _show_chips(self) -> None:
        for chip in self._chips:
            self._chip_row.removeWidget(chip)
            chip.deleteLater()
        self._chips = []
        for number, one in enumerate(self.listing.filters):
            chip = named(ToolButton(), f"evaluate_chip_{number}")
            text = self.filter_words(one)
            chip.setText(words.shorten(text, 60) + "  ×")
            chip.setToolTip(self.tr("{filter}: click to remove it").format(filter=text))
            chip.setAccessibleName(chip.toolTip())
            chip.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            set_role(chip, "chip")
            chip.clicked.connect(partial(self._take_off, one))
            self._chip_row.addWidget(chip)
            chip.ensurePolished()
            chip.setMinimumWidth(chip.sizeHint().width() + 4)
            QWidget.setTabOrder(self._chips[-1] if self._chips else self.right, chip)
            self._chips.append(chip)
        self.right.setVisible(self.listing.of(text_filter.RIGHT) is None and self._is_judged)

    @property
    def _is_judged(self) -> bool:
        return self._scored is not None and not views_of(self._scored.task).is_of_numbers

    def _take_off(self, one: Filter) -> None:
        self.set_listing(self.listing.without(one))

    def take_last_off(self) -> bool:
        """Take the last filter off; False where there is none."""
        if self.rows.opened >= 0:
            self.toggle_row(self.rows.opened)
        elif self.listing.filters:
            self.set_listing(self.listing.without(self.listing.filters[-1]))
        else:
            return False
        return True

    def filter_words(self, one: Filter) -> str:
        """Return a filter in words."""
        names = () if self._scored is None else self._scored.each.names
        if one.kind == text_filter.ANSWER:
            true, predicted = (int(value) for value in one.values)
            if predicted < 0:
                return self.tr("true {label}").format(label=names[true])
            if true < 0:
                return self.tr("predicted {label}").format(label=names[predicted])
            text = self.tr("true {true}, predicted {predicted}")
            return text.format(true=names[true], predicted=names[predicted])
        if one.kind == text_filter.RIGHT:
            return self.tr("right") if one.values[0] else self.tr("wrong")
        if one.kind == text_filter.CONFIDENCE:
            low, high = (words.share(float(value)) for value in one.values)
            return self.tr("{low} to {high} confident").format(low=low, high=high)
        if one.kind == text_filter.LENGTH:
            low, high = (words.number(float(value)) for value in one.values)
            return self.tr("{low} to {high} characters").format(low=low, high=high)
        if one.kind == text_filter.WORD:
            return self.tr("contains “{word}”").format(word=one.values[0])
        if one.kind == text_filter.LABEL:
            return self.tr("with the label {name}").format(name=one.values[0])
        if one.kind == text_filter.COLUMN:
            return column_words(str(one.values[0]), str(one.values[1]))
        if one.kind == text_filter.MARK:
            assert self._scored is not None
            return views_of(self._scored.task).mark_words(tuple(map(str, one.values)))
        if one.kind == text_filter.OFF:
            low, high = (words.decimal(float(value), 2) for value in one.values[1:])
            text = self.tr("{low} to {high} off")
            if one.values[0] != text_filter.INSIDE:
                text = self.tr("more than {low} or {high} off")
            return text.format(low=low, high=high)
        if one.kind == text_filter.PLACE:
            return self.tr("this one")
        assert one.kind == text_filter.DIFFER
        first, second = self._others
        return {
            text_filter.ANY: self.tr("the two answer differently"),
            text_filter.ONE: self.tr("only one of the two is right"),
            text_filter.FIRST: self.tr("only {name} is right").format(name=first),
            text_filter.SECOND: self.tr("only {name} is right").format(name=second),
        }[str(one.values[0])]

    def _searched(self) -> None:
        self._settle.stop()
        if self.search.text() != self.listing.search:
            self.set_listing(replace(self.listing, search=self.search.text()))

    def _ordered(self, place: int) -> None:
        self.set_listing(replace(self.listing, order=str(self.order.itemData(place))))

    # ---- the text that is open

    def toggle_row(self, place: int) -> None:
        """Open a row, or close it."""
        was_open = self.rows.opened
        self._close()
        if place == was_open or not 0 <= place < self.rows.rowCount():
            self.opened.emit(-1)
            return
        self.rows.opened = place
        self.detail = OpenedText()
        self.detail.led.connect(self.led)
        self.detail.doubted.connect(lambda: self.doubted.emit(self.rows.place(place)))
        self.detail.fitted.connect(self._fit_row)
        self.view.setIndexWidget(self.rows.index(place, TEXT), self.detail)
        self.view.setCurrentIndex(self.rows.index(place, TEXT))
        self.opened.emit(self.rows.place(place))
        self.view.viewport().update()

    def _close(self) -> None:
        row_open, self.rows.opened = self.rows.opened, -1
        if self.detail is not None:
            if 0 <= row_open < self.rows.rowCount():
                self.view.setIndexWidget(self.rows.index(row_open, TEXT), None)  # type: ignore[arg-type]
                self.view.setRowHeight(row_open, ROW)
            self.detail.hide()
            self.detail.deleteLater()
            self.detail = None
        self.view.viewport().update()

    def _fit_row(self, height: int) -> None:
        if self.rows.opened >= 0 and self.view.rowHeight(self.rows.opened) != max(ROW, height):
            self.view.setRowHeight(self.rows.opened, max(ROW, height))
            self.view.scrollTo(self.rows.index(self.rows.opened, TEXT))

    @property
    def opened_place(self) -> int:
        """The place of the text that is open; -1: none is."""
        return self.rows.place(self.rows.opened) if self.rows.opened >= 0 else -1
