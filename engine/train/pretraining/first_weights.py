"""The model that a run begins or goes on with: its first weights, its dropouts, what is held still.

What counting gives to a new model is counted over the documents that are trained on alone. Those kept apart
to measure on are strangers to it from the first step, as they are afterwards.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch

from engine.errors import Sentence, marked
from engine.events import Event
from engine.model.bert import set_dropout
from engine.model.heads import PreTraining
from engine.model.start import start_head, start_weights
from engine.model.trim import trimmed
from engine.model.weights import load_pretraining
from engine.settings.pretrain import PretrainConfig
from engine.text.corpus.tokens import counts
from engine.text.neighbours import MOST_TOKENS, neighbour_vectors
from engine.text.read_tokenizer import read_tokenizer
from engine.train.pretraining.setup import PretrainSetup, split
from engine.train.run.checkpoint import Checkpoint

_AT_ONCE = 512  # documents whose pieces are counted together


def starting_model(
    config: PretrainConfig, setup: PretrainSetup, checkpoint: Checkpoint | None = None
) -> Generator[Event, None, tuple[PreTraining, list[Sentence]]]:
    """Return the model that a run begins or goes on with, and what a person should know of its weights."""
    notes: list[Sentence] = []
    if checkpoint is not None:
        model = PreTraining(setup.config)
        checkpoint.load_into(model)
    elif config.start.model.startswith("new:"):
        model = PreTraining(setup.config)
        yield from _start(config, setup, model)
        notes.append(Sentence(marked("engine", "The model is new. Its training begins with this run.")))
    else:
        model, report = load_pretraining(Path(config.start.model), seed=config.budget.seed)
        notes += report.sentences()
        if setup.keep is not None:
            model, _ = trimmed(model, read_tokenizer(Path(config.start.model)), setup.keep)
        if any(name.startswith("cls.predictions.") for name in report.missing):
            start_head(model, torch.from_numpy(frequencies(setup, config)))
    as_trained(model, config)
    return model, notes


def as_trained(model: PreTraining, config: PretrainConfig) -> None:
    """Give a model the dropouts of a run, and hold still what nothing of its loss would reach."""
    set_dropout(model, config.start.hidden_dropout, config.start.attention_dropout)
    if model.config.family.has_next_sentence and not config.objective.next_sentence:
        assert model.bert.pooler is not None
        for parameter in (*model.next_sentence.parameters(), *model.bert.pooler.parameters()):
            parameter.requires_grad_(False)


def _start(config: PretrainConfig, setup: PretrainSetup, model: PreTraining) -> Iterator[Event]:
    """Give a new model its first weights."""
    counted, vectors = frequencies(setup, config), None
    if config.start.informed_start:
        ids, width = _learned_from(setup, config), setup.config.hidden_size
        vectors = yield from neighbour_vectors(ids, counted, width, config.budget.seed)
    start_weights(model, torch.from_numpy(counted), vectors, config.budget.seed)


def frequencies(setup: PretrainSetup, config: PretrainConfig) -> np.ndarray:
    """Return (V,) int64: how often each piece stands in the documents to train on; 0 for what is never to be
    guessed.
    """
    wordpiece, store = setup.wordpiece, setup.stores[0]
    counted = np.zeros(setup.config.vocab_size, np.int64)  # a model may have more rows than pieces
    counted[: wordpiece.vocab_size] = counts(store)
    places = _kept_apart(setup, config)
    for first in range(0, len(places), _AT_ONCE):
        some = [store.ids[begin:end] for begin, end in places[first : first + _AT_ONCE]]
        counted -= np.bincount(np.concatenate(some), minlength=len(counted))
    counted[list(wordpiece.special_ids)] = 0
    return counted


def _learned_from(setup: PretrainSetup, config: PretrainConfig) -> np.ndarray:
    """Return the tokens of the documents to train on, end to end, as many as neighbours are counted among."""
    ids, places = setup.stores[0].ids, _kept_apart(setup, config)
    if not places:
        return ids
    bounds = [0, *(place for stretch in places for place in stretch), len(ids)]
    learned, total = list[np.ndarray](), 0
    for begin, end in list(pairwise(bounds))[::2]:  # what lies between
        learned.append(ids[begin : min(end, begin + MOST_TOKENS - total)])
        total += len(learned[-1])
        if total >= MOST_TOKENS:
            break
    return np.concatenate(learned)


def _kept_apart(setup: PretrainSetup, config: PretrainConfig) -> list[tuple[int, int]]:
    """Return the stretches of the text's tokens that are kept apart, in order; none where another text is."""
    learned, _, held_out, documents = split(setup, config)
    if held_out is not learned:
        return []
    bounds = np.asarray(learned.doc_tokens)
    return list(zip(bounds[documents].tolist(), bounds[documents + 1].tolist(), strict=True))
