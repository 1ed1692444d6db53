"""Several labels a row, and a number a row, by clicks: from the file to scores and to answers in a file."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from pytestqt.qtbot import QtBot

from app.pages.data.page import DataPage
from app.pages.finetune.charts import FineTuneCharts
from app.pages.finetune.page import FineTunePage
from app.pages.predict.page import PredictPage
from app.pages.tasks.multi_label.scores import MultiLabelScores
from app.pages.tasks.regression.scores import RegressionScores
from app.pages.tasks.regression.views import bars_of
from app.plots.axes import axis_ticks
from app.plots.plane import PlanePlot
from app.session import Session
from engine.events import Evaluated, Started
from engine.text.roles import Roles
from engine.train.finetune import fine_tune
from engine.train.tasks.multi_label.task import MultiLabel
from engine.train.tasks.regression.task import Regression
from tests.app.hand import Hand, ShowPage
from tests.engine.tiny_runs import tiny_config, write_table

SETS = ["bad", "good", "play", "bad|good", "bad|play", "good|play", "bad|good|play", "[]"]


def sets_table(folder: Path, rows: int = 48) -> Path:
    made = [(f"{cell.replace('|', ' ').strip('[]') or 'film'} a", cell) for cell in SETS * (rows // 8)]
    return write_table(folder / "moods.csv", made)


def numbers_table(folder: Path, rows: int = 45) -> Path:
    made = [("good " * (n % 5) + "bad", f"{n % 5 + n / 1000:.3f}") for n in range(rows)]
    return write_table(folder / "ratings.csv", made, "text,score")


def trained(folder: Path, table: Path, label: str) -> Path:
    config = tiny_config(folder, data=str(table), label=label, num_epochs=1, checkpoint_every_steps=100)
    list(fine_tune(config, folder / "run"))
    return folder / "run" / "model"


def opened(session: Session, path: Path, label: str) -> None:
    session.data.open(path, roles=Roles("text", "", label))
    assert session.wait_idle()


def test_the_data_page_counts_each_label_of_a_row_and_says_how_they_are_read(
    show_page: ShowPage[DataPage], session: Session, tmp_path: Path
) -> None:
    page = show_page(DataPage)
    opened(session, sets_table(tmp_path), "label")
    assert session.data.task_name == "multi-label"
    assert {name: int(count) for name, count in page.labels_card.plot.bars} == {
        "bad": 24,
        "good": 24,
        "play": 24,
    }
    assert page.labels_card.plot.rows[0].share == 0.5  # of the rows, not of all labels
    said = " ".join(page.advice.texts())
    assert "Several labels a row" in said and "task is multi-label" in said and "accuracy" not in said
    assert page.next_button.isEnabled()


def test_columns_of_0_and_1_are_found_where_no_label_is_chosen(
    show_page: ShowPage[DataPage], session: Session, tmp_path: Path
) -> None:
    page = show_page(DataPage)
    rows = [(f"text {n}", str(n % 2), str(n // 2 % 2), str(n // 4 % 2)) for n in range(32)]
    session.data.open(write_table(tmp_path / "columns.csv", rows, "text,rude,angry,sad"))
    assert session.wait_idle() and session.data.task_name == "multi-label"
    assert session.data.roles is not None and not session.data.roles.label and session.data.has_label
    assert sorted(name for name, _count in page.labels_card.plot.bars) == ["angry", "rude", "sad"]
    assert page.next_button.isEnabled()


def test_numbers_are_drawn_by_size_and_the_form_says_what_is_learned(
    show_page: ShowPage[Any], session: Session, tmp_path: Path
) -> None:
    page = show_page(DataPage)
    opened(session, numbers_table(tmp_path), "score")
    assert (
        session.data.task_name == "regression"
        and sum(count for _name, count in page.labels_card.plot.bars) == 45
    )
    assert page.labels_card.plot.bars[0][0] == "0.0 to 0.5"
    form = show_page(FineTunePage)
    assert form.setup.task_label.text() == "One text → a number"


@pytest.mark.slow
def test_a_refused_column_is_one_choice_away_from_its_task(
    show_page: ShowPage[DataPage], session: Session, tmp_path: Path
) -> None:
    show_page(DataPage)
    opened(session, sets_table(tmp_path), "label")
    session.data.set_task("classification")
    assert session.wait_idle() and session.data.table_summary is not None
    assert "choose the task multi-label" in str(session.data.table_summary.refusal)
    session.data.set_task("multi-label")
    assert session.wait_idle() and session.data.table_summary.refusal is None


def evaluated(task: Any, answers: np.ndarray, targets: np.ndarray, split: str = "validation") -> Evaluated:
    measures = task.score(answers, targets)
    return Evaluated(
        step=7, epoch=1.0, split=split, loss=measures.loss, metrics=measures.metrics, labels=task.labels,
        confusion=None, per_label=measures.per_label or {}, details=measures.details, is_best=True,
    )  # fmt: skip


def started(task: str, folder: Path) -> Started:
    return Started(
        run_dir=folder, task=task, device="CPU", num_steps=9, first_step=1, num_epochs=1.0, steps_per_epoch=9,
        num_train=9, num_validation=60, num_test=0, labels=("joy", "fear"), metric="micro_f1",
        num_parameters=1, learning_rate=1e-3, cut_share=0.0,
    )  # fmt: skip


def test_scores_of_labels_stand_with_their_thresholds_and_a_click_shows_a_curve(
    qtbot: QtBot, tmp_path: Path
) -> None:
    charts = FineTuneCharts()
    qtbot.addWidget(charts)
    charts.resize(900, 700)
    charts.show()
    rng = np.random.default_rng(1)
    targets = rng.random((120, 2)) < (0.4, 0.3)
    answers = np.clip(targets * 0.3 + rng.random((120, 2)) * 0.6, 0, 1).astype(np.float32)
    charts.hear([started("multi-label", tmp_path), evaluated(MultiLabel(("joy", "fear")), answers, targets)])
    card = charts.scores_card
    assert isinstance(card, MultiLabelScores) and charts.accuracy_card.title_label.text() == "Micro F1"
    model = card.labels.scores
    rows = [[model.index(r, c).data() for c in range(model.columnCount())] for r in range(model.rowCount())]
    assert [row[0] for row in rows] == ["joy", "fear", "macro average", "weighted average"]
    assert rows[0][-1] == "50.0 %" and rows[2][-1] == ""
    assert "Thresholds chosen on half of these rows" in card.remark.text()
    card.labels.setCurrentIndex(model.index(1, 0))
    assert "fear" in card.curve.title and not card.curve.is_empty
    card.clear()
    assert card.curve.is_empty and model.rowCount() == 0


def test_true_and_predicted_numbers_are_drawn_and_no_spread_is_said(qtbot: QtBot, tmp_path: Path) -> None:
    charts = FineTuneCharts()
    qtbot.addWidget(charts)
    charts.resize(900, 700)
    charts.show()
    truth = np.linspace(0, 5, 60)
    found = (truth * 0.5 + 1).astype(np.float32)[:, None]
    charts.hear([started("regression", tmp_path), evaluated(Regression(), found, truth)])
    card = charts.scores_card
    assert isinstance(card, RegressionScores) and card.pearson.value.text().startswith("1.000")
    assert len(card.plane.numbers()) == 61 and card.plane.numbers()[1] == [0.0, 1.0]
    card.view_choice.set_current("errors")
    card.view_choice.chosen.emit("errors")
    assert card.plane.numbers()[1] == [0.0, 1.0] and card.plane.numbers()[-1][1] == pytest.approx(-1.5)
    charts.hear([evaluated(Regression(), np.full((60, 1), 2.0, np.float32), truth)])
    assert card.pearson.value.text() == "no spread"
    said = [remark.text for remark in charts.advice.remarks()]
    assert any("do not vary" in text for text in said)


@pytest.mark.parametrize(
    "details",
    [
        {},
        {"curves": 3, "chosen": [1], "predicted": "many", "thresholds": [None, 2], "num_examples": -4},
        {
            "curves": {"joy": {"precision": [1], "recall": [0.5, 2], "threshold": ["x"]}},
            "chosen": {"count": 9},
        },
        {"points": [[1], "a", [2, "b"], [1e400, 0]], "intervals": {"pearson": [1]}, "residuals": [1, 2]},
        {"points": {"a": 1}, "intervals": [3], "no_spread": 7, "num_examples": "x"},
    ],
)
@pytest.mark.parametrize("task", ["multi-label", "regression"])
def test_details_that_somebody_edited_are_left_out(
    task: str, details: dict[str, Any], qtbot: QtBot, tmp_path: Path
) -> None:
    charts = FineTuneCharts()
    qtbot.addWidget(charts)
    charts.show()
    sound = evaluated(Regression(), np.ones((3, 1), np.float32), np.arange(3.0))
    if task == "multi-label":
        sound = evaluated(MultiLabel(("joy", "fear")), np.ones((3, 2), np.float32), np.ones((3, 2)))
    charts.hear([started(task, tmp_path), replace(sound, details=details)])
    charts.end("finished", tmp_path, 1.0, has_model=False)


def test_a_point_of_the_plane_is_told_by_mouse_and_by_keys(qtbot: QtBot) -> None:
    plot = PlanePlot("plane")
    qtbot.addWidget(plot)
    plot.resize(400, 300)
    plot.show()
    unit = (0.0, 1.0)
    plot.set_points(np.array([[0.9, 0.2], [0.1, 0.8]]), ("right", "left"), ("x", "y"), (unit, unit))
    for place in (0, 1):
        assert plot.target_at(plot.rect_of(place).center()) == place
    assert plot.target_at(QPointF(200, 140)) == -1
    plot.setFocus()
    qtbot.keyClick(plot, Qt.Key.Key_Home)
    assert plot.current == 1 and plot.accessibleDescription() == "left"
    qtbot.keyClick(plot, Qt.Key.Key_Right)
    assert plot.current == 0 and plot.numbers()[1] == [0.9, 0.2]


@pytest.mark.slow
def test_labels_of_a_text_and_of_a_file_are_answered_by_clicks(
    show_page: ShowPage[PredictPage], session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    table = sets_table(tmp_path)
    page = show_page(PredictPage)
    hand = Hand(page, qtbot)
    page.set_model(trained(tmp_path, table, "label"))
    qtbot.waitUntil(lambda: not page.is_asking)
    page.text_card.text_box.setPlainText("good play")
    page.text_card.ask()
    qtbot.waitUntil(lambda: not page.text_card.bars.is_empty)
    assert [name for name, _share in page.text_card.bars.bars] == ["bad", "good", "play"]
    page.open_file(table)
    qtbot.waitUntil(lambda: page.file_card.preview is not None and not page.is_asking)
    hand.click("predict_file")
    qtbot.waitUntil(lambda: not page.is_asking)
    out = tmp_path / "moods-predicted.csv"
    with out.open(encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    assert len(written) == 48 and "probability: play" in written[0]
    assert hand.said("score_micro_f1")
    assert [row[0] for row in hand.rows("answers")][:3]
    counted = dict(page.answers.bars.bars)
    assert counted["bad"] == sum("bad" in row["prediction"].split("; ") for row in written)


@pytest.mark.slow
def test_several_columns_of_0_and_1_score_a_file_as_one(
    show_page: ShowPage[PredictPage], session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    rows = [
        (f"{word} film a", *(str(int(word == name)) for name in ("bad", "good")))
        for word in ("bad", "good", "odd")
    ]
    table = write_table(tmp_path / "switches.csv", rows * 15, "text,bad,good")
    page = show_page(PredictPage)
    hand = Hand(page, qtbot)
    page.set_model(trained(tmp_path, table, "bad, good"))
    qtbot.waitUntil(lambda: not page.is_asking)
    page.open_file(table)
    qtbot.waitUntil(lambda: page.file_card.preview is not None and not page.is_asking)
    assert page.file_card.label_box.currentText() == "bad, good"
    hand.click("predict_file")
    qtbot.waitUntil(lambda: not page.is_asking)
    assert hand.said("score_micro_f1")


@pytest.mark.slow
def test_numbers_of_a_text_and_of_a_file_are_answered_by_clicks(
    show_page: ShowPage[PredictPage], session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    table = numbers_table(tmp_path)
    page = show_page(PredictPage)
    hand = Hand(page, qtbot)
    page.set_model(trained(tmp_path, table, "score"))
    qtbot.waitUntil(lambda: not page.is_asking)
    page.text_card.text_box.setPlainText("good good bad")
    page.text_card.ask()
    qtbot.waitUntil(lambda: not page.is_asking)
    assert float(page.text_card.bars.empty_text) > 0 and not page.text_card.inside.isVisible()
    page.open_file(table)
    qtbot.waitUntil(lambda: page.file_card.preview is not None and not page.is_asking)
    hand.click("predict_file")
    qtbot.waitUntil(lambda: not page.is_asking)
    assert " to " in hand.said("score_pearson") or hand.said("score_pearson") == "no spread"
    assert sum(count for _name, count in page.answers.bars.bars) == 45


@pytest.mark.parametrize(
    ("times", "more", "error", "ticks"),
    [
        (1, 0, "0.500", "4"),
        (1, 1e6, "0.500", "1,000,004"),
        (1e-3, 0, "0.000500", "0.004"),
        (1e4, 0, "5,000", "40000"),
    ],
)
def test_scores_of_numbers_can_be_read_in_any_unit(
    times: float, more: float, error: str, ticks: str, qtbot: QtBot
) -> None:
    truth = np.linspace(0, 5, 61)
    found = (truth + np.resize([0.5, -0.5], 61))[:, None] * times + more
    card = RegressionScores()
    qtbot.addWidget(card)
    card.set_evaluations({"validation": evaluated(Regression(), found, truth * times + more)}, {})
    assert (card.error.value.text(), card.r2.value.text()) == (error, "0.884")
    assert ticks in [said for _, said in axis_ticks((more, 5 * times + more), 6)]


@pytest.mark.parametrize("numbers", [[0, 5], [1, 1, 1], [-0.31, 0.1, 0.97], [1e-7, 3e-7], [0, 1e6]])
def test_numbers_are_counted_in_ranges_that_have_other_names(numbers: list[float]) -> None:
    names, counts = zip(*bars_of(np.array(numbers)), strict=True)
    assert len(set(names)) == len(names) and sum(counts) == len(numbers)
