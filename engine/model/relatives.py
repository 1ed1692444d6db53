"""Models of other families: which are read as a BERT, and why the others are refused, with what to use.

Not to be broken: what is read as a BERT gives what its own code gives, to the last layer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from engine.errors import ModelError, Sentence, marked

_ENGLISH, _MANY = "google-bert/bert-base-uncased", "google-bert/bert-base-multilingual-cased"
_BYTES = marked("engine", "it splits texts into bytes, not into WordPieces, and counts places from 2")
_PIECES = marked("engine", "it splits texts by SentencePiece, not into WordPieces, and counts places from 2")
_SHARED = marked("engine", "all its layers share one set of weights, and its word vectors are narrower")
_RELATIVE = marked(
    "engine", "its attention uses the distance between words, where BERT has a vector for each place"
)
_ROTARY = marked("engine", "it turns its vectors by their place, where BERT adds a vector for each place")
_WRITES = marked("engine", "it reads with one half and writes with the other; BERT only reads")
_LEFT = marked("engine", "it reads from left to right and continues texts; BERT reads from both sides")
_ORDERS = marked("engine", "it learned to guess words in any order, with a second stream of attention")
_SPARSE = marked("engine", "its attention skips most pairs of words so that texts may be long")
_OTHER_BLOCKS = marked("engine", "its layers are not built as BERT’s are")
_TASKS = marked("engine", "it adds vectors to its words that BERT does not have")
_NARROW = marked("engine", "its word vectors are narrower than its layers; BERT’s are not")
_UNKNOWN = marked("engine", "its layers are not known to be BERT’s")

REFUSED: dict[str, tuple[str, str, str]] = {  # model_type -> name, why, what to use in its place
    "roberta": ("RoBERTa", _BYTES, _ENGLISH),
    "roberta-prelayernorm": ("RoBERTa", _BYTES, _ENGLISH),
    "camembert": ("CamemBERT", _PIECES, _MANY),
    "xlm-roberta": ("XLM-R", _PIECES, _MANY),
    "xlm-roberta-xl": ("XLM-R", _PIECES, _MANY),
    "xmod": ("X-MOD", _PIECES, _MANY),
    "longformer": ("Longformer", _SPARSE, _ENGLISH),
    "big_bird": ("BigBird", _SPARSE, _ENGLISH),
    "albert": ("ALBERT", _SHARED, "google/bert_uncased_L-4_H-512_A-8"),
    "deberta": ("DeBERTa", _RELATIVE, "google/electra-base-discriminator"),
    "deberta-v2": ("DeBERTa", _RELATIVE, "google/electra-base-discriminator"),
    "mpnet": ("MPNet", _RELATIVE, "sentence-transformers/all-MiniLM-L6-v2"),
    "xlnet": ("XLNet", _ORDERS, _ENGLISH),
    "xlm": ("XLM", _OTHER_BLOCKS, _MANY),
    "flaubert": ("FlauBERT", _OTHER_BLOCKS, _MANY),
    "modernbert": ("ModernBERT", _ROTARY, _ENGLISH),
    "nomic_bert": ("NomicBERT", _ROTARY, "BAAI/bge-base-en-v1.5"),
    "roformer": ("RoFormer", _ROTARY, "google-bert/bert-base-chinese"),
    "new": ("GTE", _ROTARY, "BAAI/bge-base-en-v1.5"),
    "nezha": ("NEZHA", _RELATIVE, "hfl/chinese-bert-wwm-ext"),
    "ernie": ("ERNIE", _TASKS, "hfl/chinese-bert-wwm-ext"),
    "luke": ("LUKE", _TASKS, _ENGLISH),
    "layoutlm": ("LayoutLM", _TASKS, _ENGLISH),
    "tapas": ("TAPAS", _TASKS, _ENGLISH),
    "mobilebert": ("MobileBERT", _OTHER_BLOCKS, "google/bert_uncased_L-4_H-512_A-8"),
    "squeezebert": ("SqueezeBERT", _OTHER_BLOCKS, "google/bert_uncased_L-4_H-512_A-8"),
    "convbert": ("ConvBERT", _OTHER_BLOCKS, "google/electra-base-discriminator"),
    "funnel": ("Funnel", _OTHER_BLOCKS, "google/electra-base-discriminator"),
    "megatron-bert": ("Megatron-BERT", _OTHER_BLOCKS, "google-bert/bert-large-uncased"),
    "rembert": ("RemBERT", _NARROW, _MANY),
    "bart": ("BART", _WRITES, _ENGLISH),
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
_OF_TENSORS = {  # how names of weights begin -> model_type, where config.json says nothing or otherwise
    "roberta.": "roberta",
    "albert.": "albert",
    "deberta.": "deberta",
    "mpnet.": "mpnet",
    "longformer.": "longformer",
    "mobilebert.": "mobilebert",
    "ernie.": "ernie",
    "encoder.albert_layer_groups.": "albert",
    "encoder.block.": "t5",
    "h.0.": "gpt2",
    "transformer.h.": "gpt2",
    "transformer.wte.": "gpt2",
    "wte.": "gpt2",
    "model.encoder.layers.": "bart",
    "model.layers.": "llama",
}
_DISTIL = {  # DistilBERT's key of config.json -> BERT's, and what it is where it is left out
    "dim": ("hidden_size", 768),
    "n_layers": ("num_hidden_layers", 6),
    "n_heads": ("num_attention_heads", 12),
    "hidden_dim": ("intermediate_size", 3072),
    "activation": ("hidden_act", "gelu"),
    "dropout": ("hidden_dropout_prob", 0.1),
    "attention_dropout": ("attention_probs_dropout_prob", 0.1),
    "seq_classif_dropout": ("classifier_dropout", 0.2),
}
_ELECTRA = {  # sizes where an ELECTRA's config.json leaves them out: those of the small one
    "embedding_size": 128,
    "hidden_size": 256,
    "num_attention_heads": 4,
    "intermediate_size": 1024,
}
_SAME_HEADS = ("ForTokenClassification", "ForQuestionAnswering", "ForMaskedLM")  # DistilBERT's and BERT's


def as_bert(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a config.json's object as a BERT's. Raises: ModelError: it is of a model that is not read."""
    kind = _kind_of(document)
    if kind == "bert":
        return document
    if kind == "distilbert":
        return _of_distilbert(document)
    if kind == "electra":
        return _of_electra(document)
    raise refused(kind)


def refused(kind: Any) -> ModelError:
    """Return the refusal of a model_type: what it is, why it is not read, and what to use in its place."""
    template = marked(
        "engine", "config.json describes a model that is not a BERT ({name}): {why}. Use {instead} instead."
    )
    name, why, instead = REFUSED.get(
        kind if isinstance(kind, str) else "", (str(kind)[:60], _UNKNOWN, _ENGLISH)
    )
    return ModelError(template, name=name, why=Sentence(why), instead=instead)


def kind_of_tensors(names: Iterable[str]) -> str | None:
    """Return the model_type of REFUSED that the names of some weights are of; None where they tell none."""
    for name in names:
        for start, kind in _OF_TENSORS.items():
            if name.startswith(start):
                return kind
    return None


def _kind_of(document: Mapping[str, Any]) -> Any:
    """Return the model_type; where there is none, as it follows from the class that is named."""
    if "model_type" in document:
        return document["model_type"]
    named = document.get("architectures")
    plain = str(named[0]).lower() if isinstance(named, list) and named else ""
    known = {kind.translate({45: None, 95: None}): kind for kind in ("distilbert", "electra", *REFUSED)}
    found = [start for start in known if start != "new" and plain.startswith(start)]
    return known[max(found, key=len)] if found else "bert"


def _of_distilbert(document: Mapping[str, Any]) -> dict[str, Any]:
    """Half of a BERT's layers, under other names; no segments and no pooler."""
    found = {key: value for key, value in document.items() if key not in {*_DISTIL, *_ONLY_DISTIL}}
    found |= {new: document.get(old, usual) for old, (new, usual) in _DISTIL.items()}
    return found | {"type_vocab_size": 2, "layer_norm_eps": 1e-12} | _plain_kind(document, _SAME_HEADS)


def _of_electra(document: Mapping[str, Any]) -> dict[str, Any]:
    """A BERT without a pooler, whose discriminator told replaced words from those that stood there."""
    found = {**_ELECTRA, **document}
    if found["embedding_size"] != found["hidden_size"]:
        template = marked(
            "engine",
            "config.json describes an ELECTRA whose word vectors are narrower than its "
            "layers ({embedding_size} and {hidden_size}); BERT’s are not. Use the "
            "discriminator of a base or large one, such as {instead}.",
        )
        sizes = {name: str(found[name])[:40] for name in ("embedding_size", "hidden_size")}
        raise ModelError(template, **sizes, instead="google/electra-base-discriminator")
    plain = {key: value for key, value in found.items() if key != "embedding_size" and "summary_" not in key}
    return plain | _plain_kind(document, _SAME_HEADS[:2])


_ONLY_DISTIL = ("sinusoidal_pos_embds", "qa_dropout", "tie_weights_", "output_past")


def _plain_kind(document: Mapping[str, Any], heads: Iterable[str]) -> dict[str, Any]:
    """Return model_type and architectures as BERT's: the head where BERT has the same, else the encoder."""
    named = document.get("architectures")
    own = str(named[0]) if isinstance(named, list) and named else ""
    head = next((head for head in heads if own.endswith(head)), "Model")
    return {"model_type": "bert", "architectures": [f"Bert{head}"]}
