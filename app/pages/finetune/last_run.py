"""A word on the last run that learned from the open table, with the way to it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app.look.labels import label
from app.look.layout import row
from app.look.widgets import button, set_role
from app.pages.run.earlier_runs import state_words
from app.pages.tasks.known import metric_words
from app.session import Session
from app.words import phrases
from app.work.titles import run_title
from app.work.worker import Channel
from engine.events import Steps
from engine.runs.facts import RunFacts
from engine.runs.index import index_of


def last_run(root: Path, table: Path) -> Steps[RunFacts | None]:
    """Return the newest run under a root that learned from a table; those of comparisons are passed over."""
    for facts in (yield from index_of(root)):
        if facts.kind == "finetune" and "/" not in facts.folder and Path(facts.data) == table:
            return facts
    return None


class LastRun(QWidget):
    """Hidden while there is none. `chosen` tells the run's folder."""

    chosen = Signal(object)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "clear")
        self._session, self._asked = session, Channel(self, session.workers.quick)
        self._found: RunFacts | None = None
        self.said = label("", "muted", wrap=True, name="last_run_words")
        self.show_button = button(self.tr("Show"), "link", name="show_last_run")
        self.show_button.setToolTip(self.tr("Show the last run trained on this table"))
        self.show_button.clicked.connect(self._show)
        row((self.said, 1), (self.show_button, Qt.AlignmentFlag.AlignTop), gap=8, parent=self)
        session.data.opened.connect(self.look)
        session.training.ended.connect(self.look)
        session.queue.ended.connect(self.look)
        self.hide()
        self.look()

    def look(self) -> None:
        """Look for the last run of the open table."""
        path = self._session.data.path
        self._take(None)
        if path is not None:
            root = self._session.runs.root
            # there may be another by now
            self._asked.ask(path, partial(last_run, root, path), heard=self._take, again=True)

    def _take(self, found: RunFacts | None) -> None:
        self._found = found
        self.setVisible(found is not None)
        if found is not None:
            self.said.setText(self._words(found))

    def _words(self, found: RunFacts) -> str:
        score = found.score()
        parts = [run_title(Path(found.path))]
        if found.state != "finished":
            parts.append(state_words(found.state))
        if score is not None:
            parts.append(metric_words(score.metric, score.value))
        return self.tr("Last run: {run}").format(run=phrases(parts))

    def _show(self) -> None:
        if self._found is not None:
            self.chosen.emit(Path(self._found.path))
