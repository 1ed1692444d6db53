"""Each language has its story: what a window shows before anybody types is in its language, with models that
read it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from math import exp
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app import shipped
from app.language import speak_in
from app.main_window import MainWindow
from app.pages.pretrain.pins import problem_of
from app.settings import AppSettings
from app.stories.known import STORIES, language_here, story, story_of, story_read_by
from app.stories.story import SampleText, Story
from app.tour.steps import Tour
from app.windows import Windows
from app.work.titles import model_title
from engine.events import result_of
from engine.family.ask import Family
from engine.family.questions.blank import FillBlank
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.masked import mask
from engine.inspect.masked.probe import ask
from engine.inspect.masked.template import Template
from engine.language import ENGLISH, languages
from engine.text.languages import CHINESE
from engine.text.words import within, words_of
from tests.app.hand import come_to_rest

MODELS = shipped.assets() / "models"
LATIN = re.compile(r"[A-Za-z]{2,}(?: [A-Za-z]{2,})+")  # two words of it are a phrase


@pytest.fixture
def chinese(qapp: QApplication) -> Iterator[None]:
    speak_in(qapp, "zh")
    yield
    speak_in(qapp, ENGLISH)


def test_every_language_of_a_story_is_one_that_the_window_speaks_and_others_get_the_english_one() -> None:
    assert set(STORIES) <= set(languages()) and ENGLISH in STORIES
    assert story_of("de") is STORIES[ENGLISH] and language_here() == ENGLISH


@pytest.mark.parametrize("language", STORIES)
def test_a_story_names_models_and_tables_that_ship(language: str) -> None:
    told = STORIES[language]
    assert shipped.model_named(told.starter) is not None
    assert (MODELS / told.family / "family.json").is_file()
    for key in (told.table.key, told.text[0]):
        table = shipped.table_named(key)
        assert table.path.is_file() and table.language == language
    assert told.text[1] in shipped.table_named(told.text[0]).path.read_text("utf-8").partition("\n")[0]


@pytest.mark.parametrize("language", STORIES)
def test_the_starter_of_a_story_guesses_the_words_that_it_hides(language: str) -> None:
    told = STORIES[language]
    model = LoadedModel.open(MODELS / told.starter, "cpu")
    for text, hidden in (told.first, told.start):
        places = within(words_of(model.about.encode(text), text), text, hidden)
        answers = ask(model, mask(model.about, text, words=places), top_k=1).answers
        best = [one.guesses[0] for one in answers]
        assert "".join(one.word for one in best) == hidden, text
        assert exp(sum(one.log_probability for one in best)) > 0.25, text
    for one in told.pins:
        assert not problem_of(one), one
    assert any(len(part) > 1 for part in Template.parse(told.template[0]).parts if isinstance(part, tuple))
    asked = [one for one in told.texts if "[MASK]" in one.text or one.pair]
    for one in (*asked, *(SampleText(text, "") for text in told.table.asked)):
        assert "[UNK]" not in model.wordpiece.encode(one.text, one.pair or None).tokens, one


@pytest.mark.parametrize("language", STORIES)
def test_the_family_of_a_story_knows_what_it_is_asked_first(language: str) -> None:
    told = STORIES[language].family_texts
    family = Family.open(MODELS / STORIES[language].family)
    for text, right in told.blanks:
        assert family.word(right) and text.count("____") == 1
    words = [told.near, *told.analogy.split(), *told.senses]
    assert all(family.word(word) for word in words)
    for word, groups in told.senses.items():
        assert all(family.word(word) in family.words(line) for group in groups for line in group)


@pytest.mark.parametrize("language", STORIES)
def test_the_first_blank_of_a_story_is_filled_by_bert_and_by_none_who_reads_the_left_side_alone(
    language: str,
) -> None:
    told = STORIES[language]
    folder, starter = MODELS / told.family, MODELS / told.starter
    family = Family.open(folder, open_model=lambda path: LoadedModel.open(path, "cpu"))
    text, right = told.family_texts.blanks[0]
    asked = FillBlank(folder, text.replace("____", "[MASK]"), right.lower(), bert=starter)
    ranks = {name: one.rank for name, one in result_of(asked.answer(family)).filled.items()}
    assert ranks["bert"] == 1
    assert all(ranks[name] and ranks[name] > 1 for name in ("ngram", "nnlm", "gpt"))


def test_a_vocabulary_is_shown_the_story_that_it_reads(chinese: None) -> None:
    english, own = (LoadedModel.open(MODELS / name, "cpu").wordpiece for name in ("starter", "chinese"))
    assert story_read_by(english) is STORIES[ENGLISH] and story_read_by(own) is STORIES["zh"] is story()


def _texts(value: object) -> Iterator[str]:
    """Yield all texts within a part of a story."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, tuple):
        for one in value:
            yield from _texts(one)
    elif hasattr(value, "__dataclass_fields__"):
        for field in fields(value):  # type: ignore[arg-type]
            yield from _texts(getattr(value, field.name))


def test_nothing_in_the_chinese_story_is_a_phrase_of_english_but_the_sentence_that_says_so() -> None:
    told: Story = STORIES["zh"]
    found = [text for text in _texts(told) if LATIN.search(text)]
    assert found == ["It was an unbelievably antidisestablishmentarian speech."]


def test_a_chinese_window_begins_with_chinese_models_lectures_and_samples(chinese: None) -> None:
    assert (
        shipped.home_model() == MODELS / "chinese" and shipped.shipped_family() == MODELS / "family-chinese"
    )
    assert [one.language for one in shipped.lectures()] == ["zh"] * 3
    assert [one.language for one in shipped.other_lectures()] == [ENGLISH] * 3
    first = [one.language for one in shipped.samples()]
    assert first == sorted(first, key=lambda language: language != "zh") and first[0] == "zh"
    assert shipped.home_table().key == "chinese_questions"
    assert shipped.starter_model(CHINESE) == shipped.home_model()


@pytest.mark.slow
@pytest.mark.parametrize("what", ["lecture", "tour"])
def test_another_language_may_be_taken_while_a_lecture_or_the_tour_is_open(
    what: str, qapp: QApplication, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CLOZE_LANG", raising=False)
    settings = AppSettings(tmp_path / "settings.ini")
    settings.runs_root, settings.language = tmp_path / "runs", ENGLISH
    windows = Windows(qapp, settings, warm_up=False)
    first: MainWindow = windows.window
    first.show()
    if what == "lecture":
        first.show_lecture(shipped.lectures()[0].path)
        qtbot.waitUntil(lambda: first.lectures.player.is_on)
    else:
        Tour(first).start()
    come_to_rest(first.session, qtbot)
    settings.language = "zh"
    windows.renew()
    second = windows.window
    assert second is not first and second.isVisible() and not second.isFullScreen()
    assert second.rail.isVisible()
    second.show_lecture(shipped.lectures()[0].path)
    qtbot.waitUntil(lambda: second.lectures.player.is_on and not second.lectures.current.is_busy)
    come_to_rest(second.session, qtbot)
    assert second.lectures.current.lecture.language == "zh" and not second.lectures.current.lacking
    assert second.lectures.player.bar.title.text() == "词变成词片"
    assert second.session.inspector.folder is None or model_title(second.session.inspector.folder)
    second.close()
    assert second.session.wait_idle()
    second.deleteLater()
    windows.deleteLater()
    speak_in(qapp, ENGLISH)
