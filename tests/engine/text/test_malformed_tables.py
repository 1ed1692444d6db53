"""Ninety broken tables, made here from bytes: every record is kept or reported, or the file is refused.

What is expected was counted by hand or follows from how the bytes are made, never from the reader.
"""

from __future__ import annotations

import gzip
import io
import json
import lzma
import pickle
import sqlite3
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import DataError, UserError
from engine.text.examples import examples_from, guess_roles
from engine.text.table import read_table

ROW = "a good film, so to say"
FEW = [("one two", "pos"), ("three four", "neg"), ("five six", "pos")]
LINES = "".join(f"{text},{label}\n" for text, label in FEW)
HEAD = "text,label\n"
MANY = LINES * 20  # 60 rows


def sheet(end: str = "\n", separator: str = ",", count: int = 20) -> str:
    """Return a header and 3 * count rows."""
    rows = [("text", "label"), *FEW * count]
    return "".join(separator.join(row) + end for row in rows)


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return file.getvalue()


def database(folder: Path) -> bytes:
    path = folder / "made.db"
    connection = sqlite3.connect(path)
    connection.execute("create table t (text, label)")
    connection.commit()
    connection.close()
    return path.read_bytes()


# name: (bytes or text, rows kept, records reported, overrides)
# fmt: off
KEPT: dict[str, tuple[str | bytes, int, int, dict[str, str]]] = {
    # the ends of lines
    "CR": (sheet("\r"), 60, 0, {}),
    "CR and one LF at the end": (sheet("\r")[:-1] + "\n", 60, 0, {}),
    "CR and one LF in the middle": (sheet("\r").replace("\r", "\n", 31).replace("\n", "\r", 30), 60, 0, {}),
    "CR with LF within quotes": (HEAD.replace("\n", "\r") + '"a\nb",pos\r' * 30 + "c,neg\r", 31, 0, {}),
    "CR with CRLF within quotes": ("text,label\r" + '"a\r\nb",pos\r' * 30 + "c,neg\r", 31, 0, {}),
    "CRLF with LF within quotes": ("text,label\r\n" + '"a\nb",pos\r\n' * 30, 30, 0, {}),
    "LF with CR within quotes": (HEAD + '"a\rb",pos\n' * 30, 30, 0, {}),
    "LF, then CRLF, then CR": (sheet() + LINES.replace("\n", "\r\n") + LINES.replace("\n", "\r"), 66, 0, {}),
    "CRCRLF": (sheet("\r\r\n"), 60, 0, {}),
    "LFCR": (sheet("\n\r"), 60, 0, {}),
    "no end after the last row": (sheet()[:-1], 60, 0, {}),
    "blank lines between rows": (sheet("\n\n \n".replace(" ", "")), 60, 0, {}),
    "tabs and CR": (sheet("\r", "\t"), 60, 0, {}),
    "a lone CR within a cell": (HEAD + MANY + "broken\rin two,pos\n" + MANY, 121, 0, {}),
    "a lone LF within a cell of CRLF": (
        "text,label\r\n" + "a b,pos\r\n" * 30 + "c\nd,neg\r\n" + "e,pos\r\n", 32, 0, {}),
    "a line of blanks": (sheet() + "   \n" + LINES, 63, 1, {}),
    "form feeds and other line marks": (HEAD + "a\x0bb\x0cc\x1cd\x85e\u2028f,pos\n" * 9, 9, 0, {}),
    # quotes
    "a quote never closed": (HEAD + '"a, b",pos\n' * 30 + '"c,neg\n' + MANY, 90, 1, {}),
    "a quote never closed in the last row": (HEAD + '"a, b",pos\n' * 30 + '"c,neg\n', 30, 1, {}),
    "a quote in the middle of a cell": (HEAD + '5" disk,pos\n' * 9 + MANY, 69, 0, {}),
    "a quoted cell that goes on": (HEAD + '"a" b,pos\n' + '"c, d",neg\n' * 40, 40, 1, {}),
    "a space before the quote": (HEAD + 'a, "b"\n' * 30, 30, 0, {}),
    "all quoted, one quote lost at the end": (
        HEAD + '"a","pos"\n' * 30 + '"b","neg\n' + '"c","pos"\n' * 9, 39, 1, {}),
    "typographic quotes": (HEAD + "“a b”,pos\n" * 30, 30, 0, {}),
    "single quotes": (HEAD + "'a b',pos\n" * 30, 30, 0, {}),
    "only quotes": (HEAD + '"""""",pos\n"",neg\n' * 9, 18, 0, {}),
    "quotes are text in tabs": ("text\tlabel\n" + '"a\tpos\n' * 9 + 'b "c" d\tneg\n' * 9, 18, 0, {}),
    "a long quoted cell": (HEAD + '"' + "line\n" * 5000 + '",pos\n' + MANY, 61, 0, {}),
    "a line with a quote in every state": (
        HEAD + 'a",""",pos\n' * 400, 400, 1, {"quoting": "none", "header": "no"}),
    "backslashes of Spark": (HEAD + '"a \\"b, c\\" d",pos\n' * 30, 30, 0, {}),
    "backslashes of MySQL": ("text\tlabel\n" + "a\\\tb\tpos\n" * 9 + "c\\\nd\t\\N\n" * 9, 18, 0, {}),
    "backslashes with one lost quote": (HEAD + '"a \\"b, c\\" d",pos\n' * 30 + '"e,neg\n' + LINES, 33, 1, {}),
    "paths that end in a backslash": (HEAD + '"C:\\",pos\n"D:\\x, y\\",neg\n' * 15, 30, 0, {}),
    # the header and what stands above it
    "sep=": ("sep=;\n" + sheet(separator=";"), 60, 0, {}),
    "sep= in quotes and CRLF": ('"sep=\t"\r\n' + sheet("\r\n", "\t"), 60, 0, {}),
    "sep= with a separator nobody has": ("sep=^\n" + sheet(), 60, 0, {}),
    "a title": ("The reviews\n" + sheet(), 60, 0, {}),
    "a title and blank lines": ("The reviews\n\n\n" + sheet("\r\n"), 60, 0, {}),
    "a title as wide as the table": ("The reviews,\n,\n" + sheet(), 60, 0, {}),
    "a title with a comma above two columns": ("Reviews, 2020\nof all, or so\n" + sheet(), 60, 0, {}),
    "comments": ("# source: here\n# date: now, or then\n" + sheet(), 60, 0, {}),
    "a title over three rows": ("The reviews\nof all\n" + HEAD + LINES, 3, 0, {}),
    "blank lines above": ("\n\n\n" + sheet(), 60, 0, {}),
    "a named header": ("x,y\nz,w\n" + sheet(), 60, 0, {"header": "3"}),
    "a header twice": (sheet() + sheet(), 121, 0, {}),
    "no header": (MANY, 60, 0, {}),
    "no header, and said so": (sheet(), 61, 0, {"header": "no"}),
    "a header with an empty name": ("text,,label\n" + "a b,x,pos\n" * 9, 9, 0, {}),
    "a header with one name thrice": ("text,text,text\n" + "a b,x,pos\n" * 9, 9, 0, {}),
    "a BOM in the middle": (sheet() + "\ufefftext,label\n" + LINES, 64, 0, {}),
    # widths
    "one cell too many": (sheet() + "a,b,pos\n" + LINES, 63, 1, {}),
    "one cell too few": (sheet() + "alone\n" + LINES, 63, 1, {}),
    "every fifth row too wide": (HEAD + (LINES + "x,pos\na,b,neg\n") * 20, 80, 20, {}),
    "a trailing separator in some rows": (sheet() + "a,pos,\n" * 5, 60, 5, {}),
    "a footer": (sheet() + "3 rows\n", 60, 1, {}),
    "notes below": (sheet() + "\n\nSource: somebody; 2020\n", 60, 1, {}),
    "commas in the text of one column": ("text\n" + "Well, I never, ever.\nNo.\n" * 30, 60, 0, {}),
    "another separator in the last part": (sheet() + "x;pos\n" * 9, 60, 9, {}),
    "one row": ("text,label\na b,pos\n", 1, 0, {"header": "yes"}),
    "five thousand columns": (
        ",".join(f"c{n}" for n in range(5000)) + "\n" + ",".join("1" * 5000) + "\n", 1, 0, {}),
    "a cell of two megabytes": (HEAD + "x" * 2_000_000 + ",pos\n" + LINES, 4, 0, {}),
    # encodings and bytes
    "a byte that is no UTF-8": (sheet().encode() + "é,pos\n".encode() * 9 + b"\xff,neg\n", 69, 1, {}),
    "two encodings in one file": (
        (HEAD + "é è à ü,pos\n" * 60).encode() + "é,neg\n".encode("cp1252") * 3, 60, 3, {}),
    "UTF-16 and a stray byte": (sheet().encode("utf-16") + b"\n", 60, 0, {}),
    "UTF-16 without a mark and a stray byte": (sheet().encode("utf-16-le") + b"\0", 60, 0, {}),
    "UTF-16 with half a character": (
        (sheet() + "X,pos\n").encode("utf-16").replace(b"X\0", b"\0\xdc"), 60, 1, {}),
    "UTF-32": (sheet().encode("utf-32"), 60, 0, {}),
    "NULs in cells": (sheet() + "a\0b,pos\n", 61, 0, {}),
    "NULs at the end": (sheet() + "\0" * 40, 60, 1, {}),
    "the end of file of DOS": (sheet("\r\n") + "\x1a", 60, 1, {}),
    "two BOMs": (b"\xef\xbb\xbf" + ("\ufeff" + sheet()).encode(), 60, 0, {}),
    "latin letters": ((HEAD + "ça va très bien,pos\nune nièce déçue,neg\n" * 9).encode("cp1252"), 18, 0, {}),
    # JSON
    "JSON lines with a broken one": ('{"text": "a", "label": 1}\n' * 30 + '{"text": "b", \n', 30, 1, {}),
    "JSON lines with a list": ('{"text": "a"}\n' * 30 + '["b"]\n', 30, 1, {}),
    "JSON lines after a BOM": ('\ufeff{"text": "a"}\r\n{"text": "b"}\r\n', 2, 0, {}),
    "a JSON list": (json.dumps([{"text": "a\n", "label": 1}] * 30, indent=1), 30, 0, {}),
    "a JSON list with a number": (json.dumps([*[{"text": "a"}] * 30, 3], indent=1), 30, 1, {}),
    "JSON objects over several lines": ('{\n"text": "a"\n}\n' * 30, 30, 0, {}),
    "JSON of another key each": ("".join(f'{{"k{n}": {n}}}\n' for n in range(50)), 50, 0, {}),
}

# name: (file name, bytes or what makes them, what the sentence holds)
REFUSED: dict[str, tuple[str, bytes | Callable[[Path], bytes], str]] = {
    "nothing": ("a.csv", b"", "is empty"),
    "blanks": ("a.csv", b" \r\n\t\n", "is empty"),
    "a byte order mark alone": ("a.csv", b"\xff\xfe", "is empty"),
    "JSON of too many keys": (
        "a.jsonl", b"".join(b'{"k%d": 1}\n' % n for n in range(20_000)), "at most 10000"),
    "a header alone": ("a.csv", HEAD.encode(), "has a header and no rows"),
    "a header alone, CR": ("a.csv", b"text,label\r", "has a header and no rows"),
    "no row of the header's width": ("a.csv", b"text,label\na,b,c\nd,e,f\n", "No row of"),
    "too many columns": ("a.csv", b"x," * 20_000 + b"\n", "at most 10000"),
    "HTML": ("a.csv", b"<!doctype HTML><html><body><table></table></body></html>", "web page"),
    "XML": ("a.csv", b'<?xml version="1.0"?><rows/>', "is XML"),
    "SQL": ("a.sql", b"BEGIN TRANSACTION;\nCREATE TABLE t (a);\nINSERT INTO t VALUES (1);\n", "SQL"),
    "YAML": ("a.yml", b"- text: a\n  label: b\n", "YAML"),
    "a pickle": ("a.csv", lambda _: pickle.dumps([{"text": "a"}]), "pickle"),
    "a pickle as text": ("a.csv", lambda _: pickle.dumps([{"text": "a"}], 0), "pickle"),
    "a workbook": ("a.csv", lambda _: zipped(), "damaged workbook"),
    "an old workbook": ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99), "Excel"),
    "a database": ("a.csv", database, "has no rows"),
    "gzip": ("a.csv", lambda _: gzip.compress(sheet().encode()), "compressed"),
    "xz": ("a.csv", lambda _: lzma.compress(sheet().encode()), "compressed"),
    "Parquet": ("a.csv", b"PAR1" + bytes(99), "Parquet"),
    "PDF": ("a.csv", b"%PDF-1.7\n%\xe2\xe3", "PDF"),
    "NULs alone": ("a.csv", bytes(1 << 20), "does not hold text"),
    "SQuAD on one line": (
        "a.json", b'{"data": [{"paragraphs": [{"context": "x", "qas": []}]}]}', "question answering"),
    "SQuAD of a list": ("a.json", b'[{"paragraphs": [{"context": "x", "qas": []}]}]', "question answering"),
    "a JSON list that breaks off": ("a.json", b'[{"text": "a"},\n{"te', "not valid JSON in line 2"),
    "JSON nested without end": ("a.json", b"[" * 200_000, "nested too deep"),
    "CoNLL": ("a.txt", b"EU B-ORG\nsays O\nno O\n. O\n\nPeter B-PER\nis O\n", "task token-labels"),
    "an encoding it is not in": ("a.csv", "text,label\né,1\n".encode("utf-16"), "Line 1 of"),
}
# fmt: on


@pytest.mark.slow
@pytest.mark.parametrize("name", KEPT)
def test_every_record_of_a_broken_table_is_kept_or_reported(tmp_path: Path, name: str) -> None:
    content, num_kept, num_reported, overrides = KEPT[name]
    path = tmp_path / "table.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    began = time.process_time()
    table = read_table(path, **overrides)
    assert time.process_time() - began < 5
    assert (table.num_rows, len(table.reported)) == (num_kept, num_reported), list(map(str, table.notes))
    lines = [*table.lines.tolist(), *(bad.line for bad in table.reported)]
    assert len(set(lines)) == len(lines)
    examples_of(path, **overrides)


def examples_of(path: Path, **overrides: str) -> None:
    """Go on to examples, where nothing but a sentence may stop it."""
    try:
        table = read_table(path, **overrides)
        examples_from(table, guess_roles(table))
    except UserError as refused:
        assert len(str(refused)) < 600


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_a_table_is_refused_in_a_short_sentence(tmp_path: Path, name: str) -> None:
    file, content, says = REFUSED[name]
    path = tmp_path / file
    path.write_bytes(content if isinstance(content, bytes) else content(tmp_path))
    began = time.process_time()
    with pytest.raises(DataError) as refused:
        read_table(path, encoding="utf-8" if name == "an encoding it is not in" else "")
    assert time.process_time() - began < 5
    assert says in str(refused.value) and len(str(refused.value)) < 600


HOSTILE = {  # how the file begins, how often that is repeated, how long it is then made with holes
    "NULs": (b"\0", 1, 1 << 30),
    "a picture of a file": (b"PAR1", 1, 1 << 30),
    "a quote open in every line": (b'a","""\n', 200_000, 0),
    "a quote opened in every line": (b'"a\n', 200_000, 0),
    "lists in lists": (b"[", 5_000_000, 0),
    "separators alone": (b",", 20_000_000, 0),
    "quotes and separators": (b'",', 10_000_000, 0),
    "comments of markup": (b"<!-- -->", 1_000_000, 0),
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the memory of a process")
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_costs_seconds_and_little_memory(tmp_path: Path, name: str) -> None:
    content, times, size = HOSTILE[name]
    path = tmp_path / "table.csv"
    with path.open("wb") as file:
        file.write(content * times)
        file.truncate(size or file.tell())
    done = subprocess.run([sys.executable, "-c", READ_IT, path], capture_output=True, text=True, check=True)
    elapsed_s, memory_mb = map(float, done.stdout.split("\n")[1].split())
    assert elapsed_s < 10 and memory_mb < 500, done.stdout


# VmHWM, not getrusage: that one begins with the memory of whoever started the process
READ_IT = """
import sys, time
from pathlib import Path
from engine.errors import UserError
from engine.text.table import read_table
began = time.process_time()
try:
    table = read_table(sys.argv[1])
    print(table.num_rows + len(table.reported))
except UserError as refused:
    print(refused)
facts = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
print(time.process_time() - began, int(facts["VmHWM"].split()[0]) / 1024)
"""
