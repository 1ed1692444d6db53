"""Correcting texts in the window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from app import words
from app.pages.advice.remark import AdviceLine
from app.pages.tasks.correcting.asking import CorrectionAskCard
from app.pages.tasks.correcting.requests import correct
from app.pages.tasks.correcting.scores import CorrectionScores, kind_words
from app.pages.tasks.views import RowViews
from engine.events import Evaluated, Predicted
from engine.text.roles import OF_CORRECTION
from engine.train.run.records import count_of
from engine.train.tasks.correcting.details import NEVER_CHANGES, interval_in

if TYPE_CHECKING:
    from app.pages.tasks.views import Summary
    from app.work.models import OpenModels
    from engine.train.tasks.correcting.answers import CorrectedText

MOST_BARS = 6  # numbers of errors, or of changes, that have a bar of their own
MANY_FALSE = 0.2  # share of right texts that are changed, from which on it is said


class CorrectionViews(RowViews):
    """The text as it should be."""

    name, main_metric, useless = "correction", "correction_f1", NEVER_CHANGES
    shares = frozenset({"sentence_accuracy"})
    roles = OF_CORRECTION

    def title(self) -> str:
        return self.tr("Correcting text")

    def words(self, summary: Summary) -> str:
        return self.tr("One text → the same text, corrected")

    def metrics(self) -> dict[str, str]:
        return {
            "correction_f1": self.tr("correction F1"),
            "correction_precision": self.tr("precision of corrections"),
            "correction_recall": self.tr("recall of corrections"),
            "detection_f1": self.tr("detection F1"),
            "detection_precision": self.tr("precision of detection"),
            "detection_recall": self.tr("recall of detection"),
            "false_positive_rate": self.tr("false positive rate"),
            "place_correction_f1": self.tr("correction F1 by place"),
            "place_detection_f1": self.tr("detection F1 by place"),
        }

    def curve_words(self) -> str:
        return self.tr("Correction F1 on validation texts appears here after each evaluation.")

    def score_words(self, event: Evaluated) -> str:
        value, ends = event.metrics.get(self.main_metric), interval_in(event.details, self.main_metric)
        if value is None or ends is None:
            return "" if value is None else words.score(value)
        text = self.tr("{value} ({low} to {high})")
        return text.format(value=words.score(value), low=words.score(ends[0]), high=words.score(ends[1]))

    def remarks(self, event: Evaluated, *, is_over: bool) -> Iterator[AdviceLine]:
        wrong, rate = count_of(event.details, "num_wrong"), event.metrics.get("false_positive_rate", 0.0)
        if wrong and not event.metrics.get("detection_recall") and not rate:
            text = self.tr(
                "Nothing is changed rightly yet. Most places are right, and that is learned first."
            )
            if is_over:
                text = self.tr("No error is corrected. Train longer, or at a higher rate.")
            yield AdviceLine("wrong" if is_over else "look", text)
        elif rate >= MANY_FALSE:
            text = self.tr("{share} of the texts without an error are changed.")
            yield AdviceLine("look", text.format(share=words.share(rate)))

    def bars(self, summary: Summary) -> list[tuple[str, int]]:
        """Return how many texts have each number of errors, from none."""
        numbers = getattr(summary, "numbers", None)
        return [] if numbers is None else _counted(numbers.tolist())

    def bars_title(self) -> str:
        return self.tr("Wrong characters per text")

    def given_words(self) -> str:
        return self.tr("Right text")

    def ask_card(self) -> CorrectionAskCard:
        return CorrectionAskCard()

    def ask(self, models: OpenModels, folder: Path, *texts: str) -> CorrectedText:
        return correct(models, folder, *texts)

    def probabilities(self, event: Predicted) -> list[str]:
        found = event.probabilities.tolist()
        return [words.share(sure) if changes else "" for changes, sure in found]

    def counts_title(self) -> str:
        return self.tr("Changes per text")

    def answer_counts(self, event: Predicted) -> list[tuple[str, int]]:
        """Return how many texts have each number of changes, from none."""
        return _counted(event.probabilities[:, 0].astype(np.int64).tolist())

    def mark_words(self, mark: tuple[str, ...]) -> str:
        return words.within(kind_words(mark[-1]))

    def scores(self) -> CorrectionScores:
        return CorrectionScores()


def _counted(numbers: Sequence[int]) -> list[tuple[str, int]]:
    """Return how often each number occurs, the largest together."""
    counts = Counter(min(number, MOST_BARS - 1) for number in numbers)
    most = words.translate("CorrectionViews", "{count} or more").format(count=MOST_BARS - 1)
    names = [most if number == MOST_BARS - 1 else words.number(number) for number in range(MOST_BARS)]
    return [(names[number], counts[number]) for number in range(MOST_BARS) if counts[number]]
