"""What a run was made of, in rows to read: its data, its model and the settings it was started with."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication

from app.form.fields import SHARE_ENDINGS, float_text
from app.words import choice_word, number, tr_engine
from app.work.titles import model_title
from engine.events import Started
from engine.settings.finetune import FineTuneConfig
from engine.settings.pretrain import PretrainConfig
from engine.settings.setting import Setting, settings_of

translate = QCoreApplication.translate

NEW = "new:"
OF_DATA = (
    *("data", "validation_data", "test_data", "text", "text_pair", "label", "model", "vocab"),
    "learning_rate",
)
OF_TEXT = (
    *("text", "validation_text", "column", "model", "vocab", "vocab_size", "steps", "tokens", "minutes"),
    *("pins", "learning_rate", "terms"),
)


@dataclass(frozen=True, slots=True)
class Fact:
    """One row: what it is, what it says, and the whole of it where that is longer."""

    caption: str
    value: str
    whole: str = ""


def facts_of(config: FineTuneConfig | PretrainConfig, started: Started | None) -> list[Fact]:
    """Return what to show of a run, data first. Args: started: what it said of itself; None before."""
    if isinstance(config, FineTuneConfig):
        return [*_of_table(config, started), *_settings(config, OF_DATA)]
    return [*_of_text(config, started), *_settings(config, OF_TEXT)]


def _of_table(config: FineTuneConfig, started: Started | None) -> list[Fact]:
    data = config.data
    found = [_file(translate("RunFacts", "Data"), data.data)]
    if data.validation_data:
        found.append(_file(translate("RunFacts", "Validation data"), data.validation_data))
    if data.test_data:
        found.append(_file(translate("RunFacts", "Test data"), data.test_data))
    found.append(Fact(translate("RunFacts", "Text"), data.text))
    if data.text_pair:
        found.append(Fact(translate("RunFacts", "Second text"), data.text_pair))
    found.append(Fact(translate("RunFacts", "Label"), data.label))
    if started is not None:
        rows = translate("RunFacts", "{train} to learn from, {kept} to validate").format(
            train=number(started.num_train), kept=number(started.num_validation)
        )
        if started.num_test:
            tested = translate("RunFacts", "{rows}, {tested} to test")
            rows = tested.format(rows=rows, tested=number(started.num_test))
        found.append(Fact(translate("RunFacts", "Rows"), rows))
        found.append(
            Fact(translate("RunFacts", "Labels"), number(len(started.labels)), ", ".join(started.labels))
        )
    return [*found, *_of_model(config.model.model, config.model.vocab), *_of_pace(config.training, started)]


def _of_text(config: PretrainConfig, started: Started | None) -> list[Fact]:
    text, budget = config.text, config.budget
    places = [line for line in text.text.split("\n") if line.strip()]
    found = [_files(translate("RunFacts", "Text"), places)]
    if text.column:
        found.append(Fact(translate("RunFacts", "Column"), text.column))
    if text.validation_text:
        found.append(_files(translate("RunFacts", "Validation text"), text.validation_text.split("\n")))
    if started is not None:
        said = translate("RunFacts", "{train} to learn from, {kept} kept apart")
        rows = said.format(train=number(started.num_train), kept=number(started.num_validation))
        found.append(Fact(translate("RunFacts", "Documents"), rows))
    found += _of_model(config.start.model, config.start.vocab)
    if config.start.model.startswith(NEW) and not config.start.vocab:
        learned = translate("RunFacts", "{count} WordPieces, learned from the text")
        said = learned.format(count=number(config.start.vocab_size))
        found.append(Fact(translate("RunFacts", "Vocabulary"), said))
    about = settings_of(budget)
    for name in ("minutes", "steps", "tokens"):
        if value := getattr(budget, name):
            said = f"{value_words(name, about[name], value)} {tr_engine(about[name].label).lower()}"
            found.append(Fact(translate("RunFacts", "Train for"), said))
    return [*found, *_of_pace(budget, started)]


def _of_model(model: str, vocab: str) -> list[Fact]:
    if not model.startswith(NEW):
        return [Fact(translate("RunFacts", "Model"), model_title(model), model)]
    size = translate("RunFacts", "Random weights, {size}").format(size=model.removeprefix(NEW))
    found = [Fact(translate("RunFacts", "Model"), size)]
    return [*found, _file(translate("RunFacts", "Vocabulary"), vocab)] if vocab else found


def _of_pace(group: Any, started: Started | None) -> list[Fact]:
    about = settings_of(group)["learning_rate"]
    rate = group.learning_rate or (started.learning_rate if started is not None else None)
    found = [Fact(tr_engine(about.label), value_words("learning_rate", about, rate))]
    if started is not None:
        found.append(Fact(translate("RunFacts", "Device"), started.device))
    return found


def _settings(config: Any, elsewhere: Sequence[str]) -> list[Fact]:
    """Return the settings a form shows first, and of the others those that are not as usual."""
    found = []
    for field in dataclasses.fields(config):
        group = getattr(config, field.name)
        usual = type(group)()
        for name, about in settings_of(group).items():
            value = getattr(group, name)
            is_told = not about.advanced and about.kind != "hidden"
            if name not in elsewhere and (is_told or value != getattr(usual, name)):
                said = value_words(name, about, value)
                found.append(Fact(tr_engine(about.label), said, tr_engine(about.help)))
    return found


def value_words(name: str, about: Setting, value: Any) -> str:
    """Return a setting's value as its form shows it."""
    if value in (None, "") or (value == 0 and about.auto and not isinstance(value, bool)):
        return tr_engine(about.auto) if about.auto else "–"
    if isinstance(value, bool):
        return translate("RunFacts", "yes") if value else translate("RunFacts", "no")
    if about.choices:
        return choice_word(name, value, about.auto)
    if isinstance(value, float):
        return f"{100 * value:g} %" if name.endswith(SHARE_ENDINGS) else float_text(value)
    if isinstance(value, int) and not name.endswith("seed"):
        return f"{number(value)} {tr_engine(about.unit)}".strip()
    return str(value)


def _file(caption: str, path: str) -> Fact:
    return Fact(caption, Path(path).name or path, path)


def _files(caption: str, places: Sequence[str]) -> Fact:
    names = [Path(place).name or place for place in places if place.strip()]
    said = names[0] if names else "–"
    if len(names) > 1:
        more = translate("RunFacts", "{first} and {count} more")
        said = more.format(first=said, count=number(len(names) - 1))
    return Fact(caption, said, "\n".join(places))
