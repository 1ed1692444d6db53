"""The program that marks the answer to a question beside an exported graph."""

from __future__ import annotations

from functools import partial

from engine.train.tasks.program import WINDOWS, AnswerProgram, Trials
from engine.train.tasks.questions.predict import QuestionModel

_BODY = (
    WINDOWS
    + '''

def answer(question, passage):
    """Return the answer in a passage, "" if there is none; a long passage is read in overlapping windows."""
    asked = tokenizer.encode(question, add_special_tokens=False).ids[:MAX_QUESTION]
    found, room = tokenizer.encode(passage, add_special_tokens=False), MAX_LENGTH - len(asked) - 2 - BETWEEN
    best, none = (-np.inf, 0, 0), np.inf
    for begin, end, decided in windows_of(len(found.ids), room, min(STRIDE, max(1, room // 2))):
        _, scores = ask(asked, found.ids[begin:end])
        first, last = (scores[name][0].astype(float) for name in OUTPUTS)
        none, shift = min(none, first[0] + last[0]), len(asked) + 1 + BETWEEN - begin
        for start in decided:
            for stop in range(start, min(start + LONGEST_ANSWER, end)):
                best = max(best, (first[start + shift] + last[stop + shift], -start, -stop))
    score, start, stop = best[0], -best[1], -best[2]
    if not found.ids or (WITH_NONE and none - score > THRESHOLD):
        return {"answer": ""}
    return {"answer": passage[found.offsets[start][0] : found.offsets[stop][1]]}
'''
)


def program_of(predictor: QuestionModel) -> AnswerProgram:
    """Return the program of an open model."""
    cut, task = predictor.cut, predictor.task
    values = {
        "STRIDE": cut.stride,
        "MAX_QUESTION": cut.max_question,
        "LONGEST_ANSWER": task.longest,
        "WITH_NONE": task.with_none,
        "THRESHOLD": task.threshold,
    }
    return AnswerProgram(_BODY, partial(_trials, predictor), values)


def _trials(predictor: QuestionModel, short: str, other: str, long: str) -> Trials:
    for passage in (other, long):
        yield (short, passage), {"answer": predictor.ask(short, passage).text}
