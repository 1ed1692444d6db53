"""The left card of the Fine-tune page: what to train, with which settings, and what that will take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtWidgets import QApplication, QGridLayout, QHBoxLayout, QWidget

from app import words
from app.form.form import SettingsForm
from app.look.boxes import ChoiceBox
from app.look.labels import ElidedLabel, label, set_or_hide
from app.look.widgets import SETTINGS_WIDTH, Card, button
from app.pages.advice.remark import Remark
from app.pages.advice.table import Counted
from app.pages.finetune.advice import ValidationRows, before_a_run, is_default_split
from app.pages.finetune.model import ModelChooser
from app.session import Session
from engine.errors import ConfigError, UserError, marked
from engine.settings.finetune import FineTuneConfig, with_values
from engine.train.finetune import Plan, plan

NAMES = (
    "learning_rate", "batch_size", "num_epochs", "max_length", "warmup_ratio", "weight_decay",
    "validation_share", "seed", "truncation", "test_share", "split_seed", "validation_data", "test_data",
    "early_stopping_patience", "evaluate_every_steps", "checkpoint_every_steps", "hidden_dropout",
    "attention_dropout", "gradient_accumulation_steps", "max_gradient_norm", "device", "precision",
    "num_threads", "micro_batch_tokens",
)  # fmt: skip
APART = ("validation_data", "test_data")  # files that belong to the table they were chosen for
DEBOUNCE_MS = 250


class SetupCard(Card):
    """Data, model, task and settings; `changed` when any of them has, after the prediction was made anew."""

    changed = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("What to train"))
        self._session = session
        self._apart: dict[str, tuple[str, str]] = {}  # table -> its own validation and test file
        self._table = ""  # whose files are shown
        self.plan: Plan | None = None
        self.refusal: UserError | None = None
        self.setFixedWidth(SETTINGS_WIDTH)
        self.data_box = ChoiceBox("data_choice", self.tr("Data"))
        self.chooser = ModelChooser(session, self)
        self.task_label = ElidedLabel("")
        self.task_label.setObjectName("task_words")
        self.roles_link = button(self.tr("Change"), "link", name="change_roles")
        self.form = SettingsForm(FineTuneConfig(), NAMES)
        self.form.setObjectName("settings")
        self.prediction = label("", "muted", wrap=True)
        self.prediction.setObjectName("prediction")
        self._add_rows()
        self._timer = QTimer(self, singleShot=True, interval=DEBOUNCE_MS)
        self._timer.timeout.connect(self.predict)
        self._connect()
        self._fill_data()
        self._length_changed(session.max_length)
        self.predict()

    def _add_rows(self) -> None:
        grid = QGridLayout()
        grid.setVerticalSpacing(8)
        grid.setHorizontalSpacing(12)
        grid.setColumnStretch(1, 1)
        data = label(self.tr("Data"))
        data.setBuddy(self.data_box)
        task = QHBoxLayout()
        task.addWidget(self.task_label, 1)
        task.addWidget(self.roles_link)
        rows = [(data, self.data_box), *self.chooser.rows()]
        for row, (caption, widget) in enumerate(rows):
            if caption is None:
                grid.addWidget(widget, row, 0, 1, 2)
            else:
                grid.addWidget(caption, row, 0)
                grid.addWidget(widget, row, 1)
        grid.addWidget(label(self.tr("Task")), len(rows), 0)
        grid.addLayout(task, len(rows), 1)
        self.body.addLayout(grid)
        settings = label(self.tr("Settings"), "card-title")
        settings.setContentsMargins(0, 4, 0, 0)
        self.add(settings)
        self.add(self.form, 1)
        self.add(self.prediction)

    def _connect(self) -> None:
        session = self._session
        self.data_box.activated.connect(self._data_chosen)
        self.roles_link.clicked.connect(self._lead_to_data)
        self.form.changed.connect(self._form_changed)
        session.table_changed.connect(self._fill_data)
        session.roles_changed.connect(self._timer.start)
        session.study_changed.connect(self._timer.start)
        session.model_changed.connect(self._model_changed)
        session.max_length_changed.connect(self._length_changed)
        session.busy_changed.connect(self._busy_changed)

    def config(self) -> FineTuneConfig:
        """Return the settings as they stand. Raises: ConfigError naming the field that is refused."""
        config = with_values(FineTuneConfig(), {**self._session.values(), **self.form.values()})
        for name in APART:
            path = getattr(config.data, name)
            if path and not Path(path).is_file():
                raise ConfigError(
                    marked("engine", "{field}: there is no file {path}. Check its name, or leave it empty."),
                    field=name,
                    path=path,
                )
        return config

    def take_apart(self, table: str, validation: str, test: str) -> None:
        """Remember the files that belong to a table, for when it is opened."""
        self._apart[table] = (validation, test)
        if table == self._table:
            self.form.set_values(dict(zip(APART, (validation, test), strict=True)))

    def show_refusal(self, error: UserError) -> bool:
        """Show a refusal beside its field; False where it belongs to no field on this card."""
        if isinstance(error, ConfigError):
            if error.field in ("model", "vocab", "lowercase"):
                self.chooser.show_refusal(words.say_error(error))
                return True
            return self.form.show_error(error)
        return False

    def remarks(self) -> list[Remark]:
        """Return what to know of the data before training; nothing while it is not known."""
        table, study = self._session.table, self._session.study
        if table is None or study is None or self.plan is None:
            return []
        values = self.form.values()
        is_own = bool(values.get("validation_data"))
        is_counted = is_default_split(float(values["validation_share"]), int(values["split_seed"]))
        validation = ValidationRows(
            count=self.plan.num_validation,
            num_leaking=study.num_leaking if is_counted and not is_own else None,
            num_duplicates=study.num_duplicates,
            is_own_table=is_own,
        )
        return before_a_run(Counted(table, study, self._session.max_length), validation)

    @Slot()
    def predict(self) -> None:
        """Say how many steps and how long it will take, or beside which field the settings are refused."""
        self._timer.stop()
        self.form.clear_refusals()
        self.plan, self.refusal = None, None
        self.task_label.setText(self._task_words())
        session = self._session
        try:
            config = self.config()
            if session.study is not None and session.model is not None and session.study.refusal is None:
                tokens = session.study.num_tokens(session.max_length)
                examples = session.study.num_examples
                self.plan = plan(config, num_examples=examples, num_tokens=tokens, model=session.model.config)
        except UserError as error:
            self.refusal = error
            self._show_refusal_in_passing(error)
        if self.plan is not None:
            self.form.set_auto("learning_rate", self._auto_words(self.plan.learning_rate))
        if self.refusal is None:
            set_or_hide(self.prediction, self._prediction_words())
        self.changed.emit()

    def _show_refusal_in_passing(self, error: UserError) -> None:
        """Show a refusal while a person may be typing elsewhere: the keyboard stays where it is."""
        keyboard = QApplication.focusWidget()
        if self.show_refusal(error):
            set_or_hide(self.prediction, "")
            if keyboard is not None:
                keyboard.setFocus()
        else:
            set_or_hide(self.prediction, words.say_error(error))

    def _auto_words(self, learning_rate: float) -> str:
        return self.tr("auto: {rate}").format(rate=words.scientific(learning_rate, 2))

    def _prediction_words(self) -> str:
        study, found = self._session.study, self.plan
        if found is None or study is None:
            return self._session.busy_words
        from engine.device import describe_device

        lines = [
            self.tr("{steps} steps · about {time} on {device}").format(
                steps=words.number(found.num_steps),
                time=words.duration(found.seconds),
                device=describe_device(),
            ),
            *self._parts_words(found),
        ]
        cut = study.cut_share(self._session.max_length)
        if cut > 0 and study.unit == "pieces":
            share = words.share(cut, 0 if cut >= 0.01 else 1)
            text = self.tr("{share} of texts are longer than {length} pieces and will be cut")
            lines.append(text.format(share=share, length=words.number(self._session.max_length)))
        return "\n".join(lines)

    def _parts_words(self, found: Plan) -> list[str]:
        """Return which rows are learned from, and on which it is measured."""
        values = self.form.values()
        validation, test = (Path(str(values[name])).name for name in APART)
        train = words.number(found.num_train)
        kept = words.number(found.num_validation)
        said = [self.tr("{train} rows to learn from, {kept} kept apart").format(train=train, kept=kept)]
        if validation:
            text = self.tr("{train} rows to learn from; validated on {file}")
            said = [text.format(train=train, file=validation)]
        if test:
            said.append(self.tr("Tested at the end on {file}").format(file=test))
        elif found.num_test:
            text = self.tr("Tested at the end on {count} further rows")
            said.append(text.format(count=words.number(found.num_test)))
        return said

    def _task_words(self) -> str:
        study, roles = self._session.study, self._session.roles
        if roles is None:
            return "–"
        if not roles.text:
            return self.tr("No text column yet")
        if not roles.label:
            return self.tr("No label column yet")
        if study is None:
            return self.tr("Counting…")
        pair = (
            self.tr("Two texts → {count} labels") if study.is_pair else self.tr("One text → {count} labels")
        )
        return pair.format(count=words.number(len(study.labels)))

    @Slot()
    def _fill_data(self) -> None:
        table = self._session.table
        self._show_apart(str(table.path) if table is not None else "")
        self.data_box.clear()
        if table is not None:
            self.data_box.addItem(table.path.name, str(table.path))
            self.data_box.insertSeparator(1)
        for path in self._session.settings.recent_files:
            if Path(path).is_file() and (table is None or path != str(table.path)):
                self.data_box.addItem(Path(path).name, path)
        self.data_box.addItem(self.tr("Open the Data page…"), "")
        self.data_box.setPlaceholderText(self.tr("Open a table first"))
        self.data_box.setCurrentIndex(0 if table is not None else -1)
        self._timer.start()

    def _show_apart(self, table: str) -> None:
        """Show the validation and test file of a table that was opened: those of another one mean nothing."""
        if table == self._table:
            return
        values = self.form.values()
        if self._table:
            self._apart[self._table] = (str(values[APART[0]]), str(values[APART[1]]))
            self.form.set_values(dict(zip(APART, self._apart.get(table, ("", "")), strict=True)))
        elif table in self._apart:
            self.form.set_values(dict(zip(APART, self._apart[table], strict=True)))
        self._table = table

    @Slot(int)
    def _data_chosen(self, index: int) -> None:
        path = self.data_box.itemData(index)
        table = self._session.table
        if not path:
            self._lead_to_data()
        elif table is None or path != str(table.path):
            self._session.open_table(path)
        self.data_box.setCurrentIndex(0 if table is not None else -1)

    @Slot()
    def _lead_to_data(self) -> None:
        self._session.page_requested.emit("data")

    @Slot()
    def _form_changed(self) -> None:
        length = self.form.values().get("max_length")
        if isinstance(length, int) and 3 <= length <= self._session.max_length_limit:
            self._session.set_max_length(length)
        self._timer.start()

    @Slot()
    def _model_changed(self) -> None:
        self.form.set_limits("max_length", maximum=self._session.max_length_limit)
        if self._session.model is None:
            self.form.set_auto("learning_rate", "")
        self._timer.start()

    @Slot(int)
    def _length_changed(self, length: int) -> None:
        if self.form.values().get("max_length") != length:
            self.form.set_values({"max_length": length})
        self._timer.start()

    @Slot(str)
    def _busy_changed(self, _text: str) -> None:
        if self.plan is None and self.refusal is None:
            set_or_hide(self.prediction, self._prediction_words())

    def set_values(self, values: dict[str, Any]) -> None:
        """Put values into the form as if a person had typed them, and predict at once."""
        self.form.set_values(values)
        self._form_changed()
        self.predict()
