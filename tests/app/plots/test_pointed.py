"""What mouse and keys do in every picture of things: one mark, said in words, chosen by a click or Enter."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QPainter
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from app.plots.figure import Numbers, save_figure
from app.plots.scrolled import RowsFigure

LEFT = Qt.MouseButton.LeftButton


class Rows(RowsFigure):
    """Thirty rows of which the even ones can be chosen."""

    chosen = Signal(int)
    row_height = 20
    head = 10

    @property
    def num_rows(self) -> int:
        return 30

    def numbers(self) -> Numbers:
        return [["row"]] + [[row] for row in range(30)]

    def words_of(self, target: int) -> str:
        return f"row {target}"

    def tip_of(self, target: int) -> str:
        return f"all of row {target}"

    def summary(self) -> str:
        return "thirty rows"

    def can_choose(self, target: int) -> bool:
        return target % 2 == 0

    def choose(self, target: int, event: object) -> None:
        self.chosen.emit(target)

    def paint(self, painter: QPainter, area: QRectF) -> None:
        self.paint_mark(painter)

    def minimumSizeHint(self) -> QSize:
        return QSize(50, 50)


@pytest.fixture
def rows(qtbot: QtBot) -> Rows:
    made = Rows("Rows")
    qtbot.addWidget(made)
    made.resize(200, 150)
    made.show()
    made.rows_changed()
    QApplication.processEvents()
    return made


def middle(row: int) -> QPoint:
    return QPoint(40, 10 + 20 * row + 10)


def test_keys_walk_from_row_to_row_and_say_each(rows: Rows, qtbot: QtBot) -> None:
    assert rows.accessibleDescription() == "thirty rows"
    keys = Qt.Key
    walk = {keys.Key_Down: 0, keys.Key_PageDown: 10, keys.Key_Up: 9, keys.Key_End: 29, keys.Key_Home: 0}
    for key, row in walk.items():
        qtbot.keyClick(rows, key)
        assert (rows.current, rows.accessibleDescription()) == (row, f"row {row}")
        assert QToolTip.text() == f"all of row {row}"  # no pointer waits there
    qtbot.keyClick(rows, keys.Key_Escape)
    assert rows.current is None and rows.accessibleDescription() == "thirty rows"


def test_the_row_that_a_key_leads_to_comes_into_view(rows: Rows, qtbot: QtBot) -> None:
    def is_seen(row: int) -> bool:
        return not rows.canvas().visibleRegion().intersected(rows.rect_of(row).toRect()).isEmpty()

    assert not is_seen(29)
    qtbot.keyClick(rows, Qt.Key.Key_End)
    assert is_seen(29) and not is_seen(0)


def test_the_mouse_marks_what_it_is_over_and_gives_the_mark_back(rows: Rows, qtbot: QtBot) -> None:
    qtbot.keyClick(rows, Qt.Key.Key_Home)
    qtbot.mouseMove(rows.canvas(), middle(3))
    assert (rows.current, rows.accessibleDescription()) == (3, "row 3")
    QApplication.sendEvent(rows.canvas(), QEvent(QEvent.Type.Leave))
    assert rows.current == 0
    qtbot.mouseMove(rows.canvas(), middle(4))
    qtbot.keyClick(rows, Qt.Key.Key_Down)
    assert rows.current == 5  # from where the mouse is
    QApplication.sendEvent(rows, QFocusEvent(QEvent.Type.FocusOut, Qt.FocusReason.TabFocusReason))
    assert rows.current is None


def test_a_click_chooses_what_was_pressed_and_only_what_can_be_chosen(rows: Rows, qtbot: QtBot) -> None:
    chosen: list[int] = []
    rows.chosen.connect(chosen.append)
    for row in (2, 3):
        qtbot.mouseClick(rows.canvas(), LEFT, pos=middle(row))
    qtbot.mousePress(rows.canvas(), LEFT, pos=middle(4))
    qtbot.mouseRelease(rows.canvas(), LEFT, pos=middle(0))
    for key in (Qt.Key.Key_Home, Qt.Key.Key_Return, Qt.Key.Key_Down, Qt.Key.Key_Space):
        qtbot.keyClick(rows, key)
    assert chosen == [2, 0]
    shapes = []
    for row in (2, 3):
        qtbot.mouseMove(rows.canvas(), middle(row))
        shapes.append(rows.canvas().cursor().shape())
    assert shapes == [Qt.CursorShape.PointingHandCursor, Qt.CursorShape.ArrowCursor]


def test_a_saved_picture_has_no_mark(rows: Rows, qtbot: QtBot, tmp_path) -> None:
    save_figure(rows, tmp_path / "before.png")
    before = rows.canvas().grab().toImage()
    qtbot.keyClick(rows, Qt.Key.Key_Home)
    assert rows.canvas().grab().toImage() != before
    save_figure(rows, tmp_path / "after.png")
    assert (tmp_path / "after.png").read_bytes() == (tmp_path / "before.png").read_bytes()
