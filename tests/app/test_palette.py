"""Whatever can be done or opened is found by a few letters, and done by Enter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow
from app.palette import Palette, PaletteEntry, entries_of, found
from app.settings import AppSettings
from tests.app.hand import OpenWindow
from tests.engine.made_runs import made_run
from tests.looks.scenes import FIVE, write_table

VOCABULARY = Path(__file__).parents[2] / "assets" / "samples" / "vocab.txt"
CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def window(
    open_window: OpenWindow, settings: AppSettings, no_models_ship: None, tmp_path: Path
) -> MainWindow:
    made_run(tmp_path / "runs", "films", steps=3)
    (tmp_path / "plays.csv").write_text("text,label\n" + "a good play,yes\na dull one,no\n" * 9)
    settings.add_recent_file(tmp_path / "plays.csv")
    return open_window(settings)


def opened(window: MainWindow, qtbot: QtBot, typed: str = "") -> Any:
    qtbot.keyClick(window, Qt.Key.Key_P, CONTROL)
    palette = window.findChild(Palette, "palette")
    qtbot.keyClicks(palette.line, typed)
    return palette


def entry(title: str, kind: str = "page") -> PaletteEntry:
    return PaletteEntry(title, kind, lambda: None)


def test_names_that_begin_so_come_before_words_that_do_and_those_before_first_letters() -> None:
    names = [
        entry(one) for one in ("Masked words", "Attention", "Add a model beside", "Compare models", "Models")
    ]
    assert [one.title for one in found(names, "mod")] == ["Models", "Add a model beside", "Compare models"]
    assert [one.title for one in found(names, "mw")] == ["Masked words"]
    assert [one.title for one in found(names, "model comp")] == ["Compare models"]
    assert found(names, "zebra") == [] and found(names, "") == names


def test_a_page_a_run_and_a_table_are_opened_by_their_names(window: MainWindow, qtbot: QtBot) -> None:
    palette = opened(window, qtbot, "step by")
    assert palette.shown[0].hint == "Ctrl+0"
    qtbot.keyClick(palette.line, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.current_page == "anatomy")
    qtbot.keyClick(opened(window, qtbot, "films").line, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.current_page == "finetune" and window.session.wait_idle())
    assert window.page("finetune").state.run is not None
    qtbot.keyClick(opened(window, qtbot, "plays").line, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.session.data.table is not None)
    assert window.current_page == "data"


def test_adapting_to_texts_is_found_and_leads_to_its_plan(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(opened(window, qtbot, "adapt to").line, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.current_page == "finetune" and window.page("finetune").state.adapts)


def test_what_the_page_in_view_can_do_stands_first_and_what_it_cannot_does_nothing(
    window: MainWindow, qtbot: QtBot
) -> None:
    window.show_page("predict")
    palette = opened(window, qtbot, "predict the")
    assert not palette.shown[0].is_able and palette.shown[0].hint == "Choose a model and a file first."
    qtbot.keyClick(palette.line, Qt.Key.Key_Return)
    assert palette.isVisible()
    qtbot.keyClick(palette.line, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: window.findChild(Palette, "palette") is None)
    assert window.current_page == "predict"


def test_who_is_led_to_fine_tune_has_its_blue_button_in_hand_and_the_palette_has_it_too(
    open_window: OpenWindow, settings: AppSettings, qtbot: QtBot, tmp_path: Path
) -> None:
    window = open_window(settings)
    session = window.session
    window.activateWindow()
    window.open_file(write_table(tmp_path / "news.csv", FIVE, rows_a_label=7))
    assert session.wait_idle()
    on_rail = window.findChild(QWidget, "rail_finetune")
    qtbot.keyClick(window.page("data").next_button, Qt.Key.Key_Space)
    starter = window.page("finetune").before.findChild(QPushButton, "starter_weights")
    assert window.current_page == "finetune" and window.focusWidget() is starter
    window.show_page("data")
    window.findChild(QWidget, "rail_data").setFocus()
    window.show_page("finetune")  # as the rail does
    assert window.focusWidget() is on_rail
    ways = {one.title: one for one in entries_of(window)}
    ways["Use the starter model"].do()
    assert session.wait_idle() and session.model.chosen is not None
    assert "Use the starter model" not in {one.title for one in entries_of(window)}


def test_arrows_choose_another_line(window: MainWindow, qtbot: QtBot) -> None:
    palette = opened(window, qtbot)
    assert len(palette.shown) == 10 and palette.count.text().startswith("10 of ")
    second = palette.shown[1]
    qtbot.keyClick(palette.line, Qt.Key.Key_Down)
    assert palette.view.currentIndex().row() == 1 and palette.shown[1] == second
    qtbot.keyClick(palette.line, Qt.Key.Key_Escape)


def test_ctrl_shift_c_copies_the_command_of_the_page_in_view(window: MainWindow, qtbot: QtBot) -> None:
    clipboard = QGuiApplication.clipboard()
    clipboard.setText("before")
    keys = CONTROL | Qt.KeyboardModifier.ShiftModifier
    window.show_page("models")  # has no command
    qtbot.keyClick(window, Qt.Key.Key_C, keys)
    assert clipboard.text() == "before"
    window.open_file(window.session.settings.recent_files[0])
    window.session.model.choose("new:tiny", str(VOCABULARY))
    assert window.session.wait_idle()
    window.show_page("finetune")
    assert opened(window, qtbot, "copy").shown[0].hint == "Ctrl+Shift+C"
    qtbot.keyClick(window.findChild(Palette, "palette").line, Qt.Key.Key_Escape)
    qtbot.keyClick(window, Qt.Key.Key_C, keys)
    assert clipboard.text().startswith("python -m engine finetune")
