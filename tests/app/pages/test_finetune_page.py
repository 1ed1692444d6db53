"""From settings to a result on the Fine-tune page, with an invented run in the place of the engine's."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xlsxwriter
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QFrame, QPushButton
from pytestqt.qtbot import QtBot

from app.form.fields import ChoiceField
from app.pages.advice.remark import AdviceLine
from app.pages.advice.table import on_table
from app.pages.finetune import model as finetune_model
from app.pages.finetune.advice import FineTuneAdvice, ValidationRows, on_validation
from app.pages.finetune.facts import facts_of
from app.pages.finetune.page import FineTunePage
from app.pages.predict.state import PredictState
from app.pages.run import past_run
from app.pages.run.advice import outcome_words
from app.pages.run.state import RunPageState
from app.session import Session
from app.settings import AppSettings
from app.shipped import starter_model
from app.work import training as training_module
from engine.errors import Sentence
from engine.events import Evaluated, Event, Noted, Started, Step
from engine.settings.config import with_values
from engine.settings.finetune import FineTuneConfig
from engine.train.finetune import fine_tune
from engine.train.metrics import ONE_ANSWER
from engine.train.run.runs import read_config
from engine.train.tasks.token_labels.details import NONE_FOUND
from tests.app.hand import Hand, ShowPage, come_to_rest, wait_for_run
from tests.engine.made_runs import made_run
from tests.engine.tiny_runs import reviews, tiny_config
from tests.engine.tiny_runs import write_table as write_rows
from tests.looks.scenes import FIVE, TWO, InventedRun, write_table, write_vocabulary

ACTIONS = ("pause", "go_on", "start", "stop", "try_it", "new_run")


@pytest.fixture
def page(settings: AppSettings, show_page: ShowPage[FineTunePage], tmp_path: Path) -> FineTunePage:
    settings.set_value("vocabularies", [str(write_vocabulary(tmp_path / "vocab.txt"))])
    return show_page(FineTunePage)


@pytest.fixture
def ready(page: FineTunePage, tmp_path: Path) -> FineTunePage:
    """The page with five labels and new weights to learn them with."""
    session = page.session
    session.data.open(write_table(tmp_path / "news.csv", FIVE, rows_a_label=7))
    assert session.wait_idle()
    page.setup.chooser.start_from_random_weights()
    assert session.wait_idle()
    page.setup.check()
    return page


@pytest.fixture
def begin(
    ready: FineTunePage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> Callable[[InventedRun], FineTunePage]:
    """Press Start with this run in the place of the engine's."""

    def start(run: InventedRun) -> FineTunePage:
        monkeypatch.setattr(training_module, "fine_tune", run.fine_tune)
        qtbot.mouseClick(ready.start_button, Qt.MouseButton.LeftButton)
        wait_for_run(ready.session, qtbot, run.hold_at)
        return ready

    return start


def test_a_computer_that_shows_no_folders_is_told_where_the_run_lies(
    page: FineTunePage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.pages.run.page.QDesktopServices.openUrl", lambda url: False)
    page.run_dir = tmp_path
    page.open_folder()
    assert str(tmp_path) in page.failure.text()


def test_a_page_without_data_says_so_and_leads_to_the_data(page: FineTunePage, qtbot: QtBot) -> None:
    assert "table" in page.before.label.text() and not page.start_button.isEnabled()
    with qtbot.waitSignal(page.session.page_requested) as asked:
        qtbot.mouseClick(page.before.button, Qt.MouseButton.LeftButton)
    assert asked.args == ["data", None]


def test_data_without_a_model_can_start_from_random_weights(
    page: FineTunePage, qtbot: QtBot, tmp_path: Path
) -> None:
    session = page.session
    session.data.open(write_table(tmp_path / "news.csv", FIVE, rows_a_label=7))
    assert session.wait_idle()
    assert page.before.missing() == "model"
    qtbot.mouseClick(page.findChild(QPushButton, "random_weights"), Qt.MouseButton.LeftButton)
    assert session.wait_idle()
    assert session.model.chosen is not None and session.model.chosen.is_new and page.start_button.isEnabled()


def test_random_weights_without_any_vocabulary_ask_for_one(
    page: FineTunePage, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finetune_model, "vocabularies", lambda _settings: [])
    session = page.session
    session.data.open(write_table(tmp_path / "news.csv", FIVE, rows_a_label=7))
    assert session.wait_idle()
    qtbot.mouseClick(page.findChild(QPushButton, "random_weights"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: page.findChild(QFileDialog, "vocab_dialog") is not None)
    page.findChild(QFileDialog, "vocab_dialog").reject()


def test_data_without_a_model_can_start_from_the_model_that_ships(
    page: FineTunePage, qtbot: QtBot, tmp_path: Path
) -> None:
    session = page.session
    session.data.open(write_table(tmp_path / "news.csv", FIVE, rows_a_label=7))
    assert session.wait_idle()
    starter = starter_model()
    assert starter is not None and page.findChild(QPushButton, "starter_weights").isVisible()
    qtbot.mouseClick(page.findChild(QPushButton, "starter_weights"), Qt.MouseButton.LeftButton)
    assert session.wait_idle()
    assert session.model.chosen is not None and session.model.chosen.model == str(starter)


def test_the_keyboard_goes_to_start_once_a_button_has_brought_what_was_missing(
    page: FineTunePage, qtbot: QtBot, tmp_path: Path
) -> None:
    page.session.data.open(write_table(tmp_path / "news.csv", FIVE, rows_a_label=7))
    assert page.session.wait_idle()
    page.activateWindow()
    choice = page.findChild(QPushButton, "starter_weights")
    choice.setFocus()
    qtbot.keyClick(choice, Qt.Key.Key_Space)
    assert page.session.wait_idle()
    assert page.start_button.hasFocus()


@pytest.mark.slow
def test_more_epochs_mean_more_steps_before_anything_starts(ready: FineTunePage) -> None:
    ready.setup.set_values({"num_epochs": 2, "batch_size": 14})
    assert ready.setup.prediction.text().startswith("4 steps")  # 28 of 35 rows, 14 a step
    ready.setup.set_values({"num_epochs": 6})
    assert ready.setup.prediction.text().startswith("12 steps")
    ready.setup.set_values({"minutes": 2.5})
    assert ready.setup.prediction.text().startswith("As much as fits into 2.5 min on CPU")


@pytest.mark.slow
def test_the_learning_rate_says_what_automatic_means(ready: FineTunePage) -> None:
    assert ready.setup.form.widget("learning_rate").placeholderText().startswith("auto: ")  # type: ignore[union-attr]


@pytest.mark.slow
def test_a_refused_setting_is_said_beside_its_field(ready: FineTunePage, qtbot: QtBot) -> None:
    ready.setup.form.set_values({"learning_rate": "fast"})
    qtbot.mouseClick(ready.start_button, Qt.MouseButton.LeftButton)
    assert not ready.session.training.is_running
    refusal = ready.findChild(object, "refusal_learning_rate")
    assert refusal.isVisible() and "Learning rate" in refusal.text()


@pytest.mark.slow
def test_a_task_that_the_file_cannot_be_for_is_refused_and_the_box_says_what_is_learned(
    ready: FineTunePage, qtbot: QtBot
) -> None:
    hand = Hand(ready, qtbot)
    before, learns = hand.said("task_choice"), hand.said("task_words")
    hand.choose("task_choice", "Questions")
    qtbot.waitUntil(lambda: hand.said("refusal_file") != "", timeout=20_000)
    assert (hand.said("task_choice"), hand.said("task_words")) == (before, learns)
    hand.choose("task_choice", "A number")
    qtbot.waitUntil(lambda: ready.session.data.task_name == "regression", timeout=20_000)
    assert hand.said("refusal_file") == ""


def test_a_new_run_from_an_earlier_one_reads_its_labels_as_that_did(
    ready: FineTunePage, tmp_path: Path
) -> None:
    session = ready.session
    write_table(tmp_path / "spelled.csv", ("tech", "Tech", "sport"))
    values = {"data": str(tmp_path / "spelled.csv"), "text": "text", "label": "label", "merge_labels": True}
    ready.take_settings(with_values(FineTuneConfig(), values))
    assert session.wait_idle()
    assert session.data.summary is not None and len(session.data.summary.labels) == 2
    assert ready.setup.config().data.merge_labels


def test_one_label_only_is_refused_before_time_is_spent(page: FineTunePage, tmp_path: Path) -> None:
    session = page.session
    session.data.open(write_table(tmp_path / "news.csv", ("same",), rows_a_label=9))
    assert session.wait_idle()
    assert page.before.missing() == "labels" and "same" in page.before.label.text()
    assert not page.start_button.isEnabled()


@pytest.mark.slow
def test_a_run_shows_its_own_settings_and_no_form_while_a_model_is_in_training(
    hand: Hand,
    begin: Callable[[InventedRun], FineTunePage],
) -> None:
    page = begin(InventedRun(FIVE, num_steps=30, hold_at=13))
    assert page.run_card.isVisible() and not page.setup.isVisible()
    assert hand.shown(*ACTIONS) == ["pause", "stop"]
    assert page.stop_button.property("role") != "primary"
    page.refresh()
    assert page.run_card.progress.where.text() == "Step 13 of 30"


@pytest.mark.slow
def test_pause_stands_still_and_resume_goes_on(
    hand: Hand, begin: Callable[[InventedRun], FineTunePage], qtbot: QtBot
) -> None:
    run = InventedRun(FIVE, num_steps=30, hold_at=13)
    page = begin(run)
    qtbot.mouseClick(page.pause_button, Qt.MouseButton.LeftButton)
    assert hand.shown(*ACTIONS) == ["go_on", "stop"]
    assert page.run_card.progress.where.text().startswith("Paused · Step 13 of 30")
    run.let_go()
    assert page.session.training.state.step.step <= 14  # type: ignore[union-attr]
    qtbot.mouseClick(page.go_on_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not page.session.training.is_running)
    assert page.charts.loss.num_points == 30


@pytest.mark.slow
def test_stop_and_keep_ends_the_task_and_offers_what_it_kept(
    hand: Hand, begin: Callable[[InventedRun], FineTunePage], qtbot: QtBot
) -> None:
    run = InventedRun(FIVE, num_steps=30, hold_at=13)
    page = begin(run)
    qtbot.mouseClick(page.stop_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not page.session.training.is_running)
    assert run.closed
    assert hand.shown(*ACTIONS) == ["go_on", "new_run"]
    assert page.charts.watching.onwards.isVisible() and "Stopped" in page.charts.watching.outcome.text()
    assert page.go_on_button.property("role") == "primary"


@pytest.mark.slow
def test_a_finished_run_offers_its_model_onwards(
    hand: Hand, begin: Callable[[InventedRun], FineTunePage], qtbot: QtBot
) -> None:
    page = begin(InventedRun(FIVE, num_steps=30))
    assert hand.shown(*ACTIONS) == ["try_it", "new_run"]
    assert hand.shown("try_it_here", "look_inside", "export_run") == ["look_inside", "export_run"]
    assert "(95 %: " in page.charts.watching.result.text()
    assert "95 times in a hundred" in page.charts.watching.result.toolTip()
    assert not page.charts.scores_card.confusion.is_empty
    with qtbot.waitSignal(page.session.page_requested) as asked:
        qtbot.mouseClick(page.try_button, Qt.MouseButton.LeftButton)
    assert asked.args == ["predict", PredictState(page.model_folder)]


def test_an_error_in_training_is_said_on_the_page(begin: Callable[[InventedRun], FineTunePage]) -> None:
    page = begin(InventedRun(FIVE, num_steps=30, fail_at=7))
    assert page.failure.isVisible() and "step 7" in page.failure.text()
    assert page.start_button.isEnabled()


def test_the_command_names_the_file_and_the_settings(ready: FineTunePage, qtbot: QtBot) -> None:
    ready.setup.set_values({"num_epochs": 7})
    qtbot.mouseClick(ready.copy_button, Qt.MouseButton.LeftButton)
    command = QApplication.clipboard().text()
    assert "news.csv" in command and "num_epochs" in command and "finetune" in command
    ready.copy_button.rest()


def test_a_resumed_run_shows_every_step_once(
    ready: FineTunePage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run = InventedRun(FIVE, num_steps=30)
    every = list(run.fine_tune(FineTuneConfig(), tmp_path / "run"))
    steps = [event for event in every if isinstance(event, Step)]
    before = steps[:17]  # the file had gone on to 17; the checkpoint is at 12

    def again(run_dir: Path, **_: object) -> Iterator[Event]:
        started = next(event for event in every if isinstance(event, Started))
        yield replace(started, first_step=13)
        yield from steps[12:]

    monkeypatch.setattr("app.pages.run.past_run.read_events", lambda run_dir: iter(before))
    monkeypatch.setattr(training_module, "resume", again)
    monkeypatch.setattr(training_module, "read_config", lambda run_dir: FineTuneConfig())
    session = ready.session
    session.training.resume(tmp_path / "run")
    qtbot.waitUntil(lambda: not session.training.is_running and ready.charts.loss.num_points == 30)
    assert [row[0] for row in ready.charts.loss.numbers()[1:]] == list(range(1, 31))


# ---- the advice, without a window


def validation(**changes: Any) -> ValidationRows:
    return ValidationRows(**{"count": 20, "num_leaking": 0, "num_duplicates": 0, **changes})


def evaluation(
    step: int, loss: float, confusion: list[list[int]], labels: tuple[str, ...] = ("a", "b")
) -> Evaluated:
    counts = np.array(confusion)
    accuracy = float(np.trace(counts) / counts.sum())
    return Evaluated(
        step=step, epoch=step / 10, split="validation", loss=loss, metrics={"accuracy": accuracy},
        labels=labels, confusion=counts, per_label={},
    )  # fmt: skip


def step(number: int, loss: float) -> Step:
    return Step(
        step=number, epoch=number / 10, loss=loss, accuracy=None, learning_rate=1e-4, gradient_norm=1.0,
        num_tokens=9, tokens_per_s=9.0, elapsed_s=1.0, remaining_s=1.0,
    )  # fmt: skip


def said(advice: FineTuneAdvice) -> str:
    return "\n".join(f"{remark.level}: {remark.text}" for remark in advice.remarks())


GOOD = [[9, 1], [1, 9]]


def test_overfitting_is_said_with_the_epoch_it_began_in() -> None:
    advice = FineTuneAdvice()
    advice.hear([step(1, 0.9), evaluation(10, 0.50, GOOD), step(2, 0.5), evaluation(20, 0.40, GOOD)])
    assert "Overfitting" not in said(advice)
    advice.hear([step(3, 0.2), evaluation(30, 0.55, GOOD)])
    assert "Overfitting since epoch 2" in said(advice)


def test_a_rising_validation_loss_is_no_overfitting_while_training_rises_too() -> None:
    advice = FineTuneAdvice()
    advice.hear([step(1, 0.5), evaluation(10, 0.40, GOOD), step(2, 0.9), evaluation(20, 0.80, GOOD)])
    assert "Overfitting" not in said(advice)


def test_a_label_that_is_never_predicted_is_named() -> None:
    advice = FineTuneAdvice()
    advice.hear([evaluation(10, 0.5, [[9, 1, 0], [1, 9, 0], [3, 4, 0]], ("a", "b", "c"))])
    assert "c is never predicted, though 7 validation rows have it" in said(advice)


def test_one_answer_for_everything_is_said_in_one_remark() -> None:
    advice = FineTuneAdvice()
    advice.hear([evaluation(10, 0.5, [[10, 0], [10, 0]])])
    assert said(advice) == "look: It always answers a. It has not learned to distinguish the labels yet."


def test_a_run_that_does_not_distinguish_its_labels_leads_on_to_more_training() -> None:
    advice = FineTuneAdvice()
    useless = Noted(
        sentence=Sentence(ONE_ANSWER, {"label": "a", "rows": 20, "split": "validation", "count": 2})
    )
    advice.hear([InventedRun(TWO).started(Path()), evaluation(10, 0.5, [[10, 0], [10, 0]]), useless])
    assert advice.is_useless and "more epochs" not in said(advice)
    advice.is_over = True
    assert "It does not distinguish them." in said(advice) and "for more epochs" in said(advice)


def test_that_no_entity_is_found_is_said_once_when_the_run_says_it_too() -> None:
    started = InventedRun(TWO).started(Path())
    advice, per_label = FineTuneAdvice(), {"person": (0.0, 0.0, 0.0, 4), "place": (0.0, 0.0, 0.0, 2)}
    found = replace(evaluation(10, 0.5, GOOD), metrics={"entity_f1": 0.0}, per_label=per_label, is_best=True)
    advice.hear([replace(started, task="token-labels", metric="entity_f1"), found])
    assert said(advice).count("No entity is found yet") == 1
    advice.hear([Noted(sentence=Sentence(NONE_FOUND, {"split": "validation", "count": 6}), level="wrong")])
    advice.is_over = True
    assert said(advice).startswith("wrong: The model finds no entity") and "\n" not in said(advice)


def test_the_remarks_are_of_the_matrix_that_is_shown_also_of_a_stopped_run() -> None:
    advice = FineTuneAdvice()
    advice.hear([replace(evaluation(10, 0.4, GOOD), is_best=True), evaluation(20, 0.6, [[10, 0], [10, 0]])])
    assert "It always answers a" in said(advice)
    advice.is_over = True
    assert "Both labels are being predicted" in said(advice) and "always answers" not in said(advice)


def test_a_label_without_rows_that_is_answered_is_an_answer_too() -> None:
    advice = FineTuneAdvice()
    advice.hear([evaluation(10, 0.5, [[10, 0, 0], [9, 0, 1], [0, 0, 0]], ("a", "b", "c"))])
    assert "always answers" not in said(advice) and "b is never predicted" in said(advice)


def test_a_loss_that_is_no_number_stands_first() -> None:
    advice = FineTuneAdvice()
    advice.before = [on_validation(validation())]
    advice.hear([step(7, float("nan"))])
    assert said(advice).startswith("wrong: The loss has not been a number since step 7")


def test_no_validation_rows_is_wrong_and_shared_texts_are_looked_at() -> None:
    found = on_validation(validation(count=0))
    assert found.level == "wrong" and found.text.startswith("No rows are held out")
    found = on_validation(validation(num_leaking=3))
    assert found.level == "look" and found.text.startswith("3 of the 20 validation rows share their text")


def test_of_the_same_rows_both_pages_say_the_same(ready: FineTunePage, tmp_path: Path) -> None:
    rows = [f"film {n},{'good' if n % 2 else 'bad'}" for n in range(30)]
    path = tmp_path / "films.csv"
    path.write_text("\n".join(["text,label", *rows, "film 1,bad", ",bad", "odd,only here"]), encoding="utf-8")
    session = ready.session
    session.data.open(path)
    assert session.wait_idle()
    ready.setup.set_values({"num_epochs": 20})  # fewer steps would be a remark of this page
    ready.setup.check()
    assert session.data.table is not None and session.data.roles is not None
    on_data = {
        each.text for each in on_table(session.data.table, session.data.roles, session.data.summary, 128)
    }
    here = [each.text for each in ready.setup.remarks()]
    assert "One text has more than one label." in here and len(here) == 4
    assert {*here[1:]} <= on_data, "the first is of the split, which is this page's"


def test_of_a_run_is_said_what_the_run_found_and_not_what_is_open() -> None:
    advice = FineTuneAdvice()
    advice.before = [AdviceLine("look", "4 texts have more than one label.")]
    assert said(advice) == "look: 4 texts have more than one label."
    note = Sentence("{leaks} of {total} rows for validation stand in training.", {"leaks": 3, "total": 20})
    started = InventedRun(("a", "b")).started(Path())
    advice.hear([Noted(sentence=note), started])
    assert said(advice) == f"look: {note}"
    advice.clear()
    advice.hear([started])  # an older run, which kept no notes
    assert said(advice) == ""


def test_a_score_that_chance_alone_could_give_is_told_as_that() -> None:
    advice = FineTuneAdvice()
    advice.hear([evaluation(1, 0.5, [[8, 4], [5, 5]])])  # 13 of 22 right; always answering a: 12 of 22
    assert "look: It may be no better than always answering a (54.5 %). The 95 %" in said(advice)
    advice.hear([evaluation(2, 0.4, [[800, 400], [300, 700]])])
    assert "no better" not in said(advice)
    advice.hear([replace(evaluation(2, 0.4, [[8, 4], [5, 5]]), split="test")])
    assert "look: On the test rows it may be no better than always answering a (54.5 %)" in said(advice)


# ---- a run is a record


def test_a_second_click_where_stop_was_reaches_nothing(
    begin: Callable[[InventedRun], FineTunePage], qtbot: QtBot
) -> None:
    page = begin(InventedRun(FIVE, num_steps=30, hold_at=13))
    place = page.stop_button.mapTo(page, page.stop_button.rect().center())
    qtbot.mouseClick(page.stop_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not page.session.training.is_running)
    QApplication.processEvents()
    for x in range(-55, 56, 5):
        found = page.childAt(place.x() + x, place.y())
        assert not isinstance(found, QPushButton) or not found.isEnabled(), found


@pytest.mark.slow
def test_another_table_opened_while_it_learns_changes_nothing_of_the_run(
    begin: Callable[[InventedRun], FineTunePage], qtbot: QtBot, tmp_path: Path
) -> None:
    page = begin(InventedRun(FIVE, num_steps=30, hold_at=13))
    session = page.session
    before, said = page.run_card.facts(), page.charts.watching.advice.texts()
    session.data.open(write_table(tmp_path / "other.csv", TWO, rows_a_label=9))
    assert session.wait_idle()
    page.setup.check()
    assert page.run_card.facts() == before and before["Data"] == "news.csv" and before["Labels"] == "5"
    assert page.charts.watching.advice.texts() == said
    qtbot.mouseClick(page.copy_button, Qt.MouseButton.LeftButton)
    assert "news.csv" in QApplication.clipboard().text()
    page.copy_button.rest()
    qtbot.mouseClick(page.stop_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not session.training.is_running)
    assert page.run_card.facts() == before and not page.setup.isVisible()
    qtbot.mouseClick(page.run_card.form_button, Qt.MouseButton.LeftButton)
    assert page.setup.data_box.currentText() == "other.csv" and page.charts.loss.num_points == 0


def test_who_comes_with_data_or_a_model_finds_the_form_and_not_the_run_that_ended(
    begin: Callable[[InventedRun], FineTunePage], qtbot: QtBot
) -> None:
    run = InventedRun(FIVE, num_steps=30, hold_at=13)
    page = begin(run)
    page.show_state(RunPageState())
    assert page.run_card.isVisible()  # it is under way
    qtbot.mouseClick(page.stop_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not page.session.training.is_running)
    assert page.run_card.isVisible() and page.state == RunPageState(page.session.training.run_dir)
    page.show_state(RunPageState())
    assert page.setup.isVisible() and page.charts.loss.num_points == 0


def test_a_start_that_is_refused_leaves_the_form_and_says_nothing_of_what_was_saved(
    ready: FineTunePage, qtbot: QtBot, tmp_path: Path
) -> None:
    session = ready.session
    other = tmp_path / "test.csv"
    other.write_text("label,sentence\nsport,the film\ntech,the story\n", encoding="utf-8")
    ready.setup.set_values({"test_data": str(other)})
    assert "Tested at the end on test.csv" in ready.setup.prediction.text()
    qtbot.mouseClick(ready.start_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not session.training.is_running, timeout=20_000)
    refusal = ready.findChild(object, "refusal_test_data")
    assert ready.setup.isVisible() and refusal.isVisible()
    assert refusal.text().startswith("Test data: ") and "has no column text" in refusal.text()
    assert not ready.charts.watching.outcome.isVisible() and not list((tmp_path / "runs").glob("*"))


@pytest.mark.slow
def test_what_the_chosen_model_has_learned_of_the_table_is_told_before_start(
    page: FineTunePage, hand: Hand, tmp_path: Path
) -> None:
    rows = [(f"{text} {number}", label) for number, (text, label) in enumerate(reviews(50))]
    csv = write_rows(tmp_path / "reviews.csv", rows)
    config = tiny_config(tmp_path, num_epochs=1, batch_size=20, data=str(csv))
    list(fine_tune(config, tmp_path / "first"))
    session = page.session
    session.data.open(config.data.data)
    assert session.wait_idle()
    session.model.choose(str(tmp_path / "first" / "model"))
    assert session.wait_idle()
    page.setup.set_values({"way": "fine-tuning"})

    def told() -> dict[str, str]:
        page.setup.check()
        assert session.wait_idle()
        return {remark.text: remark.level for remark in page.setup.remarks()}

    assert told()["10 validation rows; no text is shared with training."] == "fine"
    page.setup.set_values({"split_seed": 7})
    found = told()
    assert any("of the 10 validation texts" in text and level == "wrong" for text, level in found.items())
    assert not any("no text is shared" in text for text in found)


def test_a_test_file_that_is_not_there_is_refused_beside_its_field(ready: FineTunePage) -> None:
    ready.setup.set_values({"test_data": "/nowhere/test.csv"})
    refusal = ready.findChild(object, "refusal_test_data")
    assert refusal.isVisible() and "there is no file /nowhere/test.csv" in refusal.text()
    assert "nowhere" not in ready.setup.prediction.text()


def test_a_failed_run_that_learned_nothing_does_not_say_that_it_was_saved(tmp_path: Path) -> None:
    run_dir = tmp_path / "20260101-120000-news"
    (run_dir / "checkpoints" / "step-00000000").mkdir(parents=True)
    assert "saved before" not in outcome_words("failed", run_dir, 0.0)
    assert outcome_words("stopped", run_dir, 1.0) == "It was stopped before it had learned anything."
    (run_dir / "checkpoints" / "step-00000012").mkdir()
    assert "What was saved before is in news" in outcome_words("failed", run_dir, 0.0)


@pytest.mark.slow
def test_an_earlier_run_waits_while_another_is_in_training(
    begin: Callable[[InventedRun], FineTunePage], tmp_path: Path
) -> None:
    page = begin(InventedRun(FIVE, num_steps=30, hold_at=13))
    points, name = page.charts.loss.num_points, page.run_card.name.text()
    page.show_run(made_run(tmp_path, "old", state="stopped"))
    assert page.session.wait_idle()
    assert page.charts.loss.num_points >= points and page.run_card.name.text() == name
    assert "old" in page.failure.text()


def test_the_settings_of_a_run_are_never_read_on_the_windows_thread(
    page: FineTunePage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run, seen = made_run(tmp_path, "old"), list[threading.Thread]()
    monkeypatch.setattr(
        past_run, "read_config", lambda path: seen.append(threading.current_thread()) or read_config(path)
    )
    page.show_run(run)
    assert page.session.wait_idle() and page.run_dir == run
    assert seen and threading.main_thread() not in seen


@pytest.mark.slow
def test_the_sheets_of_a_validation_file_are_offered_and_one_that_was_typed_stays_among_them(
    ready: FineTunePage, tmp_path: Path, qtbot: QtBot
) -> None:
    with xlsxwriter.Workbook(str(tmp_path / "held.xlsx")) as book:
        for name in ("First", "Held out"):
            sheet = book.add_worksheet(name)
            for number, cells in enumerate([("text", "label"), (name, FIVE[0]), ("dull", FIVE[1])]):
                sheet.write_row(number, 0, cells)
    form, box = ready.setup.form, ready.setup.form.widget("validation_sheet")
    assert isinstance(box, ChoiceField)

    def offered() -> list[str]:
        assert ready.session.wait_idle()
        return [box.itemData(place) for place in range(box.count())]

    assert offered() == [""]
    ready.setup.set_values({"validation_data": str(tmp_path / "held.xlsx"), "validation_sheet": "2"})
    assert offered() == ["", "First", "Held out", "2"] and form.values()["validation_sheet"] == "2"
    box.setCurrentIndex(2)
    assert ready.setup.config().data.how_of("validation")["sheet"] == "Held out"
    ready.setup.set_values({"validation_data": str(tmp_path / "news.csv")})
    assert offered() == ["", "Held out"]
    come_to_rest(ready.session, qtbot)  # which fails where one look leads to the next


@pytest.mark.usefixtures("styled")
@pytest.mark.parametrize("size", [(1104, 772), (848, 612)])
def test_watching_shows_the_whole_of_how_a_run_ended(
    begin: Callable[[InventedRun], FineTunePage], qtbot: QtBot, size: tuple[int, int]
) -> None:
    page = begin(InventedRun(FIVE, num_steps=30))
    page.resize(*size)
    card = page.charts.watching
    for _ in range(5):  # a width brings a height, and that another layout
        QApplication.processEvents()
    for words in (card.result, card.outcome):
        room = QRect(0, 0, words.width(), 9999)
        needed = words.fontMetrics().boundingRect(room, Qt.TextFlag.TextWordWrap, words.text())
        assert words.height() >= needed.height()
    parts = [card.advice, card.findChild(QFrame, "advice_line"), card.result, card.outcome, card.folder]
    edges = [(part.mapTo(card, QPoint(0, 0)).y(), part.height()) for part in parts]
    assert all(top + height <= below for (top, height), (below, _) in pairwise(edges))


@pytest.mark.parametrize(
    "minutes, num_steps, rows, epochs",
    [(2.75, 242, "3,872 of 8,530 for training, 2,132 for validation", "2 at most"),
     (20.0, 1068, "8,530 for training, 2,132 for validation", "2 at most"),
     (0.0, 1068, "8,530 for training, 2,132 for validation", "2")],
)  # fmt: skip
def test_a_run_that_a_time_bounds_says_how_many_of_the_rows_it_learns_from(
    tmp_path: Path, minutes: float, num_steps: int, rows: str, epochs: str
) -> None:
    config = with_values(FineTuneConfig(), {"minutes": minutes, "num_epochs": 2, "batch_size": 16})
    started = Started(
        run_dir=tmp_path, task="classification", device="CPU", num_steps=num_steps, first_step=1,
        num_epochs=2.0, steps_per_epoch=534, num_train=8530, num_validation=2132, num_test=0,
        labels=("neg", "pos"), metric="accuracy", num_parameters=9, learning_rate=1e-4, cut_share=0.0,
    )  # fmt: skip
    said = {fact.caption: fact.value for fact in facts_of(config, started)}
    assert (said["Rows"], said["Epochs"]) == (rows, epochs)


@pytest.mark.slow
def test_the_space_bar_pauses_and_resumes_and_never_stops_a_run(
    begin: Callable[[InventedRun], FineTunePage], qtbot: QtBot
) -> None:
    run = InventedRun(FIVE, num_steps=30, hold_at=13)
    page = begin(run)
    page.activateWindow()
    page.pause_button.setFocus()
    for state in ("paused", "running", "paused", "running"):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
        qtbot.waitUntil(lambda state=state: page.session.training.state.state == state)  # type: ignore[misc]
    page.stop_button.setFocus()
    qtbot.keyClick(page.stop_button, Qt.Key.Key_Space)
    if page.session.training.is_running:
        assert QApplication.focusWidget() is page.run_card
    qtbot.waitUntil(lambda: not page.session.training.is_running)
    assert run.closed and QApplication.focusWidget() is page.go_on_button


def test_a_button_that_only_chooses_a_model_does_not_say_start(page: FineTunePage) -> None:
    said = [page.findChild(QPushButton, name).text() for name in ("starter_weights", "random_weights")]
    assert not any(text.startswith("Start") for text in said)


@pytest.mark.slow
def test_a_second_run_is_queued_from_the_form_while_one_goes(
    hand: Hand, begin: Callable[[InventedRun], FineTunePage], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = InventedRun(FIVE, num_steps=30, hold_at=13)
    page = begin(run)
    queued: list[Any] = []
    monkeypatch.setattr(page.session.queue, "add", lambda configs, name, on: queued.append((configs, name)))
    hand.click("back_to_form")
    assert hand.shown("setup_card", "run_card", "start", "show_running") == [
        "setup_card", "start", "show_running",
    ]  # fmt: skip
    page.setup.form.set_values({"num_epochs": 7})
    assert hand.said("start") == "Add to the queue"
    hand.click("start")
    ((configs, name),) = queued
    assert configs[0].training.num_epochs == 7 and name == "news" and "queue" in page.failure.text()
    assert page.session.training.is_running and page.session.training.state.step.step == 13  # type: ignore[union-attr]
    hand.click("show_running")
    assert page.run_card.isVisible() and page.charts.loss.num_points == 13
    hand.click("back_to_form")
    run.let_go()
    qtbot.waitUntil(lambda: not page.session.training.is_running)
    assert page.setup.isVisible() and hand.said("start") == "Start" and "finished" in page.failure.text()
    assert page.setup.form.values()["num_epochs"] == 7


def test_the_file_that_the_table_was_compared_with_is_the_test_file_of_the_first_form(
    ready: FineTunePage, hand: Hand, tmp_path: Path
) -> None:
    other = write_table(tmp_path / "news_held_back_for_the_test.csv", FIVE, rows_a_label=2)
    ready.session.doctor.compare_with(other)
    ready.setup.check()
    assert ready.setup.config().data.test_data == str(other)
    assert hand.shown("setting_test_data") and hand.said("setting_test_data") == other.name
    assert f"Tested at the end on {other.name}" in ready.setup.prediction.text()
    ready.setup.test_file.put("")
    ready.session.doctor.compare_with(other)
    assert ready.setup.config().data.test_data == "", "what a person took out comes back"
    ready.session.data.open(write_table(tmp_path / "films.csv", TWO, rows_a_label=7))
    assert ready.session.wait_idle() and ready.setup.config().data.test_data == ""


def test_the_form_tells_of_the_last_run_on_the_open_table_and_leads_to_it(
    ready: FineTunePage, hand: Hand, tmp_path: Path
) -> None:
    assert ready.session.data.path is not None
    assert hand.shown("last_run_words") == []
    for number, name in enumerate(("news", "other")):
        path = str(ready.session.data.path.with_stem(name))
        run = made_run(ready.session.runs.root, name, right=71 + number, number=number, data=path)
    ready.setup.last_run.look()
    assert ready.session.wait_idle()
    said = hand.said("last_run_words")
    assert said.startswith("Last run: news · new tiny · ") and "accuracy 71.0 %" in said
    hand.click("show_last_run")
    assert ready.session.wait_idle()
    assert ready.run_dir is not None and ready.run_dir.name.endswith("-news") and run != ready.run_dir


def test_a_page_that_is_made_after_the_comparison_has_its_file(
    session: Session, show_page: ShowPage[FineTunePage], tmp_path: Path
) -> None:
    session.data.open(write_table(tmp_path / "news.csv", FIVE, rows_a_label=7))
    assert session.wait_idle()
    other = write_table(tmp_path / "test.csv", FIVE, rows_a_label=2)
    session.doctor.compare_with(other)
    assert show_page(FineTunePage).setup.test_file.path == str(other)


@pytest.mark.slow
def test_the_told_time_learns_from_the_run_before(
    ready: FineTunePage, begin: Callable[[InventedRun], FineTunePage], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.device.busy", lambda: 0.0)
    monkeypatch.setattr("engine.train.plan.flops_estimate", lambda config: 1e7)
    ready.setup.check()
    page = begin(InventedRun(FIVE, num_steps=30))  # which says that it took 472 s
    page.leave_run()
    page.setup.check()
    told = page.setup.told
    assert told is not None and told.low < 472 < told.high


def test_no_time_is_told_of_a_table_without_labels(page: FineTunePage, tmp_path: Path) -> None:
    table = tmp_path / "nolabel.csv"
    table.write_text("text\n" + "".join(f"a text of number {n}\n" for n in range(30)), encoding="utf-8")
    page.session.data.open(table)
    assert page.session.wait_idle()
    page.setup.chooser.start_from_random_weights()
    assert page.session.wait_idle()
    page.setup.check()
    assert page.setup.plan is None and "steps" not in page.setup.prediction.text()
