"""A list of texts with the words of the chosen one below it."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.look.widgets import named
from app.pages.tasks.listing import CellTable, RowsList
from app.plots.tagged_words import TaggedWordsPlot

translate = QCoreApplication.translate
LEAST_LIST = 84  # px


class TextList(RowsList):
    """The texts above, the words of the chosen one below."""

    def __init__(self, name: str, title: str, *, most_lines: int = 4) -> None:
        view = CellTable(name, title)
        view.setMinimumHeight(LEAST_LIST)
        self.words = named(
            TaggedWordsPlot(translate("TextList", "Words of the text"), most_lines=most_lines),
            f"{name}_words",
        )
        self.words.set_empty_text(translate("TextList", "Choose a text to see its words."))
        super().__init__(view, self.words)
