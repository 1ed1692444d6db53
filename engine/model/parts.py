"""The ONE table of a model's parts: what each is called, what it is for, its terms, and our modules in it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain

from engine.errors import marked
from engine.model import names

LETTERS = {  # letter -> what it stands for; A is in no formula of BERT's, which is the point of naming it
    "V": marked("engine", "Pieces"),
    "P": marked("engine", "positions"),
    "S": marked("engine", "segments"),
    "E": marked("engine", "width of the embeddings"),  # where they are projected to H
    "H": marked("engine", "width"),
    "F": marked("engine", "feed-forward width"),
    "L": marked("engine", "layers"),
    "A": marked("engine", "attention heads"),
    "C": marked("engine", "labels"),
}
GROUPS = {
    "embeddings": marked("engine", "Embeddings"),
    "layers": marked("engine", "Layers"),
    "pooler": marked("engine", "Pooler"),
    "heads": marked("engine", "Heads on top"),
}


@dataclass(frozen=True, slots=True)
class Term:
    """A number times some sizes, each by its letter: Term(3, "HH") is 3 H²."""

    factor: int
    letters: str = ""

    def value(self, sizes: Mapping[str, int]) -> int:
        """Return the number that it stands for."""
        return self.factor * math.prod(sizes[letter] for letter in self.letters)

    def spelled(self) -> str:
        """Return it with letters: 3H², V × H."""
        powers = " × ".join(self._powers(str))
        return powers if self.factor == 1 and powers else f"{self.factor}{powers}"

    def with_numbers(self, sizes: Mapping[str, int], number: Callable[[int], str]) -> str:
        """Return it with numbers: 3 × 768²."""
        powers = self._powers(lambda letter: number(sizes[letter]))
        return " × ".join(powers if self.factor == 1 and powers else [number(self.factor), *powers])

    def _powers(self, say: Callable[[str], str]) -> list[str]:
        signs = {1: "", 2: "²", 3: "³"}
        return [say(one) + signs[self.letters.count(one)] for one in dict.fromkeys(self.letters)]


@dataclass(frozen=True, slots=True)
class PartKind:
    """A part as it is in every model. group: one of GROUPS; of "layers", the terms are those of one layer.

    why: a sentence for a person. modules: ours whose weights it has, # for the layer's number.
    """

    key: str
    group: str
    name: str
    why: str
    terms: tuple[Term, ...]
    modules: tuple[str, ...]


NORM = (Term(2, "H"),)
SQUARE = (Term(1, "HH"), Term(1, "H"))
KINDS = (  # in the order in which a text passes through them
    PartKind(
        "tokens",
        "embeddings",
        marked("engine", "Pieces"),
        marked("engine", "A vector for each piece of the vocabulary."),
        (Term(1, "VH"),),
        ("embeddings.word",),
    ),
    PartKind(
        "positions",
        "embeddings",
        marked("engine", "Positions"),
        marked("engine", "A vector for each place in the text. No text can be longer."),
        (Term(1, "PH"),),
        ("embeddings.position", "layers.#.attention.distances.table", "layers.#.attention.distances.norm"),
    ),
    PartKind(
        "segments",
        "embeddings",
        marked("engine", "Segments"),
        marked("engine", "A vector for text A and one for text B."),
        (Term(1, "SH"),),
        ("embeddings.token_type",),
    ),
    PartKind(
        "embedding_norm",
        "embeddings",
        marked("engine", "Layer norm"),
        marked("engine", "A scale and a shift for each number of the summed vector."),
        NORM,
        ("embeddings.norm",),
    ),
    PartKind(
        "projection",
        "embeddings",
        marked("engine", "Projection"),
        marked("engine", "A product, from the width E of the embeddings to the width H of the layers."),
        (Term(1, "EH"), Term(1, "H")),
        ("embeddings.projection",),
    ),
    PartKind(
        "qkv",
        "layers",
        marked("engine", "Query, key, value"),
        marked("engine", "Three products, H to H, with biases. Attention heads are slices of them."),
        (Term(3, "HH"), Term(3, "H")),
        ("layers.#.attention.qkv", "layers.#.attention.position"),
    ),
    PartKind(
        "attention_output",
        "layers",
        marked("engine", "Attention output"),
        marked("engine", "A product, H to H, that mixes what all heads have found."),
        SQUARE,
        ("layers.#.attention.output",),
    ),
    PartKind(
        "attention_norm",
        "layers",
        marked("engine", "Attention norm"),
        marked("engine", "A scale and a shift for each number."),
        NORM,
        ("layers.#.attention_norm", "layers.#.final_norm"),
    ),
    PartKind(
        "intermediate",
        "layers",
        marked("engine", "Feed-forward, up"),
        marked("engine", "A product, from the width H to the feed-forward width F, which is usually 4H."),
        (Term(1, "HF"), Term(1, "F")),
        ("layers.#.intermediate",),
    ),
    PartKind(
        "output",
        "layers",
        marked("engine", "Feed-forward, down"),
        marked("engine", "A product, from F back to H."),
        (Term(1, "FH"), Term(1, "H")),
        ("layers.#.output",),
    ),
    PartKind(
        "output_norm",
        "layers",
        marked("engine", "Feed-forward norm"),
        marked("engine", "A scale and a shift for each number."),
        NORM,
        ("layers.#.output_norm",),
    ),
    PartKind(
        "pooler",
        "pooler",
        marked("engine", "Pooler"),
        marked("engine", "A product, H to H, on [CLS]. A classifier and the next-sentence head read it."),
        SQUARE,
        ("pooler", "pooler.norm"),
    ),
    PartKind(
        "masked_words",
        "heads",
        marked("engine", "Masked words"),
        marked(
            "engine",
            "A product, H to H, a norm, and a bias for each piece. The scores use the "
            "piece vectors once more, which takes no further weights.",
        ),
        (Term(1, "HH"), Term(3, "H"), Term(1, "V")),
        ("transform", "norm", ""),
    ),
    PartKind(
        "next_sentence",
        "heads",
        marked("engine", "Next sentence"),
        marked("engine", "A product, from H to two answers: follows, or does not."),
        (Term(2, "H"), Term(2)),
        ("next_sentence",),
    ),
    PartKind(
        "layer_mix",
        "heads",
        marked("engine", "Mix of layers"),
        marked("engine", "A number for the embeddings and each layer, how much it counts, and a scale."),
        (Term(1, "L"), Term(2)),
        ("mix",),
    ),
    PartKind(
        "classifier",
        "heads",
        marked("engine", "Classifier"),
        marked("engine", "A product, from H to the labels."),
        (Term(1, "CH"), Term(1, "C")),
        ("classifier",),
    ),
    PartKind(
        "answers",
        "heads",
        marked("engine", "Answers to questions"),
        marked("engine", "A product, from H to two scores: where the answer begins and where it ends."),
        (Term(2, "H"), Term(2)),
        ("answers",),
    ),
)

NARROW_GUESSES = PartKind(  # in the place of "masked_words" where embeddings have a width of their own
    "masked_words",
    "heads",
    marked("engine", "Masked words"),
    marked(
        "engine",
        "A product, from H to E, a norm, and a bias for each piece. The scores use the piece vectors "
        "once more, which takes no further weights.",
    ),
    (Term(1, "HE"), Term(3, "E"), Term(1, "V")),
    ("transform", "norm", ""),
)

NUM_BUCKETS = 32  # of distances between two words, as T5 has them
DISTANCES = PartKind(  # of families whose attention knows how far apart two words are
    "distances",
    "embeddings",
    marked("engine", "Distances"),
    marked(
        "engine",
        "A number for each attention head and each of 32 ranges of distance between two words. It is added "
        "to their score. All layers use the same table.",
    ),
    (Term(NUM_BUCKETS, "A"),),
    ("layers.#.attention.distances",),
)


def part_of_weight(name: str) -> str | None:
    """Return the key of the part that a weight is in, by our name or a published one; None for others."""
    module, _, kind = names.plain_name(name).rpartition(".")
    if module not in ("mix", "layer_mix") and (
        kind not in ("weight", "bias") or (not module and kind == "weight")
    ):
        return None
    return _key_of_module().get(re.sub(r"\b(layers?)\.\d+\.", r"\1.#.", module))


@cache
def _key_of_module() -> dict[str, str]:
    """Return module, by our name and the published ones -> key of its part."""
    found: dict[str, str] = {}
    for kind in (*KINDS, DISTANCES):
        for own in kind.modules:
            found[own] = kind.key
            first = f"{own.replace('#', '0')}.bias".removeprefix(".")
            every = (names.published_names(first, stacks) for stacks in (None, names.FUSED, names.GATED))
            for name in chain.from_iterable(every):
                found[name.removesuffix(".bias").replace(".layer.0.", ".layer.#.")] = kind.key
    return found
