"""What the doctor has found in the open table, and the recipe of its mends: asked, decided and kept here.

The recipe is written whenever it changes, named by the hash of the data, so that it is there again when the
same file is opened. What a run is given is a file of its own, which never changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.work.later import later
from app.work.worker import Channel, Workers
from engine.errors import DataError
from engine.events import Event, Noted, Progress

if TYPE_CHECKING:
    from app.work.examination import examine, suspect
    from app.work.tables import ModelInfo
    from engine.doctor.finding import Finding
    from engine.doctor.part import Part
    from engine.doctor.suspected import Suspected
    from engine.text.examples import Roles
    from engine.text.recipe import Recipe, Step, read_recipe
    from engine.text.table import Table
else:
    examine, suspect = (later("app.work.examination", name) for name in ("examine", "suspect"))
    read_recipe = later("engine.text.recipe", "read_recipe")

WRITTEN_MS = 300  # after the last change
MOST_KEPT = 4  # tables whose suspected labels are kept
AGAIN_MS = 1500  # after the last mend, until it is looked again


class Doctor(QObject):
    """Findings, recipe and suspected labels of the table that is open; pages hear of changes here."""

    changed = Signal()  # what was found, or what is under way
    progressed = Signal()  # how far that is
    recipe_changed = Signal()
    compared = Signal()  # another part has been named
    refused = Signal(object)

    def __init__(
        self,
        workers: Workers,
        folder: Callable[[], Path],
        runs_root: Callable[[], Path],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._folder, self._runs_root = folder, runs_root
        self.findings: tuple[Finding, ...] = ()
        self.parts: dict[str, Part] = {}  # the files that findings are of, by name, the open table first
        self.suspected: Suspected | None = None
        self.suspected_by = ""  # the model that they were found by
        self.is_close = False  # whether it was taught for that
        self._kept: dict[
            tuple[str, int, Roles], tuple[Suspected, str, bool]
        ] = {}  # of tables that were open before
        self.recipe: Recipe | None = None
        self.against: tuple[Path, ...] = ()  # other parts, which a person named
        self.apart: tuple[Path, ...] = ()  # those that a training would keep apart
        self.notes: tuple[Noted, ...] = ()
        self.done: float | None = None  # 0..1 of what is under way, None where nothing is
        self._table: Table | None = None
        self._before: list[Recipe] = []
        self._named: dict[Path, tuple[Path, ...]] = {}  # table -> the other parts that a person named
        self._examined = Channel(self, workers.files)
        self._suspected = Channel(self, workers.models)
        self._written = Channel(self, workers.quick)
        self._timer = QTimer(self, singleShot=True, interval=WRITTEN_MS)
        self._timer.timeout.connect(self._write)
        self._looked_at: Recipe | None = None  # the mends that findings are of
        self._round = 0  # of runs that have ended
        self._again = QTimer(self, singleShot=True, interval=AGAIN_MS)
        self._again.timeout.connect(self._look_again)

    def set_table(self, table: Table | None, recipe: Recipe | None) -> None:
        """Take another table, with the recipe that was kept for it."""
        self._flush()
        for channel in (self._examined, self._suspected):
            channel.drop()
        self._table, self.recipe, self._before = table, recipe, []
        self._looked_at, self.apart = recipe, ()
        self.against = self._named.get(table.path, ()) if table is not None else ()
        self._again.stop()
        self._forget()
        self.recipe_changed.emit()

    def forget(self) -> None:
        """Forget what was found: the columns have other roles now."""
        self._examined.drop()
        self._suspected.drop()
        self._forget()

    def _forget(self) -> None:
        self.findings, self.parts, self.suspected, self.notes, self.done = (), {}, None, (), None
        self.changed.emit()

    # ---- finding

    def examine(self, roles: Roles, model: ModelInfo | None, max_length: int) -> None:
        """Look for all that can be told without a model's answers, as the mends of a moment ago leave it; the
        same is not looked for again.
        """
        table, recipe = self._table, self._looked_at
        if table is None or recipe is None:
            return
        kept = self._kept.get((table.sha256, table.num_rows, roles))
        if self.suspected is None and not self.is_suspecting and kept is not None:
            self.suspected, self.suspected_by, self.is_close = kept
        files = self.against, tuple(path for path in self.apart if path not in self.against)
        of_model = model.model if model else "", max_length
        self._examined.ask(
            (id(table), recipe, roles, files, of_model, self._round),
            partial(examine, table, recipe, roles, files, model, max_length, self._runs_root()),
            heard=self._take_findings,
            refused=self._refuse,
            progress=self._show_progress,
            ended=self._end,
        )

    def hear_of_run(self) -> None:
        """Look again, for a run that learned from the table may have ended."""
        self._round += 1
        self.changed.emit()

    @Slot()
    def _look_again(self) -> None:
        self._looked_at = self.recipe
        self.changed.emit()

    def compare_with(self, path: Path) -> None:
        """Name another part, to look for what stands in both."""
        if path not in self.against and self._table is not None:
            self.against = (*self.against, path)
            self.remember(self._table.path, self.against)
            self._examined.drop()
            self.compared.emit()

    def remember(self, table: Path, against: tuple[Path, ...]) -> None:
        """Keep the other parts that were named for a table, for whenever it is opened."""
        self._named[table] = against

    def set_apart(self, paths: tuple[Path, ...]) -> None:
        """Say which files of their own a training would validate and test on: they are looked at, too."""
        if paths != self.apart:
            self.apart = paths
            self.changed.emit()

    def suspect(
        self, roles: Roles, model: Path | None, max_length: int, *, by: str, closely: bool = False
    ) -> None:
        """Look for labels that are wrong, which takes minutes; closely, with a model that is taught for that:
        what was found before stays meanwhile. Args: by: what the model is called.
        """
        if self._table is None or self.recipe is None:
            return
        if not closely:
            self.suspected = None
        self._suspected.drop()
        about = self._table.sha256, self._table.num_rows, roles
        self._suspected.ask(
            (id(self._table), roles, model, max_length, self.recipe, closely),
            partial(suspect, self._table, self.recipe, roles, model, max_length, closely=closely),
            heard=partial(self._take_suspected, about, by, closely),
            refused=self._refuse,
            progress=self._show_progress,
            ended=self._end,
        )
        self.done = 0.0
        self.changed.emit()

    @property
    def is_suspecting(self) -> bool:
        """Whether wrong labels are being looked for."""
        return self._suspected.is_asking

    @Slot()
    def stop(self) -> None:
        """Look for wrong labels no further."""
        self._suspected.drop()
        self._end()

    def is_own(self, finding: Finding) -> bool:
        """Whether a finding is about rows of the open table."""
        return finding.part == next(iter(self.parts), "")

    def _take_findings(self, found: tuple[Sequence[Finding], Sequence[Part]]) -> None:
        findings, parts = found
        self.findings, self.parts = tuple(findings), {part.name: part for part in parts}
        self.changed.emit()

    def _take_suspected(
        self, about: tuple[str, int, Roles], by: str, closely: bool, found: Suspected
    ) -> None:
        self.suspected, self.suspected_by, self.is_close = found, by, closely
        self._kept.pop(about, None)
        self._kept[about] = found, by, closely
        while len(self._kept) > MOST_KEPT:
            self._kept.pop(next(iter(self._kept)))
        self.changed.emit()

    def _show_progress(self, event: Event) -> None:
        if isinstance(event, Progress) and event.total:
            done = event.done / event.total
            if self.done is None or int(100 * done) != int(100 * self.done):
                self.done = done
                self.progressed.emit()
        elif isinstance(event, Noted):
            self.notes = (*self.notes, event)

    def _refuse(self, error: BaseException) -> None:
        self.refused.emit(error)

    def _end(self) -> None:
        if not (self._examined.is_asking or self._suspected.is_asking):
            self.done = None
            self.changed.emit()

    # ---- mending

    @property
    def steps(self) -> tuple[Step, ...]:
        """The mends of the open table."""
        return self.recipe.steps if self.recipe is not None else ()

    def mend(self, *steps: Step) -> None:
        """Add steps to the recipe."""
        if self.recipe is not None:
            self._take(self.recipe.plus(*steps))

    def take_back(self, step: Step) -> None:
        """Take a step out of the recipe."""
        if self.recipe is not None and step in self.recipe.steps:
            self._take(self.recipe.without(self.recipe.steps.index(step)))

    def decide(self, row: int, step: Step | None) -> None:
        """Say what becomes of one row; None: nothing."""
        if self.recipe is not None:
            self._take(self.recipe.deciding(row, step))

    def decide_all(self, rows: Sequence[int], step: Step | None) -> None:
        """Say what becomes of several rows, in one change; None: nothing."""
        if self.recipe is not None and rows:
            self._take(self.recipe.deciding_all(rows, step))

    @property
    def can_undo(self) -> bool:
        """Whether there is a change to go back before."""
        return bool(self._before)

    @Slot()
    def undo(self) -> None:
        """Go back before the last change."""
        if self._before:
            self.recipe = self._before.pop()
            self._timer.start()
            self._again.start()
            self.recipe_changed.emit()

    def _take(self, recipe: Recipe) -> None:
        assert self.recipe is not None
        self._before.append(self.recipe)
        self.recipe = recipe
        self._timer.start()
        self._again.start()
        self.recipe_changed.emit()

    # ---- keeping

    def path(self) -> str:
        """Return the file that a run reads these mends from, "" where there are none."""
        if self.recipe is None or not any(step.do != "keep" for step in self.recipe.steps):
            return ""
        return str(recipe_file(self._folder(), self.recipe, own=True))

    def save(self) -> None:
        """Write that file now, if it is not there yet. Raises: UserError."""
        path = self.path()
        if path and not Path(path).exists():
            assert self.recipe is not None
            keep_recipe(self._folder(), self.recipe)

    @Slot()
    def _write(self) -> None:
        if self.recipe is not None:
            write: Callable[[], bool] = partial(keep_recipe, self._folder(), self.recipe)
            self._written.ask(self.recipe, write, heard=self._take_written, refused=self._refuse)

    def _take_written(self, _is_written: bool) -> None:
        """Nothing is to be done: it is kept."""

    def _flush(self) -> None:
        if self._timer.isActive():
            self._timer.stop()
            self._write()


def recipe_file(folder: Path, recipe: Recipe, *, own: bool) -> Path:
    """Return where a recipe is kept: the newest of its data or, with `own`, one that never changes."""
    name = recipe.sha256[:16]
    if own:
        name += f"-{hashlib.blake2b(repr(recipe.steps).encode(), digest_size=6).hexdigest()}"
    return folder / f"{name}.json"


def keep_recipe(folder: Path, recipe: Recipe) -> bool:
    """Write a recipe under both of its names; return True. Raises: UserError."""
    folder.mkdir(parents=True, exist_ok=True)
    for own in (True, False):
        recipe.write(recipe_file(folder, recipe, own=own))
    return True


def kept_recipe(folder: Path, recipe: Recipe) -> tuple[Recipe, DataError | None]:
    """Return the recipe that was kept for the same data, else the one given; and what is wrong with it."""
    path = recipe_file(folder, recipe, own=False)
    if not path.is_file():
        return recipe, None
    try:
        return read_recipe(path), None
    except DataError as error:
        return recipe, error
