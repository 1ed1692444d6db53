"""A tag for each asked word: the probabilities, their loss, and what they are worth by word and by entity.

A word without a piece is never asked: it counts as a word whose answer is no entity.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from engine.errors import Sentence, marked, some_of
from engine.events import Beat, Evaluated, Steps
from engine.model.heads import on_batch
from engine.text.batch import IGNORE, Batch, EncodedRows
from engine.text.tagged.texts import Entity
from engine.train.entity_scores import compared_entities, lenient_spans, score_entities
from engine.train.metrics import ONE_ANSWER, class_scores, notes_on, score_classes
from engine.train.scored import ERROR, F1, SHARE, TAKEN, TYPE, MarkColumns, ScoreRows, coded
from engine.train.task import Measures, StepMeans, cross_entropy
from engine.train.tasks.token_labels.details import NONE_FOUND, entity_details, tag_details
from engine.train.tasks.token_labels.kept import TaggedRows

OUTSIDE = "O"
BETWEEN = "; "  # entities of a text, as a person reads them
NO_TAG = "_"  # where tags are plain, the answer to a word that the model does not see
MOST_CONFUSED = 100  # tags whose confusion is counted
_OF_ENTITY = re.compile(r"O|[BIESLUMW]-.+", re.S)
_NEVER = marked("engine", "Types that occur but are never found: {types} ({count} of {total}).")


def are_plain(labels: Sequence[str]) -> bool:
    """Whether tags are those of words, as parts of speech are, and say nothing of entities."""
    return not all(map(_OF_ENTITY.fullmatch, labels)) or set(labels) <= {OUTSIDE}


@dataclass(frozen=True)
class TokenLabels:
    """One of C tags for each word, of which entities are made.

    tags: all that occur in the data, those that the head knows first; empty: these. weights: (C,), what a
    word of each tag counts in training; empty: 1 each. label_smoothing: how much of an answer is shared out
    among all tags in training. Measuring knows neither.
    """

    labels: tuple[str, ...]
    tags: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    label_smoothing: float = 0.0
    name: ClassVar[str] = "token-labels"
    metric: ClassVar[str] = "entity_f1"
    keeps_best: ClassVar[bool] = True
    unasked: ClassVar[str] = OUTSIDE

    def forward(self, model: nn.Module, batch: Batch) -> Tensor:
        """Return logits (M, C) of the words that are asked."""
        return on_batch(model, batch, batch.chosen)

    def count(self, parts: Sequence[Batch]) -> Tensor:
        """Return (what all words count together, number of words), those of unknown tags left out."""
        targets = torch.cat([part.targets for part in parts if part.targets is not None]).cpu()
        targets = targets[targets != IGNORE]
        count = float(len(targets))
        weight = (
            float(torch.tensor(self.weights, dtype=torch.float64)[targets].sum()) if self.weights else count
        )
        return torch.tensor([weight, count], dtype=torch.float64)

    def loss(self, model: nn.Module, batch: Batch, totals: Tensor) -> tuple[Tensor, Tensor]:
        """Cross-entropy in float32, a mean over the step's words by what they count."""
        logits = self.forward(model, batch).float()
        return cross_entropy(logits, batch.targets, self.weights, self.label_smoothing, float(totals[0]))

    def read(self, tally: Tensor, totals: Tensor) -> StepMeans:
        """Return mean loss and share of words with the right tag."""
        loss, hits = tally.tolist()
        return StepMeans(loss, None, {"token_accuracy": hits / max(float(totals[1]), 1.0)})

    def decode(self, outputs: Tensor) -> Tensor:
        """Return probabilities (M, C) float32."""
        return torch.softmax(outputs.float(), -1)

    def measure(self, answers: np.ndarray, data: EncodedRows) -> Steps[Measures]:
        """Args: answers: (A, C) probabilities."""
        assert isinstance(data, TaggedRows)
        names = (*(self.tags or self.labels), self.unasked)
        predicted = np.full(data.num_words, len(names) - 1)
        predicted[data.decided] = answers.argmax(-1)
        yield Beat()
        own = data.tags[data.decided]
        right = answers[np.arange(len(own)), np.where(own < len(self.labels), own, 0)].astype(float)
        right = right[own < len(self.labels)]
        loss = float(-np.log(np.maximum(right, np.finfo(np.float32).tiny)).mean()) if len(right) else 0.0
        sure = np.zeros(data.num_words, np.float32)
        sure[data.decided] = answers.max(-1, initial=0.0)
        measured = yield from self._scored(loss, names, predicted, sure, data)
        counts = {
            "num_examples": data.num_rows,
            "num_words": data.num_words,
            "num_unasked": data.num_words - len(data.decided),
        }
        return replace(measured, details={**counts, **measured.details})

    def _scored(
        self, loss: float, names: Sequence[str], predicted: np.ndarray, sure: np.ndarray, data: TaggedRows
    ) -> Steps[Measures]:
        true, found = _by_text(names, data.tags, data), _by_text(names, predicted, data)
        if any(label[0] not in "BIO" for label in self.labels):
            found = [as_iob2(one) for one in found]
        yield Beat()
        scores = score_entities(true, found)
        yield Beat()
        strict = score_entities(true, found, "strict")
        yield Beat()
        metrics = {
            "entity_f1": scores.overall.f1,
            "entity_f1_strict": strict.overall.f1,
            "entity_precision": scores.overall.precision,
            "entity_recall": scores.overall.recall,
            "token_accuracy": scores.token_accuracy,
        }
        per_type = {
            kind: (one.precision, one.recall, one.f1, one.support) for kind, one in scores.per_type.items()
        }
        details = entity_details(scores, found, data)
        each = partial(self.each, true, found, sure, data)
        return Measures(loss, metrics, None, per_type, scores.types, details, each)

    def each(
        self, true: list[list[str]], found: list[list[str]], sure: np.ndarray, data: TaggedRows
    ) -> ScoreRows:
        """Return what every text got. Args: true, found: its tags. sure: (W,) probabilities of the found."""
        sides, counts = (list[str](), list[str]()), []
        marks = list[tuple[int, tuple[str, ...]]]()
        for place, both in enumerate(zip(true, found, strict=True)):
            ours, theirs = map(lenient_spans, both)
            marks += [(place, mark) for mark in _marks(ours, theirs)]
            counts.append((len(set(ours) & set(theirs)), len(theirs), len(ours)))
            text, spans = data.store.text(place) if ours or theirs else ("", ())
            for side, entities in zip(sides, (ours, theirs), strict=True):
                said = [f"{kind}: {text[spans[a][0] : spans[b - 1][1]]}" for a, b, kind in entities]
                side.append(BETWEEN.join(said))
        adds = np.array(counts, np.float64).reshape(-1, 3)
        whole = adds[:, 1] + adds[:, 2]
        right = np.divide(2 * adds[:, 0], whole, out=np.ones(len(whole)), where=whole > 0)
        return _each(sides, adds, F1, right, sure, data, MarkColumns.of(marks))

    def remarks(self, measures: Measures | Evaluated, split: str) -> list[tuple[Sentence, str]]:
        """Say that no entity is found, or none of some types."""
        found = measures.per_label or {}
        occur = [kind for kind, (_, _, _, support) in found.items() if support]
        never = [kind for kind in occur if not found[kind][1]]
        if not occur or not never:
            return []
        if never == occur and not measures.metrics.get("entity_precision"):
            count = sum(found[kind][3] for kind in occur)
            return [(Sentence(NONE_FOUND, {"split": split, "count": count}), "wrong")]
        types = some_of([kind[:40] for kind in never], 5)
        values = {"types": types, "count": len(never), "total": len(occur)}
        return [(Sentence(_NEVER, values), "look")]


@dataclass(frozen=True)
class PlainTags(TokenLabels):
    """One of C tags for each word, which make no entities."""

    metric: ClassVar[str] = "token_accuracy"
    unasked: ClassVar[str] = NO_TAG

    def _scored(
        self, loss: float, names: Sequence[str], predicted: np.ndarray, sure: np.ndarray, data: TaggedRows
    ) -> Steps[Measures]:
        yield Beat()
        size = len(names) if len(data.decided) < data.num_words else len(names) - 1
        names = tuple(names[:size])
        scores = score_classes(data.tags.astype(np.int64), predicted, size)
        summary = scores.summary()
        metrics = {"token_accuracy": summary.pop("accuracy"), **summary}
        figures = zip(scores.precision, scores.recall, scores.f1, scores.support, strict=True)
        per_tag = {
            name: (float(p), float(r), float(f1), int(count))
            for name, (p, r, f1, count) in zip(names, figures, strict=True)
        }
        confusion = scores.confusion if size <= MOST_CONFUSED else None
        details = tag_details(names, predicted, data)
        each = partial(self.each_word, names, predicted, sure, data)
        return Measures(loss, metrics, confusion, per_tag, names, details, each)

    def each_word(
        self, names: Sequence[str], predicted: np.ndarray, sure: np.ndarray, data: TaggedRows
    ) -> ScoreRows:
        """Return what every text got: of the words whose tags are wrong, both.

        Args: predicted: (W,) places in `names`. sure: (W,) their probabilities.
        """
        sides, bounds = (list[str](), list[str]()), data.firsts
        hits = np.concatenate([[0], np.cumsum(data.tags == predicted)])
        adds = np.stack([np.diff(hits[bounds]), np.diff(bounds)], 1).astype(np.float64)
        for place, (own, total) in enumerate(adds.tolist()):
            first, wrong = int(bounds[place]), list[int]()
            if own < total:
                text, spans = data.store.text(place)
                words = slice(first, int(bounds[place + 1]))
                wrong = np.flatnonzero(data.tags[words] != predicted[words]).tolist()
            for side, tags in zip(sides, (data.tags, predicted), strict=True):
                said = [f"{text[slice(*spans[word])]}/{names[tags[first + word]]}" for word in wrong]
                side.append(" ".join(said))
        right = np.divide(adds[:, 0], adds[:, 1], out=np.ones(len(adds)), where=adds[:, 1] > 0)
        texts = np.repeat(np.arange(len(adds)), np.diff(bounds))
        kinds = np.unique(np.stack([texts, data.tags, predicted], 1), axis=0).tolist()
        marks = MarkColumns.of((place, mark) for place, a, b in kinds for mark in _taken(names[a], names[b]))
        return _each(sides, adds, SHARE, right, sure, data, marks)

    def remarks(self, measures: Measures | Evaluated, split: str) -> list[tuple[Sentence, str]]:
        """Say that one tag only is answered, or that some never are."""
        if measures.confusion is None or measures.labels is None:
            return []
        notes = notes_on(measures.labels, class_scores(measures.confusion), split)
        return [(note, "wrong" if note.template == ONE_ANSWER else "look") for note in notes]


def _each(
    sides: tuple[list[str], list[str]],
    adds: np.ndarray,
    score: str,
    right: np.ndarray,
    sure: np.ndarray,
    data: TaggedRows,
    marks: MarkColumns,
) -> ScoreRows:
    """Return what every text got. Args: sides: what is true and what is found. sure: (W,), by word."""
    names, (true, predicted) = coded(*sides)
    words = np.append(sure, np.float32(1))
    least = np.minimum.reduceat(words, data.firsts[:-1]) if len(adds) else words[:0]
    least = np.where(np.diff(data.firsts) > 0, least, np.float32(1))
    shares = right.astype(np.float32), least.astype(np.float32)
    return ScoreRows(names, true, predicted, *shares, adds, score, marks=marks)


def _marks(true: Sequence[Entity], found: Sequence[Entity]) -> Iterator[tuple[str, ...]]:
    """Yield what a text has: types of entities, kinds of errors, which type was taken for which."""
    for error, one, other in compared_entities(true, found):
        yield from _taken(one.type if one else "", other.type if other else "")
        if error:
            yield ERROR, error


def _taken(true: str, found: str) -> Iterator[tuple[str, ...]]:
    """Yield that something was true and something found, which may be the same; "" for nothing."""
    yield TAKEN, true, found
    for kind in (true, found):
        if kind:
            yield TYPE, kind


def task_for(
    labels: Sequence[str],
    tags: Sequence[str] = (),
    weights: tuple[float, ...] = (),
    label_smoothing: float = 0.0,
) -> TokenLabels:
    """Return the task for the labels of a head. Args: tags: all that occur in the data, these first."""
    kind = PlainTags if are_plain(labels) else TokenLabels
    return kind(tuple(labels), tuple(tags), weights, label_smoothing)


def as_iob2(tags: Sequence[str]) -> list[str]:
    """Return the tags of a text, of whatever scheme, in IOB2: entities are what conlleval takes for ones."""
    return iob2_of(lenient_spans(tags), len(tags))


def iob2_of(entities: Sequence[Entity], num_words: int) -> list[str]:
    """Return the IOB2 tags of so many words."""
    tags = [OUTSIDE] * num_words
    for first, stop, kind in entities:
        tags[first:stop] = [f"B-{kind}", *[f"I-{kind}"] * (stop - first - 1)]
    return tags


def _by_text(names: Sequence[str], codes: np.ndarray, data: TaggedRows) -> list[list[str]]:
    words = [names[code] for code in codes.tolist()]
    return [words[first:stop] for first, stop in pairwise(data.firsts.tolist())]
