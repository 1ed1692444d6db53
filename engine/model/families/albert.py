"""ALBERT: a BERT with one block that is every layer, and embeddings narrower than that, projected once.

Its second head of pretraining tells whether two texts were swapped; nobody asks that here. In training,
BERT's second dropout of a block is kept, which its own code leaves out: it is 0 in the second release.
Source: Lan et al. 2020.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from engine.errors import ModelError, marked
from engine.model.families.family import Family
from engine.model.families.shape import Shape

if TYPE_CHECKING:
    from torch import nn

_USUAL = {  # where config.json leaves them out
    "vocab_size": 30_000,
    "embedding_size": 128,
    "hidden_size": 4096,
    "num_attention_heads": 64,
    "intermediate_size": 16_384,
    "hidden_act": "gelu_new",
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
    "classifier_dropout_prob": 0.1,
}
_BLOCK = "encoder.albert_layer_groups.0.albert_layers.0"
_BERTS = "encoder.layer.0"
_MODULES = {
    "encoder.embedding_hidden_mapping_in": "embeddings_project",
    f"{_BLOCK}.attention.query": f"{_BERTS}.attention.self.query",
    f"{_BLOCK}.attention.key": f"{_BERTS}.attention.self.key",
    f"{_BLOCK}.attention.value": f"{_BERTS}.attention.self.value",
    f"{_BLOCK}.attention.dense": f"{_BERTS}.attention.output.dense",
    f"{_BLOCK}.attention.LayerNorm": f"{_BERTS}.attention.output.LayerNorm",
    f"{_BLOCK}.ffn": f"{_BERTS}.intermediate.dense",
    f"{_BLOCK}.ffn_output": f"{_BERTS}.output.dense",
    f"{_BLOCK}.full_layer_layer_norm": f"{_BERTS}.output.LayerNorm",
    "pooler": "pooler.dense",
    "predictions": "cls.predictions",
    "predictions.dense": "cls.predictions.transform.dense",
    "predictions.LayerNorm": "cls.predictions.transform.LayerNorm",
    "predictions.decoder": "cls.predictions.decoder",
}
_CLASSES = {"BertForPreTraining": "AlbertForMaskedLM"}
_NOT_NEEDED = {
    "sop_classifier.": (
        marked("engine", "ALBERT’s order of texts"),
        marked("engine", "Not needed here: ALBERT’s head for the order of texts ({count} tensors)."),
    )
}
_LACKS = {
    "next_sentence": marked(
        "engine",
        "The model {name} is an ALBERT. It was trained to say whether two texts were swapped, so it cannot "
        "say whether B follows A. Choose another model.",
    )
}


class Albert(Family):
    """What differs from BERT."""

    model_type = "albert"
    name = "ALBERT"
    paper = "Lan et al. 2020"
    stem = "Albert"
    prefix = "albert."
    marks = ("albert.", "encoder.albert_layer_groups.")
    modules = _MODULES
    own_classes = _CLASSES
    not_needed = _NOT_NEEDED
    lacks = _LACKS
    has_projection = True
    shares_layers = True

    def read_config(self, document: Mapping[str, Any]) -> Mapping[str, Any]:
        found = {**_USUAL, **document}
        for name in ("num_hidden_groups", "inner_group_num"):
            if found.get(name, 1) != 1:
                template = marked(
                    "engine",
                    "config.json says {name} is {value}. Cloze reads an ALBERT whose layers all share one "
                    "block. Choose another model.",
                )
                raise ModelError(template, name=name, value=str(found[name])[:40])
        found["classifier_dropout"] = found.pop("classifier_dropout_prob")
        return self.kept(found)

    def written_config(self, document: dict[str, Any]) -> dict[str, Any]:
        dropout = document.pop("classifier_dropout")
        if dropout is not None:
            document["classifier_dropout_prob"] = dropout
        return super().written_config(document)

    def note(self, config: Shape) -> str:
        return marked("engine", "An ALBERT. All its layers share one block of weights.")

    def layers(self, usual: Callable[..., nn.Module], config: Shape, noise: Any) -> Any:
        from engine.model.families.modules import SharedLayers

        return SharedLayers(usual(config, noise), config.num_hidden_layers)
