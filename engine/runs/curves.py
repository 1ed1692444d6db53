"""What a run measured by step, thinned as it is read: a day's run has a million steps, a picture a thousand.

A curve keeps of each stretch its mean, its least and its largest, so that no peak is lost. Nothing is read
before somebody asks for it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from engine.errors import RunError, UserError, marked
from engine.events import Evaluated, Event, Progress, Step
from engine.files import open_regular
from engine.train.run.records import event_in
from engine.train.run.runs import METRICS

Numbers = npt.NDArray[np.float64]
BLOCK = 2**19  # bytes that are read at once: while they are searched, a window waits
POINTS = 2000  # that a curve is thinned to
LOSS, SCORE = "loss", "score"
# a line as `record_of` writes it, whose numbers need no JSON reader; no text in JSON has such quotes
_STEP = re.compile(rb'\{"event": "step", "step": (\d+, "epoch": [^,]+, "loss": [^,]+, "accuracy": [^,]+),')
_EVALUATED = b'{"event": "evaluated"'
_NAMES = (b'"epoch": ', b'"loss": ', b'"accuracy": ')
_OTHER = re.compile(rb'^\{"event": "(?:step|evaluated)".*$', re.MULTILINE)


@dataclass(frozen=True, slots=True, eq=False)
class RunCurve:
    """Values by step, thinned. All (P,): steps ascend; mean, low and high of each stretch."""

    steps: Numbers
    mean: Numbers
    low: Numbers
    high: Numbers

    @property
    def size(self) -> int:
        return len(self.steps)


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """What a run measured. train, validation: by name, "loss" and the metrics. num_steps: read so far."""

    train: dict[str, RunCurve]
    validation: dict[str, RunCurve]
    num_steps: int


@dataclass(frozen=True, slots=True, eq=False)
class MeanCurve:
    """The mean of several curves and how far they lie apart: (P,) each. spread: 0 for one curve."""

    steps: Numbers
    mean: Numbers
    spread: Numbers


def read_curves(run_dir: Path, points: int = POINTS) -> Generator[Event, None, Curves]:
    """Return the curves of a run, telling how much of its file is read. Raises: RunError."""
    blocks: list[Numbers] = []
    evaluated: dict[str, list[tuple[int, float]]] = {}
    try:
        with open_regular(run_dir / METRICS, kind=RunError) as file:
            length, rest = os.fstat(file.fileno()).st_size, b""
            while block := file.read(BLOCK):
                text = rest + block
                cut = text.rfind(b"\n") + 1
                rest = text[cut:]
                blocks.append(_steps_in(text[:cut], evaluated))
                yield Progress(stage=marked("engine", "Reading"), done=file.tell(), total=length)
    except UserError as error:
        if (run_dir / METRICS).exists():
            raise RunError(error.sentence.template, **error.sentence.values) from error
    steps = np.concatenate(blocks) if blocks else np.zeros((0, 3))
    steps = _last_of_each(steps)
    train = {LOSS: thinned(steps[:, 0], steps[:, 1], points)}
    if len(steps) and np.isfinite(steps[:, 2]).any():
        train[SCORE] = thinned(steps[:, 0], steps[:, 2], points)
    validation: dict[str, RunCurve] = {}
    for name, measured in evaluated.items():
        table = np.array(sorted(dict(measured).items()), np.float64)
        validation[name] = thinned(table[:, 0], table[:, 1], points)
    return Curves(train, validation, len(steps))


def _steps_in(text: bytes, evaluated: dict[str, list[tuple[int, float]]]) -> Numbers:
    """Return (E, 3) step, loss and accuracy of the steps in a text; take its evaluations."""
    found = _STEP.findall(text)
    if len(found) == text.count(b'{"event": "step"'):
        place = text.find(_EVALUATED)
        while place >= 0:
            end = text.find(b"\n", place)
            _take_evaluation(text[place:end], evaluated)
            place = text.find(_EVALUATED, end)
        numbers = b",".join(found)
        for name in _NAMES:
            numbers = numbers.replace(name, b"")
        table = np.fromstring(numbers.replace(b"null", b"nan"), np.float64, sep=",")
        return table.reshape(-1, 4)[:, [0, 2, 3]] if len(table) == 4 * len(found) else _one_by_one(text, {})
    return _one_by_one(text, evaluated)


def _one_by_one(text: bytes, evaluated: dict[str, list[tuple[int, float]]]) -> Numbers:
    rows = []
    for line in _OTHER.findall(text):  # somebody else's hand has been at it
        event = event_in(line)
        if isinstance(event, Step):
            rows.append((event.step, event.loss, np.nan if event.accuracy is None else event.accuracy))
        elif isinstance(event, Evaluated):
            _take_evaluation(line, evaluated)
    return np.array(rows, np.float64).reshape(-1, 3)


def _take_evaluation(line: bytes, evaluated: dict[str, list[tuple[int, float]]]) -> None:
    event = event_in(line)
    if isinstance(event, Evaluated) and event.split == "validation":
        for name, value in {LOSS: event.loss, **event.metrics}.items():
            evaluated.setdefault(name, []).append((event.step, value))


def _last_of_each(steps: Numbers) -> Numbers:
    """Return steps in order; of one that came twice, after a run was gone on with, the last."""
    if len(steps) < 2 or (np.diff(steps[:, 0]) > 0).all():
        return steps
    _, places = np.unique(steps[::-1, 0], return_index=True)
    return np.asarray(steps[::-1][places])


def thinned(steps: Numbers, values: Numbers, points: int = POINTS) -> RunCurve:
    """Return values by step in at most so many stretches; what is no number is left out."""
    known = np.isfinite(values)
    steps, values = steps[known], values[known]
    if len(steps) <= points:
        return RunCurve(steps, values, values, values)
    bounds = np.linspace(0, len(steps), points + 1).astype(np.int64)
    begins, counts = bounds[:-1], np.diff(bounds)
    return RunCurve(
        np.add.reduceat(steps, begins) / counts,
        np.add.reduceat(values, begins) / counts,
        np.minimum.reduceat(values, begins),
        np.maximum.reduceat(values, begins),
    )


def smoothed(values: Numbers, share: float = 0.03) -> Numbers:
    """Return the mean of each value and its neighbours. Args: share: of all values, both sides together."""
    half = int(len(values) * share / 2)
    if half < 1:
        return values
    sums = np.concatenate([[0.0], np.cumsum(values)])
    places = np.arange(len(values))
    low, high = np.maximum(places - half, 0), np.minimum(places + half + 1, len(values))
    return np.asarray((sums[high] - sums[low]) / (high - low))


def band_of(curves: Sequence[RunCurve], points: int = 500, *, smooth: bool = True) -> MeanCurve:
    """Return mean and spread of curves of the same kind of run, as far as the shortest of them goes on."""
    own = [curve for curve in curves if curve.size]
    if not own:
        return MeanCurve(np.zeros(0), np.zeros(0), np.zeros(0))
    lines = [(curve.steps, smoothed(curve.mean) if smooth else curve.mean) for curve in own]
    if len(lines) == 1:
        return MeanCurve(lines[0][0], lines[0][1], np.zeros(len(lines[0][0])))
    grids = [steps for steps, _ in lines]
    alike = all(len(one) == len(grids[0]) and np.array_equal(one, grids[0]) for one in grids)
    grid = grids[0]
    if not alike:
        first, last = max(one[0] for one in grids), min(one[-1] for one in grids)
        if last < first:
            first = last = min(one[0] for one in grids)
        grid = np.linspace(first, last, min(points, max(map(len, grids))))
    every = np.array([np.interp(grid, steps, values) for steps, values in lines])
    return MeanCurve(grid, every.mean(0), every.std(0, ddof=1))
