"""The keys of the page, in a small card that a click or Escape closes."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.look.labels import label
from app.look.layout import form_rows
from app.look.widgets import Card


class KeysCard(Card):
    """A key or two in each row, and what they do."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent=parent)
        self.setObjectName("anatomy_keys_card")
        self.setWindowFlag(Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        rows = (
            ("← →", self.tr("previous step, next step")),
            ("↑ ↓", self.tr("piece above, piece below")),
            ("PgUp PgDn", self.tr("previous layer, next layer")),
            ("[ ]", self.tr("previous head, next head")),
            ("Shift+← Shift+→", self.tr("previous number, next number")),
            ("W", self.tr("What if…?")),
            ("0", self.tr("Reset the changes")),
        )
        shown = [(label(keys, "card-title"), label(said)) for keys, said in rows]
        self.add_layout(form_rows(*shown, gap=6, caption_gap=20))
