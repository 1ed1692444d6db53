"""CBOW and skip-gram: vectors of words that are good at telling a word's neighbours from other words.

    CBOW:       h = mean of v_c over the context,   skip-gram: h = v_I, one neighbour o after the other
    J = -log sigma(v'_o . h) - sum_i log sigma(-v'_i . h),   i drawn by count^(3/4)

gensim trains them, on one thread, since else no run could be repeated. Its own loss is a running sum in
float32 that stops growing, so J is taken here: on one sample of the held-out text, with fixed draws.
Source: Mikolov et al. 2013, Distributed Representations of Words and Phrases, equation 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.errors import UserError, marked
from engine.family.members import NUM_SPECIALS, SEP

# V words, D width, S places of the sample, C = 2 WINDOW words around each

WINDOW, NEGATIVES, POWER = 5, 5, 0.75
ALPHA, LEAST_ALPHA = 0.025, 0.0001  # learning rates at the beginning and at the end, gensim's own
SAMPLE = 2000  # held-out places


@dataclass(frozen=True)
class Word2Vec:
    """v: (V, D) of words that are known; v_out: (V, D), v', of words that are guessed."""

    v: np.ndarray
    v_out: np.ndarray

    @classmethod
    def new(cls, num_words: int, width: int, seed: int) -> Word2Vec:
        """Return one as gensim's begin, with draws of its own: small random v, and v' of zeros."""
        v = ((2 * np.random.default_rng(seed).random((num_words, width)) - 1) / width).astype(np.float32)
        return cls(v, np.zeros_like(v))

    @property
    def num_weights(self) -> int:
        return self.v.size + self.v_out.size

    def blank(self, words: Sequence[int], place: int) -> np.ndarray:
        """Return (V,) the likeness of v' to the mean of v around the place: their cosine."""
        around = [*words[max(0, place - WINDOW) : place], *words[place + 1 : place + 1 + WINDOW]]
        known = [word for word in around if word >= NUM_SPECIALS]
        return likeness(self.v[known].mean(0) if known else np.zeros(self.v.shape[1]), self.v_out)

    def vectors(self) -> np.ndarray:
        return self.v


def likeness(one: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return (V,) the cosine of a vector (D,) with others (V, D), -1..1; 0 of empty vectors."""
    length = np.linalg.norm(one) * np.linalg.norm(others, axis=1)
    found: np.ndarray = np.divide(others @ one, length, out=np.zeros(len(others)), where=length > 0)
    return found


def import_gensim() -> Any:
    """Return gensim's Word2Vec. Raises: UserError where it is not installed."""
    try:
        from gensim.models import Word2Vec as Trained
    except ImportError as error:
        raise UserError(
            marked(
                "engine",
                "CBOW and skip-gram are trained with gensim. It is not installed, so they are "
                "skipped. To add them: pip install 'cloze-workbench[family]'",
            )
        ) from error
    return Trained


class Gensim:
    """gensim's training, a stretch of text at a time. Args: is_skipgram: else CBOW. counts: (V,)."""

    def __init__(self, is_skipgram: bool, counts: np.ndarray, width: int, seed: int) -> None:
        self._trained = import_gensim()(
            vector_size=width, window=WINDOW, negative=NEGATIVES, ns_exponent=POWER, sg=int(is_skipgram),
            min_count=1, workers=1, seed=seed, sample=1e-3, alpha=ALPHA, min_alpha=LEAST_ALPHA,
        )  # fmt: skip
        self._num_words = len(counts)
        known = np.flatnonzero(counts)
        known = known[known >= NUM_SPECIALS]
        self._trained.build_vocab_from_freq({str(word): int(counts[word]) for word in known})
        self._ids = np.array([int(word) for word in self._trained.wv.index_to_key])
        self._names = np.array([str(word) for word in range(self._num_words)], dtype=object)

    def learn(self, words: np.ndarray, begin: float, end: float) -> None:
        """Learn from some sentences. Args: words: a stream. begin, end: shares of the budget, 0..1."""
        rates = [max(LEAST_ALPHA, ALPHA * (1.0 - share)) for share in (begin, end)]
        sentences = list(self._sentences(words))
        self._trained.train(
            sentences, total_examples=len(sentences), epochs=1, start_alpha=rates[0], end_alpha=rates[1]
        )

    def _sentences(self, words: np.ndarray) -> Iterator[list[str]]:
        """Yield the sentences of a stream as gensim reads them, unknown words left out."""
        for sentence in np.split(words, np.flatnonzero(words == SEP)):
            known = sentence[sentence >= NUM_SPECIALS]
            if len(known) > 1:
                yield self._names[known].tolist()

    def model(self) -> Word2Vec:
        """Return what it has learned, in the order of the vocabulary."""
        v = np.zeros((2, self._num_words, self._trained.vector_size), np.float32)
        v[0, self._ids], v[1, self._ids] = self._trained.wv.vectors, self._trained.syn1neg
        return Word2Vec(v[0], v[1])

    def take(self, model: Word2Vec) -> None:
        """Go on from a model."""
        self._trained.wv.vectors[:] = model.v[self._ids]
        self._trained.syn1neg[:] = model.v_out[self._ids]


@dataclass(frozen=True)
class HeldOutPlaces:
    """Held-out places. words: (S,); around: (S, C), -1 where there is none; drawn: (S, NEGATIVES)."""

    words: np.ndarray
    around: np.ndarray
    drawn: np.ndarray

    @classmethod
    def of(cls, held_out: np.ndarray, counts: np.ndarray, seed: int = 7) -> HeldOutPlaces:
        """Return the same places and draws for the same text."""
        rng = np.random.default_rng(seed)
        padded = np.pad(held_out.astype(np.int64), WINDOW, constant_values=SEP)
        places = np.flatnonzero(held_out >= NUM_SPECIALS)
        places = np.sort(rng.choice(places, min(SAMPLE, len(places)), replace=False)) + WINDOW
        steps = np.array([step for step in range(-WINDOW, WINDOW + 1) if step])
        around = padded[places[:, None] + steps]
        around[around < NUM_SPECIALS] = -1
        noise = np.where(np.arange(len(counts)) < NUM_SPECIALS, 0.0, counts) ** POWER
        drawn = rng.choice(len(counts), (len(places), NEGATIVES), p=noise / noise.sum())
        return cls(padded[places], around, drawn)

    def loss(self, model: Word2Vec, is_skipgram: bool) -> float:
        """Return the mean of J over the places, or over pairs of a place and a neighbour."""
        from scipy.special import log_expit  # here: it takes long to import

        is_there = (self.around >= 0).astype(np.float32)
        context = model.v[self.around] * is_there[..., None]  # (S, C, D)
        if not is_skipgram:
            h = context.sum(1) / np.maximum(1.0, is_there.sum(1))[:, None]
            right = (model.v_out[self.words] * h).sum(-1)
            wrong = np.einsum("skd,sd->sk", model.v_out[self.drawn], h)
            return float(-(log_expit(right) + log_expit(-wrong).sum(1)).mean())
        right = np.einsum("sd,scd->sc", model.v_out[self.words], context)
        wrong = np.einsum("skd,scd->sck", model.v_out[self.drawn], context)
        each = -(log_expit(right) + log_expit(-wrong).sum(-1))
        return float((each * is_there).sum() / max(1.0, is_there.sum()))
