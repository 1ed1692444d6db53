"""From the token store to examples, alone or in pairs, and from these to packed, masked batches.

An example is two stretches of the store's tokens, named by their places; nothing is copied before a batch is
made. What it holds follows from (seed, epoch, block) or (seed, epoch, document) alone.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from engine.errors import DataError, marked
from engine.text.batch import Bounds, PackedRows
from engine.text.chance import hashes, key, uniform
from engine.text.corpus.masking import Masker
from engine.text.tokenizer import Tokenizer

# E examples of a block of documents, B of a batch, N tokens of a batch, M chosen tokens

SHORT_SHARE = 0.1  # of documents are cut into shorter examples; google-research/bert, short_seq_prob


@dataclass(frozen=True, eq=False)
class TokenColumns:
    """Tokenised text: pieces without special tokens, with the bounds of sentences and of documents.

    ids: (all pieces,) unsigned. sentences: (S + 1,) int64, places in ids. documents: (D + 1,) int64, places
    in sentences. continues: (all pieces,) bool, where a piece continues a word; None: the pieces say so
    themselves.
    """

    ids: np.ndarray
    sentences: np.ndarray
    documents: np.ndarray
    continues: np.ndarray | None

    @property
    def num_tokens(self) -> int:
        return len(self.ids)

    @cached_property
    def doc_tokens(self) -> np.ndarray:
        """(D + 1,) int64, where each document begins in ids; kept in memory."""
        return np.asarray(self.sentences[self.documents])


@dataclass(frozen=True)
class Instances:
    """Examples as places in the store.

    start_a, len_a, start_b, len_b: (E,) int64; len_b is 0 where there is no second segment. is_random: (E,)
    int8: 0 where B follows A, 1 where B is from another document, -1 where there is no B.
    """

    start_a: np.ndarray
    len_a: np.ndarray
    start_b: np.ndarray
    len_b: np.ndarray
    is_random: np.ndarray

    def __len__(self) -> int:
        return len(self.start_a)

    @cached_property
    def lengths(self) -> np.ndarray:
        """(E,) int64: tokens of each example, special tokens included."""
        return np.asarray(self.len_a + 2 + self.len_b + (self.len_b > 0))

    @property
    def num_own(self) -> int:
        """Pieces in A, and in a B that follows it: of its documents' text, what is shown in its place."""
        return int(self.len_a.sum() + self.len_b[self.is_random <= 0].sum())


# --- sentence pairs ----------------------------------------------------------------------------------


def paired(
    store: TokenColumns,
    documents: np.ndarray,
    *,
    max_length: int,
    seed: int,
    epoch: int,
    block: int = 0,
    pool: np.ndarray,
    short_share: float = SHORT_SHARE,
) -> Instances:
    """Return [CLS] A [SEP] B [SEP] examples: half of the Bs follow their A, half are from another document.

    As published, but for two things. Labels are balanced: a true pair is due whenever random ones are ahead,
    and the other way round; there, chance alone decides, and chunks of one sentence make random pairs the
    majority. And where a true pair is due and the chunk is one long sentence, the next one joins it. Only a
    document's last sentence, left over, must take a random B.

    Args: documents: (n,) int64, in this order. pool: distinct documents that a random B may come from.
        seed, epoch, block: the same three give the same examples. short_share: of documents, those whose
        examples are to have a random length, from 2 pieces up; the others fill max_length.
    Raises: DataError if no other document, or no sentence that follows another, can be found.
    Source: google-research/bert, create_pretraining_data.py, create_instances_from_document.
    """
    assert max_length >= 5
    room, documents, pool = max_length - 3, np.asarray(documents, np.int64), np.asarray(pool, np.int64)
    sentences, firsts = np.asarray(store.sentences), np.asarray(store.documents)
    _check_pool(pool, firsts)
    bits = np.random.PCG64([seed, epoch, block])  # a stream that no numpy will change
    spans = np.stack((firsts[documents], firsts[documents + 1]), 1)
    draw = iter(_fractions(bits, int(2 * np.diff(spans).sum() + 2 * len(spans))).tolist()).__next__
    rows, ahead = array("q"), 0
    for document, (first, last) in zip(documents.tolist(), spans.tolist(), strict=True):
        places = sentences[first : last + 1].tolist()
        target = room if draw() >= short_share else 2 + int(draw() * (room - 1))
        ahead = _pair_document(document, places, target, draw, rows, ahead)
    table = np.frombuffer(rows, np.int64).reshape(-1, 6).T.copy()
    document_of, start_a, len_a, start_b, len_b, is_random = table
    if is_random.all():
        _check_pool(pool, firsts, pairs=True)
    some = np.flatnonzero(is_random)
    start_b[some], len_b[some] = _elsewhere(store, document_of[some], len_b[some], pool, bits)
    _truncate(start_a, len_a, start_b, len_b, room, bits)
    whole = (len_a > 0) & (len_b > 0)
    start_a, len_a, start_b, len_b = (column[whole] for column in table[1:5])
    return Instances(start_a, len_a, start_b, len_b, is_random[whole].astype(np.int8))


NONE_FOLLOWS = marked(
    "engine",
    "No document has two sentences, so none follows another. Choose another layout of the text, or "
    "turn next_sentence off.",
)


def _check_pool(pool: np.ndarray, firsts: np.ndarray, *, pairs: bool = False) -> None:
    """Refuse text that no negatives, or with `pairs` no positives, can be made of."""
    if len(pool) < 2:
        raise DataError(
            marked(
                "engine",
                "There is only one document, so no sentence can come from another. Add text, "
                "separate documents by blank lines, or turn next_sentence off.",
            )
        )
    if pairs and not (np.diff(firsts)[pool] > 1).any():
        raise DataError(NONE_FOLLOWS)


def _pair_document(
    document: int, places: list[int], target: int, draw: Callable[[], float], rows: array[int], ahead: int
) -> int:
    """Add a document's pairs to `rows`: document, start and length of A and of B, whether B is random.

    A random B has no start yet, and the length that it should have.

    Args: ahead: how many more random pairs than true ones there are so far. Returns: the same, afterwards.
    """
    at, count = 0, len(places) - 1
    while at < count:
        begin = places[at]
        end = min(bisect_left(places, begin + target, at + 1), count)
        if end == at + 1 and ahead > 0 and end < count:
            end += 1
        middle = at + 1  # where A ends
        if end > middle:
            middle += int(draw() * (end - middle))
            is_random = ahead < 0 or (ahead == 0 and draw() < 0.5)
        else:
            is_random = True
        length = places[middle] - begin
        if is_random:  # what would have been B is put back
            rows.extend((document, begin, length, 0, target - length, 1))
            ahead, at = ahead + 1, middle
        else:
            rows.extend((document, begin, length, places[middle], places[end] - places[middle], 0))
            ahead, at = ahead - 1, end
    return ahead


def _elsewhere(
    store: TokenColumns, own: np.ndarray, lengths: np.ndarray, pool: np.ndarray, bits: np.random.PCG64
) -> tuple[np.ndarray, np.ndarray]:
    """Return start and length of sentences of random other documents.

    They go from a random sentence to the document's last, or until they are as long as `lengths` asks; at
    least one. Args: own: the document that each must not be from.
    """
    sentences, firsts = np.asarray(store.sentences), np.asarray(store.documents)
    others = pool[(_fractions(bits, len(own)) * len(pool)).astype(np.int64)]
    while len(same := np.flatnonzero(others == own)):
        others[same] = pool[(_fractions(bits, len(same)) * len(pool)).astype(np.int64)]
    first, last = firsts[others], firsts[others + 1]
    first = first + (_fractions(bits, len(own)) * (last - first)).astype(np.int64)
    start = sentences[first]
    end = np.searchsorted(sentences, start + np.maximum(lengths, 1))
    return start, sentences[np.minimum(end, last)] - start


def _truncate(
    start_a: np.ndarray,
    len_a: np.ndarray,
    start_b: np.ndarray,
    len_b: np.ndarray,
    room: int,
    bits: np.random.PCG64,
) -> None:
    """Shorten pairs to `room` pieces, in place.

    The longer of the two (B, if equal) loses one piece after another, from front or back with equal chances.
    """
    keep_a = np.minimum(len_a, np.maximum((room + 1) // 2, room - len_b))
    keep_b = np.minimum(len_b, room - keep_a)
    for start, length, keep in ((start_a, len_a, keep_a), (start_b, len_b, keep_b)):
        start += _heads(length - keep, bits)
        length[:] = keep


def _heads(counts: np.ndarray, bits: np.random.PCG64) -> np.ndarray:
    """Return how many of `counts` fair coins fall on their head."""
    heads, left = np.zeros_like(counts), counts.copy()
    while len(some := np.flatnonzero(left)):
        coins = np.minimum(left[some], 63)
        tossed = bits.random_raw(len(some)) & ((1 << coins) - 1).astype(np.uint64)
        heads[some] += np.bitwise_count(tossed)
        left[some] -= coins
    return heads


def _fractions(bits: np.random.PCG64, count: int) -> np.ndarray:
    """Return `count` numbers from 0 to below 1."""
    return np.asarray((bits.random_raw(count) >> 11) * 2.0**-53)


# --- single texts ------------------------------------------------------------------------------------


def single(
    store: TokenColumns, documents: np.ndarray, *, max_length: int, seed: int, epoch: int
) -> Instances:
    """Return [CLS] A [SEP] examples that hold every piece of the documents once.

    A document gives as many blocks of max_length - 2 pieces as it has. What is left over stands before
    them, after them, or both, by chance, so that the cuts fall elsewhere each epoch; a part of it that would
    be less than an eighth of a block stays with the rest. Never across documents.

    Args: documents: (n,) int64, in this order. seed, epoch: they and a document's number say where it is cut.
    """
    room, documents = max_length - 2, np.asarray(documents, np.int64)
    bounds = np.asarray(store.doc_tokens)
    begin, end = bounds[documents], bounds[documents + 1]
    whole, over = np.divmod(end - begin, room)
    least = max(1, room // 8)
    front = (uniform(hashes(documents, key(seed, epoch))) * (over + 1)).astype(np.int64)
    near = np.minimum(front, over - front) < least
    front = np.where(near, np.where(2 * front < over, 0, over), front)
    front[whole == 0] = 0
    pieces = (front > 0) + whole + (over > front)
    order = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    first_full = np.repeat(begin + front - np.where(front > 0, room, 0), pieces)
    start = first_full + order * room
    stop = np.minimum(start + room, np.repeat(end, pieces))
    start = np.maximum(start, np.repeat(begin, pieces))
    nothing = np.zeros_like(start)
    return Instances(start, stop - start, nothing, nothing, np.full(len(start), -1, np.int8))


# --- batches -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedBatch(PackedRows):
    """Masked examples, and the answers.

    masked: (M,) int64, rows of the chosen tokens; targets: (M,) int64, what stood there; actions: (M,) uint8,
    what was done to them (`engine.text.corpus.masking`). is_random: (B,) int64, 0 where B follows A and 1
    where it does not; None without pairs.
    """

    masked: torch.Tensor
    targets: torch.Tensor
    is_random: torch.Tensor | None
    actions: np.ndarray

    def halves(self, multiple: int = 1) -> tuple[MaskedBatch, MaskedBatch]:
        """Return the first and the second half of at least two examples, each filled up as the whole is."""
        middle = len(self.bounds) // 2
        cut = sum(self.bounds.lengths[:middle])
        parts = []
        for begin, end, lengths, some in (
            (0, cut, self.bounds.lengths[:middle], slice(middle)),
            (cut, self.num_tokens, self.bounds.lengths[middle:], slice(middle, None)),
        ):
            asked = (self.masked >= begin) & (self.masked < end)
            rows = (self.input_ids[begin:end], self.token_type_ids[begin:end], self.position_ids[begin:end])
            ids, types, positions = (_filled(part.numpy(), multiple) for part in rows)
            parts.append(
                MaskedBatch(
                    input_ids=ids,
                    token_type_ids=types,
                    position_ids=positions,
                    bounds=Bounds(lengths),
                    masked=self.masked[asked] - begin,
                    targets=self.targets[asked],
                    is_random=None if self.is_random is None else self.is_random[some],
                    actions=self.actions[asked.numpy()],
                )
            )
        return parts[0], parts[1]


def joined(
    store: TokenColumns, instances: Instances, indices: np.ndarray, cls_id: int, sep_id: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the examples at `indices`, at least one, end to end with their special tokens.

    Returns: ids, token_type_ids, position_ids, places in the store (-1 for special tokens): (N,) int64 each;
        the lengths (B,) int64.
    """
    len_a, len_b = instances.len_a[indices], instances.len_b[indices]
    sizes = np.stack((len_a + 2, len_b + (len_b > 0)), 1)  # [CLS] A [SEP], and B [SEP]
    lengths = sizes.sum(1)
    sizes = sizes.ravel()
    ends = np.cumsum(sizes)
    begins = ends - sizes
    rows = np.arange(ends[-1])
    starts = np.stack((instances.start_a[indices] - 1, instances.start_b[indices]), 1).ravel()
    places = rows + np.repeat(starts - begins, sizes)
    cls, sep = begins[::2], ends[sizes > 0] - 1
    places[cls] = places[sep] = 0  # some place that the store has
    ids = np.asarray(store.ids).take(places).astype(np.int64)
    ids[cls], ids[sep] = cls_id, sep_id
    places[cls] = places[sep] = -1
    token_type_ids = np.repeat(np.arange(len(sizes)) & 1, sizes) if len_b.any() else np.zeros_like(rows)
    position_ids = rows - np.repeat(cls, lengths)
    return ids, token_type_ids, position_ids, places, lengths


def collate_masked(
    store: TokenColumns,
    instances: Instances,
    indices: np.ndarray,
    masker: Masker,
    wordpiece: Tokenizer,
    salt: int,
    *,
    multiple: int = 1,
) -> MaskedBatch:
    """Pack and mask the examples at `indices`, longest first, and fill up to a multiple of `multiple` rows.

    Args: salt: of the masks; 0 always for static ones, the epoch for dynamic ones.
    """
    indices = np.asarray(indices)
    indices = indices[np.argsort(-instances.lengths[indices], kind="stable")]
    ids, types, positions, places, lengths = joined(
        store, instances, indices, wordpiece.cls_id, wordpiece.sep_id
    )
    continues = None
    if store.continues is not None:
        continues = np.asarray(store.continues).take(
            places, mode="clip"
        )  # special tokens continue nothing anyway
    done = masker.mask(ids, lengths, places, salt, continues=continues, overwrite=True)
    labels = instances.is_random[indices]
    return MaskedBatch(
        input_ids=_filled(done.input_ids, multiple),
        token_type_ids=_filled(types, multiple),
        position_ids=_filled(positions, multiple),
        bounds=Bounds(lengths.tolist()),
        masked=torch.from_numpy(done.positions),
        targets=torch.from_numpy(done.targets),
        is_random=None if labels[0] < 0 else torch.from_numpy(labels.astype(np.int64)),
        actions=done.actions,
    )


def _filled(array: np.ndarray, multiple: int) -> torch.Tensor:
    if filler := -len(array) % multiple:
        array = np.concatenate((array, np.zeros(filler, np.int64)))
    return torch.from_numpy(array)
