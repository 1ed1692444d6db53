"""What a run was made of, in rows to read; a page knows those of its data, and all have these in common."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication

from app.form.fields import SHARE_ENDINGS, float_text
from app.words import choice_word, number, per_cent, tr_engine
from app.work.titles import model_title
from engine.events import Started
from engine.settings.setting import Setting, settings_of

translate = QCoreApplication.translate

NEW = "new:"


@dataclass(frozen=True, slots=True)
class Fact:
    """One row: what it is, what it says, and the whole of it where that is longer."""

    caption: str
    value: str
    whole: str = ""


def model_facts(model: str, vocab: str, *, informed: bool = False) -> list[Fact]:
    """Return what a run starts from. Args: informed: whether a new model begins with what counting tells."""
    if not model.startswith(NEW):
        return [Fact(translate("RunFacts", "Model"), model_title(model), model)]
    said = translate("RunFacts", "Random weights, {size}")
    if informed:
        said = translate("RunFacts", "New, informed by counts over the text, {size}")
    found = [Fact(translate("RunFacts", "Model"), said.format(size=model.removeprefix(NEW)))]
    return [*found, file_fact(translate("RunFacts", "Vocabulary"), vocab)] if vocab else found


def pace_facts(group: Any, started: Started | None) -> list[Fact]:
    """Return the learning rate, and the device once it is known. Args: group: of settings, with the rate."""
    about = settings_of(group)["learning_rate"]
    rate = group.learning_rate or (started.learning_rate if started is not None else None)
    found = [Fact(tr_engine(about.label), value_words("learning_rate", about, rate))]
    if started is not None:
        found.append(Fact(translate("RunFacts", "Device"), started.device))
    return found


def setting_facts(config: Any, elsewhere: Sequence[str]) -> list[Fact]:
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
        return per_cent(f"{100 * value:g}") if name.endswith(SHARE_ENDINGS) else float_text(value)
    if isinstance(value, int) and not name.endswith("seed"):
        return f"{number(value)} {tr_engine(about.unit)}".strip()
    return str(value)


def file_fact(caption: str, path: str) -> Fact:
    """Return a file by its name."""
    return Fact(caption, Path(path).name or path, path)


def files_fact(caption: str, places: Sequence[str]) -> Fact:
    """Return files by the first one's name and how many more there are."""
    names = [Path(place).name or place for place in places if place.strip()]
    said = names[0] if names else "–"
    if len(names) > 1:
        more = translate("RunFacts", "{first} and {count} more")
        said = more.format(first=said, count=number(len(names) - 1))
    return Fact(caption, said, "\n".join(places))
