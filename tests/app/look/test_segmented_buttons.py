"""Buttons of which one is down: what is pressed is told, what is set is not, and keys lead round."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from app.look.segmented_buttons import FoldingButtons, SegmentedButtons

ENTRIES = (("map", "Map", "Every head"), ("list", "List", "The strongest heads"), ("one", "One", ""))


@pytest.fixture(params=[SegmentedButtons, FoldingButtons])
def made(request: pytest.FixtureRequest, qtbot: QtBot) -> SegmentedButtons:
    names = ("heads",) if request.param is SegmentedButtons else ("heads", "Heads")
    buttons = request.param(*names, ENTRIES)
    qtbot.addWidget(buttons)
    buttons.resize(400, 40)
    buttons.show()
    buttons.activateWindow()
    return buttons


def entry(made: SegmentedButtons, key: str) -> QToolButton:
    found = made.findChild(QToolButton, f"heads_{key}")
    assert isinstance(found, QToolButton)
    return found


def test_what_is_pressed_is_told_and_what_is_set_is_not(qtbot: QtBot, made: SegmentedButtons) -> None:
    told: list[str] = []
    made.chosen.connect(told.append)
    assert made.current == "map"
    made.set_current("one")
    assert (made.current, told) == ("one", [])
    qtbot.mouseClick(entry(made, "list"), Qt.MouseButton.LeftButton)
    assert (made.current, told) == ("list", ["list"])
    assert [entry(made, key).isChecked() for key in ("map", "list", "one")] == [False, True, False]


def test_arrow_keys_lead_from_the_last_to_the_first(qtbot: QtBot, made: SegmentedButtons) -> None:
    told: list[str] = []
    made.chosen.connect(told.append)
    entry(made, "map").setFocus()
    qtbot.waitUntil(entry(made, "map").hasFocus)
    for _ in range(3):
        held = made.window().focusWidget()
        assert held is not None
        qtbot.keyClick(held, Qt.Key.Key_Right)
    assert told == ["list", "one", "map"]


def test_in_a_narrow_card_a_box_offers_the_same(qtbot: QtBot) -> None:
    made = FoldingButtons("heads", "Heads", ENTRIES)
    qtbot.addWidget(made)
    made.resize(100, 40)
    made.show()
    assert made.box.isVisible() and not entry(made, "map").isVisible()
    with qtbot.waitSignal(made.chosen) as told:
        qtbot.keyClick(made.box, Qt.Key.Key_Down)
    assert told.args == ["list"] and made.current == "list"
    made.resize(400, 40)
    assert entry(made, "list").isVisible() and entry(made, "list").isChecked() and not made.box.isVisible()
