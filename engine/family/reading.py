"""The text that a family learns from: one vocabulary, one part to learn from, one part kept apart.

What is prepared is what pretraining prepares, once for all members; those that read words one after another
see it as one stream, in which every sentence ends with [SEP].
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from engine.events import Event
from engine.settings.config import with_values
from engine.settings.family import FamilyConfig
from engine.settings.pretrain import ObjectiveConfig, PretrainConfig
from engine.text.corpus.instances import TokenColumns
from engine.text.corpus.new_vocabulary import SPECIAL_TOKENS, whole_words, write_vocab
from engine.text.tokenizer import Tokenizer
from engine.train.pretraining import setup as pretraining_setup
from engine.train.pretraining.setup import PretrainSetup, corpus_of, split

TEXT, VOCAB = "text", "vocab.txt"  # in a family's folder: what was prepared; the words
NUM_SPECIALS = len(SPECIAL_TOKENS)  # the first ids are no words
_MASKED = ObjectiveConfig(next_sentence=True)


@dataclass(frozen=True)
class Streams:
    """The words to learn from and those kept apart, (N,) int32 each; a sentence ends with [SEP]."""

    wordpiece: Tokenizer
    train: np.ndarray
    held_out: np.ndarray

    @property
    def counts(self) -> np.ndarray:
        """(V,) how often each word stands in what is learned from."""
        return np.bincount(self.train, minlength=self.wordpiece.vocab_size)


def as_pretraining(config: FamilyConfig, vocab: Path) -> PretrainConfig:
    """Return the settings by which BERT, the last of the family, learns from the same text."""
    family = config.family
    values = {
        "model": f"new:{family.layers}x{family.width}",
        "vocab": str(vocab),
        "lowercase": "yes",
        "max_length": family.length,
        "max_positions": 2 * family.length,
        "informed_start": False,  # BERT alone would begin with counts of neighbours
    }
    plain = PretrainConfig(text=config.text, objective=_MASKED, budget=config.budget, device=config.device)
    return with_values(plain, values)


def prepared(config: FamilyConfig, folder: Path) -> Generator[Event, None, PretrainSetup]:
    """Return vocabulary and text of a family, made at the first time. Raises: UserError, as pretraining."""
    vocab = folder / VOCAB
    if not vocab.is_file():
        corpus = corpus_of(as_pretraining(config, vocab), config.text.text)
        write_vocab(vocab, (yield from whole_words(corpus, size=config.family.words, lowercase=True)))
    settings = as_pretraining(config, vocab)
    if (folder / TEXT).is_dir():
        return (yield from pretraining_setup.load(folder / TEXT, settings))
    setup = yield from pretraining_setup.prepare(settings)
    setup = replace(setup, about={"recipe": {}, "chain": [], **setup.about})
    setup.save(folder / TEXT)
    return setup


def streams(config: FamilyConfig, setup: PretrainSetup) -> Streams:
    """Return the text as words one after another, documents in an order drawn by the seed."""
    settings = as_pretraining(config, Path())
    store, train, held_store, held_out = split(setup, settings)
    order = np.random.default_rng(config.budget.seed).permutation(train)
    sep = setup.wordpiece.sep_id
    return Streams(setup.wordpiece, stream(store, order, sep), stream(held_store, held_out, sep))


def stream(store: TokenColumns, documents: np.ndarray, sep: int) -> np.ndarray:
    """Return the words of some documents one after another, (N,) int32, `sep` after every sentence."""
    bounds = np.asarray(store.documents)
    numbers = [np.arange(bounds[one], bounds[one + 1]) for one in documents]
    chosen = np.concatenate([*numbers, np.empty(0, np.int64)])
    sentences = np.asarray(store.sentences)
    begins, lengths = sentences[chosen], sentences[chosen + 1] - sentences[chosen]
    ends = np.cumsum(lengths + 1) - 1  # where each [SEP] stands
    words = np.full(int(lengths.sum()) + len(lengths), sep, np.int32)
    is_word = np.ones(len(words), bool)
    is_word[ends] = False
    before = np.cumsum(lengths) - lengths
    words[is_word] = store.ids[np.repeat(begins - before, lengths) + np.arange(int(lengths.sum()))]
    return words
