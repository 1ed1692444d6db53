"""The line that tells what the queue does, with what stops it; and the list of what is in it."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QFrame, QProgressBar, QWidget

from app.look.cells import CellsModel
from app.look.labels import ElidedLabel, label, set_or_hide
from app.look.layout import STRETCH, column, row
from app.look.table_view import TableView
from app.look.widgets import CARD_Y, DIALOG_MARGINS, button, named, set_role
from app.words import listed, translate
from app.work.queue import QueueWatch, queue_words
from engine.runs.queue import QueueJob

SCALE = 1000


class QueueStrip(QFrame):
    """Hidden while nothing is to be done, and nothing has failed."""

    def __init__(self, queue: QueueWatch, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "card")
        self.setObjectName("queue_strip")
        self._queue = queue
        self.said = named(ElidedLabel(), "queue_said")
        self.bar = named(QProgressBar(textVisible=False, maximum=SCALE), "queue_bar", self.tr("Progress"))
        self.bar.setFixedWidth(120)
        self.stop = button(self.tr("Stop the queue"), name="queue_stop")
        self.stop.setToolTip(self.tr("Stop and keep the current run, and begin no other"))
        self.go_on = button(self.tr("Continue"), "primary", name="queue_go_on")
        self.start = button(self.tr("Start it"), "primary", name="queue_start")
        self.start.setToolTip(self.tr("Allow these runs too. The queue’s list shows what they read."))
        self.show_list = button(self.tr("Show the queue"), "link", name="queue_show")
        self.stop.clicked.connect(queue.stop)
        self.go_on.clicked.connect(queue.go_on)
        self.start.clicked.connect(queue.accept)
        self.show_list.clicked.connect(self._show_list)
        parts = ((self.said, 1), self.bar, self.show_list, self.stop, self.start, self.go_on)
        row(*parts, gap=14, margins=(16, 6, 10, 6), parent=self)
        queue.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Tell what is done now."""
        state = self._queue.state
        is_stopped = (state.is_paused or bool(state.trouble)) and not state.is_working
        self.setVisible(state.is_open or bool(state.failed))
        self.said.setText(queue_words(state))
        self.stop.setVisible(state.is_working or (state.has_own and not is_stopped))
        self.stop.setEnabled(not state.is_paused)
        self.go_on.setVisible(state.is_open and is_stopped)
        self.start.setVisible(state.num_foreign > 0 and not is_stopped)
        self.bar.setVisible(state.running is not None and state.num_steps > 0)
        self.bar.setValue(round(SCALE * min(1.0, state.step / max(1, state.num_steps))))

    def _show_list(self) -> None:
        dialog = QueueDialog(self._queue, self.window())
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()


class QueueDialog(QDialog):
    """All jobs, and what ends one."""

    def __init__(self, queue: QueueWatch, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("queue_dialog")
        self.setWindowTitle(self.tr("The queue"))
        self.resize(640, 420)
        self._queue = queue
        self._cells = CellsModel(self)
        self.table = named(TableView(), "queue_table", self.tr("Jobs"))
        self.table.setSelectionBehavior(TableView.SelectionBehavior.SelectRows)
        self.table.setModel(self._cells)
        self.table.verticalHeader().hide()
        self.why = label("", "muted", wrap=True, name="queue_why")  # a cell may be too narrow for it
        self.cancel = button(self.tr("Cancel this run"), name="queue_cancel")
        self.clear = button(self.tr("Clear ended jobs"), name="queue_clear")
        close = button(self.tr("Close"), "primary")
        self.cancel.clicked.connect(self._cancel)
        self.clear.clicked.connect(queue.clear)
        close.clicked.connect(self.accept)
        foot = row(self.cancel, self.clear, STRETCH, close)
        column((self.table, 1), self.why, foot, gap=CARD_Y, margins=DIALOG_MARGINS, parent=self)
        queue.changed.connect(self._show)
        self.table.selectionModel().selectionChanged.connect(self._show_actions)
        self._show()

    def _show(self) -> None:
        jobs = self._queue.state.jobs
        where = (self.tr("where"),) if any(job.on for job in jobs) else ()
        heads = (self.tr("run"), self.tr("seed"), *where, self.tr("state"), self.tr("why"))
        if self._cells.rowCount() != len(jobs):
            self._cells.set_rows(heads, len(jobs), self._cell)
            for at, width in enumerate((200, 70, *(110 for _ in where), 110)):
                self.table.setColumnWidth(at, width)
        for at in range(len(heads)):
            self._cells.touch(at)
        self._show_actions()

    def _cell(self, place: int, at: int) -> str:
        jobs = self._queue.state.jobs
        if place >= len(jobs):
            return ""
        job = jobs[place]
        where = (job.on or self.tr("here"),) if any(one.on for one in jobs) else ()
        cells: tuple[str, ...] = (job.name, job.seed, *where, job_state_words(job), job_why_words(job))
        return cells[at]

    def _current(self) -> QueueJob | None:
        rows = self.table.selectionModel().selectedRows()
        jobs = self._queue.state.jobs
        return jobs[rows[0].row()] if rows and rows[0].row() < len(jobs) else None

    def _show_actions(self) -> None:
        job = self._current()
        said = [job] if job is not None else self._queue.state.jobs
        set_or_hide(self.why, next(filter(None, map(job_why_words, said)), ""))
        self.cancel.setEnabled(job is not None and job.is_open)
        self.clear.setEnabled(any(not one.is_open for one in self._queue.state.jobs))

    def _cancel(self) -> None:
        job = self._current()
        if job is not None:
            self._queue.cancel(job.number)


def job_state_words(job: QueueJob) -> str:
    """Return a job's state in a word."""
    return {
        "waiting": translate("runs", "waiting"),
        "running": translate("runs", "running"),
        "done": translate("runs", "done"),
        "failed": translate("runs", "failed"),
        "cancelled": translate("runs", "cancelled"),
        "dropped": translate("runs", "excluded"),
    }.get(job.state, job.state)


def job_why_words(job: QueueJob) -> str:
    """Return why a job is as it is; of one from elsewhere, what it would read."""
    if job.is_own or not job.is_open:
        return job.why
    read = (job.values.get("data" if job.kind == "finetune" else "text"), job.values.get("model"))
    template = translate("runs", "from elsewhere; reads {places}")
    return template.format(places=listed(str(place) for place in read if place))
