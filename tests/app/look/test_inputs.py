"""The mouse wheel: it scrolls the page, and changes a value only where a person has put the keyboard."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QMenu,
    QScrollBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.look.boxes import ChoiceBox
from app.look.inputs import ComboBox, DoubleSpinBox, Slider, SpinBox
from app.main_window import MainWindow
from app.page_stack import PAGES
from app.session import sample_data_path
from app.settings import AppSettings
from tests.app.hand import OpenWindow

INPUTS = (QAbstractSpinBox, QComboBox, QAbstractSlider)


@pytest.fixture
def window(settings: AppSettings, open_window: OpenWindow) -> MainWindow:
    made = open_window(settings)
    made.session.open_table(sample_data_path())
    assert made.session.wait_idle()
    return made


def inputs(page: QWidget) -> list[QWidget]:
    found = [one for kind in INPUTS for one in page.findChildren(kind) if not isinstance(one, QScrollBar)]
    in_menus = [one for menu in page.findChildren(QMenu) for one in menu.findChildren(QWidget)]
    return [one for one in found if one not in in_menus]  # pyqtgraph's own, which no one ever sees


def turn_wheel(widget: QWidget) -> None:
    middle = QPointF(widget.rect().center())
    QApplication.sendEvent(
        widget,
        QWheelEvent(
            middle, QPointF(widget.mapToGlobal(middle)), QPoint(), QPoint(0, -120), Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
        ),
    )  # fmt: skip


def value_of(widget: QWidget) -> object:
    return widget.currentIndex() if isinstance(widget, QComboBox) else widget.value()


@pytest.mark.slow
def test_the_wheel_never_changes_a_setting_that_has_no_focus(window: MainWindow) -> None:
    """Qt hands the keyboard to whatever takes it from the wheel, before the wheel arrives there."""
    found = []
    for page in PAGES:
        window.show_page(page)
        QApplication.processEvents()
        found += inputs(window.page(page))
    assert len(found) > 40
    taking = [one.objectName() for one in found if one.focusPolicy() == Qt.FocusPolicy.WheelFocus]
    assert taking == []
    for one in found:
        before = value_of(one)
        turn_wheel(one)
        assert value_of(one) == before, one.objectName()


@pytest.mark.parametrize("kind", [SpinBox, DoubleSpinBox, Slider, ComboBox])
def test_the_wheel_changes_what_has_the_keyboard(qtbot: QtBot, kind: type[QWidget]) -> None:
    widget = kind()
    qtbot.addWidget(widget)
    if isinstance(widget, ComboBox):
        widget.addItems(["one", "two", "three"])
        widget.setCurrentIndex(1)
    else:
        widget.setValue(50)
    widget.show()
    before = value_of(widget)
    turn_wheel(widget)
    assert value_of(widget) == before
    widget.activateWindow()
    widget.setFocus()
    qtbot.waitUntil(widget.hasFocus)
    turn_wheel(widget)
    assert value_of(widget) != before


def test_an_arrow_key_in_a_closed_box_goes_past_no_choice_into_an_action(qtbot: QtBot) -> None:
    box, done, heard = ChoiceBox("box", "A box"), [], []
    qtbot.addWidget(box)
    box.show()
    for name in ("one", "two"):
        box.add_choice(name, name)
    box.add_action("Choose a file…", lambda: done.append(1))
    box.setCurrentIndex(0)
    box.chosen.connect(heard.append)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_End, Qt.Key.Key_Up, Qt.Key.Key_End):
        qtbot.keyClick(box, key)
    assert heard == ["two", "one", "two"] and not done
