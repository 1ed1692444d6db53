"""Runs that differ in their seed alone are one; what differs between two is told, and only that."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.events import result_of
from engine.runs.facts import RunFacts
from engine.runs.groups import (
    ScoreColumn,
    commonest,
    differences,
    key_of,
    listed,
    measures_of,
    reached,
    same_texts,
    varied,
)
from engine.runs.index import index_of
from tests.engine.made_runs import made_run


def facts_of(root: Path) -> list[RunFacts]:
    return sorted(result_of(index_of(root)), key=lambda facts: facts.began)


def test_seeds_and_what_is_kept_do_not_part_runs_and_everything_else_does(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    for number, settings in enumerate(
        [
            {},
            {"seed": 7},
            {"kept_weights": 3, "num_threads": 1},
            {"learning_rate": 1e-3},
            {"precision": "float32"},
        ]
    ):
        made_run(root, "films", number=number, **settings)
    keys = [key_of(facts) for facts in facts_of(root)]
    assert keys[0] == keys[1] == keys[2] and len(set(keys)) == 3


def test_mean_spread_and_interval_are_those_of_all_seeds(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    for number, right in enumerate((80, 90)):
        made_run(root, "films", seed=number, right=right, number=number)
    found = reached(facts_of(root), ScoreColumn())
    assert found is not None and found.interval is not None
    assert found.mean == pytest.approx(0.85) and found.spread == pytest.approx(0.0707, abs=1e-4)
    assert found.interval[0] < 0.85 < found.interval[1] and found.rows == 100
    assert reached(facts_of(root), ScoreColumn("test")) is None
    macro = reached(facts_of(root)[:1], ScoreColumn("validation", "macro_f1"))
    assert macro is not None and macro.interval is None  # it is no share of rows
    assert measures_of(facts_of(root))[0] == ScoreColumn("validation")


def test_what_varies_is_told_in_the_order_of_the_form_and_what_is_commonest_with_it(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    for number, settings in enumerate([{}, {"num_epochs": 2, "learning_rate": 1e-3}, {"num_epochs": 3}]):
        made_run(root, "films", number=number, **settings)
    facts = facts_of(root)
    assert varied(facts) == ["learning_rate", "num_epochs"]
    assert commonest(facts, ["num_epochs"])["num_epochs"] == 3
    assert differences(facts[0], facts[1]) == [("learning_rate", 1e-4, 1e-3), ("num_epochs", 3, 2)]
    assert len({one.key for one in listed(facts)}) == 2


def test_texts_are_the_same_where_data_and_split_are(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    for number, settings in enumerate([{}, {"num_epochs": 2}, {"split_seed": 7}, {"data": "other.csv"}]):
        made_run(root, "films", number=number, **settings)
    first, *others = facts_of(root)
    assert [same_texts(first, other, "validation") for other in others] == [True, False, False]
    assert not same_texts(first, others[0], "test")  # neither has any
