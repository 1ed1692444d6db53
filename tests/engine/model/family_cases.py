"""A line for each family of models that opens: a tiny random one of `transformers` and its tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import transformers

from engine.model.weights import read_config
from engine.text.byte_level import MODERNBERT
from engine.text.tokenizer import Tokenizer
from tests.fakes import scramble, tiny_byte_level, tiny_mpnet_pieces, tiny_unigram, tiny_wordpiece

SIZES = {
    "max_position_embeddings": 61,
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 29,
    "attn_implementation": "eager",
}


@dataclass(frozen=True)
class Case:
    """A kind of model.

    name: of its row. stem: how its classes in `transformers` begin. config: the keys of its config.json that
    matter. tokenizer: a tiny one of its kind. file: a published one, under CLOZE_DATA. saved_as: the stem of
    the family that it is read as, and saved as; "": its own. half: the part that is read; "": all. kinds: how
    a class ends -> how the like of it ends.
    """

    name: str
    stem: str
    config: Mapping[str, Any] = field(default_factory=dict)
    tokenizer: Callable[[], Tokenizer] = tiny_wordpiece
    file: str = ""
    saved_as: str = ""
    half: str = ""
    kinds: Mapping[str, str] = field(default_factory=dict)

    @property
    def model_type(self) -> str:
        return str(getattr(transformers, f"{self.stem}Config").model_type)


def of_albert() -> Tokenizer:
    return tiny_unigram("albert")


def of_deberta() -> Tokenizer:
    return tiny_unigram("deberta")


def of_camembert() -> Tokenizer:
    return tiny_unigram("camembert")


def of_modernbert() -> Tokenizer:
    return tiny_byte_level(MODERNBERT)


UNCASED = "vocabs/bert-base-uncased-vocab.txt"
ROBERTAS = "tokenizers/roberta/tokenizer.json"
DECODER = {"decoder_layers": 2, "decoder_attention_heads": 2, "decoder_ffn_dim": 17}
WITH_TASKS = {"use_task_id": True, "task_type_vocab_size": 5, "type_vocab_size": 4, "hidden_act": "relu"}
TURNED = {"rope_parameters": {"rope_type": "default", "rope_theta": 30.0}}
SLOWED = {"rope_parameters": {"rope_type": "linear", "rope_theta": 30.0, "factor": 1.7}}
NEAR = {"local_attention": 4, "classifier_pooling": "mean"}
WITH_BIASES = {
    "num_hidden_layers": 3,
    "local_attention": 2,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
    "rope_parameters": {
        "full_attention": {"rope_type": "default", "rope_theta": 70.0},
        "sliding_attention": {"rope_type": "default", "rope_theta": 5.0},
    },
    **dict.fromkeys(("attention_bias", "mlp_bias", "norm_bias", "classifier_bias"), True),
    "hidden_activation": "silu",
    "classifier_activation": "relu",
}
DISTANT = {
    "relative_attention": True,
    "position_biased_input": False,
    "pos_att_type": ["p2c", "c2p"],
}
ONE_SEGMENT = {"type_vocab_size": 1}

ROWS = (  # of the table
    Case("BERT", "Bert", file=UNCASED),
    Case("DistilBERT", "DistilBert", {"hidden_dim": 29}, file=UNCASED, saved_as="Bert"),
    Case("ELECTRA, small", "Electra", {"embedding_size": 7}, file=UNCASED),
    Case("ELECTRA, base and large", "Electra", {"embedding_size": 12}, file=UNCASED, saved_as="Bert"),
    Case("ERNIE", "Ernie", WITH_TASKS, file="tokenizers/ernie-3.0/vocab.txt"),
    Case("ALBERT", "Albert", {"embedding_size": 7}, of_albert, "tokenizers/albert-en/spiece.model"),
    Case("RoBERTa", "Roberta", ONE_SEGMENT, tiny_byte_level, ROBERTAS),
    Case("XLM-R", "XLMRoberta", ONE_SEGMENT, tiny_unigram, "tokenizers/xlm-roberta/sentencepiece.bpe.model"),
    Case("CamemBERT", "Camembert", ONE_SEGMENT, of_camembert, "tokenizers/spm-misc/test_sentencepiece.model"),
    Case(
        "DeBERTa-v3",
        "DebertaV2",
        {**DISTANT, "position_buckets": 4, "norm_rel_ebd": "layer_norm", "share_att_key": True},
        of_deberta,
        "tokenizers/deberta-v3/spm.model",
    ),
    Case("MPNet", "MPNet", tokenizer=tiny_mpnet_pieces),
    Case("ModernBERT", "ModernBert", NEAR, of_modernbert, "tokenizers/modernbert-derived/tokenizer.json"),
    Case("NomicBERT", "NomicBert", TURNED, file=UNCASED),
    Case("GTE", "Gte", SLOWED, tiny_unigram, "tokenizers/xlm-roberta/sentencepiece.bpe.model"),
    Case(
        *("BART, the half that reads", "Bart", {"encoder_ffn_dim": 29, **DECODER}, tiny_byte_level, ROBERTAS),
        saved_as="Roberta",
        half="encoder",
        kinds={"ForMaskedLM": "ForConditionalGeneration"},
    ),
)
VARIANTS = (  # of other config.json files, and without a row
    Case("ERNIE without tasks", "Ernie"),
    Case("ALBERT as wide as its layers", "Albert", {"embedding_size": 12, "hidden_act": "relu"}),
    Case("ELECTRA wider than its layers", "Electra", {"embedding_size": 17, "hidden_act": "relu"}),
    Case("XLM-R of three segments", "XLMRoberta", {"type_vocab_size": 3, "hidden_act": "relu"}, tiny_unigram),
    Case("ModernBERT with biases", "ModernBert", WITH_BIASES, of_modernbert),
    Case(
        "DeBERTa-v3 without buckets",
        "DebertaV2",
        {**DISTANT, "max_relative_positions": 3, "hidden_act": "relu", "legacy": False},
        of_deberta,
    ),
    Case("MPNet with relu", "MPNet", {"hidden_act": "relu"}, tiny_mpnet_pieces),
    Case("GTE without segments", "Gte", {"type_vocab_size": 0, "hidden_act": "silu"}, tiny_unigram),
    Case("NomicBERT with gelu", "NomicBert", {"hidden_act": "gelu"}),
)

CASES = {case.name: case for case in (*ROWS, *VARIANTS)}
OWN = [case for case in CASES.values() if not case.saved_as and case.stem != "Bert"]  # not as another


def config_of(case: Case, tokenizer: Tokenizer | None = None, **changes: Any) -> Any:
    """Return the config of a tiny model. Args: tokenizer: another than the tiny one of the case."""
    tokenizer = tokenizer or case.tokenizer()
    named = {
        "pad": "pad",
        "cls": "cls",
        "sep": "sep",
        "bos": "cls",
        "eos": "sep",
    }
    ids = {f"{name}_token_id": getattr(tokenizer, f"{ours}_id") for name, ours in named.items()}
    sizes = {"vocab_size": tokenizer.vocab_size, **ids, **SIZES, **case.config, **changes}
    return getattr(transformers, f"{case.stem}Config")(**sizes)


def randomize(model: torch.nn.Module) -> None:
    """Give every parameter random values; those that a norm multiplies by are near 1."""
    scramble(model)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim == 1 and name.endswith("weight"):
                parameter += 1.0


def made(path: Path, case: Case, kind: str, tokenizer: Tokenizer | None = None, **changes: Any) -> Any:
    """Write a random tiny model of transformers' own, its tokenizer beside it, and return it.

    Args: kind: how its class ends. tokenizer: another than the tiny one of the case.
    """
    tokenizer = tokenizer or case.tokenizer()
    config = config_of(case, tokenizer, **changes)
    model = getattr(transformers, f"{case.stem}{kind}")(config).eval()
    randomize(model)
    model.tie_weights()
    model.save_pretrained(path)
    tokenizer.save(path)
    return model


def reopened(path: Path, stem: str, kind: str, lacking: frozenset[str] = frozenset()) -> Any:
    """Return what transformers makes of a folder that Cloze has written, as a class that it must be.

    Args: lacking: weights that may be missing there.
    """
    auto = getattr(transformers, f"Auto{kind}" if kind == "Model" else f"AutoModel{kind}")
    model, info = auto.from_pretrained(path, output_loading_info=True, attn_implementation="eager")
    assert type(model).__name__ == stem + kind
    assert not set(info["missing_keys"]) - lacking and not info["mismatched_keys"]
    assert read_config(path).family.has_next_sentence or not info["unexpected_keys"]
    return model.eval()
