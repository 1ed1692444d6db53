"""TF-IDF and a regression: what a way has to surpass that needs no model at all."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.events import Beat, Steps
from engine.text.batch import EncodedRows
from engine.train.ways.judged import Answers
from engine.train.ways.regression import MOST_STEPS, USUAL_STRENGTH, Labels


def answers_by_words(rows: EncodedRows, targets: Labels) -> Answers:
    """Return what answers rows by the pieces that they hold, one and two in a row. Args: targets: (n,)."""
    texts = _pieces_of(rows)

    def answers(learn: npt.NDArray[np.bool_]) -> Steps[Labels]:
        yield Beat()
        return _answered(texts, targets, learn)

    return answers


def word_features(texts: Sequence[str]) -> Any:
    """Return the words and pairs of words of each text, weighed by how rare they are: (E, F), sparse.

    Where most texts have no spaces: one to three characters in a row.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    is_spaced = sum(" " in text.strip() for text in texts) * 2 > len(texts)
    how: dict[str, Any] = {"ngram_range": (1, 2), "token_pattern": r"(?u)\b\w+\b"}
    if not is_spaced:
        how = {"ngram_range": (1, 3), "analyzer": "char", "min_df": 2 if len(texts) > 200 else 1}
    return TfidfVectorizer(sublinear_tf=True, **how).fit_transform(texts).tocsr()


def answers_by_features(features: Any, targets: Labels) -> Answers:
    """Return what answers rows by their (n, F) features, such as `word_features`. Args: targets: (n,)."""

    def answers(learn: npt.NDArray[np.bool_]) -> Steps[Labels]:
        yield Beat()
        return _regressed(features[learn], features[~learn], targets[learn])

    return answers


def predicted_by_words(train: EncodedRows, held: EncodedRows) -> Labels:
    """Return (E,) the labels of held-out rows by what is learned from the training rows."""
    learn = np.arange(len(train) + len(held)) < len(train)
    targets = np.concatenate([train.targets, held.targets])
    return _answered(_pieces_of(train) + _pieces_of(held), targets, learn)


def _pieces_of(rows: EncodedRows) -> list[list[int]]:
    """Return the pieces of each row, without its first and last one."""
    bounds = zip(rows.bounds[:-1], rows.bounds[1:], strict=True)
    return [rows.input_ids[start + 1 : end - 1].tolist() for start, end in bounds]


def _answered(texts: list[list[int]], targets: Labels, learn: npt.NDArray[np.bool_]) -> Labels:
    from sklearn.feature_extraction.text import TfidfVectorizer

    counted: Any = TfidfVectorizer(analyzer=_grams, sublinear_tf=True)
    known = counted.fit_transform([texts[place] for place in np.flatnonzero(learn)])
    asked = counted.transform([texts[place] for place in np.flatnonzero(~learn)])
    return _regressed(known, asked, targets[learn])


def _regressed(known: Any, asked: Any, targets: Labels) -> Labels:
    """Return the labels of the rows of `asked` by a regression on those of `known`."""
    from sklearn.linear_model import LogisticRegression

    if len(np.unique(targets)) == 1:
        return np.full(asked.shape[0], targets[0])
    # newton-cg comes to the same end as the usual solver in a fifth of the time
    fitted: Any = LogisticRegression(C=USUAL_STRENGTH, max_iter=MOST_STEPS, solver="newton-cg")
    found: Labels = fitted.fit(known, targets).predict(asked)
    return found


def _grams(pieces: list[int]) -> list[tuple[int, ...]]:
    return [(one,) for one in pieces] + list(pairwise(pieces))
