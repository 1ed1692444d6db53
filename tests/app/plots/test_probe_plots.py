"""The pictures of the Probe page, judged by where the colour is and what the words say."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QApplication

from app import words as app_words
from app.look import theme
from app.pages.probe.masked_text import MaskedText, UndoSteps, carried
from app.plots.axes import spread
from app.plots.figure import Figure
from app.plots.guesses import GuessesPlot
from app.plots.layers import LayerGuesses, LayersPlot
from app.plots.word_chips import MaskableWord, WordChips
from app.plots.word_flow import flow
from app.plots.word_strip import RatedWord, WordStrip
from engine.text.words import Word
from tests.app.plots.gallery import guesses, layers, learned, slope
from tests.app.plots.gallery import word_strip as strip


def shown(qtbot, plot: Figure, width: int = 620, height: int = 300) -> Figure:
    qtbot.addWidget(plot)
    plot.resize(width, height)
    plot.show()
    QApplication.processEvents()
    plot.clearFocus()
    return plot


def bar_length(plot: GuessesPlot, row: int, color: str) -> int:
    image = plot.canvas().grab().toImage()
    y = plot.top_of(row) + 12
    return sum(image.pixelColor(x, y).name() == color for x in range(image.width()))


def test_bars_run_from_0_to_1_and_the_original_has_its_own_colour_and_tick(qtbot) -> None:
    plot = shown(qtbot, guesses())
    colors = theme.current()
    first = bar_length(plot, 0, colors.bar)
    original = bar_length(plot, 1, colors.fine)
    whole = first + bar_length(plot, 0, colors.track)
    assert whole > 300 and first == pytest.approx(plot.guesses[0].probability * whole, abs=4)
    assert original == pytest.approx(first / 2, abs=3)
    assert bar_length(plot, 1, colors.bar) == 0
    assert plot.value_words(plot.guesses[3]) == "rank 57 · 0.10 %"
    assert "the original" in plot.words_of(1)


def test_every_track_is_as_long_as_1_also_beside_a_longer_value(qtbot) -> None:
    plot, colors = shown(qtbot, guesses()), theme.current()
    image = plot.canvas().grab().toImage()
    ends = set()
    for row in range(len(plot.guesses)):
        y = plot.top_of(row) + 12
        ends.add(max(x for x in range(image.width()) if image.pixelColor(x, y).name() == colors.track))
    assert len(ends) == 1, ends


def test_b_begins_a_line_and_chinese_stands_closer(qtbot) -> None:
    def lefts(words: list[tuple[str, int, float]], width: float = 400) -> list[tuple[float, float]]:
        return [(room.left(), room.top()) for room in flow(words, width, 30, 24)]

    (a, _), (b, _), (_, below) = lefts([("good", 0, 40), ("film", 0, 40), ("bad", 1, 40)])
    assert b - a == 45 and below == 32
    (a, _), (b, _) = lefts([("我", 0, 25), ("爱", 0, 25)])
    assert b - a == 28
    assert [top for _left, top in lefts([("good", 0, 40)] * 7, 130)] == [2, 2, 32, 32, 62, 62, 92]
    right, left = lefts([("שלום", 0, 40), ("עולם", 0, 40)])
    assert right[0] > left[0] > 300


def test_words_that_come_later_take_the_lines_that_they_need_at_the_width_there_is(qtbot) -> None:
    plot = shown(qtbot, WordStrip("Surprisal"), width=620)
    plot.set_words([RatedWord("a", 0, 1.0, "1.0")])
    plot.clear()
    plot.resize(200, plot.height())
    plot.set_words([RatedWord(f"word{i}", 0, 1.0, "1.0") for i in range(10)])
    narrow = plot.height()
    plot.clear()
    plot.resize(620, plot.height())
    plot.set_words([RatedWord(f"word{i}", 0, 1.0, "1.0") for i in range(10)])
    assert plot.height() < narrow
    heights = {plot.height()}
    QApplication.processEvents()
    assert {plot.height()} == heights


def test_keys_move_over_lines_and_words(qtbot) -> None:
    plot = shown(qtbot, WordChips("Sentence"), width=150)
    plot.set_chips([MaskableWord("word", 0) for _ in range(7)])
    plot.setFocus(Qt.FocusReason.TabFocusReason)
    assert plot.current == 0 or not plot.hasFocus()
    plot.go_to(0)
    qtbot.keyClick(plot, Qt.Key.Key_Down)
    below = plot.current
    assert below and plot.rect_of(below).top() > plot.rect_of(0).top()
    qtbot.keyClick(plot, Qt.Key.Key_Right)
    with qtbot.waitSignal(plot.word_chosen) as chosen:
        qtbot.keyClick(plot, Qt.Key.Key_Space)
    assert chosen.args == [below + 1]


def test_special_tokens_and_typed_masks_are_no_words_to_click(qtbot) -> None:
    plot = shown(qtbot, WordChips("Sentence"))
    plot.set_chips(
        [MaskableWord("[CLS]", 0, is_special=True), MaskableWord("[MASK]", 0, gap=1), MaskableWord("good", 0)]
    )
    assert [plot.can_choose(i) for i in range(3)] == [False, False, True]


def test_the_more_surprising_word_has_the_stronger_colour_and_signs_have_two_hues(qtbot) -> None:
    plot = shown(qtbot, strip())
    away = [theme.contrast(plot.ground_of(i), theme.current().card) for i in range(3)]
    assert away[1] > away[0] > away[2]
    plot = WordStrip("Signed", least=0.5)
    qtbot.addWidget(plot)
    plot.set_words([RatedWord("a", 0, 0.25), RatedWord("b", 0, -0.25)])
    assert plot.share_of(0) == 0.5 and plot.share_of(1) == -0.5
    assert plot.ground_of(0) != plot.ground_of(1)


def test_a_click_on_the_lines_chooses_the_nearest_step(qtbot) -> None:
    plot = shown(qtbot, learned())
    plot.hover_at(28)
    with qtbot.waitSignal(plot.step_chosen) as chosen:
        qtbot.keyClick(plot, Qt.Key.Key_Return)
    assert chosen.args == [30]
    plot.set_lines([0, 4, 30, 50], {"bank": [0.0, 0.1, 0.6, 0.7], "river": [0.0, 0.2, 0.3, 0.4]})
    assert plot.numbers()[3] == [30, 0.6, 0.3]


def test_slopes_focus_a_word_and_their_names_do_not_touch(qtbot) -> None:
    plot = shown(qtbot, slope())
    qtbot.keyClick(plot, Qt.Key.Key_Down)
    assert plot.locked == 0 and "nurse: he 10 %, she 30 %" in plot.accessibleDescription()
    places = spread([10, 12, 100], 15, 104)
    gaps = np.diff(sorted(places))
    assert (gaps >= 15).all() and max(places) <= 104


def test_a_layer_is_told_in_words(qtbot) -> None:
    plot = shown(qtbot, layers())
    assert plot.words_of(1) == "Layer 1: bank 80 %, sea 10 %; bank 80 %, rank 1"
    assert plot.words_of(0).startswith("Embeddings")
    assert plot.numbers()[2][:4] == [1, "bank", 0.8, 1]


def test_a_probability_of_nearly_nothing_is_whole_beside_the_layers(qtbot) -> None:
    plot = LayersPlot("Layers")
    rare = LayerGuesses((("the", 0.1),), 0.000001, 12_425)
    plot.set_layers([rare, LayerGuesses((("bank", 0.8),), 0.8, 1)], "bank")
    shown(qtbot, plot, width=700)
    _cells, _count, line = plot.rooms()
    room = plot.canvas().width() - 16 - line.right()
    said = f"{app_words.probability(0.000001)} · rank 12,425"
    assert said.startswith("<")
    assert QFontMetricsF(theme.ui_font(12)).horizontalAdvance(said) <= room


# ---- the question behind the chips


def words(text: str) -> tuple[Word, ...]:
    found, start = [], 0
    for place, part in enumerate(text.split()):
        start = text.index(part, start)
        found.append(Word(part, start, start + len(part), 0, (place + 1,)))
    return tuple(found)


def test_hidden_words_stay_hidden_where_the_text_was_not_edited() -> None:
    before, after = words("a good old film"), words("a very good new film")
    asked = MaskedText("", "", words=(1, 2), pieces=(4,))
    moved = carried(asked, before, after)
    assert (moved.words, moved.pieces) == ((2,), (5,))
    assert carried(asked, before, words("nothing of it is left")).words == ()


def test_a_new_step_forgets_what_was_taken_back() -> None:
    steps, one, two = UndoSteps(), MaskedText("1"), MaskedText("2")
    steps.made(one)
    assert steps.undo(two) == one and steps.can_redo
    steps.made(one)
    assert not steps.can_redo


def test_a_hidden_word_gives_way_to_its_pieces() -> None:
    word = Word("playing", 0, 7, 0, (1, 2))
    hidden = MaskedText("playing").toggled_word(0, word)
    assert hidden.words == (0,)
    assert hidden.toggled_piece(2, 0, word) == MaskedText("playing", pieces=(1,))
    assert MaskedText.from_json(hidden.to_json()) == hidden and MaskedText.from_json({"text": 1}) is None
