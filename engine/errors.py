"""What a person can mend, in one whole sentence.

Every sentence is a literal template marked for translation plus named values; anything that is not a
`UserError` is our own bug and must keep its traceback. Values come from strangers' files: however long they
are, `filled` quotes the beginning alone, on one line.
"""

from __future__ import annotations

import os
import re
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from engine.language import spoken

MOST_SENTENCE = 600  # characters
_MOST_TEXT, _MOST_LIST, _MOST_PATH = 80, 200, 200  # of what is put in: a text, a list of texts, a path
_SHARES = (1.0, 0.5, 0.25, 0.1)  # of these, tried until the sentence is short enough
# control characters, ends of lines, turns of the direction of writing, halves of characters
_NUMBERS = re.compile("[0-9 ,.\u2013\u2026-]*")
WORD = "word"  # context of words of ours that are put into sentences
_OUR_WORDS = ("split", "part", "stage", "reason")  # values that may be such words
_NAMELESS = re.compile(r"column (\d+)")  # what engine/text/table.py calls a column without a name
RIGHT_TO_LEFT = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"  # a letter of Arabic, Hebrew and the like
_RIGHT_TO_LEFT = re.compile(RIGHT_TO_LEFT)
_ODD = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]+")


def marked(context: str, text: str) -> str:
    """Return `text` unchanged; marks a literal for lupdate (`-tr-function-alias
    QT_TRANSLATE_NOOP+=marked`).
    """
    return text


_TRANSLATED = (  # such words; any other value is a name
    marked("word", "training"),
    marked("word", "validation"),
    marked("word", "test"),
    marked("word", "base"),
    marked("word", "domain"),
    marked("word", "task"),
    # what the system says of a file
    marked("word", "No such file or directory"),
    marked("word", "Permission denied"),
    marked("word", "Is a directory"),
    marked("word", "Not a directory"),
    marked("word", "File exists"),
    marked("word", "No space left on device"),
    marked("word", "Read-only file system"),
    marked("word", "File name too long"),
    marked("word", "Directory not empty"),
    marked("word", "Input/output error"),
)


def listed(texts: Iterable[str]) -> str:
    """Return names or numbers of one kind for a sentence: "a, b"."""
    return spoken(marked("list", ", "), "list").join(texts)


def phrases(texts: Iterable[str]) -> str:
    """Return what is said of one thing: "the last run, stopped"."""
    return spoken(marked("phrase", ", "), "phrase").join(texts)


def clauses(texts: Iterable[str]) -> str:
    """Return what is said of several things: "good 3, bad 4; fine 5, dull 6"."""
    return spoken(marked("clause", "; "), "clause").join(texts)


def sentences(texts: Iterable[str]) -> str:
    """Return whole sentences, one after the other; what is empty is none."""
    between = spoken(marked("sentence", "{before} {after}"), "sentence").format(before="", after="")
    return between.join(filter(None, texts))


def closed(phrase: str) -> str:
    """Return a phrase as a whole sentence, with its full stop."""
    stop = spoken(marked("sentence", "{phrase}."), "sentence").format(phrase="")
    return phrase.removesuffix(stop) + stop


def captioned(caption: object, text: object) -> str:
    """Return what is said behind its caption: "layer 3: 0.5"."""
    return spoken(marked("phrase", "{caption}: {text}"), "phrase").format(caption=caption, text=text)


def bracketed(text: object, more: object) -> str:
    """Return a text with what is said beside it in brackets: "92 % (46 of 50)"."""
    return spoken(marked("phrase", "{text} ({more})"), "phrase").format(text=text, more=more)


def per_cent(number: str) -> str:
    """Return a number, as it is written, as per cent: "76.3 %"; of "" what stands behind any."""
    return spoken(marked("phrase", "{number} %"), "phrase").format(number=number)


def spanned(low: object, high: object) -> str:
    """Return what lies between two ends: "73.0 to 82.3 %"."""
    return spoken(marked("phrase", "{low} to {high}"), "phrase").format(low=low, high=high)


def rows_of(part: str) -> str:
    """Return what the rows of a part are called: "validation rows"."""
    return spoken(marked("phrase", "{part} rows"), "phrase").format(part=part_word(part))


def part_word(part: str) -> str:
    """Return what a part of a run's data is called, which its files may name "train"."""
    return spoken("training" if part == "train" else part, WORD)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A marked template and the values that fill it."""

    template: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """The sentence in the language that is spoken; in English where a translation does not fit."""
        try:
            return filled(spoken(self.template), self.values)
        except (KeyError, IndexError, ValueError):
            return filled(self.template, self.values)


class VerbatimText(str):
    """A sentence that stands inside another: put in as it is."""

    __slots__ = ()


def filled(template: str, values: Mapping[str, Any]) -> str:
    """Return a template with its values put in: at most MOST_SENTENCE characters, whatever they are.

    A text is quoted up to 80 characters; of a list of texts as many as fit into 200; of a path both ends.
    A value called `column` stands behind that word: "column 3" is put in as "3".
    Raises: KeyError, ValueError and the like, as `str.format`.
    """
    if isinstance(column := values.get("column"), str):
        values = {**values, "column": bare_column(column)}
    said = {name: spoken(values[name], WORD) for name in _OUR_WORDS if values.get(name) in _TRANSLATED}
    values = {**values, **said}
    for share in _SHARES:
        text = _Filler(share).vformat(template, (), values)
        if len(text) <= MOST_SENTENCE:
            return text
    return _cut(text, MOST_SENTENCE)


def bare_column(name: str) -> str:
    """Return a column's name as it is written behind the word column: "3" of "column 3"."""
    nameless = _NAMELESS.fullmatch(name)
    return nameless[1] if nameless else name


class _Filler(string.Formatter):
    """Puts values in, each shortened to a share of its length."""

    def __init__(self, share: float) -> None:
        self._share = share

    def convert_field(self, value: Any, conversion: Any) -> Any:
        if conversion is not None and isinstance(value, str):
            return VerbatimText(super().convert_field(_cut(value, int(_MOST_TEXT * self._share)), conversion))
        return super().convert_field(value, conversion)

    def format_field(self, value: Any, format_spec: str) -> Any:
        if isinstance(value, VerbatimText | Sentence):
            return str(value)
        if isinstance(value, list | tuple) and value and isinstance(value[0], Sentence):
            return listed(map(str, value))
        return isolated(self._shortened(value, format_spec))

    def _shortened(self, value: Any, format_spec: str) -> str:
        if isinstance(value, PurePath) or (isinstance(value, str) and os.path.isabs(value)):
            return _both_ends(str(value), int(_MOST_PATH * self._share))
        if isinstance(value, list | tuple) and value and all(isinstance(one, str) for one in value):
            return self._listed(value)
        own = isinstance(value, str) and _NUMBERS.fullmatch(value)  # line numbers, all of which are wanted
        most = int((2 * _MOST_LIST if own else _MOST_TEXT) * self._share)
        return _cut(value if isinstance(value, str) else super().format_field(value, format_spec), most)

    def _listed(self, texts: Sequence[str]) -> str:
        own = all(_NUMBERS.fullmatch(text) for text in texts)
        most = int((2 * _MOST_LIST if own else _MOST_LIST) * self._share)
        each = max(most // 4, most // len(texts))
        shown = list[str]()
        for text in texts[:most]:
            shown.append((_both_ends if os.path.isabs(text) else _cut)(text, each))
            if len(listed(shown)) > most:
                return listed([*shown[:-1], "…"])
        return listed(shown if len(texts) <= most else [*shown, "…"])


def isolated(text: str) -> str:
    """Return a foreign text such that one which is read from the right turns nothing around it."""
    return f"\u2068{text}\u2069" if not text.isascii() and _RIGHT_TO_LEFT.search(text) else text


def _cut(text: str, most: int) -> str:
    """Return the beginning of a text, on one line."""
    line = _ODD.sub(" ", text[: most + 1])
    return line if len(text) <= most else line[: most - 1] + "…"


def _both_ends(path: str, most: int) -> str:
    if len(path) <= most:
        return _ODD.sub(" ", path)
    return _ODD.sub(" ", f"{path[: most // 3]}…{path[most // 3 + 1 - most :]}")


def some_of(names: Sequence[str], most: int) -> list[str]:
    """Return a few names for a sentence, and "..." where there are more."""
    return [*names[:most], *(["..."] if names[most:] else [])]


class UserError(Exception):
    """Something a person can mend: what is wrong, where, and what to do.

    Args: template: a literal wrapped in `marked("engine", ...)`; values: what its braces name.
    """

    def __init__(self, template: str, /, **values: Any) -> None:
        self.sentence = Sentence(template, values)
        super().__init__(str(self.sentence))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.sentence.template, dict(self.sentence.values), dict(self.__dict__))


def _rebuild(
    kind: type[UserError], template: str, values: dict[str, Any], state: dict[str, Any]
) -> UserError:
    error = kind.__new__(kind)
    UserError.__init__(error, template, **values)
    error.__dict__.update(state)
    return error


class ConfigError(UserError):
    """A setting is refused; `field` names it, so that a form can show the sentence beside its widget."""

    def __init__(self, template: str, /, *, field: str, **values: Any) -> None:
        self.field = field
        super().__init__(template, field=field, **values)


def not_among(field: str, value: object, choices: Sequence[str], *, or_number: bool = False) -> ConfigError:
    """Return the refusal of a value that is none of the `choices`."""
    template = marked("engine", "{field} is {value!r}; it can be one of: {choices}.")
    if or_number:
        template = marked("engine", "{field} is {value!r}; it can be one of: {choices} or a number.")
    return ConfigError(template, field=field, value=value, choices=list(choices))


class DataError(UserError):
    """A table, a text or a vocabulary cannot be used as it is."""


class ModelError(UserError):
    """A model folder cannot be read, or is not what it says it is."""


class RunError(UserError):
    """A run folder cannot be written, resumed or read."""


def renamed(error: UserError, folder: PurePath, call: Callable[[str], str]) -> UserError:
    """Return a refusal of files in a folder that nobody knows, its files called as a person knows them.

    Args: call: what to call a file, by its path in the folder; "" for the folder itself.
    """
    values: dict[str, Any] = {}
    for key, value in error.sentence.values.items():
        text = str(value)
        if isinstance(value, PurePath | str) and text.startswith(str(folder)):
            value = VerbatimText(call(text.removeprefix(str(folder)).replace("\\", "/").lstrip("/")))
        values[key] = value
    return type(error)(error.sentence.template, **values) if type(error) in (UserError, ModelError) else error
