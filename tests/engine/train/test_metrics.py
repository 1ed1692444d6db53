"""Scores against counts made by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats  # comes with scikit-learn
from sklearn.dummy import DummyClassifier
from sklearn.metrics import classification_report

from engine.train.metrics import score_classes, student_interval, wilson_interval
from engine.train.tasks.classification.task import Classification

#            right: 0 at 1 of 2, 1 at 2 of 3, 2 at 0 of 1; 3 never occurs
TARGETS = np.array([0, 0, 1, 1, 1, 2])
PREDICTED = np.array([0, 1, 1, 1, 0, 1])


def test_a_row_of_the_confusion_matrix_is_a_true_label() -> None:
    confusion = score_classes(TARGETS, PREDICTED, 4).confusion
    assert confusion.tolist() == [[1, 1, 0, 0], [1, 2, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]


def test_scores_of_each_class_are_those_counted_by_hand() -> None:
    scores = score_classes(TARGETS, PREDICTED, 4)
    assert scores.precision.tolist() == [1 / 2, 2 / 4, 0, 0]
    assert scores.recall.tolist() == [1 / 2, 2 / 3, 0, 0]
    assert scores.f1.tolist() == pytest.approx([1 / 2, 4 / 7, 0, 0])
    assert scores.support.tolist() == [2, 3, 1, 0]


def test_means_leave_out_a_class_that_neither_occurs_nor_was_predicted() -> None:
    summary = score_classes(TARGETS, PREDICTED, 4).summary()
    assert summary["accuracy"] == 3 / 6
    assert summary["macro_precision"] == pytest.approx((1 / 2 + 2 / 4 + 0) / 3)
    assert summary["macro_recall"] == pytest.approx((1 / 2 + 2 / 3 + 0) / 3)
    assert summary["macro_f1"] == pytest.approx((1 / 2 + 4 / 7 + 0) / 3)


def test_all_scores_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(5)
    true = rng.choice(7, 300, p=[0.4, 0.25, 0.2, 0.1, 0.03, 0.02, 0])
    said = np.where(rng.random(300) < 0.6, true, rng.choice(6, 300))
    scores = score_classes(true, said, 7)
    report = classification_report(true, said, labels=range(7), output_dict=True, zero_division=0)
    for place in range(7):
        wanted = report[str(place)]
        found = (scores.precision[place], scores.recall[place], scores.f1[place], scores.support[place])
        assert found == pytest.approx(
            tuple(wanted[key] for key in ("precision", "recall", "f1-score", "support"))
        )
    summary = scores.summary()
    report = classification_report(true, said, output_dict=True, zero_division=0)  # of those that occur
    for kind in ("macro", "weighted"):
        for name, theirs in (("precision", "precision"), ("recall", "recall"), ("f1", "f1-score")):
            assert summary[f"{kind}_{name}"] == pytest.approx(report[f"{kind} avg"][theirs])
    always = DummyClassifier(strategy="most_frequent").fit(true, true)
    assert scores.majority == (0, pytest.approx(always.score(true, true)))


def test_a_class_that_is_only_predicted_pulls_the_means_down() -> None:
    summary = score_classes(np.array([0, 0]), np.array([0, 1]), 2).summary()
    assert summary["macro_f1"] == pytest.approx((2 / 3 + 0) / 2)


def test_no_examples_give_zeros() -> None:
    summary = score_classes(np.zeros(0, np.int64), np.zeros(0, np.int64), 3).summary()
    assert set(summary.values()) == {0.0}


def test_an_evaluation_holds_the_loss_and_the_scores_of_each_label() -> None:
    answers = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.25, 0.5, 0.25]], np.float32)
    found = Classification(("bad", "good", "odd")).score(answers, np.array([0, 1, 1]))
    assert found.loss == pytest.approx(-(math.log(0.7) + math.log(0.3) + math.log(0.5)) / 3)
    assert found.per_label is not None
    assert found.per_label["good"] == (1.0, 0.5, pytest.approx(2 / 3), 2)
    assert found.per_label["odd"] == (0.0, 0.0, 0.0, 0)


def test_a_certain_mistake_has_a_loss_that_is_a_number() -> None:
    answers = np.array([[1.0, 0.0]], np.float32)
    assert math.isfinite(Classification(("bad", "good")).score(answers, np.array([1])).loss)


@pytest.mark.parametrize(
    ("hits", "total", "low", "high"),
    [  # Wilson's formula, worked out by hand and by statsmodels' proportion_confint(method="wilson")
        (9, 10, 0.595850, 0.982124),
        (0, 10, 0.0, 0.277533),
        (10, 10, 0.722467, 1.0),
        (50, 100, 0.403832, 0.596168),
        (750, 1000, 0.722240, 0.775847),
    ],
)
def test_an_interval_is_that_of_wilson(hits: int, total: int, low: float, high: float) -> None:
    assert wilson_interval(hits, total) == (pytest.approx(low, abs=1e-6), pytest.approx(high, abs=1e-6))
    found = stats.binomtest(hits, total).proportion_ci(method="wilson")
    assert wilson_interval(hits, total) == (pytest.approx(found.low), pytest.approx(found.high))


def test_an_interval_of_no_rows_leaves_everything_open() -> None:
    assert wilson_interval(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize("count", [2, 3, 5, 10, 11, 12, 30, 300])
def test_an_interval_over_seeds_is_that_of_student(count: int) -> None:
    wanted = stats.t.interval(0.95, count - 1, loc=0.7, scale=0.1)
    assert student_interval(0.7, 0.1, count) == pytest.approx(wanted, abs=1e-4)
