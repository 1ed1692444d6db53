"""Points that stand for texts: what is under the pointer, where marks lie, how keys move, what is saved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from app.look import theme
from app.plots.figure import save_figure
from app.plots.layer_lines import LayerLine, LayerLinesPlot
from app.plots.marks import MOST_CLASSES, OTHER, PointClasses, PointValues, class_color, coloring_of
from app.plots.scatter import ScatterPlot
from app.plots.similarity import SimilarityPlot, picture_of

POINTS = np.array([[0, 0], [4, 0], [4, 3], [0, 3], [2, 1.4]], np.float32)
TEXTS = ("south west", "south east", "north east", "north west", "middle")


@pytest.fixture
def plot(qtbot: QtBot) -> ScatterPlot:
    made = ScatterPlot("Map")
    qtbot.addWidget(made)
    made.resize(700, 480)
    made.set_points(POINTS, TEXTS, details=["line 2", "", "", "", ""])
    made.show()
    return made


def image_of(plot: ScatterPlot) -> QImage:
    return plot.grab().toImage()


def near(one: QColor, other: QColor) -> bool:
    return sum(abs(a - b) for a, b in zip(one.getRgb()[:3], other.getRgb()[:3], strict=True)) < 24


def test_a_mark_of_its_class_stands_where_each_point_lies(plot: ScatterPlot) -> None:
    plot.set_coloring(PointClasses("label", ("a", "b"), np.array([0, 1, 0, 1, OTHER]), "other"))
    image = image_of(plot)
    for place, number in enumerate((0, 1, 0, 1)):
        at = (plot.position_of(place) * image.devicePixelRatio()).toPoint()
        assert near(image.pixelColor(at), class_color(number)), TEXTS[place]
    north, south = plot.position_of(2), plot.position_of(1)
    assert north.y() < south.y() and abs(north.x() - south.x()) < 1


def test_a_unit_is_as_long_across_as_down(plot: ScatterPlot) -> None:
    across = plot.position_of(1).x() - plot.position_of(0).x()
    down = plot.position_of(0).y() - plot.position_of(3).y()
    assert across / 4 == pytest.approx(down / 3)


def test_the_point_under_the_pointer_tells_its_text_and_a_click_chooses_it(
    plot: ScatterPlot, qtbot: QtBot
) -> None:
    place = plot.position_of(2)
    assert plot.target_at(place + QPointF(5, 5)) == 2 and plot.target_at(place + QPointF(60, 60)) == -1
    qtbot.mouseMove(plot, place.toPoint())
    qtbot.waitUntil(lambda: plot.current == 2)
    assert plot.accessibleDescription() == "north east"
    with qtbot.waitSignal(plot.chosen) as told:
        qtbot.mouseClick(plot, Qt.MouseButton.LeftButton, pos=place.toPoint())
    assert told.args == [2] and plot.words_of(0) == "south west\nline 2"


def test_arrow_keys_go_from_point_to_point_and_enter_chooses(plot: ScatterPlot, qtbot: QtBot) -> None:
    plot.setFocus()
    qtbot.keyClick(plot, Qt.Key.Key_Right)  # the first key goes to the middle
    assert plot.current == 4
    qtbot.keyClick(plot, Qt.Key.Key_Right)
    assert plot.current in (1, 2)
    qtbot.keyClick(plot, Qt.Key.Key_Up)
    assert plot.current == 2
    qtbot.keyClick(plot, Qt.Key.Key_Up)
    assert plot.current == 2  # nothing lies further up
    with qtbot.waitSignal(plot.chosen) as told:
        qtbot.keyClick(plot, Qt.Key.Key_Return)
    assert told.args == [2]
    with qtbot.waitSignal(plot.chosen) as told:
        qtbot.keyClick(plot, Qt.Key.Key_Escape)
    assert told.args == [-1]


def test_zooming_keeps_what_is_under_the_pointer_and_home_shows_all_again(
    plot: ScatterPlot, qtbot: QtBot
) -> None:
    before, other = plot.position_of(2), plot.position_of(0)
    plot.zoom(3, before)
    moved = plot.position_of(2) - before
    assert moved.manhattanLength() < 0.01 and plot.position_of(0) != other
    qtbot.keyClick(plot, Qt.Key.Key_Home)
    assert (plot.position_of(0) - other).manhattanLength() < 0.01


def test_no_class_hides_another_in_a_table_that_is_sorted_by_class(qtbot: QtBot) -> None:
    crowd = ScatterPlot("Crowd")
    qtbot.addWidget(crowd)
    crowd.resize(300, 260)
    count = 4000
    crowd.set_points(np.random.default_rng(0).uniform(size=(count, 2)), ["x"] * count)
    crowd.set_coloring(PointClasses("label", ("a", "b"), np.repeat([0, 1], count // 2)))
    image = image_of(crowd)
    pixels = [image.pixelColor(x, y) for x in range(60, 240, 3) for y in range(60, 200, 3)]
    shares = [sum(near(pixel, class_color(number)) for pixel in pixels) for number in (0, 1)]
    assert min(shares) > 0.35 * max(shares)


def test_following_the_pointer_does_not_paint_the_points_again(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    crowd = ScatterPlot("Crowd")
    qtbot.addWidget(crowd)
    crowd.resize(700, 480)
    crowd.set_points(np.random.default_rng(0).normal(size=(10_000, 2)), ["x"] * 10_000)
    painted = []
    paint = ScatterPlot.paint_still
    monkeypatch.setattr(ScatterPlot, "paint_still", lambda *args: (painted.append(1), paint(*args)))
    crowd.show()
    crowd.grab()
    painted.clear()
    crowd.point_to(7)
    crowd.grab()
    assert not painted
    crowd.renew()
    crowd.grab()
    assert painted


def test_numbers_are_the_points_with_their_texts_and_values(plot: ScatterPlot, tmp_path: Path) -> None:
    plot.set_coloring(coloring_of("kind", ["a", "b", "a", "", "b"], "other"))
    rows = plot.numbers()
    assert rows[0] == ["x", "y", "kind", "text"] and len(rows) == 6
    assert rows[2] == [4.0, 0.0, "b", "south east"] and rows[4][2] == "other"
    for kind in (".png", ".svg", ".pdf", ".csv"):
        save_figure(plot, tmp_path / f"map{kind}")
        assert (tmp_path / f"map{kind}").stat().st_size > 100
    assert "north east" in (tmp_path / "map.csv").read_text(encoding="utf-8-sig")


def test_many_classes_become_the_most_frequent_and_other_and_many_numbers_a_ramp() -> None:
    cells = [name for place, name in enumerate("abcdefgh") for _ in range(20 - place)]
    few = coloring_of("kind", cells, "other")
    assert isinstance(few, PointClasses) and few.names == tuple("abcdef") and len(few.names) == MOST_CLASSES
    assert (few.numbers == OTHER).sum() == 14 + 13
    ramp = coloring_of("length", [*(str(number) for number in range(40)), ""], "other")
    assert isinstance(ramp, PointValues) and ramp.limits == (0, 39) and ramp.shades()[-1] == OTHER
    assert ramp.shades()[39] > ramp.shades()[0] == 0
    stars = coloring_of("stars", ["10", "2", "1", "2"], "other")
    assert isinstance(stars, PointClasses) and stars.names == ("1", "2", "10")


def test_classes_differ_by_shape_where_colours_cannot_be_told(qtbot: QtBot) -> None:
    from app.plots.marks import stamp

    shapes = set()
    for number in range(MOST_CLASSES):
        alpha = stamp(number, 6, 1.0, is_shade=False).toImage().createAlphaMask()
        shapes.add(bytes(alpha.constBits()))
    assert len(shapes) == MOST_CLASSES


# ---- the other pictures of the page


def test_the_strongest_cell_of_the_matrix_is_the_likest_pair(qtbot: QtBot) -> None:
    values = np.full((6, 6), 0.3, np.float32)
    values[1, 4] = values[4, 1] = 0.9
    values[0, 5] = values[5, 0] = 0.1
    np.fill_diagonal(values, 1)
    plot = SimilarityPlot("Similarity")
    qtbot.addWidget(plot)
    plot.resize(620, 520)
    plot.set_matrix(picture_of(values), values, TEXTS + ("far",), PointClasses("k", ("a",), np.zeros(6, int)))
    image = plot.grab().toImage()

    def ground(row: int, column: int) -> QColor:  # beside the figure in the cell
        corner = plot.rect_of((row, column)).topLeft() + QPointF(4, 4)
        return image.pixelColor((corner * image.devicePixelRatio()).toPoint())

    assert near(ground(1, 4), QColor(theme.current().accent)) and near(ground(0, 5), QColor("#ffffff"))
    assert plot.target_at(plot.rect_of((4, 1)).center()) == (4, 1)
    assert "0.900" in plot.words_of((4, 1)) and TEXTS[4] in plot.words_of((4, 1))
    assert plot.numbers()[2][5] == pytest.approx(0.9)


def test_keys_walk_the_matrix_and_the_layers(qtbot: QtBot) -> None:
    plot = SimilarityPlot("Similarity")
    qtbot.addWidget(plot)
    values = np.eye(3, dtype=np.float32)
    plot.set_matrix(picture_of(values), values, TEXTS[:3])
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Right):
        qtbot.keyClick(plot, key)
    assert plot.current == (1, 1)
    lines = LayerLinesPlot("Layers")
    qtbot.addWidget(lines)
    lines.resize(500, 300)
    lines.set_lines(
        [LayerLine("one sense", np.array([0.8, 0.7, np.nan])), LayerLine("two", np.array([0.8, 0.5, 0.4]))]
    )
    qtbot.keyClick(lines, Qt.Key.Key_Left)
    qtbot.keyClick(lines, Qt.Key.Key_Left)
    with qtbot.waitSignal(lines.layer_chosen) as told:
        qtbot.keyClick(lines, Qt.Key.Key_Return)
    assert told.args == [1] and "one sense 0.700" in lines.accessibleDescription()
    assert lines.numbers()[3] == [2, "", 0.4]
    lines.grab()
