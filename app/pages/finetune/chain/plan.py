"""The plan of a chain: which texts are read first, for how long, how many seeds, and what that takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QCheckBox, QWidget

from app import words
from app.form.form import SettingsForm
from app.look.labels import ElidedLabel, label, set_or_hide
from app.look.layout import STRETCH, column, row
from app.look.widgets import Card, button, holder, named, set_role
from app.pages.choose.budget import BudgetField
from app.pages.choose.text import TextChooser
from app.pages.finetune.chain.requests import ChainFound, names_of, newest_result
from app.pages.finetune.chain.words import measured_here
from app.session import Session
from app.work.titles import run_title
from app.work.worker import Channel
from engine.errors import ConfigError, UserError
from engine.model.config import BertConfig
from engine.settings.config import values_of, with_values
from engine.settings.finetune import FineTuneConfig
from engine.settings.pipeline import PipelineConfig
from engine.train.plan import Plan, TimeEstimate
from engine.train.stages import planned_seconds

NAMES = ("seeds", "batch_tokens", "pretraining_rate", "held_out_share", "next_sentence", "trim_vocab")
DOMAIN, TASK = "domain", "task"
STAGES = (DOMAIN, TASK)
UNITS = ("minutes", "steps")
USUAL = {DOMAIN: {"minutes": 10.0, "steps": 1000.0}, TASK: {"minutes": 5.0, "steps": 200.0}}
KEPT = "finetune/chain"
INPUT = 200  # px


@dataclass(frozen=True, slots=True)
class Known:
    """What the form at the left knows of a run of fine-tuning; None: not yet.

    own: its settings. num_tokens: of the whole table. told: how long one run takes.
    """

    own: FineTuneConfig | None = None
    plan: Plan | None = None
    told: TimeEstimate | None = None
    shape: BertConfig | None = None
    num_examples: int = 0
    num_tokens: int = 0


class StageChoice(QWidget):
    """Whether there is a stage, on which texts, and for how long; `edited` when one of these has changed."""

    edited = Signal()

    def __init__(self, stage: str, title: str, said: str, text: QWidget, refusal: QWidget | None) -> None:
        super().__init__()
        set_role(self, "clear")
        self.stage, self._text = stage, text
        self.box = named(QCheckBox(title), f"chain_{stage}")
        self.said = label(said, "muted", wrap=True)
        self.budget = BudgetField(UNITS, f"{stage}_budget", USUAL[stage])
        self.budget.number.setAccessibleName(title)
        self.refusal = label("", "refusal", wrap=True, name=f"refusal_{stage}_budget")
        self.refusal.hide()
        length = label(self.tr("for"), "muted", buddy=self.budget)
        what = row((text, 1), length, self.budget)
        under = column(self.said, what, *([refusal] if refusal else []), self.refusal, gap=6)
        under.setContentsMargins(26, 0, 0, 0)
        column(self.box, under, gap=4, parent=self)
        self.box.toggled.connect(self._show)
        self.budget.edited.connect(self.edited)
        self._show()

    def _show(self) -> None:
        for part in (self._text, self.budget):
            part.setEnabled(self.box.isChecked())
        self.edited.emit()

    def values(self) -> dict[str, Any]:
        """Return the settings of how long; 0 of both where there is no such stage."""
        is_asked = self.box.isChecked()
        return {
            f"{self.stage}_{unit}": value if is_asked else 0
            for unit, value in self.budget.values().items()
            if unit in UNITS
        }

    def put(self, values: Mapping[str, Any], is_asked: bool) -> None:
        """Show settings."""
        self.box.setChecked(is_asked)
        self.budget.put({unit: values.get(f"{self.stage}_{unit}", 0) for unit in UNITS})


class ChainPlan(Card):
    """`changed`: when something else is planned; `closed`: when a person goes back to the settings."""

    changed = Signal()
    closed = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("chain_plan")
        self.set_title(self.tr("Adapt to your texts first"))
        self._session, self._known = session, Known()
        self._asked = Channel(self, session.workers.quick)
        self._ready = False
        self.text = TextChooser(session, self, "domain_text", opens_tables=False)
        self.rows = ElidedLabel("")
        self.rows.setObjectName("chain_rows")
        self.domain = StageChoice(
            DOMAIN,
            self.tr("Domain texts"),
            self.tr("More texts of the same field, without labels: articles, posts, reports."),
            self.text.box,
            self.text.refusal,
        )
        self.task = StageChoice(
            TASK,
            self.tr("Task texts"),
            self.tr("The texts of the training rows, without their labels."),
            self.rows,
            None,
        )
        self.form = SettingsForm(PipelineConfig(), NAMES)
        self.form.setObjectName("chain_settings")
        self.time = label("", wrap=True, name="chain_time")
        self.leak = label("", "muted", wrap=True, name="chain_leak")
        self.measured = label("", wrap=True, name="chain_measured")
        self.measured.hide()
        self.refusal = label("", "refusal", wrap=True, name="refusal_chain")
        self.refusal.hide()
        self.close_button = button(self.tr("Back to settings"), "link", name="close_chain_plan")
        self._lay_out()
        self._take_kept()
        for part in (self.text.changed, self.domain.edited, self.task.edited, self.form.changed):
            part.connect(self._edited)
        self.close_button.clicked.connect(self.closed)
        self._ready = True
        self.refresh(self._known)

    def _lay_out(self) -> None:
        lead = label(
            self.tr(
                "BERT reads your texts first, as in its pretraining: words are masked, and it "
                "guesses them. After each stage it is fine-tuned in the same way, so you see "
                "what the stage gained."
            ),
            wrap=True,
        )
        bring = label(
            self.tr(
                "Gururangan et al. (2020) report gains on eight English tasks, Sun et al. "
                "(2019) on text classification with BERT. They used larger models and far more "
                "text. Here it may gain nothing: the comparison shows which."
            ),
            "muted",
            wrap=True,
            name="chain_bring",
        )
        self.form.set_width(INPUT)
        self.form.add_first(self._part(lead, self.domain, self.task))
        self.form.add_last(
            self._part(
                self._titled(self.tr("How long"), self.time),
                self._titled(self.tr("What it may bring"), bring, self.measured),
                self._titled(self.tr("Held out"), self.leak),
            )
        )
        self.add(self.form, 1)
        self.add(self.refusal)
        self.body.addLayout(row(self.close_button, STRETCH))

    def _part(self, *items: QWidget) -> QWidget:
        return holder(column(*items, gap=14, margins=(0, 0, 6, 6)))

    def _titled(self, title: str, *under: QWidget) -> QWidget:
        return holder(column(label(title, "card-title"), *under, gap=2))

    def look(self) -> None:
        """Look for what a chain over the open table has gained before."""
        table, root = self._session.data.path, self._session.runs.root
        self.measured.hide()
        if table is not None:
            work = partial(newest_result, root, table)
            self._asked.ask((root, table), work, heard=self._take_measured, again=True)

    def _take_measured(self, found: ChainFound | None) -> None:
        said = measured_here(found.stages, found.reached, run_title(found.folder)) if found else ""
        set_or_hide(self.measured, said)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.look()

    def _edited(self) -> None:
        if self._ready:
            self._session.settings.set_value(KEPT, json.dumps(self.values()))
            self.refresh(self._known)
            self.changed.emit()

    def values(self) -> dict[str, Any]:
        """Return what is planned here, flat, texts that are chosen but not asked for among them."""
        text = self.text.values()
        return {
            **self.form.values(),
            **self.domain.values(),
            **self.task.values(),
            "domain_text": text["text"],
            "domain_column": text["column"],
        }

    def _take_kept(self) -> None:
        """Show what was planned last; at first the task's texts alone."""
        values: dict[str, Any] = {"task_minutes": USUAL[TASK]["minutes"]}
        with suppress(ValueError, TypeError, UserError):
            kept = json.loads(self._session.settings.value(KEPT, ""))
            found = {name: kept[name] for name in self.values() if name in kept}
            with_values(PipelineConfig(), dict(found))
            values = found
        self.form.set_values(values)
        places = [place for place in str(values.get("domain_text", "")).split("\n") if place]
        if places:
            self.text.choose(places, str(values.get("domain_column", "")), remember=False)
        for choice in (self.domain, self.task):
            is_asked = any(values.get(f"{choice.stage}_{unit}") for unit in UNITS)
            choice.put(values, is_asked)

    def config(self, own: FineTuneConfig) -> PipelineConfig:
        """Return the settings of the chain. Args: own: those of each fine-tuning. Raises: ConfigError."""
        values = self.values()
        if not self.domain.box.isChecked():
            values |= {"domain_text": "", "domain_column": ""}
        config = PipelineConfig(data=own.data, adapt=own.adapt, training=own.training, device=own.device)
        return with_values(config, {**values, "model": own.model.model})

    def lacking(self) -> str:
        """Return what the plan lacks, in a sentence; "" where it can be started."""
        if self._session.data.task_file is not None:
            return self.tr("This needs a table of texts; other kinds of files cannot be adapted to yet.")
        if not self.domain.box.isChecked() and not self.task.box.isChecked():
            return self.tr("Choose domain texts, task texts or both: there is nothing to compare yet.")
        if self.domain.box.isChecked() and not self.text.has_text:
            return self.tr("Choose the domain texts, or untick that stage.")
        own = self._known.own
        if own is not None and own.model.model.startswith("new:"):
            return self.tr("Start from a trained model: random weights have nothing to adapt.")
        return ""

    def show_refusal(self, error: UserError) -> bool:
        """Say why the chain cannot be, beside the field that it names where that is here; whether it is."""
        said = words.say_error(error)
        name = error.field if isinstance(error, ConfigError) else ""
        if name in ("domain_text", "domain_column"):
            self.text.show_refusal(said)
        elif name in (f"{stage}_{unit}" for stage in STAGES for unit in UNITS):
            choice = self.domain if name.startswith(DOMAIN) else self.task
            set_or_hide(choice.refusal, said)
        elif not (isinstance(error, ConfigError) and self.form.show_error(error)):
            if isinstance(error, ConfigError) and name in values_of(FineTuneConfig()):
                return False
            set_or_hide(self.refusal, said)
        return True

    def clear_refusals(self) -> None:
        """Take the refusals away."""
        self.text.show_refusal("")
        self.form.clear_refusals()
        for part in (self.refusal, self.domain.refusal, self.task.refusal):
            part.hide()

    def refresh(self, known: Known) -> None:
        """Say what follows from the plan. Args: known: what the form beside it knows of one run."""
        self._known = known
        train = known.plan.num_train if known.plan is not None else 0
        template = self.tr("{count} training rows")
        self.rows.setText(template.format(count=words.number(train)) if train else self.tr("Training rows"))
        self.time.setText(self._time_words())
        self.leak.setText(self._leak_words())

    def _time_words(self) -> str:
        known = self._known
        if self.lacking():
            return self.lacking()
        if known.own is None or known.plan is None or known.told is None or known.shape is None:
            return self.tr("Not known yet: the texts are still being counted.")
        try:
            config = self.config(known.own)
        except UserError as error:
            return words.say_error(error)
        stages, seeds = len(names_of(config)), config.stages.seeds
        planned = planned_seconds(config, known.shape, known.plan.seconds)
        minutes = 60 * (config.stages.domain_minutes + config.stages.task_minutes)  # these are as given
        share = (planned - minutes) / max(known.plan.seconds, 1e-9)
        low, high = (minutes + share * end for end in (known.told.low, known.told.high))
        template = self.tr("{time}. Fine-tuning alone and after {stages}: {runs} runs, {seeds}.")
        said = template.format(
            time=words.duration_range(low, high),
            stages=words.counted(stages - 1, self.tr("1 stage"), self.tr("{count} stages")),
            runs=words.number(stages * seeds),
            seeds=words.counted(seeds, self.tr("1 seed each"), self.tr("{count} seeds each")),
        )
        few = self.tr("Fewer than three seeds give no interval.") if seeds < 3 else ""
        return words.sentences((said, self._passes_words(config), few))

    def _passes_words(self, config: PipelineConfig) -> str:
        """Return how often the task's texts are read, where steps are given."""
        known, steps = self._known, config.stages.task_steps
        if not steps or known.plan is None or not known.num_tokens:
            return ""
        tokens = known.num_tokens * known.plan.num_train / max(1, known.num_examples)
        passes = steps * config.stages.batch_tokens / max(1.0, tokens * (1 - config.stages.held_out_share))
        said = self.tr("Task texts are read about {count} times.")
        return said.format(count=words.number(round(passes)) if passes >= 2 else words.decimal(passes, 1))

    def _leak_words(self) -> str:
        said = self.tr("Task texts come from training rows only. Validation and test rows are not read.")
        if not self.domain.box.isChecked():
            return said
        table = self._session.data.path
        if table is not None and str(table) in self.text.places:
            more = self.tr(
                "The domain texts are this table itself: its validation and test texts are read too, without "
                "labels. The gains may be a little too good."
            )
            return words.sentences([said, more])
        more = self.tr(
            "Domain texts may contain some of them. They are counted before the first "
            "stage, and the result says how many."
        )
        return words.sentences([said, more])
