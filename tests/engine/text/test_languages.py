"""Languages by letters and small words: what is plain is told, what is not stays its script."""

from __future__ import annotations

import pytest

from engine.text.languages import language_of


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
