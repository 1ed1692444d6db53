"""Which way a table with few labels is learned in: judged by cross-validation on its own rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.device import Device
from engine.errors import ConfigError, Sentence, marked
from engine.events import Judged, JudgedWay, Noted, Steps
from engine.model.config import FIRST_LAST
from engine.model.heads import SequenceClassifier
from engine.model.weights import load_headed
from engine.settings.finetune import AdaptConfig, FineTuneConfig
from engine.text.batch import EncodedRows
from engine.train.optimizer import default_learning_rate
from engine.train.plan import epochs_of
from engine.train.prepare import Setup
from engine.train.ways.frozen import LinearHead, answers_by_vectors, head_of, vectors_of
from engine.train.ways.judged import (
    COMPARING,
    Answers,
    Hits,
    Shares,
    chosen,
    firsts_of,
    hits_of,
    honest_accuracy,
)
from engine.train.ways.names import (
    AUTO,
    CONTRASTIVE,
    COSTLY_FOLDS,
    COSTLY_FROM,
    FINE_TUNED,
    LEAST_A_LABEL,
    LEAST_STEPS,
    PAIRS,
    REGRESSION,
    SAID,
    TFIDF,
    USUAL,
    tried,
)
from engine.train.ways.progress import TAUGHT, as_part, bounds_of, timed
from engine.train.ways.regression import FOLDS, Labels, can_choose
from engine.train.ways.taught import answered, teach_classifier, teach_pairs
from engine.train.ways.words import answers_by_words

MOST_REPETITIONS, ROWS_ANSWERED = 5, 1000  # of the cheap ways
TAKEN = marked(
    "engine",
    "Taken: {way}. Cross-validated accuracy {accuracy:.3f} ({low:.3f} to {high:.3f}) on {rows:,} "
    "labelled rows.",
)
TOO_FEW = marked("engine", "not tried: too few examples of each label")
ASKED_FOR = marked("engine", "It was asked for, whatever cross-validation finds.")
SETTLED = ("encoder", "frozen_layers", "layer_mix", "new_layers", "pooling", "rare_labels")  # by the way
A_FIT, WORDS_FIT = 0.1, 0.01  # what a regression costs for each row that it is fitted to, in texts read
PAIRS_RATE = 0.5  # times the usual learning rate, for an encoder that learns from pairs


@dataclass(frozen=True)
class Start:
    """What every way starts from. rows: the labelled ones. targets: (n,) their labels."""

    config: FineTuneConfig
    setup: Setup
    device: Device

    @property
    def rows(self) -> EncodedRows:
        return self.setup.sets["train"]

    @property
    def targets(self) -> Labels:
        return self.rows.targets

    @property
    def num_labels(self) -> int:
        return len(self.setup.labels)

    @property
    def rate(self) -> float:
        """The learning rate of all weights."""
        return self.config.training.learning_rate or default_learning_rate(self.setup.config)

    @property
    def num_steps(self) -> int:
        """Steps that fine-tuning is given: those of the epochs asked for, and as many as teach at least."""
        steps_per_epoch = -(-len(self.rows) // self.config.training.batch_size)
        return steps_per_epoch * epochs_of(self.config, steps_per_epoch)

    @property
    def counts(self) -> list[int]:
        """Examples of each label."""
        return [int(count) for count in np.bincount(self.targets, minlength=self.num_labels)]

    @property
    def tried(self) -> tuple[str, ...]:
        """The ways that are judged."""
        return tried(self.counts, self.config.adapt.take)

    def model(self, *, of_means: bool) -> SequenceClassifier:
        """Return the pretrained model under a new head, on the device."""
        shape = self.setup.config
        shape = replace(shape, pooling=FIRST_LAST) if of_means else shape
        folder, labels = Path(self.config.model.model), self.setup.labels
        seed = self.config.training.seed
        model, _ = load_headed(folder, SequenceClassifier, labels, config=shape, seed=seed)
        return model.to(self.device.device)


def check_way(config: FineTuneConfig, task: str) -> None:
    """Refuse settings that a way other than fine-tuning cannot have. Raises: ConfigError."""
    adapt = config.adapt
    if adapt.take and adapt.way != AUTO:
        template = marked("engine", "{field}: it belongs to the method auto. Set way to auto.")
        raise ConfigError(template, field="take")
    if adapt.way == FINE_TUNED:
        return
    if task != "classification":
        template = marked("engine", "{field}: {value} needs one label a text; this is the task {task}.")
        raise ConfigError(template, field="way", value=adapt.way, task=task)
    if config.model.model.startswith("new:"):
        template = marked(
            "engine",
            "{field}: a model from random weights has learned nothing to build on. Choose a trained one.",
        )
        raise ConfigError(template, field="way")
    for name in SETTLED:
        if getattr(adapt, name) != getattr(AdaptConfig(), name):
            template = marked("engine", "{field}: the method {way} settles it. Leave it as it was.")
            raise ConfigError(template, field=name, way=adapt.way)


def choosing(start: Start) -> Steps[Judged]:
    """Judge the ways that the rows allow, telling what is known so far; return that with what is taken."""
    take = start.config.adapt.take
    ways = _first_known(start)
    if not can_choose(start.targets):
        template = marked("engine", "Too few examples of each label to compare methods; {way} is taken.")
        taken = take or REGRESSION
        why = Sentence(template, {"way": Sentence(SAID[taken])})
        yield Noted(sentence=why, level="look")
        return Judged(ways=ways, rows=len(start.rows), taken=taken, why=why)
    yield Judged(ways=ways, rows=len(start.rows))
    judging = _judged(start, {one.way: one for one in ways})
    hits, paired = yield from timed(judging, COMPARING)
    taken = take or chosen(paired)
    accuracy = hits[taken].accuracy if taken in hits else None
    if accuracy is not None and not take:
        own = {name: hits[name] for name in paired}
        accuracy = honest_accuracy(own, paired, start.config.training.seed)
    why = Sentence(ASKED_FOR) if take else _why(taken, paired, start)
    interval = None if accuracy is None else hits[taken].interval(accuracy)
    found = tuple(_about(one, hits.get(one.way)) for one in ways)
    judged = Judged(
        ways=found, rows=len(start.rows), taken=taken, accuracy=accuracy, interval=interval, why=why
    )
    yield judged
    yield from _told(judged, hits[TFIDF].accuracy)
    return judged


def document_of(judged: Judged, start: Start) -> dict[str, Any]:
    """Return what was judged as JSON can hold it: what a model's cloze.json keeps of it."""
    words = next((one.accuracy for one in judged.ways if one.way == TFIDF), None)
    return {
        "way": judged.taken,
        "said": SAID[judged.taken],
        "accuracy": judged.accuracy,
        "interval": None if judged.interval is None else list(judged.interval),
        "rows": judged.rows,
        "least_a_label": min(start.counts),
        "why": str(judged.why),
        "tfidf_is_as_good": _is_as_good(words, judged.accuracy),
        "ways": [{**asdict(one), "why": str(one.why)} for one in judged.ways],
    }


def solving(start: Start, way: str, model: SequenceClassifier) -> Steps[LinearHead]:
    """Fit a head on all rows, after the encoder of `model` has learned from pairs where that is the way."""
    if way == CONTRASTIVE:
        rate, seed = PAIRS_RATE * start.rate, start.config.training.seed
        yield from teach_pairs(model, start.rows, start.targets, start.device, rate, seed)
    vectors = yield from vectors_of(model, start.rows, start.device)
    return head_of(vectors, start.targets, start.num_labels, start.config.training.seed)


def on_solved(way: str, num_rows: int) -> Sentence:
    """Say how a head came about that no step has moved."""
    template = marked(
        "engine",
        "The encoder stays frozen. The head is a regression on the mean of all tokens after the embeddings "
        "and after the last layer, fitted to its end on {rows:,} rows.",
    )
    if way == CONTRASTIVE:
        template = marked(
            "engine",
            "The encoder was trained on pairs of rows for {steps} steps. The head is a regression on the "
            "mean of all tokens after the embeddings and after the last layer, fitted to its end on "
            "{rows:,} rows.",
        )
    return Sentence(template, {"rows": num_rows, "steps": LEAST_STEPS})


def _judged(start: Start, known: dict[str, JudgedWay]) -> Steps[tuple[dict[str, Hits], dict[str, Shares]]]:
    """Return the hits of each way, and those of the ways that make a model in the same folds.

    Args: known: what is told of each way; one that is judged takes its new place there, and is told.
    """
    targets, seed = start.targets, start.config.training.seed
    hits, ways, firsts = dict[str, Hits](), start.tried, firsts_of(start.rows)

    def tell(name: str) -> Judged:
        known[name] = _about(known[name], hits[name])
        return Judged(ways=tuple(known.values()), rows=len(targets))

    costly = [name for name in ways if name in COSTLY_FROM]
    often = int(np.clip(ROWS_ANSWERED // len(targets), 1, MOST_REPETITIONS))
    parts = iter(bounds_of(_costs(start, costly, often)))
    reading = vectors_of(start.model(of_means=True), start.rows, start.device)
    vectors = yield from as_part(reading, next(parts))
    by_vectors = answers_by_vectors(vectors, targets, start.num_labels, seed)
    for name, answers in ((REGRESSION, by_vectors), (TFIDF, answers_by_words(start.rows, targets))):
        judging = hits_of(answers, targets, FOLDS, often, seed, firsts)
        hits[name] = yield from as_part(judging, next(parts))
        yield tell(name)
    paired = {REGRESSION: hits[REGRESSION].each}
    if costly:
        judging = hits_of(by_vectors, targets, COSTLY_FOLDS, 1, seed, firsts)
        paired[REGRESSION] = (yield from as_part(judging, next(parts))).each
    for name in costly:
        answers = _by_pairs(start) if name == CONTRASTIVE else _by_all_weights(start)
        judging = hits_of(answers, targets, COSTLY_FOLDS, 1, seed, firsts)
        hits[name] = yield from as_part(judging, next(parts))
        paired[name] = hits[name].each
        yield tell(name)
    return hits, paired


def _costs(start: Start, costly: Sequence[str], often: int) -> list[float]:
    """Return what each part of `_judged` costs, about, in texts that the model reads.

    Args: costly: the ways that move the encoder. often: how often the others are repeated.
    """
    rows, batch_size = float(len(start.rows)), start.config.training.batch_size
    costs = [rows, FOLDS * often * A_FIT * rows, FOLDS * often * WORDS_FIT * rows]
    costs += [COSTLY_FOLDS * A_FIT * rows] if costly else []
    taught = {CONTRASTIVE: LEAST_STEPS * 2 * PAIRS, FINE_TUNED: start.num_steps * batch_size}
    return costs + [COSTLY_FOLDS * (TAUGHT * taught[name] + rows) for name in costly]


def _by_pairs(start: Start) -> Answers:
    def answers(learn: npt.NDArray[np.bool_]) -> Steps[Labels]:
        model, own = start.model(of_means=True), start.rows.subset(np.flatnonzero(learn))
        targets, seed = start.targets[learn], start.config.training.seed
        first, then = bounds_of([TAUGHT * LEAST_STEPS * 2 * PAIRS, len(start.rows)])
        teaching = teach_pairs(model, own, targets, start.device, PAIRS_RATE * start.rate, seed)
        yield from as_part(teaching, first)
        vectors = yield from as_part(vectors_of(model, start.rows, start.device), then)
        return head_of(vectors[learn], targets, start.num_labels, seed).answers(vectors[~learn])

    return answers


def _by_all_weights(start: Start) -> Answers:
    training = start.config.training

    def answers(learn: npt.NDArray[np.bool_]) -> Steps[Labels]:
        model, own = start.model(of_means=False), start.rows.subset(np.flatnonzero(learn))
        others = np.flatnonzero(~learn)
        teaching = teach_classifier(
            model,
            own,
            start.targets[learn],
            start.device,
            rate=start.rate,
            seed=training.seed,
            batch_size=training.batch_size,
            num_steps=start.num_steps,
        )
        first, then = bounds_of([TAUGHT * start.num_steps * training.batch_size, len(others)])
        yield from as_part(teaching, first)
        return (yield from as_part(answered(model, start.rows, others, start.device), then))

    return answers


def _first_known(start: Start) -> tuple[JudgedWay, ...]:
    """Return each way before it is judged, with the reason where it is not going to be."""
    found = []
    for name, said in SAID.items():
        why = None
        if not can_choose(start.targets):
            why = Sentence(TOO_FEW)
        elif name not in start.tried:
            template = marked(
                "engine", "not tried: it needs {rows} labelled rows, and {least} of each label, to be judged"
            )
            why = Sentence(template, {"rows": COSTLY_FROM[name], "least": LEAST_A_LABEL})
            if name in tried(start.counts):
                why = Sentence(marked("engine", "not tried: another method was asked for"))
        found.append(JudgedWay(way=name, said=said, why=why))
    return tuple(found)


def _about(one: JudgedWay, hits: Hits | None) -> JudgedWay:
    """Return what is known of a way from its hits; as it was while there are none."""
    if hits is None:
        return one
    template = marked("engine", "{folds}-fold cross-validation, {times} times")
    if hits.repetitions == 1:
        template = marked("engine", "{folds}-fold cross-validation, once")
    why = Sentence(template, {"folds": hits.folds, "times": hits.repetitions})
    return replace(one, accuracy=hits.accuracy, interval=hits.interval(), why=why)


def _told(judged: Judged, words: float) -> Iterator[Noted]:
    """Say what is taken, and why; and where no encoder is needed. Args: words: the accuracy of TF-IDF."""
    assert judged.why is not None
    if judged.accuracy is not None and judged.interval is not None:
        low, high = judged.interval
        values = {"way": Sentence(SAID[judged.taken]), "accuracy": judged.accuracy, "low": low, "high": high}
        yield Noted(sentence=Sentence(TAKEN, {**values, "rows": judged.rows}), level="fine")
    yield Noted(sentence=judged.why, level="fine")
    if judged.accuracy is not None and _is_as_good(words, judged.accuracy):
        yield Noted(sentence=_as_good(words, judged.accuracy), level="look")


def _why(taken: str, paired: dict[str, Shares], start: Start) -> Sentence:
    """Say why a way was taken."""
    if len(paired) == 1:
        template = marked(
            "engine",
            "The rows are too few to judge methods that move the encoder: for these, {rows} rows and {least} "
            "of each label are needed.",
        )
        return Sentence(template, {"rows": min(COSTLY_FROM.values()), "least": LEAST_A_LABEL})
    if taken == USUAL:
        template = marked(
            "engine",
            "With few labels it is usually the best method or near it, and no other was better here by more "
            "than one standard error.",
        )
        return Sentence(template)
    gain = float((paired[taken] - paired[USUAL]).mean())
    template = marked(
        "engine",
        "On the same rows it was {points:.1f} points of accuracy better than the usual method with few "
        "labels ({usual}), more than one standard error.",
    )
    return Sentence(template, {"points": 100 * gain, "usual": Sentence(SAID[USUAL])})


def _is_as_good(words: float | None, accuracy: float | None) -> bool:
    return words is not None and accuracy is not None and words >= accuracy


def _as_good(words: float, accuracy: float) -> Sentence:
    template = marked(
        "engine",
        "TF-IDF is as good or better: {words:.3f} against {accuracy:.3f}. Cloze makes no model of it, so a "
        "method with an encoder is taken.",
    )
    return Sentence(template, {"words": words, "accuracy": accuracy})
