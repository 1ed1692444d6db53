"""Which files of a published model Cloze needs; all others are left where they are.

Names are fixed here: what a stranger's list says is looked up in this one, never followed.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from engine.errors import ModelError, marked

SMALL = (  # those of them that are there
    "config.json",
    "tokenizer_config.json",
    "tokenizer.json",
    "vocab.txt",
    "special_tokens_map.json",
    "added_tokens.json",
    "modules.json",  # of sentence-transformers: how one vector is made of many
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "1_Pooling/config.json",
    "vocab.json",
    "merges.txt",
    "sentencepiece.bpe.model",
    "spiece.model",
    "spm.model",
)
WEIGHTS = (  # the first that is there, as opening prefers them
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)
PROBED = (*SMALL[:4], *WEIGHTS)  # asked for one by one where a hub gives no list
CARD = "README.md"
FETCHED = "download.json"  # of which files the parts in a folder are
START, STARTS = (
    ".start",
    "starts",
)  # the ending of a beginning that was looked at; the folder that it comes in
MOST_SMALL = 64 * 2**20  # bytes of a file that holds no weights
MOST_SHARDS = 200
_SHARD = re.compile(r"[\w.-]+\.(safetensors|bin)", re.ASCII)
_OTHERS = {  # what a repository without weights for us holds instead
    ".ckpt.index": marked("engine", "a checkpoint of TensorFlow; download it and use convert"),
    ".h5": marked("engine", "weights for TensorFlow"),
    ".msgpack": marked("engine", "weights for Flax"),
    ".onnx": marked("engine", "a graph for ONNX"),
    ".gguf": marked("engine", "weights for llama.cpp"),
}


@dataclass(frozen=True, slots=True)
class FileChoice:
    """What is to be fetched. small: without weights. weights: a file of weights, or the list of them."""

    small: tuple[str, ...]
    weights: str

    @property
    def is_list(self) -> bool:
        return self.weights.endswith(".index.json")


def choose(there: Collection[str], name: str) -> FileChoice:
    """Return what is needed of the files of a model. Raises: ModelError where it is none for Cloze."""
    if "config.json" not in there:
        raise ModelError(marked("engine", "{name} holds no config.json, so Cloze cannot open it."), name=name)
    weights = next((one for one in WEIGHTS if one in there), "")
    if not weights:
        other = next((what for end, what in _OTHERS.items() if any(one.endswith(end) for one in there)), "")
        if other:
            template = marked("engine", "{name} holds no weights that Cloze reads, only {other}.")
            raise ModelError(template, name=name, other=other)
        raise ModelError(marked("engine", "{name} holds no weights."), name=name)
    alone = ("vocab.txt", "tokenizer.json", "sentencepiece.bpe.model", "spiece.model", "spm.model")
    of_bytes = {"vocab.json", "merges.txt"} <= set(there)
    if not of_bytes and not any(one in there for one in alone):
        template = marked(
            "engine", "{name} holds no vocab.txt and no tokenizer.json, so it cannot read text."
        )
        raise ModelError(template, name=name)
    return FileChoice(tuple(one for one in SMALL if one in there), weights)


def shards_of(index: object, name: str) -> tuple[str, ...]:
    """Return the files that a list of weights names. Raises: ModelError where it cannot be one."""
    table = index.get("weight_map") if isinstance(index, dict) else None
    named = set(table.values()) if isinstance(table, dict) and _all_text(table.values()) else set()
    if not named or len(named) > MOST_SHARDS or not all(map(_SHARD.fullmatch, named)):
        raise ModelError(
            marked(
                "engine", "The list of weights of {name} is damaged, or names files that are not allowed."
            ),
            name=name,
        )
    return tuple(sorted(named))


def _all_text(values: Collection[object]) -> bool:
    return all(isinstance(one, str) for one in values)
