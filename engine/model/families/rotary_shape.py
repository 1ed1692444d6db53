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
    to either side that are seen; None: all. slowed: what each angle is divided by, for longer texts.
    """

    theta: float
    reach: int | None = None
    slowed: float = 1.0


@dataclass(frozen=True, slots=True)
class RotaryConfig:
    """Which layers see the whole text, which products and norms have biases, and the rest.

    norms_first: whether norms stand before attention and feed-forward, as `RotaryBlock` has them, or behind
    them. gate_last: whether the second half of the feed-forward's first product goes through the activation,
    and not the first. every: one of so many layers sees the whole text, the first one first. is_full: of each
    layer, where that is said one by one; else empty. output_bias: of the feed-forward's second product alone.
    head_bias, head_act: of a `NormedPooler` and its like in a masked-word head.
    """

    full: RotaryLayer
    norms_first: bool = False
    gate_last: bool = False
    near: RotaryLayer | None = None  # where some layers do not see the whole text
    every: int = 1
    is_full: tuple[bool, ...] = ()
    attention_bias: bool = False
    feed_forward_bias: bool = False
    output_bias: bool = False
    norm_bias: bool = False
    head_bias: bool = False
    head_act: str = "gelu"
    embedding_dropout: float = 0.0

    def layer(self, number: int) -> RotaryLayer:
        """Return how a layer attends; the first is 0."""
        is_full = self.is_full[number] if self.is_full else number % self.every == 0
        return self.full if is_full or self.near is None else self.near

    @property
    def has_output_bias(self) -> bool:
        """Whether the feed-forward's second product has one."""
        return self.feed_forward_bias or self.output_bias

    @property
    def of_norm(self) -> int:
        """Numbers of a norm for each number of a vector: a scale, and a shift where it has a bias."""
        return 1 + self.norm_bias


def layer_counts(config: Shape, own: RotaryConfig) -> dict[str, int]:
    """Return part -> number of weights, of all layers: see `Family.counts`."""
    width, inner, layers = config.hidden_size, config.intermediate_size, config.num_hidden_layers
    return {
        "attention": layers * (4 * width * width + own.attention_bias * 4 * width),
        "feed-forward": layers
        * (3 * width * inner + own.feed_forward_bias * 2 * inner + own.has_output_bias * width),
        "layer norms": layers * 2 * own.of_norm * width,
    }


def layer_kinds(usual: Sequence[PartKind], own: RotaryConfig) -> Iterator[PartKind]:
    """Yield BERT's parts as they are where layers turn queries and keys and are gated; none has positions."""
    attention, inner = own.attention_bias, own.feed_forward_bias
    terms = {
        "qkv": (Term(3, "HH"), *[Term(3, "H")] * attention),
        "attention_output": (Term(1, "HH"), *[Term(1, "H")] * attention),
        "intermediate": (Term(2, "HF"), *[Term(2, "F")] * inner),
        "output": (Term(1, "FH"), *[Term(1, "H")] * own.has_output_bias),
    }
    for kind in usual:
        if kind.key not in ("positions", "next_sentence"):
            yield replace(kind, terms=terms.get(kind.key, kind.terms), why=_WHY.get(kind.key, kind.why))


_WHY = {  # part -> what is to be said of it instead
    "qkv": marked(
        "engine",
        "Three products, H to H. Attention heads are slices of them. Queries and keys are then turned by "
        "their place, which takes no weights.",
    ),
    "intermediate": marked(
        "engine",
        "Two products, from the width H to the feed-forward width F. One goes through an activation and is "
        "multiplied by the other.",
    ),
}
