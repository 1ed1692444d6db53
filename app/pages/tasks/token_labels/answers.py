"""Words on the Predict page: a text that is typed with what is found in it, a file's texts below."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app import words
from app.look.inputs import TextEdit
from app.look.labels import label
from app.look.layout import column
from app.look.widgets import GAP, Card, set_role
from app.pages.tasks.token_labels.listing import CellTable, TextList
from app.pages.tasks.token_labels.preview import MOST_WORDS, stretches_of
from app.pages.tasks.token_labels.requests import OpenTagger, read_written
from app.pages.tasks.views import TaskAnswers
from app.plots.buttons import save_icon
from app.plots.tagged_words import PREDICTED, Stretch, TaggedWordsPlot, tagged_words
from app.work.worker import Channel
from engine.events import Evaluated

if TYPE_CHECKING:
    from app.session import Session
    from engine.text.tagged.texts import TaggedTexts
    from engine.train.tasks.token_labels.answers import TaggedAnswer

TYPING_STOPS_MS = 450
MOST_LINES = 5  # of the words with what is found, before they scroll
WITHOUT_WORDS = 250  # px of the card that all else takes
SUFFIXES = (".jsonl", ".conll", ".txt", ".tsv")


class AskCard(Card):
    """A text, its words with what is found, and a list of that."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("tag_card")
        self.set_title(self.tr("One text"))
        self.text = TextEdit(
            placeholderText=self.tr("Type or paste a text; what the model finds in it appears below."),
            tabChangesFocus=True,
        )
        self.text.setObjectName("text_to_tag")
        self.text.setAccessibleName(self.tr("Text"))
        self.text.setMinimumHeight(56)
        self.note = label("", "muted", wrap=True, name="tag_note")
        self.picture = TaggedWordsPlot(self.tr("The text with what is found in it"), most_lines=MOST_LINES)
        self.picture.setObjectName("tagged_text")
        self.found = CellTable("found_entities", self.tr("What is found"))
        self.found.setMinimumHeight(84)
        self._result = QWidget()
        set_role(self._result, "clear")
        column(self.picture, (self.found, 1), parent=self._result)
        self._save = save_icon(self.picture)
        self.add_corner(self._save)
        self.add(self.text, 2)
        self.add(self.note)
        self.add(self._result, 3)
        self.show_nothing()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as many lines of words as there is room for beside the text and the list."""
        super().resizeEvent(event)
        lines = min(MOST_LINES, max(1, (self.height() - WITHOUT_WORDS) // self.picture.line))
        if lines != self.picture.most_lines:
            self.picture.most_lines = lines
            self.picture.place_anew()

    def show_nothing(self) -> None:
        """Show no answer."""
        self._say(self.tr("Each word's type appears under it, and how sure the model is."), "muted")
        self.picture.clear()
        for part in (self._result, self._save):
            part.hide()

    def show_problem(self, text: str) -> None:
        """Say why there is no answer."""
        self.show_nothing()
        self._say(text, "refusal")

    def _say(self, text: str, role: str) -> None:
        set_role(self.note, role)
        self.note.setText(text)

    def show_answer(self, answer: TaggedAnswer, types: tuple[str, ...], *, is_plain: bool) -> None:
        """Show what a model says of a text."""
        if is_plain:
            each = zip(answer.spans, answer.tags, answer.probabilities, strict=True)
            found = [(Stretch(*span, tag, words.probability(sure)), sure) for span, tag, sure in each]
        else:
            found = [
                (Stretch(one.start, one.stop, one.type, words.probability(one.probability)), one.probability)
                for one in answer.entities
            ]
        stretches = [one for one, _ in found]
        self.picture.set_text(tagged_words(answer.text, predicted=stretches), types, (PREDICTED,))

        def cell(row: int, place: int) -> str:
            one, sure = found[row]
            first = words.number(one.start)
            parts = (answer.text[one.start : one.stop], one.type, words.share(sure), first)
            return parts[place]

        names = (self.tr("Text"), self.tr("Type"), self.tr("Sure"), self.tr("From character"))
        self.found.set_rows(names, len(found), cell, wide=0, numbers=(2, 3))
        one, many = self.tr("1 word"), self.tr("{count} words")
        counted = words.counted(len(answer.tags), one, many)
        text = self.tr("{found} found in {words}.") if found else self.tr("Nothing found in {words}.")
        self._say(text.format(found=words.number(len(found)), words=counted), "muted")
        for part in (self._result, self._save):
            part.show()


class WrittenCard(Card):
    """The texts of a file with what was written of them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("written_tags")
        self.scores = label("", wrap=True, name="file_scores")
        self.list = TextList("written_texts", self.tr("Texts with their tags"), most_lines=3)
        self.add(self.scores)
        self.add(self.list, 1)
        self._texts: TaggedTexts | None = None
        self.list.row_chosen.connect(self._show_words)
        self.show_path(None)

    def show_path(self, path: Path | None) -> None:
        """Show that a file has no answers yet."""
        self._texts = None
        self.set_title(path.name if path is not None else self.tr("A file"))
        self.set_hint(self.tr("no answers yet") if path is not None else "")
        self.scores.hide()
        self.list.set_rows((self.tr("Text"), self.tr("Found")), 0, self._cell, wide=0)

    def show_scores(self, event: Evaluated) -> None:
        """Show how good the answers are, where the file knows the right ones."""
        found = event.metrics
        text = self.tr("Beside the file's own tags: entity F1 {f1}, right words {accuracy}.")
        if "entity_f1" not in found:
            text = self.tr("Beside the file's own tags: right words {accuracy}.")
        f1, accuracy = words.share(found.get("entity_f1")), words.share(found.get("token_accuracy"))
        self.scores.setText(text.format(f1=f1, accuracy=accuracy))
        self.scores.show()

    def show_texts(self, texts: TaggedTexts) -> None:
        """Show what stands in the file that was written."""
        self._texts = texts
        self.set_title(texts.path.name)
        one, many = self.tr("1 text"), self.tr("{count} texts")
        self.set_hint(words.counted(len(texts), one, many))
        self.list.set_rows((self.tr("Text"), self.tr("Found")), len(texts), self._cell, wide=0)

    def _cell(self, row: int, column: int) -> str:
        assert self._texts is not None
        if column == 0:
            return self._texts.store.text(row)[0]
        one = self._texts[row]
        found = stretches_of(one, is_plain=self._is_plain)
        return ", ".join(dict.fromkeys(each.type for each in found[:20]))

    @property
    def _is_plain(self) -> bool:
        return self._texts is not None and self._texts.format.scheme == "none"

    @Slot(int)
    def _show_words(self, row: int) -> None:
        assert self._texts is not None
        text = self._texts[row]
        end = text.spans[min(len(text.spans), MOST_WORDS) - 1][1]
        found = [one for one in stretches_of(text, is_plain=self._is_plain) if one.stop <= end]
        types = sorted(self._texts.types)
        self.list.words.set_text(tagged_words(text.text[:end], predicted=found), types, (PREDICTED,))


class TokenAnswers(TaskAnswers):
    """One text above, a file's below."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = OpenTagger()
        self._folder: Path | None = None
        self._asked = Channel(self, session.workers.models)
        self._written = Channel(self, session.workers.files)
        self.ask_card, self.file_card = AskCard(), WrittenCard()
        column((self.ask_card, 3), (self.file_card, 2), gap=GAP, parent=self)
        self._timer = QTimer(self, singleShot=True, interval=TYPING_STOPS_MS)
        self._timer.timeout.connect(self.ask)
        self.ask_card.text.textChanged.connect(self._typed)

    def set_model(self, folder: Path) -> None:
        if folder != self._folder:
            self._folder = folder
            self._asked.drop()
            self.ask_card.show_nothing()
            self.ask()

    def show_file(self, path: Path) -> None:
        self._written.drop()
        self.file_card.show_path(path)

    @property
    def suffixes(self) -> tuple[str, ...]:
        return SUFFIXES

    def hear(self, event: object) -> None:
        if isinstance(event, Evaluated):
            self.file_card.show_scores(event)

    def show_written(self, path: Path) -> None:
        self._written.ask(
            (path, path.stat().st_mtime_ns),
            partial(read_written, path),
            heard=self.file_card.show_texts,
            refused=lambda error: self.file_card.set_hint(words.say_error(error)),
        )

    @Slot()
    def ask(self) -> None:
        """Ask what is typed now; the answer to an older text is not shown."""
        self._timer.stop()
        text = self.ask_card.text.toPlainText()
        if self._folder is None or not text.strip():
            return
        self._asked.ask(
            (self._folder, text),
            partial(self._model.ask, self._folder, text),
            heard=partial(self._hear, text),
            refused=lambda error: self.ask_card.show_problem(words.say_error(error)),
        )

    def _hear(self, text: str, reply: tuple[TaggedAnswer, tuple[str, ...], bool]) -> None:
        if text == self.ask_card.text.toPlainText():
            answer, types, is_plain = reply
            self.ask_card.show_answer(answer, types, is_plain=is_plain)

    @Slot()
    def _typed(self) -> None:
        if self.ask_card.text.toPlainText().strip():
            self._timer.start()
        else:
            self._timer.stop()
            self._asked.drop()
            self.ask_card.show_nothing()
