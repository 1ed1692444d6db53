"""The picture of a passage and its answers, and that of question words, by mouse, keys, words and numbers."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.look import theme
from app.pages.tasks.questions.listing import shaded
from app.pages.tasks.questions.passages import covered, of_pieces, words_of
from app.plots.passage import ANSWER, RIGHT, PassagePlot

PASSAGE = "The Normans came from France. 他们来自法国。"


def passage(qtbot: QtBot) -> PassagePlot:
    plot = PassagePlot("Passage")
    qtbot.addWidget(plot)
    plot.resize(420, 160)
    plot.set_words(
        shaded(PASSAGE, answer=(22, 28), right=[(4, 11)], candidates=[((22, 28), 0.75), ((17, 28), 0.2)])
    )
    plot.show()
    return plot


def test_words_are_those_between_spaces_and_each_chinese_character() -> None:
    words = words_of(PASSAGE)
    assert [word.text for word in words] == [
        *("The", "Normans", "came", "from", "France.", "他", "们", "来", "自", "法", "国", "。")
    ]
    assert all(PASSAGE[word.start : word.stop] == word.text for word in words)
    assert [word.joined for word in words] == [False] * 6 + [True] * 6
    assert [word.start for word in words_of(PASSAGE[4:], 4)][:2] == [4, 12]


def test_a_word_is_as_likely_as_all_answers_that_hold_it_and_pieces_add_up_to_their_words() -> None:
    words = words_of("ab cd ef")
    assert covered(words, [((0, 2), 0.5), ((0, 5), 0.25)]) == pytest.approx([0.75, 0.25, 0.0])
    spans = np.array([[0, 1], [1, 2], [3, 5], [6, 8]])
    assert of_pieces(words, spans, np.array([0.1, 0.2, 0.3, 0.4])) == pytest.approx([0.3, 0.3, 0.4])
    assert of_pieces([], spans[:0], np.zeros(0)) == []


def test_the_likeliest_words_have_most_colour_and_both_answers_are_marked(qtbot: QtBot) -> None:
    plot = passage(qtbot)
    texts = [word.text for word in plot.words]
    answer, beside, right = map(texts.index, ("France.", "from", "Normans"))
    assert plot.words[answer].marks == {ANSWER} and plot.words[right].marks == {RIGHT}
    assert plot.words[answer].value == pytest.approx(0.95)
    assert 0 < plot.words[beside].value < 0.95
    image = plot.canvas().grab().toImage()
    accent = theme.current().color("accent")

    def nearness(index: int) -> int:
        at = plot.rect_of(index).topLeft().toPoint()
        seen = image.pixelColor(at.x() + 3, at.y() + 3)
        return abs(seen.red() - accent.red()) + abs(seen.blue() - accent.blue())

    assert nearness(answer) < nearness(beside) < nearness(right)
    assert plot.summary() == "Answer: France.; True: Normans"
    qtbot.keyClick(plot, Qt.Key.Key_End)
    assert plot.words_of(plot.current).startswith("。 · 0")
    assert plot.numbers()[answer + 1] == [answer, "France.", pytest.approx(0.95), 1, 0]
