"""Everything a run settles before its first step: texts to ids, labels, the split, kept in the run's setup/
folder.

A run is resumed from what is kept here, never from the table again, so that it continues on the same examples
even when the file has changed since.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch

from engine.errors import ConfigError, DataError, ModelError, Sentence, marked
from engine.events import Event, Progress, Steps
from engine.model.config import PRESETS, BertConfig
from engine.model.own_encoder import encoder_of
from engine.model.weights import check_weights, load_tensors, read_config, save_tensors
from engine.settings.finetune import DataConfig, FineTuneConfig
from engine.text.batch import EncodedRows
from engine.text.example_rows import ExampleRows, Indices
from engine.text.examples import stratified_split
from engine.text.inside_texts import labels_inside
from engine.text.read_tokenizer import read_tokenizer
from engine.text.reading.kinds import A_TABLE
from engine.text.recipe import read_recipe
from engine.text.roles import USUAL, Role, Roles, columns_named
from engine.text.table import Table, reading_table
from engine.text.tokenizer import Tokenizer
from engine.text.wordpiece import WordPiece
from engine.train import data_notes
from engine.train.adapt import check_adapt
from engine.train.run.setup import RunSetup, read_setup

_KINDS = {  # of what a run that goes on reads in its setup.json
    "task": str,
    "labels": tuple[str, ...],
    "cut_share": float,
    "data": dict,
    "recipe": dict,
    "chain": tuple[dict, ...],
}
BASE_LAYERS = "base_layers"  # in cloze.json beside base_model: whose layers those were, if not its own
SPLITS = ("train", "validation", "test")
TEXTS_AT_ONCE = 512  # encoded between two yields
_ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Setup(RunSetup):
    """What fine-tuning stands on. sets: by name in SPLITS, empty ones left out. labels: of the head."""

    labels: tuple[str, ...]
    sets: dict[str, EncodedRows]
    set_kind: ClassVar[type[EncodedRows]] = EncodedRows

    @property
    def task(self) -> str:
        """The name of the task, as the table of tasks has it."""
        return str(self.about["task"])

    def belongs_together(self) -> bool:
        """Whether targets fit the labels, as far as can be seen."""
        return all(one.targets.max() < len(self.labels) for one in self.sets.values())

    def write_data(self, folder: Path) -> None:
        """Write the encoded texts."""
        tensors = {
            f"{split}/{name}": torch.from_numpy(np.ascontiguousarray(array))
            for split, data in self.sets.items()
            for name, array in data.arrays().items()
        }
        save_tensors(folder / "data.safetensors", tensors)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote. Raises: ModelError if it is damaged."""
        about = read_setup(folder, _KINDS)
        config, wordpiece = read_config(folder), read_tokenizer(folder)
        tensors = load_tensors(folder / "data.safetensors")
        sets: dict[str, EncodedRows] = {}
        for split in SPLITS:
            of_split = [name for name in tensors if name.startswith(f"{split}/")]
            found = {name.removeprefix(f"{split}/"): tensors[name].numpy() for name in of_split}
            with suppress(KeyError):
                sets[split] = cls.set_kind.from_arrays(found)
        made = cls(config, wordpiece, about, tuple(about["labels"]), sets, **cls.load_more(folder))
        fits = len(config.id2label) == len(made.labels)
        fits = fits and all(one.fits(config.vocab_size) for one in sets.values()) and made.belongs_together()
        if "train" not in sets or not fits:
            raise ModelError(
                marked(
                    "engine",
                    "{path} is damaged. Its texts, vocabulary and labels do not belong together. "
                    "Start the run again.",
                ),
                path=folder,
            )
        return made

    @classmethod
    def load_part(cls, folder: Path, split: str) -> EncodedRows | None:
        """Return one of the sets alone, with little else read; None where there is none like it.

        Raises: ModelError if it is damaged.
        """
        tensors = load_tensors(folder / "data.safetensors", f"{split}/")
        try:
            found = {name.removeprefix(f"{split}/"): one.numpy() for name, one in tensors.items()}
            part = cls.set_kind.from_arrays(found) if found else None
        except KeyError:
            return None
        return part if part is not None and part.fits(read_config(folder).vocab_size) else None

    @classmethod
    def load_more(cls, folder: Path) -> dict[str, Any]:
        """Return what a kind of setup has beside that, by the names of its fields. Raises: ModelError."""
        return {}


def starting(config: FineTuneConfig) -> tuple[BertConfig, Tokenizer]:
    """Return shape and tokenizer that a run starts from, once it is seen that they suit the settings.

    Raises: ConfigError, DataError, ModelError.
    """
    shape, wordpiece = starting_config(config), starting_tokenizer(config)
    if config.model.model.startswith("new:"):
        shape = dataclasses.replace(shape, vocab_size=wordpiece.vocab_size, pad_token_id=wordpiece.pad_id)
    check_lengths(config.data, shape, wordpiece)
    check_adapt(config, shape)
    adapt = config.adapt
    mixed, pooling = shape.layer_mix or adapt.layer_mix, shape.pooling or adapt.pooling
    return dataclasses.replace(shape, layer_mix=mixed, pooling=pooling), wordpiece


def with_length(config: FineTuneConfig, length: int) -> FineTuneConfig:
    """Return settings with a `max_length`: where none is asked for, this, or all that the model has.

    Raises: ConfigError, ModelError.
    """
    if config.data.max_length:
        return config
    length = min(length, starting_config(config).max_position_embeddings)
    return dataclasses.replace(config, data=dataclasses.replace(config.data, max_length=length))


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
            marked("engine", "A model with random weights needs a vocabulary. Give a vocab.txt."),
            field="vocab",
        )
    preset = model.removeprefix("new:")
    if preset not in PRESETS:
        raise ConfigError(
            marked("engine", "{field} is {value}; after new: use one of {names}."),
            field="model",
            value=model,
            names=list(PRESETS),
        )
    return BertConfig.preset(preset)


def starting_tokenizer(config: FineTuneConfig) -> Tokenizer:
    """Return the tokenizer a run starts from. Raises: DataError, ModelError."""
    if not config.model.model.startswith("new:"):
        return read_tokenizer(Path(config.model.model))
    return vocabulary_named(config.model.vocab, config.model.lowercase)


def vocabulary_named(path: str, lowercase: str) -> WordPiece:
    """Return the vocabulary that settings name, and how they say to clean text. Raises: DataError."""
    return WordPiece.from_vocab(Path(path), lowercase={"": None, "yes": True, "no": False}[lowercase])


def split_of(data: DataConfig, strata: Indices, together: Indices | None = None) -> list[Indices]:
    """Return the examples of each of SPLITS that the settings draw from the table itself.

    Args: strata: (E,) numbers, of each of which every part is to have its share. together: (E,) equal for
    examples that come into the same part, or None.
    """
    if together is None:
        return stratified_split(strata, data.drawn, data.split_seed)
    _, firsts, group = np.unique(together, return_index=True, return_inverse=True)
    part_of = np.zeros(len(firsts), np.int64)
    for place, groups in enumerate(stratified_split(strata[firsts], data.drawn, data.split_seed)):
        part_of[groups] = place
    return [np.flatnonzero(part_of[group] == place) for place in range(len(SPLITS))]


def encode(
    examples: ExampleRows, wordpiece: Tokenizer, max_length: int, truncation: str
) -> Steps[tuple[EncodedRows, int]]:
    """Cut texts into WordPieces; a generator whose return value is (EncodedRows, how many texts were cut)."""
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
    return EncodedRows(np.frombuffer(ids, np.int32), bounds, num_a, targets, examples.rows), num_cut


def opening_table(data: DataConfig, path: str, field: str) -> Steps[Table]:
    """Read a table as the settings say, with the mends of its recipe, step by step; of another table than the
    data a recipe only merges labels.

    Raises: ConfigError if no path is given; DataError.
    """
    if not path:
        template = marked("engine", "No data was chosen. Give {a_table}.")
        raise ConfigError(template, field=field, a_table=Sentence(A_TABLE))
    recipe = read_recipe(Path(data.recipe)) if data.recipe else None
    table = yield from reading_table(path, **data.how_of(field.removesuffix("_data")))
    if recipe is None:
        return table
    return recipe.applied(table) if field == "data" else recipe.merged(table)


@contextmanager
def of_setting(field: str) -> Iterator[None]:
    """Have a refusal of data name the setting that chose them. Raises: ConfigError in place of DataError."""
    try:
        yield
    except DataError as error:
        template = marked("engine", "{field}: {reason}")
        raise ConfigError(template, field=field, reason=error.sentence) from error


def roles_of(data: DataConfig, table: Table, asked: Sequence[Role] = USUAL) -> Roles:
    """Return the columns that the settings name for some roles, by name. Raises: DataError, ConfigError."""
    for field in (role.name for role in asked if role.is_needed):
        if not getattr(data, field):
            inside = labels_inside(table)
            if inside is not None:
                raise ConfigError(inside.template, field=field, **inside.values)
            raise ConfigError(
                marked("engine", "No column was chosen for {field}. The columns are: {columns}."),
                field=field,
                columns=list(table.columns),
            )
    return Roles(**{role.name: columns_named(table, getattr(data, role.name), role.most) for role in asked})


def check_lengths(data: DataConfig, shape: BertConfig, wordpiece: Tokenizer) -> None:
    """Refuse a length or a vocabulary the model has no embeddings for. Raises: ConfigError, ModelError."""
    check_positions(data.max_length, shape)
    least = 5 if data.text_pair else 3
    if data.max_length < least:
        raise ConfigError(
            marked("engine", "{field} is {value}; including the special tokens it must be at least {least}."),
            field="max_length",
            value=data.max_length,
            least=least,
        )
    check_fit(shape, wordpiece, with_pair=bool(data.text_pair))


def check_positions(length: int, shape: BertConfig) -> None:
    """Refuse a length that the model has no embeddings for. Raises: ConfigError."""
    if length > shape.max_position_embeddings:
        raise ConfigError(
            marked("engine", "{field} is {value}, but the model has positions for {most} pieces."),
            field="max_length",
            value=length,
            most=shape.max_position_embeddings,
        )


def check_fit(shape: BertConfig, wordpiece: Tokenizer, *, with_pair: bool) -> None:
    """Refuse ids or segments the model has no embeddings for. Raises: ModelError."""
    if with_pair and not shape.reads_pairs:
        raise ModelError(
            marked(
                "engine", "The model knows only one segment, so it cannot read pairs. Choose another model."
            )
        )
    check_rows(shape, wordpiece)


def check_rows(shape: BertConfig, wordpiece: Tokenizer) -> None:
    """Refuse a vocabulary that has more pieces than the model has embeddings. Raises: ModelError."""
    if wordpiece.vocab_size > shape.vocab_size:
        raise ModelError(
            marked(
                "engine",
                "The vocabulary has {tokens} tokens, but the model has embeddings for {rows}. "
                "They do not belong together.",
            ),
            tokens=wordpiece.vocab_size,
            rows=shape.vocab_size,
        )


def on_ignored(config: FineTuneConfig) -> Iterator[Event]:
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
            yield data_notes.without_effect(name, reason)


def about_data(
    config: FineTuneConfig, name: str, sha256: str, num_rows: int, parts: Sequence[np.ndarray]
) -> dict[str, Any]:
    """Return what cloze.json says of any task's data. Args: parts: which examples are in each of SPLITS."""
    data = config.data
    return {
        "schema_version": 1,
        "max_length": data.max_length,
        "truncation": data.truncation,
        "split": about_split(data, parts),
        "data": {"name": name, "sha256": sha256, "rows": num_rows},
        "base_model": config.model.model,
        **_about_layers(config.model.model),
    }


def _about_layers(model: str) -> dict[str, str]:
    """Return the name of the encoder that the model has of its own, whose layers the training begins with."""
    name = "" if model.startswith("new:") else encoder_of(Path(model))
    return {BASE_LAYERS: name} if name else {}


def about_split(data: DataConfig, parts: Sequence[np.ndarray]) -> dict[str, Any]:
    """Return what cloze.json says of how the data were split. Args: parts: as above."""
    return {
        "validation_share": data.validation_share,
        "test_share": data.test_share,
        "seed": data.split_seed,
        "rows": [len(part) for part in parts],
        "sha256": _sha256(parts),
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
