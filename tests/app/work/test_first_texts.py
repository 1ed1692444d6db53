"""The texts that are there at first show the point of their pages, where the starter ships."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.pages.welcome.guess import guess
from app.stories.known import STORIES
from app.work.models import OpenModels
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.probe import GapTable, probe
from engine.text.segmenter import finds_chinese_words
from engine.text.words import Word, within, words_of

CHINESE = Path(__file__).parents[3] / "assets" / "models" / "chinese"
STARTER = Path(__file__).parents[3] / "assets" / "models" / "starter"

SENTENCE, HIDDEN = STORIES["en"].start

pytestmark = pytest.mark.skipif(
    not (STARTER / "config.json").is_file(), reason="the starter does not ship here"
)


def test_the_starter_guesses_the_word_that_start_hides_and_looks_at_another_word_for_it() -> None:
    found = guess(OpenModels(), STARTER, SENTENCE, SENTENCE.index(HIDDEN))
    (best, share), *_others = found.shown.guesses
    assert best == found.shown.words[found.shown.hidden] == "doctor" and share > 0.5
    assert max(found.shown.looks_at) > 0.2 and sum(found.shown.looks_at) < 1
    most = max(range(len(found.shown.words)), key=lambda place: found.shown.looks_at[place])
    assert found.shown.words[most] == "patient"


def test_the_first_text_has_a_word_that_is_split_and_hides_one_that_the_starter_guesses() -> None:
    subject = OpenModels().subject(STARTER)
    hidden, found = guessed(subject, *STORIES["en"].first)
    best, second = found.answers[0].guesses[:2]
    assert best.word == hidden.text and best.probability > 4 * second.probability
    assert max(len(word.pieces) for word in found.masked.words) == 3


def guessed(subject: LoadedModel, text: str, hidden: str) -> tuple[Word, GapTable]:
    """Return the word that is hidden in a first text, and what a model guesses."""
    found = words_of(subject.about.encode(text), text)
    place = within(found, text, hidden)[0]
    return found[place], probe(subject, text, words=[place])


def check_chinese() -> str:
    hidden, found = guessed(OpenModels().subject(CHINESE), *STORIES["zh"].first)
    best, second = found.answers[0].guesses[:2]
    assert best.word == hidden.text and best.probability > 4 * second.probability
    text, word = STORIES["zh"].start
    told = guess(OpenModels(), CHINESE, text, text.index(word)).shown
    assert told.guesses[0][0] == told.words[told.hidden] == hidden.text
    return hidden.text


def test_the_first_chinese_text_hides_a_word_that_the_chinese_starter_guesses() -> None:
    if not finds_chinese_words():
        pytest.skip("rjieba is not installed")
    assert check_chinese() == "错误"


def test_without_a_segmenter_it_hides_a_character_that_the_starter_guesses(chinese_characters: None) -> None:
    assert check_chinese() == "错"
