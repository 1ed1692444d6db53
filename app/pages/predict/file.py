"""A whole file on the Predict page: what to read and where to write."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QDir, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QProgressBar,
    QVBoxLayout,
    QWidget,
)

from app import words
from app.look import theme
from app.look.boxes import ChoiceBox
from app.look.files import ask_file, ask_save
from app.look.inputs import LineEdit, ToolButton
from app.look.labels import label, tip
from app.look.widgets import Card, button
from app.pages.choose.encoding_box import EncodingBox
from app.pages.predict.requests import Preview, free_path
from app.pages.predict.written import FileLinks
from app.session import Session
from engine.text.examples import Roles


class FileCard(Card):
    """Which file, which columns, which new file; asks for a preview when the file or its columns change."""

    file_wanted = Signal(object)  # Path
    roles_wanted = Signal(object)  # Roles
    encoding_wanted = Signal(str)
    changed = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("A whole file"))
        self._session = session
        self.preview: Preview | None = None
        self._wants_pair = False
        self.file_box = ChoiceBox("file_choice", self.tr("File"))
        self.encoding_box = EncodingBox("predict_encoding")
        self.text_box = ChoiceBox("text_column", self.tr("Text column"))
        self.pair_box = ChoiceBox("pair_column", self.tr("Second text column"))
        self.label_box = ChoiceBox("label_column", self.tr("Column of the right labels"))
        self.label_box.setToolTip(
            self.tr("Where the file holds the right labels, the answers get a score beside them.")
        )
        self.out_edit = LineEdit()
        self.out_edit.setObjectName("out_path")
        self.out_edit.setAccessibleName(self.tr("New file"))
        self.out_edit.setPlaceholderText(self.tr("where the answers go"))
        self.out_button = ToolButton()
        self.out_button.setObjectName("choose_out")
        self.out_button.setToolTip(self.tr("Choose where to write"))
        self.out_button.setAccessibleName(self.tr("Choose where to write"))
        self.safe_box = QCheckBox(self.tr("Safe to open in a spreadsheet"))
        self.safe_box.setObjectName("safe")
        self.safe_box.setChecked(True)
        self.safe_box.setToolTip(
            self.tr(
                "Cells that a spreadsheet would run as a formula get a ' in front. "
                "Off: text exactly as it was."
            )
        )
        self.status = label("", "muted", wrap=True)
        self.status.setObjectName("file_status")
        self.refusal = label("", "refusal", wrap=True)
        self.refusal.setObjectName("refusal_file")
        self.free_button = button("", "link", name="take_free_name")
        self.links = FileLinks()
        self.progress = QProgressBar(textVisible=False)
        self.progress.setObjectName("file_progress")
        self._lay_out()
        theme.on_theme_change(self, self._draw)
        self._fill_files()
        self.set_wants_pair(False)
        self.show_preview(None)
        self._connect()

    def _connect(self) -> None:
        self.file_box.activated.connect(self._file_chosen)
        self.encoding_box.chosen.connect(self.encoding_wanted)
        self.text_box.activated.connect(self._columns_chosen)
        self.pair_box.activated.connect(self._columns_chosen)
        self.label_box.activated.connect(self._columns_chosen)
        self.free_button.clicked.connect(self._take_free_name)
        self.out_edit.textChanged.connect(self._out_changed)
        self.out_button.clicked.connect(self._browse_out)
        self._session.data.opened.connect(self._fill_files)

    def _lay_out(self) -> None:
        out = QHBoxLayout()
        out.setSpacing(6)
        out.addWidget(self.out_edit, 1)
        out.addWidget(self.out_button)
        self._pair_label = label(self.tr("Second text column"), "muted")
        source, columns = QHBoxLayout(), QHBoxLayout()
        for beside in (source, columns):
            beside.setSpacing(8)
        for caption, buddy, where in (
            (label(self.tr("File"), "muted"), self.file_box, source),
            (label(words.label_of("encoding"), "muted"), self.encoding_box, source),
            (label(self.tr("Text column"), "muted"), self.text_box, columns),
            (label(self.tr("Right labels"), "muted"), self.label_box, columns),
            (self._pair_label, self.pair_box, self.body),
            (label(self.tr("New file"), "muted"), self.out_edit, self.body),
        ):
            pair = QVBoxLayout()
            pair.setSpacing(3)
            caption.setBuddy(buddy)
            pair.addWidget(caption)
            if buddy is self.out_edit:
                pair.addLayout(out)
            else:
                pair.addWidget(buddy)
            where.addLayout(pair)
            if buddy in (self.encoding_box, self.label_box):
                self.body.addLayout(where)
        for place in range(2):
            source.setStretch(place, 1)
        self.add(self.safe_box)
        self.add(self.refusal)
        self.add(self.free_button)
        self.add(self.status)
        self.add(self.links)
        self.add(self.progress)
        self.body.addStretch(1)

    # ---- what is asked for

    @property
    def out_path(self) -> Path | None:
        """Return where to write; a bare name lies beside the file that is read."""
        text = self.out_edit.text().strip()
        if not text or self.preview is None:
            return None
        return self.preview.table.path.parent / Path(text).expanduser()

    @property
    def raw(self) -> bool:
        return not self.safe_box.isChecked()

    @property
    def is_ready(self) -> bool:
        """Return whether a file can be predicted."""
        shown = self.preview
        return shown is not None and bool(shown.roles.text) and self.out_path is not None

    def set_wants_pair(self, wanted: bool) -> None:
        """Show the second column where the model reads pairs."""
        self._wants_pair = wanted
        self.pair_box.setVisible(wanted)
        self._pair_label.setVisible(wanted)

    def set_running(self, running: bool) -> None:
        """Lock while a file is being predicted."""
        for widget in (
            self.file_box,
            self.encoding_box,
            self.text_box,
            self.pair_box,
            self.label_box,
            self.out_edit,
            self.out_button,
            self.safe_box,
        ):
            widget.setEnabled(not running)
        if running:
            self.links.show_file(None)
        self.progress.setVisible(running)
        self.progress.setRange(0, 0)

    def show_progress(self, done: int, total: int, text: str) -> None:
        """Show how far the file is."""
        self.progress.setRange(0, total)
        self.progress.setValue(done)
        self.status.setText(text)

    def show_refusal(self, text: str) -> None:
        """Say why the file cannot be taken."""
        self.refusal.setText(text)
        self.refusal.setVisible(bool(text))
        self.free_button.hide()

    def refuse_name(self, out: Path) -> None:
        """Say that a name is taken, and offer the next one that is free; nothing is ever overwritten."""
        self.show_refusal(self.tr("{name} is already there; nothing is overwritten.").format(name=out.name))
        self.status.setText("")
        self.links.show_file(None)
        free = free_path(out, out.stem, out.suffix)
        self.free_button.setText(self.tr("Write {name} instead").format(name=words.shorten(free.name, 40)))
        self.free_button.setVisible(True)
        self._free = free

    @Slot()
    def _take_free_name(self) -> None:
        self._show_out(self._free)

    def _show_out(self, path: Path) -> None:
        shown = self.preview
        beside = shown is not None and path.parent == shown.table.path.parent
        self.out_edit.setText(path.name if beside else str(path))
        self.out_edit.setCursorPosition(0)

    def show_written(self, path: Path, seconds: float, model: str) -> None:
        """Say what was written, by which model, and lead to it; the next file gets the next free name."""
        text = self.tr("Written to {name} in {duration}, by {model}.")
        self._show_out(free_path(path, _first_stem(path.stem), path.suffix))
        self.status.setText(
            text.format(name=path.name, duration=words.duration(seconds), model=words.shorten(model, 60))
        )
        self.links.show_file(path)

    def show_preview(self, shown: Preview | None) -> None:
        """Fill the columns from a file; nothing without one."""
        same_file = self.preview is not None and shown is not None and self.preview.table is shown.table
        self.preview = shown
        self.show_refusal("")
        self.links.show_file(None)
        self.progress.hide()
        self._fill_files()
        for box in (self.text_box, self.pair_box, self.label_box):
            box.clear()
            box.setEnabled(shown is not None)
        self._show_encoding()
        self.out_edit.setEnabled(shown is not None)
        self.out_button.setEnabled(shown is not None)
        if shown is None:
            self.status.setText(self.tr("Choose a table; each of its rows gets an answer."))
            return
        self.text_box.addItems(shown.table.columns)
        self.text_box.setCurrentText(shown.roles.text)
        self.pair_box.addItems(shown.table.columns)
        self.pair_box.setCurrentText(shown.roles.text_pair)
        self.label_box.addItem(self.tr("none"), "")
        for name in shown.table.columns:
            self.label_box.addItem(name, name)
        self._show_label(shown.roles.label)
        if not same_file:
            self.out_edit.setText(free_path(shown.table.path).name)
            self.out_edit.setCursorPosition(0)
        self.status.setText(self._preview_words(shown))

    def _show_encoding(self) -> None:
        """Show how the file was read; one that was refused may be read another way, too."""
        shown = self.preview
        chosen, found = (
            ("", "") if shown is None else (shown.how.get("encoding", ""), shown.table.format.encoding)
        )
        self.encoding_box.show_read(chosen, found)
        self.encoding_box.setEnabled(shown is not None or bool(self.refusal.text()))

    def refuse_file(self, text: str) -> None:
        """Say why a file cannot be read, as it is or with the encoding that was chosen."""
        self.show_refusal(text)
        self.status.setText("")
        self._show_encoding()

    def offer_label(self, name: str) -> None:
        """Take a column as the right labels, or none: what another model knows."""
        shown = self.preview
        if shown is not None:
            self.preview = replace(shown, roles=replace(shown.roles, label=name))
            self._show_label(name)

    def _show_label(self, name: str) -> None:
        """Choose the column of the right labels; several, of 0 and 1 each, are one entry of the list."""
        if self.label_box.findData(name) < 0:
            self.label_box.addItem(name, name)
        self.label_box.setCurrentIndex(self.label_box.findData(name))

    def _preview_words(self, shown: Preview) -> str:
        bad = len(shown.reported)
        rows = words.counted(shown.table.num_rows, self.tr("1 row"), self.tr("{count} rows"))
        if not bad:
            return self.tr("{rows}, all usable.").format(rows=rows)
        lost = words.counted(
            bad,
            self.tr("{rows}; one line cannot be used and is listed."),
            self.tr("{rows}; {count} lines cannot be used and are listed."),
        )
        return lost.format(rows=rows)

    @Slot()
    def _fill_files(self) -> None:
        current = str(self.preview.table.path) if self.preview else ""
        table = self._session.data.table
        known = [current, str(table.path) if table else "", *self._session.settings.recent_files]
        self.file_box.clear()
        for path in dict.fromkeys(known):
            if path and Path(path).is_file():
                self.file_box.addItem(Path(path).name, path)
                native = tip(QDir.toNativeSeparators(path))
                self.file_box.setItemData(self.file_box.count() - 1, native, Qt.ItemDataRole.ToolTipRole)
        self.file_box.addItem(self.tr("Choose a file…"), "")
        self.file_box.setPlaceholderText(self.tr("Choose a file"))
        self.file_box.setCurrentIndex(self.file_box.findData(current) if current else -1)

    @Slot(int)
    def _file_chosen(self, index: int) -> None:
        path = self.file_box.itemData(index)
        current = str(self.preview.table.path) if self.preview else ""
        self.file_box.setCurrentIndex(self.file_box.findData(current) if current else -1)
        if path:
            self.file_wanted.emit(Path(path))
        else:
            self.browse()

    @Slot()
    def browse(self) -> None:
        """Open the dialog for a table."""
        filters = [self.tr("Tables (*.csv *.tsv *.txt *.jsonl)"), self.tr("All files (*)")]
        name = "predict_file_dialog"
        ask_file(self, self.tr("Choose a file to predict"), self._file_selected, name=name, filters=filters)

    @Slot(str)
    def _file_selected(self, path: str) -> None:
        self.file_wanted.emit(Path(path))

    @Slot()
    def _browse_out(self) -> None:
        ask_save(
            self,
            self.tr("Where to write the answers"),
            self.out_edit.setText,
            name="predict_out_dialog",
            suggested=self.out_path or "",
            filters=[self.tr("Tables (*.csv)")],
            suffix="csv",
            confirms=False,  # for nothing is overwritten
        )

    @Slot()
    def _columns_chosen(self) -> None:
        pair = self.pair_box.currentText() if self._wants_pair else ""
        chosen = str(self.label_box.currentData() or "")
        taken = chosen in (self.text_box.currentText(), pair)
        self.roles_wanted.emit(
            Roles(text=self.text_box.currentText(), text_pair=pair, label="" if taken else chosen)
        )

    @Slot()
    def _out_changed(self) -> None:
        self.show_refusal("")
        self.changed.emit()

    def _draw(self) -> None:
        self.out_button.setIcon(theme.icon("folder", "muted"))


def _first_stem(stem: str) -> str:
    """Return a name without the number that made it a free one: "films-predicted-2" -> "films-predicted"."""
    head, _, number = stem.rpartition("-")
    return head if head and number.isdigit() else stem
