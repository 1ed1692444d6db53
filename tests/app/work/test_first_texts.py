"""The texts that are there at first show the point of their pages, where the starter ships."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.pages.welcome.guess import HIDDEN, SENTENCE, guess
from app.work.models import OpenModels

STARTER = Path(__file__).parents[3] / "assets" / "models" / "starter"

pytestmark = pytest.mark.skipif(
    not (STARTER / "config.json").is_file(), reason="the starter does not ship here"
)


def test_the_starter_guesses_the_word_that_start_hides_and_looks_at_another_word_for_it() -> None:
    found = guess(OpenModels(), STARTER, SENTENCE, HIDDEN)
    (best, share), *_others = found.shown.guesses
    assert best == found.shown.words[HIDDEN] and share > 0.5
    assert max(found.shown.looks_at) > 0.2 and sum(found.shown.looks_at) < 1
    most = max(range(len(found.shown.words)), key=lambda place: found.shown.looks_at[place])
    assert found.shown.words[most] == "patient"
