"""What every picture does: it has a name and keys, is saved in every form, says why it is empty."""

from __future__ import annotations

import csv

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.plots.figure import save_figure
from app.plots.pointed import PointedFigure
from tests.app.attention_scenes import put
from tests.app.plots import gallery

KEYS = (Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Escape)
POINTED = [
    *(gallery.bars, gallery.confusion, gallery.similarity, gallery.scatter, gallery.word_chips),
    *(gallery.histogram, gallery.bins, gallery.plane, gallery.score_scale, gallery.guesses, gallery.layers),
    *(gallery.word_strip, gallery.passage, gallery.tagged, gallery.attributed_text, gallery.attributed_bars),
    *(gallery.merges, gallery.spelled_ways, gallery.piece_flow),
]
DRAWN = (b"<path", b"<polyline", b"<polygon", b"<rect", b"<circle", b"<ellipse", b"<image", b"<text")
ALL = pytest.mark.parametrize("make", gallery.ALL)


def guarded(cell: str) -> str:
    """Return a cell as a file has it: a spreadsheet runs nothing."""
    return f"'{cell}" if cell.startswith("=") else cell


@ALL
def test_it_is_saved_in_every_form(qtbot: QtBot, tmp_path, make) -> None:
    plot = put(qtbot, make(), 620, 300)
    paths = {suffix: tmp_path / f"picture{suffix}" for suffix in (".png", ".svg", ".pdf", ".csv")}
    for path in paths.values():
        path.write_bytes(b"old")
        save_figure(plot, path)
    image = QImage(str(paths[".png"]))
    assert image.width() == 2 * plot.canvas().width()
    pixels = {image.pixel(x, y) for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)}
    assert len(pixels) > 3
    drawn = paths[".svg"].read_bytes()
    assert QSvgRenderer(str(paths[".svg"])).isValid() and len(drawn) < 500_000
    assert sum(map(drawn.count, DRAWN)) > 3
    assert paths[".pdf"].read_bytes().startswith(b"%PDF")
    rows = list(csv.reader(paths[".csv"].read_text(encoding="utf-8-sig").splitlines()))
    assert rows == [[guarded(str(cell)) for cell in row] for row in plot.numbers()]
    assert len(list(tmp_path.iterdir())) == len(paths)


@ALL
def test_it_has_a_name_and_can_be_reached_by_keyboard(qtbot: QtBot, make) -> None:
    plot = put(qtbot, make())
    assert plot.accessibleName() and plot.focusPolicy() & Qt.FocusPolicy.TabFocus and not plot.is_empty
    names = [action.text() for action in plot.menu().actions()]
    assert names == ["Save picture…", "Copy numbers", "Save numbers…"]
    plot.copy_numbers()
    assert QApplication.clipboard().text().count("\n") == len(plot.numbers()) - 1
    plot.activateWindow()
    before = plot.grab().toImage()
    plot.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(plot.hasFocus)
    assert plot.grab().toImage() != before  # a ring
    for key in KEYS:
        qtbot.keyClick(plot, key)


@pytest.mark.parametrize("make", [make for make in gallery.ALL if make not in gallery.NEVER_EMPTIED])
def test_an_emptied_one_says_why_offers_nothing_and_keys_do_nothing(qtbot: QtBot, make) -> None:
    plot = put(qtbot, make())
    plot.clear()
    before = plot.grab().toImage()
    plot.set_empty_text("No run yet. Choose data and a model, then press Start.")
    assert plot.is_empty and plot.grab().toImage() != before
    assert not any(action.isEnabled() for action in plot.menu().actions())
    for key in KEYS:
        qtbot.keyClick(plot, key)
    qtbot.mouseMove(plot, QPoint(100, 100))
    qtbot.mouseClick(plot, Qt.MouseButton.LeftButton, pos=QPoint(100, 100))


@ALL
def test_the_smallest_room_is_no_trouble(qtbot: QtBot, make) -> None:
    plot = put(qtbot, make(), 90, 70)
    full = plot.grab().toImage()
    if make not in gallery.NEVER_EMPTIED:
        plot.clear()
        assert plot.grab().toImage() != full


@pytest.mark.parametrize("make", POINTED)
def test_a_key_says_what_the_mouse_is_told_and_escape_takes_it_back(qtbot: QtBot, make) -> None:
    plot = put(qtbot, make(), 300, 240)
    assert isinstance(plot, PointedFigure)
    plot.activateWindow()
    qtbot.waitUntil(plot.isActiveWindow)
    plot.setFocus(Qt.FocusReason.MouseFocusReason)
    qtbot.keyClick(plot, Qt.Key.Key_Right)
    qtbot.keyClick(plot, Qt.Key.Key_Down)
    marked = plot.current
    assert marked != plot.nothing and plot.accessibleDescription() == plot.words_of(marked)
    place = plot.rect_of(marked).center()
    assert plot.target_at(place) == marked and plot.tip_at(place) == plot.tip_of(marked)
    qtbot.keyClick(plot, Qt.Key.Key_Escape)
    assert plot.current == plot.nothing and plot.accessibleDescription() == plot.summary()
