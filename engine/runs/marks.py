"""What a person calls a run, notes and files it under: in the run's own folder, so that it moves along."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.durable import write_text
from engine.errors import RunError, UserError, marked
from engine.files import read_json_object
from engine.train.run.runs import CONFIG

MARKS = "marks.json"
MOST_MARKS = 2**16  # bytes
LONGEST_NAME, LONGEST_NOTE, LONGEST_TAG, MOST_TAGS = 120, 10_000, 40, 20


@dataclass(frozen=True, slots=True)
class RunMarks:
    """name: "" for that of the folder."""

    name: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()


def read_marks(run_dir: Path) -> RunMarks:
    """Return what was written of a run; nothing where it cannot be read."""
    try:
        document = read_json_object(run_dir / MARKS, most=MOST_MARKS)
    except UserError:
        return RunMarks()
    tags = document.get("tags")
    return tidy(
        RunMarks(
            name=_text(document.get("name")),
            note=_text(document.get("note")),
            tags=tuple(_text(tag) for tag in tags) if isinstance(tags, list) else (),
        )
    )


def set_marks(run_dir: Path, **changes: Any) -> RunMarks:
    """Write a name, a note or tags beside those there are, and return all. Raises: RunError, UserError."""
    if not (run_dir / CONFIG).is_file():
        raise RunError(
            marked("engine", "{path} is not a run folder, so it cannot be named or noted."), path=run_dir
        )
    marks = tidy(replace(read_marks(run_dir), **changes))
    if marks == RunMarks():
        (run_dir / MARKS).unlink(missing_ok=True)
    else:
        document = {"name": marks.name, "note": marks.note, "tags": list(marks.tags)}
        write_text(run_dir / MARKS, json.dumps(document, indent=1, ensure_ascii=False))
    return marks


def tags_in(text: str) -> tuple[str, ...]:
    """Return the tags that a person typed, between commas."""
    return tidy(RunMarks(tags=tuple(text.split(",")))).tags


def tidy(marks: RunMarks) -> RunMarks:
    """Return marks as they are kept: one line for a name, each tag once, none longer than it may be."""
    return RunMarks(
        name=" ".join(marks.name.split())[:LONGEST_NAME],
        note=marks.note.strip()[:LONGEST_NOTE],
        tags=_once(" ".join(tag.split())[:LONGEST_TAG] for tag in marks.tags),
    )


def _once(tags: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag for tag in tags if tag))[:MOST_TAGS]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
