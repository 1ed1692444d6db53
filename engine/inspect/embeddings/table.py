"""The vectors of a whole table, into one .npz file that numpy opens without running anything."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from engine.durable import check_writable, replaced_file
from engine.errors import DataError, Sentence, marked, some_of
from engine.events import Event, Finished, Noted, Progress
from engine.inspect.embeddings.vectors import PoolingConfig, TextEmbeddings, embed, usual_kind
from engine.inspect.loaded_model import LoadedModel
from engine.model.own_encoder import read_by
from engine.text.table import Table, reading_table

MOST_TEXT_BYTES = 512 * 2**20  # of texts of one width each, which is how numpy keeps them


def embed_table(
    model: Path,
    data: Path,
    out: Path,
    *,
    text: str,
    text_pair: str = "",
    label: str = "",
    pooling: str = "",
    layer: int = -1,
    max_length: int | None = None,
    device: str = "auto",
    **how: str,
) -> Iterator[Event]:
    """Write one vector for each row that has a text: Progress, Noted, Finished.

    The file holds embeddings (E, D) float32; rows (E,) int64, of the table, from 0; texts (E,), and
    text_pairs and labels (E,) where a column was named; pooling, layer (from 0, the embeddings), model and
    fingerprint; notes (n,), all that was told. Rows without a text are left out and noted; texts too long for
    the model are cut and counted. Where the longest text would make `texts` too large, what is written of the
    long ones is shorter, and a note says so; the vectors do not change by that.

    Args:   text, text_pair, label: columns by name or 1-based number. pooling, layer: see `PoolingConfig`;
            "": the pooling that the model was made for. how: the table is read, as `reading_table` takes it.
    Raises: DataError, ModelError; UserError if `out` cannot be written.
    """
    start = time.perf_counter()
    model, data, out = Path(model), Path(data), Path(out)
    _check_out(out, data)
    yield Progress(stage=marked("engine", "Reading"), done=0, total=0)
    table = yield from reading_table(data, **how)
    names = [table.column(name) if name else "" for name in (text, text_pair, label)]
    subject = LoadedModel.open(model, device)
    chosen = PoolingConfig(pooling or usual_kind(subject.about), layer).of(subject.about)
    known = (*read_by(subject.about.encoder_name), *subject.notes, *table.notes)
    told = [Noted(sentence=note) for note in known]
    told += [Noted(sentence=bad.sentence) for bad in table.reported]
    yield from told
    columns = [table.frame[name].tolist() if name else None for name in names]
    assert columns[0] is not None
    found = yield from embed(subject, columns[0], [chosen], pairs=columns[1], max_length=max_length)
    named = zip(("texts", "text_pairs", "labels"), columns, strict=True)
    given = {name: [cells[place] for place in found.places] for name, cells in named if cells is not None}
    at_end = [*notes_of(found, table), *_shortened(given, out)]
    yield from at_end
    yield Progress(stage=marked("engine", "Writing"), done=0, total=len(found.places))
    kept = {name: _kept(cells) for name, cells in given.items()}
    _write(out, subject, found, kept, [str(note.sentence) for note in (*told, *at_end)])
    yield Finished(path=out, seconds=time.perf_counter() - start)


def notes_of(found: TextEmbeddings, table: Table | None = None) -> Iterator[Noted]:
    """Say which texts had nothing to read, and how many were cut."""
    if found.empty and table is not None:
        lines = some_of([str(table.lines[place]) for place in found.empty], 20)
        note = marked("engine", "Skipped because empty: {count:,}, in line {lines}.")
        yield Noted(sentence=Sentence(note, {"count": len(found.empty), "lines": lines}))
    elif found.empty:
        note = marked("engine", "Skipped because empty: {count:,}.")
        yield Noted(sentence=Sentence(note, {"count": len(found.empty)}))
    if found.num_cut:
        note = marked("engine", "Truncated because longer: {count:,} of {total:,}.")
        yield Noted(sentence=Sentence(note, {"count": found.num_cut, "total": len(found.places)}))


def _write(
    out: Path, subject: LoadedModel, found: TextEmbeddings, columns: dict[str, Any], notes: Sequence[str]
) -> None:
    arrays: dict[str, Any] = {
        "embeddings": found.vectors[0],
        "rows": found.places,
        "pooling": np.array(found.poolings[0].kind),
        "layer": np.array(found.poolings[0].layer),
        "model": np.array(subject.name),
        "fingerprint": np.array(subject.fingerprint),
        "notes": np.array(notes, dtype=np.str_),
    }
    with replaced_file(out) as beside, beside.open("wb") as file:
        np.savez(file, **arrays, **columns)


def _check_out(out: Path, data: Path) -> None:
    if out.suffix.lower() != ".npz":
        raise DataError(marked("engine", "{name} must end in .npz, the format for vectors."), name=out.name)
    check_writable(out, data)


def _most(count: int) -> int:
    """Return how many characters are written of each of `count` cells at most."""
    return MOST_TEXT_BYTES // (4 * max(1, count))


def _shortened(columns: dict[str, list[str]], out: Path) -> Iterator[Noted]:
    """Say of which columns longer texts than the file can hold are cut."""
    for name, cells in columns.items():
        most = _most(len(cells))
        if count := sum(len(cell) > most for cell in cells):
            note = marked(
                "engine",
                "In {file}, {count:,} of {total:,} {name} are truncated to their first {most:,} "
                "characters, because whole ones would take too much room. The vectors are not "
                "affected.",
            )
            values = {"file": out.name, "count": count, "total": len(cells), "name": name, "most": most}
            yield Noted(sentence=Sentence(note, values))


def _kept(cells: Sequence[str]) -> np.ndarray:
    """Return the cells as an array that needs no pickle; cut where the longest would cost too much."""
    most = _most(len(cells))
    return np.array([cell[:most] for cell in cells], dtype=np.str_)
