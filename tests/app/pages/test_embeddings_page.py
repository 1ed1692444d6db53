"""The Embeddings page asked of a very small real model: texts of a table, typed ones, a word, poolings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from app.pages.embeddings import paths
from app.pages.embeddings.page import EmbeddingsPage
from app.pages.embeddings.pair import learned_words
from app.pages.embeddings.requests import find_partner, sample_rows, snippet
from engine.inspect.embeddings.contexts import typed_lines
from engine.text.table import read_table
from tests.app.hand import ShowPage
from tests.fakes import model_folder

ROWS = (
    *("good film,pos,9", "a good play,pos,8", "good good film !,pos,7", ",neg,1"),
    *("bad film,neg,2", "a bad play,neg,3", "bad bad film !,neg,4", "film,neg,5"),
)
WORD = "good | a good film\ngood | good play !\nbad | the film is bad\nbad | bad film\nno such word"


@pytest.fixture
def page(no_models_ship: None, show_page: ShowPage[EmbeddingsPage]) -> EmbeddingsPage:
    return show_page(EmbeddingsPage)


@pytest.fixture
def ready(page: EmbeddingsPage, tmp_path: Path, qtbot: QtBot) -> EmbeddingsPage:
    """The page with a model and a table of eight rows, one of them empty."""
    (tmp_path / "films.csv").write_text("text,label,stars\n" + "\n".join(ROWS) + "\n")
    page.session.data.open(tmp_path / "films.csv")
    qtbot.waitUntil(lambda: page.session.data.table is not None)
    page.inspector.choose(model_folder(tmp_path / "model"))
    qtbot.waitUntil(lambda: page.inspector.about is not None)
    qtbot.waitUntil(lambda: page.session.wait_idle() and page.vectors is not None)
    page.source_card.choose_kind("table")
    page.views.show_view("map")
    return page


def press(page: EmbeddingsPage, button: QAbstractButton, qtbot: QtBot) -> None:
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: page.inspector.workers.is_idle)


def test_without_a_model_the_page_says_so_and_offers_one(page: EmbeddingsPage) -> None:
    assert page.empty.isVisible() and page.empty.button.isVisible()
    assert not page.compute_button.isEnabled()


@pytest.mark.slow
def test_the_page_opens_with_a_question_that_is_answered(
    page: EmbeddingsPage, tmp_path: Path, qtbot: QtBot
) -> None:
    page.inspector.choose(model_folder(tmp_path / "model"))
    qtbot.waitUntil(lambda: page.vectors is not None and page.inspector.workers.is_idle)
    found, shown = page.views.paths_card.found, page.views.paths_card.plot.numbers()
    assert (
        page.questions.chips.current == "word"
        and "“bank”" in page.questions.chips.buttons["word"].accessibleName()
    )
    assert len(shown) == 13 and [row[2] for row in shown[1:]] == ["money"] * 6 + ["river"] * 6
    assert "of 12 have a nearest neighbour" in page.views.answer.verdict.text()
    assert "by chance 5.5" in page.views.answer.verdict.text()
    assert found is not None and found.meanings.starts == 1
    assert page.sentences.model.rowCount() == 13 and page.method.text() == "Vector at the word, PCA, cosine"


@pytest.mark.slow
def test_without_a_table_the_texts_are_bundled_ones(
    page: EmbeddingsPage, tmp_path: Path, qtbot: QtBot
) -> None:
    page.inspector.choose(model_folder(tmp_path / "model"))
    qtbot.waitUntil(lambda: page.vectors is not None)
    press(page, page.questions.chips.buttons["texts"], qtbot)
    qtbot.waitUntil(lambda: len(page.views.map_card.plot.numbers()) == 37)
    assert "of 36 have a nearest text" in page.views.answer.verdict.text()
    (tmp_path / "films.csv").write_text("text,label,stars\n" + "\n".join(ROWS) + "\n")
    page.session.data.open(tmp_path / "films.csv")
    qtbot.waitUntil(lambda: page.source_card.kind == "table")
    assert page.source_card.typed.toPlainText()


@pytest.mark.slow
def test_the_slider_the_map_and_the_words_follow_one_layer(
    page: EmbeddingsPage, tmp_path: Path, qtbot: QtBot
) -> None:
    page.inspector.choose(model_folder(tmp_path / "model"))
    qtbot.waitUntil(lambda: page.vectors is not None and page.inspector.workers.is_idle)
    slider, plot = page.views.paths_card.slider, page.views.paths_card.plot
    slider.setFocus()
    qtbot.keyClick(slider, Qt.Key.Key_Home)
    assert plot.position == 0 == page.vectors_card.layer
    assert "one and the same point" in page.views.answer.first.text()
    assert not page.views.paths_card.misfits(0)
    qtbot.keyClick(slider, Qt.Key.Key_Right)
    assert plot.position == 1 == page.vectors_card.layer
    found = page.views.paths_card.found
    assert found is not None
    one = found.meanings.partings[1]
    assert f"{one.num_right} of 12" in page.views.answer.verdict.text()
    marked = [line.use for line in page.sentences.model.lines if line.note]
    assert marked == page.views.paths_card.misfits(1) == np.flatnonzero(~one.right).tolist()


@pytest.mark.slow
def test_play_ends_at_the_last_layer_and_jumps_there_where_motion_is_not_wanted(
    page: EmbeddingsPage, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.inspector.choose(model_folder(tmp_path / "model"))
    qtbot.waitUntil(lambda: page.vectors is not None and page.inspector.workers.is_idle)
    card = page.views.paths_card
    monkeypatch.setattr(paths, "PLAY_MS", 60)
    card.slider.choose(0, QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Home, Qt.KeyboardModifier.NoModifier))
    qtbot.mouseClick(card.play_button, Qt.MouseButton.LeftButton)
    assert card.is_playing
    qtbot.waitUntil(lambda: not card.is_playing)
    assert page.vectors_card.layer == card.layer == 2
    card.slider.choose(0, QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Home, Qt.KeyboardModifier.NoModifier))
    monkeypatch.setattr(paths, "moves", lambda _widget: False)
    card.play()
    assert not card.is_playing and page.vectors_card.layer == 2


@pytest.mark.slow
def test_a_sentence_is_changed_added_and_removed_in_its_place(
    page: EmbeddingsPage, tmp_path: Path, qtbot: QtBot
) -> None:
    page.inspector.choose(model_folder(tmp_path / "model"))
    qtbot.waitUntil(lambda: page.vectors is not None and page.inspector.workers.is_idle)
    model = page.sentences.model
    model.setData(model.index(11), "third | We met there.")
    qtbot.waitUntil(lambda: model.lines[11].use == -1)
    assert "does not occur" in model.lines[11].note
    model.setData(model.index(12), "third | The bank was closed.")
    qtbot.waitUntil(lambda: model.rowCount() == 14)
    assert model.lines[12].typed == "third | The bank was closed."
    model.setData(model.index(0), "")
    qtbot.waitUntil(lambda: model.rowCount() == 13)
    assert page.source_card.contexts.toPlainText().count("\n") == 11


@pytest.mark.slow
def test_a_row_and_its_point_are_lit_together(page: EmbeddingsPage, tmp_path: Path, qtbot: QtBot) -> None:
    page.inspector.choose(model_folder(tmp_path / "model"))
    qtbot.waitUntil(lambda: page.vectors is not None and page.inspector.workers.is_idle)
    view, plot = page.sentences.view, page.views.paths_card.plot
    at = view.visualRect(page.sentences.model.index(2)).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert plot.chosen_use == 2
    qtbot.mouseClick(plot, Qt.MouseButton.LeftButton, pos=plot.position_of(7).toPoint())
    assert view.currentIndex().row() == plot.chosen_use >= 0
    page.views.show_view("map")
    at = view.visualRect(page.sentences.model.index(3)).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    qtbot.waitUntil(lambda: page.views.map_card.chosen_place == 3)


@pytest.mark.slow
def test_texts_without_a_table_are_asked_for(page: EmbeddingsPage, tmp_path: Path, qtbot: QtBot) -> None:
    page.inspector.choose(model_folder(tmp_path / "model"))
    qtbot.waitUntil(lambda: page.vectors is not None and page.inspector.workers.is_idle)
    qtbot.mouseClick(page.change_button, Qt.MouseButton.LeftButton)
    page.source_card.choose_kind("table")
    assert not page.compute_button.isEnabled() and "No table is open" in page.compute_button.toolTip()
    with qtbot.waitSignal(page.session.page_requested) as asked:
        qtbot.mouseClick(page.source_card.open_button, Qt.MouseButton.LeftButton)
    assert asked.args[0] == "data"


@pytest.mark.slow
def test_rows_of_the_table_become_points_coloured_by_their_label(ready: EmbeddingsPage, qtbot: QtBot) -> None:
    press(ready, ready.compute_button, qtbot)
    plot = ready.views.map_card.plot
    rows = plot.numbers()
    assert rows[0] == ["x", "y", "label", "text"] and len(rows) == 8  # the empty row is left out
    assert [row[3] for row in rows[1:4]] == ["good film", "a good play", "good good film !"]
    assert [row[2] for row in rows[1:]] == ["pos"] * 3 + ["neg"] * 4
    assert "because empty: 1" in ready.status.text()
    assert dict(plot.caption)["weights, sha256"] == ready.inspector.about.fingerprint  # type: ignore[union-attr]
    assert "line 6" in plot.words_of(3)  # bad film, after the row that was left out


@pytest.mark.slow
def test_a_click_on_a_point_lists_its_nearest_neighbours_by_cosine(
    ready: EmbeddingsPage, qtbot: QtBot
) -> None:
    press(ready, ready.compute_button, qtbot)
    card = ready.views.map_card
    qtbot.mouseClick(card.plot, Qt.MouseButton.LeftButton, pos=card.plot.position_of(4).toPoint())
    qtbot.waitUntil(lambda: card.model.rowCount() == 6)
    held = card.vectors
    assert held is not None
    vectors = held.at(ready.vectors_card.pooling())  # type: ignore[arg-type]
    cosines = vectors @ vectors[4] / np.linalg.norm(vectors, axis=1) / np.linalg.norm(vectors[4])
    best = int(np.argsort(-cosines)[1])
    assert card.model.index(0, 2).data() == held.texts[best]
    assert float(card.model.index(0, 0).data()) == pytest.approx(cosines[best], abs=6e-4)
    assert "a bad play" in card.heading.text() and card.chosen_place == 4


@pytest.mark.slow
def test_another_layer_or_pooling_shows_at_once_without_computing_anew(
    ready: EmbeddingsPage, qtbot: QtBot
) -> None:
    press(ready, ready.compute_button, qtbot)
    held, before = ready.views.map_card.vectors, ready.views.map_card.plot.numbers()
    ready.vectors_card.slider.setValue(0)
    qtbot.waitUntil(lambda: ready.inspector.workers.is_idle and ready.views.map_card.plot.numbers() != before)
    assert ready.views.map_card.vectors is held
    assert dict(ready.views.map_card.plot.caption)["layer"] == "0 (embeddings)"
    box = ready.vectors_card.kind_box
    box.setCurrentIndex(box.findData("pooled"))
    box.activated.emit(box.currentIndex())
    qtbot.waitUntil(lambda: dict(ready.views.map_card.plot.caption).get("pooling") == "Pooled output")
    assert not ready.vectors_card.slider.isEnabled() and box.findData("mix") < 0


@pytest.mark.slow
def test_tsne_says_what_its_distances_mean_and_which_perplexity_was_used(
    ready: EmbeddingsPage, qtbot: QtBot
) -> None:
    press(ready, ready.compute_button, qtbot)
    box = ready.map_settings.method_box
    box.setCurrentIndex(1)
    box.activated.emit(1)
    caption = ready.views.map_card.plot
    qtbot.waitUntil(lambda: "t-SNE, perplexity 2, seed 1" in dict(caption.caption).get("map", ""))
    assert "a third of the 7 points" in ready.map_settings.note.text()


@pytest.mark.slow
def test_similarity_and_layers_follow_the_classes(ready: EmbeddingsPage, qtbot: QtBot) -> None:
    press(ready, ready.compute_button, qtbot)
    views = ready.views
    views.setCurrentWidget(views.similarity_card)
    qtbot.waitUntil(lambda: not views.similarity_card.plot.is_empty)
    texts = [row[0] for row in views.similarity_card.plot.numbers()[1:]]
    assert {str(text) for text in texts[:4]} == {
        "bad film",
        "a bad play",
        "bad bad film !",
        "film",
    }  # neg first
    views.setCurrentWidget(views.layers_card)
    qtbot.waitUntil(lambda: not views.layers_card.plot.is_empty)
    assert views.layers_card.plot.num_layers == 3 and len(views.layers_card.plot.lines) == 3
    box = ready.map_settings.color_box
    box.setCurrentIndex(0)  # nothing
    box.activated.emit(0)
    qtbot.waitUntil(lambda: len(views.layers_card.plot.lines) == 1)
    assert "Without groups" in views.layers_card.said.text()


@pytest.mark.slow
def test_a_word_in_typed_contexts_is_compared_by_meaning(ready: EmbeddingsPage, qtbot: QtBot) -> None:
    card = ready.source_card
    card.kind_box.setCurrentIndex(2)
    card.kind_box.activated.emit(2)
    card.word.setText("film")
    card.contexts.setPlainText(WORD)
    ready.views.setCurrentWidget(ready.views.layers_card)
    press(ready, ready.compute_button, qtbot)
    qtbot.waitUntil(lambda: not ready.views.layers_card.plot.is_empty)
    names = [line.name for line in ready.views.layers_card.plot.lines]
    assert names == ["same meaning", "other meaning", "any two words"]
    assert (
        "“film” in 3 places" in ready.status.text() and "Sentences without “film”: 2" in ready.status.text()
    )
    assert [row[3] for row in ready.views.map_card.plot.numbers()[1:]] == [
        "a good «film»", "the «film» is bad", "bad «film»",
    ]  # fmt: skip


def test_texts_that_trained_a_model_are_told() -> None:
    assert learned_words(0, 8) == ""
    assert learned_words(6, 8) == "A model here was trained on 6 of these 8 texts. New texts may move less."
    assert "rows of this table" in learned_words(None, 8)


@pytest.mark.slow
def test_each_question_is_answered_at_one_click(ready: EmbeddingsPage, qtbot: QtBot) -> None:
    press(ready, ready.questions.chips.buttons["cls"], qtbot)
    poolings = ready.views.poolings_card
    assert {row.name for row in poolings.plot.rows} >= {"[CLS]", "Mean of all pieces"}
    assert "%" in poolings.said.text() and "bundled sentences" in poolings.hint_label.text()
    assert poolings.said.isVisible()
    press(ready, ready.questions.chips.buttons["texts"], qtbot)
    press(ready, ready.questions.chips.buttons["cls"], qtbot)  # now on the rows of the table
    qtbot.waitUntil(lambda: "films.csv" in poolings.hint_label.text())
    press(ready, ready.questions.chips.buttons["tuned"], qtbot)
    assert ready.views.currentWidget() is ready.views.pair_card
    assert "Choose a second model" in ready.views.pair_card.said.text()
    press(ready, ready.questions.chips.buttons["word"], qtbot)
    qtbot.waitUntil(lambda: ready.source_card.word.text() == "bank")
    assert ready.views.currentWidget() is ready.views.paths_card


@pytest.mark.slow
def test_the_question_that_is_asked_last_is_answered(ready: EmbeddingsPage, qtbot: QtBot) -> None:
    for question in ("word", "texts", "word"):
        ready.ask(question)
    ready.views.paths_card.layer_chosen.emit(1)  # while the texts may still be on their way
    qtbot.waitUntil(lambda: ready.session.wait_idle())
    assert ready.questions.chips.current == "word" and ready.vectors is not None and ready.vectors.spans
    ready.ask("texts")
    ready.vectors_card.set_layer(0)
    qtbot.waitUntil(lambda: ready.session.wait_idle())
    assert ready.questions.chips.current == "texts" and not ready.vectors.spans


@pytest.mark.slow
def test_the_model_that_one_was_fine_tuned_from_is_found(tmp_path: Path) -> None:
    base, tuned = model_folder(tmp_path / "base"), model_folder(tmp_path / "tuned", seed=5)
    other = model_folder(tmp_path / "other", seed=6)
    (tuned / "cloze.json").write_text('{"schema_version": 1, "base_model": "base"}', encoding="utf-8")
    assert find_partner(tuned, [other, tuned, base]) == base
    assert find_partner(base, [other, base, tuned]) == tuned
    assert find_partner(other, [base, other, tuned]) is None


@pytest.mark.slow
def test_a_word_that_is_nowhere_is_said_above_the_page(ready: EmbeddingsPage, qtbot: QtBot) -> None:
    card = ready.source_card
    card.kind_box.setCurrentIndex(2)
    card.kind_box.activated.emit(2)
    card.word.setText("zebra")
    card.contexts.setPlainText(WORD)
    press(ready, ready.compute_button, qtbot)
    assert "“zebra”" in ready.banner.text()


@pytest.mark.slow
def test_a_change_at_the_left_is_said_until_it_is_computed(ready: EmbeddingsPage, qtbot: QtBot) -> None:
    press(ready, ready.compute_button, qtbot)
    ready.source_card.rows.setValue(3)
    assert "have changed" in ready.status.text()
    press(ready, ready.compute_button, qtbot)
    assert "have changed" not in ready.status.text()


@pytest.mark.slow
def test_another_checkpoint_moves_the_same_texts(ready: EmbeddingsPage, tmp_path: Path, qtbot: QtBot) -> None:
    press(ready, ready.compute_button, qtbot)
    before = ready.views.map_card.plot.numbers()
    ready.inspector.choose(model_folder(tmp_path / "other", seed=5))

    def is_drawn() -> bool:
        now = ready.views.map_card.plot.numbers()
        return len(now) == len(before) and now != before

    qtbot.waitUntil(is_drawn)
    assert [row[3] for row in ready.views.map_card.plot.numbers()] == [row[3] for row in before]


def test_rows_are_drawn_in_their_order_and_the_same_with_the_same_seed(tmp_path: Path) -> None:
    (tmp_path / "many.csv").write_text("text\n" + "\n".join(f"row {number}" for number in range(50)) + "\n")
    table = read_table(tmp_path / "many.csv")
    drawn = sample_rows(table, 7, 3)
    assert len(set(drawn.tolist())) == 7 and drawn.tolist() == sorted(drawn.tolist())
    assert drawn.tolist() == sample_rows(table, 7, 3).tolist() != sample_rows(table, 7, 4).tolist()
    assert sample_rows(table, 3, None).tolist() == [0, 1, 2] and len(sample_rows(table, 99, 1)) == 50


def test_typed_lines_may_name_their_group_and_a_word_is_shown_in_its_surroundings() -> None:
    assert typed_lines("river | by the bank\n\n plain \n| odd") == (
        ("river", "by the bank"), ("", "plain"), ("", "| odd"),
    )  # fmt: skip
    long = "x " * 100 + "bank, " + "y " * 100
    assert snippet(long, 200, 204).startswith("…") and "«bank», y" in snippet(long, 200, 204)
    assert snippet("她在苹果工作", 2, 4) == "她在«苹果»工作"
