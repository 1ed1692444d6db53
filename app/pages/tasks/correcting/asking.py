"""One text on the Predict page, and what is changed in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app import words
from app.look.inputs import TextEdit
from app.look.labels import label
from app.look.layout import column
from app.look.widgets import holder, named
from app.pages.tasks.answers import AskCard
from app.pages.tasks.listing import CellTable
from app.plots.buttons import save_icon
from app.plots.corrected_words import CorrectedWordsPlot
from app.plots.tagged_words import PREDICTED, TaggedStretch, tagged_words

if TYPE_CHECKING:
    from engine.train.tasks.correcting.answers import CorrectedText

MOST_LINES = 4  # of the words with what is changed, before they scroll
WITHOUT_WORDS = 250  # px of the card that all else takes


class CorrectionAskCard(AskCard):
    """A text; below it the corrected one, its changes where they are made, and a list of them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("correction_note", parent)
        self.setObjectName("correction_card")
        self.set_title(self.tr("One text"))
        self.text = named(
            TextEdit(
                placeholderText=self.tr("Type or paste a text. It appears below as the model corrects it."),
                tabChangesFocus=True,
            ),
            "text_to_correct",
            self.tr("Text"),
        )
        self.text.setMinimumHeight(48)
        self.corrected = label("", wrap=True, name="corrected_text")
        self.picture = named(
            CorrectedWordsPlot(self.tr("The text with its changes"), most_lines=MOST_LINES),
            "text_with_changes",
        )
        self.changes = CellTable("changes", self.tr("Changes"))
        self.changes.setMinimumHeight(76)
        self._result = holder(column(self.picture, (self.changes, 1)))
        self._save = save_icon(self.picture)
        self.add_corner(self._save)
        self.add(self.text, 2)
        self.add(self.note)
        self.add(self.corrected)
        self.add(self._result, 3)
        self.text.textChanged.connect(self.typed)
        self.show_nothing()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as many lines of words as there is room for beside the text and the list."""
        super().resizeEvent(event)
        lines = min(MOST_LINES, max(1, (self.height() - WITHOUT_WORDS) // self.picture.line))
        if lines != self.picture.most_lines:
            self.picture.most_lines = lines
            self.picture.place_anew()

    def texts(self) -> tuple[str]:
        return (self.text.toPlainText(),)

    def set_texts(self, text: str, second: str = "") -> None:
        self.text.setPlainText(text)

    def show_nothing(self) -> None:
        self.show_note(self.tr("Each change appears in the text, with the model’s confidence."))
        self.picture.clear()
        for part in (self._result, self._save, self.corrected):
            part.hide()

    def show_reply(self, reply: CorrectedText, model: str) -> None:
        made = reply.changes
        one, many = self.tr("1 change"), self.tr("{count} changes")
        self.show_note(words.counted(len(made), one, many) if made else self.tr("Nothing is changed."))
        self.corrected.setText(reply.corrected)
        self.corrected.setAccessibleName(self.tr("Corrected text: {text}").format(text=reply.corrected))
        stretches = [
            TaggedStretch(each.start, each.stop, each.new.strip(), words.probability(each.probability))
            for each in made
        ]
        self.picture.set_caption([(self.tr("model"), model), (self.tr("text"), reply.text)])
        self.picture.set_text(tagged_words(reply.text, predicted=stretches), (), (PREDICTED,))
        self.picture.show_first()

        def cell(row: int, place: int) -> str:
            each = made[row]
            parts = (each.old, each.new, words.share(each.probability), words.number(each.start + 1))
            return parts[place]

        names = (self.tr("In the text"), self.tr("Corrected"), self.tr("Confidence"), self.tr("Character"))
        self.changes.set_rows(names, len(made), cell, wide=(0, 1), numbers=(2, 3))
        for part in (self._result, self._save, self.corrected):
            part.setVisible(bool(made))
