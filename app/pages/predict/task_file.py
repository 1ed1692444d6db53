"""A whole file of a task's own on the Predict page: nothing of it is read here."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QWidget

from app.look.labels import label
from app.pages.predict.answered_file import AnsweredFileCard
from app.pages.predict.requests import free_path
from app.session import Session
from engine.model.model_name import ModelName
from engine.questions.predict import PredictionQuestion


class TaskFileCard(AnsweredFileCard):
    """Which file is answered, and where the answers go."""

    part = "task_"

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        self._path: Path | None = None
        self._suffixes: tuple[str, ...] = ()
        super().__init__(session, parent)
        self.setObjectName("task_file_card")
        self.endings = label("", "muted", wrap=True, name="task_endings")
        for caption, buddy in ((self.tr("File"), self.file_box), (self.tr("New file"), self.out_edit)):
            above = label(caption, "muted")
            above.setBuddy(buddy)
            self.add(above)
            if buddy is self.file_box:
                self.add(buddy)
        self.add_layout(self.out_row)
        self.add(self.endings)
        self.add_outcome()
        self.show_refusal("")
        self.links.show_file(None)
        self.progress.hide()
        self._fill_files()

    @property
    def path(self) -> Path | None:
        return self._path

    @property
    def is_ready(self) -> bool:
        return self.out_path is not None

    @property
    def inputs(self) -> tuple[QWidget, ...]:
        return self.file_box, self.out_edit, self.out_button

    @property
    def filters(self) -> list[str]:
        return [self.tr("All files (*)")]

    @property
    def out_suffixes(self) -> tuple[str, ...]:
        return self._suffixes

    @property
    def out_filters(self) -> list[str]:
        return [f"*{one}" for one in self.out_suffixes]

    def question(self, model: ModelName, out: Path) -> PredictionQuestion:
        return PredictionQuestion(model, data=str(self.path), out=out)

    def set_suffixes(self, suffixes: tuple[str, ...]) -> None:
        """Know how a new file may be written. Args: suffixes: the usual one first."""
        if suffixes != self._suffixes:
            self._suffixes = suffixes
            said = self.tr("Its ending says how it is written: {endings}").format(endings=", ".join(suffixes))
            self.endings.setText(said)
            self.set_path(self.path)

    def set_path(self, path: Path | None) -> None:
        """Take a file to answer, and a free name beside it."""
        self._path = path
        self.show_refusal("")
        self.links.show_file(None)
        self.status.setText("" if path is not None else self.tr("Choose a file to be answered."))
        self._fill_files()
        if path is not None and self.out_suffixes:
            self.set_out(free_path(path, suffix=self.out_suffixes[0]))
        self.changed.emit()
