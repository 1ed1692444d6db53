"""Which words a classifier's answers rest on over many texts: the words' shares summed up, word by word.

A word's mean share is of the texts that hold it; how it acts in one text may be the contrary.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.errors import UserError, marked
from engine.evaluation.inside.texts import EncodedText
from engine.events import Progress, Steps, beats
from engine.inspect.attribution.gradients import INTEGRATED, attribute
from engine.inspect.attribution.target import LABELS, Target
from engine.inspect.loaded_model import LoadedModel
from engine.train.metrics import student_interval

FEWEST = 3  # texts that a word has to stand in before anything is said of it
MOST_STEPS = 64  # of the integral, for each text: shares are averaged over texts anyway


@dataclass(frozen=True, slots=True)
class WordShare:
    """A word's mean share in an answer, in log-odds, with its 95 % interval over the texts that hold it.

    word: in lower case. total: of its shares. texts: that hold it. rows: of the first few of them.
    """

    word: str
    mean: float
    low: float
    high: float
    total: float
    texts: int
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RestingWordRows:
    """Words that speak for a label and against it, by their mean share; and what that is of.

    num_texts: read. num_words: different ones, those that are too rare to say anything of among them.
    residual: the mean share of an answer that the words' shares do not sum to; NaN where they need not.
    """

    label: str
    words: tuple[WordShare, ...]
    num_texts: int
    num_words: int
    residual: float


def resting_words(
    subject: LoadedModel,
    texts: Sequence[EncodedText],
    label: str,
    *,
    method: str = INTEGRATED,
    fewest: int = FEWEST,
) -> Steps[RestingWordRows]:
    """Sum up what each word adds to a label over texts; yields Progress.

    Args: fewest: texts that a word has to stand in.
    Raises: ModelError: it is no classifier. UserError: no such label; no word is common enough.
    """
    subject.require(LABELS)
    target = Target(question=LABELS, answer=label)
    shares: dict[str, list[tuple[int, float]]] = defaultdict(list)
    residuals = []
    for done, text in enumerate(texts):
        yield Progress(stage=marked("engine", "Attributing"), done=done, total=len(texts))
        example = text.example
        start, pair = subject.about.beginning(example.text, example.text_pair)
        found = yield from beats(
            attribute(subject, start, pair, target=target, method=method, most_steps=MOST_STEPS)
        )
        residuals.append(found.residual)
        own: dict[str, float] = defaultdict(float)
        for word, share in zip(found.words, found.word_scores.tolist(), strict=True):
            own[word.text.casefold()] += share
        for name, share in own.items():
            shares[name].append((example.row, share))
    yield Progress(stage=marked("engine", "Attributing"), done=len(texts), total=len(texts))
    common = [_share(name, given) for name, given in shares.items() if len(given) >= fewest]
    if not common:
        template = marked("engine", "No word occurs in {fewest} texts or more. Use more texts.")
        raise UserError(template, fewest=fewest)
    common.sort(key=lambda one: -one.mean)
    return RestingWordRows(label, tuple(common), len(texts), len(shares), float(np.mean(residuals)))


def _share(name: str, given: Sequence[tuple[int, float]]) -> WordShare:
    values = np.array([share for _, share in given])
    mean, count = float(values.mean()), len(values)
    error = float(values.std(ddof=1)) / count**0.5 if count > 1 else float("nan")
    low, high = student_interval(mean, error, count) if count > 1 else (mean, mean)
    return WordShare(name, mean, low, high, float(values.sum()), count, tuple(row for row, _ in given[:20]))
