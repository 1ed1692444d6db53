"""The guessing game: rounds that can be guessed, the same for the same seed; and a fair verdict."""

from __future__ import annotations

import pytest

from engine.errors import UserError
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.game import Round, deal, play
from engine.inspect.masked.probe import probe
from tests.looks.looking_scenes import language_model

TEXTS = [
    f"{who} sat by the old river bank {when}. It was steep." for who in ("She", "He", "I") for when in "abcde"
]


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return LoadedModel.open(language_model(tmp_path_factory.mktemp("language")))


def test_rounds_hide_one_whole_known_word_and_come_again_with_their_seed(subject: LoadedModel) -> None:
    rounds = deal(subject.about, TEXTS, seed=3)
    assert rounds == deal(subject.about, TEXTS, seed=3) != deal(subject.about, TEXTS, seed=4)
    assert len(rounds) == 10 == len({one.text for one in rounds})
    for one in rounds:
        assert one.answer in ("sat", "the", "old", "river", "bank") and one.text.count(one.answer) == 1
        assert one.asked == one.text.replace(one.answer, "[MASK]")
    with pytest.raises(UserError, match="Only 0 sentences"):
        deal(subject.about, ["Short one."], seed=3)


def test_the_verdict_is_the_models_own_and_takes_a_word_in_any_case(subject: LoadedModel) -> None:
    text = TEXTS[0]
    start = text.index("river")
    one = Round(text, 5, start, start + 5)
    found = probe(subject, one.asked, top_k=5).answers[0]
    for said, is_right in (("River", True), (" river ", True), ("boat", False), ("", False), ("龙", False)):
        verdict = play(subject, one, said)
        assert verdict.is_right is is_right
        assert [guess.word for guess in verdict.model.guesses] == [guess.word for guess in found.guesses]
        assert (verdict.yours is None) == (said in ("", "龙"))
    original = verdict.model.original
    assert original is not None and verdict.model_is_right == (found.guesses[0].word == "river")
