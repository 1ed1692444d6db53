"""BART: an encoder that reads and a decoder that writes. The half that reads is a RoBERTa's encoder.

Its table of places begins with two rows that no token ever has, as RoBERTa's does. The half that writes is
left out, and with it its head for words, which scores what that half gives. It is saved as a RoBERTa.
Source: Lewis et al. 2020.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import ModelError, marked
from engine.model import names
from engine.model.families.family import Family
from engine.model.families.roberta import Roberta
from engine.model.families.shape import Shape

_KEYS = {  # of its config.json -> BERT's, and what it is where it is left out
    "d_model": ("hidden_size", 1024),
    "encoder_layers": ("num_hidden_layers", 12),
    "encoder_attention_heads": ("num_attention_heads", 16),
    "encoder_ffn_dim": ("intermediate_size", 4096),
    "activation_function": ("hidden_act", "gelu"),
    "dropout": ("hidden_dropout_prob", 0.1),
    "attention_dropout": ("attention_probs_dropout_prob", 0.0),
    "init_std": ("initializer_range", 0.02),
    "max_position_embeddings": ("max_position_embeddings", 1024),
    "vocab_size": ("vocab_size", 50_265),
}
_BEFORE = 2  # rows of its table of places that no token has
_LAYER, _BERTS = "encoder.layers.#", "encoder.layer.#"
_MODULES = {
    "shared": "embeddings.word_embeddings",
    "encoder.embed_positions": "embeddings.position_embeddings",
    "encoder.layernorm_embedding": "embeddings.LayerNorm",
    f"{_LAYER}.self_attn.q_proj": f"{_BERTS}.attention.self.query",
    f"{_LAYER}.self_attn.k_proj": f"{_BERTS}.attention.self.key",
    f"{_LAYER}.self_attn.v_proj": f"{_BERTS}.attention.self.value",
    f"{_LAYER}.self_attn.out_proj": f"{_BERTS}.attention.output.dense",
    f"{_LAYER}.self_attn_layer_norm": f"{_BERTS}.attention.output.LayerNorm",
    f"{_LAYER}.fc1": f"{_BERTS}.intermediate.dense",
    f"{_LAYER}.fc2": f"{_BERTS}.output.dense",
    f"{_LAYER}.final_layer_norm": f"{_BERTS}.output.LayerNorm",
    "qa_outputs": "decoder.qa_outputs",  # it reads what was written
}
_WRITES = marked("engine", "the half that writes")
_NOT_NEEDED = {
    "decoder.": (
        _WRITES,
        marked("engine", "Not needed here: the half of the model that writes ({count} tensors)."),
    ),
    "encoder.embed_tokens.": (marked("engine", "the word embeddings again"), ""),
    "lm_head.": (_WRITES, ""),
    "final_logits_bias": (_WRITES, ""),
    "classification_head.": (marked("engine", "the classifier of what was written"), ""),
}
_CANNOT_BE = marked("engine", "config.json says {name} is {value}; of a BART that is read it is {wanted}.")


class Bart(Family):
    """What differs from BERT."""

    model_type = "bart"
    name = "BART"
    paper = "Lewis et al. 2020"
    stem = "Bart"
    prefix = "model."
    marks = ("model.encoder.layers.", "model.shared.", "encoder.layers.", "shared.")
    modules = _MODULES
    at_zero = (names.SEGMENTS,)
    not_needed = _NOT_NEEDED
    has_segments = False

    def read_config(self, document: Mapping[str, Any]) -> Mapping[str, Any]:
        found = {new: document.get(own, usual) for own, (new, usual) in _KEYS.items()}
        for name, wanted in (("scale_embedding", False), ("pad_token_id", _BEFORE - 1)):
            value = document.get(name, wanted)
            if value != wanted:
                raise ModelError(_CANNOT_BE, name=name, value=str(value)[:40], wanted=wanted)
        found |= {"type_vocab_size": 1, "layer_norm_eps": 1e-5, "pad_token_id": _BEFORE - 1}
        return Roberta().kept({**found, "architectures": ["RobertaModel"]})

    def note(self, config: Shape) -> str:
        return marked(
            "engine",
            "The half of a BART that reads, taken as a RoBERTa. It has no head for masked words: BART "
            "fills a blank by writing the whole text again.",
        )
