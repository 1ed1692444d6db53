"""Which way a table with few labels is learned in: judged by cross-validation on its own rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.device import Device
from engine.errors import ConfigError, Sentence, marked
from engine.events import Noted, Steps
from engine.model.heads import SequenceClassifier
from engine.model.weights import load_headed
from engine.settings.finetune import AdaptConfig, FineTuneConfig
from engine.text.batch import EncodedRows
from engine.train.optimizer import default_learning_rate
from engine.train.prepare import Setup
from engine.train.ways.frozen import LinearHead, answers_by_vectors, head_of, vectors_of
from engine.train.ways.judged import (
    CONTRASTIVE,
    FINE_TUNED,
    REGRESSION,
    TFIDF,
    Answers,
    Hits,
    Shares,
    chosen,
    hits_of,
    honest_accuracy,
)
from engine.train.ways.regression import FOLDS, Labels, can_choose
from engine.train.ways.taught import LEAST_STEPS, answered, teach_classifier, teach_pairs
from engine.train.ways.words import answers_by_words

AUTO = "auto"
SOLVED = (REGRESSION, CONTRASTIVE)  # whose head is solved for, not stepped to
MOST_REPETITIONS, ROWS_ANSWERED = 5, 1000  # of the cheap ways
COSTLY_FOLDS, COSTLY_FROM = 3, {CONTRASTIVE: 24, FINE_TUNED: 96}  # rows from which on a way is tried at all
LEAST_A_LABEL = 4  # examples of the rarest label, for the same
PAIRS_RATE = 0.5  # times the usual learning rate, for an encoder that learns from pairs
SAID = {
    TFIDF: marked("engine", "TF-IDF and a regression"),
    REGRESSION: marked("engine", "Regression on the frozen encoder"),
    CONTRASTIVE: marked("engine", "Contrastive pairs, then a regression"),
    FINE_TUNED: marked("engine", "Fine-tuning of all weights"),
}


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
        training = self.config.training
        return max(LEAST_STEPS, training.num_epochs * -(-len(self.rows) // training.batch_size))

    def model(self, *, of_means: bool) -> SequenceClassifier:
        """Return the pretrained model under a new head, on the device."""
        shape = self.setup.config
        shape = replace(shape, pooling="mean") if of_means else shape
        folder, labels = Path(self.config.model.model), self.setup.labels
        seed = self.config.training.seed
        model, _ = load_headed(folder, SequenceClassifier, labels, config=shape, seed=seed)
        return model.to(self.device.device)


def check_way(config: FineTuneConfig, task: str) -> None:
    """Refuse settings that a way other than fine-tuning cannot have. Raises: ConfigError."""
    adapt = config.adapt
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
    for name in ("encoder", "frozen_layers", "layer_mix", "new_layers", "pooling", "rare_labels"):
        if getattr(adapt, name) != getattr(AdaptConfig(), name):
            template = marked("engine", "{field}: the way {way} settles it. Leave it as it was.")
            raise ConfigError(template, field=name, way=adapt.way)


def choosing(start: Start) -> Steps[dict[str, Any]]:
    """Judge every way that the rows allow, tell what is taken and why, and return that as a document."""
    if not can_choose(start.targets):
        template = marked("engine", "Too few examples of each label to compare ways; {way} is taken.")
        why = Sentence(template, {"way": Sentence(SAID[REGRESSION])})
        yield Noted(sentence=why, level="look")
        return {"way": REGRESSION, "accuracy": None, "interval": None, "why": str(why), "ways": []}
    hits, paired = yield from _judged(start)
    taken = chosen(paired)
    accuracy = honest_accuracy({name: hits[name] for name in paired}, paired, start.config.training.seed)
    interval = hits[taken].interval(accuracy)
    why = _why(taken, paired, start)
    template = marked(
        "engine",
        "Taken: {way}. Accuracy {accuracy:.3f} ({low:.3f} to {high:.3f}), cross-validated on {rows:,} "
        "labelled rows.",
    )
    low, high = interval
    values = {"way": Sentence(SAID[taken]), "accuracy": accuracy, "low": low, "high": high}
    yield Noted(sentence=Sentence(template, {**values, "rows": len(start.rows)}), level="fine")
    yield Noted(sentence=why, level="fine")
    ways = [_about(name, hits.get(name), start) for name in SAID]
    for one in ways:
        if one["way"] != taken:
            yield Noted(sentence=_said(one), level="fine")
    is_as_good = hits[TFIDF].accuracy >= accuracy
    if is_as_good:
        yield Noted(sentence=_as_good(hits[TFIDF].accuracy, accuracy), level="look")
    return {
        "way": taken,
        "said": SAID[taken],
        "accuracy": accuracy,
        "interval": list(interval),
        "rows": len(start.rows),
        "least_a_label": int(np.bincount(start.targets, minlength=start.num_labels).min()),
        "why": str(why),
        "tfidf_is_as_good": is_as_good,
        "ways": [{**one, "why": str(one["why"])} for one in ways],
    }


def solving(start: Start, way: str, model: SequenceClassifier) -> Steps[LinearHead]:
    """Fit a head on all rows, after the encoder of `model` has learned from pairs where that is the way."""
    if way == CONTRASTIVE and len(np.unique(start.targets)) > 1:
        rate, seed = PAIRS_RATE * start.rate, start.config.training.seed
        yield from teach_pairs(model, start.rows, start.targets, start.device, rate, seed)
    vectors = yield from vectors_of(model, start.rows, start.device)
    return head_of(vectors, start.targets, start.num_labels, start.config.training.seed)


def on_solved(way: str, num_rows: int) -> Sentence:
    """Say how a head came about that no step has moved."""
    template = marked(
        "engine",
        "The encoder stays frozen. The head is a regression on the mean of all tokens, fitted to its end "
        "on {rows:,} rows.",
    )
    if way == CONTRASTIVE:
        template = marked(
            "engine",
            "The encoder was trained on pairs of rows for {steps} steps. The head is a regression on the "
            "mean of all tokens, fitted to its end on {rows:,} rows.",
        )
    return Sentence(template, {"rows": num_rows, "steps": LEAST_STEPS})


def _judged(start: Start) -> Steps[tuple[dict[str, Hits], dict[str, Shares]]]:
    """Return the hits of each way, and those of the ways that make a model in the same folds."""
    targets, seed = start.targets, start.config.training.seed
    vectors = yield from vectors_of(start.model(of_means=True), start.rows, start.device)
    by_vectors = answers_by_vectors(vectors, targets, start.num_labels, seed)
    often = int(np.clip(ROWS_ANSWERED // len(targets), 1, MOST_REPETITIONS))
    hits = {REGRESSION: (yield from hits_of(by_vectors, targets, FOLDS, often, seed))}
    words = answers_by_words(start.rows, targets)
    hits[TFIDF] = yield from hits_of(words, targets, FOLDS, often, seed)
    paired = {REGRESSION: hits[REGRESSION].each}
    costly = [name for name in COSTLY_FROM if _is_tried(name, start)]
    if costly:
        paired[REGRESSION] = (yield from hits_of(by_vectors, targets, COSTLY_FOLDS, 1, seed)).each
    for name in costly:
        answers = _by_pairs(start) if name == CONTRASTIVE else _by_all_weights(start)
        hits[name] = yield from hits_of(answers, targets, COSTLY_FOLDS, 1, seed)
        paired[name] = hits[name].each
    return hits, paired


def _is_tried(name: str, start: Start) -> bool:
    counts = np.bincount(start.targets, minlength=start.num_labels)
    return len(start.rows) >= COSTLY_FROM[name] and int(counts[counts > 0].min()) >= LEAST_A_LABEL


def _by_pairs(start: Start) -> Answers:
    def answers(learn: npt.NDArray[np.bool_]) -> Steps[Labels]:
        model, own = start.model(of_means=True), start.rows.subset(np.flatnonzero(learn))
        targets, seed = start.targets[learn], start.config.training.seed
        yield from teach_pairs(model, own, targets, start.device, PAIRS_RATE * start.rate, seed)
        vectors = yield from vectors_of(model, start.rows, start.device)
        return head_of(vectors[learn], targets, start.num_labels, seed).answers(vectors[~learn])

    return answers


def _by_all_weights(start: Start) -> Answers:
    training = start.config.training

    def answers(learn: npt.NDArray[np.bool_]) -> Steps[Labels]:
        model, own = start.model(of_means=False), start.rows.subset(np.flatnonzero(learn))
        yield from teach_classifier(
            model,
            own,
            start.targets[learn],
            start.device,
            rate=start.rate,
            seed=training.seed,
            batch_size=training.batch_size,
            num_steps=start.num_steps,
        )
        return (yield from answered(model, start.rows, np.flatnonzero(~learn), start.device))

    return answers


def _about(name: str, hits: Hits | None, start: Start) -> dict[str, Any]:
    if hits is None:
        template = marked(
            "engine", "not tried: it needs {rows} labelled rows, and {least} of each label, to be judged"
        )
        why = Sentence(template, {"rows": COSTLY_FROM[name], "least": LEAST_A_LABEL})
        return {"way": name, "said": SAID[name], "accuracy": None, "interval": None, "why": why}
    template = marked("engine", "{folds}-fold cross-validation, {times} times")
    if hits.repetitions == 1:
        template = marked("engine", "{folds}-fold cross-validation, once")
    why = Sentence(template, {"folds": hits.folds, "times": hits.repetitions})
    found = {"way": name, "said": SAID[name], "accuracy": hits.accuracy, "interval": list(hits.interval())}
    steps = {FINE_TUNED: start.num_steps, CONTRASTIVE: LEAST_STEPS}.get(name)
    return {**found, "folds": hits.folds, "repetitions": hits.repetitions, "steps": steps, "why": why}


def _said(one: dict[str, Any]) -> Sentence:
    way = {"way": Sentence(one["said"]), "why": one["why"]}
    if one["accuracy"] is None:
        return Sentence(marked("engine", "{way}: {why}."), way)
    low, high = one["interval"]
    template = marked("engine", "{way}: {accuracy:.3f} ({low:.3f} to {high:.3f}), {why}.")
    return Sentence(template, {**way, "accuracy": one["accuracy"], "low": low, "high": high})


def _why(taken: str, paired: dict[str, Shares], start: Start) -> Sentence:
    """Say why a way was taken."""
    if len(paired) == 1:
        template = marked(
            "engine",
            "The rows are too few to judge ways that move the encoder: for these, {rows} rows and {least} of "
            "each label are needed.",
        )
        return Sentence(template, {"rows": min(COSTLY_FROM.values()), "least": LEAST_A_LABEL})
    if taken == REGRESSION:
        template = marked("engine", "No costlier way was better by more than one standard error.")
        return Sentence(template)
    gain = float((paired[taken] - paired[REGRESSION]).mean())
    template = marked(
        "engine",
        "In the same folds it was better than the regression by {gain:.3f}, more than one standard error.",
    )
    return Sentence(template, {"gain": gain})


def _as_good(words: float, accuracy: float) -> Sentence:
    template = marked(
        "engine",
        "TF-IDF is as good or better: {words:.3f} against {accuracy:.3f}. The model is the best of those "
        "with an encoder.",
    )
    return Sentence(template, {"words": words, "accuracy": accuracy})
