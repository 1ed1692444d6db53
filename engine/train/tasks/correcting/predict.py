"""A trained model as it corrects texts: one at once, or the rows of a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.events import Steps, result_of
from engine.text.batch import EncodedRows
from engine.text.example_rows import Example, ExampleRows
from engine.text.examples import ExampleTable
from engine.text.roles import Roles
from engine.text.table import Table
from engine.train.evaluate import answers_of, evaluate
from engine.train.task import Measures
from engine.train.tasks.correcting.answers import CorrectedText, answered_pieces, corrected_text
from engine.train.tasks.correcting.kept import CorrectedRows, encode_corrections
from engine.train.tasks.rows.predict import RowModel


@dataclass(frozen=True)
class CorrectingModel(RowModel):
    """A model ready to correct."""

    def predict(self, text: str, text_pair: str | None = None) -> np.ndarray:
        """Return (A, 3), what the task decodes of each piece of a text."""
        return self._asked(text)[2]

    def correct(self, text: str) -> CorrectedText:
        """Return a text as it is corrected; a long one is read in windows."""
        corrected: CorrectedText = self.by_row(*self._asked(text))[0]
        return corrected

    def pieces(self, text: str) -> list[int]:
        """Return the pieces of a text as they are answered."""
        _, encoded, answers = self._asked(text)
        own = encoded.input_ids[encoded.asked].astype(np.int64)
        found: list[int] = answered_pieces(own, answers, self.wordpiece).tolist()
        return found

    def _asked(self, text: str) -> tuple[ExampleTable, CorrectedRows, np.ndarray]:
        found = ExampleTable(ExampleRows.of([Example(0, (text,), None)]), (), ())
        encoded, _ = result_of(encode_corrections(found, found.examples, self.wordpiece, self.max_length))
        return found, encoded, result_of(answers_of(self.model, self.task, encoded, self.device, ""))

    def by_row(self, found: ExampleTable, encoded: EncodedRows, answers: np.ndarray) -> np.ndarray:
        """Return (S,) `CorrectedText`, as objects. Args: answers: (A, 3), of all pieces."""
        assert isinstance(encoded, CorrectedRows)
        own, firsts = encoded.input_ids[encoded.asked], encoded.firsts.tolist()
        made = np.empty(encoded.num_rows, object)
        for place, text in enumerate(found.examples.texts()):
            pieces = slice(firsts[place], firsts[place + 1])
            made[place] = corrected_text(
                text, own[pieces], encoded.spans[pieces], answers[pieces], self.wordpiece
            )
        return made

    def cells(self, table: Table, roles: Roles, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """Return (S,) the corrected texts."""
        found = np.empty(len(answers), object)
        found[:] = [one.corrected for one in answers]
        return found

    def numbers(self, answers: np.ndarray) -> np.ndarray:
        """Return (S, 2), how many changes there are, and how sure the least sure is; 0 without one."""
        return np.array([(len(one.changes), one.sure) for one in answers], np.float32).reshape(-1, 2)

    def measured(
        self, found: ExampleTable, encoded: EncodedRows, answers: np.ndarray, places: np.ndarray
    ) -> Steps[Measures]:
        """Ask again with the right pieces, whose probabilities nobody has asked for."""
        data, _ = yield from encode_corrections(found, found.examples, self.wordpiece, self.max_length)
        measured = CorrectedRows.over(data, found.examples, np.arange(int(found.examples.rows.max()) + 1))
        return (yield from evaluate(self.model, self.task, measured, self.device))
