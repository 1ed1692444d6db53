"""What the status bar tells of runs that have ended."""

from __future__ import annotations

from dataclasses import replace

from pytestqt.qtbot import QtBot

from app.session import Session
from app.status_bar import StatusBar
from app.work.queue import QueueState
from engine.runs.queue import DONE, RUNNING, QueueJob
from tests.engine.made_runs import made_run


def test_the_status_bar_tells_of_the_run_that_ended_last_also_when_the_queue_made_it(
    session: Session, qtbot: QtBot
) -> None:
    bar = StatusBar(session)
    qtbot.addWidget(bar)
    session.training.state.outcome, session.training.state.name = "finished", "questions"
    session.training.ended.emit()
    session.training.changed.emit()
    assert bar.job.text() == "Training finished: questions"
    run = made_run(session.runs.root, "films", right=91)
    job = QueueJob(number=1, name="films", run=run.name, state=RUNNING)
    session.queue._take(QueueState((job,)))
    session.queue._take(QueueState((replace(job, state=DONE),)))
    assert bar.job.text().startswith("Training finished: films · validation accuracy 91.0 %")
    session.training.started.emit(run)
    session.training.changed.emit()
    assert bar.job.text() == "Training finished: questions"
