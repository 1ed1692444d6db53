"""A pass written out plainly over a model's own weights: every intermediate by its name in `Anatomy`.

In float32, or whatever the weights are in, and in the order of the paper. Gradients flow where weights want
them.
"""

# T tokens, padding included; D hidden_size, E width of the embeddings, H heads, d = D / H, F
# intermediate_size, P places, V words

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.errors import UserError, marked
from engine.inspect.anatomy.changes import ATTENTION, FEED_FORWARD, PassSettings
from engine.inspect.anatomy.steps import NORM_BEFORE_ATTENTION, NORM_BEFORE_FEED_FORWARD, PassPlan, plan_of
from engine.inspect.loaded_model import LoadedModel
from engine.model.activations import activation
from engine.model.config import FIRST_LAST, BertConfig
from engine.model.families.rotary_shape import RotaryConfig
from engine.model.names import GATED, GATED_LAST, plain_name, published_names

Weights = Mapping[str, Tensor]  # by their published names, without "bert."

DISTANCES = "encoder.layer.0.attention.distances.weight"  # a number for each distance and head
_NO_PLAIN_SCORES = marked(
    "engine",
    "In {name} ({family}), scores also come from the distance between words. Step by step does not show "
    "such a model. Choose another one.",
)


@dataclass(frozen=True, slots=True)
class ModelInput:
    """What a model reads, each (T,) int64. mask: 0 where padded."""

    ids: Tensor
    segments: Tensor
    positions: Tensor
    mask: Tensor


def weights_of(subject: LoadedModel) -> dict[str, Tensor]:
    """Return a model's weights by their published names, without "bert."; no copies where it is on a CPU.

    Raises: UserError: its scores are not only products of queries and keys.
    """
    family = subject.config.family
    if not family.has_plain_scores:
        raise UserError(_NO_PLAIN_SCORES, name=subject.name, family=family.name)
    rotation = family.rotation(subject.config)
    stacks = {} if rotation is None else GATED_LAST if rotation.gate_last else GATED
    found: dict[str, Tensor] = {}
    for own, tensor in (subject.language or subject.classifier or subject.bert).named_parameters():
        names = published_names(own, stacks)
        for name, part in zip(names, tensor.chunk(len(names)), strict=True):
            found[plain_name(name)] = part.float()
    return found


def stored_layer(config: BertConfig, number: int) -> str:
    """Return how the published names of a layer's weights begin; the first layer is 1."""
    return f"encoder.layer.{0 if config.family.shares_layers else number - 1}."


class _Part:
    """Some of the weights, by the rest of their names."""

    def __init__(self, weights: Weights, prefix: str) -> None:
        self._weights, self._prefix = weights, prefix

    def __getitem__(self, name: str) -> Tensor:
        return self._weights[self._prefix + name]

    def _shifted(self, name: str, x: Tensor) -> Tensor:
        bias = self._weights.get(f"{self._prefix}{name}.bias")
        return x if bias is None else x + bias

    def linear(self, name: str, x: Tensor) -> Tensor:
        """Return x Wᵀ + b. Args: x: (..., taken). Returns: (..., made)."""
        return self._shifted(name, x @ self[f"{name}.weight"].T)

    def norm(self, name: str, x: Tensor, eps: float) -> Tensor:
        """Return (x − mean) / √(variance + ε) · γ + β over the last axis."""
        mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, unbiased=False)
        return self._shifted(name, (x - mean) / (variance + eps).sqrt() * self[f"{name}.weight"])


def compute(
    weights: Weights, config: BertConfig, given: ModelInput, changes: PassSettings
) -> dict[str, Tensor]:
    """Return the encoder's part of `Anatomy.arrays`."""
    plan = plan_of(config)
    found = _embed(weights, plan, config, given)
    layers = _Layers(weights, plan, config, given, changes)
    for number in range(1, config.num_hidden_layers + 1):
        layer = layers.compute(number, found[plan.before_layer(number)])
        found |= {f"layer.{number}.{name}": tensor for name, tensor in layer.items()}
    last = found[plan.before_layer(config.num_hidden_layers + 1)]
    norm = _Part(weights, "encoder.").norm
    found["T"] = norm("final_norm", last, config.layer_norm_eps) if plan.norms_first else last
    return found


def _embed(weights: Weights, plan: PassPlan, config: BertConfig, given: ModelInput) -> dict[str, Tensor]:
    part = _Part(weights, "embeddings.")
    rows = {
        "embeddings.word": ("word_embeddings.weight", given.ids),
        "embeddings.segment": ("token_type_embeddings.weight", given.segments),
        "embeddings.position": ("position_embeddings.weight", given.positions),
    }
    found = {name: part[rows[name][0]][rows[name][1]] for name in plan.names("vectors", 1)}
    total = sum(found.values())
    assert isinstance(total, Tensor)
    if len(found) > 1:
        found["embeddings.sum"] = total
    found["embeddings.norm"] = part.norm("LayerNorm", total, config.layer_norm_eps)
    if config.family.has_projection:
        projected = _Part(weights, "").linear("embeddings_project", found["embeddings.norm"])
        found["embeddings.projected"] = projected
    return found


@dataclass(frozen=True, slots=True)
class _Layers:
    """The layers of a model: what each makes of hidden states (T, D)."""

    weights: Weights
    plan: PassPlan
    config: BertConfig
    given: ModelInput
    changes: PassSettings

    def compute(self, number: int, hidden: Tensor) -> dict[str, Tensor]:
        """Return the arrays of a layer, counted from 1."""
        part, eps = _Part(self.weights, stored_layer(self.config, number)), self.config.layer_norm_eps
        before = dict[str, Tensor]()
        read = hidden
        if self.plan.norms_first and number > 1:
            read = part.norm("attention.output.LayerNorm", hidden, eps)
            before[NORM_BEFORE_ATTENTION] = read
        attended = self._attention(part, number, read)
        output = attended["output"]
        added = output if (number, ATTENTION) in self.changes.no_residual else output + hidden
        made = {**before, **attended, "attention_residual": added}
        if self.plan.norms_first:
            normed, around = part.norm("output.LayerNorm", added, eps), added
            made[NORM_BEFORE_FEED_FORWARD] = normed
        else:
            normed = around = part.norm("attention.output.LayerNorm", added, eps)
            made["attention_norm"] = normed
        made |= self._feed_forward(part, normed)
        fed = made["feed_forward_out"]
        summed = fed if (number, FEED_FORWARD) in self.changes.no_residual else fed + around
        made["residual"] = summed
        if not self.plan.norms_first:
            made["norm"] = part.norm("output.LayerNorm", summed, eps)
        return made

    def _attention(self, part: _Part, number: int, read: Tensor) -> dict[str, Tensor]:
        """Return what attention makes of what it reads, (T, D)."""
        heads = self.config.num_attention_heads
        query, key, value = (
            # (T, D) -> (H, T, d)
            part.linear(f"attention.self.{name}", read).unflatten(-1, (heads, -1)).transpose(0, 1)
            for name in ("query", "key", "value")
        )
        turned = dict[str, Tensor]()
        rotation = self.config.family.rotation(self.config)
        asked, asked_for = query, key
        if rotation is not None:
            cosines, sines = turns(rotation, number, self.given.positions, query.shape[-1], query.dtype)
            asked, asked_for = (_turned(one, cosines, sines) for one in (query, key))
            turned = {"query_turned": asked, "key_turned": asked_for}
        scores = asked @ asked_for.transpose(1, 2) / math.sqrt(query.shape[-1])  # (H, T, T)
        if DISTANCES in self.weights:
            from engine.model.families.distance import buckets

            numbers = self.weights[DISTANCES][buckets(len(read), read.device)].permute(2, 0, 1)
            scores, turned["distances"] = scores + numbers, numbers
        seen = sees(self.config, number, self.given.mask)
        softmax = scores.masked_fill(~seen, -math.inf).softmax(-1)
        mixed = softmax @ value
        scales = self.changes.scales_of(number, heads)
        if scales is not None:
            mixed = mixed * torch.tensor(scales, dtype=mixed.dtype, device=mixed.device)[:, None, None]
        joined = mixed.transpose(0, 1).flatten(1)  # (T, D)
        return {
            "query": query,
            "key": key,
            "value": value,
            **turned,
            "scores": scores,
            "softmax": softmax,
            "heads": mixed,
            "joined": joined,
            "output": part.linear("attention.output.dense", joined),
        }

    def _feed_forward(self, part: _Part, normed: Tensor) -> dict[str, Tensor]:
        """Return what the feed-forward part makes of what it reads, (T, D)."""
        is_gated = self.config.family.rotation(self.config) is not None
        inner = part.linear("intermediate.gate" if is_gated else "intermediate.dense", normed)
        active = activation(self.config.hidden_act)(inner)
        made = {"feed_forward_in": inner, "activation": active}
        if is_gated:
            gate = part.linear("intermediate.up", normed)
            active = active * gate
            made |= {"feed_forward_gate": gate, "gated": active}
        return {**made, "feed_forward_out": part.linear("output.dense", active)}


def turns(
    rotation: RotaryConfig, number: int, positions: Tensor, width: int, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """Return the cosines and sines by which a layer turns the pairs of numbers of each token, (T, d / 2)."""
    pairs = torch.arange(0, width, 2, device=positions.device, dtype=dtype) / width
    layer = rotation.layer(number - 1)
    angles = positions[:, None].to(dtype) / layer.theta**pairs / layer.slowed
    return angles.cos(), angles.sin()


def _turned(x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """Return vectors (H, T, d) whose numbers i and i + d / 2 are turned together."""
    first, second = x.chunk(2, -1)
    return torch.cat([first * cosines - second * sines, second * cosines + first * sines], -1)


def sees(config: BertConfig, number: int, mask: Tensor) -> Tensor:
    """Return which tokens each one may look at in a layer, counted from 1: (T, T) bool."""
    seen = (mask == 1).expand(len(mask), -1)
    rotation = config.family.rotation(config)
    reach = None if rotation is None else rotation.layer(number - 1).reach
    if reach is None:
        return seen
    places = torch.arange(len(mask), device=mask.device)
    near = (places[:, None] - places).abs() <= reach
    return (seen & near) | torch.eye(len(mask), dtype=torch.bool, device=mask.device)


def answers(
    weights: Weights,
    subject: LoadedModel,
    found: Mapping[str, Tensor],
    given: ModelInput,
    places: tuple[int, ...],
) -> dict[str, Tensor]:
    """Return what the heads on top make of the encoder's part: those that the model has."""
    made: dict[str, Tensor] = {}
    if subject.about.has_pooler or subject.classifier is not None:
        made |= _pooled(weights, subject, _to_pool(weights, subject, found, given))
        if subject.classifier is not None and subject.config.pooling == FIRST_LAST:
            begins = plan_of(subject.config).begins
            made["C"] = torch.cat([made["C"], _mean(found[begins], given)])
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


def _pooled(weights: Weights, subject: LoadedModel, read: Tensor) -> dict[str, Tensor]:
    """Return what the pooler makes of what it reads, (D,): C, and what is before a norm where it has one."""
    part, config = _Part(weights, "pooler."), subject.config
    if not subject.about.has_pooler:
        return {"C": read}  # which a classifier reads as it is
    dense = part.linear("dense", read)
    active = activation(config.family.acts_of_heads(config)[0])(dense)
    if "pooler.LayerNorm.weight" not in weights:
        return {"C": active}
    normed = part.norm("LayerNorm", active, config.layer_norm_eps)
    return {"pooler.dense": dense, "pooler.activation": active, "C": normed}


def masked_words(
    weights: Weights, config: BertConfig, hidden: Tensor, places: tuple[int, ...]
) -> dict[str, Tensor]:
    """Return what the masked-word head makes of the last hidden states (T, D): a score for every word."""
    part = _Part(weights, "cls.predictions.")
    dense = part.linear("transform.dense", hidden)
    active = activation(config.family.acts_of_heads(config)[1])(dense)
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
    """Return what the pooler reads, (D,): [CLS]'s last state, or what a classifier reads instead."""
    config, plan = subject.config, plan_of(subject.config)
    if subject.classifier is not None and config.pooling:
        return _mean(found["T"], given)
    if subject.classifier is not None and config.layer_mix:
        count = config.num_hidden_layers
        firsts = torch.stack([found[plan.before_layer(n)][0] for n in range(1, count + 1)] + [found["T"][0]])
        return weights["layer_mix.scale"] * (weights["layer_mix.weights"].softmax(0) @ firsts)
    return found["T"][0]


def _mean(states: Tensor, given: ModelInput) -> Tensor:
    """Return (D,) the mean of the states (T, D) of the pieces that may be looked at."""
    own = given.mask.to(states.dtype)[:, None]
    return (states * own).sum(0) / own.sum()
