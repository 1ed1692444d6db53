"""The labels that a column of a table already has, as a journal takes them over."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.errors import DataError
from engine.events import Steps
from engine.labelling.kinds import KINDS, LabelKind
from engine.text.examples import LabelSettings
from engine.text.roles import Roles, joined_names
from engine.text.table import Table
from engine.train.tasks.known import TASKS, of_rows


@dataclass(frozen=True, slots=True)
class ColumnLabels:
    """What a column has. names: of its labels, or its different numbers. rows: that have any; sets: for each
    of them, its places in `names`.
    """

    column: str
    kind: LabelKind
    names: tuple[str, ...]
    rows: tuple[int, ...]
    sets: tuple[tuple[int, ...], ...]


def finding_labels(
    table: Table, roles: Roles, task: str, *, whole: bool = False
) -> Steps[ColumnLabels | None]:
    """Return the labels of the label column of a table; None where no kind can be made of them.

    Args: task: that the table is for. whole: as `LabelSettings` has it.
    """
    kind = KINDS.get(task)
    if kind is None or not kind.is_of_rows:
        return None
    reading = of_rows(TASKS[task]).reading
    roles = reading.with_label(table, roles.only(reading.roles))
    if not roles.label:
        return None
    try:
        found = yield from reading.finding(table, roles, LabelSettings(whole=whole))
    except DataError:  # nothing can be learned from it: it is not offered
        return None
    rows = tuple(found.examples.rows.tolist())
    targets = found.targets(found.examples)
    names, sets = found.labels, list[tuple[int, ...]]()
    if targets.ndim > 1:
        sets = [tuple(np.flatnonzero(row).tolist()) for row in targets]
    elif found.values is not None:
        numbers, places = np.unique(targets, return_inverse=True)
        names = tuple(f"{number:.15g}" for number in numbers.tolist())
        sets = [(place,) for place in places.tolist()]
    else:
        sets = [(place,) for place in targets.tolist()]
    return ColumnLabels(joined_names(roles["label"]), kind, tuple(names), rows, tuple(sets))
