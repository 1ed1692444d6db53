"""The button in the rail for scenes and lectures, and its menu. Imports nothing that takes long."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from app import shipped, words
from app.look import theme
from app.look.inputs import ToolButton
from app.look.labels import tip
from app.look.widgets import named, set_role

KEEP_KEYS, EDIT_KEYS, START_KEYS, HERE_KEYS = "Ctrl+K", "Ctrl+L", "F5", "Shift+F5"


class LectureButton(ToolButton):
    """Keep, edit, show, open. Args: lectures: gives what does it, made at the first wish."""

    def __init__(self, lectures: Callable[[], Any], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        said = self.tr("Lectures")
        self.setText(f"\u2002{said}")  # as in the rail above it
        self.setAccessibleName(said)
        self.setToolTip(self.tr("Keep what a page shows as a scene. Scenes in order make a lecture"))
        self.setObjectName("rail_lectures")
        self.setToolButtonStyle(self.toolButtonStyle().ToolButtonTextBesideIcon)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(28)
        self.setFocusPolicy(self.focusPolicy().StrongFocus)
        set_role(self, "nav")
        theme.on_theme_change(self, self._draw)
        self._lectures = lectures
        self._menu = named(QMenu(self), "lectures_menu")
        self._menu.setToolTipsVisible(True)
        self._recent: list[QAction] = []
        self.keep = self._add(
            "lecture_keep", self.tr("Keep as scene…"), KEEP_KEYS, lambda lectures: lectures.ask_to_keep()
        )
        self.edit = self._add(
            "lecture_edit", self.tr("Edit the lecture…"), EDIT_KEYS, lambda lectures: lectures.edit()
        )
        self.start = self._add(
            "lecture_start", self.tr("Show the lecture"), START_KEYS, lambda lectures: lectures.start()
        )
        self.here = self._add(
            "lecture_start_here",
            self.tr("Show it from the chosen scene"),
            HERE_KEYS,
            lambda lectures: lectures.start_here(),
        )
        self._menu.addSeparator()
        self.open = self._add(
            "lecture_open", self.tr("Open a lecture…"), "", lambda lectures: lectures.ask_to_open()
        )
        here, elsewhere = shipped.lectures(), shipped.other_lectures()
        self._offer(self._menu, here)
        if elsewhere:
            others = self._menu.addMenu(self.tr("In other languages"))
            others.setToolTipsVisible(True)
            self._offer(others, elsewhere, len(here))
        self._last = self._menu.addSeparator()
        self.clicked.connect(self.open_menu)

    @property
    def actions_of_window(self) -> tuple[QAction, ...]:
        """Those with keys, which the window has to know to hear them."""
        return self.keep, self.edit, self.start, self.here

    def open_menu(self) -> None:
        """Open the menu beside the button, with the lectures that were opened last."""
        for action in self._recent:
            self._menu.removeAction(action)
            action.deleteLater()
        self._recent = []
        for path in self._lectures().current.recent:
            action = self._menu.addAction(words.shorten(path.stem, 50).replace("&", "&&"))
            action.setToolTip(tip(str(path)))
            action.triggered.connect(partial(self._open, path))
            self._recent.append(action)
        self._menu.popup(self.mapToGlobal(QPoint(self.width() + 4, 0)))

    def _offer(self, menu: QMenu, lectures: tuple[shipped.ShippedLecture, ...], before: int = 0) -> None:
        """Offer lectures of the box. Args: before: how many were offered."""
        for place, one in enumerate(lectures, start=before + 1):
            action = menu.addAction(one.title.replace("&", "&&"))
            action.setObjectName(f"lecture_shipped_{place}")
            action.setToolTip(tip(one.words))
            action.triggered.connect(partial(self._open, one.path))

    def _add(self, name: str, text: str, keys: str, call: Callable[[Any], object]) -> QAction:
        action = self._menu.addAction(text)
        action.setObjectName(name)
        if keys:
            action.setShortcut(QKeySequence(keys))
        action.triggered.connect(lambda _checked=False: call(self._lectures()))
        return action

    def _open(self, path: Path, _checked: bool = False) -> None:
        self._lectures().open(path, starts=True)

    def _draw(self) -> None:
        self.setIcon(theme.icon("lecture"))
