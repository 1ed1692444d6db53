"""Several labels a row in the window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from app import words
from app.pages.advice.remark import AdviceLine
from app.pages.tasks.multi_label.scores import MultiLabelScores
from app.pages.tasks.views import FEW_LABELS, RowViews
from app.plots.bars import BarsPlot
from engine.events import Evaluated, Predicted

if TYPE_CHECKING:
    from app.pages.tasks.views import Summary

BETWEEN = "; "  # labels in a cell of answers, as the engine writes them


class MultiLabelViews(RowViews):
    """Several labels for a text or a pair, or none."""

    name, main_metric = "multi-label", "micro_f1"
    shares = frozenset({"subset_accuracy"})

    def title(self) -> str:
        return self.tr("Several labels")

    def words(self, summary: Summary) -> str:
        text = self.tr("One text → any of {count} labels")
        if summary.is_pair:
            text = self.tr("Two texts → any of {count} labels")
        return text.format(count=words.number(len(summary.labels)))

    def metrics(self) -> dict[str, str]:
        return {
            "micro_f1": self.tr("micro F1"),
            "macro_f1": self.tr("macro F1"),
            "subset_accuracy": self.tr("all labels right"),
        }

    def curve_words(self) -> str:
        return self.tr("F1 over all labels together appears here, on training and validation rows.")

    def remarks(self, event: Evaluated, *, is_over: bool) -> Iterator[AdviceLine]:
        from engine.train.tasks.multi_label.task import MultiLabel  # here: it brings torch with it

        for sentence, level in MultiLabel(event.labels).remarks(event, event.split):
            if level != "fine":
                yield AdviceLine(level if is_over else "look", words.say(sentence))

    def show_answer(self, bars: BarsPlot, labels: Sequence[str], values: np.ndarray, answered: str) -> str:
        pairs = [(name, float(value)) for name, value in zip(labels, values, strict=True)]
        if len(pairs) > FEW_LABELS:
            pairs.sort(key=lambda pair: -pair[1])
        given = answered.split(BETWEEN) if answered else []
        bars.set_bars(pairs, as_share=True, highlight=given)
        return words.shorten(answered, 60) or self.tr("none of the labels")

    def probabilities(self, event: Predicted) -> list[str]:
        """Return the probability of each label that a row was given."""
        place = {label: number for number, label in enumerate(event.labels)}
        return [
            BETWEEN.join(
                words.share(float(row[place[name]]), 0) for name in said.split(BETWEEN) if name in place
            )
            for said, row in zip(event.predictions, event.probabilities, strict=True)
        ]

    def answer_counts(self, event: Predicted) -> list[tuple[str, int]]:
        counts = Counter(name for said in event.predictions for name in said.split(BETWEEN))
        return sorted(((name, counts[name]) for name in event.labels), key=lambda bar: -bar[1])

    def scores(self) -> MultiLabelScores:
        return MultiLabelScores()
