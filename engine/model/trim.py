"""A smaller vocabulary for a model: the pieces that a text uses, with the embeddings they had.

Fewer words cost less to score: of a small model's pretraining they are most of the work. Not to be broken: a
word that could be cut into pieces before is never [UNK] afterwards, it only takes more of them.
"""

from __future__ import annotations

import dataclasses
import re
from functools import partial
from typing import TypeVar

import numpy as np
import torch

from engine.errors import ConfigError, ModelError, marked
from engine.model.bert import Bert
from engine.model.heads import PreTraining
from engine.model.source import unfilled
from engine.text.tokenizer import Tokenizer
from engine.text.vocabulary import TOO_MANY
from engine.text.wordpiece import WordPiece

# V words of the vocabulary, n of them kept

_ROWS = ("embeddings.word.weight", "bias")  # our parameters with a row for each word
_CONTINUES = "##"
_NEVER_USED = re.compile("##[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")

Model = TypeVar("Model", Bert, PreTraining)


def ids_to_keep(counts: np.ndarray, size: int, wordpiece: WordPiece) -> np.ndarray:
    """Return at most `size` ids, ascending: those of `must_keep`, then the most frequent that occur at all.

    Args:   counts: (V,), how often each piece stands in a text; of equally frequent ones the lower id stays.
    Raises: ConfigError if `size` is smaller than what must be kept; it says how many that are.
    """
    needed = must_keep(wordpiece)
    if len(needed) > size:
        template = marked(
            "engine",
            "{field} is {value}, but the special tokens and single characters of this "
            "vocabulary alone are {least}. Choose at least {least}.",
        )
        raise ConfigError(template, field="trim_vocab", value=size, least=len(needed))
    seen = np.array(counts[: wordpiece.vocab_size], np.int64)
    seen[needed] = 0
    order = np.argsort(-seen, kind="stable")[: size - len(needed)]
    return np.sort(np.concatenate([needed, order[seen[order] > 0]]))


def must_keep(wordpiece: WordPiece) -> np.ndarray:
    """Return the ids, ascending, without which text would turn to [UNK], and of special and added tokens.

    These are every single character, alone and after "##". Where a vocabulary lacks one of the two, all
    longer pieces that use the character in that place stay too. An ideograph after "##" may go where each
    ideograph is a word of its own: no text is cut into it (7,300 pieces of the published Chinese vocabulary).
    """
    special = {*wordpiece.names.named.values(), *(token.content for token in wordpiece.added)}
    known = set(wordpiece.tokens)

    def is_needed(token: str) -> bool:
        if token in special:
            return True
        if token.startswith("[unused") or (wordpiece.chinese_chars and _NEVER_USED.fullmatch(token)):
            return False
        places = _places(token)
        return len(places) == 1 or not known.issuperset(places)

    return np.array([number for number, token in enumerate(wordpiece.tokens) if is_needed(token)], np.int64)


def trimmed(model: Model, wordpiece: WordPiece, keep: np.ndarray) -> tuple[Model, WordPiece]:
    """Return a copy of the model that knows the kept pieces alone, and their WordPiece, cleaning as before.

    Special tokens come first, in their old order, then the others in theirs. Nothing else changes: a text
    whose pieces were all kept gets the same hidden states to the last bit.

    Args:   keep: (n,) ids; special and added tokens are kept whether named or not.
    Raises: ModelError if the model has fewer words than the vocabulary.
    """
    check_vocabulary(model, wordpiece)
    order, smaller = _order(wordpiece, keep), trimmed_wordpiece(wordpiece, keep)
    config = dataclasses.replace(
        model.config, vocab_size=len(order), pad_token_id=order.index(wordpiece.pad_id)
    )
    state = {name: value.clone() for name, value in model.state_dict().items() if not _has_rows(name)}
    for name, value in model.state_dict().items():
        if _has_rows(name):
            state[name] = value[torch.tensor(order, device=value.device)]
    make = (
        type(model) if isinstance(model, PreTraining) else partial(Bert, with_pooler=model.pooler is not None)
    )
    copy = unfilled(make, config)
    copy.load_state_dict(state, assign=True)
    return copy.train(model.training), smaller


def trimmed_wordpiece(wordpiece: WordPiece, keep: np.ndarray) -> WordPiece:
    """Return the WordPiece of the kept pieces, as `trimmed` does."""
    order = _order(wordpiece, keep)
    base = tuple(wordpiece.tokens[n] for n in order if n < len(wordpiece.base))
    return dataclasses.replace(wordpiece, base=base, notes=())


def _order(wordpiece: WordPiece, keep: np.ndarray) -> list[int]:
    """Return the old ids in the order of the new ones."""
    ids = {token: number for number, token in enumerate(wordpiece.tokens)}
    base = len(wordpiece.base)  # tokens that were added behind it stay there
    first = [ids[name] for name in wordpiece.names.named.values() if ids.get(name, base) < base]
    added = {ids[token.content] for token in wordpiece.added}
    others = (added | {int(number) for number in keep}) - set(first)
    return sorted(first) + sorted(others)  # those that only `added` knows have the highest ids, as they must


def check_vocabulary(model: Bert | PreTraining, wordpiece: Tokenizer) -> None:
    """Refuse a vocabulary with pieces that the model has no embedding for. Raises: ModelError."""
    if wordpiece.vocab_size > model.config.vocab_size:
        raise ModelError(TOO_MANY, count=wordpiece.vocab_size, known=model.config.vocab_size)


def _places(token: str) -> list[str]:
    """Return a piece's characters, each as the piece that it would be alone."""
    if token.startswith(_CONTINUES) and len(token) > len(_CONTINUES):
        return [_CONTINUES + character for character in token[len(_CONTINUES) :]]
    return [token[:1], *(_CONTINUES + character for character in token[1:])]


def _has_rows(name: str) -> bool:
    return name.removeprefix("bert.") in _ROWS
