"""Attribution: which words an answer rests on; a card of its own, which asks by itself."""

from __future__ import annotations

from PySide6.QtWidgets import QSizePolicy, QWidget

from app.pages.attention.head_pictures.head_picture import HeadPicture
from app.pages.attention.state import AttentionChoice


class AttributionPicture(HeadPicture):
    """The attribution, over the whole width. Args: figure: it."""

    key = "attribution"
    has_options = False
    fills_page = True

    def __init__(self, figure: QWidget) -> None:
        super().__init__()
        figure.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.figure = figure

    @property
    def label(self) -> str:
        return self.tr("Attribution")

    @property
    def tip(self) -> str:
        return self.tr("Which words drive an answer, by its gradient")

    def title(self, chosen: AttentionChoice) -> str:
        return self.label
