"""Arcs, mosaic, query and keys, and what all attention pictures have, judged by their meaning."""

from __future__ import annotations

import re

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

from app.look import theme
from app.look.direction import is_right_to_left
from app.plots.arcs import ArcsPlot
from app.plots.attention_image import compose_mosaic
from app.plots.figure import save_figure
from app.plots.mosaic import MosaicPlot
from app.plots.query_key import QueryKeyPlot
from engine.inspect.attention.views import View, strongest, tiles, view
from engine.inspect.attention.weights import HeadAttention
from tests.app.attention_scenes import heatmap, look_at, plain, points_of, put
from tests.app.plots import gallery

MODES = pytest.mark.parametrize("mode", ["light", "dark"])


# Arcs


def test_a_line_of_right_to_left_words_begins_at_the_right(qtbot) -> None:
    labels = ["[CLS]", "שלום", "##ים", "בית", "[SEP]"]
    assert [is_right_to_left(label) for label in labels] == [False, True, True, True, False]
    plot = put(qtbot, ArcsPlot("Arcs"))
    plot.set_layout("line")
    shown = plain(np.eye(5, dtype=np.float32), labels)
    plot.set_arcs(shown, strongest(shown, 9))
    places = [plot.laid_out().arc(token, token).pointAtPercent(0).x() for token in range(5)]
    assert places == sorted(places, reverse=True)


@pytest.mark.slow
@MODES
@pytest.mark.parametrize("way", ["columns", "line"])
@pytest.mark.parametrize("num_words", [9, 60, 400])
def test_the_strongest_arc_is_the_strongest_attention(
    qapp, qtbot, mode: str, way: str, num_words: int
) -> None:
    theme.apply_theme(qapp, mode)
    shown = view(look_at(num_words, 7), View(heads=((1, 2),)))
    plot = put(qtbot, ArcsPlot("Arcs"))
    plot.set_layout(way)
    plot.set_arcs(shown, strongest(shown, 300))
    where = divmod(int(np.argmax(shown.values)), shown.values.shape[1])
    path = plot.laid_out().arc(*where)
    near = np.array([(on.x(), on.y()) for on in map(path.pointAtPercent, np.linspace(0, 1, 401))])
    image = plot.grab().toImage()
    points = [
        point
        for area in plot.laid_out().arcs_areas()
        for point in points_of(image, theme.current().accent, area.adjusted(3, 1, -3, -1))
    ]
    assert points
    for point in points:
        assert np.abs(near - (point.x(), point.y())).sum(1).min() < 5


def test_a_token_in_focus_keeps_its_own_arcs_alone(qtbot) -> None:
    shown = view(look_at(13), View(heads=((2, 3),)))
    plot = put(qtbot, ArcsPlot("Arcs"))
    plot.set_arcs(shown, strongest(shown, 300))
    row, column = plot.strongest_cell()
    plot.set_locked((row + 1) % len(shown.row_labels))
    middle = plot.laid_out().arc(row, column).pointAtPercent(0.5)
    seen = plot.grab().toImage().pixelColor(middle.toPoint())
    assert seen.name() != theme.LIGHT.accent
    plot.set_locked(-1)
    heard: list[tuple[int, int]] = []
    plot.hovered.connect(lambda *cell: heard.append(cell))
    layout = plot.laid_out()
    qtbot.mouseMove(plot, layout.chip(0, row, 20).center().toPoint())
    qtbot.mouseMove(plot, layout.chip(1, column, 20).center().toPoint())
    assert heard == [(row, -1), (-1, column)]
    assert shown.row_labels[row].removeprefix("##") in plot.accessibleDescription()


def test_keys_walk_along_tokens_and_over_arcs(qtbot) -> None:
    shown = view(look_at(13), View(heads=((2, 3),)))
    plot = put(qtbot, ArcsPlot("Arcs"))
    plot.set_arcs(shown, strongest(shown, 300))
    row, column = plot.strongest_cell()
    seen = []
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Home, Qt.Key.Key_Up):
        qtbot.keyClick(plot, key)
        seen.append(plot.current)
    assert seen[:2] == [(row, -1), (-1, column)] and seen[3:] == [(-1, 0), (-1, 0)]
    plot.set_layout("line")
    plot.go_to((2, -1))
    qtbot.keyClick(plot, Qt.Key.Key_Right)
    qtbot.keyClick(plot, Qt.Key.Key_Return)
    assert plot.current == (3, -1) and plot.locked_row == 3


# Mosaic


@MODES
@pytest.mark.parametrize("shape", [(12, 12), (24, 16)])
@pytest.mark.parametrize("is_sorted", [False, True])
def test_the_strongest_tile_is_the_strongest_head(qapp, qtbot, mode: str, shape, is_sorted: bool) -> None:
    theme.apply_theme(qapp, mode)
    seen = look_at(30, 9, shape=shape)
    plot = put(qtbot, MosaicPlot("All heads"), 430, 460)
    made = tiles(seen, View(), 96)
    plot.set_mosaic(compose_mosaic(made))
    order = sorted(np.ndindex(*shape), key=lambda head: -seen.attentions[head][0, 0])
    plot.set_order(order if is_sorted else None)
    layer, head, row, column = np.unravel_index(int(np.argmax(seen.attentions)), seen.attentions.shape)
    for width, height in ((430, 460), (700, 380)):
        plot.resize(width, height)
        tile = plot.tile_rect(layer, head)
        points = points_of(
            plot.grab().toImage(), theme.current().accent, QRectF(plot.rect()).adjusted(0, 0, 0, -34)
        )
        assert points and all(tile.contains(point) for point in points)
        for point in points:
            away = (point.y() - tile.top()) / tile.height() - (row + 0.5) / seen.num_tokens
            across = (point.x() - tile.left()) / tile.width() - (column + 0.5) / seen.num_tokens
            assert abs(away) < 1 / 12 and abs(across) < 1 / 12


def test_heads_are_chosen_added_and_named(qtbot) -> None:
    seen = look_at(9, shape=(3, 5))
    plot = put(qtbot, MosaicPlot("All heads"), 430, 400)
    figures = np.arange(15).reshape(3, 5) / 10
    plot.set_mosaic(compose_mosaic(tiles(seen, View(), 64)), figures=figures, figure_name="entropy")
    chosen: list[tuple[int, int]] = []
    added: list[tuple[int, int]] = []
    plot.head_chosen.connect(lambda *head: chosen.append(head))
    plot.head_added.connect(lambda *head: added.append(head))
    at = plot.tile_rect(1, 3).center().toPoint()
    qtbot.mouseMove(plot, at)
    assert plot.accessibleDescription().startswith("Layer 2, head 4 · strongest 0.")
    assert plot.accessibleDescription().endswith("entropy 0.8")
    qtbot.mouseClick(plot, Qt.MouseButton.LeftButton, pos=at)
    qtbot.mouseClick(plot, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, pos=at)
    for key, modifier in (
        (Qt.Key.Key_Up, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier),
        (Qt.Key.Key_Space, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier),
    ):
        qtbot.keyClick(plot, key, modifier)
    assert chosen == [(1, 3), (0, 3), (0, 4)] and added == [(1, 3), (0, 4)]


def test_a_head_that_is_off_is_struck_out_not_only_paler(qtbot) -> None:
    plot = put(qtbot, MosaicPlot("All heads"), 430, 400)
    plot.set_mosaic(compose_mosaic(tiles(look_at(9), View(), 64)))
    plot.set_off({(1, 2)})
    assert plot.numbers()[1 + 5 + 2][:3] == [2, 3, 1]
    image, tile = plot.grab().toImage(), plot.tile_rect(1, 2)
    middle = tile.center().toPoint()
    dark = min(image.pixelColor(middle + QPoint(x, y)).lightness() for x in (-1, 0, 1) for y in (-1, 0, 1))
    assert dark < 100  # the stroke
    plot.set_mosaic(compose_mosaic(tiles(look_at(9, shape=(2, 2)), View(), 64)))
    assert plot.numbers()[1][:3] == [1, 1, 0] and len(plot.numbers()) == 5


# Query and keys


def detail(count: int = 9, size: int = 13) -> HeadAttention:
    rng = np.random.default_rng(2)
    query, keys = rng.normal(size=size).astype(np.float32), rng.normal(size=(count, size)).astype(np.float32)
    products = query * keys
    scores = products.sum(1) / np.float32(np.sqrt(size))
    weights = np.exp(scores) / np.exp(scores).sum()
    values = rng.normal(size=(count, size)).astype(np.float32)
    tokens = tuple(f"t{i}" for i in range(count))
    return HeadAttention(1, 2, 3, tokens, query, keys, products, scores, weights, values, weights @ values)


def numbers_in(text: str) -> list[float]:
    return [float(one.replace("−", "-")) for one in re.findall(r"−?\d+(?:\.\d+)?(?:e-?\d+)?", text)]


def test_the_sum_under_the_rows_is_right_for_the_token_that_is_marked(qtbot) -> None:
    plot, given = put(qtbot, QueryKeyPlot("Query and keys"), 620, 420), detail()
    plot.set_detail(given)
    assert plot.working()[0].count(f"t{int(given.weights.argmax())}") == 1  # the strongest, to begin with
    for place in range(9):
        plot.go_to(place)
        score, weight, output = plot.working()
        _place, size, product, root, quotient = numbers_in(score.replace("⁨", "").replace("⁩", ""))
        assert size == 13 and product == pytest.approx(given.products[place].sum(), abs=0.006)
        assert root == pytest.approx(13**0.5, abs=0.006) and quotient == pytest.approx(
            product / root, abs=0.01
        )
        power, total, share = numbers_in(weight)[-3:]
        assert share == pytest.approx(power / total, abs=0.006)
        assert share == pytest.approx(given.weights[place], abs=0.006) and "13 numbers" in output
    last = plot.numbers()[-1]
    np.testing.assert_allclose(last[-13:], (given.weights[:, None] * given.values).sum(0), rtol=1e-4)


def test_the_longest_bar_is_the_largest_weight(qtbot) -> None:
    plot, given = put(qtbot, QueryKeyPlot("Query and keys"), 620, 360), detail()
    plot.set_detail(given)
    assert [row[0] for row in plot.numbers()[2:-1]] == list(range(9))
    column = plot.columns()["weight"]
    image = plot.canvas().grab().toImage()
    widths = [
        len(points_of(image, theme.LIGHT.accent, QRectF(column.left(), 52 + 22 * row, column.width(), 22)))
        for row in np.argsort(-given.weights).tolist()
    ]
    assert widths == sorted(widths, reverse=True) and widths[0] > widths[-1]


def test_a_key_is_named_and_chosen_by_mouse_and_keys(qtbot) -> None:
    plot = put(qtbot, QueryKeyPlot("Query and keys"), 620, 300)
    plot.set_detail(detail())
    chosen: list[int] = []
    plot.key_chosen.connect(chosen.append)
    qtbot.mouseClick(plot.canvas(), Qt.MouseButton.LeftButton, pos=QPoint(200, 52 + 22 * 4 + 9))
    plot.go_to(None)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Return):
        qtbot.keyClick(plot, key)
    assert chosen == [4, 1]
    assert plot.accessibleDescription().startswith("t3 → t1   score ")


# What all have


@pytest.mark.parametrize(
    "make", [gallery.heatmap, gallery.arcs, gallery.arcs_on_a_line, gallery.mosaic, gallery.query_key]
)
def test_text_stays_text_in_a_file_and_cells_are_few_images(qtbot, tmp_path, make) -> None:
    plot = put(qtbot, make())
    save_figure(plot, tmp_path / "picture.svg")
    svg = (tmp_path / "picture.svg").read_text(encoding="utf-8")
    assert svg.count("<text") > 8 and len(svg) < 500_000
    assert 1 <= svg.count("<image") <= 20 or isinstance(plot, QueryKeyPlot)


def test_a_saved_heatmap_has_its_strongest_cell_where_the_screen_has_it(qtbot, tmp_path) -> None:
    values = np.random.default_rng(5).random((300, 300), np.float32) * 0.5
    values[40, 250] = 0.9
    plot = heatmap(qtbot, plain(values), 431, 397)
    plot.go_to((3, 4))
    save_figure(plot, tmp_path / "a.png")
    image = QImage(str(tmp_path / "a.png"))
    image.setDevicePixelRatio(2)
    points = points_of(image, theme.LIGHT.accent, plot.frame().area)
    assert points and all(
        abs(found - wanted) <= 1
        for point in points
        for found, wanted in zip(plot.target_at(point), (40, 250), strict=True)
    )


def test_a_saved_mosaic_has_every_tile_in_its_place(qtbot, tmp_path) -> None:
    seen = look_at(30, shape=(5, 7))
    plot = put(qtbot, MosaicPlot("All heads"), 430, 400)
    plot.set_mosaic(compose_mosaic(tiles(seen, View(), 64)))
    save_figure(plot, tmp_path / "a.svg")
    image = QImage(860, 800, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(2)
    painter = QPainter(image)
    QSvgRenderer(str(tmp_path / "a.svg")).render(painter, QRectF(0, 0, 430, 400))
    painter.end()
    layer, head = np.unravel_index(int(np.argmax(seen.attentions)), seen.attentions.shape)[:2]
    points = points_of(image, theme.LIGHT.accent, QRectF(0, 0, 430, 366))
    assert points and all(plot.tile_rect(layer, head).contains(point) for point in points)


def test_numbers_hold_every_weight_with_its_tokens(qtbot) -> None:
    shown = view(look_at(6, 4), View(heads=((1, 1),), specials="hide"))
    rows = heatmap(qtbot, shown).numbers()
    assert rows[0][:3] == ["place", "from \\ to", f"1 {shown.column_labels[0]}"]
    assert [row[1] for row in rows[1:]] == list(shown.row_labels)
    np.testing.assert_allclose(np.array([row[2:] for row in rows[1:]], float), shown.values, rtol=1e-5)


def test_one_token_is_no_trouble(qtbot) -> None:
    one = plain(np.ones((1, 1), np.float32))
    assert is_drawn(heatmap(qtbot, one))
    for way in ("columns", "line"):
        plot = put(qtbot, ArcsPlot("Arcs"))
        plot.set_layout(way)
        plot.set_arcs(one, strongest(one, 5))
        assert is_drawn(plot)


def is_drawn(plot) -> bool:
    """Whether a picture shows something that it does not once it is emptied."""
    full = plot.grab().toImage()
    plot.clear()
    return bool(plot.grab().toImage() != full)
