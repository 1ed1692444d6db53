"""The words of a text of any language, with their places; Chinese ones whole where a segmenter is there."""

from __future__ import annotations

import pytest

from engine.text.segmenter import finds_chinese_words, going_on, has_chinese, is_chinese_word, word_spans
from engine.text.wordpiece import WordPiece
from engine.text.words import parts_of, words_of

SAID = "因为下雨，所以我们没有去。"
TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "good", "##s", *dict.fromkeys(SAID), "我", "银", "行"]


@pytest.fixture
def pieces() -> WordPiece:
    return WordPiece.from_tokens(list(dict.fromkeys(TOKENS)), lowercase=True)


def written(text: str) -> list[str]:
    return [text[start:stop] for start, stop in word_spans(text)]


def test_a_chinese_word_is_whole_and_has_its_place(chinese_words: None) -> None:
    assert written(SAID) == ["因为", "下雨", "所以", "我们", "没有", "去"]
    assert word_spans(SAID)[2] == (5, 7)


def test_the_words_of_other_languages_are_as_they_are_written(chinese_words: None) -> None:
    assert written("Don’t stop, Zoë: 3 café_s!") == ["Don’t", "stop", "Zoë", "3", "café", "s"]
    assert going_on("Don’t stop, Zoë!") == frozenset()


def test_two_languages_in_one_text_have_the_words_of_each(chinese_words: None) -> None:
    assert written("CNN在北京 playing电影") == ["CNN", "在", "北京", "playing", "电影"]


def test_what_a_space_parts_is_no_word(chinese_words: None) -> None:
    assert written("北 京 北京") == ["北", "京", "北京"]


def test_japanese_is_left_to_its_characters(chinese_words: None) -> None:
    assert not has_chinese("北京はとても") and written("北京は") == ["北", "京", "は"]


def test_without_a_segmenter_each_character_is_a_word(chinese_characters: None) -> None:
    assert written("我们没有 good") == ["我", "们", "没", "有", "good"]


def test_half_characters_do_not_stop_the_segmenter() -> None:
    assert len(written("\ud83d我们没有")) in (2, 4)  # with the package, or without it


def test_words_of_pieces_are_whole_and_their_parts_are_characters(
    pieces: WordPiece, chinese_words: None
) -> None:
    encoding = pieces.encode(SAID)
    words = words_of(encoding, SAID)
    assert [word.text for word in words] == ["因为", "下雨", "，", "所以", "我们", "没有", "去", "。"]
    assert words[3].pieces == (6, 7) and (words[3].start, words[3].stop) == (5, 7)
    assert [word.text for word in parts_of(encoding, SAID)] == list(SAID)


def test_each_text_of_a_pair_has_words_of_its_own(pieces: WordPiece, chinese_words: None) -> None:
    encoding = pieces.encode("我们", "们没有 goods")
    words = words_of(encoding, "我们", "们没有 goods")
    assert [(word.text, word.segment) for word in words] == [
        ("我们", 0),
        ("们", 1),
        ("没有", 1),
        ("goods", 1),
    ]


def test_a_mask_that_was_typed_parts_words(pieces: WordPiece, chinese_words: None) -> None:
    text = "我们[MASK]没有去"
    words = words_of(pieces.encode(text), text)
    assert [word.text for word in words] == ["我们", "[MASK]", "没有", "去"]


def test_a_word_is_chinese_where_nothing_else_is_in_it() -> None:
    assert is_chinese_word("银行") and not any(map(is_chinese_word, ("T恤", "", "の", "，", "bank")))


def test_the_segmenter_that_ships_as_an_extra_finds_the_same_words() -> None:
    if not finds_chinese_words():
        pytest.skip("rjieba is not installed")
    assert written(SAID) == ["因为", "下雨", "所以", "我们", "没有", "去"]
    assert written("我把钱存在银行里") == ["我", "把", "钱", "存在", "银行", "里"]
