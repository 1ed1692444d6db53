"""Every step from text to pieces: beside the library, google-research/bert's cases, and `transformers`."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.inspect.token_rows import token_rows
from engine.text.special_tokens import ExtraToken
from engine.text.tokenizer import TRUNCATIONS, Tokenizer, without_halves
from engine.text.trace import Trace, trace
from engine.text.unigram import Unigram
from engine.text.ways import ways_of
from engine.text.wordpiece import WordPiece
from tests.fakes import tiny_unigram

PIECES = ("un", "##aff", "##able", "##a", "play", "##ing", "the", "e", "##e", ",", "我", "##爱", "film")
TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *PIECES)
WAYS = [(True, None, True), (False, None, True), (True, False, False), (False, True, True)]
ODD = "aeiÉéİßΣ ,.#[]\t\r\x0b\x00\u00a0\u200b\ufeff\ufffd\u0301\u0323\u302e\u1e09\uac00我爱😀\U0001d15e\ud800"


def wordpiece(*, lowercase: bool = True) -> WordPiece:
    return WordPiece.from_tokens(TOKENS, lowercase=lowercase)


def check(found: Trace, cutter: Tokenizer) -> None:
    """Fail unless the steps lead where `encode` leads, and each word stands where its pieces do."""
    encoding = cutter.encode(found.text)
    assert found.agrees
    assert list(found.pieces) == encoding.tokens[1:-1]
    assert list(found.ids) == encoding.input_ids[1:-1]
    assert list(found.offsets) == encoding.offsets[1:-1]
    assert [word.first for word in found.words] == [0, *(word.last for word in found.words)][:-1]
    assert (found.words[-1].last if found.words else 0) == len(found.ids)
    for place, (start, stop) in enumerate(found.offsets):
        word = found.words[found.word_of(place)]
        assert word.start <= start <= stop <= word.stop
    assert all(one.stop <= other.start for one, other in pairwise(found.changes))


@pytest.mark.slow
@given(st.text(st.sampled_from(ODD) | st.characters(), max_size=24), st.sampled_from(WAYS))
def test_the_steps_lead_to_the_librarys_pieces(text: str, way: tuple[bool, bool | None, bool]) -> None:
    cutter = WordPiece(TOKENS, lowercase=way[0], strip_accents=way[1], chinese_chars=way[2])
    check(trace(cutter, text), cutter)


@pytest.mark.slow
@given(st.lists(st.sampled_from(["[SEP]", " [MASK]", "film", "Covid", "covid ", "the", "un", "我", " "])))
def test_special_and_added_tokens_in_the_text_are_taken_as_they_are(parts: list[str]) -> None:
    added = (
        ExtraToken("Covid", special=False, normalized=True),
        ExtraToken("film", special=False, single_word=True),
    )
    cutter = WordPiece(TOKENS, lowercase=True, added=added)
    found = trace(cutter, "".join(parts))
    check(found, cutter)
    assert sum(word.kind == "added" for word in found.words) >= sum("[" in part for part in parts)


def test_the_longest_piece_is_looked_for_first() -> None:
    (word,) = trace(wordpiece(), "UNaffable").words
    assert [match.tried for match in word.matches] == [
        ("unaffable", "unaffabl", "unaffab", "unaffa", "unaff", "unaf", "una", "un"),
        ("##affable", "##affabl", "##affab", "##affa", "##aff"),
        ("##able",),
    ]
    assert (word.outcome, word.first, word.last) == ("pieces", 0, 3)


def test_a_word_with_one_missing_piece_is_unknown_as_a_whole() -> None:
    found = trace(wordpiece(), "playing playx")
    assert found.pieces == ("play", "##ing", "[UNK]")
    word = found.words[1]
    assert word.outcome == "unknown"
    assert word.failed is not None
    assert (word.failed.tried, word.failed.start) == (("##x",), 4)
    assert found.num_unknown == 1


def test_a_word_of_more_than_100_characters_is_not_tried() -> None:
    known, too_long = trace(wordpiece(), "e" * 100 + " " + "e" * 101).words
    assert (known.outcome, len(known.matches)) == ("pieces", 100)
    assert (too_long.outcome, too_long.matches) == ("too_long", ())


@pytest.mark.parametrize(
    ("text", "kinds", "why", "after"),
    [
        ("É", ("accent", "lower"), "", "e"),
        ("THE", ("lower",), "", "the"),
        ("\u00a0", ("space",), "", " "),
        ("我爱", ("alone",), "", " 我  爱 "),
        ("\u200b", ("removed",), "format", ""),
        ("\x07", ("removed",), "control", ""),
        ("\ufffd", ("removed",), "replacement", ""),
        ("\ud83d", ("removed",), "half", ""),
        ("\ue000", ("removed",), "private", ""),
    ],
)
def test_cleaning_says_what_it_did(text: str, kinds: tuple[str, ...], why: str, after: str) -> None:
    (change,) = trace(wordpiece(), f"e{text}e").changes
    assert (change.start, change.stop) == (1, 1 + len(text))
    assert (change.kinds, change.why, change.after) == (kinds, why, after)


def test_googles_cases_are_traced_to_googles_ids(real_data: Path) -> None:
    known = json.loads((real_data / "parity" / "bert_expected_values.json").read_text("utf-8"))
    vocab: list[str] = []
    for case in known["wordpiece_cases"]:
        vocab = case.get("vocab", vocab) if case.get("vocab") != "same" else vocab
        base = [*vocab, *(name for name in ("[PAD]", "[UNK]", "[CLS]", "[SEP]") if name not in vocab)]
        found = trace(WordPiece.from_tokens(base, lowercase=case.get("lower", False)), case["input"])
        assert found.agrees
        basic = [word.text for word in found.words]
        assert (basic if case.get("basic_only") else list(found.pieces)) == case["tokens"]
        assert list(found.ids) == case.get("ids", list(found.ids))
    for char in known["char_classes"]["punctuation"]:
        assert [word.kind for word in trace(wordpiece(), f"e{char}e").words] == [
            "word",
            "punctuation",
            "word",
        ]
    for char in known["char_classes"]["control"]:
        assert [change.why for change in trace(wordpiece(), f"e{char}e").changes] == ["control"]
    for char in known["char_classes"]["whitespace"]:
        assert len(trace(wordpiece(), f"e{char}e").words) == 2


@pytest.mark.slow
@pytest.mark.parametrize("language", ["English", "Chinese"])
def test_two_thousand_lines_have_the_ids_of_transformers(
    real_data: Path, tmp_path: Path, language: str
) -> None:
    transformers = pytest.importorskip("transformers")
    name = "uncased" if language == "English" else "chinese"
    cutter = WordPiece.from_vocab(real_data / "vocabs" / f"bert-base-{name}-vocab.txt")
    cutter.save(tmp_path)
    lines = real_lines(real_data, language)[:10_000:5]  # encode_ids is held to all of them by test_wordpiece
    assert len(lines) == 2_000
    peer = transformers.AutoTokenizer.from_pretrained(tmp_path)(lines, add_special_tokens=False)["input_ids"]
    for line, ids in zip(lines, peer, strict=True):
        found = trace(cutter, line)
        assert found.agrees
        assert list(found.ids) == ids


def real_lines(real_data: Path, language: str) -> list[str]:
    if language == "Chinese":
        parts = [
            (real_data / "chnsenticorp" / f"{part}.tsv").read_text("utf-8-sig") for part in ("train", "dev")
        ]
        return [line for part in parts for line in part.split("\n")[1:] if line]
    text = (real_data / "bbc_news" / "bbc-text.csv").read_text("utf-8")
    return [line for part in text.split("\n")[1:] for line in part.split(". ") if line.strip()]


# The rows a model is given


@pytest.mark.slow
@given(
    st.text(st.sampled_from("aeun ,我.x"), max_size=20),
    st.none() | st.text(st.sampled_from("ae ,我"), max_size=20),
    st.none() | st.integers(3, 20),
    st.sampled_from(TRUNCATIONS),
)
def test_rows_with_a_position_are_what_encode_gives(
    text: str, pair: str | None, max_length: int | None, truncation: str
) -> None:
    cutter = wordpiece()
    first, second = trace(cutter, text), None if pair is None else trace(cutter, pair)
    rows = token_rows(cutter, first, second, max_length=max_length, truncation=truncation, pad_to=17)
    encoding = cutter.encode(text, pair, max_length=max_length, truncation=truncation)
    given_rows = [row for row in rows if row.position is not None]
    real = [row for row in given_rows if row.kind != "padding"]
    assert [row.id for row in real] == encoding.input_ids
    assert [row.segment for row in real] == encoding.token_type_ids
    assert [(row.start, row.stop) for row in real] == encoding.offsets
    assert [row.position for row in given_rows] == list(range(max(17, len(real))))
    assert [row.mask for row in given_rows] == [1] * len(real) + [0] * (len(given_rows) - len(real))
    assert sum(row.kind == "cut" for row in rows) == encoding.num_cut


# Pieces with scores


def spelled(tokenizer: Unigram, whole: str) -> list[tuple[float, tuple[str, ...]]]:
    """Return all ways to spell a stretch, the likeliest first."""
    found = [(0.0, ())] if not whole else []
    for stop in range(1, len(whole) + 1):
        score = tokenizer.score_of(whole[:stop])
        if score is not None:
            found += [(score + rest, (whole[:stop], *way)) for rest, way in spelled(tokenizer, whole[stop:])]
    return sorted(found, reverse=True)


def test_of_all_ways_to_spell_a_stretch_the_first_and_the_second_are_told() -> None:
    tokenizer = tiny_unigram()
    found = trace(tokenizer, "the playing <mask> film, filming a")
    assert [word.outcome for word in found.words] == [
        *("whole", "likeliest", "added", "whole", "whole", "likeliest", "whole")
    ]
    for place in (0, 1, 3, 5):
        ways = ways_of(tokenizer, found, found.words[place])
        assert ways is not None
        first, second = spelled(tokenizer, "".join(ways.pieces))[:2]
        assert (sum(ways.scores), ways.pieces) == first and (sum(ways.other_scores), ways.other) == second
    assert ways_of(tokenizer, found, found.words[3]) == ways_of(tokenizer, found, found.words[4])  # film,
    alone = ways_of(tokenizer, found, found.words[6])
    assert alone is not None and alone.other == ("▁", "a")
    assert ways_of(tokenizer, found, found.words[2]) is None
    unknown = trace(tokenizer, "x9 a")
    assert ways_of(tokenizer, unknown, unknown.words[0]) is None and unknown.num_unknown == 1
    long = trace(tokenizer, "a" * 101)
    assert ways_of(tokenizer, long, long.words[0]) is None
    other = trace(wordpiece(), "playing")
    assert ways_of(wordpiece(), other, other.words[0]) is None


@pytest.mark.slow
@given(st.text(st.sampled_from("aefilm ,(今ÉéZ9\r\n\u0301\ud800"), max_size=24), st.booleans())
def test_pieces_with_scores_are_those_of_encode_and_changes_lead_to_the_cleaned_text(
    text: str, lowercase: bool
) -> None:
    tokenizer = tiny_unigram("albert" if lowercase else "xlm-roberta")
    found = trace(tokenizer, text)
    check(found, tokenizer)
    done, parts = 0, list[str]()
    for change in found.changes:
        parts += [text[done : change.start], change.after]
        done = change.stop
    assert "".join([*parts, text[done:]]).replace("\ud800", "\ufffd") in (found.cleaned, without_halves(text))


def test_cleaning_by_a_map_says_what_it_did() -> None:
    found = trace(tiny_unigram("albert"), "Ｆé ﬁX e\u0301")
    told = [(change.before, change.after, change.kinds) for change in found.changes]
    assert told == [
        ("Ｆ", "f", ("plain",)),
        ("é", "e", ("accent",)),
        ("ﬁ", "fi", ("plain",)),
        ("X", "x", ("lower",)),
        ("e\u0301", "e", ("accent",)),
    ]
