"""How two parts of the data differ: in the shares of their labels and in the length of their texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from engine.doctor.finding import NO_ROWS, Finding
from engine.doctor.labels import similar_in
from engine.doctor.part import TablePart
from engine.errors import Sentence, marked

MUCH = 0.05  # by which the share of a label differs
LONGER = 1.5  # times as long
_LEAST = 50  # rows of a part that is compared
_SURE = 3.0  # standard errors


def on_shift(parts: Sequence[TablePart]) -> Iterator[Finding]:
    """Yield what differs between any two parts that are large enough to tell."""
    large = [part for part in parts if len(part.examples) >= _LEAST]
    for place, one in enumerate(large):
        for other in large[place + 1 :]:
            yield from _labels(one, other)
            yield from _lengths(one, other)


def _labels(one: TablePart, other: TablePart) -> Iterator[Finding]:
    if not (one.has_labels and other.has_labels):
        return
    mistyped = similar_in(other)  # told of by itself
    lacking = [name for name in other.names if name not in one.names and name not in mistyped]
    if lacking:
        rows = other.examples.rows[np.isin(other.examples.labels, [other.names.index(n) for n in lacking])]
        template = marked("engine", "{other} has labels that {name} lacks: {labels}.")
        why = marked(
            "engine", "A model cannot predict a label that it was not trained on. No score counts these rows."
        )
        said = Sentence(template, {"other": other.name, "name": one.name, "labels": lacking[:5]})
        yield _finding("unknown_labels", other.name, said, why, rows, "wrong", one.name)
    worst, most = "", 0.0
    totals = int(one.counts().sum()), int(other.counts().sum())
    if not min(totals):
        return
    shares = dict(zip(one.names, one.counts() / totals[0], strict=True))
    for name, count in zip(other.names, other.counts().tolist(), strict=True):
        before, after = shares.get(name, 0.0), count / totals[1]
        together = (before * totals[0] + count) / sum(totals)
        error = (together * (1 - together) * (1 / totals[0] + 1 / totals[1])) ** 0.5
        difference = abs(after - before)
        if name in shares and difference > max(MUCH, _SURE * error, most):
            worst, most = name, difference
    if worst:
        share = other.counts()[other.names.index(worst)] / totals[1]
        template = marked("engine", "{label} makes up {one:.1f} % of {name} and {two:.1f} % of {other}.")
        values = {"label": worst, "one": 100 * float(shares[worst]), "two": 100 * float(share)}
        said = Sentence(template, {**values, "name": one.name, "other": other.name})
        why = marked(
            "engine",
            "A model predicts labels in the proportions of its training data, and scores depend on them.",
        )
        yield _finding("shift", one.name, said, why, NO_ROWS, "look", other.name)


def _lengths(one: TablePart, other: TablePart) -> Iterator[Finding]:
    means = [_mean_length(part) for part in (one, other)]
    if max(means) >= LONGER * max(min(means), 1.0):
        template = marked(
            "engine", "A text has {one:.0f} characters in {name}, {two:.0f} in {other} on average."
        )
        values = {"one": means[0], "two": means[1], "name": one.name, "other": other.name}
        why = marked(
            "engine", "The two seem to be of different kinds, so a score on one says little about the other."
        )
        yield _finding("shift", one.name, Sentence(template, values), why, NO_ROWS, "look", other.name)


def _mean_length(part: TablePart) -> float:
    """Return the mean characters of a few thousand texts, from all over the part."""
    step = -(-len(part.examples) // 5000) or 1
    return float(np.mean([len(text) for text in part.examples[::step].texts()]))


def _finding(
    kind: str, part: str, said: Sentence, why: str, rows: np.ndarray, level: str, other: str
) -> Finding:
    advice = Sentence(marked("engine", "Draw both parts from the same rows, or keep the difference in mind."))
    return Finding(kind, part, rows, said, Sentence(why), advice, level, other)
