"""From the name of a published model to one of one's own, through the real window, by mouse and keyboard."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow
from engine.model.weights import save_model
from tests.app.hand import Hand
from tests.engine.tiny_runs import reviews, write_table
from tests.fakes import tiny_pretraining, tiny_wordpiece
from tests.local_hub import LocalHub

pytestmark = pytest.mark.slow  # a whole journey, as a person makes it

NAME = "google-bert/bert-tiny-tests"


def test_a_model_is_got_by_its_name_and_fine_tuned(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_model(tmp_path / "published", tiny_pretraining(), tiny_wordpiece(), {})
    table = write_table(tmp_path / "reviews.csv", reviews())
    session, hand = window.session, Hand(window, qtbot)
    with LocalHub() as hub:
        hub.publish(NAME, tmp_path / "published", license="apache-2.0")
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
        monkeypatch.setenv("NO_PROXY", "*")
        hand.click("rail_models")
        hand.click("models_get_button")
        qtbot.keyClicks(hand.find("models_name"), "bert-tiny-tests")
        qtbot.keyClick(hand.find("models_name"), Qt.Key.Key_Return)
        hand.click("models_fetch")  # once it is there: it has been looked at
        page = window.page("models")
        qtbot.waitUntil(lambda: page.entry is not None and page.entry.origin == "fetched")
    hand.click("models_finetune")
    qtbot.waitUntil(lambda: session.model.chosen is not None)
    hand.click("rail_data")
    hand.open_dialog("empty_open", table)
    qtbot.waitUntil(lambda: session.data.summary is not None)
    hand.click("finetune_with_this")
    assert hand.said("model_choice").startswith("bert-tiny-tests")
    hand.type("setting_num_epochs", "1")
    hand.click("start")
    qtbot.waitUntil(lambda: session.training.is_running)
    qtbot.waitUntil(lambda: not session.training.is_running)
    assert session.training.state.outcome == "finished", session.training.state.error
