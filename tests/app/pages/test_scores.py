"""Every number of a run's metrics and of a predicted file on screen, beside scikit-learn's."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from sklearn.metrics import accuracy_score, classification_report, confusion_matrix

from app.pages.finetune.charts import FineTuneCharts
from app.pages.run.past_run import past_events
from app.pages.tasks.classification.scores import F1, LABEL, PRECISION, PREDICTED, RECALL, ROWS, ScoresCard
from app.words import score
from engine.events import AnswerSoFar, Evaluated, Finished
from engine.settings.finetune import DataConfig
from engine.train.finetune import fine_tune
from engine.train.loop import evaluated
from engine.train.tasks.classification.task import Classification
from engine.train.tasks.known import predict_file
from tests.engine.tiny_runs import reviews, tiny_config, write_table


def evaluation(confusion: list[list[int]], step: int = 7, split: str = "validation") -> Evaluated:
    """Return an evaluation with these counts."""
    labels = tuple("abcdefgh"[: len(confusion)])
    pairs = [(i, j) for i, row in enumerate(confusion) for j, n in enumerate(row) for _ in range(n)]
    targets, said = np.array(pairs).T
    task = Classification(labels)
    answers = np.eye(len(labels), dtype=np.float32)[said]
    return evaluated(step, 1.0, split, task.score(answers, targets), task)


@pytest.fixture
def card(qtbot: QtBot) -> ScoresCard:
    made = ScoresCard()
    qtbot.addWidget(made)
    made.resize(420, 320)
    made.show()
    return made


def cells(card: ScoresCard) -> list[list[str]]:
    """Return the table as it is read."""
    model = card.labels.scores
    return [
        [str(model.index(row, column).data()) for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


def assert_equals_scikit_learn(card: ScoresCard, true: list[str], said: list[str], labels: list[str]) -> None:
    """Compare everything the card shows with what scikit-learn says of the same answers."""
    report = classification_report(true, said, labels=labels, output_dict=True, zero_division=0)
    assert card.confusion.numbers()[1:] == [
        [name, *row]
        for name, row in zip(labels, confusion_matrix(true, said, labels=labels).tolist(), strict=True)
    ]
    names = {
        **{name: name for name in labels},
        "macro average": "macro avg",
        "weighted average": "weighted avg",
    }
    assert [row[LABEL] for row in cells(card)] == list(names)
    for row in cells(card):
        wanted = report[names[row[LABEL]]]
        assert [row[PRECISION], row[RECALL], row[F1]] == [
            score(wanted[key]) for key in ("precision", "recall", "f1-score")
        ]
        assert row[ROWS] == str(int(wanted["support"]))
        if row[LABEL] in labels:
            assert row[PREDICTED] == str(said.count(row[LABEL]))
    accuracy = accuracy_score(true, said)
    assert card.accuracy.value.text().startswith(f"{score(accuracy)} (95 %: ")
    assert card.macro_f1.value.text() == score(report["macro avg"]["f1-score"])
    most = max(labels, key=true.count)
    assert most in card.baseline.caption.text()
    assert card.baseline.value.text() == score(true.count(most) / len(true))


@pytest.mark.slow
def test_a_runs_scores_are_scikit_learns_live_and_reopened(qtbot: QtBot, tmp_path: Path) -> None:
    rows = reviews(97, seed=3)
    noisy = [(text, "odd" if i % 9 == 0 else label) for i, (text, label) in enumerate(rows)]
    for name, part in (("reviews", noisy[:50]), ("held", noisy[50:72]), ("test", noisy[72:])):
        write_table(tmp_path / f"{name}.csv", part)
    others = {"validation_data": str(tmp_path / "held.csv"), "test_data": str(tmp_path / "test.csv")}
    config = tiny_config(tmp_path, **others, num_epochs=4)
    live, reopened = FineTuneCharts(), FineTuneCharts()
    events = list(fine_tune(config, tmp_path / "run"))
    live.hear([event for event in events if not isinstance(event, Finished)])
    live.hear(events[-1:])
    for answer in past_events(tmp_path / "run", None):
        assert isinstance(answer, AnswerSoFar)
        reopened.hear(answer.value)
    best = events[-1].best_step  # type: ignore[attr-defined]
    for charts in (live, reopened):
        qtbot.addWidget(charts)
        charts.end("finished", tmp_path / "run", 1.0, has_model=True)
    for split, file in (("validation", "held"), ("test", "test")):
        out = tmp_path / f"{file}-answers.csv"
        list(predict_file(tmp_path / "run" / "model", DataConfig(data=str(tmp_path / f"{file}.csv")), out))
        with out.open(encoding="utf-8", newline="") as opened:
            found = list(csv.DictReader(opened))
        for charts in (live, reopened):
            card = charts.scores_card
            card.split_choice.buttons[split].click()
            true, said = ([row[key] for row in found] for key in ("label", "prediction"))
            assert_equals_scikit_learn(card, true, said, ["bad", "good", "odd"])
            assert f"best step {best}" in card.accuracy.caption.text()
            assert f"best step {best}: " in charts.accuracy_card.hint_label.text()
    wrote = next(e for e in reversed(events) if isinstance(e, Evaluated))
    assert wrote.split == "test" and f"test {wrote.loss:.3f}" in live.loss_card.hint_label.text()


def test_the_matrix_is_the_newest_while_it_trains_and_the_kept_models_when_it_is_over(qtbot: QtBot) -> None:
    charts = FineTuneCharts()
    qtbot.addWidget(charts)
    best = replace(evaluation([[9, 1], [2, 8]], step=10), is_best=True)
    charts.hear([best, evaluation([[10, 0], [9, 1]], step=20)])
    assert charts.scores_card.confusion.numbers()[1] == ["a", 10, 0]
    assert "after step 20" in charts.scores_card.accuracy.caption.text()
    assert "click" not in charts.scores_card.hint_label.text()
    done = Finished(path=None, seconds=1.0, best_step=10)
    charts.hear([done])
    charts.end("finished", None, 1.0, has_model=True)
    assert charts.scores_card.confusion.numbers()[1] == ["a", 9, 1]
    assert charts.scores_card.accuracy.caption.text() == "Accuracy, validation, best step 10"
    assert charts.accuracy_card.hint_label.text() == "validation, best step 10: 85.0 %"
    charts.advice.is_tested_at_random = True
    charts.hear([replace(evaluation([[3, 1], [0, 4]], step=0), split="test")])
    charts.scores_card.split_choice.buttons["test"].click()
    assert charts.scores_card.accuracy.caption.text() == "Accuracy, random sample"
    assert "accuracy on the random sample 87.5 %" in charts.advice.result_words()
    charts.clear()
    assert charts.scores_card.confusion.is_empty and charts.scores_card.current is None


def test_a_table_of_labels_is_sorted_by_a_click_and_the_means_stay_below(
    card: ScoresCard, qtbot: QtBot
) -> None:
    card.set_evaluations({"validation": evaluation([[5, 5, 0], [0, 9, 0], [1, 1, 1]])}, {})
    card.view_choice.buttons["labels"].click()
    assert card.labels.isVisible() and not card.confusion.isVisible()
    header = card.labels.horizontalHeader()
    at = header.sectionViewportPosition(RECALL) + header.sectionSize(RECALL) // 2
    qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(at, 8))
    order = [row[LABEL] for row in cells(card)]
    assert order[3:] == ["macro average", "weighted average"] and order[:3] in (
        ["b", "a", "c"],
        ["c", "a", "b"],
    )
    card.copy_labels()
    copied = [line.split("\t") for line in QApplication.clipboard().text().split("\n")]
    assert copied[0] == ["Label", "Precision", "Recall", "F1", "Rows", "Predicted"]
    assert float(next(line for line in copied if line[0] == "a")[PRECISION]) == pytest.approx(5 / 6)


def test_with_room_matrix_and_table_stand_side_by_side(card: ScoresCard) -> None:
    card.set_evaluations({"validation": evaluation([[5, 5], [0, 9]])}, {})
    assert card.confusion.isVisible() and not card.labels.isVisible() and card.view_choice.isVisible()
    card.resize(900, 400)
    assert card.confusion.isVisible() and card.labels.isVisible() and not card.view_choice.isVisible()
    assert not card.split_choice.isVisible()  # there is one evaluation only


def test_a_score_short_of_all_is_never_shown_as_all(card: ScoresCard) -> None:
    card.set_evaluations({"validation": evaluation([[4999, 1], [0, 5000]])}, {})
    assert card.accuracy.value.text().startswith("99.99 % (95 %: ")
    assert cells(card)[0][PRECISION : F1 + 1] == ["100.0 %", "99.98 %", "99.99 %"]


@pytest.mark.slow
def test_a_run_that_answers_one_label_only_is_told_once_live_and_reopened(
    qtbot: QtBot, tmp_path: Path
) -> None:
    write_table(tmp_path / "reviews.csv", [("a b c", "good")] * 50 + [("a b c", "bad")] * 10)
    live, reopened = FineTuneCharts(), FineTuneCharts()
    live.hear(list(fine_tune(tiny_config(tmp_path, num_epochs=1), tmp_path / "run")))
    for answer in past_events(tmp_path / "run", None):
        assert isinstance(answer, AnswerSoFar)
        reopened.hear(answer.value)
    for charts in (live, reopened):
        qtbot.addWidget(charts)
        charts.end("finished", tmp_path / "run", 1.0, has_model=True)
        said = [text for text in charts.watching.advice.texts() if "answer" in text or "predicts" in text]
        assert said == [
            "The model predicts good for all 12 validation rows, though they carry 2 labels. "
            "It does not distinguish them."
        ]
