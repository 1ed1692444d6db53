"""What the doctor has found in the open table, asked for as long as somebody watches."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from app.work.known_runs import KnownRuns
from app.work.later import later
from app.work.model_choice import ModelChoice
from app.work.open_data import OpenData
from app.work.worker import Channel, Workers
from engine.events import Event, Noted, Progress

if TYPE_CHECKING:
    from app.work.examination import examine, suspect
    from engine.doctor.finding import Finding
    from engine.doctor.part import TablePart
    from engine.doctor.suspected import DoubtfulLabels
    from engine.text.recipe import Recipe
    from engine.text.roles import Roles
else:
    examine, suspect = (later("app.work.examination", name) for name in ("examine", "suspect"))

MOST_KEPT = 4  # tables whose suspected labels are kept
AGAIN_MS = 1500  # after the last mend, until it is looked again


class Doctor(QObject):
    """Findings and suspected labels of the table that is open, which alone knows what is mended in it."""

    changed = Signal()  # what was found, or what is under way
    progressed = Signal()  # how far that is
    compared = Signal()  # another part has been named
    refused = Signal(object)

    def __init__(
        self,
        data: OpenData,
        model: ModelChoice,
        runs: KnownRuns,
        workers: Workers,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._data, self._model, self._runs = data, model, runs
        self.findings: tuple[Finding, ...] = ()
        self.parts: dict[str, TablePart] = {}  # the files that findings are of, by name, the open table first
        self.suspected: DoubtfulLabels | None = None
        self.suspected_by = ""  # the model that they were found by
        self.is_close = False  # whether it was taught for that
        self._kept: dict[
            tuple[str, int, Roles], tuple[DoubtfulLabels, str, bool]
        ] = {}  # of tables that were open before
        self.against: tuple[Path, ...] = ()  # other parts, which a person named
        self.apart: tuple[tuple[Path, str], ...] = ()  # those that a training would keep apart, with a sheet
        self.notes: tuple[Noted, ...] = ()
        self.done: float | None = None  # 0..1 of what is under way, None where nothing is
        self._is_watched = False
        self._named: dict[Path, tuple[Path, ...]] = {}  # table -> the other parts that a person named
        self._examined = Channel(self, workers.files)
        self._suspected = Channel(self, workers.models)
        self._looked_at: Recipe | None = None  # the mends that findings are of
        self._round = 0  # of runs that have ended
        self._again = QTimer(self, singleShot=True, interval=AGAIN_MS)
        self._again.timeout.connect(self._look_again)
        data.opened.connect(self._take_table)
        data.roles_changed.connect(self._forget)
        data.summary_changed.connect(self._look)
        data.mends.changed.connect(self._again.start)
        model.max_length_changed.connect(self._look)

    def close(self) -> None:
        """Look no more by itself."""
        self._again.stop()

    def _take_table(self) -> None:
        """Begin anew with another table."""
        table = self._data.table
        self._looked_at, self.apart = self._data.mends.recipe, ()
        self.against = self._named.get(table.path, ()) if table is not None else ()
        self._again.stop()
        self._forget()

    def _forget(self) -> None:
        """Forget what was found: the columns have other roles now."""
        self._examined.drop()
        self._suspected.drop()
        self.findings, self.parts, self.suspected, self.notes, self.done = (), {}, None, (), None
        self.changed.emit()

    # ---- finding

    def watch(self, is_watched: bool) -> None:
        """Look for what is doubtful from now on, as somebody sees what is found; or no further."""
        self._is_watched = is_watched
        self._look()

    def _look(self) -> None:
        """Look for all that can be told without a model's answers, as the mends of a moment ago leave it; the
        same is not looked for again.
        """
        table, roles, recipe = self._data.table, self._data.roles, self._looked_at
        is_counted = self._data.table_summary is not None
        if not self._is_watched or not is_counted or table is None or roles is None or recipe is None:
            return
        kept = self._kept.get((table.sha256, table.num_rows, roles))
        if self.suspected is None and not self.is_suspecting and kept is not None:
            self.suspected, self.suspected_by, self.is_close = kept
        files = self.against, tuple(one for one in self.apart if one[0] not in self.against)
        model, max_length = self._model.chosen, self._model.max_length
        self._examined.ask(
            (table, recipe, roles, files, model.model if model else "", max_length, self._round),
            partial(examine, table, recipe, roles, files, model, max_length, self._runs.root),
            heard=self._take_findings,
            refused=self.refused.emit,
            progress=self._show_progress,
            ended=self._end,
        )

    def hear_of_run(self) -> None:
        """Look again, for a run that learned from the table may have ended."""
        self._round += 1
        self._look()

    def _look_again(self) -> None:
        self._looked_at = self._data.mends.recipe
        self._look()

    def compare_with(self, path: Path) -> None:
        """Name another part, to look for what stands in both."""
        if path not in self.against and self._data.table is not None:
            self.against = (*self.against, path)
            self.remember(self._data.table.path, self.against)
            self._examined.drop()
            self.compared.emit()
            self._look()

    def remember(self, table: Path, against: tuple[Path, ...]) -> None:
        """Keep the other parts that were named for a table, for whenever it is opened."""
        self._named[table] = against

    def set_apart(self, files: tuple[tuple[Path, str], ...]) -> None:
        """Say which files of their own a training would validate and test on: they are looked at, too."""
        if files != self.apart:
            self.apart = files
            self._look()

    def suspect(self, model: Path | None, *, by: str, closely: bool = False) -> None:
        """Look for labels that are wrong, which takes minutes; closely, with a model that is taught for that:
        what was found before stays meanwhile. Args: by: what the model is called.
        """
        table, roles, recipe = self._data.table, self._data.roles, self._data.mends.recipe
        if table is None or roles is None or recipe is None:
            return
        if not closely:
            self.suspected = None
        about = table.sha256, table.num_rows, roles
        self._suspected.ask(
            about,
            partial(suspect, table, recipe, roles, model, self._model.max_length, closely=closely),
            heard=partial(self._take_suspected, about, by, closely),
            refused=self.refused.emit,
            progress=self._show_progress,
            ended=self._end,
            again=True,
        )
        self.done = 0.0
        self.changed.emit()

    @property
    def is_examining(self) -> bool:
        """Whether all that can be told without a model's answers is being looked for."""
        return self._examined.is_asking

    @property
    def is_suspecting(self) -> bool:
        """Whether wrong labels are being looked for."""
        return self._suspected.is_asking

    def stop(self) -> None:
        """Look for wrong labels no further."""
        self._suspected.drop()
        self._end()

    def is_own(self, finding: Finding) -> bool:
        """Whether a finding is about rows of the open table."""
        return finding.part == next(iter(self.parts), "")

    def _take_findings(self, found: tuple[Sequence[Finding], Sequence[TablePart]]) -> None:
        findings, parts = found
        self.findings, self.parts = tuple(findings), {part.name: part for part in parts}
        self.changed.emit()

    def _take_suspected(
        self, about: tuple[str, int, Roles], by: str, closely: bool, found: DoubtfulLabels
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

    def _end(self) -> None:
        if not (self._examined.is_asking or self._suspected.is_asking):
            self.done = None
            self.changed.emit()
