"""Where a model's weights are: the published formula part by part, with letters, with numbers, and counted.

What is shown is what is counted: a `Term` is spelled and valued from the same letters. `count_built` is the
other side of the equation: it counts the weights of the model that these sizes really build.
Source: Devlin et al. 2019, section 3; 12 H² + 13 H a layer where the feed-forward width is 4 H.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from torch import nn

from engine.model.bert import Bert
from engine.model.config import PRESETS, BertConfig
from engine.model.heads import PreTraining, QuestionAnswering, SequenceClassifier, TokenClassifier
from engine.model.parts import KINDS, NARROW_GUESSES, PartKind, Term, part_of_weight
from engine.model.source import unfilled

VOCABULARY, POSITIONS = 30_522, 512  # of the published English models, which their names speak of
PUBLISHED = {  # million weights as Devlin et al. and Turc et al. name them, the heads of pretraining included
    "tiny": 4.4,
    "mini": 11.3,
    "small": 29.1,
    "medium": 41.7,
    "base": 110.0,
    "large": 340.0,
}
_NARROW = ("tokens", "positions", "segments", "embedding_norm")  # which are of the width E where there is one
FLOAT32, HALF = 4, 2  # bytes of a weight
TRAINING = 16  # bytes of a weight, its gradient and the two moments of AdamW, all float32


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadsConfig:
    """What stands on the encoder. num_labels: of a classifier, 0 for none; it may read a mix of layers.

    A classifier of texts reads the pooler; without one it is a classifier of tokens.
    """

    pooler: bool = True
    masked_words: bool = False
    next_sentence: bool = False
    num_labels: int = 0
    layer_mix: bool = False
    answers: bool = False  # to questions

    def has(self, key: str) -> bool:
        """Whether a part, by its key, is there; the encoder's always are."""
        there: dict[str, bool] = {
            "pooler": self.pooler,
            "masked_words": self.masked_words,
            "next_sentence": self.next_sentence,
            "classifier": self.num_labels > 0,
            "layer_mix": self.layer_mix,
            "answers": self.answers,
        }
        return there.get(key, True)


@dataclass(frozen=True, slots=True)
class ModelPart:
    """A part of one model, and its weights in all layers; in one, where that is all of them."""

    kind: PartKind
    count: int

    @property
    def key(self) -> str:
        return self.kind.key

    @property
    def per_layer(self) -> bool:
        """Whether it stands in every layer, so that its terms are multiplied by L."""
        return self.kind.group == "layers"


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """All parts of a model in the order in which a text passes through them."""

    config: BertConfig
    heads: HeadsConfig
    sizes: Mapping[str, int]  # by letter
    parts: tuple[ModelPart, ...]

    @property
    def total(self) -> int:
        return sum(part.count for part in self.parts)

    def of_group(self, group: str) -> tuple[ModelPart, ...]:
        """Return the parts of one of GROUPS."""
        return tuple(part for part in self.parts if part.kind.group == group)

    def count_of(self, group: str) -> int:
        """Return the weights of one of GROUPS."""
        return sum(part.count for part in self.of_group(group))

    def spelled(self, parts: Iterable[ModelPart] | None = None) -> str:
        """Return the formula of some parts, or of all, with letters: V × H + ... + L × (12H² + 13H)."""
        return self._said(parts, Term.spelled, "1" if self.config.family.shares_layers else "L")

    def with_numbers(
        self, parts: Iterable[ModelPart] | None = None, number: Callable[[int], str] = "{:,}".format
    ) -> str:
        """Return the formula with this model's numbers, written by `number`."""
        layers = number(self.config.num_blocks)
        return self._said(parts, lambda term: term.with_numbers(self.sizes, number), layers)

    def _said(self, parts: Iterable[ModelPart] | None, say: Callable[[Term], str], layers: str) -> str:
        """Return a sum of parts. Those of a layer are gathered in one product; one alone stays as it is."""
        chosen = list(self.parts if parts is None else parts)
        of_layer = [part for part in chosen if part.per_layer]
        said = []
        for part in chosen:
            if part.per_layer and part is not of_layer[0]:
                continue  # said with the first part of the layer
            terms = self._gathered(of_layer) if part.per_layer and len(of_layer) > 1 else part.kind.terms
            text = " + ".join(map(say, terms))
            if part.per_layer:
                text = f"{layers} × ({text})" if len(terms) > 1 else f"{layers} × {text}"
            said.append(text)
        return " + ".join(said)

    def _gathered(self, parts: Sequence[ModelPart]) -> list[Term]:
        """Return the terms of some parts, like ones added; F is written as 4H where it is just that."""
        is_usual = self.sizes["F"] == 4 * self.sizes["H"]
        factors: dict[str, int] = {}
        for term in (term for part in parts for term in part.kind.terms):
            letters = "".join(sorted(term.letters, reverse=True))  # HF and FH are alike
            fours = letters.count("F") if is_usual else 0
            letters = letters.replace("F", "H") if is_usual else letters
            factors[letters] = factors.get(letters, 0) + term.factor * 4**fours
        return [Term(factors[letters], letters) for letters in sorted(factors, key=len, reverse=True)]


def arithmetic(config: BertConfig, heads: HeadsConfig | None = None) -> Arithmetic:
    """Return the formula of a model of this shape, part by part. heads: None for a pooler alone."""
    heads = _of_family(heads or HeadsConfig(), config)
    sizes = sizes_of(config, heads)
    parts = []
    for kind in (_read(kind, config, heads) for kind in config.family.part_kinds(config, KINDS)):
        if heads.has(kind.key) and (kind.key != "projection" or config.family.has_projection):
            times = config.num_blocks if kind.group == "layers" else 1
            parts.append(ModelPart(kind, times * sum(term.value(sizes) for term in kind.terms)))
    return Arithmetic(config, heads, sizes, tuple(parts))


def _of_family(heads: HeadsConfig, config: BertConfig) -> HeadsConfig:
    """Return what stands there: in some families nothing but heads of other tasks has a pooler."""
    if config.family.has_next_sentence:
        return heads
    has_pooler = heads.pooler and not (heads.masked_words or heads.next_sentence)
    return dataclasses.replace(heads, pooler=has_pooler, next_sentence=False)


def _read(kind: PartKind, config: BertConfig, heads: HeadsConfig) -> PartKind:
    """Return a part as it is in this model.

    A classifier of texts may read more than the last layer, and embeddings may have a width of their own.
    """
    if config.family.has_projection and kind.key in _NARROW:
        terms = tuple(dataclasses.replace(one, letters=one.letters.replace("H", "E")) for one in kind.terms)
        return dataclasses.replace(kind, terms=terms)
    if config.family.has_projection and kind.key == "masked_words":
        return NARROW_GUESSES
    times = config.read_width // config.hidden_size
    if kind.key != "classifier" or times == 1:
        return kind
    terms = tuple(dataclasses.replace(one, factor=times) if "H" in one.letters else one for one in kind.terms)
    return dataclasses.replace(kind, terms=terms)


def sizes_of(config: BertConfig, heads: HeadsConfig | None = None) -> dict[str, int]:
    """Return letter -> number, in the order of LETTERS."""
    return {
        "V": config.vocab_size,
        "P": config.max_position_embeddings,
        "S": config.type_vocab_size,
        "E": config.embedding_width if config.family.has_projection else 0,
        "H": config.hidden_size,
        "F": config.intermediate_size,
        "L": config.num_hidden_layers,
        "A": config.num_attention_heads,
        "C": heads.num_labels if heads else 0,
    }


def count_built(config: BertConfig, heads: HeadsConfig | None = None) -> dict[str, int]:
    """Return part -> weights, counted in the model that is really built, without memory for its weights."""
    heads = _of_family(heads or HeadsConfig(), config)
    counts: dict[str, int] = {}
    for module in _built(config, heads):
        found: dict[str, int] = {}
        for name, weight in module.named_parameters():
            key = part_of_weight(name)
            assert key is not None, name
            found[key] = found.get(key, 0) + weight.numel()
        counts |= found
    return {key: count for key, count in counts.items() if heads.has(key)}


def divisors(width: int) -> tuple[int, ...]:
    """Return the numbers of attention heads that a width can be shared out to evenly, the fewest first."""
    small = [number for number in range(1, math.isqrt(width) + 1) if width % number == 0]
    return tuple(dict.fromkeys([*small, *(width // number for number in reversed(small))]))


def preset_of(config: BertConfig) -> str:
    """Return the preset of this shape, whatever its vocabulary and positions; "" where there is none."""
    shape = (config.num_hidden_layers, config.hidden_size, config.num_attention_heads)
    is_usual = config.intermediate_size == 4 * config.hidden_size
    is_plain = is_usual and config.family.is_built_as_bert
    return next((name for name, preset in PRESETS.items() if preset == shape and is_plain), "")


def published_millions(config: BertConfig) -> float | None:
    """Return the million weights by which a published English model is known; None for any other shape."""
    is_theirs = (config.vocab_size, config.max_position_embeddings) == (VOCABULARY, POSITIONS)
    return PUBLISHED.get(preset_of(config)) if is_theirs else None


def _built(config: BertConfig, heads: HeadsConfig) -> list[nn.Module]:
    made: list[nn.Module] = []
    if heads.num_labels:
        labels = tuple(str(number) for number in range(heads.num_labels))
        shape = dataclasses.replace(config, id2label=labels, layer_mix=heads.layer_mix)
        made.append(
            unfilled(SequenceClassifier if heads.pooler or config.pooling else TokenClassifier, shape)
        )
    if heads.answers:
        made.append(unfilled(QuestionAnswering, dataclasses.replace(config, layer_mix=heads.layer_mix)))
    if heads.masked_words or heads.next_sentence:
        made.append(unfilled(PreTraining, config))
    return made or [unfilled(partial(Bert, with_pooler=heads.pooler), config)]
