"""The Probe page: hide words and ask what belongs there; ask whether one sentence follows another.

An answer to an older question is never shown; while a newer one is on its way the old one stays, dimmed.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QDir, QTimer
from PySide6.QtWidgets import (
    QMenu,
    QStackedWidget,
    QTabBar,
    QWidget,
)

from app import words
from app.look.boxes import ChoiceBox
from app.look.copy_command import CopyCommandButton
from app.look.labels import label, set_or_hide, tip
from app.look.layout import STRETCH, column, row
from app.look.widgets import GAP, button, icon_button, named
from app.pages.choose.model_box import FolderQuestion
from app.pages.inside.page import LookingPage
from app.pages.probe.command import (
    CommandOffer,
    layers_offer,
    next_offer,
    over_table_offer,
    surprise_offer,
    templates_offer,
    words_offer,
)
from app.pages.probe.draft import ProbeDraft
from app.pages.probe.game import GameView
from app.pages.probe.history import PastQuestion, QuestionHistory
from app.pages.probe.layers import LayersView
from app.pages.probe.masked_text import MaskedText
from app.pages.probe.next_sentence import NextView
from app.pages.probe.over_table import OverTableView
from app.pages.probe.parts import NeedsView
from app.pages.probe.requests import GapsAnswer
from app.pages.probe.sentence import SentenceCard
from app.pages.probe.state import TABS, ProbeState
from app.pages.probe.surprise import SurpriseView
from app.pages.probe.templates import TemplatesView
from app.pages.probe.words import WordsView
from app.pages.run.state import RunPageState
from app.pages.stated_page import InBar
from app.plots.figure import Figure
from app.session import Session
from app.shipped import starter_model
from app.work.inspector import FIRST_CHINESE_TEXT, FIRST_TEXT
from app.work.texts_read import TextsRead, typed
from app.work.titles import model_title
from engine.errors import UserError, marked
from engine.inspect.loaded_model import ModelSummary
from engine.train.run.kept import name_of

TOP_CHOICES = (6, 10, 20, 50)
FIRST_WORDS = {  # in each first text, which a new model is asked for at once
    FIRST_TEXT: "doctor",
    FIRST_CHINESE_TEXT: "错误",
}
REMEMBER_MS = 1500  # a question that stands this long is kept in the history
WORDS, LAYERS, SURPRISE, NEXT, TEMPLATES, OVER_TABLE, GAME = range(7)


class ProbePage(LookingPage[ProbeState]):
    """One tab a kind of question; the sentence, where the question is about one; the answers below it."""

    state_kind = ProbeState

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent=parent)
        self.setObjectName("probe_page")
        self.header.title_label.setText(self.tr("Masked words"))
        self.header.set_sentence(self.tr("Mask words and ask what belongs there."))
        self.draft = ProbeDraft(self.inspector, self)
        self._history: QuestionHistory | None = None
        self._answered: GapsAnswer | None = None
        self._remember = QTimer(self, singleShot=True, interval=REMEMBER_MS)
        self._remember.timeout.connect(self.remember)
        self._make_beside()
        self._make_views()
        self._lay_out()
        self._connect()
        self._choose_tab(WORDS)

    # ---- building

    def _make_beside(self) -> None:
        self.beside_button = button(self.tr("Compare with a model…"), name="probe_add_beside")
        self.beside_menu = QMenu(self.beside_button)
        self.beside_menu.aboutToShow.connect(self._fill_beside)
        self.beside_question = FolderQuestion(self.session, self, name="probe_beside_dialog")
        self.beside_question.chosen.connect(self._take_beside)
        self.beside_question.refused.connect(self.refuse)
        self.beside_button.setMenu(self.beside_menu)
        self.copy_button = named(CopyCommandButton(), "copy_probe_command")
        self.copy_button.clicked.connect(self.copy_command)
        self.header.add_action(self.copy_button)
        self.header.add_action(self.beside_button)
        self.beside_name = label("", "muted", name="probe_beside_name")
        said = self.tr("Remove it again")
        self.beside_close = icon_button(
            "close", said, color="text", name="probe_beside_close", call=lambda: self.draft.set_beside(None)
        )
        self.beside_row = QWidget()
        row(self.beside_name, self.beside_close, STRETCH, gap=6, parent=self.beside_row)
        self.beside_row.hide()
        self.layers = label("", "muted", wrap=True, name="probe_layers")
        self.layers.hide()

    def _make_views(self) -> None:
        self.sentence = SentenceCard(self.session, self.draft)
        self.words_view = WordsView(self.inspector, self.draft)
        self.layers_view = LayersView(self.inspector, self.draft)
        self.surprise_view = SurpriseView(self.inspector, self.draft)
        self.next_view = NextView(self.session, self.draft)
        self.templates_view = TemplatesView(self.inspector, self.draft)
        self.over_table_view = OverTableView(self.session, self.draft)
        self.game_view = GameView(self.inspector, self.draft)
        self.tabs = named(QTabBar(drawBase=False, expanding=False), "probe_tabs", self.tr("Kind of question"))
        self.views: list[NeedsView] = []
        self.stack = QStackedWidget()
        for text, content, needs in (
            (self.tr("Words"), self.words_view, "masked_words"),
            (self.tr("Layers"), self.layers_view, "masked_words"),
            (self.tr("Surprisal"), self.surprise_view, "masked_words"),
            (self.tr("Next sentence"), self.next_view, "next_sentence"),
            (self.tr("Templates"), self.templates_view, "masked_words"),
            (self.tr("Over a table"), self.over_table_view, "masked_words"),
            (self.tr("Beat BERT"), self.game_view, "masked_words"),
        ):
            view = NeedsView(content, needs)
            self.views.append(view)
            self.stack.addWidget(view)
            self.tabs.addTab(text)
        said = self.tr("{count} guesses")
        entries = [(said.format(count=words.number(count)), count) for count in TOP_CHOICES]
        self.top = ChoiceBox("probe_top", self.tr("Number of guesses"), entries=entries, width=118)
        policy = self.top.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # the tabs and what is below them stay where they are
        self.top.setSizePolicy(policy)
        self.top.choose(self.words_view.top_k)

    def _lay_out(self) -> None:
        head = row(self.tabs, STRETCH, self.top, gap=GAP)
        cards = column(self.sentence, (self.stack, 1), gap=GAP)
        self.work.addWidget(self.layers)
        self.work.addWidget(self.beside_row)
        self.work.addLayout(column(head, (cards, 1)), 1)

    def _connect(self) -> None:
        self.sentence.make_shortcuts(self)
        self.draft.changed.connect(self.refresh)
        self.draft.beside_changed.connect(self._show_beside)
        self.draft.beside_changed.connect(self.in_bar_changed)
        self.tabs.currentChanged.connect(self._choose_tab)
        self.tabs.currentChanged.connect(self.in_bar_changed)
        self.top.chosen.connect(self.choose_top)
        self.words_view.answered.connect(self._hear_gaps)
        self.words_view.refused.connect(self.refuse)
        self.templates_view.shown.connect(self._offer_command)
        self.templates_view.shown.connect(self.reading_changed)
        self.over_table_view.asked_changed.connect(self._offer_command)
        self.over_table_view.asked_changed.connect(self.reading_changed)
        self.over_table_view.sentence_wanted.connect(self._look_at)
        self.inspector.model_changed.connect(self._offer_command)
        self.words_view.step_chosen.connect(self.subject_bar.choose_step)
        self.subject_bar.kept_changed.connect(lambda: self.words_view.set_kept(self.subject_bar.kept))
        for view in self.views:
            view.choose_wanted.connect(self.question.ask)
            view.pretrain_wanted.connect(partial(self.session.show_page, "pretrain", RunPageState()))
            view.starter_wanted.connect(self._use_starter)

    # ---- what changes

    def _say_layers(self, about: ModelSummary) -> None:
        """Say which of its layers a model answers by that has others for whole texts."""
        said = self.tr(
            "Answered by the layers trained on masked words. Fine-tuning and text vectors use those of "
            "{name}."
        )
        set_or_hide(self.layers, said.format(name=about.encoder_name) if about.encoder_name else "")

    def model_ready(self, about: ModelSummary) -> None:
        self._say_layers(about)
        self._history = QuestionHistory(self.session.settings, about)
        self.sentence.history = self._history
        for view in self.views:
            view.take_model(about)
        self.draft.take_model(about)

    def text_ready(self) -> None:
        before = self.draft.question.text
        self.draft.take_text()
        question = self.draft.question
        is_new = not self.draft.steps.can_undo or (question.text != before and not self.inspector.is_given)
        first = self._first_words(question.text)
        is_first = first and question == MaskedText(question.text) and is_new
        about, past = self.draft.about, self._history
        can_guess = about is not None and about.has_masked_words
        if is_first and can_guess and past is not None and not past.asked:
            self.draft.begin(first)
        elif can_guess and past is not None and past.asked and not self.draft.steps.can_undo:
            last = past.asked[0].question  # as it was left
            now, known = self.draft.question, range(len(self.draft.words))
            is_same = (last.text, last.text_pair) == (now.text, now.text_pair)
            if is_same and last.words and not now.words and all(word in known for word in last.words):
                self.draft.begin(last.words)

    def _first_words(self, text: str) -> tuple[int, ...]:
        """Return what is hidden at first in a text that nobody has chosen; () in any other."""
        start = text.find(FIRST_WORDS[text]) if text in FIRST_WORDS else -1
        stop = start + len(FIRST_WORDS.get(text, ""))
        return tuple(place for place, word in enumerate(self.draft.words) if start <= word.start < stop)

    def refresh(self) -> None:
        """Ask what the open tab asks, if that is new."""
        if not self.isVisible() or self.draft.about is None:
            return
        self.accept()
        if self.draft.refused is not None and "most" in self.draft.refused.sentence.values:
            self.offer_beginning(self.draft.refused)
        view = self.views[self.tabs.currentIndex()]
        if view.currentIndex() == 0:
            view.content.refresh()  # type: ignore[attr-defined]  # every content has it
        self._offer_command()

    def _choose_tab(self, index: int) -> None:
        self.stack.setCurrentIndex(index)
        self.sentence.setVisible(index in (WORDS, LAYERS, SURPRISE))
        self.top.setVisible(index == WORDS)
        self._offer_command()
        self.refresh()

    def choose_top(self, count: int) -> None:
        """Show so many guesses."""
        self.top.choose(count)
        self.words_view.top_k = count
        self.refresh()

    def take_caret(self) -> None:
        """Let a person type the text at once."""
        self.tabs.setCurrentIndex(WORDS)
        self.sentence.begin_typing()

    def _look_at(self, text: str) -> None:
        """Look at one text of a table alone: how surprising each of its words is."""
        self.inspector.set_text(text)
        self.tabs.setCurrentIndex(SURPRISE)

    # ---- as a command

    def _offer(self) -> CommandOffer:
        """Return the command for the open tab."""
        tab, draft = self.tabs.currentIndex(), self.draft
        view = self.views[tab]
        if self.inspector.about is None:
            return CommandOffer(lacking=self.tr("Choose a model first."))
        if view.currentIndex() == 1:
            return CommandOffer(lacking=view.empty.label.text())
        if tab == TEMPLATES:
            return templates_offer(draft, self.templates_view.scored, self.templates_view.path)
        if tab == GAME:
            return CommandOffer(
                lacking=self.tr("A game has no command. Mask words on the tab Words to copy one.")
            )
        if tab == OVER_TABLE:
            return over_table_offer(self.over_table_view.asked)
        if tab == WORDS:
            return words_offer(draft, self.words_view.top_k)
        return {LAYERS: layers_offer, SURPRISE: surprise_offer, NEXT: next_offer}[tab](draft)

    def _offer_command(self) -> None:
        offer = self._offer()
        self.copy_button.offer(offer.lacking, offer.said)

    def copy_command(self) -> None:
        """Put the command that asks the same on the clipboard."""
        offer = self._offer()
        if offer.line:
            self.copy_button.copy(offer.line)

    # ---- history

    def _hear_gaps(self, answer: GapsAnswer) -> None:
        self.accept()
        self._answered = answer
        self._remember.start()

    def remember(self) -> None:
        """Keep the question that was answered last with its model."""
        answer, self._answered = self._answered, None
        if answer is None or self._history is None or answer.question != self.draft.question:
            return
        guesses = words.listed(found.guesses[0].word for found in answer.probed.answers[:8] if found.guesses)
        self._history.add(PastQuestion(answer.question, self.draft.written, guesses))

    # ---- what is shown, kept and shown again

    @property
    def state(self) -> ProbeState:
        tab, templates, view = TABS[self.tabs.currentIndex()], self.templates_view, self.words_view
        model, question = self.model_shown, self.draft.question
        if tab == TABS[OVER_TABLE] or (tab == TABS[TEMPLATES] and templates.path is not None):
            raise UserError(
                marked(
                    "engine",
                    "A table is shown, which a scene cannot hold. Switch to one text, or type a template.",
                )
            )
        if tab == TABS[GAME]:
            raise UserError(marked("engine", "A game is played, not kept. Mask words on the tab Words."))
        return ProbeState(
            model=model,
            beside=self.draft.beside,
            text=self.inspector.text,
            text_pair=self.inspector.text_pair,
            tab=tab,
            words=question.words,
            pieces=question.pieces,
            by_pieces=self.draft.by_pieces,
            top=view.top_k,
            gap=max(0, self.layers_view.gaps.currentIndex()),
            own=tuple(sorted(view.own_words().items())),
            template=templates.written,
        )

    @property
    def in_bar(self) -> InBar:
        table = self.session.data.table if self.tabs.currentIndex() == OVER_TABLE else None
        return InBar(
            other="" if self.draft.beside is None else model_title(self.draft.beside),
            data=None if table is None else table.path.name,
        )

    @property
    def texts_read(self) -> tuple[TextsRead, ...]:
        tab, read = self.tabs.currentIndex(), super().texts_read
        if tab == GAME:  # in the language that the model spells best
            return ()
        if tab == TEMPLATES:
            return tuple(replace(one, texts=typed(self.templates_view.written[0])) for one in read)
        if tab == OVER_TABLE:
            texts = self.over_table_view.texts
            return tuple(replace(one, texts=texts) for one in read) if texts is not None else ()
        return read

    def take_state(self, state: ProbeState) -> None:
        draft = self.draft
        draft.set_beside(state.beside)
        num_pieces = len(draft.encoding.tokens) if draft.encoding is not None else 0
        known = all(word < len(draft.words) for word in state.words)
        if not known or any(place >= num_pieces for place in state.pieces):
            raise UserError(
                marked(
                    "engine",
                    "This scene masks words that its text does not have, so it cannot be shown completely.",
                )
            )
        self.choose_top(state.top)
        self.tabs.setCurrentIndex(TABS.index(state.tab))
        draft.set_by_pieces(state.by_pieces)
        self.words_view.expect_words(dict(state.own))
        draft.go(state.question)
        self.layers_view.choose_gap(state.gap)
        self.words_view.show_words(dict(state.own))
        self.templates_view.put(*state.template)

    def figures_shown(self) -> tuple[Figure, ...]:
        view = self.views[self.tabs.currentIndex()]
        found = [self.sentence.chips, *view.findChildren(Figure)]
        return tuple(one for one in found if one.isVisible() and not one.is_empty)

    # ---- a model beside

    def _fill_beside(self) -> None:
        self.beside_menu.clear()
        for entry in self.session.library.offered():
            if entry.path != self.inspector.folder:
                self._offer_beside(self.beside_menu, entry.title, entry.path)
        steps = [one for one in self.subject_bar.kept if one.path != self.inspector.folder]
        if steps:
            menu = self.beside_menu.addMenu(self.tr("Weights of this run"))
            for one in steps:
                said = self.tr("step {step}").format(step=words.number(one.step))
                self._offer_beside(menu, said, one.path)
        self.beside_menu.addSeparator()
        self.beside_menu.addAction(self.tr("Choose a folder…"), self.beside_question.ask)

    def _offer_beside(self, menu: QMenu, name: str, path: Path) -> None:
        action = menu.addAction(name.replace("&", "&&"), partial(self.draft.set_beside, path))
        action.setToolTip(tip(QDir.toNativeSeparators(str(path))))

    def _take_beside(self, folder: str) -> None:
        self.draft.set_beside(Path(folder).absolute())

    def _show_beside(self) -> None:
        folder = self.draft.beside
        self.beside_row.setVisible(folder is not None)
        if folder is not None:
            self.beside_name.setText(self.tr("Compared with: {name}").format(name=name_of(folder)))
        self.refresh()

    def _use_starter(self) -> None:
        starter = starter_model()
        if starter is not None:
            self.inspector.choose(starter)
