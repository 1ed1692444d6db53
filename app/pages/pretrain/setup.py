"""The left card of the Pretrain page: which text, from what start, for how long, with which settings."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QWidget

from app import words
from app.form.form import SettingsForm
from app.look.labels import label, set_or_hide
from app.look.layout import form_rows
from app.look.widgets import set_role
from app.pages.choose.budget import BUDGETS, BudgetField
from app.pages.choose.text import TextChooser
from app.pages.pretrain.start import NAMES as START_NAMES
from app.pages.pretrain.start import StartChooser
from app.pages.run.setup import SetupCard
from app.session import Session
from engine.errors import ConfigError, ModelError, UserError
from engine.model.config import BertConfig
from engine.settings.config import values_of, with_values
from engine.settings.pretrain import PretrainConfig, check_budget
from engine.train.pretrain import default_rate
from engine.train.pretraining.refusals import reads_pairs

TEXT_NAMES = ("text", "column", "drop_repeated")
OWN = (*TEXT_NAMES, *START_NAMES, *BUDGETS, "pins")  # shown elsewhere than in the form
NAMES = tuple(name for name in values_of(PretrainConfig()) if name not in OWN)


class PretrainSetupCard(SetupCard):
    """Text, start, budget and settings."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, SettingsForm(PretrainConfig(), NAMES), "pretrain_prediction", parent)
        self.setObjectName("pretrain_setup")
        self.drops_repeated = False
        self.pins: tuple[str, ...] = ()
        self.shape: BertConfig | None = None  # of the model; None while it is not known, or refused
        self.text = TextChooser(session, self)
        self.start = StartChooser(session, self)
        self.budget = BudgetField()
        self.budget_refusal = label("", "refusal", wrap=True, name="refusal_budget")
        self.budget_refusal.hide()
        self.form.setObjectName("pretrain_settings")
        self.form.add_first(self._choices())
        self.add(self.form, 1)
        self.add(self.prediction)
        self.prediction.hide()
        for part in (self.text.changed, self.start.changed, self.budget.edited, self.form.changed):
            part.connect(self._timer.start)
        self.start.model_read.connect(self._fit_to_model)

    def _fit_to_model(self) -> None:
        """Turn off what the chosen model has no part for."""
        if self.start.info is not None and not reads_pairs(self.start.info.config):
            self.form.set_values({"next_sentence": False})

    def _choices(self) -> QWidget:
        box = QWidget()
        set_role(box, "clear")
        settings = label(self.tr("Settings"), "card-title")
        settings.setContentsMargins(0, 6, 0, 0)
        form_rows(
            *self.text.rows(),
            *self.start.rows(),
            (self.tr("Train for"), self.budget),
            (None, self.budget_refusal),
            *self.where.rows(),
            (None, settings),
            margins=(0, 0, 0, 4),
            parent=box,
        )
        self.where.show()
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
        self.check()

    def set_drops_repeated(self, drops: bool) -> None:
        """Leave repeated lines out, or not."""
        self.drops_repeated = drops
        self.check()

    def clear_refusals(self) -> None:
        super().clear_refusals()
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
            set_or_hide(self.budget_refusal, said)
        else:
            return super().show_refusal(error)
        return True

    def _show_rate(self, config: PretrainConfig) -> None:
        """Say what an empty learning rate means for this size."""
        text = ""
        if self.shape is not None:
            rate = default_rate(config, self.shape)
            text = self.tr("auto: {rate}").format(rate=words.scientific(rate, 2))
        self.form.set_auto("learning_rate", text)

    def work_out(self) -> None:
        """Work out the shape of the model, and what an empty learning rate means for it."""
        self.shape = None
        self.shape = self.start.shape()
        self._show_rate(self.config())
