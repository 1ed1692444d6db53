"""The merges that are shown lead to the pieces that the library finds, in the order of the vocabulary."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.text.byte_level import MODERNBERT
from engine.text.merges import merges_of
from engine.text.read_tokenizer import read_tokenizer
from engine.text.trace import trace
from tests.fakes import tiny_byte_level, tiny_unigram, tiny_wordpiece


def test_a_words_bytes_are_joined_one_merge_after_the_other() -> None:
    tokenizer = tiny_byte_level()
    found = trace(tokenizer, "the good film")
    [the, good, film] = found.words
    merged = merges_of(tokenizer, found, good)
    assert merged is not None and merged.pieces == ("Ġ", "g", "o", "o", "d") and merged.num_ranks == 17
    steps = [(merge.rank, merge.place, merge.pieces) for merge in merged.merges]
    assert steps == [
        (8, 1, ("Ġ", "go", "o", "d")),
        (9, 2, ("Ġ", "go", "od")),
        (10, 1, ("Ġ", "good")),
        (11, 0, ("Ġgood",)),
    ]
    first = merges_of(tokenizer, found, the)
    assert first is not None and first.pieces[0] == "t"  # no space stands before the first word
    assert (the.outcome, good.outcome, film.outcome) == ("merged", "whole", "whole")
    assert first.found == ("t", "he")


def test_a_letter_of_two_bytes_is_read_as_one_once_they_are_joined() -> None:
    tokenizer = tiny_byte_level()
    found = trace(tokenizer, "café")
    merged = merges_of(tokenizer, found, found.words[0])
    assert merged is not None and merged.pieces[-2:] == ("Ã", "©") and merged.found[-1] == "é"


def test_an_added_token_and_other_kinds_of_pieces_have_no_merges() -> None:
    tokenizer = tiny_byte_level()
    found = trace(tokenizer, "a <mask> film")
    assert [word.kind for word in found.words] == ["word", "added", "word"]
    assert merges_of(tokenizer, found, found.words[1]) is None
    assert merges_of(tokenizer, found, found.words[2]) is not None
    for other in (tiny_wordpiece(), tiny_unigram()):
        found = trace(other, "film")
        assert merges_of(other, found, found.words[0]) is None


def test_what_composing_changed_is_told() -> None:
    tokenizer = tiny_byte_level(MODERNBERT)
    found = trace(tokenizer, "cafe\u0301!")
    assert found.cleaned == "café!"
    assert [(change.before, change.after, change.kinds) for change in found.changes] == [
        ("e\u0301", "é", ("composed",))
    ]
    assert trace(tokenizer, "café").changes == ()


@pytest.mark.parametrize("name", ["roberta", "modernbert-derived"])
def test_the_merges_of_every_word_of_published_texts_end_at_its_pieces(name: str, real_data: Path) -> None:
    folder = real_data / "tokenizers" / name
    tokenizer, seen = read_tokenizer(folder), 0
    for case in json.loads((folder / "expected.json").read_text())["cases"]:
        found = trace(tokenizer, case["text"])
        assert list(found.ids) == case["ids"][1:-1]
        for word in found.words:
            merged = merges_of(tokenizer, found, word)
            if word.kind == "added":
                continue
            own = found.pieces[word.first : word.last]
            if merged is None:  # more than can be shown
                assert sum(len(tokenizer.tokens[one]) for one in found.ids[word.first : word.last]) > 40
                continue
            assert set(own) <= set(merged.found), (word, merged.found)
            ranks = [merge.rank for merge in merged.merges]
            assert len(merged.found) == len(merged.pieces) - len(ranks)
            seen += 1
    assert seen > 200
