"""A whole file of a task's own on the Predict page: which file, which new one."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QDir, Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QWidget

from app import words
from app.look import theme
from app.look.boxes import ChoiceBox
from app.look.files import ask_file, ask_save
from app.look.inputs import LineEdit, ToolButton
from app.look.labels import label, tip
from app.look.widgets import Card, button
from app.pages.predict.requests import free_path
from app.pages.predict.written import FileLinks
from app.session import Session


class TaskFileCard(Card):
    """Which file is answered, and where the answers go. Nothing of it is read here."""

    changed = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("task_file_card")
        self.set_title(self.tr("A whole file"))
        self._session = session
        self._suffixes: tuple[str, ...] = ()
        self.path: Path | None = None
        self.file_box = ChoiceBox("task_file_choice", self.tr("File"))
        self.out_edit = LineEdit()
        self.out_edit.setObjectName("task_out_path")
        self.out_edit.setAccessibleName(self.tr("New file"))
        self.out_edit.setPlaceholderText(self.tr("where the answers go"))
        self.out_button = ToolButton()
        self.out_button.setObjectName("choose_task_out")
        self.out_button.setToolTip(self.tr("Choose where to write"))
        self.out_button.setAccessibleName(self.tr("Choose where to write"))
        self.endings = label("", "muted", wrap=True, name="task_endings")
        self.refusal = label("", "refusal", wrap=True, name="refusal_task_file")
        self.free_button = button("", "link", name="take_free_task_name")
        self.status = label("", "muted", wrap=True, name="task_file_status")
        self.links = FileLinks()
        self.progress = QProgressBar(textVisible=False)
        self._lay_out()
        theme.on_theme_change(self, self._draw)
        self.show_refusal("")
        self.links.show_file(None)
        self.progress.hide()
        self.file_box.activated.connect(self._file_chosen)
        self.out_edit.textChanged.connect(self._out_changed)
        self.out_button.clicked.connect(self._browse_out)
        self.free_button.clicked.connect(self._take_free_name)
        session.data.opened.connect(self._fill_files)
        self._fill_files()

    def _lay_out(self) -> None:
        for caption, buddy in ((self.tr("File"), self.file_box), (self.tr("New file"), self.out_edit)):
            above = label(caption, "muted")
            above.setBuddy(buddy)
            self.add(above)
            if buddy is self.file_box:
                self.add(buddy)
        out = QHBoxLayout()
        out.setSpacing(6)
        out.addWidget(self.out_edit, 1)
        out.addWidget(self.out_button)
        self.body.addLayout(out)
        for part in (
            self.endings, self.refusal, self.free_button, self.status, self.links, self.progress,
        ):  # fmt: skip
            self.add(part)
        self.body.addStretch(1)

    @property
    def out_path(self) -> Path | None:
        """Return where to write; a bare name lies beside the file that is read."""
        text = self.out_edit.text().strip()
        return self.path.parent / Path(text).expanduser() if text and self.path is not None else None

    def set_suffixes(self, suffixes: tuple[str, ...]) -> None:
        """Know how a new file may be written. Args: suffixes: the usual one first."""
        if suffixes != self._suffixes:
            self._suffixes = suffixes
            said = self.tr("Its ending says how it is written: {endings}").format(endings=", ".join(suffixes))
            self.endings.setText(said)
            self.set_path(self.path)

    def set_path(self, path: Path | None) -> None:
        """Take a file to answer, and a free name beside it."""
        self.path = path
        self.show_refusal("")
        self.links.show_file(None)
        self.status.setText("" if path is not None else self.tr("Choose a file to be answered."))
        self._fill_files()
        if path is not None and self._suffixes:
            self.out_edit.setText(free_path(path, suffix=self._suffixes[0]).name)
            self.out_edit.setCursorPosition(0)
        self.changed.emit()

    def set_running(self, running: bool) -> None:
        """Lock while a file is being answered."""
        for widget in (self.file_box, self.out_edit, self.out_button):
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
        self._free = free_path(out, out.stem, out.suffix)
        said = self.tr("Write {name} instead").format(name=words.shorten(self._free.name, 40))
        self.free_button.setText(said)
        self.free_button.show()

    def show_written(self, path: Path, seconds: float, model: str) -> None:
        """Say what was written, by which model, and lead to it."""
        text = self.tr("Written to {name} in {duration}, by {model}.")
        self.status.setText(
            text.format(name=path.name, duration=words.duration(seconds), model=words.shorten(model, 60))
        )
        self.links.show_file(path)

    @Slot()
    def _take_free_name(self) -> None:
        self.out_edit.setText(self._free.name)

    @Slot()
    def _fill_files(self) -> None:
        current, opened = str(self.path or ""), str(self._session.data.path or "")
        self.file_box.clear()
        for path in dict.fromkeys((current, opened, *self._session.settings.recent_files)):
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
        self.file_box.setCurrentIndex(self.file_box.findData(str(self.path)) if self.path else -1)
        if path:
            self.set_path(Path(path))
        else:
            self.browse()

    @Slot()
    def browse(self) -> None:
        """Open the dialog for a file."""
        filters = [self.tr("All files (*)")]
        name = "predict_task_file_dialog"
        ask_file(self, self.tr("Choose a file to predict"), self._file_selected, name=name, filters=filters)

    @Slot(str)
    def _file_selected(self, path: str) -> None:
        self.set_path(Path(path))

    @Slot()
    def _browse_out(self) -> None:
        ask_save(
            self,
            self.tr("Where to write the answers"),
            self.out_edit.setText,
            name="predict_task_out_dialog",
            suggested=self.out_path or "",
            filters=[f"*{one}" for one in self._suffixes],
            suffix=self._suffixes[0].removeprefix(".") if self._suffixes else "",
            confirms=False,  # for nothing is overwritten
        )

    @Slot()
    def _out_changed(self) -> None:
        self.show_refusal("")
        self.changed.emit()

    def _draw(self) -> None:
        self.out_button.setIcon(theme.icon("folder", "muted"))
