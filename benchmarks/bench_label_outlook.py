"""Does the interval of what sixty more labels bring hold what they brought? Labelling, simulated.

    python -m benchmarks.bench_label_outlook [--sets polarity,...] [--draws 10]

A table of 3,000 texts is labelled as the page asks for it. At 80, 120, 160, 240, 320 and 400 labels the
page's outlook is taken; then sixty more come, and the accuracy on all texts without a label says what they
brought. Told are how often nothing was told, how often the interval held the truth, how wide it is, how often
it said that more would hardly help, and how much they brought then at most.

CLOZE_DATA names a folder with polarity/ and labelling/.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from benchmarks.labelled_sets import SETS, vectors_of
from engine.events import result_of
from engine.labelling.order import NUM_SPREAD, LabelOrder
from engine.labelling.outlook import MORE, Outlook, foretold
from engine.train.ways.regression import (
    USUAL_STRENGTH,
    Floats,
    Labels,
    chosen_strength,
    fit,
    standardized,
)

TEXTS = 3000
STOPS = 80, 120, 160, 240, 320, 400  # labels
REFITTED_EVERY, CHOOSE_EVERY = 4, 50


@dataclass(frozen=True, slots=True)
class Stop:
    """labels: given. outlook: told then. brought: by MORE of them."""

    labels: int
    outlook: Outlook | None
    brought: float


def stops(every: Floats, every_target: Labels, number: int) -> list[Stop]:
    """Label a table, and return what was told on the way."""
    table = np.random.default_rng(number).permutation(len(every_target))[:TEXTS]
    vectors = standardized(every[table])
    targets = np.unique(every_target[table], return_inverse=True)[1]
    num_labels, order = int(targets.max()) + 1, LabelOrder(vectors, number)
    labelled, likely, strength = list[int](), None, USUAL_STRENGTH
    hits, told = dict[int, np.ndarray](), dict[int, Outlook | None]()
    while len(labelled) < STOPS[-1] + MORE:
        choice = order.next(labelled, likely)
        assert choice is not None, "there are fewer labels than texts"
        labelled.append(choice.place)
        count, own = len(labelled), targets[labelled]
        if count % CHOOSE_EVERY == 0:
            strength = chosen_strength(vectors[labelled], own, num_labels, number)
        if count >= NUM_SPREAD and count % REFITTED_EVERY == 0:
            likely = fit(vectors[labelled], own, strength).probabilities(vectors, num_labels)
            hits[count] = likely.argmax(1) == targets
        if count in STOPS:
            sample = order.sample(labelled)
            telling = foretold(vectors, np.array(labelled), own, sample, strength, seed=number)
            told[count] = result_of(telling)
    found = []
    for count in STOPS:
        rest = np.delete(np.arange(len(targets)), labelled[: count + MORE])
        brought = hits[count + MORE][rest].mean() - hits[count][rest].mean()
        found.append(Stop(count, told[count], float(brought)))
    return found


def _print(name: str, found: list[Stop]) -> None:
    told = [(one.outlook, one.brought) for one in found if one.outlook is not None]
    holds = [outlook.low <= brought <= outlook.high for outlook, brought in told]
    wide = [outlook.high - outlook.low for outlook, _brought in told]
    little = [brought for outlook, brought in told if outlook.is_little]
    most = f", then at most {max(little):+.3f}" if little else ""
    figures = f"covered {np.mean(holds):.3f}, width {np.mean(wide):.3f}" if told else "nothing told"
    print(
        f"{name}: told {len(told)} of {len(found)}, {figures}, brought "
        f"{np.mean([one.brought for one in found]):+.4f}; hardly any {len(little)} times{most}",
        flush=True,
    )


def main() -> None:
    """Print a line for each set, and for each number of labels."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--draws", type=int, default=10)
    options = parser.parse_args()
    for name in options.sets.split(","):
        vectors, targets = vectors_of(name)
        found = [one for number in range(options.draws) for one in stops(vectors, targets, number)]
        _print(name, found)
        for count in STOPS:
            _print(f"  {count} labels", [one for one in found if one.labels == count])


if __name__ == "__main__":
    main()
