"""A BERT's shape: exactly the keys of a published config.json, checked before any memory is taken."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.errors import ModelError, marked
from engine.model.families.family import BERT, Family
from engine.model.families.known import FAMILIES, family_of
from engine.model.families.refused import refused
from engine.model.families.shape import ACTIVATIONS

PRESETS: dict[
    str, tuple[int, int, int]
] = {  # name -> layers, width, heads (Devlin et al. 2019; Turc et al. 2019)
    "tiny": (2, 128, 2),
    "mini": (4, 256, 4),
    "small": (4, 512, 8),
    "medium": (8, 512, 8),
    "base": (12, 768, 12),
    "large": (24, 1024, 16),
}
PROBLEMS = ("", "single_label_classification", "multi_label_classification", "regression")
FIRST_LAST = "first_last"
POOLINGS = ("", "mean", FIRST_LAST)
_LIMITS = {  # generous, and far below what would hurt: a hostile config is refused here
    "vocab_size": 10_000_000,
    "hidden_size": 65_536,
    "num_hidden_layers": 1_024,
    "num_attention_heads": 4_096,
    "intermediate_size": 1_048_576,
    "max_position_embeddings": 1_048_576,
    "type_vocab_size": 65_536,
}
_NO_KEYS = {"extra", "id2label", "numbers_texts"}
_MOST_PARAMETERS = 20_000_000_000
_MOST_IN_A_LABEL = 1_000  # characters


@dataclass(frozen=True, kw_only=True)
class BertConfig:
    """The keys of config.json that BERT reads; all others are kept in `extra` and written back."""

    model_type: str = BERT.model_type  # of what is built: a key of FAMILIES
    vocab_size: int = 30522
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    hidden_act: str = "gelu"
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    classifier_dropout: float | None = None
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    initializer_range: float = 0.02
    layer_norm_eps: float = 1e-12
    embedding_size: int | None = None  # of a word's vector, where the family projects it
    pad_token_id: int = 0
    problem_type: str = ""  # what a classifier's scores mean; "": one label for each text
    pooling: str = ""  # of POOLINGS, what a classifier of texts reads: a key of our own
    layer_mix: bool = False  # whether a head reads a mix of all layers: a key of our own
    id2label: tuple[str, ...] = ()  # the labels in the order of their ids; empty where there is no classifier
    numbers_texts: bool = True  # whether its tokenizer tells it which text of a pair is the second; no key
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check(self)

    @classmethod
    def preset(cls, name: str, vocab_size: int = 30522, **changes: Any) -> BertConfig:
        """Return tiny, mini, small, medium, base or large. Raises: ModelError for another name."""
        if name not in PRESETS:
            raise ModelError(
                marked("engine", "There is no preset named {name}. Choose one of: {names}."),
                name=name,
                names=list(PRESETS),
            )
        layers, width, heads = PRESETS[name]
        return cls(
            vocab_size=vocab_size,
            hidden_size=width,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            intermediate_size=4 * width,
            **changes,
        )

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> BertConfig:
        """Read a config.json's object. Raises: ModelError: not a BERT, or values that cannot be.

        The keys of other families are read as BERT's (engine/model/families).
        """
        document = family_of(document).read_config(document)
        unusual = {
            "position_embedding_type": ("absolute", None),
            "is_decoder": (False, None),
            "add_cross_attention": (False, None),
        }
        odd = [name for name, usual in unusual.items() if document.get(name, usual[0]) not in usual]
        if odd:
            raise ModelError(
                marked("engine", "config.json describes a model that is not a plain BERT ({what})."),
                what=f"{odd[0]} {document[odd[0]]}",
            )
        values: dict[str, Any] = {}
        names = {f.name for f in dataclasses.fields(cls)} - _NO_KEYS
        for name in names & document.keys():
            values[name] = document[name]
        for name in ("pad_token_id", "pooling", "problem_type"):
            if values.get(name, "") is None:
                del values[name]
        extra = {k: v for k, v in document.items() if k not in names | {"id2label", "label2id", "num_labels"}}
        return cls(**values, id2label=_labels(document), extra=extra)

    @property
    def family(self) -> Family:
        """Whose model is built."""
        return FAMILIES[self.model_type]

    @property
    def embedding_width(self) -> int:
        """Numbers of a word's vector: as many as of a hidden state, but where the family projects them."""
        return self.embedding_size if self.family.has_projection and self.embedding_size else self.hidden_size

    @property
    def has_segments(self) -> bool:
        """Whether its embeddings tell the second text of a pair from the first."""
        return self.family.has_segments and self.numbers_texts

    @property
    def num_segments(self) -> int:
        """How many segments a token can be told to be in; 1 where texts are not told apart."""
        return self.type_vocab_size if self.has_segments else 1

    @property
    def reads_pairs(self) -> bool:
        """Whether it can tell the second text of a pair from the first."""
        return self.type_vocab_size > 1 or not self.has_segments

    @property
    def num_blocks(self) -> int:
        """Layers with weights of their own: one where it is every layer."""
        return 1 if self.family.shares_layers else self.num_hidden_layers

    @property
    def problem(self) -> str:
        """What a classifier's scores mean: as it is named, else as transformers takes it."""
        return self.problem_type or ("regression" if len(self.id2label) == 1 else PROBLEMS[1])

    @property
    def read_width(self) -> int:
        """Numbers that a classifier of texts reads."""
        return self.hidden_size * (2 if self.pooling == FIRST_LAST else 1)

    def to_json(self) -> dict[str, Any]:
        """Return the object for config.json by its family's keys, unknown ones included."""
        document: dict[str, Any] = {"model_type": self.model_type, **self.extra}
        for name in (f.name for f in dataclasses.fields(self) if f.name not in _NO_KEYS):
            document[name] = getattr(self, name)
        for name in ("layer_mix", "pooling", "problem_type", "embedding_size"):
            if not document[name]:
                del document[name]
        if self.id2label:
            document["id2label"] = {str(number): label for number, label in enumerate(self.id2label)}
            document["label2id"] = {label: number for number, label in enumerate(self.id2label)}
        return self.family.written_config(document)


def count_parameters(config: BertConfig, *, pretraining: bool = False) -> dict[str, int]:
    """Return part -> number of weights; attention heads do not appear, for they only cut the same matrices in
    slices.

    Args: pretraining: count the two heads of pretraining too; scoring words uses the token embeddings again.
    """
    family = config.family
    return family.counts(config) | (family.counts_of_pretraining(config) if pretraining else {})


def _labels(document: Mapping[str, Any]) -> tuple[str, ...]:
    table = document.get("id2label") or {}
    try:
        named = {int(number): label for number, label in table.items()}
        complete = len(named) == len(table) and sorted(named) == list(range(len(table)))
    except (AttributeError, TypeError, ValueError):
        complete = False
    if not complete:
        raise ModelError(
            marked("engine", "id2label in config.json does not number its labels 0, 1, 2 and so on.")
        )
    labels = tuple(str(named[number]) for number in range(len(named)))
    if odd := [label for label in named.values() if not isinstance(label, str | int | float)]:
        raise ModelError(
            marked("engine", "id2label in config.json gives {label}, which is not the name of a label."),
            label=str(odd[0]),
        )
    if (longest := max(map(len, labels), default=0)) > _MOST_IN_A_LABEL:
        raise ModelError(
            marked(
                "engine",
                "A label in config.json has {length} characters; Cloze reads at most {most}.",
            ),
            length=longest,
            most=_MOST_IN_A_LABEL,
        )
    if len(set(labels)) < len(labels):
        twice = next(label for label, count in Counter(labels).items() if count > 1)
        raise ModelError(
            marked("engine", "id2label in config.json gives the label {label} to two numbers."), label=twice
        )
    return labels


def _check(config: BertConfig) -> None:
    if config.model_type not in FAMILIES:
        raise refused(config.model_type)
    of_projection = {"embedding_size": _LIMITS["hidden_size"]} if config.family.has_projection else {}
    for name, limit in {**_LIMITS, **of_projection}.items():
        value = getattr(config, name)
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= limit:
            raise ModelError(
                marked(
                    "engine",
                    "config.json says {name} is {value}; it must be a whole number from 1 to {limit}.",
                ),
                name=name,
                value=str(value)[:40],
                limit=limit,
            )
    if config.hidden_size % config.num_attention_heads:
        raise ModelError(
            marked("engine", "A width of {width} cannot be divided evenly among {heads} attention heads."),
            width=config.hidden_size,
            heads=config.num_attention_heads,
        )
    if not isinstance(config.hidden_act, str) or config.hidden_act not in ACTIVATIONS:
        raise ModelError(
            marked("engine", "config.json asks for the activation {name}; Cloze knows {names}."),
            name=str(config.hidden_act),
            names=list(ACTIVATIONS),
        )
    if not isinstance(config.layer_mix, bool):
        template = marked("engine", "config.json says {name} is {value}; it must be true or false.")
        raise ModelError(template, name="layer_mix", value=str(config.layer_mix)[:40])
    if config.pooling not in POOLINGS:
        template = marked("engine", "config.json says {name} is {value}; Cloze knows {names}.")
        raise ModelError(template, name="pooling", value=str(config.pooling)[:40], names=list(POOLINGS[1:]))
    if config.problem_type not in PROBLEMS:
        template = marked("engine", "config.json asks for the problem_type {name}; Cloze knows {names}.")
        raise ModelError(template, name=str(config.problem_type)[:40], names=list(PROBLEMS[1:]))
    _check_numbers(config)
    total = sum(count_parameters(config).values())
    if total > _MOST_PARAMETERS:
        raise ModelError(
            marked(
                "engine",
                "config.json describes a model of {billions:.0f} billion weights; Cloze stops at {most}.",
            ),
            billions=total / 1e9,
            most=_MOST_PARAMETERS // 10**9,
        )


def _check_numbers(config: BertConfig) -> None:
    ranges: dict[str, tuple[float, float]] = {
        "hidden_dropout_prob": (0, 0.99),
        "attention_probs_dropout_prob": (0, 0.99),
        "classifier_dropout": (0, 0.99),
        "initializer_range": (0, 10),
        "layer_norm_eps": (0, 1),
        "pad_token_id": (0, config.vocab_size - 1),
    }
    for name, (low, high) in ranges.items():
        value = getattr(config, name)
        if value is None and name == "classifier_dropout":
            continue
        is_id = name == "pad_token_id"
        right = isinstance(value, int if is_id else int | float) and not isinstance(value, bool)
        if not low <= (value if right else math.nan) <= high:
            number = marked(
                "engine", "config.json says {name} is {value}; it must lie between {low:g} and {high:g}."
            )
            token = marked(
                "engine",
                "config.json says {name} is {value}; it must be a whole number from {low:g} to {high:.0f}.",
            )
            raise ModelError(
                token if is_id else number,
                name=name,
                value=str(value)[:40],
                low=low,
                high=high,
            )
