"""One text and a whole file on the Predict page, asked of a very small real model."""

from __future__ import annotations

import csv
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app import words
from app.pages.predict import requests as predict_requests
from app.pages.predict import written as predict_written
from app.pages.predict.model import doubt_words
from app.pages.predict.page import PredictPage
from app.pages.predict.requests import ModelDescription, choose_label, choose_roles, free_path
from app.pages.run.state import RunPageState
from app.session import Session
from app.work.titles import model_title
from engine.events import Beat, Evaluated, Event
from engine.model.source import StoredModel
from engine.model.weights import save_model
from engine.settings.config import with_values
from engine.settings.finetune import FineTuneConfig
from engine.text.roles import Roles
from engine.text.table import read_table, reading_table
from engine.train.finetune import fine_tune
from engine.train.run.majority import Unbeaten
from engine.train.tasks.known import evaluate_file
from engine.train.tasks.rows import predict
from engine.train.tasks.rows.predict import predict_file
from tests.app.hand import Hand, ShowPage
from tests.engine.tiny_runs import reviews, tiny_config, write_table
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
def page(show_page: ShowPage[PredictPage]) -> PredictPage:
    return show_page(PredictPage)


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


class Counted:
    """A function, and how often it was called."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.count = function, 0

    def __call__(self, *args: Any, **names: Any) -> Any:
        self.count += 1
        return self.function(*args, **names)

    def __get__(self, owner: Any, _kind: type) -> Any:
        return partial(self, owner)


def run_file(page: PredictPage, qtbot: QtBot) -> None:
    qtbot.mouseClick(page.run_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: page.run_button.isVisible() and not page.is_asking)


def test_without_a_model_the_page_leads_to_fine_tuning(
    page: PredictPage, session: Session, qtbot: QtBot
) -> None:
    assert page.empty.isVisible() and not page.run_button.isEnabled()
    with qtbot.waitSignal(session.page_requested) as asked:
        qtbot.mouseClick(page.empty.button, Qt.MouseButton.LeftButton)
    assert asked.args == ["finetune", RunPageState()]


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


def test_a_model_no_better_than_one_label_for_all_is_told_as_such() -> None:
    about = ModelDescription(Path("x"), ("neg", "pos"), False, {}, 64)
    assert doubt_words(about) == ""
    sure = doubt_words(replace(about, unbeaten=Unbeaten("pos", is_above=False)))
    assert sure == "On its validation rows this model is no better than always “pos”."
    assert "may be no better" in doubt_words(replace(about, unbeaten=Unbeaten("pos", is_above=True)))


def test_a_score_is_said_to_be_at_a_half_only_where_it_is(page: PredictPage, tmp_path: Path) -> None:
    trained = {"metric": "micro_f1", "value": 0.25, "rows": 40}
    about = {"thresholds": {"a": 0.2}, "trained": trained}
    described = ModelDescription(tmp_path, ("a", "b"), False, about, 64, task="multi-label")
    page.model_card.show_description(described)
    assert "Validation micro F1 25.0 %, each label at 0.5" in page.model_card.words.text()
    trained["with_thresholds"] = True
    page.model_card.show_description(described)
    assert page.model_card.words.text().endswith("Validation micro F1 25.0 %")


def test_who_is_led_to_the_page_types_into_the_text_box_and_who_walks_the_rail_stays_there(
    asking: PredictPage, qtbot: QtBot
) -> None:
    pages, other, led = QStackedWidget(), QWidget(), QPushButton("Try it on a text")
    qtbot.addWidget(pages)
    QVBoxLayout(other).addWidget(led)
    beside = QWidget()
    rail = QPushButton("Predict")
    qtbot.addWidget(beside)
    layout = QHBoxLayout(beside)
    layout.addWidget(rail)
    layout.addWidget(pages)
    pages.addWidget(other)
    pages.addWidget(asking)
    beside.show()
    beside.activateWindow()
    box = asking.text_card.text_box
    for _ in range(2):  # the second time Qt gives the keyboard to the box that had it last
        pages.setCurrentWidget(other)
        led.setFocus()
        pages.setCurrentWidget(asking)
        qtbot.waitUntil(box.hasFocus)
        asking.file_card.findChild(QWidget, "out_path").setFocus()
    pages.setCurrentWidget(other)
    led.setFocus()
    pages.setFocus()  # as the stack of pages takes the focus of a page that goes
    pages.setCurrentWidget(asking)
    qtbot.waitUntil(box.hasFocus)
    pages.setCurrentWidget(other)
    rail.setFocus()
    pages.setCurrentWidget(asking)
    QApplication.processEvents()
    assert rail.hasFocus()
    asking.setParent(None)  # as the page found itself


def test_an_encoding_is_chosen_before_the_file_is_predicted_and_the_rows_follow(
    asking: PredictPage, hand: Hand, qtbot: QtBot, tmp_path: Path
) -> None:
    path, said = tmp_path / "films.csv", "café film “good” for 5 €, über naïve façade déjà vu"
    path.write_bytes(("text\r\n" + f'"{said}"\r\n' * 9).encode("cp1252"))

    def shown() -> str:
        assert asking.file_card.preview is not None
        return str(asking.file_card.preview.table.frame["text"].iloc[0])

    asking.open_file(path)
    qtbot.waitUntil(lambda: asking.file_card.preview is not None and not asking.is_asking)
    box = asking.file_card.encoding_box
    assert box.isEnabled() and box.currentText() == "auto: cp1252" and shown() == said
    assert (
        "looks like cp1252" in "".join(asking.answers.reported.texts())
        and asking.answers.reported.isVisible()
    )
    hand.choose("predict_encoding", "cp1251")
    qtbot.waitUntil(lambda: shown() != said and not asking.is_asking)
    assert shown().startswith("cafй film") and box.currentText() == "cp1251"
    qtbot.mouseClick(asking.copy_button, Qt.MouseButton.LeftButton)
    assert "--encoding cp1251" in QApplication.clipboard().text()
    hand.choose("predict_encoding", "utf-8")  # which it is not
    qtbot.waitUntil(lambda: bool(asking.file_card.refusal.text()))
    assert shown().startswith("cafй") and box.currentText() == "cp1251"  # what stands there is as it says
    hand.choose("predict_encoding", "auto")
    qtbot.waitUntil(lambda: shown() == said and not asking.is_asking)
    run_file(asking, qtbot)
    with (tmp_path / "films-predicted.csv").open(encoding="utf-8", newline="") as file:
        assert [row["text"] for row in csv.DictReader(file)] == [said] * 9


@pytest.mark.slow
def test_a_score_over_rows_that_were_learned_from_says_so_over_every_view(
    page: PredictPage, qtbot: QtBot, tmp_path: Path
) -> None:
    rows = write_table(tmp_path / "reviews.csv", reviews(60))
    for _ in fine_tune(
        tiny_config(tmp_path, data=str(rows), validation_share=0.3, num_epochs=1), tmp_path / "run"
    ):
        pass
    page.set_model(tmp_path / "run" / "model")
    page.open_file(rows)
    qtbot.waitUntil(page.run_button.isEnabled)
    run_file(page, qtbot)
    assert page.answers.view_choice.current == "confusion"
    said = page.answers.warning
    assert said.isVisible() and "was trained on 42 of these 60 texts" in said.text()
    page.open_file(
        write_table(
            tmp_path / "new.csv", [(f"{text} {n}", name) for n, (text, name) in enumerate(reviews(30, 5))]
        )
    )
    qtbot.waitUntil(lambda: not page.is_asking and page.run_button.isEnabled())
    assert not said.isVisible()
    run_file(page, qtbot)
    assert "learned" not in said.text()


@pytest.mark.slow
def test_an_answer_comes_when_typing_stops(asking: PredictPage, qtbot: QtBot) -> None:
    qtbot.keyClicks(asking.text_card.text_box, "bad film")
    qtbot.waitUntil(lambda: not asking.text_card.bars.is_empty)


@pytest.mark.slow
def test_an_answer_to_an_older_text_is_not_shown(asking: PredictPage, qtbot: QtBot) -> None:
    asking.text_card.text_box.setPlainText("old text")
    asking.text_card.ask()
    asking.text_card.text_box.setPlainText("new text")
    qtbot.waitUntil(lambda: not asking.text_card.bars.is_empty)
    assert dict(asking.text_card.bars.caption)["text"] == "new text"


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
    run_file(with_file, qtbot)
    with (tmp_path / "films-predicted.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == [str(i) for i in range(5)]
    assert [row["prediction"] in LABELS for row in rows] == [True, True, True, False, True]
    shown = with_file.answers.model
    assert shown.index(0, 2).data(Qt.ItemDataRole.UserRole) == rows[0]["prediction"]
    assert "films-predicted.csv" in with_file.file_card.status.text()
    assert sum(value for _name, value in with_file.answers.bars.bars) == 4


def test_a_row_that_cannot_be_used_is_listed_with_its_line(with_file: PredictPage) -> None:
    assert with_file.answers.reported.texts() == ["Line 5 has no text in column text."]


def test_cells_that_a_spreadsheet_would_run_are_guarded_unless_asked(
    with_file: PredictPage, qtbot: QtBot, tmp_path: Path
) -> None:
    run_file(with_file, qtbot)
    assert "'=1+1 film" in (tmp_path / "films-predicted.csv").read_text(encoding="utf-8-sig")
    with_file.file_card.safe_box.setChecked(False)
    with_file.file_card.out_edit.setText("raw.csv")
    run_file(with_file, qtbot)
    assert ",=1+1 film" in (tmp_path / "raw.csv").read_text(encoding="utf-8-sig")


def test_nothing_is_overwritten(with_file: PredictPage, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("keep me", encoding="utf-8")
    with_file.file_card.out_edit.setText("mine.csv")
    qtbot.mouseClick(with_file.run_button, Qt.MouseButton.LeftButton)
    assert "already exists" in with_file.file_card.refusal.text()
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


def test_a_text_is_answered_while_a_file_is_predicted_and_the_file_goes_on(
    with_file: PredictPage, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, gate = with_file, threading.Event()

    def slowly(*args: Any, **names: Any) -> Iterator[Event]:
        for event in predict_file(*args, **names):
            while not gate.is_set():
                yield Beat()
            yield event

    monkeypatch.setattr(predict, "predict_file", slowly)
    page.run_button.click()
    page.text_card.text_box.setPlainText("good film")
    page.text_card.ask()
    qtbot.waitUntil(lambda: not page.text_card.bars.is_empty)
    assert page.stop_button.isVisible() and not (tmp_path / "films-predicted.csv").exists()
    gate.set()
    qtbot.waitUntil(page.run_button.isVisible)
    assert (tmp_path / "films-predicted.csv").is_file()


def test_a_file_is_read_once_and_its_model_loaded_once(
    page: PredictPage, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads, reads = Counted(StoredModel.fill), Counted(reading_table)
    monkeypatch.setattr(StoredModel, "fill", loads)
    for module in (predict_requests, predict):
        monkeypatch.setattr(module, "reading_table", reads)
    page.set_model(trained(tmp_path / "model"))
    page.text_card.text_box.setPlainText("good film")
    page.text_card.ask()
    (tmp_path / "films.csv").write_text("text\n" + "\n".join(filter(None, ROWS)) + "\n", encoding="utf-8")
    page.open_file(tmp_path / "films.csv")
    qtbot.waitUntil(page.run_button.isEnabled)
    run_file(page, qtbot)
    page.file_card.take_columns(Roles(text="text"))
    qtbot.waitUntil(lambda: not page.is_asking)
    run_file(page, qtbot)
    assert (tmp_path / "films-predicted-2.csv").is_file() and not page.text_card.bars.is_empty
    assert (loads.count, reads.count) == (1, 1)


# A file whose labels are known


LABELLED = [
    ("good film", "good"), ("bad film", "bad"), ("odd film", "strange"), ("good play", "good"), ("", "bad"),
]  # fmt: skip


@pytest.fixture
def labelled(asking: PredictPage, tmp_path: Path, qtbot: QtBot) -> PredictPage:
    """The page with a file that holds labels, one of them unknown to the model."""
    with (tmp_path / "known.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["note", "text", "label"], *(("x", *row) for row in LABELLED * 5)])
    asking.open_file(tmp_path / "known.csv")
    qtbot.waitUntil(asking.run_button.isEnabled)
    return asking


def test_a_labelled_file_gets_the_score_that_evaluate_gives(
    labelled: PredictPage, qtbot: QtBot, tmp_path: Path
) -> None:
    assert labelled.file_card.label_box.currentData() == "label"
    run_file(labelled, qtbot)
    data = with_values(FineTuneConfig(), {"data": str(tmp_path / "known.csv")}).data
    events = list(evaluate_file(tmp_path / "model", data))
    wanted = next(event for event in events if isinstance(event, Evaluated))
    shown = labelled.answers.scores
    assert wanted.confusion is not None and wanted.confusion.sum() == 15
    assert [row[1:] for row in shown.confusion.numbers()[1:]] == wanted.confusion.tolist()
    assert shown.isVisible()
    assert shown.accuracy.value.text() == words.with_interval(wanted.metrics["accuracy"], 15)
    assert shown.macro_f1.value.text() == words.score(wanted.metrics["macro_f1"])
    assert "20 rows answered by" in labelled.answers.hint_label.text()
    assert "15 scored" in labelled.answers.hint_label.text()
    if (wanted.confusion.sum(0) > 0).sum() == 1:
        assert "for all 15 test rows" in shown.remark.text() and shown.remark.isVisible()
    labelled.answers.view_choice.buttons["rows"].click()
    said = labelled.answers.reported.texts()
    assert any("the label strange, which the model does not know" in line for line in said)


def test_a_file_without_labels_that_the_model_knows_gets_no_score(
    with_file: PredictPage, qtbot: QtBot
) -> None:
    assert with_file.file_card.label_box.currentText() == "none"
    run_file(with_file, qtbot)
    assert with_file.answers.scores.current is None and not with_file.answers.view_choice.isVisible()


def test_it_is_said_whose_labels_the_answers_are_compared_with(
    asking: PredictPage, tmp_path: Path, qtbot: QtBot
) -> None:
    hand = Hand(asking, qtbot)
    head = ["text", "llm", "label", "label_by", "label_at", "label_suggestion_seen"]
    for by, said in (("llm", "Labels by column “llm”"), ("ann", "Labels by hand")):
        rows = [("good film", "good", "good", "ann", "", "no"), ("bad film", "bad", "bad", by, "", "no")]
        with (tmp_path / f"{by}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([head, *rows])
        asking.open_file(tmp_path / f"{by}.csv")
        qtbot.waitUntil(lambda by=by: asking.file_card.path == tmp_path / f"{by}.csv")  # type: ignore[misc]
        assert hand.said("label_column") == "label" and hand.said("label_column_caption") == said
    hand.choose("label_column", "llm")
    qtbot.waitUntil(lambda: hand.said("label_column_caption") == "Given labels")


def test_the_column_of_right_labels_is_found_by_what_stands_in_it(tmp_path: Path) -> None:
    path = tmp_path / "films.csv"
    path.write_text("text,coarse,other\nbad,Good,x\nodd,bad,y\ngood,,good\n", encoding="utf-8")
    table = read_table(path)
    assert choose_label(table, "label", LABELS, ("text",)) == "coarse"
    assert choose_label(table, "other", LABELS, ("text",)) == "other"
    assert choose_label(table, "label", ("x1", "x2"), ("text",)) == ""


@pytest.mark.slow
@pytest.mark.usefixtures("styled")
def test_answers_say_which_model_gave_them_and_when_another_is_chosen(
    with_file: PredictPage, qtbot: QtBot, tmp_path: Path
) -> None:
    page = with_file
    page.text_card.text_box.setPlainText("good film")
    page.text_card.ask()
    run_file(page, qtbot)
    name = model_title(tmp_path / "model")
    assert f"answered by {name}" in page.answers.hint_label.text()
    assert not page.answers.other_model.isVisible()
    assert name in page.file_card.status.text()
    page.set_model(trained(tmp_path / "second"))
    said = page.answers.other_model
    assert f"answers of {name}, not of the model on the left" in said.text()
    assert said.isVisible() and said.property("role") == "look"
    page.resize(830, 560)
    assert said.height() >= said.heightForWidth(said.width())  # whole, in a small window too
    qtbot.waitUntil(lambda: not page.text_card.bars.is_empty)  # what is typed is asked again
    run_file(page, qtbot)
    assert f"answered by {model_title(tmp_path / 'second')}" in page.answers.hint_label.text()
    assert not page.answers.other_model.isVisible()


def test_the_next_file_has_a_free_name_and_the_one_written_can_be_opened(
    with_file: PredictPage, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(predict_written, "open_place", lambda place: opened.append(place.name) or False)
    card = with_file.file_card
    run_file(with_file, qtbot)
    assert card.out_edit.text() == "films-predicted-2.csv" and card.links.isVisible()
    qtbot.mouseClick(card.links.open_button, Qt.MouseButton.LeftButton)
    assert opened == ["films-predicted.csv"] and "films-predicted.csv" in card.links.place.text()
    card.out_edit.setText("films-predicted.csv")
    qtbot.mouseClick(with_file.run_button, Qt.MouseButton.LeftButton)
    assert "already exists" in card.refusal.text() and not card.status.text() and not card.links.isVisible()
    qtbot.mouseClick(card.free_button, Qt.MouseButton.LeftButton)
    assert card.out_edit.text() == "films-predicted-2.csv" and not card.refusal.isVisible()
    run_file(with_file, qtbot)
    assert (tmp_path / "films-predicted-2.csv").is_file()
    assert card.out_edit.text() == "films-predicted-3.csv"


def test_rows_that_are_cut_are_counted_for_a_file(asking: PredictPage, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "long.csv").write_text("text\n" + "good film " * 20 + "\ngood\n", encoding="utf-8")
    asking.open_file(tmp_path / "long.csv")
    qtbot.waitUntil(asking.run_button.isEnabled)
    run_file(asking, qtbot)
    assert asking.answers.reported.texts() == ["Truncated at 13 pieces, as in training: 1 of 2 texts."]
