"""What it costs to learn from the second annotator's labels: how many fewer texts a model gets right.

A cheap model learns once from each annotator's labels on the same rows. Both are judged by the first's labels
on the rows of the other folds, which neither has learned from, again and again with other folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from engine.errors import DataError, Sentence, marked
from engine.evaluation.statistics import Difference, compared_hits
from engine.events import Progress, Steps, beats
from engine.inspect.embeddings.vectors import PoolingConfig, embed
from engine.inspect.loaded_model import LoadedModel
from engine.labelling.agreement import Agreement
from engine.text.table import Table
from engine.train.ways.frozen import answers_by_vectors
from engine.train.ways.judged import Answers, Shares, hits_of
from engine.train.ways.names import REGRESSION, TFIDF
from engine.train.ways.regression import FOLDS, Labels
from engine.train.ways.words import answers_by_features, word_features

# n rows, C labels

LEAST_ROWS = 40  # with both labels, below which the interval says next to nothing
LEAST_A_LABEL = FOLDS  # rows of each of two labels, so that each fold has one
MOST_ROWS = 4000  # drawn at random from more
MOST_REPETITIONS, ROWS_ANSWERED = 5, 4000  # of cross-validation; together so many answers are enough
_TOO_FEW = marked(
    "engine",
    "At least {rows} different texts with both labels, {least} of each of two labels, are needed to train "
    "with each column. There are {count:,}.",
)
_NO_TEXT = marked("engine", "Nothing can be trained without a text. Choose the column of the text first.")
_FEWER = marked(
    "engine",
    "With the second labels the model gets {points:.1f} points fewer right ({low:.1f} to {high:.1f}).",
)
_MORE = marked(
    "engine",
    "With the second labels the model gets {points:.1f} points more right ({low:.1f} to {high:.1f}).",
)
_NO_DIFFERENCE = marked(
    "engine",
    "No difference can be shown. With the second labels the model may get up to {fewer:.1f} points fewer "
    "right, or up to {more:.1f} more.",
)
_HOW = marked(
    "engine",
    "Accuracy on held-out first labels: {first:.3f} with the first labels, {other:.3f} with the second ones "
    "({way}, {rows:,} texts, cross-validated).",
)
_TRAINING = marked("engine", "Training with each column’s labels")
_WAYS = {
    TFIDF: marked("engine", "TF-IDF and a regression"),
    REGRESSION: marked("engine", "a regression on {model}, frozen"),
}


@dataclass(frozen=True, slots=True)
class LabelCost:
    """What a model reaches with each annotator's labels. model: whose frozen encoder reads; "": words count.

    first, other: accuracy with each one's labels, by the first's on held-out rows. difference: the second's
    less the first's, with its 95 % interval. num_rows: different texts. repetitions: of FOLDS folds.
    """

    model: str
    first: float
    other: float
    difference: Difference
    num_rows: int
    repetitions: int

    @property
    def way(self) -> str:
        """TFIDF or REGRESSION, of engine/train/ways/names.py."""
        return REGRESSION if self.model else TFIDF

    @property
    def sentence(self) -> Sentence:
        """How much worse a model gets, or that this cannot be told."""
        low, high = (100 * end for end in self.difference.interval or (-1.0, 1.0))
        if not self.difference.is_sure:
            return Sentence(_NO_DIFFERENCE, {"fewer": max(0.0, -low), "more": max(0.0, high)})
        points = 100 * abs(self.difference.value)
        if self.difference.value < 0:
            return Sentence(_FEWER, {"points": points, "low": -high, "high": -low})
        return Sentence(_MORE, {"points": points, "low": low, "high": high})

    @property
    def how(self) -> Sentence:
        """What was measured."""
        way = Sentence(_WAYS[self.way], {"model": self.model})
        return Sentence(_HOW, {"first": self.first, "other": self.other, "way": way, "rows": self.num_rows})


def costing(
    table: Table,
    found: Agreement,
    text: Sequence[str],
    model: Path | None = None,
    max_length: int = 128,
    seed: int = 0,
) -> Steps[LabelCost]:
    """Return what it costs to learn from the second labels of rows that both labelled, step by step.

    Args: text: columns of the text; of rows that repeat one, the first counts. model: a folder whose frozen
    encoder gives the vectors; None: words are counted.
    Raises: DataError: there are too few rows, or no column is named. ModelError, UserError: the model cannot
    be opened or read.
    """
    if not text:
        raise DataError(_NO_TEXT)
    places, texts = _different_texts(table, found, text, seed)
    first, other = found.first[places], found.other[places]
    if len(places) < LEAST_ROWS or (np.bincount(first) >= LEAST_A_LABEL).sum() < 2:
        values = {"rows": LEAST_ROWS, "least": LEAST_A_LABEL, "count": len(places)}
        raise DataError(_TOO_FEW, **values)
    if model is None:
        features = word_features(texts)
        answers = [answers_by_features(features, labels) for labels in (first, other)]
    else:
        subject = LoadedModel.open(model, "auto")
        pooling = PoolingConfig("mean", subject.config.num_hidden_layers)
        embedded = yield from embed(subject, texts, [pooling], max_length=max_length)
        vectors = np.zeros((len(texts), embedded.vectors.shape[2]), np.float32)
        vectors[embedded.places] = embedded.vectors[0]
        names = len(found.labels)
        answers = [answers_by_vectors(vectors, labels, names, seed) for labels in (first, other)]
    one, two = yield from judging(answers, first, seed)
    name = "" if model is None else model.name
    accuracies = float(one.mean()), float(two.mean())
    return LabelCost(name, *accuracies, paired_difference(one, two), len(places), len(one))


def _different_texts(
    table: Table, found: Agreement, text: Sequence[str], seed: int
) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Return (n,) the places among the rows of both of the first of each text, and the texts."""
    columns = [table.frame[table.column(name)].array.take(found.rows).tolist() for name in text]
    texts = list(map("\n".join, zip(*columns, strict=True)))
    places = np.array(sorted({one: place for place, one in reversed([*enumerate(texts)])}.values()), np.int64)
    places = places[[bool(texts[place].strip()) for place in places.tolist()]]
    if len(places) > MOST_ROWS:
        places = np.sort(np.random.default_rng(seed).choice(places, MOST_ROWS, replace=False))
    return places, [texts[place] for place in places.tolist()]


def judging(answers: Sequence[Answers], targets: Labels, seed: int) -> Steps[tuple[Shares, Shares]]:
    """Return (repetitions, n) twice, 1 where what learned from an annotator is right, in the same folds.

    Args: answers: by the labels of the first and of the second. targets: (n,) the first's.
    """
    found: tuple[list[Shares], ...] = ([], [])
    repetitions = int(np.clip(ROWS_ANSWERED // len(targets), 1, MOST_REPETITIONS))
    for repetition in range(repetitions):
        for place, (one, hits) in enumerate(zip(answers, found, strict=True)):
            yield Progress(stage=_TRAINING, done=2 * repetition + place, total=2 * repetitions)
            hits.append((yield from beats(hits_of(one, targets, FOLDS, 1, seed + repetition))).each)
    return np.stack(found[0]), np.stack(found[1])


def paired_difference(first: Shares, other: Shares) -> Difference:
    """Return the difference of two accuracies of repeated cross-validation in the same folds.

    McNemar's test and its interval, with as many rows as are left by the corrected variance of Nadeau and
    Bengio 2003, as `Hits.interval` has it. Args: first, other: (repetitions, n), 1 where a row was right.
    """
    repetitions, count = first.shape
    rows = max(2, round(count / (1 / repetitions + FOLDS / (FOLDS - 1))))
    only = [round(rows * float(np.mean(one > two))) for one, two in ((first, other), (other, first))]
    ones, others = np.zeros(rows, bool), np.zeros(rows, bool)
    ones[: only[0]] = True
    others[only[0] : only[0] + only[1]] = True
    told = compared_hits(ones, others)
    value = float(other.mean() - first.mean())
    low, high = told.interval or (-1.0, 1.0)
    return Difference(value, (min(low, value), max(high, value)), told.p_value, told.test)
