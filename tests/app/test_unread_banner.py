"""One banner over the pages says how much of a text or table is unknown to the model, and leads on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app import shipped
from app.main_window import MainWindow
from app.pages.embeddings.questions import TEXTS_QUESTION
from app.pages.evaluate.state import EvaluateState
from app.pages.predict.state import PredictState
from app.settings import AppSettings
from app.work.texts_read import OPEN, START, TextsRead, typed
from engine.model.weights import save_model
from engine.questions.labelled import LabelledTexts
from engine.text.languages import CHINESE
from tests.app.hand import Hand, OpenWindow, come_to_rest
from tests.fakes import model_folder, tiny_pretraining, tiny_wordpiece

CHINESE_TEXT, ENGLISH_TEXT = "因为下雨，所以我们没有去。", "good film"
LOOKING = ("tokenizer", "probe", "attention", "anatomy")


@pytest.fixture
def english(tmp_path: Path) -> Path:
    """A model of English letters that guesses words, and reads no Chinese."""
    save_model(tmp_path / "english", tiny_pretraining(), tiny_wordpiece())
    return tmp_path / "english"


@pytest.fixture
def window(
    settings: AppSettings, open_window: OpenWindow, english: Path, qtbot: QtBot
) -> Iterator[MainWindow]:
    window = open_window(settings)
    window.session.inspector.hold(english)
    window.session.inspector.set_text(CHINESE_TEXT)
    come_to_rest(window.session, qtbot)
    yield window
    come_to_rest(window.session, qtbot)


def visit(window: MainWindow, qtbot: QtBot, key: str, state: Any = None) -> str:
    """Return what the banner says over a page."""
    window.show_page(key, state)
    come_to_rest(window.session, qtbot)
    return window.unread.text()


def open_table(window: MainWindow, qtbot: QtBot, path: Path, text: str) -> None:
    rows = "".join(f"{text} {row},{'ab'[row % 2]}\n" for row in range(20))
    path.write_text(f"text,label\n{rows}", encoding="utf-8")
    window.session.data.open(path)
    come_to_rest(window.session, qtbot)


def has_starters() -> bool:
    return shipped.chinese_model() is not None and shipped.starter_model() is not None


@pytest.mark.parametrize("key", LOOKING)
def test_every_page_that_looks_into_a_text_says_how_much_is_unknown(
    window: MainWindow, qtbot: QtBot, key: str
) -> None:
    assert visit(window, qtbot, key).startswith("13 of 13 pieces are unknown to this model.")


def test_it_goes_with_the_text_and_comes_with_it(window: MainWindow, qtbot: QtBot) -> None:
    assert visit(window, qtbot, "tokenizer")
    for text, is_told in ((ENGLISH_TEXT, False), (CHINESE_TEXT, True), ("", False)):
        window.session.inspector.set_text(text)
        come_to_rest(window.session, qtbot)
        assert bool(window.unread.text()) is is_told, text


def test_its_button_opens_the_model_that_reads_the_language_and_the_banner_goes(
    window: MainWindow, qtbot: QtBot
) -> None:
    if not has_starters():
        pytest.skip("the starter models are not in this build")
    assert visit(window, qtbot, "probe") == "13 of 13 pieces are unknown to this model."
    hand = Hand(window, qtbot)
    assert hand.said("unread_banner_action_1") == "Open a Chinese one"
    hand.click("unread_banner_action_1")
    come_to_rest(window.session, qtbot)
    assert window.session.inspector.folder == shipped.chinese_model()
    assert window.unread.text() == ""


def test_a_language_that_nothing_reads_leads_to_the_models(window: MainWindow, qtbot: QtBot) -> None:
    window.session.inspector.set_text("Время летит быстро, и мы не знаем, что это за книга.")
    said = visit(window, qtbot, "tokenizer")
    assert said.endswith("No model that ships with Cloze reads Russian.")
    Hand(window, qtbot).click("unread_banner_action_1")
    assert window.current_page == "models"


def test_on_the_tokenizer_the_vocabulary_is_what_is_meant(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n", encoding="utf-8")
    visit(window, qtbot, "tokenizer")
    page: Any = window.page_in_view
    page.bar.choose(tmp_path / "vocab.txt")
    come_to_rest(window.session, qtbot)
    assert window.unread.text().startswith("13 of 13 pieces are unknown to this vocabulary.")


def test_a_table_is_told_where_a_model_is_to_be_trained_on_it(
    window: MainWindow, qtbot: QtBot, english: Path, tmp_path: Path
) -> None:
    window.session.model.choose(str(english))
    open_table(window, qtbot, tmp_path / "zh.csv", CHINESE_TEXT)
    for key in ("data", "finetune"):
        assert "pieces of 20 texts are unknown" in visit(window, qtbot, key), key
        (read,) = window.page_in_view.texts_read  # type: ignore[union-attr]
        assert read.deed == START
    if has_starters():
        Hand(window, qtbot).click("unread_banner_action_1")
        come_to_rest(window.session, qtbot)
        chosen = window.session.model.chosen
        assert chosen is not None and chosen.model == str(shipped.chinese_model())
        assert window.unread.text() == ""
    open_table(window, qtbot, tmp_path / "en.csv", ENGLISH_TEXT)
    assert window.unread.text() == ""


def test_labelling_is_told_of_the_model_that_learns_along(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    open_table(window, qtbot, tmp_path / "zh.csv", CHINESE_TEXT)
    assert "pieces of 20 texts are unknown to this model." in visit(window, qtbot, "label")


def test_the_embeddings_page_is_told_of_the_texts_it_would_read(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    open_table(window, qtbot, tmp_path / "zh.csv", CHINESE_TEXT)
    visit(window, qtbot, "embeddings")
    page: Any = window.page_in_view
    page.ask(TEXTS_QUESTION)
    come_to_rest(window.session, qtbot)
    assert "pieces of 20 texts are unknown" in window.unread.text()


def test_a_prediction_is_told_by_the_text_typed_and_leads_to_fine_tuning(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    model = model_folder(tmp_path / "classifier")
    state = PredictState(model=model, texts=(CHINESE_TEXT,))
    assert visit(window, qtbot, "predict", state).startswith("13 of 13 pieces are unknown")
    if has_starters():
        Hand(window, qtbot).click("unread_banner_action_1")
        come_to_rest(window.session, qtbot)
        chosen = window.session.model.chosen
        assert window.current_page == "finetune"
        assert chosen is not None and chosen.model == str(shipped.chinese_model())


def test_closed_it_stays_away_until_another_text_is_read(window: MainWindow, qtbot: QtBot) -> None:
    visit(window, qtbot, "tokenizer")
    hand = Hand(window, qtbot)
    hand.click("unread_banner_close")
    window.unread.refresh()
    come_to_rest(window.session, qtbot)
    assert window.unread.text() == ""
    window.session.inspector.set_text(f"{CHINESE_TEXT}他走了。")
    come_to_rest(window.session, qtbot)
    assert window.unread.text().startswith("17 of 17")


def test_a_page_that_reads_nothing_has_no_banner(window: MainWindow, qtbot: QtBot) -> None:
    assert visit(window, qtbot, "tokenizer")
    for key in ("models", "runs", "welcome"):
        assert visit(window, qtbot, key) == "", key


def test_a_lecture_shows_its_pages_without_it(window: MainWindow, qtbot: QtBot) -> None:
    visit(window, qtbot, "tokenizer")
    window.set_bare(True)
    assert window.unread.maximumHeight() == 0
    window.set_bare(False)
    assert window.unread.maximumHeight() > 0


def test_the_same_texts_by_the_same_vocabulary_are_the_same_question() -> None:
    cut, other = tiny_wordpiece(), tiny_wordpiece()
    one = TextsRead(cut, typed("a"), take=print)
    assert one == TextsRead(cut, typed("a"), take=len) and one.deed == OPEN
    assert one != TextsRead(cut, typed("b")) and one != TextsRead(cut, typed("a"), deed=START)
    assert one == TextsRead(other, typed("a")), "two that split alike"


def test_an_english_question_to_the_chinese_family_leads_to_the_english_one(
    window: MainWindow, qtbot: QtBot
) -> None:
    families = {is_chinese: path for path, is_chinese in _families()}
    if len(families) < 2:
        pytest.skip("the families are not in this build")
    visit(window, qtbot, "family")
    page: Any = window.page_in_view
    page._take_family(families[False])
    hand = Hand(window, qtbot)
    hand.find("family_question").setText("河水 [MASK] 大海里去了。")
    page.ask_typed() if hasattr(page, "ask_typed") else page.ask()
    come_to_rest(window.session, qtbot)
    assert "unknown to this vocabulary" in window.unread.text()
    assert hand.said("unread_banner_action_1") == "Ask the Chinese family"
    hand.click("unread_banner_action_1")
    come_to_rest(window.session, qtbot)
    assert page.box.currentData() == families[True] and window.unread.text() == ""


def _families() -> list[tuple[Path, bool]]:
    from app.pages.family.requests import families

    return [(one.path, one.language == "zh") for one in families(Path("nowhere")) if one.is_shipped]


def test_the_banner_and_the_engine_call_the_language_the_same() -> None:
    from app import unread_banner

    assert unread_banner.CHINESE == CHINESE


def test_scores_are_told_over_the_texts_that_they_are_of(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    model = model_folder(tmp_path / "classifier", labels=("a", "b"))
    rows = "".join(f"{CHINESE_TEXT} {row},{'ab'[row % 2]}\n" for row in range(20))
    (tmp_path / "scored.csv").write_text(f"text,label\n{rows}", encoding="utf-8")
    state = EvaluateState(model=model, texts=LabelledTexts(data=str(tmp_path / "scored.csv")))
    assert "pieces of 20 texts are unknown to this model." in visit(window, qtbot, "evaluate", state)


def test_pretraining_is_told_of_a_vocabulary_that_is_not_made_from_its_text(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n", encoding="utf-8")
    (tmp_path / "text.txt").write_text(f"{CHINESE_TEXT}\n" * 30, encoding="utf-8")
    assert visit(window, qtbot, "pretrain") == ""
    page: Any = window.page_in_view
    page.setup.text.choose([str(tmp_path / "text.txt")], "", remember=False)
    come_to_rest(window.session, qtbot)
    assert window.unread.text() == "", "its vocabulary is made from the text"
    page.setup.start.take_vocabulary(str(tmp_path / "vocab.txt"))
    come_to_rest(window.session, qtbot)
    assert "are unknown to this vocabulary." in window.unread.text()
    hand = Hand(window, qtbot)
    assert hand.said("unread_banner_action_1") == "Make one from the text"
    hand.click("unread_banner_action_1")
    come_to_rest(window.session, qtbot)
    assert page.setup.start.learns_vocabulary and window.unread.text() == ""
