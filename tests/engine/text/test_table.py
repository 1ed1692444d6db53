"""Tables in and out: real files and hostile ones. Rows in = rows kept + rows reported, always."""

from __future__ import annotations

import contextlib
import csv
import errno
import hashlib
import io
import json
import os
import time
from pathlib import Path

import pandas
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import DataError, UserError
from engine.text.table import Table, read_table, write_csv

SPECTRUM = Path(__file__).parents[2] / "data" / "csv_spectrum"
TORTURE = "csv_torture/derived_from_real/"
# file: encoding, separator, quoting, columns, rows; then a row, its line, and how its cells begin
# fmt: off
REAL = {
    TORTURE + "bbc300_duplicate_headers.csv": (
        ("utf-8", ",", "csv", ("text", "category", "text (2)", "category (2)"), 300),
        (0, 2, ("moore questions captaincy", "sport", "moore questions captaincy", ""))),
    TORTURE + "bbc500_embedded_newlines_quotes.csv": (("utf-8", ",", "csv", ("category", "text"), 500),
        (1, 10, ("sport", "O'Leary agrees new Villa contract\n\nAston Villa"))),
    TORTURE + "bbc600_missing_and_dirty_labels.csv": (("utf-8", ",", "csv", ("text", "category"), 600),
        (599, 601, ("nintendo ds aims", "tech"))),
    TORTURE + "bbc_huge_field_400kB.csv": (("utf-8", ",", "csv", ("text", "category"), 2),
        (1, 3, ("india opens skies", "business"))),
    # its one foreign letter reads alike in latin-1 and cp1252
    TORTURE + "trec_qc_latin1_alwaysquoted.csv": (
        ("cp1252", ",", "csv", ("coarse", "fine", "question"), 5452),
        (65, 67, ("LOC", "city", "Which city has the oldest relationship as a sisterðcity"))),
    TORTURE + "waimai_gb18030.csv": (("gb18030", ",", "csv", ("label", "review"), 6000),
        (188, 190, ("1", "就是配送大哥忘记给我拿吸管了⋯⋯其他都很棒。"))),
    # what GBK lacks was left out when it was written
    TORTURE + "waimai_gbk_ignore.csv": (("gb18030", ",", "csv", ("label", "review"), 6000),
        (188, 190, ("1", "就是配送大哥忘记给我拿吸管了其他都很棒。"))),
    TORTURE + "waimai_utf16_bom_semicolon.csv": (("utf-16-le", ";", "csv", ("label", "review"), 6000),
        (0, 2, ("1", "很快，好吃，味道足，量大"))),
    TORTURE + "waimai_utf16be_nobom.csv": (("utf-16-be", ",", "csv", ("label", "review"), 6000),
        (0, 2, ("1", "很快，好吃，味道足，量大"))),
    TORTURE + "waimai_utf8_bom_tab.csv": (("utf-8", "\t", "csv", ("label", "review"), 6000),
        (5029, 5031, ("", "送餐时间很准时，但“酸豆角焖肉饭”名字有点误导人"))),
    TORTURE + "xquad_de_cp1252_semicolon.csv": (
        ("cp1252", ";", "csv", ("title", "context", "question"), 1190),
        (3, 5, ("Super_Bowl_50", "Die Verteidigung", "Wie viele Bälle fing Josh Norman ab?"))),
    "mrpc/msr_paraphrase_train.txt": (
        ("utf-8", "\t", "none", ("Quality", "#1 ID", "#2 ID", "#1 String", "#2 String"), 4076),
        (20, 22, ("", "", "", '"I think you\'ll see a lot of job growth', ""))),
    "chnsenticorp/train.tsv": (("utf-8", "\t", "none", ("label", "text_a"), 9600),
        (9599, 9601, ("0", "跟心灵鸡汤没什么本质区别嘛"))),
    "chnsenticorp/dev.tsv": (("utf-8", "\t", "none", ("label", "text_a"), 1200),
        (1199, 1201, ("0", "5月8日付款成功"))),
    "lcqmc/dev.txt": (("utf-8", "\t", "none", ("column 1", "column 2", "column 3"), 8802),
        (8801, 8802, ("不想学习，没有动力，怎么办", "不想学习怎么办啊，没动力", "1"))),
    "sst2/train.tsv": (("utf-8", "\t", "none", ("column 1", "column 2"), 6920),
        (0, 1, ("a stirring , funny", "1"))),
    "sst2/dev.tsv": (("utf-8", "\t", "none", ("column 1", "column 2"), 872),
        (0, 1, ("one long string", "0"))),
    "thucnews/dev.txt": (("utf-8", "\t", "none", ("column 1", "column 2"), 10000),
        (9999, 10000, ("西甲-瓦伦西亚3比0胜皇马", "7"))),
    "polarity/sentence_polarity.csv": (("utf-8", ",", "csv", ("label", "text"), 10662),
        (10661, 10663, ("neg", "enigma is well-made , but"))),
    "bbc_news/bbc-text.csv": (("utf-8", ",", "csv", ("category", "text"), 2225),
        (2224, 2226, ("sport", "ferguson fears milan cutting edge"))),
}
# fmt: on


def real(name: str) -> Path:
    folder = os.environ.get("CLOZE_DATA", "")
    if not folder or not (Path(folder) / name).is_file():
        pytest.skip("needs the real data: the environment variable CLOZE_DATA names no folder with " + name)
    return Path(folder) / name


def table_of(folder: Path, content: str | bytes, name: str = "table.csv", **overrides: str) -> Table:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table(path, **overrides)


def refusal_of(folder: Path, content: str | bytes, name: str = "table.csv", **overrides: str) -> str:
    with pytest.raises(DataError) as caught:
        table_of(folder, content, name, **overrides)
    return str(caught.value)


def reports_of(table: Table) -> list[tuple[int, str]]:
    return [(bad.line, str(bad.sentence)) for bad in table.reported]


def cells_of(table: Table) -> list[list[str]]:
    return [list(row) for row in table.frame.itertuples(index=False)]


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_a_real_file_reads_as_its_bytes_say(name: str) -> None:
    path = real(name)
    table = read_table(path)
    how = table.format
    expected, (row, line, starts) = REAL[name]
    assert (how.encoding, how.separator, how.quoting, table.columns, table.num_rows) == expected
    assert table.lines[row] == line
    cells = table.frame.iloc[row]
    assert all(cell.startswith(start) for cell, start in zip(cells, starts, strict=True)), list(cells)
    assert table.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_no_row_of_a_real_file_is_lost(name: str) -> None:
    path = real(name)
    table = read_table(path)
    text = path.read_bytes().decode(table.format.encoding)
    if table.format.quoting == "none":
        num_records = sum(line != "" for line in text.split("\n"))
    else:
        before = csv.field_size_limit(10**9)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=table.format.separator)
        num_records = sum(record != [] for record in reader)
        csv.field_size_limit(before)
    assert not table.reported and num_records - table.format.has_header == table.num_rows


@pytest.mark.slow
def test_one_text_in_four_encodings_is_one_table() -> None:
    names = ["waimai_gb18030", "waimai_utf16_bom_semicolon", "waimai_utf16be_nobom", "waimai_utf8_bom_tab"]
    first, *others = (read_table(real(f"{TORTURE}{name}.csv")).frame for name in names)
    assert all(first.equals(other) for other in others)


def test_dirty_labels_and_huge_cells_stay_as_they_are() -> None:
    dirty = read_table(real(TORTURE + "bbc600_missing_and_dirty_labels.csv")).frame.category
    assert (dirty == "").sum() == 86 and (dirty == "SPORT ").sum() == 11
    assert read_table(real(TORTURE + "bbc_huge_field_400kB.csv")).frame["text"].map(len).max() == 446617


def test_mrpc_with_csv_quoting_reports_what_plain_reading_keeps() -> None:
    table = read_table(real("mrpc/msr_paraphrase_train.txt"), quoting="csv")
    assert table.num_rows < 4076 and len(table.reported) > 400
    assert "quoting to none" in str(table.reported[0].sentence)


@pytest.mark.parametrize("path", sorted((SPECTRUM / "csvs").glob("*.csv")), ids=lambda path: path.stem)
def test_csv_spectrum_reads_as_its_json_says(path: Path) -> None:
    expected = json.loads((SPECTRUM / "json" / f"{path.stem}.json").read_bytes())
    if path.stem == "location_coordinates":  # an object, and its number is not the one in the CSV
        expected = [{**expected, "Contact Phone Number": "2095257564"}]
    table = read_table(path)
    assert table.frame.to_dict("records") == expected
    assert table.format.has_header and not table.reported


def test_a_record_of_the_wrong_width_is_reported_by_its_line(tmp_path: Path) -> None:
    table = table_of(tmp_path, 'text,label\n"two\nlines",1\n\ngood,0\na,b,c\nalone\nlast,1\n')
    assert cells_of(table) == [["two\nlines", "1"], ["good", "0"], ["last", "1"]]
    assert list(table.lines) == [2, 5, 8]
    assert reports_of(table) == [
        (6, "Line 6 has 3 columns; the header has 2. Check the separator."),
        (7, "Line 7 has 1 column; the header has 2. Check the separator."),
    ]


def test_an_unclosed_quote_is_reported_and_the_rows_after_it_are_kept(tmp_path: Path) -> None:
    rows = "".join(f'row {number},"n, {number}"\n' for number in range(30))
    table = table_of(tmp_path, f'text,label\n{rows}bad,"never closed\nafter,1\nlast,0\n')
    sentence = "The quote that opens in line 32 is never closed. Close it, or set quoting to none."
    assert reports_of(table) == [(32, sentence)]
    assert table.num_rows == 32 and cells_of(table)[-2:] == [["after", "1"], ["last", "0"]]


def test_a_lost_quote_does_not_swallow_the_rows_up_to_the_next_quote(tmp_path: Path) -> None:
    rows = "".join(f'"text {number}","n, {number}"\n' for number in range(30))
    table = table_of(tmp_path, f'"text","label"\n{rows}"lost,x\nplain,1\nplain,2\n"closed, here",3\n')
    assert table.num_rows == 33
    [(line, sentence)] = reports_of(table)
    assert line == 32 and "opens in line 32 closes in the middle of a cell, in line 35" in sentence


def test_a_few_badly_quoted_cells_do_not_undo_the_quoting_of_all(tmp_path: Path) -> None:
    table = table_of(tmp_path, '"text","label"\n"He said "hi" there","1"\n"fine","0"\n')
    assert cells_of(table) == [["fine", "0"]] and reports_of(table)[0][0] == 2


def test_a_first_line_that_holds_a_label_is_no_header(tmp_path: Path) -> None:
    assert not table_of(tmp_path, "good,pos\nbad,neg\nnice,pos\nok,neg\n").format.has_header
    assert table_of(tmp_path, "remark,verdict\nbad,neg\nnice,pos\n").format.has_header


def test_an_unreadable_header_is_refused_unless_there_is_none(tmp_path: Path) -> None:
    content = '"text,label\nfine,1\n'
    assert "quote that opens in line 1" in refusal_of(tmp_path, content, quoting="csv")
    table = table_of(tmp_path, content, quoting="csv", header="no")
    assert cells_of(table) == [["fine", "1"]] and [line for line, _ in reports_of(table)] == [1]


def test_cells_are_text_as_it_stands(tmp_path: Path) -> None:
    table = table_of(tmp_path, "text,label\nNA,null\n,007\n 1.50 ,nan\na\0b,\n")
    assert cells_of(table) == [["NA", "null"], ["", "007"], [" 1.50 ", "nan"], ["a\0b", ""]]
    assert all(type(cell) is str for row in cells_of(table) for cell in row)


def test_same_and_empty_names_become_unique_and_this_is_noted(tmp_path: Path) -> None:
    table = table_of(tmp_path, "text,,text (2),text,text\na,b,c,d,e\n")
    assert table.columns == ("text", "column 2", "text (2)", "text (3)", "text (4)")
    [note] = table.notes
    assert str(note) == "Some columns have the same name. They are called text (3), text (4)."
    assert table.column("2") == table.column(2) == "column 2" and table.column("text") == "text"
    with pytest.raises(DataError, match="no column label"):
        table.column("label")


def test_texts_full_of_commas_are_one_column(tmp_path: Path) -> None:
    lines = ["Well, I never, ever saw this.", "A film", "Dull, long", "One, two, three, four", "So it ends."]
    table = table_of(tmp_path, "\n".join(lines))
    assert (table.format.separator, table.columns) == ("", ("column 1",))
    assert list(table.frame["column 1"]) == lines
    assert table_of(tmp_path, "text\n" + "\n".join(lines)).columns == ("text",)


def test_an_override_wins_over_what_was_detected(tmp_path: Path) -> None:
    content = 'first,second\n"a;b",c\n'
    assert cells_of(table_of(tmp_path, content, header="no")) == [["first", "second"], ["a;b", "c"]]
    assert cells_of(table_of(tmp_path, content, quoting="none")) == [['"a;b"', "c"]]
    wrong = table_of(tmp_path, content, separator="|", header="yes")
    assert wrong.columns == ("first,second",) and "Line 1 holds no '|'" in str(wrong.notes[0])
    accents = "café,1\n".encode("cp1252") * 3
    assert table_of(tmp_path, accents, encoding="iso8859-2").frame.iloc[0, 0] == "café"


def test_a_wrong_override_is_refused_with_the_line(tmp_path: Path) -> None:
    latin = "text,label\nfine,1\ncafé,1\n".encode("cp1252")
    assert "Line 3 of" in refusal_of(tmp_path, latin, encoding="utf-8")
    assert "Line 1 of" in refusal_of(tmp_path, latin, encoding="utf-16")
    assert "no encoding named klingon" in refusal_of(tmp_path, latin, encoding="klingon")
    assert "no encoding named base64" in refusal_of(tmp_path, latin, encoding="base64")
    assert "separator is '#'" in refusal_of(tmp_path, latin, separator="#")
    assert "Line 2 has 3 columns" in refusal_of(tmp_path, "a,b\n1,2,3\n4,5,6\n", header="yes")


def words_of(table: Table) -> list[str]:
    return [str(note) for note in table.notes]


@pytest.mark.parametrize(
    ("content", "count"),
    [
        ("text,label\r" + "good film,pos\rbad film,neg\r" * 100 + "last,pos\n", 201),  # one final LF
        ("text,label\r" + "good film,pos\r" * 9 + "bad film,neg\n" + "so so,pos\r" * 9, 19),
        ("text,label\r" + '"two\nlines",pos\rbad,neg\r' * 40, 80),  # Excel for Mac
        ("text,label\n" + '"two\r\nlines",pos\n"a\rb",neg\n' * 40, 80),
        ("text,label\r\n" + "a b,pos\r\n" * 5 + "c d,neg\n" * 5 + "e f,pos\r" * 5, 15),
        ("text\tlabel\n" + "a b\tpos\n" * 5 + "c d\tneg\r" * 5 + "e\tpos\r\n", 11),
        ("text,label\r\r\n" + "a b,pos\r\r\n" * 5, 5),  # a line end that was translated twice
        ("text\rone here\rtwo here\nthree here\r", 3),
    ],
)
def test_a_mixture_of_line_ends_loses_and_merges_no_row(tmp_path: Path, content: str, count: int) -> None:
    table = table_of(tmp_path, content)
    assert table.num_rows == count and not table.reported
    expected = csv.reader(io.StringIO(content, newline=""), delimiter=table.format.separator or ",")
    assert cells_of(table) == [row for row in expected if row][1:]


def test_a_lone_carriage_return_in_the_middle_of_a_row_is_text_and_is_told(tmp_path: Path) -> None:
    rows = "fine film,pos\nbad film,neg\n" * 20
    table = table_of(tmp_path, f"text,label\n{rows}broken\rin two,pos\n{rows}")
    assert table.num_rows == 81 and not table.reported
    assert ["broken\rin two", "pos"] in cells_of(table)
    assert words_of(table) == [
        "The row in line 42 contains a line break that does not end the row, and is kept whole."
    ]


@pytest.mark.parametrize("inner", ["\n", "\r", "\r\n"])
@pytest.mark.parametrize("outer", ["\n", "\r", "\r\n"])
def test_cells_of_several_lines_stay_whole_though_each_line_looks_like_a_row(
    tmp_path: Path, outer: str, inner: str
) -> None:
    rows = [f'"one, of row {row}{inner}and the rest",{row % 2}' for row in range(13)]
    table = table_of(tmp_path, outer.join(["text,label", *rows, ""]))
    assert table.num_rows == 13 and not table.reported
    assert table.frame["text"].iloc[5].split() == ["one,", "of", "row", "5", "and", "the", "rest"]


@pytest.mark.parametrize(
    ("above", "line"),
    [
        ("sep=;\n", 2),
        ('"sep=;"\r\n', 2),
        ("Answers of the survey\n\n", 3),
        ("# made by a tool\n# in 2020; twice\n", 3),
        ("Answers, 2020\nof all people\n\n\n", 5),
        ("Answers;;\n;;\n", 3),
    ],
)
def test_a_header_below_a_title_or_comments_is_found_and_told(tmp_path: Path, above: str, line: int) -> None:
    content = f"{above}id;text;label\n1;good film;pos\n2;bad film;neg\n3;x;pos\n"
    table = table_of(tmp_path, content)
    assert table.columns == ("id", "text", "label") and table.num_rows == 3 and not table.reported
    assert (table.format.separator, table.format.header_line) == (";", line)
    assert list(table.lines) == [line + 1, line + 2, line + 3]
    [note] = words_of(table)
    assert above.strip().split("\n")[0].strip(";")[:9] in note
    again = read_table(table.path, header=str(line), separator=";")
    assert again.columns == table.columns and list(again.lines) == list(table.lines)


def test_the_header_is_the_line_that_a_person_names(tmp_path: Path) -> None:
    content = "old,names\nnew,heads\n\na,b\nc,d\n"
    table = table_of(tmp_path, content, header="2")
    assert table.columns == ("new", "heads") and cells_of(table) == [["a", "b"], ["c", "d"]]
    assert table.format.header_line == 2 and list(table.lines) == [4, 5]
    assert words_of(table) == ["The header is line 2. Lines above it are not read as rows: “old,names”."]
    assert table_of(tmp_path, content, header="1").num_rows == 3
    assert "Line 3 of" in refusal_of(tmp_path, content, header="3")
    assert "has 5 lines, so line 9 cannot be its header" in refusal_of(tmp_path, content, header="9")
    assert "header is '0'" in refusal_of(tmp_path, content, header="0")


def test_a_quote_in_a_title_does_not_hide_the_header_that_is_named(tmp_path: Path) -> None:
    table = table_of(tmp_path, '"Unclosed title\ntext,label\n"good, film",pos\n', header="2")
    assert cells_of(table) == [["good, film", "pos"]]


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (  # Spark
            'text,label\n"He said \\"hi, you\\"",pos\n"a \\\\ b",neg\n"C:\\new",pos\n' + '"x, y",neg\n' * 3,
            [['He said "hi, you"', "pos"], ["a \\ b", "neg"], ["C:\\new", "pos"]] + [["x, y", "neg"]] * 3,
        ),
        (  # MySQL
            'text\tlabel\nhas\\\ttab\tpos\nhas\\\nline\tneg\n"quoted" word\t\\N\n' + "x\tneg\n" * 3,
            [["has\ttab", "pos"], ["has\nline", "neg"], ['"quoted" word', ""]] + [["x", "neg"]] * 3,
        ),
    ],
)
def test_backslash_escapes_are_found_and_can_be_asked_for(
    tmp_path: Path, content: str, rows: list[list[str]]
) -> None:
    for quoting in ("", "backslash"):
        table = table_of(tmp_path, content, quoting=quoting)
        assert cells_of(table) == rows and not table.reported
        assert table.format.quoting == "backslash" and "backslash escapes" in str(table.format)
    assert table_of(tmp_path, content, quoting="csv").format.quoting == "csv"


def test_backslashes_that_escape_nothing_are_text(tmp_path: Path) -> None:
    content = 'text,label\n"C:\\",pos\n"a, b\\c",neg\nd\\,pos\n'
    table = table_of(tmp_path, content)
    assert table.format.quoting == "csv"
    assert cells_of(table) == [["C:\\", "pos"], ["a, b\\c", "neg"], ["d\\", "pos"]]


@pytest.mark.slow
def test_quotes_that_never_match_take_no_longer_than_a_few_passes(tmp_path: Path) -> None:
    began = time.process_time()
    content = "text,label\n" + 'a","""\n' * 100_000  # each line leaves a quote open, wherever it is read from
    for quoting in ("csv", "backslash"):
        with contextlib.suppress(DataError):
            table = table_of(tmp_path, content, quoting=quoting)
            assert table.num_rows + len(table.reported) == 100_000
    assert time.process_time() - began < 20


@pytest.mark.parametrize(
    ("encoding", "text", "found"),
    [
        ("latin-1", "texte,avis\nça va très bien,pos\nune nièce déçue,neg\n", "cp1252"),
        ("cp1251", "текст,класс\nэто очень хороший фильм,1\nмне не понравилось,0\n", "cp1251"),
        ("gb18030", "好,1\n坏,0\n", "gb18030"),
        ("big5", "文字,1\n這間酒店環境和服務態度亦算不錯但房間空間太小不宜容納太大件行李,0\n", "big5"),
        ("euc-kr", "이 영화는 정말 재미있었고 배우들의 연기가 훌륭했다,1\n별로였다,0\n", "cp949"),
        ("cp1252", "texto,classe\nmuita emoção e ação,1\nnão é mau até à canção,0\n", "cp1252"),
        ("cp1252", "tekst,mening\nfilmen var rørende,1\nærgerligt at så lidt skete,0\n", "cp1252"),
        ("cp1250", "tekst,klasa\nfilm był bardzo długi,1\nwidziałem go na początku,0\n", "cp1250"),
        ("cp1250", "szöveg,jegy\nnagyon jó volt és őrült,1\nhosszú és unalmas,0\n", "cp1250"),
        ("cp1254", "metin,sınıf\nçok güzeldi ama sıkıcı,1\nizlemeye değmez şarkı,0\n", "cp1254"),
        ("cp1257", "teksts,klase\nfilma bija pārāk gara,1\nbērniem tā patīk ļoti,0\n", "cp1257"),
        ("cp1257", "tekstas,klasė\nfilmas buvo per ilgas,1\nvaikai jį įsimylėjo šeštadienį,0\n", "cp1257"),
        ("utf-16-le", "好,1\n坏,0\n", "utf-16-le"),
        ("utf-32-be", "好,1\n坏,0\n", "utf-32-be"),
        ("utf-32", "good,1\nbad,0\n", "utf-32-le"),
    ],
)
def test_an_encoding_is_found_without_help(tmp_path: Path, encoding: str, text: str, found: str) -> None:
    table = table_of(tmp_path, text.encode(encoding))
    assert table.format.encoding == found
    assert [",".join(cells) for cells in cells_of(table)][-1] == text.splitlines()[-1]


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030"])
def test_damaged_bytes_cost_only_their_own_row(tmp_path: Path, encoding: str) -> None:
    good = "这个酒店的服务很好,1\n我不喜欢这里的早餐,0\n".encode(encoding) * 20
    table = table_of(tmp_path, b"text,label\n" + good + b"\xff,1\n" + good)
    assert table.format.encoding == encoding and table.num_rows == 80
    [(line, sentence)] = reports_of(table)
    assert line == 42 and "Line 42 holds bytes that are not" in sentence


def test_json_lines_are_rows_and_bad_ones_are_reported(tmp_path: Path) -> None:
    lines = [
        '{"text": "a\\u2028b\u2028c", "label": 1.50}',
        "",
        '{"text": "two", "label": 2',
        '["no", "row"]',
        '{"label": null, "meta": {"n": [1e3, "é"], "ok": true}}',
        '{"text": "x", "text": "y"}',
        '{"text": "\\ud83d"}',
        '{"text": ' + "[" * 100_000 + "}",
        '{"text": "last"} {}',
    ]
    table = table_of(tmp_path, "\n".join(lines), "rows.jsonl")
    assert table.format.kind == "jsonl" and table.columns == ("text", "label", "meta")
    assert cells_of(table) == [["a\u2028b\u2028c", "1.50", ""], ["", "", '{"n": [1e3, "é"], "ok": true}']]
    assert list(table.lines) == [1, 5]
    assert [line for line, _ in reports_of(table)] == [3, 4, 6, 7, 8, 9]
    assert all(f"Line {line} " in sentence for line, sentence in reports_of(table))
    assert table_of(tmp_path, lines[0], "rows.txt").format.kind == "jsonl"


def test_a_json_list_is_a_table_whatever_its_name(tmp_path: Path) -> None:
    content = '[\n {"text": "a, b",\n  "label": 1.50},\n\n {"label": null, "text": "c"}, 3]\n'
    for name in ("a.json", "a.txt", "a.csv"):
        table = table_of(tmp_path, content, name)
        assert table.columns == ("text", "label") and cells_of(table) == [["a, b", "1.50"], ["c", ""]]
        assert list(table.lines) == [2, 5] and [line for line, _ in reports_of(table)] == [5]
        assert str(table.format) == "UTF-8 · JSON objects"
    one_after_another = '{\n "text": "a"\n}\n{\n "text": "b"\n}\n'
    assert cells_of(table_of(tmp_path, one_after_another)) == [["a"], ["b"]]


@pytest.mark.parametrize(
    "content",
    [
        "[1] a paper\n[2] another\n",
        "text,label\n<b>bold</b> film,pos\n<i>x</i>,neg\n",
        "Alice: hello\nBob: well, hello\nAlice: bye\n",
        "- a list\n- of things\n- to do\n",
        "text\tlabel\nSELECT a film\tpos\nDROP TABLE it\tneg\n",
        "good pos\nbad neg\nnice pos\n\nugly neg\nso pos\nsad neg\n",
        "word\tB-side\nother\tA-side\n" * 9,
    ],
)
def test_an_ordinary_table_is_not_taken_for_another_format(tmp_path: Path, content: str) -> None:
    num_lines = sum(map(bool, content.split("\n")))
    table = table_of(tmp_path, content)
    assert table.num_rows + table.format.has_header == num_lines


def test_who_names_the_separator_is_not_asked_what_the_file_is(tmp_path: Path) -> None:
    content = "EU\tB-ORG\nrejects\tO\nGerman\tB-MISC\ncall\tO\n.\tO\n"
    assert "If it is a table after all, choose its separator." in refusal_of(tmp_path, content)
    assert table_of(tmp_path, content, separator="\t", header="no").num_rows == 5


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_stray_byte_at_the_end_costs_no_row_and_is_told(tmp_path: Path, encoding: str) -> None:
    for stray in (b"\n", b"\0"):
        table = table_of(tmp_path, "text,label\ngood film,1\nbad,0\n".encode(encoding) + stray)
        assert cells_of(table) == [["good film", "1"], ["bad", "0"]] and not table.reported
        assert any("ends within a character: its last byte is ignored" in note for note in words_of(table))


def test_half_a_character_of_utf_16_costs_its_own_row(tmp_path: Path) -> None:
    data = "text,label\ngood,1\nX,0\nbad,0\n".encode("utf-16").replace("X".encode("utf-16-le"), b"\0\xd8")
    table = table_of(tmp_path, data)
    assert cells_of(table) == [["good", "1"], ["bad", "0"]] and [line for line, _ in reports_of(table)] == [3]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b"\xef\xbb\xbf", "is empty"),
        ("a.csv", b"\r\n \n", "is empty"),
        ("a.csv", b"text,label\n", "has a header and no rows"),
        ("a.jsonl", b"{}\n{}\n", "has a header and no rows"),
        ("a.json", b'["a", "b"]', "a JSON list, but not of objects"),
        ("a.json", b'[{"text": "a"},\n {"text": ', "not valid JSON in line 2"),
        ("a.txt", b'{"text": "a",\n "label": "b"}', "one JSON object, not a list of rows"),
        ("a.json", b'{"rows": [{"text": "a"}, {"text": "b"}]}', "Its 'rows' is a list of 2 objects"),
        ("a.json", b'{"text": {"0": "a", "1": "b"}, "label": {"0": 1, "1": 0}}', "a list for each column"),
        ("a.csv", b"<!DOCTYPE html>\n<html><body>No, no</body></html>\n", "a web page (HTML)"),
        ("a.csv", b"<!-- saved -->\n<html lang=en>\n", "a web page (HTML)"),
        ("a.csv", b'<?xml version="1.0"?>\n<rows><row a="1"/></rows>\n', "is XML"),
        ("a.txt", b"<rows>\n<row>a</row>\n<row>b</row>\n</rows>\n", "is XML"),
        (
            "a.csv",
            b"<p>good</p>,1\n<p>bad</p>,0\n<p>fine</p>,1\n",
            "table after all, choose its separator",
        ),
        ("a.txt", b"- text: good, film\n  label: pos\n- text: bad\n  label: neg\n", "is YAML"),
        ("a.yaml", b"text: good\nlabel: pos\n", "is YAML"),
        ("a.sql", b"-- dump\nCREATE TABLE a (t text);\nINSERT INTO a VALUES ('x', 1);\n", "SQL statements"),
        ("a.csv", b"INSERT INTO a VALUES ('x', 1);\nINSERT INTO a VALUES ('y', 2);\n", "SQL statements"),
        ("a.pkl", b"\x80\x04\x95\x10\0\0\0", "a Python pickle"),
        ("a.csv", b"(lp0\n(dp1\nVtext\np2\n", "a Python pickle"),
        ("a.npy", b"\x93NUMPY\x01\0v\0", "a NumPy array"),
        ("a.db", b"SQLite format 3\0\x10\0", "an SQLite database"),
        ("a.gz", b"\x1f\x8b\x08\0", "a compressed file, not a text table. Unpack it first."),
        ("a.csv", bytes(1 << 17), "does not hold text"),
        (
            "a.conll",
            b"EU B-ORG\nrejects O\nGerman B-MISC\ncall O\n. O\n\nPeter B-PER\n",
            "task token-labels",
        ),
        ("a.txt", "我 O\n爱 O\n北 B-LOC\n京 I-LOC\n。 O\n".encode() * 9, "task token-labels"),
        ("a.tsv", b"1\tThe\tDET\n2\tcat\tNOUN\n3\tsat\tVERB\n4\t.\tPUNCT\n\n" * 9, "task token-labels"),
        ("a.csv", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG picture"),
        ("a.xlsx", b"PK\x03\x04\x14\0\x06\0\x08\0", "an Excel workbook"),
        ("a.parquet", b"PAR1\x15\x04\x15", "a Parquet file"),
        ("a.csv", bytes(range(256)) * 40, "does not hold text"),
        ("a.csv", b"a," * 10_001 + b"\n", "10002 columns, but at most 10000"),
    ],
)
def test_what_is_no_table_is_refused_in_one_sentence(
    tmp_path: Path, name: str, content: bytes, sentence: str
) -> None:
    assert sentence in refusal_of(tmp_path, content, name)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("squad/xquad.en.json", "data for question answering"),
        ("squad/tiny-dev-v2.0.json", "data for question answering"),
        ("cmrc2018/cmrc2018_trial.json", "data for question answering"),
        ("cloze_chinese/cmrc2019_trial.json", "is one JSON object"),
        ("conll2003/train.txt", "task token-labels"),
        ("conll2003/valid.txt", "task token-labels"),
        ("wnut17/wnut17train.conll", "task token-labels"),
        ("wnut17/emerging.dev.conll", "task token-labels"),
        ("ud_chinese/dev.conllu", "task token-labels"),
        ("entity_f1/ground_truth.txt", "task token-labels"),
    ],
)
def test_real_files_of_other_tasks_say_which(name: str, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence) as refused:
        read_table(real(name))
    assert len(str(refused.value)) < 600


def test_a_file_that_cannot_be_opened_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(DataError, match="There is no file"):
        read_table(tmp_path / "none.csv")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(DataError, match="not an ordinary file"):
            read_table(tmp_path / "pipe")

    def refuse(*_: object) -> None:  # root may read anything, so the refusal is made here
        raise PermissionError(errno.EACCES, "Permission denied")

    (tmp_path / "mine.csv").write_text("a,b\n1,2\n")
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(DataError, match="You may not read"):
        read_table(tmp_path / "mine.csv")


def test_the_format_is_told_in_words_and_reads_the_same_again(tmp_path: Path) -> None:
    table = table_of(tmp_path, "\ntext\tlabel\n\"a\" b\t1\n'c'\t0\n")
    how = table.format
    assert str(how) == "UTF-8 · tab · quotes are plain text · header in line 2"
    again = read_table(table.path, encoding="utf-8", separator=how.separator, quoting=how.quoting)
    assert again.format == how and again.frame.equals(table.frame)


def test_write_csv_guards_text_that_a_spreadsheet_would_run(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    starts = ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "\0x", "\nx", " =1", "\u00a0=1", "\u3000=1", "\ufeff=1"]
    starts += ["\u200b=1", "\uff1d1", "\uff0b1", "\uff0d1", "\uff20x", " \uff1d1", "\x01=1", "\ufe661"]
    rows = [(text, -0.5, None) for text in [*starts, "fine", "1=1", " fine"]]
    write_csv(path, ["=text", "number", "-p"], rows, exempt={"-p"})
    table = read_table(path, header="yes")
    assert table.columns == ("'=text", "number", "-p")
    assert cells_of(table) == [
        [text, "-0.5", ""] for text in [*("'" + s for s in starts), "fine", "1=1", " fine"]
    ]
    write_csv(path, ["text", "p"], pandas.DataFrame({"p": ["-0.5"], "text": ["=1"]}), guard=False, bom=True)
    assert path.read_bytes() == b"\xef\xbb\xbftext,p\r\n=1,-0.5\r\n"


def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")
    for number, words in ((errno.ENOSPC, "disk is full"), (errno.EROFS, "it is read-only")):

        def fail(_: int, number: int = number) -> None:
            raise OSError(number, os.strerror(number))

        with monkeypatch.context() as patch, pytest.raises(UserError, match=words):
            patch.setattr(os, "fsync", fail)
            write_csv(path, ["a"], [["new"]])
    with pytest.raises(DataError, match="half a character"):
        write_csv(path, ["a"], [["\ud83d"]])
    with pytest.raises(DataError, match="There is no folder"):
        write_csv(tmp_path / "none" / "out.csv", ["a"], [["new"]])
    with pytest.raises(DataError, match="is a folder. Name a file"):
        write_csv(tmp_path, ["a"], [["new"]])
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


CELLS = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from('",;\t\r\n\0= '), max_size=6)


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=1)))
def test_what_is_written_is_read_back(tmp_path: Path, rows: list[list[str]]) -> None:
    path = tmp_path / "round.csv"
    names = [f"text {number}" for number in range(len(rows[0]))]
    write_csv(path, names, rows, guard=False)
    table = read_table(path, encoding="utf-8", separator=",", quoting="csv", header="yes")
    assert table.columns == tuple(names) and cells_of(table) == rows and not table.reported


@pytest.mark.slow
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.sampled_from('ab1",;\t\r\n é好'), max_size=60) | st.binary(max_size=40))
def test_any_bytes_become_a_table_or_one_sentence(tmp_path: Path, content: str | bytes) -> None:
    try:
        table = table_of(tmp_path, content)
    except DataError as refused:
        assert str(refused).endswith((".", "}", "?"))
    else:
        assert table.num_rows == len(table.frame) and (table.lines[1:] > table.lines[:-1]).all()
        assert all(1 <= bad.line <= 61 for bad in table.reported)


def test_yaml_whose_items_are_indented_is_no_table(tmp_path: Path) -> None:
    items = "".join(f"  - text: row {row}\n    label: pos\n" for row in range(13))
    assert "is YAML" in refusal_of(tmp_path, f"name: films\nitems:\n{items}")
