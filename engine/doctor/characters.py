"""What is doubtful in the characters of texts, without a model: characters that cannot be seen or were lost,
letters of another script that look like one's own, letters and digits as wide as a Chinese character.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import numpy as np

from engine.doctor.finding import Finding, FindingWords, Rows
from engine.doctor.part import TablePart
from engine.errors import marked
from engine.events import Beat, Steps
from engine.text.full_width import FULL_WIDTH
from engine.text.labels import HIDDEN, LOOK_ALIKES
from engine.text.recipe import HALF_WIDTH, RecipeStep

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
    found = {kind: np.zeros(total, bool) for kind in _SAID}
    hidden, wide = Counter[str](), Counter[str]()
    for start in range(0, total, _AT_ONCE):
        some = part.examples[start : start + _AT_ONCE]
        pairs = some.pairs()
        texts = some.texts() if pairs is None else list(map("\n".join, zip(some.texts(), pairs, strict=True)))
        for place, text in enumerate(texts, start):
            unseen = unseen_in(text)
            hidden.update(unseen)
            found["hidden_characters"][place] = bool(unseen)
            found["lost_characters"][place] = _LOST in text
            if not text.isascii():
                wide.update(full_width := FULL_WIDTH.findall(text))
                found["full_width"][place] = bool(full_width)
                found["mixed_words"][place] = any(map(is_mixed, _WORD.findall(text)))
        yield Beat()
    named: dict[str, list[str]] = {
        "hidden_characters": [f"U+{ord(char):04X}" for char, _count in hidden.most_common(_MOST_NAMED)],
        "full_width": [char for char, _count in wide.most_common(_MOST_NAMED)],
    }
    mends = {"full_width": tuple(_half_width(part, part.examples.rows[found["full_width"]]))}
    said = []
    for kind, there in found.items():
        if there.any():
            rows, values = part.examples.rows[there], {"characters": named.get(kind)}
            said.append(_SAID[kind].of(kind, part.name, rows, values, mends=mends.get(kind, ())))
    return said


def _half_width(part: TablePart, rows: Rows) -> Iterator[RecipeStep]:
    """Yield the mends that write letters and digits of some rows half-width, one for each column."""
    for name in part.roles.read:
        cells = part.table.frame[part.table.column(name)].array.take(rows).tolist()
        own = tuple(row for row, cell in zip(rows.tolist(), cells, strict=True) if FULL_WIDTH.search(cell))
        if own:
            yield RecipeStep(HALF_WIDTH, own, column=name, reason="full_width")


def unseen_in(text: str) -> set[str]:
    """Return the characters of a text that nobody sees and that do not belong to how it is written."""
    if text.isascii() and text.isprintable():
        return set()
    unseen = set(_HIDDEN.findall(text))
    return unseen if _RIGHT_TO_LEFT.search(text) else unseen | set(_DIRECTION.findall(text))


def is_mixed(word: str) -> bool:
    """Whether letters of another script stand for Latin ones that look the same: "p\u0430ypal"."""
    return not word.isascii() and any(map(str.isascii, word)) and not LOOK_ALIKES.isdisjoint(word)


_SAID = {
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
    "full_width": FindingWords(
        marked("engine", "{count:,} texts of {name} have full-width letters or digits: {characters}."),
        marked("engine", "One text of {name} has full-width letters or digits: {characters}."),
        marked("engine", "Most models take them for other characters than the half-width ones."),
        marked("engine", "Write them half-width, here and in the texts that the model will read."),
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
