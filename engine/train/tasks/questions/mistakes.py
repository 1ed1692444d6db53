"""Answers that are wrong, with what else the model thought of: the surest of them first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from engine.events import Beat, Steps
from engine.text.questions.decoding import FoundAnswer, Scores, answer
from engine.text.questions.question import PassageQuestion
from engine.train.answer_scores import AnswerScores
from engine.train.tasks.questions.kept import QuestionRows
from engine.train.tasks.questions.writing import sureness

MOST_MISTAKES = 200
MOST_CANDIDATES = 5  # of each that are kept
_MOST_RIGHT = 3  # right answers of each
_AROUND, _LONGEST_EXCERPT = 200, 1200  # characters of the passage


class Asked(Protocol):
    """What of a task says how its scores are read."""

    @property
    def with_none(self) -> bool: ...
    @property
    def longest(self) -> int: ...
    def text(self, found: FoundAnswer) -> str: ...


def mistakes(
    task: Asked,
    data: QuestionRows,
    scores: tuple[Scores, Scores],
    found: Sequence[FoundAnswer],
    told: AnswerScores,
) -> Steps[list[dict[str, Any]]]:
    """Return up to MOST_MISTAKES answers that are not exactly right, as JSON can hold them.

    Args: found: of every question that is asked. told: of those whose answers are known.
    """
    place_of = {int(row): place for place, row in enumerate(data.rows[data.window_bounds[:-1]].tolist())}
    wrong = [
        (place_of[int(row)], float(f1))
        for row, exact, f1 in zip(told.asked, told.exact, told.f1, strict=True)
        if not exact
    ]
    wrong.sort(key=lambda one: -sureness(found[one[0]], task.text(found[one[0]])))
    listed = []
    for asked, f1 in wrong[:MOST_MISTAKES]:
        listed.append(_mistake(task, data, scores, asked, f1))
        yield Beat()
    return listed


def _mistake(
    task: Asked, data: QuestionRows, scores: tuple[Scores, Scores], asked: int, f1: float
) -> dict[str, Any]:
    question = data.questions.questions[int(data.rows[data.window_bounds[asked]])]
    passage = data.questions.passage_of(question)
    found = answer(data, asked, passage, *scores, with_none=task.with_none, longest=task.longest)
    given = task.text(found)
    start, stop = (found.candidates[0].start, found.candidates[0].stop) if given else (-1, -1)
    begin, end = _excerpt(len(passage), [(start, stop), *_right(question)])
    return {
        "id": question.id[:80],
        "place": str(question.place.sentence()),
        "question": question.text[:500],
        "answer": given[:500],
        "start": start,
        "stop": stop,
        "right": [[one.text[:500], one.start, one.stop] for one in (question.answers or ())[:_MOST_RIGHT]],
        "f1": round(f1, 4),
        "probability": round(sureness(found, given), 4),
        "none_probability": round(found.none_probability, 4),
        "candidates": [
            [one.text[:500], one.start, one.stop, round(one.probability, 4)]
            for one in found.candidates[:MOST_CANDIDATES]
        ],
        "excerpt": passage[begin:end],
        "excerpt_start": begin,
    }


def _right(question: PassageQuestion) -> list[tuple[int, int]]:
    return [(one.start, one.stop) for one in question.answers or ()]


def _excerpt(length: int, spans: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return which characters of a passage show an answer, and the right ones as far as there is room."""
    placed = [span for span in spans if span[0] >= 0] or [(0, 0)]
    begin, end = max(0, placed[0][0] - _AROUND), min(length, placed[0][1] + _AROUND)
    for first, last in placed[1:]:
        wider = max(0, min(begin, first - _AROUND)), min(length, max(end, last + _AROUND))
        if wider[1] - wider[0] <= _LONGEST_EXCERPT:
            begin, end = wider
    return begin, min(end, begin + _LONGEST_EXCERPT)
