"""What the Predict page asks a model and a file: plain Python that touches no Qt object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from app.work.models import OpenModels
from engine.errors import DataError
from engine.evaluation.part import run_behind
from engine.events import Steps
from engine.labelling.labelled_table import own_column, taken_from
from engine.labelling.table_shares import SHEET
from engine.model.info import read_info
from engine.model.weights import check_weights, read_config
from engine.questions.how_read import ReadSettings
from engine.text.examples import finding_examples, guess_roles
from engine.text.roles import TEXT_PAIR, Roles
from engine.text.small_sheet import sheet_place
from engine.text.table import BadLine, Table, reading_table
from engine.train.run.majority import Unbeaten, unbeaten_majority
from engine.train.tasks.known import TASKS, task_of
from engine.train.tasks.rows.kind import OfRows

LOOKED_AT = 2000  # rows in which a column of labels is looked for
LAST_WORDS = 60  # characters shown of where the reading ended


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """What a model folder says about itself, once it has been loaded."""

    folder: Path
    labels: tuple[str, ...]
    wants_pair: bool
    info: dict[str, Any]  # cloze.json
    max_length: int
    may_want_pair: bool = False  # without cloze.json only the person knows
    task: str = "classification"
    unbeaten: Unbeaten | None = None  # the label that always predicting is as good
    run: Path | None = None  # whose result it is

    @property
    def has_shares(self) -> bool:
        """Whether the shares of its labels in a table can be told."""
        return self.task == "classification" and self.run is not None

    @property
    def reads_pairs(self) -> bool:
        """Whether tables have a column of second texts for it."""
        kind = TASKS[self.task]
        return self.wants_pair and isinstance(kind, OfRows) and TEXT_PAIR in kind.reading.roles


@dataclass(frozen=True, slots=True)
class TextAnswer:
    """An answer to one text."""

    probabilities: np.ndarray  # (C,) float32, or the number that is predicted
    prediction: str  # as it stands in a file of answers
    num_pieces: int  # that were read, special tokens included
    num_cut: int  # that were not
    last_words: str  # where the reading of a single text ended, if it was cut
    labels: tuple[str, ...] = ()  # what the probabilities are of


@dataclass(frozen=True, slots=True)
class FilePreview:
    """A file as it will be read, with the columns it seems to want. how: what a person said of reading it.

    labelled_by: of a column that was saved with labels, by its name: see `taken_from`.
    """

    table: Table
    roles: Roles
    reported: tuple[BadLine, ...]  # rows that cannot be used
    how: ReadSettings
    labelled_by: Mapping[str, tuple[str, ...]]


def describe(models: OpenModels, folder: Path) -> ModelDescription:
    """Return what a model says about itself. Raises: ModelError, DataError."""
    kind = task_of(folder)
    if not isinstance(kind, OfRows):
        check_weights(folder)
        config, info = read_config(folder), read_info(folder)
        longest = config.max_position_embeddings
        length = min(int(info.get("max_length", longest)), longest)
        return ModelDescription(folder, config.id2label, False, info, length, task=kind.name)
    asked = models.predictor(folder)
    return ModelDescription(
        folder,
        asked.labels,
        asked.wants_pair,
        dict(asked.info),
        asked.max_length,
        asked.may_want_pair,
        kind.name,
        unbeaten_majority(folder),
        run_behind(folder),
    )


def tell(models: OpenModels, folder: Path, text: str, pair: str | None = None) -> TextAnswer:
    """Return the answer to a text, or to a pair. Raises: ModelError, DataError."""
    asked = models.predictor(folder)
    probabilities = np.asarray(asked.predict(text, pair), dtype=np.float32)
    read = asked.read_longest(text, pair)
    encoding = asked.wordpiece.encode(*read, max_length=asked.max_length, truncation=asked.truncation)
    last = ""
    if encoding.num_cut and pair is None and asked.truncation != "head_tail":
        end = max((stop for _start, stop in encoding.offsets), default=0)
        last = text[max(0, end - LAST_WORDS) : end]
    prediction = str(asked.task.predictions(probabilities[None])[0])
    pieces, labels = len(encoding.input_ids), asked.answered(pair)
    return TextAnswer(probabilities, prediction, pieces, encoding.num_cut, last, labels)


def preview(path: Path, wanted: Roles, how: ReadSettings) -> Steps[FilePreview]:
    """Return a file as it will be read, the columns those wanted, else a guess. Raises: DataError."""
    table = yield from reading_table(path, **how.named())
    return (yield from preview_roles(table, choose_roles(table, wanted), how))


def preview_roles(table: Table, roles: Roles, how: ReadSettings) -> Steps[FilePreview]:
    """Return a table as it will be read with columns that have been chosen. Raises: DataError."""
    reported = list(table.reported)
    if roles.text:
        known = {(line.line, str(line.sentence)) for line in reported}
        found = yield from finding_examples(table, roles.with_columns(label=""))
        reported += [line for line in found.reported if (line.line, str(line.sentence)) not in known]
    lines = tuple(sorted(reported, key=lambda line: line.line))
    saved = own_column(table)
    labelled_by = {saved: taken_from(table, saved)} if saved in table.columns else {}
    return FilePreview(table, roles, lines, how, labelled_by)


def choose_roles(table: Table, wanted: Roles) -> Roles:
    """Return the columns named in `wanted` where they exist; a guess for those that do not."""
    try:
        guess = guess_roles(table)
    except DataError:
        guess = Roles(text=table.columns[0] if table.columns else "")
    text = wanted.text if wanted.text in table.columns else guess.text
    if (named := {role: names for role, names in wanted.items() if len(names) > 1}) and all(
        name in table.columns for names in named.values() for name in names
    ):
        return Roles(text, **named)
    if not wanted.text_pair:
        return Roles(text=text)
    others = [name for name in table.columns if name != text]
    pair = wanted.text_pair if wanted.text_pair in others else guess.text_pair
    return Roles(text=text, text_pair=pair if pair in others else (others[0] if others else ""))


def label_in(table: Table, described: ModelDescription, taken: Sequence[str]) -> str:
    """Return the column that holds what a model predicts, as `Roles` have it; "" for none."""
    trained = str((described.info.get("roles") or {}).get("label") or "")
    kind = TASKS[described.task]
    if not isinstance(kind, OfRows) or kind.reading.has_cells_of_labels:
        return choose_label(table, trained, described.labels, taken)
    try:
        named = kind.reading.label(table, trained) if trained else ""
    except DataError:
        return ""
    return "" if named in taken else named


def choose_label(table: Table, wanted: str, labels: Sequence[str], taken: Sequence[str]) -> str:
    """Return the column that holds the labels of a model: the one it learned from where that is there, else
    one most of whose cells are labels it knows; "" for none.

    Args: taken: columns that are read as texts.
    """
    known = {name.casefold() for name in labels}
    step = max(1, table.num_rows // LOOKED_AT)
    best, best_share = "", 0.5
    for name in table.columns:
        cells = [cell.strip().casefold() for cell in table.frame[name].iloc[::step].tolist()]
        cells = [cell for cell in cells if cell]
        share = sum(cell in known for cell in cells) / max(1, len(cells))
        if name in taken or not cells:
            continue
        if name == wanted and share:
            return name
        if share > best_share:
            best, best_share = name, share
    return best


def free_path(data: Path, stem: str = "", suffix: str = ".csv") -> Path:
    """Return a new name beside `data`: reviews-predicted.csv, reviews-predicted-2.csv and so on, of which the
    file of shares is new, too.

    Args: stem, suffix: of another name that is taken.
    """
    stem = stem or f"{data.stem}-predicted"
    number = 1
    while True:
        path = data.with_name(f"{stem}{'' if number == 1 else f'-{number}'}{suffix}")
        if not path.exists() and not sheet_place(path, SHEET).exists():
            return path
        number += 1
