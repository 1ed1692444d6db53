"""Which rows of a table a remark is about: plain arithmetic over examples, for the window's workers.

Row numbers are the table's, 0-based. Rows of one text stand together, in the order in which texts appear.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.text.examples import Examples

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class DoubtfulRows:
    """Rows that a person may want to look at.

    repeating: of texts that stand in several rows, the first row too. contradicting: of those, the ones whose
    rows differ in label. lone: rows whose label no other row carries.
    """

    repeating: Rows
    num_repeats: int  # rows that repeat an earlier one
    contradicting: Rows
    num_contradicting: int  # texts
    lone: Rows


def doubtful_rows(found: Examples) -> DoubtfulRows:
    """Return the rows that repeat, contradict one another, or stand alone with their label."""
    rows = np.array([each.row for each in found.examples], np.int64)
    places: dict[tuple[str, str | None], int] = {}
    texts = np.array(
        [places.setdefault((each.text, each.text_pair), len(places)) for each in found.examples], np.int64
    )
    sizes = np.bincount(texts, minlength=len(places))
    order = np.argsort(texts, kind="stable")
    repeated = sizes > 1
    contradicted, lone = np.zeros(len(places), bool), np.zeros(len(rows), bool)
    if found.labels and len(rows):
        labels = np.array([each.label for each in found.examples], np.int64)
        pairs = np.unique(np.stack([texts, labels], axis=1), axis=0)
        contradicted = np.bincount(pairs[:, 0], minlength=len(places)) > 1
        lone = np.bincount(labels)[labels] == 1
    return DoubtfulRows(
        repeating=rows[order[repeated[texts[order]]]],
        num_repeats=int((sizes - 1).sum()),
        contradicting=rows[order[contradicted[texts[order]]]],
        num_contradicting=int(contradicted.sum()),
        lone=rows[lone],
    )
