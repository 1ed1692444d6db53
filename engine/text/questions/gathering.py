"""Questions one by one, as a file gives them, become `PassageTable`: placed, repaired or reported.

Whatever the layout of the file, what is believed and what is mended is decided here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from engine.errors import DataError, Sentence, marked
from engine.text.questions.placing import place_of, stands_at
from engine.text.questions.question import (
    Answer,
    Passage,
    PassageQuestion,
    PassageTable,
    QuestionPlace,
    Remark,
)
from engine.text.reading.encoding import SURROGATES

Given = tuple[str, int | None]  # an answer's text, and where it is said to begin

_NO_PASSAGE = marked("engine", "There is no passage to look in ({where}).")
_NO_QUESTION = marked("engine", "The question is empty ({where}).")
_EMPTY_ANSWER = marked(
    "engine", "The answer is empty ({where}). Write it, or mark the question as impossible."
)
_NOT_MARKED = marked(
    "engine", "There is no answer, though the question is not marked as impossible ({where})."
)
_CONTRARY = marked("engine", "The question is marked as impossible, yet has the answer {answer} ({where}).")
_HALVES = marked("engine", "The text holds half a character or a damaged byte ({where}). Fix it.")
_NOT_FOUND = marked("engine", "The answer {answer} is not in its passage ({where}).")
_ONE_NOT_FOUND = marked(
    "engine", "Of several answers, {answer} is not in its passage. The others are used ({where})."
)
_MOVED = marked("engine", "The answer {answer} begins at character {found}, not at {given} ({where}).")
_SPACED = marked("engine", "The answer {answer} is at character {found} with other spaces ({where}).")
_SEARCHED = marked(
    "engine",
    "Answers without a position in the file: {count:,}. The first occurrence in the passage is used.",
)
_AMBIGUOUS = marked(
    "engine",
    "Answers without a position in the file: {count:,}. The first occurrence in the "
    "passage is used, though {several:,} of them occur there more than once.",
)
_SAME_ID = marked("engine", "Questions with an id that occurred before: {count:,}. They are called {names}.")
_WITHOUT = marked("engine", "Questions that their passage does not answer: {count:,} of {total:,}.")


@dataclass(slots=True)
class Gathering:
    """Takes the questions of one file in turn; `finish` returns them."""

    _passages: dict[Passage, int] = field(default_factory=dict)
    _questions: list[PassageQuestion] = field(default_factory=list)
    _repaired: list[Remark] = field(default_factory=list)
    _reported: list[Remark] = field(default_factory=list)
    _taken: set[str] = field(default_factory=set)
    _renamed: list[str] = field(default_factory=list)
    _searched: Counter[bool] = field(default_factory=Counter)  # answers without a place: are there several?
    _checked: tuple[str, bool] = ("", False)  # the passage before, and whether it is whole

    def report(self, place: QuestionPlace, sentence: Sentence) -> None:
        """Take note of a row of the file that is no question."""
        self._reported.append(Remark(place, sentence))

    def add(
        self,
        place: QuestionPlace,
        passage: str,
        question: str,
        answers: Sequence[Given] | None,
        *,
        title: str = "",
        id: str = "",
        impossible: bool | None = None,
    ) -> None:
        """Take one question. Args: answers: None if the file does not say. impossible: None likewise."""
        found: tuple[Answer, ...] | None = None
        refused = self._unreadable(passage, question, answers or ())
        given = tuple(one for one in answers or () if one[0].strip())
        if not refused and impossible and given:
            refused = Sentence(_CONTRARY, {"answer": given[0][0]})
        if not refused and (answers is not None or impossible):
            if not given and answers and not impossible:
                refused = Sentence(_EMPTY_ANSWER)
            elif not given and impossible is False:
                refused = Sentence(_NOT_MARKED)
            else:
                found = self._placed(place, passage, given)
        if refused:
            self._remark(self._reported, place, refused.template, **refused.values)
            return
        number = self._passages.setdefault(Passage(passage, title), len(self._passages))
        self._questions.append(
            PassageQuestion(self._unique(id, place), question.strip(), number, found, place)
        )

    def finish(
        self, path: Path, layout: Sentence, encoding: str, sha256: str, notes: Sequence[Sentence]
    ) -> PassageTable:
        """Return all that was taken. Raises: DataError if there is no question that can be used."""
        made = PassageTable(
            path,
            layout,
            encoding,
            tuple(self._passages),
            tuple(self._questions),
            tuple(self._repaired),
            tuple(self._reported),
            (*notes, *self._notes()),
            sha256,
        )
        if not made.num_rows:
            raise DataError(marked("engine", "{path} holds no questions."), path=path)
        if not made.num_used:
            template = marked("engine", "No question of {path} can be used. {first}")
            raise DataError(template, path=path, first=self._reported[0].sentence)
        return made

    def _unreadable(self, passage: str, question: str, answers: Sequence[Given]) -> Sentence | None:
        if not passage.strip():
            return Sentence(_NO_PASSAGE)
        if not question.strip():
            return Sentence(_NO_QUESTION)
        if self._checked[0] is not passage:
            self._checked = (passage, SURROGATES.search(passage) is None)
        whole = self._checked[1] and not any(map(SURROGATES.search, [question, *(one[0] for one in answers)]))
        return None if whole else Sentence(_HALVES)

    def _placed(self, place: QuestionPlace, passage: str, given: Sequence[Given]) -> tuple[Answer, ...]:
        """Return the answers where they stand, and take note of what had to be mended."""
        answers = tuple(self._place(place, passage, text, start) for text, start in given)
        lost = [answer for answer in answers if not answer.is_placed]
        if lost and len(lost) == len(answers):
            self._remark(self._reported, place, _NOT_FOUND, answer=lost[0].text)
        else:
            for answer in lost:
                self._remark(self._repaired, place, _ONE_NOT_FOUND, answer=answer.text)
        return answers

    def _place(self, place: QuestionPlace, passage: str, text: str, start: int | None) -> Answer:
        if start is not None and stands_at(passage, text, start):
            before = len(text) - len(text.lstrip())
            return Answer(text, start + before, start + len(text.rstrip()))
        found = place_of(passage, text, start)
        if found is None:
            return Answer(text, -1, -1)
        if passage[found[0] : found[1]] != text.strip():
            self._remark(self._repaired, place, _SPACED, answer=text, found=found[0])
        elif start is None:
            self._searched[passage.find(text.strip(), found[0] + 1) >= 0] += 1
        else:
            self._remark(self._repaired, place, _MOVED, answer=text, found=found[0], given=start)
        return Answer(text, *found)

    def _remark(self, remarks: list[Remark], place: QuestionPlace, template: str, **values: object) -> None:
        remarks.append(Remark(place, Sentence(template, {**values, "where": place.sentence()})))

    def _unique(self, id: str, place: QuestionPlace) -> str:
        """Return an id that no question had before: the file's, that with a number, or one of its place."""
        numbers = (place.line, place.article, place.paragraph, place.question)
        new = id = id.strip() or ".".join(str(number) for number in numbers if number)
        count = 1
        while new in self._taken:
            count += 1
            new = f"{id} ({count})"
        if count > 1:
            self._renamed.append(new)
        self._taken.add(new)
        return new

    def _notes(self) -> list[Sentence]:
        notes = []
        if num := self._searched.total():
            several = self._searched[True]
            template = _AMBIGUOUS if several else _SEARCHED
            notes.append(Sentence(template, {"count": num, "several": several}))
        if self._renamed:
            notes.append(Sentence(_SAME_ID, {"count": len(self._renamed), "names": self._renamed[:10]}))
        without = sum(question.has_none for question in self._questions)
        if without:
            notes.append(Sentence(_WITHOUT, {"count": without, "total": len(self._questions)}))
        return notes
