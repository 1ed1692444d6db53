"""The lecture on fine-tuning says what its two models give today."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from app.lectures.lecture import Lecture, read_lecture
from app.work.titles import model_title
from assets.lectures.make_tuned import AFTER, BEFORE, TARGET, lecture
from assets.models.make import MODEL, MODELS, TINY, TUNED

NUMBER = re.compile(r"\d[\d,.]*\d|\d")


def worded(one: Lecture) -> Lecture:
    """Return it without the numbers in its sentences."""
    return replace(one, scenes=tuple(replace(s, sentence=NUMBER.sub("#", s.sentence)) for s in one.scenes))


@pytest.mark.slow
def test_every_number_of_the_lecture_is_what_the_models_give() -> None:
    """Other processors add up in another order, so the last digit may differ."""
    shown, computed = read_lecture(TARGET), lecture()
    assert worded(shown) == worded(computed)
    for one, other in zip(shown.scenes, computed.scenes, strict=True):
        said, found = (
            [float(number.replace(",", "")) for number in NUMBER.findall(scene.sentence)]
            for scene in (one, other)
        )
        assert found == pytest.approx(said, abs=0.6)


def test_the_lecture_calls_its_models_as_the_window_does() -> None:
    assert model_title(MODELS / TINY / MODEL) == BEFORE
    assert model_title(MODELS / TUNED) == AFTER
