"""Classification as a task among others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from engine.errors import Sentence, marked
from engine.settings.finetune import AdaptConfig, DataConfig
from engine.train.adapt import WEIGHTED, label_weights, on_rare
from engine.train.prepare import Setup
from engine.train.task import Answering
from engine.train.tasks.classification.reading import OneLabel
from engine.train.tasks.classification.task import Classification
from engine.train.tasks.kind import Seen
from engine.train.tasks.rows.kind import OfRows


class Classifying(OfRows):
    """One label for a text or a pair of texts."""

    name = Classification.name
    does, pipeline = marked("engine", "answers a text with one label"), '"text-classification"'
    problem = "single_label_classification"
    reading = OneLabel()
    counts_words = has_temperature = True

    def looks(self, path: Path, data: DataConfig) -> None:
        """Nothing speaks for it: it is what remains."""

    def task(self, setup: Setup, adapt: AdaptConfig) -> Classification:
        weights: tuple[float, ...] = ()
        if adapt.rare_labels == WEIGHTED:
            weights = label_weights(setup.sets["train"].targets, len(setup.labels))
        return Classification(setup.labels, weights, adapt.label_smoothing)

    def telling(self, task: Answering, seen: Seen) -> Classification:
        assert isinstance(task, Classification)
        return replace(task, seen=seen)

    def on_rare(self, setup: Setup, how: str) -> Sentence:
        return on_rare(setup.labels, setup.sets["train"].targets, how)
