"""What the window's workers find out about a table and a model: plain Python that touches no Qt object."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from app.work.table_rows import DoubtfulRows, Rows, doubtful_rows
from app.work.titles import model_title, shape_words
from engine.errors import ConfigError, DataError, Sentence, marked
from engine.events import Event, Progress, Steps
from engine.model.config import PRESETS, BertConfig, count_parameters
from engine.model.info import encoder_in, read_info
from engine.model.weights import check_weights, read_config
from engine.settings.config import with_values
from engine.settings.finetune import USUAL_LABELS, DataConfig, FineTuneConfig
from engine.text.example_rows import ExampleRows, count_leaks, text_keys
from engine.text.examples import ExampleTable, LabelSettings, doubt_about_header
from engine.text.inside_texts import labels_inside
from engine.text.label_sets import likely_roles
from engine.text.labels import Spelling
from engine.text.languages import script_of_texts
from engine.text.read_tokenizer import read_tokenizer
from engine.text.recipe import Recipe
from engine.text.roles import Roles
from engine.text.table import BadLine, Table, reading_table
from engine.text.tokenizer import Tokenizer
from engine.text.wordpiece import WordPiece
from engine.train.prepare import split_of
from engine.train.tasks.known import guess_task, of_rows
from engine.train.tasks.rows.reading import RowReading

CHUNK = 1000  # texts between two yields
NEW = "new:"
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\s\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model as it is chosen: what its folder says, without its weights."""

    model: str  # as the setting: a folder, or new:PRESET
    vocab: str
    config: BertConfig
    wordpiece: Tokenizer
    info: dict[str, Any] = field(default_factory=dict)  # cloze.json

    @property
    def is_new(self) -> bool:
        """Whether it starts from random weights."""
        return self.model.startswith(NEW)

    @property
    def name(self) -> str:
        """What it is called: the preset's name where it starts from random weights."""
        if self.is_new:
            return self.model.removeprefix(NEW)
        return model_title(self.model)

    @property
    def size_words(self) -> str:
        """Layers and width: 4×256."""
        return shape_words(self.config)

    @property
    def words(self) -> str:
        """Name and size, as a line has it."""
        return f"{self.name} · {self.size_words}"

    @property
    def encoder_name(self) -> str:
        """What the encoder is called that it has of its own for whole texts; "": one model does both."""
        return encoder_in(self.info)

    @property
    def num_parameters(self) -> int:
        return sum(count_parameters(self.config).values())

    @property
    def max_length_limit(self) -> int:
        return self.config.max_position_embeddings

    @property
    def trained_labels(self) -> tuple[str, ...]:
        """The labels it was fine-tuned for; empty for a plain encoder."""
        return tuple(self.info.get("labels", ()))


@dataclass(frozen=True, slots=True)
class TableSummary:
    """What is known of a table in its roles, with the lengths that the chosen model's vocabulary gives."""

    task: str
    reason: (
        Sentence | None
    )  # why it is taken for that task; None where a person said so, or nothing else fits
    doubt: Sentence | None  # where the header and the cells do not fit each other
    roles: Roles
    num_rows: int
    num_examples: int
    reported: tuple[BadLine, ...]  # rows that cannot be used: no text, no label
    num_mended_out: int  # rows that a recipe leaves out
    refusal: Sentence | None  # why nothing can be learned from it as it is: one class only, no usable row
    notes: tuple[Sentence, ...]
    form: Sentence | None  # how the labels were read, where that had to be found out
    labels: tuple[str, ...]
    counts: np.ndarray  # (C,) int64, rows of each label
    is_side_by_side: bool  # whether a row may have several of them
    numbers: np.ndarray | None  # (E,) of each row, where they tell of the data what counted labels would
    spellings: tuple[Spelling, ...]  # nearly equal labels
    is_merged: bool  # whether they are counted as one
    is_whole: bool  # whether labels that look like several in one are taken as they stand
    doubtful: DoubtfulRows
    num_leaking: int  # validation rows whose text is in training too, with the default split
    rows: Rows  # (E,) the table's row of each example
    lengths: np.ndarray  # (E,) int64, special tokens included when in pieces
    unit: str  # "pieces" or "words"
    unknown_share: float | None  # 0..1 of all pieces; None when in words
    script: str  # that most letters of the first texts are in: a marked template
    reads_windows: bool = False  # whether a long text is read in windows, and not cut

    @property
    def chooses_one(self) -> bool:
        """Whether a row has one of the labels: not several of them, nor a number."""
        return self.form is None

    @property
    def num_duplicates(self) -> int:
        """How many rows repeat an earlier text."""
        return self.doubtful.num_repeats

    @property
    def num_contradicting(self) -> int:
        """How many texts carry more than one label."""
        return self.doubtful.num_contradicting

    @property
    def shown_labels(self) -> tuple[str, ...]:
        """The labels, those that look like another one so that they can be told from it."""
        odd = {} if self.is_merged else {each.label: each.seen[0] for each in self.spellings}
        return tuple(odd.get(label, label) for label in self.labels)

    @property
    def is_pair(self) -> bool:
        return bool(self.roles.text_pair)

    def cut_share(self, max_length: int) -> float:
        """Return the share, 0..1, of texts longer than `max_length`."""
        is_cut = self.lengths.size and not self.reads_windows
        return float((self.lengths > max_length).mean()) if is_cut else 0.0

    def num_tokens(self, max_length: int) -> int:
        """Return the tokens of one pass over all examples, cut at `max_length`."""
        lengths = self.lengths if self.reads_windows else np.minimum(self.lengths, max_length)
        return int(lengths.sum())


def open_table(
    path: Path, overrides: dict[str, str], roles: Roles | None, task: str = ""
) -> Steps[tuple[Table, Roles]]:
    """Return the table in `path` and its roles: those given where their columns exist, and its task needs no
    others, else a guess. Args: task: what a person said it is for; "": what it looks like.

    Raises: DataError.
    """
    table = yield from reading_table(path, **overrides)
    kept = roles if roles and all(column in table.columns for column in roles.columns) else Roles()
    kind, _ = guess_task(_settings(table, kept, {"task": task, **overrides}))
    reading = of_rows(kind).reading
    lacks = any(role.most > 1 and role.name not in kept for role in reading.roles)
    if kept and not lacks:
        return table, kept
    return table, reading.likely(table) or kept or likely_roles(table)


def _settings(table: Table, roles: Roles, said: Mapping[str, Any]) -> DataConfig:
    """Return the settings of a table with its roles, and what a person said."""
    found: DataConfig = with_values(
        FineTuneConfig(), {"data": str(table.path), **roles.settings(), **said}
    ).data
    return found


def read_model(model: str, vocab: str, lowercase: str) -> ModelInfo:
    """Return what is known of a folder or of new:PRESET. Raises: ModelError, ConfigError."""
    return _new_model(model, vocab, lowercase) if model.startswith(NEW) else _folder_model(model)


def summary(
    table: Table,
    roles: Roles,
    model: ModelInfo | None,
    *,
    task: str = "",
    overrides: Mapping[str, str] | None = None,
    merge_labels: bool = False,
    whole_labels: bool = False,
    max_labels: int = USUAL_LABELS,
    recipe: Recipe | None = None,
) -> Generator[Event, None, TableSummary]:
    """Return the `TableSummary` of a table, step by step; what cannot be trained on is still measured.

    Args: task: what a person said it is for; "": what it looks like. overrides: how it was read. recipe: the
    mends to apply before. Raises: DataError.
    """
    table = table if recipe is None else recipe.applied(table)
    choices = {"task": task, "whole_labels": whole_labels, "max_labels": max_labels, **(overrides or {})}
    kind, reason = guess_task(_settings(table, roles, choices))
    yield Progress(stage=marked("engine", "Reading"), done=0, total=0)
    reading = of_rows(kind).reading
    roles = reading.with_label(table, roles.only(reading.roles))
    rules = LabelSettings(None, merge_labels, whole_labels, max_labels)
    finding = partial(_fitting, reading, rules, model)
    found, refusal = yield from _examples(finding, table, roles)
    yield Progress(stage=marked("engine", "Reading"), done=len(found.examples), total=0)
    leaking = yield from _count_leaking(found, reading, table.together)
    yield Progress(stage=marked("engine", "Reading"), done=len(found.examples), total=0)
    doubtful = doubtful_rows(found, (yield from text_keys(found.examples)))
    yield Progress(stage=marked("engine", "Reading"), done=len(found.examples), total=0)
    lengths, unknown = yield from _measure(found.examples, model)
    return TableSummary(
        task=kind.name,
        reason=reason,
        doubt=doubt_about_header(table, roles) or labels_inside(table),
        roles=roles,
        num_rows=table.num_rows,
        num_examples=len(found.examples),
        reported=_lacking(table, found),
        num_mended_out=len(table.left_out),
        refusal=refusal,
        notes=tuple(found.notes),
        form=found.form,
        labels=tuple(found.labels),
        counts=_counts(found),
        is_side_by_side=reading.is_side_by_side,
        numbers=reading.numbers(found),
        spellings=found.spellings,
        is_merged=merge_labels,
        is_whole=whole_labels,
        doubtful=doubtful,
        num_leaking=leaking,
        rows=found.examples.rows,
        lengths=lengths,
        unit="words" if model is None else "pieces",
        unknown_share=unknown,
        script=script_of_texts(example.text for example in found.examples),
        reads_windows=of_rows(kind).reads_windows,
    )


def count_words(text: str) -> int:
    """Return how many words a person would count; each Chinese or Japanese character is one."""
    return sum(1 for _ in _WORD.finditer(text))


def _new_model(model: str, vocab: str, lowercase: str) -> ModelInfo:
    preset = model.removeprefix(NEW)
    if preset not in PRESETS:
        BertConfig.preset(preset)  # raises with the names that there are
    if not vocab:
        raise ConfigError(
            marked(
                "engine", "A model that starts from random weights needs a vocabulary. Choose a vocab.txt."
            ),
            field="vocab",
        )
    choice = {"yes": True, "no": False}.get(lowercase)
    wordpiece = WordPiece.from_vocab(Path(vocab), lowercase=choice)
    return ModelInfo(model, vocab, BertConfig.preset(preset, wordpiece.vocab_size), wordpiece)


def _folder_model(model: str) -> ModelInfo:
    folder = Path(model)
    config = read_config(folder)
    check_weights(folder)  # refused now, with a sentence, and not when training is asked for
    return ModelInfo(model, "", config, read_tokenizer(folder), read_info(folder))


def _fitting(
    reading: RowReading, rules: LabelSettings, model: ModelInfo | None, table: Table, roles: Roles
) -> Steps[ExampleTable]:
    """Return what can be used of a table, by the pieces of a model where one is chosen."""
    found = yield from reading.finding(table, roles, rules)
    return found if model is None else (yield from reading.fitting(table, found, lambda: model.wordpiece))


def _examples(
    finding: Callable[[Table, Roles], Steps[ExampleTable]], table: Table, roles: Roles
) -> Steps[tuple[ExampleTable, Sentence | None]]:
    """Return what can be used and, where nothing can be learned from it, why; then labels are left aside."""
    refusal: Sentence | None = None
    for tried in (roles, roles.with_columns(label="")):
        try:
            return (yield from finding(table, tried)), refusal
        except DataError as error:
            refusal = refusal or error.sentence
    return ExampleTable(ExampleRows.of([]), (), ()), refusal


def _lacking(table: Table, found: ExampleTable) -> tuple[BadLine, ...]:
    """Return the rows that lack something, without those that a recipe leaves out."""
    left_out = set(table.lines[list(table.left_out)].tolist())
    return tuple(bad for bad in found.reported if bad.line not in left_out)


def _counts(found: ExampleTable) -> np.ndarray:
    """Return (C,), in how many rows each label stands."""
    if not found.labels:
        return np.zeros(0, np.int64)
    targets = found.targets(found.examples)
    if targets.ndim > 1:
        return np.asarray(targets.sum(0))
    return np.bincount(targets[targets >= 0], minlength=len(found.labels))


def _count_leaking(found: ExampleTable, reading: RowReading, together: np.ndarray | None) -> Steps[int]:
    """Return the validation rows whose text is in training too, when split as the defaults do."""
    if not found.labels and found.values is None:
        return 0
    kept = None if together is None else together[found.examples.rows]
    train, validation, _ = split_of(DataConfig(), reading.strata(found), kept)
    keys = yield from text_keys(found.examples, either_way=True)
    return count_leaks(keys[train], keys[validation])


def _measure(
    examples: ExampleRows, model: ModelInfo | None
) -> Generator[Event, None, tuple[np.ndarray, float | None]]:
    """Return each example's length and the share of unknown pieces, chunk by chunk."""
    lengths = np.zeros(len(examples), dtype=np.int64)
    unknown = 0
    for start in range(0, len(examples), CHUNK):
        part = examples[start : start + CHUNK]
        texts, pairs = part.texts(), part.pairs()
        if model is None:
            counts = [count_words(text) for text in texts]
            if pairs is not None:
                counts = [count + count_words(pair) for count, pair in zip(counts, pairs, strict=True)]
            lengths[start : start + CHUNK] = counts
        else:
            pieces, unknown_here = _count_pieces(texts, pairs, model.wordpiece)
            lengths[start : start + CHUNK] = pieces
            unknown += unknown_here
        stage = marked("engine", "Tokenizing")
        yield Progress(stage=stage, done=min(start + CHUNK, len(examples)), total=len(examples))
    if model is None:
        return lengths, None
    return lengths, unknown / max(1, int(lengths.sum()))


def _count_pieces(texts: list[str], pairs: list[str] | None, wordpiece: Tokenizer) -> tuple[np.ndarray, int]:
    ids = wordpiece.encode_ids([*texts, *(pairs or ())])
    unknown = sum(int((each == wordpiece.unk_id).sum()) for each in ids)
    counts = np.array([len(each) for each in ids[: len(texts)]], dtype=np.int64) + 2
    if pairs is not None:
        counts += np.array([len(each) for each in ids[len(texts) :]], dtype=np.int64) + wordpiece.num_between
    return counts, unknown
