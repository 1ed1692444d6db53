"""How far do few labels carry, and what does the order bring in which texts are asked?

Of each set, so many texts are drawn for each seed and a tenth of them is labelled by the labels that are
known, in the order in which Cloze asks for them and in random order. A line of JSON for each simulation goes
to --json; one that is there is not made again, so a run that was stopped goes on. --summary prints the table.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.labelled_sets import SETS, Rows
from engine.events import result_of
from engine.inspect.embeddings.vectors import PoolingConfig, embed, usual_kind
from engine.inspect.loaded_model import LoadedModel
from engine.labelling.features import features
from engine.labelling.simulate import ACTIVE, AT_RANDOM, ORDERS, simulate
from engine.library import load
from engine.train.ways.regression import Floats, Labels

SHARE = 10  # one text in so many gets a label
ENOUGH = 0.9  # of the accuracy with all labels
MAX_LENGTH = 128
Line = Mapping[str, Any]


@dataclass(frozen=True)
class KnownSet:
    """A set's texts. vectors: (E, D) of the encoder. labels: (E,)."""

    texts: tuple[str, ...]
    vectors: Floats
    labels: npt.NDArray[np.object_]

    @classmethod
    def of(cls, rows: Rows, subject: LoadedModel) -> KnownSet:
        """Return a set with its vectors."""
        pooling = PoolingConfig(usual_kind(subject.about)).of(subject.about)
        found = result_of(embed(subject, [text for text, _ in rows], [pooling], max_length=MAX_LENGTH))
        texts, labels = zip(*(rows[place] for place in found.places), strict=True)
        return cls(texts, found.vectors[0], np.array(labels, object))

    def drawn(self, count: int, seed: int) -> tuple[Floats, Labels]:
        """Return the features and labels of so many texts."""
        places = np.random.default_rng(seed).permutation(len(self.texts))[:count]
        targets = np.unique(self.labels[places], return_inverse=True)[1].astype(np.int64)
        return features(self.vectors[places], [self.texts[place] for place in places]), targets


def simulations(options: argparse.Namespace, done: set[tuple[str, int, int, str]]) -> Iterator[Line]:
    """Yield each simulation that is not done, seed by seed."""
    subject, sets = load(options.model), dict[str, KnownSet]()
    for seed in range(options.seeds):
        for name in options.sets.split(","):
            orders = [each for each in ORDERS if (name, options.texts, seed, each) not in done]
            if not orders:
                continue
            if name not in sets:
                sets[name] = KnownSet.of(SETS[name](), subject)
            known, targets = sets[name].drawn(options.texts, seed)
            for order in orders:
                made = result_of(simulate(known, targets, len(known) // SHARE, order, seed))
                yield {
                    "set": name,
                    "texts": options.texts,
                    "seed": seed,
                    "order": order,
                    "rows": len(known),
                    "full": round(made.full, 4),
                    "curve": [[count, round(share, 4)] for count, share in made.curve],
                }


def labels_needed(line: Line, target: float) -> float:
    """Return how many labels a simulation needed to reach an accuracy; infinite: it did not."""
    return next((count for count, share in line["curve"] if share >= target), np.inf)


def by_set(lines: Sequence[Line]) -> dict[tuple[str, int], dict[str, list[Line]]]:
    """Return the simulations of each set and number of texts, by their order."""
    found = defaultdict[tuple[str, int], dict[str, list[Line]]](lambda: {order: [] for order in ORDERS})
    for line in lines:
        found[line["set"], line["texts"]][line["order"]].append(line)
    return found


def summary(lines: Sequence[Line]) -> Iterator[str]:
    """Yield a row for each set: which shares of the accuracy with all labels are reached, and by how many."""
    heads = (
        "set",
        "texts",
        "seeds",
        "all",
        "a tenth, as asked",
        "random",
        "labels for 0.9, as asked",
        "random",
    )
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for (name, _), orders in by_set(lines).items():
        asked, random = orders[ACTIVE], orders[AT_RANDOM]
        full = np.mean([line["full"] for line in asked])
        shares, needed = [], []
        for some in (asked, random):
            reached = np.array([line["curve"][-1][1] / line["full"] for line in some])
            shares.append(f"{reached.mean():.3f} ({reached.min():.2f} to {reached.max():.2f})")
            middle = np.median([labels_needed(line, ENOUGH * line["full"]) for line in some])
            needed.append(f"{middle:.0f}" if np.isfinite(middle) else "more")
        row = (name, asked[0]["rows"], len(asked), f"{full:.3f}", *shares, *needed)
        yield f"| {' | '.join(map(str, row))} |"


def main() -> None:
    """Simulate what is missing, or tell what is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=Path("assets/models/starter"))
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--texts", type=int, default=3000, help="drawn from each set")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--json", type=Path, default=Path("labelling.jsonl"), help="a line a simulation")
    parser.add_argument("--summary", action="store_true")
    options = parser.parse_args()
    lines = []
    if options.json.exists():
        lines = [json.loads(line) for line in options.json.read_text(encoding="utf-8").splitlines()]
    if options.summary:
        print("\n".join(summary(lines)))
        return
    done = {(line["set"], line["texts"], line["seed"], line["order"]) for line in lines}
    with options.json.open("a", encoding="utf-8") as file:
        for line in simulations(options, done):
            print(json.dumps(line), file=file, flush=True)
            print(line["set"], line["seed"], line["order"], line["curve"][-1], line["full"], flush=True)


if __name__ == "__main__":
    main()
