"""Models are in memory once and loaded once, whichever page asks them, and are those on the disk now."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow
from app.pages.pretrain import findings
from app.session import Session
from app.settings import AppSettings
from app.work import models as models_module
from app.work.models import OpenModels
from engine.errors import ModelError
from engine.model.guess import Pins
from engine.model.source import StoredModel
from engine.model.weights import load_pretraining, save_model
from engine.train.tasks.known import CLASSIFICATION
from tests.fakes import LABELS, model_folder, tiny_classifier, tiny_pretraining, tiny_wordpiece

TEXT = "good film"


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Fills up with the kind of each model whose weights are read."""
    seen: list[str] = []
    fill = StoredModel.fill

    def counted(self: StoredModel, make: Callable, *args: object) -> object:  # type: ignore[type-arg]
        seen.append(getattr(make, "__name__", "Bert"))
        return fill(self, make, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(StoredModel, "fill", counted)
    return seen


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    settings = AppSettings(tmp_path / "settings.ini")
    settings.runs_root = tmp_path / "runs"
    made = MainWindow(Session(settings), warm_up=False)
    made.show()
    yield made
    made.close()
    assert made.session.wait_idle()
    made.deleteLater()
    vars(made).clear()


@pytest.mark.slow
def test_a_classifier_is_loaded_once_for_all_pages_that_ask_it(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, loads: list[str]
) -> None:
    folder = model_folder(tmp_path / "model")
    table = tmp_path / "films.csv"
    table.write_text("text,label\n" + "good film,good\nbad film,bad\n" * 5, encoding="utf-8")
    session = window.session
    assert session.wait_idle()
    loads.clear()  # Start has the starter model guess
    session.data.open(table)
    session.inspector.set_text(TEXT)
    session.inspector.choose(folder)
    for page in ("probe", "attention", "embeddings"):
        window.show_page(page)
        qtbot.waitUntil(lambda: session.workers.is_idle)
    assert not window.page("attention").picture.figure("heatmap").is_empty
    predict = window.page("predict")
    window.show_page("predict")
    predict.set_model(folder)
    predict.text_card.text_box.setPlainText(TEXT)
    predict.text_card.ask()
    qtbot.waitUntil(lambda: not predict.text_card.bars.is_empty)
    predict.open_file(table)
    qtbot.waitUntil(predict.run_button.isEnabled)
    predict.run_button.click()
    qtbot.waitUntil(lambda: not predict.is_asking)
    assert (tmp_path / "films-predicted.csv").is_file()
    assert loads == ["SequenceClassifier"]


def test_a_predictor_over_an_open_model_answers_as_one_that_loads_its_own(tmp_path: Path) -> None:
    folder, models = model_folder(tmp_path / "model"), OpenModels()
    subject, ours, own = models.subject(folder), models.predictor(folder), CLASSIFICATION.predictor(folder)
    assert ours.model is subject.classifier and models.predictor(folder) is ours
    assert ours.device == own.device and ours.info == own.info and ours.labels == own.labels == LABELS
    for text in (TEXT, "bad play!", "film " * 100):
        assert np.array_equal(ours.predict(text), own.predict(text))
    assert np.array_equal(ours.predict(TEXT, "bad"), own.predict(TEXT, "bad"))


def test_what_is_no_classifier_predicts_nothing_and_says_so_as_ever(tmp_path: Path) -> None:
    save_model(tmp_path / "lm", tiny_pretraining(), tiny_wordpiece(), {})
    with pytest.raises(ModelError) as ours:
        OpenModels().predictor(tmp_path / "lm")
    with pytest.raises(ModelError) as own:
        CLASSIFICATION.predictor(tmp_path / "lm")
    assert str(ours.value) == str(own.value)


def test_a_question_to_a_runs_model_is_answered_as_by_one_of_its_own_and_loads_it_once(
    tmp_path: Path, loads: list[str]
) -> None:
    save_model(tmp_path / "lm", tiny_pretraining(), tiny_wordpiece(), {})
    models = OpenModels()
    sentences = ("a [good] film", "a [MASK] play")
    told = [findings.answer(models, tmp_path / "lm", sentence) for sentence in sentences]
    assert loads == ["PreTraining"]
    model, _ = load_pretraining(tmp_path / "lm")
    for sentence, event in zip(sentences, told, strict=True):
        (wanted,) = Pins([sentence], tiny_wordpiece()).look(model)
        (reading,) = event.readings
        assert event.is_question and reading.guesses == wanted.guesses
        assert (reading.right, reading.probability) == (wanted.right, wanted.probability)


def test_a_model_that_a_training_has_replaced_is_loaded_anew(tmp_path: Path, loads: list[str]) -> None:
    folder, models = model_folder(tmp_path / "model", seed=1), OpenModels()
    before = models.predictor(folder)
    save_model(folder, tiny_classifier(seed=2), tiny_wordpiece(), {"task": "classification"})
    after = models.predictor(folder)
    assert len(loads) == 2 and not np.array_equal(before.predict(TEXT), after.predict(TEXT))
    assert models.num_bytes == models.subject(folder).num_bytes  # the old one is let go of
    shutil.rmtree(folder)
    with pytest.raises(ModelError):
        models.subject(folder)
    assert models.num_bytes == 0


def test_beside_the_newest_two_models_stay_open_within_bounds(
    tmp_path: Path, loads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [model_folder(tmp_path / str(number), seed=number) for number in range(4)]
    models = OpenModels()
    size = models.subject(folders[0]).num_bytes
    monkeypatch.setattr(models_module, "KEPT_BYTES", 3 * size)
    for folder in (*folders[1:3], folders[0], folders[3], folders[0], folders[2]):
        models.subject(folder)
    assert len(loads) == 4  # the first was asked for again, so the second had to go
    models.subject(folders[1])
    assert len(loads) == 5 and models.num_bytes == 3 * size
