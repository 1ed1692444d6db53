"""Rows give long words their room: beside each other, under each other, or over several lines."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.look.layout import FlowRow, FoldingRow


def shown(qtbot: QtBot, row: QWidget, width: int) -> QWidget:
    window = QWidget()  # as a window of its own it would not be narrower than its row
    qtbot.addWidget(window)
    row.setParent(window)
    row.resize(width, 200)
    window.show()
    QApplication.processEvents()
    return window


@pytest.mark.parametrize(("width", "is_under"), [(800, False), (150, True)])
def test_a_row_folds_where_its_words_lack_room(qtbot: QtBot, width: int, is_under: bool) -> None:
    row, words = FoldingRow(), (QLabel("a row of some words"), QLabel("and another of some words"))
    row.put(*words)
    window = shown(qtbot, row, width)
    assert window.isVisible() and (words[1].y() > words[0].y()) is is_under
    assert (words[1].x() > words[0].x()) is not is_under
    assert row.minimumSizeHint().width() == max(one.minimumSizeHint().width() for one in words)


def test_what_is_hidden_takes_no_room_in_a_row(qtbot: QtBot) -> None:
    row, words = FoldingRow(), (QLabel("a row of some words"), QLabel("hidden" * 40))
    row.put(*words)
    words[1].hide()
    window = shown(qtbot, row, 300)
    assert window.isVisible() and row.sizeHint().width() == words[0].sizeHint().width()


@pytest.mark.parametrize("direction", [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft])
def test_widgets_flow_over_as_many_lines_as_they_take(qtbot: QtBot, direction: Qt.LayoutDirection) -> None:
    words = [QLabel(f"words number {place}") for place in range(5)]
    row = FlowRow(*words, gap=6)
    row.setLayoutDirection(direction)
    width = 2 * words[0].sizeHint().width() + 8
    window = shown(qtbot, row, width)
    lines = sorted({one.y() for one in words})
    assert window.isVisible() and len(lines) == 3 and row.height() >= lines[-1] + words[0].height()
    first, second = (one.mapTo(row, QPoint(0, 0)).x() for one in words[:2])
    assert (first < second) is (direction == Qt.LayoutDirection.LeftToRight)
    assert all(row.rect().contains(one.geometry()) for one in words)
