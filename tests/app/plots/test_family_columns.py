"""Columns of a family by mouse and keys, in words, and as numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.plots.family_columns import LEAST, LEFT, NARROW, NARROW_LEFT, FamilyColumns
from app.plots.member_column import FamilyLabels, MemberColumn, MemberScore, WordEntry

COLUMNS = (
    MemberColumn(
        "n-gram",
        "1995",
        "Counts",
        entries=(WordEntry("city", 0.02), WordEntry("river", 0.01, True)),
        rank="number 2",
    ),
    MemberColumn(
        "CBOW",
        "2013",
        "One vector",
        cannot="Reads a bag of words.",
        scores=(MemberScore("12.3", "± 1"), MemberScore("")),
    ),
    MemberColumn("GPT", "2018", "A vector for each place", entries=(WordEntry("sea", 0.4),), rank="number 9"),
)
LABELS = FamilyLabels(
    seen=("May see", ""), says=("Guesses", ""), rank="“river” is", cannot="Cannot", scores=(("Blanks", "%"),)
)


@pytest.fixture
def figure(qtbot: QtBot) -> FamilyColumns:
    made = FamilyColumns("Family")
    qtbot.addWidget(made)
    made.hint = "click"
    made.set_columns(COLUMNS, LABELS)
    made.resize(900, 500)
    made.show()
    return made


def test_a_click_on_a_guess_tells_its_word(figure: FamilyColumns, qtbot: QtBot) -> None:
    with qtbot.waitSignal(figure.entry_chosen) as heard:
        qtbot.mouseClick(figure, Qt.MouseButton.LeftButton, pos=figure.rect_of((1, 0)).center().toPoint())
    assert heard.args == ["river"]
    figure.set_shift(10_000)  # all columns are under the words at the left
    assert figure.target_at(figure.rect_of((1, 0)).center()) is None


def test_arrow_keys_move_between_members_and_pass_over_those_that_say_nothing(
    figure: FamilyColumns, qtbot: QtBot
) -> None:
    figure.setFocus()
    said = []
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Left):
        QTest.keyClick(figure, key)
        said.append(figure.current)
    assert said == [(0, 0), (1, 0), (0, 2), (0, 2), (0, 0)]
    assert "n-gram: city, probability 2.0 %" in figure.accessibleDescription()


def test_it_says_its_numbers_and_needs_room_for_every_member(figure: FamilyColumns) -> None:
    assert figure.numbers()[1:] == [
        ["n-gram", "1995", "city", 0.02, "probability"],
        ["n-gram", "1995", "river", 0.01, "probability"],
        ["CBOW", "2013", "Blanks %", "12.3", "± 1"],
        ["GPT", "2018", "sea", 0.4, "probability"],
    ]
    assert figure.minimumWidth() == NARROW_LEFT + 3 * NARROW
    assert "CBOW: Reads a bag of words." in figure.summary()


def test_all_members_are_seen_at_once_in_a_lecture_at_twice_the_size(qtbot: QtBot) -> None:
    figure = FamilyColumns("Family")
    qtbot.addWidget(figure)
    figure.set_columns(COLUMNS[:1] * 8, LABELS)
    assert figure.minimumWidth() <= 720  # px of its card in a window of 1024, and of 868 in a lecture
    for width in (720, 868, LEFT + 8 * LEAST):
        figure.resize(width, 500)
        assert figure.left_of(8) <= width


def test_names_stay_where_they_are_seen_while_the_columns_move_up(
    figure: FamilyColumns, qtbot: QtBot
) -> None:
    figure.set_lift(300)
    head = figure.rect_of((-1, 1))
    assert 300 <= head.top() < 304
    figure.name_hint = "click"
    with qtbot.waitSignal(figure.member_chosen) as heard:
        qtbot.mouseClick(figure, Qt.MouseButton.LeftButton, pos=head.center().toPoint())
    assert heard.args == ["CBOW"]
    ground = figure.grab().toImage().pixelColor(head.topLeft().toPoint())
    assert ground == figure.grab().toImage().pixelColor(head.bottomRight().toPoint())
    figure.set_lift(0)
    assert figure.rect_of((-1, 1)).top() < 100


def test_a_long_name_has_several_lines_and_is_not_cut(figure: FamilyColumns) -> None:
    before = figure.rect_of((0, 0)).top()
    figure.set_columns([replace(COLUMNS[0], name="a-model-of-a-rather-long-name"), *COLUMNS[1:]], LABELS)
    assert figure.rect_of((0, 0)).top() == before  # there is room at 900 px
    figure.resize(300, 500)
    assert figure.rect_of((-1, 0)).height() > 60
    figure.set_columns([replace(COLUMNS[0], name="amodelofaratherlongname"), *COLUMNS[1:]], LABELS)
    assert figure.rect_of((-1, 0)).height() > 45  # broken anywhere
