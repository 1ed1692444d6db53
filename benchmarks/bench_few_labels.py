"""Few labels: what each way of `finetune --way` reaches on held-out rows, and what auto takes and tells.

Draws so many examples a class from sets with labels, learns in every way, and measures all on the same 1,000
other rows.
"""

from __future__ import annotations

import argparse
import csv
import json
import tempfile
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.labelled_sets import SETS, Rows
from engine.device import open_device
from engine.events import result_of
from engine.settings.config import with_values
from engine.settings.finetune import FineTuneConfig
from engine.text.batch import EncodedRows
from engine.train.finetune import FineTuning
from engine.train.ways.choose import PAIRS_RATE, Start, choosing
from engine.train.ways.frozen import head_of, vectors_of
from engine.train.ways.names import CONTRASTIVE, FINE_TUNED, REGRESSION, TFIDF
from engine.train.ways.regression import Labels
from engine.train.ways.taught import answered, teach_classifier, teach_pairs
from engine.train.ways.words import answers_by_words

HELD_OUT = 1000


def drawn(rows: Rows, each: int, seed: int) -> tuple[Rows, Rows]:
    """Return so many rows of each label, and HELD_OUT others."""
    order = np.random.default_rng(seed).permutation(len(rows))
    few, rest, counts = Rows(), Rows(), dict[str, int]()
    for place in order:
        label = rows[place][1]
        counts[label] = counts.get(label, 0) + 1
        (few if counts[label] <= each else rest).append(rows[place])
    return few, rest[:HELD_OUT]


def started(model: Path, few: Rows, held_out: Rows, seed: int) -> Start:
    """Return what every way starts from, the rows that are held out among its sets."""
    with tempfile.TemporaryDirectory() as folder:
        places = {"data": Path(folder) / "few.csv", "test_data": Path(folder) / "held_out.csv"}
        for rows, place in zip((few, held_out), places.values(), strict=True):
            with place.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([("text", "label"), *rows])
        values = {name: str(place) for name, place in places.items()}
        named = {"text": "text", "label": "label", "model": str(model), "validation_share": 0.0}
        config = with_values(FineTuneConfig(), {**values, **named, "seed": seed, "num_threads": 1})
        setup = result_of(FineTuning(config).prepare())
    return Start(config, setup, open_device(config.device))


def joined(one: EncodedRows, other: EncodedRows) -> EncodedRows:
    """Return two sets as one."""
    pieces = [part.input_ids[a:b] for part in (one, other) for a, b in pairwise(part.bounds)]
    num_a, targets = np.concatenate([one.num_a, other.num_a]), np.concatenate([one.targets, other.targets])
    return EncodedRows.from_pieces(pieces, num_a.tolist(), targets.tolist(), range(len(pieces)))


def answers(start: Start, every: EncodedRows) -> Iterator[tuple[str, Labels]]:
    """Yield each way, and its answers to the rows that are held out."""
    count, targets, seed = len(start.rows), start.targets, start.config.training.seed
    learn = np.arange(len(every)) < count
    yield TFIDF, result_of(answers_by_words(every, every.targets)(learn))
    for way in (REGRESSION, CONTRASTIVE):
        model = start.model(of_means=True)
        if way == CONTRASTIVE:
            list(teach_pairs(model, start.rows, targets, start.device, PAIRS_RATE * start.rate, seed))
        vectors = result_of(vectors_of(model, every, start.device))
        yield way, head_of(vectors[learn], targets, start.num_labels, seed).answers(vectors[~learn])
    usual = 3 * -(-4 * count // (5 * 32))  # three epochs of four fifths: settings that nobody changed
    for name, steps in ((FINE_TUNED, start.num_steps), (f"{FINE_TUNED}, {usual} steps", usual)):
        model = start.model(of_means=False)
        device, rate = start.device, start.rate
        teaching = teach_classifier(
            model, start.rows, targets, device, rate=rate, seed=seed, batch_size=32, num_steps=steps
        )
        list(teaching)
        yield name, result_of(answered(model, every, np.flatnonzero(~learn), start.device))


def measured(start: Start) -> dict[str, Any]:
    """Return the accuracy of each way on the rows that are held out, and what auto says and reaches."""
    every = joined(start.rows, start.setup.sets["test"])
    right = every.targets[len(start.rows) :]
    found = {way: float((answer == right).mean()) for way, answer in answers(start, every)}
    said = result_of(choosing(start))
    return {"accuracy": found, "taken": said["way"], "told": said["accuracy"], "interval": said["interval"]}


def main() -> None:
    """Print a line for each draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=Path("assets/models/starter"))
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--each", default="8,16,32", help="examples a class")
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    lines = []
    for each in map(int, options.each.split(",")):
        for name in options.sets.split(","):
            for seed in range(options.draws):
                began = time.monotonic()
                few, held_out = drawn(SETS[name](), each, seed)
                found = measured(started(options.model.absolute(), few, held_out, seed))
                lines.append({"set": name, "each": each, "seed": seed, **found})
                print(json.dumps(lines[-1]), f"{time.monotonic() - began:.0f} s", flush=True)
    if options.json:
        options.json.write_text(json.dumps(lines, indent=1))


if __name__ == "__main__":
    main()
