"""The kinds of files that tables are read from, once: their names in sentences, and how files are called.

What a file is, its bytes say; its name only helps to find it. A kind with sheets is read by `sheets/`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engine.errors import marked


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of file: what `TableFormat.kind` calls it, what people do, and how its names end."""

    name: str
    words: str
    one: str  # in a sentence
    suffixes: tuple[str, ...]
    names_columns: bool = False  # so that no row is a header


XLSX = FileKind(
    "xlsx", marked("engine", "Excel workbook"), marked("engine", "an Excel workbook"), (".xlsx", ".xlsm")
)
XLS = FileKind(
    "xls", marked("engine", "old Excel workbook"), marked("engine", "an old Excel workbook"), (".xls",)
)
ODS = FileKind(
    "ods",
    marked("engine", "OpenDocument spreadsheet"),
    marked("engine", "an OpenDocument spreadsheet"),
    (".ods",),
)
PARQUET = FileKind(
    "parquet", marked("engine", "Parquet file"), marked("engine", "a Parquet file"), (".parquet",), True
)
SQLITE = FileKind(
    "sqlite",
    marked("engine", "SQLite database"),
    marked("engine", "an SQLite database"),
    (".sqlite", ".sqlite3", ".db"),
    True,
)
WITH_SHEETS = {kind.name: kind for kind in (XLSX, XLS, ODS, PARQUET, SQLITE)}
WORKBOOKS = (XLSX.name, XLS.name, ODS.name)
CSV_SUFFIXES, LINES_SUFFIXES = (".csv", ".tsv", ".tab"), (".jsonl", ".ndjson")
SHEET_SUFFIXES = tuple(suffix for kind in WITH_SHEETS.values() for suffix in kind.suffixes)
TABLE_SUFFIXES = (*CSV_SUFFIXES, *LINES_SUFFIXES, *SHEET_SUFFIXES)  # that nothing but tables has
WRITTEN_SUFFIXES = (".csv", ".tsv", ".xlsx")  # `write_table` goes by them

A_TABLE = marked("engine", "a CSV, TSV, JSON lines, Excel, OpenDocument, Parquet or SQLite file")
TABLE_KINDS = marked("engine", "CSV, TSV, JSON lines, Excel, OpenDocument, Parquet or SQLite")


def patterns(suffixes: Iterable[str] = (*TABLE_SUFFIXES, ".txt", ".json")) -> str:
    """Return endings as a dialog has them: "*.csv *.tsv"."""
    return " ".join(f"*{suffix}" for suffix in suffixes)
