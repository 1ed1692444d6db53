"""How often the interval of a label's share holds the truth, in surveys that an active order has labelled.

A survey is a draw of texts from a labelled set, with shifted shares. Labels are asked for as the Label page
does, a quarter at random; a regression learns from all but the random sample, which tells the shares by
`doubly_sampled`, and beside it by `prevalence`, which assumes that only shares differ.

    python -m benchmarks.bench_shares --data reviews.csv --text review --label sentiment --surveys 120
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from engine import embed, load
from engine.labelling.double_sampling import doubly_sampled
from engine.labelling.order import LabelOrder
from engine.labelling.prevalence import prevalence
from engine.text.table import read_table
from engine.train.ways.regression import USUAL_STRENGTH, Floats, Labels, fit, standardized

MOST_TEXTS, LEARN_EVERY, CLEAR = 3000, 10, 1e-9


def survey(vectors: Floats, labels: Labels, size: int, num_labels: int, seed: int) -> np.ndarray | None:
    """Return (2, 2): whether each of the two holds the truth, and how wide it is; None: one label alone."""
    rng, count = np.random.default_rng(seed), int(labels.max()) + 1
    weight = rng.dirichlet(np.full(count, 3.0))[labels] / np.bincount(labels)[labels]
    drawn = rng.choice(len(labels), size, replace=False, p=weight / weight.sum())
    known, truth = standardized(vectors[drawn]), labels[drawn]
    order, given = LabelOrder(known, seed), list[int]()
    answers = None
    while len(given) < num_labels:
        choice = order.next(given, answers)
        assert choice is not None
        given.append(choice.place)
        if len(given) % LEARN_EVERY == 0 and len(np.unique(truth[given])) > 1:
            answers = fit(known[given], truth[given], USUAL_STRENGTH).probabilities(known, count)
    sample = order.sample(given)
    learned = np.setdiff1d(given, sample)
    if len(np.unique(truth[learned])) < 2:
        return None
    fitted = fit(known[learned], truth[learned], USUAL_STRENGTH)
    said = fitted.probabilities(known, count).argmax(1)
    confusion = np.zeros((count, count), np.int64)
    np.add.at(confusion, (truth[sample], said[sample]), 1)
    rest = np.bincount(np.delete(said, given), minlength=count)
    own = np.bincount(truth[given], minlength=count)
    shifted = prevalence(confusion, rest, seed)
    low, high = ((own + rest.sum() * end) / size for end in (shifted.low, shifted.high))
    sampled = doubly_sampled(confusion, rest, own, seed)
    return np.array([_within(sampled.low, sampled.high, truth), _within(low, high, truth)])


def _within(low: np.ndarray, high: np.ndarray, truth: Labels) -> tuple[float, float]:
    shares = np.bincount(truth, minlength=len(low)) / len(truth)
    holds = (low - CLEAR <= shares) & (shares <= high + CLEAR)
    return float(holds.mean()), float((high - low).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--text", required=True)
    parser.add_argument("--label", required=True)
    parser.add_argument("--model", default="starter")
    parser.add_argument("--surveys", type=int, default=120)
    parser.add_argument("--size", type=int, default=1000, help="texts of a survey")
    parser.add_argument("--labels", type=int, nargs="+", default=[40, 80, 160])
    asked = parser.parse_args()
    frame = read_table(asked.data).frame
    some = np.random.default_rng(0).permutation(len(frame))[:MOST_TEXTS]
    texts = [str(frame[asked.text].iloc[row]) for row in some]
    names, labels = np.unique([frame[asked.label].iloc[row] for row in some], return_inverse=True)
    vectors = embed(load(asked.model), texts, "mean").astype(np.float32)
    print(f"{len(texts)} texts, labels {', '.join(map(str, names))}")
    for number in asked.labels:
        made = [survey(vectors, labels, asked.size, number, seed) for seed in range(asked.surveys)]
        (holds, width), (other, wide) = np.mean([one for one in made if one is not None], axis=0)
        print(f"{number} labels: by the sample {holds:.3f}, {width:.3f} wide")
        print(f"{number} labels: if only shares differ {other:.3f}, {wide:.3f} wide")


if __name__ == "__main__":
    main()
