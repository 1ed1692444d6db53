"""The answers that a run has kept, as far as a comparison needs them; without its model and its data."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from engine.train.run.answers import load_answers

RIGHT = 0.5  # how much of an answer has to be right


@dataclass(frozen=True, slots=True, eq=False)
class KeptAnswers:
    """texts: what tells them apart from others. hits: (E,) whether each is right. adds: (E, K), what each
    adds to the sums that the metric is made of. score: how, as in `Each`.
    """

    texts: str
    hits: npt.NDArray[np.bool_]
    adds: npt.NDArray[np.float64]
    score: str


def kept_answers(run_dir: Path, split: str, step: int) -> KeptAnswers | None:
    """Return what a run answered with the weights of a step; None if it kept none."""
    each = load_answers(run_dir, split, step)
    if each is None or not len(each):
        return None
    truth = "\n".join(each.names[place] for place in each.true.tolist())
    texts = hashlib.sha256(truth.encode("utf-8", "replace")).hexdigest()
    return KeptAnswers(texts, each.right > RIGHT, each.adds.astype(np.float64), each.score)
