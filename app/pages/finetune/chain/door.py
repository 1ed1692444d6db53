"""The way to a chain from the form: a new one, those of before, and the one that was interrupted."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app.look.labels import label
from app.look.layout import column, row
from app.look.widgets import button, holder, set_role
from app.pages.finetune.chain.requests import past_chains, unfinished
from app.pages.finetune.past import PastSeries
from app.session import Session
from app.work.titles import run_title
from app.work.worker import Channel


class ChainDoor(QWidget):
    """`start_wanted`: a new one is to be planned; `chosen`: one of before, its folder."""

    start_wanted = Signal()
    chosen = Signal(object)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "clear")
        self._session, self._asked = session, Channel(self, session.workers.quick)
        self._found: Path | None = None
        start, past = self.tr("Adapt to your texts"), self.tr("Past…")
        self.series = PastSeries(session, past_chains, start, past, ("adapt_first", "chains"))
        self.series.none_yet = self.tr("No adaptation yet")
        self.series.start.setToolTip(
            self.tr("Pretrain on your texts without labels, then fine-tune, and see what each stage gains")
        )
        self.series.earlier.setToolTip(self.tr("Show an adaptation, or continue one"))
        self.said = label("", "muted", wrap=True, name="unfinished_chain")
        show = button(self.tr("Show"), "link", name="show_unfinished_chain", call=self._show)
        self._line = holder(row((self.said, 1), (show, Qt.AlignmentFlag.AlignTop), gap=8))
        self._line.hide()
        column(self._line, self.series, gap=4, parent=self)
        self.series.start_wanted.connect(self.start_wanted)
        self.series.chosen.connect(self.chosen)
        for moment in (session.data.opened, session.training.started, session.training.ended):
            moment.connect(self.look)
        self.look()

    def look(self) -> None:
        """Look for a chain over the open table that was stopped or interrupted."""
        table, root = self._session.data.path, self._session.runs.root
        self._take(None)
        if table is not None and not self._session.training.is_running:
            work = partial(unfinished, root, table)
            self._asked.ask((root, table), work, heard=self._take, again=True)

    def _take(self, found: Path | None) -> None:
        self._found = found
        self._line.setVisible(found is not None)
        if found is not None:
            self.said.setText(self.tr("Not finished: {name}").format(name=run_title(found)))

    def _show(self) -> None:
        if self._found is not None:
            self.chosen.emit(self._found)
