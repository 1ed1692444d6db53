"""The families that are refused: what each is called, why it is not read, and what to use in its place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.errors import ModelError, Sentence, marked

_ENGLISH, _MANY = "google-bert/bert-base-uncased", "google-bert/bert-base-multilingual-cased"
_RELATIVE = marked(
    "engine", "its attention uses the distance between words, where BERT has a vector for each place"
)
_TURNED = marked("engine", "its vectors are turned by their place in an order of their own")
_WRITES = marked("engine", "it reads with one half and writes with the other; BERT only reads")
_LEFT = marked("engine", "it reads from left to right and continues texts; BERT reads from both sides")
_ORDERS = marked("engine", "it learned to guess words in any order, with a second stream of attention")
_SPARSE = marked("engine", "its attention skips most pairs of words so that texts may be long")
_OTHER_BLOCKS = marked("engine", "its layers are not built as BERT’s are")
_TASKS = marked("engine", "it adds vectors to its words that BERT does not have")
_NARROW = marked("engine", "its word vectors are narrower than its layers; BERT’s are not")
_OLDER = marked("engine", "its attention and its pieces are not those of the later versions")
_OWN_SCORES = marked(
    "engine", "its norms are not BERT’s, and it scores words by other vectors than those that it reads"
)
_UNKNOWN = marked("engine", "its layers are not known to be BERT’s")

REFUSED: dict[str, tuple[str, str, str]] = {  # model_type -> name, why, what to use in its place
    "roberta-prelayernorm": ("RoBERTa with its norms first", _OTHER_BLOCKS, "FacebookAI/roberta-base"),
    "xlm-roberta-xl": ("XLM-R with its norms first", _OTHER_BLOCKS, "FacebookAI/xlm-roberta-base"),
    "xmod": ("X-MOD", _OTHER_BLOCKS, "FacebookAI/xlm-roberta-base"),
    "longformer": ("Longformer", _SPARSE, _ENGLISH),
    "big_bird": ("BigBird", _SPARSE, _ENGLISH),
    "deberta": ("the first DeBERTa", _OLDER, "microsoft/deberta-v3-base"),
    "xlnet": ("XLNet", _ORDERS, _ENGLISH),
    "xlm": ("XLM", _OTHER_BLOCKS, _MANY),
    "flaubert": ("FlauBERT", _OTHER_BLOCKS, _MANY),
    "roformer": ("RoFormer", _TURNED, "google-bert/bert-base-chinese"),
    "neobert": ("NeoBERT", _OWN_SCORES, "answerdotai/ModernBERT-base"),
    "eurobert": ("EuroBERT", _OTHER_BLOCKS, _MANY),
    "jina_embeddings_v3": ("Jina Embeddings", _OTHER_BLOCKS, _MANY),
    "modernbert-decoder": ("a ModernBERT that writes", _LEFT, "answerdotai/ModernBERT-base"),
    "jina_bert": ("Jina BERT", _RELATIVE, "BAAI/bge-base-en-v1.5"),
    "xlm-roberta-flash": ("Jina Embeddings", _OTHER_BLOCKS, _MANY),
    "nezha": ("NEZHA", _RELATIVE, "hfl/chinese-bert-wwm-ext"),
    "luke": ("LUKE", _TASKS, _ENGLISH),
    "layoutlm": ("LayoutLM", _TASKS, _ENGLISH),
    "tapas": ("TAPAS", _TASKS, _ENGLISH),
    "mobilebert": ("MobileBERT", _OTHER_BLOCKS, "google/bert_uncased_L-4_H-512_A-8"),
    "squeezebert": ("SqueezeBERT", _OTHER_BLOCKS, "google/bert_uncased_L-4_H-512_A-8"),
    "convbert": ("ConvBERT", _OTHER_BLOCKS, "google/electra-base-discriminator"),
    "funnel": ("Funnel", _OTHER_BLOCKS, "google/electra-base-discriminator"),
    "megatron-bert": ("Megatron-BERT", _OTHER_BLOCKS, "google-bert/bert-large-uncased"),
    "rembert": ("RemBERT", _NARROW, _MANY),
    "mbart": ("mBART", _WRITES, _MANY),
    "pegasus": ("PEGASUS", _WRITES, _ENGLISH),
    "marian": ("Marian", _WRITES, _MANY),
    "t5": ("T5", _WRITES, _ENGLISH),
    "mt5": ("mT5", _WRITES, _MANY),
    "encoder-decoder": ("encoder and decoder", _WRITES, _ENGLISH),
    "gpt2": ("GPT-2", _LEFT, _ENGLISH),
    "openai-gpt": ("GPT", _LEFT, _ENGLISH),
    "gpt_neo": ("GPT-Neo", _LEFT, _ENGLISH),
    "gpt_neox": ("GPT-NeoX", _LEFT, _ENGLISH),
    "gptj": ("GPT-J", _LEFT, _ENGLISH),
    "opt": ("OPT", _LEFT, _ENGLISH),
    "bloom": ("BLOOM", _LEFT, _MANY),
    "llama": ("Llama", _LEFT, _ENGLISH),
    "mistral": ("Mistral", _LEFT, _ENGLISH),
    "gemma": ("Gemma", _LEFT, _ENGLISH),
    "phi": ("Phi", _LEFT, _ENGLISH),
    "qwen2": ("Qwen", _LEFT, _MANY),
    "qwen3": ("Qwen", _LEFT, _MANY),
}
_BEGINNINGS = {  # of names of weights -> model_type, where config.json says nothing or otherwise
    "deberta.": "deberta",
    "longformer.": "longformer",
    "mobilebert.": "mobilebert",
    "encoder.block.": "t5",
    "h.0.": "gpt2",
    "transformer.h.": "gpt2",
    "transformer.wte.": "gpt2",
    "wte.": "gpt2",
    "model.layers.": "llama",
}


NOT_A_BERT = marked(
    "engine", "config.json describes a model that is not a BERT ({name}): {why}. Use {instead} instead."
)


def refused(kind: Any) -> ModelError:
    """Return the refusal of a model_type: what it is, why it is not read, and what to use in its place."""
    name, why, instead = REFUSED.get(
        kind if isinstance(kind, str) else "", (str(kind)[:60], _UNKNOWN, _ENGLISH)
    )
    return ModelError(NOT_A_BERT, name=name, why=Sentence(why), instead=instead)


def kind_of_tensors(names: Iterable[str]) -> str | None:
    """Return the model_type of REFUSED that the names of some weights are of; None where they tell none."""
    for name in names:
        for start, kind in _BEGINNINGS.items():
            if name.startswith(start):
                return kind
    return None
