"""What a fine-tuning was made of, in rows to read."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.pages.run.facts import Fact, file_fact, model_facts, pace_facts, setting_facts
from app.words import number
from engine.events import Started
from engine.settings.finetune import FineTuneConfig

translate = QCoreApplication.translate

SHOWN = (  # settings that have rows of their own
    *("data", "validation_data", "test_data", "text", "text_pair", "label", "model", "vocab"),
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
    found.append(Fact(translate("FineTuneFacts", "Text"), data.text))
    if data.text_pair:
        found.append(Fact(translate("FineTuneFacts", "Second text"), data.text_pair))
    found.append(Fact(translate("FineTuneFacts", "Label"), data.label))
    if started is not None:
        rows = translate("FineTuneFacts", "{train} to learn from, {kept} to validate").format(
            train=number(started.num_train), kept=number(started.num_validation)
        )
        if started.num_test:
            tested = translate("FineTuneFacts", "{rows}, {tested} to test")
            rows = tested.format(rows=rows, tested=number(started.num_test))
        found.append(Fact(translate("FineTuneFacts", "Rows"), rows))
        found.append(
            Fact(translate("FineTuneFacts", "Labels"), number(len(started.labels)), ", ".join(started.labels))
        )
    found += model_facts(config.model.model, config.model.vocab)
    return [*found, *pace_facts(config.training, started), *setting_facts(config, SHOWN)]
