"""Questions in memory: each passage once, its questions, and where their answers stand in it.

Rows in = questions used + rows reported. What is scored is every question of a file; what is trained on is
only those whose answer was found in the passage, or of which the file says that there is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine.errors import Sentence, marked

_LINE = marked("engine", "line {line}")
_IN_ARTICLE = marked("engine", "article {article}, paragraph {paragraph}, question {question}")
_PARAGRAPH = marked("engine", "article {article}, paragraph {paragraph}")
_ARTICLE = marked("engine", "article {article}")


@dataclass(frozen=True, slots=True)
class QuestionPlace:
    """Where a question stands in its file, counted from 1; 0 for what does not apply.

    A table has rows that begin in a line, a SQuAD file has articles of paragraphs of questions.
    """

    line: int = 0
    article: int = 0
    paragraph: int = 0
    question: int = 0

    def sentence(self) -> Sentence:
        """Return the place in words, such as "article 2, paragraph 1, question 3"."""
        if self.line:
            return Sentence(_LINE, {"line": self.line})
        if self.question:
            values = {"article": self.article, "paragraph": self.paragraph, "question": self.question}
            return Sentence(_IN_ARTICLE, values)
        if self.paragraph:
            return Sentence(_PARAGRAPH, {"article": self.article, "paragraph": self.paragraph})
        return Sentence(_ARTICLE, {"article": self.article})


@dataclass(frozen=True, slots=True)
class Passage:
    """A text in which answers stand, and the title of its article ("" for none)."""

    text: str
    title: str


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as its file writes it; `passage[start:stop]` is where it stands, -1 if it was not found."""

    text: str
    start: int
    stop: int

    @property
    def is_placed(self) -> bool:
        return self.start >= 0


@dataclass(frozen=True, slots=True)
class PassageQuestion:
    """One question. `passage` is a place in the passages; the id is unique in its file.

    answers: () if the passage holds none, None if the file does not say.
    """

    id: str
    text: str
    passage: int
    answers: tuple[Answer, ...] | None
    place: QuestionPlace

    @property
    def is_used(self) -> bool:
        """Whether it can be trained on, as far as answers are known: false where none of them was found."""
        return not self.answers or any(answer.is_placed for answer in self.answers)

    @property
    def has_none(self) -> bool:
        """Whether the file says that the passage does not answer it."""
        return self.answers == ()


@dataclass(frozen=True, slots=True)
class Remark:
    """What is wrong with a question or was mended in it, and where it stands; the sentence says both."""

    place: QuestionPlace
    sentence: Sentence


@dataclass(frozen=True, slots=True, eq=False)
class PassageTable:
    """What a file of questions holds.

    questions: all that can be asked, in the order of the file; those that are not `is_used` are reported too.
    repaired: answers that stand elsewhere than the file says. reported: rows that cannot be trained on.
    """

    path: Path
    layout: Sentence  # how the file is laid out, for a person
    encoding: str
    passages: tuple[Passage, ...]
    questions: tuple[PassageQuestion, ...]
    repaired: tuple[Remark, ...]
    reported: tuple[Remark, ...]
    notes: tuple[Sentence, ...]
    sha256: str  # of the file's bytes
    columns: Mapping[str, str] = field(default_factory=dict)  # of a table: what each role's is called

    @property
    def num_used(self) -> int:
        return sum(question.is_used for question in self.questions)

    @property
    def num_rows(self) -> int:
        """Rows of the file, as questions used and rows reported."""
        return self.num_used + len(self.reported)

    @property
    def num_without_answer(self) -> int:
        return sum(question.has_none for question in self.questions)

    def take(self, places: Sequence[int]) -> PassageTable:
        """Return some of the questions, in that order, with the passages that they are about."""
        some = [self.questions[place] for place in places]
        numbers = {old: new for new, old in enumerate(dict.fromkeys(one.passage for one in some))}
        return replace(
            self,
            passages=tuple(self.passages[old] for old in numbers),
            questions=tuple(replace(one, passage=numbers[one.passage]) for one in some),
            repaired=(),
            reported=(),
            notes=(),
        )

    def passage_of(self, question: PassageQuestion) -> str:
        return self.passages[question.passage].text
