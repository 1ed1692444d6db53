"""The Tokenizer page: from text to ids, with every reason; a vocabulary is all it needs."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from app import words
from app.look.banner import Banner
from app.look.copy_command import CopyCommandButton
from app.look.layout import stacked
from app.look.segmented_buttons import FoldingButtons
from app.look.widgets import button, named
from app.pages.inside.kept_page import KeptPage
from app.pages.stated_page import InBar
from app.pages.tokenizer.learn import LearnDialog
from app.pages.tokenizer.requests import is_model
from app.pages.tokenizer.side_by_side import SideBySideView
from app.pages.tokenizer.state import SIDE, TABLE, TEXT, VIEWS, TokenizerState
from app.pages.tokenizer.table import TableTokensView
from app.pages.tokenizer.text import TextView
from app.pages.tokenizer.vocabulary import VocabularyBar, name_of_vocabulary
from app.plots.figure import Figure
from app.session import Session
from app.work.texts_read import TableTexts, TextsRead, TypedTexts, typed
from engine.errors import UserError, marked
from engine.model.model_name import ModelName
from engine.questions.tokenize import TokenizeQuestion

LONGEST_COMMAND = 100_000  # bytes of texts; a shell takes 131,072 in a word


class TokenizerPage(KeptPage[TokenizerState]):
    """Three views: one text step by step, in several vocabularies, and the open table as a whole."""

    state_kind = TokenizerState

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("tokenizer_page")
        self.header.title_label.setText(self.tr("Tokenizer"))
        self.header.set_sentence(self.tr("See how text becomes ids."))
        self.session = session
        self.bar = VocabularyBar(session)
        self.banner = Banner(name="tokenizer_banner")
        self.text_view = TextView(session, self.bar)
        self.side_view = SideBySideView(session, self.bar)
        self.table_view = TableTokensView(session, self.bar)
        self._seen: object = None
        self._is_stale = True
        self.views = stacked(self.text_view, self.side_view, self.table_view)
        for widget, stretch in ((self.bar, 0), (self.banner, 0), (self.views, 1)):
            self.body.addWidget(widget, stretch)
        self._add_actions()
        self.bar.changed.connect(self._vocabulary_changed)
        self.bar.changed.connect(self.in_bar_changed)
        self.bar.refused.connect(self.refuse)
        self.text_view.refused.connect(self.refuse)
        self.text_view.answered.connect(self.banner.hide)
        self.text_view.answered.connect(self._offer_command)
        self.table_view.refused.connect(self.refuse)
        self.side_view.refused.connect(self.refuse)
        self.side_view.steps_wanted.connect(self._show_steps)
        session.inspector.text_changed.connect(self._text_changed)

    def _add_actions(self) -> None:
        self.view_choice = FoldingButtons(
            "tokenizer_view",
            self.tr("View"),
            (
                (TEXT, self.tr("This text"), ""),
                (SIDE, self.tr("Compare"), self.tr("One text in several vocabularies, side by side")),
                (TABLE, self.tr("The table"), self.tr("All rows of the open table")),
            ),
            height=30,
        )
        self.view_choice.chosen.connect(self.show_view)
        self.header.add_action(self.view_choice)
        self.learn_button = button(self.tr("Train a vocabulary…"), name="tokenizer_learn", call=self._learn)
        self.learn_button.setToolTip(self.tr("Make your own vocab.txt from a text"))
        self.copy_button = named(CopyCommandButton(), "copy_tokenizer_command")
        self.copy_button.clicked.connect(self.copy_command)
        self.header.add_action(self.copy_button)
        self.header.add_action(self.learn_button)
        self._offer_command()

    def show_view(self, view: str) -> None:
        """Show one of VIEWS."""
        self.banner.hide()
        self.view_choice.set_current(view)
        self.views.setCurrentIndex(VIEWS.index(view))
        self.in_bar_changed.emit()
        self._offer_command()

    @property
    def view(self) -> str:
        """Which of VIEWS is shown."""
        return VIEWS[self.views.currentIndex()]

    def _offer_command(self) -> None:
        """Let the line be copied where a command does what is on screen."""
        found, said = self.text_view.found, ""
        if self.views.currentWidget() is self.table_view:
            lacking = self.tr("No command measures a whole table. Switch to “This text” to copy one.")
        elif self.views.currentWidget() is self.side_view:
            lacking = self.tr("A command splits with one vocabulary. Switch to “This text” to copy one.")
        elif found is None:
            lacking = self.tr("Type a text first.")
        elif len((found.asked.text + (found.asked.text_pair or "")).encode()) > LONGEST_COMMAND:
            lacking = self.tr("The text is too long for a command.")
        else:
            lacking = ""
            said = self.tr("The command prints the rows that the model reads, without padding.")
        self.copy_button.offer(lacking, said)

    def copy_command(self) -> None:
        """Put the command that cuts the same text on the clipboard."""
        if self.text_view.found is not None:
            asked = self.text_view.found.asked
            same = TokenizeQuestion(
                ModelName(asked.first.path),
                asked.text,
                asked.text_pair,
                max_length=asked.max_length,
                truncation=asked.truncation,
            )
            self.copy_button.copy(same.command())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.bar.start()
        self._catch_up()
        self.take_up()

    def _text_changed(self) -> None:
        self._is_stale = True
        self._catch_up()

    def _vocabulary_changed(self) -> None:
        self.banner.hide()
        if self.bar.first is not None and self.bar.first is not self._seen:
            self._seen = self.bar.first
            self.text_view.set_limit(self.bar.first.max_length)
        self._is_stale = True
        self._catch_up()
        self.table_view.catch_up()
        self.side_view.catch_up()
        self.take_up()

    def _catch_up(self) -> None:
        if self._is_stale and self.isVisible():
            self._is_stale = False
            self.text_view.ask()

    def refuse(self, error: BaseException) -> None:
        """Say in place why something cannot be done."""
        self._to_show = None
        self.banner.show_text("look", words.say_error(error))

    # ---- what is shown, kept and shown again

    @property
    def state(self) -> TokenizerState:
        if self.view == TABLE:
            raise UserError(
                marked("engine", "A table is shown, which a scene cannot hold. Switch to “This text”.")
            )
        if self.view == SIDE and self.side_view.added:
            raise UserError(
                marked("engine", "A scene holds two vocabularies at most. Remove those that were added.")
            )
        first, second, inspector, view = (
            self.bar.first,
            self.bar.second,
            self.session.inspector,
            self.text_view,
        )
        if first is None or view.found is None:
            raise UserError(marked("engine", "There is nothing to keep here yet. Type a text first."))
        return TokenizerState(
            vocabulary=first.path,
            second=None if second is None else second.path,
            text=inspector.text,
            text_pair=inspector.text_pair,
            step=SIDE if self.view == SIDE else view.strip.current,
            row=max(0, view.chosen_row),
            most=view.max_length.value(),
            truncation=view.truncation.currentData(),
            padding=view.padding.currentData(),
        )

    @property
    def in_bar(self) -> InBar:
        first, second = self.bar.first, self.bar.second
        table = self.session.data.table if self.views.currentWidget() is self.table_view else None
        is_in_hand = first is None or first.path == self.session.inspector.folder
        return InBar(
            model="" if is_in_hand or first is None else name_of_vocabulary(first.path),
            other="" if second is None else name_of_vocabulary(second.path),
            data=None if table is None else table.path.name,
        )

    @property
    def texts_read(self) -> tuple[TextsRead, ...]:
        first, data, inspector = self.bar.first, self.session.data, self.session.inspector
        if first is None:
            return ()
        if self.view == TABLE:
            if data.table is None or data.roles is None or not data.roles.text:
                return ()
            texts: TableTexts | TypedTexts = TableTexts(data.table, data.roles.text, data.roles.text_pair)
        else:
            texts = typed(inspector.text, inspector.text_pair)
        return (TextsRead(first.wordpiece, texts, is_model=is_model(first.path), take=self._take_reader),)

    def _take_reader(self, model: Path) -> None:
        """Split with the vocabulary of another model, and have it in hand."""
        self.session.inspector.choose(model)
        self.bar.choose(model)

    def open_state(self, state: TokenizerState) -> None:
        self.show_view(SIDE if state.step == SIDE else TEXT)
        first, inspector = state.vocabulary, self.session.inspector
        if is_model(first) and first != inspector.folder:
            inspector.choose(first)  # the other pages look into it too
        if self.bar.first is None or self.bar.first.path != first:
            self.bar.choose(first)
        if (None if self.bar.second is None else self.bar.second.path) != state.second:
            self.bar.choose_second(state.second)
        inspector.set_text(state.text, state.text_pair)

    def is_open(self, state: TokenizerState) -> bool:
        there = [None if one is None else one.path for one in (self.bar.first, self.bar.second)]
        return there == [state.vocabulary, state.second]

    def take_state(self, state: TokenizerState) -> None:
        self.text_view.take_state(state)

    def figures_shown(self) -> tuple[Figure, ...]:
        found: tuple[Figure, ...] = (
            self.text_view.plot,
            *self.text_view.detail.searches,
            *self.side_view.flows,
        )
        return tuple(one for one in found if one.isVisible() and not one.is_empty)

    def _show_steps(self, path: Path) -> None:
        """Show step by step how a vocabulary splits the text."""
        self.show_view(TEXT)
        self.bar.choose(path)

    def _learn(self) -> None:
        dialog = LearnDialog(self.session, self)
        dialog.learned.connect(self.bar.choose_second)
        dialog.open()
