"""Whether what a run has left is any better than always answering the commonest label: what its files say."""

from __future__ import annotations

from pathlib import Path

from engine.errors import UserError
from engine.model.info import read_info
from engine.train.metrics import beats_majority, scores_of
from engine.train.run.records import whole_number
from engine.train.run.runs import MODEL, evaluation_of


def unbeaten_majority(run_dir: Path) -> str:
    """Return the label that always predicting is as good as a run's result, on its validation rows; "" where
    the result is better beyond chance, or no such thing was measured.
    """
    try:
        trained = read_info(run_dir / MODEL).get("trained")
        step = whole_number(trained.get("step")) if isinstance(trained, dict) else None
        found = None if step is None else evaluation_of(run_dir, "validation", step)
    except UserError:
        return ""
    scores = None if found is None or "accuracy" not in found.metrics else scores_of(found, found.labels)
    if found is None or scores is None or not scores.support.sum():
        return ""
    if beats_majority(int(scores.hits.sum()), scores.support):
        return ""
    return found.labels[scores.majority[0]]
