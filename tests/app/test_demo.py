"""`cloze demo`: without a display and with somebody at the window, with a starter model and without."""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from app.demo import command as demo
from app.demo.play import Demo, in_columns
from app.main_window import MainWindow
from app.session import Session
from app.settings import AppSettings
from app.tour.guide import Guide
from app.words import probability
from engine.inspect.loaded_model import LoadedModel
from engine.language import ENGLISH, speak
from tests.looks.looking_scenes import NUM_HEADS, NUM_LAYERS, language_model
from tests.looks.scenes import TWO, write_table, write_vocabulary


@pytest.fixture(autouse=True)
def no_assets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    monkeypatch.setattr("app.shipped.assets", lambda: tmp_path / "assets")
    monkeypatch.setattr("app.demo.album.SETTLE_S", 0.02)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_table(tmp_path / "films.csv", TWO, rows_a_label=40)


@pytest.mark.slow
def test_the_demo_goes_through_the_tour_and_leaves_what_it_showed(
    qapp: object, tmp_path: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    starter = language_model(tmp_path / "assets" / "models" / "starter")
    out = tmp_path / "out"
    assert demo.run(["--out", str(out), "--data", str(table), "--epochs", "2"]) == 0
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert results["start"] == str(starter)
    assert (results["num_rows"], results["num_train"], results["num_validation"]) == (80, 64, 16)
    assert results["num_steps"] == results["planned_steps"] == 8
    assert results["num_learned"] == 64
    assert len(results["answers"]) == 6 and LoadedModel.open(out / "model").labels == TWO

    said = capsys.readouterr().out
    assert "No starter model" not in said and "Trained for 8 of 8 steps." in said
    assert "fits into 2.75 min here, by measurement: each of 64 rows 2 times." in said
    for word, value in results["guesses"]:
        assert f"{word} {probability(value)}" in said
    with (out / "figures" / "attention.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    assert f"layer: {results['attention']['layer']}" in (out / "figures" / "attention.txt").read_text()
    assert 1 <= results["attention"]["layer"] <= NUM_LAYERS and 1 <= results["attention"]["head"] <= NUM_HEADS
    assert any(f"{results['attention']['share']:.3f}"[:5] in cell for row in rows for cell in row)
    for name in ("loss", "confusion", "words", "guesses", "attention", "heads"):
        assert not QImage(str(out / "figures" / f"{name}.png")).isNull(), name

    frames = [path.stem.partition("-")[2] for path in sorted((out / "frames").glob("*.png"))]
    assert frames[0] == "start" and frames[-1] != "start"
    names = {path.stem for path in (out / "screenshots").glob("*.png")}
    pages = ("data", "fine-tune", "predict", "words", "probe", "attention")
    assert names >= {f"{page}-{mode}" for page in pages for mode in ("light", "dark")}
    steps = ("data", "learn", "result", "ask", "reasons", "hide", "guesses", "attention", "heads")
    assert names >= {f"tour-{number}-{key}-light" for number, key in enumerate(steps, start=1)}
    light, dark = (QImage(str(out / "screenshots" / f"fine-tune-{mode}.png")) for mode in ("light", "dark"))
    assert light.pixelColor(3, 3).lightness() > 200 > 50 > dark.pixelColor(3, 3).lightness()
    dimmed = QImage(str(out / "screenshots" / "tour-2-learn-light.png"))
    assert dimmed.pixelColor(3, 3).lightness() < light.pixelColor(3, 3).lightness() - 50


@pytest.mark.slow
def test_without_a_starter_it_says_so_and_trains_random_weights(
    qapp: object,
    tmp_path: Path,
    table: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    vocabulary = write_vocabulary(tmp_path / "vocab.txt", 2)
    monkeypatch.setattr("app.demo.play.sample_vocabulary", lambda: vocabulary)
    out = tmp_path / "out"
    assert demo.run(["--out", str(out), "--epochs", "1", "--data", str(table)]) == 0
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert results["start"] == "new:tiny" and results["num_steps"] == 2 and "guesses" not in results
    said = capsys.readouterr().out
    assert "No starter model ships with this build" in said and "Hid “" not in said
    names = {path.stem for path in (out / "screenshots").glob("tour-*-light.png")}
    assert {name.split("-")[2] for name in names} == {
        "data", "learn", "result", "ask", "reasons", "attention", "heads",
    }  # fmt: skip


@pytest.fixture
def attended(qtbot: QtBot, tmp_path: Path) -> Iterator[Demo]:
    """A demo in a window at which somebody sits."""
    settings = AppSettings(tmp_path / "settings.ini")
    settings.runs_root = tmp_path / "runs"
    session = Session(settings)
    window = MainWindow(session, warm_up=False)
    window.show()
    (tmp_path / "out").mkdir()
    yield Demo(window, session, tmp_path / "out", windowless=False)
    qtbot.waitUntil(lambda: session.inspector.workers.is_idle)
    window.close()
    assert session.wait_idle()
    window.deleteLater()


def chosen(table: Path, vocabulary: Path) -> argparse.Namespace:
    return argparse.Namespace(data=str(table), vocab=str(vocabulary), epochs=40, seconds=0)


def leave_while_it_trains(attended: Demo, leave: Callable[[Guide], None]) -> None:
    """Go on to the training once the demo plays, and do this when it has made a step."""

    def look() -> None:
        tour = attended.window.findChild(Guide)
        if tour is not None and tour.step.key == "data":
            tour.next()
        elif tour is not None and attended.session.training.state.step is not None:
            assert tour.card.next_button.text() == "Skip"
            clock.stop()
            leave(tour)

    clock = QTimer(attended.window, interval=10)
    clock.timeout.connect(look)
    clock.start()


@pytest.mark.slow
def test_who_leaves_the_tour_while_it_trains_gets_the_result_of_the_whole_training(
    attended: Demo, qtbot: QtBot, tmp_path: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    leave_while_it_trains(attended, lambda tour: tour.leave())
    assert attended.play(chosen(table, write_vocabulary(tmp_path / "vocab.txt", 2))) == 0
    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert results["num_steps"] == results["planned_steps"] == 80 and results["answers"] == []
    assert "Trained for 80 of 80 steps." in capsys.readouterr().out


@pytest.mark.slow
def test_who_leaves_before_anything_is_trained_is_told_no_numbers(
    attended: Demo, tmp_path: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = QTimer(interval=10)
    clock.timeout.connect(lambda: [tour.leave() for tour in attended.window.findChildren(Guide)])
    clock.start()
    assert attended.play(chosen(table, write_vocabulary(tmp_path / "vocab.txt", 2))) == 0
    clock.stop()
    assert "ended before anything was trained" in capsys.readouterr().out
    assert not (tmp_path / "out" / "results.json").exists()


@pytest.mark.slow
def test_what_a_person_opens_while_it_trains_changes_nothing_of_what_is_told(
    attended: Demo, qtbot: QtBot, tmp_path: Path, table: Path
) -> None:
    def leave(tour: Guide) -> None:
        tour.leave()
        attended.session.data.open(tmp_path / "nothing.csv")
        attended.session.data.open(write_table(tmp_path / "other.csv", TWO, rows_a_label=7))

    leave_while_it_trains(attended, leave)
    assert attended.play(chosen(table, write_vocabulary(tmp_path / "vocab.txt", 2))) == 0
    assert json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))["num_rows"] == 80


def test_a_table_without_labels_is_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("app.main_window.warm_up", lambda: None)  # it takes longer than all this
    language_model(tmp_path / "assets" / "models" / "starter")
    bare = tmp_path / "bare.csv"
    bare.write_text("text\n" + "".join(f"a sentence of some length, number {n}\n" for n in range(30)))
    assert demo.run(["--out", str(tmp_path / "out"), "--data", str(bare)]) == 2
    assert "labels" in capsys.readouterr().err.split("\n")[0]


@pytest.mark.parametrize(
    "option",
    [("--epochs", "-1"), ("--epochs", "0"), ("--seconds", "nan"), ("--seconds", "-3"), ("--seconds", "3e6")],
)
def test_a_number_that_cannot_be_is_refused_before_the_folder_is_touched(
    option: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        demo.run(["--out", str(tmp_path / "out"), *option])
    assert refused.value.code == 2 and option[1] in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_folder_with_other_things_in_it_is_left_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("mine", encoding="utf-8")
    assert demo.run(["--out", str(mine)]) == 2
    assert "--out DIR" in capsys.readouterr().err
    assert [path.name for path in mine.iterdir()] == ["thesis.txt"]


def test_what_it_says_before_a_window_opens_is_in_the_language_of_the_environment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    monkeypatch.setenv("CLOZE_LANG", "zh")
    try:
        assert demo.run(["--out", str(tmp_path)]) == 2
        assert "里有别的东西" in capsys.readouterr().err
        with pytest.raises(SystemExit):
            demo.run(["--help"])
        assert "用示例文本微调入门模型" in capsys.readouterr().out
    finally:
        speak(ENGLISH)
    assert in_columns([("行", "1"), ("Model", "2"), ("截图", "3")]) == ["行     1", "Model  2", "截图   3"]


def test_the_demo_uses_its_own_folder_again_and_takes_away_what_an_older_one_showed(tmp_path: Path) -> None:
    out = tmp_path / "demo"
    assert demo.prepare(out) == ""
    for old in ("results.json", "figures/attention.png", "screenshots/data-light.png", "runs/first/log"):
        (out / old).parent.mkdir(parents=True, exist_ok=True)
        (out / old).write_text("old", encoding="utf-8")
    assert demo.prepare(out) == ""
    assert {path.name for path in out.iterdir()} == {demo.MARK, "runs"}
    assert (out / "runs" / "first" / "log").is_file()
