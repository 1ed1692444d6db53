"""Whether probabilities mean what they say: bins, the calibration error, a temperature, and abstaining.

A model is calibrated where of the texts that it answers with 0.8 it gets 80 % right.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from engine.evaluation.statistics import Numbers, TallyTable, interval_of
from engine.model.info import HOTTEST
from engine.train.metrics import wilson_interval
from engine.train.scored import ScoredTable

# E texts, C classes

NUM_BINS = 15
LEAST_TO_FIT = 40  # texts; a temperature is fitted on one half of them
_TIMES = 1000  # that a calibrated model is made up
_MOST_LUCK = 5e7  # texts, over all times
_LEAST = np.finfo(np.float32).tiny


@dataclass(frozen=True, slots=True)
class Bin:
    """Texts of like confidence, from `low` to `high`: how sure the model is of them, and how often right.

    interval: of 95 %, of the share that is right.
    """

    low: float
    high: float
    count: int
    hits: int
    confidence: float
    interval: tuple[float, float]

    @property
    def accuracy(self) -> float:
        return self.hits / self.count


@dataclass(frozen=True, slots=True)
class Calibration:
    """How far confidence and accuracy lie apart. error: the expected calibration error, 0 to 1.

    interval: of 95 %; None where it cannot be told. chance: what a calibrated model shows on as many texts,
    on average, by chance. p_value: how often it shows as much as this one.
    """

    bins: tuple[Bin, ...]
    error: float
    interval: tuple[float, float] | None
    chance: float
    p_value: float
    confidence: float  # mean over all texts
    accuracy: float


def bin_places(confidence: Numbers, count: int = NUM_BINS) -> npt.NDArray[np.int64]:
    """Return (E,) the bin of each text, 0 the least sure: as many texts in each as equal values allow."""
    ordered = np.sort(confidence)
    cuts = np.unique(ordered[np.arange(1, count) * len(ordered) // count]) if len(ordered) else ordered
    places = np.searchsorted(cuts, confidence, "right")
    return np.unique(places, return_inverse=True)[1] if len(places) else places


def calibration(
    confidence: npt.ArrayLike,
    right: npt.ArrayLike,
    groups: npt.ArrayLike | None = None,
    count: int = NUM_BINS,
) -> Calibration:
    """Return how well (E,) confidences, 0 to 1, tell how often (E,) answers are right."""
    sure, hits = np.asarray(confidence, np.float64), np.asarray(right, bool)
    if not len(sure):
        return Calibration((), 0.0, None, 0.0, 1.0, 0.0, 0.0)
    places = bin_places(sure, count)
    size = int(places.max()) + 1
    error = _error(places, hits - sure, size)
    by_chance = _by_chance(sure, places, size)
    columns = np.zeros((len(sure), size + 1))
    columns[np.arange(len(sure)), places] = hits - sure
    columns[:, -1] = 1
    return Calibration(
        _bins(sure, hits, places, size),
        error,
        interval_of(TallyTable.of(columns, groups), _of_sums),
        float(by_chance.mean()),
        float(((by_chance >= error).sum() + 1) / (len(by_chance) + 1)),
        float(sure.mean()),
        float(hits.mean()),
    )


def _error(places: npt.NDArray[np.int64], apart: Numbers, size: int) -> float:
    """Return the mean over texts of how far the accuracy of their bin is from its confidence."""
    return float(np.abs(np.bincount(places, apart, size)).sum() / len(places))


def _by_chance(sure: Numbers, places: npt.NDArray[np.int64], size: int) -> Numbers:
    """Return the errors that a calibrated model with the same confidences shows, each time by other luck."""
    rng, times = np.random.default_rng(0), int(np.clip(_MOST_LUCK / len(sure), 100, _TIMES))
    return np.array([_error(places, (rng.random(len(sure)) < sure) - sure, size) for _ in range(times)])


def _of_sums(sums: Numbers) -> Numbers:
    return np.asarray(np.abs(sums[..., :-1]).sum(-1) / sums[..., -1])


def _bins(
    sure: Numbers, hits: npt.NDArray[np.bool_], places: npt.NDArray[np.int64], size: int
) -> tuple[Bin, ...]:
    found = []
    for place in range(size):
        own = sure[places == place]
        right, count = int(hits[places == place].sum()), len(own)
        low, high, mean = float(own.min()), float(own.max()), float(own.mean())
        found.append(Bin(low, high, count, right, mean, wilson_interval(right, count)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Temperature:
    """What dividing all logits by `value` does. num_fitted: texts that it was fitted on. num_shown: others,
    whose losses and errors are told. fitted_on: of which texts it was one half, "" where it is the other half
    of those that are shown.

    Above 1 the model was too sure, below 1 not sure enough; its answers stay what they are.
    """

    value: float
    num_fitted: int
    num_shown: int
    loss_before: float
    loss_after: float
    error_before: float
    error_after: float
    fitted_on: str = ""


def fit_temperature(probabilities: npt.ArrayLike, targets: npt.ArrayLike) -> float:
    """Return the temperature at which the loss (negative log likelihood) of (E, C) probabilities is least.

    Source: Guo 2017; scikit-learn's CalibratedClassifierCV(method="temperature").
    """
    from scipy import optimize  # here: it takes long to import

    logs = _logs(probabilities)
    places = np.asarray(targets)
    found = optimize.minimize_scalar(
        lambda power: _loss(logs, places, float(np.exp(power))),
        bounds=(-np.log(HOTTEST), np.log(HOTTEST)),
        method="bounded",
        options={"xatol": 1e-6},
    )
    return float(np.exp(found.x))


def tempered(probabilities: npt.ArrayLike, temperature: float) -> Numbers:
    """Return (E, C) probabilities whose logits were divided by a temperature."""
    logs = _logs(probabilities) / temperature
    powers = np.exp(logs - logs.max(-1, keepdims=True))
    return np.asarray(powers / powers.sum(-1, keepdims=True))


def with_temperature(scored: ScoredTable, temperature: float) -> ScoredTable:
    """Return answers of one label a text, as sure as a temperature makes them."""
    each = scored.each
    if temperature == 1.0 or each.probabilities.shape != (len(each), len(each.names)) or not len(each):
        return scored
    found = tempered(each.probabilities, temperature)
    loss = _loss(_logs(found), each.true, 1.0)
    found = found.astype(each.probabilities.dtype)
    sure = replace(each, probabilities=found, sure=found.max(-1))
    return replace(scored, each=sure, evaluated=replace(scored.evaluated, loss=loss))


def temperature_on_halves(
    probabilities: npt.ArrayLike, targets: npt.ArrayLike, seed: int = 0
) -> Temperature | None:
    """Fit a temperature on one half of the texts, drawn by a seed, and say what it does to the other.

    None where there are too few, or only one class to answer.
    """
    found, places = np.asarray(probabilities, np.float64), np.asarray(targets)
    if len(found) < LEAST_TO_FIT or found.shape[1] < 2:
        return None
    order = np.random.default_rng(seed).permutation(len(found))
    own, other = order[: len(order) // 2], order[len(order) // 2 :]
    return _shown(fit_temperature(found[own], places[own]), len(own), found[other], places[other])


def temperature_of(fitting: ScoredTable, shown: ScoredTable) -> Temperature | None:
    """Say what the temperature that is fitted on one half of some texts does to all of others."""
    found = temperature_on_halves(fitting.each.probabilities, fitting.each.true)
    if found is None or not len(shown.each):
        return None
    probabilities = np.asarray(shown.each.probabilities, np.float64)
    told = _shown(found.value, found.num_fitted, probabilities, shown.each.true)
    return replace(told, fitted_on=fitting.evaluated.split)


def _shown(
    value: float, num_fitted: int, probabilities: Numbers, targets: npt.NDArray[np.int64]
) -> Temperature:
    """Say what a temperature does to some texts."""
    before, after = probabilities, tempered(probabilities, value)
    losses = [_loss(_logs(one), targets, 1.0) for one in (before, after)]
    first, last = (_plain_error(one, targets) for one in (before, after))
    return Temperature(value, num_fitted, len(targets), losses[0], losses[1], first, last)


def _plain_error(probabilities: Numbers, targets: npt.NDArray[np.int64]) -> float:
    sure, right = probabilities.max(-1), probabilities.argmax(-1) == targets
    places = bin_places(sure)
    return _error(places, right - sure, int(places.max()) + 1)


def _logs(probabilities: npt.ArrayLike) -> Numbers:
    return np.log(np.maximum(np.asarray(probabilities, np.float64), _LEAST))


def _loss(logs: Numbers, targets: npt.NDArray[np.int64], temperature: float) -> float:
    scaled = logs / temperature
    highest = scaled.max(-1, keepdims=True)
    norms = highest[:, 0] + np.log(np.exp(scaled - highest).sum(-1))
    return float((norms - scaled[np.arange(len(targets)), targets]).mean())


@dataclass(frozen=True, slots=True, eq=False)
class Abstaining:
    """What is left if a model answers only where it is sure enough, the surest texts first.

    threshold, coverage, accuracy: (T,), from which confidence on it answers, which share of the texts that
    is, and how many of those are right. Texts of one confidence are answered together.
    """

    threshold: Numbers
    coverage: Numbers
    accuracy: Numbers

    def at(self, threshold: float) -> tuple[float, float]:
        """Return coverage and accuracy from a confidence on; (0, 0) where nothing is answered."""
        place = int(np.searchsorted(-self.threshold, -threshold, "right")) - 1
        return (0.0, 0.0) if place < 0 else (float(self.coverage[place]), float(self.accuracy[place]))

    def for_accuracy(self, wanted: float) -> int | None:
        """Return the place with the most texts answered at so high an accuracy; None where there is none."""
        found = np.flatnonzero(self.accuracy >= wanted)
        return int(found[-1]) if len(found) else None


def abstaining(confidence: npt.ArrayLike, right: npt.ArrayLike) -> Abstaining:
    """Return accuracy by coverage of (E,) confidences and (E,) answers that are right or not."""
    sure, hits = np.asarray(confidence, np.float64), np.asarray(right, bool)
    order = np.argsort(-sure, kind="stable")
    sure, hits = sure[order], hits[order]
    lasts = np.flatnonzero(np.append(sure[1:] < sure[:-1], True)) if len(sure) else np.zeros(0, np.int64)
    counts = lasts + 1
    return Abstaining(sure[lasts], counts / max(len(sure), 1), np.cumsum(hits)[lasts] / np.maximum(counts, 1))
