"""Words in coloured stretches: which word is whose, what is read out, what is written, and their colours."""

from __future__ import annotations

import pytest

from app.look import theme
from app.plots.tagged_words import PREDICTED, TRUE, TaggedStretch, TaggedWordsPlot, tagged_words
from tests.app.conftest import qtbot

__all__ = ["qtbot"]

TEXT = "Ann Lee saw 北京大学 (Paris)."
TRUE_ONES = (TaggedStretch(0, 7, "PER"), TaggedStretch(12, 16, "ORG"), TaggedStretch(18, 23, "LOC"))
FOUND = (TaggedStretch(0, 3, "PER", "0.9"), TaggedStretch(18, 23, "MISC"))


def test_words_are_cut_at_spaces_at_stretches_and_at_chinese_characters() -> None:
    found = tagged_words(TEXT, TRUE_ONES, FOUND)
    assert [one.text for one in found] == ["Ann", "Lee", "saw", "北", "京", "大", "学", "(", "Paris", ")."]
    assert [one.joined for one in found] == [False, False, False, False, True, True, True, False, True, True]
    marks = [(one.true.type, one.true.begins, one.true.ends) for one in found if one.true]
    assert marks[:2] == [("PER", True, False), ("PER", False, True)] and len(marks) == 7
    assert [one.text for one in found if one.predicted] == ["Ann", "Paris"]


def test_what_is_true_and_what_is_predicted_is_read_out_and_written(qtbot: object) -> None:
    plot = TaggedWordsPlot("Words")
    plot.set_text(tagged_words(TEXT, TRUE_ONES, FOUND), ("LOC", "MISC", "ORG", "PER"), (TRUE, PREDICTED))
    assert plot.summary() == "True: Ann Lee PER, 北京大学 ORG, Paris LOC; Predicted: Ann PER, Paris MISC"
    assert plot.words_of(0) == "Ann · true PER · predicted PER · 0.9"
    assert plot.numbers()[2] == [1, "Lee", "I-PER", ""] and plot.numbers()[9][2:] == ["B-LOC", "B-MISC"]
    plot.set_text(tagged_words(TEXT, TRUE_ONES, FOUND), ("LOC",), (PREDICTED,))
    assert plot.words_of(0) == "Ann · predicted PER · 0.9" and "True" not in plot.summary()
    plot.clear()
    assert plot.is_empty


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_words_on_the_tint_of_their_type_can_be_read(mode: str) -> None:
    colors = {"light": theme.LIGHT, "dark": theme.DARK}[mode]
    for hue in theme.CATEGORIES[mode]:
        assert theme.contrast(colors.text, theme.mix(colors.card, hue, 0.16)) >= 4.5
