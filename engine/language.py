"""The language that people are spoken to in: English, or one that has a file in translations/.

A file is Qt's .ts, which Qt Linguist edits too: its name is the language ("zh", "de", "pt_BR"). It is read as
it is, so there is nothing to build. `app/translations.py` brings all of them up to date.
"""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

FOLDER = Path(os.environ.get("CLOZE_TRANSLATIONS") or Path(__file__).parent / "translations")
ENGLISH = "en"
VARIABLE = "CLOZE_LANG"  # of the environment: the language, before all that is remembered
COMMANDS = "command"  # context of what `--help` says
TABLE, METRIC = "table", "metric"  # contexts of the heads of tables, and of what measures are called


@dataclass(frozen=True, slots=True)
class Catalog:
    """What texts are in a language. locale: as the file names it, "zh_CN". texts: by context and English."""

    language: str = ENGLISH
    locale: str = "en"
    texts: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def said(self, context: str, text: str) -> str:
        """Return a text in the language; in English where it is not translated."""
        return self.texts.get((context, text)) or text


def languages() -> tuple[str, ...]:
    """Return all languages that can be chosen, English first."""
    return (ENGLISH, *sorted(path.stem for path in FOLDER.glob("*.ts")))


def known_language(name: str) -> str:
    """Return the language that a locale or a person names, such as zh_CN.UTF-8; "" where there is none."""
    plain = name.partition(".")[0].partition("@")[0].replace("-", "_").lower()
    by_name = {one.lower(): one for one in languages()}
    return by_name.get(plain) or by_name.get(plain.partition("_")[0], "")


@cache
def catalog(language: str) -> Catalog:
    """Return the texts of one of `languages`."""
    if language == ENGLISH:
        return Catalog()
    root = ElementTree.parse(FOLDER / f"{language}.ts").getroot()
    texts = dict[tuple[str, str], str]()
    for context in root.iter("context"):
        name = context.findtext("name", "")
        for message in context.iter("message"):
            translation = message.find("translation")
            if translation is not None and translation.text and translation.get("type") is None:
                texts[name, message.findtext("source", "")] = translation.text
    return Catalog(language, root.get("language", language), texts)


class SpokenText(str):
    """A text that was put together from parts in the language that is spoken."""

    __slots__ = ()


_spoken = Catalog()


def speak(language: str) -> None:
    """Say all that follows in one of `languages`: sentences, words, and what `--help` says."""
    global _spoken
    _spoken = catalog(language)


def is_english() -> bool:
    """Whether English is spoken."""
    return _spoken.language == ENGLISH


def spoken_language() -> str:
    """Return the language that is spoken, one of `languages`."""
    return _spoken.language


def spoken_locale() -> str:
    """Return the language that is spoken as a page of HTML says it: "en", "zh-CN"."""
    return _spoken.locale.replace("_", "-")


def spoken(text: str, context: str = "engine") -> str:
    """Return a marked text in the language that is spoken."""
    return _spoken.said(context, text)


def said(template: str, /, **values: object) -> str:
    """Return a marked template in the language that is spoken, its values put in as they are."""
    try:
        return spoken(template).format(**values)
    except (KeyError, IndexError, ValueError):  # a translation that does not fit
        return template.format(**values)


def heads(*names: str) -> tuple[str, ...]:
    """Return the heads of a table, marked with the context TABLE, in the language that is spoken."""
    return tuple(spoken(name, TABLE) if name else "" for name in names)


def metric_name(name: str) -> str:
    """Return what a measure is called: in English as files and settings call it, "micro_f1"."""
    return spoken(name, METRIC)


def named_outside() -> str:
    """Return the language that the environment names; "" where it names none that is known."""
    return known_language(os.environ.get(VARIABLE, ""))
