"""The way to an earlier run: a link, and the newest runs of a page's kind in its menu."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QPoint, Signal
from PySide6.QtWidgets import QMenu, QWidget

from app import words
from app.look.widgets import button
from app.pages.run.past_run import earlier_runs
from app.session import Session
from app.work.titles import run_title
from app.work.worker import Channel
from engine.train.run.runs import RunState

MOST_EARLIER = 12


class EarlierRuns(QObject):
    """Looks for runs on a worker when its link is clicked; `chosen` tells which is to be shown."""

    chosen = Signal(object)  # its folder

    def __init__(self, session: Session, kind: type, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self._kind, self._parent = session, kind, parent
        self._asked = Channel(self, session.workers.quick)
        self.button = button(self.tr("Past runs…"), "link", name="earlier_runs")
        self.button.clicked.connect(self._look)

    def _look(self) -> None:
        self._asked.drop()  # there may be more by now
        root = self._session.runs.root
        self._asked.ask(root, partial(earlier_runs, root, self._kind, MOST_EARLIER), heard=self._offer)

    def _offer(self, found: list[RunState]) -> None:
        menu = QMenu(self._parent)
        menu.setObjectName("earlier_menu")
        for info in found:
            menu.addAction(_run_words(info)).triggered.connect(partial(self._choose, info.path))
        if not found:
            menu.addAction(self.tr("No past run yet")).setEnabled(False)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.button.mapToGlobal(QPoint(0, self.button.height())))

    def _choose(self, path: Path, _checked: bool = False) -> None:
        self.chosen.emit(path)


def state_words(state: str) -> str:
    """Return a run's state in a word: "finished", "cut off"."""
    states = {
        "finished": words.translate("EarlierRuns", "finished"),
        "stopped": words.translate("EarlierRuns", "stopped"),
        "failed": words.translate("EarlierRuns", "failed"),
        "crashed": words.translate("EarlierRuns", "interrupted"),
        "running": words.translate("EarlierRuns", "running"),
        "waiting": words.translate("EarlierRuns", "waiting"),
        "paused": words.translate("EarlierRuns", "paused"),
        "stopping": words.translate("EarlierRuns", "saving"),
    }
    return states.get(state, state)


def _run_words(info: RunState) -> str:
    template = words.translate("EarlierRuns", "{name} · {state} at step {step}")
    name = words.shorten(run_title(info.path), 50)
    return template.format(name=name, state=state_words(info.state), step=words.number(info.step))
