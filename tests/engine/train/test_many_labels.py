"""More labels than are usual: they are counted without a table of all pairs."""

from __future__ import annotations

import numpy as np
import pytest

from engine.train import metrics
from engine.train.metrics import notes_on, score_classes, scores_of
from engine.train.tasks.classification.task import Classification


def test_scores_of_many_classes_are_those_that_a_confusion_matrix_gives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(5)
    targets, answers = rng.integers(0, 40, 300), rng.random((300, 40), np.float32)
    answers[np.arange(0, 300, 2), targets[::2]] = 2
    task = Classification(tuple(f"label {n}" for n in range(40)))
    full = task.score(answers, targets)
    monkeypatch.setattr(metrics, "MOST_CONFUSED", 39)
    few = task.score(answers, targets)
    assert full.confusion is not None and few.confusion is None
    assert few.metrics == full.metrics and few.per_label == full.per_label
    one, other = (scores_of(found, task.labels) for found in (few, full))
    assert one is not None and other is not None
    assert np.array_equal(one.num_predicted, other.num_predicted) and np.array_equal(one.hits, other.hits)
    assert notes_on(task.labels, one, "test") == notes_on(task.labels, other, "test")


def test_five_thousand_classes_take_no_square_of_room() -> None:
    targets = np.arange(5000)
    scores = score_classes(targets, targets[::-1].copy(), 5000)
    assert scores.confusion is None and scores.summary()["accuracy"] == 0
