"""Minimal pairs: of two sentences that differ in little, which one a model finds likelier.

A sentence's likelihood is its pseudo-log-likelihood: the sum over its tokens of the log of each, hidden in
turn. With a piece, the pieces of its word that come after it are hidden too, else a long word is foreseen
from its own end.
Source: Salazar et al. 2020; Warstadt et al. 2020, BLiMP; Kauf and Ivanova 2023, for words of several pieces.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.errors import DataError, Sentence, marked
from engine.evaluation.inside.cloze import foreseeing
from engine.evaluation.statistics import Numbers
from engine.events import Steps
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.perplexity import AND_AFTER
from engine.text.table import Table
from engine.train.metrics import wilson_interval


@dataclass(frozen=True, eq=False, slots=True)
class PairRows:
    """What a model makes of pairs of sentences.

    rows: of the table, (E,). logs: (E, 2), the pseudo-log-likelihood of each. left_out: why other rows of the
    table are not among them, by row.
    """

    rows: npt.NDArray[np.int64]
    logs: Numbers
    left_out: dict[int, Sentence]

    @property
    def differences(self) -> Numbers:
        """(E,), above 0 where the first is likelier."""
        return np.asarray(self.logs[:, 0] - self.logs[:, 1])

    @property
    def share(self) -> float:
        """The share of pairs whose first sentence is likelier; a tie counts half."""
        return float(((self.differences > 0) + 0.5 * (self.differences == 0)).mean())

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of `share`, Wilson's."""
        return wilson_interval(self.share * len(self.rows), len(self.rows))


def minimal_pairs(
    subject: LoadedModel, table: Table, first: str, second: str, *, within_words: str = AND_AFTER
) -> Steps[PairRows]:
    """Score two columns of a table; yields Progress.

    Args: first: the column whose sentence should be likelier, second: the other one's.
    Raises: DataError: no such column, one column twice, no row that can be used. ModelError without the head.
    """
    subject.require("masked_words")
    columns = [table.column(first), table.column(second)]
    if columns[0] == columns[1]:
        raise DataError(marked("engine", "A sentence is compared with another. Choose two columns."))
    cells = [table.frame[name].tolist() for name in columns]
    left_out: dict[int, Sentence] = {}
    rows = []
    for row, texts in enumerate(zip(*cells, strict=True)):
        if problem := _problem(subject, texts, columns, int(table.lines[row])):
            left_out[row] = problem
        else:
            rows.append(row)
    if not rows:
        raise next(iter(_raised(left_out)))
    encodings = [subject.wordpiece.encode(cells[side][row]) for row in rows for side in (0, 1)]
    scores = yield from foreseeing(subject, encodings, within_words=within_words)
    logs = [math.fsum(score.log_probability for score in one) for one in scores]
    return PairRows(np.array(rows, np.int64), np.array(logs).reshape(-1, 2), left_out)


def _problem(
    subject: LoadedModel, texts: Sequence[str], columns: Sequence[str], line: int
) -> Sentence | None:
    """Return why two sentences cannot be compared."""
    for text, column in zip(texts, columns, strict=True):
        encoding = subject.wordpiece.encode(text)
        if all(encoding.special_tokens_mask):
            template = marked("engine", "Line {line} has no text in column {column}.")
            return Sentence(template, {"line": line, "column": column})
        if len(encoding.input_ids) > subject.max_length:
            template = marked("engine", "Line {line} is too long in column {column} to be read whole.")
            return Sentence(template, {"line": line, "column": column})
    if texts[0] == texts[1]:
        return Sentence(marked("engine", "Line {line} has the same sentence twice."), {"line": line})
    return None


def _raised(left_out: dict[int, Sentence]) -> list[DataError]:
    if not left_out:
        return [DataError(marked("engine", "The table has no rows."))]
    template = marked("engine", "No row has two sentences to compare. {sentence}")
    return [DataError(template, sentence=next(iter(left_out.values())))]
