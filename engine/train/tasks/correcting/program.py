"""The program that corrects a text beside an exported graph."""

from __future__ import annotations

from functools import partial

from engine.train.tasks.correcting.predict import CorrectingModel
from engine.train.tasks.program import AnswerProgram, Trials

_BODY = '''

def windows(num_pieces, room):
    """Yield windows of a text: begin, end, and the first piece and the end of those that each decides."""
    begins = list(range(0, max(1, num_pieces - room), max(1, room // 2)))
    begins += [num_pieces - room] if num_pieces > room else []
    cuts = [(begin + room + following) // 2 for begin, following in zip(begins, begins[1:])]
    edges = [0, *cuts, num_pieces]
    for begin, first, stop in zip(begins, edges, edges[1:]):
        yield begin, min(begin + room, num_pieces), first, stop


def answer(text):
    """Return the pieces that belong in a text; a long one is read in windows that overlap by half."""
    found = tokenizer.encode(text, add_special_tokens=False).ids
    corrected = list(found)
    for begin, end, first, stop in windows(len(found), MAX_LENGTH - 2):
        _, scores = ask(found[begin:end])
        for piece in range(first, stop):
            best = int(scores["logits"][0, piece - begin + 1].argmax())
            if best not in SILENT and found[piece] != UNKNOWN:
                corrected[piece] = best
    return [tokenizer.id_to_token(piece) for piece in corrected]
'''


def program_of(predictor: CorrectingModel) -> AnswerProgram:
    """Return the program of an open model."""
    wordpiece = predictor.wordpiece
    values = {"SILENT": sorted(wordpiece.special_ids), "UNKNOWN": wordpiece.unk_id}
    return AnswerProgram(_BODY, partial(_trials, predictor), values, given="TEXT", most=1)


def _trials(predictor: CorrectingModel, short: str, other: str, long: str) -> Trials:
    for text in (short, other, long):
        yield (text,), [predictor.wordpiece.tokens[piece] for piece in predictor.pieces(text)]
    yield ("",), []
