"""What a person finds again after a restart, and that no settings file can keep the window from opening."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow
from app.pages.attention.state import AttentionState
from app.pages.data.page import DataPage
from app.pages.data.state import ColumnOrder, DataState
from app.pages.evaluate.state import FILE, EvaluateState, Listing
from app.pages.predict.page import PredictPage
from app.pages.predict.state import PredictState
from app.pages.probe.page import NEXT, WORDS
from app.pages.run.state import RunPageState
from app.remembered import FORM, MODEL, STATE, TABLE, kept_form, kept_state, reopen_model, reopen_table
from app.session import Session
from app.settings import AppSettings
from app.stories.known import story
from app.work.text_filter import ANSWER, RIGHT, Filter
from engine.model.weights import save_model
from engine.questions.labelled import LabelledTexts
from engine.text.roles import Roles
from engine.train.finetune import fine_tune
from tests.engine.made_runs import made_run
from tests.engine.tiny_runs import tiny_config
from tests.fakes import tiny_pretraining, tiny_wordpiece
from tests.looks.looking_scenes import classifier

Open = Callable[[], MainWindow]
HOSTILE = (
    "",
    "\x00",
    "no such view",
    "../../etc/passwd",
    "[" * 100_000,
    '{"path": 7}',
    '{"path": "relative.csv"}',
    '{"path": "/", "roles": [1, 2]}',
    '{"path": "/dev/null", "roles": "x", "encoding": []}',
    '{"values": {"texts": [], "file": {"path": "/", "how": 1}}, "models": {"model": "/"}, "text": 1}',
    ["1.1", "0.3", "99.99", "-1.2", "1.1.1", "9" * 5000, "é.٣"],
    -1,
    "1" * 400,
    3.5,
    True,
)


@pytest.fixture
def opened(qtbot: QtBot, tmp_path: Path) -> Iterator[Open]:
    made: list[MainWindow] = []

    def close() -> None:
        if made:
            window = made.pop()
            qtbot.waitUntil(lambda: window.session.inspector.workers.is_idle)
            window.close()
            assert window.session.wait_idle()
            window.deleteLater()

    def start() -> MainWindow:
        close()
        settings = AppSettings(tmp_path / "settings.ini")
        settings.runs_root = tmp_path / "runs"
        window = MainWindow(Session(settings), warm_up=False)
        made.append(window)
        window.reopen()
        window.show()
        return window

    yield start
    close()


def looks(window: MainWindow, qtbot: QtBot, key: str) -> None:
    window.show_page(key)
    qtbot.waitUntil(lambda: window.session.inspector.workers.is_idle)


@pytest.mark.slow
def test_text_table_tabs_view_and_head_are_there_again_after_a_restart(
    opened: Open, qtbot: QtBot, tmp_path: Path
) -> None:
    save_model(tmp_path / "lm", tiny_pretraining(), tiny_wordpiece(), {})
    table = tmp_path / "films.csv"
    table.write_text("kind,words,said\n" + "a,good film,x\nb,bad play,y\n" * 9, encoding="utf-8")
    window = opened()
    session = window.session
    session.inspector.choose(tmp_path / "lm")
    session.data.open(table)
    qtbot.waitUntil(lambda: session.data.roles is not None)
    session.data.set_roles(Roles(text="said", label="kind"))
    looks(window, qtbot, "attention")
    session.inspector.set_text("good film, playing", "bad [MASK]!")
    window.page("attention").choose_head(1, 2)
    window.page("attention").show_picture("arcs")
    looks(window, qtbot, "probe")
    window.page("probe").tabs.setCurrentIndex(NEXT)
    looks(window, qtbot, "embeddings")
    window.page("embeddings").compute()
    qtbot.waitUntil(lambda: window.page("embeddings").vectors is not None)
    window.page("embeddings").views.setCurrentIndex(2)

    window = opened()
    session = window.session
    assert (session.inspector.text, session.inspector.text_pair) == ("good film, playing", "bad [MASK]!")
    qtbot.waitUntil(lambda: session.data.table is not None)
    assert session.data.table.path == table and session.data.roles == Roles(text="said", label="kind")
    for key in ("probe", "embeddings", "attention"):
        looks(window, qtbot, key)
    assert session.inspector.folder == tmp_path / "lm"
    assert window.page("probe").tabs.currentIndex() == NEXT
    assert window.page("embeddings").views.currentIndex() == 2
    page = window.page("attention")
    qtbot.waitUntil(lambda: page.has_maps)
    assert page.chosen.current == (1, 2) and page.chosen.picture == "arcs"
    assert page.picture.title_label.text() == "Layer 2, head 3"


@pytest.mark.slow
def test_the_text_that_was_predicted_and_the_file_are_there_again_but_not_what_is_gone(
    opened: Open, qtbot: QtBot, tmp_path: Path
) -> None:
    model, table = classifier(tmp_path / "model"), tmp_path / "films.csv"
    table.write_text("said,note\nan old bank,x\nthe river,y\n", encoding="utf-8")

    def predict(window: MainWindow) -> PredictPage:
        looks(window, qtbot, "predict")
        qtbot.waitUntil(lambda: not window.page("predict").is_asking)
        return cast(PredictPage, window.page("predict"))

    page = predict(opened())
    page.set_model(model)
    qtbot.waitUntil(lambda: not page.is_asking)
    page.text_card.set_texts("the old bank")
    page.open_file(table)
    qtbot.waitUntil(lambda: not page.is_asking)
    page.file_card.take_columns(Roles(text="note"))
    qtbot.waitUntil(lambda: not page.is_asking)
    shown = page.state

    page = predict(opened())
    assert page.state == shown and not page.text_card.bars.is_empty
    assert page.file_card.text_box.currentText() == "note" and page.run_button.isEnabled()
    table.unlink()
    shutil.rmtree(model)
    page = predict(opened())
    assert page.state == PredictState(texts=("the old bank",))
    assert not page.file_card.refusal.text() and not page.model_card.refusal.text()


@pytest.mark.slow
def test_the_rows_that_were_looked_at_are_there_again_unless_another_table_is(
    opened: Open, qtbot: QtBot, tmp_path: Path
) -> None:
    films, plays = tmp_path / "films.csv", tmp_path / "plays.csv"
    for path in (films, plays):
        path.write_text("kind,words\n" + "a,good film\nb,bad play\n" * 9, encoding="utf-8")

    def look(window: MainWindow) -> DataPage:
        looks(window, qtbot, "data")
        assert window.session.wait_idle()
        return cast(DataPage, window.page("data"))

    window = opened()
    window.session.data.open(films, roles=Roles(text="words", label="kind"))
    page = look(window)
    shown = DataState(films, "play", ColumnOrder("words", "down"), label="b")
    page.show_state(shown)
    assert window.session.wait_idle() and page.state == shown

    page = look(opened())
    assert page.state == shown and page.table_card.model.rowCount() == 9
    assert page.session.settings.last_page == "data" and not page.banner.isVisible()
    films.unlink()
    window = opened()
    window.session.data.open(plays)
    page = look(window)
    assert page.state == DataState(plays) and page.is_state_shown and not page.banner.isVisible()


@pytest.mark.slow
def test_the_columns_of_a_tagged_file_are_those_that_were_chosen_after_a_restart(
    opened: Open, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "words.conll"
    path.write_text("Rome NNP B-NP B-LOC\nis VBZ B-VP O\nold JJ B-ADJP O\n\n" * 9, encoding="utf-8")
    session = opened().session
    session.data.open(path, task="token-labels")
    qtbot.waitUntil(lambda: session.data.task_file is not None and session.wait_idle())
    session.data.reread_file(text="1", label="2", scheme="none")
    qtbot.waitUntil(lambda: session.data.file_settings.get("label") == "2" and session.wait_idle())
    session = opened().session
    qtbot.waitUntil(lambda: session.data.task_file is not None and session.wait_idle())
    assert session.data.file_settings == {"text": "1", "label": "2", "scheme": "none"}
    assert session.data.summary is not None and set(session.data.summary.labels) == {"NNP", "VBZ", "JJ"}


@pytest.mark.slow
def test_the_texts_that_were_read_are_there_again_after_a_restart(
    opened: Open, qtbot: QtBot, tmp_path: Path
) -> None:
    list(fine_tune(tiny_config(tmp_path, validation_share=0.3, test_share=0.2), tmp_path / "runs" / "films"))
    model = tmp_path / "runs" / "films" / "model"
    listing = Listing((Filter(RIGHT, (1,)), Filter(ANSWER, (-1, 1))), search="good", order=FILE)
    window = opened()
    window.session.show_page(
        "evaluate", EvaluateState(model, LabelledTexts(part="test"), listing, by="length")
    )
    page = window.page("evaluate")
    qtbot.waitUntil(lambda: page.is_state_shown and not page.is_asking)
    page.texts.toggle_row(0)
    before, rows = page.state, page.texts.rows.places.tolist()
    assert before.listing == listing and len(rows) > 0

    window = opened()
    window.show_page("evaluate")
    page = window.page("evaluate")
    qtbot.waitUntil(lambda: page.opened is not None and page.is_state_shown and not page.is_asking)
    assert page.state == before and page.texts.rows.places.tolist() == rows
    assert page.texts.search.text() == "good" and page.part_box.currentText().endswith("test rows")

    window.show_page("welcome")
    window = opened()
    window.session.settings.set_value("evaluate/state", '{"values": {"listing": 7}, "models": {}}')
    window.show_page("evaluate")
    page = window.page("evaluate")
    qtbot.waitUntil(lambda: page.opened is not None and not page.is_asking)
    assert page.state == replace(
        before, texts=LabelledTexts(part="validation"), listing=Listing(), place=-1, by="class"
    )
    assert page.refusal.text() == ""


@pytest.mark.slow
def test_model_epochs_and_test_file_are_there_again_after_a_restart(
    opened: Open, qtbot: QtBot, tmp_path: Path
) -> None:
    save_model(tmp_path / "lm", tiny_pretraining(), tiny_wordpiece(), {})
    for name in ("films", "kept", "other"):
        text = "kind,words\n" + "a,good film\nb,bad play\n" * 9
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    window = opened()
    session = window.session
    session.data.open(tmp_path / "films.csv")
    qtbot.waitUntil(lambda: session.data.table is not None)
    session.doctor.compare_with(tmp_path / "kept.csv")
    session.model.choose(str(tmp_path / "lm"))
    assert session.wait_idle()
    window.show_page("finetune")
    window.page("finetune").setup.set_values(
        {"num_epochs": 7, "max_length": 30, "early_stopping_patience": 2}
    )

    window = opened()
    session = window.session
    qtbot.waitUntil(lambda: session.data.table is not None and session.model.chosen is not None)
    assert session.model.chosen.model == str(tmp_path / "lm")
    assert session.doctor.against == (tmp_path / "kept.csv",)
    setup = window.page("finetune").setup
    config = setup.config()
    assert (config.training.num_epochs, config.data.max_length) == (7, 30)
    assert config.data.test_data == str(tmp_path / "kept.csv")
    assert "1 changed" in setup.findChild(QPushButton, "more_settings").text()
    session.data.open(tmp_path / "other.csv")
    assert session.wait_idle() and setup.config().data.test_data == ""


@pytest.mark.slow
def test_the_run_that_was_shown_is_shown_again_after_a_restart_and_the_form_where_it_is_gone(
    opened: Open, qtbot: QtBot, tmp_path: Path
) -> None:
    run = made_run(tmp_path / "runs", "films", steps=13)

    def shows(window: MainWindow, expected: RunPageState) -> None:
        window.show_page("finetune")
        page = window.page("finetune")
        assert window.session.wait_idle()
        assert page.is_state_shown and page.state == expected and page.failure.isHidden()
        assert page.setup.isVisible() == (expected.run is None)

    window = opened()
    window.show_page("finetune", RunPageState(run))
    shows(window, RunPageState(run))
    window = opened()
    shows(window, RunPageState(run))
    assert window.page("finetune").charts.loss.num_points == 13
    window.show_page("welcome")
    assert opened().page("finetune").isHidden()  # made, and closed before it was seen
    window = opened()
    shows(window, RunPageState(run))
    window.page("finetune").run_card.form_button.click()
    shows(opened(), RunPageState())

    window = opened()
    window.show_page("finetune", RunPageState(run))
    shows(window, RunPageState(run))
    run.rename(tmp_path / "gone")
    window = opened()
    shows(window, RunPageState())
    no_run = {"values": {}, "models": {"run": str(tmp_path)}, "text": "", "text_pair": ""}
    window.session.settings.set_value("pretrain/state", json.dumps(no_run))
    window.show_page("pretrain")
    assert window.session.wait_idle()
    assert window.page("pretrain").state == RunPageState() and window.page("pretrain").failure.isHidden()


def test_a_table_that_is_gone_is_not_asked_for(opened: Open, qtbot: QtBot, tmp_path: Path) -> None:
    table = tmp_path / "films.csv"
    table.write_text("kind,words\na,good film\nb,bad play\n", encoding="utf-8")
    window = opened()
    window.session.data.open(table)
    qtbot.waitUntil(lambda: window.session.data.table is not None)
    window.close()
    table.unlink()
    window = opened()
    qtbot.waitUntil(window.session.wait_idle)
    assert window.session.data.table is None


@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: repr(value)[:20])
def test_what_is_no_state_and_no_table_is_passed_over(value: object, qtbot: QtBot, tmp_path: Path) -> None:
    settings = AppSettings(tmp_path / "settings.ini")
    for key in (TABLE, MODEL, FORM, f"attention/{STATE}"):
        settings.set_value(key, value)
    settings.sync()
    assert kept_state(settings, "attention", AttentionState) is None
    session = Session(settings)
    reopen_table(session)
    reopen_model(session)
    assert session.wait_idle() and session.data.table is None and session.model.chosen is None
    assert kept_form(settings, ("num_epochs",)) == ({}, ("", "", ""))
    session.close()


@pytest.mark.slow
@pytest.mark.parametrize("turn", range(3))
def test_no_settings_file_keeps_the_window_from_opening(
    turn: int, opened: Open, qtbot: QtBot, tmp_path: Path
) -> None:
    save_model(tmp_path / "lm", tiny_pretraining(), tiny_wordpiece(), {})
    store = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    keys = (
        *("open_table", "looking/text", "looking/text_pair"),
        *(f"{key}/{STATE}" for key in ("attention", "probe", "embeddings", "finetune", "pretrain")),
        *(f"{key}/{STATE}" for key in ("predict", "data")),
    )
    for place, key in enumerate(keys):
        store.setValue(f"pages/{key}", HOSTILE[(5 * turn + place) % len(HOSTILE)])
    store.sync()
    window = opened()
    told: list[object] = []
    window.session.workers.problem.connect(told.append)
    window.session.inspector.choose(tmp_path / "lm")
    for key in ("attention", "probe", "embeddings", "finetune", "pretrain", "predict", "data"):
        looks(window, qtbot, key)
    page = window.page("attention")
    assert told == [] and page.chosen.picture == "heatmap"
    assert page.chosen.layer < 2 and page.chosen.head < 3
    assert window.page("probe").tabs.currentIndex() == WORDS
    assert not window.page("finetune").shows_run and not window.page("pretrain").shows_run
    assert isinstance(window.session.inspector.text, str)


@pytest.mark.slow
def test_a_first_start_shows_the_first_text(opened: Open) -> None:
    assert opened().session.inspector.text == story().first[0]
