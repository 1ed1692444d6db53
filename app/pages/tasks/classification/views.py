"""Classification in the window."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from app import words
from app.pages.advice.remark import AdviceLine
from app.pages.tasks.classification.remarks import accuracy_words, on_chance, on_predictions
from app.pages.tasks.classification.scores import ScoresCard
from app.pages.tasks.views import RowViews
from engine.events import Evaluated

if TYPE_CHECKING:
    from app.pages.tasks.views import Summary


class ClassificationViews(RowViews):
    """One label for a text or a pair."""

    name, main_metric = "classification", "accuracy"
    shares = frozenset({"accuracy"})
    has_one_label = True

    def title(self) -> str:
        return self.tr("Classification")

    def words(self, summary: Summary) -> str:
        return self.model_words(len(summary.labels), is_pair=summary.is_pair)

    def model_words(self, num_labels: int, *, is_pair: bool) -> str:
        text = self.tr("One text → {count} labels")
        if is_pair:
            text = self.tr("Two texts → {count} labels")
        return text.format(count=words.number(num_labels))

    def metrics(self) -> dict[str, str]:
        return {
            "accuracy": self.tr("accuracy"),
            "macro_f1": self.tr("macro F1"),
        }

    def curve_words(self) -> str:
        return self.tr("The share of correct answers appears here, on training and validation rows.")

    def score_words(self, event: Evaluated) -> str:
        return accuracy_words(event)

    def remarks(self, event: Evaluated, *, is_over: bool) -> Iterator[AdviceLine]:
        if event.split == "test":
            yield from on_chance(event)
        elif event.confusion is not None:
            yield from on_predictions(event, is_over=is_over)

    def scores(self) -> ScoresCard:
        return ScoresCard()
