"""Rows of a table with their labels: read, checked, split and encoded."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from engine.errors import DataError, Sentence, marked
from engine.events import Event, Noted, Progress, Steps
from engine.settings.finetune import DataConfig, FineTuneConfig
from engine.text.batch import EncodedRows
from engine.text.example_rows import ExampleRows, Indices
from engine.text.examples import ExampleTable, LabelSettings
from engine.text.labels import spelling_note
from engine.text.roles import Roles
from engine.text.table import Table, reported_note
from engine.text.tokenizer import Tokenizer
from engine.train import data_notes
from engine.train.learned import AT_ONCE, Block, HashedRows, hashes_of_parts, telling_start
from engine.train.prepare import (
    BASE_LAYERS,
    SPLITS,
    about_data,
    of_setting,
    on_ignored,
    opening_table,
    split_of,
    starting,
    starting_tokenizer,
)
from engine.train.tasks.rows.kept import RowSetup
from engine.train.tasks.rows.reading import RowReading


def prepare(config: FineTuneConfig, reading: RowReading, setup: type[RowSetup] = RowSetup) -> Steps[RowSetup]:
    """Read, check, encode and split; a generator of events whose return value is the `Setup`.

    Args: reading: how the labels are read. setup: the kind that is made.
    Raises: DataError, ModelError, ConfigError in one sentence, before long work.
    """
    data = config.data
    shape, wordpiece = starting(config)
    yield Progress(stage=marked("engine", "Reading"), done=0, total=0)
    yield from on_ignored(config)
    all_rows = yield from reading_parts(config, reading)
    table, roles, parts = all_rows.read[0][0], all_rows.roles, all_rows.parts
    about = {
        "task": reading.name,
        "labels": list(all_rows.labels),
        "roles": roles.as_json(reading.roles),
        **about_data(config, table.path.name, table.sha256, table.num_rows, all_rows.places),
    }
    if not reading.head.reads_meaning:
        about.pop(BASE_LAYERS, None)
    for one, usable in all_rows.read:
        yield from data_notes.on_rows(one.path.name, usable.examples, reading.contradicting)
    hashes = yield from all_rows.hashes()
    known = yield from telling_start(config.model.model, hashes, about["split"])
    yield from data_notes.on_parts({name: part.examples for name, part in parts.items()}, known)
    sets, about["cut_share"] = yield from _encoded(data, reading, parts, wordpiece)
    about["reported"] = _reported(*all_rows.read)
    if data.recipe:
        about["mends"] = table.mends
    about["merge_labels"] = data.merge_labels
    if data.merge_labels:
        about["merged_labels"] = _merged(*all_rows.read)
    shape = dataclasses.replace(shape, id2label=all_rows.labels)
    learned = hashes["train"].hashes
    return setup(shape, wordpiece, about, all_rows.labels, sets, learned=learned)


@dataclass(frozen=True, slots=True)
class AllRows:
    """The rows of a run's files. read: each table with what was found in it, the data first. places: which of
    the data's examples are in each of SPLITS. parts: by name, those that are not empty.
    """

    read: Sequence[tuple[Table, ExampleTable]]
    roles: Roles
    labels: tuple[str, ...]
    places: Sequence[Indices]
    parts: Mapping[str, _Part]

    def hashes(self) -> Steps[dict[str, HashedRows]]:
        """Return what tells the texts of each part again."""
        return hashes_of_parts(
            {name: (part.blocks(), part.table.sha256) for name, part in self.parts.items()}
        )


def reading_parts(config: FineTuneConfig, reading: RowReading) -> Steps[AllRows]:
    """Read the tables, check what is in them and split; tell what cannot be used.

    Raises: DataError, ConfigError in one sentence.
    """
    data = config.data
    table = yield from opening_table(data, data.data, "data")
    roles = reading.named(data, table)
    found = yield from reading.finding(table, roles, LabelSettings.of(data))
    found = yield from reading.fitting(table, found, partial(starting_tokenizer, config))
    yield from _report(found, table)
    labels = reading.head_labels(found)
    together = None if table.together is None else table.together[found.examples.rows]
    places = split_of(data, reading.strata(found), together)
    parts = {
        name: _Part(table, found, found.examples.take(part))
        for name, part in zip(SPLITS, places, strict=True)
        if len(part)
    }
    read = [(table, found)]
    for name, path in data.apart.items():
        other, apart = yield from _apart(config, reading, path, f"{name}_data", labels)
        yield from _report(apart, other)
        parts[name] = _Part(other, apart, apart.examples)
        read.append((other, apart))
    if not parts.get("train"):
        raise DataError(marked("engine", "No rows are left to train on."))
    return AllRows(read, roles, labels, places, parts)


@dataclass(frozen=True, slots=True)
class _Part:
    """Some examples, and the table's all that they are of."""

    table: Table
    found: ExampleTable
    examples: ExampleRows

    def __len__(self) -> int:
        return len(self.examples)

    def blocks(self) -> Iterator[Block]:
        return ((some.texts(), some.pairs()) for some in self.examples.blocks(AT_ONCE))


def _encoded(
    data: DataConfig, reading: RowReading, parts: Mapping[str, _Part], wordpiece: Tokenizer
) -> Steps[tuple[dict[str, EncodedRows], float]]:
    """Return each part as ids, and the share of the texts to train on that was cut, 0..1."""
    sets: dict[str, EncodedRows] = {}
    cut = 0
    for name, part in parts.items():
        encoded, num_cut = yield from reading.encode(
            part.found,
            part.examples,
            wordpiece,
            data.max_length,
            data.truncation,
            is_learned=name == "train",
        )
        if name == "train":
            sets[name] = reading.sets.from_arrays(encoded.arrays())
        else:
            sets[name] = reading.sets.over(encoded, part.examples, part.table.lines)
        cut = num_cut if name == "train" else cut
    yield from data_notes.on_cut(cut, len(parts["train"]), data.max_length)
    yield from data_notes.on_unknown(wordpiece, sets["train"].input_ids, len(parts["train"]))
    return sets, cut / len(parts["train"])


def _apart(
    config: FineTuneConfig, reading: RowReading, path: str, field: str, labels: tuple[str, ...]
) -> Steps[tuple[Table, ExampleTable]]:
    """Read a table of its own for validation or test. Raises: ConfigError naming the setting."""
    data = config.data
    with of_setting(field):
        table = yield from opening_table(data, path, field)
        roles = reading.named(data, table)
        rules = LabelSettings(labels, merge=data.merge_labels)
        found = yield from reading.finding(table, roles, rules)
        return table, (yield from reading.fitting(table, found, partial(starting_tokenizer, config)))


def _report(found: ExampleTable, table: Table) -> Iterator[Event]:
    if found.form is not None:
        yield Noted(sentence=found.form, level="fine")
    for note in (*table.notes, *found.notes):
        yield Noted(sentence=note)
    if found.spellings:
        note = spelling_note(table, found.spellings, is_merged=found.is_merged)
        yield Noted(sentence=note, level="fine" if found.is_merged else "look")
    meant = {int(table.lines[row]) for row in table.left_out}
    chosen = sum(bad.line in meant for bad in found.reported)
    if chosen:
        yield Noted(sentence=_left_out(chosen, table.path.name), level="fine")
    lost = (*table.reported, *(bad for bad in found.reported if bad.line not in meant))
    if lost:
        yield Noted(sentence=reported_note(table.path.name, lost))


def _left_out(count: int, name: str) -> Sentence:
    """Return what to tell of rows that a person has left out."""
    template = marked("engine", "{count:,} rows of {name} are excluded, as you chose.")
    if count == 1:
        template = marked("engine", "One row of {name} is excluded, as you chose.")
    return Sentence(template, {"count": count, "name": name})


def _reported(*read: tuple[Table, ExampleTable]) -> list[dict[str, Any]]:
    """Return every line that is not used, for setup/setup.json."""
    return [
        {"file": table.path.name, "line": bad.line, "reason": str(bad.sentence)}
        for table, found in read
        for bad in (*table.reported, *found.reported)
    ]


def _merged(*read: tuple[Table, ExampleTable]) -> list[dict[str, Any]]:
    """Return which labels were read as another one, for setup/setup.json and cloze.json."""
    return [
        {"file": table.path.name, "from": each.label, "to": each.kept, "rows": len(each.rows)}
        for table, found in read
        for each in found.spellings
    ]
