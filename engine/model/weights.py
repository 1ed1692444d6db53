"""Model folders in and out, in the layout everybody uses, with a report in plain words.

Not to be broken: only a pooler or a head may start from random weights, and the report says so then.
All else that config.json asks for is loaded or refused, and shapes are compared before any memory is taken.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor

from engine.durable import replaced_file, replaced_folder
from engine.errors import ModelError, Sentence, marked
from engine.files import file_in
from engine.model import names
from engine.model.bert import Bert
from engine.model.config import BertConfig
from engine.model.families.family import class_of
from engine.model.folder import (
    ENCODER_WEIGHTS,
    LEARNED,
    open_weights,
    read_json,
    refuse_other_files,
    write_json,
)
from engine.model.heads import (
    HEADS,
    PLAIN,
    HeadedEncoder,
    MaskedWords,
    PreTraining,
    SequenceClassifier,
    VocabularyHead,
)
from engine.model.info import INFO, length_in, read_info, with_encoder
from engine.model.load_report import LoadReport, listed
from engine.model.own_encoder import (
    SHIFT,
    SHIFT_BIAS,
    WORDS,
    encoder_of,
    open_encoder_weights,
    read_by,
    word_shift,
)
from engine.model.source import StoredModel
from engine.model.tensor_files import load_tensors, save_tensors
from engine.own_process import command_words
from engine.text.read_unigram import numbers_texts
from engine.text.tokenizer import Tokenizer

__all__ = [
    "NEW",
    "LoadReport",
    "add_encoder",
    "check_weights",
    "load_classifier",
    "load_encoder",
    "load_headed",
    "load_pretraining",
    "load_tensors",
    "read_config",
    "save_model",
    "save_tensors",
    "tuned_head",
]
NEW = {  # what the report says of a part that starts from random weights
    "pooler": marked("engine", "The pooler is new and starts from random weights."),
    "classifier": marked("engine", "The classifier is new and starts from random weights."),
    "layer_mix": marked("engine", "The mix of layers is new and starts from equal weights."),
    "masked_word": marked("engine", "The masked-word head is new and starts from random weights."),
    "next_sentence": marked("engine", "The next-sentence head is new and starts from random weights."),
    "answers": marked("engine", "The question-answering head is new and starts from random weights."),
}
_OF_ANOTHER_TASK = marked(
    "engine", "The model’s own head was not used, because it is for another task ({kind} {problem})."
)
_READS_OTHER = marked(
    "engine",
    "The model’s own classifier was not used, because it reads something else of a text (pooling {own}).",
)
_WORDS = "embeddings.word.weight"
_LENT = marked("engine", "The layers below the classifier begin as those of the masked-word head.")
_KEPT = {
    "masked_word": marked("engine", "The model’s own masked-word head was loaded."),
    "next_sentence": marked("engine", "The model’s own next-sentence head was loaded."),
}


AnyHeaded = TypeVar("AnyHeaded", bound=HeadedEncoder)


def read_config(folder: Path) -> BertConfig:
    """Return a model folder's shape. Raises: ModelError: no folder, no config.json, or no possible BERT."""
    path = file_in(folder, "config.json")
    if path is None:
        raise _no_config(folder)
    config = BertConfig.from_json(read_json(path))
    return dataclasses.replace(config, numbers_texts=not config.family.has_segments or numbers_texts(folder))


def check_weights(folder: Path) -> None:
    """Refuse a folder whose layers cannot be loaded; no weights are read. Raises: ModelError."""
    for opened in (open_weights, open_encoder_weights) if encoder_of(folder) else (open_weights,):
        with opened(folder) as stored:
            config = read_config(folder)
            StoredModel(stored, config).check(partial(Bert, with_pooler=False), config)


def load_encoder(folder: Path, *, config: BertConfig | None = None) -> tuple[Bert, LoadReport]:
    """Return the encoder of a model folder, float32, in `eval` mode, and what became of each weight.

    It is what reads whole texts: where the folder has an encoder of its own for that, its layers.

    Args:   config: read_config(folder) with other dropouts, say. Without a stored pooler, `pooler` is None.
    Raises: ModelError, before memory is taken: no weights, damaged, of other shapes, or some are missing.
    """
    config = config or read_config(folder)
    with open_encoder_weights(folder) as stored:
        source = StoredModel(stored, config)
        with_pooler = source.has("pooler")
        model = source.fill(partial(Bert, with_pooler=with_pooler), config)
        notes = read_by(encoder_of(folder))
        notes += () if with_pooler else (Sentence(marked("engine", "The model has no pooler.")),)
        return model, source.report(notes=notes)


def load_classifier(
    folder: Path, labels: Sequence[str] | None = None, *, config: BertConfig | None = None, seed: int = 0
) -> tuple[SequenceClassifier, LoadReport]:
    """Return a classifier of texts: see `load_headed`."""
    return load_headed(folder, SequenceClassifier, labels, config=config, seed=seed)


def load_headed(
    folder: Path,
    head: type[AnyHeaded],
    labels: Sequence[str] | None = None,
    *,
    config: BertConfig | None = None,
    seed: int = 0,
) -> tuple[AnyHeaded, LoadReport]:
    """Return a model under one kind of head, float32, in `eval` mode, and what became of each weight.

    Its encoder is that of `load_encoder`; under a head that guesses words that of `load_pretraining`.

    Args:   labels: those of the data, in the order of their ids; () for a head that has none. The folder's
            own head is kept if it is of this kind and knows just these (its rows are put in that order), else
            a new one starts from `seed`. None: its own.
            config: read_config(folder) with other dropouts or another problem_type, say.
    Raises: ModelError as `load_encoder`; without `labels` also where no fitting head or pooler is.
    """
    config = config or read_config(folder)
    with (open_encoder_weights if head.reads_meaning else open_weights)(folder) as stored:
        source = StoredModel(stored, config)
        source.check(
            partial(Bert, with_pooler=False), config
        )  # a fault of the encoder is told before the head's
        own, objection = _own_head(folder, head, source, config)
        if labels is None:
            _require_head(folder, head, source, own, objection)
        wanted = (own or ()) if labels is None else tuple(labels)
        if own and sorted(own) != sorted(wanted):
            template = marked(
                "engine",
                "The model’s own classifier was not used, because its labels are {own}, not {labels}.",
            )
            objection = Sentence(template, {"own": listed(own), "labels": listed(wanted)})
        parts = head.parts_of(config)
        top = parts[-1]
        fresh = {part for part in parts if not source.has(part)} | ({top} if objection else set())
        is_lent = "pooler" in fresh and source.lend()
        fresh -= {"pooler"} if is_lent else set()
        config = dataclasses.replace(config, id2label=wanted)
        model = source.fill(head, config, fresh, seed)
        if top not in fresh and own and own != wanted:
            order = [own.index(label) for label in wanted]
            for parameter in getattr(model, top).parameters():
                parameter.data = parameter.data[order]
        notes = [*read_by(encoder_of(folder) if head.reads_meaning else "")]
        notes += [Sentence(NEW[part]) for part in parts if part in fresh]
        notes += [Sentence(_KEPT[top])] if top in _KEPT and top not in fresh else []
        notes += [Sentence(_LENT)] if is_lent else []
        objections = {top: objection} if objection else {}
        return model, source.report(notes, fresh, objections)


def load_pretraining(
    folder: Path, *, config: BertConfig | None = None, seed: int = 0
) -> tuple[PreTraining, LoadReport]:
    """Return a model to pretrain further, float32, in `eval` mode, and what became of each weight.

    A pooler or head that the folder lacks starts from random weights, and so does a masked-word head that has
    word weights of its own. Opens BertForPreTraining, BertForMaskedLM and BertModel of `transformers`. An
    encoder of its own that the folder has for whole texts is left alone.

    Args:   config: read_config(folder) with other dropouts, say. seed: of the new weights.
    Raises: ModelError as `load_encoder`.
    """
    config = config or read_config(folder)
    with open_weights(folder) as stored:
        source = StoredModel(stored, config)
        source.check(partial(Bert, with_pooler=False), config)
        has_next = config.family.has_next_sentence
        parts = ("pooler", "masked_word", "next_sentence") if has_next else ("masked_word",)
        found = {part: source.objection(part, config) for part in parts if part != "pooler"}
        objections = {part: objection for part, objection in found.items() if objection}
        fresh = {part for part in parts if part in objections or not source.has(part)}
        model = source.fill(PreTraining, config, fresh, seed)
        notes = [Sentence(NEW[part]) for part in parts if part in fresh]
        notes += [Sentence(_KEPT[part]) for part in _KEPT if part in parts and part not in fresh]
        return model, source.report(notes, fresh, objections)


def save_model(
    folder: Path,
    model: Bert | HeadedEncoder | PreTraining,
    wordpiece: Tokenizer,
    cloze: Mapping[str, Any] | None = None,
    *,
    dtype: torch.dtype = torch.float32,
    words: torch.dtype | None = None,
    learned: Mapping[str, torch.Tensor] | None = None,
) -> None:
    """Write a model folder that `transformers` opens too: beside, synced, then in the place of an older one.

    Args:   cloze: what cloze.json keeps beside config.json: task, roles, lengths and where it came from, or
            None for no such file. dtype: float16 takes half the room and rounds to three digits. words: that
            of the word vectors; float8_e4m3fn takes a byte for each value and rounds it by up to 6 %.
            learned: what is kept of the texts that it has learned from, or None for no such file.
    Raises: ModelError if `folder` holds anything but a model; UserError if the disk is full or read-only.
    """
    folder = Path(os.path.realpath(folder))
    refuse_other_files(folder)
    with replaced_folder(folder) as beside:
        write_json(beside / "config.json", _config_document(model, dtype))
        save_tensors(beside / "model.safetensors", _published(model, dtype, words or dtype))
        longest = model.config.max_position_embeddings
        length = length_in(cloze or {}, longest) if isinstance(model, HeadedEncoder) else longest
        wordpiece.save(beside, model_max_length=length)
        if cloze is not None:
            write_json(beside / "cloze.json", cloze)
        if learned is not None:
            save_tensors(beside / LEARNED, learned)


def add_encoder(folder: Path, encoder: Bert, name: str, *, dtype: torch.dtype = torch.float8_e4m3fn) -> None:
    """Give a folder that `save_model` wrote of a model with heads of pretraining an encoder of its own: its
    weights, and in place of the word vectors how they follow from the model's. See own_encoder.py.

    Args:   encoder: of the same shape. name: what it is called, for cloze.json. dtype: of its matrices;
            float8_e4m3fn rounds each value by up to 6 %. Biases, norms and segments are in float16.
    Raises: ModelError: it has other weights, or other shapes, than the model; UserError as `save_model`.
    """
    language, _ = load_pretraining(folder)
    shapes = [
        {own: value.shape for own, value in bert.state_dict().items()} for bert in (language.bert, encoder)
    ]
    if shapes[0] != shapes[1]:
        template = marked("engine", "{folder} and its encoder {name} have different shapes.")
        raise ModelError(template, folder=folder, name=name)
    own_words, words = (bert.embeddings.word.weight.detach() for bert in (language.bert, encoder))
    shift, shift_bias = word_shift(own_words, words, language.bias.detach())
    kept = {SHIFT: shift.to(dtype), SHIFT_BIAS: shift_bias.half()}
    language.bert.load_state_dict(encoder.state_dict())
    for published, value in _published(language, torch.float32, torch.float32).items():
        plain = encoder.config.family.plain_name(published, _class_of(language))
        if names.part_of(plain) in ("encoder", "pooler") and plain != WORDS:
            is_large = value.dim() == 2 and plain != names.SEGMENTS  # which is added to every token
            kept[published] = value.to(dtype if is_large else torch.float16)
    save_tensors(folder / ENCODER_WEIGHTS, kept)  # before it is named: such a folder opens as it did
    with replaced_file(folder / INFO) as beside:
        write_json(beside, with_encoder(read_info(folder), name))


def head_of(config: BertConfig) -> str:
    """Return the published class that a config.json names; "" where it names none."""
    return class_of(config.extra)


def tuned_head(folder: Path, config: BertConfig | None = None) -> type[HeadedEncoder] | None:
    """Return the head that a folder was fine-tuned with; None where it was not.

    One that guesses words is of the class of a pretrained model: that it corrects texts, cloze.json says.
    Args: config: read_config(folder), where it is known. Raises: ModelError if they are damaged.
    """
    kind = head_of(config or read_config(folder))
    if kind in (MaskedWords.architecture, "BertForPreTraining"):  # as some families call the same
        return MaskedWords if read_info(folder).get("task") == MaskedWords.task else None
    return HEADS.get(kind)


def _no_config(folder: Path) -> ModelError:
    inner = next((one.parent.name for one in sorted(folder.glob("0_*/config.json"))), None)
    if file_in(folder, "bert_config.json") is not None:
        template = marked(
            "engine",
            "{folder} holds a TensorFlow checkpoint, not a model folder. Convert it: "
            "{command} convert {folder} --out DIR",
        )
        return ModelError(template, folder=folder, command=" ".join(command_words()))
    if inner is not None:
        template = marked("engine", "{folder} holds its model in {name}. Choose that folder.")
        return ModelError(template, folder=folder, name=inner)
    template = marked(
        "engine", "{folder} holds no config.json, so it is not a model. Choose the folder that has one."
    )
    return ModelError(template, folder=folder)


def _own_head(
    folder: Path, head: type[HeadedEncoder], source: StoredModel, config: BertConfig
) -> tuple[tuple[str, ...] | None, Sentence | None]:
    """Return the labels of the stored head of this kind, None if there is none; and why it cannot be used."""
    kind, top = head_of(config), head.parts[-1]
    if top == "classifier" and source.other_classifier is not None:
        return None, source.other_classifier
    if top == "masked_word" and (refused := source.objection(top, config)) is not None:
        return None, refused
    if not source.has(top):
        return None, None
    stored = read_config(folder)
    if head is SequenceClassifier and stored.pooling != config.pooling:
        return None, Sentence(_READS_OTHER, {"own": stored.pooling or "[CLS]"})
    problems = {stored.problem, config.problem}
    is_other = kind in HEADS and kind != head.architecture
    if is_other or (head is SequenceClassifier and len(problems) > 1):
        return None, Sentence(_OF_ANOTHER_TASK, {"kind": kind, "problem": stored.problem})
    if not head.has_labels:
        return (), None
    own, objection = source.labels(stored)
    return own or None, objection


def _require_head(
    folder: Path,
    head: type[HeadedEncoder],
    source: StoredModel,
    own: tuple[str, ...] | None,
    objection: Sentence | None,
) -> None:
    if objection:
        raise ModelError(objection.template, **objection.values)
    if own is None:
        raise ModelError(head.missing, folder=folder)
    if "pooler" in head.parts_of(source.config) and not source.has("pooler"):
        template = marked(
            "engine", "{folder} holds a classifier without the pooler that it needs. Fine-tune it first."
        )
        raise ModelError(template, folder=folder)


def _published(
    model: Bert | HeadedEncoder | PreTraining, dtype: torch.dtype, words: torch.dtype
) -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = {}
    family = model.config.family
    head = "BertForPreTraining" if isinstance(model, VocabularyHead) else _class_of(model)
    in_unit = model.own_head if isinstance(model, SequenceClassifier) and model.unit != PLAIN else {}
    for own, value in {**model.state_dict(), **in_unit}.items():
        published = [family.own_name(name, head) for name in names.published_names(own, family.stacks)]
        kind = words if own.endswith(_WORDS) else torch.float32 if own in in_unit else dtype
        rows = value.detach().to("cpu", kind).chunk(len(published))
        tensors.update(zip(published, rows, strict=True))
    return family.restored(tensors, model.config)


def _class_of(model: Bert | HeadedEncoder | PreTraining) -> str:
    """Return BERT's published class for a model."""
    if isinstance(model, PreTraining):
        return "BertForPreTraining"
    return model.architecture if isinstance(model, HeadedEncoder) else "BertModel"


def _config_document(model: Bert | HeadedEncoder | PreTraining, dtype: torch.dtype) -> dict[str, Any]:
    document = model.config.to_json()
    document.pop("torch_dtype", None)  # the older name of dtype
    document["dtype"] = str(dtype).removeprefix("torch.")
    document["architectures"] = [model.config.family.own_class(_class_of(model))]
    if not (isinstance(model, HeadedEncoder) and model.mix):
        document.pop("layer_mix", None)
    document.pop("problem_type", None)
    if not isinstance(model, SequenceClassifier):
        document.pop("pooling", None)
    if isinstance(model, SequenceClassifier):
        document["problem_type"] = model.config.problem
    if isinstance(model, VocabularyHead):
        document["tie_word_embeddings"] = not model.config.family.has_decoder  # whatever an older one said
    return document
