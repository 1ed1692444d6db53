"""The first tab of the Probe page: a card for each gap, all gaps together, and how the words were learned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from app import words
from app.look.labels import label
from app.look.widgets import GAP, Card, EmptyState, named
from app.pages.probe.draft import ProbeDraft
from app.pages.probe.gaps import GapCard, JointCard
from app.pages.probe.masked_text import MaskedText
from app.pages.probe.parts import Scroller
from app.pages.probe.requests import (
    MOST_JOINT,
    GapsAnswer,
    GuessGaps,
    JointAnswer,
    LearnedAnswer,
    ask_kept,
    can_fill_jointly,
    score_word,
)
from app.plots.buttons import save_icon, yield_to_layout
from app.plots.learned import LearnedPlot
from app.work.inspector import Inspector
from app.work.worker import Channel
from engine.errors import UserError
from engine.inspect.masked.score import WordScore
from engine.model.model_name import ModelName
from engine.train.run.kept import KeptWeights

MOST_GAPS = 40  # that get a card
CARD_WIDTH, TWICE_WIDTH = 290, 470  # px a card needs, for one model and for two
LEARNED_HEIGHT = 200


class WordsView(Scroller):
    """Cards in as many columns as there is room for."""

    answered = Signal(object)  # GapsAnswer
    refused = Signal(object)  # an error
    step_chosen = Signal(int)

    def __init__(self, inspector: Inspector, draft: ProbeDraft, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._inspector, self._draft = inspector, draft
        self._kept: tuple[KeptWeights, ...] = ()
        worker = inspector.workers.models
        self._gaps, self._kept_weights = Channel(self, worker), Channel(self, worker)
        self._words: dict[int, Channel] = {}  # of the words that a person asks for, by their gaps
        self.answer: GapsAnswer | None = None
        self._yours: dict[int, str] = {}
        self._learned: dict[int, LearnedAnswer] = {}
        self._learned_of: MaskedText | None = None
        self._places: dict[Card, tuple[int, int, int]] = {}
        self.top_k = 6
        self.cards: list[GapCard] = []
        self.joint = JointCard(self.widget())
        self.learned = LearnedCard(self.widget())
        for card in (self.joint, self.learned):  # until they have a place
            card.hide()
        self.nothing = Card()
        self._invitation = self.tr(
            "Click a word in the sentence to mask it. The model then says what belongs there."
        )
        self.empty = named(EmptyState(self._invitation), "probe_nothing_masked")
        self.nothing.add(self.empty, 1)
        self.nothing.setMinimumHeight(160)
        self.more = label("", "muted")
        self._grid = QGridLayout()
        self._grid.setSpacing(GAP)
        self.column.addWidget(self.nothing)
        self.column.addLayout(self._grid)
        self.column.addWidget(self.more)
        self.column.addStretch(1)
        self.learned.plot.step_chosen.connect(self.step_chosen)
        self._arrange()

    # ---- asking

    def refresh(self) -> None:
        """Ask what stands in the gaps now, if that has not been asked."""
        draft = self._draft
        self._arrange()
        if draft.about is None or draft.masked is None:
            for channel in (self._gaps, self._kept_weights, *self._words.values()):
                channel.drop()
            self.answer = None
            return
        num_gaps = len(draft.masked.gaps)
        yours = {gap: word for gap, word in self._yours.items() if gap < num_gaps}
        beside = None if draft.beside is None else ModelName(draft.beside)
        asked = GuessGaps(draft.about.named, draft.question, beside, self.top_k, yours)
        if self._gaps.ask(asked, heard=self._hear, refused=self._refuse, ended=self._ask_kept):
            self._set_dim(True)

    def set_kept(self, kept: tuple[KeptWeights, ...]) -> None:
        """Take in which weights the model's run kept."""
        if kept != self._kept:
            self._kept = kept
            self._learned, self._learned_of = {}, None
            self.learned.plot.clear()
            self._kept_weights.drop()
            if not self._gaps.is_asking:
                self._ask_kept()
        self._arrange()

    def own_words(self) -> dict[int, str]:
        """Return the words that a person asked for, by their gaps from 0."""
        return {gap: word for gap, word in self._yours.items() if gap < len(self.cards)}

    def expect_words(self, own: Mapping[int, str]) -> None:
        """Ask with the next question for some words in its gaps, and for no others."""
        self._yours = dict(own)

    def show_words(self, own: Mapping[int, str]) -> None:
        """Write some words below the gaps, as if they had been typed, and ask for them where nobody has."""
        for gap, card in enumerate(self.cards):
            with QSignalBlocker(card.field):
                card.field.setText(own.get(gap, ""))
            card.yours.hide()
            if not self._gaps.is_asking:
                self._ask_word(gap, own.get(gap, ""))

    def _ask_kept(self) -> None:
        draft = self._draft
        if not self._kept or draft.masked is None or self._gaps.is_asking:
            return
        self._show_cursor()
        if draft.question == self._learned_of:
            return
        self._learned, self._learned_of = {}, draft.question
        work = partial(ask_kept, self._kept, draft.question)
        self._kept_weights.ask((self._kept, draft.question), work, heard=self._hear, refused=self._refuse)

    def _ask_word(self, gap: int, word: str) -> None:
        self._yours.pop(gap, None)
        draft, about, answer = self._draft, self._draft.about, self.answer
        if gap not in self._words:
            self._words[gap] = Channel(self, self._inspector.workers.models)
        channel = self._words[gap]
        channel.drop()
        if word and about is not None:
            self._yours[gap] = word
            models = self._inspector.open_models
            work = partial(
                score_word, models, folder=about.folder, question=draft.question, gap=gap, word=word
            )
            heard = partial(self._hear_word, draft.question, gap)
            channel.ask((about.folder, draft.question, word), work, heard=heard, refused=self._refuse)
        elif answer is not None and answer.yours.get(gap) is not None:
            self._show_gaps(replace(answer, yours={**answer.yours, gap: None}))

    # ---- answers

    def _hear_word(self, question: MaskedText, gap: int, score: WordScore | UserError) -> None:
        if question == self._draft.question and self.answer is not None:
            self._show_gaps(replace(self.answer, yours={**self.answer.yours, gap: score}))

    def _hear(self, answer: GapsAnswer | JointAnswer | LearnedAnswer) -> None:
        if answer.question != self._draft.question:
            return
        if isinstance(answer, GapsAnswer):
            self._show_gaps(answer)
            self.answered.emit(answer)
        elif isinstance(answer, JointAnswer):
            self.joint.show_answer(answer.joint, self._draft.caption())
        else:
            self._learned[answer.step] = answer
            self._show_learned()

    def _show_gaps(self, answer: GapsAnswer) -> None:
        self.answer = answer
        captions = self._draft.caption()
        for card, _gap in zip(self.cards, answer.probed.answers, strict=False):
            card.show_answer(answer, captions)

    def _refuse(self, error: BaseException) -> None:
        self._set_dim(False)
        self.refused.emit(error)

    def _set_dim(self, dim: bool) -> None:
        for card in self.cards:
            card.set_dim(dim)
        self.joint.set_dim(dim)

    def _show_learned(self) -> None:
        masked = self._draft.masked
        if masked is None:
            return
        steps = sorted(self._learned)
        lines: dict[str, list[float]] = {}
        for place, gap in enumerate(masked.gaps[:MOST_GAPS]):
            scores: list[WordScore | None] = [
                self._learned[step].probed.answers[place].original for step in steps
            ]
            if any(score is not None for score in scores):
                name = f"{place + 1} {gap.text}" if len(masked.gaps) > 1 else gap.text
                lines[name] = [float("nan") if score is None else score.probability for score in scores]
        self.learned.show_lines(steps, lines, self._draft.caption())
        self._show_cursor()

    def _show_cursor(self) -> None:
        about = self._draft.about
        here = [one.step for one in self._kept if about is not None and one.path == about.folder]
        self.learned.plot.set_cursor(here[0] if here else None)

    # ---- places

    def _arrange(self) -> None:
        """Show a card for each gap, in columns."""
        masked = self._draft.masked
        gaps = masked.gaps if masked is not None else ()
        count = min(len(gaps), MOST_GAPS)
        while len(self.cards) < count:
            self._add_card()
        shown: list[Card] = list(self.cards[:count])
        if masked is not None and can_fill_jointly(masked):
            shown.append(self.joint)
        else:
            self.joint.clear()
        for card in self.cards[count:]:
            card.plots[0].clear()
        self._place(shown)
        self.nothing.setVisible(not gaps)
        self.empty.set_text(self._draft.refusal or self._invitation)
        self._say_more(count, len(gaps), self.joint in shown)

    def _say_more(self, count: int, num_gaps: int, is_joint: bool) -> None:
        """Say which gaps are left out, of the cards or of the joint filling."""
        said = []
        if num_gaps > count:
            template = self.tr("The first {count} of {all} masks are shown.")
            said.append(template.format(count=words.number(count), all=words.number(num_gaps)))
        if num_gaps > 1 and not is_joint:
            template = self.tr("All at once works for up to {count} [MASK]s.")
            said.append(template.format(count=words.number(MOST_JOINT)))
        self.more.setText(words.sentences(said))
        self.more.setVisible(bool(said))

    def _add_card(self) -> None:
        card = GapCard(len(self.cards) + 1, self.widget())
        card.word_asked.connect(self._ask_word)
        card.guess_chosen.connect(self._draft.fill)
        self.cards.append(card)

    def _place(self, shown: list[Card]) -> None:
        """Put cards side by side, what was learned under them all, or beside a card that is alone."""
        masked = self._draft.masked
        is_known = masked is not None and any(gap.original for gap in masked.gaps)
        with_learned = bool(self._kept) and bool(shown) and is_known
        is_alone = with_learned and len(shown) == 1
        width = CARD_WIDTH if self._draft.beside is None else TWICE_WIDTH
        room = max(1, (self.viewport().width() + GAP) // (width + GAP))
        columns = min(3, room, len(shown) + is_alone) or 1
        places = {card: (number // columns, number % columns, 1) for number, card in enumerate(shown)}
        if is_alone and columns > 1:
            places[self.learned] = (0, 1, 1)
        elif with_learned:
            places[self.learned] = (len(shown), 0, columns)
        if places == self._places:
            return
        for card in self._places:
            self._grid.removeWidget(card)
        for card in (*self.cards, self.joint, self.learned):
            card.setVisible(card in places)
        for card, (row, column, span) in places.items():
            self._grid.addWidget(card, row, column, 1, span)
        self._places = places
        for column in range(3):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()


class LearnedCard(Card):
    """The probability of what was hidden over the weights that the run kept; a click moves the slider."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("probe_learned")
        self.set_title(self.tr("During training"))
        self.set_hint(self.tr("probability of the original"), deed=self.tr("click a step to go there"))
        self.plot = named(LearnedPlot(self.tr("During training")), "probe_learned_plot")
        self.plot.set_empty_text(
            self.tr("How the model rated the masked words during training appears here.")
        )
        yield_to_layout(self.plot, 136)
        self.add_corner(save_icon(self.plot))
        self.add(self.plot, 1)
        self.setMinimumHeight(LEARNED_HEIGHT)

    def show_lines(
        self, steps: list[int], lines: dict[str, list[float]], caption: list[tuple[str, str]]
    ) -> None:
        """Show a line a word."""
        self.plot.set_lines(steps, lines)
        self.plot.set_caption(caption)
