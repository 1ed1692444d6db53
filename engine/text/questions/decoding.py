"""From the scores of every piece to answers: the likeliest stretches of the passage, or that there is none.

All pairs of a first and a last piece are looked at, not only those of the best few of each. An answer is cut
out of the passage by the characters of its pieces, never put together from the pieces.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from engine.events import Beat, Steps
from engine.text.questions.question import PassageTable
from engine.text.questions.windows import Spans, Windows

Scores = npt.NDArray[np.floating]

MOST_ANSWERS = 20  # on the list of one question
LONGEST_ANSWER = 30  # pieces
_AT_ONCE = 64  # questions between two steps
_SPARE = 3  # times as many stretches are looked at, for some are the same text


@dataclass(frozen=True, slots=True)
class Candidate:
    """An answer that is possible: `passage[start:stop]`. The probabilities of a list sum to 1 with `none`."""

    text: str
    start: int
    stop: int
    score: float  # of its first piece and its last one
    probability: float


@dataclass(frozen=True, slots=True)
class FoundAnswer:
    """What a model answers to one question.

    candidates: the best first, no text twice; none at all for a passage without pieces. none_score: of "there
    is no answer", the least of all windows. none_probability: 0 where a model was not taught it.
    """

    candidates: tuple[Candidate, ...]
    none_score: float
    none_probability: float

    @property
    def difference(self) -> float:
        """How much better "there is no answer" scores than the best answer: `score_diff` of run_squad."""
        return self.none_score - (self.candidates[0].score if self.candidates else -np.inf)

    def text(self, threshold: float | None = None) -> str:
        """Return the best answer; "" if there is none. Args: threshold: of `difference`; None: any answer."""
        if not self.candidates or (threshold is not None and self.difference > threshold):
            return ""
        return self.candidates[0].text


@dataclass(frozen=True, slots=True)
class Chances:
    """How likely an answer begins and ends at each piece of a passage, each decided in its own window.

    spans: (p, 2), characters. start, end: (p,), which sum to 1 with none_start and none_end.
    """

    spans: Spans
    start: npt.NDArray[np.float64]
    end: npt.NDArray[np.float64]
    none_start: float
    none_end: float


def longest_answer(windows: Windows) -> int:
    """Return how many pieces an answer may have: LONGEST_ANSWER, or what 99 of 100 answers of the data need.

    SQuAD's answers are names and numbers; a third of CMRC's are longer than 30 pieces: all would be wrong.
    """
    shown = windows.targets[windows.targets[:, 0] > 0]
    lengths = shown[:, 1] - shown[:, 0] + 1
    return max(LONGEST_ANSWER, int(np.quantile(lengths, 0.99, method="higher")) if len(lengths) else 0)


def answering(
    windows: Windows,
    questions: PassageTable,
    start: Scores,
    end: Scores,
    *,
    with_none: bool,
    most: int = MOST_ANSWERS,
    longest: int = LONGEST_ANSWER,
    kept: int = MOST_ANSWERS,
) -> Steps[list[FoundAnswer]]:
    """Return what scores answer to each question that is asked, step by step.

    Args: kept: how many candidates of each are, once they are ranked. The others as in `answer`.
    """
    found: list[FoundAnswer] = []
    rows = windows.rows[windows.window_bounds[:-1]]
    for asked, row in enumerate(rows.tolist()):
        passage = questions.passage_of(questions.questions[row])
        one = answer(windows, asked, passage, start, end, with_none=with_none, most=most, longest=longest)
        found.append(replace(one, candidates=one.candidates[:kept]))
        if asked % _AT_ONCE == 0:
            yield Beat()
    return found


def answer(
    windows: Windows,
    asked: int,
    passage: str,
    start: Scores,
    end: Scores,
    *,
    with_none: bool,
    most: int = MOST_ANSWERS,
    longest: int = LONGEST_ANSWER,
) -> FoundAnswer:
    """Return what scores answer to the question that is asked in place `asked`.

    Args: start, end: (sum of lengths,), a score for each of the windows' `input_ids`. with_none: whether the
    model was taught that there may be no answer. most: candidates. longest: pieces of an answer.
    """
    spans = windows.spans_of(asked)
    found = [_best(windows, window, start, end, most * _SPARE, longest) for window in windows.of(asked)]
    scores, firsts, lasts = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.lexsort((lasts, firsts, -scores))
    kept: dict[str, tuple[int, int, float]] = {}
    for place in order.tolist():
        begin, stop = int(spans[firsts[place], 0]), int(spans[lasts[place], 1])
        text = passage[begin:stop]
        if text.strip() and text not in kept:
            kept[text] = (begin, stop, float(scores[place]))
            if len(kept) == most:
                break
    none = none_score(windows, asked, start, end)
    shares = _softmax(np.array([score for _, _, score in kept.values()] + [none] * with_none))
    candidates = tuple(
        Candidate(text, *where, float(share))
        for (text, where), share in zip(kept.items(), shares, strict=False)
    )
    return FoundAnswer(candidates, none, float(shares[-1]) if with_none else 0.0)


def none_score(windows: Windows, asked: int, start: Scores, end: Scores) -> float:
    """Return the score of "there is no answer": of [CLS], in the window that says so least."""
    firsts = windows.bounds[windows.of(asked)]
    return float((start[firsts] + end[firsts]).min())


def chances(windows: Windows, asked: int, start: Scores, end: Scores, *, with_none: bool) -> Chances:
    """Return how likely the answer begins and ends at each piece of the passage. Args: as `answer`."""
    spans = windows.spans_of(asked)
    of_passage = np.zeros((2, len(spans) + 1))
    firsts = windows.bounds[windows.of(asked)]
    least = firsts[np.argmin(start[firsts] + end[firsts])]
    of_passage[:, -1] = (start[least], end[least]) if with_none else -np.inf
    for window in windows.of(asked):
        begin, stop = windows.owned[window]
        shown, first = windows.shown(window).start, windows.first[window]
        tokens = slice(shown + begin - first, shown + stop - first)
        of_passage[:, begin:stop] = start[tokens], end[tokens]
    shares = [_softmax(one) for one in of_passage]
    return Chances(spans, shares[0][:-1], shares[1][:-1], float(shares[0][-1]), float(shares[1][-1]))


def _best(
    windows: Windows, window: int, start: Scores, end: Scores, most: int, longest: int
) -> tuple[Scores, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the best stretches that begin in pieces which a window decides: score, first and last piece."""
    first, (begin, stop) = int(windows.first[window]), windows.owned[window].tolist()
    shown = windows.shown(window)
    starts = np.asarray(start[shown], np.float64)[begin - first : stop - first]
    ends = np.asarray(end[shown], np.float64)[begin - first :]
    padded = np.concatenate([ends, np.full(longest, -np.inf)])
    pairs = starts[:, None] + np.lib.stride_tricks.sliding_window_view(padded, longest)[: len(starts)]
    flat = pairs.ravel()
    best = np.argpartition(-flat, most)[:most] if len(flat) > most else np.arange(len(flat))
    best = best[flat[best] > -np.inf]
    firsts = begin + best // longest
    return flat[best], firsts, firsts + best % longest


def _softmax(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    if not len(scores):
        return scores
    powers = np.exp(scores - scores.max())
    return np.asarray(powers / powers.sum())
