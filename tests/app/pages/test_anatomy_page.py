"""The page Anatomy says what was calculated, is walked by keys, and tells a change at the very end."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.pages.anatomy import requests
from app.pages.anatomy.lesson import WeightDialog
from app.pages.anatomy.page import AnatomyPage
from app.pages.anatomy.pictures import shown_places
from app.pages.anatomy.state import AnatomyState, Walk
from app.pages.anatomy.steps.known import ALL_STEPS
from app.session import Session
from app.settings import AppSettings
from engine.inspect.anatomy.learning import learn
from engine.inspect.anatomy.steps import BERTS, KEYS
from engine.inspect.anatomy.vectors import trace
from engine.inspect.anatomy.working import value_of
from engine.inspect.loaded_model import LoadedModel
from tests.app.hand import Hand, OpenWindow, ShowPage
from tests.looks.looking_scenes import PAIR, TOO_LONG, classifier, language_model

TEXT = "The bank was [MASK]."


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return language_model(tmp_path_factory.mktemp("language"))


@pytest.fixture
def page(session: Session, show_page: ShowPage[Any], model: Path, qtbot: QtBot) -> AnatomyPage:
    session.inspector.choose(model)
    session.inspector.set_text(TEXT)
    shown: AnatomyPage = show_page(AnatomyPage)
    qtbot.waitUntil(lambda: shown.found is not None)
    return shown


def test_rows_stand_around_the_chosen_piece_and_none_is_left_out_while_there_is_room(model: Path) -> None:
    found = trace(LoadedModel.open(model), "the bank by the river was steep and the water was cold")
    walk = Walk(step="qkv").fitted(found.config, found.num_tokens)
    count = found.num_tokens
    assert shown_places(found, walk.on_piece(6), count) == list(range(count))
    for piece in (0, 6):
        shown = shown_places(found, walk.on_piece(piece), 8)
        most = np.argsort(-found["layer.1.softmax"][0, piece])[:2]
        assert len(shown) == 7 and {piece, max(0, piece - 1), piece + 1, *most} <= set(shown)
        assert shown == shown_places(found, walk.on_piece(piece).changed(step="softmax"), 8)


def test_every_step_of_the_engine_has_its_own_on_the_page_in_the_same_order() -> None:
    assert {step.key for step in ALL_STEPS} == set(KEYS) and len(ALL_STEPS) == len(KEYS)
    for step in BERTS.order:
        made = BERTS.names(step, 2)[-1:]
        assert all(BERTS.step_making(name, 2) == (step, 2) for name in made), step


def test_it_opens_at_the_three_vectors_of_the_first_word_that_says_something(
    page: AnatomyPage, qtbot: QtBot
) -> None:
    assert page.found is not None
    assert (page.walk.step, page.found.now.pieces[page.walk.piece]) == ("vectors", "bank")
    page.session.inspector.set_text("It was a [MASK] river and steep.")
    qtbot.waitUntil(lambda: page.found is not None and "river" in page.found.now.pieces)
    assert page.found.now.pieces[page.walk.piece] == "river"  # what stood in the old place stands elsewhere


def test_five_groups_name_themselves_and_the_open_one_shows_its_steps_alone(page: AnatomyPage) -> None:
    assert [group.name for group in page.groups.groups] == [
        "Pieces", "Embeddings", "Attention", "Feed-forward", "Answer",
    ]  # fmt: skip
    place = page.groups.rect_of(2).center().toPoint()
    QTest.mouseClick(page.groups, Qt.MouseButton.LeftButton, pos=place)
    assert page.walk.step == "qkv"
    assert [page.strip.chips[i].name for i in page.strip.rects()] == [
        "Q, K, V", "Scores", "Softmax", "Weighted sum", "Heads joined", "Output", "+ residual", "Norm",
    ]  # fmt: skip


def test_what_if_is_asked_only_where_a_part_can_be_changed(page: AnatomyPage, hand: Hand) -> None:
    page.activateWindow()
    for step, is_there in (("text", False), ("sum", False), ("qkv", True), ("loss", True)):
        page._go(page.walk.at(step))
        press(page, Qt.Key.Key_W)
        assert hand.find("anatomy_what_if_button").isVisible() is is_there, step
        assert hand.find("anatomy_scale").isVisible() is is_there, step
        press(page, Qt.Key.Key_W)


def test_the_numbers_are_hidden_until_they_are_asked_for_again(page: AnatomyPage, hand: Hand) -> None:
    page._go(page.walk.at("mixed"))
    hand.click("anatomy_hide_numbers")
    page.step(1)
    assert not page.happens.sum.isVisible() and hand.find("anatomy_formula").isVisible()
    hand.click("anatomy_hide_numbers")
    assert page.happens.sum.isVisible()


def test_each_step_keeps_its_name_and_the_strip_moves_with_the_current_one(
    page: AnatomyPage, qtbot: QtBot
) -> None:
    for width in (400, 700, 1600):
        page.strip.setFixedWidth(width)
        for place, step in enumerate(BERTS.order):
            page._go(page.walk.at(step))
            rect = page.strip.rect_of(place)
            assert rect.left() >= 0 and rect.right() <= width + 1, (width, step)


def test_characters_are_counted_as_on_the_page_tokenizer(page: AnatomyPage) -> None:
    assert page.found is not None
    page._go(page.walk.at("text"))
    column = page.rows.picture.columns[1]
    spans = page.found.now.encoding.offsets
    assert column.texts[1:3] == tuple(f"{start}–{stop}" for start, stop in spans[1:3]) and spans[1][0] == 0


@pytest.mark.slow
def test_numbers_that_take_a_while_are_said_to_be_on_their_way(
    page: AnatomyPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, find = Event(), requests.find

    def slow(*asked: Any) -> Any:
        held.wait(60)
        return find(*asked)

    monkeypatch.setattr(requests, "find", slow)
    page.session.inspector.set_text("The river was [MASK] and steep.")
    qtbot.waitUntil(lambda: page.count.text().endswith("computing…"))
    held.set()
    qtbot.waitUntil(lambda: page.count.text().endswith("pieces"))


def at_rest(page: AnatomyPage, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: page.session.inspector.workers.is_idle)


def press(page: AnatomyPage, *keys: Qt.Key, shift: bool = False) -> None:
    for key in keys:
        modifier = Qt.KeyboardModifier.ShiftModifier if shift else Qt.KeyboardModifier.NoModifier
        QTest.keyClick(page.rows, key, modifier)


SHAPES: dict[str, dict[str, Any]] = {  # of other models than BERT, whose steps are others
    "bert": {},
    "albert": {"embedding_size": 12},
    "modernbert": {"hidden_size": 24, "extra": {"local_attention": 8}},
    "nomic_bert": {"hidden_size": 24, "hidden_act": "silu"},
}


@pytest.mark.parametrize("family", SHAPES)
def test_every_step_says_what_was_calculated(
    page: AnatomyPage, model: Path, qtbot: QtBot, family: str, tmp_path: Path
) -> None:
    if family != "bert":
        model = language_model(tmp_path / family, model_type=family, **SHAPES[family])
        page.session.inspector.choose(model)
    page.session.inspector.set_text(*PAIR)
    qtbot.waitUntil(
        lambda: (
            page.found is not None and (page.found.now.text, page.found.now.about.folder) == (PAIR[0], model)
        )
    )
    engine = trace(LoadedModel.open(model), *PAIR)
    page._go(page.walk.changed(layer=2, head=3, piece=4))
    for step in page.walk.plan.order:
        page._go(page.walk.at(step))
        told = page.told
        assert told is not None and told.sentence and "{" not in told.sentence + told.of + told.line, step
        if told.spot is not None and told.sum.terms:
            written = float(told.sum.ends[-1][1].replace("−", "-")) if told.sum.ends else told.sum.total
            assert written == pytest.approx(value_of(engine, told.spot), abs=2e-3), step
        header, *rows = page.rows.numbers()
        shown = [row for row in rows if row[0] != "=" and not str(row[0]).endswith("others")]
        places = [head.key for head in page.rows.picture.rows if head.key >= 0]
        for column in page.rows.picture.columns:
            name = column.name
            if not name or step in ("answer", "loss") or (step == "mixed" and name.endswith("heads")):
                continue
            first = next(i for i, title in enumerate(header) if f"{title} ".startswith(f"{column.title} "))
            array = engine[name][2] if engine[name].ndim == 3 else engine[name]
            numbers = np.array([row[first : first + array.shape[-1]] for row in shown], float)
            np.testing.assert_allclose(numbers, array[places], rtol=1e-4, atol=1e-5, err_msg=f"{step} {name}")


def test_the_sum_stands_under_its_terms_and_is_them(page: AnatomyPage) -> None:
    page._go(page.walk.changed(step="mixed", layer=3, head=2, piece=2))
    _score, weight, value, added = page.rows.picture.columns
    assert weight.values is not None and value.values is not None and added.values is not None
    np.testing.assert_allclose(weight.values.sum(), 1, atol=1e-5)
    np.testing.assert_allclose(weight.values[:, None] * value.values, added.values, atol=1e-6)
    np.testing.assert_allclose(added.values.sum(0), added.foot, atol=1e-5)


def test_a_long_text_shows_those_looked_at_most_and_the_sum_still_adds_up(
    page: AnatomyPage, qtbot: QtBot
) -> None:
    text = TOO_LONG[:160]
    page.session.inspector.set_text(text)
    qtbot.waitUntil(lambda: page.found is not None and page.found.now.text == text)
    page._go(page.walk.changed(step="mixed", layer=2, head=1, piece=9))
    rows = page.rows.picture.rows
    assert page.found is not None
    assert rows[-1].text == f"{page.found.now.num_tokens - len(rows) + 1} others" and len(rows) > 5
    weight, added = page.rows.picture.columns[1], page.rows.picture.columns[3]
    assert weight.values is not None and added.values is not None
    np.testing.assert_allclose(weight.values.sum(), 1, atol=1e-5)
    np.testing.assert_allclose(added.values.sum(0), added.foot, atol=1e-5)
    kept = [row.key for row in rows]
    page.step(1)
    assert [row.key for row in page.rows.picture.rows] == kept  # nothing moves between steps


def test_keys_walk_steps_pieces_layers_heads_and_numbers(page: AnatomyPage, hand: Hand) -> None:
    page.activateWindow()
    page._go(page.walk.changed(step="qkv", layer=1, head=1, piece=1))
    press(page, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Left)
    assert page.walk.step == "scores"
    press(page, Qt.Key.Key_Down)
    assert page.walk.piece == 2 and "“bank”" in hand.said("anatomy_sentence")
    press(page, Qt.Key.Key_PageDown, Qt.Key.Key_BracketRight)
    assert (page.walk.layer, page.walk.head) == (2, 2)
    page._go(page.walk.at("norm"))
    press(page, Qt.Key.Key_Right)
    assert (page.walk.step, page.walk.layer) == ("qkv", 3)  # the next layer follows
    number = hand.find("anatomy_number").value()
    press(page, Qt.Key.Key_Right, shift=True)
    assert hand.find("anatomy_number").value() == number % 5 + 1  # heads are 5 wide
    for _ in range(40):
        press(page, Qt.Key.Key_Right)
    press(page, Qt.Key.Key_0)  # there is nothing to take back
    assert page.walk.step == "loss" and hand.shown("anatomy_before", "anatomy_after") == ["anatomy_before"]


def test_a_click_on_a_stripe_chooses_its_number_and_its_piece(page: AnatomyPage, hand: Hand) -> None:
    page._go(page.walk.changed(step="mixed", layer=2, head=3, piece=1))
    for target in ((3, 2, 4), (2, 3, 1)):
        place = page.rows.rect_of(target).center().toPoint()
        QTest.mouseClick(page.rows, Qt.MouseButton.LeftButton, pos=place)
        assert page.told is not None and page.told.spot is not None
        assert (page.walk.piece, page.told.spot.number) == (target[0], target[2])
        assert hand.find("anatomy_number").value() == target[2] + 1
        assert target[1] in page.rows.picture.frame
    assert page.told.spot.kind == "heads"  # what is added belongs to the sum
    hand.click("anatomy_copy_vector")
    copied = [float(line) for line in QApplication.clipboard().text().split()]
    np.testing.assert_allclose(copied, page.rows.picture.columns[3].foot, rtol=1e-5)


def test_a_change_is_told_at_the_very_end_and_taken_back_at_once(
    page: AnatomyPage, hand: Hand, qtbot: QtBot
) -> None:
    page._go(page.walk.changed(step="mixed", layer=2, head=3))
    before = hand.find("anatomy_end").numbers()
    assert not hand.find("anatomy_scale").isVisible() and not hand.find("anatomy_as_it_was").isVisible()
    press(page, Qt.Key.Key_W)
    hand.find("anatomy_scale").setValue(0)
    at_rest(page, qtbot)
    assert hand.find("anatomy_head_off").isChecked() and "is off" in hand.said("anatomy_sentence")
    assert [chip.name for chip in page.strip.chips if chip.is_off] == ["head off"]
    hand.click("anatomy_no_attention_residual")
    hand.find("anatomy_position").setValue(7)
    at_rest(page, qtbot)
    now = hand.find("anatomy_end").numbers()
    assert [row[1] for row in now[1:]] != [row[2] for row in now[1:]]
    assert now[1][:2] == before[1][:2]
    marked = {BERTS.order[i] for i, chip in enumerate(page.strip.chips) if chip.is_changed}
    assert {"ids", "vectors", "mixed", "answer"} <= marked and "pieces" not in marked
    assert "no attention residual in layer 2" in hand.said("anatomy_changes")
    hand.click("anatomy_as_it_was")
    at_rest(page, qtbot)
    assert hand.find("anatomy_end").numbers() == before
    assert not any(chip.is_changed or chip.is_off for chip in page.strip.chips)


def test_the_command_copied_writes_the_numbers_on_screen(page: AnatomyPage, hand: Hand, qtbot: QtBot) -> None:
    page._go(page.walk.changed(step="mixed", layer=2, head=3))
    hand.find("anatomy_scale").setValue(5)
    at_rest(page, qtbot)
    hand.click("copy_anatomy_command")
    said = QApplication.clipboard().text()
    assert "--scale 2.3=0.5" in said and TEXT in said and said.startswith("python -m engine anatomy")


def test_a_weight_shows_its_row_its_column_and_what_a_hidden_word_teaches_it(
    page: AnatomyPage, hand: Hand, model: Path, qtbot: QtBot
) -> None:
    page._go(page.walk.changed(step="output", layer=1, piece=1, target="steep"))
    page.happens.sum.term_chosen.emit(7)
    dialog = page.findChild(WeightDialog)
    assert dialog is not None and page.told is not None
    row, weight = page.told.row, "encoder.layer.0.attention.output.dense.weight"
    assert hand.said("anatomy_weight_title").startswith(f"{weight}[{row}, 7] = ")
    qtbot.waitUntil(lambda: bool(dialog.said.text()))
    lesson = learn(LoadedModel.open(model), TEXT, None, answer="steep", weight=weight, row=row, column=7)
    assert dialog.sum.sum.total == pytest.approx(lesson.gradient, abs=1e-7)
    assert f"{lesson.loss:.7f}" in dialog.said.text() and f"{lesson.loss_after:.7f}" in dialog.said.text()
    hand.click("anatomy_weight_go")
    assert page.walk.step == "heads" and page.told.spot is not None and page.told.spot.number == 7


def test_a_piece_is_hidden_by_a_click_and_is_what_stood_there(
    page: AnatomyPage, hand: Hand, qtbot: QtBot
) -> None:
    page.session.inspector.set_text("The bank was old.")
    qtbot.waitUntil(lambda: page.found is not None and page.found.now.text == "The bank was old.")
    page._go(page.walk.changed(step="loss", piece=2))
    hand.click("anatomy_hide")
    qtbot.waitUntil(lambda: page.found is not None and "[MASK]" in page.found.now.text)
    assert page.session.inspector.text == "The [MASK] was old."
    assert hand.find("anatomy_target").text() == "bank" and "“bank”" in hand.said("anatomy_sentence")


def test_another_page_leads_to_a_step_layer_head_and_piece(page: AnatomyPage) -> None:
    model, inspector = page.state.model, page.inspector
    there = Walk(step="mixed", layer=3, head=4, piece=2)
    page.show_state(AnatomyState(model, inspector.text, inspector.text_pair, there))
    walk = page.walk
    assert (walk.step, walk.layer, walk.head, walk.piece) == ("mixed", 3, 4, 2)


def test_a_text_that_cannot_be_read_empties_the_page_and_says_why(page: AnatomyPage, hand: Hand) -> None:
    page.session.inspector.set_text(TOO_LONG)
    assert page.rows.is_empty and "64" in page.rows.empty_text
    assert not hand.find("copy_anatomy_command").isEnabled()
    press(page, Qt.Key.Key_Right)  # walks nowhere, and harms nothing


@pytest.mark.slow
@pytest.mark.usefixtures("styled")
def test_tokenizer_and_query_key_lead_to_the_same_text_layer_head_and_piece(
    open_window: OpenWindow, settings: AppSettings, model: Path, qtbot: QtBot
) -> None:
    window = open_window(settings)
    hand = Hand(window, qtbot)
    inspector = window.session.inspector
    inspector.choose(model)
    inspector.set_text(TEXT)
    qtbot.waitUntil(lambda: inspector.about is not None)
    window.show_page("tokenizer")
    qtbot.waitUntil(lambda: hand.find("tokenizer_to_anatomy").isVisible())
    window.page("tokenizer").text_view.choose_row(2)
    hand.click("tokenizer_to_anatomy")
    page: Any = window.page("anatomy")
    qtbot.waitUntil(lambda: page.found is not None)
    assert (window.current_page, page.walk.step, page.walk.piece) == ("anatomy", "sum", 2)
    window.show_page("attention")
    attention: Any = window.page("attention")
    qtbot.waitUntil(lambda: attention.has_maps)
    attention.show_picture("query_key")
    attention.choose_head(2, 1)
    attention.lock(3)
    qtbot.waitUntil(lambda: not attention.is_asking)
    detail = attention.picture.figure("query_key").detail
    hand.click("attention_to_anatomy")
    walk = page.walk
    assert (window.current_page, walk.step, walk.layer, walk.head, walk.piece) == (
        "anatomy",
        "mixed",
        3,
        2,
        3,
    )
    np.testing.assert_allclose(page.rows.picture.columns[3].foot, detail.output, atol=1e-5)


def test_a_classifier_tells_its_labels_at_the_end_of_every_step(
    page: AnatomyPage, hand: Hand, tmp_path: Path, qtbot: QtBot
) -> None:
    page.session.inspector.choose(classifier(tmp_path / "labels"))
    qtbot.waitUntil(lambda: page.found is not None and bool(page.found.now.about.labels))
    end = hand.find("anatomy_end")
    for step in ("text", "answer", "loss"):
        page._go(page.walk.at(step))
        assert sum(row[2] for row in end.numbers()[1:]) == pytest.approx(1, abs=1e-6)
    assert "does not guess words" in hand.said("anatomy_sentence")
    page._go(page.walk.at("ends"))
    page.rows.foot_chosen.emit(0, 3)
    assert page.told is not None and page.told.spot is not None and page.told.spot.name == "C"
    for step, name in (("ends", "pooler.dense.weight"), ("answer", "classifier.weight")):
        page._go(page.walk.at(step).changed(vector="C"))
        page.happens.sum.term_chosen.emit(2)
        dialog = page.findChildren(WeightDialog)[-1]
        assert dialog.title.text().startswith(f"{name}[") and "does not pass through" in dialog.said.text()
        dialog.reject()
