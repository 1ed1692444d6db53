"""Correcting texts by clicks: from the file to scores, to one text's changes and to a file of answers."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel

from app.pages.data.page import DataPage
from app.pages.evaluate.page import EvaluatePage
from app.pages.evaluate.state import EvaluateState
from app.pages.finetune.page import FineTunePage
from app.pages.predict.page import PredictPage
from app.pages.tasks.correcting.asking import CorrectionAskCard
from app.pages.tasks.correcting.scores import CorrectionScores, kind_words
from app.plots.corrected_words import CorrectedWordsPlot
from app.plots.tagged_words import PREDICTED, TRUE, TaggedStretch, tagged_words
from app.session import Session
from engine.events import Evaluated
from engine.train.finetune import fine_tune
from engine.train.tasks.correcting.details import ERRORS
from tests.app.hand import Hand, ShowPage
from tests.engine.train.tasks.test_correcting import config_of, learned, write_pairs


@pytest.mark.slow
def test_a_table_of_pairs_is_known_for_its_task_and_its_columns(
    show_page: ShowPage[Any], session: Session, tmp_path: Path
) -> None:
    page = show_page(DataPage)
    session.data.open(write_pairs(tmp_path / "pairs.csv"))
    assert session.wait_idle() and session.data.task_name == "correction"
    assert session.data.roles is not None and session.data.roles.label == "right"
    assert "Right text" in [one.text() for one in page.findChildren(QLabel) if one.isVisible()]
    heads = [str(page.table_card.model.headerData(place, Qt.Orientation.Horizontal)) for place in range(2)]
    assert "right text" in heads[1]
    assert page.labels_card.plot.bars == [("0", 30), ("1", 30)]
    form = show_page(FineTunePage)
    assert form.setup.task_label.text() == "One text → the same text, corrected"
    assert "truncated" not in form.setup.prediction_words()


@pytest.mark.slow
def test_a_text_is_corrected_as_it_is_typed_and_a_file_beside_it(
    show_page: ShowPage[PredictPage], session: Session, tmp_path: Path
) -> None:
    run = learned(tmp_path)
    page = show_page(PredictPage)
    page.set_model(run / "model")
    assert session.wait_idle()
    card = page.rows.ask_card
    assert isinstance(card, CorrectionAskCard) and card.isVisible()
    card.text.setPlainText("b c q d q")
    card.entered.emit()
    assert session.wait_idle()
    assert card.corrected.text() == "b c z d z" and card.note.text() == "2 changes"
    assert "q · model: z" in card.picture.summary() and card.marks.cells.rowCount() == 2
    card.text.setPlainText("b c d")
    card.entered.emit()
    assert session.wait_idle() and card.note.text() == "Nothing is changed." and not card.marks.isVisible()
    path = write_pairs(tmp_path / "new.csv", 20, seed=7)
    page.open_file(path)
    assert session.wait_idle() and page.file_card.preview is not None
    assert page.file_card.preview.roles.label == "right"
    page.predict_file()
    assert session.wait_idle()
    scores = page.answers.scores
    assert isinstance(scores, CorrectionScores) and "Correction F1" in scores.figures.text()
    assert "50.0 %" in scores.baseline.text() or "50 %" in scores.baseline.text()
    assert dict(page.answers.bars.bars)["0"] == 10
    with (tmp_path / "new-predicted.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert sum(row["prediction"] == row["right"] for row in rows) >= 19


@pytest.mark.slow
def test_the_scores_of_a_run_lead_to_the_texts_with_an_error_of_a_kind(
    show_page: ShowPage[EvaluatePage], session: Session, qtbot: Any, tmp_path: Path, no_models_ship: None
) -> None:
    list(fine_tune(config_of(tmp_path, num_epochs=1), tmp_path / "run"))  # too short to correct anything
    page = show_page(EvaluatePage)
    page.show_state(EvaluateState(tmp_path / "run" / "model"))
    assert session.wait_idle()
    QApplication.processEvents()
    assert session.wait_idle() and page.opened is not None
    each = page.opened.scored.each
    assert page.texts.rows.rowCount() == len(each) == 12 and each.marks is not None
    hand = Hand(page, qtbot)
    kind = next(name for name in ERRORS if len(each.marks.texts_with(("error", name))))
    hand.click(f"correction_{kind}")
    assert session.wait_idle()
    wanted = each.marks.texts_with(("error", kind)).tolist()
    assert set(page.texts.rows.places.tolist()) == set(wanted)
    assert hand.said("evaluate_chip_0").startswith(kind_words(kind).lower())
    true, predicted = page.texts.rows.answer(wanted[0])
    assert true != predicted


def evaluated(**details: Any) -> Evaluated:
    metrics = {
        "correction_f1": 0.5,
        "detection_f1": 0.6,
        "false_positive_rate": 0.1,
        "sentence_accuracy": 0.7,
        "unchanged_accuracy": 0.6,
    }
    return Evaluated(
        step=1, epoch=1.0, split="validation", loss=1.0, metrics=metrics, labels=(), confusion=None,
        per_label={}, details=details,
    )  # fmt: skip


def test_mistaken_texts_show_what_is_right_and_what_the_model_says(qtbot: Any) -> None:
    card = CorrectionScores()
    qtbot.addWidget(card)
    text = {"line": 7, "text": "我跟朋唷去", "is_part": False, "places": [[3, 4, "友", "有"]]}
    broken = {"line": 8, "text": "a", "is_part": False, "places": [[3, 9, "x", "y"]]}
    intervals = {"correction_f1": [0.4, 0.6], "detection_f1": [2, 3]}
    errors = {"missed": 0, "other": 1, "needless": 0}
    shown = evaluated(texts=[text, broken], intervals=intervals, errors=errors, num_examples=10, num_wrong=4)
    card.set_evaluations({"validation": shown}, {})
    assert "50.0 % (40.0 to 60.0)" in card.figures.text()
    found = [[card.listed.cells.index(row, place).data() for place in range(3)] for row in (0, 3)]
    assert found == [["Correction, F1", "50.0 %", "40.0 to 60.0"], ["Detection, F1", "60.0 %", ""]]
    assert card.texts.view.cells.rowCount() == 1
    card.open_view("texts")
    assert card.words.words_of(3) == "唷 · right: 友 · model: 有"
    assert card.links["other"].isEnabled() and not card.links["missed"].isEnabled()
    card.clear()
    assert card.words.is_empty


def test_a_place_is_read_out_with_what_belongs_there_and_what_is_said(qtbot: Any) -> None:
    plot = CorrectedWordsPlot("A text")
    qtbot.addWidget(plot)
    words = tagged_words("我跟朋唷去", [TaggedStretch(3, 4, "友")], [TaggedStretch(3, 4, "有", "0.97")])
    plot.set_text(words, (), (TRUE, PREDICTED))
    assert plot.summary() == "唷 · right: 友 · model: 有 · 0.97"
    assert plot.numbers()[4] == [3, "唷", "友", "有"]
    plot.set_text(tagged_words("我"), (), (PREDICTED,))
    assert "Nothing is changed" in plot.summary()
