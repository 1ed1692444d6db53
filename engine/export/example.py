"""The short program beside a graph: it answers a text by onnxruntime, tokenizers and numpy alone.

Not to be broken: it cuts a text where this engine does, and answers with the same thresholds. Before an
export is done it is run beside the engine: on a short text, a long one, an empty one and pairs.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import ModelError, marked
from engine.export.heads import VECTORS, WORDS, Graph
from engine.export.runtime import batches, ours
from engine.inspect.example_texts import topics_for
from engine.model.sentence_files import SentenceConfig, read_sentence_files
from engine.text.read_tokenizer import read_tokenizer
from engine.text.tokenizer import Tokenizer
from engine.train.tasks.program import ANY, AnswerProgram, Trials, whole_text

EXAMPLE = "answer.py"
Told = Callable[[np.ndarray, np.ndarray], Any]  # the answer to a text, by its scores and its ids
TOLERANCE = 1e-4  # of a number, by its size where it is above 1
_OTHERWISE = marked(
    "engine", "The program with the graph does not answer {text!r} as Cloze does, so nothing was kept."
)


def program_of(graph: Graph, folder: Path) -> AnswerProgram:
    """Return how a text is answered as the model in `folder` does."""
    if graph.task is not None:
        return graph.task.program(folder)
    wordpiece = read_tokenizer(folder)
    if graph.outputs == VECTORS:
        how = read_sentence_files(folder)[0]
        pooled = {"cls": "[0]", "max": ".max(0)"}.get(how.pooling if how else "", ".mean(0)")
        length = "" if how is None or not how.is_normed else "\n    vector = vector / np.linalg.norm(vector)"
        say = _VECTOR.replace("@POOLED@", pooled).replace("@LENGTH@", length)
        told: Told = partial(_vector, how)
    else:
        say, told = _GUESSES, partial(_guesses, wordpiece)
    return AnswerProgram(whole_text(graph.truncation, say), partial(_trials, graph, wordpiece, told))


def example_code(graph: Graph, program: AnswerProgram, tokenizer: Tokenizer) -> str:
    """Return a short program that answers a text as the model of a graph does."""
    values = {"OUTPUTS": graph.outputs, "MAX_LENGTH": graph.max_length}
    values |= {"CLS": tokenizer.cls_id, "SEP": tokenizer.sep_id, "BETWEEN": tokenizer.num_between}
    values |= {"MASK": tokenizer.mask_id} if graph.outputs[0] == WORDS[0] and graph.task is None else {}
    said = "".join(f"{name} = {value!r}\n" for name, value in {**values, **program.values}.items())
    code = _CODE.replace("@GIVEN@", program.given).replace("@VALUES@", said)
    last = "" if program.most is None else str(program.most + 1)
    return code + program.body + _END.replace("@LAST@", last)


def check_example(graph: Graph, program: AnswerProgram, wordpiece: Tokenizer, path: Path) -> int:
    """Run the program beside a graph; return how many texts and pairs it answers as Cloze does.

    Raises: ModelError if it answers one otherwise.
    """
    answer, count = runpy.run_path(str(path))["answer"], 0
    sentences = [text for _, text in topics_for(wordpiece).sentences]
    long = _longer_than(2 * graph.max_length, sentences, wordpiece)
    for texts, wanted in program.trials(sentences[0], sentences[-1], long):
        if not is_same(wanted, answer(*texts)):
            raise ModelError(_OTHERWISE, text=texts[0][:60])
        count += 1
    return count


def _trials(graph: Graph, wordpiece: Tokenizer, told: Told, short: str, _other: str, long: str) -> Trials:
    for text in map(wordpiece.with_masks, (f"[MASK] {short}", f"[MASK] {long}", "[MASK] ")):
        [batch] = batches(graph, wordpiece, [text])
        yield (text,), told(ours(graph, batch)[0][0], batch[0][0].numpy())


def _guesses(wordpiece: Tokenizer, scores: np.ndarray, ids: np.ndarray) -> list[list[str]]:
    """Return the best pieces for each mask."""
    masked, known = np.flatnonzero(ids == wordpiece.mask_id), scores[:, : wordpiece.vocab_size]
    best = [known[place].argsort()[::-1][:5].tolist() for place in masked]
    return [[wordpiece.tokens[number] for number in one] for one in best]


def _vector(how: SentenceConfig | None, scores: np.ndarray, _ids: np.ndarray) -> Any:
    """Return the vector of a text, as the model's own files say that it is pooled."""
    pooled = {"cls": scores[0], "max": scores.max(0)}.get(how.pooling if how else "", scores.mean(0))
    return (pooled / np.linalg.norm(pooled) if how and how.is_normed else pooled).tolist()


def _longer_than(count: int, sentences: list[str], wordpiece: Tokenizer) -> str:
    """Return a text of more than `count` pieces whose end says something else than its beginning."""
    long, place = sentences[0], 0
    while len(wordpiece.encode(long).input_ids) <= count:
        place += 1
        long = f"{long} {sentences[place % len(sentences)]}"
    return long


def is_same(wanted: Any, found: Any) -> bool:
    """Whether two answers are the same, numbers within TOLERANCE."""
    if wanted is ANY:
        return True
    if isinstance(wanted, dict):
        return wanted.keys() == found.keys() and all(is_same(wanted[key], found[key]) for key in wanted)
    if isinstance(wanted, list | tuple):
        return len(wanted) == len(found) and all(map(is_same, wanted, found))
    if isinstance(wanted, float):
        return bool(abs(wanted - found) <= TOLERANCE * max(1.0, abs(wanted)))
    return bool(wanted == found)


_CODE = '''"""Answers a text as Cloze does, by onnxruntime alone: python answer.py @GIVEN@"""

import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

@VALUES@here = Path(__file__).parent
tokenizer = Tokenizer.from_file(str(here / "tokenizer.json"))
session = onnxruntime.InferenceSession(str(here / "model.onnx"), providers=["CPUExecutionProvider"])


def ask(first, second=None):
    """Return ids and scores of one text, or of a pair with BETWEEN separators in its middle; both are ids."""
    ids, types = [CLS, *first, SEP], [0] * (len(first) + 2)
    if second is not None:
        ids, types = ids + [SEP] * (BETWEEN - 1), types + [0] * (BETWEEN - 1)
        ids, types = [*ids, *second, SEP], types + [1] * (len(second) + 1)
    given = {"input_ids": ids, "attention_mask": [1] * len(ids), "token_type_ids": types}
    found = session.run(None, {name: np.array([value], np.int64) for name, value in given.items()})
    return ids, dict(zip(OUTPUTS, found))
'''
_GUESSES = """    masked = [place for place, number in enumerate(ids) if number == MASK]
    known = scores["logits"][0, :, : tokenizer.get_vocab_size()]
    best = [known[place].argsort()[::-1][:5] for place in masked]
    return [[tokenizer.id_to_token(int(number)) for number in one] for one in best]"""
_VECTOR = """    vector = scores["last_hidden_state"][0]@POOLED@@LENGTH@
    return vector.tolist()"""
_END = """

if __name__ == "__main__":
    print(json.dumps(answer(*sys.argv[1:@LAST@]), ensure_ascii=False))
"""
