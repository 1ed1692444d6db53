"""The ONE table of names: what our parameters are called in published checkpoints, old and new.

Whoever renames a module in bert.py or heads.py mends this table, nothing else; a test walks through it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from engine.errors import marked

# our module -> the published module(s) whose rows it stacks; # stands for the layer's number
_TABLE: dict[str, tuple[str, ...]] = {
    "embeddings.word": ("embeddings.word_embeddings",),
    "embeddings.position": ("embeddings.position_embeddings",),
    "embeddings.token_type": ("embeddings.token_type_embeddings",),
    "embeddings.norm": ("embeddings.LayerNorm",),
    "embeddings.projection": ("embeddings_project",),  # of families whose embeddings are narrower
    "layers.#.attention.qkv": (
        "encoder.layer.#.attention.self.query",
        "encoder.layer.#.attention.self.key",
        "encoder.layer.#.attention.self.value",
    ),
    "layers.#.attention.position": (  # of families that compare words with distances, too
        "encoder.layer.#.attention.self.pos_query_proj",
        "encoder.layer.#.attention.self.pos_key_proj",
    ),
    "layers.#.attention.distances.table": ("encoder.rel_embeddings",),
    "layers.#.attention.distances.norm": ("encoder.LayerNorm",),
    "layers.#.attention.distances": ("encoder.layer.#.attention.distances",),  # of families that have such
    "layers.#.attention.output": ("encoder.layer.#.attention.output.dense",),
    "layers.#.attention_norm": ("encoder.layer.#.attention.output.LayerNorm",),
    "layers.#.intermediate": ("encoder.layer.#.intermediate.dense",),
    "layers.#.output": ("encoder.layer.#.output.dense",),
    "layers.#.output_norm": ("encoder.layer.#.output.LayerNorm",),
    "layers.#.final_norm": ("encoder.final_norm",),  # of families that have one behind the last layer
    "pooler": ("pooler.dense",),
    "pooler.norm": ("pooler.LayerNorm",),  # of families whose pooler has one
    "mix": ("layer_mix",),  # Cloze's own: published classifiers read the last layer
    "classifier": ("classifier",),
    "answers": ("qa_outputs",),
    "transform": ("cls.predictions.transform.dense",),
    "norm": ("cls.predictions.transform.LayerNorm",),
    "": ("cls.predictions",),  # the bias of each word, which no module of ours holds
    "next_sentence": ("cls.seq_relationship",),
}
Stacks = Mapping[str, tuple[str, ...]]  # our module -> the published ones, where not as in the table
FUSED: Stacks = {"layers.#.attention.qkv": ("encoder.layer.#.attention.self.qkv",)}  # the three are one
GATED: Stacks = {  # one goes through an activation and is multiplied by the other
    "layers.#.intermediate": ("encoder.layer.#.intermediate.gate", "encoder.layer.#.intermediate.up")
}
GATED_LAST: Stacks = {name: published[::-1] for name, published in GATED.items()}
PARTS: dict[str, tuple[str, ...]] = {  # what may be missing in a folder -> our modules
    "pooler": ("pooler",),
    "layer_mix": ("mix",),
    "classifier": ("classifier",),
    "answers": ("answers",),
    "masked_word": ("transform", "norm", ""),
    "next_sentence": ("next_sentence",),
}
SHARED = {  # stored by some twice: the second must equal the first, or stands for it where that is missing
    "embeddings.word_embeddings.weight": "cls.predictions.decoder.weight",
    "cls.predictions.bias": "cls.predictions.decoder.bias",
}
_KINDS = {"mix": ("weights", "scale"), "": ("bias",)}  # of other modules: weight and bias
PREFIX = "bert."
POSITIONS = "embeddings.position_embeddings.weight"
SEGMENTS = "embeddings.token_type_embeddings.weight"
_PART_OF_MODULE = {
    module: part for part, owns in PARTS.items() for own in owns for module in (own, *_TABLE[own])
} | {"cls.predictions.decoder": "masked_word", "pooler.norm": "pooler", "pooler.LayerNorm": "pooler"}
_BUFFERS = {"embeddings.position_ids", "embeddings.token_type_ids"}  # constants that old releases stored
_OTHER_HEADS = {
    "cls.predictions.": marked("engine", "Not needed here: the masked-word head ({count} tensors)."),
    "cls.seq_relationship.": marked("engine", "Not needed here: the next-sentence head ({count} tensors)."),
    "qa_outputs.": marked("engine", "Not needed here: the question-answering head ({count} tensors)."),
    "layer_mix.": marked("engine", "Not needed here: the mix of layers ({count} tensors)."),
    "classifier.": marked("engine", "Not needed here: the classifier ({count} tensors)."),
    "pooler.": marked("engine", "Not needed here: the pooler ({count} tensors)."),
}


def published_names(own: str, stacks: Stacks | None = None) -> tuple[str, ...]:
    """Return the published name of our parameter, or the three whose rows it stacks; a `bert.` is kept.

    Args: stacks: of families that store some otherwise.
    """
    prefix = PREFIX if own.startswith(PREFIX) else ""
    module, _, kind = own.removeprefix(prefix).rpartition(".")
    number = re.search(r"(?<=^layers\.)\d+", module)
    spelled = re.sub(r"(?<=^layers\.)\d+", "#", module)
    published = (stacks or {}).get(spelled) or _TABLE[spelled]
    return tuple(f"{prefix}{name.replace('#', number[0] if number else '')}.{kind}" for name in published)


def plain_name(name: str) -> str:
    """Return a published name as the table spells it: without `bert.`, gamma and beta by their new names."""
    name = name.removeprefix(PREFIX)
    if name.endswith(("LayerNorm.gamma", "LayerNorm.beta")):
        name = name.removesuffix("gamma").removesuffix("beta") + (
            "weight" if name.endswith("gamma") else "bias"
        )
    return name


def full_name(plain: str) -> str:
    """Return a plain name as the published folders of a whole model spell it, most with `bert.`."""
    return f"{PREFIX}{plain}" if part_of(plain) in ("encoder", "pooler") else plain


def part_of(name: str) -> str:
    """Return which of PARTS a weight is in, by our name or the published one; else "encoder"."""
    return _PART_OF_MODULE.get(name.removeprefix(PREFIX).rpartition(".")[0], "encoder")


def names_of_part(part: str) -> tuple[str, ...]:
    """Return the published names of all weights of one of PARTS."""
    own = [
        f"{module}.{kind}".removeprefix(".")
        for module in PARTS[part]
        for kind in _KINDS.get(module, ("weight", "bias"))
    ]
    return tuple(name for one in own for name in published_names(one))


def is_buffer(plain: str) -> bool:
    """Whether a stored tensor, by its plain name, is a constant that old releases kept, and no weight."""
    return plain in _BUFFERS


def head_sentence(plain: str) -> str:
    """Return the sentence for the head that a weight, by its plain name, belongs to; "" where unknown."""
    return next((sentence for start, sentence in _OTHER_HEADS.items() if plain.startswith(start)), "")
