"""Words on the Predict page: a text that is typed with what is found in it, a file's texts below."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from app import words
from app.look.widgets import named
from app.pages.tasks.answers import FileAnswersCard, TaskAnswers
from app.pages.tasks.listing import CellTable
from app.pages.tasks.marked_text import MarkedTextCard
from app.pages.tasks.token_labels.listing import TextList
from app.pages.tasks.token_labels.preview import MOST_WORDS, stretches_of
from app.pages.tasks.token_labels.requests import OpenTagger, TaggedReply, read_written
from app.plots.tagged_words import PREDICTED, TaggedStretch, TaggedWordsPlot, tagged_words
from engine.events import Evaluated

if TYPE_CHECKING:
    from app.session import Session
    from engine.text.tagged.texts import TaggedTable

MOST_LINES = 5  # of the words with what is found, before they scroll


class TagAskCard(MarkedTextCard):
    """A text, its words with what is found, and a list of that."""

    def __init__(self, parent: QWidget | None = None) -> None:
        picture = TaggedWordsPlot(self.tr("The text with the entities found"), most_lines=MOST_LINES)
        super().__init__(
            name="tag_note",
            field="text_to_tag",
            placeholder=self.tr("Type or paste a text. What the model finds in it appears below."),
            picture=named(picture, "tagged_text"),
            marks=CellTable("found_entities", self.tr("Entities found")),
            parent=parent,
        )
        self.setObjectName("tag_card")

    def nothing_words(self) -> str:
        return self.tr("Each word’s type appears under it, with the model’s confidence.")

    def show_reply(self, reply: TaggedReply, model: str) -> None:
        answer = reply.answer
        if reply.is_plain:
            each = zip(answer.spans, answer.tags, answer.probabilities, strict=True)
            found = [(TaggedStretch(*span, tag, words.probability(sure)), sure) for span, tag, sure in each]
        else:
            found = [
                (
                    TaggedStretch(one.start, one.stop, one.type, words.probability(one.probability)),
                    one.probability,
                )
                for one in answer.entities
            ]
        stretches = [one for one, _ in found]
        self.picture.set_text(tagged_words(answer.text, predicted=stretches), reply.types, (PREDICTED,))

        def cell(row: int, place: int) -> str:
            one, sure = found[row]
            first = words.number(one.start)
            parts = (answer.text[one.start : one.stop], one.type, words.share(sure), first)
            return parts[place]

        names = (self.tr("Text"), self.tr("Type"), self.tr("Confidence"), self.tr("From character"))
        self.marks.set_rows(names, len(found), cell, numbers=(2, 3))
        one, many = self.tr("1 word"), self.tr("{count} words")
        counted = words.counted(len(answer.tags), one, many)
        text = self.tr("{found} found in {words}.") if found else self.tr("Nothing found in {words}.")
        self.show_note(text.format(found=words.number(len(found)), words=counted))
        self.show_answer(True)


class FileTagsCard(FileAnswersCard):
    """The texts of a file with what was written of them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("written_tags")
        self.list = TextList("written_texts", self.tr("Texts with their tags"), most_lines=3)
        self.add(self.list, 1)
        self._texts: TaggedTable | None = None
        self.list.row_chosen.connect(self._show_words)
        self.show_path(None)

    def show_path(self, path: Path | None) -> None:
        """Show that a file has no answers yet."""
        self._texts = None
        self.set_title(path.name if path is not None else self.tr("A file"))
        self.set_hint(self.tr("no answers yet") if path is not None else "")
        self.scores.hide()
        self.list.set_rows((self.tr("Text"), self.tr("Found")), 0, self._cell)

    def score_words(self, event: Evaluated) -> str:
        found = event.metrics
        text = self.tr("Compared with the file’s own tags: entity F1 {f1}, right words {accuracy}.")
        if "entity_f1" not in found:
            text = self.tr("Compared with the file’s own tags: right words {accuracy}.")
        f1, accuracy = words.share(found.get("entity_f1")), words.share(found.get("token_accuracy"))
        return text.format(f1=f1, accuracy=accuracy)

    def show_texts(self, texts: TaggedTable) -> None:
        """Show what stands in the file that was written."""
        self._texts = texts
        self.set_title(texts.path.name)
        one, many = self.tr("1 text"), self.tr("{count} texts")
        self.set_hint(words.counted(len(texts), one, many))
        self.list.set_rows((self.tr("Text"), self.tr("Found")), len(texts), self._cell)

    def _cell(self, row: int, column: int) -> str:
        assert self._texts is not None
        if column == 0:
            return self._texts.store.text(row)[0]
        one = self._texts[row]
        found = stretches_of(one, is_plain=self._is_plain)
        return words.listed(dict.fromkeys(each.type for each in found[:20]))

    @property
    def _is_plain(self) -> bool:
        return self._texts is not None and self._texts.format.scheme == "none"

    def _show_words(self, row: int) -> None:
        assert self._texts is not None
        text = self._texts[row]
        end = text.spans[min(len(text.spans), MOST_WORDS) - 1][1]
        found = [one for one in stretches_of(text, is_plain=self._is_plain) if one.stop <= end]
        types = sorted(self._texts.types)
        self.list.words.set_text(tagged_words(text.text[:end], predicted=found), types, (PREDICTED,))


class TokenAnswers(TaskAnswers):
    """One text above, a file's below."""

    suffixes = (".jsonl", ".conll", ".txt", ".tsv")
    file_card: FileTagsCard

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, OpenTagger().ask, parent)
        self.file_card = FileTagsCard()
        self.add_cards(TagAskCard(), self.file_card, (3, 2))

    def show_file(self, path: Path) -> None:
        self.reading.drop()
        self.file_card.show_path(path)

    def show_written(self, path: Path) -> None:
        self.reading.ask(
            (path, path.stat().st_mtime_ns),
            partial(read_written, path),
            heard=self.file_card.show_texts,
            refused=lambda error: self.file_card.set_hint(words.say_error(error)),
        )
