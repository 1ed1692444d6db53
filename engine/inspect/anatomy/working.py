"""How one number came about: the terms that it is the sum of, with the numbers that stand in this text.

What adds up here adds up to the number in `Anatomy`, within float32; a test goes through every kind.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import torch

from engine.inspect.anatomy.changes import ATTENTION, FEED_FORWARD
from engine.inspect.anatomy.forward import stored_layer, turns
from engine.inspect.anatomy.vectors import Anatomy, products
from engine.inspect.attention.weights import Floats

# T tokens, N terms, D hidden_size, d of a head


@dataclass(frozen=True, slots=True)
class Spot:
    """One number: of which vector, at which token, the how-manieth of it. All but the layer count from 0.

    name: of an array in `Anatomy`. head: where it has heads. key: the token looked at, in scores and softmax;
    the word's id, in masked_word.logits.
    """

    name: str
    place: int = 0
    number: int = 0
    head: int = 0
    key: int = 0

    @property
    def layer(self) -> int:
        """From 1; 0 outside of the layers."""
        return int(self.name.split(".")[1]) if self.name.startswith("layer.") else 0

    @property
    def kind(self) -> str:
        """Its name without the layer."""
        return self.name.split(".", 2)[2] if self.layer else self.name


@dataclass(frozen=True, eq=False)
class Working:
    """The sum behind one number.

    way: "lookup", "sum", "product", "turned", "score", "share", "mixed", "joined", "norm", "activation",
    "gated", "pooled", "same", "taken" or "scored". terms: (N,), what is added. left, right: (N,), their
    factors, None for plain terms; right of a product is the row of a matrix. names: of each term where it has
    one: the array it stands in. steps: what is done with the sum, by name, where it is done: bias, root,
    distance, mean, deviation, gamma, beta, scale. value: the number.
    """

    way: str
    value: float
    terms: Floats
    left: Floats | None = None
    right: Floats | None = None
    names: tuple[str, ...] = ()
    steps: Mapping[str, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """What the terms add up to."""
        return math.fsum(self.terms.tolist())

    def largest(self, count: int) -> list[int]:
        """Return the places of the largest terms, either way, the largest first."""
        return [int(i) for i in np.argsort(-np.abs(self.terms), kind="stable")[:count]]


def value_of(anatomy: Anatomy, spot: Spot) -> float:
    """Return the number at a spot."""
    by_key = spot.kind in ("scores", "softmax", "distances") or spot.name == "masked_word.logits"
    return float(vector_of(anatomy, spot)[spot.key if by_key else spot.number])


def working(anatomy: Anatomy, spot: Spot) -> Working:
    """Return how the number at a spot came about."""
    kind, value = spot.kind, value_of(anatomy, spot)
    if spot.name in products(anatomy.config):
        return _product(anatomy, spot, value)
    if kind in ("embeddings.sum", "attention_residual", "residual"):
        return _sum(anatomy, spot, value)
    if _norm_of(anatomy, spot):
        return _norm(anatomy, spot, value)
    if kind.endswith("activation"):
        x = vector_of(anatomy, replace(spot, name=_before_activation(spot.name)))[spot.number]
        return Working("activation", value, np.array([value], np.float32), steps={"x": float(x)})
    return _OTHERS[kind](anatomy, spot, value)


def vector_of(anatomy: Anatomy, spot: Spot) -> Floats:
    """Return the whole vector that a spot is in."""
    array = anatomy[spot.name]
    if spot.name == "masked_word.logits":
        return anatomy.logits_at(spot.place)
    if array.ndim == 3:
        return np.asarray(array[spot.head, spot.place])
    return np.asarray(array if array.ndim == 1 else array[spot.place])


_NORMS = {  # by the kind of what a norm makes: its published name, in the layer where it is of one
    "embeddings.norm": "embeddings.LayerNorm",
    "attention_input": "attention.output.LayerNorm",
    "attention_norm": "attention.output.LayerNorm",
    "feed_forward_input": "output.LayerNorm",
    "norm": "output.LayerNorm",
    "T": "encoder.final_norm",
    "C": "pooler.LayerNorm",
    "masked_word.norm": "cls.predictions.transform.LayerNorm",
}


def _norm_of(anatomy: Anatomy, spot: Spot) -> str:
    """Return the published name of the norm that makes a number; "" where none does."""
    stored = _NORMS.get(spot.kind, "")
    name = (stored_layer(anatomy.config, spot.layer) if spot.layer else "") + stored
    is_of_text = spot.number < anatomy.config.hidden_size  # not of the embeddings' mean, behind C
    return name if stored and f"{name}.weight" in anatomy.weights and is_of_text else ""


def _taken_by_norm(anatomy: Anatomy, spot: Spot) -> str:
    """Return the name of what a norm reads."""
    heads = {"masked_word.norm": "masked_word.activation", "C": "pooler.activation"}
    if spot.name in heads:
        return heads[spot.name]
    plan = anatomy.plan
    return plan.names(*plan.step_making(spot.name, spot.layer))[0]


def _before_activation(name: str) -> str:
    return name.replace("activation", "feed_forward_in" if name.startswith("layer.") else "dense")


def _product(anatomy: Anatomy, spot: Spot, value: float) -> Working:
    found = products(anatomy.config)[spot.name]
    made = row_of(anatomy, spot)
    left = vector_of(anatomy, Spot(found.taken, spot.place))
    right = anatomy.weights[found.weight][made]
    return Working("product", value, left * right, left, right, steps=_bias(anatomy, found.bias, made))


def _bias(anatomy: Anatomy, name: str, number: int) -> dict[str, float]:
    """Return the bias of a number as a step; no step where there is none."""
    bias = anatomy.weights.get(name)
    return {} if bias is None else {"bias": float(bias[number])}


def row_of(anatomy: Anatomy, spot: Spot) -> int:
    """Return the row of a matrix that makes a number; of queries, keys and values, the head's own rows."""
    if spot.kind not in ("query", "key", "value"):
        return spot.number
    return spot.head * int(anatomy[spot.name].shape[-1]) + spot.number


def _sum(anatomy: Anatomy, spot: Spot, value: float) -> Working:
    plan = anatomy.plan
    *parts, _ = plan.names(*plan.step_making(spot.name, spot.layer))
    which = {"attention_residual": ATTENTION, "residual": FEED_FORWARD}.get(spot.kind)
    is_off = (spot.layer, which) in anatomy.changes.no_residual
    names = tuple(parts[1:] if is_off else parts)
    terms = np.array([anatomy[name][spot.place, spot.number] for name in names], np.float32)
    return Working("sum", value, terms, names=names)


def _norm(anatomy: Anatomy, spot: Spot, value: float) -> Working:
    taken, stored = _taken_by_norm(anatomy, spot), _norm_of(anatomy, spot)
    row = vector_of(anatomy, replace(spot, name=taken)).astype(np.float64)
    steps = {
        "x": float(row[spot.number]),
        "mean": float(row.mean()),
        "deviation": float(math.sqrt(row.var() + anatomy.config.layer_norm_eps)),
        "gamma": float(anatomy.weights[f"{stored}.weight"][spot.number]),
    }
    shift = anatomy.weights.get(f"{stored}.bias")
    steps |= {} if shift is None else {"beta": float(shift[spot.number])}
    return Working("norm", value, np.array([value], np.float32), names=(taken,), steps=steps)


def _turned(anatomy: Anatomy, spot: Spot, value: float) -> Working:
    """Return a number of a query or key that was turned: of the two that are turned together."""
    row = anatomy[spot.name.removesuffix("_turned")][spot.head, spot.place]
    half, config = len(row) // 2, anatomy.config
    rotation = config.family.rotation(config)
    assert rotation is not None  # only then is it turned
    place = torch.tensor([anatomy.positions[spot.place]])
    cosines, sines = turns(rotation, spot.layer, place, len(row), torch.float32)
    pair, is_first = spot.number % half, spot.number < half
    other = spot.number + half if is_first else spot.number - half
    sine = float(sines[0, pair])
    left = np.array([row[spot.number], row[other]], np.float32)
    right = np.array([float(cosines[0, pair]), -sine if is_first else sine], np.float32)
    steps = {"other": float(other), "place": float(place)}
    return Working("turned", value, left * right, left, right, steps=steps)


def _gated(anatomy: Anatomy, spot: Spot, value: float) -> Working:
    own = f"layer.{spot.layer}."
    left, right = (anatomy[f"{own}{name}"][spot.place] for name in ("activation", "feed_forward_gate"))
    one = slice(spot.number, spot.number + 1)
    return Working("gated", value, left[one] * right[one], left[one], right[one])


def _score(anatomy: Anatomy, spot: Spot, value: float) -> Working:
    query, key = anatomy.compared(spot.layer)
    left, right = anatomy[query][spot.head, spot.place], anatomy[key][spot.head, spot.key]
    steps, name = {"root": math.sqrt(len(left))}, f"layer.{spot.layer}.distances"
    if name in anatomy:
        steps["distance"] = float(anatomy[name][spot.head, spot.place, spot.key])
    return Working("score", value, left * right, left, right, steps=steps)


def _distance(anatomy: Anatomy, spot: Spot, value: float) -> Working:
    return Working("taken", value, np.array([value], np.float32))


def _share(anatomy: Anatomy, spot: Spot, value: float) -> Working:
    scores = anatomy[f"layer.{spot.layer}.scores"][spot.head, spot.place].astype(np.float64)
    seen = anatomy.seen(spot.layer, spot.place)
    most = float(scores[seen].max())
    powers = np.where(seen, np.exp(np.minimum(scores - most, 0.0)), 0.0)
    return Working("share", value, powers.astype(np.float32), scores, steps={"most": most})


def _mixed(anatomy: Anatomy, spot: Spot, value: float) -> Working:
    own = f"layer.{spot.layer}."
    left = anatomy[f"{own}softmax"][spot.head, spot.place]
    right = anatomy[f"{own}value"][spot.head, :, spot.number]
    scale = anatomy.changes.scale(spot.layer, spot.head + 1)
    steps = {} if scale == 1.0 else {"scale": scale}
    return Working("mixed", value, left * right, left, right, steps=steps)


def _joined(anatomy: Anatomy, spot: Spot, value: float) -> Working:
    head, number = divmod(spot.number, anatomy[f"layer.{spot.layer}.heads"].shape[-1])
    steps = {"head": float(head), "number": float(number)}
    return Working("joined", value, np.array([value], np.float32), steps=steps)


def _lookup(anatomy: Anatomy, spot: Spot, value: float) -> Working:
    rows = {
        "embeddings.word": anatomy.ids,
        "embeddings.segment": anatomy.segments,
        "embeddings.position": anatomy.positions,
    }[spot.name]
    return Working("lookup", value, np.array([value], np.float32), steps={"row": float(rows[spot.place])})


def _last(anatomy: Anatomy, spot: Spot, value: float) -> Working:
    last = anatomy.plan.before_layer(anatomy.config.num_hidden_layers + 1)
    return Working("same", value, np.array([value], np.float32), names=(last,))


def _pooled(anatomy: Anatomy, spot: Spot, value: float) -> Working:
    if spot.number >= anatomy.config.hidden_size:  # of the embeddings' mean
        return Working("taken", value, np.array([value], np.float32))
    if not anatomy.about.has_pooler:  # of the last states' mean
        none = np.full(1, np.nan, np.float32)
        return Working("pooled", value, none, none, none)
    right = anatomy.weights["pooler.dense.weight"][spot.number]
    left = anatomy["T"][0]
    if anatomy.about.labels and (anatomy.config.pooling or anatomy.config.layer_mix):
        left = np.full_like(left, np.nan)  # it reads a mean, which is no vector here
    way = "product" if spot.name == "pooler.dense" else "pooled"
    steps = _bias(anatomy, "pooler.dense.bias", spot.number)
    return Working(way, value, left * right, left, right, steps=steps)


def _scored(anatomy: Anatomy, spot: Spot, value: float) -> Working:
    """Return the score of a word, of a label, or of the next sentence."""
    if spot.name == "masked_word.logits":
        left = anatomy["masked_word.norm"][spot.place]
        right = anatomy.weights["embeddings.word_embeddings.weight"][spot.key]
        bias = float(anatomy.weights["cls.predictions.bias"][spot.key])
    else:
        stored = "classifier" if spot.name == "label.logits" else "cls.seq_relationship"
        left = anatomy["C"]
        right = anatomy.weights[f"{stored}.weight"][spot.number]
        bias = float(anatomy.weights[f"{stored}.bias"][spot.number])
    return Working("scored", value, left * right, left, right, steps={"bias": bias})


_OTHERS = {
    "query_turned": _turned,
    "key_turned": _turned,
    "gated": _gated,
    "distances": _distance,
    "pooler.dense": _pooled,
    "embeddings.word": _lookup,
    "embeddings.segment": _lookup,
    "embeddings.position": _lookup,
    "scores": _score,
    "softmax": _share,
    "heads": _mixed,
    "joined": _joined,
    "T": _last,
    "C": _pooled,
    "masked_word.logits": _scored,
    "next_sentence.logits": _scored,
    "label.logits": _scored,
}
