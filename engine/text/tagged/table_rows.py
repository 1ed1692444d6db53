"""Tables whose words carry tags: a text and its spans a row, words and tags in lists, or a word a row.

The table has been read by `reading_table`, so JSON lines, JSON documents and CSV are one thing here.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from engine.errors import DataError, Sentence, marked
from engine.events import Beat, Steps
from engine.text.reading.encoding import SURROGATES
from engine.text.table import Table
from engine.text.tagged.conll import ReportedRows, TagCodes
from engine.text.tagged.repairs import RepairsWriter
from engine.text.tagged.spans import KINDS, NoSpans, spans_from, tags_from, words_in
from engine.text.tagged.texts import MOST_BYTES, TaggedFormat, WordTableWriter

WORDS = ("token", "tokens", "word", "words", "form", "char", "chars", "character")
TEXTS = ("text", "sentence", "content", "sentences", "document", "data")
TAGS = (
    *(
        "ner_tags",
        "ner_tag",
        "ner",
        "tags",
        "tag",
        "labels",
        "label",
        "entities",
        "entity",
        "spans",
        "annotations",
    ),
    *("iob", "bio", "chunk_tags", "chunk", "upos", "pos_tags", "pos_tag", "pos", "xpos"),
)
NUMBERS = ("sentence #", "sentence_id", "sentence id", "sent_id", "sentence number", "sentence_number",
           "sentence", "sent", "sentence_idx", "doc_id", "id")  # fmt: skip
_TOO_WIDE = marked("engine", "Line {line} has a word, or a gap, of more than {most} bytes.")
_HEAD, _AT_ONCE = 200, 4096  # rows that are looked at; rows between two steps
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")


def find_layout(
    head: Mapping[str, Sequence[str]], path: Path, word: str = "", tag: str = "", sentence: str = ""
) -> TaggedFormat:
    """Return how a table holds tagged words, "spans", "lists" or "tokens", told by the names of its columns
    and its first rows.

    Args:   head: the first cells of each column. word, tag, sentence: columns that a person has chosen.
    Raises: DataError if it holds none that can be found.
    """
    if word and word == tag:
        template = marked(
            "engine", "Column {name} cannot be the word and its tag at once. Choose two columns."
        )
        raise DataError(template, name=word)
    tags = [tag] if tag else _named(head, TAGS)
    words = [word] if word else _named(head, (*WORDS, *TEXTS))
    whole = [word] if word else _named(head, TEXTS)
    for one, other in ((one, other) for other in tags for one in whole if one != other):
        if any(map(_holds_spans, head[other])) or (tag and all(_value(cell) == [] for cell in head[other])):
            template = marked("engine", "column {word} is the text, column {tag} the spans in it")
            return TaggedFormat("spans", one, other, "", _why(template, one, other))
    pairs = [(one, other) for other in tags for one in words if one != other]
    for one, other in pairs:
        if _are_lists(head[one], head[other]):
            template = marked("engine", "column {word} holds the words of a text, column {tag} their tags")
            return TaggedFormat("lists", one, other, "", _why(template, one, other))
    for one, other in pairs:
        if word or _are_words(head[one]):
            if not sentence:
                sentence = next((name for name in _named(head, NUMBERS) if name not in (one, other)), "")
            template = marked("engine", "one word per row: column {word} is the word, column {tag} its tag")
            return TaggedFormat("tokens", one, other, sentence, _why(template, one, other))
    if {"data", "annotations"} <= head.keys():
        template = marked(
            "engine", "{path} is Label Studio’s full export. Export the same data as JSON-MIN, and open that."
        )
        raise DataError(template, path=path)
    raise DataError(
        marked(
            "engine",
            "{path} has no columns that are clearly words and their tags. Choose them. Its "
            "columns are: {names}.",
        ),
        path=path,
        names=list(head)[:20],
    )


def head_of(table: Table) -> dict[str, list[str]]:
    """Return the first cells of each column."""
    return {name: list(islice(_cells(table, name), _HEAD)) for name in table.columns}


def _why(template: str, word: str, tag: str) -> tuple[Sentence, ...]:
    return (Sentence(template, {"word": word, "tag": tag}),)


def _named(columns: Iterable[str], names: Sequence[str]) -> list[str]:
    """Return the columns with one of some names, in the order of those."""
    folded: dict[str, str] = {}
    for column in columns:
        folded.setdefault(column.strip().casefold(), column)
    return [folded[name] for name in names if name in folded]


def _holds_spans(cell: str) -> bool:
    value = _value(cell)
    if not value:
        return False
    try:
        spans_from(value)
    except NoSpans:
        first = value[0]
        return isinstance(first, dict) and bool({"start", "start_offset"} & first.keys())
    return True


def _are_lists(words: Sequence[str], tags: Sequence[str]) -> bool:
    """Whether most rows have as many words as tags, and some of them more than one."""
    sizes = [(len(_listed(a) or ()), len(_listed(b) or ())) for a, b in zip(words, tags, strict=True)]
    even = sum(a == b for a, b in sizes)
    lists = any(cell.lstrip().startswith("[") for cell in [*words[:20], *tags[:20]])
    return max((b for _, b in sizes), default=0) > 1 and even >= (0.5 if lists else 0.9) * len(sizes)


def _are_words(cells: Sequence[str]) -> bool:
    """Whether hardly any cell holds more than a word."""
    return sum(len(cell.split()) <= 1 for cell in cells) >= 0.9 * len(cells)


def _value(cell: str) -> list[Any] | None:
    """Return the list in a cell; None if it is none, or holds half a character."""
    found = _parsed(cell.strip()) if cell.lstrip().startswith("[") else None
    if "\\u" in cell and SURROGATES.search(json.dumps(found, ensure_ascii=False, default=str)):
        return None
    return found if isinstance(found, list) else None


def _parsed(cell: str) -> Any:
    """Return what stands in a cell: JSON, or as Python or numpy print it."""
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        pass
    try:
        found = ast.literal_eval(cell)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        found = None
    if cell.count("' '") + cell.count("'\n") and not cell.count("', "):  # numpy puts no commas
        found = [a or b for a, b in _QUOTED.findall(cell)]
    return found


def _listed(cell: str) -> list[Any] | None:
    """Return the items of a cell: of a list, or the words between spaces; None for a broken list."""
    if cell.lstrip().startswith("["):
        return _value(cell)
    return cell.split()


def _cells(table: Table, name: str) -> Iterator[str]:
    column = table.frame[name].array
    for start in range(0, len(column), _AT_ONCE):
        yield from column[start : start + _AT_ONCE].tolist()


class RowsReader:
    """Takes the rows of a table and writes their words and tags."""

    def __init__(self, table: Table, layout: TaggedFormat) -> None:
        self._table, self._layout = table, layout
        self._line_step = 1 if layout.kind == "tokens" else 0
        self.writer = WordTableWriter(self._line_step)
        self.codes = TagCodes(table.path, layout.tag)
        self.reported = ReportedRows(table.reported)
        self.repairs = RepairsWriter(KINDS)
        self.num_used = 0
        self._unread = {bad.line for bad in table.reported}
        self._words, self._found, self._lines = list[str](), list[int](), list[int]()  # of the text underway
        self._last = "", 0  # number of the text, and line, of the last row

    def read(self) -> Steps[None]:
        """Read all rows."""
        take: Any = {"spans": self._take_spans, "lists": self._take_lists, "tokens": self._take_word}[
            self._layout.kind
        ]
        columns = [self._layout.word, self._layout.tag, *filter(None, [self._layout.sentence])]
        cells = (_cells(self._table, name) for name in columns)
        for row, (line, *found) in enumerate(zip(self._table.lines.tolist(), *cells, strict=True)):
            take(line, *found)
            if row % _AT_ONCE == _AT_ONCE - 1:
                yield Beat()
        self._end_text()

    def _report(self, line: int, template: str, **values: object) -> None:
        self.reported.add(self._table.path, line, template, **values)

    def _take_spans(self, line: int, text: str, cell: str) -> None:
        value = _value(cell)
        if cell.strip() and value is None:
            return self._report(line, marked("engine", "Line {line} holds no list of spans."))
        words = words_in(text)
        if not words:
            return self._report(line, marked("engine", "Line {line} holds no text."))
        try:
            tags, slips = tags_from(text, words, spans_from(value))
        except NoSpans as error:
            return self._report(line, str(error), **error.values)
        if not self.writer.add(text, words, [self.codes[tag] for tag in tags], line):
            return self._report(line, _TOO_WIDE, most=MOST_BYTES)
        self.num_used += 1
        for slip in slips:
            self.repairs.add(line, slip.kind, slip.was, slip.became)

    def _take_lists(self, line: int, text: str, cell: str) -> None:
        words, tags = _listed(text), _listed(cell)
        if words is None or tags is None:
            return self._report(line, marked("engine", "Line {line} holds a list that cannot be read."))
        if len(words) != len(tags):
            template = marked("engine", "Words and tags of line {line} differ in number: {words}, {tags}.")
            return self._report(line, template, words=len(words), tags=len(tags))
        if not words:
            return self._report(line, marked("engine", "Line {line} holds no words."))
        if not all(isinstance(one, str) and one.strip() for one in [*words, *tags]):
            template = marked("engine", "Line {line} holds words or tags that are not text.")
            if all(type(tag) is int for tag in tags):
                template = marked("engine", "Line {line} holds numbers for tags. Write their names.")
            return self._report(line, template)
        if len(max(words, key=len)) * 4 >= MOST_BYTES:
            return self._report(line, _TOO_WIDE, most=MOST_BYTES)
        self._words += words
        self._found += [self.codes[tag.strip()] for tag in tags]
        self._lines += [line] * len(words)
        self.num_used += 1
        self._end_text()

    def _take_word(self, line: int, word: str, tag: str, sentence: str = "") -> None:
        before, last = self._last
        blank = not self._layout.sentence and any(n not in self._unread for n in range(last + 1, line))
        if blank or (sentence.strip() and sentence != before):
            self._end_text()
        self._last = (sentence if sentence.strip() else before), line
        if not word.strip() and not tag.strip():
            return self._end_text()
        if not tag.strip():
            return self._report(line, marked("engine", "Line {line} has a word and no tag."))
        if not word.strip():
            return self._report(line, marked("engine", "Line {line} has a tag and no word."))
        if len(word) * 4 >= MOST_BYTES:
            return self._report(line, _TOO_WIDE, most=MOST_BYTES)
        self._words.append(word)
        self._found.append(self.codes[tag.strip()])
        self._lines.append(line)
        self.num_used += 1

    def _end_text(self) -> None:
        if self._words:
            gaps = [after - line - 1 for line, after in pairwise(self._lines)] if self._line_step else []
            skipped = [(place, gap) for place, gap in enumerate(gaps, 1) if gap]
            self.writer.extend(self._words, self._found, [0], self._lines[:1], skipped)
        self._words, self._found, self._lines = [], [], []
