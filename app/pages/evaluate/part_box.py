"""Which labelled texts are scored: what a run kept apart, the file that is open, or any other."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.files import ask_file
from app.pages.evaluate.requests import Parts
from app.pages.evaluate.state import ScoredSource
from app.session import Session


class PartBox(ChoiceBox):
    """Offers the texts for a model; its choice is a `Source`. `file_wanted`: a file was chosen."""

    file_wanted = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("evaluate_part", "", parent)
        self.setAccessibleName(self.tr("Labelled texts"))
        self._session = session

    def offer(self, folder: Path | None, parts: Parts, source: ScoredSource | None) -> None:
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
            self.add_choice(title.format(name=name), ScoredSource(folder, part=split))
        path = self._session.data.path
        sources = [self.source_of(folder, path)] if path is not None else []
        if source is not None and source.data and source.data != str(path):
            sources.append(ScoredSource(folder, data=source.data, how=source.how))
        for one in sources:
            self.add_choice(Path(one.data).name, one, one.data)
        self.add_action(self.tr("Choose a file…"), self.choose_file)
        keys = [getattr(self.itemData(place), "key", None) for place in range(self.count())]
        wanted = None if source is None else source.key
        self.setCurrentIndex(keys.index(wanted) if wanted is not None and wanted in keys else -1)

    def source_of(self, folder: Path, path: Path) -> ScoredSource:
        """Return a file to score a model on: as a person reads it, where it is the one that is open."""
        is_own = self._session.data.path is not None and path == self._session.data.path
        return ScoredSource(folder, data=str(path.absolute()), how=self._how() if is_own else {})

    def _how(self) -> dict[str, str]:
        """Return how the open file is read, and its columns where a person has chosen them."""
        session = self._session
        roles = session.data.roles
        found = {**session.data.overrides, **session.data.file_settings}
        if roles is not None and session.data.table is not None and roles.label:
            found |= roles.settings()
        return {name: value for name, value in found.items() if value}

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
