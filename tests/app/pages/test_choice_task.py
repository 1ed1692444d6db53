"""Multiple choice by clicks: from the file to scores, to one text's endings and to answers in a file."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QComboBox

from app.pages.data.page import DataPage
from app.pages.data.roles import SeveralBox
from app.pages.finetune.page import FineTunePage
from app.pages.predict.page import PredictPage
from app.pages.tasks.choice.scores import EndingScores
from app.session import Session
from engine.train.finetune import fine_tune
from tests.app.hand import ShowPage
from tests.engine.tiny_runs import tiny_config, write_table

ENDINGS = ("ending1", "ending2", "ending3")


def endings_table(folder: Path, rows: int = 36) -> Path:
    made = []
    for row in range(rows):
        endings = [f"{'good' if place == row % 3 else 'bad'} film {row}" for place in range(3)]
        made.append((f"a play {row}", *endings, str(row % 3 + 1)))
    return write_table(folder / "endings.csv", made, f"text,{','.join(ENDINGS)},label")


@pytest.mark.slow
def test_the_columns_of_the_endings_are_found_and_can_be_chosen(
    show_page: ShowPage[Any], session: Session, tmp_path: Path
) -> None:
    page = show_page(DataPage)
    session.data.open(endings_table(tmp_path))
    assert session.wait_idle() and session.data.task_name == "multiple-choice"
    box, pair = page.findChild(SeveralBox, "role_choices"), page.findChild(QComboBox, "role_text_pair")
    assert box is not None and pair is not None and not box.isHidden() and pair.isHidden()
    assert [action.isChecked() for action in box.menu().actions()] == [False, True, True, True, False]
    box.menu().actions()[2].trigger()
    assert session.wait_idle() and session.data.roles is not None
    assert session.data.roles["choices"] == ("ending1", "ending3")
    session.data.undo_roles()
    assert session.wait_idle() and session.data.roles["choices"] == ENDINGS
    assert [bar[0] for bar in page.labels_card.plot.bars] == list(ENDINGS)
    form = show_page(FineTunePage)
    assert form.setup.task_label.text() == "One text → the right one of 3 endings"


def test_a_plain_table_is_asked_for_no_endings(
    show_page: ShowPage[DataPage], session: Session, tmp_path: Path
) -> None:
    page = show_page(DataPage)
    session.data.open(write_table(tmp_path / "plain.csv", [("a film", "good"), ("a play", "bad")] * 6))
    assert session.wait_idle()
    box, pair = page.findChild(SeveralBox, "role_choices"), page.findChild(QComboBox, "role_text_pair")
    assert box is not None and pair is not None and box.isHidden() and not pair.isHidden()


@pytest.mark.slow
def test_endings_are_chosen_for_one_text_and_for_a_file(
    show_page: ShowPage[PredictPage], session: Session, tmp_path: Path
) -> None:
    path = endings_table(tmp_path)
    named = {"text": "text", "choices": ",".join(ENDINGS), "label": "label"}
    config = tiny_config(tmp_path, data=str(path), num_epochs=1, checkpoint_every_steps=100, **named)
    list(fine_tune(config, tmp_path / "run"))
    page = show_page(PredictPage)
    page.set_model(tmp_path / "run" / "model")
    assert session.wait_idle()
    page.text_card.text_box.setPlainText("a good film")
    page.text_card.pair_box.setPlainText("good\nbad\n\nplay film")
    page.text_card.ask()
    assert session.wait_idle()
    assert [name for name, _ in page.text_card.bars.bars] == ["good", "bad", "play film"]
    page.text_card.pair_box.setPlainText("good")
    page.text_card.ask()
    assert session.wait_idle() and "2 to 9" in page.text_card.note.text()
    page.open_file(path)
    assert session.wait_idle() and page.file_card.preview is not None
    assert page.file_card.preview.roles["choices"] == ENDINGS
    page.predict_file()
    assert session.wait_idle()
    scores = page.answers.scores
    assert isinstance(scores, EndingScores) and "95 %" in scores.accuracy.value.text()
    assert [row.name for row in scores.labels.scores.rows] == list(ENDINGS)
    with (tmp_path / "endings-predicted.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            assert row["prediction"] in [row[name] for name in ENDINGS]
