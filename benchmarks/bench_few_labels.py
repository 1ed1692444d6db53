"""Few labels: what each way of `finetune --way` reaches on held-out rows, and what auto takes and tells.

Draws so many examples a class from sets with labels, learns in every way, and measures all on the same 1,000
other rows. A line of JSON for each draw goes to --json; one that is there is not made again. --summary tells
how often the way that auto took is within a point of the best one, and how often its interval held the truth.
"""

from __future__ import annotations

import argparse
import csv
import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
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
from engine.train.ways.names import CONTRASTIVE, FINE_TUNED, ORDER, REGRESSION, TFIDF
from engine.train.ways.regression import Labels
from engine.train.ways.taught import answered, teach_classifier, teach_pairs
from engine.train.ways.words import answers_by_words

HELD_OUT = 1000
WAYS = (TFIDF, *ORDER)
A_POINT = 0.01


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
    model, device = start.model(of_means=False), start.device
    teaching = teach_classifier(
        model,
        start.rows,
        targets,
        device,
        rate=start.rate,
        seed=seed,
        batch_size=32,
        num_steps=start.num_steps,
    )
    list(teaching)
    yield FINE_TUNED, result_of(answered(model, every, np.flatnonzero(~learn), device))


def of_layers(start: Start) -> dict[str, float]:
    """Return the accuracy of a regression on the means of the embeddings, the last layer, both; of TF-IDF."""
    every, count = joined(start.rows, start.setup.sets["test"]), len(start.rows)
    learn, width = np.arange(len(every)) < count, start.setup.config.hidden_size
    vectors = result_of(vectors_of(start.model(of_means=True), every, start.device))
    read = {"embeddings": vectors[:, :width], "last layer": vectors[:, width:], "both": vectors}
    seed, right = start.config.training.seed, every.targets[~learn]
    found = {
        name: head_of(one[learn], start.targets, start.num_labels, seed).answers(one[~learn])
        for name, one in read.items()
    }
    found[TFIDF] = result_of(answers_by_words(every, every.targets)(learn))
    return {name: round(float((answer == right).mean()), 4) for name, answer in found.items()}


def reached(start: Start) -> dict[str, float]:
    """Return the accuracy of each way on the rows that are held out."""
    every = joined(start.rows, start.setup.sets["test"])
    right = every.targets[len(start.rows) :]
    return {way: round(float((answer == right).mean()), 4) for way, answer in answers(start, every)}


def measured(start: Start) -> dict[str, Any]:
    """Return the accuracy of each way on the rows that are held out, and what auto says and reaches."""
    found = reached(start)
    said = result_of(choosing(start))
    told = {one.way: one.accuracy for one in said.ways if one.accuracy is not None}
    return {
        "accuracy": found,
        "judged": told,
        "taken": said.taken,
        "told": said.accuracy,
        "interval": said.interval,
    }


def summary(lines: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a row for each number of examples: how often the way that was taken is within a point of the best
    of all, and of those with an encoder, and how often its interval held the truth.
    """
    heads = (
        "a class",
        "draws",
        *WAYS,
        "taken",
        "within a point of the best",
        "of those with an encoder",
        "held",
    )
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for each in sorted({line["each"] for line in lines}):
        some = [line for line in lines if line["each"] == each]
        reached = np.array([[line["accuracy"][way] for way in WAYS] for line in some])
        taken = np.array([line["accuracy"][line["taken"]] for line in some])
        near = [(taken >= reached[:, ways].max(1) - A_POINT).mean() for ways in (slice(None), slice(1, None))]
        held = [
            low <= one <= high
            for one, (low, high) in zip(taken, (line["interval"] or (0, 1) for line in some), strict=True)
        ]
        row = (*reached.mean(0), taken.mean(), *near, np.mean(held))
        yield f"| {each} | {len(some)} | {' | '.join(f'{one:.3f}' for one in row)} |"


def main() -> None:
    """Print a line for each draw that is not in the file yet, or tell what is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=Path("assets/models/starter"))
    parser.add_argument("--sets", default="polarity,ag_news,snips,sms_spam,hate_speech,clinc_domains")
    parser.add_argument("--each", default="8,16,32,64,128", help="examples a class")
    parser.add_argument("--draws", type=int, default=10, help="of each set and number")
    parser.add_argument("--json", type=Path, default=Path("few_labels.jsonl"), help="a line a draw")
    parser.add_argument("--summary", action="store_true")
    parser.add_argument(
        "--layers", action="store_true", help="only what a regression reaches on the means of which layers"
    )
    parser.add_argument(
        "--reached", action="store_true", help="only what each way reaches, not what auto takes"
    )
    options = parser.parse_args()
    lines = []
    if options.json.exists():
        lines = [json.loads(line) for line in options.json.read_text(encoding="utf-8").splitlines()]
    if options.summary:
        print("\n".join(summary(lines)))
        return
    done = {(line["set"], line["each"], line["seed"]) for line in lines}
    wanted = product(range(options.draws), options.sets.split(","), map(int, options.each.split(",")))
    with options.json.open("a", encoding="utf-8") as file:
        for seed, name, each in wanted:
            if (name, each, seed) in done:
                continue
            began = time.process_time()
            few, held_out = drawn(SETS[name](), each, seed)
            start = started(options.model.absolute(), few, held_out, seed)
            if options.layers or options.reached:
                found = {"accuracy": (of_layers if options.layers else reached)(start)}
            else:
                found = measured(start)
            line = {"set": name, "each": each, "seed": seed, **found}
            line["seconds"] = round(time.process_time() - began, 1)
            print(json.dumps(line), file=file, flush=True)
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
