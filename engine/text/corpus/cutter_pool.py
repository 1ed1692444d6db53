"""Cuts text into pieces, in order; into WordPieces in several processes.

A worker is a bare Python that imports nothing of the program around it: no torch, no window, no main module
of whoever calls. It lives as long as its pipe, so it ends with us whatever ends us, also kill -9.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import struct
import subprocess
import sys
import traceback
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from queue import SimpleQueue
from typing import IO, Any

import numpy as np

from engine.errors import UserError, marked
from engine.own_process import command_of, environment_of
from engine.text.corpus.cutter import Cut, Cutter, WholeCutter, cutter_for, id_type
from engine.text.special_tokens import ExtraToken
from engine.text.tokenizer import Tokenizer
from engine.text.wordpiece import WordPiece

BLOCK = 2**18  # characters cut at once: 0.05 s
POOL_FROM = 2**22  # characters; fewer are cut sooner than workers have started
MAX_WORKERS = 8  # more would wait for whoever reads the text, and each takes some 100 MB
_LENGTH = struct.Struct("<q")
_QUESTION = struct.Struct("<qq")  # sentences, bytes of text
_ANSWER = struct.Struct("<qqq")  # pieces (or -1: an error), sentences (or bytes of it), whether words follow
_ALONE = {"TOKENIZERS_PARALLELISM": "false", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


class CutterPool:
    """Cuts lists of sentences: here at first, in `num_workers` processes once there is much.

    Use it in a `with`; on leaving, the processes are killed.
    """

    def __init__(self, tokenizer: Tokenizer, segmenter: str, num_workers: int) -> None:
        self._segmenter = segmenter
        self._cutter: WholeCutter | None = cutter_for(tokenizer, segmenter)
        self._wordpiece = tokenizer if isinstance(tokenizer, WordPiece) else None
        can_share = self._wordpiece is not None and _can_start()  # others are cut on all cores by the library
        self._num_workers = min(num_workers, MAX_WORKERS) if can_share else 1
        self._num_characters = 0
        self._workers: list[_Worker] = []
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        self._threads: ThreadPoolExecutor | None = None

    @property
    def room(self) -> int:
        """How many lists may wait to be cut, so that all workers are busy and memory stays bounded."""
        return 3 * len(self._workers)

    def submit(self, sentences: Sequence[str]) -> Future[Cut]:
        """Return the pieces of some sentences, or what will hold them.

        Raises (or the future does): UserError if a worker was ended from outside.
        """
        self._num_characters += sum(map(len, sentences))
        if self._threads is None and self._num_workers > 1 and self._num_characters > POOL_FROM:
            self._start()
        if self._threads is not None:
            return self._threads.submit(self._ask, sentences)
        assert self._cutter is not None
        done: Future[Cut] = Future()
        done.set_result(self._cutter.cut(sentences))
        return done

    def _start(self) -> None:
        assert self._wordpiece is not None
        setup = _setup(self._wordpiece, self._segmenter)
        try:
            for _ in range(self._num_workers):
                self._workers.append(_Worker(setup, id_type(self._wordpiece.vocab_size)))
        except OSError:  # no room for another process: fewer will do
            self._num_workers = len(self._workers)
        if self._num_workers:
            self._cutter = None
            self._threads = ThreadPoolExecutor(self._num_workers, "cutter")
        for worker in self._workers:
            self._idle.put(worker)

    def _ask(self, sentences: Sequence[str]) -> Cut:
        worker = self._idle.get()
        try:
            return worker.ask(sentences)
        finally:
            self._idle.put(worker)

    def __enter__(self) -> CutterPool:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.process.kill()
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)
        for worker in self._workers:
            worker.close()


class _Worker:
    """A process, asked by one thread at a time. It is told what to do with the first question."""

    def __init__(self, setup: bytes, ids: np.dtype) -> None:
        self._setup, self._type = setup, ids
        self.process = subprocess.Popen(
            command_of("engine.text.corpus.cutter_process"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment_of(**_ALONE),
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )

    def ask(self, sentences: Sequence[str]) -> Cut:
        """Return the pieces of some sentences. Raises: UserError if the process is gone."""
        try:
            return self._ask(sentences)
        except (EOFError, OSError) as error:
            raise UserError(
                marked(
                    "engine",
                    "A process that splits the text into WordPieces was ended from outside, "
                    "perhaps for lack of memory. Close other programs and start again.",
                )
            ) from error

    def _ask(self, sentences: Sequence[str]) -> Cut:
        questions, answers = self.process.stdin, self.process.stdout
        assert questions is not None and answers is not None
        text = "".join(sentences).encode("utf-8", "surrogatepass")
        lengths = np.fromiter(map(len, sentences), "<i4", len(sentences))
        questions.write(self._setup + _QUESTION.pack(len(sentences), len(text)) + lengths.tobytes() + text)
        questions.flush()
        self._setup = b""
        num_ids, num_sentences, has_words = _ANSWER.unpack(_read(answers, _ANSWER.size))
        if num_ids < 0:
            raise RuntimeError(_read(answers, num_sentences).decode())
        ids = np.frombuffer(_read(answers, num_ids * self._type.itemsize), self._type)
        sizes = np.frombuffer(_read(answers, 4 * num_sentences), "<i4")
        return Cut(ids, sizes, np.frombuffer(_read(answers, num_ids), bool) if has_words else None)

    def close(self) -> None:
        """Free what is left of a process that was killed."""
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()


def _can_start() -> bool:
    return bool(sys.executable)


def _setup(wordpiece: WordPiece, segmenter: str) -> bytes:
    document: dict[str, Any] = {
        "base": wordpiece.base,
        "lowercase": wordpiece.lowercase,
        "strip_accents": wordpiece.strip_accents,
        "chinese_chars": wordpiece.chinese_chars,
        "added": [asdict(token) for token in wordpiece.added],
        "segmenter": segmenter,
    }
    data = json.dumps(document).encode()
    return _LENGTH.pack(len(data)) + data


def _cutter_of(setup: bytes) -> Cutter:
    document = json.loads(setup)
    segmenter = document.pop("segmenter")
    base, added = (tuple(document.pop(name)) for name in ("base", "added"))
    wordpiece = WordPiece(base, added=tuple(ExtraToken(**token) for token in added), **document)
    return Cutter(wordpiece, segmenter)


def _read(pipe: IO[bytes], size: int) -> bytes:
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return data


def serve() -> None:
    """Be a worker: read questions from stdin and answer on stdout until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever started us; our pipe ends with it
    with contextlib.suppress(EOFError, OSError):
        _serve(sys.stdin.buffer, sys.stdout.buffer)
    with contextlib.suppress(OSError):
        sys.stdout.close()
    os._exit(0)


def _serve(questions: IO[bytes], answers: IO[bytes]) -> None:
    (size,) = _LENGTH.unpack(_read(questions, _LENGTH.size))
    setup, cutter = _read(questions, size), None
    while True:
        num_sentences, size = _QUESTION.unpack(_read(questions, _QUESTION.size))
        ends = np.cumsum(np.frombuffer(_read(questions, 4 * num_sentences), "<i4")).tolist()
        text = _read(questions, size).decode("utf-8", "surrogatepass")
        try:
            cutter = cutter or _cutter_of(setup)
            cut = cutter.cut([text[a:b] for a, b in zip([0, *ends], ends, strict=False)])
        except Exception:
            said = traceback.format_exc().encode()
            answers.write(_ANSWER.pack(-1, len(said), 0) + said)
        else:
            words = b"" if cut.continues is None else cut.continues.tobytes()
            head = _ANSWER.pack(len(cut.ids), len(cut.sizes), cut.continues is not None)
            answers.write(head + cut.ids.tobytes() + cut.sizes.astype("<i4").tobytes() + words)
        answers.flush()
