"""A click on a remark's link means what stood there when the hand set out."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.look.widgets import SETTLED_MS, Advice

ITEMS = [("wrong", "Hum may be HUM"), ("look", "Loc may be LOC")]


def shown(qtbot: QtBot, done: list[str]) -> Advice:
    advice = Advice()
    qtbot.addWidget(advice)
    advice.resize(300, 300)
    advice.show()
    put(advice, ITEMS, done)
    qtbot.wait(SETTLED_MS + 50)
    return advice


def put(advice: Advice, items: list[tuple[str, str]], done: list[str]) -> None:
    advice.set_items(items, {text: [("Merge", lambda text=text: done.append(text))] for _, text in items})
    advice.widget().layout().activate()


def click(advice: Advice, at: QPoint) -> None:
    widget = advice.childAt(advice.mapFromGlobal(at))
    assert widget is not None
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=widget.mapFromGlobal(at))


def place_of(advice: Advice, text: str) -> QPoint:
    link = next(x for x in advice.findChildren(QPushButton) if x.accessibleDescription() == text)
    return link.mapToGlobal(link.rect().center())


@pytest.mark.slow
def test_a_click_never_hits_what_has_just_moved_there(qtbot: QtBot) -> None:
    done: list[str] = []
    advice = shown(qtbot, done)
    first = place_of(advice, ITEMS[0][1])
    put(advice, ITEMS[1:], done)
    qtbot.wait(10)
    assert place_of(advice, ITEMS[1][1]) == first, "the second has moved to where the first stood"
    click(advice, first)
    assert not done
    qtbot.wait(SETTLED_MS + 50)
    click(advice, first)
    assert done == [ITEMS[1][1]]


@pytest.mark.slow
def test_a_click_on_what_has_not_moved_is_heard_at_once(qtbot: QtBot) -> None:
    done: list[str] = []
    advice = shown(qtbot, done)
    put(advice, [*ITEMS, ("note", "more")], done)
    qtbot.wait(10)
    click(advice, place_of(advice, ITEMS[1][1]))
    assert done == [ITEMS[1][1]]
