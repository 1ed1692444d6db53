"""The index tells of each run what its files say, always, and two processes never harm it."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import sqlite3
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.errors import RunError
from engine.evaluation.part import scoring_part
from engine.evaluation.report import ScoreReport, interval_over
from engine.events import Finished, Progress, result_of
from engine.model.info import read_info
from engine.runs.facts import RunFacts, read_facts, size_of
from engine.runs.index import INDEX, index_of
from engine.runs.marks import RunMarks, read_marks, set_marks
from engine.train.finetune import fine_tune
from engine.train.run.answers import save_answers
from engine.train.run.lock import locked
from engine.train.run.runs import CONFIG, LOCK, METRICS, STATUS, read_metrics
from engine.train.scored import F1, ScoreRows
from tests.engine.made_runs import made_run, touch_later
from tests.engine.tiny_runs import write_table
from tests.engine.train.tasks.test_multi_label import moods, moods_config


def runs_of(root: Path) -> dict[str, RunFacts]:
    return {facts.folder[16:]: facts for facts in result_of(index_of(root))}


def num_read(root: Path) -> int:
    return sum(isinstance(event, Progress) for event in index_of(root))


def test_a_run_is_told_with_what_it_was_made_of_and_what_it_reached(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    made_run(root, "films", right=90, rows=100, seed=7, learning_rate=3e-4, evaluations=(0.95, 0.5))
    facts = runs_of(root)["films"]
    score = facts.score()
    assert score is not None and score.interval is not None
    assert (score.value, score.rows, score.split) == (0.9, 100, "validation")  # the best, not the highest
    assert score.interval[0] < 0.9 < score.interval[1]
    assert (facts.seed, facts.state, facts.seconds, facts.task) == (7, "finished", 60.0, "classification")
    assert facts.data.endswith("films.csv") and facts.settings["learning_rate"] == 3e-4
    assert facts.size == size_of(Path(facts.path)) > 500


def test_only_what_has_changed_is_read_again(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    for number in range(5):
        made_run(root, f"run{number}", number=number)
    assert num_read(root) == 5
    assert num_read(root) == 0
    first = sorted(root.glob("2*"))[0]
    (first / STATUS).write_text(json.dumps({"state": "failed", "reason": "The disk is full."}))
    set_marks(sorted(root.glob("2*"))[1], note="the good one")
    assert num_read(root) == 2
    runs = runs_of(root)
    assert (runs["run0"].state, runs["run0"].why) == ("failed", "The disk is full.")
    assert runs["run1"].note == "the good one"


def test_an_index_that_is_gone_damaged_or_of_another_version_is_made_anew_with_the_same_runs(
    tmp_path: Path,
) -> None:
    root = tmp_path / "runs"
    for number in range(3):
        made_run(root, f"run{number}", number=number)
    wanted = runs_of(root)
    (root / INDEX).write_bytes(b"no database at all" * 100)
    assert runs_of(root) == wanted
    assert runs_of(root) == wanted
    (root / INDEX).unlink()
    assert runs_of(root) == wanted and num_read(root) == 0
    with sqlite3.connect(root / INDEX) as index:
        index.execute("PRAGMA user_version = 99")
    index.close()
    assert runs_of(root) == wanted
    with sqlite3.connect(root / INDEX) as index:
        index.execute("UPDATE runs SET facts = '{\"path\": 3}'")
    index.close()
    assert runs_of(root) == wanted


def test_runs_are_moved_with_their_names_and_a_run_that_is_gone_is_listed_no_more(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    path = made_run(root, "films")
    made_run(root, "plays", number=1)
    set_marks(path, name="the first", tags=("good", "good", " "))
    assert runs_of(root)["films"].name == "the first"
    root.rename(tmp_path / "elsewhere")
    runs = runs_of(tmp_path / "elsewhere")
    assert runs["films"].path.startswith(str(tmp_path / "elsewhere"))
    assert (runs["films"].name, runs["films"].tags) == ("the first", ("good",))
    shutil.rmtree(runs["films"].path)
    assert list(runs_of(tmp_path / "elsewhere")) == ["plays"]


def test_a_run_that_is_under_way_is_running_and_one_that_was_killed_is_cut_off(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    path = made_run(root, "films", state="running")
    assert runs_of(root)["films"].state == "crashed"
    with locked(path / LOCK):
        assert runs_of(root)["films"].state == "running"
    assert runs_of(root)["films"].state == "crashed"


def test_runs_within_a_comparison_are_told_too_and_other_folders_are_not(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    inner = made_run(root / "compare-films", "cls-seed42")
    (root / "compare-films" / "deeper").mkdir()
    (root / "pictures").mkdir()
    (root / "a-file").write_text("")
    assert [facts.folder for facts in result_of(index_of(root))] == [f"compare-films/{inner.name}"]
    assert result_of(index_of(tmp_path / "nowhere")) == ()


def test_a_damaged_run_is_told_with_what_can_be_read_of_it(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    made_run(root, "whole")
    odd = made_run(root, "odd", number=1)
    (odd / CONFIG).write_text("this is [no toml")
    (odd / METRICS).write_bytes(b'{"event": "evaluated", "split": 3}\n\xff\xfe\n{"event":\n' + b"x" * 10**6)
    (odd / STATUS).write_text('{"state": ["finished"], "step": -4, "best_metric": "high"}')
    runs = runs_of(root)
    assert runs["whole"].state == "finished"
    assert runs["odd"].state == "crashed" and runs["odd"].problem is not None and not runs["odd"].scores


def test_where_nothing_can_be_written_runs_are_told_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "runs"
    made_run(root, "films")

    def refused(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(sqlite3, "connect", refused)
    assert list(runs_of(root)) == ["films"]


def test_the_best_evaluation_is_found_far_from_the_end(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    path = made_run(root, "films", right=70)
    steps = [line for line in (path / METRICS).read_text().splitlines() if '"step"' in line[:20]]
    with (path / METRICS).open("a") as file:
        file.write("\n".join(steps * 400) + "\n")
    assert (path / METRICS).stat().st_size > 10**6
    score = runs_of(root)["films"].score()
    assert score is not None and (score.value, score.rows) == (0.7, 100)


def test_marks_are_held_to_what_they_can_be_and_nothing_but_a_run_is_marked(tmp_path: Path) -> None:
    path = made_run(tmp_path / "runs", "films")
    marks = set_marks(path, name="  two \n lines " + "x" * 500, tags=["a"] * 3 + [str(n) for n in range(50)])
    assert marks.name.startswith("two lines x") and len(marks.name) <= 120 and len(marks.tags) <= 20
    assert read_marks(path) == marks
    assert set_marks(path, name="", tags=()) == RunMarks() and not (path / "marks.json").exists()
    (path / "marks.json").write_text('{"name": {"a": 1}, "tags": "abc", "note": ["x"]}')
    assert read_marks(path) == RunMarks()
    with pytest.raises(RunError):
        set_marks(tmp_path, name="no run")


def _list_often(root: str, failed: multiprocessing.Queue[str]) -> None:
    try:
        for _ in range(30):
            found = result_of(index_of(Path(root)))
            assert len(found) >= 8, len(found)
            set_marks(Path(found[0].path), note=os.urandom(4).hex())
    except BaseException as error:
        failed.put(repr(error))
        sys.exit(1)


@pytest.mark.slow
def test_two_processes_that_list_and_change_the_same_runs_at_once_harm_nothing(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    for number in range(8):
        made_run(root, f"run{number}", number=number)
    start = multiprocessing.get_context("spawn")
    failed = start.Queue()
    both = [start.Process(target=_list_often, args=(str(root), failed)) for _ in range(2)]
    for process in both:
        process.start()
    for number in range(8, 12):
        made_run(root, f"run{number}", number=number)
    for process in both:
        process.join(120)
    assert [process.exitcode for process in both] == [0, 0], failed.get() if not failed.empty() else ""
    runs = result_of(index_of(root))
    assert len(runs) == 12
    for facts in runs:
        assert facts == replace(read_facts(Path(facts.path), root), state="finished")
    with sqlite3.connect(root / INDEX) as index:
        assert index.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    index.close()


@pytest.mark.slow
def test_the_score_of_several_labels_is_that_of_the_thresholds_which_the_model_answers_with(
    tmp_path: Path,
) -> None:
    write_table(tmp_path / "moods.csv", moods(160))
    run = tmp_path / "runs" / "moods"
    *_, finished = fine_tune(moods_config(tmp_path, validation_share=0.4, num_epochs=2), run)
    info = read_info(run / "model")
    assert set(info["thresholds"].values()) != {0.5}
    part = result_of(scoring_part(run, "validation"))
    at_half = next(one for one in reversed(read_metrics(run)) if one["event"] == "evaluated")
    (facts,) = result_of(index_of(tmp_path / "runs"))
    score = facts.score()
    assert score is not None and isinstance(finished, Finished)
    assert score.value == finished.best_metric == info["trained"]["value"] == ScoreReport(part).value
    assert score.value != at_half["metrics"]["micro_f1"] and score.interval == interval_over(part.each)


def test_a_score_that_is_no_share_has_the_interval_of_the_answers_that_were_kept(tmp_path: Path) -> None:
    path = made_run(tmp_path, "several")
    for file in (path / METRICS, path / STATUS):
        text = file.read_text(encoding="utf-8").replace('"metric": "accuracy"', '"metric": "micro_f1"')
        file.write_text(text.replace('{"accuracy": 0.8', '{"micro_f1": 0.8'), encoding="utf-8")
    bare = runs_of(tmp_path)["several"].score()
    assert bare is not None and bare.metric == "micro_f1" and bare.interval is None
    hits = np.arange(100) < 80
    adds = np.stack([hits, np.ones(100), np.ones(100)], 1).astype(float)
    zeros, right = np.zeros(100, np.int32), hits.astype(np.float32)
    each = ScoreRows(("a", "b"), zeros, zeros + 1, right, right / 2, adds, F1)
    save_answers(path, "validation", 12, each)
    touch_later(path / METRICS)
    score = runs_of(tmp_path)["several"].score()
    assert score is not None and score.interval is not None and score.interval == interval_over(each)
    assert score.interval[0] < 0.8 < score.interval[1]
