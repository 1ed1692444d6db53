"""The lecture on fine-tuning says what its two models give today, in each language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtWidgets import QApplication

from app import shipped
from app.language import speak_in
from app.lectures.lecture import Lecture, read_lecture
from app.work.titles import model_title
from assets.lectures.make_tuned import TELLINGS, lecture
from assets.models.make import MODELS
from engine.language import ENGLISH

NUMBER = re.compile(r"\d[\d,.]*\d|\d")


@pytest.fixture(params=list(TELLINGS))
def language(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[str]:
    speak_in(qapp, request.param)
    yield request.param
    speak_in(qapp, ENGLISH)


def worded(one: Lecture) -> Lecture:
    """Return it without the numbers in its sentences."""
    return replace(one, scenes=tuple(replace(s, sentence=NUMBER.sub("#", s.sentence)) for s in one.scenes))


@pytest.mark.slow
def test_every_number_of_the_lecture_is_what_the_models_give(language: str) -> None:
    """Other processors add up in another order, so the last digit may differ."""
    shown = read_lecture(shipped.assets() / "lectures" / TELLINGS[language].file)
    computed = lecture(language)
    assert worded(shown) == worded(computed)
    for one, other in zip(shown.scenes, computed.scenes, strict=True):
        said, found = (
            [float(number.replace(",", "")) for number in NUMBER.findall(scene.sentence)]
            for scene in (one, other)
        )
        assert found == pytest.approx(said, abs=0.6)


def test_the_lecture_calls_its_models_as_the_window_does(language: str) -> None:
    told = TELLINGS[language]
    named = read_lecture(shipped.assets() / "lectures" / told.file).scenes[1].models
    assert named["model"].name == model_title(MODELS / told.before)
    assert named["other"].name == model_title(MODELS / told.after)
