"""Shares of a table of which a random sample is labelled: their intervals, and the test that it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from engine.labelling.double_sampling import doubly_sampled
from engine.labelling.random_sample import hold_out, is_random_sample, sample_path
from engine.text.recipe import EDIT, RELABEL, SUSPECTED, Recipe, RecipeStep
from engine.text.table import read_table


def test_a_table_that_is_labelled_throughout_leaves_nothing_to_estimate() -> None:
    found = doubly_sampled(np.array([[9, 1], [2, 3]]), np.zeros(2, np.int64), np.array([30, 70]))
    assert found.shares.tolist() == found.low.tolist() == found.high.tolist() == [0.3, 0.7]
    assert found.num_texts == 100 and found.num_held_out == 15


def test_an_answer_is_worth_the_labels_that_it_has_in_the_sample() -> None:
    confusion = np.array([[80, 40], [20, 60]])  # of 100 answers each, 20 and 40 are wrong
    found = doubly_sampled(confusion, np.array([900, 100]), np.array([120, 80]))
    right = (120 + 0.8 * 900 + 0.4 * 100) / 1200
    assert abs(found.shares[0] - right) < 0.01 and found.low[0] < right < found.high[0]


def test_a_useless_model_does_no_harm_to_the_interval_of_the_sample() -> None:
    rng, covered, widths = np.random.default_rng(0), [], []
    for seed in range(60):
        labels, answers = rng.random(1000) < 0.3, rng.random(1000) < 0.5
        sample, rest = slice(0, 40), slice(40, 1000)
        confusion = np.zeros((2, 2), np.int64)
        np.add.at(confusion, (labels[sample].astype(int), answers[sample].astype(int)), 1)
        found = doubly_sampled(confusion, np.bincount(answers[rest]), np.bincount(labels[sample]), seed)
        covered.append(found.low[1] <= labels.mean() <= found.high[1])
        widths.append(found.high[1] - found.low[1])
    assert np.mean(covered) >= 0.93 and np.mean(widths) < 0.36


def test_the_random_sample_is_the_test_and_its_labels_are_not_learned(tmp_path: Path) -> None:
    path = tmp_path / "notes-labelled.csv"
    path.write_text('text,label\n"a, b",x\nc,y\nd,\n=e,y\n', encoding="utf-8")
    sample = hold_out(path, "label", {3, 0})
    assert sample == sample_path(path) == tmp_path / "notes-random-sample.csv"
    assert is_random_sample(str(sample)) and not is_random_sample(str(path))
    left, held = read_table(path).frame, read_table(sample).frame
    assert left["text"].tolist() == ["a, b", "c", "d", "=e"] and left["label"].tolist() == ["", "y", "", ""]
    assert held["text"].tolist() == ["a, b", "=e"] and held["label"].tolist() == ["x", "y"]


def test_the_random_sample_has_texts_as_they_were_changed_and_labels_as_they_were_given(
    tmp_path: Path,
) -> None:
    path = tmp_path / "notes-labelled.csv"
    path.write_text("text,label\na,x\nb,y\nc,x\n", encoding="utf-8")
    edit = RecipeStep(EDIT, (0,), "A", column="text")
    suspected = RecipeStep(RELABEL, (0, 2), "y", column="label", reason=SUSPECTED)
    recipe = Recipe("notes.csv", "0" * 64, (edit, suspected))
    held = read_table(hold_out(path, "label", {0, 1}, recipe)).frame
    assert held["text"].tolist() == ["A", "b"] and held["label"].tolist() == ["x", "y"]
    left = recipe.sparing({0, 1}, "label")
    assert left.steps == (edit, replace(suspected, rows=(2,)))
