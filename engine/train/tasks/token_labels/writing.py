"""Tags of texts as lines of a file: CoNLL, or JSON lines with the offsets of what was found.

Words are written as they stand, never guarded as cells of a table are: a word with its tag is no formula.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from engine.errors import DataError, marked
from engine.train.tasks.token_labels.answers import TaggedAnswer

ENDINGS = (".conll", ".txt", ".tsv", ".jsonl")
_BREAKS = re.compile(r"[\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")


def check_ending(out: Path) -> None:
    """Refuse a file whose name does not say how it is written. Raises: DataError."""
    if out.suffix.lower() not in ENDINGS:
        raise DataError(
            marked(
                "engine",
                "{name} does not say how tags are written. Name it .conll, .txt or .tsv for one "
                "word per line, .jsonl for one text per line with offsets.",
            ),
            name=out.name,
        )


def writer_for(out: Path, separator: str, *, is_plain: bool) -> Callable[[TaggedAnswer, int], str]:
    """Return what writes an answer, with the line that its text begins in."""
    if out.suffix.lower() != ".jsonl":
        return lambda answer, line: _conll(answer, separator)
    return _words if is_plain else _entities


def _conll(answer: TaggedAnswer, separator: str) -> str:
    words = (_BREAKS.sub(" ", answer.text[start:stop]) for start, stop in answer.spans)
    lines = [f"{word}{separator}{tag}\n" for word, tag in zip(words, answer.tags, strict=True)]
    return "".join([*lines, "\n"])


def _entities(answer: TaggedAnswer, line: int) -> str:
    entities = [
        {
            "start": one.start,
            "end": one.stop,
            "label": one.type,
            "text": answer.text[one.start : one.stop],
            "probability": round(one.probability, 6),
        }
        for one in answer.entities
    ]
    return json.dumps({"text": answer.text, "entities": entities, "line": line}, ensure_ascii=False) + "\n"


def _words(answer: TaggedAnswer, line: int) -> str:
    document = {
        "text": answer.text,
        "tokens": [answer.text[start:stop] for start, stop in answer.spans],
        "tags": list(answer.tags),
        "offsets": [list(span) for span in answer.spans],
        "probabilities": [round(one, 6) for one in answer.probabilities],
        "line": line,
    }
    return json.dumps(document, ensure_ascii=False) + "\n"
