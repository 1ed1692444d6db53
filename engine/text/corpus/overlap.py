"""Text that stands in two parts of a corpus: held-out text that was learned from says nothing of new text.

Compared are whole documents, and sentences long enough not to meet by chance, by a hash of their pieces: case
and white space do not count where the vocabulary drops them. Eight bytes for each sentence kept apart.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass

import numpy as np

from engine.errors import marked
from engine.events import Event, Progress
from engine.text.chance import hashes, key
from engine.text.corpus.instances import TokenColumns

SHORTEST = 12  # pieces of a sentence that is compared; shorter ones repeat by nature
_AT_ONCE = 2**20  # tokens: 0.1 s
_STREAM = key(31)

# H hashes of the part kept apart, in order


@dataclass(frozen=True, slots=True)
class Overlap:
    """What of the part kept apart stands in the other as well.

    num_documents: of them, those that stand there whole. share: of all tokens, those in long sentences that
    stand there, 0 to 1.
    """

    num_documents: int
    share: float


def overlap(
    learned: TokenColumns, train: np.ndarray, kept: TokenColumns, held_out: np.ndarray
) -> Generator[Event, None, Overlap]:
    """Return what of some documents also stands in others, of this store or another with its vocabulary.

    A generator of events whose return value is the `Overlap`. Args: train, held_out: numbers of documents.
    """
    wanted = [_ends_of(kept, held_out, whole) for whole in (True, False)]
    known = [np.unique(np.concatenate(list(_hashes(kept, ends)))) for ends in wanted]
    seen = [np.zeros(len(each), bool) for each in known]
    sizes = np.diff(np.asarray(learned.doc_tokens))[train]
    total = int(sizes.sum())
    blocks = np.split(train, np.searchsorted(np.cumsum(sizes), np.arange(_AT_ONCE, total, _AT_ONCE)))
    for number, block in enumerate(blocks):
        yield Progress(
            stage=marked("engine", "Looking for repeats"), done=number * _AT_ONCE, total=max(1, total)
        )
        for whole, each, found in zip((True, False), known, seen, strict=True):
            for some in _hashes(learned, _ends_of(learned, block, whole)) if len(each) else ():
                places = np.minimum(np.searchsorted(each, some), len(each) - 1)
                found[places[each[places] == some]] = True
    documents, sentences = (_of(kept, ends, k[s]) for ends, k, s in zip(wanted, known, seen, strict=True))
    num_tokens = int(np.diff(np.asarray(kept.doc_tokens))[held_out].sum())
    return Overlap(int(documents.sum()), float(_lengths(wanted[1])[sentences].sum()) / max(1, num_tokens))


def _ends_of(store: TokenColumns, documents: np.ndarray, whole: bool) -> np.ndarray:
    """Return (n, 2) int64, where each of the documents, or each of their long sentences, begins and ends."""
    if whole:
        bounds = np.asarray(store.doc_tokens)
        return np.stack((bounds[documents], bounds[documents + 1]), 1)
    firsts, sentences = np.asarray(store.documents), store.sentences
    counts = firsts[documents + 1] - firsts[documents]
    steps = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    numbers = np.repeat(firsts[documents], counts) + steps
    ends = np.stack((np.asarray(sentences[numbers]), np.asarray(sentences[numbers + 1])), 1)
    long: np.ndarray = ends[_lengths(ends) >= SHORTEST]
    return long


def _lengths(ends: np.ndarray) -> np.ndarray:
    lengths: np.ndarray = ends[:, 1] - ends[:, 0]
    return lengths


def _hashes(store: TokenColumns, ends: np.ndarray) -> Iterator[np.ndarray]:
    """Yield uint64 hashes of stretches of tokens, in order; those of equal stretches are equal."""
    yield np.zeros(0, np.uint64)
    lengths = _lengths(ends)
    cuts = np.searchsorted(np.cumsum(lengths), np.arange(_AT_ONCE, lengths.sum(), _AT_ONCE))
    for part in np.split(ends, cuts):
        sizes = _lengths(part)
        part, sizes = part[sizes > 0], sizes[sizes > 0]
        if len(part):
            begins = np.cumsum(sizes) - sizes
            steps = np.arange(sizes.sum()) - np.repeat(begins, sizes)
            ids = np.asarray(store.ids)[np.repeat(part[:, 0], sizes) + steps].astype(np.int64)
            yield np.add.reduceat(hashes((steps << 32) + ids, _STREAM), begins)


def _of(store: TokenColumns, ends: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Return (n,) bool: which stretches have one of these hashes."""
    return np.isin(np.concatenate(list(_hashes(store, ends))), found)
