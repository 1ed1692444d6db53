"""From a CoNLL file to a file of tags, through the real window, with mouse and keyboard."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow
from tests.app.hand import Hand
from tests.engine.train.tasks.token_labels.tiny_words import sentences, write_conll

pytestmark = pytest.mark.slow  # a whole journey, as a person makes it


def test_a_conll_file_becomes_a_model_that_finds_names(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    data = write_conll(tmp_path / "words.conll", sentences(60))
    session, hand = window.session, Hand(window, qtbot)

    hand.click("rail_data")
    hand.open_dialog("empty_open", data)
    qtbot.waitUntil(lambda: session.data.summary is not None, timeout=20_000)
    assert session.data.task_name == "token-labels"
    listed = hand.find("texts_of_file")
    assert listed.model().rowCount() == 60
    listed.selectRow(3)
    assert "FILM" in hand.find("texts_of_file_words").summary()
    assert "IOB2" in hand.find("token_how").text()
    hand.choose("tag_scheme", "Scheme: none, each tag on its own")
    qtbot.waitUntil(lambda: "as chosen" in hand.find("token_how").text(), timeout=20_000)
    assert session.values()["scheme"] == "none" and session.values()["label"] == "2"
    hand.choose("tag_scheme", "Scheme: detected")
    qtbot.waitUntil(lambda: "as chosen" not in hand.find("token_how").text(), timeout=20_000)
    assert hand.find("tag_column").currentData() == "2" and hand.find("tag_column").count() == 2
    qtbot.waitUntil(lambda: session.data.summary is not None, timeout=20_000)
    hand.click("finetune_with_this")
    assert window.current_page == "finetune"

    hand.choose("model_choice", "Random weights")
    qtbot.waitUntil(
        lambda: session.model.chosen is not None and session.data.summary is not None, timeout=20_000
    )
    hand.type("setting_learning_rate", "3e-3")
    hand.type("setting_num_epochs", "12")
    hand.click("start")
    qtbot.waitUntil(
        lambda: not session.training.is_running and session.training.state.outcome != "", timeout=180_000
    )
    assert session.training.state.outcome == "finished", session.training.state.error
    assert "Entity F1" in hand.find("token_figures").text()
    assert "conlleval" in hand.find("token_figures").text()
    for view, text in (
        ("types", "By type"),
        ("errors", "Errors"),
        ("confusion", "Confusion"),
        ("texts", "Texts"),
    ):
        if hand.find("token_scores_view_box").isVisible():  # the card is too narrow for four buttons
            hand.choose("token_scores_view_box", text)
        else:
            hand.click(f"token_scores_view_{view}")
    assert hand.find("type_scores").model().rowCount() == 2
    assert hand.find("wrong_texts").model().rowCount() == 0 or not hand.find("wrong_texts_words").is_empty

    hand.click("try_it")
    assert window.current_page == "predict"
    qtbot.waitUntil(lambda: hand.find("text_to_tag").isVisible(), timeout=20_000)
    qtbot.keyClicks(hand.find("text_to_tag"), "a good film b play")
    qtbot.waitUntil(lambda: not hand.find("tagged_text").is_empty, timeout=30_000)
    assert len(hand.find("tagged_text").words) == 5

    hand.click("predict_file")
    out = tmp_path / "words-predicted.jsonl"
    qtbot.waitUntil(lambda: out.exists() and not window.page("predict").is_asking, timeout=60_000)
    assert len([json.loads(line) for line in out.read_text().splitlines()]) == 60
    qtbot.waitUntil(lambda: hand.find("written_texts").model().rowCount() == 60, timeout=20_000)
