"""The left card of the Fine-tune page: what to train, with which settings, and what that will take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QWidget

from app import words
from app.form.form import SettingsForm
from app.look.boxes import ChoiceBox
from app.look.labels import WholeLabel, label, set_or_hide, tip
from app.look.layout import form_rows, row
from app.look.widgets import button, named
from app.pages.advice.remark import AdviceLine
from app.pages.advice.table import CountedTable
from app.pages.finetune.advice import ValidationRows, before_a_run, is_default_split, on_noted
from app.pages.finetune.chain.door import ChainDoor
from app.pages.finetune.comparison import CompareButton
from app.pages.finetune.last_run import LastRun
from app.pages.finetune.model import ModelChooser
from app.pages.finetune.part_sheets import SHEETS, PartSheets
from app.pages.finetune.test_file import SETTING, TestFileBox
from app.pages.finetune.way import WAY, WayChoice, plan_words
from app.pages.run.setup import SetupCard
from app.pages.tasks.known import CLASSIFICATION, VIEWS, views_of
from app.remembered import keep_form, kept_form
from app.session import Session
from app.work.worker import Channel
from engine.errors import ConfigError, UserError, marked
from engine.events import Noted
from engine.settings.config import with_values
from engine.settings.finetune import DataConfig, FineTuneConfig
from engine.train.finetune import known_before
from engine.train.learned import has_learned
from engine.train.plan import Plan, TimeEstimate, learned, plan, told
from engine.train.tasks.known import TASKS
from engine.train.ways.choose import check_way

NAMES = (
    WAY, "learning_rate", "batch_size", "num_epochs", "max_length", "warmup_ratio", "weight_decay",
    "validation_share", "seed", "truncation", "test_share", "split_seed", "validation_data",
    "validation_sheet", "test_sheet",
    "encoder", "frozen_layers", "layer_mix", "pooling", "layer_decay", "embedding_rate", "new_layers",
    "rare_labels", "least_steps",
    "label_smoothing", "minutes", "early_stopping_patience", "evaluate_every_steps", "checkpoint_every_steps",
    "hidden_dropout", "attention_dropout", "gradient_accumulation_steps", "max_gradient_norm", "device",
    "precision", "kernels", "num_threads", "micro_batch_tokens",
)  # fmt: skip
LEAST_FORM = 30  # px: one row of settings, where other words need the room
SLOWNESS = "finetune/slowness"
LEARNED_SHARE, LEARNED_S = 0.2, 5.0  # of a run, and seconds planned, from which on it teaches
APART = ("validation_data", SETTING)  # files that belong to the table they were chosen for


class FineTuneSetup(SetupCard):
    """Data, model, task and settings; `changed` when any of them has, after the prediction was made anew."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, SettingsForm(FineTuneConfig(), NAMES), "prediction", parent)
        self._apart: dict[str, tuple[str, str]] = {}  # table -> its own validation and test file
        self._table = ""  # whose files are shown
        self.plan: Plan | None = None
        self.told: TimeEstimate | None = None  # how long it will take
        self._begun = 0.0  # seconds that were planned for the run under way
        self.way = WayChoice(self.form)
        self._sheets = PartSheets(session, self.form)
        self._asked_known = Channel(self, session.workers.files)
        self._known: Sequence[Noted] | None = None  # to the model to start from; None: not yet asked
        self.data_box = ChoiceBox("data_choice", self.tr("Data"))
        self.chooser = ModelChooser(session, self)
        self.task_box = ChoiceBox("task_choice", self.tr("Task"))
        self.task_label = named(WholeLabel(), "task_words")
        self.file_refusal = label("", "refusal", wrap=True, name="refusal_file")
        self.file_refusal.hide()
        self.test_file = TestFileBox()
        self.test_refusal = label("", "refusal", wrap=True, name=f"refusal_{SETTING}")
        self.test_refusal.hide()
        self.roles_link = button(self.tr("Change"), "link", name="change_roles")
        self.chain = ChainDoor(session)
        self.compare = CompareButton(session)
        self.last_run = LastRun(session)
        self.form.setObjectName("settings")
        self.form.setMinimumHeight(LEAST_FORM)
        self._lay_out()
        self._connect()
        self._take_kept()
        self._fill_data()
        self._model_changed()
        self._length_changed(session.model.max_length)
        self.check()

    def _lay_out(self) -> None:
        self.body.addLayout(
            form_rows(
                (self.tr("Data"), self.data_box),
                *self.chooser.rows(),
                (self.tr("Task"), self.task_box),
                (self.tr("Mapping"), row((self.task_label, 1), self.roles_link, gap=0)),
                (words.label_of(SETTING), self.test_file),
                (None, self.test_refusal),
            )
        )
        self.body.addWidget(self.file_refusal)
        settings = label(self.tr("Settings"), "card-title")
        settings.setContentsMargins(0, 4, 0, 0)
        self.add(settings)
        self.form.add_first(self.where.panel())
        self.add(self.form, 1)
        for before, after in pairwise((self.test_file, *self.where.parts)):
            QWidget.setTabOrder(before, after)  # as they lie: Qt goes by when they came
        self.add(self.prediction)
        self.add(self.last_run)
        self.add(self.chain)
        self.add(self.compare)

    def _connect(self) -> None:
        session = self._session
        self.data_box.activated.connect(self._data_chosen)
        self.roles_link.clicked.connect(self._lead_to_data)
        self.task_box.chosen.connect(session.data.set_task)
        self.form.changed.connect(self._form_changed)
        self.test_file.changed.connect(self._timer.start)
        session.doctor.compared.connect(self._compared)
        session.data.refused.connect(self._file_refused)
        session.data.opened.connect(self.file_refusal.hide)
        session.data.opened.connect(self._fill_data)
        session.data.roles_changed.connect(self._timer.start)
        session.data.summary_changed.connect(self._timer.start)
        session.model.changed.connect(self._model_changed)
        session.model.max_length_changed.connect(self._length_changed)
        session.busy.changed.connect(self._busy_changed)
        session.training.started.connect(self._begin_run)
        session.training.ended.connect(self._learn_pace)

    def _take_kept(self) -> None:
        """Show what was set when the last window closed."""
        values, (table, *apart) = kept_form(self._session.settings, NAMES)
        way = values.pop(WAY, "")
        if table:
            self._apart[table] = (apart[0], apart[1])
            if way:
                self.way.choose(table, way)
        self.form.set_values({name: value for name, value in values.items() if name not in APART})

    def _keep(self) -> None:
        """Keep what is set for the next start; a table that is still being opened has its files kept."""
        if self._table or not self._apart:
            values, changed = self.values(), self.form.changed_values()
            own = {name: value for name, value in changed.items() if name not in (*APART, WAY)}
            own |= {WAY: self.way.by_hand} if self.way.by_hand else {}
            keep_form(self._session.settings, own, (self._table, *(str(values[name]) for name in APART)))

    def config(self) -> FineTuneConfig:
        """Return the settings as they stand. Raises: ConfigError naming the field that is refused."""
        config = with_values(FineTuneConfig(), {**self._session.values(), **self.values()})
        for name in APART:
            path = getattr(config.data, name)
            if path and not Path(path).is_file():
                raise ConfigError(
                    marked("engine", "{field}: there is no file {path}. Check its name, or leave it empty."),
                    field=name,
                    path=path,
                )
        return config

    def values(self) -> dict[str, Any]:
        """Return what is set on this card, flat."""
        return {**self.form.values(), SETTING: self.test_file.path}

    def take_apart(self, table: str, validation: str, test: str) -> None:
        """Remember the files that belong to a table, for when it is opened."""
        self._apart[table] = (validation, test)
        if table == self._table:
            self._put_apart(validation, test)

    def show_refusal(self, error: UserError) -> bool:
        """Show a refusal beside its field; False where it belongs to no field on this card."""
        if isinstance(error, ConfigError) and error.field in ("model", "vocab", "lowercase"):
            self.chooser.show_refusal(words.say_error(error))
            return True
        if isinstance(error, ConfigError) and error.field == SETTING:
            set_or_hide(self.test_refusal, words.say_error(error))
            return True
        return super().show_refusal(error)

    def clear_refusals(self) -> None:
        super().clear_refusals()
        self.test_refusal.hide()

    def remarks(self) -> list[AdviceLine]:
        """Return what to know of the data before training; nothing while it is not known."""
        table, summary = self._session.data.table, self._session.data.table_summary
        if self.plan is None or self._known is None:
            return []
        on_way = self.way.remarks(self.plan)
        if table is None or summary is None:
            return [*on_noted(self._known), *on_way]
        values = self.form.values()
        is_own = bool(values.get("validation_data"))
        is_counted = is_default_split(float(values["validation_share"]), int(values["split_seed"]))
        validation = ValidationRows(
            count=self.plan.num_validation,
            num_leaking=summary.num_leaking if is_counted and not is_own else None,
            num_duplicates=summary.num_duplicates,
            is_own_table=is_own,
        )
        counted = CountedTable(table, summary, self._session.model.max_length)
        is_judged = bool(self.plan.ways)
        return [*on_way, *before_a_run(counted, None if is_judged else validation, self._known)]

    def work_out(self) -> None:
        """Work out how many steps it will take and how long."""
        self.plan = self.told = None
        self._keep()
        self._sheets.offer(self.values())
        self._fill_tasks()
        self._follow_way()
        self.task_label.setText(self._task_words())
        config, session = self.config(), self._session
        check_way(config, session.data.task_name or CLASSIFICATION.name)
        own = config.data.apart.items()
        session.doctor.set_apart(tuple((Path(path), config.data.how_of(part)["sheet"]) for part, path in own))
        is_labelled = session.data.task_file is not None or session.data.has_label
        is_usable = session.data.summary is not None and session.data.summary.refusal is None and is_labelled
        if session.data.summary is not None and session.model.chosen is not None and is_usable:
            tokens = session.data.summary.num_tokens(session.model.max_length)
            examples = session.data.summary.num_examples
            self.plan = plan(
                config,
                num_examples=examples,
                num_tokens=tokens,
                model=session.model.chosen.config,
                label_counts=session.data.summary.counts.tolist(),
                least_rate=TASKS[session.data.task_name].least_rate
                if session.data.task_name in TASKS
                else 0.0,
            )
            self.told = self._tell(self.plan, config)
            self.form.set_auto("learning_rate", self._auto_words(self.plan.learning_rate))
            self._ask_known(config)

    def _follow_way(self) -> None:
        """Show how the open table is usually learned."""
        session, counts = self._session, list[int]()
        summary, chosen = session.data.summary, session.model.chosen
        if session.data.task_name == CLASSIFICATION.name and summary is not None and session.data.has_label:
            counts = summary.counts.tolist()
        model = "" if chosen is None else str(session.values()["model"])
        self.way.follow(str(session.data.path or ""), session.data.task_name, model, counts)

    def _ask_known(self, config: FineTuneConfig) -> None:
        """Ask what the model to start from has already learned of the data."""
        session = self._session
        assert session.model.chosen is not None
        if not has_learned(session.model.chosen.info):
            self._asked_known.drop()
            self._known = []
            return
        of_rows = DataConfig()
        data = replace(config.data, max_length=of_rows.max_length, truncation=of_rows.truncation)
        stamp = session.data.table.sha256 if session.data.table is not None else ""
        if self._asked_known.ask(
            (config.model.model, str(session.model.chosen.info.get("trained")), data, stamp),
            partial(known_before, config),
            heard=self._hear_known,
            refused=lambda _error: self._hear_known([]),  # the run says why
        ):
            self._known = None

    def _hear_known(self, known: Sequence[Noted]) -> None:
        if known != self._known:
            self._known = known
            self.changed.emit()

    def _tell(self, found: Plan, config: FineTuneConfig) -> TimeEstimate:
        from engine.device import busy

        around = 0.0 if self._session.training.is_running else busy()  # a run under way is waited for
        return told(found.seconds, around, self._session.settings.value(_pace_key(config), 0.0))

    def _begin_run(self) -> None:
        config = self._session.training.config
        is_here = not self._session.training.state.host
        is_told = isinstance(config, FineTuneConfig) and not config.training.minutes and is_here
        self._begun = self.plan.seconds if self.plan is not None and is_told else 0.0

    def _learn_pace(self) -> None:
        """Learn from a run that has ended how long the next one will take."""
        from engine.device import busy

        session, planned, self._begun = self._session, self._begun, 0.0
        training, config = session.training.state, session.training.config
        step, started = training.step, training.started
        is_whole = started is not None and started.first_step == 1  # not gone on with
        if planned < LEARNED_S or step is None or not is_whole or training.share < LEARNED_SHARE:
            return
        assert isinstance(config, FineTuneConfig)
        took = training.finished.seconds if training.finished is not None else step.elapsed_s / training.share
        session.settings.set_value(_pace_key(config), learned(planned, took, busy()))
        self._timer.start()

    def _auto_words(self, learning_rate: float) -> str:
        return self.tr("auto: {rate}").format(rate=words.scientific(learning_rate, 2))

    def prediction_words(self) -> str:
        """Return how many steps there will be, and on which rows; what is under way until that is known."""
        summary, found = self._session.data.summary, self.plan
        if found is None or summary is None:
            return self._session.busy.words
        from engine.device import describe_device

        minutes = float(self.form.values()["minutes"])
        template = self.tr("{steps} steps · {time} on {device}")
        if minutes:  # an estimate would be said beside what a run measures a moment later
            template = self.tr("As much as fits into {minutes} min on {device}, as measured at its start")
        if not found.num_steps or found.ways:
            template = self.tr("{time} on {device}")
        host = self.where.host
        if host:  # whose pace nobody knows
            template = self.tr("{steps} steps on {host}") if found.num_steps else self.tr("On {host}")
        said = template.format(
            steps=words.number(found.num_steps),
            time=self.time_words(),
            minutes=f"{minutes:.3g}",
            device=describe_device(),
            host=host,
        )
        lines = [said, *plan_words(found, self.form.values()[WAY]), *self._parts_words(found)]
        if self.told is not None and self.told.is_busy and not minutes and not host:
            lines.insert(1, self.tr("Other programs keep this computer busy."))
        cut = summary.cut_share(self._session.model.max_length)
        if cut > 0 and summary.unit == "pieces":
            share = words.share(cut, 0 if cut >= 0.01 else 1)
            text = self.tr("{share} of texts are longer than {length} pieces and will be truncated")
            lines.append(text.format(share=share, length=words.number(self._session.model.max_length)))
        return "\n".join(lines)

    def time_words(self) -> str:
        """Return how long a run will take, such as "40 s to 2 min"."""
        return words.duration_range(self.told.low, self.told.high) if self.told is not None else ""

    def _parts_words(self, found: Plan) -> list[str]:
        """Return which rows are learned from, and on which it is measured."""
        values = self.values()
        validation, test = (Path(str(values[name])).name for name in APART)
        train = words.number(found.num_train)
        kept = words.number(found.num_validation)
        said = [self.tr("{train} training rows, {kept} validation rows").format(train=train, kept=kept)]
        if found.ways and not validation:
            said = [self.tr("{train} training rows, none held out").format(train=train)]
        if validation:
            text = self.tr("{train} training rows; validated on {file}")
            said = [text.format(train=train, file=validation)]
        if test:
            said.append(self.tr("Tested at the end on {file}").format(file=test))
        elif found.num_test:
            text = self.tr("Tested at the end on {count} further rows")
            said.append(text.format(count=words.number(found.num_test)))
        return said

    def _task_words(self) -> str:
        session = self._session
        summary, roles = session.data.summary, session.data.roles
        if session.data.task_file is None:
            if roles is None:
                return "–"
            if not roles.text:
                return self.tr("No text column yet")
            if summary is not None and not session.data.has_label:
                return self.tr("No label column yet")
        if summary is None:
            return self.tr("Counting…")
        return views_of(session.data.task_name).words(summary)

    def _fill_tasks(self) -> None:
        """List the tasks; first what the data look like, with the reason where the mouse rests."""
        session, summary = self._session, self._session.data.table_summary
        file, found = session.data.task_file, session.data.task_name
        reason = file.reason if file is not None else summary.reason if summary is not None else None
        self.task_box.clear()
        guessed = self.tr("{task} (detected)") if not session.data.task and found else ""
        if guessed:
            self.task_box.add_choice(guessed.format(task=views_of(found).title()), "")
        for name, views in VIEWS.items():
            if name != found or session.data.task:
                self.task_box.add_choice(views.title(), name)
        if session.data.task:
            self.task_box.add_choice(self.tr("As detected in the data"), "")
        self.task_box.setCurrentIndex(self.task_box.findData(session.data.task) if found else -1)
        self.task_box.setPlaceholderText("–")
        self.task_box.setEnabled(session.data.path is not None)
        said = words.say(reason) if reason is not None else words.tr_engine(words.settings()["task"].help)
        self.task_box.setToolTip(tip(said))

    def _file_refused(self, error: BaseException) -> None:
        """Say why a task or file that was chosen here cannot be; what was open stays, with its task."""
        if self._session.data.summary is not None:
            set_or_hide(self.file_refusal, words.say_error(error))
        self._fill_tasks()

    def _fill_data(self) -> None:
        shown = self._session.data.path
        self._show_apart(str(shown or ""))
        self.data_box.clear()
        if shown is not None:
            self.data_box.addItem(shown.name, str(shown))
            self.data_box.insertSeparator(1)
        for path in self._session.settings.recent_files:
            if Path(path).is_file() and path != str(shown):
                self.data_box.addItem(Path(path).name, path)
        self.data_box.addItem(self.tr("Open the Data page…"), "")
        self.data_box.setPlaceholderText(self.tr("Open a table first"))
        self.data_box.setCurrentIndex(0 if shown is not None else -1)
        self._timer.start()

    def _show_apart(self, table: str) -> None:
        """Show the validation and test file of a table that was opened: those of another one mean nothing."""
        if table == self._table:
            return
        values, compared = self.values(), self._session.doctor.against
        if self._table:
            self._apart[self._table] = (str(values[APART[0]]), str(values[APART[1]]))
            self.form.set_values(dict.fromkeys(SHEETS.values(), ""))
        self._table = table
        self.test_file.offer(compared)
        if table:
            self._put_apart(*self._apart.get(table, ("", str(compared[0]) if compared else "")))

    def _put_apart(self, validation: str, test: str) -> None:
        self.form.set_values({APART[0]: validation})
        self.test_file.put(test)

    def _compared(self) -> None:
        """Take the file that the table was compared with for the test, where no other was chosen."""
        compared = self._session.doctor.against
        self.test_file.offer(compared)
        if not self.test_file.path and str(compared[-1]) != self.form.values()[APART[0]]:
            self.test_file.put(str(compared[-1]))
            self._timer.start()

    def _data_chosen(self, index: int) -> None:
        path = self.data_box.itemData(index)
        shown = self._session.data.path
        if not path:
            self._lead_to_data()
        elif path != str(shown):
            self._session.data.open(path)
        self.data_box.setCurrentIndex(0 if shown is not None else -1)

    def _lead_to_data(self) -> None:
        self._session.show_page("data")

    def _form_changed(self) -> None:
        self.way.note()
        length = self.form.values().get("max_length")
        if isinstance(length, int) and 3 <= length <= self._session.model.max_length_limit:
            self._session.model.set_max_length(length)
        self._timer.start()

    def _model_changed(self) -> None:
        self.form.set_limits("max_length", maximum=self._session.model.max_length_limit)
        if self._session.model.chosen is None:
            self.form.set_auto("learning_rate", "")
        self._timer.start()

    def _length_changed(self, length: int) -> None:
        if self.form.values().get("max_length") != length:
            self.form.set_values({"max_length": length})
        self._timer.start()

    def _busy_changed(self, _text: str) -> None:
        if self.plan is None and self.refusal is None:
            set_or_hide(self.prediction, self.prediction_words())

    def set_values(self, values: dict[str, Any]) -> None:
        """Put values into the form as if a person had typed them, and predict at once."""
        if WAY in values:
            self.way.choose(str(self._session.data.path or ""), str(values[WAY]))
        self.form.set_values(values)
        if SETTING in values:
            self.test_file.put(str(values[SETTING]))
        self._form_changed()
        self.check()


def _pace_key(config: FineTuneConfig) -> str:
    """Return under which name it is kept how long runs take on what these settings compute on."""
    from engine.device import has_gpu

    on_cpu = config.device.device == "cpu" or not has_gpu()
    return f"{SLOWNESS}/{'cpu' if on_cpu else 'gpu'}"
