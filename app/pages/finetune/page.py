"""The Fine-tune page: teach a pretrained BERT your labels and watch it learn.

The page starts nothing by itself and keeps no state of the run: the session does, and tells it in events.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget

from app.look.widgets import Card, primary_buttons
from app.pages.evaluate.state import EvaluateState, Listing
from app.pages.finetune.before import BeforeFineTuning
from app.pages.finetune.chain.card import ChainCard
from app.pages.finetune.chain.plan import ChainPlan, Known
from app.pages.finetune.charts import FineTuneCharts
from app.pages.finetune.comparison import ComparisonCard
from app.pages.finetune.facts import facts_of
from app.pages.finetune.meanwhile import Meanwhile
from app.pages.finetune.setup import APART, FineTuneSetup
from app.pages.finetune.way import WAY
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
from app.work.texts_read import TextsRead
from app.work.training import run_name
from engine.commands.command_line import finetune_command
from engine.commands.language import pipeline_command
from engine.commands.remote import where_words
from engine.errors import UserError
from engine.events import Started
from engine.labelling.random_sample import is_random_sample
from engine.questions.labelled import LabelledTexts
from engine.settings.config import values_of, with_values
from engine.settings.finetune import ComparisonConfig, FineTuneConfig
from engine.settings.pipeline import PipelineConfig
from engine.text.roles import Roles
from engine.train.finetune import settled
from engine.train.run.runs import new_run_dir
from engine.train.ways.names import FINE_TUNED


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
        self._is_led = False  # whether the keyboard is to go to the blue button, as soon as there is one
        self._own: dict[str, Any] = {}  # settings while others are lent for one training
        self.setup = FineTuneSetup(session)
        self.setup.setObjectName("setup_card")
        self.charts = FineTuneCharts()
        self.before = BeforeFineTuning(session, self.setup.chooser)
        self.lacking = Card()
        self.lacking.add(self.before, 1)
        self.lay_out(self.lacking)
        self.comparison = ComparisonCard(session)
        self.stack.addWidget(self.comparison)
        self.plan, self.chain = ChainPlan(session), ChainCard(session)
        self._adapts = False  # whether the plan of a chain stands beside the form
        for part in (self.plan, self.chain):
            self.stack.addWidget(part)
        self.meanwhile = Meanwhile(session)
        self.stack.addWidget(self.meanwhile)
        self.comparison.closed.connect(self._show_comparison)
        self.setup.compare.start_wanted.connect(self.compare)
        self.setup.compare.chosen.connect(self._show_comparison)
        self.setup.last_run.chosen.connect(self.show_run)
        self.setup.chain.start_wanted.connect(partial(self._show_chain, plans=True))
        self.setup.chain.chosen.connect(self._show_chain)
        self.plan.closed.connect(self._show_chain)
        self.plan.changed.connect(self.refresh)
        self.chain.closed.connect(self._show_chain)
        self.chain.changed.connect(self.refresh)
        self.chain.refused.connect(self.refuse_settings)
        self.chain.try_wanted.connect(lambda model: session.show_page("predict", PredictState(model)))
        self.setup.changed.connect(self.refresh)
        self.before.changed.connect(self.refresh)
        self.charts.texts_wanted.connect(self._show_texts)
        self.charts.ways.take_wanted.connect(self._take_way)
        self.charts.watching.mend_wanted.connect(lambda name, value: self.setup.set_values({name: value}))
        session.training.ended.connect(self.restore_own)
        self._hear_session()

    def reason(self) -> str:
        missing = self.before.missing_words()
        return missing or (self.plan.lacking() if self._plans else "")

    @property
    def is_useless(self) -> bool:
        return self.charts.advice.is_useless

    @property
    def _plans(self) -> bool:
        """Whether the plan of a chain is in view."""
        return self._adapts and self.chain.folder is None and not self.shows_run

    def asked(self) -> FineTuneConfig | PipelineConfig:
        if self.chain.folder is not None and self.chain.config is not None:
            return self.chain.config
        self.plan.clear_refusals()
        own = super().asked()
        return self.plan.config(stepped(own)) if self._plans else own

    @property
    def state(self) -> RunPageState:
        shown = replace(super().state, comparison=self.comparison.folder)
        return replace(shown, chain=self.chain.folder, adapts=self._adapts)

    @property
    def texts_read(self) -> tuple[TextsRead, ...]:
        """The open data; of a run in view its remarks tell."""
        truncation = str(self.setup.form.values()["truncation"])
        read = () if self.shows_run else self.session.data.texts_read
        return tuple(replace(one, truncation=truncation) for one in read)

    def restore_state(self, state: RunPageState) -> None:
        super().restore_state(state)
        self._is_led = False

    def open_state(self, state: RunPageState) -> None:
        self._is_led = True
        super().open_state(state)

    def take_state(self, state: RunPageState) -> None:
        super().take_state(state)
        self.comparison.show_folder(state.comparison)
        self.chain.show_folder(state.chain)
        self._adapts = state.adapts
        if self.is_running and (state.adapts or state.chain is not None):
            self.leave_run()
        self.refresh()

    def refuse_settings(self, error: BaseException) -> None:
        if self._plans and isinstance(error, UserError) and self.plan.show_refusal(error):
            self.refresh()
        else:
            super().refuse_settings(error)

    def show_cards(self) -> None:
        focused = QApplication.focusWidget()
        had_focus = focused is not None and self.before.isAncestorOf(focused)
        self.before.refresh()
        at_form = not self.shows_run
        self._show_chain_parts(at_form)
        self.stack.setCurrentWidget(self._part_shown(at_form))
        can_compare = not self.before.missing_words() and not self.session.training.is_busy
        self.setup.compare.start.setEnabled(can_compare)
        if had_focus and not self.before.isVisible():
            self.setFocus()  # Qt would go on to the rail
            self._is_led = True
        if self.run_dir is None:
            self.charts.set_task(self.session.data.task_name)
            plan = self.setup.plan
            self.charts.set_way(self.setup.form.values()[WAY], () if plan is None else plan.ways)
        remarks = self.setup.remarks() if at_form else []
        self.charts.show_before(remarks if self.run_dir is None else [])
        self.meanwhile.show_remarks(remarks)
        self._lead_keyboard()

    def _lead_keyboard(self) -> None:
        """Give the keyboard to the blue button, where somebody was led here and has not moved it since."""
        if not self._is_led or not self.isVisible():
            return
        focused = QApplication.focusWidget()
        if focused is not None and focused is not self and not focused.isAncestorOf(self):
            self._is_led = False
            return
        ways = (*primary_buttons(self), self.before.button)
        found = next((one for one in ways if one.isVisible() and one.isEnabled()), None)
        if found is not None:
            self._is_led = False
            found.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_texts(self, split: str, behind: Filter) -> None:
        """Show the texts behind a number of the run on the Evaluate page."""
        folder = self.model_folder
        if folder is not None:
            state = EvaluateState(folder, LabelledTexts(part=split), Listing((behind,)))
            self.session.show_page("evaluate", state)

    def _part_shown(self, at_form: bool) -> QWidget:
        """Return what stands beside the form, or beside the run."""
        missing = bool(self.before.missing())
        if at_form and self.chain.folder is not None:
            return self.chain
        if self._plans and not missing:
            return self.plan
        if at_form and self.comparison.folder is not None:
            return self.comparison
        if at_form and self.run_dir is not None and not missing:
            return self.meanwhile
        return self.lacking if at_form and missing else self.charts

    def _show_chain_parts(self, at_form: bool) -> None:
        """Tell the plan what the form knows; a chain in view has its own buttons, and its own command."""
        session, setup = self.session, self.setup
        if self._plans:
            is_whole = setup.refusal is None and session.model.chosen is not None
            own = stepped(setup.config()) if is_whole else None
            summary, chosen = session.data.summary, session.model.chosen
            counted = (0, 0)
            if summary is not None:
                counted = (summary.num_examples, summary.num_tokens(session.model.max_length))
            shape = chosen.config if chosen is not None else None
            self.plan.refresh(Known(own, setup.plan, setup.told, shape, *counted))
        if self.chain.folder is not None and at_form:
            self.start_button.hide()
            self.copy_button.setEnabled(self.chain.config is not None)

    def _keep_keyboard(self, before: QWidget) -> None:
        if self.chain.isVisible() and not before.isVisible():
            self.chain.take_keyboard()
        else:
            super()._keep_keyboard(before)

    def _show_chain(self, folder: Path | None = None, *, plans: bool = False) -> None:
        shown = replace(self.state, chain=folder, adapts=plans, comparison=None)
        self.show_state(replace(shown, run=None) if plans or folder is not None else shown)

    def compare(self) -> None:
        """Learn from the open data in several ways, with the settings as they stand."""
        self.failure.hide()
        self.setup.clear_refusals()
        try:
            config = ComparisonConfig(stepped(self.setup.config()))
            folder = self.session.training.start(config, self.setup.where.host)
        except UserError as error:
            self.refuse_settings(error)
            return
        self.chain.show_folder(None)
        self._adapts = False
        self.comparison.start(folder)
        self.refresh()

    def show_config(self, config: FineTuneConfig) -> None:
        self.charts.set_way(config.adapt.way)
        self.charts.advice.is_tested_at_random = is_random_sample(config.data.test_data)

    def _take_way(self, way: str) -> None:
        """Train as the run in view, but take another way than it has taken."""
        if self.run_config is None:
            return
        self.failure.hide()
        training = self.session.training
        try:
            (training.put_in_queue if training.is_busy else training.start)(
                with_values(self.run_config, {"take": way}), self.host
            )
        except UserError as error:
            self.refuse(error)

    def _show_comparison(self, folder: Path | None = None) -> None:
        self.show_state(replace(self.state, comparison=folder))

    def data_name(self, config: FineTuneConfig | PipelineConfig) -> str:
        return Path(config.data.data).name if isinstance(config, FineTuneConfig) else run_name(config)

    def command(self, config: FineTuneConfig | PipelineConfig) -> str:
        if isinstance(config, PipelineConfig):
            folder = self.chain.folder or new_run_dir(self.session.runs.root, run_name(config))
            return pipeline_command(config, folder)
        place = new_run_dir(self.session.runs.root, Path(config.data.data).stem)
        return finetune_command(config, place, where_words(self.host_shown))

    def facts(self, config: FineTuneConfig, started: Started | None) -> list[Fact]:
        return facts_of(settled(config), started)

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
        self.setup.way.choose(data.data, config.adapt.way)
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


def stepped(config: FineTuneConfig) -> FineTuneConfig:
    """Return the settings of a run that fine-tunes, for what compares several of them itself."""
    return with_values(config, {"way": FINE_TUNED, "take": ""})


def main() -> int:
    """Show the page alone: the sample sentences, a small model from random weights."""

    def begin(page: FineTunePage) -> None:
        page.session.data.open(sample_data_path())
        page.setup.chooser.start_from_random_weights()

    return show_alone(FineTunePage, begin)


if __name__ == "__main__":
    sys.exit(main())
