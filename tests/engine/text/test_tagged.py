"""Files of tagged words of every kind, broken in many ways: each row is used or reported, each repair told.

What is expected was counted by hand, never by the reader.
"""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from engine.errors import DataError
from engine.text.tagged.read import first_fields, looks_tagged
from engine.text.tagged.spans import words_in
from engine.text.tagged.texts import TaggedTable, entities_of
from tests.engine.read_at_once import read_tagged

CLEAN = "EU B-ORG\nrejects O\nGerman B-MISC\ncall O\n\nPeter B-PER\nBlackburn I-PER\n\n"  # 6 words in 2 texts
TAGS = ["B-ORG", "O", "B-MISC", "O", "B-PER", "I-PER"]
ROW = {"text": "John lives in Berlin.", "spans": [[0, 4, "PER"], [14, 20, "LOC"]]}


def read(tmp_path: Path, text: str | bytes, name: str = "some.conll", **wanted: str) -> TaggedTable:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_tagged(path, **wanted)


def tags_of(texts: TaggedTable) -> list[str]:
    return [tag for text in texts for tag in text.tags]


def lines_of(rows: list[object]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def row_with(**changed: object) -> str:
    """Return ten good rows of JSON lines and, in line 11, one that is changed."""
    return lines_of([*[ROW] * 10, {**ROW, **changed}])


# name: (file name, content, rows used, lines reported, repairs)
BROKEN: dict[str, tuple[str, str | bytes, int, list[int], int]] = {
    "a line without a tag": ("a.conll", CLEAN * 3 + "Rome\n", 18, [25], 0),
    "a line of three columns in a file of two": ("a.conll", CLEAN * 3 + "New York B-LOC\n", 18, [25], 0),
    "a tag and no word": ("a.conll", CLEAN.replace(" ", "\t") * 3 + "\tO\n", 18, [25], 0),
    "a word and a tab and no tag": ("a.conll", CLEAN.replace(" ", "\t") * 3 + "Rome\t\n", 18, [25], 0),
    "a line without end": ("a.conll", CLEAN * 3 + "x" * 20_000 + " O\n", 18, [25], 0),
    "a bad line amid a text": ("a.conll", "Rome B-LOC\nbad\nis O\n" + CLEAN * 3, 20, [2], 0),
    "Windows line ends": ("a.conll", CLEAN.replace("\n", "\r\n"), 6, [], 0),
    "old Mac line ends": ("a.conll", CLEAN.replace("\n", "\r"), 6, [], 0),
    "a byte order mark": ("a.conll", b"\xef\xbb\xbf" + CLEAN.encode(), 6, [], 0),
    "UTF-16": ("a.conll", CLEAN.encode("utf-16"), 6, [], 0),
    "packed": ("a.conll.gz", gzip.compress(CLEAN.encode()), 6, [], 0),
    "a blank line of U+FEFF, of spaces, of a tab": (
        "a.conll",
        CLEAN + "\ufeff\n" + CLEAN + "  \n" + CLEAN + "\t\n" + CLEAN,
        24,
        [],
        0,
    ),
    "document lines": ("a.conll", f"-DOCSTART- O\n\n{CLEAN}-DOCSTART-\n\n{CLEAN}", 12, [], 0),
    "comments above texts": ("a.conll", f"# text = EU rejects German call\n# newdoc\n{CLEAN}" * 2, 12, [], 0),
    "a hash that is a word": ("a.conll", CLEAN + "# O\n#EU B-ORG\n", 8, [], 0),
    "many spaces between columns": ("a.conll", CLEAN.replace(" ", "     "), 6, [], 0),
    "spaces behind the tags": ("a.conll", CLEAN.replace("O\n", "O  \n").replace("PER\n", "PER \n"), 6, [], 0),
    "tabs and spaces mixed": ("a.conll", CLEAN.replace(" ", "\t") * 3 + CLEAN, 24, [], 0),
    "no blank line at the end": ("a.conll", CLEAN.rstrip("\n"), 6, [], 0),
    "many blank lines": ("a.conll", "\n\n\n" + CLEAN.replace("\n\n", "\n\n\n\n"), 6, [], 0),
    "I- after O": ("a.conll", CLEAN * 3 + "in O\nRome I-LOC\n", 20, [], 1),
    "I- after another type": ("a.conll", CLEAN * 3 + "EU B-ORG\nRome I-LOC\nItaly I-LOC\n", 21, [], 1),
    "I- at the beginning of a text": ("a.conll", CLEAN * 3 + "\nRome I-LOC\n", 19, [], 1),
    "a type without a letter": ("a.conll", CLEAN * 4 + "Rome LOC\n", 25, [], 1),
    "a zero for O": ("a.conll", CLEAN * 4 + "is 0\n", 25, [], 1),
    "E- in a file of IOB2": ("a.conll", CLEAN * 4 + "New B-LOC\nYork E-LOC\n", 26, [], 1),
    "tags in small letters": ("a.conll", CLEAN.lower(), 6, [], 0),
    "tags with an underscore": ("a.conll", CLEAN.replace("B-", "B_").replace("I-", "I_"), 6, [], 0),
    "a JSON line that is cut off": ("a.jsonl", lines_of([ROW] * 10) + '{"text": "Jo', 10, [11], 0),
    "a JSON line that is a list": ("a.jsonl", lines_of([ROW] * 10) + "[1, 2]\n", 10, [11], 0),
    "a span outside its text": ("a.jsonl", row_with(spans=[[0, 99, "PER"]]), 10, [11], 0),
    "a span that ends before it starts": ("a.jsonl", row_with(spans=[[4, 0, "PER"]]), 10, [11], 0),
    "a span of a space": ("a.jsonl", row_with(spans=[[4, 5, "PER"]]), 10, [11], 0),
    "a span without a type": ("a.jsonl", row_with(spans=[[0, 4]]), 10, [11], 0),
    "a span with words for numbers": ("a.jsonl", row_with(spans=[["0", "4", "PER"]]), 10, [11], 0),
    "spans that are no list": ("a.jsonl", row_with(spans="John"), 10, [11], 0),
    "an empty text": ("a.jsonl", row_with(text="  ", spans=[]), 10, [11], 0),
    "no spans": ("a.jsonl", row_with(spans=[]), 11, [], 0),
    "null for spans": ("a.jsonl", row_with(spans=None), 11, [], 0),
    "a span within a word": ("a.jsonl", row_with(spans=[[15, 19, "LOC"]]), 11, [], 1),
    "spans that overlap": ("a.jsonl", row_with(spans=[[0, 4, "PER"], [0, 10, "ORG"]]), 11, [], 1),
    "more tags than words": (
        "a.jsonl",
        lines_of([{"tokens": ["a", "b"], "tags": ["O", "O"]}] * 9 + [{"tokens": ["a"], "tags": ["O", "O"]}]),
        9,
        [10],
        0,
    ),
    "an empty word in a list": (
        "a.jsonl",
        lines_of([{"tokens": ["a", "b"], "tags": ["O", "O"]}] * 9 + [{"tokens": [""], "tags": ["O"]}]),
        9,
        [10],
        0,
    ),
    "half a character in a list": (
        "a.csv",
        "tokens,tags\n" + "\"['EU', 'is']\",\"['B-ORG', 'O']\"\n" * 9 + '"[""E\\ud800""]","[""O""]"\n',
        9,
        [11],
        0,
    ),
    "a table with a row too short": ("a.csv", "token,tag\nEU,B-ORG\nsays,O\nno\nnow,O\n", 3, [4], 0),
    "a table with a word without tag": ("a.csv", "token,tag\nEU,B-ORG\nsays,\nnow,O\n", 2, [3], 0),
}


@pytest.mark.parametrize(
    ("name", "content", "used", "reported", "repairs"), BROKEN.values(), ids=BROKEN.keys()
)
def test_of_a_broken_file_each_row_is_used_or_reported(
    tmp_path: Path, name: str, content: str | bytes, used: int, reported: list[int], repairs: int
) -> None:
    texts = read(tmp_path, content, name)
    assert (texts.num_rows_used, [bad.line for bad in texts.reported]) == (used, reported)
    assert len(texts.repairs) == repairs == sum(count for _, count in texts.repairs.kinds())
    assert bool(texts.notes) >= bool(reported or repairs)
    for text in texts:
        assert all(text.text[start:stop].strip() for start, stop in text.spans)


REFUSED = {
    "an empty file": ("a.conll", "", "empty"),
    "blank lines alone": ("a.conll", "\n \n\ufeff\n", "no columns|empty"),
    "prose": (
        "a.txt",
        "The river rose in the night, and nobody slept.\nIn the morning it had gone.\n",
        "columns",
    ),
    "a picture": ("a.conll", b"\x89PNG\r\n\x1a\n" + bytes(200), "PNG"),
    "words alone": ("a.conll", "EU\nrejects\nGerman\ncall\n", "no columns"),
    "numbers for tags": ("a.jsonl", '{"tokens": ["a", "b"], "ner_tags": [0, 1]}\n', "numbers for tags"),
    "a table without such columns": ("a.jsonl", '{"title": "a b", "score": 3}\n', "title, score"),
    "Label Studio’s full export": ("a.json", '[{"data": {"text": "a"}, "annotations": []}]', "JSON-MIN"),
    "lists for Python": ("a.json", '[["John", {"entities": [[0, 4, "PER"]]}]]', "not of objects"),
    "a table without header": ("a.csv", "EU,B-ORG\nsays,O\n", "needs a header"),
    "SQuAD": ("a.json", '{"data": [{"paragraphs": [{"context": "a", "qas": []}]}]}', "question"),
    "not one good row": ("a.jsonl", '{"text": "John", "spans": [[0, 40, "PER"]]}\n', "Line 1"),
    "Latin-1 said to be UTF-8": ("a.conll", "caf\u00e9 O\n".encode("latin-1") * 9, "not utf-8"),
}


@pytest.mark.parametrize(("name", "content", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_what_holds_no_tagged_words_is_refused_in_a_sentence(
    tmp_path: Path, name: str, content: str | bytes, said: str
) -> None:
    encoding = "utf-8" if "utf-8" in said else ""
    with pytest.raises(DataError, match=said):
        read(tmp_path, content, name, encoding=encoding)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [({"tag": "7"}, "no column 7"), ({"word": "2", "tag": "2"}, "at once"), ({"scheme": "BIO"}, "IOB2"),
     ({"tag": "ner"}, "number of the column")],
)  # fmt: skip
def test_a_choice_that_cannot_be_is_refused(tmp_path: Path, wanted: dict[str, str], said: str) -> None:
    with pytest.raises(DataError, match=said):
        read(tmp_path, CLEAN, **wanted)


def test_a_column_of_words_is_refused_as_tags_before_the_file_is_read(tmp_path: Path) -> None:
    many = "".join(f"word{number} O\n" for number in range(6000))
    with pytest.raises(DataError, match="more than 5000 different tags"):
        read(tmp_path, many, word="2", tag="1")


@pytest.mark.slow
def test_a_file_of_faults_is_refused_before_they_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.text.tagged.conll.MOST_REPORTED", 100)
    good = CLEAN * 2000
    assert len(read(tmp_path, good + "bad\n" * 100).reported) == 100
    with pytest.raises(DataError, match="More than 100 rows .* The first: Line 16001 has 1 column"):
        read(tmp_path, good + "bad\n" * 101)


SCHEMES = {
    "IOB1": "I-PER I-PER O I-LOC B-LOC I-LOC O O",
    "IOB2": "B-PER I-PER O B-LOC B-LOC I-LOC O O",
    "BIOES": "B-PER E-PER O S-LOC B-LOC E-LOC O O",
    "BILOU": "B-PER L-PER O U-LOC B-LOC L-LOC O O",
    "BIOES as BMES": "B-PER E-PER O S-LOC B-LOC E-LOC O O",
    "IOB2 behind": "PER-B PER-I O LOC-B LOC-B LOC-I O O",
}


@pytest.mark.parametrize("name", SCHEMES)
def test_each_scheme_is_found_and_becomes_the_same_iob2_without_a_repair(tmp_path: Path, name: str) -> None:
    words = "".join(f"w{place} {tag}\n" for place, tag in enumerate(SCHEMES[name].split()))
    texts = read(tmp_path, (words + "\n") * 3)
    assert texts.format.scheme == name.split()[0]
    assert name.split()[0] in str(texts.format.reasons[-1])
    assert tags_of(texts) == SCHEMES["IOB2"].split() * 3
    assert not texts.repairs
    assert texts.types == ("LOC", "PER")


def test_a_chosen_scheme_overrides_and_what_it_would_write_otherwise_is_a_repair(tmp_path: Path) -> None:
    texts = read(tmp_path, CLEAN, scheme="BIOES")
    assert tags_of(texts) == TAGS
    assert [(r.line, r.was, r.became) for r in texts.repairs] == [
        (1, "B-ORG", "S-ORG"), (3, "B-MISC", "S-MISC"), (7, "I-PER", "E-PER"),
    ]  # fmt: skip
    assert [(str(kind), count) for kind, count in texts.repairs.kinds()] == [
        ("B- where BIOES has S-", 2), ("I- where BIOES has E-", 1),
    ]  # fmt: skip
    assert tags_of(read(tmp_path, CLEAN, scheme="none")) == TAGS
    assert read(tmp_path, CLEAN, scheme="none").types == ("B-MISC", "B-ORG", "B-PER", "I-PER", "O")


def test_broken_ends_of_bioes_are_read_as_they_can_be_and_listed(tmp_path: Path) -> None:
    tags = ["O", "E-PER", "O", "B-LOC", "O", "B-LOC", "I-LOC", "O", "S-PER", "I-PER", "O"]
    good = "a B-PER\nb E-PER\nc S-LOC\n\n" * 4
    texts = read(tmp_path, good + "".join(f"w {tag}\n" for tag in tags))
    assert list(texts[4].tags) == [
        "O",
        "B-PER",
        "O",
        "B-LOC",
        "O",
        "B-LOC",
        "I-LOC",
        "O",
        "B-PER",
        "B-PER",
        "O",
    ]
    assert [(r.line, r.was, r.became) for r in texts.repairs] == [
        (18, "E-PER", "S-PER"), (20, "B-LOC", "S-LOC"), (23, "I-LOC", "E-LOC"), (26, "I-PER", "S-PER"),
    ]  # fmt: skip


def test_columns_are_told_with_their_reason_and_can_be_given(tmp_path: Path) -> None:
    four = "EU NNP B-NP B-ORG\nrejects VBZ B-VP O\nGerman JJ B-NP B-MISC\ncall NN I-NP O\n\n" * 3
    texts = read(tmp_path, four)
    assert (texts.format.word, texts.format.tag) == ("1", "4")
    assert "column 4 is the tag" in " ".join(map(str, texts.format.reasons))
    assert tags_of(texts)[:4] == TAGS[:4]
    assert tags_of(read(tmp_path, four, tag="3"))[:4] == ["B-NP", "B-VP", "B-NP", "I-NP"]
    shown = first_fields(tmp_path / "some.conll", most=6)
    assert (shown[0], shown[4], len(shown)) == (("EU", "NNP", "B-NP", "B-ORG"), (), 6)
    speech = read(tmp_path, four, tag="2")
    assert (speech.format.scheme, speech.types) == ("none", ("JJ", "NN", "NNP", "VBZ"))
    numbered = "".join(
        f"{n}\t{word}\tO\t0\n" for n, word in enumerate(["a", "b", "c", "d", "e", "f", "g"], 1)
    )
    assert read(tmp_path, numbered.replace("c\tO", "c\tB-X")).format.word == "2"


def test_words_know_their_line_and_their_characters(tmp_path: Path) -> None:
    texts = read(
        tmp_path, "# id\nZo\u00eb B-PER\nbad\nsays O\n\n\u6211 O\n\u7231 O\n\u5317\u4eac B-LOC\nEU B-ORG\n"
    )
    assert texts[0].lines == (2, 4)
    assert (texts[0].text, texts[0].words) == ("Zo\u00eb says", ("Zo\u00eb", "says"))
    assert texts[1].text == "\u6211\u7231\u5317\u4eac EU"
    assert texts[1].spans == ((0, 1), (1, 2), (2, 4), (5, 7))
    assert texts[1].lines == (6, 7, 8, 9)
    assert [(one.first, one.stop, one.type) for one in texts[1].entities] == [(2, 3, "LOC"), (3, 4, "ORG")]


def test_conllu_reads_words_and_leaves_ranges_and_empty_nodes_out(tmp_path: Path) -> None:
    def row(number: str, word: str, tag: str, misc: str = "_") -> str:
        return "\t".join([number, word, word, tag, "XX", "_", "0", "root", "_", misc]) + "\n"

    text = "# text = I don't.\n" + row("1", "I", "PRON") + row("2-3", "don't", "_") + row("2", "do", "AUX")
    text += row("3", "n't", "PART", "SpaceAfter=No") + row("3.1", "x", "VERB") + row("4", ".", "PUNCT") + "\n"
    texts = read(tmp_path, text * 3 + row("?", "no", "X"), "a.conllu")
    assert (texts.format.kind, len(texts), texts.num_rows_used) == ("conllu", 3, 12)
    assert (texts[0].text, texts[0].tags) == ("I do n't.", ("PRON", "AUX", "PART", "PUNCT"))
    assert texts[1].lines == (10, 12, 13, 15)
    assert [bad.line for bad in texts.reported] == [25]
    assert "6 lines" in str(texts.notes[0])


@pytest.mark.slow
def test_blocks_of_a_file_do_not_show_in_what_is_read(tmp_path: Path) -> None:
    sentence = "".join(f"word{number} {tag}\n" for number, tag in enumerate(SCHEMES["IOB2"].split()))
    count = (1 << 21) // len(sentence)  # over two blocks
    texts = read(tmp_path, ("\n" + sentence) * count + "x I-PER\n")
    assert (len(texts), texts.num_words) == (count, 8 * count + 1)
    assert texts.counts.tolist() == [3 * count, 2 * count, count, count + 1, count]
    middle = texts[count // 2]
    assert (middle.words, list(middle.tags)) == (texts[0].words, SCHEMES["IOB2"].split())
    assert middle.lines[0] == 9 * (count // 2) + 2
    assert texts[-1].words[-1] == "x"
    assert [repair.line for repair in texts.repairs] == [9 * count + 1]


SPANS = {
    "doccano": {"text": "John lives in Berlin.", "label": [[0, 4, "PER"], [14, 20, "LOC"]]},
    "newer doccano": {
        "text": "John lives in Berlin.",
        "entities": [{"id": 1, "start_offset": 0, "end_offset": 4, "label": "PER"},
                     {"id": 2, "start_offset": 14, "end_offset": 20, "label": "LOC"}],
    },
    "Prodigy": {
        "text": "John lives in Berlin.",
        "tokens": [{"text": "John", "start": 0, "end": 4, "id": 0}],
        "spans": [{"start": 0, "end": 4, "label": "PER"}, {"start": 14, "end": 20, "label": "LOC"}],
    },
    "Label Studio": {
        "text": "John lives in Berlin.",
        "label": [{"start": 0, "end": 4, "text": "John", "labels": ["PER"]},
                  {"start": 14, "end": 20, "text": "Berlin", "labels": ["LOC"]}],
    },
}  # fmt: skip


@pytest.mark.parametrize("name", SPANS)
@pytest.mark.parametrize("kind", ["lines", "document"])
def test_spans_are_read_as_each_tool_writes_them(tmp_path: Path, name: str, kind: str) -> None:
    rows: list[object] = [SPANS[name]] * 3
    whole = json.dumps(rows, indent=1) if kind == "document" else lines_of(rows)
    texts = read(tmp_path, whole, "a.json" if kind == "document" else "a.jsonl")
    assert texts.format.kind == "spans"
    assert texts[2].text == "John lives in Berlin."
    assert texts[2].words == ("John", "lives", "in", "Berlin", ".")
    assert texts[2].tags == ("B-PER", "O", "O", "B-LOC", "O")
    guess = looks_tagged(tmp_path / ("a.json" if kind == "document" else "a.jsonl"))
    assert guess is not None
    assert "JSON" in str(guess.sentence)


def test_spans_beside_words_are_widened_moved_or_left_out_and_both_texts_are_listed(tmp_path: Path) -> None:
    chinese = {"text": "\u6211\u4f4f\u5728\U0001f600\u5317\u4eac\u3002", "spans": [[4, 6, "LOC"]]}
    wide = {**ROW, "spans": [[15, 20, "LOC"]]}
    moved = {**ROW, "spans": [{"start": 15, "end": 21, "label": "LOC", "text": "Berlin"}]}
    other = {**ROW, "spans": [{"start": 0, "end": 4, "label": "PER", "text": "Paul"}]}
    over = {**ROW, "spans": [[0, 4, "PER"], [0, 13, "ORG"], [14, 20, "LOC"]]}
    texts = read(tmp_path, lines_of([ROW, chinese, wide, moved, other, over]), "a.jsonl")
    assert texts[1].words == ("\u6211", "\u4f4f", "\u5728", "\U0001f600", "\u5317", "\u4eac", "\u3002")
    assert texts[1].tags == ("O", "O", "O", "O", "B-LOC", "I-LOC", "O")
    assert [bad.line for bad in texts.reported] == [5]
    assert "'Paul', but the text there is 'John'" in str(texts.reported[0].sentence)
    assert [(r.line, r.was, r.became) for r in texts.repairs] == [
        (3, "erlin", "Berlin"), (4, "erlin.", "Berlin"), (6, "John (PER)", "John lives in (ORG)"),
    ]  # fmt: skip
    assert texts[4].tags == ("B-ORG", "I-ORG", "I-ORG", "B-LOC", "O")


def test_words_keep_their_characters_and_signs_stand_alone() -> None:
    text = "O'Neil paid 3.5\u20ac in cafe\u0301 \u5317\u4eac_x \u0928\u092e\u0938\u094d\u0924\u0947!"
    words = [text[start:stop] for start, stop in words_in(text)]
    assert words[:9] == ["O", "'", "Neil", "paid", "3", ".", "5", "\u20ac", "in"]
    assert words[9:] == [
        "cafe\u0301",
        "\u5317",
        "\u4eac",
        "_",
        "x",
        "\u0928\u092e\u0938\u094d\u0924\u0947",
        "!",
    ]


ROWS = ["EU,B-ORG", "rejects,O", "German,B-MISC", "call,O", "", "Peter,B-PER", "Blackburn,I-PER"]
LISTS = [["EU", "rejects", "German", "call"], TAGS[:4], ["Peter", "Blackburn"], TAGS[4:]]
TABLES = {
    "a sentence number": "Sentence #,Word,POS,Tag\nSentence: 1,EU,NNP,B-ORG\n,rejects,VBZ,O\n"
    ",German,JJ,B-MISC\n,call,NN,O\nSentence: 2,Peter,NNP,B-PER\n,Blackburn,NNP,I-PER\n",
    "blank rows": "\n".join(["token,tag", *ROWS]),
    "rows of empty cells": "\n".join(["token;tag", *(row.replace(",", ";") or ";" for row in ROWS)]),
    "tabs": "\n".join(["token\ttag", *(row.replace(",", "\t") for row in ROWS)]),
    "a row a text": "text,tags\n{},{}\n{},{}\n".format(*map(" ".join, LISTS)),
    "Python's lists": 'tokens,ner_tags\n"{}","{}"\n"{}","{}"\n'.format(*LISTS),
    "numpy's lists": 'tokens,ner_tags\n"{}","{}"\n"{}","{}"\n'.format(
        *(str(one).replace(",", "") for one in LISTS)
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_each_layout_hold_the_same_texts(tmp_path: Path, name: str) -> None:
    texts = read(tmp_path, TABLES[name], "a.csv")
    assert [text.words for text in texts] == [("EU", "rejects", "German", "call"), ("Peter", "Blackburn")]
    assert tags_of(texts) == TAGS
    a_text_a_row = texts.format.kind == "lists"
    if name == "blank rows":
        assert [text.lines for text in texts] == [(2, 3, 4, 5), (7, 8)]
    assert texts.num_rows_used == (2 if a_text_a_row else 6)
    guess = looks_tagged(tmp_path / "a.csv")
    assert guess is not None
    assert (guess.word, guess.tag) == (texts.format.word, texts.format.tag)


def test_what_a_file_was_read_as_reads_the_same_again(tmp_path: Path) -> None:
    for name, content in {
        "a.conll": CLEAN,
        "a.csv": TABLES["a sentence number"],
        "a.jsonl": lines_of([ROW]),
    }.items():
        first = read(tmp_path, content, name)
        how = first.format
        again = read(
            tmp_path, content, name, word=how.word, tag=how.tag, sentence=how.sentence, scheme=how.scheme
        )
        assert [text.tags for text in again] == [text.tags for text in first]


NO_TAGGED = {
    "a.csv": "text,label\nA good film,pos\nA bad film,neg\n" * 9,
    "b.tsv": "text\tlabel\nA good film\tpos\nA bad one\tneg\n",
    "c.jsonl": '{"text": "A good film", "label": "pos"}\n{"text": "Bad", "label": "neg"}\n',
    "d.jsonl": '{"text": "A good film", "label": ["joy", "love"]}\n',
    "e.txt": "The river rose in the night.\nNobody slept.\n\nIn the morning it had gone.\n" * 5,
    "f.csv": "sentence1,sentence2,label\nA b,c d,1\n",
    "g.json": '{"data": [{"paragraphs": [{"context": "a", "qas": []}]}]}',
    "h.csv": "word,score\ngood,3\nbad,1\n",
    "i.png": "\x89PNG",
    "j.csv": "",
}


def test_comments_with_columns_of_their_own_hide_no_tags(tmp_path: Path) -> None:
    text = "#\thttps://example.org [2009]\n" + CLEAN.replace(" ", "\t").replace("\n", "\tO\n", 4)
    texts = read(tmp_path, (text.replace("I-PER\n", "I-PER\tO\n").replace("B-PER\n", "B-PER\tO\n")) * 3)
    assert (len(texts), texts.num_rows_used, texts.reported) == (6, 18, ())
    guess = looks_tagged(tmp_path / "some.conll")
    assert guess is not None
    assert (guess.kind, guess.word, guess.tag) == ("conll", "1", "2")


@pytest.mark.parametrize("name", NO_TAGGED)
def test_a_file_of_another_task_does_not_look_tagged(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(NO_TAGGED[name])
    assert looks_tagged(tmp_path / name) is None
    assert looks_tagged(tmp_path / "missing") is None


def test_iob2_is_read_leniently() -> None:
    found = entities_of(["I-A", "I-A", "B-A", "I-B", "O", "B-C"])
    assert [(one.first, one.stop, one.type) for one in found] == [
        (0, 2, "A"),
        (2, 3, "A"),
        (3, 4, "B"),
        (5, 6, "C"),
    ]


DATA = os.environ.get("CLOZE_DATA")
REAL = {  # texts, words, entities or None, repairs; counted by awk
    "conll2003/train.txt": (14041, 203621, 23499, 0),
    "conll2003/valid.txt": (3250, 51362, 5942, 0),
    "wnut17/wnut17train.conll": (3394, 62730, 1975, 0),
    "wnut17/emerging.dev.conll": (1009, 15733, 836, 1),
    "ud_chinese/dev.conllu": (500, 12663, None, 0),
}


@pytest.mark.skipif(not DATA, reason="CLOZE_DATA names no folder of real data")
@pytest.mark.parametrize("name", REAL)
def test_real_files_are_read_to_the_last_word(name: str) -> None:
    path = Path(str(DATA)) / name
    texts = read_tagged(path)
    entities = None if texts.format.scheme == "none" else int(texts.counts[1::2].sum())
    assert (len(texts), texts.num_words, entities, len(texts.repairs)) == REAL[name]
    assert not texts.reported
    assert looks_tagged(path) is not None
    if name.startswith("ud_chinese"):
        said = [line[9:] for line in path.read_text().splitlines() if line.startswith("# text = ")]
        assert [text.text for text in texts] == said
