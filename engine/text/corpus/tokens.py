"""The token store: a corpus as pieces on the disk, mapped into memory, made once and then only read.

A store is whole or not there: it is written beside its place, synced and renamed. Its header says what it was
made from and the hash of every array, so that a stale, cut or damaged one is found and made again.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from engine.durable import PARTIAL, explained
from engine.errors import DataError, Sentence, UserError, marked
from engine.events import Event, Noted, Progress
from engine.files import open_regular, read_json_object
from engine.text.corpus.corpus import Corpus
from engine.text.corpus.cutter import segmenter_version
from engine.text.corpus.instances import TokenColumns
from engine.text.corpus.token_writer import (
    ARRAYS,
    HEADER,
    KIND,
    VERSION,
    Places,
    hash_of,
    make_store,
    no_text,
)
from engine.text.tokenizer import Tokenizer

# N tokens, S sentences, D documents, V vocabulary

_WAIT_S = 0.2
_READ_AT_ONCE = 1 << 24  # bytes: 0.02 s
_COUNTED_AT_ONCE = 1 << 20
_NOT_OURS = {".DS_Store", "Thumbs.db", "desktop.ini"}  # that systems leave in any folder


@dataclass(frozen=True, eq=False)
class TokenStore(TokenColumns):
    """A corpus as ids. Maps its files; threads and processes may share one folder.

    ids: uint16, or uint32 for a vocabulary of 65,536 or more. No sentence and no document is empty.
    """

    path: Path
    header: dict[str, Any]

    @classmethod
    def open(cls, path: Path | str) -> TokenStore:
        """Return the store in a folder, after reading all of it once. Raises: DataError if not whole."""
        store = _opened(Path(path), {})
        while True:
            try:
                next(store)
            except StopIteration as end:
                assert isinstance(end.value, cls)
                return end.value

    @property
    def num_documents(self) -> int:
        return len(self.documents) - 1

    @property
    def notes(self) -> tuple[Sentence, ...]:
        """What was told while the text was read; none in stores of earlier versions."""
        return tuple(Sentence(note["template"], note["values"]) for note in self.header.get("notes", ()))


def default_store_root() -> Path:
    """Return the folder for stores that can be made again, one below it for each `store_key`."""
    return Path(platformdirs.user_cache_dir("cloze", appauthor=False)) / "tokens"


def store_key(corpus: Corpus, tokenizer: Tokenizer, segmenter: str = "") -> str:
    """Return 32 hex digits that change with text, vocabulary or settings. Reads all text if it has to.

    Raises: DataError, ConfigError, UserError, as `open_store`.
    """
    return hash_of([VERSION, _wanted(corpus, tokenizer, segmenter)])[:32]


def open_store(
    path: Path | str, corpus: Corpus, tokenizer: Tokenizer, *, segmenter: str = ""
) -> Generator[Event, None, TokenStore]:
    """Return the store of a corpus in a folder, made first if it is not there, not whole or of other text.

    Yields `Progress`, and a `Noted` that says why one is made again. If another process is making the same
    store, it waits for that. Closed before its end, it leaves what was there before.
    Args:   segmenter: "" or "jieba", to find the words of Chinese text (see `engine.text.corpus.cutter`).
    Raises: DataError if the text cannot be used; ConfigError, UserError if the segmenter cannot; UserError if
            the folder holds something else, or nothing can be written there.
    """
    path = Path(path)
    yield from corpus.hashed()
    wanted = _wanted(corpus, tokenizer, segmenter)
    store, _ = yield from _fresh(path, wanted)
    if store is not None:
        return store
    handle = yield from _locked(path)
    try:
        store, reason = yield from _fresh(path, wanted)  # another process may have made it meanwhile
        if store is None:
            if reason is not None:
                yield Noted(sentence=reason)
            _remove_leftovers(path)
            header = yield from make_store(path, corpus, tokenizer, segmenter, wanted)
            store = _mapped(path, header)
    finally:
        os.close(handle)
    return store


def hold_out(store: TokenStore, share: float, seed: int) -> tuple[Places, Places]:
    """Return the numbers of the documents to train on and of those kept for validation, both ascending.

    Documents are drawn at random until `share` of the tokens is reached, at least one. A document of more
    than twice that is left to training, unless there is no other. A single document is in both.
    Args:   share: 0 to 1. seed: the same seed draws the same documents.
    Raises: DataError if the store is empty.
    """
    sizes = np.diff(store.doc_tokens)
    if not len(sizes):
        raise no_text()
    everything = np.arange(len(sizes), dtype=np.int64)
    if len(sizes) == 1:
        return everything, everything
    wanted = share * store.num_tokens
    drawn = np.random.default_rng(seed).permutation(everything[sizes <= 2 * wanted])
    if not len(drawn):
        drawn = everything[[int(sizes.argmin())]]
    num_drawn = 1 + int(np.searchsorted(np.cumsum(sizes[drawn]), wanted))
    kept = np.zeros(len(sizes), bool)
    kept[drawn[: min(num_drawn, len(sizes) - 1)]] = True
    return everything[~kept], everything[kept]


def counts(store: TokenStore) -> Places:
    """Return (V,) int64, how often each token is in the store."""
    total = np.zeros(store.header["vocab_size"], dtype=np.int64)
    for start in range(0, store.num_tokens, _COUNTED_AT_ONCE):
        total += np.bincount(store.ids[start : start + _COUNTED_AT_ONCE], minlength=len(total))
    return total


# --- what a store was made from ----------------------------------------------------------------------


def _wanted(corpus: Corpus, tokenizer: Tokenizer, segmenter: str) -> dict[str, Any]:
    """Return what decides a store's content, as its header holds it."""
    settings = {"segmenter": segmenter_version(segmenter)}
    return {"text": corpus.fingerprint(), "vocabulary": tokenizer.fingerprint(), "settings": settings}


def _fresh(
    path: Path, wanted: dict[str, Any]
) -> Generator[Event, None, tuple[TokenStore | None, Sentence | None]]:
    """Return the store if it is whole and of what is wanted; else why not, None if nothing was there."""
    there = {item.name for item in path.iterdir()} - _NOT_OURS if path.is_dir() else set()
    if not there <= {HEADER, *ARRAYS} or (path.exists() and not path.is_dir()):
        raise UserError(
            marked(
                "engine", "{path} holds files that do not belong to a token store. Choose another folder."
            ),
            path=path,
        )
    if not there:
        cut_off = marked("engine", "Splitting this text was interrupted before, so it starts again.")
        return None, Sentence(cut_off) if _leftovers(path) else None
    try:
        return (yield from _opened(path, wanted)), None
    except DataError as error:
        return None, error.sentence


def _check_fresh(path: Path, header: dict[str, Any], wanted: dict[str, Any]) -> None:
    said = {
        "text": marked("engine", "The text has changed since {path} was made from it, so it is split again."),
        "vocabulary": marked(
            "engine", "{path} was made with another vocabulary, so the text is split again."
        ),
        "settings": marked("engine", "{path} was made with another segmenter, so the text is split again."),
    }
    for name, template in said.items():
        if name in wanted and header.get(name) != wanted[name]:
            raise DataError(template, path=path)


# --- reading -----------------------------------------------------------------------------------------


def _opened(path: Path, wanted: dict[str, Any]) -> Generator[Event, None, TokenStore]:
    """Return the store in a folder after a look at every byte. Raises: DataError if stale, cut or damaged."""
    header = _read_header(path)
    _check_fresh(path, header, wanted)
    arrays: dict[str, dict[str, Any]] = header["arrays"]
    done, total = 0, sum(about["bytes"] for about in arrays.values())
    for name, about in arrays.items():
        try:
            if (size := (path / name).stat().st_size) != about["bytes"]:
                raise _broken(path, name, size=size, wanted=about["bytes"])
            hasher = hashlib.sha256()
            with open_regular(path / name, kind=DataError) as file:
                while block := file.read(_READ_AT_ONCE):
                    hasher.update(block)
                    done += len(block)
                    yield Progress(stage=marked("engine", "Reading"), done=done, total=total)
        except OSError as error:
            raise _broken(path, name) from error
        if hasher.hexdigest() != about["sha256"]:
            raise _broken(path, name)
    return _mapped(path, header)


def _read_header(path: Path) -> dict[str, Any]:
    try:
        header = read_json_object(path / HEADER, kind=DataError)
        whole = (header["kind"], header["version"]) == (KIND, VERSION)
        whole = whole and tuple(header["arrays"]) in (ARRAYS[:3], ARRAYS)
        whole = whole and header.pop("sha256") == hash_of(header)
    except (DataError, KeyError, TypeError) as error:
        raise _broken(path, HEADER) from error
    if not whole:
        raise _broken(path, HEADER)
    assert isinstance(header, dict)
    return header


def _mapped(path: Path, header: dict[str, Any]) -> TokenStore:
    arrays = {
        name: np.memmap(path / name, dtype=about["dtype"], mode="r")
        for name, about in header["arrays"].items()
    }
    ids, sentences, documents = (arrays[name] for name in ARRAYS[:3])
    words = arrays.get(ARRAYS[3])
    return TokenStore(ids, sentences, documents, None if words is None else words.view(bool), path, header)


def _broken(path: Path, name: str, *, size: int = -1, wanted: int = -1) -> DataError:
    if not path.is_dir():
        return DataError(
            marked("engine", "There is no token store at {path}. Split the text again."), path=path
        )
    if size >= 0:
        template = marked(
            "engine",
            "{name} in {path} has {size} bytes instead of {wanted}, so the text has to be split again.",
        )
        return DataError(template, name=name, path=path, size=size, wanted=wanted)
    template = marked("engine", "{name} in {path} is missing or damaged, so the text has to be split again.")
    return DataError(template, name=name, path=path)


# --- one at a time -----------------------------------------------------------------------------------

if os.name == "nt":
    import msvcrt

    def _take_lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]

else:
    import fcntl

    def _take_lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _locked(path: Path) -> Generator[Event, None, int]:
    """Return the handle of a lock beside `path`, once nobody else holds it; it dies with its process."""
    place = path.with_name(f".{path.name}.lock")
    with explained(place):
        place.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(place, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        while True:
            try:
                _take_lock(handle)
                return handle
            except OSError:
                yield Progress(stage=marked("engine", "Waiting for another process"), done=0, total=0)
                time.sleep(_WAIT_S)
    except BaseException:
        os.close(handle)
        raise


def _leftovers(path: Path) -> list[Path]:
    """Return what killed processes left half written beside `path`."""
    ours = re.compile(rf"\.{re.escape(path.name)}\.\d+(\.old)?{re.escape(PARTIAL)}")
    beside = path.parent.iterdir() if path.parent.is_dir() else ()
    return [place for place in beside if ours.fullmatch(place.name)]


def _remove_leftovers(path: Path) -> None:
    for place in _leftovers(path):
        shutil.rmtree(place, ignore_errors=True)
