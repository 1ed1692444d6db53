"""What is wrong with JSON that cannot be read, in words for a person."""

from __future__ import annotations

import json

from engine.errors import Sentence, marked

_SAID = {  # how the messages of Python's reader begin -> in words
    "Unterminated string": marked("engine", "a text in it has no end"),
    "Expecting value": marked("engine", "a value is missing"),
    "Expecting ',' delimiter": marked("engine", "a comma or the end is missing"),
    "Expecting ':' delimiter": marked("engine", "a colon is missing"),
    "Expecting property name": marked("engine", "a name in double quotes is missing"),
    "Extra data": marked("engine", "something follows after its end"),
    "Illegal trailing comma": marked("engine", "a comma comes before the end"),
    "Invalid control character": marked("engine", "a text in it contains a line break or similar"),
    "Invalid \\escape": marked("engine", "a backslash is where none is allowed"),
    "Invalid \\u": marked("engine", "a backslash is where none is allowed"),
}


def reason_of(error: json.JSONDecodeError) -> Sentence:
    """Return why JSON cannot be read."""
    return Sentence(next((said for start, said in _SAID.items() if error.msg.startswith(start)), error.msg))
