"""The program that tags the words of a text beside an exported graph."""

from __future__ import annotations

from functools import partial

from engine.errors import ModelError, marked
from engine.train.tasks.program import ANY, WINDOWS, AnswerProgram, Trials
from engine.train.tasks.token_labels.predict import TokenModel

_NEEDS_WORDS = marked(
    "engine",
    "The model in {path} tags words, and the pieces of a word depend on the space before it. The program "
    "next to a graph cannot find the words, so Cloze does not write it as ONNX. Export it as a folder.",
)
_BODY = (
    WINDOWS
    + '''

def answer(text):
    """Return each piece of a text with its label; a long text is read in windows that overlap by half."""
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
    """Return the program of an open model. Raises: ModelError: it would need more than a text's pieces."""
    if not predictor.wordpiece.tells_words:
        raise ModelError(_NEEDS_WORDS, path=predictor.folder)
    return AnswerProgram(_BODY, partial(_trials, predictor), {"LABELS": predictor.model.config.id2label})


def _trials(predictor: TokenModel, short: str, other: str, long: str) -> Trials:
    found, pieces = predictor.answer(short), predictor.wordpiece.encode(short)
    tags = {start: tag for (start, _), tag in zip(found.spans, found.tags, strict=True)}
    asked = zip(pieces.tokens[1:-1], pieces.offsets[1:-1], strict=True)
    yield (short,), [[token, tags[at]] if at in tags else ANY for token, (at, _) in asked]
    yield ("",), []
