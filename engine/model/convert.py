"""Google's original checkpoints become model folders: every tensor by its published name, to the last bit.

Not to be broken: the new folder is there whole or not at all, and it is opened once before it is called done.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.durable import replaced_folder
from engine.errors import ModelError, Sentence, UserError, marked, renamed
from engine.events import Steps
from engine.model import names
from engine.model.arithmetic import HeadsConfig, arithmetic
from engine.model.config import BertConfig
from engine.model.folder import refuse_other_files, write_json
from engine.model.heads import HEADS, QuestionAnswering, SequenceClassifier
from engine.model.load_report import LoadReport, listed
from engine.model.tensor_files import save_tensors
from engine.model.tensorflow.checkpoint import INDEX, TensorFlowCheckpoint, open_checkpoint
from engine.model.tensorflow.names import is_of_training, published
from engine.model.weights import load_encoder, load_headed, load_pretraining
from engine.text.wordpiece import WordPiece

_SPARE = 64 * 2**20  # bytes that the tensors of any checkpoint may have
_FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)


@dataclass(frozen=True, slots=True)
class Conversion:
    """What became of a checkpoint. kind: the published class that the folder opens as. notes: to be told."""

    folder: Path
    kind: str
    num_tensors: int
    num_weights: int
    notes: tuple[Sentence, ...]


def converting(checkpoint: Path, out: Path, *, lowercase: bool | None = None) -> Steps[Conversion]:
    """Write a checkpoint of TensorFlow as a model folder; yields Progress.

    Args:   checkpoint: its folder, .index, the name that its files begin with, or a zip. lowercase: whether
            its vocabulary is uncased; None: guessed from the tokens.
    Raises: ModelError, DataError: what is wrong with it; UserError where `out` cannot be written. `out` is
            then as it was.
    """
    out = Path(os.path.realpath(out))
    refuse_other_files(out)
    with open_checkpoint(checkpoint) as found:
        config = BertConfig.from_json({"model_type": "bert", **found.config()})
        wanted = {name: one for name, one in found.entries.items() if not is_of_training(name)}
        _check_size(found, sum(one.size for one in wanted.values()), config)
        odd = [name for name, one in wanted.items() if one.dtype not in _FLOATS]
        read = yield from found.reading({name: one for name, one in wanted.items() if name not in odd})
        vocabulary = found.vocabulary()
        notes = [*_told(found, odd)]
    tensors = _published(read)
    kind, leftover = _kind(tensors)
    if leftover:
        template = marked("engine", "Ignored because their heads are incomplete: {names}.")
        notes.append(Sentence(template, {"names": listed(leftover)}))
        tensors = {name: value for name, value in tensors.items() if name not in leftover}
    labels = _labels(config, tensors)
    with replaced_folder(out) as beside:
        document = replace(config, id2label=labels).to_json()
        document.pop("layer_mix", None)
        document.pop("pooling", None)
        document["architectures"] = [kind]
        try:
            notes += _write(beside, document, tensors, vocabulary, lowercase)
        except UserError as error:
            raise renamed(error, beside, partial(_known, found.prefix)) from error
    count = sum(value.numel() for value in tensors.values())
    return Conversion(out, kind, len(tensors), count, tuple(notes))


def _write(
    folder: Path,
    document: dict[str, Any],
    tensors: dict[str, Tensor],
    vocabulary: bytes,
    lowercase: bool | None,
) -> list[Sentence]:
    """Write a model folder and open it, which refuses what does not fit; return what is to be told of it."""
    (folder / "vocab.txt").write_bytes(vocabulary)
    wordpiece = WordPiece.from_vocab(folder / "vocab.txt", lowercase=lowercase)
    if len(wordpiece.tokens) > document["vocab_size"]:
        template = marked("engine", "vocab.txt has {tokens} tokens, but the weights are for {size}.")
        raise ModelError(template, tokens=len(wordpiece.tokens), size=document["vocab_size"])
    write_json(folder / "config.json", document)
    save_tensors(folder / "model.safetensors", tensors)
    wordpiece.save(folder, model_max_length=document["max_position_embeddings"])
    report = _opened(folder, document["architectures"][0])
    notes = [*wordpiece.notes, *report.notes]
    if report.unexpected:
        template = marked("engine", "Kept, though Cloze does not use it: {names}.")
        notes.append(Sentence(template, {"names": listed(report.unexpected)}))
    return notes


def _known(prefix: str, file: str) -> str:
    """Return what a file of the new folder was made of, which a person knows."""
    return prefix if file in ("", "model.safetensors") else file


def _check_size(found: TensorFlowCheckpoint, size: int, config: BertConfig) -> None:
    """Refuse tensors that are no model of this shape, before they fill the memory. Raises: ModelError."""
    whole = arithmetic(config, HeadsConfig(masked_words=True, next_sentence=True)).total
    if size > 2 * 8 * whole + _SPARE:  # as float64, and as much again for heads of other kinds
        template = marked(
            "engine",
            "The tensors of {name} take {size} MB, but those of the model that its config "
            "describes take {whole} MB. Copy or download both again.",
        )
        megabytes = {"size": f"{size / 2**20:.0f}", "whole": f"{4 * whole / 2**20:.0f}"}
        raise ModelError(template, name=f"{found.prefix}{INDEX}", **megabytes)


def _opened(folder: Path, kind: str) -> LoadReport:
    """Open the new folder as what it was made for; return what became of each tensor."""
    if kind == "BertForPreTraining":
        return load_pretraining(folder)[1]
    if kind == "BertModel":
        return load_encoder(folder)[1]
    return load_headed(folder, HEADS[kind])[1]


def _published(read: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return tensors by their published names. Raises: ModelError: two of them would have one."""
    tensors: dict[str, Tensor] = {}
    for name, value in read.items():
        new, is_turned = published(name)
        if new in tensors:
            template = marked("engine", "The checkpoint holds two tensors for one place, {name}.")
            raise ModelError(template, name=new)
        tensors[new] = value.T.contiguous() if is_turned and value.ndim == 2 else value
    return tensors


def _kind(tensors: dict[str, Tensor]) -> tuple[str, list[str]]:
    """Return the published class for some tensors, and those of heads of which a part is missing."""
    plain = {names.plain_name(name): name for name in tensors}

    def has(part: str) -> bool:
        return all(names.plain_name(name) in plain for name in names.names_of_part(part))

    whole = {part for part in ("masked_word", "next_sentence", "classifier", "answers") if has(part)}
    parts = {name: names.part_of(names.plain_name(name)) for name in tensors}
    left = [name for name, part in parts.items() if part in names.PARTS and part not in {*whole, "pooler"}]
    if "classifier" in whole:
        return SequenceClassifier.architecture, left
    if "answers" in whole:
        return QuestionAnswering.architecture, left
    return ("BertForPreTraining" if whole else "BertModel"), left


def _labels(config: BertConfig, tensors: dict[str, Tensor]) -> tuple[str, ...]:
    if config.id2label or "classifier.bias" not in tensors:
        return config.id2label
    return tuple(f"LABEL_{number}" for number in range(len(tensors["classifier.bias"])))


def _told(found: TensorFlowCheckpoint, odd: Sequence[str]) -> list[Sentence]:
    """Return what is left of a checkpoint."""
    notes = []
    if count := sum(map(is_of_training, found.entries)):
        template = marked("engine", "Ignored because only training uses them: {count} tensors.")
        notes.append(Sentence(template, {"count": count}))
    if odd:
        template = marked("engine", "Ignored because they are not floating-point numbers: {names}.")
        notes.append(Sentence(template, {"names": listed(odd)}))
    return notes
