"""The Label page by its keys: texts get labels, which are kept at once; a model learns along and chooses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.pages.label import requests
from app.pages.label.page import LabelPage
from app.pages.label.state import LabelState
from app.work.labels import journal_path
from app.work.page_state import state_of, values_of
from engine.events import result_of
from engine.labelling.journal import LabelJournal
from engine.labelling.order import LIKE, NUM_SPREAD, RANDOM, LabelOrder
from engine.text.table import read_table
from engine.train.ways.regression import standardized
from tests.app.hand import Hand, ShowPage, come_to_rest
from tests.fakes import model_folder

NUM_TEXTS = 60
TEXTS = [f"{'good' if row % 2 else 'bad'} film play {row % 7}" for row in range(NUM_TEXTS)]


@pytest.fixture
def page(show_page: ShowPage[LabelPage]) -> LabelPage:
    return show_page(LabelPage)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "films.csv"
    path.write_text("text\n" + "".join(f"{text}\n" for text in TEXTS) + '""\n')  # the last one is empty
    return path


@pytest.fixture
def ready(page: LabelPage, table: Path, tmp_path: Path, qtbot: QtBot) -> LabelPage:
    """The page with a table, two labels, and a model that has read all texts."""
    page.session.inspector.choose(model_folder(tmp_path / "model"))
    page.session.data.open(table)
    come_to_rest(page.session, qtbot)
    for name in ("bad", "good"):
        qtbot.keyClicks(page.codebook.line, name)
        qtbot.keyClick(page.codebook.line, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: page.learner.known is not None)
    come_to_rest(page.session, qtbot)
    return page


def row_in_view(page: LabelPage) -> int:
    assert page.walk.current is not None and page.learner.texts is not None
    return int(page.learner.texts.rows[page.walk.current.place])


def press(page: LabelPage, qtbot: QtBot, *keys: Qt.Key | str) -> None:
    for key in keys:
        qtbot.keyClick(page.card.read, key)


def label_truly(page: LabelPage, qtbot: QtBot, count: int) -> None:
    """Give so many texts the label that they speak of, with the keys 1 and 2."""
    for _ in range(count):
        press(page, qtbot, Qt.Key.Key_2 if row_in_view(page) % 2 else Qt.Key.Key_1)
        come_to_rest(page.session, qtbot)


def kept(page: LabelPage) -> LabelJournal:
    table = page.session.data.table
    assert table is not None
    path = journal_path(page.session.runs.recipes_dir(), table.sha256)
    return LabelJournal.read(path, table.path.name, table.sha256, table.num_rows)


@pytest.mark.usefixtures("no_models_ship")
def test_without_a_table_the_page_leads_to_one(page: LabelPage, hand: Hand) -> None:
    assert page.empty.isVisible() and page.empty.button.isVisible()
    assert not page.save_button.isEnabled() and not page.tune_button.isEnabled()


@pytest.mark.usefixtures("no_models_ship")
def test_without_a_model_texts_come_at_random_and_labels_are_kept(
    page: LabelPage, table: Path, qtbot: QtBot
) -> None:
    page.session.data.open(table)
    come_to_rest(page.session, qtbot)
    assert page.codebook.line.hasFocus() or not page.isActiveWindow()
    page.labels.define("bad")
    shown = row_in_view(page)
    assert page.walk.current is not None and page.walk.current.why == RANDOM
    press(page, qtbot, Qt.Key.Key_1)
    assert [*kept(page).labelled.given] == [shown] and row_in_view(page) != shown
    assert "No model" in page.work.model_card.said.text()


def test_a_key_labels_shows_the_next_text_and_is_written_before_that(ready: LabelPage, qtbot: QtBot) -> None:
    first = row_in_view(ready)
    press(ready, qtbot, Qt.Key.Key_2)
    second = row_in_view(ready)
    assert second != first and ready.card.read.text.text() == TEXTS[second]
    entry = kept(ready).labelled.given[first]
    assert (entry.label, entry.suggested) == (1, False) and entry.when and entry.why
    press(ready, qtbot, Qt.Key.Key_3)  # there is no third label
    assert row_in_view(ready) == second and ready.labels.num_given == 1


def test_undo_takes_back_any_number_of_steps_and_shows_their_texts(ready: LabelPage, qtbot: QtBot) -> None:
    first = row_in_view(ready)
    press(ready, qtbot, Qt.Key.Key_1)
    second = row_in_view(ready)
    press(ready, qtbot, Qt.Key.Key_S)
    assert [*kept(ready).labelled.skipped] == [second]
    press(ready, qtbot, Qt.Key.Key_U)
    assert row_in_view(ready) == second and not kept(ready).labelled.skipped
    press(ready, qtbot, Qt.Key.Key_U)
    assert row_in_view(ready) == first and not kept(ready).labelled.given
    press(ready, qtbot, Qt.Key.Key_2)
    assert row_in_view(ready) == second and kept(ready).labelled.given[first].label == 1


def test_back_shows_what_was_labelled_and_another_key_relabels_it(ready: LabelPage, qtbot: QtBot) -> None:
    first = row_in_view(ready)
    press(ready, qtbot, Qt.Key.Key_1)
    second = row_in_view(ready)
    press(ready, qtbot, Qt.Key.Key_B)
    assert row_in_view(ready) == first and "bad" in ready.card.reason.text()
    press(ready, qtbot, Qt.Key.Key_2)
    assert kept(ready).labelled.given[first].label == 1 and row_in_view(ready) == second


def test_a_note_is_typed_kept_and_no_key_of_the_page(ready: LabelPage, qtbot: QtBot) -> None:
    shown = row_in_view(ready)
    press(ready, qtbot, Qt.Key.Key_N)
    qtbot.keyClicks(ready.card.note, "1 us?")
    qtbot.keyClick(ready.card.note, Qt.Key.Key_Return)
    assert kept(ready).labelled.notes == {shown: "1 us?"} and not ready.labels.num_given
    assert row_in_view(ready) == shown


def test_more_like_this_brings_the_nearest_texts_next_and_says_so(ready: LabelPage, qtbot: QtBot) -> None:
    known = ready.learner.known
    assert known is not None and ready.walk.current is not None
    first, labelled = ready.walk.current, ready.labels.labelled
    assert labelled is not None
    nearest = [choice.place for choice in known.order.like(first.place, [])]
    press(ready, qtbot, Qt.Key.Key_M)
    come_to_rest(ready.session, qtbot)
    assert ready.walk.current == first and [one.place for one in ready.queue.rows.rows] == nearest[:4]
    press(ready, qtbot, Qt.Key.Key_1)
    assert ready.walk.current.place == nearest[0] and ready.card.why.text() == "similar"
    shown = row_in_view(ready)
    press(ready, qtbot, Qt.Key.Key_2)
    assert kept(ready).labelled.given[shown].why == LIKE
    assert ready.learner.given(labelled).turns == 1  # the others are not counted as drawn by turns


def test_the_random_share_is_chosen_and_kept_with_the_page(ready: LabelPage, qtbot: QtBot) -> None:
    assert ready.work.accuracy.share_buttons.current == "0.25"
    qtbot.mouseClick(ready.work.accuracy.share_buttons.buttons["1"], Qt.MouseButton.LeftButton)
    come_to_rest(ready.session, qtbot)
    assert ready.state.random_share == 1 and ready.learner.learned is not None
    assert {choice.why for choice in ready.learner.learned.ahead} == {RANDOM}
    ready.show_state(LabelState(ready.state.table, random_share=0.1))
    assert ready.learner.random_share == 0.1 and ready.work.accuracy.share_buttons.current == "0.1"


def test_a_search_finds_texts_and_a_click_brings_one_into_view(ready: LabelPage, qtbot: QtBot) -> None:
    press(ready, qtbot, "/")
    qtbot.keyClicks(ready.queue.line, "PLAY 6")
    come_to_rest(ready.session, qtbot)
    found = [ready.learner.texts.rows[one.place] for one in ready.queue.rows.rows]  # type: ignore[union-attr]
    assert found == [row for row in range(NUM_TEXTS) if row % 7 == 6]
    ready.queue.view.row_wanted.emit(2)
    assert row_in_view(ready) == found[2]


def test_labels_are_renamed_and_merged_and_all_of_it_is_taken_back(ready: LabelPage, qtbot: QtBot) -> None:
    press(ready, qtbot, Qt.Key.Key_1, Qt.Key.Key_2, Qt.Key.Key_E)
    ready.codebook.editor.name_line.setText("awful")
    ready.codebook.editor.rule_line.setText("Nobody should see it.")
    qtbot.keyClick(ready.codebook.editor.rule_line, Qt.Key.Key_Return)
    assert kept(ready).labelled.names == {0: "awful", 1: "good"}
    ready.codebook.editor.name_line.setText("GOOD")
    qtbot.keyClick(ready.codebook.editor.name_line, Qt.Key.Key_Return)
    assert "Merge" in ready.codebook.editor.problem.text() and kept(ready).labelled.names[0] == "awful"
    ready.codebook.editor.merge_box.chosen.emit(1)
    assert kept(ready).labelled.names == {1: "good"} and kept(ready).labelled.count() == {1: 2}
    ready.codebook.toggle_edit()
    press(ready, qtbot, Qt.Key.Key_U, Qt.Key.Key_U)
    assert kept(ready).labelled.names == {0: "bad", 1: "good"} and kept(ready).labelled.count() == {
        0: 1,
        1: 1,
    }


@pytest.mark.slow
def test_no_number_before_twenty_labels_then_suggestions_that_enter_accepts(
    ready: LabelPage, qtbot: QtBot
) -> None:
    label_truly(ready, qtbot, NUM_SPREAD - 1)
    assert (
        "1 more label" in ready.work.accuracy.waiting.text() and not ready.work.accuracy.numbers.isVisible()
    )
    assert not ready.work.suggested(ready.walk.current)
    label_truly(ready, qtbot, 1)
    suggested, shown = ready.work.suggested(ready.walk.current), row_in_view(ready)
    assert suggested and ready.card.plot.isVisible()
    press(ready, qtbot, Qt.Key.Key_Return)
    entry = kept(ready).labelled.given[shown]
    assert entry.label == suggested[0][0] and entry.suggested
    come_to_rest(ready.session, qtbot)
    noted = row_in_view(ready)
    press(ready, qtbot, Qt.Key.Key_N)
    qtbot.keyClick(ready.card.note, Qt.Key.Key_Return)  # which keeps the note, and accepts nothing
    assert row_in_view(ready) == noted and noted not in kept(ready).labelled.given
    come_to_rest(ready.session, qtbot)
    qtbot.keyClick(ready.card.read, Qt.Key.Key_Space, Qt.KeyboardModifier.ShiftModifier)
    hidden = row_in_view(ready)
    press(ready, qtbot, Qt.Key.Key_Return)  # there is nothing to accept
    assert row_in_view(ready) == hidden
    press(ready, qtbot, Qt.Key.Key_1)
    assert not kept(ready).labelled.given[hidden].suggested


@pytest.mark.slow
def test_every_number_is_of_the_random_sample_and_comes_with_its_interval(
    ready: LabelPage, qtbot: QtBot
) -> None:
    label_truly(ready, qtbot, NUM_TEXTS)
    ready.learner._measure()
    come_to_rest(ready.session, qtbot)
    measures = ready.learner.measures
    assert ready.walk.current is None and ready.card.empty.isVisible() and measures is not None
    newest = measures.points[-1]
    assert newest.count == newest.labels == NUM_TEXTS  # all of the table is a sample of it
    low, high = newest.interval
    assert low < newest.accuracy <= high and f"{100 * low:.1f}" in ready.work.accuracy.interval.text()
    assert measures.shares is not None
    rows = ready.work.shares.plot.rows
    assert {row.name for row in rows} == {"bad", "good"} and abs(sum(row.share for row in rows) - 1) < 1e-6
    sampled = [point.count for point in measures.points]
    assert sampled == sorted(sampled) and sampled[0] < 20


def test_the_labels_are_there_again_with_another_window(ready: LabelPage, table: Path, qtbot: QtBot) -> None:
    press(ready, qtbot, Qt.Key.Key_1, Qt.Key.Key_2)
    other = table.with_name("other.csv")
    other.write_text("text\none\ntwo\n")
    ready.session.data.open(other)
    come_to_rest(ready.session, qtbot)
    assert ready.labels.num_given == 0
    ready.show_state(LabelState(table, 7, suggestions=False))
    come_to_rest(ready.session, qtbot)
    assert ready.labels.num_given == 2 and row_in_view(ready) == 7
    assert ready.state == LabelState(table, 7, suggestions=False)
    assert state_of(LabelState, values_of(ready.state)) == ready.state


def test_a_restart_reads_no_text_with_the_model_again(
    ready: LabelPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = list[int]()
    monkeypatch.setattr(requests, "embed", lambda *_, **__: read.append(1))
    other = LabelPage(ready.session)
    qtbot.addWidget(other)
    other.show()
    qtbot.waitUntil(lambda: other.learner.known is not None)
    assert ready.learner.known is not None and other.learner.known is not None and not read
    assert (other.learner.known.vectors == ready.learner.known.vectors).all()


def test_a_text_that_is_changed_on_data_gets_another_vector_and_no_other_text_does(
    ready: LabelPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, read, made = ready.learner.known, list[int](), requests.embed

    def embed(subject: Any, texts: list[str], *rest: Any, **more: Any) -> Any:
        read.append(len(texts))
        return made(subject, texts, *rest, **more)

    monkeypatch.setattr(requests, "embed", embed)
    ready.session.data.mends.edit(7, "text", TEXTS[8])
    come_to_rest(ready.session, qtbot)
    known = ready.learner.known
    assert before is not None and known is not None and read == [1]
    assert known.texts.text(7) == TEXTS[8]
    assert np.allclose(known.order.directions[7], known.order.directions[8], atol=1e-6)
    assert not np.allclose(before.order.directions[7], before.order.directions[8], atol=1e-6)
    assert ready.learner.learned is not None and ready.card.isVisible()
    ready.session.data.mends.undo()
    come_to_rest(ready.session, qtbot)
    assert np.allclose(ready.learner.known.vectors, before.vectors, atol=1e-5)  # type: ignore[union-attr]


def test_the_same_labels_are_measured_alike_whether_they_came_one_by_one_or_at_once(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    targets = rng.integers(0, 2, 200)
    vectors = (rng.normal(0, 1, (200, 12)) + targets[:, None]).astype(np.float32)
    rows = np.arange(200)
    texts = requests.LabelTexts(None, ("text",), rows, rows)  # type: ignore[arg-type]

    def measured(*counts: int) -> list[tuple[int, int, int]]:
        order = LabelOrder(standardized(vectors), 0)
        known, points = requests.KnownTexts(texts, tmp_path, standardized(vectors), order), ()
        for count in counts:
            places = known.order.shuffled[:count]
            given = requests.GivenLabels(tuple(places.tolist()), targets[places], (), (0, 1))
            found = result_of(requests.measure(known, requests.learn(known, given, ()), points))
            points = found.points
        return [(point.labels, point.count, point.hits) for point in points]

    assert measured(40, 70, 100, 126)[-1] == measured(126)[-1]
    assert {*measured(126)} <= {*measured(40, 50, 60, 70, 80, 90, 100, 110, 120, 126)}


@pytest.mark.slow
def test_one_click_leads_to_fine_tuning_on_the_labels_and_labelling_goes_on_there(
    ready: LabelPage, hand: Hand, qtbot: QtBot
) -> None:
    led: list[str] = []
    ready.session.page_requested.connect(lambda key, _state: led.append(key))
    label_truly(ready, qtbot, 3)
    press(ready, qtbot, Qt.Key.Key_2 if ready.labels.labelled.count()[1] == 0 else Qt.Key.Key_1)  # type: ignore[union-attr]
    before = kept(ready).labelled
    ready.tune_button.click()
    come_to_rest(ready.session, qtbot)
    data = ready.session.data
    assert led == ["finetune"] and data.roles is not None and data.roles.label == "label"
    assert data.path is not None and ready.labels.labelled == before
    cells = read_table(data.path).frame["label"].tolist()
    assert {row: cells[row] for row in before.given} == {
        row: before.names[entry.label] for row, entry in before.given.items()
    }


@pytest.mark.slow
def test_the_random_sample_stays_out_of_training_and_is_its_test(ready: LabelPage, qtbot: QtBot) -> None:
    page, session = ready, ready.session
    assert page.learner.texts is not None
    sample = page.learner.texts.rows[page.learner.texts.shuffled[:12]].tolist()
    chosen = [row for row in range(NUM_TEXTS) if row not in sample][:9]
    for row in (*sample, *chosen):
        page.labels.give(row, label=row % 2, suggested=False, why="")
    come_to_rest(session, qtbot)
    assert page.tune_button.toolTip().startswith("12 texts that were drawn at random stay out")
    before = kept(page).labelled
    page.tune_button.click()
    come_to_rest(session, qtbot)
    assert session.data.table is not None and page.labels.labelled == before
    cells = session.data.table.frame["label"].tolist()
    assert {row for row, cell in enumerate(cells) if cell} == set(chosen)
    (test,) = session.doctor.against
    held = read_table(test).frame
    assert held["text"].tolist() == [TEXTS[row] for row in sorted(sample)] and all(held["label"])


@pytest.mark.usefixtures("styled")
def test_in_a_narrow_page_the_suggestions_are_the_codebook(ready: LabelPage, qtbot: QtBot) -> None:
    assert ready.codebook.isVisible()
    ready.resize(820, 560)
    qtbot.waitUntil(lambda: not ready.codebook.isVisible())
    assert [row.name for row in ready.card.plot.rows] == ["bad", "good"] and not ready.queue.isVisible()
    shown = row_in_view(ready)
    ready.card.plot.chosen.emit(1)
    assert kept(ready).labelled.given[shown].label == 1


def test_a_model_that_has_learned_from_the_labels_does_not_learn_along(
    ready: LabelPage, qtbot: QtBot
) -> None:
    about = ready.session.inspector.about
    assert about is not None and ready.learner.known is not None
    ready.learner.take_model(replace(about, info={**about.info, "data": {"name": "films-labelled.csv"}}))
    assert ready.learner.is_taught and ready.learner.known is None
    ready.work.show_model()
    assert "was trained on a table of this name" in ready.work.model_card.said.text()
    ready.learner.take_model(replace(about, info={**about.info, "data": {"name": "others.csv"}}))
    qtbot.waitUntil(lambda: ready.learner.known is not None)
