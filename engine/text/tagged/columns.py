"""Which column of tagged lines holds the words and which the tags, guessed from the first lines and told why.

CoNLL 2003 has word, part of speech, chunk, entity; CoNLL-U has ten columns; others number their words first,
or put a column of zeros behind the tags.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import DataError, Sentence, marked
from engine.text.reading.recognise import MOST_TAG_COLUMNS

BLANK = " \t\r\n\ufeff"
IOB = re.compile(r"(O|[BIESLUMW][-_]\S+|\S+-[BIES])")
_NUMBER = re.compile(r"\d+([-.]\d+)?")
_MOST_KINDS = 500  # different plain tags in the first lines; more are words
_UPOS = 4
_EVEN = 0.7  # of the first lines have as many columns as each other; fewer are prose
COMMENT = re.compile(r"#(\s|$)")


@dataclass(frozen=True, slots=True)
class Columns:
    """How tagged lines are cut. word, tag: from 1. is_conllu: ten columns, the first numbers the words."""

    separator: str  # "\t", or " " for any run of spaces and tabs
    width: int
    word: int
    tag: int
    is_conllu: bool
    reasons: tuple[Sentence, ...]


def fields_of(line: str, separator: str) -> list[str]:
    """Return the fields of a line without its end."""
    if separator == "\t":
        return line.split("\t")
    return [field for field in line.replace("\t", " ").split(" ") if field]


def is_document_line(line: str) -> bool:
    """Whether a line only says that a document begins, or is blank but for a mark."""
    return line.startswith("-DOCSTART-") or not line.strip(BLANK)


def guess_columns(lines: Sequence[str], path: Path, word: int = 0, tag: int = 0) -> Columns:
    """Return how the first lines of a file are cut, and which columns are word and tag.

    Args:   lines: without their ends, the last one whole. word, tag: from 1, where a person has chosen them.
    Raises: DataError if there is no such column, or the lines are not cut into columns at all.
    """
    separator, rows = _cut(lines, path, chosen=bool(word and tag))
    width = len(rows[0])
    for number in (word, tag):
        if number > width:
            template = marked("engine", "{path} has {width} columns, so there is no column {number}.")
            raise DataError(template, path=path, width=width, number=number)
    is_conllu = width == 10 and sum(_NUMBER.fullmatch(row[0]) is not None for row in rows) >= 0.9 * len(rows)
    if is_conllu:
        word, tag = word or 2, tag or _UPOS
        template = marked("engine", "CoNLL-U: ten columns, of which 2 is the word and 4 the part of speech")
        reasons = [Sentence(template)]
    else:
        by_tabs = marked("engine", "{width} columns, separated by tabs")
        by_spaces = marked("engine", "{width} columns, separated by spaces")
        reasons = [Sentence(by_tabs if separator == "\t" else by_spaces, {"width": width})]
    columns = list(zip(*rows, strict=True))
    if not tag:
        tag, why = _tag_column(columns, word)
        reasons.append(why)
    if not word:
        word, why = _word_column(columns, tag)
        reasons.append(why)
    if word == tag:
        template = marked(
            "engine", "Column {number} cannot be the word and its tag at once. Choose two columns."
        )
        raise DataError(template, number=word)
    return Columns(separator, width, word, tag, is_conllu, tuple(reasons))


def _cut(lines: Sequence[str], path: Path, chosen: bool) -> tuple[str, list[list[str]]]:
    """Return what separates the columns, and the rows that have as many as most. Raises: DataError."""
    texts = [line.rstrip(" \t\r") for line in lines if not is_document_line(line)]
    texts = [text for text in texts if not COMMENT.match(text)] or texts
    with_tabs = sum("\t" in text for text in texts)
    separator = "\t" if with_tabs >= 0.5 * len(texts) else " "
    rows, width, uneven = _by(separator, texts)
    if uneven and 0 < with_tabs < len(texts):  # now a tab, now spaces
        separator = " "
        rows, width, uneven = _by(separator, texts)
    if width < 2 or (uneven and not chosen):
        template = marked(
            "engine",
            "{path} has no columns of words and tags. Most lines should hold a word and its "
            "tag, with a tab or a space between them. A table with commas needs a header, "
            "such as word,tag.",
        )
        raise DataError(template, path=path)
    return separator, [row for row in rows if len(row) == width]


def _by(separator: str, texts: Sequence[str]) -> tuple[list[list[str]], int, bool]:
    """Return the fields of some lines, how many most have, and whether too few have as many."""
    rows = [fields_of(text, separator) for text in texts]
    widths = Counter(map(len, rows))
    width = max(widths, key=lambda one: widths[one], default=0)
    return rows, width, widths[width] < _EVEN * len(rows) or width > MOST_TAG_COLUMNS


def _tag_column(columns: Sequence[Sequence[str]], word: int) -> tuple[int, Sentence]:
    """Return the column of the tags, from 1: the last of those that hold IOB tags, unless hardly any word has
    one there; else the last that has few kinds of values and more than one.
    """
    shares = {}
    for number, cells in enumerate(columns, 1):
        fit = sum(IOB.fullmatch(cell) is not None for cell in cells)
        share = sum(cell != "O" for cell in cells) / len(cells)
        if number != word and fit >= 0.95 * len(cells):
            shares[number] = share
    full = [number for number, share in shares.items() if share >= 0.1 * max(shares.values())]
    if full and max(shares.values()) > 0:
        template = marked("engine", "column {number} is the tag: it holds tags such as {tags}")
        cells = columns[full[-1] - 1]
        return full[-1], Sentence(template, {"number": full[-1], "tags": _common(cells, "O")})
    others = [number for number in range(len(columns), 0, -1) if number != word]
    kinds = {number: len(set(columns[number - 1])) for number in others}
    if len(columns) == 2:
        found = min(others, key=lambda number: (kinds[number], -number))
    else:
        few = (
            number
            for number in others
            if 1 < kinds[number] <= _MOST_KINDS and not all(map(str.isdecimal, columns[number - 1]))
        )
        found = next(few, others[0])
    template = marked("engine", "column {number} is the tag: it has {count} kinds of values, such as {tags}")
    values = {"number": found, "count": kinds[found], "tags": _common(columns[found - 1])}
    return found, Sentence(template, values)


def _word_column(columns: Sequence[Sequence[str]], tag: int) -> tuple[int, Sentence]:
    """Return the column of the words, from 1: the first that is not the tag and does not number the words."""
    others = [number for number in range(1, len(columns) + 1) if number != tag]
    for number in others:
        cells = columns[number - 1]
        if len(others) == 1 or sum(_NUMBER.fullmatch(cell) is not None for cell in cells) < 0.9 * len(cells):
            template = marked("engine", "column {number} is the word: the first that does not hold numbers")
            return number, Sentence(template, {"number": number})
    return others[0], Sentence(marked("engine", "column {number} is the word"), {"number": others[0]})


def _common(cells: Sequence[str], but: str = "") -> list[str]:
    return [cell for cell, _ in Counter(cells).most_common(4) if cell != but][:3]
