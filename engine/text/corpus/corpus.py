"""Text for pretraining: files, folders or a table's column, streamed as documents of paragraphs of sentences.

Never more than a block of a file (and the document it is in) is in memory, except for a table, which is read
whole. The same files and settings give the same documents in the same order, on every machine.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import DataError, Sentence, UserError, marked, not_among
from engine.events import Event, Progress
from engine.text.corpus.layout import (
    LAYOUTS,
    MAX_DOCUMENT,
    Builder,
    CorpusLayout,
    Document,
    find_form,
    paragraphs_in,
)
from engine.text.corpus.sentences import RULES
from engine.text.reading.encoding import Decoded, cut_note, guess_note
from engine.text.reading.file_check import check_readable
from engine.text.reading.kinds import TABLE_SUFFIXES
from engine.text.reading.recognise import check_text, json_kind, json_refusal, questions_refusal
from engine.text.reading.text_file import Head, file_size, hash_steps, line_blocks, read_head
from engine.text.repeats import Hashes, Repeats, line_hashes
from engine.text.table import Table, reading_table, reported_note

__all__ = ["LAYOUTS", "Corpus", "CorpusReport", "CorpusState", "Document", "find_files", "look"]

_TEXTS = (".txt", ".text", ".md")
_PACKED = (".gz", ".xz")
_CELLS_AT_ONCE = 4096
_TELL_S = 0.2


def find_files(places: Sequence[str | Path], *, column: str = "") -> list[Path]:
    """Return the text files at some places: files as they are, folders with all that is in them, in order.

    Args:   column: if named, tables (`TABLE_SUFFIXES`) are looked for instead of .txt .text .md (.gz .xz).
    Raises: UserError if a place is not there, or no file is found.
    """
    found: dict[Path, None] = {}
    packed = (text + packing for text in _TEXTS for packing in _PACKED)
    endings = TABLE_SUFFIXES if column else (*_TEXTS, *packed)
    for place in map(Path, places):
        if os.path.isdir(place):
            inside = (
                path for path in place.rglob("*") if path.name.lower().endswith(endings) and path.is_file()
            )
            visible = (p for p in inside if not any(n.startswith(".") for n in p.relative_to(place).parts))
            found.update(dict.fromkeys(sorted(visible)))
        elif not os.path.exists(place):
            raise UserError(
                marked("engine", "There is no file or folder {path}. Check its name."), path=place
            )
        elif place.name.lower().endswith(TABLE_SUFFIXES) and not column:
            raise UserError(
                marked("engine", "{path} is a table. Name the column that holds the text."), path=place
            )
        else:
            check_readable(place)
            found[place] = None
    if not found:
        raise UserError(
            marked("engine", "There is no text in {places}. Choose files that end in {endings}."),
            places=list(map(str, places)) or "the places named",
            endings=list(endings),
        )
    return list(found)


@dataclass(slots=True)
class CorpusState:
    """How far `Corpus.blocks` has come, and what it has found so far; given to it, filled by it."""

    bytes_done: int = 0  # of the files as they are on the disk
    num_lines: int = 0  # that are not blank
    num_empty: int = 0  # files
    num_cut: int = 0  # documents that were too long and go on as another
    layouts: Counter[str] = field(default_factory=Counter)  # how many files of each
    encodings: Counter[str] = field(default_factory=Counter)
    notes: dict[str, Sentence] = field(default_factory=dict)
    hashes: list[Hashes] | None = None  # a list, to collect those of all lines


@dataclass(frozen=True)
class Corpus:
    """Files, and how to read them.

    Args:   layout: "" is told for each file from its beginning. "paragraphs": a paragraph a line, a blank
            line between documents. "sentences": a sentence a line, a blank line between documents. "lines": a
            document a line, or in each cell of a table. column: of tables; "" for text. encoding: "" detects
            it. drop_repeated: leave out lines that repeat an earlier one nearly exactly.
    Raises: ConfigError, UserError.
    """

    files: tuple[Path, ...]
    layout: str = ""
    column: str = ""
    encoding: str = ""
    drop_repeated: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "files", tuple(map(Path, self.files)))
        if self.layout not in LAYOUTS:
            raise not_among("layout", self.layout, LAYOUTS[1:])
        if not self.files:
            raise UserError(marked("engine", "No text is chosen. Choose files or a folder."))

    @property
    def num_bytes(self) -> int:
        """Bytes of the files on the disk. Raises: DataError if one is gone."""
        return sum(file_size(path) for path in self.files)

    def documents(self) -> Iterator[Document]:
        """Yield the documents, in order: paragraphs of sentences, of which none is empty.

        Raises: DataError if a file cannot be read, is not in its encoding, or there is no text at all.
        """
        for documents in self.blocks():
            yield from documents

    def blocks(self, reading: CorpusState | None = None) -> Iterator[list[Document]]:
        """Yield the documents that end in each block of the files: about 0.1 s of work, and maybe none.

        Raises: DataError, as `documents`.
        """
        reading, builder = reading or CorpusState(), Builder()
        for form, paragraphs in self.paragraphs(reading):
            documents = builder.add(paragraphs, form.layout)
            reading.num_cut = builder.num_cut
            yield documents

    def paragraphs(self, reading: CorpusState | None = None) -> Iterator[tuple[CorpusLayout, list[str]]]:
        """Yield blocks of lines, stripped and, where wrapped, joined, and how to read them.

        "" ends a document; in the layout "sentences" a line is a sentence. Raises: DataError, as `documents`.
        """
        reading, repeats = reading or CorpusState(), Repeats() if self.drop_repeated else None
        source, done = self._of_table if self.column else self._of_text, 0
        for path in self.files:
            for form, paragraphs, place in source(path, reading):
                reading.bytes_done = done + place
                reading.num_lines += sum(map(bool, paragraphs))
                if repeats or reading.hashes is not None:
                    hashes = line_hashes(paragraphs)
                    if reading.hashes is not None:
                        reading.hashes.append(hashes[hashes != 0])
                    if repeats:
                        fresh = repeats.first_seen(hashes).tolist()
                        paragraphs = [text for text, new in zip(paragraphs, fresh, strict=True) if new]
                yield form, paragraphs
            done += file_size(path)
        if not reading.num_lines:
            raise self._nothing(reading)

    def _of_text(self, path: Path, reading: CorpusState) -> Iterator[tuple[CorpusLayout, list[str], int]]:
        head = read_head(path, self.encoding)
        if not head.text:
            reading.num_empty += 1
            return
        if not self.layout:  # who names one knows that it is prose
            _check_prose(head, path)
        form = find_form(head.text, whole=head.whole, alone=len(self.files) == 1, asked=self.layout)
        reading.layouts[form.layout] += 1
        reading.encodings[head.encoding] += 1
        _note_form(form, reading)
        if head.guessed:
            reading.notes["guessed"] = guess_note(Decoded(b"", head.encoding))
        if head.num_cut:
            reading.notes[f"cut {path}"] = cut_note(head.num_cut)
        begun: list[str] = []
        for lines, place in line_blocks(path, head):
            yield form, paragraphs_in(lines, form, begun), place
        yield form, [*paragraphs_in([""], form, begun), ""], file_size(path)

    def _of_table(self, path: Path, reading: CorpusState) -> Iterator[tuple[CorpusLayout, list[str], int]]:
        form, opened = CorpusLayout(self.layout or "lines"), list[Table]()
        for _ in _reading(path, self.encoding, opened):
            yield form, [], 0
        (table,) = opened
        cells = table.frame[table.column(self.column)]
        reading.layouts[form.layout] += 1
        reading.encodings[table.format.encoding] += 1
        reading.notes.update({str(note): note for note in table.notes})
        if table.reported:
            reading.notes[f"reported {path}"] = reported_note(path.name, table.reported)
        size = file_size(path)
        for start in range(0, len(cells), _CELLS_AT_ONCE):
            some = [cell.strip() for cell in cells.iloc[start : start + _CELLS_AT_ONCE]]
            yield form, some, size * start // len(cells)
        yield form, [""], size

    def _nothing(self, reading: CorpusState) -> DataError:
        if len(self.files) > 1:
            template = marked("engine", "None of the {count} files holds text. Choose others.")
            return DataError(template, count=len(self.files))
        if reading.num_empty:
            return DataError(
                marked("engine", "{path} is empty. Choose a file with text."), path=self.files[0]
            )
        template = marked("engine", "{path} holds only blanks. Choose a file with text.")
        return DataError(template, path=self.files[0])

    def hashed(self) -> Generator[Event, None, None]:
        """Read the files' hashes, in steps; `fingerprint` is then immediate."""
        total, done = self.num_bytes, 0
        for path in self.files:
            for num_bytes, _ in hash_steps(path):
                yield Progress(stage=marked("engine", "Reading"), done=done + num_bytes, total=total)
            done += file_size(path)

    def sha256(self, file: Path) -> str:
        """Return the hash of a file's bytes, kept until its size or time changes. Raises: DataError."""
        return [sha256 for _, sha256 in hash_steps(file)][-1]

    def fingerprint(self) -> dict[str, Any]:
        """Return what the documents depend on, as JSON can hold it; where the files are does not matter."""
        files = [
            {"name": path.name, "size": file_size(path), "sha256": self.sha256(path)} for path in self.files
        ]
        return {
            "files": files,
            "layout": self.layout,
            "column": self.column,
            "encoding": self.encoding,
            "drop_repeated": self.drop_repeated,
            "rules": RULES,
        }


def reading_notes(reading: CorpusState) -> list[Sentence]:
    """Return what a person should know of how files were read, such as guesses and rows left out."""
    notes = list(reading.notes.values())
    if len(reading.layouts) > 1:
        found = [f"{name} ({count})" for name, count in reading.layouts.most_common()]
        template = marked(
            "engine", "The files have different layouts: {found}. If that is wrong, choose one."
        )
        notes.append(Sentence(template, {"found": found}))
    if reading.num_empty:
        template = marked("engine", "{count} files are empty and skipped.")
        if reading.num_empty == 1:
            template = marked("engine", "One file is empty and skipped.")
        notes.append(Sentence(template, {"count": reading.num_empty}))
    if reading.num_cut:
        template = marked(
            "engine", "{count} documents are longer than {most} characters. Each continues as another."
        )
        if reading.num_cut == 1:
            template = marked(
                "engine", "One document is longer than {most} characters. It continues as another."
            )
        notes.append(Sentence(template, {"count": reading.num_cut, "most": f"{MAX_DOCUMENT:,}"}))
    return notes


def _check_prose(head: Head, path: Path) -> None:
    """Refuse a text that is markup, a dump or a table rather than prose. Raises: DataError."""
    check_text(head.text, path, whole=head.whole, for_table=False)
    kind = json_kind(head.text, head.whole)
    if kind == "rows":
        raise DataError(
            marked("engine", "{path} is a table. Name the column that holds the text."), path=path
        )
    if kind:
        raise questions_refusal(path) if kind == "questions" else json_refusal(path)


def _note_form(form: CorpusLayout, reading: CorpusState) -> None:
    if form.headings:
        reading.notes["headings"] = Sentence(
            marked("engine", "Documents begin at headings like “= Title =”, as in WikiText.")
        )
    if form.wrapped:
        reading.notes["wrapped"] = Sentence(
            marked("engine", "Lines look broken at a fixed width. They are joined up to the next blank line.")
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusReport:
    """What is in a corpus. Counts are of what `documents` gives; lines and repeats, of all that is there."""

    num_files: int
    num_bytes: int  # on the disk
    num_documents: int
    num_paragraphs: int
    num_sentences: int
    num_characters: int
    layouts: tuple[str, ...]  # found, the commonest first
    encodings: tuple[str, ...]
    num_lines: int
    num_repeated: int  # lines that repeat an earlier one nearly exactly
    most_repeated: tuple[tuple[str, int], ...]  # up to five: the line, how often it is there
    notes: tuple[Sentence, ...]

    @property
    def layout(self) -> str:
        return self.layouts[0]

    @property
    def encoding(self) -> str:
        return self.encodings[0]

    @property
    def repeated_share(self) -> float:
        """Repeated lines of all lines, 0..1."""
        return self.num_repeated / max(1, self.num_lines)


def look(corpus: Corpus) -> Generator[Event, None, CorpusReport]:
    """Read a corpus once (again, where lines repeat) and report what is in it. Memory: 8 bytes a line.

    Raises: DataError, as `Corpus.documents`.
    """
    reading, total, told = CorpusState(hashes=[]), corpus.num_bytes, 0.0
    counts = [0, 0, 0, 0]
    for documents in corpus.blocks(reading):
        counts[0] += len(documents)
        for document in documents:
            counts[1] += len(document)
            counts[2] += sum(map(len, document))
            counts[3] += sum(len(sentence) for paragraph in document for sentence in paragraph)
        if time.monotonic() - told > _TELL_S:
            told = time.monotonic()
            yield Progress(stage=marked("engine", "Reading"), done=reading.bytes_done, total=total)
    num_repeated, most = _count_repeats(reading)
    return CorpusReport(
        num_files=len(corpus.files),
        num_bytes=total,
        num_documents=counts[0],
        num_paragraphs=counts[1],
        num_sentences=counts[2],
        num_characters=counts[3],
        layouts=tuple(name for name, _ in reading.layouts.most_common()),
        encodings=tuple(name for name, _ in reading.encodings.most_common()),
        num_lines=reading.num_lines,
        num_repeated=num_repeated,
        most_repeated=(yield from _lines_of(corpus, most, total)),
        notes=_notes(corpus, reading, counts, num_repeated),
    )


def _count_repeats(reading: CorpusState) -> tuple[int, dict[int, int]]:
    """Return how many lines repeat an earlier one, and the hashes of the commonest five with their counts."""
    hashes = np.concatenate([*(reading.hashes or []), np.empty(0, dtype=np.uint64)])
    reading.hashes = None
    hashes.sort()
    starts = np.flatnonzero(np.diff(hashes, prepend=~hashes[:1]))
    times = np.diff(starts, append=len(hashes))
    commonest = np.argsort(-times, kind="stable")[:5]
    most = {int(hashes[starts[at]]): int(times[at]) for at in commonest if times[at] > 1}
    return len(hashes) - len(starts), most


def _lines_of(
    corpus: Corpus, most: dict[int, int], total: int
) -> Generator[Event, None, tuple[tuple[str, int], ...]]:
    """Look for the lines behind some hashes; return them with their counts, the commonest first."""
    reading, found = CorpusState(), dict[int, str]()
    for _, paragraphs in corpus.paragraphs(reading) if most else ():
        for number, text in zip(line_hashes(paragraphs).tolist(), paragraphs, strict=True):
            if number in most:
                found.setdefault(number, text)
        if len(found) == len(most):
            break
        yield Progress(stage=marked("engine", "Reading"), done=reading.bytes_done, total=total)
    return tuple((found[number], count) for number, count in most.items() if number in found)


def _notes(
    corpus: Corpus, reading: CorpusState, counts: list[int], num_repeated: int
) -> tuple[Sentence, ...]:
    notes = reading_notes(reading)
    if counts[0] == 1:
        template = marked(
            "engine", "There is only one document. Put blank lines between documents to separate them."
        )
        notes.append(Sentence(template))
    elif reading.layouts["paragraphs"] and counts[1] == counts[0]:
        template = marked(
            "engine",
            "Each document is one paragraph. If blank lines separate paragraphs, not documents, remove them.",
        )
        notes.append(Sentence(template))
    if num_repeated and not corpus.drop_repeated:
        template = marked(
            "engine",
            "{count} lines ({share:.1%}) repeat an earlier one almost exactly. Many repeats "
            "keep the loss from falling. They can be excluded.",
        )
        share = num_repeated / reading.num_lines
        notes.append(Sentence(template, {"count": num_repeated, "share": share}))
    return tuple(notes)


def _reading(path: Path, encoding: str, opened: list[Table]) -> Iterator[Event]:
    """Read a table step by step, and put it into `opened`."""
    opened.append((yield from reading_table(path, encoding=encoding)))
