"""Looking inside a model through the real window: what is on screen is what the engine says."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow
from app.pages.embeddings.tabs import TABS
from app.plots.guesses import GuessesPlot
from app.words import probability
from engine.events import result_of
from engine.inspect.attention.ablation import all_on, effects
from engine.inspect.attention.weights import look
from engine.inspect.embeddings.contexts import embed_word
from engine.inspect.embeddings.similarity import similarities
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.joint import fill_jointly
from engine.inspect.masked.masked import mask
from engine.inspect.masked.probe import probe
from tests.journeys.looking_hand import LookingHand
from tests.looks.language_scenes import write_text
from tests.looks.looking_scenes import LONGEST, NUM_HEADS, NUM_LAYERS, classifier, language_model

DOTS_AN_INCH, MM_AN_INCH = 300, 25.4
SENTENCE = "She takes her money to the bank near the river."
WORDS = SENTENCE[:-1].split()
A, B = "She has [MASK] in the bank", "the river is near"
FOUR = (
    "money | She has money in the bank.",
    "money | The bank asked for her money.",
    "river | They sat on the bank of the river.",
    "river | The boat is near the bank.",
)


pytestmark = [pytest.mark.usefixtures("no_models_ship"), pytest.mark.slow]


@pytest.fixture
def hand(window: MainWindow, qtbot: QtBot) -> LookingHand:
    window.resize(1280, 800)
    return LookingHand(window, qtbot)


def is_answered(plot: GuessesPlot) -> bool:
    """Whether guesses are on screen, and not of an older question."""
    return plot.isVisible() and not (plot.is_empty or plot.is_dim)


def unmarked(text: str) -> str:
    """Return a sentence without the marks around the word that is followed."""
    return text.replace("«", "").replace("»", "")


def test_two_words_are_masked_by_clicks_and_one_comes_back_by_ctrl_z(
    hand: LookingHand, qtbot: QtBot, tmp_path: Path
) -> None:
    model = language_model(tmp_path / "model")
    hand.go_to("probe")
    hand.open_model(model)
    if not hand.find("probe_text_a").isVisible():
        hand.click("probe_edit")
    hand.write("probe_text_a", SENTENCE)
    chips = hand.find("probe_words")
    hand.wait(lambda: [chip.text for chip in chips.words] == [*WORDS, "."])
    hidden = [WORDS.index("money"), WORDS.index("bank")]
    for place in hidden:
        hand.click_at(chips.canvas(), chips.rect_of(place).center())
    plots = [hand.find(f"probe_guesses_{gap}") for gap in (1, 2)]
    joint = hand.find("probe_joint_guesses")
    hand.wait(
        lambda: all(plot.isVisible() and not (plot.is_empty or plot.is_dim) for plot in [*plots, joint])
    )

    subject = LoadedModel.open(model)
    expected = probe(subject, SENTENCE, words=hidden, top_k=6)
    for plot, answer in zip(plots, expected.answers, strict=True):
        top = plot.guesses[: plot.num_top]
        assert [guess.text for guess in top] == [guess.word for guess in answer.guesses]
        assert plot.accessibleDescription().startswith(f"{answer.guesses[0].word} ")
        for guess, found in zip(top, answer.guesses, strict=True):
            assert plot.value_words(guess) == probability(found.probability)
    said = [" ".join(hand.labels(hand.find(f"probe_gap_{gap}"))) for gap in (1, 2)]
    assert "original: money · rank" in said[0] and "original: bank · rank" in said[1]
    together = result_of(fill_jointly(subject, mask(subject.about, SENTENCE, words=hidden)))
    assert joint.guesses[0].text == " · ".join(together.fillings[0].words)
    assert joint.guesses[0].probability == pytest.approx(together.fillings[0].probability, rel=1e-4)

    qtbot.keyClick(chips, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert [chip.gap for chip in chips.words].count(0) == len(WORDS) and chips.words[hidden[0]].gap == 1
    alone = probe(subject, SENTENCE, words=hidden[:1], top_k=6).answers[0]
    hand.wait(
        lambda: plots[0].guesses[0].probability == pytest.approx(alone.guesses[0].probability, rel=1e-4)
    )
    assert not plots[1].isVisible() and not joint.isVisible()


def is_near(shown: np.ndarray, wanted: np.ndarray) -> bool:
    """Whether two pictures are the same; one of the text before has another shape."""
    return shown.shape == wanted.shape and np.allclose(shown, wanted, atol=1e-6)


def test_the_head_with_most_sep_is_found_switched_off_and_its_picture_saved(
    hand: LookingHand, qtbot: QtBot, tmp_path: Path
) -> None:
    model = language_model(tmp_path / "model")
    hand.go_to("attention")
    hand.open_model(model)
    hand.write_text(A, B)
    heatmap = hand.find("attention_heatmap")
    hand.wait(lambda: hand.inspector.text_pair == B and heatmap.shown is not None)
    hand.choose("attention_sort", "[SEP]")
    heads = hand.find("attention_head_list")

    subject = LoadedModel.open(model)
    seen = look(subject, A, B)
    special = np.array(seen.encoding.special_tokens_mask, bool)
    seps = [place for place, token in enumerate(seen.encoding.tokens) if token == "[SEP]"]
    mass = seen.attentions[:, :, ~special][..., seps].sum(-1).mean(-1)
    layer, head = np.unravel_index(int(mass.argmax()), mass.shape)
    rows = heads.model()
    hand.wait(lambda: heads.isVisible() and rows.rowCount() == NUM_LAYERS * NUM_HEADS)
    hand.wait(lambda: rows.index(0, 2).data() == f"{100 * mass.max():.1f} %")  # of the whole text, no less
    hand.click_at(heads.viewport(), QPointF(heads.visualRect(rows.index(0, 2)).center()))
    card = hand.find("attention_picture")
    hand.wait(lambda: card.title_label.text() == f"Layer {layer + 1}, head {head + 1}")
    hand.wait(lambda: is_near(heatmap.shown.values, seen.attentions[layer, head]))

    hand.click("attention_switch_off")
    on = all_on(subject)
    on[layer, head] = False
    row = effects(subject, A, B, on).effects[0]
    assert abs(row.after - row.before) > 0.002, "a head that does nothing proves nothing"
    table = hand.find("attention_effects")
    hand.wait(lambda: table.title_label.text() == "Ablation: 1 head turned off" and len(table.rows) > 0)
    hand.wait(lambda: table.rows[0].after == pytest.approx(row.after, rel=1e-4))
    assert table.rows[0].before == pytest.approx(row.before, rel=1e-4)
    digits = len(table.texts()[0].rsplit(".", 1)[1])
    said = hand.labels(table)
    assert said[said.index(f"[MASK] = “{row.watched.name}”") + 1 :][:2] == [
        f"{row.before:.{digits}f} →",
        f"{row.after:.{digits}f}",
    ]
    hand.press(heatmap, "o")  # on again, so that the picture is the model's own
    hand.wait(lambda: table.title_label.text() == "Ablation")
    hand.wait(lambda: is_near(heatmap.shown.values, seen.attentions[layer, head]))

    ratio = heatmap.height() / heatmap.width()
    png = hand.save_figure(tmp_path / "figure", ".png", 120)
    image = QImage(str(png))
    assert image.width() == round(120 / MM_AN_INCH * DOTS_AN_INCH)
    assert image.height() == pytest.approx(image.width() * ratio, abs=1)
    with png.with_suffix(".csv").open(encoding="utf-8-sig", newline="") as file:
        header, *rows = list(csv.reader(file))
    assert header[2:] == [f"{place} {token}" for place, token in enumerate(seen.encoding.tokens)]
    written = np.array([row[2:] for row in rows], float)
    np.testing.assert_allclose(written, seen.attentions[layer, head], rtol=1e-4, atol=1e-6)
    caption = png.with_suffix(".txt").read_text(encoding="utf-8").splitlines()
    named = (f"model: {subject.name}", f"weights, sha256: {subject.fingerprint}", f"text: {A}")
    for line in (*named, f"second text: {B}", f"layer: {layer + 1}", f"head: {head + 1}"):
        assert line in caption
    svg = hand.save_figure(tmp_path / "lines", ".svg", 120)
    assert QSvgRenderer(str(svg)).isValid()
    drawn = svg.read_text(encoding="utf-8")
    assert drawn.count("river") >= 2, "tokens of both axes stay text"


def test_bank_is_followed_through_four_sentences(hand: LookingHand, qtbot: QtBot, tmp_path: Path) -> None:
    model = language_model(tmp_path / "model")
    hand.go_to("embeddings")
    hand.open_model(model)
    hand.click("embeddings_change")
    hand.choose("embeddings_kind", "A word in many contexts")
    hand.type("embeddings_word", "bank")
    hand.write("embeddings_contexts", "\n".join(FOUR))
    hand.click("embeddings_compute")
    tabs = hand.find("embeddings_tabs").tabBar()
    hand.click_at(tabs, QPointF(tabs.tabRect(TABS.index("map")).center()))
    points = hand.find("embeddings_map")
    sentences = [line.split(" | ")[1] for line in FOUR]
    hand.wait(lambda: [unmarked(row[3]) for row in points.numbers()[1:]] == sentences)
    assert [row[2] for row in points.numbers()[1:]] == ["money", "money", "river", "river"]

    hand.click_at(points, points.position_of(2))
    neighbours = hand.find("embeddings_neighbours")
    hand.wait(lambda: neighbours.isVisible() and neighbours.model().rowCount() == 3)
    found = result_of(embed_word(LoadedModel.open(model), "bank", sentences))
    cosines = similarities(found.vectors[-1])[2]
    order = [place for place in np.argsort(-cosines).tolist() if place != 2]
    seen = neighbours.model()
    texts = [unmarked(seen.index(row, 2).data()) for row in range(3)]
    assert texts == [sentences[place] for place in order]
    assert [float(seen.index(row, 0).data()) for row in range(3)] == pytest.approx(cosines[order], abs=6e-4)
    assert "They sat on the «bank»" in hand.find("embeddings_neighbours_of").text()


def test_a_clicked_piece_selects_its_characters_and_its_row(
    hand: LookingHand, qtbot: QtBot, tmp_path: Path
) -> None:
    hand.go_to("probe")
    hand.open_model(language_model(tmp_path / "model"))
    hand.go_to("tokenizer")
    hand.write("tokenizer_text_a", "Old riverbanks")
    plot, box = hand.find("tokenizer_pieces"), hand.find("tokenizer_text_a")
    pieces = ["[CLS]", "old", "river", "##bank", "##s", "[SEP]"]
    hand.wait(lambda: [chip.text for column in plot.columns for chip in column.chips] == pieces)
    place = plot.rect_of(3).center()
    hand.click_at(plot.canvas(), place)
    assert [mark.cursor.selectedText() for mark in box.extraSelections()] == ["bank"]
    rows = hand.find("tokenizer_rows")
    assert rows.currentIndex().row() == 3 and rows.model().index(3, 1).data() == "##bank"
    qtbot.keyClick(plot, Qt.Key.Key_Left)
    QApplication.sendEvent(plot.canvas(), QEvent(QEvent.Type.Leave))  # else the pointer's piece is marked
    assert [mark.cursor.selectedText() for mark in box.extraSelections()] == ["river"]
    assert hand.find("tokenizer_max_length").value() == LONGEST


def test_a_run_is_looked_into_and_an_arrow_key_goes_back_to_weights_it_kept(
    hand: LookingHand, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.train.pretraining.setup.default_store_root", lambda: tmp_path / "tokens")
    session = hand.window.session
    text = write_text(tmp_path / "story.txt", documents=30)
    hand.go_to("pretrain")
    hand.open_dialog("choose_text", text)
    hand.wait(lambda: hand.find("text_documents").text() == "30")
    hand.choose("pretrain_size_choice", hand.find("pretrain_size_choice").itemText(0))
    hand.type("setting_vocab_size", "200")
    hand.choose("budget_unit", "steps")
    hand.type("budget", "12")
    hand.type("setting_batch_tokens", "128")
    hand.type("setting_max_length", "24")
    hand.wait(lambda: hand.find("outlook_steps").text() == "12")
    hand.click("start")
    qtbot.waitUntil(lambda: session.training.state.outcome == "finished", timeout=60_000)

    hand.click("look_inside")
    hand.wait(lambda: hand.window.current_page == "probe" and hand.inspector.about is not None)
    slider, step = hand.find("looking_history"), hand.find("looking_step")
    hand.wait(lambda: slider.isVisible() and slider.current == len(slider.kept) - 1)
    assert len(slider.kept) > 2 and step.text() == "step 12"
    guesses = hand.find("probe_guesses_1")
    hand.wait(lambda: is_answered(guesses))
    last, now = hand.inspector.about.folder, guesses.numbers()
    slider.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(slider, Qt.Key.Key_Left)
    hand.wait(lambda: guesses.numbers() != now and not guesses.is_dim)
    kept = hand.inspector.about.folder
    assert kept != last and kept.parent.name == "history" and step.text() == f"step {slider.kept[-2]}"
    chips = hand.find("probe_words").words
    hidden = [place for place, chip in enumerate(chips) if chip.gap]
    expected = probe(LoadedModel.open(kept), hand.inspector.text, words=hidden).answers[0].guesses[0]
    assert guesses.guesses[0].text == expected.word
    assert guesses.guesses[0].probability == pytest.approx(expected.probability, rel=1e-4)
    qtbot.keyClick(slider, Qt.Key.Key_End)
    hand.wait(lambda: guesses.numbers() == now)


def test_an_answer_of_a_classifier_leads_to_what_it_rests_on_and_to_what_each_head_does_for_it(
    hand: LookingHand, qtbot: QtBot, tmp_path: Path
) -> None:
    model = classifier(tmp_path / "labels")
    hand.window.session.settings.add_recent_model(model)
    hand.go_to("predict")
    qtbot.keyClicks(hand.find("text"), "the boat is old")
    qtbot.keyClick(hand.find("text"), Qt.Key.Key_Return)
    hand.wait(lambda: not hand.find("answer_bars").is_empty)
    hand.click("predict_look_inside")
    hand.wait(lambda: hand.window.current_page == "attention" and hand.inspector.about is not None)
    assert hand.inspector.about.folder == model
    assert hand.window.bar.shown()["text"] == "the boat is old"
    card = hand.find("attribution_card")  # what was promised
    hand.wait(lambda: card.isVisible() and card.result is not None)
    assert card.result.asked.target.answer == max(hand.find("answer_bars").bars, key=lambda bar: bar[1])[0]
    hand.click("attention_view_heatmap")
    heatmap, table = hand.find("attention_heatmap"), hand.find("attention_effects")
    hand.wait(lambda: heatmap.shown is not None and len(table.rows) == 3)
    subject = LoadedModel.open(model)
    np.testing.assert_allclose(
        heatmap.shown.values, look(subject, "the boat is old").attentions[0, 0], atol=1e-6
    )
    off = all_on(subject)
    off[0, 0] = False
    changes = {one.watched.name: one.after for one in effects(subject, "the boat is old", None, off).effects}
    for row in table.rows:
        assert row.after == pytest.approx(
            changes[row.name.removeprefix("label “").removesuffix("”")], rel=1e-4
        )
    assert table.isVisible()
    hand.click("attention_view_attribution")
    bars = hand.find("attribution_bars")
    hand.wait(lambda: bars.isVisible() and not bars.is_empty)
    assert float(bars.words_of(0).rsplit(" ", 1)[1].replace("−", "-")) != 0
