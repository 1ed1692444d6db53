"""A smaller vocabulary for a model: the pieces that a text uses, with the embeddings they had.

Fewer words cost less to score: of a small model's pretraining they are most of the work. Which pieces must
stay, engine/text/fewer.py says.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import TypeVar

import numpy as np
import torch

from engine.errors import ConfigError, ModelError, marked
from engine.model.bert import Bert
from engine.model.config import BertConfig
from engine.model.heads import PreTraining
from engine.model.source import unfilled
from engine.text.fewer import fewer, must_keep, order_of, with_parts
from engine.text.tokenizer import Tokenizer
from engine.text.vocabulary import TOO_MANY

# V words of the vocabulary, n of them kept

_ROWS = ("embeddings.word.weight", "bias")  # our parameters with a row for each word

Model = TypeVar("Model", Bert, PreTraining)


def ids_to_keep(counts: np.ndarray, size: int, tokenizer: Tokenizer) -> np.ndarray:
    """Return at most `size` ids, ascending: those of `must_keep`, then the most frequent that occur at all.

    Args:   counts: (V,), how often each piece stands in a text; of equally frequent ones the lower id stays.
    Raises: ConfigError if `size` is smaller than what must be kept; it says how many that are.
    """
    needed = must_keep(tokenizer)
    if len(needed) > size:
        template = marked(
            "engine",
            "{field} is {value}, but the special tokens and single characters of this "
            "vocabulary alone are {least}. Choose at least {least}.",
        )
        raise ConfigError(template, field="trim_vocab", value=size, least=len(needed))
    seen = np.array(counts[: tokenizer.vocab_size], np.int64)
    order = np.argsort(-seen, kind="stable")
    return with_parts(tokenizer, needed, order[seen[order] > 0], size)


def trimmed(model: Model, tokenizer: Tokenizer, keep: np.ndarray) -> tuple[Model, Tokenizer]:
    """Return a copy of the model that knows the kept pieces alone, and their tokenizer, cleaning as before.

    Nothing else changes: a text whose pieces were all kept, with those that they are joined from, gets the
    same hidden states to the last bit.

    Args:   keep: (n,) ids; special and added tokens are kept whether named or not.
    Raises: ModelError if the model has fewer words than the vocabulary.
    """
    check_vocabulary(model, tokenizer)
    order, config = order_of(tokenizer, keep), trimmed_config(model.config, tokenizer, keep)
    state = {name: value.clone() for name, value in model.state_dict().items() if not _has_rows(name)}
    for name, value in model.state_dict().items():
        if _has_rows(name):
            state[name] = value[torch.tensor(order, device=value.device)]
    make = (
        type(model) if isinstance(model, PreTraining) else partial(Bert, with_pooler=model.pooler is not None)
    )
    copy = unfilled(make, config)
    copy.load_state_dict(state, assign=True)
    return copy.train(model.training), fewer(tokenizer, order)


def trimmed_config(config: BertConfig, tokenizer: Tokenizer, keep: np.ndarray) -> BertConfig:
    """Return the shape of the model that `trimmed` gives."""
    new = {old: number for number, old in enumerate(order_of(tokenizer, keep))}
    named = {
        key: new[value]
        for key, value in config.extra.items()
        if key.endswith("_token_id") and type(value) is int and value in new
    }
    pad, extra = new[tokenizer.pad_id], {**config.extra, **named}
    return dataclasses.replace(config, vocab_size=len(new), pad_token_id=pad, extra=extra)


def trimmed_tokenizer(tokenizer: Tokenizer, keep: np.ndarray) -> Tokenizer:
    """Return the tokenizer of the kept pieces, as `trimmed` does."""
    return fewer(tokenizer, order_of(tokenizer, keep))


def check_vocabulary(model: Bert | PreTraining, tokenizer: Tokenizer) -> None:
    """Refuse a vocabulary with pieces that the model has no embedding for. Raises: ModelError."""
    if tokenizer.vocab_size > model.config.vocab_size:
        raise ModelError(TOO_MANY, count=tokenizer.vocab_size, known=model.config.vocab_size)


def _has_rows(name: str) -> bool:
    return name.removeprefix("bert.") in _ROWS
