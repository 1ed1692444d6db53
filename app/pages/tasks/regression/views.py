"""A number a row in the window."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QCoreApplication

from app import words
from app.pages.advice.remark import AdviceLine
from app.pages.tasks.regression.scores import RegressionScores, correlation_words
from app.pages.tasks.views import RowViews
from app.plots.bars import BarsPlot
from engine.events import Evaluated, Predicted

if TYPE_CHECKING:
    from app.pages.tasks.views import Summary

translate = QCoreApplication.translate
MOST_BINS = 12


class RegressionViews(RowViews):
    """A number for a text or a pair."""

    name, main_metric, lowest = "regression", "pearson", -1.0
    has_probability, is_of_numbers = False, True

    def title(self) -> str:
        return self.tr("A number")

    def words(self, summary: Summary) -> str:
        if summary.is_pair:
            return self.tr("Two texts → a number")
        return self.tr("One text → a number")

    def bars(self, summary: Summary) -> list[tuple[str, int]]:
        """Return how many rows have numbers in each of some equal ranges, from the lowest."""
        numbers = getattr(summary, "numbers", None)
        return [] if numbers is None or not len(numbers) else bars_of(numbers)

    def metrics(self) -> dict[str, str]:
        return {
            "pearson": self.tr("Pearson correlation"),
            "spearman": self.tr("Spearman correlation"),
            "r2": self.tr("R²"),
            "mse": self.tr("mean squared error"),
            "mae": self.tr("mean error"),
        }

    def value(self, name: str, value: float, rows: int) -> str:
        return words.decimal(value)  # no share of anything

    def score_words(self, event: Evaluated) -> str:
        return correlation_words(event, "pearson")

    def remarks(self, event: Evaluated, *, is_over: bool) -> Iterator[AdviceLine]:
        from engine.train.tasks.regression.task import Regression  # here: it brings torch with it

        for sentence, level in Regression(event.labels).remarks(event, event.split):
            yield AdviceLine(level if is_over else "look", words.say(sentence))

    def show_answer(self, bars: BarsPlot, labels: Sequence[str], values: np.ndarray, answered: str) -> str:
        bars.clear()
        bars.set_empty_text(words.quantity(float(values[0]), 0.0))
        return ""

    def answer_empty_words(self) -> str:
        return self.tr("The predicted number appears here.")

    def predictions(self, event: Predicted) -> list[str]:
        numbers = event.probabilities[:, 0].astype(float)
        spread = float(np.ptp(numbers)) if len(numbers) else 0.0
        return [words.quantity(number, spread) for number in numbers.tolist()]

    def counts_title(self) -> str:
        return self.tr("Predicted numbers")

    def bars_title(self) -> str:
        return self.tr("Numbers")

    def probabilities(self, event: Predicted) -> list[str]:
        return []

    def answer_counts(self, event: Predicted) -> list[tuple[str, int]]:
        """Return how many predictions lie in each of some equal ranges, from the lowest."""
        return bars_of(event.probabilities[:, 0]) if len(event.rows) else []

    def scores(self) -> RegressionScores:
        return RegressionScores()


def round_step(least: float) -> float:
    """Return the first of 1, 2, 2.5, 5 times a power of ten that is not below a number."""
    if not least > 0:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(least))
    return next(unit * times for times in (1, 2, 2.5, 5, 10) if unit * times >= least * (1 - 1e-9))


def bars_of(numbers: np.ndarray) -> list[tuple[str, int]]:
    """Return (range, count) of numbers in some equal ranges between round numbers."""
    low, high = float(numbers.min()), float(numbers.max())
    step = round_step((high - low) / min(MOST_BINS, max(2, len(np.unique(numbers)))))
    first = math.floor(low / step)
    num_bins = max(1, math.ceil(round(high / step - first, 6)))
    edges = step * np.arange(first, first + num_bins + 1)
    counts, edges = np.histogram(np.clip(numbers, edges[0], edges[-1]), bins=edges)
    digits = len(f"{step:.12f}".rstrip("0").partition(".")[2])
    said = [words.decimal(float(edge), digits) for edge in edges]
    template = translate("RegressionViews", "{low} to {high}")
    names = [template.format(low=low, high=high) for low, high in pairwise(said)]
    return list(zip(names, counts.tolist(), strict=True))
