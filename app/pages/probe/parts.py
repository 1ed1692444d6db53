"""Small parts of the Probe page."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from app import words
from app.look.layout import STRETCH, column, row
from app.look.widgets import Card, EmptyState, button, holder, named
from app.shipped import home_model
from engine.errors import ModelError
from engine.inspect.loaded_model import ModelSummary
from engine.inspect.masked.score import GapAnswer, WordScore


class NeedsView(QStackedWidget):
    """A tab's content, or, where the model lacks the head that it needs, the reason and the ways."""

    choose_wanted = Signal()
    pretrain_wanted = Signal()
    starter_wanted = Signal()

    def __init__(self, content: QWidget, needs: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.content, self._needs = content, needs
        self.empty = named(EmptyState("", self.tr("Choose a model folder…")), f"probe_lacks_{needs}")
        self.empty.activated.connect(self.choose_wanted)
        self.pretrain = button(self.tr("Pretrain a model"), name=f"probe_pretrain_{needs}")
        self.pretrain.clicked.connect(self.pretrain_wanted)
        self.starter = button(self.tr("Use the starter model"), name=f"probe_starter_{needs}")
        self.starter.clicked.connect(self.starter_wanted)
        if home_model() is None:
            self.starter.hide()
        layout = self.empty.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.addLayout(row(STRETCH, self.starter, self.pretrain, STRETCH, gap=12))  # as it has itself
        card = Card()
        card.add(self.empty, 1)
        self.addWidget(content if isinstance(content, Scroller) else scrolled(content))
        self.addWidget(scrolled(card))

    def take_model(self, about: ModelSummary) -> bool:
        """Show the content if the model can answer there. Returns: whether it can."""
        try:
            about.require(self._needs)
        except ModelError as error:
            self.empty.set_text(words.say_error(error))
            self.setCurrentIndex(1)
            return False
        self.setCurrentIndex(0)
        return True


class Scroller(QScrollArea):
    """A column that scrolls when it is higher than the room."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, widgetResizable=True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.column = column(gap=14)
        self.setWidget(holder(self.column))


def scrolled(content: QWidget) -> Scroller:
    """Return a widget in a column that scrolls where it must, and takes all room where there is more."""
    result = Scroller()
    result.column.addWidget(content, 1)
    return result


def rank_words(score: WordScore, answer: GapAnswer) -> str:
    """Return "rank 3 · 8.1 %" of a word in a gap; "8.1 %" alone where the rank is not known."""
    rank, share = answer.rank_of(score), words.probability(answer.probability_of(score))
    if not rank:
        return share
    return words.translate("probe", "rank {rank} · {share}").format(rank=words.number(rank), share=share)
