"""What models learn along from several labels a text, and from numbers: on the vectors of a frozen encoder.

Several labels: a logistic regression for each label, yes or no (one versus rest). Numbers: ridge regression,
its strength chosen by leaving one text out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.train.ways.regression import USUAL_STRENGTH, Floats, Labels, fit

# n labelled texts, E all texts, D width of the vectors, C labels

RIDGE_STRENGTHS = tuple(float(one) for one in np.logspace(-2, 3, 11))


def each_label(
    vectors: Floats, places: Sequence[int], sets: Labels, strength: float = USUAL_STRENGTH
) -> npt.NDArray[np.float64]:
    """Return (E, C) how probable each label is for each text; a label that no text has yet: 0.

    Args: vectors: (E, D), standardized. places: (n,) of the labelled texts. sets: (n, C), 1 for theirs.
    """
    known = vectors[list(places)]
    columns = [fit(known, has, strength).probabilities(vectors, 2)[:, 1] for has in sets.T]
    return np.stack(columns, axis=1)


def most_doubtful(likely: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return (E, 2) yes and no of the label that is most uncertain for each text. Args: likely: (E, C)."""
    yes = likely[np.arange(len(likely)), np.abs(likely - 0.5).argmin(1)]
    return np.stack([yes, 1 - yes], axis=1)


def each_number(
    vectors: Floats, places: Sequence[int], numbers: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return (E,) the number that each text has by the labelled ones; none lies beyond theirs.

    Args: vectors: (E, D), standardized. places, numbers: (n,) of the labelled texts, two at least.
    """
    from sklearn.linear_model import RidgeCV

    fitted: Any = RidgeCV(RIDGE_STRENGTHS).fit(vectors[list(places)].astype(np.float64), numbers)
    found: npt.NDArray[np.float64] = fitted.predict(vectors.astype(np.float64))
    return np.clip(found, numbers.min(), numbers.max())
