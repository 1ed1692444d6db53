"""RoBERTa: a BERT that tells texts apart by separators alone, and counts places from behind its padding's id.

Its tables of places begin with rows that no token ever has, which are left out in reading and written back
as zeros. In training, the dropout between <s> and its classifier's first layer is left out. XLM-R and
CamemBERT are RoBERTas of other languages, with pieces of SentencePiece.
Source: Liu et al. 2019; Conneau et al. 2020 (XLM-R); Martin et al. 2020 (CamemBERT).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engine.errors import ModelError, marked
from engine.model import names
from engine.model.families.family import Family
from engine.model.families.shape import Shape

if TYPE_CHECKING:
    from torch import Tensor

_USUAL = {  # where config.json leaves them out
    "vocab_size": 50_265,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
    "pad_token_id": 1,
}
_CLASSES = {"BertForPreTraining": "RobertaForMaskedLM"}
_XLM_CLASSES = {"BertForPreTraining": "XLMRobertaForMaskedLM"}
_CAMEMBERT_CLASSES = {"BertForPreTraining": "CamembertForMaskedLM"}
_HEADS = {
    "BertForSequenceClassification": {
        "classifier.dense": "pooler.dense",
        "classifier.out_proj": "classifier",
    },
    "BertForPreTraining": {
        "lm_head.dense": "cls.predictions.transform.dense",
        "lm_head.layer_norm": "cls.predictions.transform.LayerNorm",
        "lm_head.bias": "cls.predictions.bias",
        "lm_head.decoder": "cls.predictions.decoder",
    },
}
_NOT_NEEDED = {
    "lm_head.": (
        marked("engine", "the masked-word head"),
        marked("engine", "Not needed here: the masked-word head ({count} tensors)."),
    ),
    "classifier.dense.": (marked("engine", "the classifier"), ""),
    "classifier.out_proj.": (marked("engine", "the classifier"), ""),
}
_LACKS = {
    "next_sentence": marked(
        "engine",
        "The model {name} is of RoBERTa’s family. It was not trained on next sentences, so it cannot say "
        "whether B follows A. Choose a BERT.",
    )
}


class Roberta(Family):
    """What differs from BERT."""

    model_type = "roberta"
    name = "RoBERTa"
    paper = "Liu et al. 2019"
    stem = "Roberta"
    prefix = "roberta."
    heads = _HEADS
    own_classes = _CLASSES
    not_needed = _NOT_NEEDED
    lacks = _LACKS
    has_segments = False
    has_next_sentence = False
    guessing_act = "gelu"

    def read_config(self, document: Mapping[str, Any]) -> Mapping[str, Any]:
        found = {**_USUAL, **document}
        places, pad = found["max_position_embeddings"], found["pad_token_id"]
        if type(places) is int and type(pad) is int:
            if places <= pad + 1:
                template = marked(
                    "engine",
                    "config.json says {name} is {value}; for pad_token_id {pad} it must be at least {least}.",
                )
                name = "max_position_embeddings"
                raise ModelError(template, name=name, value=places, pad=pad, least=pad + 2)
            found["max_position_embeddings"] = places - pad - 1
        return self.kept(found)

    def written_config(self, document: dict[str, Any]) -> dict[str, Any]:
        document["max_position_embeddings"] += document["pad_token_id"] + 1
        return super().written_config(document)

    def plain_name(self, name: str, head: str = "") -> str:
        return name if name.startswith(names.PREFIX) else super().plain_name(name, head)  # a BERT's: not read

    def rows_before(self, config: Shape) -> Mapping[str, int]:
        return {names.POSITIONS: config.pad_token_id + 1}

    def counts_of_pretraining(self, config: Shape) -> dict[str, int]:
        head = super().counts_of_pretraining(config)["masked-word head"]
        return {"masked-word head": head, "pooler": 0}  # which stands under other heads alone

    def note(self, config: Shape) -> str:
        return marked("engine", "A RoBERTa. Only separators show where the second text begins.")

    def restored(self, tensors: dict[str, Tensor], config: Shape) -> dict[str, Tensor]:
        for name, table in tensors.items():
            if name.endswith(names.POSITIONS):
                whole = table.new_zeros(len(table) + config.pad_token_id + 1, table.shape[1])
                whole[-len(table) :] = table
                tensors[name] = whole
        return tensors


class XlmRoberta(Roberta):
    """A RoBERTa of a hundred languages."""

    model_type = "xlm-roberta"
    name = "XLM-R"
    paper = "Conneau et al. 2020"
    stem = "XLMRoberta"
    own_classes = _XLM_CLASSES

    def note(self, config: Shape) -> str:
        return marked(
            "engine",
            "An XLM-R, a RoBERTa of many languages. Only separators show where the second text begins.",
        )


class Camembert(Roberta):
    """A RoBERTa of French."""

    model_type = "camembert"
    name = "CamemBERT"
    paper = "Martin et al. 2020"
    stem = "Camembert"
    own_classes = _CAMEMBERT_CLASSES

    def note(self, config: Shape) -> str:
        return marked(
            "engine", "A CamemBERT, a RoBERTa of French. Only separators show where the second text begins."
        )
