"""Heads in one number each, beside counts by hand; over a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import DataError, ModelError
from engine.events import Noted, Progress
from engine.inspect.attention.head_measures import (
    MEASURES,
    measure,
    over_table,
    patterns,
    ranked,
)
from engine.inspect.attention.weights import AttentionMaps, look
from engine.inspect.loaded_model import LoadedModel
from engine.text.roles import Roles
from engine.text.table import Table, read_table
from tests.engine.steps import drained
from tests.fakes import model_folder

A, B = "good film playing", "bad play !"  # [CLS] good film play ##ing [SEP] bad play ! [SEP]


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return LoadedModel.open(model_folder(tmp_path_factory.mktemp("model")), device="cpu")


def table_of(path: Path, *rows: str) -> Table:
    path.write_text("first,second\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return read_table(path, separator=",")


def test_every_measure_equals_a_count_by_hand(subject: LoadedModel) -> None:
    seen = look(subject, A, B)
    found = measure(seen)
    assert list(found) == list(MEASURES)
    a, b = [1, 2, 3, 4], [6, 7, 8]
    words = a + b
    for layer, head in np.ndindex(2, 3):
        weights = seen.attentions[layer, head].astype(np.float64)
        expected = {
            "entropy": np.mean([-sum(p * np.log2(p) for p in weights[row]) for row in words]),
            "distance": np.mean([sum(p * abs(row - n) for n, p in enumerate(weights[row])) for row in words]),
            "previous": np.mean([weights[row, row - 1] for row in words]),
            "next": np.mean([weights[row, row + 1] for row in words]),
            "self": np.mean([weights[row, row] for row in words]),
            "cls": weights[words, 0].mean(),
            "sep": weights[words][:, [5, 9]].sum(1).mean(),
            "a_to_b": weights[a][:, b].sum(1).mean(),
            "b_to_a": weights[b][:, a].sum(1).mean(),
            "across": (weights[a][:, b].sum() + weights[b][:, a].sum()) / 7,
        }
        for name, value in expected.items():
            assert np.isclose(found[name][layer, head], value, rtol=1e-5), name


def test_a_single_text_has_no_measures_of_two(subject: LoadedModel) -> None:
    assert set(MEASURES) - set(measure(look(subject, A))) == {"a_to_b", "b_to_a", "across"}


def test_a_head_that_looks_at_one_token_has_no_spread(subject: LoadedModel) -> None:
    seen = look(subject, A)
    previous = np.eye(6, k=-1, dtype=np.float32)
    previous[0, 0] = 1.0
    found = measure(AttentionMaps(A, None, seen.encoding, seen.words, np.stack([[previous]])))
    assert (found["entropy"], found["previous"], found["distance"]) == (0.0, 1.0, 1.0)
    assert patterns(found) == (("previous",),)


def test_a_head_without_a_pattern_has_no_name() -> None:
    values = {"previous": np.array([[0.4, 0.6]]), "sep": np.array([[0.45, 0.7]]), "entropy": np.ones((1, 2))}
    assert patterns(values) == (("", "sep"),)


def test_heads_are_ranked_from_the_largest_and_equals_keep_their_order() -> None:
    values = np.array([[0.1, 0.5], [0.5, 0.9]], np.float32)
    assert ranked(values) == ((1, 1), (0, 1), (1, 0), (0, 0))
    assert ranked(values, ascending=True) == ((0, 0), (0, 1), (1, 0), (1, 1))


def test_a_table_counts_each_text_by_its_words(subject: LoadedModel, tmp_path: Path) -> None:
    table = table_of(tmp_path / "t.csv", "good,bad film", "bad play film !,playing")
    events, found = drained(over_table(subject, table, Roles("first", "second")))
    each = [measure(look(subject, *pair)) for pair in (("good", "bad film"), ("bad play film !", "playing"))]
    weights = {"entropy": (3, 6), "sep": (3, 6), "a_to_b": (1, 4), "b_to_a": (2, 2)}
    for name, counts in weights.items():
        values = np.stack([one[name] for one in each])
        mean = np.average(values, 0, counts)
        assert np.allclose(found.values[name], mean, atol=1e-6)
        assert np.allclose(found.spread[name] ** 2, np.average((values - mean) ** 2, 0, counts), atol=1e-6)
    assert (found.num_texts, found.num_cut) == (2, 0)
    assert [event.done for event in events if isinstance(event, Progress)] == [0, 1, 2]


def test_long_texts_are_cut_and_counted_and_empty_ones_reported(subject: LoadedModel, tmp_path: Path) -> None:
    table = table_of(tmp_path / "t.csv", "good " * 60 + ",x", "  ,x", "bad,x")
    events, found = drained(over_table(subject, table, Roles("first")))
    assert (found.num_texts, found.num_cut) == (2, 1)
    assert any(isinstance(event, Noted) and "Line 3" in str(event.sentence) for event in events)


def test_a_limit_takes_rows_from_the_whole_table(subject: LoadedModel, tmp_path: Path) -> None:
    table = table_of(tmp_path / "t.csv", *["good,x"] * 5, "bad film,x")
    _, some = drained(over_table(subject, table, Roles("first"), limit=2))
    _, ends = drained(
        over_table(subject, table_of(tmp_path / "e.csv", "good,x", "bad film,x"), Roles("first"))
    )
    assert some.num_texts == 2
    assert np.array_equal(some.values["entropy"], ends.values["entropy"])


def test_what_cannot_be_measured_is_refused(subject: LoadedModel, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="can be used"):
        drained(over_table(subject, table_of(tmp_path / "t.csv", " ,x"), Roles("first")))
    single = LoadedModel.open(model_folder(tmp_path / "model", type_vocab_size=1), device="cpu")
    with pytest.raises(ModelError, match="only one segment"):
        drained(over_table(single, table_of(tmp_path / "t.csv", "a,x"), Roles("first", "second")))


def test_a_table_can_be_stopped_between_two_texts(subject: LoadedModel, tmp_path: Path) -> None:
    task: Any = over_table(subject, table_of(tmp_path / "t.csv", "a,x", "b,x"), Roles("first"))
    assert next(task) is not None and next(task) is not None
    task.close()
    assert next(task, None) is None
