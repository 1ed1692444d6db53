"""Which rows of a table a remark is about: plain arithmetic over examples, for the window's workers.

Row numbers are the table's, 0-based. Rows of one text stand together, in the order in which texts appear.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.text.example_rows import Keys, distinct
from engine.text.examples import ExampleTable

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


def _alone(found: ExampleTable, labels: np.ndarray) -> np.ndarray:
    """Return (E,) bool: whether a row has a label that no other row carries."""
    if found.values is None:
        return np.asarray(np.bincount(labels)[labels] == 1)
    if found.values.ndim == 1:  # numbers
        return np.zeros(len(labels), bool)
    sets = found.values[labels]
    return np.asarray(sets[:, sets.sum(0) == 1].any(1))


def doubtful_rows(found: ExampleTable, keys: Keys) -> DoubtfulRows:
    """Return the rows that repeat, contradict one another, or stand alone with their label.

    Args: keys: (E,) equal where the texts are.
    """
    rows = found.examples.rows
    _, firsts, texts = np.unique(keys, return_index=True, return_inverse=True)
    rank = np.zeros(len(firsts), np.int64)
    rank[np.argsort(firsts)] = np.arange(len(firsts))
    texts = rank[texts]  # numbered in the order in which they appear
    sizes = np.bincount(texts, minlength=len(firsts))
    order = np.argsort(texts, kind="stable")
    repeated = sizes > 1
    contradicted, lone = np.zeros(len(firsts), bool), np.zeros(len(rows), bool)
    if (found.labels or found.values is not None) and len(rows):
        labels = found.examples.labels.astype(np.int64)
        count = int(labels.max()) + 1
        pairs = distinct(texts * count + labels)
        contradicted = np.bincount(pairs // count, minlength=len(firsts)) > 1
        lone = _alone(found, labels)
    return DoubtfulRows(
        repeating=rows[order[repeated[texts[order]]]],
        num_repeats=int((sizes - 1).sum()),
        contradicting=rows[order[contradicted[texts[order]]]],
        num_contradicting=int(contradicted.sum()),
        lone=rows[lone],
    )
