"""From a number to the sentences behind it in one click, and to what an answer rests on in two."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow
from app.pages.evaluate.texts_model import TEXT
from engine.train.finetune import fine_tune
from tests.engine.tiny_runs import tiny_config
from tests.journeys.looking_hand import LookingHand

pytestmark = pytest.mark.slow  # whole journeys, as a person makes them

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def run(window: MainWindow, tmp_path: Path) -> Path:
    """A run that makes mistakes."""
    path = window.session.runs.root / "20261101-101010-reviews"
    config = tiny_config(tmp_path, validation_share=0.4, num_epochs=1, learning_rate=5e-4)
    for _ in fine_tune(config, path):
        pass
    return path


@pytest.fixture
def hand(window: MainWindow, qtbot: QtBot) -> LookingHand:
    return LookingHand(window, qtbot)


def test_a_cell_leads_to_its_sentences_and_a_sentence_to_its_words(
    window: MainWindow, run: Path, hand: LookingHand, qtbot: QtBot, no_models_ship: None
) -> None:
    window.session.runs.find()
    hand.click("rail_evaluate")
    page = window.page("evaluate")
    hand.wait(lambda: page.opened is not None and not page.is_asking)
    each = page.opened.scored.each
    cells = page.opened.report.classes.confusion
    cell = max(((0, 1), (1, 0)), key=lambda one: int(cells[one]))
    assert cells[cell] > 0, "the run should make mistakes"

    hand.click_at(page.confusion, page.confusion.rect_of(cell).center())  # one click
    wanted = np.flatnonzero((each.true == cell[0]) & (each.predicted == cell[1]))
    hand.wait(lambda: set(page.texts.rows.places.tolist()) == set(wanted.tolist()))

    view = page.texts.view
    middle = view.visualRect(page.texts.rows.index(0, TEXT)).center()
    qtbot.mouseClick(view.viewport(), LEFT, pos=middle)  # two clicks
    hand.wait(lambda: page.texts.detail is not None and bool(page.texts.detail.words.words))
    text = page.opened.scored.listed.texts[page.texts.rows.place(0)]
    assert [one.text for one in page.texts.detail.words.words] == text.split()

    hand.click("evaluate_to_attribution")  # and on, to all that the page of attribution can tell
    assert window.current_page == "attention"
    attention = window.page("attention")
    hand.wait(lambda: attention.attribution.result is not None and not window.session.inspector.is_opening)
    assert window.session.inspector.text == text
    assert window.session.inspector.folder == (run / "model").absolute()


def test_the_keyboard_alone_walks_from_the_score_to_a_sentence(
    window: MainWindow, run: Path, hand: LookingHand, qtbot: QtBot, no_models_ship: None
) -> None:
    window.session.runs.find()
    qtbot.keyClick(window, Qt.Key.Key_4, Qt.KeyboardModifier.ControlModifier)
    page = window.page("evaluate")
    hand.wait(lambda: page.opened is not None and not page.is_asking)
    page.confusion.setFocus()
    for key in (Qt.Key.Key_Home, Qt.Key.Key_Right, Qt.Key.Key_Return):
        qtbot.keyClick(page.confusion, key)
    hand.wait(lambda: bool(page.texts.listing.filters) and not page.is_asking)
    qtbot.keyClick(page.confusion, Qt.Key.Key_Escape)  # lets go of the cell
    page.texts.view.setFocus()
    qtbot.keyClick(page.texts.view, Qt.Key.Key_Escape)
    hand.wait(
        lambda: not page.texts.listing.filters and page.texts.rows.rowCount() == len(page.opened.scored.each)
    )
    qtbot.keyClick(page.texts.view, Qt.Key.Key_Down)
    qtbot.keyClick(page.texts.view, Qt.Key.Key_Down)
    qtbot.keyClick(page.texts.view, Qt.Key.Key_Return)
    hand.wait(lambda: page.texts.detail is not None and bool(page.texts.detail.words.words))
    qtbot.keyClick(page.texts.view, Qt.Key.Key_Escape)
    assert page.texts.detail is None
    hand.wait(lambda: not page.is_asking)


def test_a_cell_of_a_finished_run_leads_to_the_evaluate_page(
    window: MainWindow, run: Path, hand: LookingHand, no_models_ship: None
) -> None:
    window.session.runs.find()
    hand.click("rail_runs")
    runs = window.page("runs")
    hand.wait(lambda: bool(runs.shown.rows) and window.session.workers.is_idle)
    runs.acting.open_row(runs.shown.rows[0])
    finetune = window.page("finetune")
    hand.wait(lambda: finetune.charts.scores_card.current is not None)
    plot = finetune.charts.scores_card.confusion
    hand.wait(lambda: plot.isVisible() and plot.is_door)
    hand.click_at(plot, plot.rect_of((0, 1)).center())
    assert window.current_page == "evaluate"
    page = window.page("evaluate")
    hand.wait(lambda: page.opened is not None and not page.is_asking)
    assert [one.values for one in page.texts.listing.filters] == [(0, 1)]
    assert page.folder == (run / "model").absolute() and page.state.texts.part == "validation"
