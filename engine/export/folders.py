"""A model as a folder for other libraries: transformers' own layout, and what sentence-transformers adds.

Not to be broken: the new folder is there whole or not at all, and was opened again before: the same answers.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.errors import ModelError, Sentence, UserError, marked, some_of
from engine.events import Progress, Steps
from engine.export.card import CARDS, Use, write_card
from engine.export.heads import example, graph_of
from engine.export.place import ExportResult, check_new, exported_folder, folder_bytes
from engine.export.runtime import ours
from engine.files import file_in
from engine.inspect.embeddings.vectors import SENTENCE, PoolingConfig, embed
from engine.inspect.example_texts import topics_for
from engine.inspect.loaded_model import LoadedModel
from engine.model import names
from engine.model.folder import (
    ENCODER_WEIGHTS,
    MODEL_FILES,
    StoredWeights,
    open_weights,
    read_json,
    write_json,
)
from engine.model.own_encoder import encoder_of, open_encoder_weights
from engine.model.sentence_files import MODULES, POOLINGS, SETTINGS, SentenceConfig, read_sentence_files
from engine.model.source import StoredModel
from engine.model.tensor_files import save_tensors
from engine.model.weights import head_of, read_config
from engine.text.read_tokenizer import read_tokenizer

OpensWeights = Callable[[Path], AbstractContextManager[StoredWeights]]
SENTENCE_FILES = {MODULES, SETTINGS, "config_sentence_transformers.json", "1_Pooling", "2_Normalize"}
TRANSFORMERS = Use(
    "transformers",
    "```python\nfrom transformers import AutoModel, AutoTokenizer\n\n"
    'tokenizer, model = AutoTokenizer.from_pretrained("."), AutoModel.from_pretrained(".")\n'
    'found = model(**tokenizer("A text", truncation=True, return_tensors="pt"))\n```',
)
SENTENCES = Use(
    "sentence-transformers",
    "```python\nfrom sentence_transformers import SentenceTransformer\n\n"
    'vectors = SentenceTransformer(".").encode(["A text"])\n```',
    task="sentence-similarity",
)
USUAL_LENGTH = 512  # WordPieces of a text, where nobody has said how many
# how plain names begin
_OF_ENCODER = (
    *("embeddings.", "embeddings_project.", "encoder.layer.", "encoder.final_norm."),
    *("encoder.last_norm.", "encoder.rel_embeddings.", "encoder.LayerNorm."),
)
_TOLERANCE = 1e-5  # of a value of a vector, by its length
_OTHERWISE = marked("engine", "The copy of {folder} answers differently, so nothing was kept.")
_NO_SUCH_HEAD = marked(
    "engine",
    "This model’s head reads {what}, which transformers’ code does not. Export it to ONNX, which holds all "
    "of it.",
)
_READS_MEANS = marked("engine", "the mean of all tokens")
_READS_MIX = marked("engine", "a mix of all layers")
_OWN_ENCODER = marked(
    "engine",
    "{file} is read by Cloze alone: the layers of {name}, for whole texts. Other programs read the layers "
    "that guess words.",
)
_WRITING = marked("engine", "Writing")
_CHECKING = marked("engine", "Checking")


def writing_folder(folder: Path, out: Path) -> Steps[ExportResult]:
    """Write a model as transformers opens it, into a new folder or over an earlier export; yields Progress.

    Weights keep their bits and their type; names of old files become those of today.
    Raises: UserError: `out` is there already, or cannot be written, or transformers has no such head.
    ModelError.
    """
    config = read_config(folder)
    is_pooled = config.pooling in config.family.pools
    if config.layer_mix or not is_pooled:
        raise UserError(_NO_SUCH_HEAD, what=Sentence(_READS_MIX if is_pooled else _READS_MEANS))
    check_new(out, {*MODEL_FILES, *CARDS})
    yield Progress(stage=_WRITING, done=0, total=0)
    with exported_folder(out) as beside:
        left = put_model(folder, beside)
        yield Progress(stage=_CHECKING, done=0, total=0)
        check_same(folder, beside)
        said = (Sentence(marked("engine", "Reopened: the answers are identical, to the last bit.")), *left)
        write_card(folder, beside, said, TRANSFORMERS)
    return ExportResult(out, folder_bytes(out), said)


def writing_sentence_folder(
    folder: Path, out: Path, pooling: str = "", is_normed: bool | None = None
) -> Steps[ExportResult]:
    """Write an encoder as sentence-transformers opens it, releases 2 to 6; yields Progress.

    Args:   pooling: "mean", "cls" or "max"; "": the model's own, else the mean. is_normed: whether vectors
            are set to length 1; None: as the model's own files say, else no.
    Raises: UserError: as `writing_folder`, or no such pooling. ModelError.
    """
    check_new(out, {*MODEL_FILES, *SENTENCE_FILES, *CARDS})
    how = how_pooled(folder, pooling, is_normed)
    yield Progress(stage=_WRITING, done=0, total=0)
    with exported_folder(out) as beside:
        tensors, config = by_plain_names(folder, open_encoder_weights)
        family = read_config(folder).family
        encoder = {
            family.own_name(plain): value.float()
            for plain, value in tensors.items()
            if names.part_of(plain) in ("encoder", "pooler")
        }
        for key in ("id2label", "label2id", "problem_type", "pooling", "layer_mix", "torch_dtype"):
            config.pop(key, None)
        write_json(
            beside / "config.json",
            {**config, "architectures": [family.own_class("BertModel")], "dtype": "float32"},
        )
        save_tensors(beside / "model.safetensors", encoder)
        read_tokenizer(folder).save(beside, model_max_length=how.max_length)
        put_sentence_files(beside, how, config["hidden_size"])
        difference = yield from _compared(folder, beside, how)
        template = marked(
            "engine",
            "Reopened: the vectors of {count} texts agree ({pooling}) within {difference:.0e}.",
        )
        same = marked("engine", "Reopened: the vectors of {count} texts agree ({pooling}), to the last bit.")
        values = {"count": len(_texts(folder)), "pooling": how.pooling, "difference": difference}
        said = (Sentence(template if difference else same, values),)
        write_card(folder, beside, said, SENTENCES)
    return ExportResult(out, folder_bytes(out), said)


def put_model(folder: Path, out: Path) -> list[Sentence]:
    """Write config.json, weights, vocabulary and notes of a model into a folder; return what was left out."""
    wordpiece, left = read_tokenizer(folder), list[Sentence]()
    config, weights = file_in(folder, "config.json"), file_in(folder, "model.safetensors")
    assert config is not None  # it has a vocabulary's size, which was asked for
    opened = read_config(folder)
    if weights is not None and read_json(config).get("model_type") == opened.model_type:
        if code := opened.family.code:
            write_json(out / "config.json", {**read_json(config), "auto_map": code})
        else:
            shutil.copyfile(config, out / "config.json")
        shutil.copyfile(weights, out / "model.safetensors")
    else:
        tensors, document = by_plain_names(folder)
        write_json(out / "config.json", document)
        own = partial(opened.family.own_name, head=head_of(opened))
        named = {own(names.full_name(plain)): value for plain, value in tensors.items()}
        save_tensors(out / "model.safetensors", named)
        left = list(_left_out(folder, tensors))
    wordpiece.save(out, model_max_length=graph_of(folder).max_length)
    if (notes := file_in(folder, "cloze.json")) is not None:
        shutil.copyfile(notes, out / "cloze.json")
    if name := encoder_of(folder):
        with open_encoder_weights(folder) as stored:
            shutil.copyfile(stored.files[-1], out / ENCODER_WEIGHTS)
        left.append(Sentence(_OWN_ENCODER, {"file": ENCODER_WEIGHTS, "name": name}))
    return left


def put_sentence_files(out: Path, how: SentenceConfig, width: int) -> None:
    """Write what sentence-transformers reads beside a model, by the names that all its releases know."""
    kinds = ["Transformer", "Pooling", *(["Normalize"] if how.is_normed else [])]
    table = [
        {
            "idx": place,
            "name": str(place),
            "path": f"{place}_{kind}" if place else "",
            "type": f"sentence_transformers.models.{kind}",
        }
        for place, kind in enumerate(kinds)
    ]
    for one in table[1:]:
        (out / str(one["path"])).mkdir()
        write_json(out / str(one["path"]) / "config.json", {})
    flags = {flag: name == how.pooling for name, flag in POOLINGS.items()}
    (out / MODULES).write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")
    write_json(out / "1_Pooling" / "config.json", {"word_embedding_dimension": width, **flags})
    write_json(out / SETTINGS, {"max_seq_length": how.max_length, "do_lower_case": False})
    about: dict[str, Any] = {
        "__version__": {},
        "prompts": {},
        "default_prompt_name": None,
        "similarity_fn_name": "cosine",
    }
    write_json(out / "config_sentence_transformers.json", about)


def by_plain_names(
    folder: Path, opened: OpensWeights = open_weights
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return a model's tensors by BERT's plain names, as they are stored, and its config.json.

    What Cloze has no use for is left out. Args: opened: open_encoder_weights for what reads whole texts.
    Raises: ModelError.
    """
    config, tensors = read_config(folder), dict[str, Tensor]()
    with opened(folder) as stored:
        source = StoredModel(stored, config)
        known = {plain for plain in source.plain.values() if is_known(plain) and not names.is_buffer(plain)}
        has_other = source.other_classifier is not None
        if has_other:  # of which BERT has the half
            known = {plain for plain in known if names.part_of(plain) != "classifier"}
        for name, plain in source.plain.items():
            info = stored.infos[name]
            if plain in known and info.dtype is not None and info.dtype.is_floating_point:
                value = torch.empty(info.shape, dtype=info.dtype)
                stored.read_into(name, value)
                tensors[plain] = value
        for plain in source.family.at_zero:
            tensors.setdefault(plain, torch.zeros(config.type_vocab_size, config.hidden_size))
    document = config.to_json()
    if has_other:
        document = {key: value for key, value in document.items() if key not in ("id2label", "label2id")}
    return tensors, document


def is_known(plain: str) -> bool:
    """Whether a weight, by its plain name, is one that is used."""
    return names.part_of(plain) != "encoder" or plain.startswith(_OF_ENCODER)


def check_same(folder: Path, other: Path) -> None:
    """Refuse a copy that answers otherwise. Raises: ModelError."""
    config = read_config(folder)
    batch = example(3, min(23, config.max_position_embeddings), config.vocab_size, seed=2)
    here, there = (ours(graph_of(one), batch) for one in (folder, other))
    if not all(np.array_equal(one, two) for one, two in zip(here, there, strict=True)):
        raise ModelError(_OTHERWISE, folder=folder)


def how_pooled(folder: Path, pooling: str = "", is_normed: bool | None = None) -> SentenceConfig:
    """Return how vectors are to be made: as asked, else as the model says. Raises: UserError."""
    own = read_sentence_files(folder)[0] or SentenceConfig("mean")
    if pooling and pooling not in POOLINGS:
        template = marked("engine", "There is no pooling named {kind}. Choose one of: {kinds}.")
        raise UserError(template, kind=pooling, kinds=list(POOLINGS))
    longest = read_config(folder).max_position_embeddings
    return SentenceConfig(
        pooling or own.pooling,
        own.is_normed if is_normed is None else is_normed,
        min(own.max_length or USUAL_LENGTH, longest),
    )


def _texts(folder: Path) -> Sequence[str]:
    return [text for _, text in topics_for(read_tokenizer(folder)).sentences]


def _compared(folder: Path, out: Path, how: SentenceConfig) -> Steps[float]:
    """Return how far the vectors of a new folder are from the model's own. Raises: ModelError: too far."""
    texts, vectors = _texts(folder), []
    for place in (folder, out):
        subject = LoadedModel.open(place, "cpu")
        if place == folder:
            about = dataclasses.replace(subject.about, sentence=how)
            subject = dataclasses.replace(subject, about=about)
        found = yield from embed(subject, texts, [PoolingConfig(SENTENCE)])
        vectors.append(found.vectors[0])
    longest = np.linalg.norm(vectors[0], axis=1).max()
    difference = float(np.abs(vectors[0] - vectors[1]).max() / max(longest, 1e-9))
    if not difference <= _TOLERANCE:
        raise ModelError(_OTHERWISE, folder=folder)
    return difference


def _left_out(folder: Path, tensors: Collection[str]) -> Iterator[Sentence]:
    with open_weights(folder) as stored:
        plain = StoredModel(stored, read_config(folder)).plain
    left = [name for name, own in plain.items() if own not in tensors and not names.is_buffer(own)]
    if left:
        template = marked("engine", "Ignored because BERT has no use for them: {names} ({count} tensors).")
        yield Sentence(template, {"names": some_of(left, 3), "count": len(left)})
