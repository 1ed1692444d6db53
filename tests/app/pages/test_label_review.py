"""Suspected labels on Label, by keys: what is decided is a mend of the table, and no label of a sample."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.pages.label.page import LabelPage
from app.pages.label.state import LabelState
from engine.labelling.labelled import Labelled
from engine.text.recipe import DROP, KEEP, MERGE, RELABEL, SUSPECTED, RecipeStep
from engine.text.table import read_table, write_csv
from tests.app.hand import ShowPage, come_to_rest

SUBJECTS = (
    *("river", "bakery", "minister", "novel", "moon", "bridge", "teacher", "garden", "engine", "singer"),
    *("harbour", "winter"),
)
WORDS = {"good": ("wonderful", "warm", "brilliant", "lovely"), "bad": ("terrible", "dull", "boring", "awful")}
ROWS = [
    (f"{word} and {subject} in a film about the {subject} {label}", label)
    for label, words in WORDS.items()
    for subject in SUBJECTS
    for word in words
]
WRONG = 5, 30, 60, 80


@pytest.fixture
def page(show_page: ShowPage[LabelPage], tmp_path: Path, qtbot: QtBot, no_models_ship: None) -> LabelPage:
    """The page at the suspected labels of a table in which some are wrong."""
    made = [
        (text, ("good", "bad")[label == "good"] if row in WRONG else label)
        for row, (text, label) in enumerate(ROWS)
    ]
    write_csv(tmp_path / "films.csv", ("text", "label"), made)
    page = show_page(LabelPage)
    page.session.data.open(tmp_path / "films.csv")
    come_to_rest(page.session, qtbot)
    page.session.doctor.suspect(None, by="nothing else")
    come_to_rest(page.session, qtbot)
    page.show_state(LabelState(tmp_path / "films.csv", review=True))
    assert page.review.isVisible()
    return page


def press(page: LabelPage, qtbot: QtBot, *keys: Qt.Key | str) -> None:
    for key in keys:
        qtbot.keyClick(page.review.card.read, key)


def steps(page: LabelPage) -> list[tuple[str, str, tuple[int, ...]]]:
    return [(step.do, step.label, step.rows) for step in page.session.data.mends.steps]


def test_each_suspected_label_is_shown_with_its_reason_and_decided_by_a_key(
    page: LabelPage, qtbot: QtBot
) -> None:
    review = page.review
    assert review.walk is not None
    rows = review.walk.rows
    first = rows[0]
    assert {*rows[:4]} == {*WRONG} and review.card.read.text.text() == ROWS[first][0]
    assert review.chip.text() == f"Reviewing {len(rows)} suspected labels: {len(rows)} left"
    wrong, true = (("good", "bad"), ("bad", "good"))[ROWS[first][1] == "good"]
    assert (
        review.card.chosen.text() == f"In the table: {wrong}"
        and "Error probability" in review.card.reason.text()
    )
    assert review.card.plot.rows[0].name == true and review.card.plot.rows[0].share > 0.5  # type: ignore[operator]
    press(page, qtbot, *[Qt.Key.Key_Return] * 3)
    press(page, qtbot, review.card.plot.rows[0].key)
    assert {row for do, _label, some in steps(page) for row in some if do == RELABEL} == {*WRONG}
    assert {step.reason for step in page.session.data.mends.steps} == {SUSPECTED}
    assert f"{len(rows) - 4} left" in review.chip.text() and review.walk.rank not in range(4)
    recipe, table = page.session.data.mends.recipe, page.session.data.table
    assert recipe is not None and table is not None
    assert recipe.applied(table).frame["label"].tolist() == [label for _text, label in ROWS]


def test_back_undo_skip_and_keep_move_through_the_suspected_labels(page: LabelPage, qtbot: QtBot) -> None:
    review, mends = page.review, page.session.data.mends
    assert review.walk is not None
    rows, count = review.walk.rows, len(review.walk.rows)
    press(page, qtbot, "s", "k")
    assert steps(page) == [(KEEP, "", (rows[1],))] and f"{count - 1} left" in review.chip.text()
    press(page, qtbot, "b", "d")
    assert steps(page) == [(DROP, "", (rows[1],))]
    press(page, qtbot, "u")
    assert steps(page) == [(KEEP, "", (rows[1],))] and review.walk.row == rows[1]
    qtbot.keyClick(review.card.read, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert not steps(page) and review.walk.row == rows[1]
    mends.add(RecipeStep(MERGE, label="fine", labels=("good",), column="label"))
    press(page, qtbot, "u")
    assert [do for do, *_ in steps(page)] == [MERGE], (
        "what is no decision of a suspected label is undone on Data"
    )
    assert "fine" in [row.name for row in review.card.plot.rows]
    press(page, qtbot, *["k"] * (count - 1))
    assert "One suspected label was skipped" in review.card.empty.label.text()
    press(page, qtbot, "b", "s")
    assert review.walk.rank is None


def test_a_label_that_was_changed_before_is_kept_as_it_is_now(page: LabelPage, qtbot: QtBot) -> None:
    walk = page.review.walk
    assert walk is not None
    press(page, qtbot, Qt.Key.Key_Return, "b", "k")
    assert [do for do, *_ in steps(page)] == [RELABEL] and walk.label_of(0) == ROWS[walk.rows[0]][1]
    press(page, qtbot, "b")
    press(page, qtbot, page.review.card.plot.rows[1].key)  # the label that the file has
    assert steps(page) == [(KEEP, "", (walk.rows[0],))]


def test_a_label_among_many_is_found_by_part_of_its_name(
    page: LabelPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert page.review.finder.isHidden()
    monkeypatch.setattr("app.pages.label.review.NUM_KEYS", 1)
    page.show_state(LabelState(review=True))
    press(page, qtbot, "f")
    first = page.review.walk.row  # type: ignore[union-attr]
    qtbot.keyClicks(page.review.finder, "AD")
    assert [row.name for row in page.review.card.plot.rows] == ["bad"]
    qtbot.keyClick(page.review.finder, Qt.Key.Key_Return)
    decided = page.session.data.mends.recipe.decided()  # type: ignore[union-attr]
    assert [*decided] == [first] and decided[first].label in ("", "bad")  # kept, where it was that
    assert not page.review.finder.text() and len(page.review.card.plot.rows) == 2


def test_decisions_survive_reopening_and_are_no_labels_of_the_journal(
    page: LabelPage, qtbot: QtBot, tmp_path: Path
) -> None:
    press(page, qtbot, Qt.Key.Key_Return, "k")
    press(page, qtbot, "n")
    qtbot.keyClicks(page.review.card.note, "sure?")
    qtbot.keyClick(page.review.card.note, Qt.Key.Key_Return)
    before, state = steps(page), page.state
    come_to_rest(page.session, qtbot)
    assert page.labels.labelled == Labelled(notes={page.review.walk.row: "sure?"})  # type: ignore[union-attr]
    (tmp_path / "other.csv").write_text("text\none\ntwo\n")
    page.session.data.open(tmp_path / "other.csv")
    come_to_rest(page.session, qtbot)
    assert not page.review.isVisible() and page.save_button.isVisible()
    page.show_state(state)
    come_to_rest(page.session, qtbot)
    assert steps(page) == before
    page.session.doctor.watch(True)
    come_to_rest(page.session, qtbot)
    page.show_state(state)
    assert page.state == state and page.review.isVisible()
    qtbot.mouseClick(page.review.end_button, Qt.MouseButton.LeftButton)
    assert page.work.isVisible() and not page.state.review


def test_a_reviewed_row_that_is_held_out_as_the_test_is_not_trained_on(page: LabelPage, qtbot: QtBot) -> None:
    """The file of the random sample has the label that was given before anybody suspected it."""
    press(page, qtbot, Qt.Key.Key_Return, Qt.Key.Key_Return)
    page.end_review()
    assert page.learner.texts is not None
    names = [page.labels.define(name) for name in ("good", "bad")]
    sample = page.learner.texts.rows[page.learner.texts.shuffled[:12]].tolist()
    chosen = [row for row in range(len(ROWS)) if row not in sample][:9]
    for row in (*sample, *chosen):
        page.labels.give(row, label=names[row % 2], suggested=False, why="")
    page.tune_button.click()
    come_to_rest(page.session, qtbot)
    data = page.session.data
    reviewed, unreviewed = sample[0], chosen[0]
    for row in (reviewed, unreviewed):
        data.mends.decide(row, RecipeStep(RELABEL, label="else", column="label_2", reason=SUSPECTED))
    page.tune_button.click()
    come_to_rest(page.session, qtbot)
    assert data.table is not None and data.mends.recipe is not None
    cells = data.mends.recipe.applied(data.table).frame["label_2"].tolist()
    assert cells[unreviewed] == "else" and all(not cells[row] for row in sample)
    (test,) = page.session.doctor.against
    assert "else" not in read_table(test).frame["label_2"].tolist()
