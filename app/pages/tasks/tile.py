"""A caption and a number below it, which the scores of any task are shown by."""

from __future__ import annotations

from PySide6.QtWidgets import QSizePolicy, QWidget

from app import words
from app.look.labels import ElidedLabel, tip
from app.look.layout import column
from app.look.widgets import named


class ScoreTile(QWidget):
    """A caption and a number below it, as wide as they need where there is room."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.caption = ElidedLabel("", "caption")
        self.value = named(ElidedLabel(""), name)
        for part in (self.caption, self.value):
            part.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        column(self.caption, self.value, gap=0, parent=self)

    def keep_whole(self, most: int) -> None:
        """Let captions beside this one be cut before it is, up to a width in px."""
        self.caption.setMinimumWidth(min(most, self.caption.sizeHint().width()))

    def put(self, caption: str, value: str, meaning: str = "") -> None:
        """Show a number, and what it means under the pointer."""
        self.caption.setText(caption)
        self.value.setText(value)
        self.value.setAccessibleName(words.captioned(caption, value))
        self.setToolTip(tip(meaning))
