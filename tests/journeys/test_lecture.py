"""A lecture from its first scene to its export: kept, put in order, saved, opened elsewhere, held."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow
from app.session import Session
from app.settings import AppSettings
from tests.app.hand import come_to_rest, type_into_dialog
from tests.journeys.looking_hand import LookingHand
from tests.looks.looking_scenes import SENTENCE, language_model

LEFT, CONTROL = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier

pytestmark = [pytest.mark.usefixtures("no_models_ship"), pytest.mark.slow]


def dialog(hand: LookingHand, name: str) -> Any:
    """Return a window beside the main one, once it is there."""

    def there() -> list[QWidget]:
        return [one for one in QApplication.topLevelWidgets() if one.objectName() == name and one.isVisible()]

    hand.wait(lambda: bool(there()))
    return there()[0]


def part(of: QWidget, name: str) -> Any:
    found = of.findChild(QWidget, name)
    assert found is not None, name
    return found


def rest(hand: LookingHand) -> None:
    come_to_rest(hand.window.session, hand.qtbot)


def keep(hand: LookingHand, title: str, sentence: str) -> None:
    """Ctrl+K, a title, Tab, a sentence, Tab, Enter."""
    rest(hand)
    hand.come_back()
    count = len(hand.window.lectures.current.lecture.scenes)
    QTest.keyClick(hand.window, Qt.Key.Key_K, CONTROL)
    asked = dialog(hand, "keep_scene_dialog")
    hand.qtbot.keyClicks(part(asked, "keep_title"), title)  # what is suggested is chosen, so it goes
    hand.qtbot.keyClicks(part(asked, "keep_sentence"), sentence)
    hand.qtbot.keyClick(part(asked, "keep_accept"), Qt.Key.Key_Space)
    hand.wait(lambda: len(hand.window.lectures.current.lecture.scenes) == count + 1)
    rest(hand)


def test_a_lecture_is_kept_ordered_saved_opened_on_another_computer_held_and_exported(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window.resize(1280, 800)
    hand, model = LookingHand(window, qtbot), language_model(tmp_path / "here" / "small")
    hand.go_to("attention")
    hand.open_model(model)
    hand.write_text(SENTENCE)
    rest(hand)
    hand.press(hand.find("attention_heatmap"), "]")  # another head
    keep(hand, "Where a head looks", "The second head.")
    hand.go_to("probe")
    keep(hand, "A hidden word", "")
    hand.go_to("anatomy")
    keep(hand, "Number by number", "Every number is real.")

    hand.come_back()
    QTest.keyClick(window, Qt.Key.Key_L, CONTROL)
    editor = dialog(hand, "lecture_editor")
    qtbot.keyClicks(part(editor, "lecture_name"), "Ten minutes")
    scenes = part(editor, "lecture_scenes")
    qtbot.mouseClick(scenes.viewport(), LEFT, pos=scenes.visualItemRect(scenes.item(1)).center())
    qtbot.keyClicks(part(editor, "scene_sentence"), "What does it expect?")
    qtbot.mouseClick(part(editor, "scene_up"), LEFT)
    hand.window = editor
    path = tmp_path / "lecture.json"
    hand.open_dialog("lecture_save", path)
    hand.wait(lambda: path.is_file() and "*" not in editor.windowTitle())
    written = path.read_text(encoding="utf-8")
    assert str(tmp_path) not in written and "Ten minutes" in written
    window.close()
    assert window.session.wait_idle()

    home = tmp_path / "home"  # another computer: nothing is known there, and the model lies elsewhere
    (tmp_path / "here").rename(tmp_path / "there")
    settings = AppSettings(home / "settings.ini")
    settings.runs_root = str(home / "runs")
    again = MainWindow(Session(settings), warm_up=False)
    qtbot.addWidget(again)
    again.resize(1280, 800)
    again.show()
    hand = LookingHand(again, qtbot)
    hand.click("rail_lectures")
    menu = again.findChild(QMenu, "lectures_menu")
    opens = next(one for one in menu.actions() if one.objectName() == "lecture_open")
    type_into_dialog(path)
    qtbot.mouseClick(menu, LEFT, pos=menu.actionGeometry(opens).center())
    player, bar = again.lectures.player, again.lectures.player.bar
    hand.wait(lambda: player.is_on and player.hole.button.isVisible())
    assert "“small”" in player.hole.label.text()
    hand.open_dialog("lecture_choose_folder", tmp_path / "there" / "small")
    hand.wait(lambda: not player.hole.isVisible())
    rest(hand)
    assert not bar.note.isVisible()  # it is that model
    seen = []
    for page in ("probe", "attention", "anatomy"):
        assert again.current_page == page
        seen.append((bar.count.text(), bar.title.text(), bar.sentence.text()))
        QTest.keyClick(again, Qt.Key.Key_Right)
        rest(hand)
    assert seen == [
        ("1 of 3", "A hidden word", "What does it expect?"),
        ("2 of 3", "Where a head looks", "The second head."),
        ("3 of 3", "Number by number", "Every number is real."),
    ]
    assert again.page("attention").chosen.current == (0, 1)
    QTest.keyClick(again, Qt.Key.Key_Escape)
    hand.wait(lambda: not player.is_on)

    hand.come_back()
    QTest.keyClick(again, Qt.Key.Key_L, CONTROL)
    qtbot.mouseClick(part(dialog(hand, "lecture_editor"), "lecture_export"), LEFT)
    export = dialog(hand, "lecture_export_dialog")
    folder = part(export, "export_path")
    folder.selectAll()
    qtbot.keyClicks(folder, str(home / "figures"))
    qtbot.mouseClick(part(export, "export_go"), LEFT)
    hand.wait(lambda: part(export, "export_open").isVisible())
    index = (home / "figures" / "index.html").read_text(encoding="utf-8")
    places = [index.index(title) for title in ("A hidden word", "Where a head looks", "Number by number")]
    assert places == sorted(places) and str(tmp_path) not in index
    assert all(f'src="{one.name}"' in index for one in (home / "figures").glob("*.png"))
    assert len([*(home / "figures").glob("*.png")]) >= 3
    export.close()
    rest(hand)
    again.close()
    assert again.session.wait_idle()
