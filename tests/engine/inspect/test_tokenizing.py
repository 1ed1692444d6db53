"""A whole table in pieces, beside a count made text by text."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from engine.errors import DataError
from engine.events import Progress
from engine.inspect import tokenizing
from engine.inspect.tokenizing import TableTokens, measure_table
from engine.text.roles import Roles
from engine.text.special_tokens import ExtraToken
from engine.text.table import Table, read_table
from engine.text.trace import trace
from engine.text.wordpiece import WordPiece
from engine.text.words import words_of
from tests.fakes import TOKENS, tiny_unigram

TEXTS = ["Good film!", "playing xyz9", "中文 good 中", "", "film9 film9 \u200b", "goodness, a [SEP] b", "9,9"]
PAIRS = ["a b", "", "xyz9", "中", "good", "film", "play!"]


def write(folder: Path) -> Table:
    path = folder / "table.csv"
    rows = [f'"{text}","{pair}"' for text, pair in zip(TEXTS, PAIRS, strict=True)]
    path.write_text("\n".join(["text,other", *rows]), encoding="utf-8")
    return read_table(path)


def measure(wordpiece: WordPiece, table: Table, roles: Roles) -> tuple[TableTokens, list[Progress]]:
    task, told = measure_table(wordpiece, table, roles), []
    while True:
        try:
            told.append(next(task))
        except StopIteration as end:
            return end.value, told


@pytest.mark.parametrize("pair", ["", "other"])
@pytest.mark.parametrize("added", [(), (ExtraToken("good ness", special=False),)])
def test_counts_are_those_of_the_texts_one_by_one(
    tmp_path: Path, pair: str, added: tuple[ExtraToken, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokenizing, "AT_ONCE", 2)
    wordpiece = WordPiece(TOKENS, lowercase=True, added=added)
    table = write(tmp_path)
    found, told = measure(wordpiece, table, Roles(text="text", text_pair=pair))
    traces = [trace(wordpiece, text) for text in (*TEXTS, *(PAIRS if pair else ()))]
    words = [(one, word) for one in traces for word in one.words]
    unknown = Counter(word.text for one, word in words if one.ids[word.first] == wordpiece.unk_id)
    marks = [word for _, word in words if word.kind == "punctuation" and word.outcome == "whole"]
    assert found.num_pieces == sum(len(one.ids) for one in traces)
    assert (found.num_words, found.num_marks) == (len(words), len(marks))
    assert dict(found.unknown_words) == unknown
    assert found.num_unknown == sum(unknown.values()) > 0
    assert found.num_unknown_words == len(unknown)
    whole = [w for _, w in words if w.outcome in ("whole", "added") and w.kind != "punctuation"]
    assert found.num_whole == len(whole)
    both = zip(TEXTS, PAIRS, strict=True)
    assert found.lengths.tolist() == [
        len(wordpiece.encode(text, other if pair else None).input_ids) for text, other in both
    ]
    assert told[-1].done == told[-1].total


def test_scored_pieces_are_counted_in_words_and_what_they_do_not_know_is_told_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokenizing, "AT_ONCE", 2)
    tokenizer = tiny_unigram()
    found, told = measure(tokenizer, write(tmp_path), Roles(text="text", text_pair="other"))
    unknown = {"9": 6, "中": 2, "中文": 1, "G": 1, "\u200b": 1, "[SEP]": 1}
    assert dict(found.unknown_words) == unknown and found.num_unknown == sum(unknown.values())
    encoded = [(text, tokenizer.encode(text)) for text in (*TEXTS, *PAIRS)]
    words = [(one, word) for text, one in encoded for word in words_of(one, text)]
    assert found.num_words == len(words) and found.num_marks == 4
    alone = [one.tokens[word.pieces[0]] for one, word in words if len(word.pieces) == 1]
    assert found.num_whole == len([token for token in alone if token not in ("<unk>", "!", ",")])
    assert found.lengths.tolist() == [
        len(tokenizer.encode(*both).input_ids) for both in zip(TEXTS, PAIRS, strict=True)
    ]
    assert told[-1].done == told[-1].total


def test_rows_that_are_cut_are_named_the_longest_first(tmp_path: Path) -> None:
    found, _ = measure(WordPiece(TOKENS, lowercase=True), write(tmp_path), Roles(text="text"))
    lengths = found.lengths
    rows = found.cut_rows(5)
    assert sorted(rows.tolist()) == np.flatnonzero(lengths > 5).tolist()
    assert np.all(np.diff(lengths[rows]) <= 0)
    assert found.lost_share(5) == pytest.approx(np.maximum(lengths - 5, 0).sum() / found.num_pieces)
    assert found.percentile(0.5) in lengths.tolist()
    assert found.percentile(1.0) == lengths.max()


def test_a_column_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        next(measure_table(WordPiece(TOKENS, lowercase=True), write(tmp_path), Roles(text="nowhere")))


def test_a_table_of_nothing_but_empty_texts_has_no_words(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('text,label\n"",a\n"",b\n', encoding="utf-8")
    table = read_table(tmp_path / "t.csv")
    found, _ = measure(WordPiece(TOKENS, lowercase=True), table, Roles(text="text"))
    assert (found.fertility, found.unknown_share, found.whole_share) == (0.0, 0.0, 0.0)
    assert found.lengths.tolist() == [2, 2]
