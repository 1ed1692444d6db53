"""Choosing a model: the same box on every page, and the same question for a folder where there is no box.

A folder is read before it is chosen: what is no model is refused in the same words wherever it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.files import ask_folder, beside
from app.look.labels import label
from app.session import Session
from app.work.library import ModelEntry, read_folder
from app.work.worker import Channel


class FolderQuestion(QObject):
    """Asks for a folder, reads what it holds, and tells of its model or why it has none.

    Args: name: the dialog's. vocabulary_will_do: a folder that can cut text is as good as a model.
    """

    chosen = Signal(str)  # the model's folder: the result, where a run was chosen
    refused = Signal(object)  # UserError

    def __init__(
        self, session: Session, parent: QWidget, *, name: str, vocabulary_will_do: bool = False
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._session, self._parent = session, parent
        self._vocabulary_will_do = vocabulary_will_do
        self._asked = Channel(self, session.workers.quick)

    def ask(self) -> None:
        """Open the dialog, beside the model that was used last."""
        title, start = self.tr("Choose a model folder"), beside(self._session.library.recent)
        ask_folder(self._parent, title, self.read, name=self.objectName(), start=start)

    def read(self, folder: Path | str) -> None:
        """Read a folder, as if it had been chosen."""
        work = partial(read_folder, Path(folder), vocabulary_will_do=self._vocabulary_will_do)
        # the folder may hold another model by now
        self._asked.ask(folder, work, heard=self._take, refused=self.refused.emit, again=True)

    def _take(self, entry: ModelEntry) -> None:
        if entry.problem is None:
            self.chosen.emit(str(entry.path))
        else:
            self.refused.emit(entry.problem)


class BoxChoice(NamedTuple):
    """An entry of a page's own. path: where it lies, if anywhere."""

    text: str
    data: str
    path: str = ""


class ModelBox(ChoiceBox):
    """The models of the library, what the page has before and after them, and last "Choose a folder…".

    What is no model is refused in `refusal`, which the page puts below the box; the choice stays. Args:
    wanted: what the model must answer, see `ModelEntry.fits`.
    """

    def __init__(
        self,
        name: str,
        accessible: str,
        session: Session,
        *,
        wanted: str = "",
        vocabulary_will_do: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(name, accessible, parent)
        self._library, self._wanted = session.library, wanted
        self._before: tuple[BoxChoice, ...] = ()
        self._after: tuple[BoxChoice, ...] = ()
        self._more: tuple[tuple[str, Callable[[], object]], ...] = ()
        self._left_out: Path | None = None
        self._choice: str | None = None
        self._words = ""
        self._filled: list[BoxChoice] = []
        self.refusal = label("", "refusal", wrap=True, name=f"refusal_{name}")
        self.refusal.hide()
        self.question = FolderQuestion(
            session, self, name=f"{name}_dialog", vocabulary_will_do=vocabulary_will_do
        )
        self.question.chosen.connect(self._take_folder)
        self.question.refused.connect(self._refuse)
        session.library.changed.connect(self.refresh)
        self.refresh()

    def set_own(
        self,
        before: Sequence[BoxChoice] = (),
        after: Sequence[BoxChoice] = (),
        actions: Sequence[tuple[str, Callable[[], object]]] = (),
        leave_out: Path | None = None,
    ) -> None:
        """Offer what the page has, before and after the models; actions: after "Choose a folder…"."""
        self._before, self._after, self._more = tuple(before), tuple(after), tuple(actions)
        self._left_out = leave_out
        self.refresh()

    def set_choice(self, choice: Path | str | None, said: str = "") -> None:
        """Show a model's folder, or the data of an entry of the page's own, as the choice; None: none yet.

        Args: said: what the box says of it in place of its name.
        """
        own = {one.data for one in (*self._before, *self._after)}
        if choice is not None:
            choice = str(choice) if choice in own else str(Path(choice).absolute())
        if choice != self._choice:
            self.show_refusal("")  # it was of another folder
        self._choice = choice
        self._words = said
        self.refresh()

    def show_refusal(self, text: str) -> None:
        """Say below the box why a model cannot be taken; "": nothing is wrong."""
        self.refusal.setText(text)
        self.refusal.setVisible(bool(text))

    def refresh(self) -> None:
        """List what the library has now; the choice stays."""
        own = [one.data for one in (*self._before, *self._after)]
        folder = self._choice if self._choice not in own else None
        entries = self._library.offered(self._wanted, chosen=folder)
        others = [entry for entry in entries if entry.path != self._left_out and str(entry.path) not in own]
        models = [self._entry(entry) for entry in others]
        filled = [*self._before, *models, *self._after]
        if filled != self._filled or not self.count():
            self._filled = filled
            self._fill(len(self._before) + len(models))
        self.setCurrentIndex(self.findData(self._choice) if self._choice is not None else -1)

    def _entry(self, entry: ModelEntry) -> BoxChoice:
        path = str(entry.path)
        return BoxChoice(self._words if self._words and path == self._choice else entry.title, path, path)

    def _fill(self, num_before: int) -> None:
        self.clear()
        for place, one in enumerate(self._filled):
            if self._after and place == num_before and place:
                self.insertSeparator(self.count())
            self.add_choice(*one)
        self.add_action(self.tr("Choose a folder…"), self.question.ask)
        for text, call in self._more:
            self.add_action(text, call)

    def _activated(self, place: int) -> None:
        self.show_refusal("")
        data = self.itemData(place)
        entries = self._library.offered(self._wanted)
        if any(entry.problem is not None and str(entry.path) == data for entry in entries):
            self.refresh()
            self.question.read(data)  # it may have been mended
        else:
            super()._activated(place)

    def _take_folder(self, folder: str) -> None:
        self.show_refusal("")
        self.chosen.emit(folder)

    def _refuse(self, error: BaseException) -> None:
        self.show_refusal(words.say_error(error))
