"""Windows with the questions they were cut from, as arrays, so that a run measures without its file.

What is read back may have been edited: it is held to what it can be before anything is made of it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import Sentence
from engine.text.listed import ListedRows
from engine.text.questions.question import Answer, Passage, PassageQuestion, PassageTable, QuestionPlace
from engine.text.questions.windows import Windows


@dataclass(frozen=True, kw_only=True)
class QuestionRows(Windows):
    """Windows, and the questions that `rows` count in where their answers are to be scored.

    document: uint8, those questions as JSON in UTF-8; none at all for what is only trained on.
    """

    document: npt.NDArray[np.uint8]

    @classmethod
    def over(cls, windows: Windows, questions: PassageTable | None) -> QuestionRows:
        """Return windows with their questions."""
        written = b"" if questions is None else json.dumps(_document(questions)).encode()
        arrays: dict[str, Any] = windows.arrays()
        return cls(**arrays, document=np.frombuffer(bytearray(written), np.uint8))

    @cached_property
    def questions(self) -> PassageTable:
        """The questions. Raises: ValueError, TypeError, KeyError, RecursionError if they are damaged."""
        return _questions(json.loads(self.document.tobytes()))

    @property
    def listed(self) -> ListedRows:
        if not len(self.document):
            return super().listed
        firsts = self.window_bounds[:-1]
        rows = self.rows[firsts]
        asked = [self.questions.questions[row] for row in rows.tolist()]
        lines = np.array([one.place.line for one in asked], np.int64)
        passages = [self.questions.passage_of(one) for one in asked]
        return ListedRows(rows, lines, self.lengths[firsts], [one.text for one in asked], passages)

    def fits(self, vocab_size: int) -> bool:
        """Whether the arrays belong together, and the questions to them."""
        if self.document.dtype != np.uint8 or self.document.ndim != 1 or not super().fits(vocab_size):
            return False
        try:
            return not len(self.document) or self._are_asked(self.questions)
        except (ValueError, TypeError, KeyError, RecursionError):
            return False

    def _are_asked(self, questions: PassageTable) -> bool:
        """Whether each window's row is a question whose passage has the characters of its pieces."""
        rows = self.rows[self.window_bounds[:-1]]
        if rows.min() < 0 or self.rows.max() >= len(questions.questions):
            return False
        lengths = np.array([len(passage.text) for passage in questions.passages])
        last = np.array([int(self.spans_of(asked).max(initial=0)) for asked in range(self.num_questions)])
        of_asked = [questions.questions[row].passage for row in rows.tolist()]
        return bool((self.spans >= 0).all() and (last <= lengths[of_asked]).all())


def _document(questions: PassageTable) -> dict[str, Any]:
    return {
        "name": questions.path.name,
        "encoding": questions.encoding,
        "sha256": questions.sha256,
        "passages": [[one.text, one.title] for one in questions.passages],
        "questions": [
            {
                "id": one.id,
                "text": one.text,
                "passage": one.passage,
                "answers": None if one.answers is None else [[a.text, a.start, a.stop] for a in one.answers],
                "place": [one.place.line, one.place.article, one.place.paragraph, one.place.question],
            }
            for one in questions.questions
        ],
    }


def _questions(document: dict[str, Any]) -> PassageTable:
    passages = tuple(Passage(*map(_text, one)) for one in document["passages"])
    return PassageTable(
        path=Path(_text(document["name"])),
        layout=Sentence(""),
        encoding=_text(document["encoding"]),
        passages=passages,
        questions=tuple(_question(one, len(passages)) for one in document["questions"]),
        repaired=(),
        reported=(),
        notes=(),
        sha256=_text(document["sha256"]),
    )


def _question(value: dict[str, Any], num_passages: int) -> PassageQuestion:
    answers = None
    if value["answers"] is not None:
        answers = tuple(
            Answer(_text(text), _whole(start), _whole(stop)) for text, start, stop in value["answers"]
        )
    passage = _whole(value["passage"])
    if not 0 <= passage < num_passages:
        raise ValueError
    place = QuestionPlace(*map(_whole, value["place"]))
    return PassageQuestion(_text(value["id"]), _text(value["text"]), passage, answers, place)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _whole(value: object) -> int:
    if type(value) is not int or abs(value) > 2**53:
        raise TypeError
    return value
