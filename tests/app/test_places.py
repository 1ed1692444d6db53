"""Back and Forward lead through what was seen: the page, and what it showed."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow
from app.pages.attention.state import AttentionState
from app.settings import AppSettings
from engine.model.weights import save_model
from tests.app.hand import OpenWindow
from tests.fakes import tiny_pretraining, tiny_wordpiece

ALT = Qt.KeyboardModifier.AltModifier


@pytest.fixture
def window(open_window: OpenWindow, settings: AppSettings, no_models_ship: None) -> MainWindow:
    return open_window(settings)


def test_alt_and_an_arrow_lead_back_over_the_pages_and_forward_again(
    window: MainWindow, qtbot: QtBot
) -> None:
    for key in ("models", "runs", "data"):
        window.rail.chosen.emit(key)
    qtbot.keyClick(window, Qt.Key.Key_Left, ALT)
    assert window.current_page == "runs"
    qtbot.keyClick(window, Qt.Key.Key_Left, ALT)
    assert window.current_page == "models"
    qtbot.keyClick(window, Qt.Key.Key_Right, ALT)
    assert window.current_page == "runs"
    window.rail.chosen.emit("tokenizer")  # another way is taken: there is nothing ahead
    qtbot.keyClick(window, Qt.Key.Key_Right, ALT)
    assert window.current_page == "tokenizer"


def test_the_first_page_has_nothing_before_it_and_the_same_page_again_is_no_step(
    window: MainWindow, qtbot: QtBot
) -> None:
    first = window.current_page
    window.rail.chosen.emit(first)
    qtbot.keyClick(window, Qt.Key.Key_Left, ALT)
    assert window.current_page == first


def test_back_shows_the_model_the_text_and_the_head_that_were_seen(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    for name, seed in (("one", 1), ("two", 2)):
        save_model(tmp_path / name, tiny_pretraining(seed=seed), tiny_wordpiece(), {})
    inspector = window.session.inspector
    window.session.show_page("attention", AttentionState.why(tmp_path / "one", "good film"))
    page = window.page("attention")
    assert window.session.wait_idle() and page.is_state_shown
    page.show_picture("heatmap")
    page.choose_head(1, 2)
    window.session.show_page("attention", AttentionState.why(tmp_path / "two", "bad play"))
    assert window.session.wait_idle() and inspector.folder == tmp_path / "two"
    qtbot.keyClick(window, Qt.Key.Key_Left, ALT)
    assert window.session.wait_idle() and page.is_state_shown
    assert (inspector.folder, inspector.text) == (tmp_path / "one", "good film")
    assert (page.chosen.picture, page.chosen.current) == ("heatmap", (1, 2))
