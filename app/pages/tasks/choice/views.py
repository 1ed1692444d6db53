"""Multiple choice in the window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from app import words
from app.pages.advice.remark import AdviceLine
from app.pages.tasks.choice.scores import EndingScores
from app.pages.tasks.classification.remarks import accuracy_words, on_chance
from app.pages.tasks.views import RowViews
from app.plots.bars import BarsPlot
from engine.events import Evaluated
from engine.text.roles import OF_CHOICES

if TYPE_CHECKING:
    from app.pages.tasks.views import Summary


class ChoiceViews(RowViews):
    """Which of several endings goes on with a text."""

    name, main_metric = "multiple-choice", "accuracy"
    shares = frozenset({"accuracy"})
    roles = OF_CHOICES

    def title(self) -> str:
        return self.tr("Multiple choice")

    def words(self, summary: Summary) -> str:
        text = self.tr("One text → the right one of {count} endings")
        return text.format(count=words.number(len(summary.labels)))

    def metrics(self) -> dict[str, str]:
        return {"accuracy": self.tr("accuracy")}

    def curve_words(self) -> str:
        return self.tr("The share of right endings appears here, on training and validation rows.")

    def score_words(self, event: Evaluated) -> str:
        return accuracy_words(event)

    def remarks(self, event: Evaluated, *, is_over: bool) -> Iterator[AdviceLine]:
        yield from on_chance(event)

    def bars(self, summary: Summary) -> list[tuple[str, int]]:
        """Return how many rows have their right ending in each column, in the order of these."""
        return list(zip(summary.labels, map(int, summary.counts), strict=True))

    def bars_title(self) -> str:
        return self.tr("Place of the right ending")

    def second_words(self) -> str:
        return self.tr("And its endings, 2 to 9, each on a separate line.")

    def second_title(self) -> str:
        return self.tr("A text and its endings")

    def show_answer(self, bars: BarsPlot, labels: Sequence[str], values: np.ndarray, answered: str) -> str:
        pairs = [(words.shorten(name, 60), float(value)) for name, value in zip(labels, values, strict=True)]
        best = int(values.argmax())
        bars.set_bars(pairs, as_share=True, highlight=pairs[best][0])
        text = self.tr("Ending {number} · {share}")
        return text.format(number=words.number(best + 1), share=words.share(pairs[best][1]))

    def answer_empty_words(self) -> str:
        return self.tr("The probability of each ending appears here.")

    def counts_title(self) -> str:
        return self.tr("Chosen endings")

    def scores(self) -> EndingScores:
        return EndingScores()
