"""The colours of attention and its heatmap: the strongest colour is where the strongest attention is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter

from app.look import theme
from app.plots import token_labels
from app.plots.attention_image import (
    MIDDLE,
    cells_of,
    compose,
    lightness,
    ramp,
    shrink,
)
from app.plots.heatmap import HeatmapPlot
from engine.inspect.attention.views import View, difference, view
from tests.app.attention_scenes import heatmap, look_at, plain, points_of

MODES = pytest.mark.parametrize("mode", ["light", "dark"])
THEMES = pytest.mark.parametrize("colors", [theme.LIGHT, theme.DARK], ids=["light", "dark"])


# Colours


@THEMES
def test_equal_steps_of_attention_are_equal_steps_of_lightness(colors: theme.Theme) -> None:
    light = lightness(_parts(ramp(colors.card, colors.accent)))
    even = np.linspace(light[0], light[-1], 256)
    assert np.abs(light - even).max() < 0.3  # what 8 bits a colour allow
    assert (np.diff(light) * np.sign(light[-1] - light[0]) >= 0).all()
    assert abs(light[-1] - light[0]) > 50


@THEMES
def test_the_scale_runs_from_the_card_to_the_accent(colors: theme.Theme) -> None:
    one, two = ramp(colors.card, colors.accent), ramp(colors.card, colors.accent, colors.b)
    assert [_name(one[0]), _name(one[255])] == [colors.card, colors.accent]
    assert [_name(two[1]), _name(two[MIDDLE]), _name(two[255])] == [colors.b, colors.card, colors.accent]
    light = lightness(_parts(two))
    for arm in (light[1 : MIDDLE + 1], light[MIDDLE:][::-1]):
        assert np.abs(arm - np.linspace(arm[0], arm[-1], len(arm))).max() < 0.5


def test_only_the_strongest_weight_has_the_strongest_colour() -> None:
    values = np.array([[0.1, 0.8999, 0.9], [0.0, np.nan, 0.45]], np.float32)
    assert compose(values).levels.tolist() == [[28, 254, 255], [0, 0, 127]]
    assert compose(values).high == np.float32(0.9)
    signed = compose(np.array([[-0.2, 0.0, 0.1]]), signed=True)
    assert signed.levels.tolist() == [[1, MIDDLE, 191]] and (signed.low, signed.high) == (
        pytest.approx(-0.2),
        pytest.approx(0.2),
    )
    assert compose(np.zeros((2, 3))).levels.max() == 0
    assert compose(values, top=0.1).levels.max() == 255


@pytest.mark.parametrize(
    ("rows", "columns", "height", "width"), [(512, 512, 450, 450), (37, 13, 5, 13), (7, 7, 99, 3)]
)
def test_a_pixel_shows_the_strongest_of_the_cells_it_stands_for(rows, columns, height, width) -> None:
    levels = np.random.default_rng(3).integers(0, 256, (rows, columns)).astype(np.uint8)
    small = shrink(levels, height, width)
    height, width = small.shape
    assert (height, width) == (min(height, rows), min(width, columns))
    for y, x in itertools.product((0, height // 2, height - 1), (0, width // 2, width - 1)):
        ys, xs = cells_of(y, height, rows), cells_of(x, width, columns)
        assert small[y, x] == levels[ys.start : ys.stop, xs.start : xs.stop].max()
    signed = shrink(levels, height, width, is_signed=True).astype(int)
    assert np.abs(signed - MIDDLE).max() == np.abs(levels.astype(int) - MIDDLE).max()


# Heatmap


@MODES
@pytest.mark.parametrize(
    "wanted",
    [
        View(heads=((2, 3),)),
        View(heads=((0, 1), (2, 4)), specials="hide"),
        View(heads=((1, 1),), specials="renormalise", unit="words"),
        View(heads=((1, 0),), block="ab"),
        View(heads=((0, 2),), unit="words", top_share=0.5),
    ],
    ids=["plain", "specials hidden", "words", "A to B", "top half"],
)
def test_the_strongest_cell_on_screen_is_the_strongest_attention(
    qapp, qtbot, mode: str, wanted: View
) -> None:
    theme.apply_theme(qapp, mode)
    shown = view(look_at(13, 9), wanted)
    plot = heatmap(qtbot, shown)
    where = divmod(int(np.argmax(shown.values)), shown.values.shape[1])
    for width, height in ((560, 480), (811, 333), (300, 260)):
        plot.resize(width, height)
        points = points_of(plot.grab().toImage(), theme.current().accent, plot.frame().area)
        assert points and {plot.target_at(point) for point in points} == {where}


class FineHeatmap(HeatmapPlot):
    """As on a screen with two pixels for one."""

    def devicePixelRatioF(self) -> float:
        return 2.0


@MODES
@pytest.mark.parametrize("kind", [HeatmapPlot, FineHeatmap])
def test_the_strongest_of_512_tokens_survives_in_fewer_pixels(qapp, qtbot, mode: str, kind: type) -> None:
    theme.apply_theme(qapp, mode)
    values = np.random.default_rng(5).random((512, 512), np.float32) * 0.5
    for row, column in ((17, 401), (511, 0), (300, 300)):
        peaked = values.copy()
        peaked[row, column] = 0.9
        plot = heatmap(qtbot, plain(peaked), 431, 397, kind)
        image = plot.still().toImage()
        points = points_of(image, theme.current().accent, plot.frame().area)
        assert {plot.target_at(point) for point in points} == {(row, column)}


@MODES
def test_the_largest_differences_have_the_purest_hues(qapp, qtbot, mode: str) -> None:
    theme.apply_theme(qapp, mode)
    seen = look_at(11, 6)
    shown = difference(seen, seen, View(heads=((0, 0),)), View(heads=((2, 2),)))
    plot = heatmap(qtbot, shown)
    image, area, colors = plot.grab().toImage(), plot.frame().area, theme.current()
    strongest_ = plot.strongest_cell()
    color = colors.accent if shown.values[strongest_] > 0 else colors.b
    points = points_of(image, color, area)
    assert points and {plot.target_at(point) for point in points} == {strongest_}


def test_hovering_names_both_tokens_and_does_not_paint_the_cells_again(qtbot) -> None:
    plot = heatmap(qtbot, view(look_at(13, 9), View(heads=((2, 3),))), kind=_Counted)
    plot.grab()
    painted, heard = plot.times, []
    plot.hovered.connect(lambda row, column: heard.append((row, column)))
    for cell in ((4, 2), (5, 7), (5, 8)):
        qtbot.mouseMove(plot, plot.cell_rect(*cell).center().toPoint())
        plot.grab()
        words = plot.accessibleDescription()
        assert all(shown.removeprefix("##") in words for shown in _labels(plot, *cell))
        assert words.split()[-1][:4] in f"{plot.shown.values[cell]:.5f}"
    assert heard == [(4, 2), (5, 7), (5, 8)] and plot.times == painted


def test_a_click_locks_a_row_and_a_second_one_lets_it_go(qtbot) -> None:
    plot = heatmap(qtbot, view(look_at(13), View(heads=((2, 3),))))
    heard: list[int] = []
    plot.locked.connect(heard.append)
    before = plot.grab().toImage()
    row, _column = plot.strongest_cell()
    other = (row + 5) % len(plot.shown.row_labels)
    for _ in range(2):
        qtbot.mouseClick(plot, Qt.MouseButton.LeftButton, pos=plot.cell_rect(other, 0).center().toPoint())
    plot.set_locked(other)  # told by the page: no signal
    assert heard == [other, -1] and plot.locked_row == other
    assert not points_of(plot.grab().toImage(), theme.LIGHT.accent, plot.frame().area)  # others step back
    plot.set_locked(-1)
    plot.go_to((-1, -1))
    plot.clearFocus()
    assert plot.grab().toImage() == before


def test_keys_walk_from_the_strongest_cell_lock_and_let_go(qtbot) -> None:
    plot = heatmap(qtbot, view(look_at(13), View(heads=((2, 3),))))
    locked: list[int] = []
    plot.locked.connect(locked.append)
    plot.setFocus()
    qtbot.keyClick(plot, Qt.Key.Key_Right)
    row, column = plot.strongest_cell()
    assert plot.current == (row, column)
    qtbot.keyClick(plot, Qt.Key.Key_Home)
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Right):
        qtbot.keyClick(plot, key)
    assert plot.current == (row, 2)
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Escape):
        qtbot.keyClick(plot, key)
    assert locked == [row, -1] and plot.current == (-1, -1)
    plot.go_to((row, 1))
    qtbot.keyClick(plot, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert plot.current == (row, 11)
    plot.go_to((-1, -1))
    qtbot.keyClick(plot, Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)  # the page's
    assert plot.current == (-1, -1)


def test_hover_and_lock_stay_with_the_same_tokens_and_go_with_others(qtbot) -> None:
    seen = look_at(13)
    plot = heatmap(qtbot, view(seen, View(heads=((2, 3),))))
    plot.set_locked(3)
    plot.go_to((3, 4))
    other = view(seen, View(heads=((0, 0),)))
    plot.set_picture(compose(other.values), other)
    assert (plot.locked_row, plot.current) == (3, (3, 4))
    longer = view(look_at(14), View(heads=((0, 0),)))
    plot.set_picture(compose(longer.values), longer)
    assert (plot.locked_row, plot.current) == (-1, (-1, -1))


# Labels


@pytest.mark.parametrize("count", [3, 9, 17, 33, 64, 120, 512])
def test_labels_never_collide(qtbot, count: int) -> None:
    labels = [("government", "a", "##ing", "[SEP]")[i % 4] for i in range(count)]
    plot = heatmap(qtbot, plain(np.ones((count, count), np.float32), labels))
    frame = plot.frame()
    across, down = frame.area.width() / count, frame.area.height() / count
    if frame.rows.way == "flat":
        assert frame.rows.every * down >= frame.rows.size
    if frame.columns.way == "flat":
        metrics = QFontMetricsF(theme.ui_font(frame.columns.size))
        assert all(metrics.horizontalAdvance(label) < across for label in labels)
    elif frame.columns.way != "places":
        assert frame.columns.every * across >= frame.columns.size
    assert (frame.rows.way == frame.columns.way == "places") == (count == 512)
    inner = plot.rect().adjusted(0, 0, 1, 1)
    assert QRectF(inner).contains(frame.area) and frame.area.width() > plot.width() * 0.3


def test_the_hover_shows_the_label_that_had_no_room(qtbot) -> None:
    plot = heatmap(qtbot, plain(np.ones((512, 512), np.float32)))
    before = plot.grab().toImage()
    plot.go_to((100, 200))
    area = plot.frame().area
    above = _above(area)
    assert before.copy(above) != plot.grab().toImage().copy(above)
    assert "t100" in plot.accessibleDescription() and "t200" in plot.accessibleDescription()


def test_chinese_stands_upright_when_latin_is_turned(qtbot) -> None:
    assert (
        token_labels.is_upright("银行") and token_labels.is_upright("##行") and token_labels.is_upright("。")
    )
    assert not token_labels.is_upright("bank") and not token_labels.is_upright("##")
    upright, turned = (_inked(text) for text in ("口口口", "llllllllll"))
    assert upright.height() > 2 * upright.width()  # three boxes under each other
    assert turned.height() > turned.width()
    plan = token_labels.plan_columns(["口口口", "[CLS]"], 14.0, 90)
    assert plan.way == "turned" and plan.every == 1


class _Counted(HeatmapPlot):
    """Counts how often its cells are painted."""

    times = 0

    def paint_still(self, painter: QPainter) -> None:
        self.times += 1
        super().paint_still(painter)


def _labels(plot: HeatmapPlot, row: int, column: int) -> tuple[str, str]:
    assert plot.shown is not None
    return plot.shown.row_labels[row], plot.shown.column_labels[column]


def _above(area: QRectF) -> QRect:
    return QRectF(area.left(), 0, area.width(), area.top()).toRect()


def _inked(text: str) -> QRectF:
    """Return the bounds of what a turned label paints."""
    image = QImage(60, 120, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    token_labels.paint_column(painter, token_labels.LabelPlan("turned", 1, 12, 100), text, 30, 110)
    painter.end()
    dark = [(x, y) for x in range(60) for y in range(120) if image.pixelColor(x, y).lightness() < 160]
    xs, ys = zip(*dark, strict=True)
    return QRectF(min(xs), min(ys), max(xs) - min(xs) + 1, max(ys) - min(ys) + 1)


def _parts(colors: np.ndarray) -> np.ndarray:
    return np.stack([(colors >> shift) & 255 for shift in (16, 8, 0)], axis=1) / 255


def _name(color: np.uint32) -> str:
    return QColor.fromRgb(int(color)).name()
