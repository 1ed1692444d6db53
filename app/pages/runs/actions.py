"""What can be done with the runs that are chosen: opened, named, gone on with, repeated, exported, deleted.

Whatever takes time is asked of a worker; what was done, or could not be, is told.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from app import words
from app.look.files import ask_folder, ask_save
from app.pages.export.dialog import export_model
from app.pages.run.allowing import when_allowed
from app.pages.run.state import RunPageState
from app.pages.runs import requests
from app.pages.runs.dialogs import MarksDialog, bin_dialog, slim_dialog
from app.pages.runs.export import write_card, write_scalars, write_table
from app.pages.runs.rows import RunRow, RunRows, name_of
from app.pages.runs.settings import SettingsDialog
from app.pages.runs.sweep import GRID, SEEDS, SweepDialog, SweepRuns
from app.plots.figure import Figure
from app.session import Session
from app.work.worker import Channel
from engine.commands.command_line import finetune_command
from engine.commands.language import pretrain_command
from engine.commands.remote import where_words
from engine.errors import UserError
from engine.remote.record import is_followed
from engine.runs.facts import RunFacts
from engine.runs.groups import ScoreColumn
from engine.runs.slim import spare
from engine.settings.pretrain import PretrainConfig
from engine.train.run.runs import CHECKPOINTS, MODEL, new_run_dir, read_config

ENDED = ("stopped", "failed", "crashed")


class RunActions(QObject):
    """Acts on the lines that are chosen at the moment; its dialogs belong to the page."""

    changed = Signal()  # something may stand otherwise in the folders
    done = Signal(str)  # in a sentence
    refused = Signal(object)

    def __init__(self, session: Session, page: QWidget) -> None:
        super().__init__(page)
        self.session, self._page = session, page
        self.chosen: list[RunRow] = []  # what an action is about
        self.line: RunRow | None = None  # with the keyboard, which alone is named
        self.ticked: list[RunRow] = []  # A first
        self.shown, self.measure = RunRows(), ScoreColumn()
        quick, files = session.workers.quick, session.workers.files
        self._marking, self._binning = Channel(self, quick), Channel(self, quick)
        self._opening, self._exporting = Channel(self, quick), Channel(self, files)

    @property
    def runs(self) -> list[RunFacts]:
        """The runs of the chosen lines, each once."""
        return list({facts.path: facts for one in self.chosen for facts in one.runs}.values())

    def menu(self) -> QMenu:
        """Return the menu of what can be done with the lines that are chosen."""
        menu = QMenu(self._page)
        menu.setObjectName("runs_menu")
        rows, runs = self.chosen, self.runs
        only = runs[0] if len(runs) == 1 else None
        size = words.file_size(sum(facts.size for facts in runs))
        can_resume = (
            only is not None
            and only.state in ENDED
            and not self.session.training.is_busy
            and (bool(only.host) or (Path(only.path) / CHECKPOINTS).is_dir())
        )
        entries: list[tuple[str, Callable[[], object], bool, str]] = [
            (self.tr("Open"), self.open, only is not None or len(rows) == 1, "Return"),
            (self._naming_words(), self.rename, self.line is not None, "F2"),
            (self.tr("Resume"), self.resume, can_resume, ""),
            *(self._actions_there(only) if only is not None and only.host else ()),
            (self.tr("Repeat with more seeds…"), self.repeat, bool(rows), ""),
            (self.tr("Sweep settings…"), partial(self.sweep, GRID), len(rows) == 1, ""),
            (self.tr("Show folder"), self.show_folder, len(rows) == 1, ""),
            (self.tr("Compare settings"), self.compare_settings, len(self.ticked) > 1, ""),
            (self._slimming_words(), self.slim, bool(self._spare()), ""),
            (self.tr("Move to the bin, {size}…").format(size=size), self.delete, bool(runs), "Del"),
        ]
        for text, call, is_on, keys in entries:
            action = menu.addAction(text, call)
            action.setEnabled(is_on)
            if keys:
                action.setShortcut(QKeySequence(keys))
                action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
                action.setShortcutVisibleInContextMenu(True)
        menu.aboutToHide.connect(menu.deleteLater)
        return menu

    def _actions_there(self, run: RunFacts) -> list[tuple[str, Callable[[], object], bool, str]]:
        """Return what can be done with a run of another computer beyond that with any other."""
        is_running = run.state == "running"
        may_follow = is_running and not is_followed(Path(run.path)) and not self.session.training.is_busy
        may_copy = self.lacks_weights(run) and self.session.hosts.copying is None
        return [
            (self.tr("Follow"), partial(self.follow, run), may_follow, ""),
            (self.tr("Stop and keep"), partial(self.stop, run), is_running, ""),
            (self.tr("Download the weights"), partial(self.copy_weights, run), may_copy, ""),
        ]

    def lacks_weights(self, run: RunFacts) -> bool:
        """Whether what a run has learned is on another computer only."""
        has_ended = run.state in ("finished", "stopped")
        return bool(run.host) and has_ended and not (Path(run.path) / MODEL / "config.json").is_file()

    def follow(self, run: RunFacts) -> None:
        """Watch a run that trains on another computer, on its page."""
        path = Path(run.path)

        def follow(host: str) -> None:
            if self._attempt(partial(self.session.training.follow, path, host)):
                self._lead_to(run, RunPageState(path))

        when_allowed(path, self._page, follow)

    def stop(self, run: RunFacts) -> None:
        """Stop a run that trains on another computer."""
        training, path = self.session.training, Path(run.path)

        def stop(host: str) -> None:
            is_own = training.is_running and training.run_dir == path
            if self._attempt(training.stop if is_own else partial(self.session.stop_there, path, host)):
                self.done.emit(self.tr("{host} was asked to stop it.").format(host=run.host))

        when_allowed(path, self._page, stop)

    def copy_weights(self, run: RunFacts) -> None:
        """Have what a run has learned come from where it was trained."""
        path = Path(run.path)
        copying = partial(self.session.hosts.copy_weights, path)
        when_allowed(path, self._page, lambda host: self._attempt(partial(copying, host)))

    def _attempt(self, call: Callable[[], object]) -> bool:
        """Do something; whether it could be is returned, and why not is told."""
        try:
            call()
        except UserError as error:
            self.refused.emit(error)
            return False
        return True

    def _naming_words(self) -> str:
        """Return what naming is called: of which line, where several are chosen."""
        if self.line is None or self.chosen == [self.line]:
            return self.tr("Name, tags and note…")
        text = self.tr("Name, tags and note of “{name}”…")
        return text.format(name=words.shorten(self.line.name, 30).replace("&", "&&"))

    def open(self) -> None:
        """Open the run on the page of its kind."""
        if self.chosen:
            self.open_row(self.chosen[0])

    def rename(self) -> None:
        """Ask for a name, tags and a note."""
        line = self.line
        if line is None:
            return
        dialog = MarksDialog(line, self._page)
        paths = tuple(facts.path for facts in line.runs)
        dialog.accepted_marks.connect(partial(self._mark, paths))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _mark(self, paths: tuple[str, ...], changes: dict[str, object]) -> None:
        if changes:
            self._marking.ask(
                paths,
                partial(requests.mark, paths, changes),
                heard=lambda _: None,
                refused=self.refused.emit,
                ended=self.changed.emit,
                again=True,
            )

    def delete(self) -> None:
        """Ask, and move the chosen runs to the bin."""
        runs = self.runs
        if not runs:
            return
        dialog = bin_dialog(runs, [name_of([facts]) for facts in runs], self._page)
        dialog.accepted.connect(partial(self.move_to_bin, tuple(facts.path for facts in runs)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _spare(self) -> dict[str, int]:
        """Return the chosen runs that can be made slim, with how many bytes that sets free of each."""
        found = {facts.path: spare(Path(facts.path), facts.state) for facts in self.runs}
        return {path: size for path, size in found.items() if size}

    def _slimming_words(self) -> str:
        spared = self._spare()
        if not spared:
            return self.tr("Delete checkpoints…")
        text = self.tr("Delete checkpoints, {size}…")
        return text.format(size=words.file_size(sum(spared.values())))

    def slim(self) -> None:
        """Ask, and delete what the chosen runs need only to go on."""
        spared = self._spare()
        runs = [facts for facts in self.runs if facts.path in spared]
        if not runs:
            return
        titles = [name_of([facts]) for facts in runs]
        dialog = slim_dialog(runs, titles, sum(spared.values()), self._page)
        dialog.accepted.connect(partial(self.make_slim, tuple(spared)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def make_slim(self, paths: tuple[str, ...]) -> None:
        """Delete the checkpoints of runs, and say how much room that makes, or why not."""
        self._binning.ask(
            paths,
            partial(requests.slim_runs, self.session.runs.root, paths),
            heard=self._tell_slim,
            refused=self.refused.emit,
            ended=self.changed.emit,
            again=True,
        )

    def _tell_slim(self, size: int) -> None:
        self.done.emit(self.tr("{size} freed.").format(size=words.file_size(size)))

    def move_to_bin(self, paths: tuple[str, ...]) -> None:
        """Move runs to the bin, and say so, or why not."""
        self._binning.ask(
            paths,
            partial(requests.move_to_bin, paths),
            heard=self._tell_binned,
            refused=self.refused.emit,
            ended=self.changed.emit,
            again=True,
        )

    def _tell_binned(self, count: int) -> None:
        text = words.counted(
            count,
            self.tr("One run is in the bin, and can be restored from there."),
            self.tr("{count} runs are in the bin, and can be restored from there."),
        )
        self.done.emit(text)
        self.session.runs.find()

    def resume(self) -> None:
        """Go on with a run that was stopped, on its page."""
        runs = self.runs
        if len(runs) != 1:
            return
        path = Path(runs[0].path)

        def resume(host: str) -> None:
            if self._attempt(partial(self.session.training.resume, path, host)):
                self._lead_to(runs[0])

        when_allowed(path, self._page, resume)

    def repeat(self) -> None:
        """Ask how many seeds the chosen lines are to have."""
        self.sweep(SEEDS)

    def sweep(self, kind: str) -> None:
        """Ask which runs to make of the chosen lines, and put them into the queue."""
        rows = self.chosen[: None if kind == SEEDS else 1]
        try:
            configs = [read_config(Path(one.facts.path)) for one in rows]
        except UserError as error:
            self.refused.emit(error)
            return
        if rows:
            dialog = SweepDialog(rows, configs, kind, self._page, hosts=self.session.hosts.names())
            dialog.wanted.connect(self._put_into_queue)
            dialog.finished.connect(dialog.deleteLater)
            dialog.open()

    def _put_into_queue(self, wanted: list[SweepRuns]) -> None:
        for one in wanted:
            self.session.queue.add(one.configs, one.name, halving=one.halving, on=one.host)

    def export_menu(self, plot: Figure) -> QMenu:
        """Return the menu of what can be taken along. Args: plot: the curves."""
        menu = QMenu(self._page)
        menu.setObjectName("runs_export_menu")
        rows = self.chosen
        entries: tuple[tuple[str, Callable[[], object], bool], ...] = (
            (self.tr("This table, as CSV…"), self.export_table, bool(self.shown.rows)),
            (
                self.tr("The curves, as a picture…"),
                plot.save_picture,
                not plot.is_empty,
            ),
            (self.tr("Scalars for TensorBoard…"), self.export_scalars, bool(rows)),
            (self.tr("A model card, as Markdown…"), self.export_card, len(rows) == 1),
            (self.tr("Export the model…"), self.export_result, self._result() is not None),
        )
        for text, call, is_on in entries:
            menu.addAction(text, call).setEnabled(is_on)
        menu.aboutToHide.connect(menu.deleteLater)
        return menu

    def export_table(self) -> None:
        """Ask where to, and write the table as it is looked at."""
        title, kinds = self.tr("Save the table"), [self.tr("Tables (*.csv)")]
        ask_save(
            self._page,
            title,
            self.export_table_to,
            name="runs_table_dialog",
            suggested="runs.csv",
            filters=kinds,
            suffix="csv",
        )

    def export_table_to(self, path: str) -> None:
        self._export(partial(write_table, Path(path), self.shown, self.measure))

    def export_scalars(self) -> None:
        """Ask for a folder, and write a folder of scalars for each chosen run into it."""
        title, start = self.tr("Folder for TensorBoard"), self.session.runs.root.parent
        ask_folder(self._page, title, self.export_scalars_to, name="runs_scalars_dialog", start=start)

    def export_scalars_to(self, path: str) -> None:
        self._export(partial(write_scalars, Path(path), tuple(self.runs)))

    def export_card(self) -> None:
        """Ask where to, and write what is known of the chosen line's model."""
        title, kinds = self.tr("Save a model card"), [self.tr("Markdown (*.md)")]
        ask_save(
            self._page,
            title,
            self.export_card_to,
            name="runs_card_dialog",
            suggested="README.md",
            filters=kinds,
            suffix="md",
        )

    def export_card_to(self, path: str) -> None:
        rows = self.chosen
        if len(rows) == 1:
            self._export(partial(write_card, Path(path), rows[0].runs, rows[0].name))

    def _result(self) -> Path | None:
        """Return the model that the one chosen line has left; None where it is none or several."""
        runs = self.runs
        folder = Path(runs[0].path) / MODEL if len(runs) == 1 else None
        return folder if folder is not None and (folder / "config.json").is_file() else None

    def export_result(self) -> None:
        """Offer to take the chosen run's model to another tool."""
        folder = self._result()
        if folder is not None:
            export_model(self.session, folder, self._page)

    def _export(self, work: Callable[[], Any]) -> None:
        self._exporting.ask(object(), work, heard=self._tell_exported, refused=self.refused.emit, again=True)

    def _tell_exported(self, path: Path) -> None:
        self.done.emit(self.tr("Written to {path}.").format(path=path))

    def show_folder(self) -> None:
        """Show the run among the computer's files."""
        runs = self.runs
        if runs and not QDesktopServices.openUrl(QUrl.fromLocalFile(runs[0].path)):
            text = self.tr("No program shows folders here. It is at {path}.")
            self.done.emit(text.format(path=runs[0].path))

    def compare_settings(self) -> None:
        """Show the settings of all that is ticked beside one another."""
        rows = self.ticked
        if len(rows) > 1:
            dialog = SettingsDialog(rows, self._page)
            dialog.finished.connect(dialog.deleteLater)
            dialog.open()

    def command(self) -> str:
        """Return the commands that train the same again, a line each."""
        lines = []
        try:
            for one in self.chosen:
                config = read_config(Path(one.facts.path))
                place = new_run_dir(self.session.runs.root, name_of(one.runs))
                where = where_words(one.facts.host)
                if isinstance(config, PretrainConfig):
                    lines.append(pretrain_command(config, place, where))
                else:
                    lines.append(finetune_command(config, place, where))
        except UserError as error:
            self.refused.emit(error)
            return ""
        return "\n".join(lines)

    def open_row(self, row: RunRow) -> None:
        """Open a line's first run on the page of its kind."""
        facts = row.facts
        path = Path(facts.path)
        self._opening.ask(
            path,
            partial(read_config, path),
            heard=lambda _: self._lead_to(facts, RunPageState(path)),
            refused=self.refused.emit,
            again=True,
        )

    def _lead_to(self, facts: RunFacts, state: RunPageState | None = None) -> None:
        """Lead to the page of a run's kind. Args: state: None: as it stands."""
        self.session.show_page("pretrain" if facts.kind == "pretrain" else "finetune", state)
