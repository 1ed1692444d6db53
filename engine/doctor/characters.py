"""What is doubtful in the characters of texts, without a model: another script than the rest, characters that
cannot be seen or were lost, letters of another script that look like one's own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from engine.doctor.finding import Finding, FindingWords
from engine.doctor.part import TablePart
from engine.errors import Sentence, marked
from engine.events import Beat, Steps
from engine.text.labels import HIDDEN, LOOK_ALIKES
from engine.text.languages import NO_LETTERS, script_of

SELDOM = 0.05  # of the rows; a script that more of them are in belongs to the table
_MOST_NAMED = 5
_AT_ONCE = 1024
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufefc]")
_DIRECTIONS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # they belong where some is written to the left
_JOINERS = "\u200c\u200d"  # of emoji and of letters that are written together
_VARIANTS = "\ufe00-\ufe0f"  # of emoji
_HIDDEN = re.compile(
    f"(?![{_DIRECTIONS}{_JOINERS}{_VARIANTS}]){HIDDEN}"
    f"|(?<![^\x00-\x7f])[{_JOINERS}](?![^\x00-\x7f])"
    "|[\x0b\x0c\x0e-\x1f\x85]"
)
_DIRECTION = re.compile(f"[{_DIRECTIONS}]")
_LOST = "\ufffd"
_WORD = re.compile(r"[^\W\d_]+")


def on_characters(part: TablePart) -> Steps[list[Finding]]:
    """Return what is doubtful in the characters of a part's texts, step by step."""
    total = len(part.examples)
    kinds = ("hidden_characters", "lost_characters", "mixed_words")
    found = {kind: np.zeros(total, bool) for kind in kinds}
    hidden: Counter[str] = Counter()
    scripts: list[str] = []
    for start in range(0, total, _AT_ONCE):
        some = part.examples[start : start + _AT_ONCE]
        pairs = some.pairs()
        texts = some.texts() if pairs is None else list(map("\n".join, zip(some.texts(), pairs, strict=True)))
        scripts += map(script_of, texts)
        for place, text in enumerate(texts, start):
            unseen = unseen_in(text)
            hidden.update(unseen)
            found["hidden_characters"][place] = bool(unseen)
            found["lost_characters"][place] = _LOST in text
            found["mixed_words"][place] = not text.isascii() and any(map(is_mixed, _WORD.findall(text)))
        yield Beat()
    named = {"characters": [f"U+{ord(char):04X}" for char, _count in hidden.most_common(_MOST_NAMED)]}
    said = [
        one
        for kind in kinds
        for one in _one(kind, part, found[kind], **(named if kind == "hidden_characters" else {}))
    ]
    return [*_other_scripts(part, np.array(scripts, object)), *said]


def unseen_in(text: str) -> set[str]:
    """Return the characters of a text that nobody sees and that do not belong to how it is written."""
    if text.isascii() and text.isprintable():
        return set()
    unseen = set(_HIDDEN.findall(text))
    return unseen if _RIGHT_TO_LEFT.search(text) else unseen | set(_DIRECTION.findall(text))


def is_mixed(word: str) -> bool:
    """Whether letters of another script stand for Latin ones that look the same: "p\u0430ypal"."""
    return not word.isascii() and any(map(str.isascii, word)) and not LOOK_ALIKES.isdisjoint(word)


def _other_scripts(part: TablePart, scripts: np.ndarray) -> Iterator[Finding]:
    """Name the rows in a script that few rows are in."""
    counts = Counter(scripts.tolist())
    del counts[NO_LETTERS]
    if len(counts) < 2:
        return
    usual = counts.most_common(1)[0][0]
    others = [script for script, count in counts.most_common() if count <= SELDOM * counts.total()]
    places = np.flatnonzero(np.isin(scripts, others))
    if not len(places):
        return
    named = Sentence(others[0])
    for script in others[1:_MOST_NAMED]:
        named = Sentence("{before}, {one}", {"before": named, "one": Sentence(script)})
    if others[_MOST_NAMED:]:
        named = Sentence("{before}, …", {"before": named})
    yield from _one("other_script", part, np.isin(scripts, others), usual=Sentence(usual), others=named)


def _one(kind: str, part: TablePart, places: np.ndarray, **values: Any) -> Iterator[Finding]:
    rows = part.examples.rows[places]
    if len(rows):
        yield _SAID[kind].of(kind, part.name, rows, values)


_SAID = {
    "other_script": FindingWords(
        marked("engine", "{count:,} rows of {name} are in another script than the rest ({usual}): {others}."),
        marked("engine", "One row of {name} is in another script than the rest ({usual}): {others}."),
        marked("engine", "A model for one script can hardly read another."),
        marked("engine", "Review them, and exclude those that do not belong."),
    ),
    "hidden_characters": FindingWords(
        marked("engine", "{count:,} texts of {name} contain invisible characters: {characters}."),
        marked("engine", "One text of {name} contains invisible characters: {characters}."),
        marked("engine", "They split words, or make identical texts look different."),
        marked("engine", "Remove them from the file, unless the task is about them."),
    ),
    "lost_characters": FindingWords(
        marked("engine", "{count:,} texts of {name} contain �, where a character was lost."),
        marked("engine", "One text of {name} contains �, where a character was lost."),
        marked("engine", "Another program read the file in a wrong encoding before."),
        marked("engine", "Go back to the original file, and save it as UTF-8."),
    ),
    "mixed_words": FindingWords(
        marked(
            "engine", "{count:,} texts of {name} have words that mix similar-looking letters of two scripts."
        ),
        marked("engine", "One text of {name} has a word that mixes similar-looking letters of two scripts."),
        marked("engine", "A model takes such a word for a different one."),
        marked("engine", "Review them. Spam is often written this way; if not, retype the word."),
    ),
}
