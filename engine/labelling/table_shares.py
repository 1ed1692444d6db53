"""The share of each label in a table that a run of fine-tuning has answered: what is known of its texts, and
what the run's own labels say of the rest.

A text whose label the run's data has counts with that label, for a model errs less on what it has learned.
How it errs on the others is known from rows that the run held out: where these are a random sample of this
very table they say it of the table itself, else of any table whose texts are of the same kind.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from engine.errors import DataError, Sentence, UserError, VerbatimText, marked
from engine.evaluation.part import parts_of, run_behind, scoring_part
from engine.events import Event, Noted, Predicted, Steps, beats
from engine.labelling.double_sampling import doubly_sampled
from engine.labelling.prevalence import Counts, Prevalence, prevalence
from engine.labelling.random_sample import is_random_sample
from engine.settings.finetune import FineTuneConfig
from engine.text.example_rows import ExampleRows, Keys
from engine.text.roles import Roles
from engine.text.small_sheet import Sheet
from engine.text.table import Table
from engine.train.learned import AT_ONCE, Block, blocks_of, hashes_of, learned_by
from engine.train.run.runs import MODEL, SETUP, read_config
from engine.train.run.setup import read_setup
from engine.train.scored import ScoredTable
from engine.train.tasks.known import task_named
from engine.train.tasks.rows.kind import OfRows
from engine.train.tasks.rows.prepare import reading_parts

FEW_HELD_OUT = 10  # held-out texts of a label below which its errors are hardly known
MOST_TOLD = 8  # labels in a sentence
UNKNOWN = -1
SHEET = "Shares"
NO_RUN = marked(
    "engine",
    "{path} is no run, nor the result of one. The shares need rows that the model was not trained on. Name a "
    "run of fine-tuning.",
)
SHIFT = marked(
    "engine",
    "The correction assumes that a label’s texts look the same in this table as in the {part} rows. Only the "
    "shares may differ.",
)
LEFT_OUT = marked(
    "engine",
    "The model was trained on {count:,} further texts, whose labels are not at hand. They are excluded.",
)
NONE_HELD_OUT = marked(
    "engine",
    "The run {path} held out no rows, so nothing says how its model errs. Label more texts, or hold out a "
    "share of the rows.",
)
_OF = marked(
    "engine",
    "Of the {total:,} texts in {name}, {share} % are “{label}” (95 % interval {low} to {high} %).",
)
_ALSO = marked("engine", "{share} % are “{label}” ({low} to {high} %).")
_BY_SAMPLE = marked(
    "engine",
    "Estimated from {labelled:,} texts with a label, repeats included, and a model’s answers to the others. "
    "Its errors are counted on {held:,} texts drawn at random.",
)
_BY_ERRORS = marked(
    "engine",
    "Estimated from a model’s answers, corrected for its errors on {held:,} {part} rows.",
)
_WITH_KNOWN = marked("engine", "{labelled:,} texts count with the label that the run’s data gives them.")


@dataclass(frozen=True, eq=False)
class AnsweredTexts:
    """The E texts of a table that a model has answered. hashes: (E,) of the texts. answers: (E,) places of
    labels. name: of the file.
    """

    hashes: Keys
    answers: Counts
    name: str


@dataclass(frozen=True, eq=False)
class LabelShares:
    """The shares of a table. part: of the run, whose rows say how the model errs. num_known: texts that count
    with their own label. num_left_out: texts that the model learned from and whose label nobody knows.
    is_sampled: the held-out rows are a random sample of this table.
    """

    found: Prevalence
    labels: tuple[str, ...]
    part: str
    name: str = ""
    num_known: int = 0
    num_left_out: int = 0
    is_sampled: bool = False

    @property
    def order(self) -> list[int]:
        """The places of the labels, the largest share first."""
        return [int(place) for place in np.argsort(-self.found.shares, kind="stable")]

    def sentences(self, first: int | None = None) -> tuple[Sentence, ...]:
        """Return what can be published. Args: first: the label to begin with; None: that of most texts."""
        order = self.order
        if first is not None:
            order = [first, *(place for place in order if place != first)]
        about = {"total": self.found.num_texts, "name": self.name}
        told = [Sentence(_OF, {**about, **self._figures(order[0])})]
        told += [Sentence(_ALSO, self._figures(place)) for place in order[1:MOST_TOLD]]
        return (*told, *self.basis())

    def basis(self) -> Iterator[Sentence]:
        """Say what the shares are estimated from."""
        about = {"labelled": self.num_known, "held": self.found.num_held_out, "part": self.part}
        yield Sentence(_BY_SAMPLE if self.is_sampled else _BY_ERRORS, about)
        if self.num_known and not self.is_sampled:
            yield Sentence(_WITH_KNOWN, about)
        if self.num_left_out:
            yield Sentence(LEFT_OUT, {"count": self.num_left_out})

    def _figures(self, place: int) -> dict[str, object]:
        found = self.found
        ends = [100 * float(one[place]) for one in (found.shares, found.low, found.high)]
        digits = 0 if ends[2] - ends[1] >= 2 else 1  # no finer than is known
        names = ("share", "low", "high")
        said = {name: _rounded(one, digits) for name, one in zip(names, ends, strict=True)}
        return {"label": self.labels[place], **said}


def _rounded(x: float, digits: int) -> VerbatimText:
    """Return a number, halves rounded up as in the window's figures."""
    return VerbatimText(f"{math.floor(x * 10**digits + 0.5) / 10**digits:.{digits}f}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SharesFound(Event):
    """The shares of a table that was predicted; None, and why they cannot be told."""

    shares: LabelShares | None
    refusal: Sentence | None = None

    def __str__(self) -> str:
        told = self.shares.sentences() if self.shares is not None else (self.refusal,)
        return " ".join(map(str, told))


def sheet_of(found: LabelShares) -> Sheet:
    """Return shares as a table, a label a row, each with its sentence."""
    made, basis = found.found, " ".join(map(str, found.basis()))
    columns = ("label", "share", "low", "high", "counted", "sentence", "basis")
    rows = []
    for place in found.order:
        figures = [round(float(one[place]), 4) for one in (made.shares, made.low, made.high, made.counted)]
        rows.append((found.labels[place], *figures, str(found.sentences(place)[0]), basis))
    return Sheet(SHEET, columns, rows, numbers=columns[1:5])


def sharing_answers(
    folder: Path, table: Table, roles: Roles, predicted: Predicted, device: str = "auto"
) -> Steps[SharesFound]:
    """Return the shares of a table whose rows a model has just answered, or why there are none.

    Args: folder: of the model. roles: the columns that it read.
    """
    run = run_behind(folder)
    try:
        if run is None:
            raise UserError(NO_RUN, path=folder)
        texts = yield from answered_texts(table, roles, predicted.rows, predicted.probabilities)
        return SharesFound(shares=(yield from sharing(run, predicted.labels, texts, device)))
    except UserError as error:
        return SharesFound(shares=None, refusal=error.sentence)


def examples_of(table: Table, roles: Roles, rows: np.ndarray) -> ExampleRows:
    """Return the texts of some rows of a table, without labels. Args: rows: (E,)."""
    columns = [table.frame[table.column(name)].array for name in roles.read]
    return ExampleRows(columns, rows, np.full(len(rows), UNKNOWN, np.int32))


def answered_texts(table: Table, roles: Roles, rows: np.ndarray, answers: np.ndarray) -> Steps[AnsweredTexts]:
    """Return the texts that a model has answered. Args: rows: (E,) of the table. answers: (E, C)."""
    hashes = yield from hashes_of(_blocks(examples_of(table, roles, rows)))
    return AnsweredTexts(hashes, answers.argmax(1), table.path.name)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The H rows of a part that a run held out. hashes: (H,) of the texts. true, predicted: (H,) places among
    the model's labels. is_sample: of the table that a person labelled, drawn at random.
    """

    part: str
    scored: ScoredTable
    hashes: Keys
    true: Counts
    predicted: Counts
    is_sample: bool

    def confusion(self, count: int) -> Counts:
        """Return (C, C) counts by label and answer. Args: count: C."""
        found = np.zeros((count, count), np.int64)
        np.add.at(found, (self.true, self.predicted), 1)
        return found


def held_out_rows(run: Path, labels: Sequence[str], device: str = "auto") -> Steps[HeldOut]:
    """Return what a run's result answers to rows that it did not learn from: of the test where there is one.

    Args: labels: of the model. Raises: UserError: no rows were held out, or they have no labels.
    """
    part = next((one for one in ("test", "validation") if one in parts_of(run)), "")
    if not part:
        raise UserError(NONE_HELD_OUT, path=run)
    scored = yield from beats(scoring_part(run, part, device))
    if scored.task != "classification":
        raise DataError(marked("engine", "Shares need a model that chooses one label for each text."))
    hashes = yield from hashes_of(blocks_of(scored.listed.texts, scored.listed.pairs))
    each, config = scored.each, read_config(run)
    place_of = np.array([labels.index(name) for name in each.names])
    is_sample = isinstance(config, FineTuneConfig) and is_random_sample(config.data.test_data)
    true, predicted = place_of[each.true], place_of[each.predicted]
    return HeldOut(part, scored, hashes, true, predicted, part == "test" and is_sample)


def sharing(
    run: Path, labels: tuple[str, ...], texts: AnsweredTexts, device: str = "auto", seed: int = 42
) -> Steps[LabelShares]:
    """Return the shares of a table that the result of a run has answered, and tell what they rest on.

    Args: labels: (C,) of the model. Raises: UserError: no text, no rows held out, no labels.
    """
    if not len(texts.answers):
        raise UserError(marked("engine", "{path} holds no text that can be read."), path=texts.name)
    held, count = (yield from held_out_rows(run, labels, device)), len(labels)
    known = yield from _known(run, held, labels, texts)
    learned = learned_by(run / MODEL).seen(texts.hashes) & (known == UNKNOWN)
    is_sampled = held.is_sample and bool(np.isin(held.hashes, texts.hashes).all())
    given = np.bincount(known[known != UNKNOWN], minlength=count)
    open_ones = texts.answers[(known == UNKNOWN) & ~learned]
    confusion = held.confusion(count)
    found = _estimated(confusion, np.bincount(open_ones, minlength=count), given, seed, is_sampled)
    if not is_sampled:
        yield Noted(sentence=Sentence(SHIFT, {"part": held.part}))
        yield from _on_few(confusion, labels)
    made = LabelShares(found, labels, held.part, texts.name, int(given.sum()), int(learned.sum()), is_sampled)
    for sentence in list(made.basis())[1:]:
        yield Noted(sentence=sentence)
    return made


def _estimated(confusion: Counts, answers: Counts, known: Counts, seed: int, is_sampled: bool) -> Prevalence:
    """Return the shares over texts with an answer and texts with a label. Args: as of `doubly_sampled`."""
    if is_sampled or not answers.sum():
        return doubly_sampled(confusion, answers, known, seed)
    rest = prevalence(confusion, answers, seed)
    total = int(answers.sum() + known.sum())
    counted, shares, low, high = (
        (known + answers.sum() * one) / total for one in (rest.counted, rest.shares, rest.low, rest.high)
    )
    return replace(rest, counted=counted, shares=shares, low=low, high=high, num_texts=total)


def _known(run: Path, held: HeldOut, labels: tuple[str, ...], texts: AnsweredTexts) -> Steps[Counts]:
    """Return (E,) the labels that the run's data gives to texts of a table, UNKNOWN where it gives none."""
    hashes, names = [held.hashes], [np.array(labels, object)[held.true]]
    config, kind = read_config(run), task_named(held.scored.task)
    if isinstance(config, FineTuneConfig) and isinstance(kind, OfRows):
        try:
            rows = yield from beats(reading_parts(config, kind.reading))
        except UserError:  # the file is no longer what it was: only the rows held out are known
            rows = None
        about = read_setup(run / SETUP, {"data": dict})
        if rows is not None and rows.read[0][0].sha256 == about["data"].get("sha256"):
            for one in rows.parts.values():
                hashes.append((yield from hashes_of(one.blocks())))
                names.append(np.array(rows.labels, object)[one.found.targets(one.examples)])
    place_of = {name: place for place, name in enumerate(labels)}
    places = np.array([place_of.get(name, UNKNOWN) for name in np.concatenate(names)], np.int64)
    keys, firsts = np.unique(np.concatenate(hashes), return_index=True)
    at = np.minimum(np.searchsorted(keys, texts.hashes), len(keys) - 1)
    return np.where(keys[at] == texts.hashes, places[firsts][at], UNKNOWN)


def _blocks(examples: ExampleRows) -> Iterable[Block]:
    return ((some.texts(), some.pairs()) for some in examples.blocks(AT_ONCE))


def _on_few(confusion: Counts, labels: Sequence[str]) -> Iterator[Noted]:
    """Say which labels have too few held-out texts to know how the model errs on them."""
    few = [label for label, count in zip(labels, confusion.sum(1), strict=True) if count < FEW_HELD_OUT]
    if few:
        template = marked(
            "engine",
            "Fewer than {least} held-out texts have these labels, so their intervals are rough: {labels}.",
        )
        yield Noted(sentence=Sentence(template, {"least": FEW_HELD_OUT, "labels": few[:8]}))
