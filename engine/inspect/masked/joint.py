"""Several [MASK]s filled together by beam search, so that one word can decide the other.

Each step fills one [MASK] in every filling that is kept and asks the model again. The order is one for all
fillings, so that their probabilities are of one kind: next comes the open [MASK] whose likeliest piece is the
most probable, seen from the best filling so far. The joint probability is the product of what each piece had
at its turn. (A masked language model gives somewhat other products in other orders.)
"""

from __future__ import annotations

import math
import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from engine.errors import UserError, marked
from engine.events import Event, Progress, result_of
from engine.inspect.loaded_model import LoadedModel, looking
from engine.inspect.masked.masked import GappedText
from engine.inspect.masked.row_scores import score_rows, turns
from engine.inspect.masked.score import Guess, check_count
from engine.inspect.passes import InputRow, parts, word_logs
from engine.model.guess import best_products
from engine.text.segmenter import is_chinese_word
from engine.text.tokenizer import Tokenizer

_IN_BRACKETS = re.compile(r"\[.+\]", re.DOTALL)  # such as [unused7]

# M [MASK]s of all gaps, V words of the vocabulary

BEAM = 50
FILLING = marked("engine", "Filling")


@dataclass(frozen=True, slots=True)
class Filling:
    """Words for all gaps at once.

    words: one for each gap, as it would be written. ids: one for each [MASK], gap after gap. log_probability:
    natural, of all together. independent_log: the sum when each [MASK] is guessed while all are masked.
    """

    words: tuple[str, ...]
    ids: tuple[int, ...]
    log_probability: float
    independent_log: float

    @property
    def probability(self) -> float:
        """0..1, of all together."""
        return math.exp(self.log_probability)

    @property
    def independent(self) -> float:
        """0..1, the product when each [MASK] is guessed while all are masked."""
        return math.exp(self.independent_log)


@dataclass(frozen=True, slots=True)
class Joint:
    """What fills all gaps best.

    fillings: the likeliest together, best first. independent: the likeliest of products, best first; both
    carry both numbers. original: what stood there, None where that is not known. original_rank: its place
    among all that the beam kept, 1 the first; None where it fell out. order: positions of the [MASK]s as they
    were filled.
    """

    masked: GappedText
    fillings: tuple[Filling, ...]
    independent: tuple[Filling, ...]
    original: Filling | None
    original_rank: int | None
    order: tuple[int, ...]
    beam: int


def fill_jointly(
    subject: LoadedModel,
    masked: GappedText,
    *,
    beam: int = BEAM,
    top_k: int = 10,
    whole_words: bool = False,
    on: np.ndarray | None = None,
) -> Generator[Event, None, Joint]:
    """Fill all [MASK]s of a text together. A task: yields Progress; its return value is the answer.

    Args:   masked: from `mask`. beam: fillings that are kept at each step. whole_words: a gap that was a word
            is filled, from left to right, by pieces that make up one word; nothing is renormalised.
    Raises: ModelError; UserError for a beam or `top_k` below 1.
    """
    check_count(top_k)
    if beam < 1:
        raise UserError(marked("engine", "A beam of {beam} keeps nothing. Use 1 or more."), beam=beam)
    search = _Search(subject, masked, beam, whole_words, on)
    kept, order = yield from search.run()
    ranked = [tuple(ids[place] for place in masked.places) for ids, _ in kept]
    known = {ids: log for ids, (_, log) in zip(ranked, kept, strict=True)}
    alone = search.best_alone(min(top_k, max(beam, BEAM)))  # each is asked for in all its turns
    original = tuple(number for gap in masked.gaps for number in gap.original)
    is_known = all(gap.original for gap in masked.gaps)
    new = list(dict.fromkeys(ids for ids in (*alone, *[original] * is_known) if ids not in known))
    known |= dict(zip(new, (yield from search.scored(new, order)), strict=True))

    def filling(ids: tuple[int, ...]) -> Filling:
        words = _words(subject.wordpiece, masked, ids)
        return Filling(words, ids, known[ids], search.independent_log(ids))

    return Joint(
        masked=masked,
        fillings=tuple(filling(ids) for ids in ranked[:top_k]),
        independent=tuple(filling(ids) for ids in alone),
        original=filling(original) if is_known else None,
        original_rank=ranked.index(original) + 1 if original in ranked else None,
        order=order,
        beam=beam,
    )


def words_in_turn(
    subject: LoadedModel, masked: GappedText, gap: int, *, top_k: int = 10, on: np.ndarray | None = None
) -> tuple[Guess, ...]:
    """Return the likeliest words for one gap, filled in from left to right, each piece seeing those before.

    The other gaps stay masked. Their probabilities are the products of what each piece had at its turn.
    """
    own = replace(masked, gaps=(masked.gaps[gap],))
    kept, _order = result_of(_Search(subject, own, max(BEAM, top_k), True, on).run())
    ranked = [(tuple(ids[place] for place in own.places), log) for ids, log in kept[:top_k]]
    return tuple(Guess(subject.wordpiece.as_word(ids), ids, log) for ids, log in ranked)


Kept = list[tuple[dict[int, int], float]]  # fillings: piece by position, and the log of their probability


class _Search:
    """The beam search over one masked text."""

    def __init__(
        self, subject: LoadedModel, masked: GappedText, beam: int, whole_words: bool, on: np.ndarray | None
    ) -> None:
        self._subject, self._beam, self._on = subject, beam, on
        self._row = InputRow(masked.input_ids, masked.types, masked.places)
        self._gaps = [gap.places for gap in masked.gaps]
        self._from_left = [whole_words and gap.is_word for gap in masked.gaps]
        self._barred = _barred(subject, masked) if whole_words else {}
        self._first = self._ask([self._row])  # (M, V)

    def run(self) -> Generator[Event, None, tuple[Kept, tuple[int, ...]]]:
        """Return the fillings that were kept, best first, and the order they were filled in."""
        places = list(self._row.wanted)
        kept: Kept = [({}, 0.0)]
        order: list[int] = []
        while len(order) < len(places):
            left = self._next(order)
            seen = self._ask([self._row.filled(kept[0][0], tuple(left))])
            best = (seen + torch.stack([self._bar(place) for place in left])).max(-1).values
            place = left[int(best.argmax())]
            kept = yield from self._fill(kept, place, len(order))
            order.append(place)
        yield Progress(stage=FILLING, done=len(order), total=len(places))
        return kept, tuple(order)

    def best_alone(self, count: int) -> list[tuple[int, ...]]:
        """Return the likeliest fillings when each [MASK] is guessed while all are masked, best first."""
        barred = torch.stack([self._bar(place) for place in self._row.wanted])
        best = (self._first + barred).topk(min(count, self._first.shape[-1]), -1)
        columns = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        return [ids for ids, log in best_products(list(columns), count) if log > -math.inf]

    def independent_log(self, ids: Sequence[int]) -> float:
        """Return the sum of the logs that each piece has while all are masked."""
        return math.fsum(float(self._first[row, number]) for row, number in enumerate(ids))

    def scored(
        self, fillings: Sequence[tuple[int, ...]], order: tuple[int, ...]
    ) -> Generator[Event, None, list[float]]:
        """Return the joint logs of given fillings in an order."""
        places = self._row.wanted
        turned = InputRow(self._row.ids, self._row.types, order)
        rows, candidates = list[InputRow](), list[list[tuple[int, ...]]]()
        for ids in fillings:
            own = [ids[places.index(place)] for place in order]
            rows += [turned.filled({}, order[:1]), *turns(turned, own)]
            candidates += [[(number,)] for number in own]
        found = yield from score_rows(self._subject, rows, candidates, on=self._on)
        logs = [row[0][0].log_probability for row in found]
        steps = len(order)
        return [math.fsum(logs[start : start + steps]) for start in range(0, len(logs), steps)]

    def _next(self, done: Sequence[int]) -> list[int]:
        """Return the places that may come next: all open ones; of a gap that is to be one word, the first."""
        left = [[place for place in gap if place not in done] for gap in self._gaps]
        return [
            place
            for gap, from_left in zip(left, self._from_left, strict=True)
            for place in (gap[:1] if from_left else gap)
        ]

    def _fill(self, kept: Kept, place: int, done: int) -> Generator[Event, None, Kept]:
        """Return the best fillings with one place more."""
        rows = [self._row.filled(pieces, (place,)) for pieces, _ in kept]
        found: Kept = []
        for part in parts(self._subject, rows):
            logs = self._ask([rows[number] for number in part]) + self._bar(place)
            found = _best(found + self._longer([kept[number] for number in part], logs, place), self._beam)
            yield Progress(stage=FILLING, done=done, total=len(self._row.wanted))
        return found

    def _longer(self, kept: Kept, logs: Tensor, place: int) -> Kept:
        """Return the best fillings that come of some, given the logs of their next piece, (len(kept), V)."""
        before = torch.tensor([log for _, log in kept], dtype=torch.float64, device=logs.device)
        best = logs.topk(min(self._beam, logs.shape[-1]), -1)
        values, indices = (before[:, None] + best.values).flatten().topk(min(self._beam, best.values.numel()))
        numbers, owners = best.indices.flatten()[indices].tolist(), (indices // best.values.shape[1]).tolist()
        return [
            ({**kept[owner][0], place: number}, log)
            for owner, number, log in zip(owners, numbers, values.tolist(), strict=True)
            if log > -math.inf
        ]

    def _ask(self, rows: Sequence[InputRow]) -> Tensor:
        with looking(self._subject):
            return word_logs(self._subject, rows, self._on)

    def _bar(self, place: int) -> Tensor:
        """Return what is added to the logs of a place: nothing, or -inf where a piece may not stand."""
        return self._barred.get(place, self._first.new_zeros(self._first.shape[-1]))


def _best(kept: Kept, count: int) -> Kept:
    return sorted(kept, key=lambda filling: -filling[1])[:count]


def _barred(subject: LoadedModel, masked: GappedText) -> dict[int, Tensor]:
    """Return for each place of a gap that was a word what its pieces may not be."""
    wordpiece = subject.wordpiece
    goes_on = torch.from_numpy(wordpiece.may_go_on).to(subject.device)
    special = torch.tensor(
        [bool(_IN_BRACKETS.fullmatch(token)) for token in wordpiece.tokens], device=subject.device
    )
    special[list(wordpiece.special_ids)] = True
    none = torch.zeros(wordpiece.vocab_size, device=subject.device)
    chinese = torch.tensor([is_chinese_word(token) for token in wordpiece.tokens], device=subject.device)
    first = {kind: none.masked_fill((goes_on != kind) | special, -math.inf) for kind in (False, True)}
    later = none.masked_fill(~goes_on, -math.inf)
    of_chinese = none.masked_fill(~chinese, -math.inf)
    return {
        place: of_chinese
        if gap.is_chinese_word
        else first[bool(gap.original) and bool(goes_on[gap.original[0]])]
        if place == gap.places[0]
        else later
        for gap in masked.gaps
        if gap.is_word
        for place in gap.places
    }


def _words(wordpiece: Tokenizer, masked: GappedText, ids: tuple[int, ...]) -> tuple[str, ...]:
    """Return the word of each gap, from one id for each [MASK]."""
    words, start = list[str](), 0
    for gap in masked.gaps:
        words.append(wordpiece.as_word(ids[start : start + len(gap.places)]))
        start += len(gap.places)
    return tuple(words)
