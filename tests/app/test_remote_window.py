"""The window while a run trains elsewhere: what closing says and does, and what is followed at the start."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QDialog, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow
from app.pages.run.state import RunPageState
from app.settings import AppSettings
from engine.settings.config import with_values
from engine.settings.finetune import FineTuneConfig
from engine.train.run.runs import run_info
from engine.train.run.wanted import STOP
from tests.app.fake_host import FakeHost, events_of, there_only
from tests.app.hand import OpenWindow
from tests.engine.made_runs import made_run


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> FakeHost:
    return FakeHost(monkeypatch)


@pytest.fixture
def window(there: FakeHost, settings: AppSettings, open_window: OpenWindow) -> MainWindow:
    return open_window(settings)


def begin(window: MainWindow) -> Path:
    config = with_values(FineTuneConfig(), {"data": "films.csv", "text": "text", "model": "new:tiny"})
    return window.session.training.start(config, "gpu1")


def asked(window: MainWindow) -> tuple[str, QDialog]:
    """Close the window; return what that asks."""
    window.close()
    assert window.isVisible()
    (dialog,) = (one for one in window.findChildren(QDialog, "closing_dialog") if one.isVisible())
    return dialog.findChild(QLabel, "closing_text").text(), dialog


def focused(dialog: QDialog) -> str:
    widget = dialog.focusWidget()
    return "" if widget is None else widget.objectName()


def press(dialog: QDialog, name: str) -> None:
    button = dialog.findChild(QPushButton, name)
    assert button is not None
    button.click()


def test_closing_says_that_the_run_continues_and_leaves_it(
    window: MainWindow, there: FakeHost, qtbot: QtBot, tmp_path: Path
) -> None:
    run_dir = begin(window)
    there.contact()
    there.say(*events_of(tmp_path / "made", run_dir)[:4])
    qtbot.waitUntil(lambda: window.session.training.state.step is not None)
    said, dialog = asked(window)
    assert said == "films continues on gpu1 when you close Cloze. It is followed again when you open it."
    press(dialog, "closing_keep")
    assert window.session.training.is_running
    _, dialog = asked(window)
    assert focused(dialog) == "closing_stop"  # Enter closes: nothing is lost
    press(dialog, "closing_stop")
    qtbot.waitUntil(lambda: not window.isVisible())
    assert there.wanted == [] and there.left == 1 and run_info(run_dir).state == "running"


def test_closing_while_files_are_sent_says_that_nothing_has_begun(
    window: MainWindow, there: FakeHost, qtbot: QtBot
) -> None:
    there.is_sent = False
    run_dir = begin(window)
    qtbot.waitUntil(lambda: bool(there.runs))
    said, dialog = asked(window)
    assert said == "films has not begun on gpu1 yet. If you close now, nothing is started there."
    assert focused(dialog) == "closing_keep"
    press(dialog, "closing_stop")
    qtbot.waitUntil(lambda: not window.isVisible())
    assert not run_dir.exists()


def test_closing_while_it_is_being_stopped_leaves_the_wish(
    window: MainWindow, there: FakeHost, qtbot: QtBot
) -> None:
    there.stops = False
    begin(window)
    there.contact()
    qtbot.waitUntil(lambda: window.session.training.may_leave)
    window.session.training.stop()
    said, dialog = asked(window)
    assert said.startswith("films is being stopped on gpu1.")
    press(dialog, "closing_stop")
    qtbot.waitUntil(lambda: not window.isVisible())
    assert there.wanted in ([], [STOP])


def test_the_newest_run_elsewhere_is_followed_again_at_the_start(
    there: FakeHost, settings: AppSettings, open_window: OpenWindow, qtbot: QtBot
) -> None:
    root = Path(settings.runs_root)
    there_only(made_run(root, "older", state="running"))
    newest = there_only(made_run(root, "newest", state="running", number=1))
    there_only(made_run(root, "over", number=2), state="finished", connected=True)
    window = open_window(settings)
    there.contact()
    qtbot.waitUntil(lambda: window.session.training.may_leave)
    assert there.runs == [(None, newest, "")] and window.page("finetune").run_dir == newest
    window.session.training.leave()
    qtbot.waitUntil(lambda: not window.session.training.is_running)
    window.session.runs.find()
    assert window.session.wait_idle()
    assert not window.session.training.is_running  # once: who has left it is not asked again


def test_a_folder_from_elsewhere_is_not_followed_at_the_start(
    there: FakeHost, settings: AppSettings, open_window: OpenWindow
) -> None:
    there.is_foreign = True
    there_only(made_run(Path(settings.runs_root), "theirs", state="running"))
    window = open_window(settings)
    assert not window.session.training.is_running and not there.runs


def test_the_status_bar_and_the_rail_say_how_far_it_is(
    window: MainWindow, there: FakeHost, qtbot: QtBot, tmp_path: Path
) -> None:
    run_dir = begin(window)
    there.contact()
    there.say(*events_of(tmp_path / "made", run_dir)[:4])
    qtbot.waitUntil(lambda: "on gpu1 · step 3 of 12" in window.status.job.text())
    there.contact(connected=False)
    qtbot.waitUntil(lambda: window.status.job.text().endswith("on gpu1 · not connected"))


def test_the_bar_leads_back_to_the_run_that_is_followed(
    window: MainWindow, there: FakeHost, qtbot: QtBot, tmp_path: Path
) -> None:
    other = made_run(window.session.runs.root, "other")
    run_dir = begin(window)
    there.contact()
    qtbot.waitUntil(lambda: window.session.training.may_leave)
    window.show_page("finetune", RunPageState(run=other))
    qtbot.waitUntil(lambda: window.page("finetune").run_dir == other)
    window.show_page("data")
    window.bar.job.click()
    qtbot.waitUntil(lambda: window.page("finetune").run_dir == run_dir)
    assert window.current_page == "finetune"


def test_weights_on_their_way_are_said_below_and_can_be_left(
    window: MainWindow, there: FakeHost, qtbot: QtBot
) -> None:
    path = there_only(made_run(window.session.runs.root, "done"), state="finished", connected=True)
    there.holds = True
    window.session.hosts.copy_weights(path)
    said = "Downloading model.safetensors from gpu1"
    qtbot.waitUntil(lambda: window.status.job.text().startswith(said))
    window.session.hosts.cancel_copying()
    qtbot.waitUntil(lambda: window.session.hosts.copying is None)
    assert not window.status.job.text().startswith(said) and not (path / "model").exists()
