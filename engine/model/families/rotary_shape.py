"""What an encoder with rotation is built of, beside its sizes, and its parts; its modules are in rotary.py.

Not to be broken: no torch, for config.json is read before the window is painted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from engine.errors import marked
from engine.model.families.shape import Shape
from engine.model.parts import PartKind, Term


@dataclass(frozen=True, slots=True)
class RotaryLayer:
    """How one layer attends.

    theta: a pair of numbers turns by an angle for each place, from 1 down to about 1 / theta. reach: tokens
    to either side that are seen; None: all.
    """

    theta: float
    reach: int | None


@dataclass(frozen=True, slots=True)
class RotaryConfig:
    """Which layers see the whole text, which products and norms have biases, and the rest.

    every: one of so many layers sees the whole text, the first one first. is_full: of each layer, where that
    is said one by one; else empty.
    """

    full: RotaryLayer
    near: RotaryLayer
    every: int
    is_full: tuple[bool, ...]
    attention_bias: bool
    feed_forward_bias: bool
    norm_bias: bool
    head_bias: bool
    head_act: str
    embedding_dropout: float

    def layer(self, number: int) -> RotaryLayer:
        """Return how a layer attends; the first is 0."""
        is_full = self.is_full[number] if self.is_full else number % self.every == 0
        return self.full if is_full else self.near

    @property
    def of_norm(self) -> int:
        """Numbers of a norm for each number of a vector: a scale, and a shift where it has a bias."""
        return 1 + self.norm_bias


def counts(config: Shape, own: RotaryConfig) -> dict[str, int]:
    """Return part -> number of weights, of the encoder with its pooler: see `Family.counts`."""
    width, inner, layers = config.hidden_size, config.intermediate_size, config.num_hidden_layers
    norm = own.of_norm * width
    return {
        "token embeddings": config.vocab_size * width,
        "embedding norm": norm,
        "attention": layers * (4 * width * width + own.attention_bias * 4 * width),
        "feed-forward": layers * (3 * width * inner + own.feed_forward_bias * (2 * inner + width)),
        "layer norms": layers * 2 * norm,
        "pooler": width * width + own.head_bias * width + norm,
    }


_WORDS = {  # part -> what is to be said of it instead
    "qkv": marked(
        "engine",
        "Three products, H to H. Attention heads are slices of them. Queries and keys are then turned by "
        "their place, which takes no weights.",
    ),
    "attention_norm": marked(
        "engine",
        "A scale for each number, before attention. The first layer has none: its input has just been "
        "normed. The last layer has one more, behind it.",
    ),
    "intermediate": marked(
        "engine",
        "Two products, from the width H to the feed-forward width F: one goes through an activation and is "
        "multiplied by the other, which opens or shuts it.",
    ),
    "output_norm": marked("engine", "A scale for each number, before the feed-forward part."),
    "pooler": marked("engine", "A product, H to H, and a norm, on what a head reads."),
}


def rotary_kinds(usual: Sequence[PartKind], own: RotaryConfig) -> Iterator[PartKind]:
    """Yield the parts of such an encoder and its heads. Args: usual: BERT's."""
    norm = (Term(own.of_norm, "H"),)
    attention, head = own.attention_bias, own.head_bias
    terms = {
        "embedding_norm": norm,
        "qkv": (Term(3, "HH"), *[Term(3, "H")] * attention),
        "attention_output": (Term(1, "HH"), *[Term(1, "H")] * attention),
        "attention_norm": norm,  # the first layer's is behind the last one
        "intermediate": (Term(2, "HF"), *[Term(2, "F")] * own.feed_forward_bias),
        "output": (Term(1, "FH"), *[Term(1, "H")] * own.feed_forward_bias),
        "output_norm": norm,
        "pooler": (Term(1, "HH"), Term(own.of_norm + head, "H")),
        "masked_words": (Term(1, "HH"), Term(own.of_norm + head, "H"), Term(1, "V")),
    }
    for kind in usual:
        if kind.key not in ("positions", "segments", "projection", "next_sentence"):
            yield replace(kind, terms=terms.get(kind.key, kind.terms), why=_WORDS.get(kind.key, kind.why))
