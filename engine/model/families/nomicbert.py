"""NomicBERT: a BERT whose words learn their places by rotation, with a gated feed-forward and fewer biases.

Its config.json of 2024 is read by its own keys, and written as `transformers` has it since. A stretched
rotation is not computed: of a model whose texts may be longer than those it was trained on, longer ones are
refused. `transformers` has its encoder, its masked words, and its classifiers of texts and of tokens.
Source: Nussbaum et al. 2024.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from engine.errors import ModelError, marked
from engine.model import names
from engine.model.families.family import Family
from engine.model.families.reading import check_pairs, check_plain, theta_of
from engine.model.families.rotary_shape import RotaryConfig, RotaryLayer, layer_counts, layer_kinds
from engine.model.families.shape import Shape
from engine.model.parts import PartKind

if TYPE_CHECKING:
    from torch import nn

_KEYS = {  # of its config.json of 2024 -> BERT's
    "n_embd": "hidden_size",
    "n_layer": "num_hidden_layers",
    "n_head": "num_attention_heads",
    "n_inner": "intermediate_size",
    "n_positions": "max_position_embeddings",
    "layer_norm_epsilon": "layer_norm_eps",
    "resid_pdrop": "hidden_dropout_prob",
    "attn_pdrop": "attention_probs_dropout_prob",
    "rotary_emb_base": "rope_theta",
}
_USUAL = {  # where config.json leaves them out
    "vocab_size": 30_528,
    "hidden_size": 768,
    "num_attention_heads": 12,
    "hidden_act": "silu",
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
    "max_position_embeddings": 2048,
}
_PLAIN = {  # of 2024 -> what it may be; else it is built otherwise
    "activation_function": ("swiglu",),
    "prenorm": (False,),
    "qkv_proj_bias": (False,),
    "mlp_fc1_bias": (False,),
    "mlp_fc2_bias": (False,),
    "parallel_block": (False,),
    "rotary_emb_fraction": (1, 1.0),
    "rotary_emb_interleaved": (False,),
    "use_rms_norm": (False, None),
}
_THETA = 1000.0
_LAYER, _BERTS = "encoder.layers.#", "encoder.layer.#"
_MODULES = {
    "emb_ln": "embeddings.LayerNorm",
    f"{_LAYER}.attn.Wqkv": f"{_BERTS}.attention.self.qkv",
    f"{_LAYER}.attn.out_proj": f"{_BERTS}.attention.output.dense",
    f"{_LAYER}.norm1": f"{_BERTS}.attention.output.LayerNorm",
    f"{_LAYER}.mlp.fc12": f"{_BERTS}.intermediate.gate",
    f"{_LAYER}.mlp.fc11": f"{_BERTS}.intermediate.up",
    f"{_LAYER}.mlp.fc2": f"{_BERTS}.output.dense",
    f"{_LAYER}.norm2": f"{_BERTS}.output.LayerNorm",
    "cls.predictions.transform.layer_norm": "cls.predictions.transform.LayerNorm",
}
_STACKS = {**names.FUSED, **names.GATED}
_CLASSES = {"BertForPreTraining": "NomicBertForMaskedLM"}
_LACKS = {
    "next_sentence": marked(
        "engine",
        "The model {name} is a NomicBERT. It was not trained on next sentences, so it cannot say "
        "whether B follows A. Choose a BERT.",
    )
}


class NomicBert(Family):
    """What differs from BERT."""

    model_type = "nomic_bert"
    name = "NomicBERT"
    paper = "Nussbaum et al. 2024"
    stem = "NomicBert"
    prefix = "nomic_bert."
    marks = ("nomic_bert.", "emb_ln.", "bert.emb_ln.")
    modules = _MODULES
    stacks = _STACKS
    own_classes = _CLASSES
    lacks = _LACKS
    has_next_sentence = False

    def read_config(self, document: Mapping[str, Any]) -> Mapping[str, Any]:
        check_plain(document, _PLAIN, self.name)
        found = {**_USUAL, **document}
        for own, bert in _KEYS.items():
            if own in found:
                found[bert] = found.pop(own)
        for name in _PLAIN:
            found.pop(name, None)
        trained, most = found.pop("max_trained_positions", None), found["max_position_embeddings"]
        if type(trained) is int and type(most) is int:
            found["max_position_embeddings"] = min(trained, most)
        for name in ("rotary_scaling_factor", "rotary_emb_scale_base", "position_embedding_type"):
            found.pop(name, None)
        theta = theta_of(found, found.pop("rope_theta", _THETA))
        found["rope_parameters"] = {"rope_theta": theta, "rope_type": "default"}
        check_pairs(found)
        _check_heads(found)
        return self.kept(found)

    def plain_name(self, name: str, head: str = "") -> str:
        return super().plain_name(name.removeprefix(names.PREFIX), head)  # as files of 2024 have it

    def note(self, config: Shape) -> str:
        return marked("engine", "A NomicBERT. Words learn their places by rotation.")

    @property
    def is_built_as_bert(self) -> bool:
        return False

    def counts(self, config: Shape) -> dict[str, int]:
        found = super().counts(config) | layer_counts(config, _own(config))
        del found["position embeddings"]
        return found

    def counts_of_pretraining(self, config: Shape) -> dict[str, int]:
        head = super().counts_of_pretraining(config)["masked-word head"]
        return {"masked-word head": head, "pooler": 0}  # which stands under other heads alone

    def part_kinds(self, config: Shape, usual: Sequence[PartKind]) -> Sequence[PartKind]:
        return tuple(layer_kinds(usual, _own(config)))

    def embeddings(self, usual: Callable[..., nn.Module], config: Shape, noise: Any) -> Any:
        from engine.model.families.rotary import SegmentedEmbeddings

        return SegmentedEmbeddings(config, _own(config), noise)

    def layers(self, usual: Callable[..., nn.Module], config: Shape, noise: Any) -> Any:
        from engine.model.families.rotary import rotary_layers

        return rotary_layers(config, _own(config), noise)

    def rotation(self, config: Shape) -> RotaryConfig:
        return _own(config)


def _own(config: Shape) -> RotaryConfig:
    return RotaryConfig(RotaryLayer(theta_of(config.extra, _THETA)), norm_bias=True)


def _check_heads(document: Mapping[str, Any]) -> None:
    """Refuse heads of a width of their own. Raises: ModelError."""
    each, width, heads = (document.get(key) for key in ("head_dim", "hidden_size", "num_attention_heads"))
    if each is None or type(width) is not int or type(heads) is not int:  # what is no number is told later
        return
    if type(each) is not int or each * heads != width:
        template = marked(
            "engine",
            "config.json says {heads} attention heads of {each} numbers each, which do not make a width of "
            "{width}. Choose another model.",
        )
        raise ModelError(template, heads=heads, each=str(each)[:40], width=width)
