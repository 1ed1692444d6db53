"""What the members were before they were trained, so that it can be told what training added.

All networks begin alike: with random weights, and each guesses words by how often the text has them, or knows
nothing. A start is made again from the settings and the counted words, and is asked what the trained member
is asked: what it answers already, no training has taught.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from engine.durable import replaced_file
from engine.errors import UserError
from engine.family.bert import BertMember
from engine.family.elmo import ELMo
from engine.family.glove import GloVe
from engine.family.gpt import GPT
from engine.family.layout import NEURAL, is_family, read_family
from engine.family.members import NUM_SPECIALS, Member
from engine.family.nnlm import NNLM
from engine.family.word2vec import Word2Vec
from engine.model.bert import initialize
from engine.model.heads import PreTraining
from engine.model.tensor_files import load_tensors, save_tensors
from engine.settings.family import FREQUENCIES, FamilyConfig

# V words

WORD_COUNTS = "word_counts.safetensors"  # in a family's folder; one of before has none
_COUNTS = "counts"


def write_counts(folder: Path, counts: np.ndarray) -> None:
    """Write how often each word stands in the text, (V,). Raises: UserError."""
    with replaced_file(folder / WORD_COUNTS) as beside:
        save_tensors(beside, {_COUNTS: torch.from_numpy(counts.astype(np.int64))})


def read_counts(folder: Path, num_words: int) -> np.ndarray | None:
    """Return how often each word stands in the text of a family, (V,); None: it does not tell."""
    try:
        counts: np.ndarray = load_tensors(folder / WORD_COUNTS)[_COUNTS].numpy()
    except (UserError, OSError, KeyError, ValueError):
        return None
    is_fit = counts.shape == (num_words,) and counts.dtype == np.int64 and counts.min() >= 0
    return counts if is_fit else None


def begin(model: nn.Module, counts: np.ndarray, starts: str) -> None:
    """Give a new network what it may know of a text. Args: counts: (V,). starts: as the setting.

    A word never seen counts as seen once. How ELMo joins its two sides takes the frequencies of words in any
    case: it is no weight.
    """
    share = torch.from_numpy((counts + 1.0) / (counts + 1.0).sum())
    with torch.no_grad():
        if isinstance(model, ELMo):
            model.unigram.copy_(share)
        if starts != FREQUENCIES:
            return
        if isinstance(model, PreTraining):  # it is never to guess a special token
            counts = np.where(np.arange(len(counts)) < NUM_SPECIALS, 0, counts)
            share = torch.from_numpy((counts + 1.0) / (counts + 1.0).sum())
        output_bias(model).copy_(share.log())


def output_bias(model: nn.Module) -> Tensor:
    """Return what a network adds to the score of each word, (V,)."""
    if isinstance(model, NNLM | GPT):
        return model.b
    assert isinstance(model, ELMo | PreTraining)
    return model.bias


def before_training(folder: Path, members: Mapping[str, Member], num_words: int) -> dict[str, Member]:
    """Return the members of a family as they were before they were trained; of the n-gram there is nothing.

    Nobody where the folder does not tell with what they began. Raises: UserError, as `read_family`.
    """
    counts = read_counts(folder, num_words)
    if counts is None or not is_family(folder):
        return {}
    config = read_family(folder)
    return {name: _begun(name, one, config, counts) for name, one in members.items() if name != "ngram"}


def _begun(name: str, trained: Member, config: FamilyConfig, counts: np.ndarray) -> Member:
    family, seed = config.family, config.budget.seed
    if isinstance(trained, BertMember):
        device = trained.subject.bert.embeddings.word.weight.device
        model = copy.deepcopy(trained.subject.masked_head()).cpu()  # where its numbers are drawn
        initialize(model, model.config.initializer_range, seed)
        nn.init.zeros_(model.bias)
        begin(model, counts, family.starts)
        model.to(device)
        return BertMember(replace(trained.subject, bert=model.bert, language=model))
    if name in NEURAL:
        network = NEURAL[name].new(len(counts), family.width, family.layers, family.length, seed)
        begin(network, counts, family.starts)
        return network.eval().requires_grad_(False)
    kind = GloVe if name == "glove" else Word2Vec
    return kind.new(len(counts), family.width, seed)
