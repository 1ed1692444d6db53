"""The steps of the tour that look inside a model: hide a word, read the guesses, see where heads look.

What they say of numbers is read from the screen. The model is the starter that ships with Cloze, else the one
that is open; without any that guesses words, the classifier's attention is shown, or how to come by a model.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app import words
from app.pages.probe.masked_text import MaskedText
from app.pages.tasks.known import VIEWS
from app.session import Session
from app.shipped import history_run, home_model
from app.stories.known import story
from app.tour.guide import TourStep, Wait
from engine.errors import ModelError
from engine.model.info import read_info
from engine.text.words import within, words_of

if TYPE_CHECKING:
    from engine.inspect.attention.weights import AttentionMaps

MOST_TOLD = 3  # guesses
Acting = Generator[Wait, None, None]


@dataclass(frozen=True, slots=True)
class Link:
    """Where a head looks. layer, head: from 0. word, other: tokens. share: of the attention of `word`."""

    layer: int
    head: int
    word: str
    other: str
    share: float


class TourHost(Protocol):
    """What the tour needs of the window."""

    session: Session

    def page(self, key: str) -> QWidget: ...
    def show_page(self, key: str) -> None: ...


class InsideScenes(QObject):
    """Makes these steps, and does what they do on arrival."""

    def __init__(self, window: TourHost) -> None:
        super().__init__(cast(QObject, window))
        self.window, self.session = window, window.session
        self.inspector = window.session.inspector
        self.reader = language_model(window.session)
        self._has_hidden = False  # the word of the tour's own sentence

    def inside(self) -> list[TourStep]:
        """Return the steps that look inside a model, as far as there is one."""
        if self.reader is not None:
            return [self.hide(), self.guesses(), self.attention(), self.heads()]
        if self.classifier() is not None or self.will_train:
            return [self.attention(), self.heads()]
        return [self.no_model()]

    @property
    def will_train(self) -> bool:
        """Whether the tour trains a classifier before it looks inside."""
        return False

    def classifier(self) -> Path | None:
        """Return a model that tells labels apart: the last trained, else one used lately."""
        used = [Path(path) for path in self.session.settings.recent_models]
        last = self.session.training.last_model
        return last if last is not None else next((one for one in used if is_classifier(one)), None)

    def page(self, key: str) -> Any:
        """Return a page of the window."""
        return self.window.page(key)

    # ---- masked words

    def hide(self) -> TourStep:
        return TourStep(
            key="hide",
            page="probe",
            target="probe_sentence",
            title=self.tr("Hide a word"),
            words=self.tr(
                "BERT learned by cloze tests: words of a text are hidden, and it says what "
                "belongs there. Click any word here to hide or show it. You can hide several at "
                "once."
            ),
            action=self._hide_word,
        )

    def _hide_word(self) -> Acting:
        page = self.page("probe")
        yield from self._open_reader()
        page.tabs.setCurrentIndex(0)
        yield lambda: page.draft.about is self.inspector.about
        text, hidden = story().tour
        places = within(words_of(page.draft.about.encode(text), text), text, hidden)
        page.draft.go(MaskedText(text, "", places))
        self._has_hidden = True
        plot = page.words_view.cards[0].plots[0]
        yield lambda: plot.isVisible() and not (plot.is_empty or plot.is_dim)

    def guesses(self) -> TourStep:
        return TourStep(
            key="guesses",
            page="probe",
            target="probe_gap_1",
            title=self.tr("What belongs there?"),
            words=self._guess_words,
            action=self._guess,
        )

    def _guess(self) -> Acting:
        """Hide the word where the step before was left too early for it; what a person has hidden stays."""
        if not self._has_hidden:
            yield from self._hide_word()

    def told_guesses(self) -> list[tuple[str, float]]:
        """Return the first guesses for the first gap, as they stand on the screen."""
        cards = self.page("probe").words_view.cards
        plot = cards[0].plots[0] if cards else None
        if plot is None or plot.is_empty or plot.is_dim:
            return []
        return [(guess.text, guess.probability) for guess in plot.guesses[: plot.num_top]]

    def _guess_words(self) -> str:
        found = [
            f"{words.shorten(word, 30)} {words.probability(value)}" for word, value in self.told_guesses()
        ]
        told = self.tr("The best of all words in its vocabulary, with their probabilities.")
        if found:
            told = self.tr("First of all words in its vocabulary: {guesses}.").format(
                guesses=words.listed(found[:MOST_TOLD])
            )
        more = self.tr(
            "Click a guess to put it into the text, or check another word. The other tabs "
            "ask each layer, or whether one sentence follows another."
        )
        return words.sentences([told, more])

    def attention(self) -> TourStep:
        return TourStep(
            key="attention",
            page="attention",
            target="attention_picture",
            title=self.tr("Where it looks"),
            words=self._attention_words,
            action=self._find_head,
        )

    def _find_head(self) -> Acting:
        """Show the head that looks most from a main word of the second sentence to one of the first."""
        page, inspector = self.page("attention"), self.inspector
        yield from self._open_reader()
        inspector.set_text(*story().pair)
        page.end_comparison()
        page.show_picture("heatmap")
        yield lambda: self._pair_maps() is not None
        found = self.link()
        if found is not None:
            page.choose_head(found.layer, found.head)
        yield lambda: not page.is_asking and not page.picture.figure("heatmap").is_empty

    def _pair_maps(self) -> AttentionMaps | None:
        maps = cast("AttentionMaps | None", self.page("attention").maps)
        fits = maps is not None and (maps.text, maps.text_pair) == story().pair
        return maps if fits and maps is not None and maps.folder == self.inspector.folder else None

    def link(self) -> Link | None:
        """Return the strongest look from a main word of the second sentence to one of the first."""
        maps = self._pair_maps()
        if maps is None:
            return None
        places: tuple[dict[str, int], dict[str, int]] = {}, {}
        for word in maps.words:
            if word.pieces:
                places[word.segment].setdefault(word.text.lower(), word.pieces[0])
        looked_at, looking = story().pair_words
        rows = [places[1][word] for word in looking if word in places[1]]
        columns = [places[0][word] for word in looked_at if word in places[0]]
        if not rows or not columns:
            return None
        shares = maps.attentions[:, :, rows][..., columns]
        layer, head, row, column = (int(i) for i in np.unravel_index(int(shares.argmax()), shares.shape))
        tokens = maps.encoding.shown
        share = float(shares[layer, head, row, column])
        return Link(layer, head, tokens[rows[row]], tokens[columns[column]], share)

    def _attention_words(self) -> str:
        told = self.tr(
            "Each row is a token that looks, each column what it looks at. A stronger colour "
            "means more attention. Point at a cell to read it."
        )
        found = self.link()
        if found is None or self.page("attention").chosen.current != (found.layer, found.head):
            return told
        template = self.tr(
            "Of all heads, this one looks most from a main word of B to one of A: “{word}” to “{other}”, "
            "{share}."
        )
        names = {"word": found.word, "other": found.other}
        return words.sentences([told, template.format(**names, share=words.share(found.share, 0))])

    def heads(self) -> TourStep:
        return TourStep(
            key="heads",
            page="attention",
            target="attention_heads",
            title=self.tr("Every head at once"),
            words=self._heads_words,
        )

    @property
    def is_awaited(self) -> bool:
        """Whether the tour trains a classifier that is not done."""
        return False

    def _heads_words(self) -> str:
        told = self.tr(
            "Click a head to enlarge it, or sort them by what they do. The card below turns "
            "heads off and shows how the answers change."
        )
        if self.is_awaited and self.session.training.is_running:
            end = self.tr(
                "That is the tour so far. Your model is still learning. Stay for its result, or "
                "find it on Fine-tune and ask it on Predict later."
            )
        else:
            end = self.tr("Ctrl+O opens your own table, F1 shows the keys.")
        return words.sentences([told, end])

    def no_model(self) -> TourStep:
        return TourStep(
            key="no_model",
            page="probe",
            target="looking_empty",
            title=self.tr("Look inside any BERT"),
            words=self.tr(
                "These pages hide words and show what a model guesses, where its heads look, and "
                "why it answers as it does. This build has no model of its own. Choose any BERT "
                "folder, or pretrain a small one."
            ),
        )

    def _open_reader(self) -> Acting:
        """Look into the model that guesses words; into the classifier where there is none."""
        inspector, folder = self.inspector, self.reader or self.classifier()
        if folder is not None and inspector.folder != folder:
            inspector.choose(folder)
        yield lambda: inspector.about is not None


def language_model(session: Session) -> Path | None:
    """Return a model that guesses masked words: the starter, the open one, or the one with a history."""
    starter, about, run = home_model(), session.inspector.about, history_run()
    if starter is not None:
        return starter
    if about is not None and about.has_masked_words:
        return about.folder
    return run / "model" if run is not None and (run / "model" / "config.json").is_file() else None


def is_classifier(folder: Path) -> bool:
    """Whether a model folder says that it was fine-tuned to tell labels apart."""
    try:
        views = VIEWS.get(str(read_info(folder).get("task")))
        return views is not None and views.has_one_label
    except ModelError:
        return False
