"""What a kind of question can do beyond being asked: choose its files, fine-tune all, or stop."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.look.labels import label
from app.look.layout import row
from app.look.widgets import button
from app.pages.family.kinds.kind import Offer


class Action(QWidget):
    """A sentence and a button; hidden for the kinds that have none."""

    wanted = Signal()  # to choose files, or to fine-tune
    stopped = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_busy = False
        self.said = label("", "muted", wrap=True, name="family_action_said")
        self.button = button("", name="family_action", call=self._clicked)
        row((self.said, 1), self.button, gap=10, parent=self)

    def show_offer(self, offer: Offer, *, is_busy: bool) -> None:
        """Say what can be done now. Args: is_busy: something is under way, and can be stopped."""
        self._is_busy = is_busy
        action = self.tr("Stop") if is_busy else offer.button
        self.said.setText(offer.sentence)
        self.button.setText(action)
        self.button.setVisible(bool(action))
        self.setVisible(bool(offer.sentence or action))

    def _clicked(self) -> None:
        (self.stopped if self._is_busy else self.wanted).emit()
