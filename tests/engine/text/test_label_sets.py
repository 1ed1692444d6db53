"""Several labels a row: every form is read alike, and rows in are rows used and rows reported by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import DataError
from engine.events import result_of
from engine.text.examples import ExampleTable, LabelSettings
from engine.text.label_sets import finding_sets, label_columns, switch_columns
from engine.text.roles import Roles, joined_names
from engine.text.table import Table, read_table


def table(folder: Path, rows: list[str], header: str = "text\tlabels") -> Table:
    path = folder / "several.tsv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return read_table(path, quoting="none", header="yes", separator="\t")


def sets(
    folder: Path, cells: list[str], labels: list[str] | None = None, *, merge: bool = False
) -> tuple[list[set[str]], ExampleTable]:
    """Return the labels of each row that can be used."""
    rows = [f"text {number}\t{cell}" for number, cell in enumerate(cells)]
    found = result_of(
        finding_sets(table(folder, rows), Roles("text", "", "labels"), LabelSettings(labels, merge=merge))
    )
    return named(found), found


def named(found: ExampleTable) -> list[set[str]]:
    return [
        {label for label, there in zip(found.labels, row, strict=True) if there}
        for row in found.targets(found.examples)
    ]


@pytest.mark.parametrize(
    "cells",
    [
        ["a|b", "b", "c|a", "a|c", "b|c"],
        ["a; b", "b", "c;a", "a;c", "b ;c;"],
        ["a,b", "b", "c,a", "a,c", "b,c"],
        ["a，b", "b", "c，a", "a，c", "b，c"],
        ['["a", "b"]', '["b"]', '["c", "a"]', '["a", "c"]', '["b", "c"]'],
        ["['a', 'b']", "['b']", "['c', 'a']", "['a', 'c']", "('b', 'c')"],
        ["['a' 'b']", "['b']", "['c' 'a']", "['a' 'c']", "['b' 'c']"],
    ],
)
def test_all_ways_to_write_several_labels_are_read_alike(cells: list[str], tmp_path: Path) -> None:
    found, about = sets(tmp_path, cells)
    assert found == [{"a", "b"}, {"b"}, {"a", "c"}, {"a", "c"}, {"b", "c"}]
    assert about.labels == ("a", "b", "c") and "Several labels a row" in str(about.form)


def test_numbers_with_commas_are_labels_in_the_order_of_numbers(tmp_path: Path) -> None:
    found, about = sets(tmp_path, ["3,10", "3", "10", "2", "2,3", "2,10"])
    assert about.labels == ("2", "3", "10") and found[0] == {"3", "10"}


def test_a_place_of_0_or_1_for_each_label_names_labels_by_their_places(tmp_path: Path) -> None:
    found, about = sets(tmp_path, ["0 1 1", "1 0 0", "0 0 0", "1 1 1"])
    assert about.labels == ("1", "2", "3") and found == [{"2", "3"}, {"1"}, set(), {"1", "2", "3"}]


def test_columns_of_0_and_1_are_labels_and_a_row_may_have_none(tmp_path: Path) -> None:
    found = table(tmp_path, ["one\t1\t0", "two\t0\t0", "three\t1\t1"], "text\trude\tfalse, or so")
    assert switch_columns(found, {"text"}) == ("rude", "false, or so")
    label = joined_names(("rude", "false, or so"))
    assert label_columns(found, label) == label_columns(found, "2;3") == ("rude", "false, or so")
    about = result_of(finding_sets(found, Roles("text", "", label)))
    assert named(about) == [{"rude"}, set(), {"rude", "false, or so"}] and not about.reported


def test_an_empty_list_is_a_row_without_labels_and_an_empty_cell_is_reported(tmp_path: Path) -> None:
    found, about = sets(tmp_path, ["a|b", "[]", "", "b|c", "a|c", " ", "|", "a", "b", "c"])
    assert found[1] == set() and len(found) == 7
    assert [bad.line for bad in about.reported] == [4, 7, 8]
    assert "no label" in str(about.reported[2].sentence)


def test_a_cell_that_is_neither_0_nor_1_or_no_list_is_reported_by_line(tmp_path: Path) -> None:
    found = table(tmp_path, ["one\t1\t0", "two\t2\t0", "three\t0\t1", "four\t\t1"], "text\ta\tb")
    about = result_of(finding_sets(found, Roles("text", "", "a,b")))
    assert [(bad.line, str(bad.sentence)) for bad in about.reported] == [
        (3, "Line 3 has 2 in column a. A column for a label holds 1 or 0."),
        (5, "Line 5 has no label in column a."),
    ]
    listed, about = sets(tmp_path, ['["a"]', '["a", "b"]', "b", '[["a"]]', '{"a": 1}', "[1, true]"])
    assert len(listed) == 3 and [bad.line for bad in about.reported] == [4, 5, 6]
    assert "not a list of labels" in str(about.reported[0].sentence)


def test_known_labels_choose_the_mark_and_others_are_reported(tmp_path: Path) -> None:
    found, about = sets(tmp_path, ["a;b", "x;a", "b", "Sci|Tech;a"], ["Sci|Tech", "a", "b"])
    assert found == [{"a", "b"}, {"b"}, {"Sci|Tech", "a"}]
    assert [str(bad.sentence) for bad in about.reported] == [
        "Line 3 has the label x, which the model does not know."
    ]
    with pytest.raises(DataError, match="no column for some of the model’s labels: c"):
        several = table(tmp_path, ["one\t1\t0"], "text\ta\tb")
        result_of(finding_sets(several, Roles("text", "", "a,b"), LabelSettings(["a", "b", "c"])))


def test_nearly_equal_labels_are_told_and_merged_where_asked(tmp_path: Path) -> None:
    cells = ["joy|fear", "Joy", "joy|fear", "joy", "fear|anger", "anger|joy"]
    _, apart = sets(tmp_path, cells)
    assert apart.labels == ("Joy", "anger", "fear", "joy") and apart.spellings[0].rows.tolist() == [1]
    found, merged = sets(tmp_path, cells, merge=True)
    assert merged.labels == ("anger", "fear", "joy") and found[1] == {"joy"}


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["a|b", "b|a", "a|b"], "Every row has the same labels"),
        (["[]", "[]"], "No row has a label"),
        ([f"w{n}|v{n}" for n in range(600)], "1,200 different labels"),
        (["", ""], "None of the 2 rows can be used"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(cells: list[str], said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=said):
        sets(tmp_path, cells)


def test_the_same_set_in_another_order_is_the_same(tmp_path: Path) -> None:
    _, about = sets(tmp_path, ["a|b", "b|a", "c", "a|c"])
    codes = about.examples.labels
    assert codes[0] == codes[1] != codes[2]
