"""From a text file to a language model that answers, through the real window and with the real engine."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow
from tests.app.hand import Hand
from tests.looks.language_scenes import write_text

pytestmark = pytest.mark.slow  # whole journeys, as a person makes them


def test_plain_text_becomes_a_model_to_fine_tune(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.train.pretraining.setup.default_store_root", lambda: tmp_path / "tokens")
    text = write_text(tmp_path / "story.txt", documents=60)
    session, hand = window.session, Hand(window, qtbot)

    hand.click("rail_pretrain")
    hand.open_dialog("choose_text", text)
    qtbot.waitUntil(lambda: hand.find("text_documents").text() == "60", timeout=20_000)
    hand.choose("pretrain_size_choice", hand.find("pretrain_size_choice").itemText(0))
    hand.type("setting_vocab_size", "200")
    hand.choose("budget_unit", "steps")
    hand.type("budget", "40")
    hand.type("setting_batch_tokens", "256")
    hand.type("setting_max_length", "32")
    hand.find("pins").setPlainText("The river crossed the [bridge] in winter.")
    qtbot.waitUntil(lambda: hand.find("outlook_steps").text() == "40", timeout=60_000)

    hand.click("start")
    qtbot.waitUntil(lambda: session.training.state.step is not None, timeout=30_000)
    hand.click("pause")
    hand.click("go_on")
    qtbot.keyClicks(hand.find("question"), "The [MASK] opened the window.")
    qtbot.keyClick(hand.find("question"), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not session.training.is_running, timeout=120_000)
    assert session.training.state.outcome == "finished", session.training.state.error
    loss = hand.find("pretrain_loss_plot")
    assert loss.num_points == 40 and loss.last_validation is not None
    assert hand.find("pinned_plot").shown == ("The river crossed the [bridge] in winter.",)
    assert not hand.find("answer_plot").is_empty

    hand.click("try_it")
    assert window.current_page == "finetune"
    qtbot.waitUntil(lambda: session.model.chosen is not None, timeout=20_000)
    assert session.model.chosen is not None and session.model.chosen.config.vocab_size == 200
