"""One vector for each text: pooled from the encoder's hidden states, layer by layer, in packed batches.

Not to be broken: vectors come in the order of the texts that were given, and `places` says which those are.
A layer that is not asked for is not kept, and none above the highest one asked for is computed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from engine.device import (
    CPU_MICRO_BATCH_TOKENS,
    CUDA_MICRO_BATCH_TOKENS,
    is_out_of_memory,
    too_long_for_memory,
)
from engine.errors import ModelError, UserError, marked
from engine.events import Event, Progress
from engine.inspect.loaded_model import LoadedModel, ModelSummary, looking
from engine.model.bert import Bert
from engine.model.kernels import ROW_MULTIPLE
from engine.model.sentence_files import SentenceConfig
from engine.text.batch import Batch, Bounds, EncodedRows, by_length, collate
from engine.text.tokenizer import Tokenizer

# B texts of a batch, E texts of all, N tokens packed, D hidden_size, L layers, P poolings

Floats = npt.NDArray[np.float32]

TEXTS_AT_ONCE = 512  # cut into pieces between two yields
LAST = 4  # layers that "last_four" takes the mean of
LAYERED = ("cls", "mean", "max")  # these are taken from one layer; the others say themselves which
SENTENCE = "sentence"
KINDS = {  # how a text's vectors become one, and what that means
    SENTENCE: (
        marked("engine", "As sentence-transformers"),
        marked(
            "engine",
            "The pooling that the model was made for, as its sentence-transformers files name it.",
        ),
    ),
    "mean": (
        marked("engine", "Mean of all pieces"),
        marked("engine", "The mean of the vectors of all pieces, including [CLS] and [SEP]."),
    ),
    "cls": (
        marked("engine", "[CLS]"),
        marked("engine", "The vector of [CLS], the token that begins every text."),
    ),
    "max": (
        marked("engine", "Maximum of all pieces"),
        marked("engine", "The largest value of each dimension over all pieces."),
    ),
    "last_four": (
        marked("engine", "Mean of the last four layers"),
        marked("engine", "The mean over all pieces and the last four layers."),
    ),
    "pooled": (
        marked("engine", "Pooled output"),
        marked("engine", "What the model’s pooler makes of [CLS]. A classifier reads it."),
    ),
    "mix": (
        marked("engine", "Learned mix of layers"),
        marked("engine", "The mean over all pieces of all layers, mixed as this model has learned."),
    ),
}


@dataclass(frozen=True, slots=True)
class PoolingConfig:
    """How a text's vectors become one. layer: 0 the embeddings, 1 to L; -1 the last, -2 the one before.

    The layer counts for "cls", "mean" and "max" alone.
    """

    kind: str = "mean"
    layer: int = -1

    def of(self, about: ModelSummary) -> PoolingConfig:
        """Return the same with its layer counted from 0. Raises: ModelError: the model has no such thing."""
        if self.kind not in KINDS:
            raise ModelError(
                marked("engine", "There is no pooling named {kind}. Choose one of: {kinds}."),
                kind=self.kind,
                kinds=list(KINDS),
            )
        if self.kind == "mix" and not layer_mix(about):
            raise ModelError(
                marked("engine", "{name} has learned no mix of its layers. Choose another pooling."),
                name=about.name,
            )
        if self.kind == SENTENCE and about.sentence is None:
            raise ModelError(
                marked(
                    "engine", "{name} does not say how sentence-transformers pools. Choose another pooling."
                ),
                name=about.name,
            )
        depth = about.config.num_hidden_layers
        if self.kind not in LAYERED:
            return PoolingConfig(self.kind, depth)
        layer = self.layer + depth + 1 if self.layer < 0 else self.layer
        if not 0 <= layer <= depth:
            raise ModelError(
                marked(
                    "engine",
                    "{name} has no layer {layer}. Layer 0 is the embeddings, {depth} the last layer.",
                ),
                name=about.name,
                layer=self.layer,
                depth=depth,
            )
        return PoolingConfig(self.kind, layer)


@dataclass(frozen=True, eq=False)
class TextEmbeddings:
    """The vectors of some texts.

    vectors: (P, E, D) float32. places: (E,) int64, which of the given texts they are of, ascending. empty:
    places of those without anything to read. num_cut: texts of which the model could read the beginning only.
    """

    poolings: tuple[PoolingConfig, ...]
    vectors: Floats
    places: npt.NDArray[np.int64]
    empty: tuple[int, ...]
    num_cut: int
    num_tokens: int
    seconds: float

    def of(self, pooling: PoolingConfig) -> Floats:
        """Return (E, D) of one of the poolings, its layer counted from 0."""
        found: Floats = self.vectors[self.poolings.index(pooling)]
        return found

    @property
    def rate(self) -> float:
        """Texts a second."""
        return len(self.places) / max(self.seconds, 1e-9)


def layer_mix(about: ModelSummary) -> tuple[float, ...]:
    """Return the weight of each of the L + 1 layers in the learned mix, the embeddings first; none: empty.

    A model says it in cloze.json as "layer_mix": L + 1 numbers, or L, then without the embeddings.
    Raises: ModelError if what stands there cannot be.
    """
    found = about.info.get("layer_mix")
    if not found:
        return ()
    depth = about.config.num_hidden_layers
    numbers = isinstance(found, list) and all(isinstance(one, int | float) for one in found)
    if not numbers or len(found) not in (depth, depth + 1) or not all(map(math.isfinite, found)):
        raise ModelError(
            marked("engine", "layer_mix in cloze.json of {name} must hold {count} numbers, one per layer."),
            name=about.name,
            count=depth + 1,
        )
    return (*(0.0,) * (depth + 1 - len(found)), *map(float, found))


def kinds_of(about: ModelSummary) -> tuple[str, ...]:
    """Return the poolings that a model can give, the one it was made for first."""
    has = {"pooled": about.has_pooler, "mix": bool(about.info.get("layer_mix")), SENTENCE: about.sentence}
    return tuple(kind for kind in KINDS if has.get(kind, True))


def usual_kind(about: ModelSummary) -> str:
    """Return the pooling where none is asked for: the one the model was made for, else the mean."""
    return "mean" if about.sentence is None else SENTENCE


def every_layer(about: ModelSummary, kind: str) -> tuple[PoolingConfig, ...]:
    """Return a kind of pooling at each layer, the embeddings first; one alone where no layer is chosen."""
    depth = about.config.num_hidden_layers
    if kind not in LAYERED:
        return (PoolingConfig(kind, depth),)
    return tuple(PoolingConfig(kind, layer) for layer in range(depth + 1))


def num_bytes(about: ModelSummary, num_texts: int, num_poolings: int) -> int:
    """Return what the vectors of some texts take."""
    return num_texts * num_poolings * about.config.hidden_size * 4


def embed(
    subject: LoadedModel,
    texts: Sequence[str],
    poolings: Sequence[PoolingConfig],
    *,
    pairs: Sequence[str] | None = None,
    max_length: int | None = None,
) -> Generator[Event, None, TextEmbeddings]:
    """Return the vectors of texts, or of pairs read together: a task whose return value is `TextEmbeddings`.

    Args:   pairs: the second text of each, as many as `texts`. max_length: pieces that are read; None: as
            many as the model can.
    Raises: ModelError: no such pooling or layer; the model reads no pairs. UserError: not one text can be
            read; memory does not suffice.
    """
    start = time.perf_counter()
    chosen = tuple(dict.fromkeys(pooling.of(subject.about) for pooling in poolings))
    _check(subject, chosen, with_pair=pairs is not None)
    longest = subject.max_length if max_length is None else min(max_length, subject.max_length)
    sentence = subject.about.sentence
    if sentence is not None and sentence.max_length and any(one.kind == SENTENCE for one in chosen):
        longest = min(longest, sentence.max_length)  # as sentence-transformers cuts
    encoded, empty, num_cut = yield from _cut_texts(subject.wordpiece, texts, pairs, longest)
    vectors = _room(len(chosen), len(encoded), subject.config.hidden_size)
    done, stage = 0, marked("engine", "Computing vectors")
    yield Progress(stage=stage, done=0, total=len(encoded))
    for indices in by_length(encoded.lengths, tokens_at_once(subject)):
        vectors[:, indices] = _pooled(subject, encoded, indices, chosen)
        done += len(indices)
        yield Progress(stage=stage, done=done, total=len(encoded))
    return TextEmbeddings(
        poolings=chosen,
        vectors=vectors,
        places=encoded.rows,
        empty=empty,
        num_cut=num_cut,
        num_tokens=int(encoded.lengths.sum()),
        seconds=time.perf_counter() - start,
    )


def tokens_at_once(subject: LoadedModel) -> int:
    """Return how many tokens go through a model together."""
    return CPU_MICRO_BATCH_TOKENS if subject.device.type == "cpu" else CUDA_MICRO_BATCH_TOKENS


def states(bert: Bert, batch: Batch, highest: int) -> Iterator[tuple[int, Tensor]]:
    """Yield (layer, hidden states (N, D)) from the embeddings, layer 0, to `highest`; the caller has
    `inference_mode` on, and never yields in turn.
    """
    hidden = bert.embeddings(bert.embeddings.word(batch.input_ids), batch.token_type_ids, batch.position_ids)
    yield 0, hidden
    for number, layer in enumerate(bert.layers[:highest], start=1):
        hidden, _ = layer(hidden, None, batch.bounds, None, False)
        yield number, hidden


def _check(subject: LoadedModel, poolings: Sequence[PoolingConfig], *, with_pair: bool) -> None:
    """Refuse what a model cannot give. Raises: ModelError."""
    if "pooled" in (pooling.kind for pooling in poolings) and subject.encoder.pooler is None:
        raise ModelError(
            marked("engine", "{name} has no pooler, so it has no pooled output. Choose another pooling."),
            name=subject.name,
        )
    if with_pair and not subject.config.reads_pairs:
        raise ModelError(
            marked("engine", "The model {name} knows only one segment, so it cannot read pairs."),
            name=subject.name,
        )


def _room(num_poolings: int, num_texts: int, width: int) -> Floats:
    """Return zeros (P, E, D). Raises: UserError: no text, or too many for the memory there is."""
    if not num_texts:
        raise UserError(marked("engine", "There is no text to read. Type one, or choose another column."))
    try:
        return np.zeros((num_poolings, num_texts, width), np.float32)
    except MemoryError as error:
        raise UserError(
            marked("engine", "There is not enough memory for the vectors of {count:,} texts. Choose fewer."),
            count=num_texts,
        ) from error


def _cut_texts(
    wordpiece: Tokenizer, texts: Sequence[str], pairs: Sequence[str] | None, max_length: int
) -> Generator[Event, None, tuple[EncodedRows, tuple[int, ...], int]]:
    """Return the texts as WordPieces, the places of empty ones, and how many were cut."""
    pieces: list[np.ndarray] = []
    num_a: list[int] = []
    places: list[int] = []
    empty: list[int] = []
    num_cut = 0
    for start in range(0, len(texts), TEXTS_AT_ONCE):
        part = slice(start, start + TEXTS_AT_ONCE)
        first = wordpiece.encode_ids(texts[part])
        second = [None] * len(first) if pairs is None else wordpiece.encode_ids(pairs[part])
        for place, (a, b) in enumerate(zip(first, second, strict=True), start):
            if not len(a) or (b is not None and not len(b)):
                empty.append(place)
                continue
            ids, length_a, cut = wordpiece.assemble(a, b, max_length)
            pieces.append(ids)
            num_a.append(length_a)
            places.append(place)
            num_cut += cut > 0
        done = min(start + TEXTS_AT_ONCE, len(texts))
        yield Progress(stage=marked("engine", "Tokenizing"), done=done, total=len(texts))
    return EncodedRows.from_pieces(pieces, num_a, [-1] * len(pieces), places), tuple(empty), num_cut


def _pooled(
    subject: LoadedModel, encoded: EncodedRows, indices: np.ndarray, poolings: Sequence[PoolingConfig]
) -> Floats:
    """Return (P, B, D) of some texts: together or, where memory does not suffice, half by half."""
    try:
        with looking(subject) as device:
            batch = collate(encoded, indices, device, ROW_MULTIPLE)
            found: Floats = _pool(subject, batch, poolings).cpu().numpy()
            return found
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        if len(indices) == 1:
            raise too_long_for_memory(int(encoded.lengths[indices[0]])) from error
    halves = np.array_split(indices, 2)
    return np.concatenate([_pooled(subject, encoded, half, poolings) for half in halves], axis=1)


def _pool(subject: LoadedModel, batch: Batch, poolings: Sequence[PoolingConfig]) -> Tensor:
    depth = subject.config.num_hidden_layers
    several = {one.kind for one in poolings} & {"last_four", "mix"}
    weights = {kind: _weights(subject.about, kind) for kind in several}
    found: dict[PoolingConfig, Tensor] = {}
    for layer, hidden in states(subject.encoder, batch, max(one.layer for one in poolings)):
        parts = _Parts(hidden, batch.bounds)
        for pooling in poolings:
            kind = pooling.kind
            if kind in LAYERED and pooling.layer == layer:
                found[pooling] = {"cls": parts.first, "mean": parts.mean, "max": parts.max}[kind]()
            elif kind == "pooled" and layer == depth:
                assert subject.encoder.pooler is not None
                found[pooling] = subject.encoder.pool(parts.first())
            elif kind == SENTENCE and layer == depth:
                assert subject.about.sentence is not None
                found[pooling] = _as_sentence(parts, subject.about.sentence)
            elif kind in several and weights[kind][layer]:
                share = weights[kind][layer] * parts.mean()
                found[pooling] = found[pooling] + share if pooling in found else share
    return torch.stack([found[pooling] for pooling in poolings])


def _as_sentence(parts: _Parts, how: SentenceConfig) -> Tensor:
    """Return (B, D) as sentence-transformers makes it."""
    found = {
        "cls": parts.first,
        "mean": parts.mean,
        "max": parts.max,
        "mean_sqrt_len_tokens": parts.mean_sqrt,
        "weightedmean": parts.weighted,
        "lasttoken": parts.last,
    }[how.pooling]()
    return torch.nn.functional.normalize(found, dim=-1) if how.is_normed else found


def _weights(about: ModelSummary, kind: str) -> tuple[float, ...]:
    """Return how much each of the L + 1 layers counts in a pooling that takes several."""
    if kind == "mix":
        return layer_mix(about)
    depth = about.config.num_hidden_layers
    count = min(LAST, depth)
    return (*(0.0,) * (depth + 1 - count), *(1 / count,) * count)


class _Parts:
    """The hidden states (N, D) of a packed batch, pooled text by text; each kind is computed once."""

    def __init__(self, hidden: Tensor, bounds: Bounds) -> None:
        self._hidden, self._bounds = hidden, bounds

    def first(self) -> Tensor:
        """Return (B, D), of each text's first token."""
        return self._hidden.index_select(0, self._bounds.firsts)

    def mean(self) -> Tensor:
        """Return (B, D), the mean of each text's tokens."""
        return self._mean

    def max(self) -> Tensor:
        """Return (B, D), the largest value of each dimension."""
        return torch.cat([run.amax(1) for run in self._runs])

    def mean_sqrt(self) -> Tensor:
        """Return (B, D), the sum of each text's tokens over the root of how many there are."""
        return torch.cat([run.sum(1) / math.sqrt(run.shape[1]) for run in self._runs])

    def weighted(self) -> Tensor:
        """Return (B, D), the mean in which the second token counts twice, the third three times."""
        return torch.cat([_rising(run) for run in self._runs])

    def last(self) -> Tensor:
        """Return (B, D), of each text's last token."""
        return torch.cat([run[:, -1] for run in self._runs])

    @cached_property
    def _mean(self) -> Tensor:
        return torch.cat([run.mean(1) for run in self._runs])

    @cached_property
    def _runs(self) -> list[Tensor]:
        sizes = [count * length for count, length in self._bounds.runs]
        parts = self._hidden[: sum(sizes)].split(sizes)
        runs = zip(parts, self._bounds.runs, strict=True)
        return [part.view(count, length, -1) for part, (count, length) in runs]  # (count, length, D)


def _rising(run: Tensor) -> Tensor:
    """Return (count, D) of (count, length, D): the mean by weights 1, 2, 3 and so on."""
    weights = torch.arange(1, run.shape[1] + 1, dtype=run.dtype, device=run.device)
    return torch.einsum("l,cld->cd", weights / weights.sum(), run)
