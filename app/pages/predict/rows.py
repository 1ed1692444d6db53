"""Answers for each row of a table on the Predict page: one text above, a file's rows below."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QStackedWidget, QWidget

from app.look.widgets import Card, EmptyState, keep_private
from app.pages.predict.answers import AnswersCard
from app.pages.predict.model import doubt_words
from app.pages.predict.requests import FilePreview, ModelDescription, tell
from app.pages.predict.text import OneTextCard
from app.pages.tasks.answers import TaskAnswers
from app.pages.tasks.known import row_views_of
from app.session import Session
from engine.events import Event
from engine.text.reading.kinds import WRITTEN_SUFFIXES

EMPTY_WIDTH = 380


class RowAnswers(TaskAnswers):
    """One text above; below what leads to a file, then its rows with their answers."""

    suffixes = WRITTEN_SUFFIXES
    ask_card: OneTextCard

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, partial(tell, session.inspector.open_models), parent)
        self.answers = AnswersCard()
        keep_private(self.answers)
        self.no_file = EmptyState(
            self.tr("Choose a file on the left, or drop one here. Every row gets an answer."),
            self.tr("Choose a file…"),
            least_width=EMPTY_WIDTH,
        )
        no_file_card = Card(self.tr("Answers"))
        no_file_card.add(self.no_file, 1)
        self._files = QStackedWidget()
        self._files.addWidget(no_file_card)
        self._files.addWidget(self.answers)
        self.add_cards(OneTextCard(), self._files, (2, 3))

    def describe(self, described: ModelDescription) -> None:
        """Know what the model's answers are like."""
        views = row_views_of(described.task)
        self.ask_card.set_views(views, wants_pair=described.wants_pair)
        self.ask_card.set_doubt(doubt_words(described))
        self.answers.set_views(views)

    def show_preview(self, shown: FilePreview) -> None:
        """Show a file's rows, without answers yet."""
        self.answers.show_preview(shown)
        self._files.setCurrentWidget(self.answers)

    def start(self, model: str) -> None:
        self.answers.start(model)

    def hear(self, event: Event) -> None:
        self.answers.hear(event)

    def end(self) -> None:
        self.answers.end()

    def mark_model(self, chosen: str) -> None:
        self.answers.mark_model(chosen)
