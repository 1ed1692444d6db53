"""Any file of tagged words becomes `TaggedTable`; and a glance that tells whether a file is one.

Three kinds of files: CoNLL with a word a line; JSON with spans or lists; tables. Its first lines decide.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from engine.errors import DataError, Sentence, UserError, marked
from engine.events import Beat, Steps
from engine.text.reading.dialect import quoted_records
from engine.text.reading.encoding import Decoded, cut_note, guess_note
from engine.text.reading.json_lines import is_json_lines
from engine.text.reading.recognise import is_tagged
from engine.text.reading.sheets.known import sheet_kind
from engine.text.reading.text_file import Head, hash_steps, read_head
from engine.text.table import BadLine, Table, reading_table, reported_note
from engine.text.tagged.columns import COMMENT, IOB, fields_of, guess_columns, is_document_line
from engine.text.tagged.conll import ConllReader
from engine.text.tagged.repairs import RepairRows
from engine.text.tagged.scheme import check_scheme, converting, finding_scheme
from engine.text.tagged.table_rows import NUMBERS, TAGS, TEXTS, WORDS, RowsReader, find_layout, head_of
from engine.text.tagged.texts import TaggedFormat, TaggedTable, WordTableWriter

_GLANCE = 1 << 16  # characters that decide what a file is
_COLUMNS_FROM = 1 << 18  # characters that decide on columns
_SEPARATORS = (",", "\t", ";", "|")
_ROWS, _LINES = 100, 1000  # at which a glance looks
_ONE_TEXT = 1000  # words, more than a text has
_JSON_LIST = re.compile(r"\[\s*(\{|\[\s*\"|$)")
_NO_SCHEME = Sentence(marked("engine", "The spans become IOB2."))


WORD_NAMES = {"word", "words", "token", "tokens", "form"}  # of columns, where a table is guessed to hold tags
TAG_NAMES = {
    *("tag", "tags", "ner", "ner_tag", "ner_tags", "pos", "pos_tag", "pos_tags", "upos", "xpos", "chunk")
}


@dataclass(frozen=True, slots=True)
class TaggedGuess:
    """What a file of tagged words looks like, before it is read. word, tag: numbers from 1, or names."""

    kind: str  # as in TaggedFormat
    word: str
    tag: str
    sentence: Sentence  # "It looks like a CoNLL file: the word in column 1, ..."


def looks_tagged(path: str | Path) -> TaggedGuess | None:
    """Return what a file of tagged words looks like by its first 64,000 characters; None if it is none.

    A false alarm costs more than a miss. Nothing is raised: what cannot be opened is no such file.
    """
    path = Path(path)
    try:
        lines = _lines_of(read_head(path), _GLANCE)
        return _json_guess(lines, path) or _table_guess(lines, path) or _conll_guess(lines, path)
    except UserError:
        return None


def first_fields(path: str | Path, encoding: str = "", most: int = 50) -> tuple[tuple[str, ...], ...]:
    """Return the fields of the first lines of a CoNLL file, for a person to choose columns from; a line
    between texts has none.

    Raises: DataError if the file cannot be read, or its lines are not cut into columns.
    """
    path = Path(path)
    lines = _lines_of(read_head(path, encoding), _COLUMNS_FROM)
    columns = guess_columns(lines, path)
    first = [() if is_document_line(line) else fields_of(line, columns.separator) for line in lines[:most]]
    return tuple(map(tuple, first))


def reading_tagged(
    path: str | Path,
    *,
    word: str | int = "",
    tag: str | int = "",
    sentence: str | int = "",
    scheme: str = "",
    encoding: str = "",
    sheet: str = "",
) -> Steps[TaggedTable]:
    """Read a file of tagged words whole, step by step.

    Args:   word, tag, sentence: numbers of columns from 1, in tables also names; "" to guess. sentence: the
            column of a table that numbers the texts. scheme: one of SCHEMES, "" to find it. sheet: as
            `reading_table` takes it.
    Raises: DataError if the file cannot be read, holds no words with tags, or no row can be used.
    """
    path, word, tag, sentence = Path(path), str(word).strip(), str(tag).strip(), str(sentence).strip()
    check_scheme(scheme)
    if sheet_kind(path):
        table = yield from reading_table(path, sheet=sheet)
        return (yield from _from_table(table, word, tag, sentence, scheme))
    head = read_head(path, encoding)
    lines = _lines_of(head, _COLUMNS_FROM)
    if not any(line.strip() for line in lines):
        raise DataError(marked("engine", "{path} is empty. Choose a file of words with tags."), path=path)
    if _is_json(lines, path):
        table = yield from reading_table(path, encoding=encoding)
        return (yield from _from_table(table, word, tag, sentence, scheme))
    if separator := _table_separator(lines, [name for name in (word, tag) if name and not name.isdecimal()]):
        table = yield from reading_table(path, encoding=encoding, separator=separator, header="yes")
        return (yield from _from_table(table, word, tag, sentence, scheme))
    return (yield from _from_conll(path, head, lines, (word, tag), scheme))


def _lines_of(head: Head, most: int) -> list[str]:
    """Return the first lines of a head, all of them whole."""
    text = head.text[:most].replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    return lines if head.whole and len(head.text) <= most else lines[:-1] or lines


def _is_json(lines: Sequence[str], path: Path) -> bool:
    first = next(line.lstrip() for line in lines if line.strip())
    if first.startswith("{"):
        return is_json_lines(lines, path) or first.rstrip() == "{" or '"' in first[:20]
    return _JSON_LIST.match(first) is not None


def _table_separator(lines: Sequence[str], names: Sequence[str] = ()) -> str:
    """Return what separates the names of a header that names words and tags; "" if line 1 is no header.

    Args: names: of the columns a person has chosen.
    """
    first = next((line for line in lines if line.strip()), "")
    for separator in _SEPARATORS:
        cells = {cell.strip(' "\ufeff').casefold() for cell in first.split(separator)}
        if names and all(name.casefold() in cells for name in names):
            return separator
        if len(cells) > 1 and cells & {*WORDS, *TEXTS} and cells & set(TAGS):
            others = {*WORDS, *TEXTS, *TAGS, *NUMBERS, "lemma", ""}
            if separator == "," or cells <= others or len(cells & set(TAGS)) > 1:
                return separator
    return ""


def _from_table(table: Table, word: str, tag: str, sentence: str, scheme: str) -> Steps[TaggedTable]:
    word, tag, sentence = (table.column(name) if name else "" for name in (word, tag, sentence))
    layout = find_layout(head_of(table), table.path, word, tag, sentence)
    reader = RowsReader(table, layout)
    yield from reader.read()
    how = replace(layout, encoding=table.format.encoding, separator=table.format.separator)
    found = _Read(table.path, how, reader.codes.names, reader.num_used, table.sha256)
    found.reported, found.notes = sorted(reader.reported, key=lambda bad: bad.line), list(table.notes)
    if layout.kind == "spans":
        return (yield from found.finish(reader.writer, "IOB2", _NO_SCHEME, reader.repairs.finish()))
    return (yield from found.finish(reader.writer, scheme))


def _from_conll(
    path: Path, head: Head, lines: Sequence[str], chosen: tuple[str, str], scheme: str
) -> Steps[TaggedTable]:
    for name in chosen:
        if name and (not name.isdecimal() or int(name[:9]) == 0):
            template = marked(
                "engine", "{path} has no column names. Give the number of the column, not {name!r}."
            )
            raise DataError(template, path=path, name=name)
    word, tag = (int(name[:9] or 0) for name in chosen)
    columns = guess_columns(lines, path, word, tag)
    reader = ConllReader(path, columns)
    yield from reader.read(head)
    for _, sha256 in hash_steps(path):  # noqa: B007 # the last one is the hash
        yield Beat()
    kind = "conllu" if columns.is_conllu else "conll"
    names = str(columns.word), str(columns.tag), ""
    how = TaggedFormat(kind, *names, columns.reasons, head.encoding, columns.separator)
    found = _Read(path, how, reader.codes.names, reader.writer.num_words, sha256)
    found.reported = list(reader.reported)
    if head.guessed:
        found.notes.append(guess_note(Decoded(b"", head.encoding)))
    if head.num_cut:
        found.notes.append(cut_note(head.num_cut))
    if reader.num_unread:
        template = marked(
            "engine",
            "{count} lines hold multiword tokens or empty nodes of CoNLL-U. They are "
            "skipped, and their parts are read.",
        )
        found.notes.append(Sentence(template, {"count": reader.num_unread}))
    return (yield from found.finish(reader.writer, scheme))


class _Read:
    """What has been read of a file, before its tags are understood."""

    def __init__(
        self, path: Path, how: TaggedFormat, names: Sequence[str], num_used: int, sha256: str
    ) -> None:
        self._path, self._how, self._names = path, how, names
        self._num_used, self._sha256 = num_used, sha256
        self.reported: list[BadLine] = []
        self.notes: list[Sentence] = []

    def finish(
        self,
        writer: WordTableWriter,
        wanted: str,
        reason: Sentence | None = None,
        repairs: RepairRows | None = None,
    ) -> Steps[TaggedTable]:
        """Return the texts, their tags in IOB2. Raises: DataError if there are none."""
        if not self._num_used:
            raise self._nothing()
        store, codes = writer.finish()
        scheme = yield from finding_scheme(self._names, codes, store.firsts, wanted)
        tags, codes, repaired = yield from converting(scheme, self._names, codes, store)
        codes.flags.writeable = False
        repairs = repaired if repairs is None else repairs
        if self.reported:
            self.notes.append(reported_note(self._path.name, self.reported))
        for kind, count in repairs.kinds():
            template = marked("engine", "Read differently from how it is written: {count} × {kind}.")
            self.notes.append(Sentence(template, {"count": count, "kind": kind}))
        if len(store) == 1 and len(codes) > _ONE_TEXT:
            template = marked(
                "engine", "No blank line separates texts, so the file is one text of {count:,} words."
            )
            self.notes.append(Sentence(template, {"count": len(codes)}))
        return TaggedTable(
            path=self._path,
            format=replace(
                self._how, scheme=scheme.name, reasons=(*self._how.reasons, reason or scheme.reason)
            ),
            tags=tags,
            codes=codes,
            num_rows_used=self._num_used,
            reported=tuple(self.reported),
            repairs=repairs,
            notes=tuple(self.notes),
            sha256=self._sha256,
            store=store,
        )

    def _nothing(self) -> DataError:
        if not self.reported:
            template = marked("engine", "{path} holds no word with a tag. Choose another file.")
            return DataError(template, path=self._path)
        template = marked("engine", "No row of {path} can be used. {first}")
        return DataError(template, path=self._path, first=self.reported[0].sentence)


def _json_guess(lines: Sequence[str], path: Path) -> TaggedGuess | None:
    filled = [line for line in lines if line.strip()]
    if not filled or not _is_json(filled, path):
        return None
    objects = list(islice(_objects("\n".join(filled)), _ROWS))
    names = dict.fromkeys(name for one in objects for name in one)
    head = {name: [_cell(one.get(name)) for one in objects] for name in names}
    return _layout_guess(head, path, marked("engine", "It looks like JSON with tagged words: {why}."))


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the objects with which a text begins, in lines or in a list, as far as they are whole."""
    decoder, place = json.JSONDecoder(), 0
    with suppress(ValueError, RecursionError):
        while True:
            while text[place : place + 1] in ("[", ",", " ", "\t", "\n"):
                place += 1
            value, place = decoder.raw_decode(text, place)
            if isinstance(value, dict):
                yield value


def _cell(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


def _table_guess(lines: Sequence[str], path: Path) -> TaggedGuess | None:
    separator = _table_separator(lines)
    if not separator:
        return None
    rows = quoted_records([line + "\n" for line in lines[: 5 * _ROWS]], separator).rows
    if not rows:  # quotes that never end
        return None
    columns = [name.strip(" \ufeff") for name in rows[0]]
    even = [row for row in rows[1 : _ROWS + 1] if len(row) == len(columns)]
    head = {name: [row[place] for row in even] for place, name in enumerate(columns)}
    return _layout_guess(head, path, marked("engine", "It looks like a table of tagged words: {why}."))


def _is_plain(word: str, tag: str, cells: Sequence[str]) -> bool:
    """Whether columns plainly hold words and tags: a text and its label are two such columns, too."""
    tags = [one for cell in cells for one in re.split(r"[\s,'\"\[\]]+", cell) if one]
    few = len(set(tags)) <= max(3, len(tags) // 3)
    if word.strip().lower() in WORD_NAMES and tag.strip().lower() in TAG_NAMES:
        return few or all(map(IOB.fullmatch, tags))
    return set(tags) > {"O"} and all(map(IOB.fullmatch, tags))


def _layout_guess(head: Mapping[str, Sequence[str]], path: Path, template: str) -> TaggedGuess | None:
    if not any(head.values()):
        return None
    layout = find_layout(head, path)  # raises where it is none
    if layout.kind != "spans" and not _is_plain(layout.word, layout.tag, head[layout.tag]):
        return None
    return TaggedGuess(layout.kind, layout.word, layout.tag, Sentence(template, {"why": layout.reasons[0]}))


def _conll_guess(lines: Sequence[str], path: Path) -> TaggedGuess | None:
    """Say what CoNLL looks like: only where structure or tags are plain."""
    texts = ["" if is_document_line(line) else line for line in lines[:_LINES]]
    if not is_tagged(texts) and not is_tagged([line for line in texts if not COMMENT.match(line)]):
        return None
    columns = guess_columns(texts, path)
    template = marked(
        "engine", "It looks like a CoNLL file: the word in column {word}, its tag in column {tag}."
    )
    kind = "conll"
    if columns.is_conllu:
        kind = "conllu"
        template = marked(
            "engine", "It looks like a CoNLL-U file: the word in column {word}, its tag in column {tag}."
        )
    word, tag = str(columns.word), str(columns.tag)
    return TaggedGuess(kind, word, tag, Sentence(template, {"word": word, "tag": tag}))
