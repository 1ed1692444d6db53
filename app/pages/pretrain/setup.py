"""The left card of the Pretrain page: which text, from what start, for how long, with which settings."""

from __future__ import annotations

import re
from typing import Any

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QApplication, QGridLayout, QHBoxLayout, QSizePolicy, QWidget

from app import words
from app.form.form import SettingsForm
from app.look.boxes import ChoiceBox
from app.look.inputs import DoubleSpinBox
from app.look.labels import label, set_or_hide, tip
from app.look.widgets import SETTINGS_WIDTH, Card, set_role, tidy_spin
from app.pages.pretrain.start import NAMES as START_NAMES
from app.pages.pretrain.start import StartChooser
from app.pages.pretrain.text import TextChooser
from app.session import Session
from engine.errors import ConfigError, ModelError, UserError
from engine.model.config import BertConfig
from engine.settings.finetune import values_of, with_values
from engine.settings.pretrain import BudgetConfig, PretrainConfig, check_budget
from engine.settings.setting import settings_of
from engine.train.pretrain import default_rate

BUDGETS = ("minutes", "steps", "tokens")
USUAL = {"minutes": 45.0, "steps": 10_000.0, "tokens": 20_000_000.0}
STEPS = {"minutes": 5.0, "steps": 1_000.0, "tokens": 1_000_000.0}
MILLION, MILLIONS = 1_000_000, "M"
_SHORT = re.compile(r" *\d*(?:[.,]\d*)? *M *|\d*\.\d* *", re.IGNORECASE)  # or its beginning
TEXT_NAMES = ("text", "column", "drop_repeated")
OWN = (*TEXT_NAMES, *START_NAMES, *BUDGETS, "pins")  # shown elsewhere than in the form
NAMES = tuple(name for name in values_of(PretrainConfig()) if name not in OWN)
DEBOUNCE_MS = 300


class CountSpin(DoubleSpinBox):
    """A number that is written short where that says all of it: 24 M for 24,000,000; typed either way."""

    def __init__(self) -> None:
        super().__init__()
        self.editingFinished.connect(self._tidy)

    def textFromValue(self, value: float) -> str:
        if self.decimals() or value < MILLION or value % 10_000:
            return super().textFromValue(value)
        return f"{self.locale().toString(value / MILLION, 'g', 6)} {MILLIONS}"

    def valueFromText(self, text: str) -> float:
        return self._millions(text) or super().valueFromText(text)

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        if self.decimals() or not _SHORT.fullmatch(text):
            return super().validate(text, position)
        state = QValidator.State.Acceptable if self._millions(text) else QValidator.State.Intermediate
        return state, text, position

    @Slot()
    def _tidy(self) -> None:
        """Write what was typed as any other number is written."""
        self.lineEdit().setText(self.textFromValue(self.value()))

    def _millions(self, text: str) -> float:
        """Return what "24 M" means; 0 where it is written in full, or is no number of steps or tokens."""
        count, short, rest = text.strip().upper().partition(MILLIONS)
        value, is_number = self.locale().toDouble(count.strip())
        return (
            float(round(value * MILLION)) if short and not rest and is_number and not self.decimals() else 0.0
        )


class BudgetField(QWidget):
    """A number and its unit: minutes, steps or tokens."""

    edited = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        about = settings_of(BudgetConfig)
        self._kept = dict(USUAL)  # each unit remembers its number
        self.number = CountSpin()
        self.number.setGroupSeparatorShown(True)
        self.number.setObjectName("budget")
        self.number.setAccessibleName(self.tr("Train for"))
        tidy_spin(self.number)
        self.number.setMinimumWidth(60)  # its own wish is as wide as its largest number
        self.unit = ChoiceBox("budget_unit", self.tr("Unit"))
        self.unit.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.unit.setFixedWidth(98)
        for name in BUDGETS:
            self.unit.addItem(words.tr_engine(about[name].label).lower(), name)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self.number, 1)
        layout.addWidget(self.unit)
        self.setFocusProxy(self.number)
        self._show_unit("minutes")
        self.unit.activated.connect(self._unit_chosen)
        self.number.valueChanged.connect(self._edited)

    @property
    def name(self) -> str:
        """The setting that is given."""
        return str(self.unit.currentData())

    def values(self) -> dict[str, float]:
        """Return minutes, steps and tokens; two of them are 0."""
        value = self.number.value()
        return {
            name: (value if name == "minutes" else int(value)) if name == self.name else 0 for name in BUDGETS
        }

    def put(self, values: dict[str, Any]) -> None:
        """Show the one that is given."""
        given = [name for name in BUDGETS if values.get(name)]
        if given:
            self._kept[given[0]] = float(values[given[0]])
            self.unit.setCurrentIndex(self.unit.findData(given[0]))
            self._show_unit(given[0])

    def _show_unit(self, name: str) -> None:
        about = settings_of(BudgetConfig)[name]
        self.number.blockSignals(True)
        self.number.setDecimals(1 if name == "minutes" else 0)
        self.number.setRange(0.1 if name == "minutes" else 1, min(float(about.maximum or 1e9), 1e13))
        self.number.setSingleStep(STEPS[name])
        self.number.setValue(self._kept[name])
        self.number.blockSignals(False)
        self.setToolTip(tip(words.tr_engine(about.help)))

    @Slot(int)
    def _unit_chosen(self, _index: int) -> None:
        self._show_unit(self.name)
        self.edited.emit()

    @Slot()
    def _edited(self) -> None:
        self._kept[self.name] = self.number.value()
        self.edited.emit()


class SetupCard(Card):
    """Text, start, budget and settings; `changed` when any of them has, a moment after the last touch."""

    changed = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("pretrain_setup")
        self.set_title(self.tr("What to train"))
        self.setFixedWidth(SETTINGS_WIDTH)
        self.drops_repeated = False
        self.pins: tuple[str, ...] = ()
        self.refusal: UserError | None = None
        self.shape: BertConfig | None = None  # of the model; None while it is not known, or refused
        self.text = TextChooser(session, self)
        self.start = StartChooser(session, self)
        self.budget = BudgetField()
        self.budget_refusal = label("", "refusal", wrap=True)
        self.budget_refusal.setObjectName("refusal_budget")
        self.budget_refusal.hide()
        self.form = SettingsForm(PretrainConfig(), NAMES)
        self.form.setObjectName("pretrain_settings")
        self.prediction = label("", "muted", wrap=True)
        self.prediction.setObjectName("pretrain_prediction")
        self.form.add_first(self._choices())
        self.add(self.form, 1)
        self.add(self.prediction)
        self.prediction.hide()
        self._timer = QTimer(self, singleShot=True, interval=DEBOUNCE_MS)
        self._timer.timeout.connect(self.settle)
        for part in (self.text.changed, self.start.changed, self.budget.edited, self.form.changed):
            part.connect(self._timer.start)

    def _choices(self) -> QWidget:
        box = QWidget()
        set_role(box, "clear")
        grid = QGridLayout(box)
        grid.setContentsMargins(0, 0, 0, 4)
        grid.setVerticalSpacing(8)
        grid.setHorizontalSpacing(12)
        grid.setColumnStretch(1, 1)
        budget = label(self.tr("Train for"))
        budget.setBuddy(self.budget)
        rows = [*self.text.rows(), *self.start.rows(), (budget, self.budget), (None, self.budget_refusal)]
        for row, (caption, widget) in enumerate(rows):
            if caption is None:
                grid.addWidget(widget, row, 0, 1, 2)
            else:
                grid.addWidget(caption, row, 0)
                grid.addWidget(widget, row, 1)
        settings = label(self.tr("Settings"), "card-title")
        settings.setContentsMargins(0, 6, 0, 0)
        grid.addWidget(settings, len(rows), 0, 1, 2)
        return box

    def config(self) -> PretrainConfig:
        """Return the settings as they stand. Raises: ConfigError naming the field that is refused."""
        config = with_values(PretrainConfig(), self.values())
        check_budget(config.budget)
        return config

    def values(self) -> dict[str, Any]:
        """Return all settings, flat."""
        return {
            **self.form.values(),
            **self.text.values(),
            **self.start.values(),
            **self.budget.values(),
            "drop_repeated": self.drops_repeated,
            "pins": "\n".join(self.pins),
        }

    def set_values(self, values: dict[str, Any]) -> None:
        """Show these settings as if a person had chosen them."""
        self.form.set_values(values)
        if "text" in values:
            places = [line for line in str(values["text"]).split("\n") if line.strip()]
            self.text.choose(places, str(values.get("column", "")), remember=False)
        if "model" in values:
            self.start.put(values)
        self.budget.put(values)
        self.drops_repeated = bool(values.get("drop_repeated", self.drops_repeated))
        self.settle()

    def set_drops_repeated(self, drops: bool) -> None:
        """Leave repeated lines out, or not."""
        self.drops_repeated = drops
        self.settle()

    def clear_refusals(self) -> None:
        """Take all refusals away."""
        self.form.clear_refusals()
        self.text.show_refusal("")
        if self.start.problem is None:
            self.start.show_refusal("")
        self.budget_refusal.hide()

    def show_refusal(self, error: UserError) -> bool:
        """Show a refusal beside its field; False where it belongs to no field on this card."""
        said = words.say_error(error)
        if isinstance(error, ModelError):
            self.start.show_refusal(said)
            return True
        if not isinstance(error, ConfigError):
            return False
        if error.field in TEXT_NAMES:
            self.text.show_refusal(said)
        elif error.field in START_NAMES:
            self.start.show_refusal(said)
        elif error.field in BUDGETS:
            self.budget_refusal.setText(said)
            self.budget_refusal.show()
        else:
            return self.form.show_error(error)
        return True

    def _show_rate(self, config: PretrainConfig) -> None:
        """Say what an empty learning rate means for this size."""
        text = ""
        if self.shape is not None:
            rate = default_rate(config, self.shape)
            text = self.tr("auto: {rate}").format(rate=words.scientific(rate, 2))
        self.form.set_auto("learning_rate", text)

    @Slot()
    def settle(self) -> None:
        """Look at the settings anew, and say so."""
        self._timer.stop()
        self.clear_refusals()
        set_or_hide(self.prediction, "")
        self.refusal = self.shape = None
        try:
            self.shape = self.start.shape()
            self._show_rate(self.config())
        except UserError as error:
            self.refusal = error
            keyboard = QApplication.focusWidget()  # a person may be typing elsewhere
            if not self.show_refusal(error):
                set_or_hide(self.prediction, words.say_error(error))
            if keyboard is not None:
                keyboard.setFocus()
        self.changed.emit()
