"""The vectors of a whole table, into one .npz file that numpy opens without running anything."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from engine.durable import check_file, replaced_file
from engine.errors import DataError, Sentence, marked
from engine.events import Event, Finished, Noted, Progress
from engine.inspect.embeddings import Embedded, Pooling, embed
from engine.inspect.subject import Subject
from engine.text.table import Table, read_table

MOST_TEXT_BYTES = 512 * 2**20  # of texts of one width each, which is how numpy keeps them


def embed_table(
    model: Path,
    data: Path,
    out: Path,
    *,
    text: str,
    text_pair: str = "",
    label: str = "",
    pooling: str = "mean",
    layer: int = -1,
    max_length: int | None = None,
    encoding: str = "",
    separator: str = "",
    quoting: str = "",
    header: str = "",
    device: str = "auto",
) -> Iterator[Event]:
    """Write one vector for each row that has a text: Progress, Noted, Finished.

    The file holds embeddings (E, D) float32; rows (E,) int64, of the table, from 0; texts (E,), and
    text_pairs and labels (E,) where a column was named; pooling, layer (from 0, the embeddings), model and
    fingerprint. Rows without a text are left out and noted; texts too long for the model are cut and counted.

    Args:   text, text_pair, label: columns by name or 1-based number. pooling, layer: see `Pooling`.
    Raises: DataError, ModelError; UserError if `out` cannot be written.
    """
    start = time.perf_counter()
    model, data, out = Path(model), Path(data), Path(out)
    _check_out(out, data)
    yield Progress(stage=marked("engine", "Reading"), done=0, total=0)
    table = read_table(data, encoding=encoding, separator=separator, quoting=quoting, header=header)
    names = [table.column(name) if name else "" for name in (text, text_pair, label)]
    subject = Subject.open(model, device)
    chosen = Pooling(pooling, layer).of(subject.about)
    for note in (*subject.notes, *table.notes, *(bad.sentence for bad in table.reported)):
        yield Noted(sentence=note)
    columns = [table.frame[name].tolist() if name else None for name in names]
    assert columns[0] is not None
    found = yield from embed(subject, columns[0], [chosen], pairs=columns[1], max_length=max_length)
    yield from notes_of(found, table)
    yield Progress(stage=marked("engine", "Writing"), done=0, total=len(found.places))
    named = zip(("texts", "text_pairs", "labels"), columns, strict=True)
    kept = {name: _kept(cells, found.places) for name, cells in named if cells is not None}
    _write(out, subject, found, kept)
    yield Finished(path=out, seconds=time.perf_counter() - start)


def notes_of(found: Embedded, table: Table | None = None) -> Iterator[Event]:
    """Say which texts had nothing to read, and how many were cut."""
    if found.empty and table is not None:
        lines = ", ".join(str(table.lines[place]) for place in found.empty[:20])
        note = marked("engine", "Left out because empty: {count:,}, in line {lines}.")
        more = ", ..." if len(found.empty) > 20 else ""
        yield Noted(sentence=Sentence(note, {"count": len(found.empty), "lines": lines + more}))
    elif found.empty:
        note = marked("engine", "Left out because empty: {count:,}.")
        yield Noted(sentence=Sentence(note, {"count": len(found.empty)}))
    if found.num_cut:
        note = marked("engine", "Cut because longer: {count:,} of {total:,}.")
        yield Noted(sentence=Sentence(note, {"count": found.num_cut, "total": len(found.places)}))


def _write(out: Path, subject: Subject, found: Embedded, columns: dict[str, Any]) -> None:
    arrays: dict[str, Any] = {
        "embeddings": found.vectors[0],
        "rows": found.places,
        "pooling": np.array(found.poolings[0].kind),
        "layer": np.array(found.poolings[0].layer),
        "model": np.array(subject.name),
        "fingerprint": np.array(subject.fingerprint),
    }
    with replaced_file(out) as beside, beside.open("wb") as file:
        np.savez(file, **arrays, **columns)


def _check_out(out: Path, data: Path) -> None:
    if out.suffix.lower() != ".npz":
        raise DataError(
            marked("engine", "{name} must end in .npz: vectors are kept that way."), name=out.name
        )
    check_file(out, data)


def _kept(cells: Sequence[str], places: np.ndarray) -> np.ndarray:
    """Return the cells as an array that needs no pickle; cut where the longest would cost too much."""
    most = MOST_TEXT_BYTES // (4 * max(1, len(places)))
    return np.array([cells[place][:most] for place in places.tolist()])
