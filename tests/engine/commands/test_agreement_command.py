"""`agreement` prints how far two columns agree, and each row on which they differ."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.commands.command_line import main
from engine.text.table import write_csv


def test_figures_and_disagreements_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(f"a remark on day {at}", "ab"[at % 2], "ab"[at % 2 if at else 1]) for at in range(40)]
    write_csv(tmp_path / "two.csv", ("text", "me", "llm"), [*rows, ("alone", "a", "")])
    line = ["agreement", "--data", str(tmp_path / "two.csv"), "--label", "me", "--other", "llm"]
    assert main([*line, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["rows"], found["only_label"], found["only_other"]) == (40, 1, 0)
    assert found["disagreements"] == [{"row": 0, "line": 2, "label": "a", "other": "b"}]
    assert found["agreement"]["value"] == pytest.approx(39 / 40)
    low, high = found["alpha"]["interval"]
    assert low < found["alpha"]["value"] < high
    assert found["verdict"] == ("good" if low >= 0.8 else "tentative")
    assert main(line) == 0
    assert "line 2: a / b" in capsys.readouterr().out


def test_a_column_that_is_not_there_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_csv(tmp_path / "two.csv", ("text", "me"), [("some text", "a")])
    line = ["agreement", "--data", str(tmp_path / "two.csv"), "--label", "me", "--other", "llm"]
    assert main(line) == 2
    assert "llm" in capsys.readouterr().err
