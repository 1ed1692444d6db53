"""A run tells the truth about its own data, live and reopened, whatever else is open: counted by hand."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytestqt.qtbot import QtBot
from safetensors.numpy import load_file

from app.main_window import MainWindow
from app.pages.welcome.found import FoundRun
from app.session import Session
from app.settings import AppSettings
from app.words import number
from engine.train.run.runs import list_runs, read_config
from tests.app.hand import Hand
from tests.looks.language_scenes import invented_forecast, write_text
from tests.looks.scenes import FIVE, TWO, write_table

pytestmark = pytest.mark.slow  # whole journeys, as a person makes them

Rows = list[dict[str, str]]


def read(path: Path) -> Rows:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: Rows) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["label", "text"])
        writer.writeheader()
        writer.writerows(rows)
    return path


def plant(folder: Path) -> tuple[Path, Path]:
    """Write a table with wrong labels, repeats and rows without text, and a test file that leaks."""
    rng = np.random.default_rng(5)
    rows = read(write_table(folder / "plain.csv", FIVE, rows_a_label=60))
    test = [rows.pop(int(place)) for place in sorted(rng.choice(len(rows), 60, replace=False))[::-1]]
    for place in rng.choice(len(rows), 20, replace=False):
        rows[place] = {**rows[place], "label": FIVE[(FIVE.index(rows[place]["label"]) + 1) % 5]}
    repeated = [dict(rows[place]) for place in rng.choice(len(rows), 25, replace=False)]
    for row in repeated[:3]:
        row["label"] = FIVE[(FIVE.index(row["label"]) + 2) % 5]
    rows += [*repeated, *test[:9], {"label": "sport", "text": " "}, {"label": "", "text": "the film"}]
    return write(folder / "planted.csv", rows), write(folder / "apart.csv", test)


def truth(table: Path, test: Path, run_dir: Path) -> dict[str, int]:
    """Count what there is to say, from the files and from the rows that the run drew."""
    rows = read(table)
    drawn = load_file(run_dir / "setup" / "data.safetensors")
    parts = {name: [rows[i]["text"] for i in drawn[f"{name}/rows"]] for name in ("train", "validation")}
    parts["test"] = [row["text"] for row in read(test)]
    used = [row for row in rows if row["text"].strip() and row["label"]]
    labels = defaultdict(set)
    for row in used:
        labels[row["text"]].add(row["label"])
    return {
        "leaking": sum(text in set(parts["train"]) for text in parts["validation"]),
        "tested": sum(text in set(parts["train"]) for text in parts["test"]),
        "between": sum(text in set(parts["validation"]) for text in parts["test"]),
        "repeats": len(used) - len({row["text"] for row in used}),
        "contradicting": sum(len(found) > 1 for found in labels.values()),
        "unusable": len(rows) - len(used),
        "validation": len(parts["validation"]),
        "test": len(parts["test"]),
    }


def told(window: MainWindow, page: str) -> list[str]:
    found: list[str] = window.page(page).charts.watching.advice.texts()  # type: ignore[attr-defined]
    return found


def check_remarks(said: list[str], counts: dict[str, int]) -> None:
    """Compare every remark on the data with what was counted."""
    expected = {
        "validation texts are also in the training data": ("leaking", "validation"),
        "test texts are also in the training data": ("tested", "test"),
        "test texts are also in the validation data": ("between", "test"),
    }
    for words, (shared, total) in expected.items():
        sentences = [each for each in said if words in each]
        if counts[shared]:
            assert len(sentences) == 1, (words, said)
            start = f"{number(counts[shared])} of {number(counts[total])} {words}"
            assert sentences[0].startswith(start), (sentences, start)
        else:
            assert not sentences
    assert not any("No text is shared" in each for each in said) or not counts["tested"] * counts["leaking"]
    assert any(f"{counts['repeats']} rows of planted.csv repeat" in each for each in said), said
    assert any(
        f"{counts['contradicting']} texts of planted.csv have more than one label" in each for each in said
    ), said
    assert any(f"{counts['unusable']} lines of planted.csv cannot be used" in each for each in said), said


def facts(window: MainWindow, page: str) -> dict[str, str]:
    found: dict[str, str] = window.page(page).run_card.facts()  # type: ignore[attr-defined]
    return found


def reopened(qtbot: QtBot, ini: Path) -> MainWindow:
    window = MainWindow(Session(AppSettings(ini)), warm_up=False)
    qtbot.addWidget(window)
    window.show()
    return window


def only_run(session: Session) -> Any:
    info = list_runs(session.runs.root)[0]
    return info, read_config(info.path)


@pytest.fixture
def trained(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> tuple[Path, Path]:
    """Train on the planted table through the window, another table opened while it learns."""
    table, test = plant(tmp_path)
    session, hand = window.session, Hand(window, qtbot)
    page: Any = window.page("finetune")
    session.data.open(table)
    qtbot.waitUntil(lambda: session.data.summary is not None)
    window.show_page("finetune")
    hand.choose("model_choice", "Random weights")
    qtbot.waitUntil(lambda: session.model.chosen is not None and session.data.summary is not None)
    page.setup.set_values({"test_data": str(test), "num_epochs": 6, "max_length": 16, "learning_rate": 2e-3})
    qtbot.waitUntil(page.start_button.isEnabled)
    assert "apart.csv" in page.setup.prediction.text()
    hand.click("start")
    qtbot.waitUntil(lambda: session.training.state.step is not None, timeout=30_000)
    session.data.open(write_table(tmp_path / "other.csv", TWO, rows_a_label=30))
    qtbot.waitUntil(lambda: session.data.table is not None and session.data.table.path.name == "other.csv")
    assert facts(window, "finetune")["Data"] == "planted.csv" and page.run_card.isVisible()
    qtbot.waitUntil(lambda: not session.training.is_running, timeout=60_000)
    assert session.training.state.outcome == "finished", session.training.state.error
    return table, test


def test_every_remark_of_a_run_is_true_live_and_reopened_with_another_table_open(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, trained: tuple[Path, Path]
) -> None:
    session = window.session
    run_dir = only_run(session)[0].path
    counts = truth(*trained, run_dir)
    assert min(counts[name] for name in ("leaking", "tested", "repeats", "contradicting", "unusable")) > 0
    live = told(window, "finetune")
    check_remarks(live, counts)
    assert facts(window, "finetune")["Labels"] == "5"
    assert session.data.table is not None and session.data.table.path.name == "other.csv"

    window.close()
    second = reopened(qtbot, tmp_path / "settings.ini")
    try:
        second.session.data.open(tmp_path / "other.csv")
        qtbot.waitUntil(lambda: second.session.data.summary is not None)
        page: Any = second.page("finetune")
        hand = Hand(second, qtbot)
        second.show_page("finetune")
        qtbot.waitUntil(lambda: page.charts.watching.outcome.isVisible())
        assert told(second, "finetune") == live and not page.setup.isVisible()  # as the window was left
        hand.click("back_to_form")
        assert page.setup.isVisible() and not page.run_card.isVisible()
        second.show_page("welcome")
        second.page("welcome")._open_run(FoundRun(*only_run(second.session)))  # type: ignore[attr-defined]
        qtbot.waitUntil(page.run_card.isVisible)
        assert second.current_page == "finetune"
        qtbot.waitUntil(lambda: page.charts.watching.outcome.isVisible())
        assert told(second, "finetune") == live
        assert facts(second, "finetune")["Data"] == "planted.csv"
        assert facts(second, "finetune")["Test data"] == "apart.csv"
        assert page.run_card.progress.where.text() == f"Step {page._step.step} of {page._step.step}"

        hand.click("new_run")
        assert page.setup.isVisible() and not second.session.training.is_running
        qtbot.waitUntil(lambda: second.session.data.table.path.name == "planted.csv")  # type: ignore[union-attr]
        qtbot.waitUntil(lambda: second.session.data.summary is not None and page.start_button.isEnabled())
        values = page.setup.config().data
        assert (Path(values.test_data).name, values.max_length) == ("apart.csv", 16)
        assert page.charts.loss.num_points == 0  # the form does not stand beside that run's curves
        second.session.data.open(tmp_path / "other.csv")
        qtbot.waitUntil(lambda: second.session.data.table.path.name == "other.csv")  # type: ignore[union-attr]
        assert page.setup.values()["test_data"] == ""  # it belongs to its table
        second.session.data.open(trained[0])
        qtbot.waitUntil(lambda: second.session.data.table.path.name == "planted.csv")  # type: ignore[union-attr]
        assert Path(page.setup.values()["test_data"]).name == "apart.csv"
    finally:
        second.close()
        assert second.session.wait_idle()


def test_what_pretraining_noted_is_said_live_and_reopened_beside_another_text(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.train.pretraining.setup.default_store_root", lambda: tmp_path / "tokens")
    text = write_text(tmp_path / "story.txt", documents=60)
    documents = text.read_text(encoding="utf-8").strip().split("\n\n")
    others = write_text(tmp_path / "more.txt", documents=13, seed=8).read_text(encoding="utf-8")
    apart = tmp_path / "apart.txt"
    apart.write_text("\n\n".join([*documents[5:12], others]), encoding="utf-8")
    held_out = [each for each in apart.read_text(encoding="utf-8").split("\n\n") if each.strip()]
    shared = sum(document.strip() in set(documents) for document in held_out)
    assert (shared, len(held_out)) == (7, 20)

    session, page = window.session, window.page("pretrain")
    monkeypatch.setattr("app.pages.pretrain.findings.forecast", invented_forecast)
    window.show_page("pretrain")
    page.take([str(text)])  # type: ignore[attr-defined]
    small = {"model": "new:tiny", "vocab_size": 200, "steps": 24, "minutes": 0, "batch_tokens": 256}
    page.setup.set_values({**small, "max_length": 32, "validation_text": str(apart)})  # type: ignore[attr-defined]
    qtbot.waitUntil(page.start_button.isEnabled, timeout=30_000)  # type: ignore[attr-defined]
    Hand(window, qtbot).click("start")
    qtbot.waitUntil(lambda: not session.training.is_running, timeout=60_000)
    assert session.training.state.outcome == "finished", session.training.state.error
    live = told(window, "pretrain")
    assert any(f"{shared} of the {len(held_out)} held-out documents" in each for each in live), live
    shown = facts(window, "pretrain")
    assert (shown["Text"], shown["Validation text"], shown["Train for"]) == (
        "story.txt",
        "apart.txt",
        "24 steps",
    )

    window.close()
    second = reopened(qtbot, tmp_path / "settings.ini")
    try:
        other: Any = second.page("pretrain")
        second.show_page("pretrain")
        qtbot.waitUntil(lambda: other.charts.watching.outcome.isVisible())
        assert told(second, "pretrain") == live  # as the window was left
        other.take([str(tmp_path / "more.txt")])
        other.setup.check()
        assert other.setup.isVisible()
        other.show_run(only_run(second.session)[0].path)
        qtbot.waitUntil(lambda: other.charts.watching.outcome.isVisible())
        assert told(second, "pretrain") == live and facts(second, "pretrain") == shown
        assert other.run_card.progress.where.text() == "Step 24 of 24"
        Hand(second, qtbot).click("back_to_form")
        assert other.setup.text.name == "more.txt" and not other.charts.isVisible()
    finally:
        second.close()
        assert second.session.wait_idle()
