"""Whether what a run has left is any better than always answering the commonest label: what its files say."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.errors import UserError
from engine.model.info import read_info
from engine.train.metrics import beats_majority, scores_of
from engine.train.run.kept import run_of
from engine.train.run.records import whole_number
from engine.train.run.runs import MODEL, evaluation_of


@dataclass(frozen=True, slots=True)
class Unbeaten:
    """The commonest label, which always predicting is as good. is_above: though by chance alone, the model's
    accuracy is higher.
    """

    label: str
    is_above: bool


def unbeaten_majority(model: Path) -> Unbeaten | None:
    """Return what a run's result is not shown to be better than, on its validation rows.

    None: it is better beyond chance, all rows carry one label, nothing was measured, or it is of no run.
    """
    run_dir = run_of(model)
    if run_dir is None or model.name != MODEL:
        return None
    try:
        trained = read_info(model).get("trained")
        step = whole_number(trained.get("step")) if isinstance(trained, dict) else None
        found = None if step is None else evaluation_of(run_dir, "validation", step)
    except UserError:
        return None
    scores = None if found is None or "accuracy" not in found.metrics else scores_of(found, found.labels)
    if found is None or scores is None or np.count_nonzero(scores.support) < 2:
        return None
    hits, (place, _share) = int(scores.hits.sum()), scores.majority
    if beats_majority(hits, scores.support):
        return None
    return Unbeaten(found.labels[place], hits > int(scores.support[place]))
