"""Texts that repeat one another count once in a verdict, of two models as of a model and a baseline."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from engine.evaluation.baselines import one_label
from engine.evaluation.comparing import compare_scored
from engine.events import Evaluated
from engine.text.listed import ListedRows
from engine.train.scored import SHARE, ScoredTable, ScoreRows

LABELS = ("bad", "good")


def scored(true: np.ndarray, right: np.ndarray, copies: np.ndarray) -> ScoredTable:
    """Return answers of which these are right, to texts that repeat each other where `copies` says."""
    places = np.arange(len(right))
    predicted = np.where(right, true, 1 - true).astype(np.int32)
    adds = np.stack([right, np.ones(len(right))], 1).astype(float)
    each = ScoreRows(
        LABELS, true.astype(np.int32), predicted, adds[:, 0], np.full(len(right), 0.9), adds, SHARE
    )
    event = Evaluated(
        step=1, epoch=1.0, split="test", loss=0.5, metrics={"accuracy": right.mean()}, labels=LABELS,
        confusion=None, per_label={}, is_best=True,
    )  # fmt: skip
    listed = ListedRows(places, places, places, [f"text {number}" for number in copies])
    return ScoredTable("classification", "accuracy", event, listed, each)


def test_two_equally_good_models_are_rarely_called_different_on_copies() -> None:
    rng, called = np.random.default_rng(0), {"apart": 0, "copies": 0}
    for _ in range(300):
        groups = np.repeat(np.arange(20), 6)
        first, second = (rng.random((2, 20)) < 0.7)[:, groups]
        true = (groups % 2).astype(np.int32)
        for name, copies in (("apart", np.arange(120)), ("copies", groups)):
            found = compare_scored(scored(true, first, copies), scored(true, second, copies))
            called[name] += found.difference.is_sure
            assert found.repeat == (name == "copies")
    assert called["copies"] <= 18 < called["apart"]


def test_a_model_is_not_above_the_largest_class_by_one_text_many_times(tmp_path: Path) -> None:
    groups = np.concatenate([np.arange(12), np.full(12, 12)])
    true = (groups == 12).astype(np.int32)  # twelve texts of one label, one text twelve times of the other
    right = np.ones(24, bool)
    (copied,) = one_label(scored(true, right, groups), tmp_path)
    (apart,) = one_label(scored(true, right, np.arange(24)), tmp_path)
    assert copied.difference.value == apart.difference.value == 0.5
    assert apart.difference.is_sure and not copied.difference.is_sure
