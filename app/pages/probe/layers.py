"""The layer lens: what the masked-word head makes of a gap after each layer."""

from __future__ import annotations

from PySide6.QtWidgets import QSizePolicy, QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.labels import label
from app.look.layout import STRETCH, column
from app.look.widgets import Card, named
from app.pages.probe.draft import ProbeDraft
from app.plots.buttons import save_icon
from app.plots.layers import LayerGuesses, LayersPlot
from app.work.inspector import Inspector
from app.work.worker import Channel
from engine.inspect.masked.lens import Lens
from engine.questions.layers import LayersQuestion

LEAST_HEIGHT = 160


class LayersView(QWidget):
    """One gap at a time, a row a layer."""

    def __init__(self, inspector: Inspector, draft: ProbeDraft, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._draft = draft
        self._layers = Channel(self, inspector.workers.models)
        self._lens: Lens | None = None
        self._wanted = -1  # the gap to show of the next answer
        card = named(Card(self.tr("What each layer would guess")), "probe_layers")
        self.card = card
        self.gaps = ChoiceBox("probe_layers_gap", self.tr("Mask"), width=170)
        self.plot = named(LayersPlot(self.tr("What each layer would guess")), "probe_layers_plot")
        note = label(
            self.tr(
                "The masked-word head reads each layer as if it were the last. It was trained "
                "only on the last, so earlier layers give a hint, not the model’s answer."
            ),
            "muted",
            wrap=True,
        )
        card.set_hint(
            self.tr("up and down walk through the layers"),
            self.tr("A tick’s colour and frame: the original word."),
        )
        card.add_corner(self.gaps, save_icon(self.plot))
        card.add(self.plot, 1)
        card.add(note)
        card.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        column((card, 100), STRETCH, parent=self)
        self.gaps.hide()  # until it is known which there are
        self.gaps.activated.connect(self._show)

    def refresh(self) -> None:
        """Ask every layer, if that has not been asked."""
        draft = self._draft
        if draft.about is None or draft.masked is None:
            self._layers.drop()
            self._lens = None
            self._show_nothing(
                draft.refusal or self.tr("Click a word in the sentence to mask it, and watch it emerge.")
            )
            return
        question = draft.question
        hide = tuple(number + 1 for number in question.words)
        asked = LayersQuestion(
            draft.about.named, question.text, question.pair, hide=hide, pieces=question.pieces
        )
        if self._layers.ask(asked, heard=self._hear, refused=self._refuse):
            self.plot.set_empty_text(self.tr("Asking each layer…"))
            self.plot.set_dim(True)

    def choose_gap(self, gap: int) -> None:
        """Show another gap, 0 the first; as soon as it is there."""
        self._wanted = gap
        if not self._layers.is_asking and gap < self.gaps.count():
            self.gaps.setCurrentIndex(gap)
            self._show()

    def _hear(self, found: Lens) -> None:
        self._lens = found
        self._fill_gaps(found)
        self._show()

    def _refuse(self, error: BaseException) -> None:
        self._show_nothing(words.say_error(error))

    def _show_nothing(self, why: str) -> None:
        self.plot.clear()
        self.plot.set_empty_text(why)
        self.plot.setMaximumHeight(LEAST_HEIGHT)
        self.gaps.hide()

    def _fill_gaps(self, found: Lens) -> None:
        here = max(0, self.gaps.currentIndex()) if self._wanted < 0 else self._wanted
        self._wanted = -1
        self.gaps.clear()
        for number, gap in enumerate(found.masked.gaps, start=1):
            self.gaps.addItem(f"{words.number(number)}  {words.shorten(gap.text, 30)}")
        self.gaps.setCurrentIndex(min(here, self.gaps.count() - 1))
        self.gaps.setVisible(self.gaps.count() > 1)

    def _show(self) -> None:
        if self._lens is None:
            return
        place = max(0, self.gaps.currentIndex())
        gap = self._lens.masked.gaps[place]
        layers, word = [], ""
        for answers in self._lens.layers:
            answer = answers[place]
            guesses = tuple((guess.word, guess.probability) for guess in answer.guesses)
            original = answer.original
            if original is None:
                layers.append(LayerGuesses(guesses))
            else:
                word = gap.text
                layers.append(LayerGuesses(guesses, original.probability, original.rank))
        self.plot.set_layers(layers, word)
        self.plot.setMaximumHeight(max(LEAST_HEIGHT, self.plot.sizeHint().height()))
        self.plot.set_caption([*self._draft.caption(), (self.tr("gap"), str(place + 1))])
