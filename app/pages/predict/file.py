"""A whole table on the Predict page: how it is read, which of its columns are, and where to write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QCheckBox, QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.labels import ElidedLabel, label, tip
from app.look.layout import column, row, stacked
from app.look.widgets import holder
from app.pages.choose.encoding_box import EncodingBox
from app.pages.predict.answered_file import AnsweredFileCard, captioned
from app.pages.predict.requests import (
    FilePreview,
    ModelDescription,
    free_path,
    label_in,
    preview,
    preview_roles,
)
from app.pages.predict.state import PredictedFile
from app.pages.tasks.known import row_views_of
from app.session import Session
from app.work.labels import table_behind
from app.work.worker import Channel
from engine.events import Steps
from engine.model.model_name import ModelName
from engine.questions.how_read import ReadSettings
from engine.questions.predict import PredictionQuestion
from engine.text.reading.kinds import WORKBOOKS, WRITTEN_SUFFIXES, patterns
from engine.text.roles import Roles


class FileCard(AnsweredFileCard):
    """Which table, which columns, which new file; asks for a preview when the table or its columns change."""

    part = ""
    out_suffixes = WRITTEN_SUFFIXES

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        self.preview: FilePreview | None = None
        self._asked: PredictedFile | None = None  # that was to be read last
        self._described: ModelDescription | None = None
        super().__init__(session, parent)
        self._previews = Channel(self, session.workers.files)
        self.show_preview(None)
        self.encoding_box.chosen.connect(lambda chosen: self._read_as_said(encoding=chosen))
        self.sheet_box.activated.connect(lambda _: self._read_as_said(sheet=self.sheet_box.currentData()))
        for box in (self.text_box, self.pair_box, self.label_box):
            box.activated.connect(self._columns_chosen)

    def lay_out(self) -> None:
        self.encoding_box = EncodingBox("predict_encoding")
        self.sheet_box = ChoiceBox("predict_sheet", words.label_of("sheet"))
        self.text_box = ChoiceBox("text_column", self.tr("Text column"))
        self.pair_box = ChoiceBox("pair_column", self.tr("Second text column"))
        self.label_box = ChoiceBox("label_column", self.tr("Column of labels"))
        self.label_box.setToolTip(self.tr("If the file has labels, the answers are scored by them, too."))
        self.safe_box = QCheckBox(self.tr("Escape formulas"))
        self.safe_box.setObjectName("safe")
        self.safe_box.setChecked(True)
        self.safe_box.setToolTip(
            self.tr(
                "Cells that a spreadsheet would run as a formula get a ' in front. Off: text "
                "exactly as written."
            )
        )
        self._pair_label = label(self.tr("Second text column"), "muted")
        self._pair_label.setBuddy(self.pair_box)
        for part in (self._pair_label, self.pair_box):
            part.hide()
        file = captioned(self.tr("File"), self.file_box)
        boxes = (("encoding", self.encoding_box), ("sheet", self.sheet_box))
        self._read_as = stacked(*(holder(captioned(words.label_of(name), box)) for name, box in boxes))
        text = captioned(self.tr("Text column"), self.text_box)
        self.label_caption = ElidedLabel("", "muted")
        self.label_caption.setObjectName("label_column_caption")
        self.label_caption.setBuddy(self.label_box)
        labels = column(self.label_caption, self.label_box, gap=3)
        self.add_layout(row((file, 1), (self._read_as, 1)))
        self.add_layout(row(text, labels))
        self.add_layout(column(self._pair_label, self.pair_box, gap=3))
        self.add_layout(captioned(self.tr("Save to"), self.out_edit, self.out_row))
        self.add(self.safe_box)

    # ---- what is asked for

    @property
    def path(self) -> Path | None:
        return self.preview.table.path if self.preview is not None else None

    @property
    def file(self) -> PredictedFile | None:
        shown = self.preview
        if shown is None:
            return None
        return PredictedFile(shown.table.path, shown.how, dict(shown.roles))

    @property
    def known(self) -> Path | None:
        table = self._session.data.table
        return table.path if table is not None else None

    @property
    def is_asking(self) -> bool:
        """Whether a table is being read."""
        return self._previews.is_asking

    @property
    def inputs(self) -> tuple[QWidget, ...]:
        boxes = (self._read_as, self.text_box, self.pair_box, self.label_box, self.safe_box)
        return *super().inputs, *boxes

    @property
    def filters(self) -> list[str]:
        return [self.tr("Tables ({endings})").format(endings=patterns()), *super().filters]

    def question(self, model: ModelName, out: Path) -> PredictionQuestion:
        assert self.preview is not None
        table, how = self.preview.table, self.preview.how
        columns: dict[str, Any] = self.preview.roles.settings()
        columns["raw"] = not self.safe_box.isChecked()
        columns["shares"] = self._described is not None and self._described.has_shares
        columns.update(self._session.labels.given_to(table))
        return PredictionQuestion(model, data=str(table.path), how=how, out=out, table=table, **columns)

    @property
    def is_ready(self) -> bool:
        return self.preview is not None and bool(self.preview.roles.text) and super().is_ready

    def set_model(self, described: ModelDescription, suffixes: tuple[str, ...]) -> None:
        """Offer the columns that this model reads, and the one of the labels that it knows."""
        self._described = described
        for part in (self._pair_label, self.pair_box):
            part.setVisible(described.reads_pairs)
        if self.preview is not None:
            self.preview = self._with_label(self.preview)
            self._show_label(self.preview.roles.label)

    # ---- reading

    def open_file(self, file: PredictedFile) -> None:
        """Read a table and show its rows before anything is predicted; nobody having said how, as the open
        table is read where it is that.
        """
        self.show_refusal("")
        self.status.setText(self.tr("Reading {name}…").format(name=file.path.name))
        if file.how == ReadSettings() and self.known == file.path:
            file = replace(file, how=ReadSettings.of(self._session.data.overrides))
        self._read(file)

    def _read_as_said(self, **said: str) -> None:
        """Read the table again, its bytes taken for other letters, or another sheet."""
        if self._asked is not None:
            how = replace(self._asked.how, **said)
            self._read(PredictedFile(self._asked.path, how))

    def _read(self, file: PredictedFile) -> None:
        self._asked, chosen = file, Roles(**file.columns)
        trained = self._described.info.get("roles") if self._described is not None else None
        wanted = (chosen or Roles.from_json(trained)).with_columns(label="")
        if self._reads_pairs and not wanted.text_pair:
            wanted = wanted.with_columns(text_pair="?")
        self._ask(partial(preview, file.path, wanted, file.how), chosen)

    def take_columns(self, roles: Roles) -> None:
        """Read the same table with other columns."""
        if self.preview is not None:
            self._ask(partial(preview_roles, self.preview.table, roles, self.preview.how), roles)

    def _ask(self, work: Callable[[], Steps[FilePreview]], chosen: Roles) -> None:
        self._previews.ask(work, work, heard=partial(self._hear, chosen), refused=self._refuse_file)

    def _hear(self, chosen: Roles, found: FilePreview) -> None:
        if not chosen or chosen.label not in ("", *found.table.columns):
            found = self._with_label(found)
        else:
            found = replace(found, roles=found.roles.with_columns(label=chosen.label))
        self.show_preview(found)
        self.opened.emit(found)
        self.changed.emit()

    def _refuse_file(self, error: BaseException) -> None:
        """Say why a table cannot be read, as it is or with the encoding that was chosen."""
        self.refuse(words.say_error(error))
        self._show_encoding()

    def _with_label(self, shown: FilePreview) -> FilePreview:
        """Return it with the column that holds the labels this model knows."""
        known = label_in(shown.table, self._described, shown.roles.read) if self._described else ""
        return replace(shown, roles=shown.roles.with_columns(label=known))

    @property
    def _reads_pairs(self) -> bool:
        return self._described is not None and self._described.reads_pairs

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
            self._show_whose("")
            self.status.setText(self.tr("Choose a table. Each of its rows gets an answer."))
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
            is_workbook = shown.table.format.kind in WORKBOOKS
            beside = table_behind(shown.table.path, self._session.settings.recent_files)
            self.set_out(free_path(beside, suffix=".xlsx" if is_workbook else ".csv"))
        self.status.setText(self._preview_words(shown))

    def _show_encoding(self) -> None:
        """Show how the file was read; one that was refused may be read another way, too."""
        shown = self.preview
        chosen, found = ("", "") if shown is None else (shown.how.encoding, shown.table.format.encoding)
        self.encoding_box.show_read(chosen, found)
        self.encoding_box.setEnabled(shown is not None or bool(self.refusal.text()))
        sheets = shown.table.sheets if shown is not None else ()
        self._read_as.setCurrentIndex(int(bool(sheets)))
        self.sheet_box.clear()
        for name in sheets:
            self.sheet_box.addItem(name, name)
        self.sheet_box.setCurrentIndex(self.sheet_box.findData(shown.table.format.sheet) if shown else -1)

    def _show_label(self, name: str) -> None:
        """Choose the column of the right labels; several, of 0 and 1 each, are one entry of the list."""
        if self.label_box.findData(name) < 0:
            self.label_box.addItem(name, name)
        self.label_box.setCurrentIndex(self.label_box.findData(name))
        self._show_whose(name)

    def _show_whose(self, name: str) -> None:
        """Say whose labels a column has, where it was saved with them; of others nobody knows."""
        whose = self.preview.labelled_by.get(name) if self.preview is not None else None
        said = row_views_of(self._described.task if self._described is not None else "").given_words()
        if whose is not None:
            said = self.tr("Labels by hand")
        if whose:
            names = words.listed(f"“{words.shorten(one, 40)}”" for one in whose)
            said = self.tr("Labels by column {columns}").format(columns=names)
        self.label_caption.setText(said)
        self.label_caption.setToolTip(tip(said))

    def _preview_words(self, shown: FilePreview) -> str:
        bad = len(shown.reported)
        rows = words.counted(shown.table.num_rows, self.tr("1 row"), self.tr("{count} rows"))
        if not bad:
            return self.tr("{rows}, all usable.").format(rows=rows)
        lost = words.counted(
            bad,
            self.tr("{rows}, one line cannot be used and is listed."),
            self.tr("{rows}, {count} lines cannot be used and are listed."),
        )
        return lost.format(rows=rows)

    def _columns_chosen(self) -> None:
        text, right = self.text_box.currentText(), str(self.label_box.currentData() or "")
        pair = self.pair_box.currentText() if self._reads_pairs else ""
        right = "" if right in (text, pair) else right
        roles = self.preview.roles if self.preview is not None else Roles()
        self.take_columns(roles.with_columns(text=text, text_pair=pair, label=right))


def _first_stem(stem: str) -> str:
    """Return a name without the number that made it a free one: "films-predicted-2" -> "films-predicted"."""
    head, _, number = stem.rpartition("-")
    return head if head and number.isdigit() else stem
