"""The form of a training page: what to train, with which settings, and which of them are refused.

A moment after the last touch the settings are looked at as a whole. What is refused is said beside its field,
and the keyboard stays where it is: a person may be typing in another.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QApplication, QWidget

from app import words
from app.form.form import SettingsForm
from app.look.labels import label, set_or_hide
from app.look.widgets import SETTINGS_WIDTH, Card
from app.pages.run.where import WhereChooser
from app.session import Session
from engine.errors import ConfigError, UserError

DEBOUNCE_MS = 250


class SetupCard(Card):
    """The left card before a run; `changed` when the settings were looked at anew."""

    changed = Signal()

    def __init__(
        self, session: Session, form: SettingsForm, prediction: str, parent: QWidget | None = None
    ) -> None:
        """Args: prediction: the object name of the line below the form."""
        super().__init__(parent=parent)
        self.set_title(self.tr("What to train"))
        self.setFixedWidth(SETTINGS_WIDTH)
        self._session = session
        self.form = form
        self.where = WhereChooser(session, self)
        self.refusal: UserError | None = None  # of the settings as they stand
        self.prediction = label("", "muted", wrap=True, name=prediction)
        self._timer = QTimer(self, singleShot=True, interval=DEBOUNCE_MS)
        self._timer.timeout.connect(self.check)
        self.where.changed.connect(self._timer.start)

    def config(self) -> Any:
        """Return the settings as they stand. Raises: ConfigError naming the field that is refused."""
        raise NotImplementedError

    def work_out(self) -> None:
        """Work out what follows from the settings. Raises: UserError where they are refused."""
        raise NotImplementedError

    def prediction_words(self) -> str:
        """Return what a run with these settings will take; "" where that stands elsewhere."""
        return ""

    def show_refusal(self, error: UserError) -> bool:
        """Show a refusal beside its field; False where it belongs to no field on this card."""
        return isinstance(error, ConfigError) and self.form.show_error(error)

    def clear_refusals(self) -> None:
        """Take the refusals of the settings away."""
        self.form.clear_refusals()

    def set_values(self, values: dict[str, Any]) -> None:
        """Show these settings as if a person had chosen them."""
        raise NotImplementedError

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.where.fill()  # what ssh knows may have changed

    def check(self) -> None:
        """Look at the settings anew: say what follows from them, or what is refused."""
        self._timer.stop()
        self.clear_refusals()
        self.refusal = None
        try:
            self.work_out()
        except UserError as error:
            self.refusal = error
            self._show_in_passing(error)
        else:
            set_or_hide(self.prediction, self.prediction_words())
        self.changed.emit()

    def _show_in_passing(self, error: UserError) -> None:
        keyboard = QApplication.focusWidget()
        shown = self.show_refusal(error)
        set_or_hide(self.prediction, "" if shown else words.say_error(error))
        if keyboard is not None:
            keyboard.setFocus()
