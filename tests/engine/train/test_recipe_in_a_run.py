"""A run reads its data through a recipe, keeps it, and accounts for every row."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from engine.errors import ConfigError, DataError
from engine.events import Noted, result_of
from engine.text.recipe import DROP, RELABEL, TOGETHER, Recipe, RecipeStep
from engine.text.table import read_table
from engine.train.finetune import FineTuning, fine_tune
from tests.engine.tiny_runs import reviews, tiny_config, write_table

TOGETHER_ROWS = tuple(range(20, 40))


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    """Write reviews and a recipe for them; return the recipe."""
    table = read_table(write_table(tmp_path / "reviews.csv", reviews()))
    steps = (
        RecipeStep(DROP, (3, 5), reason="exact_duplicates"),
        RecipeStep(RELABEL, (0,), label="good", column="label"),
        RecipeStep(TOGETHER, TOGETHER_ROWS, groups=(1,) * len(TOGETHER_ROWS)),
    )
    Recipe.of(table).plus(*steps).write(tmp_path / "recipe.json")
    return tmp_path / "recipe.json"


def test_every_row_is_used_or_reported_and_copies_are_on_one_side(tmp_path: Path, recipe: Path) -> None:
    setup = result_of(FineTuning(tiny_config(tmp_path, recipe=str(recipe))).prepare())
    parts = {name: set(one.rows.tolist()) for name, one in setup.sets.items()}
    assert set().union(*parts.values()) == set(range(53)) - {3, 5}
    assert [each["line"] for each in setup.about["reported"]] == [5, 7]
    assert any(set(TOGETHER_ROWS) <= rows for rows in parts.values())
    place = np.flatnonzero(setup.sets["train"].rows == 0)
    split = "train" if len(place) else "validation"
    at = int(np.flatnonzero(setup.sets[split].rows == 0)[0])
    assert setup.labels[int(setup.sets[split].targets[at])] == "good"


@pytest.mark.slow
def test_the_run_keeps_the_recipe(tmp_path: Path, recipe: Path) -> None:
    list(fine_tune(tiny_config(tmp_path, recipe=str(recipe), num_epochs=1), tmp_path / "run"))
    kept = json.loads((tmp_path / "run" / "setup" / "setup.json").read_text())["mends"]
    assert kept == json.loads(recipe.read_text())


def test_a_recipe_of_other_data_is_refused(tmp_path: Path, recipe: Path) -> None:
    write_table(tmp_path / "reviews.csv", reviews(40))
    with pytest.raises((ConfigError, DataError), match="another version"):
        list(fine_tune(tiny_config(tmp_path, recipe=str(recipe)), tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_rows_that_a_person_left_out_are_no_warning(tmp_path: Path, recipe: Path) -> None:
    steps = FineTuning(tiny_config(tmp_path, recipe=str(recipe))).prepare()
    said = {str(event.sentence): event.level for event in steps if isinstance(event, Noted)}
    assert said["2 rows of reviews.csv are excluded, as you chose."] == "fine"
    assert not any("recipe" in sentence or "cannot be used: 5" in sentence for sentence in said)
