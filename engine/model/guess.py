"""What a model makes of a gap: sentences pinned while it learns, and the best of products of guesses.

Everything is one batch, runs where the model is, draws no random numbers and leaves the model as it was.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate

import torch

from engine.errors import ModelError, UserError, marked
from engine.events import Reading
from engine.model.heads import PreTraining
from engine.model.trim import check_vocabulary
from engine.text.batch import Bounds
from engine.text.tokenizer import Tokenizer

# B sentences, N tokens of all of them, P masks, V words of the vocabulary

_MARK = re.compile(r"\[([^\[\]]+)\]")
_NUM_GUESSES = 5


@dataclass(frozen=True, slots=True)
class _Pin:
    """An encoded sentence. answer: the ids of its right word, one for each mask, or none."""

    ids: tuple[int, ...]
    right: str | None
    answer: tuple[int, ...]
    num_masks: int


class Pins:
    """Sentences with one gap each, encoded once and looked at again and again.

    The gap is marked by square brackets: "The capital of France is [Paris]." with its right word, or [MASK]
    without. A right word of several pieces masks as many; its probability is then the product over them, each
    guessed without seeing the others, and its rank that of its worst piece. Guesses are such products too. A
    bracket ends a word: "play[ing]" are two.

    Raises: UserError: a sentence without a gap, or with several. ModelError: a vocabulary without [MASK].
    """

    def __init__(self, sentences: Sequence[str], wordpiece: Tokenizer) -> None:
        self.sentences = tuple(sentences)
        self._wordpiece = wordpiece
        self._pins = [_pin(sentence, wordpiece) for sentence in self.sentences]
        order = sorted(range(len(self)), key=lambda number: -len(self._pins[number].ids))
        packed = [self._pins[number] for number in order]  # the longest first, as batches are
        self._lengths = [len(pin.ids) for pin in packed]
        self._ids = torch.tensor([token for pin in packed for token in pin.ids], dtype=torch.long)
        self._positions = torch.tensor(
            [n for length in self._lengths for n in range(length)], dtype=torch.long
        )
        self._masked = (self._ids == _mask_id(wordpiece)).nonzero()[:, 0]  # (P,)
        answers = [token for pin in packed for token in pin.answer or (0,) * pin.num_masks]
        self._answers = torch.tensor(answers, dtype=torch.long)[:, None]  # (P, 1)
        ends = accumulate(pin.num_masks for pin in packed)
        gaps = [slice(end - pin.num_masks, end) for pin, end in zip(packed, ends, strict=True)]
        self._gaps = dict(zip(order, gaps, strict=True))  # number of a sentence -> its rows of P

    def __len__(self) -> int:
        return len(self.sentences)

    def look(self, model: PreTraining) -> list[Reading]:
        """Return a reading for each sentence, from one packed batch and the scores of the gaps alone.

        Its probability and rank are None without a right word, or when the vocabulary cannot spell it.
        Raises: UserError: a sentence is longer than the model reads. ModelError: not this model's vocabulary.
        """
        if not self._pins:
            return []
        check_vocabulary(model, self._wordpiece)
        _check_length(model, self._lengths[0])
        with _looking(model) as device:
            bounds = Bounds(self._lengths, device)
            inputs = {"input_ids": self._ids.to(device), "position_ids": self._positions.to(device)}
            hidden = model(**inputs, bounds=bounds, masked=self._masked.to(device)).hidden
            logs = model.logits(hidden).float().log_softmax(-1)[:, : self._wordpiece.vocab_size]  # (P, V)
            best = logs.topk(min(_NUM_GUESSES, logs.shape[-1]), -1)
            right = logs.gather(-1, self._answers.to(device))  # (P, 1)
            ranks = 1 + (logs > right).sum(-1)
            columns = (best.indices, best.values, right[:, 0], ranks)
            rows = [_Row(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]
        return [self._reading(number, rows[self._gaps[number]]) for number in range(len(self))]

    def _reading(self, number: int, rows: list[_Row]) -> Reading:
        pin = self._pins[number]
        fillings = best_products([(row.ids, row.logs) for row in rows], _NUM_GUESSES)
        known = bool(pin.answer)
        return Reading(
            sentence=self.sentences[number],
            guesses=tuple((self._wordpiece.spelled(ids), math.exp(log)) for ids, log in fillings),
            right=pin.right,
            probability=math.exp(sum(row.right_log for row in rows)) if known else None,
            rank=max(row.rank for row in rows) if known else None,
        )


@dataclass(frozen=True, slots=True)
class _Row:
    """One mask: its best ids and their log probabilities, and those of the right piece."""

    ids: list[int]
    logs: list[float]
    right_log: float
    rank: int


def _pin(sentence: str, wordpiece: Tokenizer) -> _Pin:
    marks = list(_MARK.finditer(sentence))
    if len(marks) != 1 or not marks[0][1].strip():
        template = marked(
            "engine",
            "The pinned sentence {sentence!r} needs one mask. Put the right word in square "
            "brackets, or write [MASK].",
        )
        raise UserError(template, sentence=sentence[:80])
    right = None if marks[0][1] == "MASK" else marks[0][1].strip()
    parts = [sentence[: marks[0].start()].rstrip(), sentence[marks[0].end() :]]  # the word takes the space
    before, after = (ids.tolist() for ids in wordpiece.encode_ids(parts))
    answer = wordpiece.ids_of_word(right) if right else []
    known = bool(answer) and wordpiece.unk_id not in answer
    masks = (len(answer) if known else 1) * [_mask_id(wordpiece)]
    ids = (wordpiece.cls_id, *before, *masks, *after, wordpiece.sep_id)
    return _Pin(ids, right, tuple(answer) if known else (), len(masks))


def _mask_id(wordpiece: Tokenizer) -> int:
    if wordpiece.mask_id is None:
        template = marked("engine", "The vocabulary has no [MASK], so no word can be masked. Choose another.")
        raise ModelError(template)
    return wordpiece.mask_id


def _check_length(model: PreTraining, length: int) -> None:
    if length > model.config.max_position_embeddings:
        raise too_long(length, model.config.max_position_embeddings)


def too_long(length: int, most: int) -> UserError:
    """Return the refusal of a text of more WordPieces than a model reads."""
    template = marked(
        "engine", "The text has {length} pieces, but this model reads at most {most}. Shorten it."
    )
    return UserError(template, length=length, most=most)


@contextmanager
def _looking(model: PreTraining) -> Iterator[torch.device]:
    """Switch dropout and gradients off; give the device of the model."""
    training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            yield model.bias.device
    finally:
        model.train(training)


def best_products(
    columns: Sequence[tuple[Sequence[int], Sequence[float]]], count: int
) -> list[tuple[tuple[int, ...], float]]:
    """Return the likeliest combinations, one id from each column, with the sums of their logs, best first.

    Args: columns: ids of each place and their logs, the likeliest first, at least `count` if there are more.
    """
    found: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
    for numbers, logs in columns:
        longer = [
            ((*ids, numbers[place]), log + logs[place])
            for better, (ids, log) in enumerate(found)
            for place in range(min(len(numbers), count // (better + 1)))  # all others have `count` above them
        ]
        found = sorted(longer, key=lambda one: -one[1])[:count]
    return found
