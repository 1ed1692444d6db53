"""The data that are open: a table with the roles of its columns and its mends, or a task's own file.

Nobody else knows what the table comes to as it is mended: a mend is added here (`mends`), counted here
(`summary`) and taken back here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QObject, Signal

from app.settings import AppSettings
from app.work.busy import Busy
from app.work.known_runs import KnownRuns
from app.work.later import later
from app.work.mends import Mends, kept_recipe
from app.work.model_choice import ModelChoice
from app.work.texts_read import START, UNCUT, FileTexts, TableTexts, TextsRead
from app.work.worker import Channel, Workers
from engine.errors import DataError
from engine.events import Event, Progress, Steps
from engine.settings.finetune import USUAL_LENGTH, DataConfig
from engine.text.roles import Roles

if TYPE_CHECKING:
    from app.work.tables import TableSummary, open_table, summary
    from app.work.task_files import FileSummary, TaskFile, file_summary, open_task_file
    from engine.text.recipe import Recipe, new_recipe
    from engine.text.table import Table
else:
    open_table, summary = (later("app.work.tables", name) for name in ("open_table", "summary"))
    file_summary, open_task_file = (
        later("app.work.task_files", name) for name in ("file_summary", "open_task_file")
    )
    new_recipe = later("engine.text.recipe", "new_recipe")

OVERRIDES = ("encoding", "separator", "quoting", "header", "sheet")
FILE_SETTINGS = ("text", "label", "scheme")  # how a task's own file is read
LabelChoices = Mapping[str, Any]  # a switch, or a number
LABEL_CHOICES: LabelChoices = {  # how the labels of a table are read, and what nobody has to say
    name: getattr(DataConfig(), name) for name in ("merge_labels", "whole_labels", "max_labels")
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReading:
    """How a file is to be read, as a person said it; roles and choices stay where their columns do.

    overrides: of a table's format. task: what it is for; "": what it looks like. said: of FILE_SETTINGS.
    """

    path: Path
    overrides: Mapping[str, str]
    roles: Roles | None = None
    label_choices: LabelChoices = field(default_factory=lambda: LABEL_CHOICES)
    task: str = ""
    said: Mapping[str, str] = field(default_factory=dict)


class OpenData(QObject):
    """One file at a time, read and counted on a worker."""

    opened = Signal()
    roles_changed = Signal()
    summary_changed = Signal()
    refused = Signal(object)

    def __init__(
        self,
        settings: AppSettings,
        workers: Workers,
        runs: KnownRuns,
        model: ModelChoice,
        busy: Busy,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._settings, self._workers, self._runs, self._model = settings, workers, runs, model
        self._busy = busy
        self.table: Table | None = None
        self.task_file: TaskFile | None = None  # where what is open is no table
        self.file_settings: dict[str, str] = {}  # what a person said of how such a file is read
        self.task: str = ""  # what the data are for, as a person said; "": what they look like
        self.overrides: dict[str, str] = dict.fromkeys(OVERRIDES, "")
        self.roles: Roles | None = None
        self.roles_before: Roles | None = None  # those that a person changed last, to go back to
        self.label_choices: LabelChoices = LABEL_CHOICES
        self._choices_before = self.label_choices
        self.summary: TableSummary | FileSummary | None = None
        self.refusal: BaseException | None = None  # of what was asked for last
        self._read, self._counted = Channel(self, workers.files), Channel(self, workers.files)
        self.mends = Mends(workers, runs.recipes_dir, self)
        self.mends.changed.connect(self._count_mended)
        model.changed.connect(self._count)

    @property
    def path(self) -> Path | None:
        """The file that is open, a table or a task's own."""
        if self.task_file is not None:
            return self.task_file.path
        return self.table.path if self.table else None

    @property
    def table_summary(self) -> TableSummary | None:
        """What is known of the open table; None without one, and while it is counted."""
        return cast("TableSummary | None", self.summary) if self.table is not None else None

    @property
    def file_summary(self) -> FileSummary | None:
        """What is known of the open file of a task's own; None without one, and while it is counted."""
        return cast("FileSummary | None", self.summary) if self.task_file is not None else None

    @property
    def has_label(self) -> bool:
        """Whether it is known where the table's labels stand: somebody has said so, or they were found."""
        found = self.roles if self.table_summary is None else self.table_summary.roles
        return found is not None and bool(found.label)

    @property
    def script(self) -> str:
        """What most texts are written in: a marked template; "" while that is not known."""
        return self.summary.script if self.summary is not None else ""

    @property
    def task_name(self) -> str:
        """What the data are for: as a person said, else what they look like; "" while that is not known."""
        if self.task_file is not None:
            return self.task_file.task
        return self.task or (self.summary.task if self.summary is not None else "")

    @property
    def texts_read(self) -> tuple[TextsRead, ...]:
        """The texts, by the model that is to be trained on them; none without both."""
        model, content = self._model, None if self.task_file is None else self.task_file.content
        texts: FileTexts | TableTexts | None = None
        if content is not None:
            texts = FileTexts(content, content.texts, content.num_examples)
        elif self.table is not None and self.roles is not None and self.roles.text:
            texts = TableTexts(self.table, self.roles.text, self.roles.text_pair, self.mends.recipe)
        if model.chosen is None or texts is None:
            return ()
        is_cut = content is None and not (self.table_summary is not None and self.table_summary.reads_windows)
        length, take = model.max_length if is_cut else UNCUT, model.choose
        return (
            TextsRead(
                model.chosen.wordpiece, texts, length, deed=START, take=lambda folder: take(str(folder))
            ),
        )

    def values(self) -> dict[str, Any]:
        """Return the settings of a run that are known of the data, flat."""
        roles = self.roles or Roles()
        return {
            "task": self.task,
            "data": str(self.path or ""),
            **roles.settings(),
            **self.overrides,
            **self.label_choices,
            **self.file_settings,
            "recipe": self.mends.path() if self.table is not None else "",
        }

    # ---- reading

    @property
    def is_reading(self) -> bool:
        """Whether a file is on its way."""
        return self._read.is_asking

    def open(
        self,
        path: Path | str,
        *,
        roles: Roles | None = None,
        label_choices: LabelChoices | None = None,
        task: str = "",
        said: Mapping[str, str] | None = None,
        **overrides: str,
    ) -> None:
        """Read a table, or a task's own file, on a worker; until it is read, and if it cannot be, the old one
        stays.

        Args: roles: those to keep where their columns are there; the rest is guessed. label_choices: of
        LABEL_CHOICES, for the label among `roles`. task: what it is for; "": what it looks like. said: of
        FILE_SETTINGS, for a task's own file.
        """
        overrides = {**dict.fromkeys(OVERRIDES, ""), **overrides}
        choices = {**LABEL_CHOICES, **(label_choices or {})}
        self._open(
            FileReading(
                path=Path(path).absolute(),
                overrides=overrides,
                roles=roles,
                label_choices=choices,
                task=task,
                said=said or {},
            )
        )

    def set_task(self, task: str) -> None:
        """Say what the open data are for; "" for what they look like. The file is read again where that
        needs another way of reading.
        """
        if self.path is not None and task != self.task:
            self._open(replace(self._reading(self.path), task=task, said={}))

    def reread(self, **overrides: str) -> None:
        """Read the same table another way; roles whose columns are still there stay."""
        if self.table is not None:
            overrides = {**self.overrides, **overrides}
            self._open(replace(self._reading(self.table.path), overrides=overrides, said={}))

    def reread_file(self, **said: str) -> None:
        """Read a task's own file another way. Args: said: settings of `DataConfig`, such as its columns."""
        if self.task_file is not None:
            now = self._reading(self.task_file.path)
            self._open(replace(now, roles=None, said={**self.file_settings, **said}))

    def _reading(self, path: Path) -> FileReading:
        """Return how the open file was read, with what was said of it since."""
        return FileReading(
            path=path,
            overrides=self.overrides,
            roles=self.roles,
            label_choices=self.label_choices,
            task=self.task,
            said=self.file_settings,
        )

    def _open(self, reading: FileReading) -> None:
        self.refusal = None
        self._busy.show("table", self.tr("Reading %1").replace("%1", reading.path.name))
        self._read.ask(
            reading.path,
            partial(_open, reading, self._runs.recipes_dir()),
            heard=partial(self._take, reading),
            refused=self._refuse,
            ended=partial(self._busy.end, "table"),
            again=True,  # the file may be another by now
        )

    def _refuse(self, error: BaseException) -> None:
        self.refusal = error
        self.refused.emit(error)

    def _take(
        self, reading: FileReading, opened: tuple[Table, Roles, Recipe, DataError | None] | TaskFile
    ) -> None:
        self.task, self.file_settings = reading.task, {}
        recipe, damage = None, None
        if isinstance(opened, tuple):
            self.task_file, (self.table, self.roles, recipe, damage) = None, opened
            self.label_choices = _kept(reading.label_choices, reading.roles, self.roles)
        else:
            self.task_file, self.table, self.roles = opened, None, None
            self.file_settings = dict(reading.said)
        self.overrides, self.roles_before = dict(reading.overrides), None
        self.summary = None  # it was of the table before
        usual = USUAL_LENGTH if self.task_file is None else self.task_file.max_length
        self._model.take_usual_length(usual)
        self._settings.add_recent_file(reading.path)
        self.mends.take(recipe)
        if damage is not None:
            self._workers.problem.emit(damage)
        self.opened.emit()
        self.roles_changed.emit()
        self._count()

    # ---- what its columns and labels mean

    def set_roles(self, roles: Roles) -> None:
        """Say which columns hold what. Raises: DataError for a column that the table does not have."""
        if self.table is None or roles == self.roles:
            return
        for column in roles.columns:
            self.table.column(column)
        self.roles_before, self._choices_before = self.roles, self.label_choices
        self._take_roles(roles, _kept(self.label_choices, self.roles, roles))

    def _take_roles(self, roles: Roles, choices: LabelChoices) -> None:
        self.roles, self.label_choices, self.summary = roles, choices, None
        self.roles_changed.emit()
        self._count()

    def set_role(self, column: str, role: str) -> None:
        """Give a column a role; "" for no column, or for no role. Two columns with a role change places."""
        if self.roles is None:
            return
        self.set_roles(self.roles.with_role(column, role))

    def undo_roles(self) -> None:
        """Go back to the roles before the last change."""
        before, self.roles_before = self.roles_before, None
        if before is not None:
            self._take_roles(before, self._choices_before)

    def choose_for_labels(self, name: str, value: int) -> None:
        """Make one of LABEL_CHOICES, as in the settings; the table is counted again."""
        if self.table is not None and value != self.label_choices[name]:
            self.label_choices = {**self.label_choices, name: value}
            self._count()

    # ---- counting

    @property
    def is_counting(self) -> bool:
        """Whether the summary is on its way."""
        return self._counted.is_asking

    def _count(self) -> None:
        """Count anew; what was known is known no more."""
        self.summary = self.refusal = None
        self._counted.drop()
        if self.task_file is not None:
            self._ask_summary(self.task_file.path, partial(file_summary, self.task_file, self._model.chosen))
        self._count_mended()
        self.summary_changed.emit()

    def _count_mended(self) -> None:
        """Count the table anew, as its recipe leaves it; what is shown of it stays meanwhile."""
        if self.table is None or self.roles is None or not self.roles.text:
            return
        work = partial(
            summary,
            self.table,
            self.roles,
            self._model.chosen,
            task=self.task,
            overrides=self.overrides,
            recipe=self.mends.recipe,
            **self.label_choices,
        )
        self._ask_summary(self.table.path, work)

    def _ask_summary(self, path: Path, work: Any) -> None:
        self._counted.ask(
            path,
            work,
            heard=self._take_summary,
            refused=self._refuse,
            progress=self._show_progress,
            ended=partial(self._busy.end, "summary"),
            again=True,
        )

    def _show_progress(self, event: Event) -> None:
        if isinstance(event, Progress) and event.total:
            words = self.tr("Measuring texts: %1 %").replace("%1", str(100 * event.done // event.total))
            self._busy.show("summary", words)

    def _take_summary(self, found: TableSummary | FileSummary) -> None:
        self.summary = found
        self.summary_changed.emit()


def _open(
    reading: FileReading, recipes: Path
) -> Steps[tuple[Table, Roles, Recipe, DataError | None] | TaskFile]:
    """Return a task's own file; or a table with its roles, the recipe that was kept for it, and what is wrong
    with that. Raises: DataError.
    """
    file = None
    if reading.task or not any(reading.overrides.values()):
        file = yield from open_task_file(reading.path, reading.task, reading.said)
    if file is not None:
        return file
    table, found = yield from open_table(reading.path, dict(reading.overrides), reading.roles, reading.task)
    return table, found, *kept_recipe(recipes, new_recipe(table))


def _kept(choices: LabelChoices, of: Roles | None, roles: Roles) -> LabelChoices:
    """Return choices that were made for the labels of some roles, where these have the same."""
    same = of is not None and of.label == roles.label
    return choices if same else LABEL_CHOICES
