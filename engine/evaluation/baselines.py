"""What any model has to beat: always one label, the commonest of these texts or of those that it learned
from, and words counted without understanding.

Words are weighted by how rare they are (TF-IDF), and a logistic regression learns from them on the rows that
the model itself has learned from, cut as it reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from engine.errors import UserError, marked
from engine.evaluation.part import PARTS, run_behind
from engine.evaluation.report import repeating
from engine.evaluation.statistics import Difference, compared_hits
from engine.events import Progress, Steps
from engine.model.info import read_info
from engine.text.batch import EncodedRows
from engine.text.read_tokenizer import read_tokenizer
from engine.text.tokenizer import Tokenizer
from engine.train.metrics import wilson_interval
from engine.train.run.runs import MODEL, SETUP
from engine.train.scored import ScoredTable
from engine.train.tasks.known import kept_part, task_named

MAJORITY, TRAINING_MAJORITY, TFIDF = "majority", "training_majority", "tfidf"
LEAST_ROWS = 2  # with a word or a pair of words, so that it counts, of many rows
MANY_ROWS = 2000
STRENGTH = 10.0  # of scikit-learn's C: little is held back, as is usual for TF-IDF
MOST_STEPS = 300


@dataclass(frozen=True, eq=False)
class Baseline:
    """What a simple way reaches on scored texts. hits: (E,), where it is right. difference: the model less
    it.
    """

    name: str  # MAJORITY, TRAINING_MAJORITY or TFIDF
    label: str  # that is always answered; "" for words
    hits: npt.NDArray[np.bool_]
    difference: Difference
    num_rows: int  # that it has learned from; 0: the scored ones themselves, of which it is the commonest

    @property
    def accuracy(self) -> float:
        return float(self.hits.mean()) if len(self.hits) else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        return wilson_interval(int(self.hits.sum()), len(self.hits))


def one_label(scored: ScoredTable, model: Path) -> tuple[Baseline, ...]:
    """Return what always answering one label reaches: the commonest of the scored texts; and that of the rows
    that the model learned from, where these are known and it is another one.
    """
    each, targets = scored.each, _training_targets(model)
    found = [_always(scored, MAJORITY, each.true, 0)]
    if targets is not None:
        learned = _always(scored, TRAINING_MAJORITY, targets, len(targets))
        found += [learned] if learned.label != found[0].label else []
    return tuple(found)


def _always(scored: ScoredTable, name: str, targets: npt.NDArray[np.int64], num_rows: int) -> Baseline:
    """Return what always answering the commonest of some labels reaches on the scored texts."""
    each = scored.each
    most = int(np.bincount(targets, minlength=len(each.names)).argmax())
    hits = each.true == most
    return Baseline(name, each.names[most], hits, _beside(scored, hits), num_rows)


def _beside(scored: ScoredTable, hits: npt.NDArray[np.bool_]) -> Difference:
    """Return the model less a simple way; texts that repeat each other count once."""
    return compared_hits(hits, scored.each.right > 0.5, repeating(scored.listed))


def can_count_words(scored: ScoredTable, model: Path) -> bool:
    """Whether the rows are known that a model has learned from."""
    run = run_behind(model)
    return run is not None and task_named(scored.task).counts_words


def counting_words(scored: ScoredTable, model: Path, split: str = "") -> Steps[Baseline]:
    """Return what TF-IDF with logistic regression reaches on the same texts.

    Args: model: a run's result. split: of PARTS where they are the run's own; "": of a file.
    Raises: ModelError, RunError if the run's files cannot be read.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    run = run_behind(model)
    assert run is not None, "ask can_count_words first"
    wordpiece = read_tokenizer(run / SETUP)
    train = kept_part(run, "train")
    own = kept_part(run, split) if split in PARTS else None
    if train is None:
        raise UserError(marked("engine", "The training rows of {path} cannot be read."), path=run)
    length = int(read_info(run / MODEL).get("max_length", 0)) or int(train.lengths.max())
    learned = yield from _reading(_pieces_of(train), wordpiece, len(train))
    pieces = _pieces_of(own) if own is not None else _pieces_in(scored, wordpiece, length)
    asked = yield from _reading(pieces, wordpiece, len(scored.each))
    yield Progress(stage=marked("engine", "Counting words"), done=0, total=0)
    least = LEAST_ROWS if len(learned) >= MANY_ROWS else 1
    counter = TfidfVectorizer(analyzer=_features, min_df=least, sublinear_tf=True, dtype=np.float32)
    features = counter.fit_transform(learned)
    yield Progress(stage=marked("engine", "Counting words"), done=1, total=3)
    targets = train.targets
    if len(np.unique(targets)) < 2:
        predicted = np.full(len(asked), int(targets[0]))
    else:
        fitted = LogisticRegression(C=STRENGTH, max_iter=MOST_STEPS).fit(features, targets)
        yield Progress(stage=marked("engine", "Counting words"), done=2, total=3)
        predicted = fitted.predict(counter.transform(asked))
    hits = np.asarray(predicted == scored.each.true)
    return Baseline(TFIDF, "", hits, _beside(scored, hits), len(train))


def _training_targets(model: Path) -> npt.NDArray[np.int64] | None:
    run = run_behind(model)
    if run is None:
        return None
    try:
        train = kept_part(run, "train")
    except UserError:
        return None
    if train is None or train.targets.ndim != 1 or not len(train):
        return None
    return np.asarray(train.targets, np.int64)


def _pieces_of(data: EncodedRows) -> Iterator[tuple[Sequence[int], int]]:
    """Yield the ids of each text, and where the second one begins."""
    bounds = data.bounds.tolist()
    for place, first in enumerate(data.num_a.tolist()):
        yield data.input_ids[bounds[place] : bounds[place + 1]].tolist(), first


def _pieces_in(scored: ScoredTable, wordpiece: Tokenizer, length: int) -> Iterator[tuple[Sequence[int], int]]:
    listed = scored.listed
    for start in range(0, len(listed), 512):
        some = slice(start, min(start + 512, len(listed)))
        texts = wordpiece.encode_ids(listed.texts[some])
        pairs = [None] * len(texts) if listed.pairs is None else wordpiece.encode_ids(listed.pairs[some])
        for text, pair in zip(texts, pairs, strict=True):
            ids, first, _ = wordpiece.assemble(text, pair, length, "longest_first")
            yield ids.tolist(), int(first)


def _reading(
    pieces: Iterator[tuple[Sequence[int], int]], wordpiece: Tokenizer, count: int
) -> Steps[list[list[str]]]:
    """Return the words of each text, put together from pieces; in a second text they are others."""
    spelled = dict[tuple[int, ...], str]()
    special = {wordpiece.cls_id, wordpiece.sep_id, wordpiece.pad_id}
    found = list[list[str]]()
    for number, (ids, first) in enumerate(pieces):
        parts = list[tuple[int, tuple[int, ...]]]()  # where each word begins, and its pieces
        for place, (one, goes_on) in enumerate(zip(ids, wordpiece.continues(ids), strict=True)):
            if one in special:
                continue
            if goes_on and parts:
                parts[-1] = parts[-1][0], (*parts[-1][1], one)
            else:
                parts.append((place, (one,)))
        words = list[str]()
        for place, part in parts:
            if part not in spelled:
                spelled[part] = wordpiece.spelled(part)
            words.append(spelled[part] if place < first else f"2:{spelled[part]}")
        found.append(words)
        if number % 1024 == 0:
            yield Progress(stage=marked("engine", "Counting words"), done=number, total=count)
    return found


def _features(words: list[str]) -> list[str]:
    """Return words, and pairs of words that follow each other."""
    return words + [f"{a} {b}" for a, b in pairwise(words)]
