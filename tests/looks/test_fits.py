"""The finder of words without room finds what it is for, and nothing on the pages of a small window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QVBoxLayout, QWidget

from app.look import theme
from app.look.inputs import SpinBox
from app.look.labels import ElidedLabel, label
from app.look.widgets import button, tidy_spin
from app.plots.strokes import painter_on, write
from app.settings import AppSettings
from tests.app.conftest import open_window
from tests.app.hand import OpenWindow
from tests.looks.fits import _is_accepted, _unbroken, faults

__all__ = ["open_window"]
SMALL = ("finetune", "predict", "probe", "attention", "models", "runs", "pretrain")


@pytest.mark.parametrize("fault", ["none", "cut", "elided", "outside", "over", "contrast"])
def test_each_fault_is_found_and_none_where_all_is_well(qapp: QApplication, qtbot, fault: str) -> None:
    theme.apply_theme(qapp, "light")
    window = QWidget()
    qtbot.addWidget(window)
    theme.dress(window)
    window.resize(400, 200)
    line, press, said = ElidedLabel("A sentence of some length"), button("Press"), label("Fine", "muted")
    box = QWidget(window)
    box.resize(250, 200)
    layout = QVBoxLayout(box)
    for widget in (line, press, said):
        layout.addWidget(widget)
    layout.addStretch()
    loose = QLabel("Loose", box)
    loose.setGeometry(200, 170, 40, 16)
    loose.show()
    window.show()
    QApplication.processEvents()
    spoil(fault, line, press, said, loose)
    QApplication.processEvents()
    found = {one.kind for one in faults(window, "page")}  # type: ignore[arg-type]
    assert (found == set()) if fault == "none" else fault in found


class Painted(QWidget):
    """Two words as a picture paints them, the second from some px on."""

    second = 40

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = painter_on(self)
        for left, word in ((4, "first"), (self.second, "second")):
            write(painter, QRectF(left, 4, 200, 20), word)


@pytest.mark.parametrize(("second", "found"), [(60, set()), (20, {"over"}), (180, {"cut"})])
def test_words_that_are_painted_are_seen_too(qapp: QApplication, qtbot, second: int, found: set[str]) -> None:
    window = Painted()
    qtbot.addWidget(window)
    window.second = second
    window.resize(200, 40)
    QApplication.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # in which pictures run from the left
    try:
        assert {one.kind for one in faults(window, "page")} == found  # type: ignore[arg-type]
    finally:
        QApplication.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


def test_a_number_that_has_no_room_in_its_box_is_seen(qapp: QApplication, qtbot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    spin = tidy_spin(SpinBox(window, maximum=99_999, value=30_522), 70)
    window.show()
    assert not list(faults(window, "page"))  # type: ignore[arg-type]
    spin.setFixedWidth(40)
    QApplication.processEvents()
    assert [one.text for one in faults(window, "page")] == ["30522"]  # type: ignore[arg-type]


def test_chinese_is_broken_between_characters_and_never_before_what_closes() -> None:
    parts = list(_unbroken("打开一张表（CSV）。 Start now"))
    assert parts == ["打", "开", "一", "张", "表", "（CSV）。", "Start", "now"]


def spoil(fault: str, line: ElidedLabel, press: QPushButton, said: QLabel, loose: QLabel) -> None:
    """Do to a part what is to be found."""
    if fault == "cut":
        press.setFixedWidth(30)
    elif fault == "elided":
        line.setFixedWidth(60)
    elif fault == "outside":
        loose.move(240, 170)
    elif fault == "over":
        said.setFixedHeight(said.height())
        loose.move(said.pos())
        said.raise_()
    elif fault == "contrast":
        said.setStyleSheet("color: #cccccc")


@pytest.mark.slow
@pytest.mark.usefixtures("no_models_ship")
@pytest.mark.parametrize("mode", ["light", "contrast"])
def test_every_word_of_a_small_window_has_its_room_and_can_be_read(
    qapp: QApplication, settings: AppSettings, open_window: OpenWindow, mode: str
) -> None:
    theme.apply_theme(qapp, mode)
    window = open_window(settings)
    window.resize(QSize(1024, 640))
    found = []
    for page in SMALL:
        window.show_page(page)
        assert window.session.wait_idle()
        QApplication.processEvents()
        found += [one.line for one in faults(window, page) if not _is_accepted(one, "1024x640")]
    assert not found, "\n".join(found)
