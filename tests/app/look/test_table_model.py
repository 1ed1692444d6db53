"""A table is shown lazily, by its lines, one line a cell."""

from __future__ import annotations

import time

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication

from app.look.table_model import TableModel
from app.look.table_view import TableView
from engine.text.roles import Roles
from engine.text.table import Table, read_table

FILE = (
    'text,label\n"Great\n  film, <b>really</b>",positive\nBad,negative\n"' + "long " * 2000 + '",negative\n'
)


@pytest.fixture
def table(tmp_path) -> Table:
    path = tmp_path / "reviews.csv"
    path.write_text(FILE, encoding="utf-8")
    return read_table(path)


def test_a_cell_is_one_line_and_its_full_text_is_at_hand(table: Table) -> None:
    model = TableModel(table)
    assert model.index(0, 0).data() == "Great film, <b>really</b>"
    assert model.index(0, 0).data(Qt.ItemDataRole.UserRole) == "Great\n  film, <b>really</b>"
    assert len(model.index(2, 0).data()) <= 240
    tooltip = model.index(2, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert len(tooltip) < 2100 and tooltip.endswith("…</qt>")


def test_markup_in_a_text_is_shown_and_not_obeyed(table: Table) -> None:
    model = TableModel(table)
    tooltip = model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert "&lt;b&gt;" in tooltip and "<b>" not in tooltip


def test_rows_are_numbered_by_their_line_in_the_file(table: Table) -> None:
    model = TableModel(table)
    lines = [model.headerData(row, Qt.Orientation.Vertical) for row in range(3)]
    assert lines == ["2", "4", "5"]


def test_headers_say_what_a_column_is_for(table: Table) -> None:
    model = TableModel(table)
    model.set_roles(Roles(text="text", label="label"))
    assert "label" in model.headerData(1, Qt.Orientation.Horizontal).removeprefix("label")
    model.set_roles(Roles(text_pair="text"))
    assert model.headerData(0, Qt.Orientation.Horizontal).endswith("text B")
    assert model.headerData(1, Qt.Orientation.Horizontal) == "label"


def test_answers_stand_beside_their_line(table: Table, qtbot) -> None:
    model = TableModel(table)
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal, model)
    model.add_column("prediction")
    with qtbot.waitSignal(model.dataChanged):
        model.answer("prediction", np.array([2, 0]), ["negative", "positive"])
    assert [model.index(row, 2).data() for row in range(3)] == ["positive", "", "negative"]
    assert model.headerData(2, Qt.Orientation.Horizontal) == "prediction"
    model.clear_columns()
    assert model.columnCount() == 2
    model.set_table(None)
    assert (model.rowCount(), model.columnCount()) == (0, 0)


def test_a_million_rows_open_at_once(qtbot) -> None:
    import pandas

    frame = pandas.DataFrame({"text": np.array(["a text"] * 10**6, dtype=object)})
    big = Table.__new__(Table)
    for name, value in {"columns": ("text",), "frame": frame, "lines": np.arange(2, 10**6 + 2)}.items():
        object.__setattr__(big, name, value)
    view = TableView()
    qtbot.addWidget(view)
    model = TableModel(big, view)
    view.setModel(model)
    view.resize(400, 300)
    start = time.thread_time()
    view.show()
    view.scrollToBottom()
    view.grab()
    assert time.thread_time() - start < 2
    assert model.headerData(999_999, Qt.Orientation.Vertical) == "1000001"


def test_copied_cells_are_their_full_text(table: Table, qtbot) -> None:
    view = TableView()
    qtbot.addWidget(view)
    view.setModel(TableModel(table, view))
    view.selectRow(0)
    qtbot.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.clipboard().text() == "Great film, <b>really</b>\tpositive"
