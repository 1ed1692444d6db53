"""The models of this computer as a list of two lines each: name and weights, shape and what they answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import (
    QDir,
    QModelIndex,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QListView, QWidget

from app import words
from app.look import theme
from app.look.labels import label
from app.look.widgets import Card, button, named
from app.pages.models.two_lines import THING, TwoLines, caption_item, two_lines_item
from app.work.library import FETCHED, OPENED, SHIPPED, TRAINED, ModelEntry, entry_words

Index = QModelIndex | QPersistentModelIndex


class ModelsList(Card):
    """Groups of models; the arrow keys walk, Enter looks inside."""

    chosen = Signal(object)  # ModelEntry
    opened = Signal(object)  # ModelEntry
    folder_wanted = Signal()
    get_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("On this computer"))
        self._quiet = False
        self._known: list[ModelEntry] | None = None  # what is shown
        self.view = named(QListView(), "models_list", self.tr("Models on this computer"))
        self.view.setFrameShape(QListView.Shape.NoFrame)
        self.view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.view.setMinimumHeight(64)
        self.model = QStandardItemModel(self)
        self.view.setModel(self.model)
        self.view.setItemDelegate(TwoLines(self.view))
        self.empty = label("", "muted", wrap=True, name="models_empty")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.browse_button = button(self.tr("Open a folder…"), "link", name="models_browse")
        self.browse_button.setToolTip(self.tr("Show a model from elsewhere on this computer"))
        self.add_corner(self.browse_button)
        self.add(self.view, 1)
        self.add(self.empty, 1)
        self.get_button = button(self.tr("Get a model by name…"), name="models_get_button")
        self.get_button.setToolTip(self.tr("Look up any published BERT, and download it"))
        self.add(self.get_button)
        self.get_button.clicked.connect(self.get_wanted)
        self.browse_button.clicked.connect(self.folder_wanted)
        self.view.selectionModel().currentChanged.connect(self._walked)
        self.view.clicked.connect(self._walked)
        self.view.activated.connect(self._activated)
        theme.on_theme_change(self, self.view.viewport().update)
        self.show_entries((), is_read=False)

    @property
    def entries(self) -> tuple[ModelEntry, ...]:
        items = (self.model.item(row) for row in range(self.model.rowCount()))
        return tuple(item.data(THING) for item in items if item.data(THING) is not None)

    def show_entries(self, entries: Sequence[ModelEntry], *, is_read: bool = True) -> None:
        """Show the models there are; the chosen one stays chosen. is_read: the list is complete."""
        before = self.current
        known = list(entries) if is_read else None
        if known is not None and known == self._known:
            return
        self._known = known
        self._quiet = True
        self.model.clear()
        for origin, caption in self._captions().items():
            mine = [one for one in entries if one.origin == origin]
            if mine:
                self.model.appendRow(caption_item(caption))
            for entry in mine:
                self.model.appendRow(_entry_item(entry))
        self.empty.setText(
            self.tr("No model yet. Open a folder, or pretrain or fine-tune one: its result appears here.")
            if is_read
            else self.tr("Looking…")
        )
        self.view.setVisible(bool(entries))
        self.empty.setVisible(not entries)
        self._quiet = False
        self.set_current(before.path if before else None)

    @property
    def current(self) -> ModelEntry | None:
        """The model that is chosen."""
        index = self.view.currentIndex()
        return index.data(THING) if index.isValid() else None

    def set_current(self, path: Path | None) -> None:
        """Choose a model, or none, without a signal."""
        self._quiet = True
        index = self.model.index(self.row_of(path), 0)
        self.view.setCurrentIndex(index)
        if index.isValid():
            self.view.scrollTo(index)
        else:
            self.view.clearSelection()
        self._quiet = False

    def row_of(self, path: Path | None) -> int:
        """Return where a model stands in the list, captions counted; -1 where it does not."""
        rows = range(self.model.rowCount()) if path is not None else ()
        return next((row for row in rows if self._path(row) == path), -1)

    def _path(self, row: int) -> Path | None:
        entry = self.model.item(row).data(THING)
        return entry.path if entry is not None else None

    def _captions(self) -> dict[str, str]:
        return {
            SHIPPED: self.tr("Comes with Cloze"),
            TRAINED: self.tr("Trained here"),
            FETCHED: self.tr("Downloaded or converted"),
            OPENED: self.tr("Opened recently"),
        }

    def _walked(self, index: QModelIndex) -> None:
        entry = index.data(THING)
        if entry is not None and not self._quiet:
            self.chosen.emit(entry)

    def _activated(self, index: QModelIndex) -> None:
        entry = index.data(THING)
        if entry is not None:
            self.opened.emit(entry)


def millions(count: int) -> str:
    """Return a number of weights as it is spoken: 110.1 M."""
    if count < 100_000:
        return words.number(count)
    return words.translate("models", "{count} M").format(count=words.decimal(count / 1e6, 1))


def _entry_item(entry: ModelEntry) -> QStandardItem:
    right = millions(entry.inventory.num_weights) if entry.inventory is not None else ""
    path = QDir.toNativeSeparators(str(entry.path))
    is_wrong = entry.problem is not None
    return two_lines_item(entry, entry.title, right, entry_words(entry), path, is_wrong=is_wrong)
