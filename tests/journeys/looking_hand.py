"""What a person does on the pages that look inside: open a model, type a text, click words and cells."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow
from app.work.inspector import Inspector
from tests.app.hand import Hand, choose_in

LEFT = Qt.MouseButton.LeftButton
PATIENCE_MS = 180_000  # ends at once where things go well


class LookingHand(Hand):
    """A hand that opens models and waits for what a person would see."""

    def __init__(self, window: MainWindow, qtbot: QtBot) -> None:
        super().__init__(window, qtbot)
        self.inspector: Inspector = window.session.inspector

    def wait(self, is_seen: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(is_seen, timeout=PATIENCE_MS)

    def go_to(self, page: str) -> None:
        self.click(f"rail_{page}")
        self.wait(lambda: self.window.current_page == page)

    def open_model(self, folder: Path) -> None:
        """Choose a model's folder where the page says that there is none."""
        self.open_dialog("looking_choose", folder)
        self.wait(lambda: self.inspector.about is not None and self.inspector.about.folder == folder)
        self.come_back()

    def choose(self, name: str, text: str) -> None:
        super().choose(name, text)
        self.come_back()

    def come_back(self) -> None:
        """Make the window the active one, as a desktop does when a dialog or a list closes."""
        self.window.activateWindow()
        self.wait(self.window.isActiveWindow)

    def press(self, widget: QWidget, keys: str) -> None:
        """Type keys while a part of the window has the keyboard."""
        widget.setFocus()
        self.qtbot.keyClicks(widget, keys)

    def write(self, box: str, text: str) -> None:
        """Type into a box of several lines, in the place of what stands there."""
        field = self.find(box)
        self.wait(field.isVisible)
        field.setFocus()
        field.selectAll()
        for number, line in enumerate(text.split("\n")):
            if number:
                self.qtbot.keyClick(field, Qt.Key.Key_Return)
            self.qtbot.keyClicks(field, line)
        assert field.toPlainText() == text

    def write_text(self, text: str, pair: str = "") -> None:
        """Type the text of the window into the boxes that the bar opens."""
        self.click("thread_text")
        self.write("editor_text", text)
        if pair:
            self.click("editor_add_pair")
            self.write("editor_pair", pair)
        self.qtbot.keyClick(self.find("editor_text"), Qt.Key.Key_Return)
        self.come_back()

    def click_at(self, widget: QWidget, at: QPointF) -> None:
        self.qtbot.mouseClick(widget, LEFT, pos=at.toPoint())

    def labels(self, widget: QWidget) -> list[str]:
        """Return the words of the labels that are seen on a part of the window."""
        return [each.text() for each in widget.findChildren(QLabel) if each.isVisible() and each.text()]

    def save_figure(self, path: Path, kind: str, width_mm: float) -> Path:
        """Save the picture in view by its dialog; return the file."""
        choose_in([self.page.header.share.share_menu], "share_figure")
        dialog: Any = self.window.findChild(QDialog, "save_figure_dialog")
        assert dialog is not None and dialog is QApplication.activeModalWidget()
        parts = {
            name: dialog.findChild(QWidget, f"save_{name}") for name in ("path", "kind", "width", "accept")
        }
        parts["path"].selectAll()
        self.qtbot.keyClicks(parts["path"], str(path))
        parts["kind"].setFocus()
        while parts["kind"].currentData() != kind:
            self.qtbot.keyClick(parts["kind"], Qt.Key.Key_Down)
        parts["width"].setFocus()
        parts["width"].selectAll()
        self.qtbot.keyClicks(parts["width"], f"{width_mm:g}")
        self.qtbot.keyClick(parts["width"], Qt.Key.Key_Tab)
        self.qtbot.mouseClick(parts["accept"], LEFT)
        self.wait(lambda: self.window.findChild(QDialog, "save_figure_dialog") is None)
        self.come_back()
        return path.with_suffix(kind)
