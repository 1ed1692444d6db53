"""The pictures of the Pretrain page: what they keep, what they say, what they give away."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.look import theme
from app.plots.chart import ValueAxis
from app.plots.curve import CurvePlot
from app.plots.lines import LinesPlot
from app.plots.readings import ReadingsPlot, split_gap
from app.plots.tile import MOST_POINTS, Tile
from app.plots.tokens import HIDDEN, KEPT, SWAPPED, UNTOUCHED, MaskedExample, TokensPlot
from app.words import probability
from engine.events import Reading


def strip() -> MaskedExample:
    return MaskedExample(
        title="Example 1",
        note="B follows A",
        is_yes=True,
        tokens=("[CLS]", "the", "cat", "sat", "[SEP]", "it", "slept", "[SEP]"),
        shown=("[CLS]", "the", "[MASK]", "bridge", "[SEP]", "it", "slept", "[SEP]"),
        actions=(UNTOUCHED, KEPT, HIDDEN, SWAPPED, UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED),
        segments=(0, 0, 0, 0, 0, 1, 1, 1),
    )


def reading(value: float) -> Reading:
    return Reading(
        sentence="The cat [sat] here.", guesses=(("was", 0.4), ("sat", value)), right="sat",
        probability=value, rank=2,
    )  # fmt: skip


def test_b_begins_a_line_of_its_own_and_narrow_strips_wrap(qtbot: QtBot) -> None:
    plot = TokensPlot("Examples")
    qtbot.addWidget(plot)
    plot.resize(700, 300)
    plot.show()
    plot.set_strips([strip()])

    def lines() -> list[float]:
        return [plot.rect_of(token).top() for token in range(8)]

    assert len(set(lines())) == 2 and lines().index(lines()[-1]) == 5
    plot.resize(240, 300)
    qtbot.waitUntil(lambda: len(set(lines())) > 2)


def test_the_strip_tells_what_was_done_to_each_token(qtbot: QtBot) -> None:
    plot = TokensPlot("Examples")
    qtbot.addWidget(plot)
    plot.set_strips([strip()])
    assert plot.counts() == {UNTOUCHED: 5, HIDDEN: 1, SWAPPED: 1, KEPT: 1}
    assert plot.token_words(strip(), 2) == "cat: masked, the model reads [MASK]"
    assert plot.token_words(strip(), 3) == "sat: the model reads a random piece, bridge"
    assert plot.numbers()[3] == [1, "B follows A", 2, 0, "cat", "[MASK]", "hidden"]


def test_readings_keep_the_past_and_say_the_newest(qtbot: QtBot) -> None:
    plot = ReadingsPlot("Pins")
    qtbot.addWidget(plot)
    plot.append(3, [reading(0.1)])
    plot.append(9, [reading(0.25)])
    assert [row[0] for row in plot.numbers()[1:]] == [3, 9]
    assert "sat 25 %" in plot.row_words(plot.shown[0]) and "guess number 2" in plot.row_words(plot.shown[0])
    plot.append(12, [])
    assert plot.is_empty and len(plot.numbers()) == 3  # no longer watched, and not forgotten


@pytest.mark.parametrize("brief", [False, True])
def test_readings_paint_the_right_word_in_every_width(qtbot: QtBot, brief: bool) -> None:
    plot = ReadingsPlot("Pins", is_brief=brief)
    qtbot.addWidget(plot)
    plot.show()
    both = [reading(0.3), Reading(sentence="A [MASK] here.", guesses=())]
    for width in (260, 700):
        plot.resize(width, 120)
        seen = []
        for readings in (both, both[:1], []):
            plot.append(3, readings)
            seen.append(plot.grab().toImage())
        assert seen[2] not in seen[:2]


def test_a_gap_is_found_in_its_sentence() -> None:
    assert split_gap("The [cat] sat.") == ("The ", "cat", " sat.")
    assert split_gap("No gap.") == ("No gap.", "", "")


def test_lines_of_several_names_share_their_steps_in_the_numbers(qtbot: QtBot) -> None:
    plot = LinesPlot("Right words")
    qtbot.addWidget(plot)
    plot.append(1, {"a": 0.1})
    plot.append(5, {"a": 0.2, "b": 0.7})
    assert plot.numbers() == [["step", "a", "b"], [1, 0.1, ""], [5, 0.2, 0.7]]
    assert plot.hover_words(4.0) == "step 5 · a 20 % · b 70 %"
    plot.clear()
    assert plot.is_empty and plot.names == ()


def test_a_curve_that_nobody_sees_is_drawn_when_it_is_seen(qtbot: QtBot) -> None:
    plot = CurvePlot("Loss", kind="loss")
    qtbot.addWidget(plot)
    plot.append([1.0, 2.0], [3.0, 2.0])
    qtbot.waitUntil(lambda: not plot._timer.isActive())
    assert not plot.has_chart
    plot.show()
    assert len(plot._train_curve.xData) == 2


def test_a_curve_without_validation_has_none_in_its_numbers(qtbot: QtBot) -> None:
    plot = CurvePlot("Learning rate", names=("rate", ""), smoothing=0.0)
    qtbot.addWidget(plot)
    plot.append([1.0], [1e-3])
    assert plot.numbers() == [["step", "rate Learning rate", "rate Learning rate smoothed"], [1, 1e-3, 1e-3]]
    assert plot.hover_words(1) == "step 1 · rate 0.001"


def test_a_tile_draws_few_points_and_is_chosen_with_the_keyboard(qtbot: QtBot) -> None:
    tile = Tile("tile_loss", "Loss", "How much it is surprised.")
    qtbot.addWidget(tile)
    tile.show()
    tile.show_curve(np.linspace(6, 2, 100_000))
    tile.show_value("2.01")
    assert len(tile.curve) == MOST_POINTS and tile.curve[0] > tile.curve[-1]
    tile.setFocus()
    qtbot.keyClick(tile, Qt.Key.Key_Space)
    assert tile.isChecked() and tile.accessibleDescription() == "2.01"


def test_shares_on_an_axis_have_as_many_digits_as_they_need() -> None:
    axis = ValueAxis()
    axis.in_percent = True
    assert axis.tickStrings([0.0, 0.2], 1.0, 0.2) == ["0 %", "20 %"]
    assert axis.tickStrings([0.0005, 0.001], 1.0, 0.0005) == ["0.05 %", "0.10 %"]


def test_a_probability_has_as_many_digits_as_say_something() -> None:
    said = [probability(value) for value in (0.314, 0.0314, 0.00314, 0.000314, 1e-9)]
    assert said == ["31 %", "3.1 %", "0.31 %", "0.031 %", "< 0.001 %"]


@pytest.mark.parametrize("colors", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_lines_stand_out_from_the_card_and_from_each_other(colors: theme.Theme) -> None:
    found = theme.CATEGORIES[colors.name]
    assert len(set(found)) == 6
    assert min(theme.contrast(color, colors.card) for color in found) > 4.5
