"""Rows that a run found hard to learn: never answered right, or right in one epoch and wrong in a later one.

What is told is what `Dynamics` of engine/train/run/dynamics.py has kept. It holds for the file as it was when
the run learned from it; of any other nothing is said. Nor is anything said where the run itself has not
learned: an error of a model that answers one label for all tells nothing about the row.

Source: Swayamdipta et al. 2020, Dataset Cartography, for confidence and variability; Toneva et al. 2019.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.doctor.finding import Finding, FindingWords, Rows
from engine.doctor.part import TablePart
from engine.errors import UserError, marked
from engine.train.metrics import beats_majority, share
from engine.train.run.dynamics import DYNAMICS, Dynamics, load_dynamics
from engine.train.run.kept import name_of
from engine.train.run.majority import unbeaten_majority
from engine.train.run.runs import MODEL, SETUP
from engine.train.run.setup import read_setup
from engine.train.tasks.known import task_named

LEAST_EPOCHS = 3  # below, a row that is never right was hardly seen
LEAST_RECALL = 0.5  # of a label in the last epoch; below, a row of it is wrong because of its label alone


@dataclass(frozen=True, slots=True, eq=False)
class LearnedRows:
    """What a run learned from, and how that went.

    rows: (E,) of the table, in the order of the dynamics. labels: (E,) places of theirs. has_learned: whether
    its result is better than always answering one label, as far as validation has measured that.
    """

    name: str
    sha256: str
    rows: Rows
    labels: np.ndarray
    dynamics: Dynamics
    has_learned: bool = True


def learned_by(run_dir: Path) -> LearnedRows | None:
    """Return how learning went in a run; None where it kept nothing of that, or cannot be read."""
    try:
        about = read_setup(run_dir / SETUP, {"task": str, "data": dict})
        train = task_named(about["task"]).setup.load_part(run_dir / SETUP, "train")
    except UserError:
        return None
    dynamics = None if train is None else load_dynamics(run_dir / DYNAMICS, len(train))
    if train is None or dynamics is None or dynamics.num_epochs < LEAST_EPOCHS:
        return None
    return LearnedRows(
        name_of(run_dir / MODEL),
        str(about["data"].get("sha256")),
        train.rows,
        train.targets,
        dynamics,
        unbeaten_majority(run_dir / MODEL) is None,
    )


def on_learning(part: TablePart, learned: LearnedRows) -> Iterator[Finding]:
    """Yield the rows of a part that a run never got right, and those that it forgot again."""
    if learned.sha256 != part.table.sha256 or learned.rows.max(initial=-1) >= part.table.num_rows:
        return
    there = np.isin(learned.rows, part.examples.rows) & _is_of_learned(learned)
    count = learned.dynamics.num_epochs
    rows, right = learned.rows[there], learned.dynamics.right[:count, there] > 0
    sure = learned.dynamics.sure[:count, there].astype(np.float32)
    confidence, variability = sure.mean(0), sure.std(0)
    never = np.flatnonzero(~right.any(0))
    forgotten = np.flatnonzero((right[:-1] & ~right[1:]).any(0))
    for kind, places, order, words in (
        ("never_learned", never, confidence, _NEVER),
        ("forgotten", forgotten, -variability, _FORGOTTEN),
    ):
        if not len(places):
            continue
        places = places[np.argsort(order[places], kind="stable")]
        values = {"confidence": confidence[places], "variability": variability[places]}
        said = {"run": learned.name, "epochs": count}
        yield words.of(kind, part.name, rows[places], said, values=values)


def _is_of_learned(learned: LearnedRows) -> np.ndarray:
    """Return (E,) bool: whether a row's label is one that the run had learned by its last epoch; no row is
    where the run does not distinguish the labels.
    """
    right = learned.dynamics.right[learned.dynamics.num_epochs - 1] > 0
    support, hits = np.bincount(learned.labels), np.bincount(learned.labels, right).astype(np.int64)
    if not learned.has_learned or not beats_majority(int(hits.sum()), support):
        return np.zeros(len(right), bool)
    return np.isin(learned.labels, np.flatnonzero(share(hits, support) >= LEAST_RECALL))


_NEVER = FindingWords(
    marked(
        "engine",
        "{count:,} rows of {name} were misclassified in all {epochs} epochs of {run}, although trained on.",
    ),
    marked(
        "engine",
        "One row of {name} was misclassified in all {epochs} epochs of {run}, although trained on.",
    ),
    marked("engine", "Such labels are often wrong, or the text does not decide them."),
    marked("engine", "Review them, least confident first. Relabel what is wrong, or exclude it."),
)
_FORGOTTEN = FindingWords(
    marked(
        "engine",
        "{count:,} rows of {name} were classified correctly in one epoch of {run} and "
        "misclassified in a later one.",
    ),
    marked(
        "engine",
        "One row of {name} was classified correctly in one epoch of {run} and misclassified in a later one.",
    ),
    marked("engine", "They lie between two labels. A model learns most from them, and errs there most."),
    marked("engine", "Review those that vary most, which come first. More rows like them help."),
    "note",
)
