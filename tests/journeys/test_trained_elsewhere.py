"""From a table here to a model that another computer trains: watched, cut off, heard again, left, stopped.

By the real ssh through a real sshd on loopback, with keys of its own.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow
from app.pages.run.state import RunPageState
from app.settings import AppSettings
from engine.settings.config import values_of
from engine.train.run.runs import run_info
from tests.app.hand import Hand, come_to_rest, whole_window
from tests.engine.remote.loopback import HOST, Elsewhere
from tests.engine.tiny_runs import tiny_config

pytestmark = pytest.mark.slow  # whole journeys, as a person makes them

REFUSED = "#!/bin/sh\necho 'ssh: connect to host there port 22: Connection refused' >&2\nexit 255\n"


@contextmanager
def cut(there: Elsewhere) -> Iterator[None]:
    """End the line, and let nobody in meanwhile."""
    ssh = there.bin / "ssh"
    whole = ssh.read_text()
    ssh.write_text(REFUSED)
    for pid in there.sessions():
        os.kill(pid, signal.SIGKILL)
    yield
    ssh.write_text(whole)


def stepped(window: MainWindow, after: int) -> Callable[[], bool]:
    """Return what says whether the run has made more than so many steps, as far as the window knows."""

    def is_there() -> bool:
        step = window.session.training.state.step
        return step is not None and step.step > after

    return is_there


def test_a_run_is_trained_elsewhere_and_watched_here(
    served: Elsewhere, settings: AppSettings, qtbot: QtBot, tmp_path: Path
) -> None:
    config = tiny_config(tmp_path, num_epochs=200, checkpoint_every_steps=10)
    with whole_window(settings, qtbot, QSize(1280, 800)) as window:
        hand, session = Hand(window, qtbot), window.session
        window.show_page("finetune", RunPageState())
        session.data.open(config.data.data)
        session.model.choose(config.model.model)
        come_to_rest(session, qtbot)
        form = hand.page.setup.form
        form.set_values({name: value for name, value in values_of(config).items() if name in form.names})
        hand.choose("where_choice", HOST)
        hand.click("where_check")
        qtbot.waitUntil(lambda: "The same Cloze as here" in hand.said("where_said"))
        come_to_rest(session, qtbot)
        hand.click("start")
        qtbot.waitUntil(lambda: stepped(window, 4)())
        run_dir = session.training.run_dir
        assert run_dir is not None and hand.said("run_place") == f"On {HOST}"
        assert hand.page.charts.loss.num_points >= 5

        hand.click("pause")
        qtbot.waitUntil(lambda: session.training.state.state == "paused")
        hand.click("go_on")
        qtbot.waitUntil(lambda: session.training.state.state == "running")

        with cut(served):
            qtbot.waitUntil(lambda: hand.said("run_contact").startswith(f"Not connected to {HOST} since"))
            reached = run_info(run_dir).step
        qtbot.waitUntil(stepped(window, reached))
        qtbot.waitUntil(lambda: "Not connected" not in hand.said("run_contact"))

        window.close()
        assert "continues on there" in hand.said("closing_text")
        window.findChild(QPushButton, "closing_stop").click()
        qtbot.waitUntil(lambda: not window.isVisible())
        assert run_info(run_dir).state == "running"

    with whole_window(settings, qtbot, QSize(1280, 800)) as window:
        hand, session = Hand(window, qtbot), window.session
        qtbot.waitUntil(stepped(window, reached))  # it is followed again by itself
        window.show_page("finetune")
        hand.click("stop")
        qtbot.waitUntil(lambda: not session.training.is_running)
        assert session.training.state.outcome == "stopped" and run_info(run_dir).state == "stopped"
        assert session.training.last_model == run_dir / "model" and hand.shown("go_on") == ["go_on"]
        there = next((served.home / ".cloze" / "runs").glob(f"*/{run_dir.name}/metrics.jsonl"))
        assert there.read_bytes() == (run_dir / "metrics.jsonl").read_bytes()
