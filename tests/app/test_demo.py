"""`cloze demo` without a display, on a small table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from app import demo
from tests.looks.scenes import TWO, write_table, write_vocabulary


def test_the_demo_leaves_a_model_screenshots_and_its_numbers(
    qapp: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    table = write_table(tmp_path / "films.csv", TWO, rows_a_label=40)
    vocabulary = write_vocabulary(tmp_path / "vocab.txt", 2)
    out = tmp_path / "out"
    assert (
        demo.run(["--out", str(out), "--epochs", "3", "--data", str(table), "--vocab", str(vocabulary)]) == 0
    )
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert results["num_rows"] == 80 and results["num_steps"] == 6
    assert (out / "model" / "model.safetensors").is_file()
    names = {path.stem for path in (out / "screenshots").glob("*.png")}
    pages = ("data", "fine-tune", "predict")
    assert names >= {f"{page}-{mode}" for page in pages for mode in ("light", "dark")}
    light, dark = (QImage(str(out / "screenshots" / f"fine-tune-{mode}.png")) for mode in ("light", "dark"))
    assert light.pixelColor(3, 3).lightness() > 200 > 50 > dark.pixelColor(3, 3).lightness()
    said = capsys.readouterr().out
    assert "Validation accuracy" in said and str(out / "model") in said


def test_a_folder_with_other_things_in_it_is_left_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    assert demo.run(["--out", str(tmp_path)]) == 2
    assert "--out DIR" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_the_demo_uses_its_own_folder_again(tmp_path: Path) -> None:
    assert demo.prepare(tmp_path / "demo") == ""
    (tmp_path / "demo" / "results.json").write_text("{}", encoding="utf-8")
    assert demo.prepare(tmp_path / "demo") == ""
