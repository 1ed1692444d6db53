"""How one number came about: the terms that it is the sum of, with the numbers that stand in this text.

What adds up here adds up to the number in `Anatomy`, within float32; a test goes through every kind.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from engine.inspect.anatomy.changes import ATTENTION, FEED_FORWARD
from engine.inspect.anatomy.steps import before_layer
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

    way: "lookup", "sum", "product", "score", "share", "mixed", "joined", "norm", "activation", "pooled",
    "same", "taken" or "scored". terms: (N,), what is added. left, right: (N,), their factors, None for plain
    terms; right of a product is the row of a matrix. names: of each term where it has one: the array it
    stands in. steps: what is done with the sum, by name: bias, root, mean, deviation, gamma, beta, scale.
    value: the number.
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
    by_key = spot.kind in ("scores", "softmax") or spot.name == "masked_word.logits"
    return float(vector_of(anatomy, spot)[spot.key if by_key else spot.number])


def working(anatomy: Anatomy, spot: Spot) -> Working:
    """Return how the number at a spot came about."""
    kind, value = spot.kind, value_of(anatomy, spot)
    if spot.name in products(anatomy.config):
        return _product(anatomy, spot, value)
    if kind in _SUMS or kind in ("attention_residual", "residual"):
        return _sum(anatomy, spot, value)
    if kind.endswith("norm"):
        return _norm(anatomy, spot, value)
    if kind.endswith("activation"):
        x = vector_of(anatomy, Spot(_before_activation(spot.name), spot.place))[spot.number]
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


_SUMS = {"embeddings.sum": ("embeddings.word", "embeddings.segment", "embeddings.position")}
_NORMS = {  # by the kind of what a norm makes: what it reads, and its published name
    "embeddings.norm": ("embeddings.sum", "embeddings.LayerNorm"),
    "attention_norm": ("attention_residual", "attention.output.LayerNorm"),
    "norm": ("residual", "output.LayerNorm"),
    "masked_word.norm": ("masked_word.activation", "cls.predictions.transform.LayerNorm"),
}


def _before_activation(name: str) -> str:
    return name.replace("activation", "dense" if name.startswith("masked_word.") else "feed_forward_in")


def _product(anatomy: Anatomy, spot: Spot, value: float) -> Working:
    found = products(anatomy.config)[spot.name]
    made = row_of(anatomy, spot)
    left = vector_of(anatomy, Spot(found.taken, spot.place))
    right = anatomy.weights[found.weight][made]
    bias = float(anatomy.weights[found.bias][made])
    return Working("product", value, left * right, left, right, steps={"bias": bias})


def row_of(anatomy: Anatomy, spot: Spot) -> int:
    """Return the row of a matrix that makes a number; of queries, keys and values, the head's own rows."""
    if spot.kind not in ("query", "key", "value"):
        return spot.number
    return spot.head * int(anatomy[spot.name].shape[-1]) + spot.number


def _sum(anatomy: Anatomy, spot: Spot, value: float) -> Working:
    own = f"layer.{spot.layer}."
    parts: tuple[str, ...] = _SUMS.get(spot.kind, ())
    if spot.kind == "attention_residual":
        parts = (before_layer(spot.layer), f"{own}output")
        is_off = (spot.layer, ATTENTION) in anatomy.changes.no_residual
    elif spot.kind == "residual":
        parts = (f"{own}attention_norm", f"{own}feed_forward_out")
        is_off = (spot.layer, FEED_FORWARD) in anatomy.changes.no_residual
    else:
        is_off = False
    names = parts[1:] if is_off else parts
    terms = np.array([anatomy[name][spot.place, spot.number] for name in names], np.float32)
    return Working("sum", value, terms, names=names)


def _norm(anatomy: Anatomy, spot: Spot, value: float) -> Working:
    taken, stored = _NORMS[spot.kind]
    if spot.layer:
        taken, stored = f"layer.{spot.layer}.{taken}", f"encoder.layer.{spot.layer - 1}.{stored}"
    row = anatomy[taken][spot.place].astype(np.float64)
    steps = {
        "x": float(row[spot.number]),
        "mean": float(row.mean()),
        "deviation": float(math.sqrt(row.var() + anatomy.config.layer_norm_eps)),
        "gamma": float(anatomy.weights[f"{stored}.weight"][spot.number]),
        "beta": float(anatomy.weights[f"{stored}.bias"][spot.number]),
    }
    return Working("norm", value, np.array([value], np.float32), names=(taken,), steps=steps)


def _score(anatomy: Anatomy, spot: Spot, value: float) -> Working:
    own = f"layer.{spot.layer}."
    left = anatomy[f"{own}query"][spot.head, spot.place]
    right = anatomy[f"{own}key"][spot.head, spot.key]
    return Working("score", value, left * right, left, right, steps={"root": math.sqrt(len(left))})


def _share(anatomy: Anatomy, spot: Spot, value: float) -> Working:
    scores = anatomy[f"layer.{spot.layer}.scores"][spot.head, spot.place].astype(np.float64)
    powers = np.where(np.array(anatomy.mask) == 1, np.exp(scores - scores.max()), 0.0)
    return Working("share", value, powers.astype(np.float32), scores, steps={"most": float(scores.max())})


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
    last = f"layer.{anatomy.config.num_hidden_layers}.norm"
    return Working("same", value, np.array([value], np.float32), names=(last,))


def _pooled(anatomy: Anatomy, spot: Spot, value: float) -> Working:
    if spot.number >= anatomy.config.hidden_size:  # of the embeddings' mean
        return Working("taken", value, np.array([value], np.float32))
    right = anatomy.weights["pooler.dense.weight"][spot.number]
    bias = float(anatomy.weights["pooler.dense.bias"][spot.number])
    left = anatomy["T"][0]
    if anatomy.about.labels and (anatomy.config.pooling or anatomy.config.layer_mix):
        left = np.full_like(left, np.nan)  # it reads a mean, which is no vector here
    return Working("pooled", value, left * right, left, right, steps={"bias": bias})


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
