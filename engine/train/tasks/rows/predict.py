"""Answers of a trained model: to one text or pair at once, or to a whole table, into a new CSV."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch

from engine.durable import check_writable
from engine.errors import DataError, Sentence, marked
from engine.events import Event, Finished, Noted, Predicted, Progress, Steps
from engine.model.heads import HeadedEncoder
from engine.model.info import length_in, truncation_in
from engine.model.kernels import ROW_MULTIPLE
from engine.settings.finetune import DataConfig
from engine.text.batch import EncodedRows, collate
from engine.text.example_rows import Keys
from engine.text.examples import ExampleTable, LabelSettings, guess_roles
from engine.text.labels import spelling_note
from engine.text.roles import Roles
from engine.text.small_sheet import Sheet
from engine.text.table import Table, reading_table, write_table
from engine.train import data_notes
from engine.train.evaluate import answers_of
from engine.train.learned import AT_ONCE, hashes_of, telling_seen
from engine.train.prepare import check_fit
from engine.train.task import Measures
from engine.train.tasks.kind import HeadedModel, ToMeasure, telling_measures
from engine.train.tasks.rows.reading import PREDICTION, RowReading, RowTask

if TYPE_CHECKING:
    import pandas

Adding = Callable[[Table, Roles, Predicted], Steps[Sheet | None]]
UNNAMED = Roles()  # the columns of the training data
FINAL, FINAL_FROM = "final_label", "final_label_from"  # columns of a table some of whose labels are known
MODEL, SAME_TEXT = "model", "same text"  # where a label comes from, beside what `KnownLabels` say
KnownLabels = Mapping[int, tuple[str, str]]  # row -> its label, as an answer is written, and whence it is
ENOUGH_TO_WONDER = 10  # rows with one and the same answer


@dataclass(frozen=True)
class RowModel(HeadedModel[HeadedEncoder]):
    """A model ready to answer for rows."""

    reading: RowReading
    task: RowTask

    @classmethod
    def from_folder(cls, reading: RowReading, folder: Path, device: str = "auto") -> Self:
        """Load a model folder; takes seconds. Raises: ModelError if it holds no such head."""
        return cls.over(reading, HeadedModel.opened(folder, reading.head, device))

    @classmethod
    def over(cls, reading: RowReading, found: HeadedModel[HeadedEncoder]) -> Self:
        """Take a model that is loaded already."""
        task = reading.answering(found.model.config.id2label, found.info, found.wordpiece)
        return cls(**vars(found), reading=reading, task=task)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels it chooses from."""
        return self.task.labels

    @property
    def trained(self) -> Roles:
        """The columns of the training data, as far as they were noted."""
        return Roles.from_json(self.info.get("roles"))

    @property
    def wants_pair(self) -> bool:
        """Whether it was trained on pairs of texts."""
        return bool(self.trained.text_pair)

    @property
    def may_want_pair(self) -> bool:
        """Whether nobody has noted what it was trained on, and it can read pairs."""
        return "roles" not in self.info and self.model.config.reads_pairs

    @property
    def max_length(self) -> int:
        """WordPieces it reads, as in training."""
        return length_in(self.info, self.model.config.max_position_embeddings)

    @property
    def truncation(self) -> str:
        """How longer texts are cut, as in training."""
        return truncation_in(self.info)

    def predict(self, text: str, text_pair: str | None = None) -> np.ndarray:
        """Return what the task decodes of a text: of labels (C,) float32, the probability of each.

        Raises: ModelError if it cannot read pairs.
        """
        check_fit(self.model.config, self.wordpiece, with_pair=text_pair is not None)
        ids = self.wordpiece.encode_ids([text] if text_pair is None else [text, text_pair])
        pieces, num_a, _ = self.wordpiece.assemble(
            ids[0], None if text_pair is None else ids[1], self.max_length, self.truncation
        )
        one = EncodedRows.from_pieces([pieces], [num_a], [-1], [0])
        batch = collate(one, np.array([0]), self.device.device, ROW_MULTIPLE)
        with torch.inference_mode(), self.device.autocast():
            answer: np.ndarray = self.task.decode(self.task.forward(self.model, batch)).cpu().numpy()[0]
        return answer

    def answered(self, text_pair: str | None) -> tuple[str, ...]:
        """Return what the numbers of `predict` are of."""
        return self.labels

    def read_longest(self, text: str, text_pair: str | None) -> tuple[str, str | None]:
        """Return what it reads at once of what `predict` is given; where that is more, the longest of it."""
        return text, text_pair

    def over_columns(self, roles: Roles) -> Self:
        """Return it as it answers to the rows of a table."""
        return replace(self, task=self.reading.answering_over(self.task, roles))

    def examples(self, table: Table, roles: Roles) -> Steps[ExampleTable]:
        """Return the rows that it can be measured on; near spellings as in training."""
        merge = bool(self.info.get("merge_labels"))
        found = yield from self.reading.finding(table, roles, LabelSettings(self.labels, merge=merge))
        return (yield from self.reading.fitting(table, found, lambda: self.wordpiece))

    def encode(self, found: ExampleTable) -> Generator[Event, None, EncodedRows]:
        """Cut examples as in training, and say how many texts were not read to their end; a generator whose
        return value is the `EncodedRows`.
        """
        encoded, num_cut = yield from self.reading.encode(
            found, found.examples, self.wordpiece, self.max_length, self.truncation
        )
        if num_cut:
            template = marked(
                "engine",
                "Truncated at {length} pieces, as in training: {count} of {total} texts.",
            )
            values = {"count": num_cut, "total": len(found.examples), "length": self.max_length}
            yield Noted(sentence=Sentence(template, values))
        yield from data_notes.on_unknown(self.wordpiece, encoded.input_ids, len(found.examples))
        return encoded

    def by_row(self, found: ExampleTable, encoded: EncodedRows, answers: np.ndarray) -> np.ndarray:
        """Return (E, ...), what the task writes of: the decoded answers, a row's each."""
        return answers

    def cells(self, table: Table, roles: Roles, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """Return (E,) what a file has as the prediction to some rows. Args: answers: of `by_row`."""
        return self.reading.written(table, roles, rows, self.task.predictions(answers))

    def numbers(self, answers: np.ndarray) -> np.ndarray:
        """Return (E, C), the numbers in what `by_row` returns: of labels, their probabilities."""
        return answers

    def measured(
        self, found: ExampleTable, encoded: EncodedRows, answers: np.ndarray, places: np.ndarray
    ) -> Steps[Measures]:
        """Compare answers with what a table says is right.

        Args: found: the rows that have a right answer. encoded, answers: all that were answered. places: of
        those among these.
        """
        yield from ()
        data = replace(encoded.subset(places), targets=found.targets(found.examples))
        measures = self.task.measure(answers[places], data)
        return measures if isinstance(measures, Measures) else (yield from measures)

    def known_label(self) -> str:
        """Return the label column of the training data; "" where nobody has noted it."""
        return self.trained.label

    def roles(self, table: Table, named: Roles, label: str = "") -> Roles:
        """Return the columns to read: those named, else those of the training data. Raises: DataError."""
        asked = named.only(self.reading.roles)
        roles = Roles(**{**self.trained, **asked}).with_columns(label="")
        if not roles.text:
            raise table.no_text()
        check_fit(self.model.config, self.wordpiece, with_pair=len(roles.read) > 1)
        found = {role: [table.column(name) for name in names] for role, names in roles.items()}
        return Roles(**found).with_columns(label=label)

    def measuring(self, data: DataConfig) -> Steps[ToMeasure]:
        table = yield from reading_table(data.data, **data.how)
        text, label = yield from _columns(self, table, data)
        if not label:
            raise DataError(
                marked("engine", "Which column holds the label? The columns of {name} are: {columns}."),
                name=table.path.name,
                columns=list(table.columns),
            )
        named = Roles.of(data).with_columns(text=text)
        roles = self.roles(table, named, self.reading.label(table, label))
        predictor = self.over_columns(roles)
        yield from _about_pair(predictor, roles)
        found = yield from predictor.examples(table, roles)
        yield from _report(table, found)
        lost = len(table.reported) + len(found.reported)
        if lost:
            template = marked(
                "engine", "Measured rows: {used}. Rows that cannot be used and do not count: {lost}."
            )
            yield Noted(sentence=Sentence(template, {"used": len(found.examples), "lost": lost}))
        seen = yield from _telling_seen(predictor, table, found)
        encoded = yield from predictor.encode(found)
        return predictor.task, self.reading.sets.over(encoded, found.examples, table.lines), seen


Opening = Callable[[], RowModel]
TELLING, MOST_TELLING = 0.9, 1000  # share of a column's first cells that are labels of the model


def _columns(predictor: RowModel, table: Table, data: DataConfig) -> Generator[Event, None, tuple[str, str]]:
    """Return (text, label), the columns to read; tell of those that are called otherwise than in training.

    The label is then in the one column whose cells are the model's labels; it is left as it is where there
    are more, or none. The text is where texts most likely are.
    """
    label = data.label or predictor.known_label()
    if not data.label and label not in table.columns and predictor.labels:
        known = set(predictor.labels)
        cells = {name: table.frame[name].head(MOST_TELLING) for name in table.columns}
        fitting = [name for name, some in cells.items() if len(some) and some.isin(known).mean() >= TELLING]
        if len(fitting) == 1:
            template = marked("engine", "The labels are read from {label}, which holds labels of the model.")
            yield Noted(sentence=Sentence(template, {"label": fitting[0]}), level="note")
            label = fitting[0]
    text = data.text
    guessed = guess_roles(table).text
    if not text and predictor.trained.text not in table.columns and guessed not in ("", label):
        template = marked("engine", "The texts are read from {text}, the column that looks most like texts.")
        yield Noted(sentence=Sentence(template, {"text": guessed}), level="note")
        text = guessed
    return text, label


def predict_file(
    model: Opening | RowModel,
    data: Path | Table,
    out: Path,
    columns: Roles = UNNAMED,
    *,
    raw: bool = False,
    adding: Adding | None = None,
    known: KnownLabels = MappingProxyType({}),
    **how: str,
) -> Iterator[Event]:
    """Write a copy of a table with a prediction beside every row and, of labels, each one's probability.

    Rows that cannot be used keep an empty prediction and are reported; lines that are no rows are not in the
    copy, and all are named. Cells that a spreadsheet would run are guarded unless `raw`. Where `columns` name
    that of the right labels, one Evaluated says how good the answers are, as `evaluate_file` would.
    Where some labels are known, FINAL and FINAL_FROM stand before the prediction: a row keeps the label that
    it has, one with the same text takes it over, and all others have the model's.
    A name that ends in .xlsx becomes a workbook, one in .tsv has tabs, another semicolons where the table has
    them.

    Args: model, data: what loads the model, and a file; or either as it has been opened before. adding: makes
    a sheet of the answers, which is written with them. known: labels that rows have without the model. how:
    the file is read, as `reading_table` takes it.
    Raises: DataError if the table has a column of such a name already, or `out` is the table itself.
    """
    start = time.perf_counter()
    out = Path(out)
    check_writable(out, data.path if isinstance(data, Table) else Path(data))
    yield Progress(stage=marked("engine", "Reading"), done=0, total=0)
    table = data if isinstance(data, Table) else (yield from reading_table(data, **how))
    predictor = model if isinstance(model, RowModel) else model()
    label = predictor.reading.label(table, columns.label) if columns.label else ""
    roles = predictor.roles(table, columns, label)
    predictor = predictor.over_columns(roles)
    table.check_new([*((FINAL, FINAL_FROM) if known else ()), *predictor.task.columns()])
    yield from _about_pair(predictor, roles)
    found, encoded, answers = yield from _answering(predictor, table, roles)
    yield Progress(stage=marked("engine", "Writing"), done=0, total=table.num_rows)
    rows, told = found.examples.rows, predictor.by_row(found, encoded, answers)
    predictions = predictor.task.predictions(told)
    cells = predictor.cells(table, roles, rows, told)
    frame = table.frame.copy()
    if known:
        yield from _add_final(frame, found, cells, known)
    _add_answers(frame, rows, cells, told, predictor.task)
    plain = [*predictor.task.columns(), FINAL_FROM]
    if not predictor.task.needs_no_guard():
        plain.remove(PREDICTION)
    separator = ";" if table.format.separator == ";" else ","
    numbers = predictor.numbers(told)
    predicted = Predicted(
        rows=rows, predictions=tuple(predictions), probabilities=numbers, labels=predictor.labels
    )
    sheet = None if adding is None else (yield from adding(table, roles, predicted))
    how_written: dict[str, Any] = {"guard": not raw, "exempt": plain, "separator": separator}
    write_table(out, list(frame.columns), frame, **how_written, sheet=sheet)
    yield predicted
    if roles.label:
        yield from _scores(predictor, table, roles, found, encoded, answers)
    else:
        yield from _about_one_answer(predictions.tolist())
    yield Finished(path=out, seconds=time.perf_counter() - start)


def table_answers(predictor: RowModel, table: Table, roles: Roles) -> Steps[tuple[np.ndarray, np.ndarray]]:
    """Return (E,) the rows of a table that a model can read, and (E, ...) what it answers to them.

    Rows that cannot be used are reported. Args: roles: the columns that it reads.
    """
    reading = predictor.over_columns(roles)
    yield from _about_pair(reading, roles)
    _, encoded, answers = yield from _answering(reading, table, roles)
    return encoded.rows, answers


def _answering(
    predictor: RowModel, table: Table, roles: Roles
) -> Steps[tuple[ExampleTable, EncodedRows, np.ndarray]]:
    """Return the rows of a table, as they are read, and the answers to them."""
    rules = LabelSettings(predictor.labels)
    found = yield from predictor.reading.finding(table, roles.with_columns(label=""), rules)
    yield from _report(table, found)
    encoded = yield from predictor.encode(found)
    stage = marked("engine", "Predicting")
    answers = yield from answers_of(predictor.model, predictor.task, encoded, predictor.device, stage)
    return found, encoded, answers


def _add_answers(
    frame: pandas.DataFrame, rows: np.ndarray, predictions: np.ndarray, answers: np.ndarray, task: RowTask
) -> None:
    """Put the answers beside a table; empty where a row could not be used."""
    for name, values in zip(task.columns(), [predictions, *task.others(answers)], strict=True):
        cells = np.full(len(frame), "", object)
        cells[rows] = values
        frame[name] = cells


def _add_final(
    frame: pandas.DataFrame, found: ExampleTable, predictions: np.ndarray, known: KnownLabels
) -> Iterator[Event]:
    """Put beside a table the label that each row has in the end, and where that is from; tell how many are
    not the model's. Texts are the same as `hashes_of` has it; those with unlike labels say nothing of others.

    Args: found: the rows that were answered. predictions: (E,) of these.
    """
    rows = found.examples.rows
    labels, origins = np.full(len(frame), "", object), np.full(len(frame), "", object)
    labels[rows], origins[rows] = predictions, MODEL
    hashes = yield from _hashes(found)
    given: dict[int, set[str]] = {}
    for row, digest in zip(rows.tolist(), hashes.tolist(), strict=True):
        if row in known:
            given.setdefault(digest, set()).add(known[row][0])
    for row, digest in zip(rows.tolist(), hashes.tolist(), strict=True):
        if row not in known and len(given.get(digest, ())) == 1:
            labels[row], origins[row] = next(iter(given[digest])), SAME_TEXT
    for row, (said, origin) in known.items():
        labels[row], origins[row] = said, origin
    frame[FINAL], frame[FINAL_FROM] = labels, origins
    kept = origins[rows] != MODEL
    template = marked(
        "engine",
        "{count:,} rows have a label that was given before, which {column} keeps. The model says something "
        "else of {other:,} of them.",
    )
    other = int((labels[rows] != predictions)[kept].sum())
    values = {"count": int(kept.sum()), "column": FINAL, "other": other}
    yield Noted(sentence=Sentence(template, values), level="note")


def _hashes(found: ExampleTable) -> Steps[Keys]:
    examples = found.examples
    return (yield from hashes_of((some.texts(), some.pairs()) for some in examples.blocks(AT_ONCE)))


def _scores(
    predictor: RowModel,
    table: Table,
    roles: Roles,
    asked: ExampleTable,
    encoded: EncodedRows,
    answers: np.ndarray,
) -> Iterator[Event]:
    """Compare the answers with the labels of the table; say which rows have none that the model knows.

    Args: asked: the rows that were answered, whatever their label. encoded, answers: of those.
    """
    try:
        found = yield from predictor.examples(table, roles)
    except DataError as error:
        template = marked("engine", "The answers have no score. {reason}")
        yield Noted(sentence=Sentence(template, {"reason": error.sentence}))
        return
    if found.spellings:
        yield Noted(sentence=spelling_note(table, found.spellings, is_merged=found.is_merged), level="fine")
    told = {(bad.line, str(bad.sentence)) for bad in asked.reported}
    yield from data_notes.on_lines(
        [bad for bad in found.reported if (bad.line, str(bad.sentence)) not in told]
    )
    yield from _telling_seen(predictor, table, found)
    places = np.searchsorted(asked.examples.rows, found.examples.rows)
    measures = yield from predictor.measured(found, encoded, answers, places)
    yield from telling_measures(predictor.task, measures)


def _telling_seen(predictor: RowModel, table: Table, found: ExampleTable) -> Steps[np.ndarray]:
    """Tell how many of the rows that are measured the model has learned from; return (E,) bool, which."""
    examples = found.examples
    blocks = ((some.texts(), some.pairs()) for some in examples.blocks(AT_ONCE))
    return (yield from telling_seen(predictor.folder, blocks, len(examples), table.sha256))


def _about_pair(predictor: RowModel, roles: Roles) -> Iterator[Event]:
    """Say that a second text is given to a model that has learned from single ones."""
    if roles.text_pair and "roles" in predictor.info and not predictor.wants_pair:
        template = marked(
            "engine",
            "The model was trained on single texts, but column {column} gives it pairs here. "
            "Omit that column to use the model as it was trained.",
        )
        yield Noted(sentence=Sentence(template, {"column": roles.text_pair}))


def _about_one_answer(predictions: Sequence[str]) -> Iterator[Event]:
    """Say that many rows got one and the same answer, where no labels tell whether that is right."""
    if len(predictions) >= ENOUGH_TO_WONDER and len(set(predictions)) == 1:
        template = marked(
            "engine",
            "All {count} rows got the same answer, {label}. If they should differ, measure "
            "the model on rows with known labels: it may know only one answer.",
        )
        values = {"count": len(predictions), "label": predictions[0][:80]}
        yield Noted(sentence=Sentence(template, values))


def _report(table: Table, found: ExampleTable) -> Iterator[Event]:
    for note in (*table.notes, *found.notes):
        yield Noted(sentence=note)
    if found.spellings:
        yield Noted(sentence=spelling_note(table, found.spellings, is_merged=found.is_merged), level="fine")
    yield from data_notes.on_lines([*table.reported, *found.reported])
