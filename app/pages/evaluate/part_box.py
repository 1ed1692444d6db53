"""Which labelled texts are scored: what a run kept apart, the file that is open, or any other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.files import ask_file
from app.pages.evaluate.requests import Parts
from app.session import Session
from engine.model.model_name import ModelName
from engine.questions.evaluate import EvaluationQuestion
from engine.questions.how_read import ReadSettings


class PartBox(ChoiceBox):
    """Offers the texts for a model, an `EvaluationQuestion`. `file_wanted`: a file was chosen."""

    file_wanted = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("evaluate_part", "", parent)
        self.setAccessibleName(self.tr("Labelled texts"))
        self._session = session

    def offer(self, folder: Path | None, parts: Parts, source: EvaluationQuestion | None) -> None:
        """Offer what a model can be scored on. Args: source: what it is scored on now."""
        self.clear()
        self.setPlaceholderText(self.tr("Choose labelled texts"))
        self.setEnabled(folder is not None)
        if folder is None:
            return
        parted = {
            "validation": self.tr("Validation part of {name}"),
            "test": self.tr("Test part of {name}"),
        }
        own = {"validation": self.tr("{name}, validation file"), "test": self.tr("{name}, test file")}
        for split in parts.splits:
            title = (own if split in parts.own else parted)[split]
            name = words.shorten(parts.names[split], 40)
            self.add_choice(title.format(name=name), EvaluationQuestion(ModelName(folder), part=split))
        path = self._session.data.path
        sources = [self.source_of(folder, path)] if path is not None else []
        if source is not None and source.data and source.data != str(path):
            sources.append(replace(source, model=ModelName(folder)))
        for one in sources:
            self.add_choice(Path(one.data).name, one, one.data)
        self.add_action(self.tr("Choose a file…"), self.choose_file)
        offered = [self.itemData(place) for place in range(self.count())]
        self.setCurrentIndex(offered.index(source) if source is not None and source in offered else -1)

    def source_of(self, folder: Path, path: Path) -> EvaluationQuestion:
        """Return a file to score a model on: as a person reads it, where it is the one that is open."""
        is_own = self._session.data.path is not None and path == self._session.data.path
        source = EvaluationQuestion(ModelName(folder), data=str(path.absolute()))
        return self._as_read(source) if is_own else source

    def _as_read(self, source: EvaluationQuestion) -> EvaluationQuestion:
        """Return a source as the open file is read, with its columns where a person has chosen them."""
        data = self._session.data
        source = replace(
            source, how=ReadSettings.of(data.overrides), scheme=data.file_settings.get("scheme", "")
        )
        if data.roles is None or data.table is None or not data.roles.label:
            return source
        columns: dict[str, Any] = data.roles.settings()
        return replace(source, **columns)

    def choose_file(self) -> None:
        """Ask for a labelled file."""
        recent = self._session.settings.recent_files
        ask_file(
            self,
            self.tr("Choose labelled texts"),
            self.file_wanted.emit,
            name="evaluate_file_dialog",
            start=recent[0] if recent else "",
        )
