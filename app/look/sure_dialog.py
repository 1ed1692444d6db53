"""Asks whether something is to be done that takes long, or cannot be undone by one click."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QDialog, QWidget

from app.look.labels import label
from app.look.layout import column, dialog_buttons
from app.look.widgets import CARD_Y, DIALOG_MARGINS, button, leave_room

MOST_NAMED = 6  # things that are named before it is done to them


class SureDialog(QDialog):
    """Asks whether something is to be done; to leave things as they are is what Return does.

    Args: name: of the object, which its label and button are named after. titles: of what it is done to.
    action: what the button says.
    """

    def __init__(
        self,
        name: str,
        title: str,
        said: str,
        titles: Sequence[str],
        action: str,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName(f"{name}_dialog")
        self.setWindowTitle(title)
        self.setMinimumWidth(460)
        parts: list[QWidget] = [label(said, wrap=True, name=f"{name}_text")]
        if len(titles) > 1:
            shown = [*titles[:MOST_NAMED], *(["…"] if len(titles) > MOST_NAMED else [])]
            parts.append(label("\n".join(shown), "muted", wrap=True))
        go, cancel = button(action, name=f"{name}_go"), button(self.tr("Cancel"), "primary")
        go.clicked.connect(self.accept)
        cancel.clicked.connect(self.reject)
        buttons = dialog_buttons(accept=go, reject=cancel)
        column(*parts, buttons, gap=CARD_Y, margins=DIALOG_MARGINS, parent=self)
        cancel.setDefault(True)
        cancel.setFocus()
        leave_room(self)
