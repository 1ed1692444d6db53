"""After a table was predicted with a run: the shares as figure and sentences, and what an answer costs."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from app.pages.predict.page import PredictPage
from app.session import Session
from app.work.labels import copy_folder, table_behind
from engine.text.table import read_table
from engine.train.finetune import fine_tune
from tests.app.hand import Hand, ShowPage
from tests.engine.tiny_runs import reviews, tiny_config, write_table
from tests.fakes import model_folder


@pytest.fixture
def page(show_page: ShowPage[PredictPage]) -> PredictPage:
    return show_page(PredictPage)


@pytest.mark.slow
def test_a_table_that_a_run_answered_shows_shares_that_can_be_copied_and_are_saved(
    page: PredictPage, tmp_path: Path, qtbot: QtBot, hand: Hand
) -> None:
    rows = reviews(70, seed=3)
    sample = write_table(tmp_path / "reviews-random-sample.csv", rows[:20])
    write_table(tmp_path / "reviews.csv", rows[20:50])
    list(fine_tune(tiny_config(tmp_path, test_data=str(sample)), tmp_path / "run"))
    page.set_model(tmp_path / "run" / "model")
    page.open_file(write_table(tmp_path / "survey.csv", [(text,) for text, _ in rows], "text"))
    qtbot.waitUntil(page.run_button.isEnabled)
    page.predict_file()
    qtbot.waitUntil(lambda: not page.is_asking)
    hand.click("file_view_shares")
    card = page.rows.shares
    assert card.isVisible() and len(card.plot.rows) == 2 and page.file_card.has_written
    assert "Of the 70 texts in survey.csv, " in card.said.text()
    assert "Its errors are counted on 20 texts drawn at random." in card.basis.text()
    first = card.said.text()
    card.plot.chosen.emit(1)
    assert card.said.text() != first and f"“{card.plot.rows[1].name}” (95 % interval" in card.said.text()
    hand.click("copy_shares")
    assert QGuiApplication.clipboard().text() == f"{card.said.text()} {card.basis.text()}"
    saved = read_table(tmp_path / "survey-predicted-shares.csv").frame
    assert card.written.text() == "Saved as survey-predicted-shares.csv."
    assert [row.name for row in card.plot.rows] == saved["label"].tolist()
    hand.click("file_view_why_not")
    assert page.rows.why_not.cited.isHidden()
    hand.click("why_not_measure")
    qtbot.waitUntil(lambda: not page.is_asking)
    assert "sent none away" in page.rows.why_not.said.text() and page.rows.why_not.cited.isVisible()
    assert float(page.rows.why_not.tiles["speed"].value.text().replace(",", "")) > 0


def test_a_model_without_a_run_has_no_shares_and_says_why(
    page: PredictPage, tmp_path: Path, qtbot: QtBot
) -> None:
    page.set_model(model_folder(tmp_path / "model", labels=("bad", "good")))
    page.open_file(write_table(tmp_path / "survey.csv", [("good film",), ("bad film",)], "text"))
    qtbot.waitUntil(page.run_button.isEnabled)
    page.predict_file()
    qtbot.waitUntil(lambda: not page.is_asking)
    assert "comes from no run" in page.rows.shares.waiting.text()
    assert not (tmp_path / "survey-predicted-shares.csv").exists() and page.file_card.has_written


def test_the_table_that_labels_were_given_to_is_offered_in_place_of_its_copy(
    page: PredictPage, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    survey = write_table(tmp_path / "survey.csv", [("good film",), ("bad film",)], "text")
    folder = copy_folder(session.runs.root, survey)
    folder.mkdir(parents=True)
    copy = write_table(folder / "survey-labelled.csv", [("good film", "good")])
    assert table_behind(copy, [str(copy)]) == copy and table_behind(survey, [str(copy)]) == survey
    for path in (survey, copy):
        session.data.open(path)
        qtbot.waitUntil(lambda path=path: session.data.path == path)  # type: ignore[misc]
    page.set_model(model_folder(tmp_path / "model", labels=("bad", "good")))
    assert page.rows.no_file.button.text() == "Use survey.csv"
    page.rows.no_file.activated.emit()
    qtbot.waitUntil(page.run_button.isEnabled)
    assert page.file_card.path == survey and page.file_card.out_path == tmp_path / "survey-predicted.csv"
