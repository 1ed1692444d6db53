"""The lectures in the box: each scene opens with the models in the box, and what is said of it is so."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app import shipped
from app.language import speak_in
from app.lectures.find import fingerprint_of
from app.lectures.lecture import read_lecture
from app.page_stack import is_kept
from app.settings import AppSettings
from app.stories.known import STORIES
from assets.lectures import make_counting, make_reading, make_tuned
from engine.language import ENGLISH
from tests.app.hand import Hand, OpenWindow, come_to_rest

FOLDER = shipped.assets() / "lectures"
FAMILY = shipped.assets() / "models" / "family"
FILES = sorted(FOLDER.glob("*.json"))
MAKERS: list[Any] = [make_reading, make_counting, make_tuned]
NUMBER = re.compile(r"\d[\d,.]*\d|\d")


def test_every_lecture_in_the_box_is_offered_and_titled_as_it_is() -> None:
    offered = (*shipped.lectures(), *shipped.other_lectures())
    assert {one.path for one in offered} == set(FILES) and len(FILES) >= 2
    for one in offered:
        read = read_lecture(one.path)
        assert (read.title, read.language) == (one.title, one.language)
    assert {one.language for one in shipped.lectures()} == {ENGLISH}


def test_every_lecture_is_told_in_every_language_of_a_story_scene_by_scene() -> None:
    for maker in MAKERS:
        assert set(maker.TELLINGS) == set(STORIES)
        pages = {
            tuple(scene.page for scene in read_lecture(FOLDER / said.file).scenes)
            for said in maker.TELLINGS.values()
        }
        assert len(pages) == 1


def seen(values: Mapping[str, Any]) -> Any:
    """Return a scene's values without what is asked of an attribution that is not in view."""
    hidden = ("asked",) if values.get("view") != "attribution" else ()
    return json.loads(json.dumps({name: value for name, value in values.items() if name not in hidden}))


@pytest.mark.slow
@pytest.mark.parametrize("language", STORIES)
@pytest.mark.parametrize("maker", [make_reading, make_counting])
def test_what_a_lecture_says_is_what_the_models_say(maker: Any, language: str, qapp: QApplication) -> None:
    """Other processors add up in another order, so the last digit of a share may differ."""
    said = maker.TELLINGS[language]
    speak_in(qapp, language)
    try:
        facts = maker.facts(said)
    finally:
        speak_in(qapp, ENGLISH)
    shown = read_lecture(FOLDER / said.file).scenes
    for scene, (title, sentence) in zip(shown, said.said.values(), strict=True):
        computed = sentence.format(**facts)
        assert (scene.title, worded(scene.sentence)) == (title.format(**facts), worded(computed))
        assert numbers(scene.sentence) == pytest.approx(numbers(computed), abs=1.1)


def worded(sentence: str) -> str:
    """Return a sentence without its numbers."""
    return NUMBER.sub("#", sentence)


def numbers(sentence: str) -> list[float]:
    return [float(number.replace(",", "")) for number in NUMBER.findall(sentence)]


@pytest.mark.slow
def test_every_scene_in_the_box_opens_and_shows_what_was_kept(
    open_window: OpenWindow, settings: AppSettings, qtbot: QtBot
) -> None:
    window = open_window(settings)
    window.show_page("welcome")
    Hand(window, qtbot).click("welcome_watch")
    lectures = window.lectures
    qtbot.waitUntil(lambda: lectures.player.is_on)
    for path in FILES:
        lectures.player.end()
        lectures.open(path, starts=True)
        qtbot.waitUntil(lambda: lectures.player.is_on and not lectures.current.is_busy)
        assert not lectures.current.lacking and lectures.current.path is None  # what ships is not written to
        for place, scene in enumerate(lectures.current.lecture.scenes):
            lectures.player.go(place)
            page: Any = window.page(scene.page)
            qtbot.waitUntil(lambda page=page: page.is_state_shown)  # type: ignore[misc]
            come_to_rest(window.session, qtbot)
            said = f"{path.name}, {place + 1}: {scene.title}"
            assert is_kept(scene.page) and not lectures.player.hole.isVisible(), said
            state = page.as_scene()
            assert seen(state.values) == seen(scene.values), said
            assert (state.text, state.text_pair) == (scene.text, scene.text_pair), said
            assert lectures.player.bar.title.text() == scene.title
    lectures.player.end()


def test_a_family_is_known_again_after_its_card_is_written_anew(tmp_path: Path) -> None:
    for member in ("ngram", "glove"):
        shutil.copytree(FAMILY / member, tmp_path / member)
    report = tmp_path / "family.json"
    report.write_text("{}", encoding="utf-8")
    before = fingerprint_of(tmp_path)
    report.write_text('{"asked": "again"}', encoding="utf-8")
    assert fingerprint_of(tmp_path) == before
    shutil.rmtree(tmp_path / "glove")
    report.write_text('{"asked": "of one"}', encoding="utf-8")
    assert fingerprint_of(tmp_path) != before
