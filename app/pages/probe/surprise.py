"""How surprising each word of the sentence is to the model, and its pseudo-perplexity."""

from __future__ import annotations

import math
from functools import partial

from PySide6.QtWidgets import QWidget

from app import words
from app.look.labels import label, tip
from app.look.layout import STRETCH, column, row
from app.look.pending import say_progress
from app.look.widgets import GAP, Card, named
from app.pages.probe.draft import ProbeDraft
from app.plots.buttons import save_icon
from app.plots.word_strip import RatedWord, WordStrip
from app.work.inspector import Inspector
from app.work.worker import Channel
from engine.inspect.masked.perplexity import PseudoPerplexity
from engine.questions.perplexity import SurpriseQuestion

FULL_BITS = 16.0  # of the strongest colour, so that two sentences can be compared


class SurpriseView(QWidget):
    """The words shaded by their surprise; above it what that comes to."""

    def __init__(self, inspector: Inspector, draft: ProbeDraft, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._draft = draft
        self._surprise = Channel(self, inspector.workers.models)
        self.value = label("", "big", name="probe_perplexity")
        self.explained = label("", "muted", wrap=True)
        self.strip = named(
            WordStrip(
                self.tr("Surprisal of each piece"), what="surprise in bits", scale=FULL_BITS, most_lines=7
            ),
            "probe_surprise_strip",
        )
        card = named(Card(self.tr("Surprisal")), "probe_surprise")
        card.set_hint(
            self.tr("each piece masked in turn · its surprisal in bits below"),
            self.tr(
                "Surprisal is −log2 of the probability of the piece that is there: 1 bit for one "
                "half, 10 bits for one in a thousand."
            ),
        )
        card.add_corner(save_icon(self.strip))
        card.body.addLayout(row(self.value, (self.explained, 1), gap=GAP))
        card.add(self.strip)
        self.card = card
        column(card, STRETCH, parent=self)
        self._say(self.tr("Type a sentence above to measure it."))

    def refresh(self) -> None:
        """Ask for the sentence as it is written; what is hidden in it does not matter."""
        draft = self._draft
        if draft.about is None or not draft.words:
            self._surprise.drop()
            self._say(draft.refusal or self.tr("Type a sentence above to measure it."))
            return
        asked = SurpriseQuestion(draft.about.named, draft.question.text, draft.question.pair)
        progress = partial(say_progress, self.explained)
        if self._surprise.ask(asked, heard=self._show, refused=self._refuse, progress=progress):
            self.strip.set_dim(True)
            if self.value.isHidden():
                self.explained.setText(self.tr("Measuring…"))

    def _refuse(self, error: BaseException) -> None:
        self._say(words.say_error(error))

    def _say(self, text: str) -> None:
        self.strip.clear()
        self.strip.hide()
        self.value.hide()
        self.explained.setText(text)
        self.explained.setToolTip("")

    def _show(self, found: PseudoPerplexity) -> None:
        types = self._draft.encoding.token_type_ids if self._draft.encoding is not None else []
        rated = []
        for place, score in zip(found.places, found.scores, strict=True):
            bits = -score.log_probability / math.log(2)
            note = self.tr("probability {share}, rank {rank}").format(
                share=words.share(score.probability, 2), rank=words.number(score.rank)
            )
            segment = types[place] if place < len(types) else 0
            rated.append(RatedWord(score.piece, segment, bits, words.decimal(bits, 1), note=note))
        self.strip.show()
        self.strip.set_words(rated)
        self.strip.set_caption(self._draft.caption())
        self.value.setText(words.decimal(found.perplexity, 1 if found.perplexity < 1000 else 0))
        self.value.show()
        bits = -found.log_likelihood / len(found.scores) / math.log(2)
        self.explained.setText(
            self.tr("pseudo-perplexity · {bits} bits a piece, {count} pieces").format(
                bits=words.decimal(bits, 2), count=words.number(len(found.scores))
            )
        )
        self.explained.setToolTip(
            tip(
                self.tr(
                    "As if the model had to choose among this many equally likely pieces at each "
                    "place. 1 is perfect prediction. Comparable only between models with the same "
                    "pieces. (Salazar et al. 2020)"
                )
            )
        )
