"""The program that tags the words of a text beside an exported graph."""

from __future__ import annotations

from functools import partial

from engine.train.tasks.program import ANY, WINDOWS, AnswerProgram, Trials
from engine.train.tasks.token_labels.predict import TokenModel

_BODY = (
    WINDOWS
    + '''

def answer(text):
    """Return each WordPiece of a text with its label; a long text is read in windows that overlap by half."""
    found, room = tokenizer.encode(text, add_special_tokens=False), MAX_LENGTH - 2
    labels = [""] * len(found.ids)
    for begin, end, decided in windows_of(len(found.ids), room, max(1, room // 2)):
        _, scores = ask(found.ids[begin:end])
        for piece in decided:
            labels[piece] = LABELS[int(scores["logits"][0, piece - begin + 1].argmax())]
    return [[token, label] for token, label in zip(found.tokens, labels)]
'''
)


def program_of(predictor: TokenModel) -> AnswerProgram:
    """Return the program of an open model."""
    return AnswerProgram(_BODY, partial(_trials, predictor), {"LABELS": predictor.model.config.id2label})


def _trials(predictor: TokenModel, short: str, other: str, long: str) -> Trials:
    found, pieces = predictor.answer(short), predictor.wordpiece.encode(short)
    tags = {start: tag for (start, _), tag in zip(found.spans, found.tags, strict=True)}
    asked = zip(pieces.tokens[1:-1], pieces.offsets[1:-1], strict=True)
    yield (short,), [[token, tags[at]] if at in tags else ANY for token, (at, _) in asked]
    yield ("",), []
