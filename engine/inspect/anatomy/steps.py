"""The steps of a pass through a model, in the order in which they are calculated, and the arrays of each.

BERT has twenty. Another model has those that its family's declarations say: see `plan_of`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from engine.model.config import BertConfig
from engine.model.parts import KINDS

EMBEDDINGS, LAYER, HEAD = "embeddings", "layer", "head"
NORM_BEFORE_ATTENTION, NORM_BEFORE_FEED_FORWARD = "attention_input", "feed_forward_input"


@dataclass(frozen=True, slots=True)
class PassStep:
    """A step of a pass.

    arrays: of `Anatomy`, from left to right as they are calculated, the last what the step makes; {own} is
    the layer's prefix, {before} what the layer reads, {read} what its attention reads.
    """

    key: str
    group: str
    arrays: tuple[str, ...] = ()


@dataclass(frozen=True)
class PassPlan:
    """The steps of a pass through one model.

    made: by a layer, of the arrays with its prefix. begins: the array that the first layer reads.
    norms_first: attention and feed-forward read what was normed, the first layer's attention excepted, and a
    norm stands behind the last layer; else a norm follows each of the two.
    """

    steps: tuple[PassStep, ...]
    num_layers: int = 1
    made: str = "norm"
    begins: str = "embeddings.norm"
    norms_first: bool = False

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The keys of the steps."""
        return tuple(step.key for step in self.steps)

    @cached_property
    def of_layer(self) -> tuple[str, ...]:
        """The keys of the steps within a layer."""
        return tuple(step.key for step in self.steps if step.group == LAYER)

    def names(self, key: str, layer: int) -> tuple[str, ...]:
        """Return the names of a step's arrays in a layer, counted from 1."""
        before, own = self.before_layer(layer), f"layer.{layer}."
        if key == NORM_BEFORE_ATTENTION and layer == 1:
            return (before,)  # which has just been normed
        read = f"{own}{NORM_BEFORE_ATTENTION}" if self.norms_first and layer > 1 else before
        arrays = self.steps[self.order.index(key)].arrays
        last = f"layer.{self.num_layers}.{self.made}"
        return tuple(name.format(own=own, before=before, read=read, last=last) for name in arrays)

    def before_layer(self, number: int) -> str:
        """Return the name of what a layer, counted from 1, reads."""
        return self.begins if number == 1 else f"layer.{number - 1}.{self.made}"

    def step_making(self, name: str, layer: int) -> tuple[str, int]:
        """Return the step that makes an array, and its layer; the given one where it is of none."""
        layer = int(name.split(".")[1]) if name.startswith("layer.") else layer
        found = [key for key in self.order if name in self.names(key, layer)[-1:]]
        return (found or [key for key in self.order if name in self.names(key, layer)])[0], layer


def plan_of(config: BertConfig) -> PassPlan:
    """Return the steps of a pass through such a model."""
    rotary = config.family.rotation(config)
    begins = "embeddings.projected" if config.family.has_projection else "embeddings.norm"
    first = rotary is not None and rotary.norms_first
    knows_distances = "distances" in _parts_of(config)
    last = _norms_last(is_turned=rotary is not None, knows_distances=knows_distances)
    layer = _norms_first() if first else last
    steps, made = (*_embeddings(config), *layer, *_HEAD), "residual" if first else "norm"
    return PassPlan(steps, config.num_hidden_layers, made, begins, norms_first=first)


def tables_of(config: BertConfig) -> tuple[str, ...]:
    """Return the arrays that are looked up for each token, and added where they are several."""
    kinds = _parts_of(config)
    there = {"word": True, "segment": "segments" in kinds, "position": "positions" in kinds}
    return tuple(f"embeddings.{name}" for name, is_there in there.items() if is_there)


def _parts_of(config: BertConfig) -> set[str]:
    return {kind.key for kind in config.family.part_kinds(config, KINDS)}


def _embeddings(config: BertConfig) -> Iterator[PassStep]:
    for key in ("text", "pieces", "ids"):
        yield PassStep(key, EMBEDDINGS)
    tables = tables_of(config)
    yield PassStep("vectors", EMBEDDINGS, tables)
    if len(tables) > 1:
        yield PassStep("sum", EMBEDDINGS, (*tables, "embeddings.sum"))
    summed = "embeddings.sum" if len(tables) > 1 else tables[0]
    yield PassStep("embedding_norm", EMBEDDINGS, (summed, "embeddings.norm"))
    if config.family.has_projection:
        yield PassStep("projection", EMBEDDINGS, ("embeddings.norm", "embeddings.projected"))


def _attention(read: str, *, is_turned: bool, knows_distances: bool = False) -> Iterator[PassStep]:
    """Yield the steps from queries to what is added.

    Args: is_turned: whether places come by rotation. knows_distances: whether scores get a number for them.
    """
    yield PassStep("qkv", LAYER, (read, "{own}query", "{own}key", "{own}value"))
    if is_turned:
        pairs = ("{own}query", "{own}query_turned", "{own}key", "{own}key_turned")
        yield PassStep("rotation", LAYER, pairs)
    yield PassStep("scores", LAYER, (*["{own}distances"] * knows_distances, "{own}scores"))
    yield PassStep("softmax", LAYER, ("{own}softmax",))
    yield PassStep("mixed", LAYER, ("{own}value", "{own}heads"))
    yield PassStep("heads", LAYER, ("{own}joined",))
    yield PassStep("output", LAYER, ("{own}joined", "{own}output"))
    yield PassStep("attention_residual", LAYER, ("{before}", "{own}output", "{own}attention_residual"))


def _feed_forward(read: str, added: str, *, is_gated: bool) -> Iterator[PassStep]:
    """Yield the feed-forward part. Args: read: by it. added: what goes round it."""
    inner = ("{own}feed_forward_in", "{own}activation")
    gate = ("{own}feed_forward_gate", "{own}gated") if is_gated else ()
    yield PassStep("feed_forward", LAYER, (read, *inner, *gate, "{own}feed_forward_out"))
    yield PassStep("residual", LAYER, (added, "{own}feed_forward_out", "{own}residual"))


def _norms_last(*, is_turned: bool, knows_distances: bool) -> Iterator[PassStep]:
    """Yield a layer's steps in BERT's order. Args: is_turned: whether it is turned, and gated."""
    normed = "{own}attention_norm"
    yield from _attention("{before}", is_turned=is_turned, knows_distances=knows_distances)
    yield PassStep("attention_norm", LAYER, ("{own}attention_residual", normed))
    yield from _feed_forward(normed, normed, is_gated=is_turned)
    yield PassStep("norm", LAYER, ("{own}residual", "{own}norm"))


def _norms_first() -> Iterator[PassStep]:
    """Yield a layer's steps where norms stand before attention and before the feed-forward part."""
    added, normed = "{own}attention_residual", f"{{own}}{NORM_BEFORE_FEED_FORWARD}"
    yield PassStep(NORM_BEFORE_ATTENTION, LAYER, ("{before}", f"{{own}}{NORM_BEFORE_ATTENTION}"))
    yield from _attention("{read}", is_turned=True)
    yield PassStep(NORM_BEFORE_FEED_FORWARD, LAYER, (added, normed))
    yield from _feed_forward(normed, added, is_gated=True)
    yield PassStep("final_norm", HEAD, ("{last}", "T"))


_MASKED_WORD = ("masked_word.dense", "masked_word.activation", "masked_word.norm")
_HEAD = (
    PassStep("ends", HEAD, ("T", *_MASKED_WORD, "C")),
    PassStep("answer", HEAD),
    PassStep("loss", HEAD),
)
BERTS = plan_of(BertConfig())
_AFTER = {  # a step of other models -> the one of BERT behind which it is, or whose place it takes
    "embedding_norm": ("projection", NORM_BEFORE_ATTENTION),
    "qkv": ("rotation",),
    "attention_norm": (NORM_BEFORE_FEED_FORWARD,),
    "norm": ("final_norm",),
}
KEYS = tuple(key for berts in BERTS.order for key in (berts, *_AFTER.get(berts, ())))  # of all models
