"""Colours that can be read, icons and rings that can be seen, and a switch that reaches everything."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontInfo, QImage, QPainter, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QSlider,
    QSpinBox,
    QStackedWidget,
    QStatusBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

import app
from app.look import theme
from app.look.columns import Bar
from app.look.labels import ElidedLabel, label
from app.look.table_view import TableView
from app.look.widgets import Advice, Card, button
from app.plots.bars import BarsPlot
from app.plots.confusion import ConfusionPlot
from app.plots.curve import CurvePlot
from app.plots.histogram import HistogramPlot
from app.settings import AppSettings

pytestmark = pytest.mark.usefixtures("styled")
EVERY = pytest.mark.parametrize("colors", theme.THEMES, ids=[colors.name for colors in theme.THEMES])
GROUNDS = ("page", "card", "rail", "field", "hover")


@EVERY
@pytest.mark.parametrize("token", ["text", "muted", "accent", "b", "fine", "look", "wrong"])
def test_every_text_colour_has_the_contrast_it_needs_on_every_ground(colors: theme.Theme, token: str) -> None:
    for ground in GROUNDS:
        assert theme.contrast(getattr(colors, token), getattr(colors, ground)) >= 4.5, ground


@EVERY
def test_text_on_coloured_grounds_can_be_read(colors: theme.Theme) -> None:
    for ink, ground in (
        ("on_accent", "accent"),
        ("text", "accent_soft"),
        ("text", "b_soft"),
        ("card", "text"),
    ):
        assert theme.contrast(getattr(colors, ink), getattr(colors, ground)) >= 4.5, (ink, ground)
    assert theme.contrast(colors.focus, colors.card) >= 3
    assert theme.contrast(theme.ICON_INK, colors.card) >= 3  # arrows in the style sheet are not tinted


INKS = {  # of bars -> what they are painted on
    "accent": ("card", "track", "page", "hover"),
    "bar": ("card", "track", "page", "hover"),
    "muted": ("card", "track"),
    "b": ("card", "track"),
    "fine": ("card", "track"),
    "wrong": ("card", "track"),
    "text": ("bar",),  # a bar within a bar, and the line of an interval over it
}


@EVERY
def test_every_bar_can_be_seen_on_its_track_and_its_card(colors: theme.Theme) -> None:
    for ink, grounds in INKS.items():
        for ground in grounds:
            assert theme.contrast(getattr(colors, ink), getattr(colors, ground)) >= 3, (ink, ground)


def test_no_bar_is_painted_in_what_is_made_to_stand_behind_text() -> None:
    inks = set()
    for path in Path(app.__file__).parent.rglob("*.py"):
        for call in re.findall(r"\bBar\((.*?)\)", path.read_text(encoding="utf-8"), re.DOTALL):
            inks |= set(re.findall(r'"([a-z_]+)"', call))
    assert inks <= {*INKS, "track", "hover"}


@EVERY
def test_what_is_off_is_fainter_than_what_is_quiet_and_can_still_be_read(colors: theme.Theme) -> None:
    off, quiet = (theme.contrast(ink, colors.card) for ink in (colors.disabled, colors.muted))
    assert quiet / off > 1.9 and off > 2


@pytest.mark.parametrize("colors", [theme.CONTRAST_LIGHT, theme.CONTRAST_DARK])
def test_high_contrast_is_black_and_white_with_strong_edges(colors: theme.Theme) -> None:
    assert theme.contrast(colors.text, colors.card) == pytest.approx(21)
    assert colors.edge == colors.text
    for token in ("muted", "accent", "b", "fine", "look", "wrong", "focus"):
        assert theme.contrast(getattr(colors, token), colors.card) >= 7, token


def test_a_bar_is_as_long_as_its_share_and_one_of_nothing_is_not_there(qapp: QApplication) -> None:
    for share, wanted in ((0.0, 0), (0.02, 4), (0.5, 100), (1.0, 200)):
        image = QImage(220, 20, QImage.Format.Format_ARGB32)
        image.fill(theme.current().color("card"))
        painter = QPainter(image)
        Bar(share, height=8.0, radius=4.0).paint(painter, QRectF(10, 0, 200, 20))
        painter.end()
        accent = theme.current().accent
        assert abs(sum(image.pixelColor(x, 10).name() == accent for x in range(220)) - wanted) <= 2, (
            share
        )  # round ends


def test_the_font_in_the_box_stands_in_for_fallbacks_alone(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    for wanted, system, family in (
        ("", "DejaVu Sans", theme.OWN_FONT),
        ("", "", theme.OWN_FONT),  # no font at all
        ("", "Segoe UI", ""),
        ("", "Cantarell", ""),
        ("system", "DejaVu Sans", ""),
        ("inter", "Segoe UI", theme.OWN_FONT),
    ):
        monkeypatch.setenv("CLOZE_FONT", wanted)
        monkeypatch.setattr(
            theme, "QFontInfo", lambda _font, system=system: SimpleNamespace(family=lambda: system)
        )
        theme._ui_family.cache_clear()
        assert theme._ui_family() == family, (wanted, system)
    monkeypatch.undo()
    theme._ui_family.cache_clear()
    for bold in (False, True):
        found = QFontInfo(theme.ui_font(bold=bold))
        assert (found.family(), found.weight()) == (theme.OWN_FONT, 600 if bold else 400)


def test_styled_words_keep_figures_of_one_width(qtbot) -> None:
    for role in ("huge", "caption", "muted", "card-title"):
        made = label("", role)
        qtbot.addWidget(made)
        made.ensurePolished()
        assert made.font().featureValue(QFont.Tag("tnum")) == 1, role
        widths = {made.fontMetrics().horizontalAdvance(digit * 8) for digit in "0123456789"}
        assert len(widths) == 1, role


@EVERY
def test_meanings_stay_apart_for_colour_blind_eyes(colors: theme.Theme) -> None:
    for matrix in (DEUTAN, PROTAN):
        seen = {
            name: matrix @ _linear(getattr(colors, name)) for name in ("accent", "b", "fine", "look", "wrong")
        }
        assert _distance(seen["accent"], seen["b"]) > 25
        for one, other in itertools.combinations(("fine", "look", "wrong"), 2):
            assert _distance(seen[one], seen[other]) > 2.3, (
                one,
                other,
            )  # noticeable; shapes and words do the rest


def test_levels_differ_by_shape_as_well(qapp: QApplication) -> None:
    shapes = {
        _bytes(theme.icon(level, "text").pixmap(32, 32).toImage())
        for level in ("fine", "look", "wrong", "note")
    }
    assert len(shapes) == 4


def test_dark_is_dark_on_a_platform_without_colour_schemes(qapp: QApplication, qtbot) -> None:
    card = Card("Title")
    qtbot.addWidget(card)
    theme.apply_theme(qapp, "dark")
    card.resize(100, 60)
    assert QColor(card.grab().toImage().pixel(50, 50)).name() == theme.DARK.card
    assert qapp.palette().color(QPalette.ColorRole.Window).name() == theme.DARK.page


def test_system_follows_what_the_system_says(qapp: QApplication) -> None:
    theme.apply_theme(qapp, "system")
    is_dark = qapp.styleHints().colorScheme() == Qt.ColorScheme.Dark
    assert theme.current() is (theme.DARK if is_dark else theme.LIGHT)
    assert theme.mode() == "system"


def test_high_contrast_is_taken_from_the_system_where_nothing_else_was_asked_for(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(theme, "_wants_contrast", lambda: True)
    for mode, found in (("system", theme.CONTRAST_LIGHT), ("light", theme.LIGHT), ("dark", theme.DARK)):
        theme.apply_theme(qapp, mode)
        assert theme.current() is found
    monkeypatch.undo()
    theme.apply_theme(qapp, "light")
    theme.watcher().mode = "system"
    monkeypatch.setattr(theme, "_wants_contrast", lambda: True)
    theme.watcher()._system_changed()  # as Qt tells it
    assert theme.current() is theme.CONTRAST_LIGHT


def test_a_switch_reaches_pictures_that_are_open(qapp: QApplication, qtbot) -> None:
    plots = [CurvePlot("Loss"), HistogramPlot("Length"), ConfusionPlot("Confusion"), BarsPlot("Labels")]
    plots[0].append([1, 2, 3], [3.0, 2.0, 1.0])
    plots[1].set_values([3, 4, 4, 5])
    plots[2].set_confusion(["a", "b"], np.array([[3, 1], [0, 2]]))
    plots[3].set_bars([("a", 3), ("b", 1)])
    box = Card("Pictures")
    qtbot.addWidget(box)
    for plot in plots:
        box.add(plot)
    box.resize(300, 900)
    before = box.grab().toImage()
    theme.apply_theme(qapp, "dark")
    after = box.grab().toImage()
    for plot in plots:
        if isinstance(plot, CurvePlot):
            plot.flush()
        corner = plot.mapTo(box, plot.rect().bottomLeft())
        x, y = corner.x() + 8, corner.y() - 5
        assert QColor(before.pixel(x, y)).name() == theme.LIGHT.card
        assert QColor(after.pixel(x, y)).name() == theme.DARK.card


class Deep(QPlainTextEdit):
    """Text with more lines than there is room for, that counts how often it is styled."""

    def __init__(self) -> None:
        super().__init__("\n".join("line" for _ in range(37)))
        self.num_styled = 0

    def changeEvent(self, event: QEvent) -> None:
        self.num_styled += event.type() == QEvent.Type.StyleChange
        super().changeEvent(event)


def nested(deep: QWidget) -> Card:
    """Return cards within cards, the innermost of which holds a widget; put together from within."""
    inner: QWidget = deep
    for _ in range(7):
        card = Card("Nested")
        card.add(inner)
        inner = card
    assert isinstance(inner, Card)
    return inner


@pytest.mark.parametrize("is_dressed", [True, False])
def test_a_switch_styles_a_widget_once_however_deep_it_lies_and_moves_no_text(
    qapp: QApplication, qtbot, is_dressed: bool
) -> None:
    deep = Deep()
    box = nested(deep)
    qtbot.addWidget(box)
    if is_dressed:
        theme.dress(box)
    box.resize(400, 500)
    box.show()
    deep.verticalScrollBar().setValue(deep.verticalScrollBar().maximum())
    place = deep.verticalScrollBar().value()
    for mode in ("dark", "light"):
        deep.num_styled = 0
        theme.apply_theme(qapp, mode)
        assert deep.num_styled == 1 + is_dressed  # a window's sheet is taken off and put on
        assert deep.verticalScrollBar().value() == place > 0
        assert deep.palette().color(QPalette.ColorRole.Base).name() == theme.current().field


def test_what_comes_into_a_dressed_window_is_styled_once_and_as_all_else(qtbot) -> None:
    window = QStackedWidget()
    qtbot.addWidget(window)
    theme.dress(window)
    window.show()
    deep = Deep()
    window.addWidget(nested(deep))
    assert deep.num_styled == 1
    assert deep.palette().color(QPalette.ColorRole.Base).name() == theme.current().field


def test_a_line_that_is_cut_to_its_room_counts_the_padding_around_it(qtbot) -> None:
    bar = QStatusBar()  # whose labels the style sheet gives a padding
    qtbot.addWidget(bar)
    line = ElidedLabel("a sentence of some length that is just as long as its room")
    bar.addWidget(line, 1)
    bar.show()
    width = line.fontMetrics().horizontalAdvance(line.text())
    for room, is_whole in ((width + 40, True), (width + 4, False)):
        line.setFixedWidth(room)
        QApplication.processEvents()
        assert (QLabel.text(line) == line.text()) is is_whole


def test_a_forgotten_widget_is_not_kept_alive_by_the_theme(qapp: QApplication, qtbot) -> None:
    calls = []
    widget = QWidget()
    theme.on_theme_change(widget, lambda: calls.append(1))
    theme.apply_theme(qapp, "dark")
    assert len(calls) == 2
    widget.deleteLater()
    qtbot.waitUntil(lambda: not theme.shiboken6.isValid(widget))
    theme.apply_theme(qapp, "light")
    assert len(calls) == 2


@pytest.mark.parametrize(
    "make",
    [
        lambda: button("Press"),
        lambda: button("Press", "primary"),
        lambda: button("Press", "link"),
        QToolButton,
        QLineEdit,
        QSpinBox,
        QDoubleSpinBox,
        QComboBox,
        QPlainTextEdit,
        lambda: QCheckBox("Check"),
        lambda: QRadioButton("Choose"),
        lambda: QSlider(Qt.Orientation.Horizontal),
        TableView,
        lambda: CurvePlot("Loss"),
        lambda: ConfusionPlot("Confusion"),
        lambda: HistogramPlot("Length"),
        lambda: BarsPlot("Labels"),
        lambda: CurvePlot("Loss").save_button(),
    ],
)
def test_whatever_takes_the_keyboard_shows_it(qtbot, make) -> None:
    box = QWidget()
    qtbot.addWidget(box)
    widget, other = make(), QPushButton("other")
    layout = QVBoxLayout(box)
    layout.addWidget(widget)
    layout.addWidget(other)
    box.resize(240, 240)
    box.show()
    box.activateWindow()
    other.setFocus()
    before = widget.grab().toImage()
    widget.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(widget.hasFocus)
    assert _num_changed(before, widget.grab().toImage()) > 40


@pytest.mark.parametrize("mode", ["light", "dark", "contrast"])
@pytest.mark.parametrize("role", ["", "primary", "link", "tool"])
def test_a_button_that_is_off_is_fainter_than_quiet_words(
    qapp: QApplication, qtbot, role: str, mode: str
) -> None:
    theme.apply_theme(qapp, mode)
    made = QToolButton(text="Press") if role == "tool" else button("Press", role)
    quiet, card = label("Press", "muted"), Card("Title")
    qtbot.addWidget(card)
    for widget in (made, quiet):
        card.add(widget)
    card.resize(200, 160)
    card.show()
    on = _ink_contrast(made, card)
    made.setEnabled(False)
    off = _ink_contrast(made, card)
    assert off < 0.75 * on and off < 0.75 * _ink_contrast(quiet, card) and off > 1.5


def _ink_contrast(widget: QWidget, card: Card) -> float:
    """Return the contrast of a widget's commonest colour with the one there that differs most from it."""
    inner = QRect(widget.mapTo(card, QPoint(4, 4)), widget.size() - QSize(8, 8))
    image = card.grab(inner).toImage().convertToFormat(QImage.Format.Format_ARGB32)
    values, counts = np.unique(np.frombuffer(image.constBits(), dtype=np.uint32), return_counts=True)
    colors = [QColor.fromRgb(int(value) & 0xFFFFFF).name() for value in values]
    ground = colors[int(counts.argmax())]
    return max(theme.contrast(color, ground) for color in colors)


def test_icons_are_drawn_in_the_theme_and_sharp_when_scaled(qapp: QApplication) -> None:
    theme.apply_theme(qapp, "dark")
    for path in theme.ICONS.glob("*.svg"):
        picture = theme.icon(path.stem).pixmap(QSize(16, 16), 2.0)
        assert picture.width() == 32, path.name
        image = picture.toImage()
        assert any(image.pixelColor(x, y).alpha() for x in range(32) for y in range(32)), path.name


def test_figures_have_one_width(qapp: QApplication) -> None:
    from PySide6.QtGui import QFontMetricsF

    for font in (theme.ui_font(), theme.mono_font()):
        widths = {round(QFontMetricsF(font).horizontalAdvance(digit * 8), 2) for digit in "0123456789"}
        assert len(widths) == 1


def test_advice_marks_levels_with_shapes_and_words(qtbot) -> None:
    advice = Advice()
    qtbot.addWidget(advice)
    advice.put("a", "look", "99 rows are <b>equal</b>.")
    advice.put("a", "fine", "No row is equal.")
    assert advice.texts() == ["No row is equal."]


def test_settings_come_back_as_they_were(tmp_path) -> None:
    first = AppSettings(tmp_path / "cloze.ini")
    first.theme = "dark"
    first.geometry = b"\x00\x01\xff"
    for name in "abcdefghijklm":
        first.add_recent_file(f"/data/{name}.csv")
    first.add_recent_file("/data/k.csv")
    first.set_value("split", 0.25)
    first.set_value("raw", True)
    first.sync()
    again = AppSettings(tmp_path / "cloze.ini")
    assert (again.theme, again.geometry) == ("dark", b"\x00\x01\xff")
    assert again.recent_files[:3] == ["/data/k.csv", "/data/m.csv", "/data/l.csv"]
    assert len(again.recent_files) == 10
    assert again.value("split", 0.5) == 0.25 and again.value("raw", False) is True
    assert again.recent_models == [] and again.runs_root == ""


# Simulated colour vision, on linear RGB. Source: Machado, Oliveira and Fernandes 2009, severity 1.0.
DEUTAN = np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]])
PROTAN = np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]])
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1.0, 1.089])


def _linear(color: str) -> np.ndarray:
    parts = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def _distance(a: np.ndarray, b: np.ndarray) -> float:
    """Distance in CIE Lab; 2.3 is just noticeable side by side."""

    def inspector(rgb: np.ndarray) -> np.ndarray:
        x, y, z = np.cbrt(TO_XYZ @ np.clip(rgb, 0, 1) / WHITE)
        return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])

    return float(np.linalg.norm(inspector(a) - inspector(b)))


def _num_changed(a: QImage, b: QImage) -> int:
    pixels = (np.frombuffer(_bytes(image), dtype=np.uint32) for image in (a, b))
    return int(np.count_nonzero(np.not_equal(*pixels)))


def _bytes(image: QImage) -> bytes:
    kept = image.convertToFormat(QImage.Format.Format_ARGB32)  # its bits live as long
    return bytes(kept.constBits())


def test_a_number_and_its_unit_are_never_torn_apart(qtbot) -> None:
    made = label("Labels are balanced: each has 48.0 % to 52.0 % of the rows.", wrap=True)
    qtbot.addWidget(made)
    assert "48.0 %" in made.text()  # as it was written
    assert " %" not in QLabel.text(made) and QLabel.text(made).count("\N{NO-BREAK SPACE}%") == 2
    made.setText("residual < 0.01 %")
    assert QLabel.text(made).split(" ") == ["residual", "<\N{NO-BREAK SPACE}0.01\N{NO-BREAK SPACE}%"]
    made.setText("Written in 2 s, 5 steps")
    assert QLabel.text(made) == "Written in 2\N{NO-BREAK SPACE}s, 5 steps"
    assert made.text() == "Written in 2 s, 5 steps"
    made.setText("50 % of them")
    assert QLabel.text(made).startswith("50\N{NO-BREAK SPACE}%")
