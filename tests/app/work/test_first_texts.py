"""The texts that are there at first show the point of their pages, where the starter ships."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.pages.probe.page import FIRST_WORDS
from app.pages.welcome.guess import CHINESE_HIDDEN, CHINESE_SENTENCE, HIDDEN, SENTENCE, guess
from app.work.inspector import FIRST_CHINESE_TEXT, FIRST_TEXT
from app.work.models import OpenModels
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.probe import GapTable, probe
from engine.text.segmenter import finds_chinese_words
from engine.text.words import Word, words_of

CHINESE = Path(__file__).parents[3] / "assets" / "models" / "chinese"
STARTER = Path(__file__).parents[3] / "assets" / "models" / "starter"

pytestmark = pytest.mark.skipif(
    not (STARTER / "config.json").is_file(), reason="the starter does not ship here"
)


def test_the_starter_guesses_the_word_that_start_hides_and_looks_at_another_word_for_it() -> None:
    found = guess(OpenModels(), STARTER, SENTENCE, HIDDEN)
    (best, share), *_others = found.shown.guesses
    assert best == found.shown.words[found.shown.hidden] == "doctor" and share > 0.5
    assert max(found.shown.looks_at) > 0.2 and sum(found.shown.looks_at) < 1
    most = max(range(len(found.shown.words)), key=lambda place: found.shown.looks_at[place])
    assert found.shown.words[most] == "patient"


def test_the_first_text_has_a_word_that_is_split_and_hides_one_that_the_starter_guesses() -> None:
    subject = OpenModels().subject(STARTER)
    hidden, found = guessed(subject, FIRST_TEXT)
    best, second = found.answers[0].guesses[:2]
    assert best.word == hidden.text and best.probability > 4 * second.probability
    assert max(len(word.pieces) for word in found.masked.words) == 3


def guessed(subject: LoadedModel, text: str) -> tuple[Word, GapTable]:
    """Return the word that is hidden in a first text, and what a model guesses."""
    start = text.index(FIRST_WORDS[text])
    words = words_of(subject.about.encode(text), text)
    place = next(place for place, word in enumerate(words) if word.start == start)
    return words[place], probe(subject, text, words=[place])


def check_chinese() -> str:
    hidden, found = guessed(OpenModels().subject(CHINESE), FIRST_CHINESE_TEXT)
    best, second = found.answers[0].guesses[:2]
    assert best.word == hidden.text and best.probability > 4 * second.probability
    told = guess(OpenModels(), CHINESE, CHINESE_SENTENCE, CHINESE_HIDDEN).shown
    assert told.guesses[0][0] == told.words[told.hidden] == hidden.text
    return hidden.text


def test_the_first_chinese_text_hides_a_word_that_the_chinese_starter_guesses() -> None:
    if not finds_chinese_words():
        pytest.skip("rjieba is not installed")
    assert check_chinese() == "错误"


def test_without_a_segmenter_it_hides_a_character_that_the_starter_guesses(chinese_characters: None) -> None:
    assert check_chinese() == "错"
