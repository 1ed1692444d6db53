"""What the second labels cost: a model that learns from them, against one that learns from the first ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.errors import DataError
from engine.events import result_of
from engine.labelling.agreement import comparing
from engine.labelling.cost import LabelCost, costing, paired_difference
from engine.text.table import read_table, write_csv

WORDS = {"good": ("fine", "great", "lovely", "warm"), "bad": ("dull", "poor", "cold", "grim")}


def measured(folder: Path, num_rows: int, wrong: float, repeated: int = 1) -> LabelCost:
    """Return the cost of a second annotator who takes some bad films for good ones."""
    rng, rows = np.random.default_rng(2), []
    for at in range(num_rows):
        label = "good" if at % 2 else "bad"
        text = " ".join([*rng.choice(WORDS[label], 2), rng.choice(["film", "play", "book"]), str(at)])
        other = "good" if label == "bad" and rng.random() < wrong else label
        rows += [(text, label, other)] * repeated
    write_csv(folder / "two.csv", ("text", "me", "llm"), rows)
    table = read_table(folder / "two.csv")
    return result_of(costing(table, result_of(comparing(table, "me", "llm", ("text",))), ("text",)))


def test_labels_that_lean_to_one_side_cost_points_and_the_same_ones_nothing(tmp_path: Path) -> None:
    wrong = measured(tmp_path, 100, 0.9)
    assert wrong.first > 0.95 and wrong.difference.is_sure
    low, high = wrong.difference.interval or (0.0, 0.0)
    assert low <= wrong.other - wrong.first <= high < 0
    assert str(wrong.sentence).startswith(
        f"With the second labels the model gets {100 * (wrong.first - wrong.other):.1f} points fewer right"
    )
    same = measured(tmp_path, 100, 0.0)
    assert same.difference.value == 0 and str(same.sentence).startswith("No difference can be shown.")


def test_a_text_that_is_repeated_is_not_held_out_and_learned_at_once(tmp_path: Path) -> None:
    assert measured(tmp_path, 60, 0.5, repeated=3) == measured(tmp_path, 60, 0.5)


def test_too_few_rows_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="At least 40 different texts with both labels"):
        measured(tmp_path, 30, 0.5, repeated=3)


def test_the_interval_of_a_difference_counts_that_folds_share_rows() -> None:
    rng = np.random.default_rng(0)
    first = rng.random((5, 400)) < 0.9
    other = first & (rng.random((5, 400)) < 0.9)
    found = paired_difference(first.astype(float), other.astype(float))
    assert found.value == pytest.approx(other.mean() - first.mean()) and found.interval is not None
    error = np.sqrt((0.2 + 5 / 4) * (first != other).mean() / 400)  # Nadeau and Bengio 2003
    assert found.interval[1] - found.interval[0] == pytest.approx(2 * 1.96 * error, rel=0.15)
