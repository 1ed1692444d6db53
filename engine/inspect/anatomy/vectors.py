"""Every intermediate of one text in BERT, by a pass written out plainly over the model's own weights.

The kernels that answer everywhere else show none of these. So they are computed here step by step, in float32
and in the paper's order; without changes the end has to be the model's own, or `trace` fails.
"""

# T tokens, padding included; D hidden_size, H heads, d = D / H, F intermediate_size, V words

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from engine.errors import UserError, marked
from engine.inspect.anatomy.changes import AS_IT_IS, ATTENTION, FEED_FORWARD, PassSettings
from engine.inspect.anatomy.steps import before_layer
from engine.inspect.attention.weights import Floats, explained_memory, free_bytes, read_only
from engine.inspect.loaded_model import LoadedModel, ModelSummary, looking
from engine.model.activations import activation
from engine.model.config import FIRST_LAST, BertConfig
from engine.model.names import plain_name, published_names
from engine.text.tokenizer import Encoding

Weights = Mapping[str, Tensor]  # by their published names, without "bert."

TOLERANCE = (
    1e-4  # of the largest value, or of 1: what the order of sums may change between two ways to compute
)
_BUILT_OTHERWISE = marked(
    "engine",
    "The embeddings and layers of {name} are those of {family}, which are not built as BERT’s. Step by step "
    "only shows BERT. Choose another model.",
)
_SHARE_OF_FREE = 0.5


@dataclass(frozen=True, eq=False)
class Anatomy:
    """One text in one model, every number of it.

    arrays: by name, read-only, layers counted from 1:

        embeddings.word, embeddings.segment, embeddings.position, embeddings.sum, embeddings.norm   (T, D)
        layer.N.query, layer.N.key, layer.N.value                (H, T, d)
        layer.N.scores: query · key / √d; layer.N.softmax        (H, T, T), [head, query, key]
        layer.N.heads: each head's weighted sum of values        (H, T, d)
        layer.N.joined: the heads side by side; layer.N.output; layer.N.attention_residual;
        layer.N.attention_norm                                   (T, D)
        layer.N.feed_forward_in, layer.N.activation              (T, F)
        layer.N.feed_forward_out, layer.N.residual, layer.N.norm (T, D)
        T: the last layer's norm                                 (T, D)
        C: the pooled output                                     (D,), where there is a pooler
        masked_word.dense, masked_word.activation, masked_word.norm   (T, D)
        masked_word.logits                                       (P, V), of the `places`
        next_sentence.logits, next_sentence.softmax              (2,), 0: B follows A
        label.logits, label.softmax                              (C,)

    weights: by their published names, read-only. ids, segments, positions, mask: (T,), as the model read
    them; mask is 0 where padded. places: the tokens that masked_word.logits are of.
    """

    about: ModelSummary
    text: str
    text_pair: str | None
    encoding: Encoding
    changes: PassSettings
    ids: tuple[int, ...]
    segments: tuple[int, ...]
    positions: tuple[int, ...]
    mask: tuple[int, ...]
    places: tuple[int, ...]
    arrays: Mapping[str, Floats] = field(repr=False)
    weights: Mapping[str, Floats] = field(repr=False)

    def __getitem__(self, name: str) -> Floats:
        """Return one of the arrays."""
        return self.arrays[name]

    def __contains__(self, name: str) -> bool:
        return name in self.arrays

    @property
    def config(self) -> BertConfig:
        return self.about.config

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """The tokens, padding included."""
        return tuple(self.about.wordpiece.shown[number] for number in self.ids)

    @property
    def num_tokens(self) -> int:
        """T."""
        return len(self.ids)

    def logits_at(self, place: int) -> Floats:
        """Return the score of every word at one of the `places`, (V,)."""
        return np.asarray(self.arrays["masked_word.logits"][self.places.index(place)])


@dataclass(frozen=True, slots=True)
class Product:
    """A matrix between two vectors of the text, both by their names in `Anatomy`.

    weight: its published name, (made, taken); its bias is beside it.
    """

    weight: str
    taken: str
    made: str

    @property
    def bias(self) -> str:
        return self.weight.removesuffix("weight") + "bias"


def products(config: BertConfig) -> dict[str, Product]:
    """Return every matrix of the encoder and the masked-word head by the vector that it makes."""
    found = []
    for number in range(1, config.num_hidden_layers + 1):
        taken = before_layer(number)
        own, stored = f"layer.{number}.", f"encoder.layer.{number - 1}."
        found += [
            Product(f"{stored}attention.self.query.weight", taken, f"{own}query"),
            Product(f"{stored}attention.self.key.weight", taken, f"{own}key"),
            Product(f"{stored}attention.self.value.weight", taken, f"{own}value"),
            Product(f"{stored}attention.output.dense.weight", f"{own}joined", f"{own}output"),
            Product(f"{stored}intermediate.dense.weight", f"{own}attention_norm", f"{own}feed_forward_in"),
            Product(f"{stored}output.dense.weight", f"{own}activation", f"{own}feed_forward_out"),
        ]
    found.append(Product("cls.predictions.transform.dense.weight", "T", "masked_word.dense"))
    return {one.made: one for one in found}


def trace(
    subject: LoadedModel,
    text: str,
    text_pair: str | None = None,
    *,
    changes: PassSettings = AS_IT_IS,
    pad_to: int = 0,
    places: tuple[int, ...] | None = None,
) -> Anatomy:
    """Return every number of a text or pair.

    Args:   pad_to: how many tokens the model reads, with [PAD] behind the text; 0: the text alone. places:
            whose words are scored; None: those of every token.
    Raises: UserError: an empty text, too many pieces, too little memory, a change that the text or the model
            has no place for, weights that are not finite. ModelError: a pair does not fit the model.
    """
    encoding = subject.encode(text, text_pair)
    given = _given(subject, encoding, changes, pad_to)
    length = len(given.ids)
    places = tuple(range(length)) if places is None else places
    changes.check(subject.config, length)
    check_memory(subject.config, length, len(places) if subject.has_masked_words else 0)
    with explained_memory(length), looking(subject):
        weights = weights_of(subject)
        found = compute(weights, subject.config, given, changes)
        found |= answers(weights, subject, found, given, places)
        if not bool(found["T"].isfinite().all()):
            template = marked("engine", "The weights of {name} give no finite numbers for this text.")
            raise UserError(template, name=subject.name)
        if not changes:
            _check_end(subject, found, given, places)
        arrays = {name: read_only(tensor.float().cpu().numpy()) for name, tensor in found.items()}
        kept = {name: _seen(tensor) for name, tensor in weights.items()}
    return Anatomy(
        about=subject.about,
        text=text,
        text_pair=text_pair,
        encoding=encoding,
        changes=changes,
        ids=tuple(given.ids.tolist()),
        segments=tuple(given.segments.tolist()),
        positions=tuple(given.positions.tolist()),
        mask=tuple(given.mask.tolist()),
        places=places,
        arrays=arrays,
        weights=kept,
    )


@dataclass(frozen=True, slots=True)
class ModelInput:
    """What a model reads, each (T,) int64. mask: 0 where padded."""

    ids: Tensor
    segments: Tensor
    positions: Tensor
    mask: Tensor


def _given(subject: LoadedModel, encoding: Encoding, changes: PassSettings, pad_to: int) -> ModelInput:
    length = len(encoding.input_ids)
    if pad_to and not length <= pad_to <= subject.max_length:
        template = marked(
            "engine",
            "Padding to {length}: this text has {count} pieces, and the model reads at most {most}.",
        )
        raise UserError(template, length=pad_to, count=length, most=subject.max_length)
    filler = max(0, pad_to - length)
    of_texts = encoding.token_type_ids if subject.config.has_segments else [0] * length
    segments = changes.placed(changes.segments, [*of_texts, *[0] * filler])
    positions = changes.placed(changes.positions, list(range(length + filler)))
    ids = [*encoding.input_ids, *[subject.config.pad_token_id] * filler]
    lists = (ids, segments, positions, [1] * length + [0] * filler)
    return ModelInput(*(torch.tensor(one, device=subject.device) for one in lists))


def weights_of(subject: LoadedModel) -> dict[str, Tensor]:
    """Return a model's weights by their published names, without "bert."; no copies where it is on a CPU.

    Raises: UserError: its embeddings or layers are not built as BERT's are.
    """
    family = subject.config.family
    if not family.is_built_as_bert:
        raise UserError(_BUILT_OTHERWISE, name=subject.name, family=family.name)
    found: dict[str, Tensor] = {}
    for own, tensor in (subject.language or subject.classifier or subject.bert).named_parameters():
        names = published_names(own)
        for name, part in zip(names, tensor.chunk(len(names)), strict=True):
            found[plain_name(name)] = part.float()
    return found


def compute(
    weights: Weights, config: BertConfig, given: ModelInput, changes: PassSettings
) -> dict[str, Tensor]:
    """Return the encoder's part of `Anatomy.arrays`; gradients flow where weights want them."""
    found = _embed(weights, config, given)
    hidden = found["embeddings.norm"]
    for number in range(1, config.num_hidden_layers + 1):
        layer = _layer(
            _Part(weights, f"encoder.layer.{number - 1}."), config, hidden, given.mask, number, changes
        )
        found |= {f"layer.{number}.{name}": tensor for name, tensor in layer.items()}
        hidden = layer["norm"]
    found["T"] = hidden
    return found


class _Part:
    """Some of the weights, by the rest of their names."""

    def __init__(self, weights: Weights, prefix: str) -> None:
        self._weights, self._prefix = weights, prefix

    def __getitem__(self, name: str) -> Tensor:
        return self._weights[self._prefix + name]

    def linear(self, name: str, x: Tensor) -> Tensor:
        """Return x Wᵀ + b. Args: x: (..., taken). Returns: (..., made)."""
        return x @ self[f"{name}.weight"].T + self[f"{name}.bias"]

    def norm(self, name: str, x: Tensor, eps: float) -> Tensor:
        """Return (x − mean) / √(variance + ε) · γ + β over the last axis."""
        mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, unbiased=False)
        return (x - mean) / (variance + eps).sqrt() * self[f"{name}.weight"] + self[f"{name}.bias"]


def _embed(weights: Weights, config: BertConfig, given: ModelInput) -> dict[str, Tensor]:
    part = _Part(weights, "embeddings.")
    word = part["word_embeddings.weight"][given.ids]
    segment = part["token_type_embeddings.weight"][given.segments]
    position = part["position_embeddings.weight"][given.positions]
    total = word + segment + position
    return {
        "embeddings.word": word,
        "embeddings.segment": segment,
        "embeddings.position": position,
        "embeddings.sum": total,
        "embeddings.norm": part.norm("LayerNorm", total, config.layer_norm_eps),
    }


def _layer(
    part: _Part, config: BertConfig, hidden: Tensor, mask: Tensor, number: int, changes: PassSettings
) -> dict[str, Tensor]:
    """Return what one block makes of the hidden states, (T, D)."""
    heads, eps = config.num_attention_heads, config.layer_norm_eps
    query, key, value = (
        # (T, D) -> (H, T, d)
        part.linear(f"attention.self.{name}", hidden).unflatten(-1, (heads, -1)).transpose(0, 1)
        for name in ("query", "key", "value")
    )
    scores = query @ key.transpose(1, 2) / math.sqrt(query.shape[-1])  # (H, T, T)
    softmax = scores.masked_fill(mask == 0, -math.inf).softmax(-1)
    mixed = softmax @ value
    scales = changes.scales_of(number, heads)
    if scales is not None:
        mixed = mixed * torch.tensor(scales, dtype=mixed.dtype, device=mixed.device)[:, None, None]
    joined = mixed.transpose(0, 1).flatten(1)  # (T, D)
    output = part.linear("attention.output.dense", joined)
    added = output if (number, ATTENTION) in changes.no_residual else output + hidden
    normed = part.norm("attention.output.LayerNorm", added, eps)
    inner = part.linear("intermediate.dense", normed)
    active = activation(config.hidden_act)(inner)
    fed = part.linear("output.dense", active)
    summed = fed if (number, FEED_FORWARD) in changes.no_residual else fed + normed
    return {
        "query": query,
        "key": key,
        "value": value,
        "scores": scores,
        "softmax": softmax,
        "heads": mixed,
        "joined": joined,
        "output": output,
        "attention_residual": added,
        "attention_norm": normed,
        "feed_forward_in": inner,
        "activation": active,
        "feed_forward_out": fed,
        "residual": summed,
        "norm": part.norm("output.LayerNorm", summed, eps),
    }


def answers(
    weights: Weights,
    subject: LoadedModel,
    found: Mapping[str, Tensor],
    given: ModelInput,
    places: tuple[int, ...],
) -> dict[str, Tensor]:
    """Return what the heads on top make of the encoder's part: those that the model has."""
    made: dict[str, Tensor] = {}
    if subject.about.has_pooler:
        made["C"] = _Part(weights, "").linear("pooler.dense", _to_pool(weights, subject, found, given)).tanh()
        if subject.classifier is not None and subject.config.pooling == FIRST_LAST:
            made["C"] = torch.cat([made["C"], _mean(found["embeddings.norm"], given)])
    if subject.has_masked_words:
        made |= masked_words(weights, subject.config, found["T"], places)
    for name, has, head in (
        ("next_sentence", subject.has_next_sentence, "cls.seq_relationship"),
        ("label", bool(subject.labels), "classifier"),
    ):
        if has:
            logits = _Part(weights, "").linear(head, made["C"])
            made |= {f"{name}.logits": logits, f"{name}.softmax": logits.softmax(-1)}
    return made


def masked_words(
    weights: Weights, config: BertConfig, hidden: Tensor, places: tuple[int, ...]
) -> dict[str, Tensor]:
    """Return what the masked-word head makes of the last hidden states (T, D): a score for every word."""
    part = _Part(weights, "cls.predictions.")
    dense = part.linear("transform.dense", hidden)
    active = activation(config.hidden_act)(dense)
    normed = part.norm("transform.LayerNorm", active, config.layer_norm_eps)
    rows = torch.tensor(places, dtype=torch.long, device=hidden.device)
    logits = normed[rows] @ weights["embeddings.word_embeddings.weight"].T + part["bias"]  # (P, V)
    return {
        "masked_word.dense": dense,
        "masked_word.activation": active,
        "masked_word.norm": normed,
        "masked_word.logits": logits,
    }


def _to_pool(
    weights: Weights, subject: LoadedModel, found: Mapping[str, Tensor], given: ModelInput
) -> Tensor:
    """Return what the pooler reads, (D,): [CLS]'s last state, or what a classifier of ours reads instead."""
    config = subject.config
    if subject.classifier is not None and config.pooling:
        return _mean(found["T"], given)
    if subject.classifier is not None and config.layer_mix:
        names = ["embeddings.norm", *(f"layer.{n}.norm" for n in range(1, config.num_hidden_layers + 1))]
        firsts = torch.stack([found[name][0] for name in names])  # (L + 1, D)
        return weights["layer_mix.scale"] * (weights["layer_mix.weights"].softmax(0) @ firsts)
    return found["T"][0]


def _mean(states: Tensor, given: ModelInput) -> Tensor:
    """Return (D,) the mean of the states (T, D) of the pieces that may be looked at."""
    own = given.mask.to(states.dtype)[:, None]
    return (states * own).sum(0) / own.sum()


def _check_end(
    subject: LoadedModel, found: Mapping[str, Tensor], given: ModelInput, places: tuple[int, ...]
) -> None:
    """Hold the end against the model's own answer. Raises: ArithmeticError: a fault of ours."""
    ids, segments, mask = given.ids[None], given.segments[None], given.mask[None]
    asked = mask if not bool(given.mask.all()) else None
    own = subject.bert(ids, segments, asked)
    ends = {"T": own.last_hidden_state[0]}
    if "C" in found and subject.classifier is None:
        ends["C"] = own.pooled_output[0]
    if subject.classifier is not None:
        ends["label.logits"] = subject.classifier(ids, segments, asked)[0]
    if subject.language is not None and "masked_word.logits" in found:
        rows = torch.tensor(places, dtype=torch.long, device=ids.device)
        read = subject.language.read(own.last_hidden_state[0][rows])
        ends["masked_word.logits"] = subject.language.logits(read)
    for name, tensor in ends.items():
        off = float((found[name] - tensor).abs().max()) if tensor.numel() else 0.0
        if not off <= TOLERANCE * max(1.0, float(tensor.abs().max()) if tensor.numel() else 0.0):
            raise ArithmeticError(f"{name} is {off:g} next to the model's own")


def check_memory(config: BertConfig, length: int, num_places: int) -> None:
    """Refuse what memory does not suffice for, before it is taken. Raises: UserError."""
    width, inner = config.hidden_size, config.intermediate_size
    of_layer = 2 * config.num_attention_heads * length * length + length * (11 * width + 2 * inner)
    floats = config.num_hidden_layers * of_layer + length * 10 * width + 2 * num_places * config.vocab_size
    free = free_bytes()
    if free is not None and 4 * floats > _SHARE_OF_FREE * free:
        template = marked(
            "engine",
            "Every number of {length} pieces in this model takes {needed} GB of memory, "
            "and {free} GB are free. Shorten the text, choose a smaller model, or close "
            "other programs.",
        )
        raise UserError(
            template, length=length, needed=f"{4 * floats / 2**30:.2f}", free=f"{free / 2**30:.2f}"
        )


def _seen(tensor: Tensor) -> Floats:
    """Return a weight to be read, not written; no copy where it is on a CPU."""
    return read_only(tensor.detach().cpu().numpy().view())
