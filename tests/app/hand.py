"""What a person does: click a thing by its name, type, choose, open a file, read what is said."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QFileDialog, QLineEdit, QMenu, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow
from app.session import Session
from app.settings import AppSettings

Page = TypeVar("Page", bound=QWidget)
ShowPage = Callable[[Callable[[Session], Page]], Page]  # the fixture `show_page`
OpenWindow = Callable[[AppSettings], MainWindow]  # the fixture `open_window`
RESTS_MS = 400  # the longest that a page lets typing or choosing rest
QUIET = 3  # looks in a row at which nothing is under way
LOOKS = 500  # and as many where something always is


def come_to_rest(session: Session, qtbot: QtBot) -> None:
    """Wait until all that was asked is answered, and nothing is asked a moment later: what lets typing or
    choosing rest for a while goes on at once.
    """
    quiet = 0
    for _ in range(LOOKS):
        qtbot.waitUntil(lambda: session.workers.is_idle)
        resting = _resting(session)
        for timer in resting:
            timer.stop()
            timer.timeout.emit()
        qtbot.wait(1)
        quiet = quiet + 1 if session.workers.is_idle and not resting else 0
        if quiet == QUIET:
            return
    pytest.fail("it asks without end")


def _resting(session: Session) -> list[QTimer]:
    """Return the timers of the windows and the session that wait for a moment, once."""
    timers = [
        timer for one in (session, *QApplication.topLevelWidgets()) for timer in one.findChildren(QTimer)
    ]
    return [
        timer
        for timer in timers
        if timer.isActive() and timer.isSingleShot() and timer.interval() <= RESTS_MS
    ]


class Hand:
    """A person at a whole window, or at one page of it, who knows each thing by its object name."""

    def __init__(self, window: Any, qtbot: QtBot) -> None:
        self.window, self.qtbot = window, qtbot

    @property
    def page(self) -> Any:
        """The page in view."""
        window = self.window
        return window.page(window.current_page) if isinstance(window, MainWindow) else window

    def find(self, name: str) -> Any:
        window, page = self.window, self.page
        found = page.findChild(QWidget, name) or window.findChild(QWidget, name)  # a page's own comes first
        assert found is not None, name
        return found

    def said(self, name: str) -> str:
        """Return what stands on a label, a button or in a box; "" where it is hidden."""
        widget = self.find(name)
        if widget.isHidden():
            return ""
        if isinstance(widget, QComboBox):
            return widget.currentText()
        return str(widget.toPlainText() if isinstance(widget, QPlainTextEdit) else widget.text())

    def rows(self, name: str) -> list[list[Any]]:
        """Return the cells of a table as they are shown."""
        model = self.find(name).model()
        columns = range(model.columnCount())
        return [[model.index(row, column).data() for column in columns] for row in range(model.rowCount())]

    def shown(self, *names: str) -> list[str]:
        """Return which of these are there to be used or read, in the order asked."""
        return [name for name in names if self.find(name).isVisible()]

    def click(self, name: str) -> None:
        widget = self.find(name)
        header = getattr(self.page, "header", None)
        if header is not None and widget in header.more.buttons:  # it stands in the menus
            self.qtbot.waitUntil(widget.isEnabled)
            menus = (header.share.share_menu, header.more.more_menu)
            choose_in(menus, f"{name}_action")
            return
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
        type_into_dialog(path)
        self.click(name)


def choose_in(menus: Iterable[QMenu], name: str) -> None:
    """Choose the action of this name in the first of some menus that has it, as they are when they open."""
    for menu in menus:
        menu.aboutToShow.emit()
        found = [action for action in menu.actions() if action.objectName() == name]
        if found:
            assert found[0].isEnabled() and found[0].isVisible(), name
            found[0].trigger()
            return
    raise AssertionError(name)


@contextmanager
def whole_window(settings: AppSettings, qtbot: QtBot, size: QSize | None = None) -> Iterator[MainWindow]:
    """Show the window with some settings; at the end, what it trains is stopped and nothing is asked."""
    made = MainWindow(Session(settings), warm_up=False)
    qtbot.addWidget(made)
    if size is not None:
        made.resize(size)
    made.show()
    yield made
    if made.session.training.is_running:
        made.session.training.stop()
        wait_for_run(made.session, qtbot)
    made.close()
    assert made.session.wait_idle()


def wait_for_run(session: Session, qtbot: QtBot, hold_at: int = 0) -> None:
    """Wait until an invented run holds at its step, or has ended where it holds nowhere."""

    def is_there() -> bool:
        step = session.training.state.step
        return step is not None and step.step == hold_at if hold_at else not session.training.is_running

    qtbot.waitUntil(is_there)


def type_into_dialog(path: Path) -> None:
    """Type a path into the file dialog that opens next."""
    QTimer.singleShot(0, lambda: _type_path(path))


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
