"""Remarks by keyboard: what can be done about them is reached, and the keyboard is not lost by doing it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.look.widgets import Advice


def shown(advice: Advice, qtbot: QtBot) -> QWidget:
    window = QWidget()
    layout = QVBoxLayout(window)
    layout.addWidget(advice)
    layout.addWidget(QPushButton("below"))
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    return window


def words_of(window: QWidget) -> str:
    held = window.focusWidget()
    return held.text() if isinstance(held, QPushButton) else ""


def test_the_keyboard_stays_at_a_remark_that_goes_when_it_is_mended(qtbot: QtBot) -> None:
    advice = Advice()
    window = shown(advice, qtbot)
    remarks = [("look", "copies"), ("look", "leaks")]
    actions = {text: (("Show " + text, lambda: None), ("Mend " + text, lambda: None)) for _, text in remarks}
    advice.set_items(remarks, actions)
    advice.step_in()
    assert words_of(window) == "Show copies"
    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Tab)
    assert words_of(window) == "Mend copies"

    advice.set_items([])  # while it is counted again
    advice.set_items(remarks[1:], actions)
    assert words_of(window) == "Show leaks"  # what changes nothing, should the key come twice

    advice.set_items(remarks, actions)
    assert words_of(window) == "Show leaks"
    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Tab)
    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Tab)
    assert words_of(window) == "below"  # remarks that come later do not come last by Tab


def test_the_keyboard_is_not_taken_back_from_where_it_went_meanwhile(qtbot: QtBot) -> None:
    advice = Advice()
    window = shown(advice, qtbot)
    advice.set_items([("look", "copies")], {"copies": (("Show", lambda: None),)})
    advice.step_in()
    advice.set_items([])
    below = next(one for one in window.findChildren(QPushButton) if one.text() == "below")
    below.setFocus()
    advice.set_items([("look", "copies")], {"copies": (("Show", lambda: None),)})
    QApplication.processEvents()
    assert words_of(window) == "below"


def test_no_remark_is_cut_off_where_the_list_is_narrower_than_its_links(qtbot: QtBot) -> None:
    advice = Advice()
    qtbot.addWidget(advice)
    text, links = (
        "copies",
        [("Show the rows behind it", lambda: None), ("Leave all of them out", lambda: None)],
    )
    advice.set_items([("look", text)], {text: links})
    advice.resize(600, 300)
    advice.show()
    first, second = advice.findChildren(QPushButton)
    assert first.y() == second.y()
    advice.resize(240, 300)
    first, second = advice.findChildren(QPushButton)
    qtbot.waitUntil(lambda: first.y() < second.y())
    assert advice.widget().width() <= advice.viewport().width()
    advice.resize(600, 300)
    first, second = advice.findChildren(QPushButton)
    qtbot.waitUntil(lambda: first.y() == second.y())
