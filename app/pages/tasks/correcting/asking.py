"""One text on the Predict page, and what is changed in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from app import words
from app.look.labels import label
from app.look.widgets import named
from app.pages.tasks.listing import CellTable
from app.pages.tasks.marked_text import MarkedTextCard
from app.plots.corrected_words import CorrectedWordsPlot
from app.plots.tagged_words import PREDICTED, TaggedStretch, tagged_words

if TYPE_CHECKING:
    from engine.train.tasks.correcting.answers import CorrectedText

MOST_LINES = 4  # of the words with what is changed, before they scroll


class CorrectionAskCard(MarkedTextCard):
    """A text; below it the corrected one, its changes where they are made, and a list of them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self.corrected = label("", wrap=True, name="corrected_text")
        picture = CorrectedWordsPlot(self.tr("The text with its changes"), most_lines=MOST_LINES)
        super().__init__(
            name="correction_note",
            field="text_to_correct",
            placeholder=self.tr("Type or paste a text. It appears below as the model corrects it."),
            picture=named(picture, "text_with_changes"),
            marks=CellTable("changes", self.tr("Changes")),
            above=self.corrected,
            parent=parent,
        )
        self.setObjectName("correction_card")

    def nothing_words(self) -> str:
        return self.tr("Each change appears in the text, with the model’s confidence.")

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
        self.marks.set_rows(names, len(made), cell, wide=(0, 1), numbers=(2, 3))
        self.show_answer(bool(made))
