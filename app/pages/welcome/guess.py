"""The card in which a hidden word is guessed live, and what it asks of the models worker."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QWidget

from app import shipped, words
from app.look.labels import ElidedLabel, label
from app.look.layout import STRETCH, row
from app.look.widgets import Card, LevelMark, button, named, set_role
from app.plots.hidden_word import HiddenWord, HiddenWordPlot
from app.session import Session
from app.work.later import later
from app.work.models import OpenModels
from app.work.titles import model_title
from app.work.worker import Channel

if TYPE_CHECKING:
    from engine.inspect.attention.weights import look
    from engine.inspect.masked.probe import probe
    from engine.text.words import words_of
else:  # both stand on torch
    look = later("engine.inspect.attention.weights", "look")
    probe = later("engine.inspect.masked.probe", "probe")
    words_of = later("engine.text.words", "words_of")

SENTENCE, HIDDEN = "The doctor said that the patient would feel better.", 4  # the character that is hidden
CHINESE_SENTENCE, CHINESE_HIDDEN = "这不是我的错误，而是你的错误。", 5
NUM_GUESSES = 4
NARROW = 560  # px of a card whose doors stand in two rows
MASK = "[MASK]"
WORDS = re.compile("[\u4e00-\u9fff]|\\w+|[^\\w\\s]")  # as BERT's basic split has them


@dataclass(frozen=True, slots=True)
class Guessed:
    """What a model makes of the hidden word. num_heads: whose attention is averaged. spans: of the words."""

    shown: HiddenWord
    num_heads: int
    spans: tuple[tuple[int, int], ...]


def guess(models: OpenModels, folder: Path, text: str, at: int) -> Guessed:
    """Return the guesses for the word of a text that has a character, and where its place looks: the mean
    over all heads of the last layer, and over the word's pieces. Raises: UserError, ModelError.
    """
    subject = models.subject(folder)
    spans = tuple((word.start, word.stop) for word in words_of(subject.about.encode(text), text))
    hidden = _covering(spans, at)
    table = probe(subject, text, words=[hidden], top_k=NUM_GUESSES)
    own, places = table.masked.words, list(table.masked.gaps[0].places)
    start, stop = own[hidden].start, own[hidden].stop
    maps = look(subject, text[:start] + " ".join([MASK] * len(places)) + text[stop:])
    weights = maps.attentions[-1].mean(0)[places].mean(0)
    shown = HiddenWord(
        tuple(word.text for word in own),
        hidden,
        tuple((one.word, one.probability) for one in table.answers[0].guesses),
        tuple(float(weights[list(word.pieces)].sum()) for word in own),
    )
    return Guessed(shown, maps.num_heads, spans)


def _covering(spans: Sequence[tuple[int, int]], at: int) -> int:
    """Return the place of the word that has a character."""
    return next(place for place, (start, stop) in enumerate(spans) if start <= at < stop)


class GuessCard(Card):
    """A sentence, the word that is hidden, its guesses; below, the doors that lead further."""

    choose_wanted = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("welcome_look")
        self.session = session
        self._asked = Channel(self, session.workers.models)
        self._folder: Path | None = None
        self._refused: Path | None = None  # a model that cannot be opened
        self._has_lecture = False
        self.set_title(self.tr("See BERT guess a hidden word"))
        self.plot = named(HiddenWordPlot(self.tr("A hidden word")), "welcome_hidden_word")
        self.plot.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self.plot.word_chosen.connect(self.hide_word)
        self.caption = named(ElidedLabel("", "muted"), "welcome_caption")
        self.caption.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.watch_button = button("", "primary", name="welcome_watch")
        self.length = label("", "muted", name="welcome_length")
        self.own_button = button(self.tr("Try your own text"), name="welcome_guess")
        self.choose_button = button(
            self.tr("Choose a model folder…"), "primary", name="welcome_choose_model", call=self.choose_wanted
        )
        self._sentence, at = SENTENCE, HIDDEN
        if shipped.speaks_chinese():
            self._sentence, at = CHINESE_SENTENCE, CHINESE_HIDDEN
        self._spans: tuple[tuple[int, int], ...] = ()  # of the words, as they are shown
        self._lay_out()
        self._show_sentence(at)

    def _lay_out(self) -> None:
        self._remark = QWidget()
        self.remark = label("", wrap=True)
        row((LevelMark("look"), Qt.AlignmentFlag.AlignTop), (self.remark, 1), parent=self._remark)
        self.add(self.plot, 1)
        self.add(self.caption)
        self.add(self._remark)
        self._first = row(self.watch_button)
        self._second = row(self.length, STRETCH, self.choose_button, self.own_button, gap=12)
        self._doors = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._doors.setSpacing(8)
        self._doors.addLayout(self._first)
        self._doors.addLayout(self._second, 1)
        self.add_layout(self._doors)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_narrow = event.size().width() < NARROW
        way = QBoxLayout.Direction.TopToBottom if is_narrow else QBoxLayout.Direction.LeftToRight
        self._doors.setDirection(way)

    def show_lecture(self, title: str, length: str) -> None:
        """Offer a lecture. Args: title: "" where there is none. length: how long it is, in words."""
        self.watch_button.setText(self.tr("Watch: {lecture}").format(lecture=title))
        self.length.setText(length)
        self._has_lecture = bool(title)
        self._show_doors()

    def _show_doors(self) -> None:
        """Show the doors that lead somewhere: without a model that opens, the one to another model."""
        is_open = self._folder is not None and self._folder != self._refused
        self.watch_button.setVisible(self._has_lecture and is_open)
        self.length.setVisible(self._has_lecture and is_open)
        self.own_button.setVisible(is_open)
        self.choose_button.setVisible(not is_open)
        set_role(self.own_button, "" if self._has_lecture else "primary")

    def show_model(self, folder: Path | None, remark: str) -> None:
        """Let a model guess; None: there is none, and the remark says so."""
        if folder is None or folder != self._refused:
            self.set_remark(remark)
        if folder != self._folder:
            self._folder = folder
            self._show_sentence(self._at)
        is_refused = folder is None or folder == self._refused
        self.plot.set_empty_text("" if is_refused else self.tr("Loading the model…"))
        self._show_doors()
        self.ask()

    def set_remark(self, text: str) -> None:
        """Say what is missing; "" for nothing."""
        self.remark.setText(text)
        self._remark.setVisible(bool(text))

    def hide_word(self, place: int) -> None:
        """Hide another word in the place of the one that is hidden."""
        before = self.plot.shown
        self.plot.set_hidden_word(HiddenWord(before.words, place, before.guesses))
        self.plot.set_dim(True)
        self.ask()

    def masked_text(self) -> str:
        """Return the sentence with [MASK] in the place of the hidden word."""
        start, stop = self._spans[self.plot.shown.hidden]
        return self._sentence[:start] + MASK + self._sentence[stop:]

    @property
    def _at(self) -> int:
        """A character of the hidden word."""
        return self._spans[self.plot.shown.hidden][0]

    def ask(self) -> None:
        """Ask for the guesses on the worker, while the card is on screen."""
        folder, at = self._folder, self._at
        if folder is not None and self.isVisible():
            work: Callable[[], Guessed] = partial(
                guess, self.session.workers.open_models, folder, self._sentence, at
            )
            self._asked.ask((folder, at), work, heard=self._take, refused=self._refuse)

    def _show_sentence(self, at: int) -> None:
        """Show the sentence until a model has read it. Args: at: a character of the hidden word."""
        self._spans = tuple(word.span() for word in WORDS.finditer(self._sentence))
        own = tuple(self._sentence[start:stop] for start, stop in self._spans)
        self.plot.set_hidden_word(HiddenWord(own, _covering(self._spans, at)))
        self.caption.setText("")
        self.set_hint("")

    def _take(self, found: Guessed) -> None:
        self._refused = None
        self._show_doors()
        self.plot.set_dim(False)
        self._spans = found.spans
        self.plot.set_hidden_word(found.shown)
        self.set_hint(self.tr("live"), deed=self.tr("click a word to hide it"))
        said = self.tr("{model}. Lines: mean attention of the last layer’s {count} heads")
        name = model_title(self._folder) if self._folder is not None else ""
        self.caption.setText(said.format(model=name, count=words.number(found.num_heads)))

    def _refuse(self, error: Any) -> None:
        """Say why the model does not guess, with a way out."""
        self._refused = self._folder
        self._show_sentence(self._at)
        self.plot.set_dim(False)
        self.plot.set_empty_text("")
        self.set_remark(words.say_error(error))
        self._show_doors()
