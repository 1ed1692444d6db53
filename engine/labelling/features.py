"""What a regression learns few labels from: a frozen encoder's vectors, and beside them the words' spelling.

The encoder knows meanings and not this table; a rare word that decides is plain in its spelling. Together
they are often better than either, seldom much worse than the better one: see `benchmarks/README.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.train.ways.regression import Floats, standardized

# E texts, D width of the encoder's vectors, W directions of the spelling

NUM_CHARACTERS = (2, 4)  # in a row, within words: every language has those, also where no space stands
LEAST_TEXTS = 2  # that hold them
NUM_DIRECTIONS = 256
MOST_READ = 1000  # characters of a text, a little more than what the encoder reads of it


def features(vectors: Floats, texts: Sequence[str]) -> Floats:
    """Return (E, D + W): (E, D) vectors standardized, and as heavily TF-IDF of characters in W directions.

    The directions are those of the table's own texts, no label is looked at. Source: Deerwester et al. 1990,
    latent semantic analysis.
    """
    known = standardized(vectors)
    spelling = _spelling(texts)
    return known if spelling is None else np.hstack([known, spelling])


def _spelling(texts: Sequence[str]) -> Floats | None:
    """Return (E, W) at a mean squared length of 1; None: the texts have too little in common."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.utils.extmath import randomized_svd

    count: Any = TfidfVectorizer(
        analyzer="char_wb",
        ngram_range=NUM_CHARACTERS,
        sublinear_tf=True,
        min_df=min(LEAST_TEXTS, len(texts)),
        dtype=np.float32,
    )
    try:
        counts = count.fit_transform([text[:MOST_READ] for text in texts])
    except ValueError:  # no characters in a row that two texts have
        return None
    directions = min(NUM_DIRECTIONS, min(counts.shape) - 1)
    if directions < 1:
        return None
    left, sizes, _ = randomized_svd(counts, directions, random_state=0)
    found = left * sizes
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    found /= np.where(lengths > 0, lengths, 1)
    found -= found.mean(0)
    size = np.sqrt((found**2).sum(1).mean())
    scaled: Floats = (found / size if size > 0 else found).astype(np.float32)
    return scaled
