"""How probable a word is in a gap, and how that was reckoned: plain numbers that tell what they stand for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.errors import Sentence, UserError, marked
from engine.model.guess import best_products
from engine.text.tokenizer import Tokenizer

# P places, V words of the vocabulary

_IN_TURN = marked(
    "engine",
    "{count} characters ({pieces}), filled in from left to right. This is the product of their shares, each "
    "guessed with those before it in view.",
)
MOST_GUESSES = 100_000  # more than any vocabulary of BERT's; of several pieces there are V x V


@dataclass(frozen=True, slots=True)
class Guess:
    """A word that the model would put into a gap.

    word: as it would be written. ids: its pieces, one for each [MASK] of the gap. probability: 0..1; of
    several pieces the product, each guessed without seeing the others. log_probability: natural.
    """

    word: str
    ids: tuple[int, ...]
    log_probability: float

    @property
    def probability(self) -> float:
        return math.exp(self.log_probability)


@dataclass(frozen=True, slots=True)
class PieceScore:
    """One piece at one [MASK]. rank: its place among all pieces of the vocabulary there, 1 the likeliest."""

    piece: str
    id: int
    log_probability: float
    rank: int

    @property
    def probability(self) -> float:
        return math.exp(self.log_probability)


@dataclass(frozen=True, slots=True)
class WordScore:
    """How probable one word is in a gap of as many [MASK]s as it has pieces.

    pieces: each guessed while all of the gap is masked. num_masks: of the gap as it stands in the text; where
    the word has another number of pieces, it was asked with as many [MASK]s as it has, in a pass of its own.
    in_turn_log: natural log of the probability when the pieces are filled in from left to right, each seeing
    those before it; equal to `log_probability` for one piece, None where it was not asked for.
    """

    word: str
    pieces: tuple[PieceScore, ...]
    num_masks: int
    in_turn_log: float | None = None

    @property
    def log_probability(self) -> float:
        """Natural logarithm of `probability`."""
        return math.fsum(piece.log_probability for piece in self.pieces)

    @property
    def probability(self) -> float:
        """0..1: of the piece, or the product over the pieces."""
        return math.exp(self.log_probability)

    @property
    def in_turn(self) -> float | None:
        """0..1: of the pieces filled in one after the other; None where it was not asked for."""
        return None if self.in_turn_log is None else math.exp(self.in_turn_log)

    @property
    def rank(self) -> int:
        """Place of the piece among all, 1 the likeliest; of several pieces, that of the worst placed."""
        return max(piece.rank for piece in self.pieces)

    @property
    def is_product(self) -> bool:
        """Whether it is a product over several pieces."""
        return len(self.pieces) > 1

    @property
    def has_own_pass(self) -> bool:
        """Whether it was asked with another number of [MASK]s than the gap has."""
        return len(self.pieces) != self.num_masks

    @property
    def explanation(self) -> Sentence:
        """What kind of score this is, in a sentence or two for a person."""
        values = {
            "count": len(self.pieces),
            "masks": self.num_masks,
            "pieces": " ".join(p.piece for p in self.pieces),
        }
        if not self.is_product and not self.has_own_pass:
            return Sentence(
                marked("engine", "One piece. This is its share among all pieces of the vocabulary.")
            )
        if not self.has_own_pass:
            template = marked(
                "engine",
                "{count} pieces ({pieces}). This is the product of their shares, each guessed "
                "while all are masked. The rank is that of the worst piece.",
            )
            return Sentence(template, values)
        if not self.is_product:
            template = marked(
                "engine",
                "One piece, where the masked word has {masks}. It was asked with one [MASK] "
                "instead, so compare it with care.",
            )
            return Sentence(template, values)
        template = marked(
            "engine",
            "{count} pieces ({pieces}), asked with {count} [MASK]s instead of {masks}, so "
            "compare it with care. This is the product of their shares, each guessed while "
            "all are masked. The rank is that of the worst piece.",
        )
        return Sentence(template, values)


@dataclass(frozen=True, slots=True)
class GapAnswer:
    """What the model makes of one gap.

    guesses: the likeliest first. original: of what stood there, None where that is not known. entropy: in
    bits, the mean over its [MASK]s: 0 where the model is certain, 1 where it wavers between two. is_in_turn:
    whether the guesses are words filled in from left to right, as Chinese ones are, whose characters make no
    word where each is guessed for itself.
    """

    guesses: tuple[Guess, ...]
    original: WordScore | None
    entropy: float
    is_in_turn: bool = False

    def probability_of(self, score: WordScore) -> float:
        """Return the probability of a word, 0..1, as that of the guesses is reckoned."""
        found = score.in_turn if self.is_in_turn else None
        return score.probability if found is None else found

    def rank_of(self, score: WordScore) -> int:
        """Return the place of a word, 1 the likeliest; 0 of one filled in in turn that is not among the
        guesses.
        """
        if not self.is_in_turn:
            return score.rank
        ids = tuple(piece.id for piece in score.pieces)
        return next((rank for rank, one in enumerate(self.guesses, 1) if one.ids == ids), 0)

    def explanation_of(self, score: WordScore) -> Sentence:
        """Return what kind of score a word has, in a sentence or two for a person."""
        if not self.is_in_turn or score.has_own_pass:
            return score.explanation
        pieces = " ".join(piece.piece for piece in score.pieces)
        return Sentence(_IN_TURN, {"count": len(score.pieces), "pieces": pieces})


def answers_of(
    wordpiece: Tokenizer, logs: Tensor, gaps: Sequence[tuple[int, tuple[int, ...]]], top_k: int
) -> tuple[GapAnswer, ...]:
    """Return what a model's shares say of some gaps.

    Args: logs: (P, V), natural logs, gap after gap. gaps: the number of [MASK]s of each, and the ids that
        stood there, or none.
    """
    best = logs.topk(min(top_k, logs.shape[-1]), -1)
    numbers, values = best.indices.tolist(), best.values.tolist()
    entropies = (torch.special.entr(logs.exp()).sum(-1) / math.log(2)).tolist()
    answers, start = list[GapAnswer](), 0
    for num_masks, original in gaps:
        own = slice(start, start + num_masks)
        found = best_products(list(zip(numbers[own], values[own], strict=True)), top_k)
        guesses = tuple(Guess(wordpiece.as_word(ids), ids, log) for ids, log in found)
        score = None
        if original:
            pieces = piece_scores(wordpiece, logs[own], original)
            turn = pieces[0].log_probability if num_masks == 1 else None
            score = WordScore(wordpiece.as_word(original), pieces, num_masks, turn)
        answers.append(GapAnswer(guesses, score, math.fsum(entropies[own]) / num_masks))
        start += num_masks
    return tuple(answers)


def piece_scores(wordpiece: Tokenizer, logs: Tensor, ids: Sequence[int]) -> tuple[PieceScore, ...]:
    """Return the score of one piece for each place. Args: logs: (P, V). ids: P of them."""
    right = logs.gather(-1, torch.tensor(ids, device=logs.device)[:, None])  # (P, 1)
    ranks = (1 + (logs > right).sum(-1)).tolist()
    found = zip(ids, right[:, 0].tolist(), ranks, strict=True)
    return tuple(PieceScore(wordpiece.shown[number], number, log, rank) for number, log, rank in found)


def spell(wordpiece: Tokenizer, word: str) -> tuple[int, ...] | None:
    """Return the pieces of a word that somebody typed, or None where the vocabulary cannot spell it.

    What goes on with a word is typed as `Tokenizer.as_word` spells it, such as "##ing".
    """
    ids = tuple(wordpiece.ids_as_spelled(word.strip()))
    return ids if ids and wordpiece.unk_id not in ids and wordpiece.mask_id not in ids else None


def must_spell(wordpiece: Tokenizer, word: str) -> tuple[int, ...]:
    """Return the pieces of a word. Raises: UserError: it is empty, or the vocabulary cannot spell it."""
    if not word.strip():
        raise UserError(marked("engine", "There is no word to score. Type one."))
    ids = spell(wordpiece, word)
    if ids is None:
        template = marked(
            "engine",
            "This model’s vocabulary cannot spell {word!r}, so the word has no probability. Try another.",
        )
        raise UserError(template, word=word.strip()[:80])
    return ids


def check_count(count: int) -> None:
    """Refuse a number of guesses below 1, or above what memory is for. Raises: UserError."""
    if count < 1:
        raise UserError(
            marked("engine", "{count} is not a number of guesses. Ask for 1 or more."), count=count
        )
    if count > MOST_GUESSES:
        template = marked("engine", "{count} guesses are too many. Ask for {most} at most.")
        raise UserError(template, count=count, most=MOST_GUESSES)
