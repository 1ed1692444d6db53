"""The dialog "Export": for which tool, where to, and what was checked. It keeps its size, so that no button
moves under the mouse.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QDir, QStandardPaths, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QRadioButton,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QWidget,
)

from app import words
from app.look.files import ask_folder, ask_save
from app.look.inputs import LineEdit
from app.look.labels import label
from app.look.layout import STRETCH, column, dialog_buttons, form_rows, row
from app.look.pending import ProgressLine
from app.look.widgets import DIALOG_MARGINS, LevelMark, button, leave_room, named, set_role
from app.pages.export.requests import answer, export
from app.pages.export.targets import BELOW_RADIO, OPTIONS, TargetOptions
from app.session import Session
from app.work.titles import model_title
from app.work.worker import Channel
from engine.events import Event, Progress
from engine.export.targets.target import ExportedTarget

WIDTH = 580
LINES_SAID = 6  # of what is told; more of them scroll
_last_folder: Path | None = None  # where the last export went, for as long as the window is open


def export_model(session: Session, model: Path, parent: QWidget) -> ExportDialog:
    """Open the dialog for a model, over the window that it belongs to."""
    dialog = ExportDialog(session, model, parent.window())
    dialog.open()
    return dialog


class ExportDialog(QDialog):
    """Deletes itself when closed; what is under way is then stopped, and leaves nothing."""

    def __init__(self, session: Session, model: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("export_dialog")
        self.setWindowTitle(self.tr("Export {name}").format(name=model_title(model)))
        self.model = model
        self._working = Channel(self, session.workers.transfer)
        self._written: ExportedTarget | None = None
        self._is_typed = False  # whether the place was chosen by a person
        self._make_fields()
        self._lay_out()
        for radio in self.radios.values():
            radio.toggled.connect(self._kind_changed)
        self.path.textEdited.connect(self._path_typed)
        self.browse_button.clicked.connect(self._browse)
        self.start_button.clicked.connect(self.start)
        self.close_button.clicked.connect(self.reject)
        self.folder_button.clicked.connect(self.show_folder)
        self.keep_button.clicked.connect(partial(self._answer, True))
        self.leave_button.clicked.connect(partial(self._answer, False))
        self.finished.connect(self._leave)
        self._kind_changed()
        self._widen_close()
        leave_room(self)
        self.adjustSize()

    @property
    def chosen(self) -> TargetOptions:
        """The target that is chosen."""
        return next(one for one, radio in self.radios.items() if radio.isChecked())

    # ---- what stands there

    def _make_fields(self) -> None:
        self.radios: dict[TargetOptions, QRadioButton] = {}
        for made in OPTIONS:
            one = made(self.model)
            radio = named(QRadioButton(one.title), f"export_{one.key}", words.captioned(one.title, one.hint))
            radio.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
            radio.setChecked(not self.radios)
            self.radios[one] = radio
        self.path = named(LineEdit(), "export_path", self.tr("Where to"))
        self.browse_button = button(self.tr("Browse…"), name="export_browse")
        self.progress = ProgressLine("export_progress")
        self.said = label("", "muted", wrap=True, name="export_said")
        self.marks = {level: LevelMark(level) for level in ("fine", "look")}
        self.keep_button = button(self.tr("Keep the 8-bit graph"), "primary", name="export_keep")
        self.leave_button = button(self.tr("Discard it"), name="export_leave")
        self.folder_button = button(self.tr("Show folder"), name="export_show_folder")
        self.start_button = button(self.tr("Export"), "primary", name="export_start")
        self.close_button = button(self.tr("Close"), name="export_close")

    def _lay_out(self) -> None:
        self.setFixedWidth(WIDTH)
        self.options, self.between = QStackedWidget(), QStackedWidget()
        self.idle = QWidget()
        parts = []
        for one, radio in self.radios.items():
            self.options.addWidget(one)
            hint = label(one.lacks or one.hint, "muted", wrap=True)
            hint.setIndent(BELOW_RADIO)
            radio.setEnabled(not one.lacks)
            parts.append(column(radio, hint, gap=2))
        self.question = QWidget()
        row(STRETCH, self.leave_button, self.keep_button, parent=self.question)
        for each in (self.idle, self.progress, self.question):
            self.between.addWidget(each)
        told = QWidget()
        marks = ((mark, Qt.AlignmentFlag.AlignTop) for mark in self.marks.values())
        said = column(self.said, STRETCH)
        row(*marks, (said, 1), parent=told)
        area = QScrollArea(widgetResizable=True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFixedHeight(LINES_SAID * self.said.fontMetrics().lineSpacing())
        area.setWidget(told)
        buttons = dialog_buttons(accept=self.start_button, reject=self.close_button)
        column(
            *parts,
            self.options,
            form_rows((self.tr("Where to"), row((self.path, 1), self.browse_button)), role="muted"),
            self.between,
            area,
            STRETCH,
            row(self.folder_button, STRETCH, buttons),
            gap=10,
            margins=DIALOG_MARGINS,
            parent=self,
        )

    def _widen_close(self) -> None:
        """Make the button as wide as its longer word, or the one beside it would move."""
        self.ensurePolished()
        widths = []
        for text in (self.tr("Stop"), self.tr("Close")):
            self.close_button.setText(text)
            widths.append(self.close_button.sizeHint().width())
        self.close_button.setMinimumWidth(max(widths))

    # ---- what a person does

    def start(self) -> None:
        """Export what is chosen; the result is checked and told here."""
        self._leave_small()
        self._written = None
        wanted = self.chosen.target(Path(self.path.text().strip()).expanduser())
        self._say("muted", self.tr("Starting…"))
        self.progress.setRange(0, 0)  # how much there is to do is told soon
        self._working.drop()
        self._working.ask(
            wanted,
            partial(export, wanted),
            heard=self._take,
            refused=self._refuse,
            progress=self._show_progress,
            ended=self._show_state,
        )
        self._show_state()

    def show_folder(self) -> None:
        """Open what was written in the program that shows folders."""
        path = self._written.path if self._written is not None else self.model
        folder = path if path.is_dir() else path.parent
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
            self._say("muted", self.tr("No program shows folders here. It is at {path}.").format(path=path))

    def _answer(self, is_kept: bool) -> None:
        """Keep the 8-bit graph, or leave nothing of it."""
        assert self._written is not None and self._written.small is not None
        small = self._written.small
        self._written = ExportedTarget(self._written.path, (*self._written.said, *small.said))
        self._working.drop()
        self._working.ask(
            (small.path, is_kept),
            partial(answer, small, is_kept),
            heard=self._take_answer,
            refused=self._refuse,
            ended=self._show_state,
        )
        self._show_state()

    def _browse(self) -> None:
        if ending := self.chosen.ending:
            title, kind = self.chosen.saved_as
            ask_save(
                self, title, self._take_file, name="export_save_dialog",
                suggested=self.path.text(), filters=[kind], suffix=ending,
            )  # fmt: skip
        else:
            start = Path(self.path.text()).parent
            ask_folder(self, self.tr("Where to"), self._take_folder, name="export_folder_dialog", start=start)

    def _take_file(self, path: str) -> None:
        self.path.setText(QDir.toNativeSeparators(path))
        self._path_typed()

    def _take_folder(self, path: str) -> None:
        self.path.setText(QDir.toNativeSeparators(str(Path(path) / self._suggested())))
        self._path_typed()

    def _path_typed(self) -> None:
        self._is_typed = True
        self._show_state()

    def _kind_changed(self) -> None:
        """Show the options of a kind; name a new place for it, beside where the last one was put."""
        place = Path(self.path.text()).parent if self._is_typed else _folder()
        self.path.setText(QDir.toNativeSeparators(str(place / self._suggested())))
        self._say("muted", "")
        self.options.setCurrentWidget(self.chosen)
        self._show_state()

    def _suggested(self) -> str:
        """Return what the new folder or file is called at first."""
        kept = "".join(one if one.isalnum() or one in "-_" else "-" for one in model_title(self.model))
        name = "-".join(filter(None, kept.split("-")))[:60] or "model"
        ending = self.chosen.ending
        return f"{name}.{ending}" if ending else f"{name}-{self.chosen.key}"

    # ---- what a worker says

    def _show_progress(self, event: Event) -> None:
        if isinstance(event, Progress) and self.progress.hear(event):
            self._say("muted", words.say(event.sentence))

    def _take(self, written: ExportedTarget) -> None:
        global _last_folder
        self._written, _last_folder = written, written.path.parent
        self._tell(written)

    def _tell(self, written: ExportedTarget, last: Sequence[str] = ()) -> None:
        lines = [self.tr("Written to {path}.").format(path=QDir.toNativeSeparators(str(written.path)))]
        lines += map(words.say, written.said)
        if written.small is not None:
            lines += map(words.say, written.small.said)
        self._say("", "\n".join([*lines, *last]), "fine" if written.small is None else "look")

    def _take_answer(self, kept: Path | None) -> None:
        assert self._written is not None
        said = self.tr("The 8-bit graph is kept: {name}.").format(name=kept.name) if kept else ""
        self._tell(self._written, [said or self.tr("The 8-bit graph was not kept.")])

    def _refuse(self, error: BaseException) -> None:
        self._say("refusal", words.say_error(error), "look")

    def _say(self, role: str, text: str, level: str = "") -> None:
        set_role(self.said, role)
        self.said.setText(text)
        for name, mark in self.marks.items():
            mark.setVisible(name == level)

    def _show_state(self) -> None:
        """Offer what can be done now."""
        busy, small = self._working.is_asking, self._written.small if self._written is not None else None
        for one, radio in self.radios.items():
            radio.setEnabled(not busy and not one.lacks)
        for field in (self.path, self.browse_button, *self.radios):
            field.setEnabled(not busy)
        between = self.progress if busy else self.question if small is not None else self.idle
        self.between.setCurrentWidget(between)
        self.said.setVisible(bool(self.said.text()))
        self.folder_button.setVisible(self._written is not None and not busy)
        is_named = bool(Path(self.path.text().strip()).name)
        self.start_button.setEnabled(not busy and is_named)
        set_role(self.start_button, "" if small is not None else "primary")
        self.close_button.setText(self.tr("Stop") if busy else self.tr("Close"))

    def _leave_small(self) -> None:
        """Leave nothing of 8-bit numbers that nobody wanted."""
        if self._written is not None and self._written.small is not None:
            self._written.small.drop()

    def _leave(self) -> None:
        self._working.drop()
        self._leave_small()
        self.deleteLater()


def _folder() -> Path:
    documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
    places = [_last_folder, Path(documents) if documents else None, Path.home()]
    return next((place for place in places if place is not None and place.is_dir()), Path.home())
