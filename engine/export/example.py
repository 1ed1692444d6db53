"""The short program beside a graph: it answers a text by onnxruntime, tokenizers and numpy alone.

Not to be broken: it cuts a text where this engine does, and answers with the same thresholds. Before an
export is done it is run beside the engine: on a short text, a long one, an empty one and pairs.
"""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import ModelError, marked
from engine.export.heads import CHOICES, CLASSES, ENCODER, MASKED, OUTPUTS, QUESTIONS, TAGS, Graph
from engine.export.runtime import batches, ours
from engine.inspect.example_texts import topics_for
from engine.model.sentence_files import read_sentence_files
from engine.text.wordpiece import WordPiece
from engine.train.tasks.known import task_of
from engine.train.tasks.multi_label.task import MultiLabel
from engine.train.tasks.questions.predict import QuestionModel
from engine.train.tasks.rows.kind import OfRows
from engine.train.tasks.token_labels.predict import TokenModel

EXAMPLE = "answer.py"
TOLERANCE = 1e-4  # of a number, by its size where it is above 1
_OTHERWISE = marked(
    "engine", "The program beside the graph answers otherwise than Cloze to {text!r}; nothing is kept."
)


def example_code(graph: Graph, folder: Path) -> str:
    """Return a short program that answers a text as the model in `folder` does."""
    values: dict[str, Any] = {"OUTPUTS": OUTPUTS[graph.kind], "MAX_LENGTH": graph.max_length}
    if graph.labels and graph.kind in (CLASSES, TAGS):
        values["LABELS"] = graph.labels
    if graph.kind == QUESTIONS:
        predictor = QuestionModel.from_folder(folder, "cpu")
        values["STRIDE"], values["MAX_QUESTION"] = predictor.cut.stride, predictor.cut.max_question
        values["LONGEST_ANSWER"], values["WITH_NONE"] = predictor.task.longest, predictor.task.with_none
        values["THRESHOLD"] = predictor.task.threshold
        body = _QUESTIONS
    elif graph.kind == TAGS:
        body = _TAGS
    else:
        body = _WHOLE.replace("@CUT@", _PAIRS.get(graph.truncation, _PAIRS["longest_first"]))
        body = body.replace("@KEPT@", _KEPT.get(graph.truncation, _KEPT["longest_first"]))
        if graph.kind == CHOICES:
            warmth = f" / {graph.temperature!r}" if graph.temperature != 1 else ""
            body = body.partition("\n\ndef answer")[0] + _CHOICES.replace("@TEMPERATURE@", warmth)
        else:
            body = body.replace("@SAY@", _say(graph, folder, values))
    said = "".join(f"{name} = {value!r}\n" for name, value in values.items())
    code = _CODE.replace("@VALUES@", said) + body + _END
    if graph.kind == CHOICES:
        return code.replace("TEXT [SECOND TEXT]", "TEXT ENDING ENDING ...").replace("argv[1:3]", "argv[1:]")
    return code


def _say(graph: Graph, folder: Path, values: dict[str, Any]) -> str:
    """Return the lines that make an answer of the scores of a whole text; note in `values` what they need."""
    if graph.kind == MASKED:
        return _MASKED_SAY
    if graph.kind == ENCODER:
        how = read_sentence_files(folder)[0]
        pooled = {"cls": "[0]", "max": ".max(0)"}.get(how.pooling if how else "", ".mean(0)")
        length = "" if how is None or not how.is_normed else "\n    vector = vector / np.linalg.norm(vector)"
        return _ENCODER_SAY.replace("@POOLED@", pooled).replace("@LENGTH@", length)
    if graph.problem == "regression":
        return _NUMBER_SAY
    kind = task_of(folder)
    if graph.problem == "multi_label_classification" and isinstance(kind, OfRows):
        task = kind.predictor(folder, "cpu").task
        assert isinstance(task, MultiLabel)
        values["THRESHOLDS"] = tuple(task.used)
        return _LABELS_SAY
    warmth = f" / {graph.temperature!r}" if graph.temperature != 1 else ""
    return _CLASSES_SAY.replace("@TEMPERATURE@", warmth)


def check_example(graph: Graph, folder: Path, program: Path) -> int:
    """Run the program beside a graph; return how many texts and pairs it answers as Cloze does.

    Raises: ModelError if it answers one otherwise.
    """
    answer = runpy.run_path(str(program))["answer"]
    count = 0
    for texts, wanted in _expected(graph, folder, WordPiece.from_folder(folder)):
        if not is_same(wanted, answer(*texts)):
            raise ModelError(_OTHERWISE, text=texts[0][:60])
        count += 1
    return count


def _expected(graph: Graph, folder: Path, wordpiece: WordPiece) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield texts or pairs and what Cloze answers to them, in the words of the program."""
    sentences = [text for _, text in topics_for(wordpiece).sentences]
    short, other = sentences[0], sentences[-1]
    long = _longer_than(2 * graph.max_length, sentences, wordpiece)
    if graph.kind == QUESTIONS:
        ask = QuestionModel.from_folder(folder, "cpu").ask
        for passage in (other, long):
            yield (short, passage), {"answer": ask(short, passage).text}
    elif graph.kind == TAGS:
        found = TokenModel.from_folder(folder, "cpu").answer(short)
        pieces = wordpiece.encode(short)
        tags = {start: tag for (start, _), tag in zip(found.spans, found.tags, strict=True)}
        asked = zip(pieces.tokens[1:-1], pieces.offsets[1:-1], strict=True)
        yield (short,), [[token, tags[at]] if at in tags else _ANY for token, (at, _) in asked]
        yield ("",), []
    elif graph.kind == CLASSES and isinstance(kind := task_of(folder), OfRows):
        predictor = kind.predictor(folder, "cpu")
        trials: list[tuple[str, ...]] = [(short,), (long,), ("",)]
        if predictor.wants_pair or predictor.may_want_pair:
            trials += [(short, other), (long, short), (short, long), (long, long), (short, "")]
        for texts in trials:
            yield texts, predictor.task.said(predictor.predict(*texts))
    elif graph.kind == CHOICES and isinstance(kind := task_of(folder), OfRows):
        choosing = kind.answering(folder, "cpu")
        for text, *endings in ((short, other, long), (long, short, long, other), (other, short, other)):
            yield (text, *endings), choosing({"text": text, "choices": endings})
    elif graph.kind in (MASKED, ENCODER):
        for text in (short, long, ""):
            yield from _of_scores(graph, folder, wordpiece, f"[MASK] {text}")


def _of_scores(
    graph: Graph, folder: Path, wordpiece: WordPiece, text: str
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield a text and what is answered by the scores that the engine has for it."""
    [batch] = batches(graph, wordpiece, [text])
    scores = ours(graph, batch)[0][0]
    if graph.kind == MASKED:
        masked = np.flatnonzero(batch[0][0].numpy() == wordpiece.mask_id)
        best = [scores[place].argsort()[::-1][:5].tolist() for place in masked]
        yield (text,), [[wordpiece.tokens[number] for number in one] for one in best]
    else:
        how = read_sentence_files(folder)[0]
        pooled = {"cls": scores[0], "max": scores.max(0)}.get(how.pooling if how else "", scores.mean(0))
        yield (text,), (pooled / np.linalg.norm(pooled) if how and how.is_normed else pooled).tolist()


def _longer_than(count: int, sentences: list[str], wordpiece: WordPiece) -> str:
    """Return a text of more than `count` WordPieces whose end says something else than its beginning."""
    long, place = sentences[0], 0
    while len(wordpiece.encode(long).input_ids) <= count:
        place += 1
        long = f"{long} {sentences[place % len(sentences)]}"
    return long


_ANY: Any = object()  # the answer to a piece that Cloze does not ask


def is_same(wanted: Any, found: Any) -> bool:
    """Whether two answers are the same, numbers within TOLERANCE."""
    if wanted is _ANY:
        return True
    if isinstance(wanted, dict):
        return wanted.keys() == found.keys() and all(is_same(wanted[key], found[key]) for key in wanted)
    if isinstance(wanted, list | tuple):
        return len(wanted) == len(found) and all(map(is_same, wanted, found))
    if isinstance(wanted, float):
        return bool(abs(wanted - found) <= TOLERANCE * max(1.0, abs(wanted)))
    return bool(wanted == found)


_CODE = '''"""Answers a text as Cloze does, by onnxruntime alone: python answer.py TEXT [SECOND TEXT]"""

import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

@VALUES@here = Path(__file__).parent
tokenizer = Tokenizer.from_file(str(here / "tokenizer.json"))
session = onnxruntime.InferenceSession(str(here / "model.onnx"), providers=["CPUExecutionProvider"])
CLS, SEP = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")


def ask(first, second=None):
    """Return ids and scores of [CLS] first [SEP], or of [CLS] first [SEP] second [SEP]; both are ids."""
    ids, types = [CLS, *first, SEP], [0] * (len(first) + 2)
    if second is not None:
        ids, types = [*ids, *second, SEP], types + [1] * (len(second) + 1)
    given = {"input_ids": ids, "attention_mask": [1] * len(ids), "token_type_ids": types}
    found = session.run(None, {name: np.array([value], np.int64) for name, value in given.items()})
    return ids, dict(zip(OUTPUTS, found))
'''
_WHOLE = '''

def cut(texts):
    """Return what is read of a text, or of a pair: at most MAX_LENGTH pieces in all, cut as in training."""
    room, sizes = MAX_LENGTH - 1 - len(texts), [len(one) for one in texts]
    if sum(sizes) <= room:
        return texts
    keep = [room]
    if len(texts) == 2:
@CUT@
    return [@KEPT@ for one, size in zip(texts, keep)]


def answer(*texts):
    """Return what the model answers to a text, or to a pair of texts."""
    ids, scores = ask(*cut([tokenizer.encode(text, add_special_tokens=False).ids for text in texts]))
@SAY@
'''
_LONGEST_FIRST = """        shorter = min(*sizes, room // 2)
        keep = [room - shorter, shorter] if sizes[0] > sizes[1] else [shorter, room - shorter]"""
_PAIRS = {
    "longest_first": _LONGEST_FIRST,
    "head_tail": _LONGEST_FIRST,
    "head": """        second = max(room - sizes[0], min(sizes[1], room // 4))
        keep = [room - second, second]""",
}
_KEPT = {
    "longest_first": "one[:size]",
    "head": "one[:size]",
    "head_tail": "one[: (size * 128 + 255) // 510] + one[len(one) - size + (size * 128 + 255) // 510 :]",
}
_MASKED_SAY = """    mask = tokenizer.token_to_id("[MASK]")
    masked = [place for place, number in enumerate(ids) if number == mask]
    best = [scores["logits"][0, place].argsort()[::-1][:5] for place in masked]
    return [[tokenizer.id_to_token(int(number)) for number in one] for one in best]"""
_ENCODER_SAY = """    vector = scores["last_hidden_state"][0]@POOLED@@LENGTH@
    return vector.tolist()"""
_NUMBER_SAY = """    return {"prediction": float(scores["logits"][0, 0])}"""
_CLASSES_SAY = """    logits = scores["logits"][0]@TEMPERATURE@
    shares = np.exp(logits - logits.max())
    shares = dict(zip(LABELS, (shares / shares.sum()).tolist()))
    best = max(shares, key=shares.get)
    return {"prediction": best, "probability": shares[best], "probabilities": shares}"""
_LABELS_SAY = """    shares = (1 / (1 + np.exp(-scores["logits"][0]))).tolist()
    chosen = [label for label, share, least in zip(LABELS, shares, THRESHOLDS) if share >= least]
    return {"prediction": chosen, "probabilities": dict(zip(LABELS, shares))}"""
_CHOICES = '''

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
_OWNER = '''

def windows_of(num_pieces, room, step):
    """Yield windows of a long text: begin, end, and the pieces that each decides, those it shows best."""
    begins = [place * step for place in range(1 + max(0, -(-(num_pieces - room) // step)))]
    ends = [min(begin + room, num_pieces) for begin in begins]

    def context(window, piece):
        begin, end = begins[window], ends[window]
        inside = begin <= piece < end
        return min(piece - begin, end - 1 - piece) + 0.01 * (end - begin) if inside else -1.0

    places = range(len(begins))
    best = [max(places, key=lambda one: (context(one, piece), -one)) for piece in range(num_pieces)]
    for window, (begin, end) in enumerate(zip(begins, ends)):
        yield begin, end, [piece for piece in range(begin, end) if best[piece] == window]
'''
_TAGS = (
    _OWNER
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
_QUESTIONS = (
    _OWNER
    + '''

def answer(question, passage):
    """Return the answer in a passage, "" if there is none; a long passage is read in overlapping windows."""
    asked = tokenizer.encode(question, add_special_tokens=False).ids[:MAX_QUESTION]
    found, room = tokenizer.encode(passage, add_special_tokens=False), MAX_LENGTH - len(asked) - 3
    best, none = (-np.inf, 0, 0), np.inf
    for begin, end, decided in windows_of(len(found.ids), room, min(STRIDE, max(1, room // 2))):
        _, scores = ask(asked, found.ids[begin:end])
        first, last = (scores[name][0].astype(float) for name in OUTPUTS)
        none, shift = min(none, first[0] + last[0]), len(asked) + 2 - begin
        for start in decided:
            for stop in range(start, min(start + LONGEST_ANSWER, end)):
                best = max(best, (first[start + shift] + last[stop + shift], -start, -stop))
    score, start, stop = best[0], -best[1], -best[2]
    if not found.ids or (WITH_NONE and none - score > THRESHOLD):
        return {"answer": ""}
    return {"answer": passage[found.offsets[start][0] : found.offsets[stop][1]]}
'''
)
_END = """

if __name__ == "__main__":
    print(json.dumps(answer(*sys.argv[1:3]), ensure_ascii=False))
"""
