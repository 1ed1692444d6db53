"""ModernBERT: places come by rotation, norms first, feed-forward is gated, most layers look near alone.

Ettin and mmBERT are ModernBERTs. One of a few layers sees the whole text, the others as far as half a window
to either side. Heads read through a product, an activation and a norm of their own, texts as their first
token or as the mean of all. In training, the dropout behind attention is that of hidden values.
Source: Warner et al. 2024.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engine.errors import ModelError, marked
from engine.model import names
from engine.model.families.family import Family
from engine.model.families.reading import (
    check_pairs,
    checked_number,
    checked_switch,
    checked_whole,
    stretched,
    theta_of,
)
from engine.model.families.rotary_shape import RotaryConfig, RotaryLayer, layer_counts, layer_kinds
from engine.model.families.shape import ACTIVATIONS, Shape
from engine.model.parts import PartKind, Term

if TYPE_CHECKING:
    from torch import Tensor, nn

_KEYS = {  # of its config.json -> BERT's, and what it is where it is left out
    "hidden_activation": ("hidden_act", "gelu"),
    "norm_eps": ("layer_norm_eps", 1e-5),
    "mlp_dropout": ("hidden_dropout_prob", 0.0),
    "attention_dropout": ("attention_probs_dropout_prob", 0.0),
}
_USUAL = {  # where config.json leaves them out
    "vocab_size": 50_368,
    "hidden_size": 768,
    "intermediate_size": 1152,
    "num_hidden_layers": 22,
    "num_attention_heads": 12,
    "max_position_embeddings": 8192,
    "pad_token_id": 50_283,
    "classifier_dropout": 0.0,
}
_POOLED = {"cls": "", "mean": "mean"}  # classifier_pooling -> BertConfig's pooling
_FULL, _NEAR = "full_attention", "sliding_attention"
_THETAS = {_FULL: ("global_rope_theta", 160_000.0), _NEAR: ("local_rope_theta", 10_000.0)}
_MOST_WINDOW = 2**21
_LAYER, _BERTS = "layers.#", "encoder.layer.#"
_MODULES = {
    "embeddings.tok_embeddings": "embeddings.word_embeddings",
    "embeddings.norm": "embeddings.LayerNorm",
    f"{_LAYER}.attn_norm": f"{_BERTS}.attention.output.LayerNorm",
    f"{_LAYER}.attn.Wqkv": f"{_BERTS}.attention.self.qkv",
    f"{_LAYER}.attn.Wo": f"{_BERTS}.attention.output.dense",
    f"{_LAYER}.mlp_norm": f"{_BERTS}.output.LayerNorm",
    f"{_LAYER}.mlp.Wi": f"{_BERTS}.intermediate.dense",
    f"{_LAYER}.mlp.Wo": f"{_BERTS}.output.dense",
    "final_norm": "encoder.final_norm",
}
_POOLER = {"head.dense": "pooler.dense", "head.norm": "pooler.LayerNorm"}
_GUESSING = "cls.predictions.transform"
_HEADS = {
    "BertForSequenceClassification": _POOLER,
    "BertForMultipleChoice": _POOLER,
    "BertForTokenClassification": _POOLER,
    "BertForQuestionAnswering": {**_POOLER, "classifier": "qa_outputs"},
    "BertForPreTraining": {
        "head.dense": f"{_GUESSING}.dense",
        "head.norm": f"{_GUESSING}.LayerNorm",
        "decoder.weight": "cls.predictions.decoder.weight",
        "decoder.bias": "cls.predictions.bias",
    },
}
_CLASSES = {"BertForPreTraining": "ModernBertForMaskedLM"}
_LACKS = {
    "next_sentence": marked(
        "engine",
        "The model {name} is a ModernBERT. It was not trained on next sentences, so it cannot say "
        "whether B follows A. Choose a BERT.",
    )
}
_WHY = {  # part -> what is to be said of it instead
    "attention_norm": marked(
        "engine",
        "A scale for each number, before attention. The first layer has none: its input has just been "
        "normed. The last layer has one more, behind it.",
    ),
    "output_norm": marked("engine", "A scale for each number, before the feed-forward part."),
    "pooler": marked("engine", "A product, H to H, and a norm, on what a head reads."),
}
_NOT_AMONG = marked("engine", "config.json says {name} is {value}; Cloze knows {names}.")


class ModernBert(Family):
    """What differs from BERT."""

    model_type = "modernbert"
    name = "ModernBERT"
    paper = "Warner et al. 2024"
    stem = "ModernBert"
    prefix = "model."
    marks = ("model.embeddings.tok_embeddings.", "embeddings.tok_embeddings.")
    modules = _MODULES
    heads = _HEADS
    own_classes = _CLASSES
    stacks = names.FUSED
    lacks = _LACKS
    has_segments = False
    has_equal_layers = False
    has_next_sentence = False
    tokens_pass_pooler = True
    pools = ("", "mean")
    straight = None

    def read_config(self, document: Mapping[str, Any]) -> Mapping[str, Any]:
        found = {**_USUAL, **document}
        found.pop("position_embedding_type", None)  # which nobody reads in it
        for own, (bert, usual) in _KEYS.items():
            found[bert] = found.pop(own, usual)
        pooled = found.pop("classifier_pooling", "cls")
        if not isinstance(pooled, str) or pooled not in _POOLED:
            names = list(_POOLED)
            raise ModelError(_NOT_AMONG, name="classifier_pooling", value=str(pooled)[:40], names=names)
        found.setdefault("pooling", _POOLED[pooled])
        check_pairs(found)
        _own(found)
        return self.kept(found)

    def written_config(self, document: dict[str, Any]) -> dict[str, Any]:
        for own, (bert, _) in _KEYS.items():
            document[own] = document.pop(bert)
        del document["type_vocab_size"]
        document.pop("decoder_bias", None)  # a head that is written has one
        if document["classifier_dropout"] is None:
            del document["classifier_dropout"]
        pooled = {pooling: own for own, pooling in _POOLED.items()}
        if document.get("pooling", "") in pooled:
            document["classifier_pooling"] = pooled[document.pop("pooling", "")]
        return super().written_config(document)

    def names_of_part(self, part: str, config: Shape) -> tuple[str, ...]:
        own, found = _own(config.extra), super().names_of_part(part, config)
        if part == "pooler":
            found += tuple(f"pooler.LayerNorm.{kind}" for kind in ("weight", "bias"))
        lacking = {
            f"{start}.{module}.bias"
            for module, has_bias in (("dense", own.head_bias), ("LayerNorm", own.norm_bias))
            for start in ("pooler", _GUESSING)
            if not has_bias
        }
        return tuple(name for name in found if name not in lacking)

    def lent(self, config: Shape) -> Mapping[str, str]:
        return {name: name.replace("pooler", _GUESSING, 1) for name in self.names_of_part("pooler", config)}

    def note(self, config: Shape) -> str:
        own = _own(config.extra)
        if all(own.layer(number).reach is None for number in range(config.num_hidden_layers)):
            return marked("engine", "A ModernBERT.")
        return marked("engine", "A ModernBERT, of which some layers see only the words nearby.")

    @property
    def is_built_as_bert(self) -> bool:
        return False

    def counts(self, config: Shape) -> dict[str, int]:
        width, own = config.hidden_size, _own(config.extra)
        norm = own.of_norm * width
        return {
            "token embeddings": config.vocab_size * width,
            "embedding norm": norm,
            **layer_counts(config, own),
            "pooler": width * width + own.head_bias * width + norm,
        }

    def counts_of_pretraining(self, config: Shape) -> dict[str, int]:
        head = self.counts(config)["pooler"] + config.vocab_size
        return {"masked-word head": head, "pooler": 0}  # which stands under other heads alone

    def part_kinds(self, config: Shape, usual: Sequence[PartKind]) -> Sequence[PartKind]:
        own = _own(config.extra)
        norm, below = (Term(own.of_norm, "H"),), (Term(1, "HH"), Term(own.of_norm + own.head_bias, "H"))
        terms = {
            "embedding_norm": norm,
            "attention_norm": norm,  # the first layer's is behind the last one
            "output_norm": norm,
            "pooler": below,
            "masked_words": (*below, Term(1, "V")),
        }
        return [
            replace(kind, terms=terms.get(kind.key, kind.terms), why=_WHY.get(kind.key, kind.why))
            for kind in layer_kinds(usual, own)
            if kind.key != "segments"
        ]

    def embeddings(self, usual: Callable[..., nn.Module], config: Shape, noise: Any) -> Any:
        from engine.model.families.modules import WordEmbeddings
        from engine.model.families.rotary import norm_of
        from engine.model.kernels import Dropout

        own = _own(config.extra)
        return WordEmbeddings(config, norm_of(config, own), Dropout(own.embedding_dropout, noise))

    def layers(self, usual: Callable[..., nn.Module], config: Shape, noise: Any) -> Any:
        from engine.model.families.rotary import rotary_layers

        return rotary_layers(config, _own(config.extra), noise)

    def as_last(self, layers: Any, states: Tensor) -> Tensor:
        return layers[-1].final_norm(states)  # type: ignore[no-any-return]

    def pooler(self, config: Shape) -> nn.Linear:
        from engine.model.families.rotary import NormedPooler

        return NormedPooler(config, _own(config.extra))

    def pooler_activation(self) -> Callable[[Tensor], Tensor]:
        return _unchanged  # it is within

    def acts_of_heads(self, config: Shape) -> tuple[str, str]:
        act = self.rotation(config).head_act
        return act, act

    def rotation(self, config: Shape) -> RotaryConfig:
        return _own(config.extra)

    def guessing(self, config: Shape) -> tuple[nn.Linear, Callable[[Tensor], Tensor], nn.LayerNorm]:
        from engine.model.families.rotary import guessing_of

        return guessing_of(config, _own(config.extra))


def _unchanged(pooled: Tensor) -> Tensor:
    return pooled


def _own(document: Mapping[str, Any]) -> RotaryConfig:
    """Return what its config.json says of its layers beside their sizes. Raises: ModelError."""
    every = checked_whole(document, "global_attn_every_n_layers", 3, 1, 1024)
    window = checked_whole(document, "local_attention", 128, 2, _MOST_WINDOW)
    full, near = (_theta(document, kind) for kind in _THETAS)
    act = document.get("classifier_activation", "gelu")
    if not isinstance(act, str) or act not in ACTIVATIONS:
        raise ModelError(
            _NOT_AMONG, name="classifier_activation", value=str(act)[:40], names=list(ACTIVATIONS)
        )
    return RotaryConfig(
        norms_first=True,
        full=RotaryLayer(full),
        near=RotaryLayer(near, window // 2),
        every=every,
        is_full=_kinds_of_layers(document),
        attention_bias=checked_switch(document, "attention_bias"),
        feed_forward_bias=checked_switch(document, "mlp_bias"),
        norm_bias=checked_switch(document, "norm_bias"),
        head_bias=checked_switch(document, "classifier_bias"),
        head_act=act,
        embedding_dropout=checked_number(
            document.get("embedding_dropout", 0.0), "embedding_dropout", 0, 0.99
        ),
    )


def _kinds_of_layers(document: Mapping[str, Any]) -> tuple[bool, ...]:
    """Return whether each layer sees the whole text; empty where that is not said one by one."""
    kinds, count = document.get("layer_types"), document.get("num_hidden_layers")
    if kinds is None:
        return ()
    if not isinstance(kinds, list) or not all(kind in (_FULL, _NEAR) for kind in kinds):
        raise ModelError(_NOT_AMONG, name="layer_types", value=str(kinds)[:40], names=[_FULL, _NEAR])
    if count is not None and len(kinds) != count:
        template = marked(
            "engine", "config.json names {found} layer_types, but its model has {count} layers."
        )
        raise ModelError(template, found=len(kinds), count=str(count)[:40])
    return tuple(kind == _FULL for kind in kinds)


def _theta(document: Mapping[str, Any], kind: str) -> float:
    """Return the theta of one kind of layers, as releases of 2024 or of 2026 write it. Raises: ModelError."""
    old, usual = _THETAS[kind]
    theta = document.get(old, usual)
    if theta is None and kind == _NEAR:  # the same as of the others
        theta = document.get(_THETAS[_FULL][0], _THETAS[_FULL][1])
    given = document.get("rope_parameters") or {}
    if not isinstance(given, dict) or not given.keys() <= _THETAS.keys():
        raise stretched(given)
    return theta_of({**document, "rope_parameters": given.get(kind)}, theta)
