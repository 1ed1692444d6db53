"""DeBERTa, versions 2 and 3: words learn their places in attention, from vectors of their distances.

All layers share those vectors. Heads of pretraining are read by two names and written by the older one, which
`transformers` expects; what other heads of its pretraining read is left out. In training, the dropout between
[CLS] and the pooler is left out, which is 0 as published.
Source: He et al. 2021; He et al. 2023 (DeBERTa-v3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from engine.errors import marked
from engine.model.families.family import Family
from engine.model.families.reading import check_plain, checked_switch, checked_whole
from engine.model.families.shape import Shape
from engine.model.parts import NORM, PartKind, Term

if TYPE_CHECKING:
    from torch import nn

_USUAL = {  # where config.json leaves them out
    "vocab_size": 128_100,
    "hidden_size": 1536,
    "num_hidden_layers": 24,
    "num_attention_heads": 24,
    "intermediate_size": 6144,
    "layer_norm_eps": 1e-7,
    "type_vocab_size": 0,
    "relative_attention": False,
    "position_biased_input": True,
}
_PLAIN = {  # what it may be; else it is built otherwise
    "relative_attention": (True,),
    "position_biased_input": (False,),
    "type_vocab_size": (0,),
    "conv_kernel_size": (0, None),
    "norm_rel_ebd": ("layer_norm", "none"),
    "pooler_hidden_act": ("gelu",),
}
_BOTH = ["c2p", "p2c"]  # words are compared with distances, and distances with words
_MOST = 2**20
_SELF = "encoder.layer.#.attention.self"
_MODULES = {f"{_SELF}.{name}_proj": f"{_SELF}.{name}" for name in ("query", "key", "value")}
_HEAD, _BERTS_HEAD = "lm_predictions.lm_head.", "cls.predictions."
_CLASSES = {"BertForPreTraining": "DebertaV2ForMaskedLM"}
_NOT_NEEDED = {
    "mask_predictions.": (
        marked("engine", "DeBERTa’s replaced words"),
        marked(
            "engine",
            "Not needed here: DeBERTa’s head for replaced words ({count} tensors). A model that was trained "
            "with it, as DeBERTa-v3 was, guesses masked words poorly.",
        ),
    ),
    "embeddings.position_embeddings.": (
        marked("engine", "places, for pretraining alone"),
        marked("engine", "Not needed here: vectors of places ({count} tensors). Only pretraining read them."),
    ),
}
_LACKS = {
    "next_sentence": marked(
        "engine",
        "The model {name} is a DeBERTa. It was not trained on next sentences, so it cannot say whether B "
        "follows A. Choose a BERT.",
    )
}
_WHY = {  # part -> what is to be said of it instead
    "positions": marked(
        "engine",
        "A vector for each distance between two words, which all layers use. Large distances share one.",
    )
}


class Deberta(Family):
    """What differs from BERT."""

    model_type = "deberta-v2"
    name = "DeBERTa"
    paper = "He et al. 2021"
    stem = "DebertaV2"
    prefix = "deberta."
    marks = tuple(f"{start}encoder.layer.0.attention.self.query_proj." for start in ("deberta.", ""))
    modules = _MODULES
    own_classes = _CLASSES
    not_needed = _NOT_NEEDED
    lacks = _LACKS
    has_segments = False
    has_equal_layers = False
    has_next_sentence = False
    has_plain_scores = False
    pooling_act = "gelu"
    straight = (1.0, 24.0)  # gelu, far from 0: what is read is normed, and hardly ever below -18

    def read_config(self, document: Mapping[str, Any]) -> Mapping[str, Any]:
        found = {**_USUAL, **document}
        width, heads = found["hidden_size"], found["num_attention_heads"]
        widths = {"embedding_size": (width, None), "pooler_hidden_size": (width,)}
        if type(width) is int and type(heads) is int and heads > 0:
            widths["attention_head_size"] = (width // heads,)
        check_plain(found, {**_PLAIN, **widths}, self.name)
        kinds = found.get("pos_att_type")
        if isinstance(kinds, str):
            found["pos_att_type"] = kinds = [kind.strip() for kind in kinds.lower().split("|")]
        kinds = sorted(map(str, kinds)) if isinstance(kinds, list) else kinds
        check_plain({"pos_att_type": kinds}, {"pos_att_type": (_BOTH,)}, self.name)
        del found["type_vocab_size"]
        found["classifier_dropout"] = found.pop("cls_dropout", None)
        if type(found.get("max_position_embeddings", 512)) is int:
            _own(found, found.get("max_position_embeddings", 512))
        return self.kept(found)

    def written_config(self, document: dict[str, Any]) -> dict[str, Any]:
        document |= {"type_vocab_size": 0, "legacy": True}
        dropout = document.pop("classifier_dropout")
        if dropout is not None:
            document["cls_dropout"] = dropout
        return super().written_config(document)

    def plain_name(self, name: str, head: str = "") -> str:
        if name.startswith(_HEAD):
            below = "" if name == f"{_HEAD}bias" else "transform."
            name = name.replace(_HEAD, f"{_BERTS_HEAD}{below}", 1)
        return super().plain_name(name, head)

    def own_name(self, name: str, head: str = "") -> str:
        found = super().own_name(name, head)
        plain = found.removeprefix(self.prefix)
        return plain if plain.startswith("pooler.") else found

    def note(self, config: Shape) -> str:
        return marked("engine", "A DeBERTa. Words learn their places from their distances.")

    @property
    def is_built_as_bert(self) -> bool:
        return False

    def counts(self, config: Shape) -> dict[str, int]:
        own, width = _own_of(config), config.hidden_size
        found = super().counts(config)
        del found["position embeddings"], found["segment embeddings"]
        found["distances"] = 2 * own.span * width + 2 * width * own.has_norm
        found["attention"] += own.has_products * config.num_hidden_layers * 2 * (width * width + width)
        return found

    def counts_of_pretraining(self, config: Shape) -> dict[str, int]:
        head = super().counts_of_pretraining(config)["masked-word head"]
        return {"masked-word head": head, "pooler": 0}  # which stands under other heads alone

    def part_kinds(self, config: Shape, usual: Sequence[PartKind]) -> Sequence[PartKind]:
        own = _own_of(config)
        products = 3 + 2 * own.has_products
        terms = {
            "positions": (Term(2 * own.span, "H"), *NORM * own.has_norm),
            "qkv": (Term(products, "HH"), Term(products, "H")),
        }
        return [
            replace(kind, terms=terms.get(kind.key, kind.terms), why=_WHY.get(kind.key, kind.why))
            for kind in usual
            if kind.key != "segments"
        ]

    def embeddings(self, usual: Callable[..., nn.Module], config: Shape, noise: Any) -> Any:
        from torch import nn

        from engine.model.families.modules import WordEmbeddings
        from engine.model.kernels import Dropout

        norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        return WordEmbeddings(config, norm, Dropout(config.hidden_dropout_prob, noise))

    def layers(self, usual: Callable[..., nn.Module], config: Shape, noise: Any) -> Any:
        from engine.model.families.disentangled import DisentangledAttention, Distances

        own, layers = _own_of(config), super().layers(usual, config, noise)
        distances = Distances(config, own.buckets, own.most, own.has_norm)
        for number, layer in enumerate(layers):
            layer.attention = DisentangledAttention(
                config, distances, noise, keeps=number == 0, has_own=own.has_products
            )
        return layers


@dataclass(frozen=True, slots=True)
class _DistanceConfig:
    """buckets, most, has_norm: of `Distances`. has_products: whether layers have products for them alone."""

    buckets: int
    most: int
    has_norm: bool
    has_products: bool

    @property
    def span(self) -> int:
        return self.buckets or self.most


def _own_of(config: Shape) -> _DistanceConfig:
    return _own(config.extra, config.max_position_embeddings)


def _own(document: Mapping[str, Any], longest: int) -> _DistanceConfig:
    """Return what its config.json says of distances. Args: longest: text. Raises: ModelError."""
    most = checked_whole(document, "max_relative_positions", -1, -1, _MOST)
    most = most if most > 0 else longest
    buckets = checked_whole(document, "position_buckets", -1, -1, _MOST)
    if buckets > 0:  # of which half are told apart before their logarithms are
        checked_whole(document, "position_buckets", -1, 2, 2 * most - 3)
    has_products = not checked_switch(document, "share_att_key")
    return _DistanceConfig(max(buckets, 0), most, document.get("norm_rel_ebd") == "layer_norm", has_products)
