"""The token store as a stream of masked examples: by epoch, block of documents, and step.

An epoch is a random order of the documents, cut into blocks. A block becomes examples, which are drawn into
steps of so many tokens. All of it follows from (seed, epoch, block), so a position in the data is four
numbers, and every rank of many draws the same step and takes its share.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.model.kernels import ROW_MULTIPLE
from engine.settings.values import as_kind
from engine.text.batch import split_by_tokens
from engine.text.corpus.instances import Instances, MaskedBatch, TokenColumns, collate_masked, paired, single
from engine.text.corpus.masking import Masker
from engine.text.tokenizer import Tokenizer
from engine.train.ranks import ALONE, Ranks

BLOCK_TOKENS = 2**22  # of a block at least, some 1,000 articles: examples are mixed within it
BLOCK_STEPS = 16  # of a block at least
STEPS_SORTED = 16  # examples of so many steps are sorted by length together, so that equal ones meet
_ORDER, _MIX = 11, 12  # streams of random numbers


@dataclass(frozen=True, slots=True)
class Growth:
    """The length of examples over the budget: from `first`, doubling up to `last` within `share` of it.

    Each length below the last has the same share.
    """

    first: int
    last: int
    share: float

    def at(self, progress: float) -> int:
        """Return the length where `progress` (0..1) of the budget is used."""
        stages = self.stages()
        if progress >= self.share or len(stages) == 1:
            return self.last
        return stages[min(int(progress / self.share * (len(stages) - 1)), len(stages) - 2)]

    def stages(self) -> list[int]:
        """Return the lengths in order; the last one is `last`."""
        lengths = []
        length = self.first
        while self.share > 0 and 0 < length < self.last:
            lengths.append(length)
            length *= 2
        return [*lengths, self.last]


@dataclass(slots=True)
class Position:
    """Where the feed is: the next step is number `place` of block `block` of epoch `epoch`."""

    epoch: int = 0
    block: int = 0
    place: int = 0
    length: int = 0  # of this block's examples


@dataclass(frozen=True, slots=True)
class RankExamples:
    """A rank's examples of a step, longest first: `places` among the examples of their block.

    salt: of their masks.
    """

    instances: Instances
    places: np.ndarray
    salt: int

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each."""
        lengths: np.ndarray = self.instances.lengths[self.places]
        return lengths


@dataclass
class TextFeed:
    """Steps of masked examples from the documents of a store.

    Args: batch_tokens: of all ranks together. static: the same masks each epoch.
    """

    store: TokenColumns
    documents: np.ndarray
    wordpiece: Tokenizer
    masker: Masker
    growth: Growth
    batch_tokens: int
    next_sentence: bool
    static: bool
    seed: int
    ranks: Ranks = ALONE
    at: Position = field(default_factory=Position)

    def __post_init__(self) -> None:
        self._instances: Instances | None = None
        self._steps: list[np.ndarray] = []
        tokens = np.diff(np.asarray(self.store.doc_tokens))
        self._tokens = tokens[self.documents]
        self._blocks: list[np.ndarray] = []
        self._blocks_of = -1

    def take(self, step: int, progress: float) -> RankExamples:
        """Return this rank's examples of the next step, longest first."""
        length = self.growth.at(progress)
        while self._instances is None or self.at.place >= len(self._steps):
            if self._instances is not None:
                self._next_block()
            self._open(length)
        if length != self.at.length:
            self._grow(length)
        chosen = self._steps[self.at.place]
        self.at.place += 1
        assert self._instances is not None
        own = self.ranks.share(chosen, self._instances.lengths[chosen])
        return RankExamples(self._instances, own, 0 if self.static else self.at.epoch + 1)

    def shown(self) -> float:
        """Return how large a part of the text the examples of its next block show, 0 to 1."""
        if self._instances is None:
            self._open(self.growth.at(0.0))
        assert self._instances is not None
        documents = self._blocks_in(self.at.epoch)[self.at.block]
        total = int(np.diff(np.asarray(self.store.doc_tokens))[documents].sum())
        return self._instances.num_own / max(1, total)

    def parts(self, taken: RankExamples, num_tokens: int) -> list[MaskedBatch]:
        """Return masked, packed batches."""
        made, salt = taken.instances, taken.salt
        return [
            collate_masked(self.store, made, part, self.masker, self.wordpiece, salt, multiple=ROW_MULTIPLE)
            for part in split_by_tokens(taken.places, made.lengths, num_tokens)
        ]

    def lengths(self, taken: RankExamples) -> np.ndarray:
        """Return the tokens of each example."""
        return taken.lengths

    def length_at(self, progress: float) -> int:
        """Return what length examples are made up to at a progress."""
        return self.growth.at(progress)

    def epoch(self, step: int) -> float:
        """Return how many times the text has been gone through."""
        done = self.at.block + self.at.place / max(1, len(self._steps))
        return self.at.epoch + min(1.0, done / max(1, len(self._blocks_in(self.at.epoch))))

    def state(self) -> Mapping[str, Any]:
        """Return the position."""
        return {name: getattr(self.at, name) for name in Position.__slots__}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go to a position and open its block with the length that it had."""
        self.at = Position(**{name: as_kind(int, value) for name, value in state.items()})
        self._instances = None
        if self.at.length:
            self._open(self.at.length)

    def _grow(self, length: int) -> None:
        """Make longer examples of the block, and go on where as large a part of it is done as before."""
        done = self.at.place / len(self._steps)
        self._open(length)
        self.at.place = min(int(done * len(self._steps)), max(0, len(self._steps) - 1))

    def _next_block(self) -> None:
        self.at.place = 0
        self.at.block += 1
        if self.at.block >= len(self._blocks_in(self.at.epoch)):
            self.at.epoch, self.at.block = self.at.epoch + 1, 0

    def _blocks_in(self, epoch: int) -> list[np.ndarray]:
        """Return the documents of each block of an epoch; for static masks always the same."""
        epoch = 0 if self.static else epoch
        if epoch != self._blocks_of:
            keys = np.random.PCG64([self.seed, epoch, _ORDER]).random_raw(len(self.documents))
            order = np.argsort(keys, kind="stable")
            ends = np.cumsum(self._tokens[order])
            size = max(BLOCK_TOKENS, BLOCK_STEPS * self.batch_tokens)
            count = max(1, round(int(ends[-1]) / size))
            cuts = np.searchsorted(ends, ends[-1] * np.arange(1, count) / count)  # even: no scrap at the end
            parts = np.split(self.documents[order], np.unique(cuts[cuts > 0]))
            self._blocks = [part for part in parts if len(part)]
            self._blocks_of = epoch
        return self._blocks

    def _open(self, length: int) -> None:
        """Make the examples of the block and draw them into steps."""
        at = self.at
        documents = self._blocks_in(at.epoch)[at.block]
        if self.next_sentence:
            made = paired(
                self.store,
                documents,
                max_length=length,
                seed=self.seed,
                epoch=0 if self.static else at.epoch,
                block=at.block,
                pool=self.documents,
            )
        else:
            made = single(
                self.store, documents, max_length=length, seed=self.seed, epoch=0 if self.static else at.epoch
            )
        self._instances = made
        keys = np.random.PCG64([self.seed, at.epoch, at.block, _MIX]).random_raw(len(made))
        order = np.argsort(keys, kind="stable")
        num_steps = max(1, round(int(made.lengths.sum()) / self.batch_tokens))
        steps = _drawn(order, made.lengths, num_steps, keys)
        self._steps = [step for step in steps if len(step) >= self.ranks.world_size]  # something for each
        at.length = length


def _drawn(order: np.ndarray, lengths: np.ndarray, num_steps: int, keys: np.ndarray) -> list[np.ndarray]:
    """Cut a random order into steps of as good as equal tokens, near-equal lengths together."""
    groups = max(1, round(num_steps / STEPS_SORTED))
    steps: list[np.ndarray] = []
    for number, group in enumerate(_even(order, lengths, groups)):
        longest_first = group[np.argsort(-lengths[group], kind="stable")]
        share = (number + 1) * num_steps // groups - number * num_steps // groups
        steps += _even(longest_first, lengths, share)
    steps = [step for step in steps if len(step)]
    return [steps[place] for place in np.argsort(keys[: len(steps)], kind="stable")]


def _even(order: np.ndarray, lengths: np.ndarray, parts: int) -> list[np.ndarray]:
    """Cut an order into `parts` of as good as equal tokens."""
    ends = np.cumsum(lengths[order])
    if not len(ends):
        return []
    cuts = np.searchsorted(ends, ends[-1] * np.arange(1, parts) / parts)
    return np.split(order, cuts)
