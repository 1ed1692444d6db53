"""The mouse wheel: it scrolls the page, and changes a value only where a person has put the keyboard."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QCheckBox,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QRadioButton,
    QScrollBar,
    QTabBar,
    QTableView,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.look.boxes import ChoiceBox
from app.look.inputs import ComboBox, DoubleSpinBox, LineEdit, Slider, SpinBox
from app.main_window import MainWindow
from app.page_stack import PAGES
from app.settings import AppSettings
from app.shipped import sample_data_path
from tests.app.hand import OpenWindow

INPUTS = (QAbstractSpinBox, QComboBox, QAbstractSlider)


@pytest.fixture
def window(settings: AppSettings, open_window: OpenWindow) -> MainWindow:
    made = open_window(settings)
    made.session.data.open(sample_data_path())
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
    window.rail.findChild(QWidget, "rail_welcome").setFocus()
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


def texts_in(page: QWidget) -> list[QWidget]:
    """Return what is typed into, where a drag would arrive."""
    lines: list[QWidget] = list(page.findChildren(QLineEdit))
    return lines + [box.viewport() for box in page.findChildren(QPlainTextEdit) if not box.isReadOnly()]


def drop_file(target: QWidget, path: Path) -> None:
    dragged = QMimeData()
    dragged.setUrls([QUrl.fromLocalFile(str(path))])
    place, no_key = target.rect().center(), Qt.KeyboardModifier.NoModifier
    told = (dragged, Qt.MouseButton.LeftButton, no_key)
    QApplication.sendEvent(target, QDragEnterEvent(place, Qt.DropAction.CopyAction, *told))
    QApplication.sendEvent(target, QDropEvent(QPointF(place), Qt.DropAction.CopyAction, *told))


@pytest.mark.slow
def test_a_file_that_is_dropped_on_any_box_for_text_is_opened_and_never_typed(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    opened: list[object] = []
    monkeypatch.setattr(window, "open_file", opened.append)
    tried = 0
    for key in PAGES:
        if key == "pretrain":
            continue  # takes files as text to learn from
        window.show_page(key)
        if key == "predict":
            monkeypatch.setattr(window._pages.page(key), "open_file", lambda path: opened.append(str(path)))
        for box in texts_in(window._pages.page(key)):
            before = box.text() if isinstance(box, QLineEdit) else box.parentWidget().toPlainText()
            drop_file(box, tmp_path / "table.csv")
            after = box.text() if isinstance(box, QLineEdit) else box.parentWidget().toPlainText()
            assert after == before, (key, box.objectName(), box.parentWidget().objectName())
            tried += box.isVisible()
    assert tried > 10 and len(opened) >= tried and set(opened) == {str(tmp_path / "table.csv")}


def test_text_that_is_dropped_on_a_box_is_still_typed(qtbot: QtBot) -> None:
    box = LineEdit()
    qtbot.addWidget(box)
    dragged = QMimeData()
    dragged.setText("a river")
    told = (dragged, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(box, QDragEnterEvent(QPoint(4, 4), Qt.DropAction.CopyAction, *told))
    QApplication.sendEvent(box, QDropEvent(QPointF(4, 4), Qt.DropAction.CopyAction, *told))
    assert box.text() == "a river"


@pytest.mark.slow
def test_enter_presses_whatever_button_has_the_keyboard(window: MainWindow, qtbot: QtBot) -> None:
    own = (QCheckBox, QRadioButton)
    tried = 0
    for key in PAGES:
        window.show_page(key)
        for one in window._pages.page(key).findChildren(QAbstractButton):
            is_inner = isinstance(one.parentWidget(), QLineEdit | QTabBar | QHeaderView | QTableView)
            if isinstance(one, own) or is_inner or not one.isEnabled():
                continue
            one.blockSignals(True)  # nothing is begun
            one.setAutoExclusive(False)
            one.setCheckable(True)
            one.setChecked(False)
            qtbot.keyClick(one, Qt.Key.Key_Return)
            one.blockSignals(False)
            tried += 1
            assert one.isChecked(), (key, one.objectName(), type(one))
    assert tried > 100


def test_nothing_in_the_window_is_made_of_qts_own_boxes_and_buttons() -> None:
    plain = re.compile(r"\b(QLineEdit|QPlainTextEdit|QTextEdit|QPushButton|QToolButton|Q(Double)?SpinBox)\(")
    folder = Path(__file__).parents[3] / "app"
    found = [path.name for path in folder.rglob("*.py") if plain.search(path.read_text(encoding="utf-8"))]
    assert not found, "take those of app/look/inputs.py"
