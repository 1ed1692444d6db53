"""Mends are steps: applied when a table is read, taken back one by one, and never written into the file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from engine.errors import DataError
from engine.text.examples import examples_from
from engine.text.recipe import (
    DROP,
    EDIT,
    HALF_WIDTH,
    MERGE,
    RELABEL,
    TOGETHER,
    Recipe,
    RecipeStep,
    read_recipe,
)
from engine.text.roles import Roles
from engine.text.table import Table, read_table, write_csv

ROWS = [(f"text number {place}", "ab"[place % 2]) for place in range(7)]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    write_csv(tmp_path / "data.csv", ("text", "label"), [*ROWS, ("one more", "A ")])
    return read_table(tmp_path / "data.csv")


STEPS = (
    RecipeStep(DROP, (1, 4), reason="exact_duplicates"),
    RecipeStep(RELABEL, (0,), label="b", column="label"),
    RecipeStep(MERGE, label="a", labels=("A ",), column="label"),
    RecipeStep(TOGETHER, (2, 3, 6), groups=(1, 1, 1)),
)


def labels_of(table: Table) -> list[str]:
    return table.frame["label"].tolist()


def test_rows_in_are_rows_used_and_rows_reported(table: Table) -> None:
    mended = Recipe.of(table).plus(*STEPS).applied(table)
    found = examples_from(mended, Roles("text", "", "label"))
    assert found.examples.rows.tolist() == [0, 2, 3, 5, 6, 7]
    assert [bad.line for bad in found.reported] == [3, 6]
    assert "repeats an earlier row" in str(found.reported[0].sentence)
    assert labels_of(mended) == ["b", "b", "a", "b", "a", "b", "a", "a"]
    assert mended.together is not None and len(set(mended.together[[2, 3, 6]].tolist())) == 1


def test_neither_file_nor_table_changes(table: Table) -> None:
    before = table.path.read_bytes()
    Recipe.of(table).plus(*STEPS).applied(table)
    assert table.path.read_bytes() == before and labels_of(table)[0] == "a" and not table.left_out


@pytest.mark.parametrize("place", range(4))
def test_any_step_can_be_taken_back_by_itself(table: Table, place: int) -> None:
    recipe = Recipe.of(table).plus(*STEPS).without(place)
    assert recipe.steps == tuple(step for step in STEPS if step is not STEPS[place])
    mended = recipe.applied(table)
    assert (not mended.left_out) == (place == 0) and (labels_of(mended)[0] == "a") == (place == 1)
    assert (labels_of(mended)[7] == "A ") == (place == 2) and (mended.together is None) == (place == 3)


def test_a_recipe_is_the_same_from_its_file(table: Table, tmp_path: Path) -> None:
    recipe = Recipe.of(table).plus(*STEPS)
    recipe.write(tmp_path / "recipe.json")
    assert read_recipe(tmp_path / "recipe.json") == recipe


def test_a_recipe_of_another_state_of_the_file_is_refused(table: Table) -> None:
    recipe = Recipe.of(table).plus(*STEPS)
    write_csv(table.path, ("text", "label"), ROWS)
    with pytest.raises(DataError, match="another version"):
        recipe.applied(read_table(table.path))


ODD_STEP = '{"recipe": 1, "name": "", "sha256": "", "steps": [{"do": "eat"}]}'


@pytest.mark.parametrize("text", ["", "[]", '{"recipe": 1}', ODD_STEP.replace("1", "9"), ODD_STEP])
def test_what_is_no_recipe_is_refused_in_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "odd.json").write_text(text)
    with pytest.raises(DataError, match="is not a recipe"):
        read_recipe(tmp_path / "odd.json")


def a_step(**values: object) -> str:
    step = {"do": "drop", "rows": [1], **values}
    return json.dumps({"recipe": 1, "name": "a.csv", "sha256": "0", "steps": [step]})


@pytest.mark.parametrize(
    "text",
    [
        a_step(rows="12"), a_step(rows=[1.9]), a_step(rows=[True]), a_step(rows=["1"]), a_step(rows=[-1]),
        a_step(rows=[float("inf")]), a_step(rows=[10**30]), a_step(rows=None), a_step(label=5),
        a_step(labels="ab"), a_step(groups=[0.5]), a_step(do=["drop"]), a_step(do="together", groups=[1, 2]),
        a_step(label="\ud800"), a_step().replace("1,", "true,", 1), a_step().replace('"0"', "0"),
        a_step().replace("[1]", "[" * 200_000 + "]" * 200_000), "[" * 200_000, '{"steps":' * 200_000,
        a_step().replace("[{", "5, [{"),
    ],
    ids=lambda text: text[-40:],
)  # fmt: skip
def test_a_recipe_with_a_value_that_cannot_be_is_refused_in_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "odd.json").write_text(text)
    with pytest.raises(DataError, match=r"is not a recipe: .*[^.]\.$"):
        read_recipe(tmp_path / "odd.json")


@pytest.mark.skipif(os.name == "nt", reason="pipes and devices are not files there")
def test_a_pipe_or_an_endless_device_in_the_place_of_a_recipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "zero.json").symlink_to("/dev/zero")
    for name in ("pipe.json", "zero.json", "nothing.json", "."):
        with pytest.raises(DataError):
            read_recipe(tmp_path / name)


def test_a_recipe_that_an_editor_saved_with_a_mark_at_its_beginning_is_read(
    table: Table, tmp_path: Path
) -> None:
    recipe = Recipe.of(table).plus(*STEPS)
    recipe.write(tmp_path / "recipe.json")
    text = (tmp_path / "recipe.json").read_text()
    for encoding in ("utf-8-sig", "utf-16"):
        (tmp_path / "marked.json").write_text(text, encoding=encoding)
        assert read_recipe(tmp_path / "marked.json") == recipe


def test_another_table_has_its_labels_merged_and_no_more(table: Table, tmp_path: Path) -> None:
    write_csv(tmp_path / "test.csv", ("text", "label"), [("other", "A "), ("more", "b")])
    merged = Recipe.of(table).plus(*STEPS).merged(read_table(tmp_path / "test.csv"))
    assert labels_of(merged) == ["a", "b"] and not merged.left_out


def test_groups_that_share_a_row_stay_together(table: Table) -> None:
    steps = (RecipeStep(TOGETHER, (0, 1), groups=(0, 0)), RecipeStep(TOGETHER, (1, 5), groups=(9, 9)))
    mended = Recipe.of(table).plus(*steps).applied(table)
    assert mended.together is not None
    assert np.unique(mended.together[[0, 1, 5]]).size == 1 and np.unique(mended.together).size == 6


def test_what_is_decided_of_a_row_takes_the_place_of_what_was_before(table: Table) -> None:
    relabel = RecipeStep(RELABEL, label="b", column="label")
    recipe = Recipe.of(table).deciding(0, relabel).deciding(2, relabel).deciding(0, RecipeStep(DROP))
    assert recipe.steps == (RecipeStep(RELABEL, (2,), "b", column="label"), RecipeStep(DROP, (0,)))
    assert {row: step.do for row, step in recipe.decided().items()} == {0: DROP, 2: RELABEL}
    assert recipe.deciding(0, None).deciding(2, None) == Recipe.of(table)


def test_a_cell_is_changed_once_and_taken_as_it_was_with_its_row(table: Table) -> None:
    recipe = Recipe.of(table).editing(2, "text", "a first try").editing(2, "text", "a better text")
    recipe = recipe.deciding(2, RecipeStep(RELABEL, label="b", column="label"))
    mended = recipe.applied(table)
    assert mended.frame["text"].tolist()[1:4] == ["text number 1", "a better text", "text number 3"]
    assert labels_of(mended)[2] == "b" and recipe.touched() == {2}
    assert [step.do for step in recipe.steps] == [EDIT, RELABEL]
    assert recipe.deciding(2, None).steps == ()


def test_what_is_merged_after_a_row_was_relabelled_holds_for_that_row_too(table: Table) -> None:
    recipe = Recipe.of(table).plus(
        RecipeStep(RELABEL, (0,), label="c", column="label"),
        RecipeStep(MERGE, label="b", labels=("c", "a"), column="label"),
        RecipeStep(RELABEL, (1,), label="a", column="label"),
    )
    assert labels_of(recipe.applied(table)) == ["b", "a", *"bbbbb", "A "]


def test_letters_and_digits_are_written_half_width_before_what_a_person_typed(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("text,label\nＡ５ 晚！,a\nＢ,b\nＣ,a\n", encoding="utf-8")
    table = read_table(path)
    step = RecipeStep(HALF_WIDTH, (0, 1), column="text", reason="full_width")
    recipe = Recipe.of(table).plus(step).editing(1, "text", "Ｂ is a name")
    recipe.write(tmp_path / "recipe.json")
    read = read_recipe(tmp_path / "recipe.json")
    assert read == recipe and "2 texts" in str(step.words())
    cells = read.applied(table).frame["text"].tolist()
    assert cells == ["A5 晚！", "Ｂ is a name", "Ｃ"]
    changed = read.changing("text")
    before = table.frame["text"].tolist()
    assert [changed(row, cell) for row, cell in enumerate(before)] == ["A5 晚！", "Ｂ is a name", None]
    assert read.edited(table, ["text"]).frame["text"].tolist() == cells
    assert read.sparing([0], "text").applied(table).frame["text"].tolist() == ["Ａ５ 晚！", *cells[1:]]
