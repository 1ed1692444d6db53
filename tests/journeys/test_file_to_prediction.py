"""From a CSV file to a prediction, through the real window, with mouse and keyboard."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow
from tests.app.hand import Hand
from tests.looks.scenes import TWO, write_table

pytestmark = pytest.mark.slow  # whole journeys, as a person makes them


def test_a_table_becomes_a_model_that_answers(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    table = write_table(tmp_path / "films.csv", TWO, rows_a_label=60)
    session, hand = window.session, Hand(window, qtbot)

    assert window.current_page == "welcome"
    hand.click("rail_data")
    hand.open_dialog("empty_open", table)
    qtbot.waitUntil(lambda: session.data.summary is not None)
    assert session.data.roles is not None and (session.data.roles.text, session.data.roles.label) == (
        "text",
        "label",
    )
    hand.click("finetune_with_this")
    assert window.current_page == "finetune"

    hand.choose("model_choice", "Random weights")
    qtbot.waitUntil(lambda: session.model.chosen is not None and session.data.summary is not None)
    hand.type("setting_learning_rate", "2e-3")
    hand.type("setting_num_epochs", "8")
    hand.type("setting_batch_size", "16")
    hand.click("start")
    qtbot.waitUntil(lambda: session.training.state.step is not None, timeout=20_000)
    hand.click("pause")
    hand.click("go_on")
    qtbot.waitUntil(lambda: not session.training.is_running, timeout=60_000)
    assert session.training.state.outcome == "finished", session.training.state.error
    assert (
        session.training.state.evaluated is not None
        and session.training.state.evaluated.metrics["accuracy"] > 0.9
    )

    hand.click("try_it")
    assert window.current_page == "predict"
    qtbot.keyClicks(hand.find("text"), "the film was good1 play1 good1 and bad1")
    qtbot.keyClick(hand.find("text"), Qt.Key.Key_Return)
    bars = hand.find("answer_bars")
    qtbot.waitUntil(lambda: not bars.is_empty, timeout=20_000)
    assert bars.highlight == "positive"

    hand.choose("file_choice", "films.csv")
    hand.click("predict_file")
    out = tmp_path / "films-predicted.csv"
    qtbot.waitUntil(lambda: out.exists() and not window.page("predict").is_asking, timeout=20_000)
    with out.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 120
    assert sum(row["prediction"] == row["label"] for row in rows) > 108
