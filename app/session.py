"""What is open now: table, roles, model, length, the training job. Pages ask and hear of changes here.

Everything slow is a task on a worker; every signal comes on the window's thread. Nothing here draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QElapsedTimer, QEventLoop, QObject, QTimer, Signal, Slot

from app.settings import AppSettings
from app.shipped import assets
from app.work.doctor import Doctor, kept_recipe
from app.work.hub import Hub
from app.work.inspector import Inspector
from app.work.later import later
from app.work.library import Looked, ModelLibrary, look
from app.work.queue import QueueWatch
from app.work.text_filter import Filter
from app.work.training import TrainConfig, Training, TrainingState, run_name
from app.work.worker import Channel, Workers
from engine.errors import DataError
from engine.events import Event, Progress, Steps
from engine.runs.turn import in_turn
from engine.settings.comparison import ComparisonConfig
from engine.settings.family import FamilyConfig
from engine.settings.finetune import USUAL_LENGTH, DataConfig, FineTuneConfig
from engine.settings.pretrain import PretrainConfig
from engine.text.examples import Roles
from engine.train.run.runs import RunInfo, default_root, new_run_dir, read_config

if TYPE_CHECKING:
    from app.work.tables import ModelInfo, TableSummary, open_table, read_model, summary
    from app.work.task_files import FileSummary, TaskFile, file_summary, open_task_file
    from engine.family.train import train_family
    from engine.text.recipe import Recipe
    from engine.text.table import Table
    from engine.train.comparison import compare, read_comparison
    from engine.train.finetune import fine_tune
    from engine.train.pretrain import pretrain
    from engine.train.pretraining.watch import Questions
    from engine.train.resume import resume
else:
    open_table, read_model, summary = (
        later("app.work.tables", name) for name in ("open_table", "read_model", "summary")
    )
    file_summary, open_task_file = (
        later("app.work.task_files", name) for name in ("file_summary", "open_task_file")
    )
    compare, read_comparison = (
        later("engine.train.comparison", name) for name in ("compare", "read_comparison")
    )
    train_family = later("engine.family.train", "train_family")
    fine_tune = later("engine.train.finetune", "fine_tune")
    pretrain = later("engine.train.pretrain", "pretrain")
    resume = later("engine.train.resume", "resume")
    Questions = later("engine.train.pretraining.watch", "Questions")

new_recipe = later("engine.text.recipe", "new_recipe")
OVERRIDES = ("encoding", "separator", "quoting", "header")
DEFAULT_LIMIT = 512  # the maximum length to offer while no model says another
ROLES = ("text", "text_pair", "label")
FILE_SETTINGS = ("text", "label", "scheme")  # how a task's own file is read
LabelChoices = Mapping[str, Any]  # a switch, or a number
LABEL_CHOICES: LabelChoices = {  # how the labels of a table are read, and what nobody has to say
    name: getattr(DataConfig(), name) for name in ("merge_labels", "whole_labels", "max_labels")
}


def sample_data_path() -> Path:
    """Return the sentences that ship with Cloze (Pang and Lee 2005, CC BY 4.0)."""
    return assets() / "samples" / "sentence_polarity.csv"


def _open(
    path: Path, overrides: dict[str, str], roles: Roles | None, task: str, said: dict[str, str], kept: Path
) -> Steps[tuple[Table, Roles, Recipe, DataError | None] | TaskFile]:
    """Return a task's own file; or a table with its roles, the recipe that was kept for it, and what is wrong
    with that. Raises: DataError.
    """
    file = None if any(overrides.values()) and not task else (yield from open_task_file(path, task, said))
    if file is not None:
        return file
    table, found = yield from open_table(path, overrides, roles)
    return table, found, *kept_recipe(kept, new_recipe(table))


def _kept(choices: LabelChoices, of: Roles | None, roles: Roles) -> LabelChoices:
    """Return choices that were made for the labels of some roles, where these have the same."""
    same = of is not None and of.label == roles.label
    return choices if same else LABEL_CHOICES


class Session(QObject):
    """The open things, the workers that read them, and the training job."""

    table_changed = Signal()
    roles_changed = Signal()
    model_changed = Signal()
    summary_changed = Signal()
    max_length_changed = Signal(int)
    busy_changed = Signal(str)
    problem = Signal(object)
    table_problem = Signal(object)
    model_problem = Signal(object)
    page_requested = Signal(str)
    training_started = Signal(object)
    training_heard = Signal(list)
    training_changed = Signal()
    training_failed = Signal(object)
    training_ended = Signal()
    result_changed = Signal()
    evaluation_wanted = Signal()
    crashed_runs_changed = Signal()

    def __init__(self, settings: AppSettings | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.settings = AppSettings() if settings is None else settings
        self.table: Table | None = None
        self.task_file: TaskFile | None = None  # where what is open is no table
        self.file_settings: dict[str, str] = {}  # what a person said of how such a file is read
        self.task: str = ""  # what the data are for, as a person said; "": what they look like
        self.table_overrides: dict[str, str] = dict.fromkeys(OVERRIDES, "")
        self.roles: Roles | None = None
        self.roles_before: Roles | None = None  # those that a person changed last, to go back to
        self.label_choices: LabelChoices = LABEL_CHOICES
        self._choices_before = self.label_choices
        self._is_mended = True  # False while another table comes with its own recipe
        self.summary: TableSummary | FileSummary | None = None
        self.table_refusal: BaseException | None = None  # of the table that was asked for last
        self.model: ModelInfo | None = None
        self.model_refusal: BaseException | None = None
        self.max_length: int = USUAL_LENGTH
        self._usual_length = USUAL_LENGTH  # of the task that the data are for
        self.training_config: TrainConfig | None = None
        self.questions: Questions | None = None  # to the model that is being pretrained
        self.last_model: Path | None = None
        self.wanted_evaluation: tuple[Path, str, Filter | None] | None = None
        self.crashed_runs: tuple[RunInfo, ...] = ()
        self.busy_words = ""
        self._lowercase = ""
        self._dismissed: set[Path] = set()
        self._busy: dict[str, str] = {}
        self.workers = Workers(self)
        self.workers.problem.connect(self.problem)
        self._table_asked = Channel(self, self.workers.files)
        self._study_asked = Channel(self, self.workers.files)
        self._model_asked = Channel(self, self.workers.quick)
        self._runs_asked = Channel(self, self.workers.quick)
        self.library = ModelLibrary(self.settings, self)
        self.library.look_wanted.connect(self.find_runs)
        self.hub = Hub(self.settings, lambda: self.runs_root, self.workers, self)
        self.hub.fetched.connect(self.library.remember)
        self.inspector = Inspector(self.settings, self.library, self.workers, self)
        self.queue = QueueWatch(lambda: self.runs_root, self.workers.quick, self)
        self.queue.refused.connect(self.problem)
        self.queue.ended.connect(self.find_runs)
        self.doctor = Doctor(self.workers, self.recipes_dir, lambda: self.runs_root, self)
        self.doctor.recipe_changed.connect(self._mend)
        self._training = Training(self)
        self._connect_training()

    def _connect_training(self) -> None:
        self._training.started.connect(self.training_started)
        self._training.heard.connect(self.training_heard)
        self._training.changed.connect(self.training_changed)
        self._training.failed.connect(self.training_failed)
        self._training.ended.connect(self._end_training)

    @property
    def table_path(self) -> Path | None:
        """The file that is open, a table or a task's own."""
        if self.task_file is not None:
            return self.task_file.path
        return self.table.path if self.table else None

    @property
    def table_summary(self) -> TableSummary | None:
        """What is known of the open table; None without one, and while it is counted."""
        return cast("TableSummary | None", self.summary) if self.table is not None else None

    @property
    def summary_of_file(self) -> FileSummary | None:
        """What is known of the open file of a task's own; None without one, and while it is counted."""
        return cast("FileSummary | None", self.summary) if self.task_file is not None else None

    @property
    def has_label(self) -> bool:
        """Whether it is known where the table's labels stand: somebody has said so, or they were found."""
        found = self.roles if self.table_summary is None else self.table_summary.roles
        return found is not None and bool(found.label)

    @property
    def task_name(self) -> str:
        """What the data are for: as a person said, else what they look like; "" while that is not known."""
        if self.task_file is not None:
            return self.task_file.task
        return self.task or (self.summary.task if self.summary is not None else "")

    def open_table(
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
        self._read_table(Path(path).absolute(), overrides, roles, choices, task, dict(said or {}))

    def set_task(self, task: str) -> None:
        """Say what the open data are for; "" for what they look like. The file is read again where that
        needs another way of reading.
        """
        path = self.table_path
        if path is not None and task != self.task:
            self._read_table(path, self.table_overrides, self.roles, self.label_choices, task)

    def reread_table(self, **overrides: str) -> None:
        """Read the same file another way; roles whose columns are still there stay."""
        if self.table is not None:
            overrides = {**self.table_overrides, **overrides}
            self._read_table(self.table.path, overrides, self.roles, self.label_choices, self.task)

    def reread_file(self, **said: str) -> None:
        """Read a task's own file another way. Args: said: settings of `DataConfig`, such as its columns."""
        if self.task_file is not None:
            said = {**self.file_settings, **said}
            path, overrides = self.task_file.path, self.table_overrides
            self._read_table(path, overrides, None, self.label_choices, self.task, said)

    def set_roles(self, roles: Roles) -> None:
        """Say which columns hold what. Raises: DataError for a column that the table does not have."""
        if self.table is None or roles == self.roles:
            return
        for column in (roles.text, roles.text_pair, roles.label):
            if column:
                self.table.column(column)
        self.roles_before, self._choices_before = self.roles, self.label_choices
        self._take_roles(roles, _kept(self.label_choices, self.roles, roles))

    @Slot()
    def _mend(self) -> None:
        """Count the table anew, as its recipe leaves it; what is shown of it stays meanwhile."""
        if self._is_mended and self.table is not None and self.roles is not None and self.roles.text:
            self._ask_summary()

    def _take_roles(self, roles: Roles, choices: LabelChoices) -> None:
        self.doctor.forget()
        self.roles, self.label_choices, self.summary = roles, choices, None
        self.roles_changed.emit()
        self._summarize()

    def set_role(self, column: str, role: str) -> None:
        """Give a column a role; "" for no column, or for no role. Two columns with a role change places."""
        if self.roles is None:
            return
        now = {name: str(getattr(self.roles, name)) for name in ROLES}
        lost = now.get(role, "")
        now = {name: lost if column and held == column else held for name, held in now.items()}
        self.set_roles(Roles(**{**now, role: column} if role else now))

    @Slot()
    def undo_roles(self) -> None:
        """Go back to the roles before the last change."""
        before, self.roles_before = self.roles_before, None
        if before is not None:
            self._take_roles(before, self._choices_before)

    def choose_for_labels(self, name: str, value: int) -> None:
        """Make one of LABEL_CHOICES, as in the settings; the table is studied again."""
        if self.table is not None and value != self.label_choices[name]:
            self.label_choices = {**self.label_choices, name: value}
            self._summarize()

    @property
    def is_summarizing(self) -> bool:
        return self._study_asked.is_asking

    def _read_table(
        self,
        path: Path,
        overrides: dict[str, str],
        roles: Roles | None,
        choices: LabelChoices,
        task: str,
        said: dict[str, str] | None = None,
    ) -> None:
        said = said or {}
        self.table_refusal = None
        self._show_busy("table", self.tr("Reading %1").replace("%1", path.name))
        self._table_asked.drop()  # the file may be another by now
        self._table_asked.ask(
            path,
            partial(_open, path, overrides, roles, task, said, self.recipes_dir()),
            heard=partial(self._take_opened, overrides, roles, choices, task, said),
            refused=self._refuse_table,
            ended=partial(self._show_idle, "table"),
        )

    def _refuse_table(self, error: BaseException) -> None:
        self.table_refusal = error
        self.table_problem.emit(error)

    def _take_opened(
        self,
        overrides: dict[str, str],
        asked: Roles | None,
        choices: LabelChoices,
        task: str,
        said: dict[str, str],
        opened: tuple[Table, Roles, Recipe, DataError | None] | TaskFile,
    ) -> None:
        self.task, self.file_settings = task, {} if isinstance(opened, tuple) else said
        recipe, damage = None, None
        if isinstance(opened, tuple):
            self.task_file, (self.table, self.roles, recipe, damage) = None, opened
            self.label_choices = _kept(choices, asked, self.roles)
        else:
            self.task_file, self.table, self.roles = opened, None, None
        self.table_overrides, self.roles_before = overrides, None
        self.summary = None  # it was of the table before
        self._take_usual_length(self.task_file.max_length if self.task_file is not None else USUAL_LENGTH)
        path = self.table_path
        assert path is not None
        self.settings.add_recent_file(path)
        self._is_mended = False
        self.doctor.set_table(self.table, recipe)
        self._is_mended = True
        if damage is not None:
            self.problem.emit(damage)
        self.table_changed.emit()
        self.roles_changed.emit()
        self._summarize()

    def _take_usual_length(self, length: int) -> None:
        """Take the maximum length that the data's task wants, unless a person chose another."""
        if self.max_length == min(self._usual_length, self.max_length_limit):
            self.set_max_length(min(length, self.max_length_limit))
        self._usual_length = length

    def _summarize(self) -> None:
        self.summary = self.table_refusal = None
        self._study_asked.drop()
        if self.task_file is not None:
            self._study_asked.ask(
                self.task_file.path,
                partial(file_summary, self.task_file, self.model),
                heard=self._take_summary,
                refused=self._refuse_table,
                progress=self._show_progress,
                ended=partial(self._show_idle, "summary"),
            )
        if self.table is not None and self.roles is not None and self.roles.text:
            self._ask_summary()
        self.summary_changed.emit()

    def _ask_summary(self) -> None:
        assert self.table is not None and self.roles is not None
        self._study_asked.drop()
        self._study_asked.ask(
            self.table.path,
            partial(
                summary,
                self.table,
                self.roles,
                self.model,
                task=self.task,
                overrides=self.table_overrides,
                recipe=self.doctor.recipe,
                **self.label_choices,
            ),
            heard=self._take_summary,
            refused=self._refuse_table,
            progress=self._show_progress,
            ended=partial(self._show_idle, "summary"),
        )

    def _show_progress(self, event: Event) -> None:
        if isinstance(event, Progress) and event.total:
            words = self.tr("Measuring texts: %1 %").replace("%1", str(100 * event.done // event.total))
            self._show_busy("summary", words)

    def _take_summary(self, found: TableSummary | FileSummary) -> None:
        self.summary = found
        self.summary_changed.emit()

    # ---- model and length

    def set_model(self, model: str, vocab: str = "", lowercase: str = "") -> None:
        """Choose a model folder or new:PRESET; until it is read, and if it cannot be, the old one stays."""
        self._model_asked.drop()
        self.model_refusal = None
        if not model:
            self._take_model("", None)
            return
        self._show_busy("model", self.tr("Reading the model"))
        self._model_asked.ask(
            model,
            partial(read_model, model, vocab, lowercase),
            heard=partial(self._take_model, lowercase),
            refused=self._refuse_model,
            ended=partial(self._show_idle, "model"),
        )

    def _refuse_model(self, error: BaseException) -> None:
        self.model_refusal = error
        self.model_problem.emit(error)

    @property
    def is_reading_model(self) -> bool:
        return self._model_asked.is_asking

    def _take_model(self, lowercase: str, info: ModelInfo | None) -> None:
        self.model, self._lowercase = info, lowercase
        if info is not None and not info.is_new:
            self.library.remember(info.model)
        self.model_changed.emit()
        self.set_max_length(min(self.max_length, self.max_length_limit))
        self._summarize()

    @property
    def max_length_limit(self) -> int:
        """The longest that the chosen model can read."""
        return self.model.max_length_limit if self.model else DEFAULT_LIMIT

    @Slot(int)
    def set_max_length(self, pieces: int) -> None:
        """Say how many WordPieces of each text are kept."""
        if pieces != self.max_length and pieces >= 3:
            self.max_length = pieces
            self.max_length_changed.emit(pieces)

    def values(self) -> dict[str, Any]:
        """Return the settings of a run that the session knows, flat."""
        roles = self.roles or Roles(text="")
        return {
            "task": self.task,
            "data": str(self.table_path or ""),
            **{name: getattr(roles, name) for name in ROLES},
            **self.table_overrides,
            **self.label_choices,
            **self.file_settings,
            "recipe": self.doctor.path() if self.table is not None else "",
            "model": self.model.model if self.model else "",
            "vocab": self.model.vocab if self.model else "",
            "lowercase": self._lowercase,
            "max_length": self.max_length,
        }

    # ---- training

    @property
    def training(self) -> TrainingState:
        return self._training.state

    @property
    def is_training(self) -> bool:
        return self._training.is_running

    @property
    def run_dir(self) -> Path | None:
        return self._training.run_dir

    @property
    def runs_root(self) -> Path:
        return Path(self.settings.runs_root) if self.settings.runs_root else default_root()

    def set_runs_root(self, path: Path | str) -> None:
        """Say where new run folders are made."""
        self.settings.runs_root = str(path)
        self.find_runs()

    def recipes_dir(self) -> Path:
        """Return the folder that mends of tables are kept in."""
        return self.runs_root / ".recipes"

    def start_training(self, config: TrainConfig) -> Path:
        """Start the training job in a new run folder and return it. Raises: RunError if one is under way."""
        self._training.refuse_second()
        self.doctor.save()
        run_dir, questions = new_run_dir(self.runs_root, run_name(config)), self._take_config(config)
        task: Callable[[], Iterator[Event]]
        if isinstance(config, PretrainConfig):
            task = partial(pretrain, config, run_dir, questions=questions)
        elif isinstance(config, ComparisonConfig):
            task = partial(compare, config.own, run_dir, config.seeds)
        elif isinstance(config, FamilyConfig):
            task = partial(train_family, config, run_dir)
        else:
            task = partial(fine_tune, config, run_dir)
        self._begin(task, run_dir, config, is_pretraining=questions is not None)
        return run_dir

    def queue_training(self, config: FineTuneConfig | PretrainConfig) -> None:
        """Put a run at the end of the queue. Raises: UserError."""
        self.doctor.save()
        self.queue.add([config], run_name(config))

    def resume_training(self, run_dir: Path) -> None:
        """Go on with a run that crashed or was stopped. Raises: RunError if one is under way; ConfigError."""
        self._training.refuse_second()
        config = read_config(run_dir)
        self.dismiss_crashed(run_dir)
        questions = self._take_config(config)
        task = partial(resume, run_dir, questions=questions)
        self._begin(task, run_dir, config, is_pretraining=questions is not None)

    def resume_comparison(self, folder: Path) -> None:
        """Go on with a comparison that was stopped. Raises: RunError if a training is under way."""
        self._training.refuse_second()
        config = ComparisonConfig(*read_comparison(folder))
        self._take_config(config)
        self._begin(partial(compare, config.own, folder, config.seeds), folder, config)

    def _begin(
        self,
        task: Callable[[], Iterator[Event]],
        run_dir: Path,
        config: TrainConfig,
        *,
        is_pretraining: bool = False,
    ) -> None:
        """Train once it is the window's turn: the queue may be at work."""
        waiting = partial(in_turn, self.runs_root, task)
        self._training.start(waiting, run_dir, run_name(config), is_pretraining=is_pretraining)

    def _take_config(self, config: TrainConfig) -> Questions | None:
        """Keep the settings of a run; return whom to ask while it learns, where it can be asked."""
        self.training_config, self.questions = config, None
        if isinstance(config, PretrainConfig):
            self.questions = Questions([line for line in config.budget.pins.splitlines() if line.strip()])
        return self.questions

    @Slot()
    def pause_training(self) -> None:
        self._training.pause()

    @Slot()
    def continue_training(self) -> None:
        self._training.resume()

    @Slot()
    def stop_training(self) -> None:
        """Stop and keep; `training_ended` follows when all is saved."""
        self._training.stop()

    @Slot()
    def _end_training(self) -> None:
        folder = self._training.run_dir / "model" if self._training.run_dir else None
        if folder is not None and (folder / "config.json").is_file():
            self.library.remember(folder, trained=True)
            if isinstance(self.training_config, FineTuneConfig):  # an encoder alone answers nothing
                self.last_model = folder
                self.result_changed.emit()
                self.doctor.hear_of_run()
        self.training_ended.emit()

    def want_evaluation(self, model: Path, part: str = "", behind: Filter | None = None) -> None:
        """Show how good a model is on the Evaluate page, which takes the wish up when it is there.

        Args: part: of its run, "validation" or "test". behind: which of its texts to list.
        """
        self.wanted_evaluation = (model, part, behind)
        self.evaluation_wanted.emit()
        self.page_requested.emit("evaluate")

    def find_runs(self) -> None:
        """Look, on a worker, for runs and models: what there is, and which runs were cut off."""
        known = {entry.path: entry for entry in self.library.entries}
        work = partial(look, self.runs_root, self.library.recent, known)
        self._runs_asked.drop()
        self._runs_asked.ask(self.runs_root, work, heard=self._take_found)
        self.queue.look()

    def _take_found(self, found: Looked) -> None:
        self.library.set_found(found.entries)
        cut_off = (run for run in found.runs if run.state == "crashed")
        left = tuple(run for run in cut_off if run.path not in self._dismissed)
        if left != self.crashed_runs:
            self.crashed_runs = left
            self.crashed_runs_changed.emit()
        if found.problem is not None:
            self.problem.emit(found.problem)

    def dismiss_crashed(self, path: Path) -> None:
        """Do not offer a run again in this session."""
        self._dismissed.add(path)
        left = tuple(run for run in self.crashed_runs if run.path != path)
        if left != self.crashed_runs:
            self.crashed_runs = left
            self.crashed_runs_changed.emit()

    # ---- workers

    def close(self) -> None:
        """End all asking and join the workers; not the training, which is asked about first."""
        self.queue.close()
        self.workers.close()

    def wait_idle(self, timeout_s: float = 120) -> bool:
        """Spin until all that was asked has ended; False when the time is over."""
        loop, clock, timer = QEventLoop(), QElapsedTimer(), QTimer(interval=10)
        timer.timeout.connect(loop.quit)
        timer.start()
        clock.start()
        while not self.workers.is_idle:
            if clock.elapsed() > 1000 * timeout_s:
                return False
            loop.exec()
        return True

    def _show_busy(self, key: str, words: str) -> None:
        self._busy[key] = words
        self._tell_busy()

    def _show_idle(self, key: str) -> None:
        self._busy.pop(key, None)
        self._tell_busy()

    def _tell_busy(self) -> None:
        words = next(reversed(self._busy.values()), "")
        if words != self.busy_words:
            self.busy_words = words
            self.busy_changed.emit(words)
