"""The Runs page by clicks and keys: which is best, is that sure, and all that can be done with a run."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QDialog
from pytestqt.qtbot import QtBot

from app.pages.runs import requests
from app.pages.runs.lines_model import METRIC, NAME, PICTURE, SCORE, STATE, TICK
from app.pages.runs.page import RunsPage
from app.session import Session
from engine.runs import queue
from engine.runs.groups import ScoreColumn
from engine.runs.marks import read_marks, set_marks
from engine.train.run.lock import locked
from engine.train.run.runs import LOCK, METRICS, STATUS, read_config
from tests.app.hand import Hand, ShowPage
from tests.engine.made_runs import made_run

ROWS = 2000


@pytest.fixture
def root(session: Session) -> Path:
    """Two settings with three seeds each, one of which is better; one that was stopped."""
    root = session.runs.root
    for number, (seed, right) in enumerate([(1, 1500), (2, 1506), (3, 1503)]):
        set_marks(
            made_run(root, "films", seed=seed, right=right, rows=ROWS, number=number), name="as shipped"
        )
    for number, (seed, right) in enumerate([(1, 1560), (2, 1569), (3, 1564)], start=10):
        path = made_run(
            root, "films", seed=seed, right=right, rows=ROWS, number=number, num_epochs=2, steps=24
        )
        set_marks(path, name="two epochs", tags=("good",), note="slow")
    made_run(
        root, "plays", state="stopped", number=20, learning_rate=1e-3, notes=("Only one label is predicted.",)
    )
    return root


@pytest.fixture
def page(root: Path, session: Session, show_page: ShowPage[RunsPage]) -> RunsPage:
    page = show_page(RunsPage)
    assert session.wait_idle()
    return page


def lines(page: RunsPage) -> list[str]:
    return [row.name for row in page.shown.rows]


def settle(page: RunsPage) -> None:
    assert page.session.wait_idle()


def click(
    page: RunsPage, qtbot: QtBot, name: str, column: str, *, x: int | None = None, twice: bool = False
) -> None:
    """Click a cell, by the line's name."""
    table = page.table
    index = table.runs.index(lines(page).index(name), table.runs.columns.index(column))
    table.scrollTo(index)
    rect = table.visualRect(index)
    at = rect.center() if x is None else QPoint(rect.left() + x, rect.center().y())
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=at)
    if twice:
        qtbot.mouseDClick(table.viewport(), Qt.MouseButton.LeftButton, pos=at)
    settle(page)


def dialog(page: RunsPage, qtbot: QtBot, name: str) -> Any:
    """Return the dialog that has opened."""
    qtbot.waitUntil(lambda: page.findChild(QDialog, name) is not None)
    return page.findChild(QDialog, name)


def test_which_is_best_and_whether_that_is_sure_takes_two_clicks(
    page: RunsPage, qtbot: QtBot, hand: Hand
) -> None:
    assert lines(page) == ["two epochs", "as shipped", "plays"]
    assert hand.said("runs_count") == "7 of 7 runs"
    assert page.below.isHidden()
    click(page, qtbot, "as shipped", TICK)
    click(page, qtbot, "two epochs", TICK)
    assert hand.said("runs_verdict").startswith("B is better than A by 3.1 points (")
    assert "Chance alone" in hand.said("runs_chance")
    remarks = page.better.remarks.texts()
    assert "B is better with 3 of 3 seeds (the small rings)." in remarks
    assert "They differ in one setting: epochs 3 → 2." in remarks
    plot = page.curves.plot
    assert plot.numbers()[0] == [
        "step", "A as shipped loss", "A as shipped spread", "B two epochs loss", "B two epochs spread",
    ]  # fmt: skip
    assert len(plot.numbers()) > 20
    hand.click("runs_curves_score")
    settle(page)
    assert plot.numbers()[0][1] == "A as shipped accuracy"


def test_seeds_unfold_below_their_settings_and_each_is_a_line(page: RunsPage, qtbot: QtBot) -> None:
    click(page, qtbot, "two epochs", NAME, x=10)
    assert lines(page) == ["two epochs", "seed 2", "seed 3", "seed 1", "as shipped", "plays"]
    qtbot.keyClick(page.table, Qt.Key.Key_Left)
    assert lines(page) == ["two epochs", "as shipped", "plays"]


def test_a_stopped_run_keeps_its_line_and_says_why(page: RunsPage) -> None:
    table = page.table.runs
    at = table.columns.index(PICTURE)
    assert table.index(2, at).data() == "stopped at step 12: Only one label is predicted."


def measured_by(path: Path, metric: str, value: float) -> None:
    """Let a run have been measured by another metric."""
    for file in (path / METRICS, path / STATUS):
        text = file.read_text(encoding="utf-8").replace('"metric": "accuracy"', f'"metric": "{metric}"')
        text = text.replace('"metrics": {"accuracy": 0.8,', f'"metrics": {{"{metric}": {value},')
        file.write_text(text.replace('"best_metric": 0.8', f'"best_metric": {value}'), encoding="utf-8")


def test_scores_by_different_metrics_share_no_scale_and_are_not_above_one_another(
    root: Path, session: Session, show_page: ShowPage[RunsPage], qtbot: QtBot
) -> None:
    for number, (name, value) in enumerate([("similar", 0.267), ("alike", 0.91)], start=30):
        path = made_run(root, name, number=number, learning_rate=2e-4 * number)
        measured_by(path, "pearson", value)
    page = show_page(RunsPage)
    settle(page)
    assert lines(page) == ["two epochs", "as shipped", "alike", "similar", "plays"]
    table = page.table.runs
    places = [table.columns.index(name) for name in (METRIC, SCORE)]
    said = [[table.index(line, place).data() for place in places] for line in range(4)]
    assert said == [
        ["accuracy", "78.2 %"],
        ["accuracy", "75.2 %"],
        ["Pearson correlation", "0.910"],
        ["Pearson correlation", "0.267"],
    ]
    assert table.heading(SCORE).startswith("score") and table.scale("pearson") != table.scale("accuracy")
    click(page, qtbot, "alike", SCORE)
    page._sort("score")  # the other way round, each metric by itself
    assert lines(page) == ["as shipped", "two epochs", "similar", "alike", "plays"]


def test_a_stopped_run_with_a_score_says_so_and_that_its_test_part_was_not_scored(
    root: Path, session: Session, show_page: ShowPage[RunsPage], qtbot: QtBot
) -> None:
    """Its settings are those of three finished runs, of which it is no fourth seed."""
    path = made_run(root, "half", seed=9, number=30, right=1400, rows=ROWS)
    for file, change in (
        (
            path / STATUS,
            (
                '"state": "finished", "step": 12, "num_steps": 12',
                '"state": "stopped", "step": 12, "num_steps": 30',
            ),
        ),
        (path / METRICS, ('"num_test": 0', '"num_test": 50')),
    ):
        text = file.read_text(encoding="utf-8")
        assert change[0] in text
        file.write_text(text.replace(*change), encoding="utf-8")
    page = show_page(RunsPage)
    settle(page)
    assert lines(page) == ["two epochs", "as shipped", "half", "plays"]
    table = page.table.runs
    at = table.index(2, table.columns.index(STATE))
    assert at.data() == "stopped at step 12 of 30"
    assert "the test part was never scored" in at.data(Qt.ItemDataRole.ToolTipRole)
    click(page, qtbot, "as shipped", TICK)
    click(page, qtbot, "half", TICK)
    assert "B: stopped at step 12 of 30." in page.better.remarks.texts()
    page._look(replace(page.state, measure=ScoreColumn("test")))
    said = table.index(lines(page).index("half"), table.columns.index(PICTURE)).data()
    assert said == "stopped at step 12 of 30 · the test part was never scored"


def test_of_one_run_each_the_card_speaks_of_these_runs(
    root: Path, session: Session, show_page: ShowPage[RunsPage], qtbot: QtBot
) -> None:
    for number, (name, right) in enumerate([("one", 1500), ("two", 1580)], start=50):
        made_run(root, name, number=number, right=right, rows=ROWS, learning_rate=1e-5 * number)
    page = show_page(RunsPage)
    settle(page)
    click(page, qtbot, "two", TICK)
    click(page, qtbot, "one", TICK)
    assert page.better.verdict.text().startswith("This run of A is better than this run of B by 4.0 points (")
    assert page.better.title_label.text() == "Which is better, A or B?"


def test_only_what_varies_is_a_column_and_what_is_unlike_most_is_bold(page: RunsPage) -> None:
    assert page.shown.settings == ("learning_rate", "num_epochs")
    assert [set(row.odd) for row in page.shown.rows] == [{"num_epochs"}, set(), {"learning_rate"}]
    assert "batch size 32" in page.table_card.hint_label.text()


def test_runs_are_searched_filtered_by_grouping_and_sorted(page: RunsPage, qtbot: QtBot, hand: Hand) -> None:
    qtbot.keyClicks(hand.find("runs_search"), "good")
    assert lines(page) == ["two epochs"] and hand.said("runs_count") == "3 of 7 runs"
    hand.find("runs_search").clear()
    qtbot.keyClicks(hand.find("runs_search"), "nothing like it")
    assert page.nothing.isVisible()
    qtbot.mouseClick(page.nothing.button, Qt.MouseButton.LeftButton)
    assert len(lines(page)) == 3
    header, columns = page.table.horizontalHeader(), page.table.runs.columns
    at = columns.index(SCORE)
    place = QPoint(header.sectionViewportPosition(at) + 20, 10)
    qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert lines(page) == ["as shipped", "two epochs", "plays"]
    hand.choose("runs_grouping", "Run by run")
    assert len(lines(page)) == 7


def test_a_run_is_named_noted_and_tagged_by_keys_and_keeps_it_in_its_folder(
    page: RunsPage, qtbot: QtBot, root: Path
) -> None:
    click(page, qtbot, "plays", NAME)
    qtbot.keyClick(page.table, Qt.Key.Key_F2)
    asked = dialog(page, qtbot, "marks_dialog")
    qtbot.keyClicks(asked.name, "higher rate")
    qtbot.keyClicks(asked.tags, "bad, never again")
    qtbot.keyClicks(asked.note, "It learned nothing.")
    qtbot.keyClick(asked.name, Qt.Key.Key_Return)
    settle(page)
    assert "higher rate" in lines(page)
    marks = read_marks(next(root.glob("*-plays")))
    assert (marks.name, marks.tags, marks.note) == (
        "higher rate", ("bad", "never again"), "It learned nothing."
    )  # fmt: skip


def test_a_run_goes_to_the_bin_only_after_its_size_was_told(
    page: RunsPage, qtbot: QtBot, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hand: Hand
) -> None:
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()

    def moved(path: str) -> bool:
        shutil.move(path, bin_folder)
        return True

    monkeypatch.setattr(requests.QFile, "moveToTrash", moved)
    click(page, qtbot, "plays", NAME)
    qtbot.keyClick(page.table, Qt.Key.Key_Delete)
    asked = dialog(page, qtbot, "bin_dialog")
    assert "B, including its model" in asked.findChild(type(page.count), "bin_text").text()
    qtbot.keyClick(asked, Qt.Key.Key_Escape)
    assert len(lines(page)) == 3
    qtbot.waitUntil(lambda: page.findChild(QDialog, "bin_dialog") is None)
    qtbot.keyClick(page.table, Qt.Key.Key_Delete)
    asked = dialog(page, qtbot, "bin_dialog")
    qtbot.mouseClick(asked.findChild(type(page.actions_button), "bin_go"), Qt.MouseButton.LeftButton)
    settle(page)
    assert lines(page) == ["two epochs", "as shipped"]
    assert len(list(bin_folder.iterdir())) == 1 and not list(root.glob("*-plays"))
    assert "One run is in the bin" in page.banner.text()


def test_checkpoints_are_deleted_only_after_what_is_lost_was_told_and_the_model_stays(
    page: RunsPage, qtbot: QtBot, root: Path
) -> None:
    run = next(root.glob("*-plays"))
    for name, size in (("checkpoints/step-00000012/optimizer", 3_000_000), ("model/model", 1_000_000)):
        (run / name).parent.mkdir(parents=True)
        (run / f"{name}.safetensors").write_bytes(bytes(size))
    (run / "model" / "config.json").write_text("{}")
    click(page, qtbot, "plays", NAME)
    assert "3.0 MB" in next(one.text() for one in page.acting.menu().actions() if "check" in one.text())
    page.acting.slim()
    asked = dialog(page, qtbot, "slim_dialog")
    said = asked.findChild(type(page.count), "slim_text").text()
    assert "3.0 MB" in said and "no longer be resumed" in said and (run / "checkpoints").is_dir()
    with locked(run / LOCK):
        page.acting.make_slim((str(run),))
        settle(page)
    assert (run / "checkpoints").is_dir()
    qtbot.mouseClick(asked.findChild(type(page.actions_button), "slim_go"), Qt.MouseButton.LeftButton)
    settle(page)
    assert "3.0 MB freed" in page.banner.text()
    assert (
        not (run / "checkpoints").exists() and (run / "model" / "model.safetensors").stat().st_size == 10**6
    )
    assert next(one for one in page.shown.rows if one.name == "plays").facts.size < 2_000_000
    assert "stopped" in (run / "status.json").read_text()


def test_a_run_in_training_is_not_deleted(
    page: RunsPage, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests.QFile, "moveToTrash", lambda path: pytest.fail("moved"))
    path = next(root.glob("*-plays"))
    with locked(path / LOCK):
        page.table.go_to(str(path.name))
        page.acting.move_to_bin((str(path),))
        settle(page)
    assert "is in training" in page.banner.text() and path.is_dir()


def test_a_double_click_opens_the_run_and_its_command_is_copied(
    page: RunsPage, qtbot: QtBot, hand: Hand
) -> None:
    with qtbot.waitSignal(page.session.page_requested) as opened:
        click(page, qtbot, "plays", NAME, twice=True)
    key, state = opened.args
    assert key == "finetune" and state.run.name.endswith("-plays")
    assert read_config(state.run).training.learning_rate == 1e-3
    qtbot.mouseClick(page.copy_button, Qt.MouseButton.LeftButton)
    command = QApplication.clipboard().text()
    assert command.startswith("python -m engine finetune") and "learning_rate=0.001" in command


def test_settings_are_compared_side_by_side(page: RunsPage, qtbot: QtBot, hand: Hand) -> None:
    click(page, qtbot, "as shipped", TICK)
    click(page, qtbot, "two epochs", TICK)
    hand.click("runs_compare_settings")
    asked = dialog(page, qtbot, "settings_dialog")
    assert Hand(asked, qtbot).rows("settings_table") == [["Epochs", "3", "2"]]
    qtbot.mouseClick(asked.only, Qt.MouseButton.LeftButton)
    assert len(Hand(asked, qtbot).rows("settings_table")) > 30
    asked.accept()


@pytest.mark.slow
def test_a_run_that_another_process_trains_is_followed(page: RunsPage, root: Path, qtbot: QtBot) -> None:
    path = made_run(root, "elsewhere", state="running", number=40, steps=3)
    with locked(path / LOCK):
        page.refresh()
        settle(page)
        row = next(row for row in page.shown.rows if row.name == "elsewhere")
        assert row.facts.state == "running" and row.facts.step == 3
        assert page.elsewhere.text().startswith("Also training, started elsewhere: elsewhere.")
        made_run(root, "other", number=41, learning_rate=2e-5)
        qtbot.waitUntil(lambda: "other" in lines(page))  # looked at again by itself
    page.refresh()
    settle(page)
    row = next(row for row in page.shown.rows if row.name == "elsewhere")
    assert row.facts.state == "crashed" and page.elsewhere.isHidden()


def test_without_runs_the_page_says_what_fills_it(session: Session, show_page: ShowPage[RunsPage]) -> None:
    page = show_page(RunsPage)
    settle(page)
    assert page.empty.isVisible() and not page.filters.isVisible()


class NoProcess:
    """A worker of the queue that has begun and does nothing."""

    returncode: int | None = None

    def poll(self) -> int | None:
        return self.returncode


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> NoProcess:
    made = NoProcess()
    monkeypatch.setattr(queue, "start_worker", lambda root: made)
    return made


def test_both_lines_get_the_seeds_they_lack_by_three_clicks_and_wait_in_the_queue(
    page: RunsPage, qtbot: QtBot, hand: Hand, root: Path, worker: NoProcess
) -> None:
    click(page, qtbot, "as shipped", TICK)
    click(page, qtbot, "two epochs", TICK)
    hand.click("runs_repeat")
    asked = dialog(page, qtbot, "sweep_dialog")
    assert asked.said.text().startswith("This gives 4 runs of about 4 min in total.")
    qtbot.mouseClick(asked.go, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(page.session.queue.state.jobs) == 4)
    jobs = page.session.queue.state.jobs
    found = [(job.name, job.values["seed"], job.values["num_epochs"]) for job in jobs]
    assert found == [("as shipped", 4, 3), ("as shipped", 5, 3), ("two epochs", 4, 2), ("two epochs", 5, 2)]
    assert "4 runs wait" in hand.said("queue_said")
    hand.click("queue_stop")
    qtbot.waitUntil(lambda: page.session.queue.state.is_paused)
    worker.returncode = 0
    page.session.queue.look()
    qtbot.waitUntil(lambda: hand.find("queue_go_on").isVisible())
    assert hand.said("queue_said") == "The queue is stopped · 4 runs wait"
    hand.click("queue_show")
    listed = dialog(page.window(), qtbot, "queue_dialog")
    listed.table.selectRow(0)
    qtbot.mouseClick(listed.cancel, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: Hand(listed, qtbot).rows("queue_table")[0][2] == "cancelled")
    qtbot.mouseClick(listed.clear, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(Hand(listed, qtbot).rows("queue_table")) == 3)
    listed.accept()


def test_a_sweep_says_how_many_runs_it_is_and_refuses_what_cannot_be(
    page: RunsPage, qtbot: QtBot, hand: Hand, worker: NoProcess
) -> None:
    click(page, qtbot, "as shipped", NAME)
    page.acting.sweep("grid")
    asked = dialog(page, qtbot, "sweep_dialog")
    typed = Hand(asked, qtbot)
    typed.choose("sweep_name_0", "Learning rate")
    qtbot.keyClicks(asked.values[0], "1e-4, 3e-4")
    typed.choose("sweep_name_1", "Epochs")
    qtbot.keyClicks(asked.values[1], "1,2,3")
    assert asked.said.text().startswith("This gives 6 runs")
    asked.values[1].setText("1,many")
    assert asked.said.text() == "Epochs is 'many'; it must be a whole number." and not asked.go.isEnabled()
    asked.values[1].setText("1,2,3")
    qtbot.mouseClick(asked.halving, Qt.MouseButton.LeftButton, pos=QPoint(8, asked.halving.height() // 2))
    qtbot.mouseClick(asked.go, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(page.session.queue.state.jobs) == 6)
    jobs = page.session.queue.state.jobs
    assert len({job.sweep for job in jobs}) == 1 and jobs[0].sweep
    assert jobs[0].name == "as shipped, learning rate, epochs"


def test_table_scalars_and_card_are_written_as_they_are_looked_at(
    page: RunsPage, qtbot: QtBot, tmp_path: Path
) -> None:
    click(page, qtbot, "two epochs", NAME)
    page.acting.export_table_to(str(tmp_path / "runs.csv"))
    settle(page)
    lines_written = (tmp_path / "runs.csv").read_text("utf-8-sig").splitlines()
    assert lines_written[0].startswith(
        "name,data,model,learning_rate,num_epochs,seed,metric,score,low,high,rows"
    )
    assert len(lines_written) == 8 and "Only one label is predicted." in lines_written[-1]
    page.acting.export_scalars_to(str(tmp_path / "board"))
    settle(page)
    assert len(list((tmp_path / "board").glob("*/events.out.tfevents.*"))) == 3
    page.acting.export_card_to(str(tmp_path / "README.md"))
    settle(page)
    assert "Over 3 seeds, validation accuracy is" in (tmp_path / "README.md").read_text()
    assert page.banner.text().startswith("Written to ")


def test_all_of_it_goes_by_keys_alone(page: RunsPage, qtbot: QtBot, hand: Hand) -> None:
    page.search.setFocus()
    for _ in range(8):  # search, boxes, actions, the table
        if page.table.hasFocus():
            break
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    assert page.table.hasFocus()
    qtbot.keyClick(page.table, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(page.table, Qt.Key.Key_Down)
    qtbot.keyClick(page.table, Qt.Key.Key_Space)
    qtbot.keyClick(page.table, Qt.Key.Key_Up)
    qtbot.keyClick(page.table, Qt.Key.Key_Space)
    settle(page)
    assert hand.said("runs_verdict").startswith("B is better than A by 3.1 points")
    qtbot.keyClick(page.table, Qt.Key.Key_Right)
    assert lines(page)[:4] == ["two epochs", "seed 2", "seed 3", "seed 1"]
    qtbot.keyClick(page.table, Qt.Key.Key_Down)
    with qtbot.waitSignal(page.session.page_requested):
        qtbot.keyClick(page.table, Qt.Key.Key_Return)
    qtbot.keyClick(page, Qt.Key.Key_Slash)
    assert page.search.hasFocus()


def test_what_was_queued_elsewhere_waits_until_a_person_starts_it(
    page: RunsPage, qtbot: QtBot, hand: Hand, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Path] = []
    monkeypatch.setattr(queue, "start_worker", lambda root: started.append(root) or NoProcess())
    (job,) = queue.add(root, [read_config(next(root.glob("*/config.toml")).parent)], "theirs")
    path = queue.folder_of(root) / "00001.json"
    path.write_text(path.read_text().replace(job.name, "evil"))
    page.session.queue.look()
    qtbot.waitUntil(lambda: hand.find("queue_start").isVisible())
    assert hand.said("queue_said") == (
        "This queue of one run was written elsewhere, or by an older Cloze, and is not started"
    )
    assert not hand.find("queue_stop").isVisible() and not started
    hand.click("queue_show")
    listed = dialog(page.window(), qtbot, "queue_dialog")
    (line,) = Hand(listed, qtbot).rows("queue_table")
    assert line[0] == "evil" and line[3].startswith("from elsewhere; reads ")
    listed.accept()
    hand.click("queue_start")
    qtbot.waitUntil(lambda: started == [root])
    qtbot.waitUntil(lambda: not hand.find("queue_start").isVisible())


def test_a_job_that_failed_says_why_until_it_is_forgotten(
    page: RunsPage, qtbot: QtBot, hand: Hand, root: Path
) -> None:
    folder = queue.folder_of(root)
    folder.mkdir()
    (folder / "00001.json").write_text("[")
    page.session.queue.look()
    qtbot.waitUntil(lambda: hand.find("queue_said").isVisible())
    said = hand.said("queue_said")
    assert said.startswith("1 run of the queue failed: ") and said.endswith("its JSON cannot be read.")
    hand.click("queue_show")
    listed = dialog(page.window(), qtbot, "queue_dialog")
    assert listed.why.text() in said
    listed.accept()
    page.session.queue.clear()
    qtbot.waitUntil(lambda: not hand.find("queue_said").isVisible())


@pytest.mark.slow
def test_a_process_that_cannot_work_is_told_and_not_started_again_unasked(
    page: RunsPage, qtbot: QtBot, hand: Hand, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[NoProcess] = []

    def start(root: Path) -> NoProcess:
        started.append(NoProcess())
        started[-1].returncode = 2
        (queue.folder_of(root) / queue.LOG).write_text("Step 1\nThe disk is full.\n")
        return started[-1]

    monkeypatch.setattr(queue, "start_worker", start)
    queue.add(root, [read_config(next(root.glob("*/config.toml")).parent)], "films")
    page.session.queue.look()
    qtbot.waitUntil(lambda: hand.said("queue_said") == "The queue ended: The disk is full.")
    page.session.queue.look()
    settle(page)
    assert len(started) == 1 and hand.find("queue_go_on").isVisible()
    hand.click("queue_go_on")
    qtbot.waitUntil(lambda: len(started) == 2)


def test_the_page_says_that_it_reads_while_it_does(
    root: Path, session: Session, show_page: ShowPage[RunsPage]
) -> None:
    worker = session.workers.quick
    worker.hold()
    page = show_page(RunsPage)
    assert page.views.asking.isVisible() and "Reading" in page.views.asking.label.text()
    worker.let_go()
    settle(page)
    assert not page.views.asking.isVisible() and len(lines(page)) == 3
