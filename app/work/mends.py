"""The recipe of the open table's mends: decided here, undone here, and kept.

It is written whenever it changes, named by the hash of the data, so that it is there again when the same file
is opened. What a run is given is a file of its own, which never changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from app.work.later import later
from app.work.worker import Channel, Workers
from engine.errors import DataError

if TYPE_CHECKING:
    from engine.text.recipe import Recipe, RecipeStep, read_recipe
else:
    read_recipe = later("engine.text.recipe", "read_recipe")

WRITTEN_MS = 300  # after the last change


class Mends(QObject):
    """The recipe of the table that is open, with the way back."""

    changed = Signal()  # by a person; another table comes with its own
    refused = Signal(object)

    def __init__(self, workers: Workers, folder: Callable[[], Path], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = folder
        self.recipe: Recipe | None = None
        self._before: list[Recipe] = []
        self._after: list[Recipe] = []  # what was undone, to be done again
        self._written = Channel(self, workers.quick)
        self._timer = QTimer(self, singleShot=True, interval=WRITTEN_MS)
        self._timer.timeout.connect(self._write)

    def take(self, recipe: Recipe | None) -> None:
        """Take the recipe that was kept for another table; None where that can have none."""
        if self._timer.isActive():
            self._timer.stop()
            self._write()
        self.recipe, self._before, self._after = recipe, [], []

    @property
    def steps(self) -> tuple[RecipeStep, ...]:
        """The mends of the open table."""
        return self.recipe.steps if self.recipe is not None else ()

    @property
    def num_relabelled(self) -> int:
        """How many rows were given another label, one by one."""
        return sum(len(step.rows) for step in self.steps if step.do == "relabel")

    def add(self, *steps: RecipeStep) -> None:
        """Add steps to the recipe."""
        if self.recipe is not None:
            self._change(self.recipe.plus(*steps))

    def take_back(self, step: RecipeStep) -> None:
        """Take a step out of the recipe."""
        if self.recipe is not None and step in self.recipe.steps:
            self._change(self.recipe.without(self.recipe.steps.index(step)))

    def decide(self, row: int, step: RecipeStep | None) -> None:
        """Say what becomes of one row; None: nothing."""
        if self.recipe is not None:
            self._change(self.recipe.deciding(row, step))

    def decide_all(self, rows: Sequence[int], step: RecipeStep | None) -> None:
        """Say what becomes of several rows, in one change; None: nothing."""
        if self.recipe is not None and rows:
            self._change(self.recipe.deciding_all(rows, step))

    def edit(self, row: int, column: str, text: str) -> None:
        """Put another text into a cell."""
        if self.recipe is not None:
            self._change(self.recipe.editing(row, column, text))

    @property
    def can_undo(self) -> bool:
        """Whether there is a change to go back before."""
        return bool(self._before)

    @property
    def before(self) -> Recipe | None:
        """What `undo` goes back to; None: there is no change."""
        return self._before[-1] if self._before else None

    def undo(self) -> None:
        """Go back before the last change."""
        if self._before and self.recipe is not None:
            self._after.append(self.recipe)
            self._set(self._before.pop())

    @property
    def can_redo(self) -> bool:
        """Whether there is a change that was undone last."""
        return bool(self._after)

    def redo(self) -> None:
        """Do again what was undone last."""
        if self._after and self.recipe is not None:
            self._before.append(self.recipe)
            self._set(self._after.pop())

    def _change(self, recipe: Recipe) -> None:
        assert self.recipe is not None
        self._before.append(self.recipe)
        self._after.clear()
        self._set(recipe)

    def _set(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self._timer.start()
        self.changed.emit()

    # ---- keeping

    def path(self) -> str:
        """Return the file that a run reads these mends from, "" where there are none."""
        if self.recipe is None or not any(step.do != "keep" for step in self.recipe.steps):
            return ""
        return str(_recipe_file(self._folder(), self.recipe, own=True))

    def save(self) -> None:
        """Write that file now, if it is not there yet. Raises: UserError."""
        path = self.path()
        if path and not Path(path).exists():
            assert self.recipe is not None
            keep_recipe(self._folder(), self.recipe)

    def _write(self) -> None:
        if self.recipe is not None:
            write: Callable[[], bool] = partial(keep_recipe, self._folder(), self.recipe)
            self._written.ask(self.recipe, write, heard=self._take_written, refused=self.refused.emit)

    def _take_written(self, _is_written: bool) -> None:
        """Nothing is to be done: it is kept."""

    def close(self) -> None:
        """Keep what is not kept yet. Raises: UserError: it cannot be written."""
        if self._timer.isActive() and self.recipe is not None:
            self._timer.stop()
            keep_recipe(self._folder(), self.recipe)


def kept_recipe(folder: Path, recipe: Recipe) -> tuple[Recipe, DataError | None]:
    """Return the recipe that was kept for the same data, else the one given; and what is wrong with it."""
    path = _recipe_file(folder, recipe, own=False)
    if not path.is_file():
        return recipe, None
    try:
        return read_recipe(path), None
    except DataError as error:
        return recipe, error


def _recipe_file(folder: Path, recipe: Recipe, *, own: bool) -> Path:
    """Return where a recipe is kept: the newest of its data or, with `own`, one that never changes."""
    name = recipe.sha256[:16]
    if own:
        name += f"-{hashlib.blake2b(repr(recipe.steps).encode(), digest_size=6).hexdigest()}"
    return folder / f"{name}.json"


def keep_recipe(folder: Path, recipe: Recipe) -> bool:
    """Write a recipe under both of its names; return True. Raises: UserError."""
    folder.mkdir(parents=True, exist_ok=True)
    for own in (True, False):
        recipe.write(_recipe_file(folder, recipe, own=own))
    return True
