"""DistilBERT: half of a BERT's layers, under other names; no segments and no pooler. It is read as a BERT.

Source: Sanh et al. 2019.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import marked
from engine.model import names
from engine.model.families.family import SAME_HEADS, Family, as_plain_bert
from engine.model.families.shape import Shape

_KEYS = {  # of its config.json -> BERT's, and what it is where it is left out
    "dim": ("hidden_size", 768),
    "n_layers": ("num_hidden_layers", 6),
    "n_heads": ("num_attention_heads", 12),
    "hidden_dim": ("intermediate_size", 3072),
    "activation": ("hidden_act", "gelu"),
    "dropout": ("hidden_dropout_prob", 0.1),
    "attention_dropout": ("attention_probs_dropout_prob", 0.1),
    "seq_classif_dropout": ("classifier_dropout", 0.2),
}
_LEFT_OUT = ("sinusoidal_pos_embds", "qa_dropout", "tie_weights_", "output_past")
_LAYER = "transformer.layer.#"
_BERTS = "encoder.layer.#"
_MODULES = {
    f"{_LAYER}.attention.q_lin": f"{_BERTS}.attention.self.query",
    f"{_LAYER}.attention.k_lin": f"{_BERTS}.attention.self.key",
    f"{_LAYER}.attention.v_lin": f"{_BERTS}.attention.self.value",
    f"{_LAYER}.attention.out_lin": f"{_BERTS}.attention.output.dense",
    f"{_LAYER}.sa_layer_norm": f"{_BERTS}.attention.output.LayerNorm",
    f"{_LAYER}.ffn.lin1": f"{_BERTS}.intermediate.dense",
    f"{_LAYER}.ffn.lin2": f"{_BERTS}.output.dense",
    f"{_LAYER}.output_layer_norm": f"{_BERTS}.output.LayerNorm",
    "vocab_transform": "cls.predictions.transform.dense",
    "vocab_layer_norm": "cls.predictions.transform.LayerNorm",
    "vocab_projector.weight": "cls.predictions.decoder.weight",
    "vocab_projector.bias": "cls.predictions.bias",
}
_NOT_NEEDED = {
    "pre_classifier.": (
        marked("engine", "DistilBERT’s classifier"),
        marked("engine", "Not needed here: the layer below DistilBERT’s classifier ({count} tensors)."),
    )
}


class DistilBert(Family):
    """What differs from BERT."""

    model_type = "distilbert"
    name = "DistilBERT"
    paper = "Sanh et al. 2019"
    stem = "DistilBert"
    prefix = "distilbert."
    marks = ("transformer.layer.", "distilbert.")
    modules = _MODULES
    at_zero = (names.SEGMENTS,)
    not_needed = _NOT_NEEDED
    other_classifier = "pre_classifier.weight"

    def read_config(self, document: Mapping[str, Any]) -> Mapping[str, Any]:
        found = {key: value for key, value in document.items() if key not in {*_KEYS, *_LEFT_OUT}}
        found |= {new: document.get(old, usual) for old, (new, usual) in _KEYS.items()}
        return found | {"type_vocab_size": 2, "layer_norm_eps": 1e-12} | as_plain_bert(document, SAME_HEADS)

    def note(self, config: Shape) -> str:
        return marked(
            "engine", "A DistilBERT, read as a BERT. What distinguishes text A from text B starts at zero."
        )
