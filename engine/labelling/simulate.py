"""A person who labels, simulated by labels that are known: what a model reaches after each ten of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.errors import DataError, marked
from engine.events import Progress, Steps
from engine.labelling.labelled import RANDOM_SHARE
from engine.labelling.order import NUM_SPREAD, LabelOrder
from engine.train.ways.regression import (
    USUAL_STRENGTH,
    Floats,
    Labels,
    chosen_strength,
    fit,
    held_out,
)

ACTIVE, AT_RANDOM = "active", "random"
ORDERS = (ACTIVE, AT_RANDOM)
MEASURED_EVERY = 10  # labels
CHOOSE_EVERY = 50  # labels, from the first of these on, the strength of the regression is chosen again


@dataclass(frozen=True, slots=True)
class Simulation:
    """What became of it.

    curve: (labels, accuracy on all texts without one). full: accuracy with all labels, cross-validated.
    num_sampled: of the labelled texts, how many are a simple random sample of the table. sampled: accuracy on
    these, each answered by a regression that was not fitted to it; None: there are too few.
    """

    curve: tuple[tuple[int, float], ...]
    full: float
    num_sampled: int
    sampled: float | None


def simulate(
    known: Floats,
    targets: Labels,
    budget: int,
    order: str = ACTIVE,
    seed: int = 0,
    same: Labels | None = None,
) -> Steps[Simulation]:
    """Label `budget` of E texts in an order, and measure after each ten.

    Args: known: (E, F) `features` of the texts. targets: (E,) the right labels, from 0. same: as of
    `LabelOrder`. Raises: DataError: there are too few texts for such a budget.
    """
    if budget >= len(targets):
        template = marked(
            "engine",
            "With {rows} labelled rows, the budget can be {most} labels at most: accuracy is measured on the "
            "rest.",
        )
        raise DataError(template, rows=len(targets), most=max(0, len(targets) - 1))
    num_labels = int(targets.max()) + 1
    texts, share = LabelOrder(known, seed, same), RANDOM_SHARE if order == ACTIVE else 1.0
    labelled, curve, likely, strength = list[int](), list[tuple[int, float]](), None, USUAL_STRENGTH
    while len(labelled) < budget:
        choice = texts.next(labelled, likely, random_share=share)
        assert choice is not None, "the budget is smaller than the table"
        labelled.append(choice.place)
        count = len(labelled)
        if count % CHOOSE_EVERY == 0:
            strength = chosen_strength(known[labelled], targets[labelled], num_labels, seed)
        is_measured = count % MEASURED_EVERY == 0
        if is_measured or (count >= NUM_SPREAD and order == ACTIVE):
            likely = fit(known[labelled], targets[labelled], strength).probabilities(known, num_labels)
        if is_measured and likely is not None:
            rest = np.delete(np.arange(len(targets)), labelled)
            curve.append((count, float((likely[rest].argmax(1) == targets[rest]).mean())))
            yield Progress(stage=marked("engine", "Labelling"), done=count, total=budget)
    full = held_out(known, targets, num_labels, strength, seed).argmax(1) == targets
    sample = texts.sample(labelled)
    return Simulation(
        tuple(curve),
        float(full.mean()),
        len(sample),
        _on_sample(known, targets, labelled, sample, strength, seed),
    )


def _on_sample(
    vectors: Floats, targets: Labels, labelled: list[int], sample: Labels, strength: float, seed: int
) -> float | None:
    """Return the accuracy on a sample of the labelled texts, each held out once."""
    if len(sample) < 2:
        return None
    num_labels = int(targets.max()) + 1
    found = held_out(vectors[labelled], targets[labelled], num_labels, strength, seed).argmax(1)
    hits = np.zeros(len(targets), bool)
    hits[labelled] = found == targets[labelled]
    return float(hits[sample].mean())
