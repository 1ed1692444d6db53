"""Where every head looks when a model reads a text, and what that costs in memory.

The weights are copied layer by layer into one array that is taken before anything runs, so that they exist
once: 151 MB for 12 x 12 heads and 512 tokens.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from engine.device import is_out_of_memory, too_long_for_memory
from engine.errors import UserError, marked
from engine.inspect.loaded_model import LoadedModel, looking
from engine.model.bert import Bert
from engine.model.config import BertConfig
from engine.text.tokenizer import Encoding
from engine.text.words import Word, words_of

# L layers, H heads, T tokens, D hidden_size, d = D / H, F intermediate_size

Floats = npt.NDArray[np.float32]
Switches = npt.NDArray[np.bool_]  # (L, H), False where a head is off

_KERNEL_BYTES = 8 * 2**20  # that oneDNN takes for the shapes of a new length
_SHARE_OF_FREE = 0.8  # other programs and the picture need some too
_ADDS = marked(
    "engine",
    "In the model {name}, attention also compares words by their distance, so a query and a key alone do not "
    "give the score. Choose another picture of the head.",
)


@dataclass(frozen=True, eq=False)
class AttentionMaps:
    """What a model's heads looked at while it read a text or pair.

    encoding: the text's pieces, T of them. words: its whole words, without special tokens. attentions:
    (L, H, T, T), read-only; [layer, head, query, key], each row of keys sums to 1. hidden_states: (L + 1, T,
    D), read-only, the embeddings first; None unless asked for. on: (L, H) bool, False where a head was
    switched off: its own weights are told all the same, but nothing after it saw what it found; None where
    all were on. folder: of the model. Layers and heads are counted from 0.
    """

    text: str
    text_pair: str | None
    encoding: Encoding
    words: tuple[Word, ...]
    attentions: Floats
    hidden_states: Floats | None = None
    model_name: str = ""
    fingerprint: str = ""
    on: Switches | None = None
    folder: Path = Path()

    @property
    def off(self) -> frozenset[tuple[int, int]]:
        """The heads that were switched off: layer and head."""
        return (
            frozenset() if self.on is None else frozenset((int(i), int(j)) for i, j in np.argwhere(~self.on))
        )

    @property
    def num_layers(self) -> int:
        """L."""
        return int(self.attentions.shape[0])

    @property
    def num_heads(self) -> int:
        """H, of each layer."""
        return int(self.attentions.shape[1])

    @property
    def num_tokens(self) -> int:
        """T, special tokens included."""
        return int(self.attentions.shape[-1])

    @cached_property
    def rolled_out(self) -> Floats:
        """`rollout` of these weights, (L, T, T), computed once; heads that are off are left out."""
        return rollout(self.attentions, self.on)


@dataclass(frozen=True, eq=False)
class HeadAttention:
    """How one head came to look from one token at the others, and what it took from them.

    query: (d,), of the token at `place`. keys: (T, d). products: (T, d), query * keys, what each dimension
    adds. scores: (T,), their sums over the square root of d. weights: (T,), the softmax of the scores: the
    row of `AttentionMaps.attentions`. values: (T, d). output: (d,), the sum of weights * values: what the
    head hands on for this token. is_on: False where the look has switched the head off, so that its output
    counts as zero.
    """

    layer: int
    head: int
    place: int
    tokens: tuple[str, ...]
    query: Floats
    keys: Floats
    products: Floats
    scores: Floats
    weights: Floats
    values: Floats
    output: Floats
    is_on: bool = True


def estimate_bytes(config: BertConfig, num_tokens: int, *, copies: int = 1) -> int:
    """Return the memory that `look` takes, hidden states included, the model itself left out; within 15 %.

    Args: copies: looks that are kept at the same time, such as 2 for a difference.
    """
    length, width = num_tokens, config.hidden_size
    map_floats = config.num_attention_heads * length * length  # of one layer
    kept = config.num_hidden_layers * map_floats + (config.num_hidden_layers + 1) * length * width
    # while a layer runs: its scores, their softmax, and once more for what is freed but not given back;
    # queries, keys, values, their copies, context; feed-forward twice
    working = 3 * map_floats + length * (8 * width + 2 * config.intermediate_size)
    return 4 * (copies * kept + working) + _KERNEL_BYTES


def free_bytes() -> int | None:
    """Return the memory that programs can still take without swapping; None where it cannot be told."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            name, _, value = line.partition(":")
            if name == "MemAvailable":
                return int(value.split()[0]) * 1024
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError, IndexError):
        return None


def check_memory(config: BertConfig, num_tokens: int, *, copies: int = 1) -> None:
    """Refuse a look that memory does not suffice for, before it is taken. Raises: UserError."""
    free = free_bytes()
    needed = estimate_bytes(config, num_tokens, copies=copies)
    if free is None or needed <= _SHARE_OF_FREE * free:
        return
    raise UserError(
        marked(
            "engine",
            "The attention of {layers} × {heads} heads over {length} pieces takes "
            "{needed} GB of memory, and {free} GB are free. Shorten the text, choose a "
            "smaller model, or close other programs.",
        ),
        layers=config.num_hidden_layers,
        heads=config.num_attention_heads,
        length=num_tokens,
        needed=f"{needed / 2**30:.2f}",
        free=f"{free / 2**30:.2f}",
    )


def look(
    subject: LoadedModel,
    text: str,
    text_pair: str | None = None,
    *,
    on: Switches | None = None,
    want_hidden: bool = False,
) -> AttentionMaps:
    """Return where every head looks. Takes as long as one forward pass.

    Args:   on: (L, H), False switches a head off: what it found counts as zero. None: all on.
    Raises: UserError: an empty text, too many pieces, too little memory. ModelError: the vocabulary or a
            pair does not fit the model.
    Source: Vaswani et al. 2017, section 3.2; equal to `transformers` with attn_implementation="eager".
    """
    config, encoding = subject.config, subject.encode(text, text_pair)
    length = len(encoding.input_ids)
    check_switches(config, on)
    check_memory(config, length)
    with explained_memory(length):
        shape = (config.num_hidden_layers, config.num_attention_heads, length, length)
        attentions = np.empty(shape, np.float32)
        states = np.empty((shape[0] + 1, length, config.hidden_size), np.float32) if want_hidden else None
        with looking(subject):
            hidden = embedded(subject.bert, encoding)
            for number, (maps, hidden_after) in enumerate(layers_of(subject.bert, hidden, on)):
                attentions[number] = maps[0].cpu().numpy()
                if states is not None:
                    states[number : number + 2] = torch.cat([hidden, hidden_after]).cpu().numpy()
                hidden = hidden_after
                del maps
    return AttentionMaps(
        text=text,
        text_pair=text_pair,
        encoding=encoding,
        words=words_of(encoding, text, text_pair),
        attentions=read_only(attentions),
        hidden_states=None if states is None else read_only(states),
        model_name=subject.name,
        fingerprint=subject.fingerprint,
        on=None if on is None else read_only(on.copy()),
        folder=subject.folder,
    )


def embedded(bert: Bert, encoding: Encoding) -> Tensor:
    """Return what the first layer reads, (1, T, D), where the model is."""
    device = bert.embeddings.word.weight.device
    ids = torch.tensor([encoding.input_ids], device=device)
    types = torch.tensor([encoding.token_type_ids], device=device)
    places = torch.arange(ids.shape[1], device=device)[None]
    result: Tensor = bert.embeddings(bert.embeddings.word(ids), types, places)
    return result


def layers_of(bert: Bert, hidden: Tensor, on: Switches | None) -> Iterator[tuple[Tensor, Tensor]]:
    """Run layer after layer; give each one's maps (1, H, T, T) and hidden states (1, T, D).

    Only one layer's maps exist at a time. To be run through within `looking`. Args: hidden: (1, T, D).
    """
    switches = None if on is None else torch.tensor(on, device=hidden.device).to(hidden.dtype)
    for number, layer in enumerate(bert.layers):
        hidden, maps = layer(hidden, None, None, None if switches is None else switches[number], True)
        yield maps, hidden
        del maps  # before the next layer takes its own


def rollout(attentions: Floats, on: Switches | None = None) -> Floats:
    """Return how much of each token's embedding reaches each token after each layer, if attention were all.

    Heads are averaged, the residual counts as much as attention (half and half), and layers are multiplied
    up. Rows sum to 1. A layer without a head that is on passes on what there is.

    Args:   attentions: (L, H, T, T). on: (L, H), the heads that count; None: all.
    Returns: (L, T, T), read-only; [layer, token after it, embedding].
    Source: Abnar & Zuidema 2020, section 3.
    """
    num_layers, _, length, _ = attentions.shape
    rolled = np.empty((num_layers, length, length), np.float32)
    itself = np.eye(length, dtype=np.float32) / 2
    before: Floats | None = None
    for number, maps in enumerate(attentions):
        heads = maps if on is None else maps[on[number]]
        mixed = itself + (mean_of(heads) / 2 if len(heads) else itself)
        rolled[number] = mixed if before is None else mixed @ before
        before = rolled[number]
    return read_only(rolled)


def mean_of(maps: Sequence[Floats]) -> Floats:
    """Return the mean of some heads' weights, (T, T); of one head, its weights themselves."""
    if len(maps) == 1:
        return np.asarray(maps[0])
    total = maps[0] + maps[1]
    for one in maps[2:]:
        total += one  # stays in the cache: a tenth of the time of one sum over all
    total /= np.float32(len(maps))
    return np.asarray(total)


def detail(subject: LoadedModel, seen: AttentionMaps, layer: int, head: int, place: int) -> HeadAttention:
    """Return how one head treats one token, from query to output; runs the layers before it.

    Args:   seen: a look of this subject; heads that were off in it are off here.
    Raises: UserError: its scores are more than the products of queries and keys.
    """
    with looking(subject) as device:
        if seen.hidden_states is not None:
            hidden = torch.tensor(seen.hidden_states[layer], device=device)  # (T, D)
        else:
            first = embedded(subject.bert, seen.encoding)
            before = islice(layers_of(subject.bert, first, seen.on), layer)
            hidden = [first, *(states for _, states in before)][-1][0]
        block: Any = subject.bert.layers[layer]
        if not block.attention.is_plain:
            raise UserError(_ADDS, name=subject.name)
        q, k, v = block.queries_keys_values(hidden)  # (T, H, d)
        query, keys, values = q[place, head], k[:, head], v[:, head]
        scores = keys @ query / math.sqrt(len(query))
        near = block.attention.near(len(hidden), device)
        compared = scores if near is None else scores.masked_fill(~near[place], -torch.inf)
        weights = compared.softmax(0)
        found = {
            "query": query,
            "keys": keys,
            "products": keys * query,
            "scores": scores,
            "weights": weights,
            "values": values,
            "output": weights @ values,
        }
        arrays = {name: read_only(part.cpu().numpy().copy()) for name, part in found.items()}
    is_on = seen.on is None or bool(seen.on[layer, head])
    return HeadAttention(layer, head, place, tuple(seen.encoding.shown), **arrays, is_on=is_on)


def check_switches(config: BertConfig, on: Switches | None) -> None:
    """Our own mistake: switches of another shape. Raises: ValueError."""
    shape = (config.num_hidden_layers, config.num_attention_heads)
    if on is not None and on.shape != shape:
        raise ValueError(f"switches of shape {on.shape} for {shape} heads")


@contextmanager
def explained_memory(length: int) -> Iterator[None]:
    """Turn running out of memory into a sentence. Raises: UserError."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if is_out_of_memory(error):
            raise too_long_for_memory(length) from error
        raise


Array = TypeVar("Array", bound=np.ndarray)


def read_only(array: Array) -> Array:
    """Return the array, which nobody may write to from now on."""
    array.flags.writeable = False
    return array
