"""Texts with errors and the right ones: which columns hold them, and which rows can be used."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from engine.errors import DataError
from engine.events import result_of
from engine.settings.finetune import DataConfig
from engine.text.corrections import (
    finding_corrections,
    fitting_corrections,
    likely_corrections,
    num_apart,
    right_texts,
)
from engine.text.roles import Roles
from engine.text.table import Table, read_table
from engine.train.tasks.known import guess_task
from tests.fakes import tiny_wordpiece

RIGHT = ("a good film x", "a bad play y", "the film is good z", "good play good w")
WRONG = ("a goot film x", "a bad play y", "the filn is good z", "good play goad w")


def table_of(path: Path, rows: list[tuple[str, ...]], header: tuple[str, ...] = ("text", "right")) -> Table:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return read_table(path)


def pairs_of(path: Path, *more: tuple[str, str], header: tuple[str, ...] = ("text", "right")) -> Table:
    return table_of(path, [*zip(WRONG, RIGHT, strict=True), *more], header)


def test_two_columns_that_differ_in_few_characters_are_text_and_right_text(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    assert likely_corrections(pairs_of(path)) == Roles("text", label="right")
    kind, reason = guess_task(DataConfig(data=str(path)))
    assert kind.name == "correction" and "right" in str(reason)
    assert guess_task(DataConfig(data=str(path), text="right"))[0].name == "classification"
    turned = pairs_of(tmp_path / "turned.csv", header=("target", "source"))
    assert likely_corrections(turned) == Roles("source", label="target")


@pytest.mark.parametrize(
    "rows",
    [
        [("a good film x", "good"), ("a bad play y", "bad")] * 4,
        [(one, one) for one in RIGHT],  # nothing to correct
        [(one, one.upper()) for one in RIGHT],  # capitals alone
        [("2019 1", "2018 1"), ("2020 2", "2021 2"), ("2022 3", "2012 3")],
        [(one, other) for one, other in zip(RIGHT, RIGHT[::-1], strict=True)],
    ],
)
def test_other_columns_are_not(rows: list[tuple[str, ...]], tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    assert not likely_corrections(table_of(path, rows))
    assert guess_task(DataConfig(data=str(path)))[0].name != "correction"


def test_a_column_of_labels_beside_two_such_columns_is_what_the_table_is_for(tmp_path: Path) -> None:
    rows = [
        (one, other, ("good", "bad")[place % 2])
        for place, (one, other) in enumerate(zip(WRONG, RIGHT, strict=True))
    ]
    assert not likely_corrections(table_of(tmp_path / "rows.csv", rows * 3, ("text", "clean", "label")))


def test_texts_without_an_error_are_kept_and_empty_ones_reported(tmp_path: Path) -> None:
    table = pairs_of(tmp_path / "pairs.csv", ("a film", ""), ("", "a film"))
    found = result_of(finding_corrections(table, Roles("text", label="right")))
    assert found.examples.rows.tolist() == [0, 1, 2, 3] and [bad.line for bad in found.reported] == [6, 7]
    assert right_texts(found, found.examples) == list(RIGHT) and num_apart(found).tolist() == [1, 0, 1, 1]
    assert "3 of 4 texts differ" in str(found.form) and found.labels == ()
    bare = result_of(finding_corrections(table, Roles("text")))
    assert bare.values is None and right_texts(bare, bare.examples) is None


def test_pairs_without_an_error_are_refused_for_training_alone(tmp_path: Path) -> None:
    table = table_of(tmp_path / "same.csv", [(one, one) for one in RIGHT])
    with pytest.raises(DataError, match="nothing to correct"):
        result_of(finding_corrections(table, Roles("text", label="right")))
    found = result_of(finding_corrections(table, Roles("text", label="right"), is_learned=False))
    assert len(found.examples) == 4


def test_rows_whose_texts_have_other_numbers_of_pieces_are_reported_by_line(tmp_path: Path) -> None:
    more = ("good good film", "good film"), ("a 日", "a 日"), ("日 日", "日 日")
    table = pairs_of(tmp_path / "pairs.csv", *more)
    found = result_of(finding_corrections(table, Roles("text", label="right")))
    fitted = result_of(fitting_corrections(table, found, tiny_wordpiece))
    said = {bad.line: str(bad.sentence) for bad in fitted.reported}
    assert set(said) == {6, 8} and "3 pieces in its text and 2" in said[6] and "vocabulary" in said[8]
    assert fitted.examples.rows.tolist() == [0, 1, 2, 3, 5]
    none = table_of(tmp_path / "none.csv", [("good good film", "good film"), ("bad bad film", "bad film")])
    found = result_of(finding_corrections(none, Roles("text", label="right")))
    with pytest.raises(DataError, match="None of the 2 rows"):
        result_of(fitting_corrections(none, found, tiny_wordpiece))
