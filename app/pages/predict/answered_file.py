"""A whole file on the Predict page: which file, which new one, and what becomes of it."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from PySide6.QtCore import QDir, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from app import words
from app.look import theme
from app.look.boxes import ChoiceBox
from app.look.files import ask_file, ask_save
from app.look.inputs import LineEdit, ToolButton
from app.look.labels import label, tip
from app.look.layout import column, row
from app.look.widgets import Card, button, named
from app.pages.predict.requests import ModelDescription, free_path
from app.pages.predict.state import PredictedFile
from app.pages.predict.written import FileLinks
from app.session import Session
from engine.model.model_name import ModelName
from engine.questions.predict import PredictionQuestion


class AnsweredFileCard(Card):
    """A file to answer, and where its answers go; nothing of it is read here, for it is a task's own.

    part: in the names of its objects. opened: a file was taken; with what is known of it.
    """

    part: ClassVar[str] = "task_"
    out_suffixes: tuple[str, ...] = ()  # the usual one first
    opened = Signal(object)  # a path; of a table, how it will be read
    changed = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("A whole file"))
        self._session = session
        self._path: Path | None = None
        self._task = ""  # of the model
        self._free = Path()
        self.is_running = False
        self.file_box = ChoiceBox(f"{self.part}file_choice", self.tr("File"))
        self.out_edit = named(LineEdit(), f"{self.part}out_path", self.tr("Save to"))
        self.out_edit.setPlaceholderText(self.tr("file for the answers"))
        where = self.tr("Choose where to write")
        self.out_button = named(ToolButton(), f"choose_{self.part}out", where, tool_tip=where)
        self.out_row = row((self.out_edit, 1), self.out_button, gap=6)
        self.status = label("", "muted", wrap=True, name=f"{self.part}file_status")
        self.refusal = label("", "refusal", wrap=True, name=f"refusal_{self.part}file")
        self.free_button = button("", "link", name=f"take_free_{self.part}name")
        self.links = FileLinks()
        self.progress = QProgressBar(textVisible=False)
        self.progress.setObjectName(f"{self.part}file_progress")
        self.progress.hide()
        self.show_refusal("")
        self.lay_out()
        for widget in (self.refusal, self.free_button, self.status, self.links, self.progress):
            self.add(widget)
        self.body.addStretch(1)
        theme.on_theme_change(self, self._draw)
        self._fill_files()
        self.file_box.activated.connect(self._file_chosen)
        self.free_button.clicked.connect(self._take_free_name)
        self.out_edit.textChanged.connect(self._out_changed)
        self.out_button.clicked.connect(self._browse_out)
        session.data.opened.connect(self._fill_files)

    # ---- what differs for a table

    def lay_out(self) -> None:
        """Add what is asked for; what becomes of the file stands below it."""
        self.setObjectName("task_file_card")
        self.add_layout(captioned(self.tr("File"), self.file_box))
        self.add_layout(captioned(self.tr("Save to"), self.out_edit, self.out_row))
        self.endings = label("", "muted", wrap=True, name=f"{self.part}endings")
        self.add(self.endings)

    @property
    def path(self) -> Path | None:
        """The file that is answered."""
        return self._path

    @property
    def file(self) -> PredictedFile | None:
        """The file that is answered, with what a person said of it."""
        return None if self.path is None else PredictedFile(self.path)

    @property
    def known(self) -> Path | None:
        """The file on the Data page, where it may be answered here."""
        return self._session.data.path

    @property
    def is_ready(self) -> bool:
        """Whether it can be answered."""
        return self.out_path is not None

    @property
    def inputs(self) -> tuple[QWidget, ...]:
        """What is locked while it is being answered."""
        return self.file_box, self.out_edit, self.out_button

    @property
    def filters(self) -> list[str]:
        """Return which files a dialog offers."""
        return [self.tr("All files (*)")]

    @property
    def out_filters(self) -> list[str]:
        """Return what a dialog offers for the new file."""
        return [f"*{one}" for one in self.out_suffixes]

    def question(self, model: ModelName, out: Path) -> PredictionQuestion:
        """Return what a model is asked."""
        return PredictionQuestion(model, data=str(self.path), out=out)

    def set_model(self, described: ModelDescription, suffixes: tuple[str, ...]) -> None:
        """Know what reads the file. Args: suffixes: how its answers can be written, the usual one first."""
        if suffixes != self.out_suffixes:
            self.out_suffixes = suffixes
            said = self.tr("Its ending sets the format: {endings}").format(endings=words.listed(suffixes))
            self.endings.setText(said)
        if described.task != self._task:  # a file of another task means nothing to it
            self._task, file = described.task, self._session.data.task_file
            self._take_path(file.path if file is not None and file.task == described.task else None)

    def open_file(self, file: PredictedFile) -> None:
        """Take a file to answer, and a free name beside it."""
        self._take_path(file.path)

    def _take_path(self, path: Path | None) -> None:
        self._path = path
        self.show_refusal("")
        self.links.show_file(None)
        self.status.setText("" if path is not None else self.tr("Choose a file to predict."))
        self._fill_files()
        if path is not None:
            self.set_out(free_path(path, suffix=self.out_suffixes[0]))
            self.opened.emit(path)
        self.changed.emit()

    # ---- where the answers go

    @property
    def out_path(self) -> Path | None:
        """Return where to write; a bare name lies beside the file that is read."""
        text = self.out_edit.text().strip()
        return self.path.parent / Path(text).expanduser() if text and self.path is not None else None

    def set_out(self, path: Path) -> None:
        """Choose where to write; a name alone where that is beside the file."""
        beside = self.path is not None and path.parent == self.path.parent
        self.out_edit.setText(path.name if beside else str(path))
        self.out_edit.setCursorPosition(0)

    def refuse_name(self, out: Path, taken: Path) -> None:
        """Say that a name is taken, and offer the next one that is free; nothing is ever overwritten.

        Args: taken: the file that there is already: the one to be written, or that of its shares.
        """
        self.refuse(self.tr("{name} already exists, and nothing is overwritten.").format(name=taken.name))
        self.links.show_file(None)
        self._free = free_path(out, out.stem, out.suffix)
        said = self.tr("Write {name} instead").format(name=words.shorten(self._free.name, 40))
        self.free_button.setText(said)
        self.free_button.show()

    def _take_free_name(self) -> None:
        self.set_out(self._free)

    def _browse_out(self) -> None:
        ask_save(
            self,
            self.tr("Where to write the answers"),
            self.out_edit.setText,
            name=f"predict_{self.part}out_dialog",
            suggested=self.out_path or "",
            filters=self.out_filters,
            suffix=self.out_suffixes[0].removeprefix("."),
            confirms=False,  # for nothing is overwritten
        )

    def _out_changed(self) -> None:
        self.show_refusal("")
        self.changed.emit()

    # ---- what becomes of it

    def set_running(self, running: bool) -> None:
        """Lock while the file is being answered."""
        self.is_running = running
        for widget in self.inputs:
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

    def refuse(self, text: str) -> None:
        """Say why it was not answered."""
        self.show_refusal(text)
        self.status.setText("")

    def show_written(self, path: Path, seconds: float, model: str) -> None:
        """Say what was written, by which model, and lead to it."""
        text = self.tr("Written to {name} in {duration}, by {model}.")
        self.status.setText(
            text.format(name=path.name, duration=words.duration(seconds), model=words.shorten(model, 60))
        )
        self.links.show_file(path)

    @property
    def has_written(self) -> bool:
        """Whether what was asked last has been written."""
        return self.links.path is not None

    def end(self) -> None:
        """Unlock; say where nothing was written."""
        self.set_running(False)
        if not self.has_written and not self.refusal.text():
            self.status.setText(self.tr("Stopped; nothing was written."))

    # ---- which file

    def _fill_files(self) -> None:
        known = (self.path, self.known, *self._session.settings.recent_files)
        self.file_box.clear()
        for path in dict.fromkeys(str(one or "") for one in known):
            if path and Path(path).is_file():
                self.file_box.addItem(Path(path).name, path)
                native = tip(QDir.toNativeSeparators(path))
                self.file_box.setItemData(self.file_box.count() - 1, native, Qt.ItemDataRole.ToolTipRole)
        self.file_box.addItem(self.tr("Choose a file…"), "")
        self.file_box.setPlaceholderText(self.tr("Choose a file"))
        self._show_choice()

    def _show_choice(self) -> None:
        self.file_box.setCurrentIndex(self.file_box.findData(str(self.path)) if self.path else -1)

    def _file_chosen(self, index: int) -> None:
        path = self.file_box.itemData(index)
        self._show_choice()
        if path:
            self._file_selected(path)
        else:
            self.browse()

    def browse(self) -> None:
        """Open the dialog for a file."""
        name = f"predict_{self.part}file_dialog"
        title = self.tr("Choose a file to predict")
        ask_file(self, title, self._file_selected, name=name, filters=self.filters)

    def _file_selected(self, path: str) -> None:
        self.open_file(PredictedFile(Path(path)))

    def _draw(self) -> None:
        self.out_button.setIcon(theme.icon("folder", "muted"))


def captioned(caption: str, buddy: QWidget, part: QWidget | QHBoxLayout | None = None) -> QVBoxLayout:
    """Return a box under what it holds. Args: part: what it stands in, where it does not stand alone."""
    above = label(caption, "muted")
    above.setBuddy(buddy)
    return column(above, part or buddy, gap=3)
