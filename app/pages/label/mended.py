"""The texts of a table as a person has changed them on Data: plain functions for a worker, without Qt."""

from __future__ import annotations

from dataclasses import replace

from app.pages.label.requests import LabelTexts, find_texts
from engine.text.recipe import EDIT, Recipe, RecipeStep
from engine.text.table import Table


def edits_of(recipe: Recipe | None, columns: tuple[str, ...]) -> tuple[RecipeStep, ...]:
    """Return the steps of a recipe that change the texts in some columns."""
    steps = recipe.steps if recipe is not None else ()
    return tuple(step for step in steps if step.do == EDIT and step.column in columns)


def with_edits(table: Table, recipe: Recipe | None, columns: tuple[str, ...]) -> Table:
    """Return a table with the texts of some columns as they were changed; nothing else is mended."""
    steps = edits_of(recipe, columns)
    return replace(recipe, steps=steps).applied(table) if recipe is not None and steps else table


def find_mended_texts(table: Table, recipe: Recipe | None, columns: tuple[str, ...]) -> LabelTexts:
    """Return `find_texts` of a table as it was changed."""
    return find_texts(with_edits(table, recipe, columns), columns)
