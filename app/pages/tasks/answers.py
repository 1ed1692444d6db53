"""What the Predict page shows at the right: above an example that is typed, with the model's reply, below a
file's answers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from app import words
from app.look.labels import label, set_or_hide
from app.look.layout import column
from app.look.widgets import GAP, Card, set_role
from app.work.worker import Channel
from engine.events import Evaluated, Event, Finished
from engine.train.run.kept import name_of

if TYPE_CHECKING:
    from app.session import Session

TYPING_STOPS_MS = 350


class AskCard(Card):
    """An example to type, and the reply to it. A child class has the boxes and shows a reply.

    typed: something else stands in a box. entered: it is to be asked at once.
    """

    typed = Signal()
    entered = Signal()

    def __init__(self, note_name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.note = label("", "muted", wrap=True, name=note_name)

    def texts(self) -> tuple[str, ...]:
        """Return what is typed."""
        raise NotImplementedError

    def set_texts(self, text: str, second: str = "") -> None:
        """Have these typed, in the order of `texts`."""
        raise NotImplementedError

    def is_complete(self) -> bool:
        """Return whether there is something to ask."""
        return all(text.strip() for text in self.texts())

    def show_nothing(self) -> None:
        """Show no reply, and say what will appear."""
        raise NotImplementedError

    def show_reply(self, reply: Any, model: str) -> None:
        """Show the reply to what is typed. Args: model: the name of the model that gave it."""
        raise NotImplementedError

    def show_problem(self, text: str) -> None:
        """Say why there is no reply."""
        self.show_nothing()
        self.show_note(text, "refusal")

    def show_note(self, text: str, role: str = "muted") -> None:
        """Say something in place of a reply, or beside it."""
        set_role(self.note, role)
        set_or_hide(self.note, text)


class FileAnswersCard(Card):
    """A file's examples with the answers to them, and how good these are."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.scores = label("", wrap=True, name="file_scores")
        self.scores.hide()
        self.add(self.scores)

    def show_scores(self, event: Evaluated) -> None:
        """Show how good the answers are, where the file knows the right ones."""
        self.scores.setText(self.score_words(event))
        self.scores.show()

    def score_words(self, event: Evaluated) -> str:
        """Say how good the answers are."""
        raise NotImplementedError


class TaskAnswers(QWidget):
    """An example above, a file's answers below. A child class says what is known of a file.

    It asks the session's workers by channels of its own, and drops answers to what is no longer asked. What
    is typed is the text of the whole window.

    reply_to: called with a model's folder and the texts, on the models worker. suffixes: the endings that a
    new file may have, the usual one first: they say how it is written.
    """

    suffixes: ClassVar[tuple[str, ...]]
    ask_card: AskCard
    file_card: FileAnswersCard

    def __init__(self, session: Session, reply_to: Callable[..., Any], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.reply_to, self._inspector = reply_to, session.inspector
        self.folder: Path | None = None
        self.reading = Channel(self, session.workers.files)  # a file
        self._asked = Channel(self, session.workers.models)
        self._timer = QTimer(self, singleShot=True, interval=TYPING_STOPS_MS)
        self._timer.timeout.connect(self._settle)
        self._inspector.text_changed.connect(self._text_changed)

    def add_cards(self, ask_card: AskCard, file_card: QWidget, shares: tuple[int, int]) -> None:
        """Show the cards of what is typed and of a file, each with its share of the room."""
        column((ask_card, shares[0]), (file_card, shares[1]), gap=GAP, parent=self)
        self.take_card(ask_card)

    def take_card(self, ask_card: AskCard) -> None:
        """Hear what is typed into a card, which is the one that shows replies from now on."""
        self.ask_card = ask_card
        ask_card.typed.connect(self._typed)
        ask_card.entered.connect(self._settle)

    @property
    def is_asking(self) -> bool:
        """Whether a reply, or what stands in a file, is on its way; also while somebody types."""
        return self._asked.is_asking or self.reading.is_asking or self._timer.isActive()

    def set_model(self, folder: Path | None) -> None:
        """Ask this model from now on; None: none yet."""
        if folder != self.folder:
            self.folder = folder
            self._asked.drop()
            self.ask_card.show_nothing()
            self.ask()

    def ask(self) -> None:
        """Ask what is typed now; the reply to older texts is not shown."""
        self._timer.stop()
        if self.folder is None or not self.ask_card.is_complete():
            return
        texts = self.ask_card.texts()
        self._asked.ask(
            (self.folder, texts),
            partial(self.reply_to, self.folder, *texts),
            heard=partial(self._hear_reply, texts),
            refused=lambda error: self.ask_card.show_problem(words.say_error(error)),
            again=True,  # the model may have been given a temperature meanwhile
        )

    def _hear_reply(self, texts: tuple[str, ...], reply: Any) -> None:
        if texts == self.ask_card.texts() and self.folder is not None:
            self.ask_card.show_reply(reply, name_of(self.folder))

    def _typed(self) -> None:
        self._timer.start()
        if not self.ask_card.is_complete():
            self._asked.drop()
            self.ask_card.show_nothing()

    # ---- the text of the window

    def texts_in_hand(self) -> tuple[str, ...]:
        """Return as much of the window's text as this task reads: a second one where it reads two; nothing
        while it is the one that all pages begin with, for here a person types her own.
        """
        inspector = self._inspector
        both = (inspector.text, inspector.text_pair) if inspector.is_given else ("", "")
        return both[: len(self.ask_card.texts())]

    def take_text(self) -> None:
        """Have the window's text typed, and ask it."""
        if self._inspector.is_given and self.ask_card.texts() != self.texts_in_hand():
            self.ask_card.set_texts(self._inspector.text, self._inspector.text_pair)
            self.ask()

    def _settle(self) -> None:
        """Take what is typed as the text of the window, and ask it."""
        typed = self.ask_card.texts()
        self._inspector.set_text(typed[0], typed[1] if len(typed) > 1 else self._inspector.text_pair)
        self.ask()

    def _text_changed(self) -> None:
        if self.isVisible():
            self.take_text()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if self._timer.isActive():
            self._settle()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.take_text()

    def show_file(self, path: Path) -> None:
        """Be told the file that was chosen at the left; it is not read yet."""
        raise NotImplementedError

    def start(self, model: str) -> None:
        """Be told that a file's answers come. Args: model: which one gives them."""

    def hear(self, event: Event) -> None:
        """Hear an event of the file that is being answered."""
        if isinstance(event, Evaluated):
            self.file_card.show_scores(event)
        elif isinstance(event, Finished) and event.path is not None:
            self.show_written(event.path)

    def end(self) -> None:
        """Be told that nothing more comes."""

    def mark_model(self, chosen: str) -> None:
        """Be told which model is chosen now."""

    def show_written(self, path: Path) -> None:
        """Show what was written, whole."""
