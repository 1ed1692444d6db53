"""The twenty steps of a pass, in the order in which they are calculated, and which arrays belong to each."""

from __future__ import annotations

from dataclasses import dataclass

EMBEDDINGS, LAYER, HEAD = "embeddings", "layer", "head"


@dataclass(frozen=True, slots=True)
class PassStep:
    """A step of a pass.

    arrays: of `Anatomy`, from left to right as they are calculated, the last what the step makes; {own} is
    the layer's prefix, {before} what the layer reads.
    """

    key: str
    group: str
    arrays: tuple[str, ...] = ()

    def names(self, layer: int) -> tuple[str, ...]:
        """Return the names of its arrays in a layer, counted from 1."""
        return tuple(name.format(own=f"layer.{layer}.", before=before_layer(layer)) for name in self.arrays)


def before_layer(number: int) -> str:
    """Return the name of what a layer, counted from 1, reads."""
    return "embeddings.norm" if number == 1 else f"layer.{number - 1}.norm"


_THREE = ("embeddings.word", "embeddings.segment", "embeddings.position")
_MASKED_WORD = ("masked_word.dense", "masked_word.activation", "masked_word.norm")
_INNER = ("{own}feed_forward_in", "{own}activation", "{own}feed_forward_out")
_ALL = (
    PassStep("text", EMBEDDINGS),
    PassStep("pieces", EMBEDDINGS),
    PassStep("ids", EMBEDDINGS),
    PassStep("vectors", EMBEDDINGS, _THREE),
    PassStep("sum", EMBEDDINGS, (*_THREE, "embeddings.sum")),
    PassStep("embedding_norm", EMBEDDINGS, ("embeddings.sum", "embeddings.norm")),
    PassStep("qkv", LAYER, ("{before}", "{own}query", "{own}key", "{own}value")),
    PassStep("scores", LAYER, ("{own}scores",)),
    PassStep("softmax", LAYER, ("{own}softmax",)),
    PassStep("mixed", LAYER, ("{own}value", "{own}heads")),
    PassStep("heads", LAYER, ("{own}joined",)),
    PassStep("output", LAYER, ("{own}joined", "{own}output")),
    PassStep("attention_residual", LAYER, ("{before}", "{own}output", "{own}attention_residual")),
    PassStep("attention_norm", LAYER, ("{own}attention_residual", "{own}attention_norm")),
    PassStep("feed_forward", LAYER, ("{own}attention_norm", *_INNER)),
    PassStep("residual", LAYER, ("{own}attention_norm", "{own}feed_forward_out", "{own}residual")),
    PassStep("norm", LAYER, ("{own}residual", "{own}norm")),
    PassStep("ends", HEAD, ("T", *_MASKED_WORD, "C")),
    PassStep("answer", HEAD),
    PassStep("loss", HEAD),
)
STEPS = {one.key: one for one in _ALL}
ORDER = tuple(STEPS)
OF_LAYER = tuple(one.key for one in _ALL if one.group == LAYER)


def step_making(name: str, layer: int) -> tuple[str, int]:
    """Return the step that makes an array, and its layer; the given one where it is of none."""
    layer = int(name.split(".")[1]) if name.startswith("layer.") else layer
    return next(one.key for one in _ALL if name in one.names(layer)), layer
