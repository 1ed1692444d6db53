"""A whole file on the Predict page: what to read and where to write."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QVBoxLayout, QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.labels import label
from app.look.layout import column, row
from app.pages.choose.encoding_box import EncodingBox
from app.pages.predict.answered_file import AnsweredFileCard
from app.pages.predict.requests import FilePreview, free_path
from app.session import Session
from engine.model.model_name import ModelName
from engine.questions.how_read import ReadSettings
from engine.questions.predict import PredictionQuestion
from engine.text.roles import Roles


class FileCard(AnsweredFileCard):
    """Which file, which columns, which new file; asks for a preview when the file or its columns change."""

    roles_wanted = Signal(object)  # Roles
    encoding_wanted = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        self.preview: FilePreview | None = None
        super().__init__(session, parent)
        self._wants_pair = False
        self.encoding_box = EncodingBox("predict_encoding")
        self.text_box = ChoiceBox("text_column", self.tr("Text column"))
        self.pair_box = ChoiceBox("pair_column", self.tr("Second text column"))
        self.label_box = ChoiceBox("label_column", self.tr("Column of the right labels"))
        self.label_box.setToolTip(
            self.tr("Where the file holds the right labels, the answers get a score beside them.")
        )
        self.safe_box = QCheckBox(self.tr("Safe to open in a spreadsheet"))
        self.safe_box.setObjectName("safe")
        self.safe_box.setChecked(True)
        self.safe_box.setToolTip(
            self.tr(
                "Cells that a spreadsheet would run as a formula get a ' in front. "
                "Off: text exactly as it was."
            )
        )
        self._lay_out()
        self._fill_files()
        self.set_wants_pair(False)
        self.show_preview(None)
        self._connect()

    def _connect(self) -> None:
        self.encoding_box.chosen.connect(self.encoding_wanted)
        self.text_box.activated.connect(self._columns_chosen)
        self.pair_box.activated.connect(self._columns_chosen)
        self.label_box.activated.connect(self._columns_chosen)

    def _lay_out(self) -> None:
        self._pair_label = label(self.tr("Second text column"), "muted")
        source = (
            _captioned(self.tr("File"), self.file_box),
            _captioned(words.label_of("encoding"), self.encoding_box),
        )
        columns = (
            _captioned(self.tr("Text column"), self.text_box),
            _captioned(self.tr("Right labels"), self.label_box),
        )
        out = label(self.tr("New file"), "muted")
        out.setBuddy(self.out_edit)
        self._pair_label.setBuddy(self.pair_box)
        self.add_layout(row(*((one, 1) for one in source)))
        self.add_layout(row(*columns))
        self.add_layout(column(self._pair_label, self.pair_box, gap=3))
        self.add_layout(column(out, self.out_row, gap=3))
        self.add(self.safe_box)
        self.add_outcome()

    # ---- what is asked for

    @property
    def path(self) -> Path | None:
        return self.preview.table.path if self.preview is not None else None

    @property
    def opened(self) -> Path | None:
        table = self._session.data.table
        return table.path if table is not None else None

    @property
    def inputs(self) -> tuple[QWidget, ...]:
        return (
            self.file_box,
            self.encoding_box,
            self.text_box,
            self.pair_box,
            self.label_box,
            self.out_edit,
            self.out_button,
            self.safe_box,
        )

    @property
    def filters(self) -> list[str]:
        return [self.tr("Tables (*.csv *.tsv *.txt *.jsonl)"), self.tr("All files (*)")]

    @property
    def out_suffixes(self) -> tuple[str, ...]:
        return (".csv",)

    @property
    def out_filters(self) -> list[str]:
        return [self.tr("Tables (*.csv)")]

    def question(self, model: ModelName, out: Path) -> PredictionQuestion:
        assert self.preview is not None
        table, how = self.preview.table, ReadSettings.of(self.preview.how)
        columns: dict[str, Any] = self.preview.roles.settings()
        return PredictionQuestion(
            model, data=str(table.path), how=how, out=out, raw=self.raw, table=table, **columns
        )

    @property
    def raw(self) -> bool:
        return not self.safe_box.isChecked()

    @property
    def is_ready(self) -> bool:
        shown = self.preview
        return shown is not None and bool(shown.roles.text) and self.out_path is not None

    def set_wants_pair(self, wanted: bool) -> None:
        """Show the second column where the model reads pairs."""
        self._wants_pair = wanted
        self.pair_box.setVisible(wanted)
        self._pair_label.setVisible(wanted)

    def show_written(self, path: Path, seconds: float, model: str) -> None:
        """Say what was written; the next file gets the next free name."""
        self.set_out(free_path(path, _first_stem(path.stem), path.suffix))
        super().show_written(path, seconds, model)

    def show_preview(self, shown: FilePreview | None) -> None:
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
            self.set_out(free_path(shown.table.path))
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
        self.refuse(text)
        self._show_encoding()

    def offer_label(self, name: str) -> None:
        """Take a column as the right labels, or none: what another model knows."""
        shown = self.preview
        if shown is not None:
            self.preview = replace(shown, roles=shown.roles.with_columns(label=name))
            self._show_label(name)

    def _show_label(self, name: str) -> None:
        """Choose the column of the right labels; several, of 0 and 1 each, are one entry of the list."""
        if self.label_box.findData(name) < 0:
            self.label_box.addItem(name, name)
        self.label_box.setCurrentIndex(self.label_box.findData(name))

    def _preview_words(self, shown: FilePreview) -> str:
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

    def _columns_chosen(self) -> None:
        pair = self.pair_box.currentText() if self._wants_pair else ""
        chosen = str(self.label_box.currentData() or "")
        taken = chosen in (self.text_box.currentText(), pair)
        roles = self.preview.roles if self.preview is not None else Roles()
        label = "" if taken else chosen
        self.roles_wanted.emit(
            roles.with_columns(text=self.text_box.currentText(), text_pair=pair, label=label)
        )


def _captioned(caption: str, box: QWidget) -> QVBoxLayout:
    """Return a box under what it holds."""
    above = label(caption, "muted")
    above.setBuddy(box)
    return column(above, box, gap=3)


def _first_stem(stem: str) -> str:
    """Return a name without the number that made it a free one: "films-predicted-2" -> "films-predicted"."""
    head, _, number = stem.rpartition("-")
    return head if head and number.isdigit() else stem
