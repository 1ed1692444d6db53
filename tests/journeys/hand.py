"""What a person does in a journey: click a thing by its name, type, choose, answer a file dialog."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QFileDialog, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow


class Hand:
    """What a person does: click a thing by its name, type, choose from a box."""

    def __init__(self, window: MainWindow, qtbot: QtBot) -> None:
        self.window, self.qtbot = window, qtbot

    def find(self, name: str) -> Any:
        page = self.window.page(self.window.current_page)  # two pages may have things of one name
        found = page.findChild(QWidget, name) or self.window.findChild(QWidget, name)
        assert found is not None, name
        return found

    def click(self, name: str) -> None:
        widget = self.find(name)
        self.qtbot.waitUntil(lambda: widget.isVisible() and widget.isEnabled())
        self.qtbot.mouseClick(widget, Qt.MouseButton.LeftButton)

    def type(self, name: str, text: str) -> None:
        widget = self.find(name)
        self.qtbot.mouseClick(widget, Qt.MouseButton.LeftButton)
        widget.selectAll()
        self.qtbot.keyClicks(widget, text)
        self.qtbot.keyClick(widget, Qt.Key.Key_Tab)

    def choose(self, name: str, text: str) -> None:
        box: QComboBox = self.find(name)
        place = box.findText(text)
        assert place >= 0, [box.itemText(i) for i in range(box.count())]
        box.setFocus()
        box.showPopup()
        box.view().setCurrentIndex(box.model().index(place, 0))
        self.qtbot.keyClick(box.view(), Qt.Key.Key_Return)

    def open_dialog(self, name: str, path: Path) -> None:
        """Click what opens a file dialog, and type a path into it."""
        QTimer.singleShot(0, lambda: _type_path(path))
        self.click(name)


def _type_path(path: Path, tries: int = 100) -> None:
    dialog = QApplication.activeModalWidget()
    if not isinstance(dialog, QFileDialog):
        assert tries, "no file dialog has opened"
        QTimer.singleShot(50, lambda: _type_path(path, tries - 1))
        return
    edit = dialog.findChild(QLineEdit, "fileNameEdit")
    edit.setText(str(path))  # typed letter by letter, the completer's list would take the Return
    QTest.keyClick(edit, Qt.Key.Key_Return)
    if dialog.isVisible():
        dialog.reject()
