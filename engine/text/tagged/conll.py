"""CoNLL files: a word a line with its tag, a blank line between texts; read a block at a time.

What is no word is a blank line, a -DOCSTART- line, a comment, a word of several words (1-2) or an empty node
(1.1) of CoNLL-U; every other line is used or reported. A line that is reported does not end its text.
"""

from __future__ import annotations

import re
from pathlib import Path

from engine.errors import DataError, Sentence, marked
from engine.events import Progress, Steps
from engine.text.reading.text_file import Head, file_size, line_blocks
from engine.text.table import BadLine
from engine.text.tagged.columns import BLANK, COMMENT, Columns, fields_of
from engine.text.tagged.texts import WordTableWriter

MOST_TAGS = 5000  # a column with more kinds of values holds no tags
MOST_IN_A_TAG = 500  # characters: config.json names labels of 1,000 at most
MOST_REPORTED = 100_000
_MOST_LINE = 8000  # characters: of four bytes each they are no more than a word may have
_METADATA = re.compile(r"#\s*(text|sent_id|newdoc|newpar|translit|id|doc_id|source|global\.columns)\b")
_NOT_A_WORD = re.compile(r"\d+[-.]\d+")


class TagCodes(dict[str, int]):
    """Tags and their codes: places in `names`, in the order in which they are first met."""

    def __init__(self, path: Path, column: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self._path, self._column = path, column

    def __missing__(self, tag: str) -> int:
        if len(tag) > MOST_IN_A_TAG:
            template = marked(
                "engine",
                "Column {column} of {path} holds {count:,} characters where a tag should be, so "
                "it is probably not the column of tags. Choose another.",
            )
            raise DataError(template, column=self._column, path=self._path, count=len(tag))
        if len(self.names) >= MOST_TAGS:
            template = marked(
                "engine",
                "Column {column} of {path} holds more than {most} different tags, so it is "
                "probably not the column of tags. Choose another.",
            )
            raise DataError(template, column=self._column, path=self._path, most=MOST_TAGS)
        plain = tag.strip() or tag
        if plain != tag:
            self[tag] = self[plain]
        else:
            self.names.append(tag)
            self[tag] = len(self.names) - 1
        return self[tag]


class ReportedRows(list[BadLine]):
    """The rows that cannot be used."""

    def add(self, path: Path, line: int, template: str, **values: object) -> None:
        """Report a row. Raises: DataError if there are more than anyone would look through."""
        self.append(BadLine(line, Sentence(template, {"line": line, **values})))
        if len(self) > MOST_REPORTED:
            template = marked(
                "engine",
                "More than {most} rows of {path} cannot be used. The first: {first} Fix the file, "
                "or choose its columns.",
            )
            raise DataError(template, most=MOST_REPORTED, path=path, first=self[0].sentence)


class ConllReader:
    """Takes the lines of a file and writes their words and tags."""

    def __init__(self, path: Path, columns: Columns) -> None:
        self._path, self._columns = path, columns
        self.writer = WordTableWriter(line_step=1)
        self.codes = TagCodes(path, str(columns.tag))
        self.reported = ReportedRows()
        self.num_unread = 0  # words of several words, and empty nodes
        self._line = 0
        self._is_new = True  # the next word begins a text
        self._num_skipped = 0  # lines since the last word that hold none, within a text

    def read(self, head: Head) -> Steps[None]:
        """Read the whole file. Raises: DataError where it is not in its encoding, or its tags are none."""
        total = file_size(self._path)
        for lines, done in line_blocks(self._path, head):
            self._take(lines)
            yield Progress(stage=marked("engine", "Reading"), done=done, total=total)

    def _take(self, lines: list[str]) -> None:
        columns, codes = self._columns, self.codes
        word, tag, width, separator = columns.word - 1, columns.tag - 1, columns.width, columns.separator
        is_conllu, has_long = columns.is_conllu, len(max(lines, key=len, default="")) > MOST_IN_A_TAG
        words, found = list[str](), list[int]()
        firsts, first_lines = list[int](), list[int]()
        skipped, glued = list[tuple[int, int]](), list[int]()
        is_plain = False  # the line before holds a word of the same text
        for number, line in enumerate(lines, self._line + 1):
            fields = line.split(separator)
            is_odd = len(fields) != width or "" in fields or line[0] in "#-" or is_conllu or has_long
            if is_odd and not (fields := self._unusual(line, number)):
                is_plain = False
                continue
            if not is_plain:
                if self._is_new:
                    firsts.append(len(words))
                    first_lines.append(number)
                elif self._num_skipped:
                    skipped.append((len(words), self._num_skipped))
                self._is_new, self._num_skipped, is_plain = False, 0, True
            if is_conllu and "SpaceAfter=No" in fields[9]:
                glued.append(len(words))
            words.append(fields[word])
            found.append(codes[fields[tag]])
        self._line += len(lines)
        self.writer.extend(words, found, firsts, first_lines, skipped, glued)

    def _unusual(self, line: str, number: int) -> list[str]:
        """Return the fields of a line that is not plainly one word; none if it holds none."""
        columns = self._columns
        text = line.rstrip(BLANK)
        if not text.strip(BLANK) or text.startswith("-DOCSTART-"):
            self._is_new, self._num_skipped = True, 0
            return []
        fields = fields_of(text, columns.separator)
        if len(fields) != columns.width and columns.separator == "\t" and "\t" not in text:
            fields = fields_of(text, " ")
        is_comment = text.startswith("#") and (
            columns.is_conllu
            or (len(fields) != columns.width and COMMENT.match(text))
            or (self._is_new and _METADATA.match(text))
        )
        unread = columns.is_conllu and _NOT_A_WORD.fullmatch(fields[0]) is not None
        if not is_comment and not unread and self._is_word(text, number, fields):
            return fields
        self._num_skipped += 1
        self.num_unread += unread
        return []

    def _is_word(self, text: str, number: int, fields: list[str]) -> bool:
        """Whether fields are a word with its tag; if not, the line is reported."""
        width, path, report = self._columns.width, self._path, self.reported.add
        if len(text) > _MOST_LINE:
            template = marked(
                "engine", "Line {line} has {count} characters, which cannot be a word with its tag."
            )
            report(path, number, template, count=len(text))
        elif len(fields) != width:
            template = marked("engine", "Line {line} has {found} columns; most lines have {width}.")
            if len(fields) == 1:
                template = marked("engine", "Line {line} has 1 column; most lines have {width}.")
            report(path, number, template, found=len(fields), width=width)
        elif not fields[self._columns.word - 1].strip(BLANK):
            report(path, number, marked("engine", "Line {line} has a tag and no word."))
        elif not fields[self._columns.tag - 1].strip(BLANK):
            report(path, number, marked("engine", "Line {line} has a word and no tag."))
        elif len(tag := fields[self._columns.tag - 1]) > MOST_IN_A_TAG:
            template = marked("engine", "Line {line} has {count:,} characters where its tag should be.")
            report(path, number, template, count=len(tag))
        elif self._columns.is_conllu and not fields[0].isdecimal():
            template = marked(
                "engine", "Line {line} begins with {found!r} instead of the number of its word."
            )
            report(path, number, template, found=fields[0])
        else:
            return True
        return False
