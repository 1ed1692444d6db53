"""The dialog "Export": for which tool, where to, and what was checked. It keeps its size, so that no button
moves under the mouse.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QDir, QStandardPaths, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFrame,
    QProgressBar,
    QRadioButton,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QWidget,
)

from app import words
from app.look.boxes import ChoiceBox
from app.look.files import ask_file, ask_folder, ask_save
from app.look.inputs import LineEdit
from app.look.labels import label, tip
from app.look.layout import STRETCH, column, dialog_buttons, form_rows, row
from app.look.widgets import DIALOG_MARGINS, LevelMark, button, leave_room, named, set_role
from app.pages.export.requests import KINDS, ONNX, SENTENCES, ZIP, Outcome, Wanted, answer, export, has_onnx
from app.session import Session
from app.work.titles import model_title
from app.work.worker import Channel
from engine.events import Event, Progress
from engine.train.run.kept import run_of

WIDTH = 580
BELOW_RADIO = 26  # px, at which the words of a radio button begin
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
        self._outcome: Outcome | None = None
        self._has_onnx = has_onnx()
        self._is_typed = False  # whether the place was chosen by a person
        self._make_fields()
        self._lay_out()
        for radio in self.radios.values():
            radio.toggled.connect(self._kind_changed)
        self.path.textEdited.connect(self._path_typed)
        self.browse_button.clicked.connect(self._browse)
        self.int8.toggled.connect(self._show_state)
        self.data_button.clicked.connect(self._choose_data)
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
    def kind(self) -> str:
        """What is chosen, of KINDS."""
        return next(kind for kind, radio in self.radios.items() if radio.isChecked())

    # ---- what stands there

    def _words(self) -> dict[str, tuple[str, str]]:
        """Return kind -> its name, and what it is for."""
        return {
            "transformers": (
                self.tr("transformers"),
                self.tr("A folder that AutoModel opens, to go on with it in Python."),
            ),
            "sentence-transformers": (
                self.tr("sentence-transformers"),
                self.tr("A folder for vectors of texts: search, likeness, clusters."),
            ),
            "onnx": (
                self.tr("ONNX"),
                self.tr(
                    "One graph for onnxruntime, in any language, with a program of a few lines that answers "
                    "by it."
                ),
            ),
            "zip": (
                self.tr("All of it in one file"),
                self.tr("A zip with these folders and the model's card, to hand on or to keep."),
            ),
        }

    def _make_fields(self) -> None:
        self.radios = {kind: QRadioButton(self._words()[kind][0]) for kind in KINDS}
        for kind, radio in self.radios.items():
            named(radio, f"export_{kind}", f"{radio.text()}: {self._words()[kind][1]}")
            radio.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.radios[KINDS[0]].setChecked(True)
        self.pooling = ChoiceBox("export_pooling", self.tr("Pooling"))
        for text, kind in (
            (self.tr("As the model says, else the mean"), ""),
            (self.tr("Mean of all pieces"), "mean"),
            (self.tr("[CLS]"), "cls"),
            (self.tr("Maximum of all pieces"), "max"),
        ):
            self.pooling.addItem(text, kind)
        self.normed = named(QCheckBox(self.tr("Set each vector to length 1")), "export_normed")
        self.int8 = named(QCheckBox(self.tr("Also in 8-bit numbers, much smaller")), "export_int8")
        self.int8.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.int8.setToolTip(tip(self.tr("What they cost is measured and shown before they are kept.")))
        self.data = named(LineEdit(), "export_data", self.tr("A labelled file to measure on"))
        is_of_run = run_of(self.model) is not None
        self.data.setPlaceholderText(
            self.tr("on what its run kept for validation")
            if is_of_run
            else self.tr("a labelled file, if any")
        )
        self.data_button = button(self.tr("Browse…"), name="export_data_browse")
        self.path = named(LineEdit(), "export_path", self.tr("Where to"))
        self.browse_button = button(self.tr("Browse…"), name="export_browse")
        self.progress = named(QProgressBar(textVisible=False), "export_progress")
        self.said = label("", "muted", wrap=True, name="export_said")
        self.marks = {level: LevelMark(level) for level in ("fine", "look")}
        self.keep_button = button(self.tr("Keep the 8-bit graph"), "primary", name="export_keep")
        self.leave_button = button(self.tr("Leave it"), name="export_leave")
        self.folder_button = button(self.tr("Show its folder"), name="export_show_folder")
        self.start_button = button(self.tr("Export"), "primary", name="export_start")
        self.close_button = button(self.tr("Close"), name="export_close")

    def _lay_out(self) -> None:
        self.setFixedWidth(WIDTH)
        self.of_sentences, self.of_graph, self.of_int8 = QWidget(), QWidget(), QWidget()
        row((self.pooling, 1), self.normed, parent=self.of_sentences)
        measured = label(self.tr("Measured on"), "muted")
        measured.setBuddy(self.data)
        row(measured, (self.data, 1), self.data_button, margins=(BELOW_RADIO, 0, 0, 0), parent=self.of_int8)
        column(self.int8, self.of_int8, gap=4, parent=self.of_graph)
        policy = self.of_int8.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.of_int8.setSizePolicy(policy)
        self.options, self.between = QStackedWidget(), QStackedWidget()
        self.no_options, self.idle = QWidget(), QWidget()
        for each in (self.no_options, self.of_sentences, self.of_graph):
            self.options.addWidget(each)
        parts = []
        for kind, radio in self.radios.items():
            hint = label(self._words()[kind][1], "muted", wrap=True)
            hint.setIndent(BELOW_RADIO)
            if kind == ONNX and not self._has_onnx:
                hint.setText(self.tr("Needs three more packages: pip install onnx onnxscript onnxruntime"))
                radio.setEnabled(False)
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

    @Slot()
    def start(self) -> None:
        """Export what is chosen; the result is checked and told here."""
        self._leave_small()
        self._outcome = None
        is_of_sentences = self.kind == SENTENCES
        wanted = Wanted(
            kind=self.kind,
            model=self.model,
            out=Path(self.path.text().strip()).expanduser(),
            pooling=str(self.pooling.currentData()) if is_of_sentences else "",
            is_normed=True if is_of_sentences and self.normed.isChecked() else None,
            with_int8=self.kind == ONNX and self.int8.isChecked(),
            data=self.data.text().strip() if self.kind == ONNX else "",
        )
        self._say("muted", self.tr("Beginning…"))
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

    @Slot()
    def show_folder(self) -> None:
        """Open what was written in the program that shows folders."""
        path = self._outcome.path if self._outcome is not None else self.model
        folder = path if path.is_dir() else path.parent
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
            self._say("muted", self.tr("No program shows folders here. It lies at {path}.").format(path=path))

    def _answer(self, is_kept: bool) -> None:
        """Keep the 8-bit graph, or leave nothing of it."""
        assert self._outcome is not None and self._outcome.small is not None
        small = self._outcome.small
        self._outcome = Outcome(self._outcome.path, (*self._outcome.said, *small.said))
        self._working.drop()
        self._working.ask(
            (small.path, is_kept),
            partial(answer, small, is_kept),
            heard=self._take_answer,
            refused=self._refuse,
            ended=self._show_state,
        )
        self._show_state()

    @Slot()
    def _browse(self) -> None:
        if self.kind == ZIP:
            title, kinds = self.tr("Save the zip"), [self.tr("Zips (*.zip)")]
            ask_save(
                self, title, self._take_file, name="export_save_dialog",
                suggested=self.path.text(), filters=kinds, suffix="zip",
            )  # fmt: skip
        else:
            start = Path(self.path.text()).parent
            ask_folder(self, self.tr("Where to"), self._take_folder, name="export_folder_dialog", start=start)

    @Slot()
    def _choose_data(self) -> None:
        ask_file(self, self.tr("A labelled file"), self.data.setText, name="export_data_dialog")

    def _take_file(self, path: str) -> None:
        self.path.setText(QDir.toNativeSeparators(path))
        self._path_typed()

    def _take_folder(self, path: str) -> None:
        self.path.setText(QDir.toNativeSeparators(str(Path(path) / self._suggested())))
        self._path_typed()

    @Slot()
    def _path_typed(self) -> None:
        self._is_typed = True
        self._show_state()

    @Slot()
    def _kind_changed(self) -> None:
        """Show the options of a kind; name a new place for it, beside where the last one was put."""
        place = Path(self.path.text()).parent if self._is_typed else _folder()
        self.path.setText(QDir.toNativeSeparators(str(place / self._suggested())))
        self._say("muted", "")
        of_kind = {SENTENCES: self.of_sentences, ONNX: self.of_graph}
        self.options.setCurrentWidget(of_kind.get(self.kind, self.no_options))
        self._show_state()

    def _suggested(self) -> str:
        """Return what the new folder or file is called at first."""
        kept = "".join(one if one.isalnum() or one in "-_" else "-" for one in model_title(self.model))
        name = "-".join(filter(None, kept.split("-")))[:60] or "model"
        return f"{name}.zip" if self.kind == ZIP else f"{name}-{self.kind}"

    # ---- what a worker says

    def _show_progress(self, event: Event) -> None:
        if isinstance(event, Progress):
            self.progress.setRange(0, event.total)
            self.progress.setValue(event.done)
            self._say("muted", words.tr_engine(event.stage))

    def _take(self, outcome: Outcome) -> None:
        global _last_folder
        self._outcome, _last_folder = outcome, outcome.path.parent
        self._tell(outcome)

    def _tell(self, outcome: Outcome, last: Sequence[str] = ()) -> None:
        lines = [self.tr("Written to {path}.").format(path=QDir.toNativeSeparators(str(outcome.path)))]
        lines += map(words.say, outcome.said)
        if outcome.small is not None:
            lines += map(words.say, outcome.small.said)
        self._say("", "\n".join([*lines, *last]), "fine" if outcome.small is None else "look")

    def _take_answer(self, kept: Path | None) -> None:
        assert self._outcome is not None
        said = self.tr("The 8-bit graph is kept: {name}.").format(name=kept.name) if kept else ""
        self._tell(self._outcome, [said or self.tr("The 8-bit graph was left out.")])

    def _refuse(self, error: BaseException) -> None:
        self._say("refusal", words.say_error(error), "look")

    def _say(self, role: str, text: str, level: str = "") -> None:
        set_role(self.said, role)
        self.said.setText(text)
        for name, mark in self.marks.items():
            mark.setVisible(name == level)

    @Slot()
    def _show_state(self) -> None:
        """Offer what can be done now."""
        busy, small = self._working.is_asking, self._outcome.small if self._outcome is not None else None
        fields = (*self.radios.values(), self.path, self.browse_button, self.of_sentences, self.of_graph)
        for field in fields:
            field.setEnabled(not busy and (self._has_onnx or field is not self.radios[ONNX]))
        self.of_int8.setVisible(self.int8.isChecked())
        between = self.progress if busy else self.question if small is not None else self.idle
        self.between.setCurrentWidget(between)
        self.said.setVisible(bool(self.said.text()))
        self.folder_button.setVisible(self._outcome is not None and not busy)
        is_named = bool(Path(self.path.text().strip()).name)
        self.start_button.setEnabled(not busy and is_named)
        set_role(self.start_button, "" if small is not None else "primary")
        self.close_button.setText(self.tr("Stop") if busy else self.tr("Close"))

    def _leave_small(self) -> None:
        """Leave nothing of 8-bit numbers that nobody wanted."""
        if self._outcome is not None and self._outcome.small is not None:
            self._outcome.small.drop()

    @Slot()
    def _leave(self) -> None:
        self._working.drop()
        self._leave_small()
        self.deleteLater()


def _folder() -> Path:
    documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
    places = [_last_folder, Path(documents) if documents else None, Path.home()]
    return next((place for place in places if place is not None and place.is_dir()), Path.home())
