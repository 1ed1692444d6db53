"""Everything a run settles before its first step: texts to ids, labels, the split, kept in the run's setup/
folder.

A run is resumed from what is kept here, never from the table again, so that it continues on the same examples
even when the file has changed since.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from engine.errors import ConfigError, DataError, ModelError, Sentence, marked
from engine.events import Event, Noted, Progress, Steps
from engine.model.config import PRESETS, BertConfig
from engine.model.weights import check_weights, load_tensors, read_config, save_tensors
from engine.settings.finetune import DataConfig, FineTuneConfig
from engine.text.batch import ARRAYS, EncodedSet
from engine.text.example_rows import ExampleRows, Indices
from engine.text.examples import Examples, Roles, finding_examples, stratified_split
from engine.text.labels import spelling_note
from engine.text.table import Table, reading_table, reported_note
from engine.text.wordpiece import WordPiece
from engine.train import data_notes
from engine.train.adapt import check_adapt
from engine.train.run.setup import RunSetup, read_setup

_KINDS = {  # of what a run that goes on reads in its setup.json
    "labels": tuple[str, ...],
    "cut_share": float,
    "data": dict,
    "recipe": dict,
    "chain": tuple[dict, ...],
}
SPLITS = ("train", "validation", "test")
TEXTS_AT_ONCE = 512  # encoded between two yields
_ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Setup(RunSetup):
    """What fine-tuning stands on. sets: by name in SPLITS, empty ones left out."""

    labels: tuple[str, ...]
    sets: dict[str, EncodedSet]

    def write_data(self, folder: Path) -> None:
        """Write the encoded texts."""
        tensors = {
            f"{split}/{name}": torch.from_numpy(np.ascontiguousarray(getattr(data, name)))
            for split, data in self.sets.items()
            for name in ARRAYS
        }
        save_tensors(folder / "data.safetensors", tensors)

    @classmethod
    def load(cls, folder: Path) -> Setup:
        """Read what `save` wrote. Raises: ModelError if it is damaged."""
        about = read_setup(folder, _KINDS)
        config, wordpiece = read_config(folder), WordPiece.from_folder(folder)
        tensors = load_tensors(folder / "data.safetensors")
        sets = {
            split: EncodedSet.from_arrays({name: tensors[f"{split}/{name}"].numpy() for name in ARRAYS})
            for split in SPLITS
            if all(f"{split}/{name}" in tensors for name in ARRAYS)
        }
        labels = tuple(about["labels"])
        fits = len(config.id2label) == len(labels)
        fits = fits and all(one.fits(config.vocab_size, len(labels)) for one in sets.values())
        if "train" not in sets or not fits:
            raise ModelError(
                marked(
                    "engine",
                    "{path} is damaged: texts, vocabulary and labels in it do not belong together. Start the "
                    "run again.",
                ),
                path=folder,
            )
        return cls(config, wordpiece, about, labels, sets)


def starting_config(config: FineTuneConfig) -> BertConfig:
    """Return the shape of the model a run starts from, reading little. Raises: ConfigError, ModelError."""
    model = config.model.model
    if not model:
        raise ConfigError(
            marked("engine", "No model was chosen. Give a model folder, or new:mini for random weights."),
            field="model",
        )
    if not model.startswith("new:"):
        check_weights(Path(model))
        return read_config(Path(model))
    if not config.model.vocab:
        raise ConfigError(
            marked("engine", "A model from random weights needs a vocabulary. Give a vocab.txt."),
            field="vocab",
        )
    preset = model.removeprefix("new:")
    if preset not in PRESETS:
        raise ConfigError(
            marked("engine", "{field} is {value}; after new: can stand {names}."),
            field="model",
            value=model,
            names=", ".join(PRESETS),
        )
    return BertConfig.preset(preset)


def starting_tokenizer(config: FineTuneConfig) -> WordPiece:
    """Return the tokenizer a run starts from. Raises: DataError, ModelError."""
    if not config.model.model.startswith("new:"):
        return WordPiece.from_folder(Path(config.model.model))
    lowercase = {"": None, "yes": True, "no": False}[config.model.lowercase]
    return WordPiece.from_vocab(Path(config.model.vocab), lowercase=lowercase)


def prepare(config: FineTuneConfig) -> Generator[Event, None, Setup]:
    """Read, check, encode and split; a generator of events whose return value is the `Setup`.

    Raises: DataError, ModelError, ConfigError in one sentence, before long work.
    """
    data = config.data
    shape = starting_config(config)
    wordpiece = starting_tokenizer(config)
    if config.model.model.startswith("new:"):
        shape = dataclasses.replace(shape, vocab_size=wordpiece.vocab_size, pad_token_id=wordpiece.pad_id)
    check_lengths(data, shape, wordpiece)
    check_adapt(config, shape)
    shape = dataclasses.replace(shape, layer_mix=shape.layer_mix or config.adapt.layer_mix)
    yield Progress(stage=marked("engine", "Reading"), done=0, total=0)
    yield from _ignored(config)
    table = yield from opening_table(data, data.data, "data")
    roles = roles_of(data, table)
    found = yield from finding_examples(table, roles, merge=data.merge_labels, whole_labels=data.whole_labels)
    yield from _report(found, table)
    labels = found.labels
    parts = split_of(data, found)
    examples = {
        name: found.examples.take(part) for name, part in zip(SPLITS, parts, strict=True) if len(part)
    }
    read = [(table, found)]
    for name, path in (("validation", data.validation_data), ("test", data.test_data)):
        if path:
            other, apart = yield from _apart(data, path, f"{name}_data", labels)
            yield from _report(apart, other)
            examples[name] = apart.examples
            read.append((other, apart))
    if not examples.get("train"):
        raise DataError(marked("engine", "No rows are left to train on."))
    for one, usable in read:
        yield from data_notes.on_rows(one.path.name, usable.examples)
    yield from data_notes.on_parts(examples)
    sets, cut_share = yield from _encoded(data, examples, wordpiece)
    about = _about(config, table, roles, labels, parts, cut_share)
    about["reported"] = _reported(*read)
    about["merge_labels"] = data.merge_labels
    if data.merge_labels:
        about["merged_labels"] = _merged(*read)
    return Setup(dataclasses.replace(shape, id2label=labels), wordpiece, about, labels, sets)


def _encoded(
    data: DataConfig, examples: Mapping[str, ExampleRows], wordpiece: WordPiece
) -> Steps[tuple[dict[str, EncodedSet], float]]:
    """Return each part as ids, and the share of the texts to train on that was cut, 0..1."""
    sets: dict[str, EncodedSet] = {}
    cut = 0
    for name, chosen in examples.items():
        sets[name], num_cut = yield from encode(chosen, wordpiece, data.max_length, data.truncation)
        cut = num_cut if name == "train" else cut
    yield from data_notes.on_cut(cut, len(examples["train"]), data.max_length)
    return sets, cut / len(examples["train"])


def _apart(data: DataConfig, path: str, field: str, labels: tuple[str, ...]) -> Steps[tuple[Table, Examples]]:
    """Read a table of its own for validation or test. Raises: ConfigError naming the setting."""
    try:
        table = yield from opening_table(data, path, field)
        roles = roles_of(data, table)
        return table, (yield from finding_examples(table, roles, labels, merge=data.merge_labels))
    except DataError as error:
        template = marked("engine", "{field}: {reason}")
        raise ConfigError(template, field=field, reason=error.sentence) from error


def split_of(data: DataConfig, found: Examples) -> list[Indices]:
    """Return the examples of each of SPLITS that the settings draw from the table itself."""
    known = found.examples.labels.astype(np.int64)
    shares = (
        0.0 if data.validation_data else data.validation_share,
        0.0 if data.test_data else data.test_share,
    )
    return stratified_split(known, shares, data.split_seed)


def encode(
    examples: ExampleRows, wordpiece: WordPiece, max_length: int, truncation: str
) -> Steps[tuple[EncodedSet, int]]:
    """Cut texts into WordPieces; a generator whose return value is (EncodedSet, how many texts were cut)."""
    ids = bytearray()  # of all texts end to end: as arrays of their own they take 100 bytes more each
    bounds = np.zeros(len(examples) + 1, np.int64)
    num_a = np.zeros(len(examples), np.int32)
    place = num_cut = 0
    for some in examples.blocks(TEXTS_AT_ONCE):
        yield Progress(stage=marked("engine", "Tokenizing"), done=place, total=len(examples))
        texts, seconds = wordpiece.encode_ids(some.texts()), some.pairs()
        pairs = [None] * len(texts) if seconds is None else wordpiece.encode_ids(seconds)
        for text, pair in zip(texts, pairs, strict=True):
            one, num_a[place], cut = wordpiece.assemble(text, pair, max_length, truncation)
            ids += one.tobytes()
            place += 1
            bounds[place] = len(ids) // one.itemsize
            num_cut += cut > 0
    targets = examples.labels.astype(np.int64)
    return EncodedSet(np.frombuffer(ids, np.int32), bounds, num_a, targets, examples.rows), num_cut


def opening_table(data: DataConfig, path: str, field: str) -> Steps[Table]:
    """Read a table as the settings say, step by step. Raises: ConfigError if no path is given; DataError."""
    if not path:
        raise ConfigError(
            marked("engine", "No data was chosen. Give a CSV, TSV or JSON lines file."), field=field
        )
    return (
        yield from reading_table(
            path, encoding=data.encoding, separator=data.separator, quoting=data.quoting, header=data.header
        )
    )


def roles_of(data: DataConfig, table: Table) -> Roles:
    """Return the column roles the settings name, by column name. Raises: DataError, ConfigError."""
    for field in ("text", "label"):
        if not getattr(data, field):
            raise ConfigError(
                marked("engine", "No column was chosen for {field}. The columns are: {columns}."),
                field=field,
                columns=list(table.columns),
            )
    pair = table.column(data.text_pair) if data.text_pair else ""
    return Roles(table.column(data.text), pair, table.column(data.label))


def check_lengths(data: DataConfig, shape: BertConfig, wordpiece: WordPiece) -> None:
    """Refuse a length or a vocabulary the model has no embeddings for. Raises: ConfigError, ModelError."""
    if data.max_length > shape.max_position_embeddings:
        raise ConfigError(
            marked("engine", "{field} is {value}, but the model has positions for {most} WordPieces."),
            field="max_length",
            value=data.max_length,
            most=shape.max_position_embeddings,
        )
    least = 5 if data.text_pair else 3
    if data.max_length < least:
        raise ConfigError(
            marked("engine", "{field} is {value}; with the special tokens it must be at least {least}."),
            field="max_length",
            value=data.max_length,
            least=least,
        )
    check_fit(shape, wordpiece, with_pair=bool(data.text_pair))


def check_fit(shape: BertConfig, wordpiece: WordPiece, *, with_pair: bool) -> None:
    """Refuse ids or segments the model has no embeddings for. Raises: ModelError."""
    if with_pair and shape.type_vocab_size < 2:
        raise ModelError(
            marked(
                "engine", "The model knows one segment only, so it cannot read pairs. Choose another model."
            )
        )
    check_rows(shape, wordpiece)


def check_rows(shape: BertConfig, wordpiece: WordPiece) -> None:
    """Refuse a vocabulary that has more pieces than the model has embeddings. Raises: ModelError."""
    if wordpiece.vocab_size > shape.vocab_size:
        raise ModelError(
            marked(
                "engine",
                "The vocabulary has {tokens} tokens, but the model has embeddings for {rows}: they do not "
                "belong together.",
            ),
            tokens=wordpiece.vocab_size,
            rows=shape.vocab_size,
        )


def _report(found: Examples, table: Table) -> Iterator[Event]:
    for note in (*table.notes, *found.notes):
        yield Noted(sentence=note)
    if found.spellings:
        note = spelling_note(table, found.spellings, is_merged=found.is_merged)
        yield Noted(sentence=note, level="fine" if found.is_merged else "look")
    lost = (*table.reported, *found.reported)
    if lost:
        yield Noted(sentence=reported_note(table.path.name, lost))


def _reported(*read: tuple[Table, Examples]) -> list[dict[str, Any]]:
    """Return every line that is not used, for setup/setup.json."""
    return [
        {"file": table.path.name, "line": bad.line, "reason": str(bad.sentence)}
        for table, found in read
        for bad in (*table.reported, *found.reported)
    ]


def _merged(*read: tuple[Table, Examples]) -> list[dict[str, Any]]:
    """Return which labels were read as another one, for setup/setup.json and cloze.json."""
    return [
        {"file": table.path.name, "from": each.label, "to": each.kept, "rows": len(each.rows)}
        for table, found in read
        for each in found.spellings
    ]


def _ignored(config: FineTuneConfig) -> Iterator[Event]:
    """Say which settings have no effect."""
    data, model = config.data, config.model
    no_validation = not data.validation_data and not data.validation_share
    for name, is_ignored, reason in (
        (
            "early_stopping_patience",
            config.training.early_stopping_patience and no_validation,
            marked("engine", "there is no validation data"),
        ),
        (
            "vocab",
            model.vocab and not model.model.startswith("new:"),
            marked("engine", "the model folder has its own"),
        ),
        (
            "lowercase",
            model.lowercase and not model.model.startswith("new:"),
            marked("engine", "the model folder says so itself"),
        ),
    ):
        if is_ignored:
            template = marked("engine", "The setting {name} has no effect: {reason}.")
            yield Noted(sentence=Sentence(template, {"name": name, "reason": Sentence(reason)}))


def _about(
    config: FineTuneConfig,
    table: Table,
    roles: Roles,
    labels: tuple[str, ...],
    parts: Sequence[np.ndarray],
    cut_share: float,
) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "task": "classification",
        "labels": list(labels),
        "roles": {"text": roles.text, "text_pair": roles.text_pair, "label": roles.label},
        "max_length": config.data.max_length,
        "truncation": config.data.truncation,
        "split": {
            "validation_share": config.data.validation_share,
            "test_share": config.data.test_share,
            "seed": config.data.split_seed,
            "rows": [len(part) for part in parts],
            "sha256": _sha256(parts),
        },
        "data": {"name": table.path.name, "sha256": table.sha256, "rows": table.num_rows},
        "base_model": config.model.model,
        "cut_share": cut_share,
    }


def _sha256(parts: Sequence[np.ndarray]) -> str:
    """Return the hash of the rows of each part as JSON, of which there is never more than a piece."""
    hasher = hashlib.sha256()
    for number, part in enumerate(parts):
        hasher.update(b", [" if number else b"[[")
        for start in range(0, len(part), _ROWS_AT_ONCE):
            some = json.dumps(part[start : start + _ROWS_AT_ONCE].tolist())[1:-1]
            hasher.update(f", {some}".encode() if start else some.encode())
        hasher.update(b"]")
    hasher.update(b"]")
    return hasher.hexdigest()
