"""What a vocabulary does not know of a text is counted as a model is given it, and told where it is much."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from engine.shipped import model_shipped
from engine.text.languages import CHINESE
from engine.text.table import read_table
from engine.text.tokenizer import Tokenizer
from engine.text.unknown import (
    MOST_TEXTS,
    UnknownPieces,
    count_unknown,
    readers_shipped,
    sample_of,
    unread,
    vocabulary_in,
)
from engine.text.wordpiece import WordPiece
from tests.fakes import tiny_byte_level

TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "film", "good", "我", "."]
SAID = "因为下雨，所以我们没有去。"


@pytest.fixture
def few() -> WordPiece:
    return WordPiece.from_tokens(TOKENS, lowercase=True)


def told(tokenizer: Tokenizer, text: str) -> str:
    found = unread(tokenizer, [text])
    return "" if found is None else str(found.sentence)


def test_the_pieces_counted_are_those_between_the_special_ones(few: WordPiece) -> None:
    found = count_unknown(few, ["a good 去年 film ."])
    assert (found.num_pieces, found.num_unknown) == (6, 2)


def test_what_is_cut_off_is_not_counted(few: WordPiece) -> None:
    found = count_unknown(few, ["good film 我们没有去"], max_length=5)
    assert (found.num_pieces, found.num_unknown) == (3, 0), "[CLS] good film 我 [SEP]"
    tail = count_unknown(few, ["good film 我们没有去"], max_length=5, truncation="head_tail")
    assert tail.num_unknown == 2, "its end is what is left of it"


def test_a_pair_is_counted_as_one_text_with_both_sides(few: WordPiece) -> None:
    found = count_unknown(few, ["good film"], ["没有去"])
    assert (found.num_pieces, found.num_unknown, found.num_texts) == (5, 3, 1)
    assert count_unknown(few, ["good film"], [""]).num_pieces == 2


@pytest.mark.parametrize(
    "text", ["a good film .", "a good film 👍 .", "a good good film 去", "👍 a film . 👍 a film"]
)
def test_one_unknown_piece_or_two_in_a_sentence_are_not_told(few: WordPiece, text: str) -> None:
    assert told(few, text) == ""


def test_much_that_is_unknown_is_told_with_both_counts(few: WordPiece) -> None:
    assert told(few, "我们没有去 a film") == "4 of 7 pieces are unknown to this model."
    assert told(few, "没有") == "2 of 2 pieces are unknown to this model."
    assert told(few, "没") == "The text is unknown to this model."


def test_a_vocabulary_alone_is_not_called_a_model(few: WordPiece) -> None:
    found = unread(few, ["没有"], by_model=False)
    assert found is not None
    assert str(found.sentence) == "2 of 2 pieces are unknown to this vocabulary."


def test_a_table_is_told_over_its_texts_and_a_sample_as_one(few: WordPiece) -> None:
    texts = ["没有去", "a film"]
    whole, some = unread(few, texts), unread(few, texts, of_texts=1234)
    assert whole is not None and some is not None
    assert str(whole.sentence) == "3 of 5 pieces of 2 texts are unknown to this model."
    said = "In a sample of 2 of 1,234 texts, 3 of 5 pieces are unknown to this model."
    assert str(some.sentence) == said


def test_bytes_are_never_called_unknown() -> None:
    bytes_ = tiny_byte_level()
    assert count_unknown(bytes_, [SAID]).num_unknown == 0
    assert told(bytes_, SAID) == "13 of 13 characters are read in parts by this model."


def test_a_character_in_parts_among_whole_ones_is_not_told() -> None:
    assert told(tiny_byte_level(), "a good good film, …") == ""


def test_spaces_are_no_characters_that_are_read() -> None:
    assert count_unknown(tiny_byte_level(), ["去 年"]).num_characters == 2


def test_a_text_for_a_model_that_ships_leads_to_it(few: WordPiece) -> None:
    chinese, english = model_shipped("chinese"), model_shipped("starter")
    if chinese is None or english is None:
        pytest.skip("the starter models are not in this build")
    found = unread(few, [SAID])
    assert found is not None and (found.language, found.reader) == (CHINESE, chinese)
    found = unread(
        WordPiece.from_tokens(TOKENS[:5], lowercase=True), ["The doctor asked a patient about it."]
    )
    assert found is not None and found.reader == english


def test_a_model_that_reads_no_better_is_not_offered(few: WordPiece, tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(TOKENS), encoding="utf-8")
    found = unread(few, [SAID], readers={CHINESE: tmp_path / "vocab.txt"})
    assert found is not None and found.reader is None


def test_a_language_that_nothing_reads_is_named(few: WordPiece) -> None:
    found = unread(few, ["Время летит быстро, и мы не знаем, что это за книга."])
    assert found is not None and found.reader is None
    assert str(found.none_reads) == "No model that ships with Cloze reads Russian."
    nameless = unread(few, ["👍 👍 👍"])
    assert nameless is not None and nameless.none_reads is None


def test_a_sample_comes_from_all_over_a_table_without_rows_that_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    path.write_text("text\n" + "".join(f"row {row}\n" for row in range(1000)), encoding="utf-8")
    texts, pairs, count = sample_of(read_table(path), "text", without=range(500))
    assert pairs is None and count == 500
    numbers = [int(text.split()[1]) for text in texts]
    assert len(numbers) <= MOST_TEXTS and min(numbers) >= 500 and max(numbers) == 999
    assert max(Counter(number // 100 for number in numbers).values()) < 40


def test_the_starter_reads_english_and_the_chinese_one_chinese() -> None:
    models = readers_shipped()
    if len(set(models.values())) < 2:
        pytest.skip("the starter models are not in this build")
    starter, chinese = vocabulary_in(models["English"]), vocabulary_in(models[CHINESE])
    assert told(chinese, SAID) == "" and told(starter, "The doctor asked the patient.") == ""
    assert told(starter, SAID) == "8 of 13 pieces are unknown to this model."


def test_half_of_the_pieces_are_many_however_few_there_are() -> None:
    assert UnknownPieces(4, 2, 4, 0, 1, 1).are_many and not UnknownPieces(5, 2, 5, 0, 1, 1).are_many
    assert UnknownPieces(30, 3, 30, 0, 1, 1).are_many and not UnknownPieces(31, 3, 31, 0, 1, 1).are_many
