"""Files of questions and of tagged words, read at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.events import result_of
from engine.text.questions.question import PassageTable
from engine.text.questions.reading import reading_questions
from engine.text.tagged.read import reading_tagged
from engine.text.tagged.texts import TaggedTable


def read_questions(path: str | Path, **how: Any) -> PassageTable:
    return result_of(reading_questions(path, **how))


def read_tagged(path: str | Path, **how: Any) -> TaggedTable:
    return result_of(reading_tagged(path, **how))
