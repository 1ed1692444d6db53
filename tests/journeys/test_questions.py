"""From a file of questions to answers, through the real window, with mouse and keyboard."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow
from tests.app.hand import Hand
from tests.engine.tiny_questions import squad, write_squad

pytestmark = pytest.mark.slow  # a whole journey, as a person makes it


def test_a_squad_file_becomes_a_model_that_answers(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    data = write_squad(tmp_path / "asked.json", squad(20, impossible=True))
    session, hand = window.session, Hand(window, qtbot)

    hand.click("rail_data")
    hand.open_dialog("empty_open", data)
    qtbot.waitUntil(lambda: session.data.summary is not None, timeout=20_000)
    assert session.data.task_name == "questions" and session.model.max_length == 384
    listed = hand.find("questions_of_file")
    assert listed.model().rowCount() == 80
    listed.selectRow(3)
    assert not hand.find("questions_of_file_passage").is_empty
    hand.click("finetune_with_this")
    assert window.current_page == "finetune"
    assert not hand.find("answer_words").isHidden()  # what will be measured is shown before it is

    hand.choose("model_choice", "Random weights")
    qtbot.waitUntil(
        lambda: session.model.chosen is not None and session.data.summary is not None, timeout=20_000
    )
    hand.type("setting_learning_rate", "1e-3")
    hand.type("setting_num_epochs", "2")
    hand.click("start")
    qtbot.waitUntil(
        lambda: not session.training.is_running and session.training.state.outcome != "", timeout=180_000
    )
    assert session.training.state.outcome == "finished", session.training.state.error
    assert "Exact match" in hand.find("question_figures").text()
    assert "SQuAD 2.0" in hand.find("question_rule").text()
    hand.click("question_scores_view_mistakes")
    assert hand.find("mistakes").model().rowCount() > 0
    assert not hand.find("mistakes_passage").is_empty

    hand.click("try_it")
    assert window.current_page == "predict"
    qtbot.waitUntil(lambda: hand.find("question").isVisible(), timeout=20_000)
    qtbot.keyClicks(hand.find("passage"), "a b c film good d e f")
    qtbot.keyClicks(hand.find("question"), "film !")
    qtbot.keyClick(hand.find("question"), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: hand.find("answer_text").text() != "", timeout=30_000)
    assert not hand.find("answered_passage").is_empty and not hand.find("other_answers").is_empty
    for view in ("start", "end", "answer"):
        hand.click(f"passage_view_{view}")

    hand.click("predict_file")
    out = tmp_path / "asked-predicted.json"
    qtbot.waitUntil(lambda: out.exists() and not window.page("predict").is_asking, timeout=60_000)
    answers = json.loads(out.read_text())
    assert len(answers) == 80 and hand.find("file_questions").model().rowCount() == 80
    assert "exact match" in hand.find("file_scores").text()
