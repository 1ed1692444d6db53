"""For how long a pretraining runs: minutes, steps or tokens."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.inputs import DoubleSpinBox
from app.look.labels import tip
from app.look.layout import row
from app.look.widgets import tidy_spin
from engine.settings.pretrain import BudgetConfig
from engine.settings.setting import settings_of

BUDGETS = ("minutes", "steps", "tokens")
USUAL = {"minutes": 45.0, "steps": 10_000.0, "tokens": 20_000_000.0}
STEPS = {"minutes": 5.0, "steps": 1_000.0, "tokens": 1_000_000.0}
MILLION, MILLIONS = 1_000_000, "M"
_SHORT = re.compile(r" *\d*(?:[.,]\d*)? *M *|\d*\.\d* *", re.IGNORECASE)  # or its beginning


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

    def __init__(
        self,
        units: Sequence[str] = BUDGETS,
        name: str = "budget",
        usual: Mapping[str, float] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """Args: units: those that are offered, of BUDGETS. usual: the number that each begins with."""
        super().__init__(parent)
        about = settings_of(BudgetConfig)
        self._kept = {**USUAL, **(usual or {})}  # each unit remembers its number
        self.number = CountSpin()
        self.number.setGroupSeparatorShown(True)
        self.number.setObjectName(name)
        self.number.setAccessibleName(self.tr("Train for"))
        tidy_spin(self.number)
        self.number.setMinimumWidth(60)  # its own wish is as wide as its largest number
        self.unit = ChoiceBox(f"{name}_unit", self.tr("Unit"))
        self.unit.setMinimumContentsLength(4)
        self.unit.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.unit.setMinimumWidth(76)
        self.unit.setMaximumWidth(98)
        for unit in units:
            self.unit.addItem(words.within(words.tr_engine(about[unit].label)), unit)
        row((self.number, 1), (self.unit, 2), gap=6, parent=self)
        self.setFocusProxy(self.number)
        self._show_unit(units[0])
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
        with QSignalBlocker(self.number):
            self.number.setDecimals(1 if name == "minutes" else 0)
            self.number.setRange(0.1 if name == "minutes" else 1, min(float(about.maximum or 1e9), 1e13))
            self.number.setSingleStep(STEPS[name])
            self.number.setValue(self._kept[name])
        self.setToolTip(tip(words.tr_engine(about.help)))

    def _unit_chosen(self, _index: int) -> None:
        self._show_unit(self.name)
        self.edited.emit()

    def _edited(self) -> None:
        self._kept[self.name] = self.number.value()
        self.edited.emit()
