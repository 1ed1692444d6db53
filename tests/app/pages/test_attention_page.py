"""The Attention page with real clicks and keys, on a very small real model."""

from __future__ import annotations

import csv
import gc
import weakref
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QPushButton, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from app.pages.attention import requests
from app.pages.attention.ablation import digits_for
from app.pages.attention.captions import EffectRow
from app.pages.attention.compare import CompareDialog
from app.pages.attention.page import AttentionPage
from app.pages.attention.state import AttentionChoice, AttentionComparison
from app.session import Session
from engine.inspect.loaded_model import LoadedModel
from engine.model.bert import Bert
from engine.model.weights import save_model
from tests.app.hand import ShowPage
from tests.fakes import model_folder, scramble, tiny_config, tiny_pretraining, tiny_wordpiece

TEXT, PAIR = "good [MASK] play", "bad film!"


@pytest.fixture
def page(no_models_ship: None, session: Session, show_page: ShowPage[AttentionPage]) -> AttentionPage:
    session.inspector.set_text(TEXT, PAIR)
    return show_page(AttentionPage)


@pytest.fixture
def looking(page: AttentionPage, tmp_path: Path, qtbot: QtBot) -> AttentionPage:
    """The page with 2 layers of 3 heads that guess words and next sentences."""
    save_model(tmp_path / "lm", tiny_pretraining(), tiny_wordpiece(), {})
    page.inspector.choose(tmp_path / "lm")
    settle(page, qtbot)
    return page


def settle(page: AttentionPage, qtbot: QtBot) -> None:
    """Wait until everything that was asked is answered and shown."""

    def is_settled() -> bool:
        return page.inspector.workers.is_idle and not page.ablation.is_waiting

    qtbot.waitUntil(is_settled)
    qtbot.wait(1)
    qtbot.waitUntil(is_settled)


def press(page: AttentionPage, qtbot: QtBot, key: str | Qt.Key) -> None:
    if isinstance(key, str):
        qtbot.keyClicks(page.picture.figure("heatmap"), key)
    else:
        qtbot.keyClick(page.picture.figure("heatmap"), key)
    settle(page, qtbot)


def click(page: AttentionPage, qtbot: QtBot, name: str) -> None:
    found = page.findChild(QPushButton, name) or page.findChild(QToolButton, name)
    assert isinstance(found, QWidget) and found.isVisible() and found.isEnabled(), name
    qtbot.mouseClick(found, Qt.MouseButton.LeftButton)
    settle(page, qtbot)


@pytest.mark.slow
def test_without_the_look_of_the_model_that_was_chosen_nothing_is_asked_of_the_old_one(
    looking: AttentionPage, qtbot: QtBot, tmp_path: Path
) -> None:
    model = tiny_pretraining(num_hidden_layers=1, num_attention_heads=2)
    save_model(tmp_path / "small", model, tiny_wordpiece(), {})
    failed, told = [], []
    looking.ablation.refused.connect(failed.append)
    looking.session.workers.problem.connect(told.append)
    old, small = looking.maps, LoadedModel.open(tmp_path / "small").about
    chosen = looking.chosen.fitted((1, 2)).choose(0, 1)
    looking.ablation.set_chosen(small, old, chosen, 0.0)  # as when the model has just changed
    settle(looking, qtbot)
    assert failed == [] and told == [] and looking.ablation.effects is None
    assert looking.effects.reason.text() == "There is nothing to compare yet."


@pytest.mark.slow
def test_a_model_that_was_trained_again_into_its_folder_is_looked_at_anew(
    looking: AttentionPage, qtbot: QtBot, tmp_path: Path
) -> None:
    before = weights(looking, 1, 2).copy()
    trained = tiny_pretraining()
    scramble(trained, seed=7)
    save_model(tmp_path / "lm", trained, tiny_wordpiece(), {})
    looking.inspector.choose(tmp_path / "lm")
    settle(looking, qtbot)
    assert not np.allclose(weights(looking, 1, 2), before)


def weights(page: AttentionPage, layer: int, head: int) -> np.ndarray:
    assert page.maps is not None
    return page.maps.attentions[layer, head]


def shown(page: AttentionPage) -> np.ndarray:
    assert page.picture.figure("heatmap").shown is not None
    return page.picture.figure("heatmap").shown.values


def choose(page: AttentionPage, qtbot: QtBot, name: str, value: object) -> None:
    """Choose an entry of a box by hand."""
    box = page.findChild(QWidget, name)
    box.setCurrentIndex(box.findData(value))  # type: ignore[union-attr]
    box.activated.emit(box.currentIndex())  # type: ignore[union-attr]
    settle(page, qtbot)


# ---- what is chosen, without a window


def test_behind_the_last_head_of_a_layer_comes_the_next_layer_and_behind_all_the_first() -> None:
    chosen = AttentionChoice(shape=(2, 3), heads=((0, 2),))
    assert chosen.step(heads=1).current == (1, 0)
    assert chosen.step(layers=1, heads=1).current == (0, 0)
    assert chosen.step(layers=-1).current == (1, 2)


def test_the_last_of_several_heads_cannot_be_taken_away() -> None:
    chosen = AttentionChoice(shape=(2, 3)).add(1, 1)
    assert chosen.heads == ((0, 0), (1, 1)) and not chosen.is_single
    assert chosen.add(0, 0).add(1, 1).heads == ((1, 1),)


def test_a_smaller_model_keeps_of_a_choice_what_it_has() -> None:
    chosen = AttentionChoice(shape=(12, 12), heads=((11, 3), (1, 2)), off=frozenset({(0, 1), (5, 5)}))
    fitted = chosen.fitted((2, 3))
    assert fitted.heads == ((1, 2),) and fitted.off == {(0, 1)}


def test_switching_heads_that_are_all_off_switches_them_on() -> None:
    chosen = AttentionChoice(shape=(2, 3)).switch(((0, 0),))
    assert chosen.switch(((0, 0), (0, 1))).off == {(0, 0), (0, 1)}
    assert chosen.switch(((0, 0),)).off == frozenset()


def test_a_small_change_is_shown_with_as_many_digits_as_it_takes() -> None:
    assert digits_for([EffectRow("a", 0.71, 0.48), EffectRow("b", 0.00001, 0.00002)]) == 2
    assert digits_for([EffectRow("a", 0.71, 0.48), EffectRow("b", 0.023, 0.022)]) == 3


# ---- pictures


@pytest.mark.slow
def test_a_click_in_the_mosaic_shows_that_heads_weights(looking: AttentionPage, qtbot: QtBot) -> None:
    mosaic = looking.heads.mosaic
    qtbot.mouseClick(mosaic, Qt.MouseButton.LeftButton, pos=mosaic.tile_rect(1, 2).center().toPoint())
    settle(looking, qtbot)
    assert looking.picture.title_label.text() == "Layer 2, head 3"
    np.testing.assert_allclose(shown(looking), weights(looking, 1, 2), atol=1e-7)


@pytest.mark.slow
def test_ctrl_click_averages_heads(looking: AttentionPage, qtbot: QtBot) -> None:
    mosaic = looking.heads.mosaic
    place = mosaic.tile_rect(1, 1).center().toPoint()
    qtbot.mouseClick(mosaic, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, place)
    settle(looking, qtbot)
    expected = (weights(looking, 0, 0) + weights(looking, 1, 1)) / 2
    np.testing.assert_allclose(shown(looking), expected, atol=1e-6)


@pytest.mark.slow
def test_keys_move_through_heads_and_layers(looking: AttentionPage, qtbot: QtBot) -> None:
    press(looking, qtbot, "]")
    assert looking.chosen.current == (0, 1)
    press(looking, qtbot, Qt.Key.Key_PageDown)
    assert looking.chosen.current == (1, 1)
    press(looking, qtbot, "[")
    np.testing.assert_allclose(shown(looking), weights(looking, 1, 0), atol=1e-7)


@pytest.mark.slow
def test_a_picture_is_drawn_once_for_what_it_shows(
    looking: AttentionPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn, draw = [], requests.draw_view
    monkeypatch.setattr(requests, "draw_view", lambda *asked: drawn.append(asked[1]) or draw(*asked))
    looking.lock(2)
    looking.show_picture("attribution")
    looking.show_picture("heatmap")
    settle(looking, qtbot)
    assert drawn == [] and looking.picture.figure("heatmap").locked_row == 2
    looking.choose_head(1, 2)
    settle(looking, qtbot)
    assert [chosen.current for chosen in drawn] == [(1, 2)]


@pytest.mark.slow
def test_maps_of_a_text_that_is_gone_take_no_memory(looking: AttentionPage, qtbot: QtBot) -> None:
    click(looking, qtbot, "attention_view_query_key")  # asks the model about the maps
    click(looking, qtbot, "attention_heads_as_list")  # and measures them
    looking.show_picture("attribution")  # so that nothing of the kind is asked again
    looking.heads.sort_by("position")
    maps = weakref.ref(looking.maps)
    looking.inspector.set_text("bad film")
    settle(looking, qtbot)
    gc.collect()
    assert maps() is None


@pytest.mark.slow
def test_a_text_that_is_too_long_is_offered_its_beginning_and_nothing_old_stays(
    looking: AttentionPage, qtbot: QtBot
) -> None:
    looking.heads.rank()
    settle(looking, qtbot)
    assert "[MASK]" in looking.heads.help.text()
    looking.inspector.set_text("good film " * 400)
    settle(looking, qtbot)
    most = looking.inspector.about.max_length
    assert f"reads at most {most}" in looking.banner.text()
    assert "[MASK]" not in looking.heads.help.text() and looking.heads.list.order == ()
    click(looking, qtbot, "looking_banner_action_1")
    assert looking.maps.num_tokens == most and looking.banner.text() == ""


@pytest.mark.slow
def test_a_locked_token_stays_locked_when_pieces_become_words(looking: AttentionPage, qtbot: QtBot) -> None:
    heatmap = looking.picture.figure("heatmap")
    where = heatmap.cell_rect(3, 1).center().toPoint()
    qtbot.mouseClick(heatmap, Qt.MouseButton.LeftButton, pos=where)
    assert looking.chosen.locked == 3
    choose(looking, qtbot, "attention_specials", "hide")
    assert heatmap.locked_row == 2  # [CLS] has gone
    choose(looking, qtbot, "attention_unit", "words")
    assert heatmap.shown is not None and heatmap.shown.row_places[heatmap.locked_row] == (3,)


@pytest.mark.slow
def test_blocks_are_offered_for_pairs_only(looking: AttentionPage, qtbot: QtBot) -> None:
    choose(looking, qtbot, "attention_block", "ab")
    assert shown(looking).shape == (5, 4)  # [CLS] good [MASK] play [SEP] look at bad film ! [SEP]
    looking.inspector.set_text("good film")
    settle(looking, qtbot)
    assert not looking.findChild(QWidget, "attention_block").isVisible()
    assert shown(looking).shape == (4, 4)


@pytest.mark.slow
def test_the_detail_is_of_the_locked_token(looking: AttentionPage, qtbot: QtBot) -> None:
    looking.lock(2)
    click(looking, qtbot, "attention_view_query_key")
    detail = looking.picture.figure("query_key").detail
    assert detail is not None and detail.place == 2
    np.testing.assert_allclose(detail.weights, weights(looking, 0, 0)[2], atol=1e-6)


@pytest.mark.slow
def test_the_difference_from_another_head_is_signed(looking: AttentionPage, qtbot: QtBot) -> None:
    looking.compare(AttentionComparison("head", (1, 2)))
    settle(looking, qtbot)
    expected = weights(looking, 0, 0) - weights(looking, 1, 2)
    np.testing.assert_allclose(shown(looking), expected, atol=1e-6)
    assert "layer 2, head 3" in looking.picture.comparison_words.text()
    click(looking, qtbot, "attention_end_comparison")
    assert shown(looking).min() >= 0


@pytest.mark.slow
def test_the_difference_from_another_text_lines_up_tokens(looking: AttentionPage, qtbot: QtBot) -> None:
    click(looking, qtbot, "attention_compare_button")
    dialog = looking.findChild(CompareDialog, "attention_compare")
    dialog.boxes[0].setPlainText("bad [MASK] play")
    assert dialog.radios["text"].isChecked()
    qtbot.mouseClick(dialog.go, Qt.MouseButton.LeftButton)
    settle(looking, qtbot)
    assert looking.picture.figure("heatmap").shown is not None
    assert looking.picture.figure("heatmap").shown.signed and shown(looking).shape == (9, 9)


@pytest.mark.slow
def test_a_model_without_the_chosen_head_is_refused_in_words(
    looking: AttentionPage, qtbot: QtBot, tmp_path: Path
) -> None:
    small = tiny_pretraining(num_hidden_layers=1)
    save_model(tmp_path / "small", small, tiny_wordpiece(), {})
    looking.choose_head(1, 1)
    looking.compare(AttentionComparison("model", folder=tmp_path / "small", name="small"))
    settle(looking, qtbot)
    assert looking.banner.isVisible() and "no layer 2, head 2" in looking.banner.text()
    looking.choose_head(0, 1)
    settle(looking, qtbot)
    assert not looking.banner.isVisible() and looking.picture.figure("heatmap").shown.signed  # type: ignore[union-attr]


# ---- switching off, finding


@pytest.mark.slow
def test_a_head_that_is_off_changes_the_guess_and_later_layers(looking: AttentionPage, qtbot: QtBot) -> None:
    before = weights(looking, 1, 0).copy()
    assert looking.effects.title_label.text() == "Ablation"
    asked = np.array([(row.before, row.after) for row in looking.effects.rows])
    assert (asked[:, 0] != asked[:, 1]).any()
    press(looking, qtbot, "o")
    assert looking.effects.title_label.text() == "Ablation: 1 head turned off"
    np.testing.assert_allclose([(row.before, row.after) for row in looking.effects.rows], asked, atol=1e-6)
    assert not np.allclose(weights(looking, 1, 0), before)
    click(looking, qtbot, "attention_all_on")
    assert looking.chosen.off == frozenset()
    np.testing.assert_allclose(weights(looking, 1, 0), before)


@pytest.mark.slow
def test_a_whole_layer_goes_off_by_one_button(looking: AttentionPage, qtbot: QtBot) -> None:
    click(looking, qtbot, "attention_switch_layer")
    assert looking.chosen.off == {(0, 0), (0, 1), (0, 2)}
    assert looking.effects.layer_button.text() == "Layer on"


@pytest.mark.slow
def test_sorted_by_sep_the_first_row_chooses_the_head_that_looks_there_most(
    looking: AttentionPage, qtbot: QtBot
) -> None:
    choose(looking, qtbot, "attention_sort", "sep")
    seps = [4, 8]
    words = [1, 2, 3, 5, 6, 7]
    mass = np.array(
        [[weights(looking, i, j)[words][:, seps].sum(1).mean() for j in range(3)] for i in range(2)]
    )
    layer, head = np.unravel_index(int(mass.argmax()), mass.shape)
    heads = looking.heads.list
    top = heads.visualRect(heads.model().index(0, 2)).center()
    qtbot.mouseClick(heads.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(top))
    settle(looking, qtbot)
    assert looking.chosen.current == (layer, head)
    assert looking.heads.list.head_values is not None
    np.testing.assert_allclose(looking.heads.list.head_values.values, mass, atol=1e-5)


@pytest.mark.slow
def test_the_head_that_matters_most_is_at_the_top(looking: AttentionPage, qtbot: QtBot) -> None:
    click(looking, qtbot, "attention_ranking")
    held = looking.heads.list.head_values
    assert held is not None and held.kind == "change"
    first = looking.heads.list.order[0]
    assert abs(held.values[first]) == np.abs(held.values).max() > 0


@pytest.mark.slow
def test_heads_are_measured_over_the_open_table(looking: AttentionPage, qtbot: QtBot, tmp_path: Path) -> None:
    with (tmp_path / "films.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["text", "label"], *([f"good film {c}", c] for c in "abcdefg")])
    looking.session.data.open(tmp_path / "films.csv")
    qtbot.waitUntil(lambda: looking.session.data.summary is not None)
    choose(looking, qtbot, "attention_sort", "entropy")
    choose(looking, qtbot, "attention_over", "table")
    held = looking.heads.list.head_values
    assert held is not None and held.values.shape == (2, 3)
    assert "7 texts" in looking.heads.help.text()


@pytest.mark.slow
def test_heads_are_weighed_and_switched_off_over_the_open_table(
    looking: AttentionPage, qtbot: QtBot, tmp_path: Path
) -> None:
    click(looking, qtbot, "attention_without_over_table")
    told = looking.effects.table_words
    assert "Open a table" in told.text()
    (tmp_path / "films.csv").write_text("text\n" + "good bad film playing\n" * 9, encoding="utf-8")
    looking.session.data.open(tmp_path / "films.csv")
    qtbot.waitUntil(lambda: looking.session.data.summary is not None)
    choose(looking, qtbot, "attention_sort", "importance")
    held = looking.heads.list.head_values
    assert held is not None and held.half is not None and "9 texts" in looking.heads.help.text()
    first = looking.heads.list.order[0]
    assert held.values[first] == held.values.max() > 0 and "to" in held.interval_words(first)
    looking.heads.head_chosen.emit(*first)
    settle(looking, qtbot)
    click(looking, qtbot, "attention_without_over_table")
    assert told.text().startswith("Masked words predicted correctly: ") and "points" in told.text()
    press(looking, qtbot, "]")  # another head: what was said was said of that one
    assert not told.text()


# ---- what is missing


def test_without_a_model_the_page_says_so(page: AttentionPage, qtbot: QtBot) -> None:
    settle(page, qtbot)
    assert page.empty.isVisible() and not page.copy_button.isEnabled()


@pytest.mark.slow
@pytest.mark.parametrize(("text", "said"), [(" ", "no text"), ("good " * 60, "at most 41")])
def test_a_text_that_cannot_be_read_is_refused_in_place(
    looking: AttentionPage, qtbot: QtBot, text: str, said: str
) -> None:
    looking.inspector.set_text(text)
    settle(looking, qtbot)
    assert looking.picture.figure("heatmap").is_empty and not looking.copy_button.isEnabled()
    assert said in looking.picture.figure("heatmap").empty_text
    looking.inspector.set_text("good film")
    settle(looking, qtbot)
    assert shown(looking).shape == (4, 4)


@pytest.mark.slow
def test_a_look_that_memory_does_not_suffice_for_is_refused_beforehand(
    looking: AttentionPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.inspect.attention.weights.free_bytes", lambda: 1000)
    before = looking.maps
    looking.inspector.set_text("bad film")
    settle(looking, qtbot)
    assert looking.banner.isVisible() and "GB" in looking.banner.text()
    assert looking.maps is before


@pytest.mark.slow
def test_an_encoder_without_heads_shows_attention_and_says_what_it_lacks(
    page: AttentionPage, qtbot: QtBot, tmp_path: Path
) -> None:
    encoder = Bert(tiny_config())
    scramble(encoder)
    save_model(tmp_path / "encoder", encoder, tiny_wordpiece(), {})
    page.inspector.choose(tmp_path / "encoder")
    settle(page, qtbot)
    assert shown(page).shape == (9, 9)
    assert "no trained masked-word, next-sentence or label head" in page.effects.reason.text()


@pytest.mark.slow
def test_a_classifier_shows_its_labels_change(page: AttentionPage, qtbot: QtBot, tmp_path: Path) -> None:
    page.inspector.choose(model_folder(tmp_path / "classifier"))
    settle(page, qtbot)
    assert len(page.effects.rows) == 3 and all(row.name.startswith("label") for row in page.effects.rows)


@pytest.mark.slow
def test_without_a_mask_a_word_can_be_masked_by_a_click(looking: AttentionPage, qtbot: QtBot) -> None:
    looking.inspector.set_text("good bad film")
    settle(looking, qtbot)
    looking.lock(2)
    click(looking, qtbot, "attention_mask")
    assert looking.inspector.text == "good [MASK] film" and looking.effects.rows


# ---- taking along


@pytest.mark.slow
def test_the_command_names_model_and_texts(looking: AttentionPage, qtbot: QtBot) -> None:
    looking.copy_button.click()
    command = QApplication.clipboard().text()
    assert (
        command.startswith("python -m engine attention --model")
        and "'good [MASK] play' 'bad film!'" in command
    )
    looking.copy_button.rest()


@pytest.mark.slow
def test_a_saved_figure_names_model_text_layer_and_head(looking: AttentionPage) -> None:
    assert looking.maps is not None
    caption = dict(looking.picture.figure("heatmap").caption)
    assert caption["text"] == TEXT and caption["layer"] == "1" and caption["head"] == "1"
    assert caption["weights, sha256"] == looking.maps.fingerprint


@pytest.mark.slow
def test_the_views_begin_at_one_place_as_buttons_and_as_a_box(looking: AttentionPage, qtbot: QtBot) -> None:
    page = looking
    toggles = page.picture.toggles
    lefts = []
    for width in (640, 470):
        page.picture.setFixedWidth(width)
        qtbot.wait(20)
        first = toggles.box if toggles.box.isVisible() else toggles.buttons["heatmap"]
        lefts.append(first.mapTo(page.picture, QPoint()).x())
    assert toggles.box.isVisible() and lefts[0] == lefts[1], lefts
