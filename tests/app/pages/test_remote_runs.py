"""A run of another computer in the window: watched as if here, lost and heard again, left, completed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QDialog, QPushButton
from pytestqt.qtbot import QtBot

from app.pages.finetune.page import FineTunePage
from app.pages.run.state import RunPageState
from app.pages.runs.page import RunsPage
from app.running_job import job_words
from app.session import Session
from engine.errors import Sentence, UserError
from engine.events import Fetched, Progress, Started, Step
from engine.remote.run import CONNECTING
from engine.remote.sending import SENDING
from engine.settings.config import with_values
from engine.settings.finetune import FineTuneConfig
from engine.train.run.runs import STATUS
from engine.train.run.wanted import GO, PAUSE, STOP
from tests.app.fake_host import FakeHost, events_of, there_only, write_weights
from tests.app.hand import Hand, ShowPage
from tests.engine.made_runs import made_run

BUTTONS = ("pause", "go_on", "stop", "copy_weights", "new_run", "start")
LOST = Sentence("ssh says: Connection refused")


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> FakeHost:
    return FakeHost(monkeypatch)


@pytest.fixture
def page(there: FakeHost, show_page: ShowPage[FineTunePage]) -> FineTunePage:
    return show_page(FineTunePage)


@pytest.fixture
def begin(
    page: FineTunePage, there: FakeHost, session: Session, qtbot: QtBot, tmp_path: Path
) -> Callable[..., Path]:
    """Start a run on gpu1, which says its first steps; return its folder."""

    def start(steps: int = 5) -> Path:
        config = with_values(FineTuneConfig(), {"data": "films.csv", "text": "text", "model": "new:tiny"})
        run_dir = session.training.start(config, "gpu1")
        there.contact()
        there.say(*events_of(tmp_path / "made", run_dir)[: steps + 1])
        qtbot.waitUntil(lambda: last_step(session) == steps)
        return run_dir

    return start


def last_step(session: Session) -> int:
    step = session.training.state.step
    return 0 if step is None else step.step


def heard(there: FakeHost, session: Session, qtbot: QtBot, state: str = "running", **more: Any) -> None:
    """Let something be heard of the run, and wait until the window has."""
    said = there.contact(state, **more)
    qtbot.waitUntil(lambda: session.training.state.contact == said)


def test_what_is_sent_is_said_with_its_size(
    page: FineTunePage, session: Session, there: FakeHost, qtbot: QtBot, hand: Hand
) -> None:
    there.is_sent = False
    session.training.start(with_values(FineTuneConfig(), {"data": "films.csv"}), "gpu1")
    qtbot.waitUntil(lambda: hand.said("run_where") == "Connecting to gpu1")
    there.say(Progress(stage=SENDING, name="films.csv", done=3_000_000, total=12_000_000))
    qtbot.waitUntil(lambda: hand.said("run_where") == "Sending films.csv 25 %")
    assert hand.said("run_pace") == "3.0 MB of 12.0 MB" and hand.said("run_place") == "On gpu1"
    assert hand.shown(*BUTTONS) == ["pause", "stop"] and not hand.find("pause").isEnabled()
    assert hand.said("stop") == "Cancel"
    hand.click("stop")
    qtbot.waitUntil(lambda: not session.training.is_running)
    assert page.run_dir is None and there.wanted == []  # nothing has begun there


def test_a_run_that_is_lost_while_it_is_sent_has_not_begun(
    page: FineTunePage, session: Session, there: FakeHost, qtbot: QtBot, hand: Hand
) -> None:
    there.is_sent = False
    session.training.start(with_values(FineTuneConfig(), {"data": "films.csv"}), "gpu1")
    heard(there, session, qtbot, "waiting", connected=False)
    assert not session.training.may_leave and hand.said("stop") == "Cancel"
    hand.click("stop")
    qtbot.waitUntil(lambda: not session.training.is_running)
    assert page.run_dir is None


def test_a_run_there_is_watched_as_if_here(
    page: FineTunePage,
    begin: Callable[..., Path],
    there: FakeHost,
    session: Session,
    qtbot: QtBot,
    hand: Hand,
) -> None:
    run_dir = begin()
    assert page.charts.loss.num_points == 5 and hand.said("run_where") == "Step 5 of 12"
    assert hand.said("run_place") == "On gpu1" and "training there" in hand.said("run_contact")
    assert page.run_card.facts()["Device"] == "cpu"
    assert "on gpu1 · step 5 of 12" in job_words(session.training.state)
    there.say(Fetched(file="model.safetensors", done=1_000_000, total=4_000_000, fetched=1, speed=1.0))
    qtbot.waitUntil(lambda: hand.said("run_where") == "Downloading the weights 25 %")
    assert hand.said("run_pace") == "1.0 MB of 4.0 MB"
    write_weights(run_dir)
    there.say(*events_of(run_dir.parent.parent / "more", run_dir)[6:])
    qtbot.waitUntil(lambda: not session.training.is_running)
    assert session.training.state.outcome == "finished" and page.is_finished
    assert hand.said("outcome").startswith("Finished") and session.training.last_model == run_dir / "model"
    assert hand.shown(*BUTTONS) == ["new_run"]


def test_that_it_is_not_heard_is_a_state_and_no_error(
    page: FineTunePage,
    begin: Callable[..., Path],
    there: FakeHost,
    session: Session,
    qtbot: QtBot,
    hand: Hand,
) -> None:
    begin()
    heard(there, session, qtbot, connected=False, why=LOST)
    said = hand.said("run_contact")
    assert said.startswith("Not connected to gpu1 since") and said.endswith("Connection refused")
    assert page.failure.text() == "" and hand.shown(*BUTTONS) == ["pause", "stop"]
    assert hand.said("run_left") == "" and job_words(session.training.state).endswith("not connected")
    there.say(Progress(stage=CONNECTING, name="gpu1", done=0, total=0))
    heard(there, session, qtbot)
    assert "Not connected" not in hand.said("run_contact")


def test_pause_and_resume_are_passed_on_and_shown_once_they_are_so(
    begin: Callable[..., Path], there: FakeHost, session: Session, qtbot: QtBot, hand: Hand
) -> None:
    begin()
    hand.click("pause")
    assert hand.said("run_where") == "Pausing · Step 5 of 12" and session.training.state.state == "running"
    heard(there, session, qtbot, "paused")
    assert job_words(session.training.state).endswith("· on gpu1 · step 5 of 12")  # it has no pace now
    qtbot.waitUntil(lambda: hand.said("run_where") == "Paused · Step 5 of 12")
    hand.click("go_on")
    heard(there, session, qtbot)
    qtbot.waitUntil(lambda: hand.said("run_where") == "Step 5 of 12")
    qtbot.waitUntil(lambda: there.wanted == [PAUSE, GO])


def test_what_is_wished_while_it_is_not_heard_waits(
    begin: Callable[..., Path], there: FakeHost, session: Session, qtbot: QtBot, hand: Hand
) -> None:
    there.stops = False
    begin()
    heard(there, session, qtbot, connected=False)
    hand.click("pause")
    assert hand.said("run_contact").endswith("It pauses as soon as gpu1 is reached again.")
    hand.click("go_on")
    hand.click("stop")
    assert hand.said("run_contact").endswith("It stops as soon as gpu1 is reached again.")
    there.end()
    qtbot.waitUntil(lambda: not session.training.is_running)


def test_stop_keeps_what_is_learned_and_the_run_can_be_resumed_there(
    page: FineTunePage,
    begin: Callable[..., Path],
    there: FakeHost,
    session: Session,
    qtbot: QtBot,
    hand: Hand,
) -> None:
    run_dir = begin()
    hand.click("stop")
    qtbot.waitUntil(lambda: not session.training.is_running)
    assert there.wanted == [STOP] and session.training.state.outcome == "stopped" and there.left == 0
    assert hand.shown(*BUTTONS) == ["go_on", "copy_weights", "new_run"]
    assert hand.said("outcome") == "Stopped and kept. What it learned is still on gpu1 only."
    hand.click("go_on")
    qtbot.waitUntil(lambda: len(there.runs) == 2 and last_step(session) == 5)
    assert there.runs[1][1] == run_dir and page.is_running


def test_a_run_that_begins_anew_there_is_drawn_anew(
    page: FineTunePage, begin: Callable[..., Path], there: FakeHost, session: Session, qtbot: QtBot
) -> None:
    run_dir = begin()
    events = events_of(run_dir.parent.parent / "again", run_dir)
    resumed = [replace(event, first_step=4) if isinstance(event, Started) else event for event in events]
    after = [one for one in resumed if not isinstance(one, Step) or one.step >= 4]
    there.say(*after[:3])  # its files say steps 1 to 5, then that it begins at the fourth once more
    qtbot.waitUntil(lambda: page.charts.loss.num_points == 5)
    there.say(after[3])
    qtbot.waitUntil(lambda: page.charts.loss.num_points == 6)


def test_another_run_starts_here_while_one_continues_there(
    page: FineTunePage,
    begin: Callable[..., Path],
    there: FakeHost,
    session: Session,
    qtbot: QtBot,
    hand: Hand,
) -> None:
    first = begin()
    hand.click("back_to_form")
    assert hand.said("start") == "Start" and "continues there" in hand.said("meanwhile_words")
    second = session.training.start(with_values(FineTuneConfig(), {"data": "plays.csv"}), "gpu1")
    qtbot.waitUntil(lambda: len(there.runs) == 2)
    there.contact()
    qtbot.waitUntil(lambda: session.training.run_dir == second and session.training.state.contact is not None)
    assert there.left == 1 and there.wanted == [] and page.run_dir == second
    page.show_run(first)
    qtbot.waitUntil(lambda: page.run_dir == first and hand.said("go_on") == "Follow")
    assert hand.said("run_where") in ("Reading…", "Step 5 of 12") and session.training.is_running
    qtbot.waitUntil(lambda: hand.said("run_where") == "Step 5 of 12")
    page.show_run(second)
    qtbot.waitUntil(lambda: page.run_dir == second and page.is_running)


def test_a_run_that_nobody_follows_can_be_followed_and_stopped(
    page: FineTunePage, there: FakeHost, session: Session, qtbot: QtBot, hand: Hand
) -> None:
    path = there_only(made_run(session.runs.root, "films", steps=4, state="running"))
    page.show_run(path)
    qtbot.waitUntil(lambda: hand.said("run_where") == "Step 4 of 4")
    assert hand.shown(*BUTTONS) == ["go_on", "stop", "new_run"] and hand.said("go_on") == "Follow"
    assert "trains on gpu1" in hand.said("outcome")
    assert hand.said("run_contact").startswith("Not connected to gpu1 since")
    hand.click("go_on")
    there.contact()
    qtbot.waitUntil(lambda: page.is_running and session.training.state.contact is not None)
    assert page.charts.loss.num_points == 4 and hand.shown(*BUTTONS) == ["pause", "stop"]
    session.training.leave()
    qtbot.waitUntil(lambda: hand.said("go_on") == "Follow")
    hand.click("stop")
    qtbot.waitUntil(lambda: there.wanted == [STOP] and not session.training.is_running)


def test_another_run_of_the_same_settings_goes_to_the_same_computer(
    page: FineTunePage, there: FakeHost, session: Session, qtbot: QtBot, hand: Hand
) -> None:
    page.show_run(there_only(made_run(session.runs.root, "films"), state="stopped", connected=True))
    qtbot.waitUntil(lambda: hand.shown("new_run") == ["new_run"])
    assert page.command(page.run_config).endswith("--on gpu1")
    hand.click("new_run")
    assert hand.said("where_choice") == "gpu1"
    page.show_run(made_run(session.runs.root, "plays", number=1))
    qtbot.waitUntil(lambda: hand.shown("new_run") == ["new_run"])
    hand.click("new_run")
    assert hand.said("where_choice") == "This computer"


def test_weights_that_are_still_there_come_when_they_are_asked_for(
    page: FineTunePage, there: FakeHost, session: Session, qtbot: QtBot, hand: Hand
) -> None:
    path = there_only(made_run(session.runs.root, "films"), state="finished", connected=True)
    page.show_run(path)
    qtbot.waitUntil(lambda: hand.shown("copy_weights") == ["copy_weights"])
    left = "Finished. What it learned is still on gpu1 only."
    qtbot.waitUntil(lambda: hand.said("outcome") == left)
    assert not page.is_finished
    there.refusal = UserError("gpu1 cannot be reached.")
    hand.click("copy_weights")
    qtbot.waitUntil(lambda: page.failure.text() == "gpu1 cannot be reached.")
    there.refusal = None
    hand.click("copy_weights")
    qtbot.waitUntil(lambda: page.is_finished)
    qtbot.waitUntil(lambda: hand.shown("copy_weights") == [])
    assert "The model is in" in hand.said("outcome")
    assert (path / "model") in {entry.path for entry in session.library.entries} or session.wait_idle()


def test_a_folder_from_elsewhere_makes_nobody_connect_unasked(
    page: FineTunePage, there: FakeHost, session: Session, qtbot: QtBot, hand: Hand
) -> None:
    there.is_foreign = True
    path = there_only(made_run(session.runs.root, "films", state="running"))
    page.show_run(path)
    qtbot.waitUntil(lambda: hand.said("go_on") == "Follow")
    hand.click("go_on")
    (asked,) = (one for one in page.findChildren(QDialog, "connect_dialog") if one.isVisible())
    assert "gpu1" in hand.said("connect_text") and not there.runs
    asked.findChild(QPushButton, "connect_go").click()
    qtbot.waitUntil(lambda: there.runs == [(None, path, "gpu1")])
    there.contact()
    qtbot.waitUntil(lambda: session.training.may_leave)


def test_why_a_run_cannot_go_there_is_said_over_the_form(
    page: FineTunePage, there: FakeHost, session: Session, qtbot: QtBot
) -> None:
    there.refusal = UserError("{host} cannot be reached.", host="gpu1")
    session.training.start(with_values(FineTuneConfig(), {"data": "films.csv"}), "gpu1")
    qtbot.waitUntil(lambda: not session.training.is_running)
    assert page.failure.text() == "gpu1 cannot be reached." and page.run_dir is None
    assert not list(session.runs.root.glob("*"))


@pytest.fixture
def runs(there: FakeHost, session: Session, show_page: ShowPage[RunsPage]) -> RunsPage:
    """One run of this computer, two of gpu1: in training, and finished without its weights here."""
    made_run(session.runs.root, "local")
    there_only(made_run(session.runs.root, "there", state="running", number=1))
    there_only(made_run(session.runs.root, "done", number=2, num_epochs=2), state="finished", connected=True)
    page = show_page(RunsPage)
    assert session.wait_idle()
    return page


def cells(page: RunsPage, name: str) -> dict[str, str]:
    table = page.table.runs
    place = [row.name for row in page.shown.rows].index(name)
    return {column: str(table.index(place, at).data()) for at, column in enumerate(table.columns)}


def do(page: RunsPage, name: str, action: str) -> None:
    """Choose what the menu of a line offers."""
    page.table.selectRow([row.name for row in page.shown.rows].index(name))
    page._choose()
    menu = page.acting.menu()
    found = {one.text(): one for one in menu.actions()}
    assert found[action].isEnabled(), action
    found[action].trigger()
    menu.deleteLater()


def test_runs_say_where_they_are_and_since_when_that_is_not_heard(runs: RunsPage) -> None:
    assert cells(runs, "there")["where"] == "gpu1" and cells(runs, "local")["where"] == "here"
    assert cells(runs, "there")["picture"].startswith("not connected since")
    assert cells(runs, "there")["picture"].endswith("running: step 12 of 12")
    assert runs.elsewhere.isHidden()  # it makes nothing here slower


def test_without_other_computers_there_is_no_such_column(
    session: Session, show_page: ShowPage[RunsPage]
) -> None:
    made_run(session.runs.root, "local")
    page = show_page(RunsPage)
    assert session.wait_idle()
    assert "where" not in page.table.runs.columns


def test_runs_follow_stop_and_complete(
    runs: RunsPage, there: FakeHost, session: Session, qtbot: QtBot
) -> None:
    path = next(session.runs.root.glob("*there"))
    with qtbot.waitSignal(session.page_requested) as asked:
        do(runs, "there", "Follow")
    assert asked.args == ["finetune", RunPageState(run=path)]
    there.contact()
    qtbot.waitUntil(lambda: session.training.may_leave)
    do(runs, "there", "Stop and keep")
    qtbot.waitUntil(lambda: there.wanted == [STOP] and not session.training.is_running)
    assert "gpu1 was asked to stop it" in runs.banner.text()
    do(runs, "done", "Download the weights")
    qtbot.waitUntil(lambda: (next(session.runs.root.glob("*done")) / "model").is_dir())
    qtbot.waitUntil(lambda: runs.banner.text().endswith("is here."))


def test_a_run_is_stopped_while_another_one_trains(
    runs: RunsPage, there: FakeHost, session: Session, qtbot: QtBot
) -> None:
    session.training.start(with_values(FineTuneConfig(), {"data": "films.csv"}), "gpu1")
    there.contact()
    qtbot.waitUntil(lambda: session.training.may_leave)
    do(runs, "there", "Stop and keep")
    path = next(session.runs.root.glob("*there"))
    qtbot.waitUntil(lambda: there.passed_on == [(path, STOP)])
    assert session.training.is_running and session.training.run_dir != path


def test_texts_are_compared_once_both_have_their_weights_here(
    runs: RunsPage, session: Session, qtbot: QtBot
) -> None:
    write_weights(next(session.runs.root.glob("*local")))
    for name in ("local", "done"):
        runs.table.ticked.emit(next(row.key for row in runs.shown.rows if row.name == name))
    runs.better.texts_wanted.emit()
    assert runs.banner.text() == "What done learned is still on gpu1 only."
    runs.findChild(QPushButton, "runs_banner_action_1").click()
    qtbot.waitUntil(lambda: (next(session.runs.root.glob("*done")) / "model").is_dir())
    assert session.wait_idle()


def test_a_repeat_goes_where_its_line_was_trained(
    runs: RunsPage, session: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    queued: list[Any] = []
    monkeypatch.setattr(session.queue, "add", lambda configs, name, *, halving, on: queued.append((name, on)))
    do(runs, "done", "Repeat with more seeds…")
    (dialog,) = (one for one in runs.findChildren(QDialog, "sweep_dialog") if one.isVisible())
    assert Hand(dialog, qtbot).said("sweep_where") == "gpu1"
    dialog.findChild(QPushButton, "sweep_go").click()
    assert queued == [("done", "gpu1")]


def test_what_goes_to_the_bin_continues_there(runs: RunsPage) -> None:
    runs.table.selectRow([row.name for row in runs.shown.rows].index("there"))
    runs._do(runs.acting.delete)
    (dialog,) = (one for one in runs.findChildren(QDialog, "bin_dialog") if one.isVisible())
    assert "continues there" in dialog.findChild(type(runs.hint), "bin_text").text()
    dialog.reject()


def test_a_state_that_changes_there_is_read_again(runs: RunsPage, session: Session, qtbot: QtBot) -> None:
    path = next(session.runs.root.glob("*there"))
    (path / STATUS).write_text('{"state": "stopped", "step": 12, "num_steps": 12}')
    there_only(path, state="stopped", connected=True)
    runs.refresh()
    assert session.wait_idle()
    assert cells(runs, "there")["picture"].startswith("stopped at step 12")
