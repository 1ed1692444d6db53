"""One text and a whole file on the Predict page, asked of a very small real model."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.pages.predict import PredictPage
from app.pages.predict_model import Desk, Told, choose_roles, free_path
from app.session import Session
from app.settings import AppSettings
from engine.model.weights import save_model
from engine.text.examples import Roles
from engine.text.table import read_table
from tests.fakes import LABELS, tiny_classifier, tiny_wordpiece

ROWS = ["good film", "bad film", "=1+1 film", "", "good play"]


def trained(folder: Path, **cloze: object) -> Path:
    """Write a model as Cloze saves it."""
    about = {
        "schema_version": 1, "task": "classification", "labels": list(LABELS), "max_length": 13,
        "roles": {"text": "text", "text_pair": "", "label": "label"}, "truncation": "longest_first",
    }  # fmt: skip
    save_model(folder, tiny_classifier(), tiny_wordpiece(), {**about, **cloze})
    return folder


@pytest.fixture
def page(qtbot: QtBot, tmp_path: Path) -> Iterator[PredictPage]:
    session = Session(AppSettings(tmp_path / "settings.ini"))
    made = PredictPage(session)
    made.session = session  # type: ignore[attr-defined]
    made.resize(1104, 772)
    qtbot.addWidget(made)
    made.show()
    yield made
    session.close()
    assert session.wait_idle()


@pytest.fixture
def asking(page: PredictPage, tmp_path: Path, qtbot: QtBot) -> PredictPage:
    """The page with a model that answers."""
    page.set_model(trained(tmp_path / "model"))
    qtbot.waitUntil(lambda: "3 labels" in page.model_card.words.text())
    return page


@pytest.fixture
def with_file(asking: PredictPage, tmp_path: Path, qtbot: QtBot) -> PredictPage:
    """The page with a file whose fourth row has no text."""
    with (tmp_path / "films.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["id", "text"], *([str(i), text] for i, text in enumerate(ROWS))])
    asking.open_file(tmp_path / "films.csv")
    qtbot.waitUntil(asking.run_button.isEnabled)
    return asking


def session_of(page: PredictPage) -> Session:
    found: Session = page.session  # type: ignore[attr-defined]
    return found


def predict(page: PredictPage, qtbot: QtBot) -> None:
    qtbot.mouseClick(page.run_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: page.run_button.isVisible() and not session_of(page).is_inspecting)


def test_without_a_model_the_page_leads_to_fine_tuning(page: PredictPage, qtbot: QtBot) -> None:
    assert page.empty.isVisible() and not page.run_button.isEnabled()
    with qtbot.waitSignal(session_of(page).page_requested) as asked:
        qtbot.mouseClick(page.empty.button, Qt.MouseButton.LeftButton)
    assert asked.args == ["finetune"]


def test_a_folder_that_holds_no_model_is_refused_in_one_sentence(
    page: PredictPage, qtbot: QtBot, tmp_path: Path
) -> None:
    page.set_model(tmp_path)
    qtbot.waitUntil(page.model_card.refusal.isVisible)
    assert str(tmp_path) in page.model_card.refusal.text()


def test_enter_shows_the_probability_of_every_label(asking: PredictPage, qtbot: QtBot) -> None:
    qtbot.keyClicks(asking.text_card.text_box, "good film")
    qtbot.keyClick(asking.text_card.text_box, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not asking.text_card.bars.is_empty)
    bars = dict(asking.text_card.bars.bars)
    assert list(bars) == list(LABELS) and sum(bars.values()) == pytest.approx(1, abs=1e-5)
    assert asking.text_card.bars.highlight == max(bars, key=lambda name: bars[name])
    assert asking.text_card.text_box.toPlainText() == "good film"


def test_an_answer_comes_when_typing_stops(asking: PredictPage, qtbot: QtBot) -> None:
    qtbot.keyClicks(asking.text_card.text_box, "bad film")
    qtbot.waitUntil(lambda: not asking.text_card.bars.is_empty)


def test_an_answer_to_an_older_text_is_not_shown(asking: PredictPage, qtbot: QtBot) -> None:
    from app.study import Answer

    asking.text_card.text_box.setPlainText("new text")
    late = Told(LABELS, np.full(3, 1 / 3, np.float32), 4, 0, "")
    asking._hear(asking._oracle, [Answer(value=late)], asked=("old text", ""))  # type: ignore[arg-type]
    assert asking.text_card.bars.is_empty
    qtbot.waitUntil(lambda: not asking.text_card.bars.is_empty)


def test_a_text_that_is_too_long_says_what_was_not_read(asking: PredictPage, qtbot: QtBot) -> None:
    asking.text_card.text_box.setPlainText("good film " * 20)
    asking.text_card.ask()
    qtbot.waitUntil(lambda: not asking.text_card.bars.is_empty)
    said = asking.text_card.note.text()
    assert said.startswith("29 pieces were not read") and "good film good" in said  # 40 pieces, room for 11


def test_a_model_of_pairs_asks_for_a_second_text(page: PredictPage, qtbot: QtBot, tmp_path: Path) -> None:
    page.set_model(trained(tmp_path / "model", roles={"text": "a", "text_pair": "b", "label": "c"}))
    qtbot.waitUntil(page.text_card.pair_box.isVisible)
    page.text_card.text_box.setPlainText("good")
    assert not page.text_card.is_complete()
    page.text_card.pair_box.setPlainText("bad")
    page.text_card.ask()
    qtbot.waitUntil(lambda: not page.text_card.bars.is_empty)


def test_a_file_becomes_a_new_file_with_an_answer_beside_each_row(
    with_file: PredictPage, qtbot: QtBot, tmp_path: Path
) -> None:
    predict(with_file, qtbot)
    with (tmp_path / "films-predicted.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == [str(i) for i in range(5)]
    assert [row["prediction"] in LABELS for row in rows] == [True, True, True, False, True]
    shown = with_file.answers.model
    assert shown.full_text(0, 2) == rows[0]["prediction"]
    assert "films-predicted.csv" in with_file.file_card.status.text()
    assert sum(value for _name, value in with_file.answers.bars.bars) == 4


def test_a_row_that_cannot_be_used_is_listed_with_its_line(with_file: PredictPage) -> None:
    assert with_file.answers.reported.texts() == ["Line 5 has no text in column text."]


def test_cells_that_a_spreadsheet_would_run_are_guarded_unless_asked(
    with_file: PredictPage, qtbot: QtBot, tmp_path: Path
) -> None:
    predict(with_file, qtbot)
    assert "'=1+1 film" in (tmp_path / "films-predicted.csv").read_text(encoding="utf-8-sig")
    with_file.file_card.safe_box.setChecked(False)
    with_file.file_card.out_edit.setText("raw.csv")
    predict(with_file, qtbot)
    assert ",=1+1 film" in (tmp_path / "raw.csv").read_text(encoding="utf-8-sig")


def test_nothing_is_overwritten(with_file: PredictPage, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("keep me", encoding="utf-8")
    with_file.file_card.out_edit.setText("mine.csv")
    qtbot.mouseClick(with_file.run_button, Qt.MouseButton.LeftButton)
    assert "already there" in with_file.file_card.refusal.text()
    assert (tmp_path / "mine.csv").read_text(encoding="utf-8") == "keep me"


def test_the_command_names_model_file_and_new_file(with_file: PredictPage, qtbot: QtBot) -> None:
    qtbot.mouseClick(with_file.copy_button, Qt.MouseButton.LeftButton)
    command = QApplication.clipboard().text()
    assert "predict" in command and "films.csv" in command and "films-predicted.csv" in command
    with_file.copy_button.rest()


def test_a_file_without_the_trained_column_gets_a_guess(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_text("id,review\n1,a long and thoughtful note\n2,another thoughtful note\n", encoding="utf-8")
    assert choose_roles(read_table(path), Roles(text="text")) == Roles(text="review")


def test_the_new_file_never_has_the_name_of_an_old_one(tmp_path: Path) -> None:
    (tmp_path / "a-predicted.csv").touch()
    assert free_path(tmp_path / "a.csv").name == "a-predicted-2.csv"


def test_typing_does_not_drop_a_file_that_is_being_predicted() -> None:
    asked: list[str] = []
    ends: list = []  # type: ignore[type-arg]

    def inspect(task, *, heard, failed, ended, name) -> None:  # type: ignore[no-untyped-def]
        asked.append(name)
        ends.append(ended)

    desk = Desk(inspect)
    for kind in ("file", "tell", "tell"):
        desk.put(kind, lambda: iter(()), lambda events: None, lambda error: None)
    assert asked == ["file"]
    ends.pop()()
    ends.pop()()
    assert asked == ["file", "tell"] and desk.current == ""
