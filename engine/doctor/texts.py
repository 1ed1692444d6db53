"""What is doubtful in the texts of a table: hardly any text, too much of it, pieces that a vocabulary lacks,
a header that was taken for a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from engine.doctor.finding import Finding, FindingWords, Rows
from engine.doctor.part import TablePart
from engine.errors import marked
from engine.events import Progress, Steps
from engine.text.examples import is_name_of_column
from engine.text.tokenizer import Tokenizer

EMPTY = 3  # letters and digits, below which a text says hardly anything
MUCH_UNKNOWN = 0.1  # share of a text's pieces
PIECES_A_WORD = 3.0  # from here on a vocabulary is of another language
CAPITALS = 0.9  # share of a text's letters that are capitals, of which a cased vocabulary knows few words
_LEAST_LETTERS = 12
_AT_ONCE = 1024
_CUTTING = marked("engine", "Splitting texts into pieces")


def on_texts(part: TablePart, wordpiece: Tokenizer | None, max_length: int) -> Steps[list[Finding]]:
    """Return what is doubtful in the texts of a part, step by step.

    Args: wordpiece: of the model that is to read them, or None. max_length: in its pieces.
    """
    rows, total = part.examples.rows, len(part.examples)
    empty, long, unknown, shouting = (np.zeros(total, bool) for _ in range(4))
    num_pieces = num_words = 0
    is_cased = wordpiece is not None and not wordpiece.lowercase
    for start in range(0, total, _AT_ONCE):
        some = part.examples[start : start + _AT_ONCE]
        here = slice(start, start + len(some))
        texts, pairs = some.texts(), some.pairs()
        empty[here] = [_says_little(text) for text in texts]
        if pairs is not None:
            empty[here] |= [_says_little(pair) for pair in pairs]
        if is_cased:
            shouting[here] = [_is_shouting(text) for text in texts]
        if wordpiece is not None:
            lengths, lacking = _pieces(wordpiece, texts)
            num_pieces, num_words = num_pieces + int(lengths.sum()), num_words + sum(map(_num_words, texts))
            if pairs is not None:
                more, more_lacking = _pieces(wordpiece, pairs)
                lengths, lacking = lengths + more + 1, lacking + more_lacking
            long[here] = lengths + 2 > max_length
            unknown[here] = lacking > MUCH_UNKNOWN * np.maximum(lengths, 1)
        yield Progress(stage=_CUTTING, done=start + len(some), total=total)
    found = list(_header(part))
    found += _one("nearly_empty", part, rows[empty])
    found += _one("too_long", part, rows[long], length=max_length)
    found += _one("unknown_pieces", part, rows[unknown])
    if shouting.sum() > 0.02 * total:
        found += _one("wrong_case", part, rows[shouting])
    if num_words and num_pieces / num_words >= PIECES_A_WORD:
        found += _one("wrong_language", part, rows[:0], pieces=num_pieces / num_words)
    return found


def _says_little(text: str) -> bool:
    """Whether a text has hardly a letter; one Chinese character is a word."""
    seen = 0
    for char in text:
        if char.isalnum():
            seen += 2 if ord(char) >= 0x3040 else 1
            if seen >= EMPTY:
                return False
    return True


def _is_shouting(text: str) -> bool:
    letters = [char for char in text if char.isalpha()]
    capitals = sum(map(str.isupper, letters))
    return len(letters) >= _LEAST_LETTERS and capitals >= CAPITALS * len(letters)


def _num_words(text: str) -> int:
    """Return how many words a text has; Chinese and Japanese ones are not counted by spaces."""
    return sum(1 if word[0] < "\u3040" else len(word) for word in text.split())


def _pieces(wordpiece: Tokenizer, texts: list[str]) -> tuple[Rows, Rows]:
    """Return (E,) the pieces of each text, and how many of them are unknown."""
    ids = wordpiece.encode_ids(texts)
    lengths = np.array([len(each) for each in ids], np.int64)
    return lengths, np.array([int((each == wordpiece.unk_id).sum()) for each in ids], np.int64)


def _header(part: TablePart) -> Iterator[Finding]:
    """Say that the first row names the columns, or that the header is a row."""
    table, roles = part.table, part.roles
    first = [str(table.frame[name].iloc[0]) for name in (roles.text, roles.label) if name in table.columns]
    named = table.format.kind == "csv" and len(first) == 2
    if named and not table.format.has_header and all(map(is_name_of_column, first)):
        yield from _one("header_as_row", part, np.array([0]))
    elif (
        named and table.format.has_header and roles.label in part.names and not is_name_of_column(roles.label)
    ):
        yield from _one("row_as_header", part, np.zeros(0, np.int64), label=roles.label)


def _one(kind: str, part: TablePart, rows: Rows, **values: Any) -> Iterator[Finding]:
    if len(rows) or kind in ("wrong_language", "row_as_header"):
        yield _SAID[kind].of(kind, part.name, rows, values)


_SAID = {
    "nearly_empty": FindingWords(
        marked("engine", "{count:,} rows of {name} have almost no letters."),
        marked("engine", "One row of {name} has almost no letters."),
        marked("engine", "So little text cannot decide a label."),
        marked("engine", "Review them, and exclude those without text."),
        "look",
    ),
    "too_long": FindingWords(
        marked("engine", "{count:,} texts of {name} are longer than {length} pieces and are truncated."),
        marked("engine", "One text of {name} is longer than {length} pieces and is truncated."),
        marked("engine", "The model does not read the rest."),
        marked("engine", "Raise the maximum length, or keep head and tail (the setting truncation)."),
        "note",
    ),
    "unknown_pieces": FindingWords(
        marked("engine", "In {count:,} texts of {name}, a tenth or more of the pieces are unknown, [UNK]."),
        marked("engine", "In one text of {name}, a tenth or more of the pieces are unknown, [UNK]."),
        marked("engine", "To the model, all unknown pieces are the same."),
        marked("engine", "Choose a model whose vocabulary covers their script, or fix the encoding."),
        "look",
    ),
    "wrong_case": FindingWords(
        marked("engine", "{count:,} texts of {name} are all capitals, and the vocabulary is cased."),
        marked("engine", "One text of {name} is all capitals, and the vocabulary is cased."),
        marked("engine", "Few words are known in capitals, so most are split into letters."),
        marked("engine", "Choose an uncased model, or rewrite the texts in normal case."),
        "look",
    ),
    "wrong_language": FindingWords(
        marked("engine", "A word of {name} is split into {pieces:.1f} pieces on average."),
        marked("engine", "A word of {name} is split into {pieces:.1f} pieces on average."),
        marked("engine", "The vocabulary was made for another language, so this model will do poorly."),
        marked("engine", "Choose a model for the language of the texts."),
        "wrong",
    ),
    "header_as_row": FindingWords(
        marked("engine", "The first row of {name} looks like column names."),
        marked("engine", "The first row of {name} looks like column names."),
        marked("engine", "It is used as if it were a text with a label."),
        marked("engine", "Set the first line as the header."),
        "wrong",
    ),
    "row_as_header": FindingWords(
        marked("engine", "The header of {name} looks like a row. {label} is one of the labels."),
        marked("engine", "The header of {name} looks like a row. {label} is one of the labels."),
        marked("engine", "One row is lost, and the columns are named after a text."),
        marked("engine", "Say that there is no header."),
        "wrong",
    ),
}
