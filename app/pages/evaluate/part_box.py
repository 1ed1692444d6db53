"""Which labelled texts are scored: what a run kept apart, the file that is open, or any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.files import ask_file
from app.pages.evaluate.requests import Parts
from app.session import Session
from engine.questions.how_read import ReadSettings
from engine.questions.labelled import LabelledTexts


class PartBox(ChoiceBox):
    """Offers the texts for a model; its choice is a `LabelledTexts`. `file_wanted`: a file was chosen."""

    file_wanted = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("evaluate_part", "", parent)
        self.setAccessibleName(self.tr("Labelled texts"))
        self.setPlaceholderText(self.tr("Choose labelled texts"))
        self._session = session

    def offer(self, parts: Parts, texts: LabelledTexts) -> None:
        """Offer what a model can be scored on. Args: texts: what it is scored on now."""
        self.clear()
        parted = {
            "validation": self.tr("{name} · validation rows"),
            "test": self.tr("{name} · test rows"),
        }
        own = {"validation": self.tr("{name} · validation file"), "test": self.tr("{name} · test file")}
        for split in parts.splits:
            title = (own if split in parts.own else parted)[split]
            name = words.shorten(parts.names[split], 40)
            self.add_choice(title.format(name=name), LabelledTexts(part=split))
        path = self._session.data.path
        files = [self.texts_of(path)] if path is not None else []
        if texts.data and texts.data != str(path):
            files.append(texts)
        for one in files:
            self.add_choice(Path(one.data).name, one, one.data)
        self.add_action(self.tr("Choose a file…"), self.choose_file)
        data = [self.itemData(place) for place in range(self.count())]
        same = [one is not None and (one.data, one.part) == (texts.data, texts.part) for one in data]
        self.setCurrentIndex(same.index(True) if True in same else -1)

    @property
    def offered(self) -> list[tuple[str, LabelledTexts]]:
        """Return what there is to choose: its words, and the texts."""
        every = [(self.itemText(place), self.itemData(place)) for place in range(self.count())]
        return [(said, texts) for said, texts in every if texts is not None]

    def texts_of(self, path: Path) -> LabelledTexts:
        """Return a file to score a model on: as a person reads it, where it is the one that is open."""
        data = self._session.data
        if path != data.path:
            return LabelledTexts(data=str(path.absolute()))
        columns: dict[str, Any] = {}
        if data.roles is not None and data.table is not None and data.roles.label:
            columns = data.roles.settings()
        how, scheme = ReadSettings.of(data.overrides), data.file_settings.get("scheme", "")
        return LabelledTexts(data=str(path.absolute()), how=how, scheme=scheme, **columns)

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
