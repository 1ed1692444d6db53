"""The program of a model that answers to a whole text, or to a pair, beside its exported graph."""

from __future__ import annotations

from functools import partial

from engine.train.tasks.program import AnswerProgram, Trials, whole_text
from engine.train.tasks.rows.predict import RowModel


def program_of(predictor: RowModel) -> AnswerProgram:
    """Return the program of an open model."""
    lines, values = predictor.task.program_lines()
    body = whole_text(predictor.truncation, lines)
    return AnswerProgram(body, partial(_trials, predictor), {"LABELS": predictor.labels, **values})


def _trials(predictor: RowModel, short: str, other: str, long: str) -> Trials:
    texts: list[tuple[str, ...]] = [(short,), (long,), ("",)]
    if predictor.wants_pair or predictor.may_want_pair:
        texts += [(short, other), (long, short), (short, long), (long, long), (short, "")]
    for some in texts:
        yield some, predictor.task.said(predictor.predict(*some))
