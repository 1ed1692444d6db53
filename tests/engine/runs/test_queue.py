"""A queue is worked off by one process at a time, goes on after kill -9, and loses no run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from engine.commands.command_line import main
from engine.commands.runs import _train_job
from engine.errors import RunError, UserError, marked
from engine.events import Event, Gained, Progress, Started, Step, result_of
from engine.runs import queue as subject
from engine.runs import turn
from engine.runs.index import index_of
from engine.runs.queue import CANCELLED, DONE, DROPPED, FAILED, RUNNING, WAITING, QueueJob
from engine.runs.sweep import choices_in, drawn, grid, seeds_for
from engine.runs.turn import in_turn
from engine.settings.config import values_of, with_values
from engine.settings.finetune import FineTuneConfig
from engine.settings.pipeline import PipelineConfig, StagesConfig
from engine.train.pretraining import setup as pretraining_setup
from engine.train.run.runs import STATUS, document_of, read_metrics, read_status
from tests.engine.made_runs import made_run
from tests.engine.tiny_runs import outcome, run_engine, start_engine, tiny_config

CONFIG = with_values(
    FineTuneConfig(), {"data": "films.csv", "text": "text", "label": "label", "model": "new:tiny"}
)


def states(root: Path) -> list[str]:
    return [job.state for job in subject.jobs_in(root)]


def trainer(
    root: Path, rights: dict[float, int] | None = None, during: Callable[[QueueJob, int], None] | None = None
) -> Callable[[QueueJob, Path], Iterator[Event]]:
    """Return what trains in the place of the engine: 9 steps, and a run folder that says how good it is."""

    def train(job: QueueJob, place: Path) -> Iterator[Event]:
        rate = job.values["learning_rate"]
        first = read_status(place).get("step", 0) + 1 if place.exists() else 1
        if not place.exists():
            made = made_run(
                root, "made", state="running", learning_rate=rate, right=(rights or {}).get(rate, 50)
            )
            made.rename(place)
        yield STARTED
        try:
            for step in range(first, 10):
                if during is not None:
                    during(job, step)
                write(place, step, "running", (rights or {}).get(rate, 50))
                yield step_of(step)
        except GeneratorExit:
            write(place, step, "stopped", (rights or {}).get(rate, 50))
            raise
        write(place, 9, "finished", (rights or {}).get(rate, 50))

    return train


def write(place: Path, step: int, state: str, right: int) -> None:
    status = {"state": state, "step": step, "num_steps": 9, "best_step": step, "best_metric": right / 100}
    (place / STATUS).write_text(json.dumps({**status, "metric": "accuracy"}))


STARTED = Started(
    run_dir=Path(), task="classification", device="cpu", num_steps=9, first_step=1, num_epochs=1.0,
    steps_per_epoch=9, num_train=9, num_validation=9, num_test=0, labels=(), metric="accuracy",
    num_parameters=1, learning_rate=1e-4, cut_share=0.0,
)  # fmt: skip


def step_of(step: int) -> Step:
    return Step(
        step=step, epoch=1.0, loss=0.5, accuracy=None, learning_rate=1e-4, gradient_norm=1.0, num_tokens=1,
        tokens_per_s=1.0, elapsed_s=1.0, remaining_s=1.0,
    )  # fmt: skip


def rates(*values: float) -> list[Any]:
    return [with_values(CONFIG, {"learning_rate": value}) for value in values]


def test_jobs_are_done_in_their_order_and_runs_carry_their_tags(tmp_path: Path) -> None:
    subject.add(tmp_path, rates(1e-4, 2e-4), "films", tags=["sweep 1"])
    assert result_of(subject.work(tmp_path, trainer(tmp_path))) == 2
    assert states(tmp_path) == [DONE, DONE] and not subject.is_working(tmp_path)
    runs = result_of(index_of(tmp_path))
    assert len(runs) == 2 and all(run.tags == ("sweep 1",) and run.state == "finished" for run in runs)
    subject.clear(tmp_path)
    assert not subject.jobs_in(tmp_path) and len(result_of(index_of(tmp_path))) == 2


def test_a_job_that_fails_says_why_and_the_next_one_is_done(tmp_path: Path) -> None:
    subject.add(tmp_path, rates(1e-4, 2e-4, 3e-4), "films")
    whole = trainer(tmp_path)

    def train(job: QueueJob, place: Path) -> Iterator[Event]:
        if job.number == 1:
            raise UserError(
                marked("engine", "{path} could not be read: {reason}."), path="films.csv", reason="gone"
            )
        if job.number == 2:
            raise ZeroDivisionError
        return whole(job, place)

    result_of(subject.work(tmp_path, train))
    assert states(tmp_path) == [FAILED, FAILED, DONE]
    assert [job.why for job in subject.jobs_in(tmp_path)][:2] == [
        "films.csv could not be read: gone.",
        "ZeroDivisionError()",
    ]


def test_one_process_works_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "TAKE_S", 0.1)
    subject.add(tmp_path, rates(1e-4), "films")
    first = subject.work(tmp_path, trainer(tmp_path))
    next(first)
    assert subject.is_working(tmp_path) and not subject.needs_worker(tmp_path)
    with pytest.raises(RunError, match="Another process"):
        result_of(subject.work(tmp_path, trainer(tmp_path)))
    first.close()
    assert states(tmp_path) == [RUNNING] and subject.needs_worker(
        tmp_path
    )  # as after kill -9: to be gone on with
    result_of(subject.work(tmp_path, trainer(tmp_path)))
    assert states(tmp_path) == [DONE]


def test_a_waiting_job_is_cancelled_at_once_and_one_under_way_is_stopped_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "LOOK_S", 0.0)
    subject.add(tmp_path, rates(1e-4, 2e-4, 3e-4), "films")
    subject.cancel(tmp_path, 2)
    assert states(tmp_path) == [WAITING, CANCELLED, WAITING]

    def during(job: QueueJob, step: int) -> None:
        if (job.number, step) == (1, 4):
            subject.cancel(tmp_path, 1)
            subject.cancel(tmp_path, 3)

    result_of(subject.work(tmp_path, trainer(tmp_path, during=during)))
    assert states(tmp_path) == [CANCELLED, CANCELLED, CANCELLED]
    (run,) = result_of(index_of(tmp_path))
    assert run.state == "stopped"
    with pytest.raises(RunError, match="No job 2"):
        subject.cancel(tmp_path, 2)


def test_a_paused_queue_keeps_the_run_under_way_and_goes_on_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "LOOK_S", 0.0)
    subject.add(tmp_path, rates(1e-4, 2e-4), "films")
    heard: list[int] = []

    def during(job: QueueJob, step: int) -> None:
        heard.append(step)
        if len(heard) == 5:
            subject.pause(tmp_path)

    result_of(subject.work(tmp_path, trainer(tmp_path, during=during)))
    assert states(tmp_path) == [WAITING, WAITING] and not subject.needs_worker(tmp_path)
    subject.go_on(tmp_path)
    assert subject.needs_worker(tmp_path)
    result_of(subject.work(tmp_path, trainer(tmp_path, during=during)))
    assert states(tmp_path) == [DONE, DONE]
    assert heard[:10] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 1]


def test_a_job_that_kills_its_worker_each_time_is_given_up(tmp_path: Path) -> None:
    subject.add(tmp_path, rates(1e-4, 2e-4), "films")
    for _ in range(subject.MOST_TRIES):
        worker = subject.work(tmp_path, trainer(tmp_path))
        next(worker)
        worker.close()
        for path in tmp_path.glob(f"*/{STATUS}"):
            write(path.parent, 0, "running", 50)  # it never came any further
    result_of(subject.work(tmp_path, trainer(tmp_path)))
    assert states(tmp_path) == [FAILED, DONE]
    assert "without giving a reason" in subject.jobs_in(tmp_path)[0].why


def test_halving_lets_the_best_third_go_on_and_says_why_the_others_ended(tmp_path: Path) -> None:
    rights = {n * 1e-4: 50 + n for n in range(1, 10)}
    subject.add(tmp_path, rates(*rights), "films", halving=True)
    result_of(subject.work(tmp_path, trainer(tmp_path, rights)))
    jobs = subject.jobs_in(tmp_path)
    assert [job.state for job in jobs] == [*[DROPPED] * 8, DONE]
    runs = {run.settings["learning_rate"]: run for run in result_of(index_of(tmp_path))}
    assert [read_status(Path(runs[rate].path))["step"] for rate in rights] == [*[1] * 6, 3, 3, 9]
    assert runs[1e-4].state == "stopped" and runs[1e-4].why.startswith("Stopped by halving: number 9 of 9")


def edited(root: Path, number: int = 1, /, **changes: Any) -> None:
    """Have somebody else write into a job's file."""
    path = subject.folder_of(root) / f"{number:05d}.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def told(root: Path, number: int = 1) -> str:
    return next(job.why for job in subject.jobs_in(root) if job.number == number)


@pytest.mark.parametrize(
    "name",
    ["../evil", "/tmp/evil", "..", ".", ".queue", "a/b", "a\\b", "C:evil", "x:stream", "NUL", "com1.txt",
     "CON ", "evil.", " evil", "a\0b", "a\nb", "x" * 300, "\ud800", "*"],
)  # fmt: skip
@pytest.mark.parametrize("field", ["run", "sweep"])
def test_no_job_reaches_outside_of_its_folder_of_runs(tmp_path: Path, field: str, name: str) -> None:
    root = tmp_path / "runs"
    subject.add(root, rates(1e-4), "films")
    edited(root, **{field: name})
    result_of(subject.work(root, trainer(root)))
    assert states(root) == [FAILED] and f"“{field}”" in told(root)
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]
    assert {path.name for path in root.iterdir()} == {subject.QUEUE}


@pytest.mark.parametrize(
    "changes",
    [
        {"number": "1"}, {"number": True}, {"number": 2}, {"name": 5}, {"name": "x" * 1000}, {"run": 5},
        {"run": {}}, {"kind": "family"}, {"kind": None}, {"values": []}, {"values": None},
        {"values": {"speed": 1}},
        {"values": {"data": "a\0b"}}, {"values": {"learning_rate": "fast"}}, {"values": {"seed": 1.5}},
        {"state": "begun"}, {"state": ["waiting"]}, {"why": 5}, {"tags": "x"}, {"tags": [1]}, {"rung": 1},
        {"sweep": ["x"]}, {"rung": 99}, {"rung": -1}, {"begun": 1}, {"tries": "x"}, {"tries": 99},
        {"reached": -1}, {"added": "now"}, {"added": float("inf")}, {"is_own": True}, {"more": 1},
    ],
)  # fmt: skip
def test_a_job_that_says_what_cannot_be_fails_alone_with_its_reason(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    subject.add(tmp_path, rates(1e-4, 2e-4), "films")
    edited(tmp_path, **changes)
    result_of(subject.work(tmp_path, trainer(tmp_path)))
    assert states(tmp_path) == [FAILED, DONE] and told(tmp_path).endswith(".")
    assert len(result_of(index_of(tmp_path))) == 1


def test_a_file_that_is_no_job_fails_alone_and_can_be_forgotten(tmp_path: Path) -> None:
    subject.add(tmp_path, rates(1e-4), "films")
    folder = subject.folder_of(tmp_path)
    copied = (folder / "00001.json").read_text()  # with another's number
    for number, text in enumerate(("", "[" * 1000, "[]", "5", '{"number": "7"}', copied), start=2):
        (folder / f"{number:05d}.json").write_text(text)
    (folder / "00008.json").mkdir()
    os.mkfifo(folder / "00009.json")
    (folder / "00010.json").symlink_to("/dev/zero")
    (folder / "notes.json").write_text("{}")
    result_of(subject.work(tmp_path, trainer(tmp_path)))
    assert states(tmp_path) == [DONE, *[FAILED] * 9]
    assert all(told(tmp_path, number).endswith(".") for number in range(2, 11))
    subject.clear(tmp_path)
    assert [job.number for job in subject.jobs_in(tmp_path)] == [8]  # a folder is left alone
    assert subject.add(tmp_path, rates(1e-4), "films")[0].number == 9


def test_a_job_never_goes_on_with_a_run_that_lies_elsewhere(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "runs", tmp_path / "mine"
    run = made_run(elsewhere, "kept", state="stopped")
    before = {path: path.read_bytes() for path in elsewhere.rglob("*") if path.is_file()}
    subject.add(root, rates(1e-4), "films")
    (root / "kept").symlink_to(run)
    edited(root, run="kept")
    result_of(subject.work(root, trainer(root)))
    assert states(root) == [FAILED] and "a link to another place" in told(root)
    assert before == {path: path.read_bytes() for path in elsewhere.rglob("*") if path.is_file()}


def test_only_what_was_queued_here_is_begun_unasked(tmp_path: Path) -> None:
    root, copy = tmp_path / "runs", tmp_path / "copied"
    subject.add(root, rates(1e-4, 2e-4), "films")
    shutil.copytree(root, copy)
    assert subject.needs_worker(root) and not subject.needs_worker(copy)
    edited(root, 1, name="edited")  # and a seal is for all that a job says
    assert [job.is_own for job in subject.jobs_in(root)] == [False, True]
    result_of(subject.work(root, trainer(root), only_own=True))
    assert states(root) == [WAITING, DONE] and not subject.needs_worker(root)
    subject.accept(root)
    assert subject.needs_worker(root)
    result_of(subject.work(root, trainer(root), only_own=True))
    assert states(root) == [DONE, DONE]
    result_of(subject.work(copy, trainer(copy)))  # the command, which is a person's word
    assert states(copy) == [DONE, DONE]


def test_a_queue_of_an_older_version_is_asked_about_once_and_not_lost(tmp_path: Path) -> None:
    subject.add(tmp_path, rates(1e-4), "films", tags=["kept"])
    path = subject.folder_of(tmp_path) / "00001.json"
    document = json.loads(path.read_text())
    del document["seal"], document["begun"]
    path.write_text(json.dumps(document))
    (job,) = subject.jobs_in(tmp_path)
    assert job.state == WAITING and job.tags == ("kept",) and not job.is_own
    assert not subject.needs_worker(tmp_path)
    subject.accept(tmp_path)
    assert subject.needs_worker(tmp_path)


def test_a_sweep_goes_on_without_a_run_that_was_deleted_and_leaves_as_many_in(tmp_path: Path) -> None:
    rights = {n * 1e-4: 50 + n for n in range(1, 7)}
    subject.add(tmp_path, rates(*rights), "films", halving=True)
    subject.add(tmp_path, rates(9e-4), "other")

    def train(job: QueueJob, place: Path) -> Iterator[Event]:
        if job.number == 6 and job.rung == 0:  # the last of its rung: now the best of the others goes
            (best,) = (one for one in subject.jobs_in(tmp_path) if one.number == 5)
            shutil.rmtree(tmp_path / best.run)
        return trainer(tmp_path, {**rights, 9e-4: 50})(job, place)

    result_of(subject.work(tmp_path, train))
    assert states(tmp_path) == [DROPPED, DROPPED, DROPPED, DROPPED, FAILED, DONE, DONE]
    assert "was deleted" in told(tmp_path, 5) and "number 5 of 5" in told(tmp_path, 1)


def test_a_worker_killed_while_it_leaves_runs_out_is_followed_by_one_that_leaves_the_same_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rights = {n * 1e-4: 50 + n for n in range(1, 10)}
    subject.add(tmp_path, rates(*rights), "films", halving=True)
    whole = subject._leave_out

    def killed(root: Path, job: QueueJob, place: int, count: int) -> None:
        if place == 6:
            raise KeyboardInterrupt
        whole(root, job, place, count)

    with monkeypatch.context() as patched:
        patched.setattr(subject, "_leave_out", killed)
        with pytest.raises(KeyboardInterrupt):
            result_of(subject.work(tmp_path, trainer(tmp_path, rights)))
    result_of(subject.work(tmp_path, trainer(tmp_path, rights)))
    assert states(tmp_path) == [*[DROPPED] * 8, DONE]
    assert [told(tmp_path, n).split(" after")[0].split()[-3:] for n in range(1, 7)] == [
        [str(10 - n), "of", "9"] for n in range(1, 7)
    ]


def test_a_sweep_is_every_combination_or_drawn_between_two_numbers() -> None:
    made = grid(CONFIG, choices_in("learning_rate=1e-4,3e-4 num_epochs=1,2"))
    found = [(values_of(one)["learning_rate"], values_of(one)["num_epochs"]) for one in made]
    assert found == [(1e-4, 1), (1e-4, 2), (3e-4, 1), (3e-4, 2)]
    made = drawn(CONFIG, choices_in("learning_rate=1e-5,1e-3 num_epochs=1,4 encoder=frozen"), 20)
    pace = [values_of(one)["learning_rate"] for one in made]
    assert len(made) == 20 and all(1e-5 <= rate <= 1e-3 for rate in pace) and min(pace) < 1e-4 < max(pace)
    assert all(values_of(one)["num_epochs"] in (1, 2, 3, 4) for one in made)
    assert drawn(CONFIG, choices_in("learning_rate=1e-5,1e-3"), 3) == drawn(
        CONFIG, choices_in("learning_rate=1e-5,1e-3"), 3
    )
    for wrong in ("learning_rate", "=3", "learning_rate="):
        with pytest.raises(UserError):
            choices_in(wrong)
    with pytest.raises(UserError, match="1000"):
        grid(CONFIG, {"seed": list(range(1000))})


def test_more_seeds_are_those_that_others_have_then_new_ones() -> None:
    assert seeds_for([[42]], 4) == [[1, 2, 3]]
    assert seeds_for([[42, 1, 2], [42]], 3) == [[], [1, 2]]
    assert seeds_for([[5], [7]], 3) == [[7, 1], [5, 1]]


def test_the_queue_is_filled_and_told_by_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root, base = tmp_path / "runs", tmp_path / "base.toml"
    base.write_text(document_of(CONFIG))
    run = made_run(root, "films", seed=1)
    at = ["--runs", str(root)]
    assert main(["queue", "add", str(run), "--seeds", "2", *at]) == 0
    assert main(["queue", "add", str(base), "--grid", "learning_rate=1e-4,3e-4", "--name", "rates", *at]) == 0
    assert capsys.readouterr().out.split() == ["1", "2", "3", "4"]
    assert main(["queue", "cancel", "2", *at]) == 0
    assert main(["queue", "list", "--json", *at]) == 0
    told = json.loads(capsys.readouterr().out)
    found = [(job["name"], job["state"], job["values"]["seed"]) for job in told["jobs"]]
    assert found == [
        ("films", "waiting", 2), ("films", "cancelled", 3), ("rates", "waiting", 42), ("rates", "waiting", 42)
    ]  # fmt: skip
    assert main(["queue", "list", *at]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 5
    assert main(["queue", "add", str(base), "--grid", "speed=1", *at]) == 2
    assert "no setting named speed" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="kill -9 is not of this system")
def test_a_worker_that_is_killed_is_followed_by_one_that_ends_with_the_same_bits(tmp_path: Path) -> None:
    """The worker starts as the window starts it, in a session of its own."""
    from engine.train.finetune import fine_tune

    config = tiny_config(tmp_path, num_epochs=3)
    list(fine_tune(config, tmp_path / "whole"))
    root = tmp_path / "runs"
    subject.add(root, [config, with_values(config, {"seed": 7})], "films")
    worker = start_engine("queue", "run", "--runs", root)
    deadline = time.monotonic() + 100
    while time.monotonic() < deadline:
        places = [place for place in root.glob("2*-films") if len(read_metrics(place)) > 6]
        if places:
            break
        time.sleep(0.02)
    worker.send_signal(signal.SIGKILL)
    worker.communicate()
    assert RUNNING in states(root) and subject.needs_worker(root)
    second = subject.start_worker(root)
    while not all(state == DONE for state in states(root)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert states(root) == [DONE, DONE], (subject.folder_of(root) / subject.LOG).read_text()
    first, _ = subject.jobs_in(root)
    assert outcome(root / first.run) == outcome(tmp_path / "whole")
    assert second.wait(60) == 0
    assert run_engine("queue", "list", "--runs", root)[0] == 0


def test_two_trainings_of_the_same_runs_take_turns(tmp_path: Path) -> None:
    def task(name: str) -> Iterator[Event]:
        yield Progress(stage=name, done=0, total=1)
        yield Progress(stage=name, done=1, total=1)

    first, second = (in_turn(tmp_path, partial(task, name)) for name in ("one", "two"))
    assert next(first).stage == "one"  # type: ignore[attr-defined]
    assert next(second).stage == turn.WAITING  # type: ignore[attr-defined]
    assert [event.stage for event in first] == ["one"]  # type: ignore[attr-defined]
    assert [event.stage for event in second] == ["two", "two"]  # type: ignore[attr-defined]
    third, fourth = (in_turn(tmp_path, partial(task, name)) for name in ("three", "four"))
    next(third)
    third.close()  # type: ignore[attr-defined]
    assert next(fourth).stage == "four", "who stops gives way"  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_pipeline_that_waits_in_the_queue_is_continued_where_its_worker_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pretraining_setup, "default_store_root", lambda: tmp_path / "tokens")
    fine = tiny_config(tmp_path)
    stages = StagesConfig(model=fine.model.model, task_steps=2, batch_tokens=64, held_out_share=0.1, seeds=1)
    config = PipelineConfig(stages=stages, data=fine.data, training=fine.training, device=fine.device)
    root = tmp_path / "runs"
    (job,) = subject.add(root, [config], "adapt-reviews")
    assert (job.kind, job.config) == ("pipeline", config)
    working = subject.work(root, _train_job)
    begun = next(event for event in working if isinstance(event, Gained))
    working.close()
    (job,) = subject.jobs_in(root)
    assert (job.state, job.begun, begun.stage) == (RUNNING, True, "base")
    kept = (root / job.run / "finetune-base-seed42" / "metrics.jsonl").stat().st_mtime_ns
    list(subject.work(root, _train_job))
    assert states(root) == [DONE] and (root / job.run / "report.json").is_file()
    assert (root / job.run / "finetune-base-seed42" / "metrics.jsonl").stat().st_mtime_ns == kept
