"""Asks where to and as what a lecture is exported, and says how far it is; the window goes on meanwhile."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QDir, QTimer, QUrl
from PySide6.QtGui import QCloseEvent, QDesktopServices
from PySide6.QtWidgets import QDialog, QProgressBar, QWidget

from app import words
from app.lectures.export import HTML, MARKDOWN, ONE_FILE, PNG, SVG, ExportOrder, HiddenPages, export
from app.lectures.open_lecture import OpenLecture
from app.look.boxes import ChoiceBox
from app.look.files import ask_folder
from app.look.inputs import LineEdit
from app.look.labels import label
from app.look.layout import STRETCH, column, form_rows, row
from app.look.widgets import DIALOG_MARGINS, GAP, button, named
from app.plots.figure_files import file_stem
from app.session import Session
from app.settings import AppSettings
from engine.errors import UserError

WIDTH = 560
STEP_MS = 20  # between two looks at what is under way


class LectureExportDialog(QDialog):
    """Folder, kind of figures, kind of index; then how many scenes are done."""

    def __init__(self, session: Session, current: OpenLecture, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("lecture_export_dialog")
        self.setWindowTitle(self.tr("Export the lecture"))
        self.setMinimumWidth(WIDTH)
        self._session, self._current = session, current
        self._steps: Iterator[int] | None = None
        self._hidden: HiddenPages | None = None
        self._settings_folder: tempfile.TemporaryDirectory[str] | None = None
        self._timer = QTimer(self, interval=STEP_MS)
        self._timer.timeout.connect(self._go_on)
        self._make()
        self._lay_out()
        self._show_state("")

    @property
    def is_exporting(self) -> bool:
        """Whether scenes are being shown and saved."""
        return self._steps is not None

    def _make(self) -> None:
        name = file_stem(self._current.lecture.title or self.tr("Lecture"))
        folder = self._current.recent[0].parent if self._current.recent else Path.home()
        self.path = named(
            LineEdit(QDir.toNativeSeparators(str(folder / name))), "export_path", self.tr("Folder")
        )
        kinds = (
            (self.tr("PNG, pixels: for slides and the web"), PNG),
            (self.tr("SVG, lines: for editing"), SVG),
        )
        self.kind = ChoiceBox("export_kind", self.tr("Figures"), entries=kinds)
        indices = (
            (self.tr("A page for the browser (HTML)"), HTML),
            (self.tr("Text (Markdown)"), MARKDOWN),
            (self.tr("One file to send, with all figures in it (HTML)"), ONE_FILE),
        )
        self.index = ChoiceBox("export_index", self.tr("Index"), entries=indices)
        self.index.currentIndexChanged.connect(lambda: self._show_state(""))
        self.browse_button = button(self.tr("Browse…"), name="export_browse", call=self._browse)
        self.progress = named(QProgressBar(textVisible=False), "export_progress")
        self.said = label("", "muted", wrap=True, name="export_said")
        self.go_button = button(self.tr("Export"), "primary", name="export_go", call=self._press)
        self.open_button = button(self.tr("Open the folder"), name="export_open", call=self._open_folder)
        self.close_button = button(self.tr("Close"), name="export_close")
        self.close_button.clicked.connect(self.close)
        self.open_button.hide()

    def _lay_out(self) -> None:
        fields = form_rows(
            (self.tr("Folder"), row((self.path, 1), self.browse_button)),
            (self.tr("Figures"), self.kind),
            (self.tr("Index"), self.index),
            role="muted",
        )
        buttons = row(self.open_button, STRETCH, self.close_button, self.go_button)
        column(fields, self.progress, self.said, buttons, gap=GAP, margins=DIALOG_MARGINS, parent=self)

    def _browse(self) -> None:
        start, title = Path(self.path.text()).parent, self.tr("Export into")
        ask_folder(self, title, self._take_folder, name="export_folder_dialog", start=start)

    def _take_folder(self, folder: str) -> None:
        name = file_stem(self._current.lecture.title or self.tr("Lecture"))
        self.path.setText(QDir.toNativeSeparators(str(Path(folder) / name)))

    def _press(self) -> None:
        if self.is_exporting:
            self._end(self.tr("Stopped. What was saved stays, without an index."))
        else:
            self.begin()

    def begin(self) -> None:
        """Export what is asked for."""
        text = self.path.text().strip()
        if not text:
            self._show_state(self.tr("Name a folder."))
            return
        folder = Path(text).expanduser().absolute()
        order = ExportOrder(
            self._current.lecture,
            self._current.found,
            folder,
            self.kind.currentData(),
            self.index.currentData(),
        )
        self._settings_folder = tempfile.TemporaryDirectory(prefix="cloze-", ignore_cleanup_errors=True)
        settings = AppSettings(Path(self._settings_folder.name) / "settings.ini")
        self._hidden = HiddenPages(settings, self._session.runs.root)
        self._steps = export(order, self._hidden)
        self.progress.setRange(0, len(order.lecture.scenes))
        self.progress.setValue(0)
        self.open_button.hide()
        self._show_state(self.tr("Scene 1 of {count}…").format(count=words.number(self.progress.maximum())))
        self._timer.start()

    def _go_on(self) -> None:
        steps, count = self._steps, self.progress.maximum()
        if steps is None:
            return
        try:
            done = next(steps, None)
        except (UserError, OSError) as error:
            self._end(words.say_error(error) if isinstance(error, UserError) else str(error))
            return
        except BaseException:
            self._end("")
            raise
        if done is None:
            self.open_button.show()
            said = self.tr("{count} scenes are in {folder}.")
            self._end(said.format(count=words.number(count), folder=self.path.text()))
            return
        self.progress.setValue(done)
        said = self.tr("Scene {place} of {count}…")
        self.said.setText(said.format(place=words.number(min(done + 1, count)), count=words.number(count)))

    def _end(self, said: str) -> None:
        """Let go of the hidden pages, and say how it ended."""
        self._timer.stop()
        steps, self._steps = self._steps, None
        hidden, self._hidden = self._hidden, None
        if steps is not None and hasattr(steps, "close"):
            steps.close()
        if hidden is not None:
            hidden.close()
        if self._settings_folder is not None:
            with suppress(OSError):
                self._settings_folder.cleanup()
        self._show_state(said)

    def _show_state(self, said: str) -> None:
        self.said.setText(said)
        self.said.setVisible(bool(said))
        self.progress.setVisible(self.is_exporting)
        self.go_button.setText(self.tr("Stop") if self.is_exporting else self.tr("Export"))
        for each in (self.path, self.kind, self.index, self.browse_button):
            each.setEnabled(not self.is_exporting)
        if self.index.currentData() == ONE_FILE:  # its figures are lines
            self.kind.setEnabled(False)

    def _open_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(self.path.text()))

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.is_exporting:
            self._end("")
        super().closeEvent(event)

    def reject(self) -> None:
        if self.is_exporting:
            self._end("")
        super().reject()
