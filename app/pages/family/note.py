"""A card of a few sentences beside the picture: whether it is fair, or what a member is that was clicked."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app import words
from app.look.labels import WholeLabel
from app.look.widgets import Card, icon_button, named


class NoteCard(Card):
    """A title and sentences; what is said of a member can be closed."""

    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("family_note")
        self.close_button = icon_button(
            "close", self.tr("Close"), name="family_note_close", call=self.closed.emit
        )
        self.add_corner(self.close_button)
        self.text = named(WholeLabel(), "family_note_text")
        self.add(self.text)
        self.body.addStretch(1)

    def show_note(self, title: str, sentences: Sequence[str], *, can_close: bool = False) -> None:
        """Show sentences under a title; none: nothing at all."""
        found = [one for one in sentences if one]
        self.set_title(title)
        self.text.setText("\n".join(found) if can_close else words.sentences(found))
        self.close_button.setVisible(can_close)
        self.setVisible(bool(found))
