"""GTE: NomicBERT's block with more biases, BERT's pooler, and a rotation that may be slowed for long texts.

Files of 2024, whose model_type is "new", were made for longer texts than they had been trained on by a larger
theta, and by dividing every angle by a number. Both hold for every text, and today's config.json says them as
a rotation that is "linear". Which of two texts a word is of is told by separators alone.
Source: Zhang et al. 2024 (mGTE), section 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from engine.errors import ModelError, marked
from engine.model import names
from engine.model.families.family import Family, class_of
from engine.model.families.reading import check_pairs, checked_number, stretched
from engine.model.families.rotary_shape import RotaryConfig, RotaryLayer, layer_counts, layer_kinds
from engine.model.families.shape import Shape
from engine.model.parts import PartKind

if TYPE_CHECKING:
    from torch import nn

_USUAL = {  # where config.json leaves them out
    "vocab_size": 250_048,
    "hidden_size": 768,
    "num_attention_heads": 12,
    "attention_probs_dropout_prob": 0.0,
    "max_position_embeddings": 8192,
    "type_vocab_size": 1,
    "pad_token_id": 1,
    "rope_theta": 160_000.0,
}
_IN_2024 = {"vocab_size": 30_528, "max_position_embeddings": 2048, "rope_theta": 10_000.0}
_PLAIN = {  # of 2024 -> what it may be; else it is built otherwise
    "position_embedding_type": ("rope", "absolute"),
    "layer_norm_type": ("layer_norm",),
    "pack_qkv": (True,),
    "logn_attention_scale": (False,),
    "logn_attention_clip1": (False,),
    "type_vocab_size": (1, 0),
}
_OF_ITS_CODE = ("auto_map", "unpad_inputs", "use_memory_efficient_attention")
_OF_ROTATION = {"type", "mixed_b", "factor", "rope_type", "rope_theta"}
_NO_TABLE = "has_no_segment_table"  # a key of our own, which is not written
_MOST_THETA, _MOST_FACTOR = 1e12, 1e4
_LAYER = "encoder.layer.#"
_MODULES = {
    f"{_LAYER}.attention.qkv_proj": f"{_LAYER}.attention.self.qkv",
    f"{_LAYER}.attention.o_proj": f"{_LAYER}.attention.output.dense",
    f"{_LAYER}.attn_ln": f"{_LAYER}.attention.output.LayerNorm",
    f"{_LAYER}.mlp.up_gate_proj": f"{_LAYER}.intermediate.dense",
    f"{_LAYER}.mlp.down_proj": f"{_LAYER}.output.dense",
    f"{_LAYER}.mlp_ln": f"{_LAYER}.output.LayerNorm",
}
_HEADS = {
    "BertForPreTraining": {
        "lm_head.dense": "cls.predictions.transform.dense",
        "lm_head.norm": "cls.predictions.transform.LayerNorm",
        "lm_head.decoder.weight": "cls.predictions.decoder.weight",
        "lm_head.decoder.bias": "cls.predictions.bias",
    },
}
_CLASSES = {"BertForPreTraining": "GteForMaskedLM"}
_PREFIX_OF_2024 = "new."
_LACKS = {
    "next_sentence": marked(
        "engine",
        "The model {name} is a GTE. It was not trained on next sentences, so it cannot say whether B follows "
        "A. Choose a BERT.",
    )
}


class Gte(Family):
    """What differs from BERT."""

    model_type = "gte"
    older = ("new",)
    name = "GTE"
    paper = "Zhang et al. 2024"
    stem = "Gte"
    prefix = "gte."
    marks = ("gte.", _PREFIX_OF_2024, "encoder.layer.0.attention.qkv_proj.")
    modules = _MODULES
    heads = _HEADS
    own_classes = _CLASSES
    stacks = names.FUSED
    lacks = _LACKS
    has_segments = False
    has_next_sentence = False
    guessing_act = "gelu"

    def read_config(self, document: Mapping[str, Any]) -> Mapping[str, Any]:
        found = {**_USUAL, **(_IN_2024 if document.get("model_type") in self.older else {}), **document}
        for name, allowed in _PLAIN.items():
            value = found.get(name, allowed[0])
            if value not in allowed or isinstance(value, bool) is not isinstance(allowed[0], bool):
                template = marked(
                    "engine",
                    "config.json says {name} is {value}. Cloze reads a GTE whose {name} is {usual}. Choose "
                    "another model.",
                )
                raise ModelError(template, name=name, value=str(value)[:40], usual=str(allowed[0]))
        check_pairs(found)
        found["rope_parameters"] = _rotation(found)
        found[_NO_TABLE], found["type_vocab_size"] = found["type_vocab_size"] == 0, 1
        for name in (*_OF_ITS_CODE, *list(_PLAIN)[:-1], "rope_theta", "rope_scaling"):
            found.pop(name, None)
        own = class_of(found)
        if own.startswith("New"):  # as its own code calls its classes
            found["architectures"] = [f"{self.stem}{own.removeprefix('New')}"]
        return self.kept(found)

    def written_config(self, document: dict[str, Any]) -> dict[str, Any]:
        if document.pop(_NO_TABLE):
            document["type_vocab_size"] = 0
        return super().written_config(document)

    def plain_name(self, name: str, head: str = "") -> str:
        return super().plain_name(name.removeprefix(_PREFIX_OF_2024), head)

    def note(self, config: Shape) -> str:
        return marked("engine", "A GTE. Words learn their places by rotation.")

    @property
    def is_built_as_bert(self) -> bool:
        return False

    def counts(self, config: Shape) -> dict[str, int]:
        found = super().counts(config) | layer_counts(config, _own(config))
        del found["position embeddings"]
        return found | ({"segment embeddings": 0} if config.extra[_NO_TABLE] else {})

    def counts_of_pretraining(self, config: Shape) -> dict[str, int]:
        head = super().counts_of_pretraining(config)["masked-word head"]
        return {"masked-word head": head, "pooler": 0}  # which stands under other heads alone

    def part_kinds(self, config: Shape, usual: Sequence[PartKind]) -> Sequence[PartKind]:
        kinds = layer_kinds(usual, _own(config))
        return tuple(kind for kind in kinds if kind.key != "segments" or not config.extra[_NO_TABLE])

    def embeddings(self, usual: Callable[..., nn.Module], config: Shape, noise: Any) -> Any:
        from engine.model.families.modules import WordEmbeddings
        from engine.model.families.rotary import OneSegmentEmbeddings, norm_of
        from engine.model.kernels import Dropout

        own = _own(config)
        if not config.extra[_NO_TABLE]:
            return OneSegmentEmbeddings(config, own, noise)
        return WordEmbeddings(config, norm_of(config, own), Dropout(own.embedding_dropout, noise))

    def layers(self, usual: Callable[..., nn.Module], config: Shape, noise: Any) -> Any:
        from engine.model.families.rotary import rotary_layers

        return rotary_layers(config, _own(config), noise)

    def rotation(self, config: Shape) -> RotaryConfig:
        return _own(config)


def _own(config: Shape) -> RotaryConfig:
    said = config.extra["rope_parameters"]
    return RotaryConfig(
        RotaryLayer(said["rope_theta"], slowed=said.get("factor", 1.0)),
        gate_last=True,
        attention_bias=True,
        output_bias=True,
        norm_bias=True,
        embedding_dropout=config.hidden_dropout_prob,
    )


def _rotation(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return how vectors are turned, as today's config.json says it. Raises: ModelError: in another way."""
    given, old = document.get("rope_parameters") or {}, document.get("rope_scaling") or {}
    if not isinstance(given, dict) or not isinstance(old, dict) or (given and old):
        raise stretched(old or given)
    kind = old.get("type", "ntk") if old else given.get("rope_type", "default")
    is_known = kind == "ntk" if old else kind in ("default", "linear")
    if not is_known or not {*old, *given} <= _OF_ROTATION or old.get("mixed_b") is not None:
        raise stretched(old or given)
    theta = checked_number(given.get("rope_theta", document["rope_theta"]), "rope_theta", 1, _MOST_THETA)
    factor = 1.0
    if kind != "default":
        factor = checked_number((old or given).get("factor"), "factor", 1, _MOST_FACTOR)
    if old:
        theta, factor = theta * factor, factor ** (2 / _width_of_heads(document))
    said = {"rope_type": "default", "rope_theta": theta}
    return said if factor == 1.0 else {**said, "rope_type": "linear", "factor": factor}


def _width_of_heads(document: Mapping[str, Any]) -> int:
    width, heads = document["hidden_size"], document["num_attention_heads"]
    is_possible = type(width) is int and type(heads) is int and 0 < heads <= width
    return width // heads if is_possible else 1  # it is told of later
