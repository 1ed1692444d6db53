"""The share of each label in the whole file, as a figure and as sentences that can be published."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app import words
from app.look.copy_command import COPIED_MS
from app.look.labels import label, set_or_hide
from app.look.layout import STRETCH, column, row
from app.look.widgets import Card, ScrollView, button
from app.plots.buttons import save_icon
from app.plots.share_rows import ShareRow, ShareRowsPlot
from engine.labelling.table_shares import SHEET, LabelShares, SharesFound
from engine.text.small_sheet import sheet_place


class SharesCard(Card):
    """A figure, and sentences below it; a label that is clicked is the first that they speak of."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Share of each label"), parent=parent)
        self.setObjectName("shares_card")
        self._found: LabelShares | None = None
        self._first: int | None = None  # the label that is spoken of first
        self.plot = ShareRowsPlot(self.tr("Share of each label"))
        self.plot.setObjectName("table_shares")
        self.plot.chosen.connect(self._choose)
        self.said = label("", wrap=True, name="shares_sentence")
        self.basis = label("", "muted", wrap=True, name="shares_basis")
        self.written = label("", "muted", wrap=True, name="shares_written")
        self.copy_button = button(self.tr("Copy the sentences"), name="copy_shares", call=self.copy)
        self._rest = QTimer(self, singleShot=True, interval=COPIED_MS)
        self._rest.timeout.connect(self._rest_button)
        self.waiting = label("", "muted", wrap=True, name="shares_waiting")
        inner = QWidget()
        copied = row(self.copy_button, (self.written, 1), gap=12)
        column(self.plot, self.said, self.basis, copied, STRETCH, gap=8, parent=inner)
        self._parts = ScrollView(inner)
        self.add_corner(save_icon(self.plot))
        self.add(self.waiting)
        self.add(self._parts, 1)
        self.show_waiting(self.tr("Predict a file. The share of each label in it appears here."))

    def show_waiting(self, text: str) -> None:
        """Say why there are no shares."""
        self._found = None
        self.plot.clear()
        self.set_hint("")
        self.waiting.setText(text)
        self.waiting.show()
        self._parts.hide()

    def show_found(self, event: SharesFound) -> None:
        """Show the shares of a file, or why they cannot be told."""
        found = event.shares
        if found is None:
            self.show_waiting(words.say(event.refusal) if event.refusal is not None else "")
            return
        self._found, self._first = found, None
        made = found.found
        columns = (made.shares, made.low, made.high, made.counted)
        self.plot.show_rows(
            [ShareRow(found.labels[at], *(float(one[at]) for one in columns)) for at in found.order]
        )
        self.plot.setFixedHeight(self.plot.row_height * len(found.labels) + 8)
        self.set_hint(
            self.tr("95 % intervals"), self.tr("Under the pointer: what the model counts without correction.")
        )
        self.waiting.hide()
        self._parts.show()
        self._show_words()

    def show_written(self, path: Path) -> None:
        """Say where the shares were written. Args: path: of the answers."""
        if self._found is None:
            self.written.hide()
            return
        own = sheet_place(path, SHEET)
        said = self.tr("Saved as sheet Shares of {name}.") if own == path else self.tr("Saved as {name}.")
        set_or_hide(self.written, said.format(name=own.name))

    def copy(self) -> None:
        """Put the sentences on the clipboard."""
        QGuiApplication.clipboard().setText(f"{self.said.text()} {self.basis.text()}")
        self.copy_button.setText(self.tr("Copied"))
        self._rest.start()

    def _rest_button(self) -> None:
        self.copy_button.setText(self.tr("Copy the sentences"))

    def _choose(self, target: int) -> None:
        if self._found is not None:
            self._first = self._found.order[target]
            self._show_words()

    def _show_words(self) -> None:
        assert self._found is not None
        basis = [words.say(one) for one in self._found.basis()]
        told = [words.say(one) for one in self._found.sentences(self._first)]
        self.said.setText(words.sentences(told[: -len(basis)]))
        self.basis.setText(words.sentences(basis))
        self.plot.set_caption([("basis", one) for one in basis])
