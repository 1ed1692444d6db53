"""Languages by letters and py3langid: alone what is likely is told, in a table the other texts tell too."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.bench_languages import TEN, in_tables, shortened
from engine.evaluation.slices import languages
from engine.events import result_of
from engine.text.languages import language_of, usual_languages
from engine.text.table import read_table

SAMPLES = Path(__file__).parents[3] / "assets" / "samples"
FOLDER = Path(__file__).parents[2] / "data" / "sentences"
SENTENCES = {
    path.stem: list(map(shortened, path.read_text(encoding="utf-8").splitlines()))
    for path in sorted(FOLDER.glob("*.txt"))
}
REVIEWS = ["The film was not as good as the book.", "It is a long way to the end.", "A dull, lazy mess."] * 20


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The film was not as good as the book that it is based on.", "English"),
        ("Der Film ist nicht so gut wie das Buch, aber ich mag ihn.", "German"),
        ("Le film est une adaptation qui ne vaut pas les livres.", "French"),
        ("La película no es tan buena como el libro que leí por la noche.", "Spanish"),
        ("O filme não é uma obra que eu veria com os amigos.", "Portuguese"),
        ("Den var mycket bra och jag tyckte om den.", "Swedish"),
        ("Film ini sangat bagus dan saya tidak akan lupa.", "Indonesian"),
        ("Фильм не так хорош, как книга, но это мне нравится.", "Russian"),
        ("Фільм не такий добрий, як книга, але він мені подобається.", "Ukrainian"),
        ("هذا الفيلم جميل جدا وأعجبني كثيرا", "Arabic"),
        ("این فیلم خیلی خوب بود و از آن لذت بردم", "Persian"),
        ("यह फ़िल्म बहुत अच्छी थी और मुझे पसंद आई", "Hindi"),
        ("הסרט היה טוב מאוד", "Hebrew"),
        ("这部电影很好看，我喜欢。", "Chinese"),
        ("この映画はとても良かったです。", "Japanese"),
        ("영화가 정말 좋았어요", "Korean"),
        ("η ταινία ήταν καλή", "Greek"),
        ("我看了 Titanic 这部电影，觉得非常好看", "Chinese"),
        ("12:30 !?", "no letters"),
        ("", "no letters"),
    ],
)
def test_a_text_alone_is_told_by_its_letters_and_how_they_follow_one_another(
    text: str, language: str
) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(("text", "language"), [("not bad at all", "English"), ("sehr gut", "German")])
def test_two_words_are_enough_where_they_tell(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize("text", ["ok", "gripping", "Nokia 3310", "Titanic", "X-7 HDMI 12 kg", "bad"])
def test_what_could_be_of_many_languages_is_only_told_its_script(text: str) -> None:
    assert language_of(text) == "Latin letters"


@pytest.mark.parametrize("text", ["ok", "gripping", "Nokia 3310", "a no-brainer do as I say", "Titanic"])
def test_in_a_table_such_a_text_is_of_the_tables_language(text: str) -> None:
    assert language_of(text, usual_languages([*REVIEWS, text])) == "English"


def test_a_sentence_in_another_language_is_told_in_a_table_too() -> None:
    usual = usual_languages(REVIEWS)
    assert language_of("Der Film ist nicht so gut wie das Buch.", usual) == "German"
    assert language_of("这部电影很好看", usual) == "Chinese"
    assert language_of("Фильм не так хорош, как книга.", usual) == "Russian"
    assert language_of("12:30", usual) == "no letters"


def test_of_eight_words_nine_in_ten_are_told_right_in_every_language() -> None:
    right = {
        name: sum(language_of(text) == name for text in texts) / len(texts)
        for name, texts in SENTENCES.items()
    }
    assert set(right) >= TEN and len(right) == 20
    assert sum(right[name] for name in TEN) / len(TEN) >= 0.97
    assert min(right[name] for name in TEN) >= 0.9
    assert sum(right.values()) / len(right) >= 0.97  # of Indonesian, a seventh could be Malay


def test_in_a_table_of_fifty_rows_98_in_100_are_told_right_in_every_language() -> None:
    right = {name: in_tables(texts).count(name) / len(texts) for name, texts in SENTENCES.items()}
    assert all(len(texts) == 50 for texts in SENTENCES.values())
    assert min(right.values()) >= 0.98


@pytest.mark.parametrize("language", ["Spanish", "German", "Polish", "Indonesian"])
def test_one_row_in_twenty_of_another_language_is_found_and_no_english_one(language: str) -> None:
    texts = read_table(SAMPLES / "emotions.csv").frame["text"].tolist()[:950]
    planted = random.Random(1).sample(SENTENCES[language], 50)
    found = result_of(languages([*texts, *planted]))
    assert found[950:].count(language) >= 47
    assert found[:950].count("English") == 950


def test_a_table_of_two_languages_has_both() -> None:
    mixed = [one for pair in zip(SENTENCES["Dutch"], SENTENCES["German"], strict=True) for one in pair]
    found = result_of(languages(mixed))
    assert Counter(found[::2])["Dutch"] >= 49 and Counter(found[1::2])["German"] >= 49


def test_a_table_of_one_language_has_no_slices_by_language() -> None:
    assert result_of(languages([*REVIEWS, "gripping", "ok"])) == ()
    assert result_of(languages([])) == ()


@pytest.mark.slow
def test_of_ten_thousand_reviews_those_alone_that_are_are_told_as_spanish_or_portuguese() -> None:
    texts = read_table(SAMPLES / "sentence_polarity.csv").frame["text"].tolist()
    counts = Counter(result_of(languages(texts)))
    assert counts.total() == 10_662
    assert counts == {"English": 10_606, "Spanish": 33, "Portuguese": 22, "French": 1}  # by eye: 56
