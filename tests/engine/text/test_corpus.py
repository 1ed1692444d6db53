"""From files to documents: layouts, encodings, packed files, tables, repeats, and what is refused."""

from __future__ import annotations

import gzip
import itertools
import json
import lzma
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import ConfigError, DataError, UserError
from engine.events import Event, Progress
from engine.text.corpus.corpus import Corpus, CorpusReport, Document, find_files, look
from engine.text.reading.text_file import file_size, hash_steps, read_head
from engine.text.repeats import Repeats, line_hashes

PARAGRAPHS = "A title\nOne here. Two here.\nThree. Four!\n\nAnother title\nFive and 5.5. Six?\n"
DOCUMENTS = [
    [["A title"], ["One here.", "Two here."], ["Three.", "Four!"]],
    [["Another title"], ["Five and 5.5.", "Six?"]],
]


def put(folder: Path, text: str | bytes, name: str = "a.txt") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read(path: Path, **settings: object) -> list[Document]:
    return list(Corpus((path,), **settings).documents())  # type: ignore[arg-type]


def report(corpus: Corpus) -> CorpusReport:
    def drain(task: Generator[Event, None, CorpusReport]) -> Generator[Event, None, None]:
        found.append((yield from task))

    found: list[CorpusReport] = []
    assert all(isinstance(event, Progress) for event in drain(look(corpus)))
    return found[0]


def test_a_paragraph_a_line_becomes_documents_of_paragraphs_of_sentences(tmp_path: Path) -> None:
    assert read(put(tmp_path, PARAGRAPHS)) == DOCUMENTS
    assert read(put(tmp_path, PARAGRAPHS), layout="lines") == [[p] for d in DOCUMENTS for p in d]


def test_a_sentence_a_line_stays_as_it_is_and_is_told_from_paragraphs(tmp_path: Path) -> None:
    text = "This is one.\nDr. No is two\n\n\nAnother text.\nIts second.\n"
    assert read(put(tmp_path, text)) == [
        [["This is one.", "Dr. No is two"]],
        [["Another text.", "Its second."]],
    ]


def test_lines_of_several_sentences_without_a_blank_line_are_documents_of_their_own(tmp_path: Path) -> None:
    first = put(tmp_path, "Great film. Loved it.\nBad film. Hated it.\n")
    assert read(first) == [[["Great film.", "Loved it."]], [["Bad film.", "Hated it."]]]
    both = Corpus((first, put(tmp_path, "One story. It goes on.\nAnd on. It ends.\n", "b.txt")))
    assert [len(document) for document in both.documents()] == [2, 2]  # short files: a document each


def test_lines_broken_at_a_width_are_joined_up_to_the_next_blank_line(tmp_path: Path) -> None:
    lines = [
        "It was the best of times, it was the worst",
        "of times, it was the age of wisdom, it was",
        "the age of it.",
    ]
    text = "\n".join([*lines, "", *lines, "", *lines, "", *lines])
    assert read(put(tmp_path, text)) == [[[" ".join(lines)]] * 4]


def test_documents_of_wikitext_begin_at_its_titles(tmp_path: Path) -> None:
    lines = [
        "",
        "= Crab =",
        "",
        "Crabs walk . They swim .",
        "",
        "= = Legs = =",
        "",
        "Ten .",
        "",
        "= Lobster =",
        "Red .",
    ]
    assert read(put(tmp_path, "".join(f" {line} \n" for line in lines))) == [
        [["Crab"], ["Crabs walk .", "They swim ."], ["Legs"], ["Ten ."]],
        [["Lobster"], ["Red ."]],
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "gb18030"])
def test_encodings_and_line_ends_do_not_change_the_documents(tmp_path: Path, encoding: str, end: str) -> None:
    text = "标题 (A B C)\n他说的是这样。我们不知道。\n\n第二\n这里有三个人。没有了。\n"
    found = read(put(tmp_path, text.replace("\n", end).encode(encoding)))
    assert found == [
        [["标题 (A B C)"], ["他说的是这样。", "我们不知道。"]],
        [["第二"], ["这里有三个人。", "没有了。"]],
    ]


@pytest.mark.parametrize("size", [1, 2, 3, 1 << 20])
@pytest.mark.parametrize("ends", ["\r\r\r\n", "\n\r\r\n", "\r\n\r"])
def test_a_mixture_of_line_ends_merges_no_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, ends: str
) -> None:
    monkeypatch.setattr("engine.text.reading.text_file._BLOCK", size)
    kinds = itertools.cycle(["\r\n" if end == "\n" else end for end in ends])
    mixed = "".join(line + next(kinds) for line in PARAGRAPHS.split("\n"))
    assert read(put(tmp_path, mixed)) == DOCUMENTS


@pytest.mark.parametrize("size", [3, 1 << 10, 1 << 21])
def test_a_file_reads_the_same_in_blocks_of_any_size_and_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr("engine.text.reading.text_file._BLOCK", size)
    text = ("Überschrift\nEin Satz für dich. Noch einer über 力加勝北区.\n\n" * 40).encode()
    expected = [[["Überschrift"], ["Ein Satz für dich.", "Noch einer über 力加勝北区."]]] * 40
    assert read(put(tmp_path, text)) == expected
    assert read(put(tmp_path, gzip.compress(text, mtime=0), "a.txt.gz")) == expected
    assert read(put(tmp_path, lzma.compress(text), "a.txt.xz")) == expected


def test_the_encoding_is_found_where_the_first_megabyte_ends_within_a_character(tmp_path: Path) -> None:
    for shift in range(4):
        text = "x" * shift + "好" * 400_000  # a line of 1.2 MB, with no line end to cut at
        assert read(put(tmp_path, text)) == [[[text]]]


def test_lines_and_documents_without_end_are_cut_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.text.reading.text_file._BLOCK", 1000)
    monkeypatch.setattr("engine.text.reading.text_file._MAX_LINE", 5000)
    monkeypatch.setattr("engine.text.corpus.layout.MAX_DOCUMENT", 9000)
    text = "some words without any stop " * 2000
    documents = read(put(tmp_path, text), layout="paragraphs")
    assert " ".join(s for d in documents for p in d for s in p).split() == text.split()
    assert max(len(s) for d in documents for p in d for s in p) <= 5000
    assert len(documents) > 3
    assert "longer than" in " ".join(map(str, report(Corpus((tmp_path / "a.txt",), "paragraphs")).notes))


@pytest.mark.parametrize(
    ("data", "settings", "sentence"),
    [
        (b"", {}, "{path} is empty. Choose a file with text."),
        (b" \n\t\n  \n", {}, "{path} holds only blanks. Choose a file with text."),
        (b"fine\nalso \xe9 fine, and more of it\n", {"encoding": "utf-8"}, "Line 2 of {path} is not utf-8."),
        ("好".encode() * 9 + b"\n" * 9 + b"\xff\n", {}, "Line 10 of {path} is not utf-8."),
        (b"\x89PNG\r\n\x1a\n" + bytes(99), {}, "{path} is a PNG picture, not plain text."),
        (bytes(range(256)) * 9, {}, "{path} holds no text, or its encoding is unclear."),
        (
            gzip.compress(b"text " * 999, mtime=0)[:-20],
            {},
            "{path} is truncated or damaged and cannot be unpacked.",
        ),
        (lzma.compress(b"text " * 999)[:-20], {}, "{path} is truncated or damaged and cannot be unpacked."),
        (b"text", {"encoding": "klingon"}, "There is no encoding named klingon."),
    ],
)
def test_what_is_no_text_is_refused_in_a_sentence(
    tmp_path: Path, data: bytes, settings: dict[str, str], sentence: str
) -> None:
    path = put(tmp_path, data)
    with pytest.raises(DataError) as refused:
        read(path, **settings)
    assert str(refused.value).startswith(sentence.format(path=path))


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b'{"data": [{"title": "A", "paragraphs": [{"context": "x", "qas": []}]}]}', "question answering"),
        (b"<!DOCTYPE html>\n<html><p>Hello there.</p></html>", "a web page (HTML)"),
        (b"\x80\x04\x95\x10\0\0\0", "a Python pickle"),
        (b'{"text": "a"}\n{"text": "b"}\n', "is a table. Name the column"),
        (b'[{"text": "a"}, {"text": "b"}]', "is a table. Name the column"),
        (b'{"a": [1, 2]}', "one JSON document"),
        (b"EU B-ORG\nrejects O\nGerman B-MISC\ncall O\n. O\n", "choose its layout"),
        (b"INSERT INTO a VALUES ('x');\n" * 9, "SQL statements"),
    ],
)
def test_markup_dumps_and_tables_are_no_prose(tmp_path: Path, data: bytes, sentence: str) -> None:
    for name in ("a.txt", "a.json"):
        with pytest.raises(DataError) as refused:
            read(put(tmp_path, data, name))
        assert sentence in str(refused.value)


@pytest.mark.parametrize("packed", [lambda text: text, gzip.compress])
def test_a_long_json_document_is_told_by_its_first_megabyte(tmp_path: Path, packed: Any) -> None:
    squad = {"data": [{"paragraphs": [{"context": "Some words. " * 50, "qas": []}] * 3000}]}
    with pytest.raises(DataError, match="question answering"):
        read(put(tmp_path, packed(json.dumps(squad).encode())))


def test_prose_that_looks_a_little_like_markup_is_read(tmp_path: Path) -> None:
    for text in (
        '<doc id="1" url="x">\nA title\n\nSome words here.\n</doc>\n',
        "---\ntitle: x\n---\nSome words here. And more of them.\nAgain.\nAnd again.\n",
        "[Applause] Thank you.\nThank you all.\n",
        "{Stage left} He goes.\nShe stays.\n",
    ):
        assert sum(len(paragraph) for document in read(put(tmp_path, text)) for paragraph in document) >= 2


def test_a_text_in_utf_16_with_a_stray_last_byte_is_read_and_this_is_told(tmp_path: Path) -> None:
    path = put(tmp_path, "One here.\nTwo there.\n".encode("utf-16") + b"\n")
    found = report(Corpus((path,)))
    assert found.num_sentences == 2 and "its last byte is ignored" in " ".join(map(str, found.notes))


def test_rows_of_a_table_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    path = put(tmp_path, "text,label\n" + "fine words,1\nso so,0\nso,1\nbroken\n" * 30, "t.csv")
    found = report(Corpus((path,), column="text"))
    [note] = [str(note) for note in found.notes if "cannot be used" in str(note)]
    assert found.num_documents == 90 and note.startswith("30 lines of t.csv cannot be used: 5, 9, 13")


def test_the_line_of_a_wrong_byte_is_named_wherever_it_is(tmp_path: Path) -> None:
    path = put(tmp_path, b"All is well here.\n" * 99_999 + b"na\xefve\n" + b"Well again.\n" * 9)
    with pytest.raises(
        DataError, match="Line 100000 of .* is not utf-8. Fix it, or choose another encoding."
    ):
        read(path)


def test_places_that_hold_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    table = put(tmp_path, "text\nfine\n", "t.csv")
    with pytest.raises(UserError, match="There is no file or folder .*nowhere. Check its name."):
        find_files([tmp_path / "nowhere"])
    with pytest.raises(UserError, match="There is no file or folder x+…x+. Check its name."):
        find_files(["x" * 5000])
    with pytest.raises(UserError, match="There is no text in .*empty. Choose files that end in .txt"):
        find_files([tmp_path / "empty"])
    with pytest.raises(UserError, match="t.csv is a table. Name the column"):
        find_files([table])
    with pytest.raises(DataError, match="There is no file"):
        read(tmp_path / "gone.txt")
    with pytest.raises(
        ConfigError, match="layout is 'prose'; it can be one of: paragraphs, sentences, lines"
    ):
        Corpus((table,), layout="prose")
    with pytest.raises(UserError, match="No text is chosen"):
        Corpus(())


@pytest.mark.parametrize("column", ["", "text"])
def test_a_pipe_or_a_device_is_refused_before_it_is_opened(tmp_path: Path, column: str) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("there are no pipes here")
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "zero.txt").symlink_to("/dev/zero")
    for name in ("pipe.txt", "zero.txt"):
        with pytest.raises(DataError, match="not an ordinary file but a pipe or a device"):
            find_files([tmp_path / name], column=column)
        for read_it in (read_head, file_size, lambda path: list(hash_steps(path))):
            with pytest.raises(DataError, match="not an ordinary file"):
                read_it(tmp_path / name)


def test_a_folder_gives_its_texts_in_order_and_no_hidden_or_other_files(tmp_path: Path) -> None:
    (tmp_path / "b" / ".git").mkdir(parents=True)
    names = ["z.txt", "a.md", "b/c.TXT", "b/d.text.gz", "x.py", "t.csv", ".hidden.txt", "b/.git/e.txt"]
    for name in names:
        put(tmp_path, b"x", name)
    relative = [str(path.relative_to(tmp_path)) for path in find_files([tmp_path])]
    assert relative == ["a.md", "b/c.TXT", "b/d.text.gz", "z.txt"]
    assert find_files([tmp_path / "x.py", tmp_path / "z.txt", tmp_path])[:2] == [
        tmp_path / "x.py",
        tmp_path / "z.txt",
    ]
    assert find_files([tmp_path], column="text") == [tmp_path / "t.csv"]


def test_each_cell_of_a_column_is_a_document(tmp_path: Path) -> None:
    path = put(tmp_path, 'id,text\n1,"One. Two.\n\nThree."\n2,\n3,Four\n', "t.csv")
    assert read(path, column="text") == [[["One.", "Two."], ["Three."]], [["Four"]]]
    with pytest.raises(DataError, match="has no column body. Its columns are: id, text."):
        read(path, column="body")


def test_the_fingerprint_follows_content_and_settings_but_not_the_place(tmp_path: Path) -> None:
    (tmp_path / "moved").mkdir()
    path = put(tmp_path, PARAGRAPHS)
    first = Corpus((path,)).fingerprint()
    assert json.loads(json.dumps(first)) == first
    assert Corpus((put(tmp_path / "moved", PARAGRAPHS),)).fingerprint() == first
    assert Corpus((path,), drop_repeated=True).fingerprint() != first
    put(tmp_path, PARAGRAPHS.replace("5.5", "5.6"))  # of the same length
    assert Corpus((path,)).fingerprint() != first
    assert [event.done for event in Corpus((path,)).hashed()][-1] == len(PARAGRAPHS)  # type: ignore[attr-defined]


def test_lines_that_differ_in_case_space_and_digits_alone_are_repeats(tmp_path: Path) -> None:
    lines = [
        "Page 12 of the  annual report",
        "A line that is there once only.",
        "page 7 of the annual REPORT",
        "Short line",
        "Short line",
        "Page 113 of the annual report",
        "Another line, which is there twice",
        "Another line, which is there twice",
    ]
    path = put(tmp_path, "\n\n".join(lines) + "\n")
    found = report(Corpus((path,), "lines"))
    assert (found.num_lines, found.num_repeated, found.repeated_share) == (8, 3, 3 / 8)
    assert found.most_repeated == ((lines[0], 3), (lines[6], 2))
    assert "3 lines (37.5%) repeat an earlier one almost exactly." in str(found.notes[-1])
    kept = [document[0][0] for document in read(path, layout="lines", drop_repeated=True)]
    assert kept == [lines[number] for number in (0, 1, 3, 4, 6)]
    assert report(Corpus((path,), "lines", drop_repeated=True)).num_documents == 5


def test_repeats_are_found_across_any_number_of_calls() -> None:
    rng = np.random.default_rng(7)
    values = rng.integers(0, 5000, 20_000).astype(np.uint64)
    repeats, seen = Repeats(), set[int]()
    for part in np.split(values, np.sort(rng.integers(0, len(values), 40))):
        expected = [value == 0 or (value not in seen and not seen.add(value)) for value in part.tolist()]
        assert repeats.first_seen(part).tolist() == expected


def test_hashes_of_lines_are_the_same_in_every_process() -> None:
    assert line_hashes(["A line long enough to count", "short"]).tolist() == [18252989207215291923, 0]


def test_a_look_counts_what_is_there(tmp_path: Path) -> None:
    found = report(Corpus((put(tmp_path, PARAGRAPHS), put(tmp_path, "", "b.txt"))))
    assert (found.num_files, found.num_documents, found.num_paragraphs, found.num_sentences) == (2, 2, 5, 8)
    assert found.num_characters == sum(len(s) for d in DOCUMENTS for p in d for s in p)
    assert (found.layout, found.encoding, found.num_bytes) == ("paragraphs", "utf-8", len(PARAGRAPHS))
    assert [str(note) for note in found.notes] == ["One file is empty and skipped."]


def test_a_look_notes_what_will_hurt_pretraining(tmp_path: Path) -> None:
    one = report(Corpus((put(tmp_path, "First line here.\nSecond line here.\n"),)))
    assert "There is only one document" in str(one.notes[0])
    split = report(Corpus((put(tmp_path, "One. Two.\n\nThree. Four.\n\nFive. Six.\n"),)))
    assert "Each document is one paragraph." in str(split.notes[0])


@pytest.mark.parametrize(
    ("name", "layout", "num_documents", "num_sentences"),
    [
        ("google-bert-sample.txt", "sentences", 3, 31),
        ("albert-zh-sample.txt", "sentences", 10, 213),
        ("wikitext-2-valid.txt", "paragraphs", 60, 8691),
    ],
)
def test_published_corpora_are_read_as_they_are_meant(
    real_data: Path, name: str, layout: str, num_documents: int, num_sentences: int
) -> None:
    found = report(Corpus((real_data / "corpora" / name,)))
    assert (found.layout, found.num_documents) == (layout, num_documents)
    assert found.num_sentences == pytest.approx(num_sentences, rel=0.01)


@pytest.mark.slow
def test_the_wikipedia_corpus_streams_from_its_packed_file(real_data: Path) -> None:
    corpus = Corpus((real_data / "corpora" / "enwiki2015-core.txt.xz",))
    documents = list(itertools.islice(corpus.documents(), 200))
    assert [document[0] for document in documents[:2]] == [["Anarchism"], ["Autism"]]
    assert all(len(document) > 1 for document in documents)


@pytest.mark.slow
def test_a_column_of_news_has_its_duplicates_counted(real_data: Path) -> None:
    files = find_files([real_data / "bbc_news"], column="text")
    found = report(Corpus(tuple(files), column="text"))
    assert (found.num_documents, found.num_repeated, found.layout) == (2225, 101, "lines")  # 99 are exact


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("bbc500_embedded_newlines_quotes.csv", "2"),
        ("waimai_gb18030.csv", "2"),
        ("waimai_utf16be_nobom.csv", "2"),
        ("bbc_huge_field_400kB.csv", "2"),
    ],
)
def test_columns_of_awkward_tables_become_documents(real_data: Path, name: str, column: str) -> None:
    documents = read(real_data / "csv_torture" / "derived_from_real" / name, column=column)
    assert len(documents) > 100 or "huge" in name
    assert all(sentence for document in documents for paragraph in document for sentence in paragraph)


def test_text_cut_into_words_is_no_conll_file_however_even_its_lines_are(tmp_path: Path) -> None:
    words = [f"word{number}" for number in range(60)]
    for ends in (".", ".?", ".!?"):
        lines = [f"the film {word} was good {ends[place % len(ends)]}" for place, word in enumerate(words)]
        texts = ["\n".join(lines[place : place + 6]) for place in range(0, 60, 6)]
        assert len(read(put(tmp_path, "\n\n".join(texts)))) == 10
    tagged = "\n\n".join("\n".join(f"word{n} NOUN" for n in range(5)) for _ in range(5))
    with pytest.raises(DataError, match="CoNLL"):
        read(put(tmp_path, tagged))
