"""The program that chooses an ending beside an exported graph."""

from __future__ import annotations

from functools import partial

from engine.train.tasks.choice.predict import EndingModel
from engine.train.tasks.choice.task import Choice
from engine.train.tasks.program import AnswerProgram, Trials, cutting, divided

_ANSWER = '''

def answer(text, *endings):
    """Return which ending goes on best with a text, its number from 1, and each one's probability."""
    first, *seconds = [tokenizer.encode(one, add_special_tokens=False).ids for one in (text, *endings)]
    logits = [ask(*cut([first, second]))[1]["logits"][0, 0] for second in seconds]
    logits = np.array(logits)@TEMPERATURE@
    shares = np.exp(logits - logits.max())
    shares = (shares / shares.sum()).tolist()
    best = shares.index(max(shares))
    found = {"prediction": endings[best], "number": best + 1, "probability": shares[best]}
    return {**found, "probabilities": shares}
'''


def program_of(predictor: EndingModel) -> AnswerProgram:
    """Return the program of an open model."""
    assert isinstance(predictor.task, Choice)
    body = _ANSWER.replace("@TEMPERATURE@", divided(predictor.task.temperature))
    return AnswerProgram(
        cutting(predictor.truncation) + body,
        partial(_trials, predictor),
        given="TEXT ENDING ENDING ...",
        most=None,
    )


def _trials(predictor: EndingModel, short: str, other: str, long: str) -> Trials:
    for text, *endings in ((short, other, long), (long, short, long, other), (other, short, other)):
        yield (text, *endings), predictor.choose(text, tuple(endings))
