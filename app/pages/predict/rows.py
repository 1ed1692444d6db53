"""Answers for each row of a table on the Predict page: one text above, a file's rows below."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QStackedWidget, QWidget

from app import words
from app.look.layout import STRETCH, column, row
from app.look.segmented_buttons import FoldingButtons
from app.look.widgets import GAP, Card, EmptyState, keep_private
from app.pages.predict.answers import AnswersCard
from app.pages.predict.model import doubt_words
from app.pages.predict.requests import FilePreview, ModelDescription, tell
from app.pages.predict.shares import SharesCard
from app.pages.predict.text import OneTextCard
from app.pages.predict.why_not import WhyNotCard
from app.pages.tasks.answers import AskCard, TaskAnswers
from app.pages.tasks.known import CLASSIFICATION, row_views_of
from app.pages.tasks.views import RowViews
from app.session import Session
from engine.events import Event
from engine.labelling.table_shares import SharesFound
from engine.text.reading.kinds import WRITTEN_SUFFIXES

EMPTY_WIDTH = 380


class RowAnswers(TaskAnswers):
    """One text above; below what leads to a file, then its rows with their answers."""

    suffixes = WRITTEN_SUFFIXES

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, partial(tell, session.inspector.open_models), parent)
        self._models = session.inspector.open_models
        self.answers = AnswersCard()
        keep_private(self.answers)
        self.no_file = EmptyState(
            self.tr("Choose a file on the left, or drop one here. Every row gets an answer."),
            self.tr("Choose a file…"),
            least_width=EMPTY_WIDTH,
        )
        no_file_card = Card(self.tr("Answers"))
        no_file_card.add(self.no_file, 1)
        self.shares, self.why_not = SharesCard(), WhyNotCard(session)
        self.views = FoldingButtons(
            "file_view",
            self.tr("View"),
            (
                ("answers", self.tr("Answers"), self.tr("Every row of the file with its answer")),
                ("shares", self.tr("Shares"), self.tr("The share of each label in the whole file")),
                ("why_not", self.tr("Why not an LLM?"), self.tr("What an answer costs here, measured")),
            ),
            to_left=True,
        )
        self.views.chosen.connect(self._show_view)
        self._files, self._views = QStackedWidget(), QStackedWidget()
        for one in (no_file_card, self.answers):
            self._files.addWidget(one)
        for part in (self._files, self.shares, self.why_not):
            self._views.addWidget(part)
        below = QWidget()
        column(row(self.views, STRETCH), (self._views, 1), gap=8, parent=below)
        self.usual_card = OneTextCard()
        self._own: dict[str, AskCard | None] = {}  # of tasks, made when first needed
        self._cards = QStackedWidget()
        self._cards.addWidget(self.usual_card)
        column((self._cards, 2), (below, 3), gap=GAP, parent=self)
        self.take_card(self.usual_card)
        self._run: Path | None = None  # behind the model, without which nobody knows how it errs
        self.views.hide()
        self._show_view("answers")

    def describe(self, described: ModelDescription) -> None:
        """Know what the model's answers are like."""
        views = row_views_of(described.task)
        self.usual_card.set_views(views, wants_pair=described.wants_pair)
        self.usual_card.set_doubt(doubt_words(described))
        self._show_card(views)
        self.answers.set_views(views)
        self._run = described.run
        has_views = described.task == CLASSIFICATION.name
        self.views.setVisible(has_views)
        self.why_not.begin()
        if not has_views:
            self._show_view("answers")

    def _show_card(self, views: RowViews) -> None:
        """Have texts typed into the card of a task, and ask as it does."""
        if views.name not in self._own:
            card = self._own[views.name] = views.ask_card()
            if card is not None:
                self._cards.addWidget(card)
                self.take_card(card)
        own, before = self._own[views.name], self._cards.currentWidget()
        self.ask_card = self.usual_card if own is None else own
        self.reply_to = partial(tell if own is None else views.ask, self._models)
        self._cards.setCurrentWidget(self.ask_card)
        if self.ask_card is not before:
            self.take_text()

    @property
    def is_asking(self) -> bool:
        return super().is_asking or self.why_not.is_asking

    def _show_view(self, key: str) -> None:
        self.views.set_current(key)
        self._views.setCurrentIndex(("answers", "shares", "why_not").index(key))

    def offer_file(self, name: str) -> None:
        """Offer the open table while no file is chosen. Args: name: "" for none."""
        use = self.tr("Use {name}").format(name=words.shorten(name, 40))
        self.no_file.button.setText(use if name else self.tr("Choose a file…"))

    def show_preview(self, shown: FilePreview) -> None:
        """Show a file's rows, without answers yet."""
        self.answers.show_preview(shown)
        self._files.setCurrentWidget(self.answers)
        self.shares.show_waiting(self.tr("Predict the file. The share of each label in it appears here."))
        self.why_not.begin()
        self._show_view("answers")

    def start(self, model: str) -> None:
        self.answers.start(model)
        is_known = self._run is not None
        lacking = self.tr("This model comes from no run of fine-tuning, so nobody knows how it errs.")
        self.shares.show_waiting(self.tr("The file is being predicted.") if is_known else lacking)
        self._show_view("answers")

    def hear(self, event: Event) -> None:
        self.answers.hear(event)
        if isinstance(event, SharesFound):
            self.shares.show_found(event)

    def end(self) -> None:
        self.answers.end()

    def mark_model(self, chosen: str) -> None:
        self.answers.mark_model(chosen)
