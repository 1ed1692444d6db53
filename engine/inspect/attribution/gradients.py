"""Which words an answer rests on: integrated gradients, and gradient x input, over pieces and words.

The scores of integrated gradients sum to what the text changes in the answer; the residual says how nearly.
Attention weights are no part of this.
Source: Sundararajan et al. 2017, Axiomatic Attribution for Deep Networks.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.errors import Sentence, UserError, marked
from engine.events import Event, Progress
from engine.inspect.attribution.path import BASELINES, MASK, ZERO, Path, curtis_places, curtis_weights
from engine.inspect.attribution.target import LOG_ODDS, MEASURES, Target, TargetOnText, settle
from engine.inspect.loaded_model import LoadedModel
from engine.text.tokenizer import Encoding
from engine.text.words import Word, words_of

# T tokens, W words

INTEGRATED, GRADIENT = "integrated_gradients", "gradient_x_input"
METHODS = {
    INTEGRATED: marked("engine", "Integrated gradients"),
    GRADIENT: marked("engine", "Gradient × input"),
}
FEWEST_STEPS, MOST_STEPS = 16, 1024
TOLERANCE, SMALLEST = 0.01, 0.1  # of the difference, and what counts as the smallest difference
SETTLED = 0.15  # of the difference: what half the steps may change one score by


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Attribution:
    """What each piece and each word of a text adds to an answer.

    text, text_pair: as typed. tokens: as the model read them, a hidden word as [MASK]; encoding: before
    that. pieces: (T,) float64; word_scores: (W,), the sum over each word's pieces. value, baseline_value: the
    measured answer for the text and for the baseline, with their probabilities beside. spread: the
    largest change of one piece's score when half the steps are taken; NaN where there is no half. steps: of
    the integral; 1 for gradient x input, whose scores need not sum to anything.
    """

    text: str
    text_pair: str | None
    encoding: Encoding
    tokens: tuple[str, ...]
    words: tuple[Word, ...]
    asked: TargetOnText
    method: str
    baseline: str
    measure: str
    pieces: np.ndarray
    word_scores: np.ndarray
    value: float
    baseline_value: float
    probability: float
    baseline_probability: float
    steps: int
    model_name: str
    fingerprint: str

    @property
    def difference(self) -> float:
        """What there is to account for."""
        return self.value - self.baseline_value

    @property
    def total(self) -> float:
        """What all pieces add up to."""
        return float(self.pieces.sum())

    @property
    def residual(self) -> float:
        """What the sum misses, 0 and up, as a share of max(|difference|, 0.1); NaN where there is no sum."""
        if self.method != INTEGRATED:
            return float("nan")
        return abs(self.difference - self.total) / max(abs(self.difference), SMALLEST)

    @property
    def is_complete(self) -> bool:
        """Whether the sum accounts for the difference within 1 %."""
        return self.residual <= TOLERANCE

    @property
    def question(self) -> Sentence:
        """What was asked, in words."""
        return self.asked.sentence

    def report(self) -> dict[str, Any]:
        """Return all of it as JSON can hold it."""
        has_sum = self.method == INTEGRATED
        return {
            "model": self.model_name,
            "fingerprint": self.fingerprint,
            "text": self.text,
            "text_pair": self.text_pair,
            "target": str(self.question),
            "method": self.method,
            "baseline": self.baseline if has_sum else None,
            "measure": self.measure,
            "value": self.value,
            "probability": self.probability,
            "baseline_value": self.baseline_value if has_sum else None,
            "baseline_probability": self.baseline_probability if has_sum else None,
            "sum": self.total,
            "residual": self.residual if has_sum else None,
            "steps": self.steps,
            "tokens": list(self.tokens),
            "piece_scores": self.pieces.tolist(),
            "words": [
                {"text": word.text, "segment": "AB"[word.segment], "start": word.start, "stop": word.stop}
                | {"score": score}
                for word, score in zip(self.words, self.word_scores.tolist(), strict=True)
            ],
        }


def attribute(
    subject: LoadedModel,
    text: str,
    text_pair: str | None = None,
    *,
    target: Target,
    method: str = INTEGRATED,
    baseline: str = "",
    measure: str = LOG_ODDS,
    most_steps: int = MOST_STEPS,
) -> Generator[Event, None, Attribution]:
    """Say what each piece and word adds to an answer; a generator whose return value is the `Attribution`.

    integrated_gradients: the gradient of the answer along the straight line from the baseline to the text,
        integrated and multiplied by the way; the scores sum to the difference of the two answers. Steps are
        doubled from 16 until they do within 1 %, at most to `most_steps` (a power of two).
    gradient_x_input: the gradient at the text times the word embeddings: one step, quick, and no such sum.

    Args: target: see `Target`. baseline: "mask", "pad" or "zero" (see attribution_path.py), "" for "mask"
        where the vocabulary has it, else "zero". measure: "log_odds", the default (log p - log(1 - p) tells
        evidence apart even where p is nearly 0 or 1), or "probability".
    Raises: UserError, ModelError as `settle`; UserError: a name that is none, a text that memory does not
        suffice for, nothing but special tokens.
    """
    baseline = baseline or (MASK if subject.wordpiece.mask_id is not None else ZERO)
    _check(method, baseline, measure)
    encoding = subject.encode(text, text_pair)
    words = words_of(encoding, text, text_pair)
    yield _progress(0, 1)
    asked = settle(subject, encoding, words, target)
    path = Path(subject, asked, measure, baseline)
    if method == INTEGRATED:
        pieces, steps = yield from _integrated(path, most_steps)
    else:
        pieces, steps = path.products(), 1
    return _result(
        subject, path, encoding, words, pieces, text=text, text_pair=text_pair, method=method, steps=steps
    )


def _result(
    subject: LoadedModel,
    path: Path,
    encoding: Encoding,
    words: tuple[Word, ...],
    pieces: np.ndarray,
    **values: Any,
) -> Attribution:
    """Return what was found, with what it was found of. Args: pieces: (T,). values: the other fields."""
    return Attribution(
        encoding=encoding,
        tokens=tuple(subject.wordpiece.shown[number] for number in path.asked.input_ids),
        words=words,
        asked=path.asked,
        baseline=path.baseline,
        measure=path.measure,
        pieces=pieces,
        word_scores=np.array([pieces[list(word.pieces)].sum() for word in words]),
        value=path.ends[1],
        baseline_value=path.ends[0],
        probability=path.probabilities[1],
        baseline_probability=path.probabilities[0],
        model_name=subject.name,
        fingerprint=subject.fingerprint,
        **values,
    )


def _integrated(path: Path, most_steps: int) -> Generator[Event, None, tuple[np.ndarray, int]]:
    """Return each piece's score (T,), and the steps it took.

    They are enough when the sum is right within 1 % and half of them would have given each score within 15 %
    of the difference: a sum can be right by chance. Single scores were then right within about 1 % too.
    """
    places = curtis_places(most_steps)
    slopes = np.full((most_steps + 1, path.num_tokens), np.nan)
    difference = path.ends[1] - path.ends[0]
    scale = max(abs(difference), SMALLEST)
    steps = min(FEWEST_STEPS, most_steps)
    while True:
        rows = np.arange(0, most_steps + 1, most_steps // steps)
        yield from _fill(path, places, slopes, rows)
        scores = curtis_weights(steps) @ slopes[rows]
        coarse = curtis_weights(steps // 2) @ slopes[rows[::2]]
        is_right = abs(difference - scores.sum()) <= TOLERANCE * scale
        if (is_right and np.abs(scores - coarse).max() <= SETTLED * scale) or steps >= most_steps:
            return scores, steps
        steps *= 2


def _fill(path: Path, places: np.ndarray, slopes: np.ndarray, rows: np.ndarray) -> Iterator[Event]:
    """Compute those rows of `slopes` that are missing, in batches that memory suffices for."""
    missing = [int(row) for row in rows if np.isnan(slopes[row, 0])]
    yield _progress(len(rows) - len(missing), len(rows))
    while missing:
        batch = missing[: path.at_once]
        found = path.slopes(places[batch])
        if found is None:
            continue  # memory ran out; the next batch is smaller
        slopes[batch] = found
        missing = missing[len(batch) :]
        yield _progress(len(rows) - len(missing), len(rows))


def _check(method: str, baseline: str, measure: str) -> None:
    """Refuse a name that is none. Raises: UserError."""
    for name, choices in ((method, METHODS), (baseline, BASELINES), (measure, MEASURES)):
        if name not in choices:
            template = marked("engine", "{name!r} is not known here; it can be one of: {choices}.")
            raise UserError(template, name=name, choices=list(choices))


def _progress(done: int, total: int) -> Progress:
    return Progress(stage=marked("engine", "Attributing"), done=done, total=total)
