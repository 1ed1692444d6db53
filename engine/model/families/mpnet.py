"""MPNet: a RoBERTa with BERT's pieces, whose attention also knows how far apart two words are.

Each head adds to its scores a number for the distance, from one table that all layers look into. It has no
segments. Its places begin behind id 1, which is its padding, whatever config.json calls it.
Source: Song et al. 2020.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from engine.errors import ModelError, marked
from engine.model.families.roberta import Roberta
from engine.model.families.shape import Shape
from engine.model.parts import DISTANCES, NUM_BUCKETS, PartKind

if TYPE_CHECKING:
    from torch import nn

_FIXED = {  # its own code computes with these, whatever config.json says
    "pad_token_id": 1,
    "relative_attention_num_buckets": NUM_BUCKETS,
}
_LAYER, _BERTS = "encoder.layer.#", "encoder.layer.#.attention"
_MODULES = {
    "encoder.relative_attention_bias": "encoder.layer.0.attention.distances",
    f"{_LAYER}.attention.attn.q": f"{_BERTS}.self.query",
    f"{_LAYER}.attention.attn.k": f"{_BERTS}.self.key",
    f"{_LAYER}.attention.attn.v": f"{_BERTS}.self.value",
    f"{_LAYER}.attention.attn.o": f"{_BERTS}.output.dense",
    f"{_LAYER}.attention.LayerNorm": f"{_BERTS}.output.LayerNorm",
}
_CLASSES = {"BertForPreTraining": "MPNetForMaskedLM"}
_LACKS = {
    "next_sentence": marked(
        "engine",
        "The model {name} is an MPNet. It was not trained on next sentences, so it cannot say whether B "
        "follows A. Choose a BERT.",
    )
}


class Mpnet(Roberta):
    """What differs from RoBERTa."""

    model_type = "mpnet"
    name = "MPNet"
    paper = "Song et al. 2020"
    stem = "MPNet"
    prefix = "mpnet."
    marks = ("mpnet.", "encoder.relative_attention_bias.")
    modules = _MODULES
    own_classes = _CLASSES
    lacks = _LACKS
    has_equal_layers = False
    has_next_sentence = False

    def read_config(self, document: Mapping[str, Any]) -> Mapping[str, Any]:
        for name, wanted in _FIXED.items():
            if document.get(name, wanted) != wanted:
                template = marked(
                    "engine", "config.json says {name} is {value}; of an MPNet that is read it is {wanted}."
                )
                raise ModelError(template, name=name, value=str(document[name])[:40], wanted=wanted)
        return super().read_config({"vocab_size": 30_527, **document, "type_vocab_size": 1})

    def written_config(self, document: dict[str, Any]) -> dict[str, Any]:
        del document["type_vocab_size"]
        return super().written_config(document)

    def note(self, config: Shape) -> str:
        return marked("engine", "An MPNet. Only separators show where the second text begins.")

    @property
    def is_built_as_bert(self) -> bool:
        return False

    def counts(self, config: Shape) -> dict[str, int]:
        found = super().counts(config)
        del found["segment embeddings"]
        return found | {"distances": NUM_BUCKETS * config.num_attention_heads}

    def counts_of_pretraining(self, config: Shape) -> dict[str, int]:
        head = super().counts_of_pretraining(config)["masked-word head"]
        return {"masked-word head": head, "pooler": 0}  # which stands under other heads alone

    def part_kinds(self, config: Shape, usual: Sequence[PartKind]) -> Sequence[PartKind]:
        found = [kind for kind in usual if kind.key != "next_sentence"]
        place = next(number for number, kind in enumerate(found) if kind.key == "segments")
        found[place] = DISTANCES
        return found

    def embeddings(self, usual: Callable[..., nn.Module], config: Shape, noise: Any) -> Any:
        from engine.model.families.distance import PlacedEmbeddings

        return PlacedEmbeddings(config, noise)

    def layers(self, usual: Callable[..., nn.Module], config: Shape, noise: Any) -> Any:
        from engine.model.families.distance import DistanceAttention

        layers, first = super().layers(usual, config, noise), None
        for layer in layers:
            layer.attention = DistanceAttention(config, first)
            first = first or layer.attention
        return layers
