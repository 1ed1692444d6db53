"""What a kind of question can do beyond being asked: choose its files, fine-tune all, or stop."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from app.look.labels import label
from app.look.layout import row
from app.look.widgets import button
from app.pages.family.requests import CLAIMS, FILES, TASK, Told


class Action(QWidget):
    """A sentence and a button; hidden for the kinds that have none."""

    wanted = Signal()  # to choose files, or to fine-tune
    stopped = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_busy = False
        self.said = label("", "muted", wrap=True, name="family_action_said")
        self.button = button("", name="family_action")
        row((self.said, 1), self.button, gap=10, parent=self)
        self.button.clicked.connect(self._clicked)

    def show_of(self, kind: str, told: Told | None, table: str, *, is_busy: bool) -> None:
        """Say what can be done now. Args: told: what is shown. table: the open one, "" for none."""
        self._is_busy = is_busy
        said = action = ""
        if kind == TASK and table:
            said = self.tr("Each member learns from four fifths of {name} and is asked about the rest.")
            said = said.format(name=table)
            if told is None or told.question.kind != TASK:  # it was stopped before there was an answer
                action = self.tr("Ask")
            elif told.fine_tuned is None:
                action = self.tr("Fine-tune all as well")
        elif kind == FILES:
            said = self.tr(
                "Files of analogies (a b c d, a line each), or of likeness to people (word, word, number)."
            )
            action = self.tr("Choose files…")
        elif kind == CLAIMS:
            said = self.tr("A table of two sentences and their likeness tells more of vectors of sentences.")
            action = self.tr("Choose a table…")
        if is_busy and kind in (TASK, FILES, CLAIMS):
            action = self.tr("Stop")
        self.said.setText(said)
        self.button.setText(action)
        self.button.setVisible(bool(action))
        self.setVisible(bool(said or action))

    @Slot()
    def _clicked(self) -> None:
        (self.stopped if self._is_busy else self.wanted).emit()
