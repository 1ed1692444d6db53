"""A Parquet file, through pyarrow where it is installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.errors import DataError, Sentence, marked
from engine.events import Steps
from engine.text.reading.file_check import opened
from engine.text.reading.sheets.found import NO_SHEETS, SheetRows, check_size, taking_rows
from engine.text.reading.sheets.values import cell_text

_ROWS = 1000  # made texts at once


def reading_parquet(path: Path, wanted: str, most_rows: int) -> Steps[SheetRows]:
    """Return the rows of a file. Args: wanted: there are no sheets, so it is told. Raises: DataError."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        template = marked(
            "engine",
            "{path} is a Parquet file, which needs pyarrow: pip install 'cloze-workbench[parquet]'. Or save "
            "it as CSV.",
        )
        raise DataError(template, path=path) from None
    found = SheetRows("", ())
    if wanted:
        found.notes.append(Sentence(NO_SHEETS))
    try:
        with opened(path) as file:
            source = pyarrow.parquet.ParquetFile(file)
            about = source.metadata
            found.names = list(source.schema_arrow.names)
            sizes = [about.row_group(number).total_byte_size for number in range(about.num_row_groups)]
            rows = min(about.num_rows, most_rows or about.num_rows)
            check_size(path, rows, len(found.names), sum(sizes) if not most_rows else 0)
            yield from taking_rows(path, found, _texts(source, rows), len(found.names))
    except (pyarrow.ArrowException, OSError) as error:
        template = marked("engine", "{path} cannot be read as a Parquet file: {reason}.")
        reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        raise DataError(template, path=path, reason=reason) from error
    return found


def _texts(source: Any, most: int) -> Iterator[list[str]]:
    """Yield the first rows as texts."""
    for batch in source.iter_batches(batch_size=_ROWS):
        columns = [[cell_text(cell) for cell in column.to_pylist()] for column in batch.columns]
        for row in zip(*columns, strict=True):
            if most <= 0:
                return
            most -= 1
            yield list(row)
