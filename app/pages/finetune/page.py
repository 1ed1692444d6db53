"""The Fine-tune page: teach a pretrained BERT your labels and watch it learn.

The page starts nothing by itself and keeps no state of the run: the session does, and tells it in events.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QApplication, QWidget

from app.look.widgets import Card
from app.pages.evaluate.state import EvaluateState, Listing
from app.pages.finetune.before import BeforeFineTuning
from app.pages.finetune.charts import FineTuneCharts
from app.pages.finetune.comparison import ComparisonCard
from app.pages.finetune.facts import facts_of
from app.pages.finetune.meanwhile import Meanwhile
from app.pages.finetune.setup import APART, FineTuneSetup
from app.pages.predict.state import PredictState
from app.pages.run.alone import show_alone
from app.pages.run.facts import Fact
from app.pages.run.page import TrainingPage
from app.pages.run.state import RunPageState
from app.session import Session
from app.shipped import sample_data_path
from app.work.open_data import FILE_SETTINGS, LABEL_CHOICES
from app.work.tables import NEW
from app.work.text_filter import Filter
from engine.commands.command_line import finetune_command
from engine.errors import UserError
from engine.events import Started
from engine.questions.labelled import LabelledTexts
from engine.settings.config import values_of
from engine.settings.finetune import ComparisonConfig, FineTuneConfig
from engine.text.roles import Roles
from engine.train.run.runs import new_run_dir


class FineTunePage(TrainingPage):
    """Settings at the left, the run at the right, at most three actions above."""

    kind = FineTuneConfig
    setup: FineTuneSetup
    charts: FineTuneCharts
    inside = "attention"  # a classifier guesses no words

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self.setObjectName("finetune_page")
        self.header.title_label.setText(self.tr("Fine-tune"))
        self.header.set_sentence(self.tr("Teach a pretrained BERT your labels and watch it learn."))
        self.try_button.setText(self.tr("Try it on a text"))
        self._own: dict[str, Any] = {}  # settings while others are lent for one training
        self.setup = FineTuneSetup(session)
        self.setup.setObjectName("setup_card")
        self.charts = FineTuneCharts()
        self.before = BeforeFineTuning(session, self.setup.chooser)
        card = Card()
        card.add(self.before, 1)
        self.lay_out(card)
        self.comparison = ComparisonCard(session)
        self.stack.addWidget(self.comparison)
        self.meanwhile = Meanwhile(session)
        self.stack.addWidget(self.meanwhile)
        self.comparison.closed.connect(self._show_comparison)
        self.setup.compare.start_wanted.connect(self.compare)
        self.setup.compare.chosen.connect(self._show_comparison)
        self.setup.last_run.chosen.connect(self.show_run)
        self.setup.changed.connect(self.refresh)
        self.before.changed.connect(self.refresh)
        self.charts.texts_wanted.connect(self._show_texts)
        session.training.ended.connect(self.restore_own)
        self._hear_session()

    def reason(self) -> str:
        return self.before.missing_words()

    @property
    def state(self) -> RunPageState:
        return replace(super().state, comparison=self.comparison.folder)

    def take_state(self, state: RunPageState) -> None:
        super().take_state(state)
        self.comparison.show_folder(state.comparison)
        self.refresh()

    def show_cards(self) -> None:
        focused = QApplication.focusWidget()
        had_focus = focused is not None and self.before.isAncestorOf(focused)
        self.before.refresh()
        at_form = not self.shows_run
        self.stack.setCurrentIndex(0 if self.before.missing() and at_form else 1)
        if self.comparison.folder is not None and at_form:
            self.stack.setCurrentWidget(self.comparison)
        elif self.run_dir is not None and at_form and not self.before.missing():
            self.stack.setCurrentWidget(self.meanwhile)
        self.setup.compare.start.setEnabled(not self.reason() and not self.session.training.is_running)
        if had_focus and not self.before.isVisible():
            self.setup.chooser.box.setFocus()  # what was chosen; Qt would go on to the rail
        if self.run_dir is None:
            self.charts.set_task(self.session.data.task_name)
        remarks = self.setup.remarks() if at_form else []
        self.charts.show_before(remarks if self.run_dir is None else [])
        self.meanwhile.show_remarks(remarks)

    def _show_texts(self, split: str, behind: Filter) -> None:
        """Show the texts behind a number of the run on the Evaluate page."""
        folder = self.model_folder
        if folder is not None:
            state = EvaluateState(folder, LabelledTexts(part=split), Listing((behind,)))
            self.session.show_page("evaluate", state)

    def compare(self) -> None:
        """Learn from the open data in several ways, with the settings as they stand."""
        self.failure.hide()
        self.setup.clear_refusals()
        try:
            folder = self.session.training.start(ComparisonConfig(self.setup.config()))
        except UserError as error:
            self.refuse_settings(error)
            return
        self.comparison.start(folder)
        self.refresh()

    def _show_comparison(self, folder: Path | None = None) -> None:
        self.show_state(replace(self.state, comparison=folder))

    def data_name(self, config: FineTuneConfig) -> str:
        return Path(config.data.data).name

    def command(self, config: FineTuneConfig) -> str:
        return finetune_command(config, new_run_dir(self.session.runs.root, Path(config.data.data).stem))

    def facts(self, config: FineTuneConfig, started: Started | None) -> list[Fact]:
        return facts_of(config, started)

    def use_model(self) -> None:
        self.session.show_page("predict", PredictState(self.model_folder))

    def set_for_one_training(self, values: dict[str, Any]) -> None:
        """Put other settings into the form for one training; the person's own come back with its end."""
        own = self.setup.form.values()
        self._own = {name: own[name] for name in values} | self._own
        self.setup.set_values(values)

    def restore_own(self) -> None:
        """Show the person's own settings again, where others were lent."""
        own, self._own = self._own, {}
        if own:
            self.setup.set_values(own)

    def take_settings(self, config: FineTuneConfig) -> list[str]:
        session, data, gone = self.session, config.data, list[str]()
        values = values_of(config)
        self.setup.take_apart(data.data, *(values.pop(name) for name in APART))
        self.setup.form.set_values(values)
        overrides = {name: getattr(data, name) for name in session.data.overrides}
        if Path(data.data).is_file():
            roles = Roles.of(data)
            choices = {name: getattr(data, name) for name in LABEL_CHOICES}
            said = {name: str(getattr(data, name)) for name in FILE_SETTINGS if getattr(data, name)}
            session.data.open(
                data.data, roles=roles, label_choices=choices, task=data.task, said=said, **overrides
            )
        else:
            gone.append(data.data)
        model = config.model
        if model.model.startswith(NEW) or Path(model.model).is_dir():
            session.model.choose(model.model, model.vocab, model.lowercase)
        else:
            gone.append(model.model)
        return gone


def main() -> int:
    """Show the page alone: the sample sentences, a small model from random weights."""

    def begin(page: FineTunePage) -> None:
        page.session.data.open(sample_data_path())
        page.setup.chooser.start_from_random_weights()

    return show_alone(FineTunePage, begin)


if __name__ == "__main__":
    sys.exit(main())
