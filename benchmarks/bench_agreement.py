"""How often do the intervals of two annotators' agreement hold the truth?

Tables are drawn of which the truth is known: labels of some shares, and a second annotator who errs in one of
five ways. Told is each setting in which kappa's or alpha's interval holds the truth least often, among the
tables in which an interval is told at all. With --cost: how often the interval of `agreement --cost` holds
what training sets of four fifths of the rows cost on average, with made vectors.
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np

from engine.events import result_of
from engine.labelling.agreement import Numbers, Rows, alpha_of, kappa_of, measured
from engine.labelling.cost import judging, paired_difference
from engine.train.ways.words import answers_by_features

SHARES = {
    "97:3": (0.97, 0.03),
    "90:10": (0.9, 0.1),
    "70:30": (0.7, 0.3),
    "94:3:3": (0.94, 0.03, 0.03),
    "90:5:3:2": (0.9, 0.05, 0.03, 0.02),
    "60:25:15": (0.6, 0.25, 0.15),
    "8 even": (1 / 8,) * 8,
}
SKILLS = (0.0, 0.3, 0.6, 0.8, 0.9, 0.95, 0.99)
SIZES = (20, 30, 50, 75, 100, 200, 500)
WIDTH, TRUE_SETS, TRUE_ROWS = 12, 60, 5000  # of made vectors; training sets and rows that tell the truth
KINDS = ("same", "noise 0.1", "noise 0.3", "tilted 0.2", "tilted 0.6")
LEAST_TOLD = 0.05  # of the tables, below which too few are left to count


def errors(shares: Numbers, skill: float) -> dict[str, Numbers]:
    """Return (C, C) how frequent each pair of labels is, by how the second annotator errs."""
    count = len(shares)
    right, guess = skill * np.eye(count), (1 - skill) * np.ones((count, 1))
    by_chance = right + guess * shares
    missing, finding = np.eye(count), np.eye(count)
    missing[1:] = right[1:]
    missing[1:, 0] += 1 - skill  # rare labels alone
    finding[0] = right[0]
    finding[0, 1:] += (1 - skill) / (count - 1)  # too many of them
    return {
        "by chance": np.diag(shares) @ by_chance,
        "both by chance": by_chance.T @ np.diag(shares) @ by_chance,
        "evenly": np.diag(shares) @ (right + guess / count),
        "misses": np.diag(shares) @ missing,
        "overdoes": np.diag(shares) @ finding,
    }


def covered(pairs: Numbers, rows: int, draws: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """Return in which share of the tables an interval is told, and in which of these kappa's and alpha's hold
    the truth. Args: pairs: (C, C), 1 together.
    """
    count = len(pairs)
    sums = np.concatenate([[1 - np.trace(pairs)], pairs.sum(1), pairs.sum(0)]) * 1e9
    truths = float(kappa_of(sums)), float(alpha_of(sums))
    tables, times = np.unique(rng.multinomial(rows, pairs.ravel(), draws), axis=0, return_counts=True)
    told, held = 0, [0, 0]
    for table, often in zip(tables, times.tolist(), strict=True):
        first, other = np.divmod(np.repeat(np.arange(count**2), table), count)
        found = measured(first, other, count)[1:]
        for place, (one, truth) in enumerate(zip(found, truths, strict=True)):
            if one.interval is not None:
                held[place] += often * (one.interval[0] <= truth + 1e-9 and truth <= one.interval[1] + 1e-9)
                told += often * (place == 0)
    return told / draws, held[0] / max(1, told), held[1] / max(1, told)


def made(rows: int, kind: str, rng: np.random.Generator) -> tuple[Numbers, Rows, Rows]:
    """Return (rows, WIDTH) vectors and the labels of two annotators: the second errs at random, or leans to
    another direction of the vectors.
    """
    name, much = (*kind.split(), "0")[:2]
    towards, other = np.random.default_rng(0).normal(size=(2, WIDTH))
    vectors, noise = rng.normal(size=(rows, WIDTH)), rng.logistic(size=rows) / 2
    first = (vectors @ towards + noise > 0).astype(np.int64)
    if name == "tilted":
        return vectors, first, (vectors @ (towards + float(much) * other) + noise > 0).astype(np.int64)
    return vectors, first, np.where(rng.random(rows) < float(much), 1 - first, first)


def cost_covered(rows: int, kind: str, draws: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """Return the true cost, how often the interval holds it, and the mean width of the interval."""
    asked, right, _ = made(TRUE_ROWS, kind, rng)
    costs = []
    for _ in range(TRUE_SETS):
        vectors, *labels = made(rows * 4 // 5, kind, rng)
        learn = np.arange(len(vectors) + TRUE_ROWS) < len(vectors)
        every = np.concatenate([vectors, asked])
        hits = [
            (result_of(answers_by_features(every, np.concatenate([one, right]))(learn)) == right).mean()
            for one in labels
        ]
        costs.append(hits[1] - hits[0])
    truth, ends = float(np.mean(costs)), []
    for _ in range(draws):
        vectors, *labels = made(rows, kind, rng)
        answers = [answers_by_features(vectors, one) for one in labels]
        ends.append(paired_difference(*result_of(judging(answers, labels[0], 0))).interval or (-1.0, 1.0))
    lows, highs = np.array(ends).T
    return truth, float(((lows <= truth) & (truth <= highs)).mean()), float((highs - lows).mean())


def main() -> None:
    """Print the settings in which intervals hold the truth least often."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shares", default=",".join(SHARES))
    parser.add_argument("--draws", type=int, default=1000, help="tables of each setting")
    parser.add_argument("--worst", type=int, default=20)
    parser.add_argument("--cost", action="store_true", help="the interval of the cost, instead")
    options = parser.parse_args()
    rng, found = np.random.default_rng(0), []
    if options.cost:
        for rows, kind in product((40, 100, 300), KINDS):
            truth, held, width = cost_covered(rows, kind, options.draws, rng)
            print(
                f"{rows} rows, {kind}: cost {truth:+.3f}, covered {held:.3f}, width {width:.3f}", flush=True
            )
        return
    for name, skill, rows in product(options.shares.split(","), SKILLS, SIZES):
        for how, pairs in errors(np.array(SHARES[name]), skill).items():
            told, kappa, alpha = covered(pairs, rows, options.draws, rng)
            if told >= LEAST_TOLD:
                found.append((min(kappa, alpha), name, how, skill, rows, told, kappa, alpha))
    found.sort()
    print(f"{len(found)} settings; at or above 0.93: {sum(one[0] >= 0.93 for one in found)}")
    for _, name, how, skill, rows, told, kappa, alpha in found[: options.worst]:
        print(f"{name}, {how}, skill {skill}, {rows} rows, told {told:.2f}: {kappa:.3f}, {alpha:.3f}")


if __name__ == "__main__":
    main()
