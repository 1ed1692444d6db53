"""Writes a token store: reads a corpus, has it cut in parallel and puts the pieces on the disk, in order.

Memory does not grow with the text: what is cut is written and forgotten.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from engine import device
from engine.durable import replaced_folder, sync
from engine.errors import DataError, Sentence, marked
from engine.events import Event, Progress
from engine.text.corpus.corpus import Corpus, CorpusState, Document, reading_notes
from engine.text.corpus.cutter import Cut, id_type
from engine.text.corpus.cutter_pool import BLOCK, CutterPool
from engine.text.tokenizer import Tokenizer

Places = npt.NDArray[np.int64]

KIND, VERSION = "cloze token store", 1
HEADER = "header.json"
ARRAYS = ("ids.bin", "sentences.bin", "documents.bin", "words.bin")
_WAIT_S = 0.2


def hash_of(document: Any) -> str:
    """Return the sha256 of what JSON can hold."""
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def no_text() -> DataError:
    """Return what to raise where there is not one token."""
    return DataError(marked("engine", "There is no text: the files gave no pieces. Choose other files."))


class _Block(NamedTuple):
    """Sentences that are cut together; `ends` are the numbers of those that a document ends before."""

    sentences: list[str]
    ends: list[int]


def make_store(
    path: Path, corpus: Corpus, tokenizer: Tokenizer, segmenter: str, wanted: dict[str, Any]
) -> Generator[Event, None, dict[str, Any]]:
    """Write the store of a corpus in place of `path`; return its header. For `open_store`.

    Args: wanted: what it is made from, for the header. Raises: DataError, UserError.
    """
    reading, total = CorpusState(), corpus.num_bytes
    waiting: deque[tuple[Future[Cut], list[int]]] = deque()
    with replaced_folder(path) as beside, _Arrays(beside, tokenizer, bool(segmenter)) as arrays:
        with CutterPool(tokenizer, segmenter, device.num_cores()) as pool:
            for block in _blocks(corpus, reading, tokenizer):
                if block is not None:
                    waiting.append((pool.submit(block.sentences), block.ends))
                for _ in arrays.take(waiting, pool.room):
                    yield _progress(reading, total)
                yield _progress(reading, total)
            for _ in arrays.take(waiting, 0):
                yield _progress(reading, total)
        if corpus.fingerprint() != wanted["text"]:
            raise DataError(marked("engine", "The text changed while it was read. Start again."))
        header = arrays.finish(wanted, reading_notes(reading))
        yield from _aside(lambda: list(map(sync, beside.iterdir())))
    return header


def _progress(reading: CorpusState, total: int) -> Progress:
    return Progress(stage=marked("engine", "Tokenizing"), done=reading.bytes_done, total=total)


def _blocks(corpus: Corpus, reading: CorpusState, tokenizer: Tokenizer) -> Iterator[_Block | None]:
    """Yield the corpus in blocks of like size, and None wherever reading has taken a while without one."""
    block, size = _Block([], []), 0
    for documents in corpus.blocks(reading):
        for document in documents:
            for sentence in sentences_of(document, tokenizer):
                block.sentences.append(sentence)
                size += len(sentence)
                if size >= BLOCK:
                    yield block
                    block, size = _Block([], []), 0
            block.ends.append(len(block.sentences))
        yield None
    yield block


def sentences_of(document: Document, tokenizer: Tokenizer) -> Iterator[str]:
    """Yield the sentences, each as it is written behind the one before it.

    One that is longer than any example could be comes in several pieces.
    """
    is_first = True
    for paragraph in document:
        for sentence in paragraph:
            sentence, is_first = sentence if is_first else tokenizer.behind(sentence), False
            while len(sentence) > BLOCK:
                place = sentence.rfind(" ", 0, BLOCK) + 1 or BLOCK
                yield sentence[:place]
                sentence = sentence[place:]
            yield sentence


class _Arrays:
    """The arrays of a store while they grow, and their hashes. Use in a `with`."""

    def __init__(self, folder: Path, tokenizer: Tokenizer, has_segmenter: bool) -> None:
        self._folder, self._vocab_size = folder, tokenizer.vocab_size
        has_words = has_segmenter or not tokenizer.tells_words
        types = (id_type(tokenizer.vocab_size), np.dtype("<i8"), np.dtype("<i8"), np.dtype("u1"))
        self._types: dict[str, np.dtype] = dict(zip(ARRAYS[: 4 if has_words else 3], types, strict=False))
        self._files = {name: (folder / name).open("wb") for name in self._types}
        self._hashers = {name: hashlib.sha256() for name in self._types}
        self._sizes = dict.fromkeys(self._types, 0)
        self._num_ids = self._num_sentences = self._last_end = 0
        for name in ARRAYS[1:3]:
            self._write(name, np.zeros(1, np.int64))

    def take(self, waiting: deque[tuple[Future[Cut], list[int]]], room: int) -> Iterator[None]:
        """Write what is cut, in order, until at most `room` are waiting; yield while that takes long."""
        while waiting:
            future, ends = waiting[0]
            if not future.done() and len(waiting) <= room:
                return
            if wait([future], _WAIT_S).done:
                waiting.popleft()
                self._add(future.result(), np.array(ends, np.int64))
            yield

    def _add(self, cut: Cut, ends: Places) -> None:
        filled = cut.sizes > 0
        ends = np.concatenate(([0], np.cumsum(filled)))[ends] + self._num_sentences
        ends = np.unique(ends[ends > self._last_end])  # a document of which nothing is left is none
        self._write(ARRAYS[0], cut.ids)
        self._write(ARRAYS[1], self._num_ids + np.cumsum(cut.sizes[filled], dtype=np.int64))
        self._write(ARRAYS[2], ends)
        if cut.continues is not None:
            self._write(ARRAYS[3], cut.continues)
        self._num_ids += len(cut.ids)
        self._num_sentences += int(filled.sum())
        self._last_end = int(ends[-1]) if len(ends) else self._last_end

    def _write(self, name: str, values: np.ndarray) -> None:
        data = values.astype(self._types[name], copy=False).tobytes()
        self._files[name].write(data)
        self._hashers[name].update(data)
        self._sizes[name] += len(data)

    def finish(self, wanted: dict[str, Any], notes: Sequence[Sentence]) -> dict[str, Any]:
        """Write and return the header, with what was told while the text was read.

        Raises: DataError if there is not one token.
        """
        if not self._num_ids:
            raise no_text()
        assert self._last_end == self._num_sentences
        for file in self._files.values():
            file.close()
        header = {
            "kind": KIND,
            "version": VERSION,
            **wanted,
            "vocab_size": self._vocab_size,
            "num_tokens": self._num_ids,
            "num_sentences": self._num_sentences,
            "num_documents": self._sizes[ARRAYS[2]] // 8 - 1,
            "notes": [{"template": note.template, "values": _plain(note.values)} for note in notes],
            "arrays": {
                name: {
                    "dtype": self._types[name].str,
                    "bytes": self._sizes[name],
                    "sha256": self._hashers[name].hexdigest(),
                }
                for name in self._types
            },
        }
        text = json.dumps({**header, "sha256": hash_of(header)}, indent=1)
        (self._folder / HEADER).write_text(text + "\n", encoding="utf-8")
        return header

    def __enter__(self) -> _Arrays:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.close()


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a sentence as JSON can hold them."""
    return {
        name: value if isinstance(value, int | float | list | tuple) else str(value)
        for name, value in values.items()
    }


def _aside(work: Callable[[], Any]) -> Generator[Event, None, None]:
    """Do something that cannot be cut short on another thread, and yield meanwhile."""
    with ThreadPoolExecutor(1) as threads:
        future = threads.submit(work)
        while not wait([future], _WAIT_S).done:
            yield Progress(stage=marked("engine", "Writing"), done=0, total=0)
        future.result()
