"""The row of a series of runs: the button that leads to a new one, and a menu of those that were made."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, Signal
from PySide6.QtWidgets import QMenu, QWidget

from app.look.layout import STRETCH, FoldingRow, row
from app.look.widgets import button, set_role
from app.session import Session
from app.work.titles import run_title
from app.work.worker import Channel
from engine.events import Event

MOST_PAST = 12
Past = list[tuple[Path, str]]  # folders, and what is to be said of each behind its name


class PastSeries(QWidget):
    """Args: find: returns the series under a folder for runs, the newest first."""

    start_wanted = Signal()
    chosen = Signal(object)  # Path

    def __init__(
        self,
        session: Session,
        find: Callable[[Path], Generator[Event, None, Past]],
        start: str,
        past: str,
        names: tuple[str, str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        set_role(self, "clear")
        self._session, self._find, self._name = session, find, names[1]
        self._asked = Channel(self, session.workers.quick)
        self.none_yet = ""
        self.start = button(start, "link", name=names[0])
        self.earlier = button(past, "link", name=f"earlier_{names[1]}")
        links = FoldingRow(gap=0)
        links.put(row(self.start, STRETCH), row(STRETCH, self.earlier))
        row(links, parent=self)
        self.start.clicked.connect(self.start_wanted)
        self.earlier.clicked.connect(self._look)

    def _look(self) -> None:
        self._asked.drop()
        root = self._session.runs.root
        self._asked.ask(root, partial(self._find, root), heard=self._offer)

    def _offer(self, found: Past) -> None:
        menu = QMenu(self)
        menu.setObjectName(f"{self._name}_menu")
        for folder, said in found[:MOST_PAST]:
            name = " · ".join(filter(None, (run_title(folder), said)))
            menu.addAction(name).triggered.connect(partial(self._choose, folder))
        if not found:
            menu.addAction(self.none_yet).setEnabled(False)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.earlier.mapToGlobal(QPoint(0, self.earlier.height())))

    def _choose(self, folder: Path, _checked: bool = False) -> None:
        self.chosen.emit(folder)
