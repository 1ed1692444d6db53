"""Tables and views of an SQLite file, opened so that nothing is written, locked or run."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from engine.errors import DataError, Sentence, marked
from engine.events import Steps
from engine.text.reading.file_check import opened
from engine.text.reading.sheets.found import (
    MOST_TEXT,
    Sheet,
    SheetRows,
    check_size,
    chosen_sheet,
    others_note,
    taking_rows,
)
from engine.text.reading.sheets.values import cell_text

_PATIENCE_S = 60  # for a view to give its next row
_STEPS = 100_000  # of SQLite between two looks at the clock
_ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}


def reading_database(path: Path, wanted: str, most_rows: int) -> Steps[SheetRows]:
    """Return the rows of one table or view. Args: wanted: its name, "" for the first with rows.

    Raises: DataError.
    """
    with _connected(path) as (database, deadline):
        sheets = _tables(database)
        if not sheets:
            raise DataError(marked("engine", "{path} is an SQLite database without tables."), path=path)
        taken = chosen_sheet(path, sheets, wanted)
        found = SheetRows("", tuple(one.name for one in sheets))
        if taken is None:
            taken = next((one for one in sheets if _has_rows(database, one)), sheets[0])
            found.notes += others_note(sheets, taken)
        found.sheet = taken.name
        if Path(f"{path}-wal").exists():
            template = marked(
                "engine", "Another program may still be writing: changes in {name} are not read yet."
            )
            found.notes.append(Sentence(template, {"name": f"{path.name}-wal"}))
        cursor = database.execute(f"SELECT * FROM {_quoted(taken.name)} LIMIT ?", (most_rows or -1,))
        found.names = [column[0] for column in cursor.description]
        check_size(path, 1, len(found.names))
        blobs = [0]
        yield from taking_rows(path, found, _texts(cursor, blobs, deadline), len(found.names))
        if blobs[0]:
            template = marked("engine", "Cells of binary data: {count}. They are read as empty.")
            found.notes.append(Sentence(template, {"count": blobs[0]}))
        found.is_damaged = True  # it is looked for: SQLite keeps whatever bytes it is given
        return found


@contextmanager
def _connected(path: Path) -> Iterator[tuple[sqlite3.Connection, list[float]]]:
    """Give a database that can only be read, and until when a row is waited for.

    Raises: DataError for what is no database, or does not end.
    """
    with opened(path):
        pass
    deadline = [time.monotonic() + _PATIENCE_S]
    database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(MOST_TEXT, 2**31 - 1))
        database.execute("PRAGMA trusted_schema=OFF")
        database.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        database.set_progress_handler(lambda: time.monotonic() > deadline[0], _STEPS)
        yield database, deadline
    except sqlite3.Error as error:
        late = time.monotonic() > deadline[0]
        template = marked("engine", "{path} cannot be read as an SQLite database: {reason}.")
        if late:
            template = marked("engine", "A view of {path} takes more than a minute. Export it as CSV.")
        raise DataError(template, path=path, reason=str(error).rstrip(".")) from error
    finally:
        database.close()


def _tables(database: sqlite3.Connection) -> list[Sheet]:
    """Return tables and views; what SQLite and its search tables keep for themselves is none."""
    rows = database.execute("PRAGMA table_list").fetchall()
    kinds = {str(name): str(kind) for schema, name, kind, *_ in rows if schema == "main"}
    listed = database.execute(
        "SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY type, rowid"
    ).fetchall()
    database.set_authorizer(_allow)
    return [
        Sheet(name)
        for name, _ in listed
        if kinds.get(name) in ("table", "view") and not name.startswith("sqlite_")
    ]


def _allow(action: int, *_: object) -> int:
    """Let nothing be done to a database but to read it."""
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


def _has_rows(database: sqlite3.Connection, sheet: Sheet) -> bool:
    try:
        return database.execute(f"SELECT 1 FROM {_quoted(sheet.name)} LIMIT 1").fetchone() is not None
    except sqlite3.OperationalError:  # a view of what is no longer there
        return False


def _texts(cursor: sqlite3.Cursor, blobs: list[int], deadline: list[float]) -> Iterator[list[str]]:
    """Yield rows as text, counting the cells that are none, and wait anew for each."""
    row: tuple[Any, ...]
    for row in cursor:
        deadline[0] = time.monotonic() + _PATIENCE_S
        blobs[0] += sum(isinstance(cell, bytes) for cell in row)
        yield ["" if isinstance(cell, bytes) else cell_text(cell) for cell in row]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
