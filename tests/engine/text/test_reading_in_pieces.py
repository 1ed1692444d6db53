"""A table that is read in pieces is the table that is read at once, and can be left at each of them."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from engine.events import result_of
from engine.text.corpus.corpus import Corpus
from engine.text.examples import finding_examples
from engine.text.reading import cells, dialect, encoding, lines, whole
from engine.text.reading import rows as rows_module
from engine.text.reading.cells import CellArray
from engine.text.reading.lines import split_lines
from engine.text.reading.rows import Rows
from engine.text.roles import Roles
from engine.text.table import read_table, reading_table

ROWS = [
    ("A fine film", "pos"),
    ("Très bien, é à ü", "neg"),
    ("他走了很远的路,才到了河边。", "pos"),
    ("😀 it\nwas", "neg"),
]
CONTENT = "text,label\n" + "".join(
    f'"{number} {text}",{label}\n' for number, (text, label) in enumerate(ROWS * 5)
)


@pytest.fixture
def in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 7 bytes and slices of 2 rows, so that each border falls within something."""
    for module in (lines, encoding, whole):
        monkeypatch.setattr(module, "_BLOCK", 7)
    monkeypatch.setattr(cells, "_AT_ONCE", 2)
    monkeypatch.setattr(lines, "_MOST", 4)
    monkeypatch.setattr(dialect, "_LINES_AT_ONCE", 2)


DATA = {
    "utf-8": CONTENT.encode(),
    "a mark": b"\xef\xbb\xbf" + CONTENT.encode(),
    "damaged": CONTENT.encode().replace("é".encode(), b"\xe9"),
    "utf-16": CONTENT.encode("utf-16"),
    "half a pair": b"\xff\xfe" + CONTENT.encode("utf-16-le").replace("😀".encode("utf-16-le"), b"\x3d\xd8"),
    "gb18030": CONTENT.encode("gb18030"),
    "CRLF": CONTENT.replace("\n", "\r\n").encode(),
    "no quotes": CONTENT.replace('"', "").replace(",", "\t").encode(),
    "JSON lines": b"".join(b'{"text": "%d", "n%d": 1}\n' % (number, number % 3) for number in range(20)),
}


@pytest.mark.parametrize("name", DATA)
def test_a_table_in_pieces_is_the_table_at_once(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(DATA[name])
    whole = read_table(path)
    request.getfixturevalue("in_pieces")
    again = read_table(path)
    assert again.frame.to_dict("list") == whole.frame.to_dict("list")
    assert (again.format, again.columns, again.notes) == (whole.format, whole.columns, whole.notes)
    assert again.lines.tolist() == whole.lines.tolist() and again.sha256 == whole.sha256
    assert [(bad.line, str(bad.sentence)) for bad in again.reported] == [
        (bad.line, str(bad.sentence)) for bad in whole.reported
    ]


@pytest.mark.parametrize(
    "text", ["a\r\nb\rc\n\nd", "aaaaaa\r\nb\r", "\r\r\n\n", "x" * 6 + "\r" + "\ny", "é\r\n" * 9]
)
def test_lines_end_where_python_ends_them(text: str, in_pieces: None) -> None:
    assert list(result_of(split_lines(text.encode()))[:]) == list(io.StringIO(text, newline=""))


def test_reading_and_looking_through_can_be_left_every_few_thousand_rows(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("text,label\n" + "".join(f'"row {n}, long",{n % 2}\n' for n in range(50_000)), "utf-8")
    steps, count = reading_table(path), 0
    while True:
        try:
            next(steps)
        except StopIteration as end:
            table = end.value
            break
        count += 1
    assert count > 10 and table.num_rows == 50_000
    looking = finding_examples(table, Roles("text", "", "label"))
    for _ in range(10):
        next(looking)
    looking.close()


def test_rows_keep_half_characters_and_widths_and_know_which_are_damaged() -> None:
    rows = Rows([["name"], ["a", "\udce9b"], [], ["日本", "", "c"], ["퟿", "\U0010ffff"]])
    assert rows[:] == [["name"], ["a", "\udce9b"], [], ["日本", "", "c"], ["퟿", "\U0010ffff"]]
    assert rows.damaged().tolist() == [1]
    rows.drop(1)
    assert (len(rows), rows.widths().tolist(), rows.damaged().tolist()) == (4, [2, 0, 3, 2], [0])
    assert rows.padded(3)[1:] == [["", "", ""], ["日本", "", "c"], ["퟿", "\U0010ffff", ""]]


def test_a_column_is_read_as_pandas_reads_one_and_cannot_be_changed() -> None:
    column = CellArray.of(["a", "é", ""])
    assert column.take([2, 0]).tolist() == ["", "a"] and column[1] == "é" and column[-1] == ""
    assert column[[True, False, True]].tolist() == ["a", ""] and (column == "a").tolist() == [
        True,
        False,
        False,
    ]
    with pytest.raises(NotImplementedError):
        column[0] = "b"


@pytest.mark.slow
def test_text_to_pretrain_on_is_read_from_a_table_in_steps(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("text,label\n" + "".join(f"row {n} is long,{n % 2}\n" for n in range(20_000)), "utf-8")
    blocks = Corpus((path,), column="text").blocks()
    assert not any(next(blocks) for _ in range(5))  # the table is still being read
    assert sum(map(len, blocks)) == 20_000


@pytest.mark.parametrize("widest", [0, 7, 60, rows_module.WIDEST])
def test_rows_are_the_same_where_their_numbers_outgrow_four_bytes(
    widest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows_module, "WIDEST", widest)
    monkeypatch.setattr(rows_module, "_AT_ONCE", 3)
    wanted = [["a", "", "ü" * n][: 1 + n % 3] for n in range(20)]
    rows = Rows(wanted)
    assert list(rows) == wanted and rows.widths().tolist() == [len(row) for row in wanted]
    padded = rows.padded(3)
    assert list(padded) == [row + [""] * (3 - len(row)) for row in wanted]
    utf8, starts, ends = padded.columns(3)[2]
    assert [utf8[a:b].decode() for a, b in zip(starts, ends, strict=True)] == [row[2] for row in padded]
    rows.drop(4)
    rows.append(["last"])
    assert list(rows) == [*wanted[4:], ["last"]]
