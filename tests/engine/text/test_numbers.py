"""A number a row: what is one is read, what is none is reported by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import DataError
from engine.events import result_of
from engine.text.examples import ExampleTable
from engine.text.numbers import are_numbers, finding_numbers, number_in
from engine.text.roles import Roles
from engine.text.table import read_table


def numbers(folder: Path, cells: list[str]) -> ExampleTable:
    path = folder / "numbers.tsv"
    path.write_text("text\tscore\n" + "".join(f"t\t{cell}\n" for cell in cells), encoding="utf-8")
    table = read_table(path, quoting="none", header="yes", separator="\t")
    return result_of(finding_numbers(table, Roles("text", "", "score")))


@pytest.mark.parametrize(
    ("cell", "number"),
    [("3", 3.0), ("-2.5", -2.5), ("2,5", 2.5), (".5", 0.5), ("1e-3", 0.001), ("+4.", 4.0), ("0", 0.0)],
)
def test_a_number_is_read_with_a_point_or_a_comma(cell: str, number: float) -> None:
    assert number_in(cell) == number


@pytest.mark.parametrize(
    "cell",
    ["", "nan", "inf", "-Infinity", "1e999", "1,234.5", "five", "1 2", "0x10", "1e16", "1_0", "."],
)
def test_what_is_no_finite_number_is_none(cell: str) -> None:
    assert number_in(cell) is None


def test_rows_without_a_number_are_reported_by_line(tmp_path: Path) -> None:
    found = numbers(tmp_path, ["1", "nan", "2,5", "", "four", "-1e3"])
    assert found.targets(found.examples).tolist() == [1.0, 2.5, -1000.0]
    assert [(bad.line, str(bad.sentence)) for bad in found.reported] == [
        (3, "Line 3 has nan in column score, which is not a number between -1e15 and 1e15."),
        (5, "Line 5 has no label in column score."),
        (6, "Line 6 has four in column score, which is not a number between -1e15 and 1e15."),
    ]
    assert "a decimal comma: -1000 to 2.5" in str(found.form)


def test_numbers_that_are_all_the_same_teach_nothing(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="Every row has the same number, 2.5"):
        numbers(tmp_path, ["2.5", "2,5", "2.50"])


def test_ratings_in_whole_numbers_are_classes_and_finer_ones_are_numbers() -> None:
    assert are_numbers(["0.5", "1.5", "2.25", "3", "4.75", "", "3.1"])
    assert not are_numbers(["1", "2", "3", "4", "5"])
    assert are_numbers([f"{250_000 + 750 * n}.0" for n in range(40)])  # prices
    assert not are_numbers([str(n) for n in range(77)] * 3)  # intents
    assert not are_numbers(["1001", "2002", "30003"] * 20)  # codes of a few categories
    assert not are_numbers(["0.0", "1.0", "2.0"] * 3)
    assert not are_numbers(["1.5", "2.5"] * 30)
    assert not are_numbers(["0.5", "1.5", "2.25", "3.1", "4.75", "good"])
    assert not are_numbers([])
