"""Does the interval that `--way auto` tells hold the accuracy on rows that nobody has seen?

Draws few labelled rows from a set of which all labels are known, judges them as auto does, and measures the
head that is taken on all other rows. The dearer ways have stand-ins that cost nothing: the same regression on
the first token's vectors at the top and on the mean of the embeddings' layer below. So choosing is in it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from benchmarks.bench_few_labels import started
from benchmarks.labelled_sets import SETS
from engine.events import result_of
from engine.model.kernels import ROW_MULTIPLE
from engine.text.batch import by_length, collate
from engine.train.ways.choose import MOST_REPETITIONS, ROWS_ANSWERED, Start
from engine.train.ways.frozen import answers_by_vectors, head_of
from engine.train.ways.judged import chosen, hits_of, honest_accuracy
from engine.train.ways.names import COSTLY_FOLDS, ORDER
from engine.train.ways.regression import FOLDS, Floats, Labels

ROWS = 3000  # of a set


def vectors(start: Start) -> Floats:
    """Return (3, E, D): the mean of the last layer, the mean of a middle one, the last one's first token."""
    model, rows = start.model(of_means=True).eval(), start.setup.sets["test"]
    found = np.zeros((3, len(rows), model.config.hidden_size), np.float32)
    middle = model.config.num_hidden_layers // 2
    for some in by_length(rows.lengths, start.device.micro_batch_tokens):
        batch = collate(rows, some, start.device.device, ROW_MULTIPLE)
        with torch.no_grad():
            states = model.bert(
                batch.input_ids,
                batch.token_type_ids,
                position_ids=batch.position_ids,
                bounds=batch.bounds,
                output_hidden_states=True,
            ).hidden_states
            means = [model.of_examples(states[layer], batch.bounds) for layer in (-1, middle)]
            for place, one in enumerate((*means, states[-1][batch.bounds.firsts])):
                found[place, some] = one.float().cpu().numpy()
    return found


def judged(every: Floats, targets: Labels, few: npt.NDArray[np.int64], seed: int) -> tuple[bool, float]:
    """Return whether the interval told of a draw holds the truth, and how far the number lies above it."""
    own, num_labels = targets[few], int(targets.max()) + 1
    often = int(np.clip(ROWS_ANSWERED // len(few), 1, MOST_REPETITIONS))
    hits, paired = {}, {}
    for name, one in zip(ORDER, every, strict=True):
        answers = answers_by_vectors(one[few], own, num_labels, seed)
        hits[name] = result_of(hits_of(answers, own, COSTLY_FOLDS, 1, seed))
        paired[name] = hits[name].each
    first = answers_by_vectors(every[0][few], own, num_labels, seed)
    hits[ORDER[0]] = result_of(hits_of(first, own, FOLDS, often, seed))
    taken = chosen(paired)
    accuracy = honest_accuracy(hits, paired, seed)
    low, high = hits[taken].interval(accuracy)
    rest, one = np.setdiff1d(np.arange(len(targets)), few), every[ORDER.index(taken)]
    head = head_of(one[few], own, num_labels, seed)
    true = float((head.answers(one[rest]) == targets[rest]).mean())
    return low <= true <= high, accuracy - true


def main() -> None:
    """Print a line for each set and size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=Path("assets/models/starter"))
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--each", default="8,16,32", help="rows a class, on average")
    parser.add_argument("--draws", type=int, default=200)
    options = parser.parse_args()
    for name in options.sets.split(","):
        rows = SETS[name]()
        order = np.random.default_rng(0).permutation(len(rows))[:ROWS]
        some = [rows[place] for place in order]
        start = started(options.model.absolute(), some, some, 0)
        every, targets = vectors(start), start.setup.sets["test"].targets
        for each in map(int, options.each.split(",")):
            size = each * start.num_labels
            draws = (
                np.random.default_rng(seed).choice(len(targets), size, False) for seed in range(options.draws)
            )
            found = [judged(every, targets, few, seed) for seed, few in enumerate(draws)]
            covered, above = np.mean(found, axis=0)
            print(
                f"{name}, {size} rows, {len(found)} draws: covered {covered:.3f}, above {above:+.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
