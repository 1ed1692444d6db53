"""The texts of a table as a person has changed them on Data: plain functions for a worker, without Qt."""

from __future__ import annotations

from app.pages.label.requests import LabelTexts, find_texts
from engine.text.recipe import EDIT, HALF_WIDTH, Recipe, RecipeStep
from engine.text.table import Table


def edits_of(recipe: Recipe | None, columns: tuple[str, ...]) -> tuple[RecipeStep, ...]:
    """Return the steps of a recipe that change the texts in some columns."""
    steps = recipe.steps if recipe is not None else ()
    return tuple(step for step in steps if step.do in (EDIT, HALF_WIDTH) and step.column in columns)


def find_mended_texts(table: Table, recipe: Recipe | None, columns: tuple[str, ...]) -> LabelTexts:
    """Return `find_texts` of a table as it was changed."""
    return find_texts(table if recipe is None else recipe.edited(table, columns), columns)
