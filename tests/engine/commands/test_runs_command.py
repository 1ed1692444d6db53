"""`runs` tells of every run under a folder, to a person and to a program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.commands.command_line import main
from engine.runs.marks import set_marks
from tests.engine.made_runs import made_run


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "runs"
    set_marks(made_run(root, "films", right=90, seed=3), name="the first", tags=("good",))
    made_run(root, "plays", state="failed", why="The disk is full.", number=1, notes=("All is one label.",))
    return root


def test_runs_are_told_to_a_program_with_their_scores_and_intervals(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["runs", "--runs", str(root), "--json"]) == 0
    failed, first = json.loads(capsys.readouterr().out)["runs"]
    score = first["scores"]["validation"]
    assert (first["name"], first["tags"], first["seed"]) == ("the first", ["good"], 3)
    assert score["interval"][0] < score["value"] == 0.9 < score["interval"][1] and score["rows"] == 100
    assert first["settings"]["batch_size"] == 32 and first["data"].endswith("films.csv")
    assert (failed["state"], failed["why"], failed["scores"]) == ("failed", "The disk is full.", {})
    assert failed["remarks"] == [{"level": "wrong", "text": "All is one label."}]


@pytest.mark.slow
def test_runs_are_told_to_a_person_a_line_each(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "--runs", str(root)]) == 0
    heading, failed, first = capsys.readouterr().out.splitlines()
    assert heading.split()[:3] == ["run", "data", "model"]
    assert "failed at step 12: The disk is full." in failed
    assert "the first" in first and "accuracy 0.9000" in first and "films.csv" in first


def test_a_folder_that_is_not_there_is_refused_and_an_empty_one_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["runs", "--runs", str(tmp_path / "nowhere")]) == 2
    assert "nowhere" in capsys.readouterr().err
    assert main(["runs", "--runs", str(tmp_path)]) == 0
    assert "No runs yet" in capsys.readouterr().out
