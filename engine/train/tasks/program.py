"""The program that answers beside an exported graph as a task's models do: its text, what it is tried on.

It stands on onnxruntime, tokenizers and numpy alone. engine/export/example.py writes what is around it:
OUTPUTS, MAX_LENGTH and BETWEEN, the separators between two texts, and `ask`, which gives ids and scores of
one text or a pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

ANY: Any = object()  # the answer to what Cloze does not ask
Trials = Iterator[tuple[tuple[str, ...], Any]]  # texts, and what Cloze answers to them


@dataclass(frozen=True, slots=True)
class AnswerProgram:
    """A function `answer` in Python, and how it is tried.

    trials: given a short text, another one, and one too long to be read at once, yields texts with what Cloze
    answers to them, in the words of the program. values: constants that it stands on. given: what is typed
    behind its name, of which it takes the first `most`; None: all.
    """

    body: str
    trials: Callable[[str, str, str], Trials]
    values: Mapping[str, Any] = field(default_factory=dict)
    given: str = "TEXT [SECOND TEXT]"
    most: int | None = 2


def whole_text(truncation: str, say: str) -> str:
    """Return a program that reads a text or a pair at once, cut as in training.

    Args: say: the lines that make an answer of `ids` and `scores`.
    """
    return cutting(truncation) + _WHOLE.replace("@SAY@", say)


def cutting(truncation: str) -> str:
    """Return a function `cut`, which cuts texts as in training."""
    pairs, kept = _PAIRS.get(truncation, _LONGEST_FIRST), _KEPT.get(truncation, "one[:size]")
    return _CUT.replace("@PAIRS@", pairs).replace("@KEPT@", kept)


def divided(temperature: float) -> str:
    """Return what stands behind logits that are divided by a temperature; "" for 1."""
    return f" / {temperature!r}" if temperature != 1 else ""


_CUT = '''

def cut(texts):
    """Return what is read of a text, or of a pair: at most MAX_LENGTH pieces in all, cut as in training."""
    room, sizes = MAX_LENGTH - 2 - BETWEEN * (len(texts) - 1), [len(one) for one in texts]
    if sum(sizes) <= room:
        return texts
    keep = [room]
    if len(texts) == 2:
@PAIRS@
    return [@KEPT@ for one, size in zip(texts, keep)]
'''
_WHOLE = '''

def answer(*texts):
    """Return what the model answers to a text, or to a pair of texts."""
    ids, scores = ask(*cut([tokenizer.encode(text, add_special_tokens=False).ids for text in texts]))
@SAY@
'''
_LONGEST_FIRST = """        shorter = min(*sizes, room // 2)
        keep = [room - shorter, shorter] if sizes[0] > sizes[1] else [shorter, room - shorter]"""
_PAIRS = {
    "head": """        second = max(room - sizes[0], min(sizes[1], room // 4))
        keep = [room - second, second]""",
}
_KEPT = {
    "head_tail": "one[: (size * 128 + 255) // 510] + one[len(one) - size + (size * 128 + 255) // 510 :]",
}
WINDOWS = '''

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
