"""Hiding words, next sentences, templates and layers, by real clicks on a very small real model."""

from __future__ import annotations

import csv
import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from app.look import theme
from app.pages.probe.masked_text import MaskedText
from app.pages.probe.page import GAME, NEXT, OVER_TABLE, TEMPLATES, WORDS, ProbePage
from app.pages.probe.page import LAYERS as LAYERS_TAB
from app.pages.probe.page import SURPRISE as SURPRISE_TAB
from app.pages.probe.requests import GapsAnswer, GuessGaps
from app.pages.probe.sentence import SentenceCard
from app.plots.word_chips import MaskableWord, WordChips
from app.words import decimal, probability
from engine.events import result_of
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.follows import follows
from engine.inspect.masked.perplexity import pseudo_perplexity
from engine.inspect.masked.probe import probe
from engine.model.weights import save_model
from engine.text.wordpiece import WordPiece
from tests.app.hand import ShowPage
from tests.fakes import TOKENS, model_folder, tiny_pretraining, tiny_wordpiece
from tests.looks.looking_scenes import language_model

LEFT = Qt.MouseButton.LeftButton
TEXT = "good film ! bad play"


def pretrained(folder: Path, seed: int = 0) -> Path:
    """Write the fake with both heads of pretraining."""
    save_model(folder, tiny_pretraining(seed), tiny_wordpiece(), {"task": "pretraining"})
    return folder


@pytest.fixture
def page(no_models_ship: None, show_page: ShowPage[ProbePage]) -> ProbePage:
    return show_page(ProbePage)


@pytest.fixture
def probing(page: ProbePage, tmp_path: Path, qtbot: QtBot) -> ProbePage:
    """The page with a model that answers, and nothing hidden yet."""
    page.inspector.choose(pretrained(tmp_path / "model"))
    page.inspector.set_text(TEXT)
    qtbot.waitUntil(lambda: len(page.draft.words) == 5)
    return page


def click_word(page: ProbePage, qtbot: QtBot, index: int) -> None:
    chips = page.sentence.chips
    qtbot.mouseClick(chips.canvas(), LEFT, pos=chips.rect_of(index).center().toPoint())


def hide(page: ProbePage, qtbot: QtBot, *places: int) -> None:
    """Click words and wait for the guesses."""
    for place in places:
        click_word(page, qtbot, place)
    qtbot.waitUntil(lambda: is_answered(page))


def is_answered(page: ProbePage) -> bool:
    answer = page.words_view.answer
    return answer is not None and answer.question == page.draft.question and page.inspector.workers.is_idle


def shown(page: ProbePage, gap: int) -> list[str]:
    return [guess.text for guess in page.words_view.cards[gap - 1].plots[0].guesses]


def texts(page: ProbePage) -> list[str]:
    return [f"[{chip.gap}]" if chip.gap else chip.text for chip in page.sentence.chips.words]


# ---- words


@pytest.mark.slow
def test_a_clicked_word_gets_the_guesses_of_its_model(
    probing: ProbePage, qtbot: QtBot, tmp_path: Path
) -> None:
    hide(probing, qtbot, 1)
    assert texts(probing) == ["good", "[1]", "!", "bad", "play"]
    expected = (
        probe(LoadedModel.open(tmp_path / "model"), "good [MASK] ! bad play", top_k=6).answers[0].guesses
    )
    card = probing.words_view.cards[0]
    top = card.plots[0].guesses[: card.plots[0].num_top]
    assert [guess.text for guess in top] == [guess.word for guess in expected]
    assert [guess.probability for guess in top] == pytest.approx([guess.probability for guess in expected])
    assert card.objectName() == "probe_gap_1" and card.isVisible()
    assert "original: film · rank" in card.hint_label.text()
    marked = [guess.text for guess in card.plots[0].guesses if guess.mark == "original"]
    assert marked == ["film"]


@pytest.mark.slow
def test_another_click_brings_the_word_back(probing: ProbePage, qtbot: QtBot) -> None:
    hide(probing, qtbot, 1)
    click_word(probing, qtbot, 1)
    assert texts(probing) == TEXT.split() and probing.words_view.empty.isVisible()


@pytest.mark.slow
def test_arrow_keys_and_space_hide_a_word(probing: ProbePage, qtbot: QtBot) -> None:
    chips = probing.sentence.chips
    chips.setFocus(Qt.FocusReason.TabFocusReason)
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Space):
        qtbot.keyClick(chips, key)
    assert texts(probing)[3] == "[1]"
    qtbot.keyClick(chips, Qt.Key.Key_Return)
    assert texts(probing)[3] == "bad"


def test_each_step_can_be_taken_back_and_made_again(probing: ProbePage, qtbot: QtBot) -> None:
    hide(probing, qtbot, 1, 4)
    probing.sentence.chips.setFocus()
    qtbot.keyClick(probing.sentence.chips, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert texts(probing) == ["good", "[1]", "!", "bad", "play"]
    qtbot.mouseClick(probing.sentence.redo, LEFT)
    assert texts(probing) == ["good", "[1]", "!", "bad", "[2]"]
    assert not probing.sentence.redo.isEnabled()


@pytest.mark.slow
def test_an_edited_text_keeps_what_is_hidden_elsewhere(probing: ProbePage, qtbot: QtBot) -> None:
    hide(probing, qtbot, 4)
    box = probing.sentence.texts.box_a
    qtbot.mouseClick(probing.sentence.edit, LEFT)
    assert box.isVisible()
    box.setPlainText("a " + TEXT)
    qtbot.waitUntil(lambda: len(probing.draft.words) == 6)
    assert texts(probing) == ["a", "good", "film", "!", "bad", "[1]"]
    probing.draft.undo()
    assert texts(probing) == ["good", "film", "!", "bad", "[1]"] and box.toPlainText() == TEXT


@pytest.mark.slow
def test_the_boxes_for_the_text_stay_there_once_they_were_opened(probing: ProbePage, qtbot: QtBot) -> None:
    assert not probing.sentence.texts.isVisible()  # the bar has some, too
    qtbot.mouseClick(probing.sentence.edit, LEFT)
    assert probing.sentence.texts.isVisible()
    again = SentenceCard(probing.session, probing.draft)
    qtbot.addWidget(again)
    assert not again.texts.isHidden() and again.edit.isChecked()


@pytest.mark.slow
def test_a_mask_that_is_typed_is_a_gap(probing: ProbePage, qtbot: QtBot) -> None:
    probing.inspector.set_text("good [MASK] !")
    qtbot.waitUntil(lambda: is_answered(probing))
    assert texts(probing) == ["good", "[1]", "!"]
    assert probing.words_view.cards[0].hint_label.text() == ""


@pytest.mark.slow
def test_single_pieces_can_be_hidden(probing: ProbePage, qtbot: QtBot) -> None:
    probing.inspector.set_text("good playing")
    qtbot.mouseClick(probing.findChild(QToolButton, "probe_by_pieces"), LEFT)
    assert texts(probing) == ["[CLS]", "good", "play", "##ing", "[SEP]"]
    hide(probing, qtbot, 3)
    assert texts(probing)[2:4] == ["play", "[1]"]
    click_word(probing, qtbot, 0)
    assert texts(probing)[0] == "[CLS]"


@pytest.mark.slow
def test_several_gaps_are_filled_together_beside_each_alone(probing: ProbePage, qtbot: QtBot) -> None:
    hide(probing, qtbot, 1, 4)
    joint = probing.words_view.joint
    assert joint.isVisible() and joint.objectName() == "probe_joint"
    best, alone = joint.plot.guesses[0], joint.alone.guesses[0]
    product = 1.0
    for card in probing.words_view.cards[:2]:
        product *= card.plots[0].guesses[0].probability
    assert alone.probability == pytest.approx(product, rel=1e-4)
    assert best.probability >= joint.plot.guesses[1].probability and " · " in best.text
    click_word(probing, qtbot, 4)
    assert not joint.isVisible()


@pytest.mark.slow
def test_a_word_of_several_pieces_is_scored_as_a_whole_and_that_is_said(
    probing: ProbePage, qtbot: QtBot
) -> None:
    hide(probing, qtbot, 1)
    card = probing.words_view.cards[0]
    field = card.findChild(QLineEdit, "probe_yours_1")
    for word, said in (("play", "play: rank "), ("playing", "2 pieces as a whole")):
        field.clear()
        qtbot.keyClicks(field, word)
        qtbot.keyClick(field, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda said=said: card.yours.isVisible() and said in card.yours.text())
    assert card.yours.toolTip()


@pytest.mark.slow
def test_a_word_that_cannot_be_spelled_is_refused_in_one_sentence(probing: ProbePage, qtbot: QtBot) -> None:
    hide(probing, qtbot, 1)
    card = probing.words_view.cards[0]
    card.field.setText("Ω")  # QTest aborts on keys outside of Latin-1
    qtbot.keyClick(card.field, Qt.Key.Key_Return)
    qtbot.waitUntil(card.yours.isVisible)
    assert "Ω" in card.yours.text() and "fault" not in card.yours.text()


@pytest.mark.slow
def test_a_guess_can_be_written_into_the_text(probing: ProbePage, qtbot: QtBot) -> None:
    hide(probing, qtbot, 1, 4)
    plot = probing.words_view.cards[0].plots[0]
    word = plot.guesses[0].text
    qtbot.mouseClick(
        plot.canvas(), LEFT, pos=plot.canvas().rect().topLeft() + plot.canvas().rect().center() / 9
    )
    assert probing.inspector.text == f"good {word} ! bad play"
    assert texts(probing)[-1] == "[1]"
    probing.draft.undo()
    assert probing.inspector.text == TEXT and texts(probing)[1] == "[1]"


@pytest.mark.slow
def test_an_answer_to_an_older_question_is_not_shown(
    probing: ProbePage, qtbot: QtBot, tmp_path: Path
) -> None:
    hide(probing, qtbot, 1)
    now = shown(probing, 1)
    late = probe(LoadedModel.open(tmp_path / "model"), TEXT, words=(4,))
    probing.words_view._hear(GapsAnswer(MaskedText(TEXT, "", (4,)), late))
    assert shown(probing, 1) == now


@pytest.mark.slow
def test_a_model_beside_answers_the_same_question(probing: ProbePage, qtbot: QtBot, tmp_path: Path) -> None:
    hide(probing, qtbot, 1)
    probing.draft.set_beside(pretrained(tmp_path / "other", seed=7))
    card = probing.words_view.cards[0]
    qtbot.waitUntil(card.plots[1].isVisible)
    expected = probe(LoadedModel.open(tmp_path / "other"), TEXT, words=(1,)).answers[0].guesses[0]
    assert card.plots[1].guesses[0].probability == pytest.approx(expected.probability)
    assert [name.text() for name in card.names] == ["model", "other"] or card.names[1].text() == "other"
    qtbot.mouseClick(probing.beside_close, LEFT)
    qtbot.waitUntil(lambda: not card.plots[1].isVisible())


@pytest.mark.slow
def test_questions_are_kept_with_their_model(probing: ProbePage, qtbot: QtBot, tmp_path: Path) -> None:
    hide(probing, qtbot, 1)
    probing.remember()
    probing.inspector.set_text("bad play")
    later = ProbePage(probing.session)
    qtbot.addWidget(later)
    later.show()
    qtbot.waitUntil(lambda: later.draft.about is not None)
    later.sentence.past_menu.aboutToShow.emit()
    past = [action for action in later.sentence.past_menu.actions() if action.objectName() == "probe_past_1"]
    assert past[0].text().startswith("good [MASK] ! bad play")
    past[0].trigger()
    assert texts(later) == ["good", "[1]", "!", "bad", "play"]


@pytest.mark.slow
def test_the_weights_of_a_run_show_what_was_learned_and_a_click_goes_there(
    page: ProbePage, qtbot: QtBot, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    steps = (0, 4, 30)
    for step in steps[:2]:
        pretrained(run / "history" / f"step-{step:08d}", seed=step)
    pretrained(run / "model", seed=9)
    (run / "config.toml").write_text("")
    (run / "status.json").write_text(json.dumps({"state": "finished", "step": steps[2]}))
    page.inspector.choose(run / "model")
    page.inspector.set_text(TEXT)
    qtbot.waitUntil(lambda: len(page.draft.words) == 5)
    hide(page, qtbot, 1)
    plot = page.words_view.learned.plot
    qtbot.waitUntil(lambda: plot.num_points == 3)
    found = [row[1] for row in plot.numbers()[1:]]
    for value, seed in zip(found, (0, 4, 9), strict=True):
        folder = run / "model" if seed == 9 else run / "history" / f"step-{seed:08d}"
        original = probe(LoadedModel.open(folder), TEXT, words=(1,)).answers[0].original
        assert original is not None and value == pytest.approx(original.probability, rel=1e-4)
    assert plot.cursor_step == 30
    plot.step_chosen.emit(4)
    qtbot.waitUntil(lambda: plot.cursor_step == 4 and is_answered(page))
    assert page.inspector.folder == run / "history" / "step-00000004"


# ---- the other tabs


@pytest.mark.slow
def test_the_next_sentence_is_answered_in_words_and_per_cent(
    probing: ProbePage, qtbot: QtBot, tmp_path: Path
) -> None:
    probing.tabs.setCurrentIndex(NEXT)
    assert "second sentence" in probing.next_view.says.text()
    probing.inspector.set_text("good film", "bad play")
    qtbot.waitUntil(lambda: not probing.next_view.strip.is_empty and probing.inspector.workers.is_idle)
    share = follows(LoadedModel.open(tmp_path / "model"), "good film", "bad play").probability
    said = f"Yes, {probability(share)}" if share >= 0.5 else f"No, {probability(1 - share)}"
    assert probing.next_view.answer.text() == said
    assert [word.text for word in probing.next_view.strip.words] == ["good", "film", "bad", "play"]
    told = probing.next_view.sum.text()  # value = baseline + sum + residual, to the rounding of four numbers
    found = [float(one.replace("−", "-")) for one in re.findall(r"[−]?\d+\.\d\d(?! ?%)", told)]
    value, baseline, total, residual = found
    assert value == pytest.approx(baseline + total + residual, abs=0.021) and "unexplained" in told
    swapped = probing.next_view.bars.guesses[1].probability
    qtbot.mouseClick(probing.findChild(QPushButton, "probe_next_swap"), LEFT)
    qtbot.waitUntil(lambda: probing.next_view.bars.guesses[0].probability == pytest.approx(swapped, abs=1e-6))
    assert probing.inspector.text == "bad play"


@pytest.mark.slow
def test_the_last_layer_of_the_lens_is_the_models_own_answer(probing: ProbePage, qtbot: QtBot) -> None:
    hide(probing, qtbot, 1)
    probing.tabs.setCurrentIndex(LAYERS_TAB)
    plot = probing.layers_view.plot
    qtbot.waitUntil(lambda: not plot.is_empty)
    assert len(plot.layers) == 3  # the embeddings and two layers
    own = probing.words_view.cards[0].plots[0].guesses[0]
    assert plot.layers[-1].guesses[0] == (own.text, pytest.approx(own.probability, abs=1e-6))


@pytest.mark.slow
def test_surprise_sums_up_to_the_pseudo_perplexity(probing: ProbePage, qtbot: QtBot) -> None:
    probing.tabs.setCurrentIndex(SURPRISE_TAB)
    strip = probing.surprise_view.strip
    qtbot.waitUntil(lambda: not strip.is_empty)
    bits = [word.value for word in strip.words]
    assert len(bits) == 5
    shown_value = float(probing.surprise_view.value.text().replace(",", ""))
    assert shown_value == pytest.approx(2 ** (sum(bits) / 5), abs=0.06)


@pytest.mark.slow
def test_a_template_is_a_grid_that_can_be_saved(probing: ProbePage, qtbot: QtBot, tmp_path: Path) -> None:
    probing.tabs.setCurrentIndex(TEMPLATES)
    view = probing.templates_view
    view.template.setText("{good|bad} [MASK] !")
    view.targets.setText("film, playing")
    qtbot.keyClick(view.template, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: view.model.rowCount() == 2 and view.model.columnCount() == 2)
    expected = probe(LoadedModel.open(tmp_path / "model"), "bad film !", words=(1,)).answers[0].original
    assert expected is not None
    assert view.model.value(1, 0) == pytest.approx(expected.probability, rel=1e-4)
    qtbot.mouseClick(view.findChild(QToolButton, "probe_corrected"), LEFT)
    assert view.slopes.numbers()[0] == ["variant", "film", "playing"]
    assert view.slopes.values[1, 0] == pytest.approx(view.model.value(1, 0))
    view.save_file(str(tmp_path / "scores.csv"))
    qtbot.waitUntil((tmp_path / "scores.csv").exists)
    qtbot.waitUntil(lambda: "scores.csv" in view.status.text())
    with (tmp_path / "scores.csv").open(encoding="utf-8-sig", newline="") as file:
        assert [row["target"] for row in csv.DictReader(file)] == ["film", "playing"] * 2


@pytest.mark.slow
def test_templates_come_from_a_file(probing: ProbePage, qtbot: QtBot, tmp_path: Path) -> None:
    probing.tabs.setCurrentIndex(TEMPLATES)
    path = tmp_path / "templates.csv"
    path.write_text("template,targets\n{good|bad} [MASK],film|play\n{a|b} [MASK] !,film\n", encoding="utf-8")
    probing.templates_view.open_file(str(path))
    qtbot.waitUntil(lambda: probing.templates_view.choice.count() == 2)
    assert probing.templates_view.template.text() == "{good|bad} [MASK]"


@pytest.mark.slow
def test_a_template_without_a_gap_is_refused_beside_it(probing: ProbePage, qtbot: QtBot) -> None:
    probing.tabs.setCurrentIndex(TEMPLATES)
    probing.templates_view.template.setText("{good|bad} film")
    qtbot.keyClick(probing.templates_view.template, Qt.Key.Key_Return)
    assert "[MASK]" in probing.templates_view.status.text()
    assert probing.templates_view.slopes.is_empty


# ---- what is missing


def test_a_model_without_the_head_says_so_and_offers_the_way(
    page: ProbePage, qtbot: QtBot, tmp_path: Path
) -> None:
    page.inspector.choose(model_folder(tmp_path / "classifier"))
    qtbot.waitUntil(lambda: page.draft.about is not None)
    for tab, lacking in ((WORDS, "masked-word head"), (NEXT, "next sentences")):
        page.tabs.setCurrentIndex(tab)
        assert page.views[tab].empty.isVisible() and lacking in page.views[tab].empty.label.text()
    with qtbot.waitSignal(page.session.page_requested) as asked:
        qtbot.mouseClick(page.views[NEXT].pretrain, LEFT)
    assert asked.args[0] == "pretrain"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "said"),
    [("", "There is no text"), ("good film " * 21, "44 pieces, but this model reads at most 41")],
)
def test_a_text_that_cannot_be_read_is_refused_in_one_sentence(
    probing: ProbePage, qtbot: QtBot, text: str, said: str
) -> None:
    hide(probing, qtbot, 1)
    probing.inspector.set_text(text)
    assert said in probing.words_view.empty.label.text() and probing.words_view.empty.isVisible()
    assert probing.sentence.texts.isVisible() and not probing.words_view.cards[0].isVisible()


@pytest.mark.slow
def test_very_many_gaps_are_shown_in_part_and_that_is_said(probing: ProbePage, qtbot: QtBot) -> None:
    probing.inspector.set_text("[MASK] " * 13)
    qtbot.waitUntil(lambda: is_answered(probing))
    view = probing.words_view
    assert len(view.cards) == 13 and not view.joint.isVisible()
    assert view.more.isVisible() and "12 [MASK]s" in view.more.text()


def test_the_number_of_a_tenth_gap_has_room_beside_its_mask(qtbot: QtBot) -> None:
    plot = WordChips("Sentence")
    qtbot.addWidget(plot)
    plot.set_chips([MaskableWord("a", 0, gap=9), MaskableWord("a", 0, gap=12)])
    digit = QFontMetricsF(theme.ui_font(10, bold=True)).horizontalAdvance("2")
    assert plot.word_width(1) >= plot.word_width(0) + digit / 2


@pytest.mark.slow
def test_the_tabs_and_what_is_below_them_stay_where_they_are(probing: ProbePage, qtbot: QtBot) -> None:
    below = set()
    for tab in (WORDS, LAYERS_TAB, SURPRISE_TAB, NEXT, TEMPLATES):
        probing.tabs.setCurrentIndex(tab)
        qtbot.wait(20)
        card = probing.sentence if probing.sentence.isVisible() else probing.stack
        below.add((probing.tabs.mapTo(probing, QPoint()).y(), card.mapTo(probing, QPoint()).y()))
    assert len(below) == 1, below


@pytest.mark.slow
def test_the_words_of_a_whole_table_are_foreseen_and_its_pairs_compared_by_clicks(
    probing: ProbePage, qtbot: QtBot, tmp_path: Path
) -> None:
    path, view = tmp_path / "pairs.csv", probing.over_table_view
    path.write_text("good,worse\ngood film,bad playing\nfilm,film\nbad film !,good\n", encoding="utf-8")
    probing.tabs.setCurrentIndex(OVER_TABLE)
    assert not view.run.isEnabled() and "Open a table" in view.said.text()
    probing.session.data.open(path)
    qtbot.waitUntil(lambda: view.run.isEnabled())
    qtbot.mouseClick(view.run, LEFT)
    qtbot.waitUntil(lambda: view.save.isEnabled())
    subject = LoadedModel.open(probing.inspector.folder or path)
    alone = {
        line: result_of(pseudo_perplexity(subject, text)).perplexity
        for line, text in ((2, "good film"), (3, "film"), (4, "bad film !"))
    }
    shown = {int(view.rows.index(row, 0).data()): view.rows.index(row, 3).data() for row in range(3)}
    assert shown == {line: decimal(value, 1) for line, value in alone.items()}
    assert int(view.rows.index(0, 0).data()) == max(alone, key=lambda line: alone[line])
    view.save_file(str(tmp_path / "out.csv"))
    qtbot.waitUntil((tmp_path / "out.csv").exists)
    view.list.doubleClicked.emit(view.rows.index(0, 0))
    assert probing.tabs.currentIndex() == SURPRISE_TAB
    qtbot.waitUntil(lambda: probing.draft.question.text == view.rows.index(0, 4).data())
    probing.tabs.setCurrentIndex(OVER_TABLE)
    qtbot.mouseClick(view.kind.buttons["pairs"], LEFT)
    assert not view.save.isEnabled() and view.rows.rowCount() == 0  # what was found was of another question
    qtbot.mouseClick(view.run, LEFT)
    qtbot.waitUntil(lambda: view.save.isEnabled())
    assert view.rows.rowCount() == 2 and "1 line is excluded" in view.said.text()
    qtbot.mouseClick(probing.copy_button, LEFT)
    assert "engine pairs" in QApplication.clipboard().text()


@pytest.mark.slow
def test_templates_of_a_file_say_what_an_alternative_does_to_each_word_over_all_of_them(
    probing: ProbePage, qtbot: QtBot, tmp_path: Path
) -> None:
    path, view = tmp_path / "templates.csv", probing.templates_view
    path.write_text(
        "template,targets\n{good|bad} [MASK],film|play\n{good|bad} [MASK] !,film|play\n", encoding="utf-8"
    )
    probing.tabs.setCurrentIndex(TEMPLATES)
    qtbot.waitUntil(lambda: probing.inspector.workers.is_idle)
    assert not view.what.buttons["over_all"].isVisible()  # of one template nothing can be said
    view.open_file(str(path))
    qtbot.waitUntil(lambda: len(view.grids) == 2)
    qtbot.mouseClick(view.what.buttons["over_all"], LEFT)
    logs = [[row[0].score.log_probability for row in grid.scores] for grid in view.grids]
    film = next(row for row in range(2) if view.over_all.index(row, 0).data() == "film")
    mean = sum(good - bad for good, bad in logs) / 2
    assert view.table.model() is view.over_all
    assert view.over_all.index(film, 2).data() == f"{mean:+.2f}".replace("-", "−")
    view.template.setText("{good|bad} [MASK]")
    view.template.textEdited.emit("{good|bad} [MASK]")
    qtbot.waitUntil(lambda: len(view.grids) == 1)
    assert view.table.model() is view.model and not view.what.buttons["over_all"].isVisible()


PASSAGES = [f"{who} sat by the old river bank {when}." for who in ("She", "He", "I") for when in "abcde"]


@pytest.mark.slow
def test_ten_hidden_words_are_guessed_before_the_model_does(
    page: ProbePage, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.pages.probe.requests.sample_passages", lambda: (tuple(PASSAGES), ("银行",)))
    page.inspector.choose(language_model(tmp_path / "model"))
    qtbot.waitUntil(lambda: page.draft.about is not None)
    page.tabs.setCurrentIndex(GAME)
    game = page.game_view
    qtbot.waitUntil(lambda: len(game.rounds) == 10)
    assert not game.guesses.isVisible() and not page.copy_button.isEnabled()
    for number in range(1, 11):
        one = game.round
        assert one is not None and one.answer not in game.sentence.text()
        if number % 2:
            game.guess.setText(one.answer if number == 1 else "boat")
            qtbot.keyClick(game.guess, Qt.Key.Key_Return)
        else:
            qtbot.mouseClick(game.skip, LEFT)
        qtbot.waitUntil(lambda number=number: len(game.verdicts) == number)  # type: ignore[misc]
        assert one.answer in game.sentence.text() and game.guesses.isVisible()
        if number < 10:
            qtbot.mouseClick(game.next, LEFT)
    _header, *rows = game.tally.numbers()
    assert len(rows) == 10 and [row[3] for row in rows] == [1] + [0] * 9
    assert "you 1, the model" in game.card.hint_label.text()
    for row, verdict in zip(rows, game.verdicts, strict=True):
        assert row[4] == verdict.model.guesses[0].word and row[5] == int(verdict.model_is_right)
    before = game.rounds
    qtbot.mouseClick(game.again, LEFT)
    qtbot.waitUntil(lambda: game.rounds != before and not game.verdicts)
    assert game.tally.is_empty and game.guess.isVisible()


def test_a_gap_says_that_the_model_is_asked_while_it_is(
    probing: ProbePage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()

    answer = GuessGaps.answer

    def slowly(asked: GuessGaps, models: Any) -> Any:
        gate.wait()
        return answer(asked, models)

    monkeypatch.setattr(GuessGaps, "answer", slowly)
    click_word(probing, qtbot, 0)
    plot = probing.words_view.cards[0].plots[0]
    assert plot.is_empty and plot.empty_text == "Asking the model…"
    gate.set()
    qtbot.waitUntil(lambda: is_answered(probing))
    assert not plot.is_empty


# Chinese

CHINESE = "因为下雨，所以我们没有去。"


@pytest.fixture
def chinese(tmp_path: Path) -> Path:
    """A model that has the characters of the sentence."""
    tokens = [*TOKENS, *dict.fromkeys(CHINESE)]
    model, cut = tiny_pretraining(vocab_size=len(tokens)), WordPiece.from_tokens(tokens, lowercase=True)
    save_model(tmp_path / "chinese", model, cut)
    return tmp_path / "chinese"


def read_chinese(page: ProbePage, folder: Path, qtbot: QtBot) -> None:
    page.inspector.choose(folder)
    page.inspector.set_text(CHINESE)
    qtbot.waitUntil(lambda: len(page.draft.words) > 0 and page.draft.question.text == CHINESE)


def test_a_chinese_word_is_one_chip_and_is_masked_whole_by_a_click(
    chinese_words: None, page: ProbePage, chinese: Path, qtbot: QtBot
) -> None:
    read_chinese(page, chinese, qtbot)
    chips = [chip.text for chip in page.sentence.chips.words]
    assert chips == ["因为", "下雨", "，", "所以", "我们", "没有", "去", "。"]
    click_word(page, qtbot, 3)
    qtbot.waitUntil(lambda: page.words_view.answer is not None)
    assert page.draft.masked is not None and page.draft.masked.gaps[0].text == "所以"
    guesses = [guess.text for guess in page.words_view.cards[0].plots[0].guesses]
    assert guesses and all(len(guess) == 2 for guess in guesses)
    assert page.sentence.fact == ""


def test_single_characters_are_masked_as_pieces(
    chinese_words: None, page: ProbePage, chinese: Path, qtbot: QtBot
) -> None:
    read_chinese(page, chinese, qtbot)
    page.draft.set_by_pieces(True)
    page.draft.toggle_piece(6)
    assert page.draft.masked is not None and page.draft.masked.gaps[0].text == "所"


def test_without_a_segmenter_the_page_says_that_characters_are_words(
    chinese_characters: None, page: ProbePage, chinese: Path, qtbot: QtBot
) -> None:
    read_chinese(page, chinese, qtbot)
    assert [chip.text for chip in page.sentence.chips.words] == list(CHINESE)
    assert page.sentence.fact == "each Chinese character is a word here"
    assert "pip install" in page.sentence.hint_label.toolTip()
    page.inspector.set_text("good film")
    qtbot.waitUntil(lambda: len(page.draft.words) == 2)
    assert page.sentence.fact == ""
