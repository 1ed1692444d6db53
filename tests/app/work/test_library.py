"""Which models are offered, and what they are called: the same on every page."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QComboBox, QLabel
from pytestqt.qtbot import QtBot

from app import shipped
from app.main_window import MainWindow
from app.session import Session
from app.settings import AppSettings
from app.work.titles import model_title, run_title
from engine.settings.config import to_toml
from engine.settings.finetune import FineTuneConfig
from tests.fakes import model_folder

RUN = "20250102-030405-films"
NAME = "films · 2 Jan 2025 03:04:05"
BOXES = {
    "finetune": "model_choice",
    "pretrain": "start_choice",
    "predict": "predict_model",
    "probe": "looking_model",
}


def make_run(root: Path, name: str = RUN) -> Path:
    run = root / name
    model_folder(run / "model")
    model_folder(run / "history" / "step-00000037")
    (run / "config.toml").write_text(to_toml(FineTuneConfig()), encoding="utf-8")
    (run / "status.json").write_text('{"state": "finished", "step": 37}', encoding="utf-8")
    return run


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    """A first start on a computer where a run lies already, and nothing was ever opened."""
    make_run(tmp_path / "runs")
    settings = AppSettings(tmp_path / "settings.ini")
    settings.runs_root = tmp_path / "runs"
    made = MainWindow(Session(settings), warm_up=False)
    made.show()
    assert made.session.wait_idle()
    yield made
    made.close()
    assert made.session.wait_idle()
    made.deleteLater()
    vars(made).clear()


def offered(window: MainWindow, page: str) -> list[str]:
    window.show_page(page)
    QApplication.processEvents()
    box = window.page(page).findChild(QComboBox, BOXES[page])
    return [box.itemText(place) for place in range(box.count())]


@pytest.mark.skipif(shipped.starter_model() is None, reason="this build has no models in the box")
def test_every_model_of_this_computer_is_offered_at_the_first_start(window: MainWindow) -> None:
    for page in ("finetune", "pretrain", "probe"):
        names = offered(window, page)
        assert {"Starter model", "Small model with its history", NAME} <= set(names), page
    assert NAME in offered(window, "predict")  # the only one that tells labels apart
    assert "Starter model" not in offered(window, "predict")


def test_a_model_has_one_name_on_every_page(window: MainWindow, tmp_path: Path) -> None:
    model = tmp_path / "runs" / RUN / "model"
    window.session.set_model(str(model))
    window.session.laboratory.choose(model)
    assert window.session.wait_idle()
    for page in BOXES:
        assert any(text.split(" · 2×")[0] == NAME for text in offered(window, page)), page
    window.show_page("models")
    assert window.session.wait_idle()
    listed = window.page("models").list_card.model
    assert NAME in [listed.item(row).text() for row in range(listed.rowCount())]
    assert window.session.laboratory.about.name == NAME
    window.show_page("probe")
    assert window.findChild(QLabel, "status_model").text().startswith(NAME)


def test_names_tell_runs_and_their_weights_apart(tmp_path: Path) -> None:
    first, second = make_run(tmp_path), make_run(tmp_path, "20250102-030406-films")
    assert run_title(first) == NAME != run_title(second)
    assert model_title(first / "history" / "step-00000037") == f"{NAME}, step 37"
    assert model_title(model_folder(tmp_path / "bert-base")) == "bert-base"


def test_a_model_that_is_gone_is_not_offered(window: MainWindow, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "runs" / RUN / "model")
    window.session.find_runs()
    assert window.session.wait_idle()
    window.session.training_ended.emit()  # pages look again
    assert NAME not in offered(window, "finetune")
