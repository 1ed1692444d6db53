"""ELECTRA: a BERT without a pooler, whose discriminator told replaced words from those that stood there.

Base and large ones are read as a BERT. Small ones, whose embeddings are narrower than their layers, stay
ELECTRAs: with one projection after the embeddings, and with gelu where BERT's pooler has tanh.
Source: Clark et al. 2020.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import marked
from engine.model.families.family import SAME_HEADS, Family, as_plain_bert, class_of
from engine.model.families.shape import Shape

_SIZES = {  # where config.json leaves them out: those of the small one
    "embedding_size": 128,
    "hidden_size": 256,
    "num_attention_heads": 4,
    "intermediate_size": 1024,
}
_DISCRIMINATOR = "ElectraForPreTraining"
_CLASSES = {"BertForPreTraining": "ElectraForMaskedLM"}
_HEADS = {
    "BertForSequenceClassification": {
        "classifier.dense": "pooler.dense",
        "classifier.out_proj": "classifier",
    },
    "BertForMultipleChoice": {"sequence_summary.summary": "pooler.dense"},
    "BertForPreTraining": {
        "generator_predictions.dense": "cls.predictions.transform.dense",
        "generator_predictions.LayerNorm": "cls.predictions.transform.LayerNorm",
        "generator_lm_head.weight": "cls.predictions.decoder.weight",
        "generator_lm_head.bias": "cls.predictions.bias",
    },
}
_NOT_NEEDED = {
    "discriminator_predictions.": (
        marked("engine", "ELECTRA’s replaced words"),
        marked("engine", "Not needed here: ELECTRA’s head for replaced words ({count} tensors)."),
    ),
    "classifier.dense.": (marked("engine", "ELECTRA’s classifier"), ""),
    "classifier.out_proj.": (marked("engine", "ELECTRA’s classifier"), ""),
}


class Electra(Family):
    """What differs from BERT."""

    model_type = "electra"
    name = "ELECTRA"
    paper = "Clark et al. 2020"
    stem = "Electra"
    prefix = "electra."
    marks = ("electra.", "discriminator_", "embeddings_project.")
    heads = _HEADS
    own_classes = _CLASSES
    not_needed = _NOT_NEEDED
    other_classifier = "classifier.dense.weight"
    has_projection = True
    pooling_act = "gelu"
    guessing_act = "gelu"
    straight = (1.0, 24.0)  # gelu, far from 0: what is read is normed, and hardly ever below -18

    def read_config(self, document: Mapping[str, Any]) -> Mapping[str, Any]:
        found = {**_SIZES, **document}
        if found["embedding_size"] == found["hidden_size"]:
            plain = {
                key: value
                for key, value in found.items()
                if key != "embedding_size" and "summary_" not in key
            }
            return plain | as_plain_bert(document, SAME_HEADS[:2])
        if class_of(found) == _DISCRIMINATOR:
            found["architectures"] = [self.own_class("BertModel")]
        return self.kept(found)

    def note(self, config: Shape) -> str:
        if config.model_type != self.model_type:
            return marked("engine", "An ELECTRA, read as a BERT. It detects replaced words and guesses none.")
        if class_of(config.extra) == "BertModel":
            return marked("engine", "An ELECTRA. It detects replaced words and guesses none.")
        return marked("engine", "An ELECTRA.")
