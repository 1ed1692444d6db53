"""What a fine-tuning was made of, in rows to read."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.pages.run.facts import Fact, file_fact, model_facts, pace_facts, setting_facts
from app.pages.tasks.known import CLASSIFICATION, views_of
from app.words import listed, number, tr_engine
from engine.events import Started
from engine.settings.finetune import FineTuneConfig
from engine.settings.setting import settings_of

translate = QCoreApplication.translate

SHOWN = (  # settings that have rows of their own
    *("task", "data", "validation_data", "test_data", "recipe"),
    *("text", "text_pair", "label", "model", "vocab"),
    "learning_rate",
)


def facts_of(config: FineTuneConfig, started: Started | None) -> list[Fact]:
    """Return what to show of a run, data first. Args: started: what it said of itself; None before."""
    data = config.data
    found = [file_fact(translate("FineTuneFacts", "Data"), data.data)]
    if data.validation_data:
        found.append(file_fact(translate("FineTuneFacts", "Validation data"), data.validation_data))
    if data.test_data:
        found.append(file_fact(translate("FineTuneFacts", "Test data"), data.test_data))
    if data.recipe:
        found.append(
            Fact(translate("FineTuneFacts", "Fixes"), translate("FineTuneFacts", "yes"), data.recipe)
        )
    if started is not None and started.task != CLASSIFICATION.name:
        found.append(Fact(translate("FineTuneFacts", "Task"), views_of(started.task).title()))
    if data.text:
        found.append(Fact(translate("FineTuneFacts", "Text"), data.text))
    if data.text_pair:
        found.append(Fact(translate("FineTuneFacts", "Second text"), data.text_pair))
    if data.label:
        found.append(Fact(translate("FineTuneFacts", "Label"), data.label))
    if started is not None:
        rows = translate("FineTuneFacts", "{train} for training, {kept} for validation").format(
            train=_rows_learned(config, started), kept=number(started.num_validation)
        )
        if started.num_test:
            tested = translate("FineTuneFacts", "{rows}, {tested} for testing")
            rows = tested.format(rows=rows, tested=number(started.num_test))
        found.append(Fact(translate("FineTuneFacts", "Rows"), rows))
        if len(started.labels) > 1:
            labels = listed(started.labels)
            found.append(Fact(translate("FineTuneFacts", "Labels"), number(len(started.labels)), labels))
    found += model_facts(config.model.model, config.model.vocab)
    found += pace_facts(config.training, started)
    if not config.training.minutes:
        return [*found, *setting_facts(config, SHOWN)]
    return [*found, _most_epochs(config), *setting_facts(config, (*SHOWN, "num_epochs"))]


def _rows_learned(config: FineTuneConfig, started: Started) -> str:
    """Return how many rows are learned from; of how many, where the time does not suffice for all."""
    training = config.training
    planned = started.num_steps * training.batch_size * training.gradient_accumulation_steps
    if not training.minutes or planned >= started.num_train:
        return number(started.num_train)
    template = translate("FineTuneFacts", "{some} of {all}")
    return template.format(some=number(planned), all=number(started.num_train))


def _most_epochs(config: FineTuneConfig) -> Fact:
    """Return how often a run that a time bounds may see a row."""
    about = settings_of(config.training)["num_epochs"]
    said = translate("FineTuneFacts", "{count} at most").format(count=number(config.training.num_epochs))
    return Fact(tr_engine(about.label), said, tr_engine(about.help))
