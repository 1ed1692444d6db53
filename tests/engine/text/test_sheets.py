"""Tables from workbooks, databases and Parquet: cells as a person sees them there, and nothing is run."""

from __future__ import annotations

import sqlite3
import zipfile
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path

import pytest
import xlsxwriter

from engine.errors import DataError
from engine.events import result_of
from engine.settings.finetune import DataConfig
from engine.text.table import Table, read_table, table_head, write_table
from engine.train.prepare import opening_table

HEADER = ["text", "label"]
_NAMESPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "table", "text", "style")
)
_ODS = "application/vnd.oasis.opendocument.spreadsheet"
_GAP = '<table:table-cell table:number-columns-repeated="16384"/>'


def workbook(path: Path, fill: Callable[[xlsxwriter.Workbook], None]) -> Path:
    book = xlsxwriter.Workbook(str(path))
    fill(book)
    book.close()
    return path


def plain(book: xlsxwriter.Workbook) -> None:
    sheet = book.add_worksheet("Reviews")
    for number, row in enumerate([HEADER, ["fine", "good"], ["dull", "bad"]]):
        sheet.write_row(number, 0, row)


def rows(table: Table) -> list[list[str]]:
    return [list(row) for row in table.frame.itertuples(index=False, name=None)]


def ods(path: Path, body: str, manifest: str = "") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", _ODS)
        archive.writestr("META-INF/manifest.xml", f"<manifest>{manifest}</manifest>")
        hidden = (
            '<style:style style:name="h" style:family="table"><style:table-properties table:display="false"/>'
        )
        archive.writestr(
            "content.xml",
            f'<?xml version="1.0"?><office:document-content {_NAMESPACES}><office:automatic-styles>{hidden}'
            f"</style:style></office:automatic-styles><office:body><office:spreadsheet>{body}"
            "</office:spreadsheet></office:body></office:document-content>",
        )
    return path


def cell(text: str, kind: str = "string", about: str = "") -> str:
    return f'<table:table-cell office:value-type="{kind}" {about}><text:p>{text}</text:p></table:table-cell>'


def row(*cells: str, times: int = 1) -> str:
    return f'<table:table-row table:number-rows-repeated="{times}">{"".join(cells)}</table:table-row>'


def database(path: Path) -> Path:
    with sqlite3.connect(path) as made:
        made.executescript(
            "create table none_yet(text); create table reviews(text, label, number);"
            "create view good as select text from reviews where label = 'good';"
        )
        made.executemany(
            "insert into reviews values (?, ?, ?)",
            [("fine", "good", 1.0), ("007", "bad", 12345678901234567), (b"\xff\0", "good", None)],
        )
    made.close()
    return path


def test_cells_of_excel_are_what_a_person_sees_there(tmp_path: Path) -> None:
    def fill(book: xlsxwriter.Workbook) -> None:
        sheet = book.add_worksheet()
        formats = ("dd/mm/yyyy", "d/m/yy h:mm", "00000")
        day, minute, zeros = (book.add_format({"num_format": one}) for one in formats)
        sheet.write_row(0, 0, ["text", "label", "day", "number"])
        sheet.write_row(1, 0, ["00012", True])
        sheet.write_datetime(1, 2, datetime(2024, 5, 1), day)
        sheet.write_number(1, 3, 123456789012345)
        sheet.write_row(2, 0, ["1234567890123456789", "x"])
        sheet.write_datetime(2, 2, datetime(2024, 5, 1, 13, 45), minute)
        sheet.write_number(2, 3, 42, zeros)
        sheet.write_row(3, 0, ["_x0041_\nsecond", "y", "", 0.1 + 0.2])
        sheet.write_formula(3, 2, "=NA()", None, "#N/A")
        sheet.write_row(4, 0, ["e", "z", "", 1e-7])

    table = read_table(workbook(tmp_path / "a.xlsx", fill))
    assert rows(table) == [
        ["00012", "TRUE", "2024-05-01", "123456789012345"],
        ["1234567890123456789", "x", "2024-05-01 13:45:00", "00042"],
        ["_x0041_\nsecond", "y", "#N/A", "0.3"],
        ["e", "z", "", "0.0000001"],
    ]


@pytest.mark.parametrize(
    ("code", "value", "shown"),
    [
        ("0%", 0.12, "12%"),
        ("0.0%", -0.12345, "-12.3%"),
        ('"ID-"000', 7, "ID-007"),
        ('0" stars"', 4, "4 stars"),
        ("00000", 4.5, "4.5"),
        ("#,##0.00", 1234.5, "1234.5"),
        ("0.00", 3.14159, "3.14159"),
        ("0;(0)", -3, "-3"),
    ],
)
def test_a_number_is_read_as_its_format_shows_it_where_that_is_another_text(
    tmp_path: Path, code: str, value: float, shown: str
) -> None:
    def fill(book: xlsxwriter.Workbook) -> None:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, HEADER)
        sheet.write(1, 0, "fine")
        sheet.write_number(1, 1, value, book.add_format({"num_format": code}))

    assert rows(read_table(workbook(tmp_path / "a.xlsx", fill))) == [["fine", shown]]


def test_formats_are_told(tmp_path: Path) -> None:
    def fill(book: xlsxwriter.Workbook) -> None:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, [*HEADER, "day"])
        for row in (1, 2):
            sheet.write(row, 0, "fine")
            sheet.write_number(row, 1, 0.5, book.add_format({"num_format": "0%"}))
            sheet.write_datetime(row, 2, datetime(2024, 5, row), book.add_format({"num_format": "d/m/yy"}))

    said = " ".join(map(str, read_table(workbook(tmp_path / "a.xlsx", fill)).notes))
    assert "0% or 00000: 2. They are read as shown." in said and "in other formats: 2." in said


def test_a_long_number_keeps_the_digits_that_its_file_has(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", plain)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    long = b'<c r="B3"><v>1234567890123456789</v></c>'
    name = "xl/worksheets/sheet1.xml"
    begin = parts[name].index(b'<c r="B3"')
    end = parts[name].index(b"</c>", begin) + 4
    parts[name] = parts[name][:begin] + long + parts[name][end:]
    with zipfile.ZipFile(path, "w") as archive:
        for part, data in parts.items():
            archive.writestr(part, data)
    assert rows(read_table(path))[1] == ["dull", "1234567890123456789"]


def test_lines_are_the_rows_of_the_sheet_and_merges_and_formulas_are_told(tmp_path: Path) -> None:
    def fill(book: xlsxwriter.Workbook) -> None:
        sheet = book.add_worksheet()
        sheet.merge_range("B2:C2", "Reviews of 2024")
        sheet.write_row(3, 1, HEADER)
        sheet.write_row(4, 1, ["fine", "good"])
        sheet.write_row(6, 1, ["dull"])
        sheet.write_formula(6, 2, "=NA()", None, "#N/A")
        sheet.write_formula(7, 1, '="a" & "b"', None, "ab")
        sheet.write_formula(7, 2, "=1+1", None, "")
        sheet.write_blank(20, 5, None, book.add_format({"bold": True}))

    table = read_table(workbook(tmp_path / "a.xlsx", fill))
    assert table.format.header_line == 4 and table.lines.tolist() == [5, 7, 8]
    assert rows(table)[1] == ["dull", "#N/A"]
    assert table.columns == ("text", "label")
    said = " ".join(map(str, table.notes))
    assert "Merged areas: 1." in said and "Reviews of 2024" in said
    assert "Formulas: 2." in said and "without a saved result: 1." in said


def test_macros_and_links_to_other_files_are_told_and_left_alone(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsm", plain)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("xl/vbaProject.bin", b"\xd0\xcf")
        archive.writestr("xl/externalLinks/externalLink1.xml", b"<externalLink/>")
    said = " ".join(map(str, read_table(path).notes))
    assert "holds macros; none was run" in said and "no link was followed" in said


def test_the_first_shown_sheet_with_rows_is_read_unless_another_is_chosen(tmp_path: Path) -> None:
    def fill(book: xlsxwriter.Workbook) -> None:
        book.add_worksheet("Empty")
        hidden = book.add_worksheet("Key")
        hidden.write_row(0, 0, ["text", "secret"])
        hidden.write_row(1, 0, ["a", "b"])
        hidden.hide()
        plain(book)

    path = workbook(tmp_path / "a.xlsx", fill)
    table = read_table(path)
    assert (table.format.sheet, table.sheets) == ("Reviews", ("Empty", "Key", "Reviews"))
    said = " ".join(map(str, table.notes))
    assert "“Reviews” is read" in said and "Hidden sheets are not read unless chosen: Key" in said
    assert read_table(path, sheet="Key").columns == ("text", "secret")
    assert read_table(path, sheet="2").columns == ("text", "secret")
    assert table_head(path, sheet="Key").columns == ("text", "secret")
    with pytest.raises(DataError, match=r"no sheet or table named Texts. It has: Empty, Key, Reviews"):
        read_table(path, sheet="Texts")
    with pytest.raises(DataError, match="“Empty” of .* has no rows"):
        read_table(path, sheet="Empty")


def test_validation_and_test_data_have_sheets_of_their_own(tmp_path: Path) -> None:
    def fill(book: xlsxwriter.Workbook) -> None:
        for name in ("Train", "Held out", "Test"):
            sheet = book.add_worksheet(name)
            sheet.write_row(0, 0, HEADER)
            sheet.write_row(1, 0, [f"of {name}", "good"])

    path = str(workbook(tmp_path / "a.xlsx", fill))
    data = DataConfig(data=path, sheet="Train", validation_sheet="Held out")
    read = {
        field: rows(result_of(opening_table(data, path, field)))[0][0]
        for field in ("data", "validation_data", "test_data")
    }
    assert read == {"data": "of Train", "validation_data": "of Held out", "test_data": "of Train"}


def test_an_opendocument_sheet_is_read_with_its_gaps(tmp_path: Path) -> None:
    body = (
        f'<table:table table:name="Key" table:style-name="h">{row(cell("secret"))}</table:table>'
        f'<table:table table:name="Data">{row(_GAP, times=3)}{row(*map(cell, ("text", "label", "n")))}'
        + row(cell("a</text:p><text:p>b"), cell("007"), cell("1", "float", 'office:value="1"'))
        + row(_GAP, times=2)
        + row(
            cell("c", about='table:number-columns-spanned="2"'),
            "<table:covered-table-cell/>",
            cell("5/1/24", "date", 'office:date-value="2024-05-01"'),
        )
        + row(_GAP, times=1_048_000)
        + "</table:table>"
    )
    table = read_table(ods(tmp_path / "a.ods", body))
    assert (table.format.kind, table.format.sheet, table.format.header_line) == ("ods", "Data", 4)
    assert rows(table) == [["a\nb", "007", "1"], ["c", "", "2024-05-01"]]
    assert table.lines.tolist() == [5, 8]
    assert "Merged areas: 1." in " ".join(map(str, table.notes))


def test_numbers_of_opendocument_are_read_as_they_are_shown_there(tmp_path: Path) -> None:
    shown = [
        cell("12 %", "percentage", 'office:value="0.12"'),
        cell("00042", "float", 'office:value="42"'),
        cell("1,234.50", "float", 'office:value="1234.5"'),
        cell("1.23E+19", "float", 'office:value="12345678901234567890"'),
        cell("36:00", "time", 'office:time-value="PT36H00M00S"'),
    ]
    names = row(*map(cell, ("text", "a", "b", "c", "d", "e")))
    body = f'<table:table table:name="A">{names}{row(cell("fine"), *shown, times=2)}</table:table>'
    table = read_table(ods(tmp_path / "a.ods", body))
    assert rows(table) == [["fine", "12 %", "00042", "1234.5", "12345678901234567890", "36:00"]] * 2
    said = " ".join(map(str, table.notes))
    assert "0% or 00000: 6." in said and "in other formats: 2." in said


def test_tables_and_views_of_a_database_are_read_and_nothing_is_written(tmp_path: Path) -> None:
    path = database(tmp_path / "a.sqlite")
    before = path.read_bytes()
    table = read_table(path)
    assert (table.format.sheet, table.sheets) == ("reviews", ("none_yet", "reviews", "good"))
    assert rows(table) == [["fine", "good", "1"], ["007", "bad", "12345678901234567"], ["", "good", ""]]
    assert "Cells of binary data: 1." in " ".join(map(str, table.notes))
    assert read_table(path, sheet="good").columns == ("text",)
    assert path.read_bytes() == before and [one.name for one in tmp_path.iterdir()] == ["a.sqlite"]


def test_parquet_keeps_whole_numbers_and_dates(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"text": ["a", None], "n": [1.0, None], "big": [2**62, 1], "day": [date(2024, 5, 1)] * 2}
    parquet.write_table(pyarrow.table({**columns, "ok": [True, False]}), tmp_path / "a.parquet")
    table = read_table(tmp_path / "a.parquet")
    assert rows(table) == [
        ["a", "1", "4611686018427387904", "2024-05-01", "TRUE"],
        ["", "", "1", "2024-05-01", "FALSE"],
    ]


def _bomb(path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"<workbook/>")
        with archive.open("xl/worksheets/sheet1.xml", "w") as part:
            for _ in range(200):
                part.write(bytes(1 << 20))
    return path


def _far(path: Path) -> Path:
    def fill(book: xlsxwriter.Workbook) -> None:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, HEADER)
        sheet.write_string(1_000_000, 9000, "far")

    return workbook(path, fill)


def _repeated(path: Path) -> Path:
    wide = (
        '<table:table-cell table:number-columns-repeated="1000" office:value-type="string"><text:p>a</text:p>'
    )
    return ods(
        path,
        f'<table:table table:name="a">{row(f"{wide}</table:table-cell>", times=1_000_000)}</table:table>',
    )


def _binary(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.bin", b"")
    return path


def _encrypted(path: Path) -> Path:
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99) + "EncryptedPackage".encode("utf-16-le"))
    return path


def _cut(path: Path) -> Path:
    whole = workbook(path, plain).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    return path


@pytest.mark.parametrize(
    ("make", "name", "says"),
    [
        (_bomb, "a.xlsx", "would unpack to 200 MB"),
        (_far, "a.xlsx", "too many to read"),
        (_repeated, "a.ods", "too many to read"),
        (_encrypted, "a.xlsx", "protected by a password"),
        (lambda path: ods(path, "", "<x:encryption-data xmlns:x='x'/>"), "a.ods", "protected by a password"),
        (_cut, "a.xlsx", "damaged workbook"),
        (_binary, "a.xlsb", "binary Excel workbook. Save it as .xlsx"),
    ],
)
def test_bombs_and_passwords_are_refused_in_one_sentence(
    tmp_path: Path, make: Callable[[Path], Path], name: str, says: str
) -> None:
    with pytest.raises(DataError, match=says):
        read_table(make(tmp_path / name))


def test_a_files_bytes_say_what_it_is_and_a_wrong_name_is_told(tmp_path: Path) -> None:
    named = workbook(tmp_path / "a.xlsx", plain).rename(tmp_path / "a.csv")
    table = read_table(named)
    assert table.format.kind == "xlsx" and "an Excel workbook, whatever its name says" in str(table.notes[0])
    text = tmp_path / "b.xlsx"
    text.write_text("text,label\nfine,good\ndull,bad\n")
    table = read_table(text, sheet="Reviews")
    assert table.format.kind == "csv" and "called .xlsx but is plain text" in str(table.notes[0])
    assert "has no sheets" in str(table.notes[1])


def test_a_written_workbook_runs_nothing_and_reads_back_the_same(tmp_path: Path) -> None:
    cells = [["=1+1", "+x", "0.5"], ["https://a.b", "007", ""], ["_x0041_ \U0001f600\tb", "1e5", "0.25"]]
    write_table(tmp_path / "a.xlsx", ["text", "label", "p"], cells, exempt=["p"])
    table = read_table(tmp_path / "a.xlsx", header="1")
    assert table.columns == ("text", "label", "p") and rows(table) == cells
    with zipfile.ZipFile(tmp_path / "a.xlsx") as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml")
        assert b"<f" not in sheet and b"hyperlink" not in sheet and b"<v>0.5</v>" in sheet
    with pytest.raises(DataError, match="too long for Excel"):
        write_table(tmp_path / "a.xlsx", ["text"], [["x" * 40_000]])
    assert rows(read_table(tmp_path / "a.xlsx", header="1")) == cells
