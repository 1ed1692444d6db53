"""The program of a model that answers to a whole text, or to a pair, beside its exported graph."""

from __future__ import annotations

from functools import partial
from typing import Any, Protocol, runtime_checkable

from engine.train.tasks.program import AnswerProgram, Trials, whole_text
from engine.train.tasks.rows.predict import RowModel
from engine.train.tasks.rows.reading import RowTask


@runtime_checkable
class ProgramTask(RowTask, Protocol):
    """A task that answers to a whole text, or to a pair, at once."""

    def program_lines(self) -> tuple[str, dict[str, Any]]:
        """Return what `said` does as lines of a program, of `scores`, and constants that they stand on beside
        LABELS; see `whole_text` of engine/train/tasks/program.py.
        """


def program_of(predictor: RowModel) -> AnswerProgram:
    """Return the program of an open model."""
    assert isinstance(predictor.task, ProgramTask)
    lines, values = predictor.task.program_lines()
    body = whole_text(predictor.truncation, lines)
    return AnswerProgram(body, partial(_trials, predictor), {"LABELS": predictor.labels, **values})


def _trials(predictor: RowModel, short: str, other: str, long: str) -> Trials:
    texts: list[tuple[str, ...]] = [(short,), (long,), ("",)]
    if predictor.wants_pair or predictor.may_want_pair:
        texts += [(short, other), (long, short), (short, long), (long, long), (short, "")]
    for some in texts:
        yield some, predictor.task.said(predictor.predict(*some))
