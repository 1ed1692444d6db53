"""What all pages share: the model in hand and the text, and whom to ask about them.

A model is held at once, and opened only for a page that looks into it. None is put in hand by itself: one
that a training has left is offered (`trained`).
"""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.settings import AppSettings
from app.work.later import later
from app.work.library import ModelLibrary
from app.work.worker import Channel, Workers

if TYPE_CHECKING:
    from engine.inspect.example_texts import reads_english
    from engine.inspect.loaded_model import ModelSummary
else:
    reads_english = later("engine.inspect.example_texts", "reads_english")

FIRST_TEXT = "The doctor asked the superstitious patient."  # one word is split, another one is guessed well
FIRST_CHINESE_TEXT = (
    "这不是我的错误，而是你的错误。"  # for a model that reads Chinese, until somebody chooses a text
)
HELD, TEXT, PAIR = "looking/model", "looking/text", "looking/text_pair"  # what was looked at last
RECENT = "looking/recent_texts"
LONGEST_KEPT = 20_000  # characters
MOST_RECENT, LONGEST_RECENT = 10, 2_000  # texts; characters of one that is remembered
NEVER = "\0"  # no text is that
STOOD_S = 3.0  # a text that stood so long is worth remembering

Texts = tuple[str, str]  # a text and its pair, "" for none


class Inspector(QObject):
    """The model in hand and the text, whatever page is open.

    folder: the model's; about: what it says of itself once it is open; refusal: why it cannot be opened.
    """

    model_changed = Signal()
    offered = Signal()  # another model has been trained, or the offer is gone
    text_changed = Signal()

    def __init__(
        self, settings: AppSettings, library: ModelLibrary, workers: Workers, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._settings, self._library = settings, library
        self.workers = workers
        self.open_models = workers.open_models  # for work on the models worker
        self._opening = Channel(self, workers.models)
        self.folder: Path | None = _kept_model(settings)
        self.trained: Path | None = None  # the last model that a training has left, until it is in hand
        self.about: ModelSummary | None = None
        self.refusal: BaseException | None = None
        self.text = settings.value(TEXT, FIRST_TEXT)[:LONGEST_KEPT]
        self.text_pair = settings.value(PAIR, "")[:LONGEST_KEPT]
        self.is_given = settings.value(TEXT, NEVER) != NEVER  # whether anybody chose or typed a text
        self._since = time.monotonic()  # that this text has stood

    # ---- the model

    @property
    def is_opening(self) -> bool:
        """Whether the chosen model is still being read."""
        return self._opening.is_asking

    def hold(self, folder: Path | str) -> None:
        """Have this model in hand from now on, on every page; whoever looks into it opens it."""
        self._hold(folder)
        self.model_changed.emit()

    def choose(self, folder: Path | str) -> None:
        """Have this model in hand and open it; `model_changed` comes at once and again when it is open."""
        self._hold(folder)
        self.open()

    def _hold(self, folder: Path | str) -> None:
        self.folder = Path(folder).absolute()
        self.about = self.refusal = None
        self._opening.drop()
        self._settings.set_value(HELD, str(self.folder))
        if (self.folder / "config.json").is_file():
            self._library.remember(self.folder)
        if self.trained == self.folder:
            self._offer(None)

    def open(self) -> None:
        """Open the model in hand, where it is neither open, nor being opened, nor refused."""
        if self.folder is None or self.about is not None or self.refusal is not None or self.is_opening:
            return
        self._opening.ask(
            self.folder,
            partial(self.open_models.about, self.folder),
            heard=self._take,
            refused=self._refuse,
            ended=self._end,
            again=True,
        )
        self.model_changed.emit()

    def offer(self, folder: Path) -> None:
        """Offer a model that a training has left; the one in hand, trained anew, is opened anew."""
        folder = folder.absolute()
        if folder != self.folder:
            self._offer(folder)
        elif self.about is not None or self.refusal is not None:
            self.choose(folder)

    def _offer(self, folder: Path | None) -> None:
        self.trained = folder
        self.offered.emit()

    def _take(self, about: ModelSummary) -> None:
        if about.folder == self.folder:
            self.about = about
            self._take_first_text(about)
            self.model_changed.emit()

    def _refuse(self, error: BaseException) -> None:
        self.refusal = error
        self.model_changed.emit()

    def _end(self) -> None:
        if self.about is None and self.refusal is None and not self.is_opening:  # a fault of ours
            self.model_changed.emit()

    # ---- the text

    def set_text(self, text: str, text_pair: str = "") -> None:
        """Look at this text, or pair, from now on, on whatever page is open."""
        if (text, text_pair) != (self.text, self.text_pair):
            self._remember_text()
            self.text, self.text_pair, self.is_given = text, text_pair, True
            self._settings.set_value(TEXT, text[:LONGEST_KEPT])
            self._settings.set_value(PAIR, text_pair[:LONGEST_KEPT])
            self.text_changed.emit()

    def _take_first_text(self, about: ModelSummary) -> None:
        """Look at a sentence in the model's language, where nobody has chosen a text."""
        if self.is_given:
            return
        first = FIRST_TEXT if reads_english(about.wordpiece) else FIRST_CHINESE_TEXT
        if first != self.text:
            self.text = first
            self.text_changed.emit()

    @property
    def pair(self) -> str | None:
        """The second text as the engine takes it: None where there is none."""
        return self.text_pair if self.text_pair.strip() else None

    @property
    def recent_texts(self) -> tuple[Texts, ...]:
        """The texts that were looked at before, each for a while; the newest first."""
        try:
            kept = json.loads(self._settings.value(RECENT, ""))
            return tuple((str(text), str(pair)) for text, pair in kept[:MOST_RECENT])
        except (ValueError, TypeError, KeyError, RecursionError):
            return ()

    def _remember_text(self) -> None:
        """Remember the text in hand, if it is more than something half typed."""
        stood, self._since = time.monotonic() - self._since, time.monotonic()
        texts = (self.text, self.text_pair)
        if stood < STOOD_S or not self.text.strip() or max(map(len, texts)) > LONGEST_RECENT:
            return
        others = [one for one in self.recent_texts if one != texts]
        kept = json.dumps([texts, *others][:MOST_RECENT], ensure_ascii=False)
        self._settings.set_value(RECENT, kept)


def _kept_model(settings: AppSettings) -> Path | None:
    """Return the model that was in hand when the last window closed, if it is still there."""
    folder = Path(settings.value(HELD, ""))
    return folder if folder.is_absolute() and (folder / "config.json").is_file() else None
