"""On the Evaluate page each number of each task is a door: one click, and the list shows its texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.look.table_view import TableView
from app.pages.evaluate.page import EvaluatePage
from app.pages.evaluate.state import EvaluateState
from app.session import Session
from engine.settings.finetune import FineTuneConfig
from engine.train.finetune import fine_tune
from engine.train.scored import ScoreRows
from tests.app.hand import Hand, ShowPage
from tests.engine.tiny_questions import question_config
from tests.engine.train.tasks.test_multi_label import moods_config
from tests.engine.train.tasks.test_regression import ratings_config
from tests.engine.train.tasks.token_labels.tiny_words import tags_config

pytestmark = pytest.mark.slow

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def page(session: Session, show_page: ShowPage[EvaluatePage], no_models_ship: None) -> EvaluatePage:
    return show_page(EvaluatePage)


def settle(page: EvaluatePage) -> None:
    assert page.session.wait_idle()
    QApplication.processEvents()
    assert page.session.wait_idle()


def scores_of(page: EvaluatePage, folder: Path, config: FineTuneConfig) -> Any:
    """Train a moment, and show what became of it."""
    for _ in fine_tune(config, folder / "run"):
        pass
    page.show_state(EvaluateState(folder / "run" / "model"))
    settle(page)
    return page.kinds.currentWidget()


def each_of(page: EvaluatePage) -> ScoreRows:
    assert page.opened is not None
    return page.opened.scored.each


def listed(page: EvaluatePage) -> set[int]:
    settle(page)
    return set(page.texts.rows.places.tolist())


def all_of(page: EvaluatePage) -> set[int]:
    return set(range(len(each_of(page))))


def click_row(view: TableView, row: int, qtbot: QtBot) -> None:
    place = view.visualRect(view.model().index(row, 0)).center()
    qtbot.mouseClick(view.viewport(), LEFT, pos=place)


def click_at(plot: Any, target: object, qtbot: QtBot) -> None:
    qtbot.mouseClick(plot.canvas(), LEFT, pos=plot.rect_of(target).center().toPoint())


def kinds_in(each: ScoreRows, place: int) -> tuple[set[str], set[str]]:
    """Return the types of the entities of a text, those that are true and those that were found."""
    true, found = (each.names[side[place]].split("; ") for side in (each.true, each.predicted))
    return {one.split(":")[0] for one in true}, {one.split(":")[0] for one in found}


def test_types_errors_and_confusions_of_entities_lead_to_their_texts(
    page: EvaluatePage, hand: Hand, tmp_path: Path, qtbot: QtBot
) -> None:
    scores = scores_of(page, tmp_path, tags_config(tmp_path, num_epochs=3, learning_rate=1e-3))
    each, types = each_of(page), list(scores.current.per_label)
    for row, name in enumerate(types):
        click_row(scores.types, row, qtbot)
        wanted = {place for place in all_of(page) if name in set.union(*kinds_in(each, place))}
        assert listed(page) == wanted and hand.said("evaluate_chip_0").startswith(f"with {name}")
    qtbot.keyClick(scores.types, Qt.Key.Key_Return)  # again: all of them
    assert listed(page) == all_of(page)

    hand.click("token_scores_view_errors")
    wrong = set[int]()
    assert scores.errors.model().rowCount() > 0
    for row in range(scores.errors.model().rowCount()):
        click_row(scores.errors, row, qtbot)
        wrong |= listed(page)
    assert wrong == set(np.flatnonzero(each.right < 1).tolist())
    hand.click("evaluate_chip_0")

    hand.click("token_scores_view_confusion")
    none = len(types)
    cell = max(((a, none) for a in range(none)), key=lambda one: scores.confusion._counts[one])
    click_at(scores.confusion, cell, qtbot)
    assert listed(page) and all(types[cell[0]] in kinds_in(each, place)[0] for place in listed(page))
    assert "predicted as none" in hand.said("evaluate_chip_0")


def test_question_words_and_whether_there_is_an_answer_lead_to_questions(
    page: EvaluatePage, hand: Hand, tmp_path: Path, qtbot: QtBot
) -> None:
    config = question_config(tmp_path, impossible=True, validation_share=0.4)
    scores = scores_of(page, tmp_path, config)
    each = each_of(page)
    without = {place for place in all_of(page) if not each.names[each.true[place]]}
    assert without and without != all_of(page)
    hand.click("question_unanswerable")
    assert listed(page) == without
    hand.click("question_answerable")
    assert listed(page) == all_of(page) - without
    hand.click("question_answerable")
    assert listed(page) == all_of(page)
    click_at(scores.words, 0, qtbot)
    assert len(listed(page)) == scores.words.rows[0].count
    assert hand.said("evaluate_chip_0").startswith("no question word")


def test_a_point_leads_to_its_row_and_an_error_to_the_rows_that_are_so_far_off(
    page: EvaluatePage, hand: Hand, tmp_path: Path, qtbot: QtBot
) -> None:
    scores = scores_of(page, tmp_path, ratings_config(tmp_path, validation_share=0.5))
    each, points = each_of(page), scores.plane._points
    click_at(scores.plane, int(points[:, 1].argmax()), qtbot)
    [place] = listed(page)
    shown = float(each.names[each.true[place]]), float(each.names[each.predicted[place]])
    assert shown == pytest.approx(tuple(points[points[:, 1].argmax()]), rel=1e-4)
    hand.click("evaluate_chip_0")
    hand.click("score_half")
    half = listed(page)
    assert abs(len(half) - len(each) / 2) <= 2
    hand.click("score_tenth")
    assert 0 < len(listed(page)) <= len(each) / 5 and not listed(page) & half


def test_a_label_among_several_leads_to_the_texts_that_have_it(
    page: EvaluatePage, tmp_path: Path, qtbot: QtBot
) -> None:
    scores = scores_of(page, tmp_path, moods_config(tmp_path, validation_share=0.4))
    each, name = each_of(page), scores.labels.scores.label_at(1)
    click_row(scores.labels, 1, qtbot)
    sides = [[each.names[at].split("; ") for at in side] for side in (each.true, each.predicted)]
    assert listed(page) == {p for p in all_of(page) if name in sides[0][p] or name in sides[1][p]}
