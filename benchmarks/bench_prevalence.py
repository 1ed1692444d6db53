"""Do the intervals of shares hold the truth? Simulated surveys of sets whose labels are known.

    python -m benchmarks.bench_prevalence [--sets polarity,...] [--surveys 200] [--way shifted]

shifted: what `python -m engine prevalence` tells. A regression learns from 200 texts, 45, 100 or 300 others
say how it errs, and it answers a table of 1,000 further ones whose shares are drawn anew: every distribution
of the labels is as probable as any other. sampled: what Label tells. A table of 1,000 texts with such shares
is labelled as the page asks for it, a quarter at random and later perhaps a tenth or a half, until the random
sample holds 45 texts; then the accuracy's interval is judged, too, by the answers to all texts of the table,
those with a label held out. (The texts without one are easier: the uncertain ones were asked for.) Told
are how often the 95 % intervals hold the truth, of all labels together and of the label where they do least
often, how wide they are, and by how much the share and a plain count are off on average.

CLOZE_DATA names a folder with polarity/ and labelling/.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from benchmarks.labelled_sets import SETS, vectors_of
from engine.labelling.measure import on_sample, shares_of
from engine.labelling.order import NUM_SPREAD, LabelOrder
from engine.labelling.prevalence import Prevalence, prevalence
from engine.train.ways.regression import (
    USUAL_STRENGTH,
    Floats,
    Labels,
    chosen_strength,
    fit,
    held_out,
    standardized,
)

LEARNED, TABLE = 200, 1000
HELD_OUT = 45, 100, 300
SAMPLE, MOST_LABELS = 45, 400
RANDOM_SHARES = 0.1, 0.25, 0.5
REFITTED_EVERY, CHOOSE_EVERY = 10, 50  # labels


@dataclass(frozen=True, eq=False)
class Survey:
    """One of them. held_out: texts that say how the model errs. true: (C,). accuracy_holds: its interval."""

    held_out: int
    found: Prevalence
    true: np.ndarray
    accuracy_holds: bool | None = None

    @property
    def holds(self) -> np.ndarray:
        """(C,) whether each interval holds the truth."""
        found = self.found
        return (found.low - 1e-9 <= self.true) & (self.true <= found.high + 1e-9)


def table_of(targets: Labels, places: Labels, rng: np.random.Generator) -> Labels:
    """Return up to TABLE of the places, their labels in shares drawn anew."""
    num_labels = int(targets.max()) + 1
    counts = rng.multinomial(TABLE, rng.dirichlet(np.ones(num_labels)))
    of_label = [rng.permutation(places[targets[places] == label]) for label in range(num_labels)]
    return np.concatenate([some[:count] for some, count in zip(of_label, counts, strict=True)])


def shifted(vectors: Floats, targets: Labels, number: int) -> Survey:
    """Ask a model of 200 texts for the shares of a table with others."""
    rng, num_labels = np.random.default_rng(number), int(targets.max()) + 1
    order, count = rng.permutation(len(targets)), HELD_OUT[number % len(HELD_OUT)]
    learned, held, rest = np.split(order, [LEARNED, LEARNED + count])
    model, confusion = fit(vectors[learned], targets[learned]), np.zeros((num_labels, num_labels), np.int64)
    np.add.at(confusion, (targets[held], model.probabilities(vectors[held], num_labels).argmax(1)), 1)
    table = table_of(targets, rest, rng)
    answers = model.probabilities(vectors[table], num_labels).argmax(1)
    found = prevalence(confusion, np.bincount(answers, minlength=num_labels), number)
    return Survey(count, found, np.bincount(targets[table], minlength=num_labels) / len(table))


def sampled(every: Floats, every_target: Labels, number: int) -> Survey | None:
    """Label a table as the page asks for it, and return what it tells; None: too few of a random sample."""
    rng = np.random.default_rng(number)
    table = rng.permutation(table_of(every_target, np.arange(len(every_target)), rng))
    vectors, targets = standardized(every[table]), every_target[table]
    num_labels, order = int(every_target.max()) + 1, LabelOrder(vectors, number)
    labelled, likely, strength, share = list[int](), None, USUAL_STRENGTH, 0.25
    while len(order.sample(labelled)) < SAMPLE and len(labelled) < min(MOST_LABELS, len(table) - 1):
        choice = order.next(labelled, likely, random_share=share)
        assert choice is not None, "there are fewer labels than texts"
        labelled.append(choice.place)
        count = len(labelled)
        if count in (60, 100):
            share = float(rng.choice(RANDOM_SHARES))
        if count % CHOOSE_EVERY == 0:
            strength = chosen_strength(vectors[labelled], targets[labelled], num_labels, number)
        if count >= NUM_SPREAD and count % REFITTED_EVERY == 0:
            likely = fit(vectors[labelled], targets[labelled], strength).probabilities(vectors, num_labels)
    likely = fit(vectors[labelled], targets[labelled], strength).probabilities(vectors, num_labels)
    own, sample = targets[labelled], order.sample(labelled)
    told = on_sample(vectors, labelled, own, num_labels, sample, strength, number)
    shares = shares_of(told, likely, labelled, own)
    if shares is None:
        return None
    right = likely.argmax(1) == targets
    right[labelled] = held_out(vectors[labelled], own, num_labels, strength, number).argmax(1) == own
    accuracy, (low, high) = float(right.mean()), told.interval
    true = np.bincount(targets, minlength=num_labels) / len(targets)
    return Survey(told.count, shares, true, low <= accuracy <= high)


def _print(name: str, told: list[Survey]) -> None:
    holds, wide = np.array([one.holds for one in told]), [one.found.high - one.found.low for one in told]
    off = np.abs([one.found.shares - one.true for one in told]).mean()
    counted = np.abs([one.found.counted - one.true for one in told]).mean()
    accurate = [one.accuracy_holds for one in told if one.accuracy_holds is not None]
    more = f", accuracy {np.mean(accurate):.3f}" if accurate else ""
    print(
        f"{name}, {holds.shape[1]} labels, {len(told)} surveys: covered {holds.mean():.3f} (least "
        f"{holds.mean(0).min():.3f}), width {np.mean(wide):.3f}, off {off:.3f}, counted {counted:.3f}{more}",
        flush=True,
    )


def main() -> None:
    """Print a line for each set, and for each number of held-out texts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--surveys", type=int, default=200)
    parser.add_argument("--way", choices=("shifted", "sampled"), default="shifted")
    options = parser.parse_args()
    for name in options.sets.split(","):
        vectors, targets = vectors_of(name)
        known = standardized(vectors)
        ask = shifted if options.way == "shifted" else sampled
        surveys = (ask(known, targets, number) for number in range(options.surveys))
        told = [one for one in surveys if one is not None]
        _print(name, told)
        if options.way == "shifted":
            for count in HELD_OUT:
                _print(f"  {count} held out", [one for one in told if one.held_out == count])


if __name__ == "__main__":
    main()
