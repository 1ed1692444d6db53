"""Texts whose words have no tags yet: lines of text, or a column of a table, cut into words.

Words are cut as those of the data that a model has learned from: as CoNLL files cut them, where "U.S." and
"O'Neil" are one word; or as spans are read, each mark by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.errors import DataError, Sentence, marked
from engine.events import Beat, Steps
from engine.text.reading.text_file import line_blocks, read_head
from engine.text.table import BadLine, Table
from engine.text.tagged.spans import words_in
from engine.text.tagged.texts import WordTable, WordTableWriter

_CJK = "\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U000323af"
_CHUNK = re.compile(f"[{_CJK}]|[^\\s{_CJK}]+")
_OPENING, _CLOSING = "\"'([{<«„“‘`*_", "\"')]}>»”’`*_,;:!?.…"
_ABBREVIATED = re.compile(r"(\w\.)+\w?\.|\w\.|\.{2,}")  # "U.S.", "J.", "..."


@dataclass(frozen=True, slots=True, eq=False)
class UntaggedTable:
    """S texts of a file. reported: lines that hold no word, or cannot be used."""

    path: Path
    store: WordTable
    notes: tuple[Sentence, ...]
    reported: tuple[BadLine, ...]


def words_of(text: str, *, each_mark: bool) -> list[tuple[int, int]]:
    """Return where the words of a text stand. Args: each_mark: whether every mark is a word of its own."""
    if each_mark:
        return words_in(text)
    return [span for chunk in _CHUNK.finditer(text) for span in _without_marks(text, *chunk.span())]


def _without_marks(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield a run of characters without spaces as words: marks around it are words of their own."""
    begin, end = start, stop
    while begin < end - 1 and text[begin] in _OPENING:
        begin += 1
    while end - 1 > begin and text[end - 1] in _CLOSING and not _ABBREVIATED.fullmatch(text, begin, end):
        end -= 1
    yield from ((place, place + 1) for place in range(start, begin))
    yield begin, end
    yield from ((place, place + 1) for place in range(end, stop))


def reading_lines(path: Path, encoding: str = "", *, each_mark: bool) -> Steps[UntaggedTable]:
    """Read a plain text, of which each line that is not blank is a text. Raises: DataError."""
    writer, above = _Writer(each_mark), 0
    for lines, _ in line_blocks(path, read_head(path, encoding)):
        for number, line in enumerate(lines, above + 1):
            if line.strip(" \t\ufeff"):
                writer.add(line, number)
        above += len(lines)
        yield Beat()
    return writer.finish(path, ())


def reading_column(table: Table, column: str, *, each_mark: bool) -> Steps[UntaggedTable]:
    """Take the texts of a column of a table. Raises: DataError if there is none."""
    writer = _Writer(each_mark)
    column = table.column(column)
    cells: Iterable[str] = table.frame[column]
    for row, cell in enumerate(cells):
        writer.add(str(cell), int(table.lines[row]))
        if row % 1024 == 0:
            yield Beat()
    writer.reported += table.reported
    return writer.finish(table.path, table.notes)


def one_text(text: str, *, each_mark: bool) -> WordTable | None:
    """Return one text; None if it holds no word."""
    writer = _Writer(each_mark)
    writer.add(text, 1)
    return writer.store() if writer.num_texts else None


class _Writer:
    def __init__(self, each_mark: bool) -> None:
        self._writer, self._each_mark = WordTableWriter(line_step=0), each_mark
        self.reported: list[BadLine] = []
        self.num_texts = 0

    def add(self, text: str, line: int) -> None:
        text = text.encode("utf-8", "replace").decode("utf-8")
        spans = words_of(text, each_mark=self._each_mark)
        if not spans:
            template = marked("engine", "Line {line} holds no word.")
        elif self._writer.add(text, spans, [0] * len(spans), line):
            self.num_texts += 1
            return
        else:
            template = marked("engine", "Line {line} has a word that is too long to be one.")
        self.reported.append(BadLine(line, Sentence(template, {"line": line})))

    def store(self) -> WordTable:
        return self._writer.finish()[0]

    def finish(self, path: Path, notes: tuple[Sentence, ...]) -> UntaggedTable:
        if not self.num_texts:
            raise DataError(marked("engine", "{path} holds no text. Choose another file."), path=path)
        return UntaggedTable(
            path, self.store(), notes, tuple(sorted(self.reported, key=lambda bad: bad.line))
        )
