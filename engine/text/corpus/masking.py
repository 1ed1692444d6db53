"""Which tokens are hidden, and what stands in their place: by piece, word, n-gram, span or term.

Randomness is a hash of (seed, salt, place of a token in the store) and nothing else, so an example has the
same mask in whatever batch or process it comes. Nothing here may depend on an example's neighbours.

All units of an example are chosen with the same probability, the rate, whatever their length: they are put
in an order, by length in pieces and then at random, and of this order every (1 / rate)th is taken from a
random start. So the expected number of pieces is exact and the number varies little. (The published programs
add units until a budget is full, and leave out what no longer fits: long ones are hidden less often there.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from engine.errors import ConfigError, DataError, marked, not_among
from engine.text.chance import hashes, key, uniform
from engine.text.corpus.terms import Terms
from engine.text.tokenizer import Tokenizer

# B examples, N tokens of all examples together, M chosen tokens, W words, U units, K chosen units

UNITS = ("piece", "word", "ngram", "span", "term")
MASKED, RANDOM, KEPT = 0, 1, 2  # what was done to a chosen token
MAX_SPAN, SPAN_P = 10, 0.2  # words of a span at most, and p of their geometric distribution; SpanBERT, 3.1
MAX_TOKENS = 2**20  # of one example

_SPECIAL, _BEGINS, _CONTINUES = 0, 1, 2  # kinds of tokens; special ones are never chosen
_UNUSED = re.compile(r"\[unused\d+\]|<.*>NOTUSED|madeupword\d+")  # BERT's fillers, and fairseq's
_CHUNK = 2**16  # tokens worked on at once, so that all of it stays in the processor's cache
_ORDER, _EXAMPLE, _ACTION, _WORD = range(4)  # streams of hashes
_DRAW_BITS = 12  # of a hash, to draw an n-gram's or a span's length with
_LAST = 2**64 - 1  # a sort key that comes after all others


@dataclass(frozen=True)
class Masking:
    """How many tokens are chosen, as what, and what is done to them.

    rate: share of an example's pieces that are chosen; special tokens and [UNK] are not counted. mask_share,
    random_share: of the chosen ones, those that become [MASK] or a random word; the rest stays as it is.
    unit: what is chosen as a whole. max_ngram: words of an n-gram at most, of n words with probability ~ 1/n.
    terms: the pieces of each term for unit "term": these come first, then whole words, up to the rate.

    Raises: ConfigError; `field` is the setting's name.
    Source: Devlin et al. 2019, 3.1 (piece); google-research/bert, whole word masking (word); Lan et al. 2020,
        4.1, ALBERT (ngram); Joshi et al. 2020, 3.1, SpanBERT (span); Sun et al. 2019, ERNIE (term).
    """

    rate: float = 0.15
    mask_share: float = 0.8
    random_share: float = 0.1
    unit: str = "piece"
    max_ngram: int = 3
    terms: tuple[tuple[int, ...], ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 1:
            _refuse(
                marked("engine", "{field} is {value}; it is above 0, and at most 1."), "mask_rate", self.rate
            )
        for name in ("mask_share", "random_share"):
            if not 0 <= getattr(self, name) <= 1:
                _refuse(
                    marked("engine", "{field} is {value}; it is between 0 and 1."), name, getattr(self, name)
                )
        if self.mask_share + self.random_share > 1 + 1e-9:
            template = marked("engine", "mask_share and {field} are {value} together; they are at most 1.")
            _refuse(template, "random_share", round(self.mask_share + self.random_share, 6))
        if self.unit not in UNITS:
            raise not_among("mask_unit", self.unit, UNITS)
        if not 1 <= self.max_ngram <= 255:
            _refuse(marked("engine", "{field} is {value}; it is from 1 to 255."), "max_ngram", self.max_ngram)


@dataclass(frozen=True, slots=True)
class MaskedRows:
    """Examples after masking.

    input_ids: (N,) int64, what the model reads. positions: (M,) int64, rows of the chosen tokens, ascending.
    targets: (M,) int64, what stood there. actions: (M,) uint8: MASKED, RANDOM or KEPT.
    """

    input_ids: np.ndarray
    positions: np.ndarray
    targets: np.ndarray
    actions: np.ndarray


@dataclass(frozen=True, slots=True)
class _Units:
    """What can be chosen as a whole. starts, lasts: (U,) first and last token. counts: (B,) units of an
    example. hashes: (U,) uint64, random. is_term: (U,) bool, or None where no terms are looked for.
    """

    starts: np.ndarray
    lasts: np.ndarray
    counts: np.ndarray
    hashes: np.ndarray
    is_term: np.ndarray | None = None

    def joined(self, heads: np.ndarray, bounds: np.ndarray, is_term: np.ndarray | None = None) -> _Units:
        """Return larger units: each begins at one of `heads` and ends before the next."""
        if not len(heads):
            return self
        lasts = self.lasts.take(np.append(heads[1:], len(self.starts)) - 1)
        starts = self.starts.take(heads)
        counts = np.diff(np.searchsorted(starts, bounds))
        return _Units(starts, lasts, counts, self.hashes.take(heads), is_term)


class Masker:
    """Masks examples of one vocabulary. Never changes after it is made; threads may share it.

    Special tokens, [UNK] and [MASK] among them, are never chosen; these and fillers such as [unusedN] are
    never drawn as random words. All other words are drawn with equal probability, the right one too, as
    published.

    Args: seed: any int; the same seed gives the same masks.
    Raises: DataError if the vocabulary lacks [MASK] or has no ordinary word.
    """

    def __init__(self, masking: Masking, tokenizer: Tokenizer, seed: int) -> None:
        if tokenizer.mask_id is None:
            raise DataError(
                marked(
                    "engine",
                    "The vocabulary lacks [MASK], so no word can be masked. Choose another vocabulary.",
                )
            )
        kinds: np.ndarray = np.full(tokenizer.vocab_size, _BEGINS, np.uint8)
        if tokenizer.tells_words:
            kinds += tokenizer.may_go_on
        kinds[list(tokenizer.special_ids)] = _SPECIAL
        is_unused = [bool(_UNUSED.fullmatch(token)) for token in tokenizer.tokens]
        words = np.flatnonzero((kinds != _SPECIAL) & ~np.array(is_unused))
        if not len(words):
            raise DataError(
                marked("engine", "The vocabulary holds only special tokens. Choose another vocabulary.")
            )
        self.masking, self.seed, self.mask_id = masking, seed, tokenizer.mask_id
        self._kinds, self._words = kinds, words
        self._draws = _lengths_to_draw(masking)
        listed = [term for term in masking.terms if all(self._kinds[piece] for piece in term)]
        self._terms = Terms(listed, tokenizer.vocab_size) if masking.unit == "term" and listed else None

    def mask(
        self,
        ids: np.ndarray,
        lengths: np.ndarray,
        places: np.ndarray,
        salt: int,
        *,
        continues: np.ndarray | None = None,
        overwrite: bool = False,
    ) -> MaskedRows:
        """Hide a share of the tokens and say what they were.

        Of each example that has a word at least one is chosen. The shares of [MASK], random words and kept
        ones are exact in each example, up to rounding at random. They are of pieces, whatever the unit: one
        fate for a whole span, as in SpanBERT, would scatter by 0.15 points over a million tokens.

        Args: ids: (N,) int, examples end to end, special tokens included; not changed. lengths: (B,) tokens
            of each. places: (N,) int64, each token's place in the store; special tokens have any, such as -1.
            salt: 0 always for static masks, the epoch for dynamic ones. continues: (N,) bool, True where a
            piece continues a word; None: where the pieces say so themselves. overwrite: whether `ids`, of
            int64, may become input_ids.
        """
        lengths = np.asarray(lengths, np.int64)
        assert int(lengths.sum()) == len(ids) == len(places) and int(lengths.max(initial=1)) <= MAX_TOKENS
        keys = [key(self.seed, salt, stream) for stream in range(4)]
        input_ids, places = np.array(ids, np.int64, copy=not overwrite), np.asarray(places, np.int64)
        parts = []
        for examples, tokens in _chunks(lengths):
            kinds = self._kinds.take(input_ids[tokens])
            if continues is not None:
                kinds += continues[tokens].astype(bool) & (kinds == _BEGINS)
            chosen, done = self._choose(input_ids[tokens], kinds, lengths[examples], places[tokens], keys)
            parts.append((chosen + tokens.start, done))
        if not parts:
            return MaskedRows(input_ids, np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8))
        positions, actions = (np.concatenate(part) for part in zip(*parts, strict=True))
        return self._replace(input_ids, positions, actions, places, keys[_WORD])

    def _replace(
        self,
        input_ids: np.ndarray,
        positions: np.ndarray,
        actions: np.ndarray,
        places: np.ndarray,
        stream: int,
    ) -> MaskedRows:
        """Do to the chosen tokens what is to be done, in place."""
        targets = input_ids.take(positions)
        input_ids[positions] = self.mask_id
        others = np.flatnonzero(actions)
        input_ids[positions[others]] = targets[others]
        drawn = positions[others[actions[others] == RANDOM]]
        bits = hashes(places[drawn], stream) >> 32
        input_ids[drawn] = self._words[bits * len(self._words) >> 32]
        return MaskedRows(input_ids, positions, targets, actions)

    def _choose(
        self, ids: np.ndarray, kinds: np.ndarray, lengths: np.ndarray, places: np.ndarray, keys: list[int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the positions of the chosen tokens, ascending, and what is done to each."""
        bounds = np.concatenate(([0], np.cumsum(lengths)))
        begins = bounds[:-1]
        firsts = np.minimum(begins + (kinds[begins] == _SPECIAL), bounds[1:] - 1)  # after [CLS]
        drawn = hashes(places[firsts], keys[_EXAMPLE])
        offsets, rounding = uniform(drawn), uniform(drawn >> 24)
        units = self._units(ids, kinds, bounds, places, keys)
        chosen, counts = self._pick(units, offsets)
        starts = units.starts.take(chosen)
        unit = self.masking.unit
        if unit == "piece":  # these come in random order
            return _ascending(starts, self._fates(counts, rounding))
        sizes = units.lasts.take(chosen) - starts + 1
        ends = np.concatenate(([0], np.cumsum(sizes)))
        positions = np.arange(ends[-1]) + np.repeat(starts - ends[:-1], sizes)
        counts = np.diff(ends[np.cumsum(counts)], prepend=0)  # of pieces
        order = _shuffled(hashes(places.take(positions), keys[_ACTION]), counts)
        actions = np.empty(len(order), np.int64)
        actions[order] = self._fates(counts, rounding)
        return _ascending(positions, actions)

    def _units(
        self, ids: np.ndarray, kinds: np.ndarray, bounds: np.ndarray, places: np.ndarray, keys: list[int]
    ) -> _Units:
        """Return the pieces, words, n-grams, spans or terms and words that may be chosen."""
        if self.masking.unit == "piece":
            starts = lasts = np.flatnonzero(kinds)
        else:
            starts, lasts = _words(kinds, bounds)
        counts = np.diff(np.searchsorted(starts, bounds))
        units = _Units(starts, lasts, counts, hashes(places.take(starts), keys[_ORDER]))
        if self._draws is not None:
            return units.joined(self._heads(units), bounds)
        if self._terms is None:
            return units
        begins, inside = self._terms.find(ids, starts, lasts, bounds)
        heads = np.flatnonzero(~inside[starts])
        return units.joined(heads, bounds, begins[starts[heads]])

    def _heads(self, words: _Units) -> np.ndarray:
        """Return the words that begin an n-gram or a span.

        Lengths are drawn one after another, from the first word of each run of words on; what a run's end
        cuts off is lost. None is longer than the rate's share of the example's words: SpanBERT stops there.
        """
        assert self._draws is not None
        draws = self._draws.take((words.hashes & (2**_DRAW_BITS - 1)).view(np.int64))
        most = np.maximum(1, (self.masking.rate * words.counts).astype(np.int64))
        if most.min(initial=255) < draws.max(initial=0):
            draws = np.minimum(draws, np.repeat(most, words.counts))
        fresh = np.empty(len(draws), bool)  # the first word of an example, or after a special token
        fresh[1:] = words.starts[1:] != words.lasts[:-1] + 1
        fresh[(np.cumsum(words.counts) - words.counts)[words.counts > 0]] = True
        runs = np.flatnonzero(fresh)
        sizes = np.diff(np.append(runs, len(draws)))
        before = np.cumsum(draws, dtype=np.int64) - draws
        heads: np.ndarray = before + np.repeat(runs - before[runs], sizes)
        return np.asarray(heads[heads < np.repeat(runs + sizes, sizes)])

    def _pick(self, units: _Units, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the chosen units (K,), example by example, and how many each example has (B,)."""
        order: np.ndarray = units.hashes & (2**57 - 2**25)  # 32 bits of it; 25 for the number of the unit
        order |= np.arange(len(order), dtype=np.uint64)
        if units.lasts is not units.starts:
            order |= np.minimum(units.lasts - units.starts, 63).view(np.uint64) << 57
        if units.is_term is not None:
            order |= (~units.is_term).astype(np.uint64) << 63
        width = int(units.counts.max(initial=0))
        if len(order) < width * len(offsets):  # a row for each example
            rows: np.ndarray = np.full((len(offsets), width), _LAST, np.uint64)
            rows[np.arange(width, dtype=np.int32) < units.counts.astype(np.int32)[:, None]] = order
        else:
            rows = order.reshape(len(offsets), width)  # all have as many
        rows.sort(axis=1)
        begins, counts = np.arange(len(offsets)) * width, units.counts
        rates = np.maximum(self.masking.rate, 1 / np.maximum(counts, 1))
        if units.is_term is None:
            places, taken = _every(counts, rates, offsets, begins)
        else:
            places, taken = self._terms_first(units, offsets, begins, rates)
        chosen: np.ndarray = rows.ravel().take(places) & (2**25 - 1)
        return chosen.astype(np.int64), taken

    def _terms_first(
        self, units: _Units, offsets: np.ndarray, begins: np.ndarray, rates: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Take terms, all of them if the rate is not reached by then, and then words; they stand so."""
        assert units.is_term is not None
        example = np.repeat(np.arange(len(offsets)), units.counts)
        sizes = units.lasts - units.starts + 1
        pieces = np.bincount(example, sizes, len(offsets))
        of_terms = np.bincount(example, sizes * units.is_term, len(offsets))
        terms = np.bincount(example[units.is_term], minlength=len(offsets))
        budget = self.masking.rate * pieces
        first = np.maximum(np.minimum(1, budget / np.maximum(of_terms, 1)), 1 / np.maximum(terms, 1))
        second = np.maximum(budget - of_terms, 0) / np.maximum(pieces - of_terms, 1)
        second = np.where(terms > 0, second, rates)
        numbers, places = (terms, units.counts - terms), (begins, begins + terms)
        strata = (numbers, (first, second), (offsets, offsets), places)
        chosen, taken = _every(*(np.stack(both, 1).ravel() for both in strata))
        return chosen, taken.reshape(-1, 2).sum(1)

    def _fates(self, counts: np.ndarray, rounding: np.ndarray) -> np.ndarray:
        """Return an action for each chosen one, `counts` of each example, in random order."""
        share = self.masking.mask_share
        changed = np.floor((share + self.masking.random_share) * counts + rounding)
        numbers = np.empty((len(counts), 3), np.int64)
        numbers[:, 0] = np.floor(share * counts + rounding)
        numbers[:, 1] = np.minimum(changed, counts) - numbers[:, 0]
        numbers[:, 2] = counts - numbers[:, 0] - numbers[:, 1]
        return np.repeat(np.arange(numbers.size) % 3, numbers.ravel())


def _refuse(template: str, name: str, value: object, **values: object) -> None:
    raise ConfigError(template, field=name, value=value, **values)


def _lengths_to_draw(masking: Masking) -> np.ndarray | None:
    """Return a table of lengths in words, each as often as it is probable; None if words are not joined."""
    if masking.unit == "ngram":
        weights: np.ndarray = 1 / np.arange(1, masking.max_ngram + 1)
    elif masking.unit == "span":
        weights = (1 - SPAN_P) ** np.arange(MAX_SPAN)
    else:
        return None
    edges = np.cumsum(weights) / weights.sum() * 2**_DRAW_BITS
    return (np.searchsorted(edges, np.arange(2**_DRAW_BITS) + 0.5) + 1).astype(np.int64)


def _chunks(lengths: np.ndarray) -> Iterator[tuple[slice, slice]]:
    """Yield examples and their tokens, few enough that they fit a small table with a row for each."""
    start = token = 0
    if 0 < int(lengths.max(initial=0)) * len(lengths) <= _CHUNK:
        yield slice(0, len(lengths)), slice(0, int(lengths.sum()))
        return
    while start < len(lengths):
        rest = lengths[start : start + _CHUNK]
        area = np.maximum.accumulate(rest) * np.arange(1, len(rest) + 1)
        stop = start + max(1, int(np.searchsorted(area, _CHUNK, side="right")))
        end = token + int(lengths[start:stop].sum())
        yield slice(start, stop), slice(token, end)
        start, token = stop, end


def _words(kinds: np.ndarray, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the last token of each word; special tokens belong to none."""
    real = kinds != _SPECIAL
    begins = real.copy()
    begins[1:] &= (kinds[1:] == _BEGINS) | ~real[:-1]
    begins[bounds[:-1]] = real[bounds[:-1]]
    ends = real.copy()
    ends[:-1] &= begins[1:] | ~real[1:]
    ends[bounds[1:] - 1] = real[bounds[1:] - 1]
    return np.flatnonzero(begins), np.flatnonzero(ends)


def _every(
    counts: np.ndarray, rates: np.ndarray, offsets: np.ndarray, begins: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Take every (1 / rate)th of each row's first `counts`, from a random start.

    Args: begins: where a row begins. offsets: from 0 to below 1. Returns: the places; how many of each row.
    """
    taken = np.floor(rates * counts + offsets).astype(np.int64)
    np.minimum(taken, counts, out=taken)
    np.maximum(taken, (counts > 0) & (rates * counts > 1 - 1e-9), out=taken)
    ranks = np.arange(1, taken.sum() + 1) - np.repeat(np.cumsum(taken) - taken + offsets, taken)
    ranks = np.ceil(ranks / np.repeat(np.maximum(rates, 1e-9), taken)).astype(np.int64) - 1
    return np.minimum(ranks, np.repeat(counts - 1, taken)) + np.repeat(begins, taken), taken


def _shuffled(hashes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return an order that keeps the examples in theirs, of `counts` each, and is random in each of them."""
    keys = hashes & (2**44 - 2**20)
    keys |= np.arange(len(keys), dtype=np.uint64)
    keys |= np.repeat(np.arange(len(counts), dtype=np.uint64) << 44, counts)
    keys.sort()
    return (keys & (2**20 - 1)).astype(np.int64)


def _ascending(positions: np.ndarray, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    both = positions << 2 | actions
    both.sort()
    return both >> 2, (both & 3).astype(np.uint8)
