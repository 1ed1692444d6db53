"""NeoBERT: rotation, norms first and without a mean, a gated feed-forward, and words scored by own vectors.

Its files turn numbers that stand side by side, and store queries, keys and values head by head. Here halves
are turned, and all queries come first: rows are put in that order when weights are read, and back when they
are written, so all products are the same. Texts are classified by a pooler of the classifier's own. In
training, the dropout before that pooler is left out.
Source: Le Breton et al. 2025.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engine.errors import marked
from engine.model import names
from engine.model.families.family import Family
from engine.model.families.reading import check_pairs, check_plain, checked_whole
from engine.model.families.rotary_shape import RotaryConfig, RotaryLayer, layer_counts, layer_kinds
from engine.model.families.shape import Shape
from engine.model.parts import LAST_NORM, OWN_GUESSES, PartKind, Term

if TYPE_CHECKING:
    from torch import Tensor, nn

_KEYS = {  # of its config.json -> BERT's, and what it is where it is left out
    "norm_eps": ("layer_norm_eps", 1e-6),
    "max_length": ("max_position_embeddings", 1024),
    "decoder_init_range": ("initializer_range", 0.02),
}
_USUAL = {  # where config.json leaves them out
    "vocab_size": 30_522,
    "hidden_size": 768,
    "num_hidden_layers": 28,
    "num_attention_heads": 12,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
    "classifier_dropout": 0.1,
}
_PLAIN = {  # of models that were trained with its code -> what it may be; else it is built otherwise
    "hidden_act": ("swiglu", "silu"),
    "rms_norm": (True,),
    "rope": (True,),
    "ngpt": (False,),
}
_MULTIPLE = 8  # of which the feed-forward's width is one: two thirds of what config.json says, rounded up
_MOST_INNER = 1_048_576
_CODE = {  # where it is to be found, whatever folder its weights are in
    f"Auto{kind}": f"chandar-lab/NeoBERT--model.{name}"
    for kind, name in {
        "Config": "NeoBERTConfig",
        "Model": "NeoBERT",
        "ModelForMaskedLM": "NeoBERTLMHead",
        "ModelForSequenceClassification": "NeoBERTForSequenceClassification",
    }.items()
}
_LAYER, _BERTS = "transformer_encoder.#", "encoder.layer.#"
_MODULES = {
    "encoder": "embeddings.word_embeddings",
    f"{_LAYER}.attention_norm": f"{_BERTS}.attention.output.LayerNorm",
    f"{_LAYER}.qkv": f"{_BERTS}.attention.self.qkv",
    f"{_LAYER}.wo": f"{_BERTS}.attention.output.dense",
    f"{_LAYER}.ffn_norm": f"{_BERTS}.output.LayerNorm",
    f"{_LAYER}.ffn.w12": f"{_BERTS}.intermediate.dense",
    f"{_LAYER}.ffn.w3": f"{_BERTS}.output.dense",
    "layer_norm": "encoder.last_norm",
}
_POOLER = {"dense": "pooler.dense"}
_HEADS = {
    "BertForSequenceClassification": _POOLER,
    "BertForMultipleChoice": _POOLER,
    "BertForPreTraining": {
        "decoder.weight": "cls.predictions.decoder.weight",
        "decoder.bias": "cls.predictions.bias",
    },
}
_CLASSES = {
    "BertModel": "NeoBERT",
    "BertForMaskedLM": "NeoBERTLMHead",
    "BertForPreTraining": "NeoBERTLMHead",
}
_LACKS = {
    "next_sentence": marked(
        "engine",
        "The model {name} is a NeoBERT. It was not trained on next sentences, so it cannot say "
        "whether B follows A. Choose a BERT.",
    )
}
_WHY = {  # part -> what is to be said of it instead
    "attention_norm": marked("engine", "A scale for each number, before attention."),
    "output_norm": marked("engine", "A scale for each number, before the feed-forward part."),
}
_OWN = RotaryConfig(RotaryLayer(10_000.0), norms_first=True, norms_embeddings=False, norms_have_mean=False)


class NeoBert(Family):
    """What differs from BERT."""

    model_type = "neobert"
    name = "NeoBERT"
    paper = "Le Breton et al. 2025"
    stem = "NeoBERT"
    prefix = "model."
    marks = ("model.transformer_encoder.", "transformer_encoder.")
    modules = _MODULES
    heads = _HEADS
    own_classes = _CLASSES
    stacks = names.FUSED
    lacks = _LACKS
    has_segments = False
    has_equal_layers = False
    has_next_sentence = False
    has_decoder = True
    code = _CODE
    no_steps = marked(
        "engine",
        "{name} is a {family}, whose norms subtract no mean. Step by step does not show such a model. Choose "
        "another one.",
    )

    def read_config(self, document: Mapping[str, Any]) -> Mapping[str, Any]:
        check_plain(document, _PLAIN, self.name)
        found = {**_USUAL, **document, "hidden_act": "silu", "type_vocab_size": 1}
        for own, (bert, usual) in _KEYS.items():
            found[bert] = found.pop(own, usual)
        two_thirds = int(2 * checked_whole(document, "intermediate_size", 3072, 1, _MOST_INNER) / 3)
        found["intermediate_size"] = _MULTIPLE * max(1, -(-two_thirds // _MULTIPLE))
        check_pairs(found)
        return self.kept(found)

    def written_config(self, document: dict[str, Any]) -> dict[str, Any]:
        for own, (bert, _) in _KEYS.items():
            document[own] = document.pop(bert)
        document["intermediate_size"] = document["intermediate_size"] * 3 // 2
        for name in ("hidden_act", "type_vocab_size"):
            del document[name]
        return super().written_config({**document, "auto_map": self.code})

    def names_of_part(self, part: str, config: Shape) -> tuple[str, ...]:
        if part == "masked_word":
            return ("cls.predictions.decoder.weight", "cls.predictions.bias")
        return super().names_of_part(part, config)

    def arranged(self, plain: str, rows: Tensor, config: Shape) -> Tensor:
        if not plain.endswith(".attention.self.qkv.weight"):
            return rows
        import torch

        heads = rows.unflatten(0, (config.num_attention_heads, 3, -1))
        *turned, values = heads.unbind(1)  # each (H, d, D)
        halves = [one.unflatten(1, (-1, 2)).transpose(1, 2).flatten(1, 2) for one in turned]
        return torch.stack([*halves, values]).view(rows.shape)

    def restored(self, tensors: dict[str, Tensor], config: Shape) -> dict[str, Tensor]:
        import torch

        for name in (name for name in tensors if name.endswith(".qkv.weight")):
            rows = tensors[name]
            *turned, values = rows.unflatten(0, (3, config.num_attention_heads, -1))  # each (H, d, D)
            pairs = [one.unflatten(1, (2, -1)).transpose(1, 2).flatten(1, 2) for one in turned]
            tensors[name] = torch.stack([*pairs, values], 1).view(rows.shape)
        return tensors

    def note(self, config: Shape) -> str:
        return marked("engine", "A NeoBERT. Words learn their places by rotation.")

    @property
    def is_built_as_bert(self) -> bool:
        return False

    def counts(self, config: Shape) -> dict[str, int]:
        width = config.hidden_size
        return {
            "token embeddings": config.vocab_size * width,
            **layer_counts(config, _OWN),
            "last norm": width,
            "pooler": width * width + width,
        }

    def counts_of_pretraining(self, config: Shape) -> dict[str, int]:
        head = (config.hidden_size + 1) * config.vocab_size
        return {"masked-word head": head, "pooler": 0}  # which stands under other heads alone

    def part_kinds(self, config: Shape, usual: Sequence[PartKind]) -> Sequence[PartKind]:
        found = []
        for kind in layer_kinds(usual, _OWN):
            if kind.key == "pooler":
                found.append(LAST_NORM)
            if kind.key in _WHY:
                kind = replace(kind, terms=(Term(1, "H"),), why=_WHY[kind.key])
            if kind.key not in ("segments", "embedding_norm"):
                found.append(OWN_GUESSES if kind.key == "masked_words" else kind)
        return found

    def embeddings(self, usual: Callable[..., nn.Module], config: Shape, noise: Any) -> Any:
        from torch import nn

        from engine.model.families.modules import WordEmbeddings
        from engine.model.kernels import Dropout

        return WordEmbeddings(config, nn.Identity(), Dropout(0.0, noise))

    def layers(self, usual: Callable[..., nn.Module], config: Shape, noise: Any) -> Any:
        from engine.model.families.rotary import rotary_layers

        return rotary_layers(config, _OWN, noise)

    def as_last(self, layers: Any, states: Tensor) -> Tensor:
        return layers[-1].last_norm(states)  # type: ignore[no-any-return]

    def rotation(self, config: Shape) -> RotaryConfig:
        return _OWN

    def guessing(self, config: Shape) -> tuple[nn.Module, Callable[[Tensor], Tensor], nn.Module]:
        from torch import nn

        return nn.Identity(), nn.Identity(), nn.Identity()  # words are scored by what the last norm gives
