"""What is said of a text’s capitals, accents, ideographs, emoji and numbers is true of its pieces."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.inspect.treatment import ACCENTS, CAPITALS, EMOJI, IDEOGRAPHS, NUMBERS, SPELLING, treatment
from engine.text.read_tokenizer import read_tokenizer
from engine.text.tokenizer import Tokenizer
from engine.text.trace import trace
from engine.text.unigram import Unigram
from engine.text.wordpiece import WordPiece
from tests.fakes import tiny_byte_level, tiny_unigram

SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PIECES = (*SPECIALS, "cafe", "Café", "the", "The", "我", "爱", "20", "##2", "##6", "2026", ",", "😀")
LOWER = WordPiece(PIECES, lowercase=True)
CASED = WordPiece(PIECES, lowercase=False)


def said(tokenizer: Tokenizer, text: str) -> dict[str, str]:
    found = treatment(tokenizer, trace(tokenizer, text))
    return {topic: " ".join(map(str, sentences)) for topic, sentences in found.said.items()}


def test_only_what_the_text_has_is_told_of() -> None:
    assert said(LOWER, "the cafe") == {SPELLING: "Exactly."}
    assert said(LOWER, "  ") == {}


@pytest.mark.parametrize(
    ("tokenizer", "text", "capitals"),
    [
        (LOWER, "The café", "Made lower case."),
        (CASED, "The café", "Kept."),
        (CASED, "Xyz The", "Kept. Unknown: 1 of 2."),
        (CASED, "Xyz Q", "Unknown, all of them."),
        (CASED, "Xyz the", "Unknown."),
        (tiny_byte_level(), "The ÉTÉ", "Kept."),
        (tiny_unigram("albert"), "The", "Made lower case."),
    ],
)
def test_capitals(tokenizer: Tokenizer, text: str, capitals: str) -> None:
    assert said(tokenizer, text)[CAPITALS] == capitals


def test_accents_of_one_character_or_two() -> None:
    assert said(LOWER, "café the")[ACCENTS] == "Removed."
    assert said(CASED, "Café")[ACCENTS] == "Kept."
    assert said(tiny_byte_level(), "café Zoë")[ACCENTS] == "Kept."
    capital = WordPiece((*SPECIALS, "E"), lowercase=False, strip_accents=True)
    told = said(capital, "É")
    assert (told[CAPITALS], told[ACCENTS]) == ("Kept.", "Removed.")


def test_ideographs_alone_together_in_parts_and_unknown() -> None:
    assert said(LOWER, "我爱, the")[IDEOGRAPHS] == "Each character is one piece."
    assert said(LOWER, "我们爱")[IDEOGRAPHS] == "Each character is one piece. Unknown: 1 of 3."
    assert said(LOWER, "他们")[IDEOGRAPHS] == "Unknown, all of them."
    assert said(LOWER, "我")[IDEOGRAPHS] == "It is one piece."
    assert said(tiny_unigram(), "今天")[IDEOGRAPHS] == "2 characters are one piece."
    several = "3 characters become 2 pieces. The longest has 2 of them."
    assert said(tiny_unigram(), "今天今")[IDEOGRAPHS] == several
    parts = "2 characters become 6 pieces, some of them parts of a character."
    assert said(tiny_byte_level(), "我爱")[IDEOGRAPHS] == parts
    assert said(tiny_byte_level(), "我")[IDEOGRAPHS] == "It becomes 3 pieces, parts of the character."


def test_emoji_with_their_skin_are_one() -> None:
    assert said(LOWER, "the 😀")[EMOJI] == "It is one piece."
    assert said(LOWER, "the 👍🏽")[EMOJI] == "Unknown."
    assert said(tiny_byte_level(), "the 👍🏽 😀")[EMOJI] == "2 become 12 pieces."
    assert EMOJI not in said(LOWER, "the cafe, 我")


def test_numbers_whole_in_parts_digit_by_digit_and_with_more() -> None:
    assert said(LOWER, "2026")[NUMBERS] == "2026 is one piece."
    assert said(LOWER, "the 20226")[NUMBERS] == "20226 becomes 4 pieces: 20 · 2 · 2 · 6."
    assert said(tiny_byte_level(), "in 2026, 12")[NUMBERS] == "2026 goes digit by digit: 2 · 0 · 2 · 6."
    assert said(LOWER, "77")[NUMBERS] == "77 is unknown."
    base = tiny_unigram()
    more = Unigram((*base.base[:-1], "▁a12", base.base[-1]), (*base.scores[:-1], -1.0, base.scores[-1]))
    assert said(more, "a12")[NUMBERS] == "12 is in a piece with more of the text: a12."


def test_whether_the_text_can_be_had_back() -> None:
    inexact = "Not exactly."
    assert said(LOWER, "The cafe")[SPELLING] == inexact
    assert said(tiny_byte_level(), "The  café, 我 😀\n")[SPELLING] == "Exactly."
    assert said(tiny_unigram(), "the film 今天")[SPELLING] == "Exactly."
    assert said(tiny_unigram(), "the  film")[SPELLING] == inexact


def test_the_count_is_of_pieces_and_of_those_that_are_unknown() -> None:
    found = treatment(LOWER, trace(LOWER, "the xyz, 他"))
    assert (found.num_pieces, found.num_unknown) == (4, 2)


def test_real_vocabularies_on_one_text(real_data: Path) -> None:
    text = "In 2026 Zoë PAID 3 euros. 我爱看电影 👍🏽"
    told = {
        name: said(read_tokenizer(real_data / "tokenizers" / name), text) for name in ("roberta", "albert-en")
    }
    assert told["roberta"][CAPITALS] == "Kept." and told["roberta"][ACCENTS] == "Kept."
    assert told["albert-en"][CAPITALS] == "Made lower case."
    assert told["albert-en"][ACCENTS] == "Removed."
    assert told["roberta"][SPELLING] == "Exactly."
    assert "parts of a character" in told["roberta"][IDEOGRAPHS] and "nknown" in told["albert-en"][IDEOGRAPHS]
