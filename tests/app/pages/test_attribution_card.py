"""The attribution card: what it can ask, what its colours mean, the sum, Stop, and what it cannot do."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.look import theme
from app.pages.attention import attribution as attention_attribution
from app.pages.attention.attribution import AttributionCard
from app.pages.attention.resting_words import RestingWordsDialog
from app.plots.attribution import AttributedBars, AttributedText, ScoredWord, signed
from app.plots.figure import save_figure
from app.session import Session
from engine.inspect.attribution import path as attribution_path
from engine.model.bert import Bert
from engine.model.weights import save_model
from tests.fakes import model_folder, scramble, tiny_config, tiny_pretraining, tiny_wordpiece

TEXT = "a good film, playing bad!"


@pytest.fixture
def card(session: Session, qtbot: QtBot) -> AttributionCard:
    made = AttributionCard(session)
    qtbot.addWidget(made)
    made.resize(1000, 480)
    made.show()
    return made


def language(tmp_path: Path) -> Path:
    save_model(tmp_path / "language", tiny_pretraining(3), tiny_wordpiece(), {"task": "pretraining"})
    return tmp_path / "language"


def show(
    qtbot: QtBot, session: Session, card: AttributionCard, folder: Path, text: str, pair: str = ""
) -> None:
    """Open a model, and tell the card of it as a page does."""
    session.inspector.choose(folder)
    qtbot.waitUntil(lambda: session.inspector.about is not None)
    card.set_subject(text, pair or None, session.inspector.about)


def answered(qtbot: QtBot, card: AttributionCard) -> None:
    qtbot.waitUntil(lambda: card.result is not None and not card.progress.isVisible())


def said(card: QWidget, name: str) -> str:
    found = card.findChild(QLabel, name)
    assert found is not None
    return "" if found.isHidden() else found.text()


def ask(card: AttributionCard, row: int) -> None:
    """Choose a question as a person does."""
    box = card.choices.question
    box.setCurrentIndex(row)
    box.activated.emit(row)


def entries(card: AttributionCard) -> list[str]:
    return [card.choices.question.itemText(row) for row in range(card.choices.question.count())]


def test_a_classifier_explains_its_own_label_and_the_sum_is_shown(qtbot, session, card, tmp_path) -> None:
    show(qtbot, session, card, model_folder(tmp_path / "labels", seed=5), TEXT)
    answered(qtbot, card)
    result = card.result
    assert entries(card) == ["the label"]
    assert said(card, "attribution_heading").startswith(f"The label “{result.asked.target.answer}”: ")
    first, second, third = (
        float(part.replace("−", "-")) for part in card.sum.text().replace("=", "+").split(" + ")
    )
    assert card.sum.isVisible() and first == pytest.approx(second + third, abs=0.03)
    assert first == pytest.approx(result.value, abs=0.005) and "residual" in card.sum.texts()[2]
    assert [each.text for each in card.picture.words] == ["a", "good", "film", ",", "playing", "bad", "!"]
    assert [each.joined for each in card.picture.words] == [False, False, False, True, False, False, True]


def test_any_other_answer_and_a_difference_can_be_asked_for(qtbot, session, card, tmp_path) -> None:
    show(qtbot, session, card, model_folder(tmp_path / "labels", seed=5), TEXT)
    answered(qtbot, card)
    for box, name in ((card.choices.answer, "odd"), (card.choices.against, "bad")):
        box.setCurrentIndex(box.findData(name))
        box.activated.emit(box.currentIndex())
        answered(qtbot, card)
    assert said(card, "attribution_heading") == "“odd” rather than “bad”"
    assert (card.result.asked.target.answer, card.result.asked.target.against) == ("odd", "bad")


@pytest.mark.slow
def test_a_model_that_guesses_words_is_asked_for_one_whatever_model_was_open_before(
    qtbot, session, card, tmp_path
) -> None:
    show(qtbot, session, card, model_folder(tmp_path / "labels", seed=5), TEXT)
    answered(qtbot, card)
    show(qtbot, session, card, language(tmp_path), TEXT)  # the same text, with no [MASK] in it
    answered(qtbot, card)
    assert entries(card) == ["“good”, masked"]


@pytest.mark.slow
def test_a_click_on_a_word_hides_it_and_asks_for_it(qtbot, session, card, tmp_path) -> None:
    show(qtbot, session, card, language(tmp_path), TEXT, "bad film")
    answered(qtbot, card)
    assert entries(card)[-1] == "B follows A, or not"
    place = card.picture.rect_of(4).center().toPoint()  # playing, of two pieces
    qtbot.mouseClick(card.picture.canvas(), Qt.MouseButton.LeftButton, pos=QPoint(place))
    assert card.picture.words[4].is_gap
    answered(qtbot, card)
    assert card.choices.question.currentText() == "“playing”, masked"
    assert said(card, "attribution_heading").startswith("The masked word “playing”: ")
    assert card.result.tokens.count("[MASK]") == 2 and card.picture.words[4].score is None


@pytest.mark.slow
def test_a_mask_in_the_text_and_a_word_that_is_typed_for_it(qtbot, session, card, tmp_path) -> None:
    show(qtbot, session, card, language(tmp_path), "a [MASK] film [MASK]")
    answered(qtbot, card)
    assert entries(card)[:2] == ["the word at [MASK] 1", "the word at [MASK] 2"]
    qtbot.keyClicks(card.choices.word, "bad")
    qtbot.keyClick(card.choices.word, Qt.Key.Key_Return)
    answered(qtbot, card)
    assert said(card, "attribution_heading").startswith("“bad” at [MASK]")
    card.choices.word.setText("жук")
    qtbot.keyClick(card.choices.word, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "cannot spell" in said(card, "attribution_refusal"))
    assert card.result is None and not card.progress.isVisible() and card.go_button.isEnabled()


def test_pieces_are_the_same_result_in_another_way(qtbot, session, card, tmp_path) -> None:
    show(qtbot, session, card, model_folder(tmp_path / "labels", seed=5), TEXT)
    answered(qtbot, card)
    before = card.result
    card.choices.unit.buttons["pieces"].click()
    assert card.result is before
    assert [each.text for each in card.picture.words][4:6] == ["play", "ing"]
    assert sum(each.score for each in card.picture.words) == pytest.approx(before.total)


def test_gradient_x_input_claims_no_sum(qtbot, session, card, tmp_path) -> None:
    show(qtbot, session, card, model_folder(tmp_path / "labels", seed=5), TEXT)
    answered(qtbot, card)
    box = card.choices.method
    box.setCurrentIndex(box.findData("gradient_x_input"))
    box.activated.emit(1)
    assert card.result is None  # the old one is not shown for the new question
    answered(qtbot, card)
    assert not card.sum.isVisible() and "their sum has no meaning" in said(card, "attribution_meaning")
    assert not card.choices.baseline.isEnabled()


@pytest.mark.slow
def test_what_takes_long_waits_for_the_button_and_can_be_stopped(
    qtbot, session, card, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(attention_attribution, "QUICK_S", -1.0)
    monkeypatch.setattr(attribution_path, "TOKENS_AT_ONCE", 1)
    show(qtbot, session, card, model_folder(tmp_path / "labels", seed=5), TEXT)
    qtbot.wait(30)
    go = card.findChild(QPushButton, "attribution_go")
    assert "Press Explain" in said(card, "attribution_state") and not card.is_asking
    quick, pause = attribution_path.Path.slopes, threading.Event()

    def slopes(path: attribution_path.Path, places: np.ndarray) -> np.ndarray | None:
        pause.wait(0.02)
        return quick(path, places)

    monkeypatch.setattr(attribution_path.Path, "slopes", slopes)
    qtbot.mouseClick(go, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: said(card, "attribution_state").startswith("Step "))
    assert go.text() == "Stop"
    qtbot.mouseClick(go, Qt.MouseButton.LeftButton)
    assert "Stopped" in said(card, "attribution_state") and go.text() == "Explain"
    qtbot.waitUntil(lambda: session.inspector.workers.is_idle)
    assert card.result is None
    qtbot.mouseClick(go, Qt.MouseButton.LeftButton)
    answered(qtbot, card)


def test_a_model_without_any_head_says_so_and_the_way(qtbot, session, card, tmp_path) -> None:
    bert = Bert(tiny_config())
    scramble(bert)
    save_model(tmp_path / "plain", bert.eval(), tiny_wordpiece())
    show(qtbot, session, card, tmp_path / "plain", TEXT)
    empty = card.findChild(QWidget, "attribution_empty")
    assert empty.isVisible() and not card.choices.isVisible()
    assert "no labels, no masked words, no next sentence" in card.empty.label.text()
    assert "Fine-tune it" in card.empty.label.text()


def test_a_text_that_cannot_be_read_is_refused_and_the_next_one_is_answered(
    qtbot, session, card, tmp_path
) -> None:
    show(qtbot, session, card, model_folder(tmp_path / "labels", seed=5), "a " * 60)
    assert "reads at most 41" in said(card, "attribution_refusal") and not card.choices.isEnabled()
    card.set_subject(TEXT, None, session.inspector.about)
    answered(qtbot, card)
    assert not said(card, "attribution_refusal")


def scored() -> list[ScoredWord]:
    values = (0.1, 2.0, -1.0, 0.0)
    return [
        ScoredWord(text, 0, value) for text, value in zip(("ab", "good", "bad", "cd"), values, strict=True)
    ]


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_strongest_word_is_blue_the_one_against_orange_and_nothing_is_the_card(qtbot, qapp, mode) -> None:
    theme.apply_theme(qapp, mode)
    plot = AttributedText("Attribution")
    qtbot.addWidget(plot)
    plot.set_words(scored())
    plot.resize(400, 60)
    plot.show()
    QApplication.processEvents()
    image = plot.canvas().grab().toImage()
    colors = theme.current()

    def ground(index: int) -> str:
        room = plot.rect_of(index)
        return image.pixelColor(int(room.left() + 3), int(room.center().y())).name()

    assert ground(1) == colors.accent and ground(3) == colors.card
    weak, against = (distance(ground(index), colors.card) for index in (0, 2))
    assert 0 < weak < against
    assert distance(ground(2), colors.b) < distance(ground(2), colors.accent)
    assert plot.words_of(2) == "bad: −1.000"


def distance(one: str, other: str) -> int:
    return sum(abs(int(one[i : i + 2], 16) - int(other[i : i + 2], 16)) for i in (1, 3, 5))


def test_words_are_told_apart_without_colour(qtbot, qapp) -> None:
    plot = AttributedText("Attribution")
    qtbot.addWidget(plot)
    plot.set_words([ScoredWord("good", 0, 1.0), ScoredWord("good", 0, -1.0)])
    plot.resize(400, 60)
    plot.show()
    QApplication.processEvents()
    image = plot.canvas().grab().toImage()

    def inked(index: int) -> int:
        """Count the points under a word that are not as light as what is under its bar."""
        room = plot.rect_of(index)
        columns, top = range(int(room.left()) + 10, int(room.right())), int(room.bottom()) + 2
        empty = image.pixelColor(columns[0], top + 11).lightness()
        points = [image.pixelColor(x, y).lightness() for x in columns for y in range(top, top + 11)]
        return sum(abs(point - empty) > 30 for point in points)

    assert inked(0) > 1.5 * inked(1) > 0  # a full bar and a hollow one


def test_bars_are_sorted_by_strength_and_point_at_their_word(qtbot, tmp_path) -> None:
    plot = AttributedBars("Most influential words")
    qtbot.addWidget(plot)
    plot.set_words([*scored(), ScoredWord("good", 0, 0.5), ScoredWord("gap", 0, None, is_gap=True)])
    assert [row.name for row in plot.rows] == ["good (1)", "bad", "good (2)", "ab"]
    assert plot.numbers()[1:3] == [["good (1)", 2.0], ["bad", -1.0]]
    pointed: list[int] = []
    plot.word_pointed.connect(pointed.append)
    plot.show()
    plot.setFocus()
    for _ in range(2):
        qtbot.keyClick(plot, Qt.Key.Key_Down)
    assert pointed == [1, 2]
    plot.set_caption([("model", "tiny")])
    save_figure(plot, tmp_path / "bars.csv")
    save_figure(plot, tmp_path / "bars.png")
    assert "good (1),2.0" in (tmp_path / "bars.csv").read_text(encoding="utf-8-sig")


def test_the_caption_names_model_question_and_residual(qtbot, session, card, tmp_path) -> None:
    show(qtbot, session, card, model_folder(tmp_path / "labels", seed=5), TEXT)
    answered(qtbot, card)
    caption = dict(card.picture.caption)
    assert caption["model"] == "labels" and caption["weights, sha256"] == card.result.fingerprint
    assert caption["text"] == TEXT and caption["asked"].startswith("the label") and "%" in caption["residual"]


def test_signs_are_written_out() -> None:
    assert [signed(value) for value in (1.004, -0.5, -0.001)] == ["+1.00", "−0.50", "+0.00"]


def test_the_words_of_a_whole_table_are_listed_with_the_texts_that_hold_them(
    qtbot, session, card, tmp_path
) -> None:
    show(qtbot, session, card, model_folder(tmp_path / "labels", seed=5), TEXT)
    answered(qtbot, card)
    over = card.findChild(QPushButton, "attribution_over_table")
    qtbot.mouseClick(over, Qt.MouseButton.LeftButton)
    assert "Open a table" in said(card, "attribution_refusal")
    (tmp_path / "films.csv").write_text("text\n" + "good film\nbad film\ngood play\n" * 4, encoding="utf-8")
    session.data.open(tmp_path / "films.csv")
    qtbot.waitUntil(lambda: session.data.summary is not None)
    qtbot.mouseClick(over, Qt.MouseButton.LeftButton)
    dialog = card.findChild(RestingWordsDialog)
    qtbot.mouseClick(dialog.run, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(dialog.save.isEnabled)
    shown = {dialog.rows.index(row, 0).data(): dialog.rows.index(row, 3).data() for row in range(4)}
    assert shown == {"good": "8", "film": "8", "bad": "4", "play": "4"}
    assert "4 of 4 different words" in dialog.said.text() and "12 texts" in dialog.said.text()
    dialog.save_file(str(tmp_path / "words.csv"))
    qtbot.waitUntil((tmp_path / "words.csv").exists)
    dialog.method.activated.emit(1)
    assert not dialog.save.isEnabled() and not dialog.rows.rowCount()
    dialog.close()
