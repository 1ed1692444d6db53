"""One text on the Predict page whose answer is marks among its words: they stand there, and in a list."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.look.inputs import TextEdit
from app.look.layout import column
from app.look.widgets import holder, named
from app.pages.tasks.answers import AskCard
from app.pages.tasks.listing import CellTable
from app.plots.buttons import save_icon
from app.plots.tagged_words import TaggedWordsPlot

WITHOUT_WORDS = 250  # px of the card that all else takes


class MarkedTextCard(AskCard):
    """A text; below it its words with the marks, and a list of them."""

    def __init__(
        self,
        *,
        name: str,
        field: str,
        placeholder: str,
        picture: TaggedWordsPlot,
        marks: CellTable,
        above: QWidget | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """Args: name, field: object names of the note and of the text. picture: the words, as many lines as
        it shows at most. marks: the list. above: what stands over both, such as the corrected text.
        """
        super().__init__(name, parent)
        self.set_title(self.tr("One text"))
        self.text = named(TextEdit(placeholderText=placeholder, tabChangesFocus=True), field, self.tr("Text"))
        self.text.setMinimumHeight(48)
        self.picture, self.marks = picture, marks
        self._most_lines = picture.most_lines
        self.marks.setMinimumHeight(76)
        found, save = holder(column(picture, (marks, 1))), save_icon(picture)
        self._answer = (*([] if above is None else [above]), found, save)
        self.add_corner(save)
        self.add(self.text, 2)
        self.add(self.note)
        if above is not None:
            self.add(above)
        self.add(found, 3)
        self.text.textChanged.connect(self.typed)
        self.show_nothing()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as many lines of words as there is room for beside the text and the list."""
        super().resizeEvent(event)
        lines = min(self._most_lines, max(1, (self.height() - WITHOUT_WORDS) // self.picture.line))
        if lines != self.picture.most_lines:
            self.picture.most_lines = lines
            self.picture.place_anew()

    def texts(self) -> tuple[str]:
        return (self.text.toPlainText(),)

    def set_texts(self, text: str, second: str = "") -> None:
        self.text.setPlainText(text)

    def show_nothing(self) -> None:
        self.show_note(self.nothing_words())
        self.picture.clear()
        self.show_answer(False)

    def nothing_words(self) -> str:
        """Return what will appear here."""
        raise NotImplementedError

    def show_answer(self, is_shown: bool) -> None:
        """Show or hide the words with their marks and the list."""
        for part in self._answer:
            part.setVisible(is_shown)
