"""What a pretraining was made of, in rows to read."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.pages.run.facts import NEW, Fact, files_fact, model_facts, pace_facts, setting_facts, value_words
from app.words import number, tr_engine, within
from engine.events import Started
from engine.settings.pretrain import PretrainConfig
from engine.settings.setting import settings_of

translate = QCoreApplication.translate

SHOWN = (  # settings that have rows of their own
    *("text", "validation_text", "column", "model", "vocab", "vocab_size", "steps", "tokens", "minutes"),
    *("pins", "learning_rate", "terms"),
)


def facts_of(config: PretrainConfig, started: Started | None) -> list[Fact]:
    """Return what to show of a run, text first. Args: started: what it said of itself; None before."""
    text, budget = config.text, config.budget
    places = [line for line in text.text.split("\n") if line.strip()]
    found = [files_fact(translate("PretrainFacts", "Text"), places)]
    if text.column:
        found.append(Fact(translate("PretrainFacts", "Column"), text.column))
    if text.validation_text:
        found.append(
            files_fact(translate("PretrainFacts", "Validation text"), text.validation_text.split("\n"))
        )
    if started is not None:
        said = translate("PretrainFacts", "{train} for training, {kept} held out")
        rows = said.format(train=number(started.num_train), kept=number(started.num_validation))
        found.append(Fact(translate("PretrainFacts", "Documents"), rows))
    found += model_facts(config.start.model, config.start.vocab, informed=config.start.informed_start)
    if config.start.model.startswith(NEW) and not config.start.vocab:
        learned = translate("PretrainFacts", "{count} WordPieces, made from the text")
        said = learned.format(count=number(config.start.vocab_size))
        found.append(Fact(translate("PretrainFacts", "Vocabulary"), said))
    about = settings_of(budget)
    for name in ("minutes", "steps", "tokens"):
        if value := getattr(budget, name):
            said = f"{value_words(name, about[name], value)} {within(tr_engine(about[name].label))}"
            found.append(Fact(translate("PretrainFacts", "Train for"), said))
    return [*found, *pace_facts(budget, started), *setting_facts(config, SHOWN)]
