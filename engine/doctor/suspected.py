"""Labels that are suspected to be wrong: what all the other rows say of a row, without its own label.

Each label is learned by a smooth function of how like texts are (in the words they share, and in the vectors
of a model), and each row is answered by the function that all others give: one inverse, and no folds. Copies
of a row, near ones too, are left out with it: a label that is wrong in both does not confirm itself.
Looked at closely, a model that was taught the other rows answers as well (taught.py).
Rows are ranked by how likely the label is that stands there. A rank is a reason to look, never a verdict.

Source: Northcutt et al. 2021, Confident Learning, for ranking by self-confidence out of sample; Rifkin and
Lippert 2007, Notes on Regularized Least Squares, for what is left out one by one in closed form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.doctor.copies import comparing
from engine.doctor.expected import ExpectedErrors, expecting
from engine.doctor.finding import NO_ROWS, Finding, NewFinding, Rows
from engine.doctor.part import TablePart
from engine.doctor.taught import TaughtAnswers, taught_in_turns
from engine.errors import Sentence, marked
from engine.events import Beat, Noted, Progress, Steps
from engine.inspect.embeddings.vectors import Floats, PoolingConfig, embed
from engine.inspect.loaded_model import LoadedModel
from engine.text.example_rows import ExampleRows
from engine.train.ways.words import word_features

LEAST = 40  # labelled rows, below which nothing is learned from the others
NEIGHBOURS = 5
AT_ONCE = 10_000  # rows that say something of one another: 400 MB; of more, each has so many drawn by chance
MOST_READ = 50_000  # rows whose vectors are computed; of more, words have to do, among FEWER at once
FEWER = 4_000
_WORDS, _SMOOTH = 2.0, 1.5  # how much shared words count beside vectors, and how little one row may say
_TRIED = 2_000  # rows on which it is seen whether vectors help
_CHUNK = 512
_SHARPNESS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)  # of probabilities; what fits the labels best is taken
# how much a taught model's answers count beside likeness, those in training half of it: chosen on one
# flipping of SST-2 (benchmarks/README.md)
_TAUGHT = 3.0
_LEARNING = marked("engine", "Training on the other rows")
_SEED = 0

# E labelled examples, C labels, D numbers of a text's vector, P of its layers

Probabilities = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class DoubtfulLabels:
    """The labelled rows of a part, the most doubtful first: those whose label is not the likeliest one.

    rows: (E,) of the table. labels: (E,) the places of their labels in `names`. probabilities: (E, C) as the
    others would have it. vectors: (E, D) of length 1, None without a model. expected: how many are wrong,
    None where that cannot be told. is_taught: a model that was taught the other rows has a say in the
    probabilities.
    """

    rows: Rows
    labels: Rows
    names: tuple[str, ...]
    probabilities: Probabilities
    vectors: Floats | None
    expected: ExpectedErrors | None = None
    is_taught: bool = False

    @property
    def count(self) -> int:
        """How many labels are not the likeliest one, which come first; 0 where nothing can be told."""
        return 0 if self.expected is None else int((self.suggested != self.labels).sum())

    @property
    def suggested(self) -> Rows:
        """(E,) the likeliest label of each."""
        return np.asarray(self.probabilities.argmax(1))

    @property
    def own(self) -> Probabilities:
        """(E,) how likely the label is that stands there."""
        return np.asarray(self.probabilities[np.arange(len(self.labels)), self.labels])

    def neighbours(self, place: int, count: int = NEIGHBOURS) -> Rows:
        """Return the places of the rows whose texts are most like one's, the likest first."""
        if self.vectors is None:
            return np.zeros(0, np.int64)
        likeness = self.vectors @ self.vectors[place]
        likeness[place] = -2
        order = np.argsort(-likeness, kind="stable")[:count]
        return order


def suspecting(
    part: TablePart, model: Path | None, max_length: int = 128, *, closely: bool = False
) -> Steps[DoubtfulLabels | None]:
    """Return which labels of a part are doubtful, and tell of them as a finding.

    Args: model: a folder whose vectors help, or None: counted words alone. closely: fine-tune it, too, three
    times without a third of the rows, which takes many times as long.
    """
    counts = part.counts()
    usable = np.flatnonzero((part.examples.labels >= 0) & (counts[part.examples.labels] >= 2))
    kept = np.unique(part.examples.labels[usable])
    if len(usable) < LEAST or len(kept) < 2 or len(kept) > len(usable) // 4:
        template = marked("engine", "There are too few rows to find label errors.")
        yield Noted(sentence=Sentence(template))
        return None
    examples, labels = part.examples.take(usable), np.searchsorted(kept, part.examples.labels[usable])
    names = tuple(part.names[place] for place in kept)
    vectors: Floats | None = None
    if model is not None and len(usable) > MOST_READ:
        model, many = None, marked("engine", "With more than {most:,} rows, only their words are compared.")
        yield Noted(sentence=Sentence(many, {"most": MOST_READ}))
    if model is not None:
        vectors = yield from _vectors(model, examples, max_length)
    features = None if vectors is None else _standard(vectors)
    copies = yield from _copies(replace(part, examples=examples))
    probabilities = yield from _said_by_others(_words(examples), features, labels, len(names), copies)
    is_taught = False
    if closely and model is not None:
        taught = yield from taught_in_turns(model, examples, labels, len(names), max_length, copies)
        is_taught = _num_right(taught.unseen, labels) >= _num_right(probabilities, labels)
        if is_taught:
            probabilities = _together(probabilities, taught)
    own = probabilities[np.arange(len(labels)), labels]
    order = np.lexsort((own, probabilities.argmax(1) == labels))
    unit = None if vectors is None else _of_length_1(vectors[-3][order])
    probabilities, labels = probabilities[order], labels[order]
    expected = yield from expecting(probabilities, labels)
    found = DoubtfulLabels(examples.rows[order], labels, names, probabilities, unit, expected, is_taught)
    yield NewFinding(finding=_finding(part, found, model))
    return found


def _copies(part: TablePart) -> Steps[Rows]:
    """Return (E,), the same number for examples that say the same or nearly."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    texts = yield from comparing([part])
    size = int(texts.group.max()) + 1
    pairs = (np.ones(len(texts.near.first), np.int8), (texts.near.first, texts.near.second))
    _, joined = connected_components(coo_array(pairs, shape=(size, size)), directed=False)
    return np.asarray(joined[texts.group], np.int64)


def _vectors(model: Path, examples: ExampleRows, max_length: int) -> Steps[Floats]:
    """Return (P, E, D): the mean of each text at each layer, its first token and its maximum at the last.

    Zeros where there is nothing to read.
    """
    subject = LoadedModel.open(model, "auto")
    depth = subject.config.num_hidden_layers
    poolings: Sequence[PoolingConfig] = [PoolingConfig("mean", layer) for layer in range(depth + 1)]
    poolings = [*poolings, PoolingConfig("cls", depth), PoolingConfig("max", depth)]
    found = yield from embed(
        subject, examples.texts(), poolings, pairs=examples.pairs(), max_length=max_length
    )
    vectors = np.zeros((len(poolings), len(examples), found.vectors.shape[2]), np.float32)
    vectors[:, found.places] = found.vectors
    return vectors


def _said_by_others(
    words: Any, vectors: Floats | None, labels: Rows, num_labels: int, copies: Rows
) -> Steps[Probabilities]:
    """Return (E, C), what the other rows say of each.

    Args: words: (E, F), sparse. vectors: (E, D). copies: (E,), as `_copies` has it.
    """
    order = np.random.default_rng(_SEED).permutation(len(labels))
    if vectors is not None and not (
        yield from _do_help(words, vectors, labels, num_labels, copies, order[:_TRIED])
    ):
        vectors = None
    scores = np.zeros((len(labels), num_labels))
    num_blocks = -(-len(labels) // (AT_ONCE if len(labels) <= MOST_READ else FEWER))
    for number in range(num_blocks):
        block = np.sort(order[number::num_blocks])
        yield Progress(stage=_LEARNING, done=number, total=num_blocks)
        scores[block] = yield from _left_one_out(words, vectors, labels, num_labels, copies, block)
    return _probabilities(scores, labels)


def _do_help(
    words: Any, vectors: Floats, labels: Rows, num_labels: int, copies: Rows, some: Rows
) -> Steps[bool]:
    """Return whether vectors tell more of some rows than words alone: of another language they do not."""
    right = []
    for used in (None, vectors):
        scores = yield from _left_one_out(words, used, labels, num_labels, copies, some)
        right.append(int((scores.argmax(1) == labels[some]).sum()))
    return right[1] >= right[0]


def _left_one_out(
    words: Any, vectors: Floats | None, labels: Rows, num_labels: int, copies: Rows, block: Rows
) -> Steps[Probabilities]:
    """Return (B, C) scores of some rows, each by the others of them but its copies: about 1 for a label, -1
    against it.
    """
    from scipy.linalg import blas, lapack  # here: it takes a moment

    alike = yield from _likeness(words[block], None if vectors is None else vectors[block])
    alike[np.diag_indices(len(block))] += _SMOOTH
    factor, _ = lapack.spotrf(alike, lower=1, overwrite_a=1)
    yield Beat()
    inverse, _ = lapack.spotri(factor, lower=1, overwrite_c=1)
    yield Beat()
    targets = np.full((len(block), num_labels), -1, np.float32, order="F")
    targets[np.arange(len(block)), labels[block]] = 1
    weights = blas.ssymm(1.0, inverse, targets, lower=1)
    scores = np.asarray(targets - weights / np.diag(inverse)[:, None], np.float64)
    for together in _several(copies[block]):
        lower = np.tril(inverse[np.ix_(together, together)])  # the other half is not filled in
        whole = lower + np.tril(lower, -1).T
        scores[together] = targets[together] - np.linalg.solve(whole, weights[together])
        yield Beat()
    return scores


def _several(copies: Rows) -> list[Rows]:
    """Return the places of each number that stands in several, in order."""
    order = np.argsort(copies, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(copies[order])) + 1)
    return [group for group in groups if len(group) > 1]


def _likeness(words: Any, vectors: Floats | None) -> Steps[Floats]:
    """Return (B, B), how like any two texts are: by words they share, and by how near their vectors lie."""
    size = words.shape[0]
    alike = np.zeros((size, size), np.float32, order="F")
    for start in range(0, size, _CHUNK):
        some = slice(start, start + _CHUNK)
        alike[:, some] = _WORDS * (words @ words[some].T).toarray()
        yield Beat()
    if vectors is None:
        return alike
    length = (vectors * vectors).sum(1)
    few, long = vectors[:_CHUNK], length[:_CHUNK]
    usual = max(float(np.median(long[:, None] + long - 2 * few @ few.T)), 1e-6)
    for start in range(0, size, _CHUNK):
        some = slice(start, start + _CHUNK)
        apart = length[:, None] + length[some] - 2 * vectors @ vectors[some].T
        alike[:, some] += np.exp(-np.maximum(apart, 0) / usual)
        yield Beat()
    return alike


def _probabilities(scores: Probabilities, labels: Rows) -> Probabilities:
    """Return scores as probabilities, as sharp as fits the labels best."""
    return min((_shares(sharp * scores) for sharp in _SHARPNESS), key=lambda shares: _loss(shares, labels))


def _shares(scores: Probabilities) -> Probabilities:
    found = np.exp(scores - scores.max(1, keepdims=True))
    return np.asarray(found / found.sum(1, keepdims=True))


def _loss(shares: Probabilities, labels: Rows) -> float:
    return float(-np.log(np.maximum(shares[np.arange(len(labels)), labels], 1e-9)).mean())


def _num_right(said: Probabilities, labels: Rows) -> int:
    return int((said.argmax(1) == labels).sum())


def _together(said: Probabilities, taught: TaughtAnswers) -> Probabilities:
    """Return (E, C), what the others say by being alike and by having taught a model."""
    first, unseen, met = (np.log(np.maximum(each, 1e-6)) for each in (said, taught.unseen, taught.met))
    return _shares((first + _TAUGHT * (unseen + met / 2)) / (1 + 1.5 * _TAUGHT))


def _words(examples: ExampleRows) -> Any:
    """Return the words of each text, or of both of a pair: (E, F), sparse."""
    texts, pairs = examples.texts(), examples.pairs()
    if pairs is not None:
        texts = [f"{text} \n {pair}" for text, pair in zip(texts, pairs, strict=True)]
    return word_features(texts)


def _standard(vectors: Floats) -> Floats:
    """Return (E, P * D), the numbers of all layers, each of mean 0 and spread 1."""
    mean, spread = vectors.mean(1, keepdims=True), vectors.std(1, keepdims=True)
    scaled = (vectors - mean) / np.maximum(spread, 1e-6)
    return np.ascontiguousarray(scaled.transpose(1, 0, 2).reshape(vectors.shape[1], -1))


def _of_length_1(vectors: Floats) -> Floats:
    centred = vectors - vectors.mean(0)
    return np.asarray(centred / np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-9))


def _doubting(found: DoubtfulLabels, model: Path | None) -> Sentence:
    """Return in words what it is that doubts the labels."""
    if model is None:
        return Sentence(marked("engine", "word counts alone"))
    taught = marked("engine", "word counts and {model} trained on the other rows")
    untaught = marked("engine", "word counts and {model}")
    return Sentence(taught if found.is_taught else untaught, {"model": model.name})


def _finding(part: TablePart, found: DoubtfulLabels, model: Path | None) -> Finding:
    by = _doubting(found, model)
    values = {"count": found.count, "total": len(found.rows), "name": part.name, "model": by}
    if found.expected is None:
        return Finding(
            kind="suspected_labels",
            part=part.name,
            rows=NO_ROWS,
            sentence=Sentence(_UNTOLD, values),
            why=Sentence(_WHY_UNTOLD),
            advice=Sentence(_ADVICE_UNTOLD),
            counts={"num_rows": len(found.rows), "expected_wrong": None},
        )
    expected, told = found.expected, slice(found.count)
    said = {**values, "expected": expected.count, "low": expected.low, "high": expected.high}
    return Finding(
        kind="suspected_labels",
        part=part.name,
        rows=found.rows[told],
        sentence=Sentence(_SUSPECTED, said),
        why=Sentence(
            marked(
                "engine",
                "A label error teaches the model something false, and counts as an error of the model.",
            )
        ),
        advice=Sentence(marked("engine", "Review the first ones. Many further down are correct, but hard.")),
        values={
            "label": [found.names[place] for place in found.labels[told].tolist()],
            "suggested": [found.names[place] for place in found.suggested[told].tolist()],
            "probability": np.asarray(found.own[told], np.float32),
            "probability_of_suggested": np.asarray(found.probabilities[told].max(1), np.float32),
            "probability_wrong": np.asarray(expected.wrong[told], np.float32),
        },
        counts={
            "num_rows": len(found.rows),
            "num_suspected": found.count,
            "expected_wrong": expected.count,
            "expected_wrong_interval": [expected.low, expected.high],
        },
    )


_SUSPECTED = marked(
    "engine",
    "{count:,} of {total:,} labels of {name} differ from the answers of {model}. "
    "About {expected:,} labels ({low:,} to {high:,}) are expected to be wrong. The "
    "other differences are errors of the model.",
)
_UNTOLD = marked("engine", "Label errors of {name} cannot be found with {model}.")
_WHY_UNTOLD = marked("engine", "The other rows say no more about a row than how frequent each label is.")
_ADVICE_UNTOLD = marked(
    "engine",
    "Check whether text and label belong together at all, or use a model that knows the language.",
)
