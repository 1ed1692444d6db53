"""Pictures are judged by their meaning: where the colour is, what the words say, what is saved."""

from __future__ import annotations

import itertools
import time
from collections import Counter

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter
from PySide6.QtWidgets import QApplication, QCheckBox, QGraphicsView, QScrollArea
from pytestqt.qtbot import QtBot

from app.look import theme
from app.look.columns import WordsCell
from app.plots.axes import round_ticks
from app.plots.bars import BarsPlot
from app.plots.chart import same_digits
from app.plots.confusion import ConfusionPlot, telling_elision
from app.plots.curve import CurvePlot
from app.plots.figure import Figure, ink_on, save_figure
from app.plots.histogram import HistogramPlot
from app.plots.series import Series
from engine.errors import UserError
from tests.app.plots.gallery import bars, confusion, curve, histogram


def shown(qtbot, plot: Figure, width: int = 370, height: int = 290) -> Figure:
    qtbot.addWidget(plot)
    plot.resize(width, height)
    plot.show()
    plot.activateWindow()
    if isinstance(plot, CurvePlot):
        plot.flush()
    QApplication.processEvents()
    plot.clearFocus()  # the ring has the accent's colour
    return plot


def test_a_picture_that_cannot_be_written_says_so_and_harms_nothing(qtbot, tmp_path) -> None:
    plot = shown(qtbot, bars())
    with pytest.raises(UserError, match="must end in"):
        save_figure(plot, tmp_path / "picture.bmp")
    with pytest.raises(UserError, match="cannot be written"):
        save_figure(plot, tmp_path / "missing" / "picture.png")
    assert not list(tmp_path.iterdir())


def test_a_label_that_a_spreadsheet_would_run_is_guarded(qtbot, tmp_path) -> None:
    plot = shown(qtbot, BarsPlot("Labels"))
    plot.set_bars([("=1+1", 3)])
    save_figure(plot, tmp_path / "labels.csv")
    assert "'=1+1" in (tmp_path / "labels.csv").read_text(encoding="utf-8-sig")


# Curves


def test_smoothing_in_parts_is_smoothing_at_once_and_a_plain_loop() -> None:
    values = np.random.default_rng(7).normal(size=1370)
    parts, whole = Series(0.9), Series(0.9)
    for part in np.split(values, [1, 13, 500, 1369]):
        parts.append(np.arange(len(part)) + parts.size, part)
    whole.append(np.arange(1370), values)
    mean, expected = 0.0, []
    for i, value in enumerate(values, start=1):
        mean = 0.9 * mean + 0.1 * value
        expected.append(mean / (1 - 0.9**i))
    np.testing.assert_allclose(parts.smoothed, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(whole.smoothed, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("smoothing", [0.0, 0.3, 0.5, 0.99])
def test_a_constant_stays_what_it_is(smoothing: float) -> None:
    series = Series(smoothing)
    series.append(np.arange(5000), np.full(5000, 0.7))
    np.testing.assert_allclose(series.smoothed, 0.7)


def test_a_loss_that_is_no_number_does_not_spoil_the_rest() -> None:
    series = Series(0.9)
    series.append(np.arange(4), np.array([1.0, np.nan, np.inf, 1.0]))
    assert (
        series.smoothed[0] == 1.0
        and np.isnan(series.smoothed[1])
        and series.smoothed[3] == pytest.approx(1.0)
    )


def test_all_points_are_kept_and_given_back(qtbot) -> None:
    plot = shown(qtbot, curve())
    rows = plot.numbers()
    assert rows[0][0] == "step" and len(rows) == 38
    assert rows[13][0] == 13 and rows[13][1] == pytest.approx(1.4) and rows[13][3] == 1.1
    assert rows[1][3] == ""
    assert plot.last_validation == 0.3 and plot.num_points == 37


@pytest.mark.slow
def test_curves_are_drawn_at_most_ten_times_a_second(qtbot) -> None:
    plot = shown(qtbot, CurvePlot("Loss", kind="loss"))
    plot.append(0, 1.0)
    plot.flush()
    drawings: list[int] = []
    began = time.monotonic()
    plot._train_curve.sigPlotChanged.connect(lambda _curve: drawings.append(1))
    for step in range(1, 500):
        plot.append(step, 1 / step)
        if step % 50 == 0:
            qtbot.wait(10)
    qtbot.waitUntil(lambda: not plot._timer.isActive())
    assert 1 <= len(drawings) <= 2 + (time.monotonic() - began) * 10


def test_a_curve_has_no_chart_before_its_first_point_and_then_one_as_was_chosen(qtbot) -> None:
    plot = shown(qtbot, CurvePlot("Loss", kind="loss"))
    plot.set_log(True)
    plot.set_smoothing(0)
    plot.clear()
    assert not plot.has_chart and plot.findChild(QGraphicsView) is None
    plot.append([1, 2, 3], [3.0, 2.0, 1.0])
    plot.flush()
    assert plot.findChild(QGraphicsView).isVisible()
    assert plot._chart.getAxis("left").logMode


@pytest.mark.slow
def test_a_million_points_are_taken_and_drawn(qtbot) -> None:
    plot = shown(qtbot, CurvePlot("Loss", kind="loss"))
    steps = np.arange(1, 10**6 + 1)
    plot.append(steps, 1 / steps)
    plot.flush()
    plot.grab()
    assert plot.num_points == 10**6


def test_the_curve_falls_from_the_upper_left_to_the_lower_right(qtbot) -> None:
    plot = shown(qtbot, curve())
    image = plot.grab().toImage()
    accent = [p for p in _pixels(image, theme.LIGHT.accent) if p[1] < plot._chart.height()]
    left, right = (
        np.mean([y for x, y in accent if low <= x < high]) for low, high in ((60, 120), (270, 340))
    )
    assert left < right - 50
    assert _pixels(image, theme.LIGHT.b)


def test_a_logarithmic_axis_leaves_zero_out_without_a_complaint(qtbot) -> None:
    plot = shown(qtbot, CurvePlot("Loss", kind="loss"))
    plot.append([1, 2, 3, 4], [1.0, 0.0, -1.0, np.nan])
    linear = plot.grab().toImage()
    plot.set_log(True)
    assert plot.grab().toImage() != linear  # and the log of warnings, which fails a test, has none
    plot.set_log(False)
    assert len(plot.numbers()) == 5


def test_the_accuracy_axis_can_show_all_or_where_the_data_are(qtbot) -> None:
    plot = CurvePlot("Accuracy", kind="accuracy")
    plot.append(np.arange(1, 14), np.linspace(0.9, 0.97, 13))
    controls = plot.controls()
    qtbot.addWidget(controls)
    shown(qtbot, plot)
    assert plot._chart.viewRange()[1][0] > 0.8
    controls.unit.setChecked(True)
    low, high = plot._chart.viewRange()[1]
    assert low < 0.01 and high > 0.99
    controls.unit.setChecked(False)
    QApplication.processEvents()
    assert plot._chart.viewRange()[1][0] > 0.8
    assert sum(not box.isHidden() for box in controls.findChildren(QCheckBox)) == 1
    plot.set_lowest(-1.0)  # a correlation's
    plot.append_validation([1, 14], [-0.6, 0.9])
    plot.flush()
    QApplication.processEvents()
    assert plot._chart.viewRange()[1][0] < -0.6 and "−1" in controls.unit.text()


def test_the_numbers_of_an_axis_have_as_many_digits(qtbot) -> None:
    assert same_digits(["0.5", "0.45", "1", "", "2e-05"]) == ["0.50", "0.45", "1.00", "", "2e-05"]
    plot = shown(qtbot, CurvePlot("Accuracy", kind="accuracy"))
    plot.append(np.arange(1, 4), [0.47, 0.50, 0.47])
    plot.flush()
    axis = plot._chart.getAxis("left")
    image = QImage(60, 300, QImage.Format.Format_ARGB32)
    painter = QPainter(image)
    texts = [text for _place, _flags, text in axis.generateDrawSpecs(painter)[2] if text]
    painter.end()
    assert len(texts) > 2 and len({len(text.partition(".")[2]) for text in texts}) == 1, texts


@pytest.mark.parametrize("losses", [[1.794209241867065], [0.69, 0.69], [2e-4], [0.0]])
def test_equal_values_get_an_axis_with_few_digits_and_no_steps_before_the_first(qtbot, losses) -> None:
    plot = CurvePlot("Loss", kind="plain")
    qtbot.addWidget(plot)
    plot.resize(420, 260)
    plot.append(np.arange(100), np.linspace(9, 1, 100))  # a run before, whose range pyqtgraph would keep
    plot.flush()
    plot.show()
    plot.clear()
    plot.append(np.arange(1, len(losses) + 1), losses)
    plot.flush()
    QApplication.processEvents()
    axis, steps = plot._chart.getAxis("left"), plot._chart.getAxis("bottom")
    spacing, values = axis.tickValues(*axis.range, 260)[0]
    assert max(len(text) for text in axis.tickStrings(values, 1.0, spacing)) <= len("0.000200")
    assert steps.range[0] > -5


def test_hovering_says_the_values_of_the_nearest_step(qtbot) -> None:
    plot = shown(qtbot, curve())
    plot.set_smoothing(0)
    said = []
    plot.hover_changed.connect(said.append)
    plot._mouse_moved(plot._chart.getViewBox().mapViewToScene(QPointF(13.2, 1.0)))
    assert said[-1] == "step 13 · train 1.400 · validation 1.100 at step 13"
    assert plot._bubble.isVisible()
    qtbot.keyClick(plot, Qt.Key.Key_Right)
    assert said[-1].startswith("step 14 ") and plot.accessibleDescription() == said[-1]
    qtbot.keyClick(plot, Qt.Key.Key_Escape)
    assert said[-1] == "" and not plot._bubble.isVisible()


# Confusion


def test_the_strongest_error_is_where_it_happened(qtbot) -> None:
    plot = shown(qtbot, confusion())
    image = plot.grab().toImage()
    seen = {}
    for true in range(7):
        for predicted in range(7):
            place = plot.rect_of((true, predicted)).topLeft().toPoint()
            seen[true, predicted] = QColor(image.pixel(place.x() + 3, place.y() + 3))
    errors = {cell: color.red() - color.blue() for cell, color in seen.items() if cell[0] != cell[1]}
    assert max(errors, key=errors.__getitem__) == (3, 4)
    assert seen[4, 3].name() == theme.LIGHT.card
    assert all(seen[i, i].blue() > seen[i, i].red() for i in range(7))


def test_a_cell_is_told_in_words_under_the_mouse_and_by_keys(qtbot) -> None:
    plot = shown(qtbot, confusion())
    said = "12 of 113 “sport” texts were predicted as “tech” (10.6 %)."
    qtbot.mouseMove(plot, plot.rect_of((3, 4)).center().toPoint())
    assert plot.cell_words(3, 4) == plot.accessibleDescription() == said
    QApplication.sendEvent(plot, QEvent(QEvent.Type.Leave))
    assert plot.accessibleDescription() == "445 of 457 texts were predicted correctly."
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Left):
        qtbot.keyClick(plot, key)
    assert plot.accessibleDescription() == plot.cell_words(1, 0)
    qtbot.keyClick(plot, Qt.Key.Key_End)
    assert plot.accessibleDescription() == plot.cell_words(1, 6)


@pytest.mark.slow
@pytest.mark.parametrize("num_labels", [2, 13, 50])
def test_a_matrix_of_any_size_is_drawn(qtbot, num_labels: int) -> None:
    plot = shown(qtbot, ConfusionPlot("Confusion"))
    counts = np.random.default_rng(3).integers(0, 9000, (num_labels, num_labels))
    plot.set_confusion([f"label number {i}" for i in range(num_labels)], counts)
    assert len(plot.numbers()) == num_labels + 1
    for width, height in ((plot.width(), plot.height()), (120, 80)):
        plot.resize(width, height)
        whole = plot.grab().toImage()
        plot.set_confusion(["a"], np.ones((1, 1), np.int64))
        assert plot.grab().toImage() != whole
        plot.set_confusion([f"label number {i}" for i in range(num_labels)], counts)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_counts_can_be_read_on_every_cell_colour(qapp, qtbot, mode: str) -> None:
    theme.apply_theme(qapp, mode)
    plot = shown(qtbot, ConfusionPlot("Confusion"))
    for right in range(0, 101, 5):
        plot.set_confusion(["a", "b"], np.array([[right, 100 - right], [1, 1]]))
        for cell in ((0, 0), (0, 1)):
            color = plot.cell_color(*cell)
            assert theme.contrast(ink_on(color).name(), color) >= 4.5


# Histogram and bars


def test_the_share_that_is_cut_is_counted_exactly(qtbot) -> None:
    plot = shown(qtbot, histogram())
    assert plot.cut_share == pytest.approx(98 / 601)
    assert plot.words() == "16 % truncated at 512"
    plot.set_maximum(8192)
    assert plot.words() == "none truncated at 8,192"


def test_every_value_is_in_one_bar_and_the_tail_is_said(qtbot) -> None:
    plot = shown(qtbot, histogram())
    rows = plot.numbers()[1:]
    assert sum(int(row[2]) for row in rows) == 601
    assert all(int(after[0]) == int(before[1]) + 1 for before, after in itertools.pairwise(rows))
    assert int(rows[-1][1]) == 5000 and "up" in plot.words_of(len(rows) - 1)


@pytest.mark.parametrize("values", [[5], [5, 5, 5], [0], [1, 2], [3, 10**6]])
def test_odd_lengths_are_drawn(qtbot, values: list[int]) -> None:
    plot = shown(qtbot, HistogramPlot("Length"))
    plot.set_values(values, 4)
    plot.grab()
    assert sum(int(row[2]) for row in plot.numbers()[1:]) == len(values)
    qtbot.keyClick(plot, Qt.Key.Key_Right)
    assert plot.accessibleDescription().startswith(str(plot.numbers()[1][2]))


def test_what_is_cut_has_another_colour(qtbot) -> None:
    plot = shown(qtbot, histogram())
    image = plot.grab().toImage()
    x = {
        name: [x for x, y in _pixels(image, name) if 100 < y < 200]  # below the words
        for name in (theme.LIGHT.accent, theme.LIGHT.b)
    }
    assert max(x[theme.LIGHT.accent]) <= min(x[theme.LIGHT.b]) + 1


def test_the_bar_under_the_mouse_is_the_one_that_is_said(qtbot) -> None:
    plot = shown(qtbot, HistogramPlot("Length", x_label="pieces"))
    plot.set_values([1] * 5 + [3] * 9)
    QApplication.processEvents()
    said = []
    for share in (0.2, 0.55, 0.9):
        qtbot.mouseMove(plot, QPoint(int(share * plot.width()), plot.height() - 60))
        said.append(plot.accessibleDescription())
    assert said == ["5 from 1 to 1 pieces", "0 from 2 to 2 pieces", "9 from 3 to 3 pieces"]


@pytest.mark.slow
def test_a_line_is_as_wide_in_a_saved_picture_as_on_screen(qtbot, tmp_path) -> None:
    plot = shown(qtbot, histogram())
    save_figure(plot, tmp_path / "picture.png")
    image = QImage(str(tmp_path / "picture.png"))
    rows: dict[int, int] = {}
    for _x, y in _pixels(image, theme.LIGHT.b):
        rows[y] = rows.get(y, 0) + 1
    assert Counter(rows.values()).most_common(1)[0][0] == 4  # 2 px, at twice the dots


def test_ticks_are_round() -> None:
    assert round_ticks(0, 149, 4) == [0, 50, 100]
    assert round_ticks(37, 1400, 3) == [500, 1000]
    assert round_ticks(0, 1, 4, least=1) == [0, 1]
    assert round_ticks(-1.2, 2.1, 5) == [-1.0, 0.0, 1.0, 2.0]


def test_counts_are_scaled_to_the_largest_and_probabilities_run_from_0_to_1(qtbot) -> None:
    plot = shown(qtbot, bars())
    assert plot.value_words(plot.rows[0]) == "511 · 56.0 %" and plot.full == 511
    qtbot.keyClick(plot, Qt.Key.Key_Down)
    qtbot.keyClick(plot, Qt.Key.Key_Down)
    assert plot.accessibleDescription() == "tech <b> 401 · 44.0 %"
    plot.set_bars([("positive", 0.972), ("negative", 0.028)], as_share=True, highlight="positive")
    assert plot.value_words(plot.rows[0]) == "97.2 %" and plot.numbers()[0] == ["label", "probability"]
    plot.set_bars([("positive", 0.51), ("negative", 0.49)], as_share=True, highlight="positive")
    image, colors = plot.canvas().grab().toImage(), theme.current()
    row = [image.pixelColor(x, 15).name() for x in range(image.width())]
    bar, rest = row.count(colors.accent), row.count(colors.track)
    assert bar / (bar + rest) == pytest.approx(0.51, abs=0.02)


def test_a_label_that_stands_out_is_cut_by_the_width_of_bold_letters(qapp) -> None:
    name = WordsCell("defense gave up just 308 points", is_bold=True)
    cut = name.shown_in(90.0)
    assert cut.startswith("def") and cut.endswith("…")
    assert QFontMetricsF(name.font).horizontalAdvance(cut) <= 90.0


def test_many_bars_scroll(qtbot) -> None:
    plot = shown(qtbot, BarsPlot("Labels"), height=200)
    plot.set_bars([(f"label {i}", i) for i in range(300)])
    QApplication.processEvents()
    assert plot.canvas().height() == 9000 and plot.height() == 200


def _pixels(image: QImage, color: str) -> list[tuple[int, int]]:
    rgb = QColor(color).rgb()
    return [(x, y) for x in range(image.width()) for y in range(image.height()) if image.pixel(x, y) == rgb]


def test_names_are_shortened_where_they_do_not_differ(qtbot) -> None:
    plot = shown(qtbot, confusion())
    metrics = QFontMetricsF(plot.font())
    for names, mode in (
        ([f"intent number {i:02d} of a bank's customer service" for i in range(40)], "ElideRight"),
        ([f"a question of customers about the matter {i:02d}" for i in range(40)], "ElideMiddle"),
        (["sport", "tech"], "ElideMiddle"),
    ):
        found = telling_elision(names, metrics, metrics.horizontalAdvance("intent number 00 of"))
        assert found is getattr(Qt.TextElideMode, mode)


def test_a_last_batch_of_three_rows_hardly_moves_the_smoothed_line() -> None:
    series = Series(0.8)
    series.append(np.arange(20.0), np.full(20, 0.67), np.full(20, 32.0))
    series.append(np.array([20.0]), np.array([0.0]), np.array([3.0]))
    assert series.smoothed[-1] > 0.65


def test_a_list_that_became_shorter_out_of_view_is_not_scrolled_past_its_end(qtbot: QtBot) -> None:
    plot = BarsPlot("labels")
    qtbot.addWidget(plot)
    plot.resize(300, 150)
    plot.show()
    plot.set_bars([(f"label {n}", n + 1) for n in range(60)])
    QApplication.processEvents()
    bar = plot.findChild(QScrollArea).verticalScrollBar()
    bar.setValue(bar.maximum())
    plot.hide()
    plot.set_bars([(f"label {n}", n + 1) for n in range(8)])
    plot.show()
    QApplication.processEvents()
    assert plot.canvas().height() == 8 * plot.row_height and bar.value() == bar.maximum() < 100


def test_texts_of_one_length_are_a_bar_and_not_a_wall(qtbot: QtBot) -> None:
    plot = shown(qtbot, HistogramPlot("Length", x_label="words"))
    plot.set_values([5] * 30)
    QApplication.processEvents()
    said = []
    for share in (0.15, 0.55, 0.95):
        qtbot.mouseMove(plot, QPoint(int(share * plot.width()), plot.height() - 60))
        said.append(plot.accessibleDescription())
    assert said == ["", "30 from 5 to 5 words", ""]
