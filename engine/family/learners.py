"""The members that do not learn by the loop: how the n-gram, CBOW, skip-gram and GloVe learn, round by round.

A round is what lies between two looks at the clock. What a learner keeps between rounds, `state` returns.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from engine.family import glove, word2vec
from engine.family.ngram import NGram
from engine.family.reading import Streams
from engine.family.word2vec import Gensim, HeldOutPlaces, Word2Vec
from engine.settings.family import FamilyConfig

FIRST_WORDS = 2**17  # that an n-gram counts at first
MOST_HALVED = 6  # times: where rounds are counted, it begins with a 64th of the text
MEASURED = 2**15  # held-out words that it is measured on
STRETCH = 200_000  # words of a round of gensim's
COUNTED = 1_000_000  # words of a round in which GloVe counts
COUNTING = 0.35  # the share of its budget in which GloVe counts at most
PAIRS = 20 * glove.PART  # of a round in which it learns
PASSES = 50  # over all pairs, where words are its budget: Pennington et al. 2014, section 4.2
KEPT_PAIRS = 0.005  # of all pairs, to measure GloVe on


class Learner(ABC):
    """A member that is learning. metric: what its evaluations are told by, larger is better."""

    metric: ClassVar[str] = "minus_loss"
    rate = 0.0  # of learning, now
    num_words = 0  # in the last round

    def __init__(self, config: FamilyConfig, text: Streams) -> None:
        self.config, self.text = config, text
        self.counts = np.bincount(text.train, minlength=text.wordpiece.vocab_size)

    @abstractmethod
    def round(self, progress: float, share: float) -> float | None:
        """Learn for a while; return the loss, or None where there is nothing more to learn.

        Args: progress: of the budget, 0..1. share: of the budget that the last round took, or this one will.
        """

    def share_read(self, words: int) -> float:
        """Return how much of a budget of so many words is used, 0..1."""
        return min(1.0, self.words_read / words)

    @property
    @abstractmethod
    def words_read(self) -> int:
        """Words of the text that it has read, those read twice counted twice."""

    @abstractmethod
    def measure(self) -> dict[str, float]:
        """Return what the held-out text says, "loss" among it."""

    @abstractmethod
    def model(self) -> Any:
        """Return the member as it is now."""

    @abstractmethod
    def state(self) -> dict[str, Tensor]:
        """Return what it needs to go on."""

    @abstractmethod
    def restore(self, state: dict[str, Tensor]) -> None:
        """Go on from there."""


class NGramLearner(Learner):
    """Counts twice as much text in each round, so that its curve shows what more text gives."""

    def __init__(self, config: FamilyConfig, text: Streams) -> None:
        super().__init__(config, text)
        self._model: NGram | None = None
        self._count = 0

    def round(self, progress: float, share: float) -> float | None:
        most = min(
            self.config.family.most_counted,
            len(self.text.train),
            self.config.budget.tokens or len(self.text.train),
        )
        count = min(most, 2 * self._count or FIRST_WORDS)
        steps = self.config.budget.steps
        if steps:
            count = max(1, most >> min(MOST_HALVED, max(0, steps - 1 - round(progress * steps))))
        elif self._count and share * count / self._count > 1.0 - progress:  # it would not be done in time
            count = int(self._count * (1.0 - progress) / share)
        if steps and count == self._count:  # there are more rounds than halves
            self.num_words = 0
            return _cross_entropy(self.model(), self.text.train[:MEASURED])
        if self._count == most or count < 1.25 * self._count:
            return None
        new = self.text.train[self._count : min(count, self._count + MEASURED)]
        size = len(self.counts)
        loss = math.log(size) if self._model is None else _cross_entropy(self._model, new)
        self._model = NGram.count(self.text.train[:count], size)
        self._count, self.num_words = count, count - self._count
        return loss

    def measure(self) -> dict[str, float]:
        loss = _cross_entropy(self.model(), self.text.held_out[:MEASURED])
        return {"loss": loss, "perplexity": math.exp(min(700.0, loss)), "minus_loss": -loss}

    @property
    def words_read(self) -> int:
        return self._count

    def model(self) -> NGram:
        return self._model or NGram.count(self.text.train[:1], len(self.counts))

    def state(self) -> dict[str, Tensor]:
        return {"count": torch.tensor(self._count)}

    def restore(self, state: dict[str, Tensor]) -> None:
        self._count = int(state["count"])
        self._model = NGram.count(self.text.train[: self._count], len(self.counts))


def _cross_entropy(model: NGram, words: np.ndarray) -> float:
    return float(-model.logs(words).mean()) if len(words) else 0.0


class Word2VecLearner(Learner):
    """gensim on one stretch of the text after another, again from the beginning at its end."""

    def __init__(self, config: FamilyConfig, text: Streams) -> None:
        super().__init__(config, text)
        self._is_skipgram = config.family.members == "skipgram"
        self._gensim = Gensim(self._is_skipgram, self.counts, config.family.width, config.budget.seed)
        self._at = 0  # words of the text that were read
        held_out = text.held_out if len(text.held_out) else text.train
        self._held_out, self._train = (HeldOutPlaces.of(one, self.counts) for one in (held_out, text.train))

    def round(self, progress: float, share: float) -> float | None:
        begin = self._at % len(self.text.train)
        left = max(1, self.config.budget.tokens - self._at) if self.config.budget.tokens else STRETCH
        words = self.text.train[begin : begin + min(STRETCH, left)]
        self._gensim.learn(words, progress, min(1.0, progress + share))
        self._at, self.num_words = self._at + len(words), len(words)
        self.rate = word2vec.ALPHA * (1.0 - progress)
        return self._train.loss(self._gensim.model(), self._is_skipgram)

    def measure(self) -> dict[str, float]:
        loss = self._held_out.loss(self._gensim.model(), self._is_skipgram)
        return {"loss": loss, "minus_loss": -loss}

    @property
    def words_read(self) -> int:
        return self._at

    def model(self) -> Word2Vec:
        return self._gensim.model()

    def state(self) -> dict[str, Tensor]:
        model = self._gensim.model()
        return {
            "at": torch.tensor(self._at),
            "v": torch.from_numpy(model.v),
            "v_out": torch.from_numpy(model.v_out),
        }

    def restore(self, state: dict[str, Tensor]) -> None:
        self._at = int(state["at"])
        self._gensim.take(Word2Vec(state["v"].numpy(), state["v_out"].numpy()))


class GloVeLearner(Learner):
    """Counts which words stand near each other, for a third of its time at most; then goes down J.

    Some of the pairs are kept apart, to measure on. Where words are its budget, it counts so many, none
    twice, and goes through their pairs as often as the paper does.
    """

    rate = glove.RATE

    def __init__(self, config: FamilyConfig, text: Streams) -> None:
        super().__init__(config, text)
        size, self._seed = len(self.counts), config.budget.seed
        self._model = glove.GloVe.new(size, config.family.width, self._seed)
        self._descent = glove.AdaGrad(self._model)
        self._X = glove.cooccurrences(text.train[:0], size)
        self._counted = self._done = 0  # words that were counted; pairs that were learned from
        self._learned = self._kept = Cooccurrences.of(self._X)
        self._order = np.empty(0, np.int64)
        self._most = min(len(text.train), config.budget.tokens or len(text.train))  # words to count

    def share_read(self, words: int) -> float:
        if not len(self._learned):
            return COUNTING * self._counted / self._most
        return min(1.0, COUNTING + (1 - COUNTING) * self._done / (PASSES * len(self._learned)))

    def round(self, progress: float, share: float) -> float | None:
        if not len(self._learned):
            is_last = not self.config.budget.tokens and progress + 2 * share >= COUNTING
            return self._count(is_last)
        epoch, begin = divmod(self._done, len(self._learned))
        if not begin or not len(self._order):
            self._order = np.random.default_rng([self._seed, epoch]).permutation(len(self._learned))
        some = self._order[begin : begin + PAIRS]
        loss = 0.0
        for start in range(0, len(some), glove.PART):
            part = self._learned.some(some[start : start + glove.PART])
            loss += self._descent.step(part.i, part.j, part.x)
        self._done, self.num_words = self._done + len(some), len(some)
        return loss / len(some)

    def _count(self, is_last: bool) -> float | None:
        """Count some more of the text; after the last of it, part the pairs. Returns: J of a pair."""
        words = self.text.train[self._counted : min(self._counted + COUNTED, self._most)]
        self._X = self._X + glove.cooccurrences(words, len(self.counts))
        self._counted, self.num_words = self._counted + len(words), len(words)
        if is_last or self._counted == self._most:
            self._part()
        pairs = Cooccurrences.of(self._X)
        return self._loss(pairs.some(np.arange(min(glove.PART, len(pairs))))) if len(pairs) else None

    def _part(self) -> None:
        pairs = Cooccurrences.of(self._X)
        is_kept = np.random.default_rng(self._seed).random(len(pairs)) < KEPT_PAIRS
        self._learned, self._kept = pairs.some(~is_kept), pairs.some(is_kept)

    def _loss(self, pairs: Cooccurrences) -> float:
        return self._model.loss(pairs.i, pairs.j, pairs.x) / max(1, len(pairs))

    def measure(self) -> dict[str, float]:
        loss = self._loss(self._kept)
        return {"loss": loss, "minus_loss": -loss}

    @property
    def words_read(self) -> int:
        return self._counted

    def model(self) -> glove.GloVe:
        return self._model

    def state(self) -> dict[str, Tensor]:
        arrays = {
            "w": self._model.w,
            "w_out": self._model.w_out,
            "b": self._model.b,
            "b_out": self._model.b_out,
            **{f"squares_{number}": one for number, one in enumerate(self._descent.squares)},
        }
        at = torch.tensor([self._counted, self._done, int(len(self._learned) > 0)])
        return {"at": at, **{name: torch.from_numpy(array.copy()) for name, array in arrays.items()}}

    def restore(self, state: dict[str, Tensor]) -> None:
        self._counted, self._done, is_parted = state["at"].tolist()
        for name in ("w", "w_out", "b", "b_out"):
            getattr(self._model, name)[:] = state[name].numpy()
        for number, square in enumerate(self._descent.squares):
            square[:] = state[f"squares_{number}"].numpy()
        for begin in range(0, self._counted, COUNTED):  # counted again: X is larger than all else
            words = self.text.train[begin : min(self._counted, begin + COUNTED)]
            self._X = self._X + glove.cooccurrences(words, len(self.counts))
        if is_parted:
            self._part()


@dataclass(frozen=True)
class Cooccurrences:
    """Pairs of words that stand near each other, (E,) each: which they are, and X."""

    i: np.ndarray
    j: np.ndarray
    x: np.ndarray

    @classmethod
    def of(cls, X: Any) -> Cooccurrences:  # noqa: N803
        """Return all that were counted."""
        entries = X.tocoo()
        return cls(entries.row.astype(np.int64), entries.col.astype(np.int64), entries.data)

    def some(self, which: np.ndarray) -> Cooccurrences:
        """Return some of them."""
        return Cooccurrences(self.i[which], self.j[which], self.x[which])

    def __len__(self) -> int:
        return len(self.x)


def learner_of(config: FamilyConfig, text: Streams) -> Learner:
    """Return the learner of the only member that the settings name. Raises: UserError without gensim."""
    kinds: dict[str, type[Learner]] = {"ngram": NGramLearner, "glove": GloVeLearner}
    return kinds.get(config.family.members, Word2VecLearner)(config, text)
