"""An index of all runs under a folder, so that a thousand are listed at once: a row a run, of its files.

The run folders are the truth. A row is made anew where one of its files has another time or size; the whole
index may be deleted at any time. Several windows read and write it at once: each change is one transaction,
and where the index cannot be opened or written, the runs are listed without it.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.errors import marked
from engine.events import Event, Progress
from engine.runs.facts import FIELDS, RunFacts, document_of, facts_from, read_facts, stamp_of
from engine.train.run.lock import is_locked
from engine.train.run.runs import CONFIG, LOCK

INDEX = ".runs.sqlite"
VERSION = 6  # of the rows; another one is made anew
_FIELDS = frozenset(FIELDS)
PATIENCE_S = 5.0  # that one process waits for another's change, which takes milliseconds

Stamps = dict[str, tuple[str, RunFacts]]  # folder -> its stamp, and what is known of it


def index_of(root: Path) -> Generator[Event, None, tuple[RunFacts, ...]]:
    """Return all runs under a root, the newest first, telling how many had to be read. Raises: nothing."""
    known, folders = _known(root), run_folders(root)
    found: Stamps = {}
    changed: Stamps = {}
    for place, name in enumerate(folders):
        stamp = stamp_of(f"{root}/{name}")
        if known.get(name, ("",))[0] == stamp:
            found[name] = known[name]
            continue
        yield Progress(stage=marked("engine", "Reading"), done=place, total=len(folders))
        found[name] = changed[name] = (stamp, read_facts(root / name, root))
    gone = known.keys() - found.keys()
    if changed or gone:
        _write(root, changed, gone)
    now = (alive(facts) for _, facts in found.values())
    return tuple(sorted(now, key=lambda facts: (facts.began, facts.folder), reverse=True))


def run_folders(root: Path) -> list[str]:
    """Return the run folders under a root, and those of comparisons and pipelines, as seen from there."""
    found = list[str]()
    for name in _folders(f"{root}"):
        inner = (f"{name}/{one}" for one in _folders(f"{root}/{name}"))
        found += [name] if _is_run(f"{root}/{name}") else [one for one in inner if _is_run(f"{root}/{one}")]
    return found


def alive(facts: RunFacts) -> RunFacts:
    """Return the same run, its state as it is at this moment: what says "running" may have been killed."""
    if facts.state == "running" and not facts.host and not is_locked(Path(facts.path) / LOCK):
        return replace(facts, state="crashed")
    return facts


def _is_run(folder: str) -> bool:
    return os.path.isfile(f"{folder}/{CONFIG}")


def _folders(folder: str) -> Iterator[str]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                if entry.is_dir() and not entry.name.startswith("."):
                    yield entry.name


@contextmanager
def _opened(root: Path) -> Iterator[sqlite3.Connection]:
    """Open the index, its table in it. Raises: sqlite3.Error."""
    with closing(sqlite3.connect(root / INDEX, timeout=PATIENCE_S, isolation_level=None)) as index:
        if _version(index) != VERSION:
            index.execute("BEGIN IMMEDIATE")
            if _version(index) != VERSION:  # else another process was quicker
                index.execute("DROP TABLE IF EXISTS runs")
                index.execute("DROP TABLE IF EXISTS settings")
                index.execute(
                    "CREATE TABLE runs (folder TEXT PRIMARY KEY, stamp TEXT, facts TEXT, shared TEXT)"
                )
                index.execute("CREATE TABLE settings (shared TEXT PRIMARY KEY, settings TEXT)")
                index.execute(f"PRAGMA user_version = {VERSION}")
            index.execute("COMMIT")
        index.execute("PRAGMA synchronous = OFF")  # it can be made anew
        yield index


def _version(index: sqlite3.Connection) -> int:
    return int(index.execute("PRAGMA user_version").fetchone()[0])


def _known(root: Path) -> Stamps:
    """Return what the index holds; nothing where it is damaged, and then it goes."""
    known: Stamps = {}
    if not root.is_dir():
        return known
    try:
        with _opened(root) as index:
            index.execute("BEGIN")  # both as they are at one moment
            rows = index.execute("SELECT folder, stamp, facts, shared FROM runs").fetchall()
            settings = dict(index.execute("SELECT shared, settings FROM settings"))
            index.execute("COMMIT")
    except sqlite3.OperationalError:  # read-only, or another process holds it too long
        return known
    except sqlite3.DatabaseError:
        with suppress(OSError):
            (root / INDEX).unlink()
        return known
    absolute = root.absolute()
    read: dict[str, Any] = {}  # runs of the same settings hold one dict
    for (folder, stamp, _, shared), document in zip(rows, _documents([row[2] for row in rows]), strict=True):
        with suppress(ValueError, TypeError, KeyError):
            if shared not in read:
                read[shared] = json.loads(settings[shared])
            document["settings"] = read[shared]
            document["path"] = f"{absolute}/{folder}"  # the root may have been moved
            if document.keys() == _FIELDS:
                known[folder] = (stamp, facts_from(document))
    return known


def _documents(texts: list[str]) -> list[Any]:
    """Return what JSON texts hold, all at once where they are whole; {} in the place of one that is not."""
    try:
        found: list[Any] = json.loads(f"[{','.join(texts)}]")
        if len(found) == len(texts) and all(isinstance(one, dict) for one in found):
            return found
    except (ValueError, RecursionError, TypeError):
        pass
    return [_document(text) for text in texts]


def _document(text: Any) -> dict[str, Any]:
    with suppress(ValueError, RecursionError, TypeError):
        found = json.loads(text)
        return found if isinstance(found, dict) else {}
    return {}


def _write(root: Path, changed: Stamps, gone: set[str]) -> None:
    rows, settings = [], dict[str, str]()
    for folder, (stamp, facts) in changed.items():
        document = document_of(facts)
        own = json.dumps(document.pop("settings"), ensure_ascii=False)
        shared = hashlib.sha256(own.encode("utf-8", "surrogatepass")).hexdigest()
        settings[shared] = own
        rows.append((folder, stamp, json.dumps(document, ensure_ascii=False), shared))
    with suppress(sqlite3.Error), _opened(root) as index:
        index.execute("BEGIN IMMEDIATE")
        index.executemany("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?)", rows)
        index.executemany("INSERT OR IGNORE INTO settings VALUES (?, ?)", settings.items())
        index.executemany("DELETE FROM runs WHERE folder = ?", [(folder,) for folder in gone])
        index.execute("DELETE FROM settings WHERE shared NOT IN (SELECT shared FROM runs)")
        index.execute("COMMIT")
