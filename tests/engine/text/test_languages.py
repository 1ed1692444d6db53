"""Languages by letters and small words: what is plain is told, what is not stays its script."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from engine.text.languages import language_of, usual_languages
from engine.text.table import read_table

SENTENCES = Path(__file__).parents[3] / "assets" / "samples" / "sentence_polarity.csv"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The film was not as good as the book that it is based on.", "English"),
        ("Der Film ist nicht so gut wie das Buch, aber ich mag ihn.", "German"),
        ("Le film est une adaptation qui ne vaut pas les livres.", "French"),
        ("La película no es tan buena como el libro que leí por la noche.", "Spanish"),
        ("O filme não é uma obra que eu veria com os amigos.", "Portuguese"),
        ("Фильм не так хорош, как книга, но это мне нравится.", "Russian"),
        ("这部电影很好看，我喜欢。", "Chinese"),
        ("この映画はとても良かったです。", "Japanese"),
        ("영화가 정말 좋았어요", "Korean"),
        ("η ταινία ήταν καλή", "Greek"),
        ("gripping", "Latin letters"),
        ("12:30 !?", "no letters"),
        ("", "no letters"),
        ("我看了 Titanic 这部电影，觉得非常好看", "Chinese"),
    ],
)
def test_a_text_is_told_by_its_letters_and_small_words(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("great product", "English"),
        ("not bad at all", "English"),
        ("sehr gut", "German"),
        ("Den var mycket bra och jag tyckte om den.", "Swedish"),
        ("Film ini sangat bagus dan saya tidak akan lupa.", "Indonesian"),
    ],
)
def test_a_short_text_is_told_by_a_word_that_one_language_alone_has(text: str, language: str) -> None:
    assert language_of(text) == language


def test_a_text_is_of_the_files_language_unless_its_words_plainly_say_otherwise() -> None:
    told = ["The film was not as good as the book.", "It is a long way to the end of this one."]
    usual = usual_languages(language_of(text) for text in [*told, "gripping", "这部电影很好看"])
    assert usual == ("English",)
    assert language_of("gripping", usual) == "English"
    assert language_of("a no-brainer do as I say", usual) == "English"
    assert language_of("Der Film ist nicht so gut wie das Buch.", usual) == "German"
    assert language_of("这部电影很好看", usual) == "Chinese"


@pytest.mark.slow
def test_of_ten_thousand_reviews_those_alone_that_are_are_told_as_spanish_or_portuguese() -> None:
    texts = read_table(SENTENCES).frame["text"].tolist()
    usual = usual_languages(found := [language_of(text) for text in texts])
    counts = Counter(language_of(text, usual) for text in texts)
    assert usual == ("English",) and len(found) == 10_662
    foreign = counts.total() - counts["English"]
    assert set(counts) <= {"English", "Spanish", "Portuguese", "French"} and 50 <= foreign <= 60  # by eye: 56
