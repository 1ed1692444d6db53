"""Without a mouse: Tab leads to every control of every page, and what has the keyboard is seen to have it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QPlainTextEdit,
    QScrollArea,
    QScrollBar,
    QTabBar,
    QTabWidget,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.dialogs import ClosingDialog, HelpDialog
from app.look.error_dialog import ErrorDialog
from app.main_window import MainWindow
from app.page_stack import PAGES
from app.pages.attention.state import PICTURES
from app.plots.bars import BarsPlot
from app.plots.figure import Figure
from app.plots.save_dialog import SaveDialog
from app.settings import AppSettings
from app.work.training_state import TrainingState
from tests.app.hand import whole_window
from tests.engine.made_runs import made_run
from tests.journeys.looking_hand import LookingHand
from tests.looks.looking_scenes import SENTENCE, language_model
from tests.looks.pictures import SIZES
from tests.looks.scenes import TWO, write_table

pytestmark = pytest.mark.slow  # whole windows, seen as pictures

CONTROLS = (
    *(QAbstractButton, QAbstractItemView, QAbstractSlider, QAbstractSpinBox, QComboBox),
    *(QLineEdit, QPlainTextEdit, QTabBar, Figure),
)
PARTS = (
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QTabBar,
    Figure,
)  # with insides
SEEN = 60  # of 765: how much a pixel changes that a person sees change
LONG, THICK = 12, 2  # px: the least piece of a ring
MOST_STOPS = 80
VIEWS = PICTURES[1:]  # of heads, beside the one that is open


@pytest.fixture
def window(settings: AppSettings, qtbot: QtBot) -> Iterator[MainWindow]:
    with whole_window(settings, qtbot, SIZES[""]) as made:
        made.activateWindow()
        yield made


def controls(page: QWidget) -> list[QWidget]:
    """Return what on a page is there to be used."""
    return [each for each in page.findChildren(QWidget) if is_control(each)]


def is_control(widget: QWidget) -> bool:
    """Return whether a widget can be used now, and is no mere part of what can."""
    if not widget.isVisible() or not widget.isEnabled() or isinstance(widget, QScrollBar | QHeaderView):
        return False
    if is_several_figures(widget):
        return False
    above = widget.parentWidget()
    while above is not None and (is_several_figures(above) or not isinstance(above, PARTS)):
        above = above.parentWidget()
    takes_keys = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and not isinstance(widget, QTabWidget)
    return above is None and (takes_keys or isinstance(widget, CONTROLS))


def is_several_figures(widget: QWidget) -> bool:
    """Return whether a picture is a frame around others, each of which takes the keyboard for itself."""
    is_frame = widget.focusPolicy() == Qt.FocusPolicy.NoFocus
    return isinstance(widget, Figure) and is_frame and bool(widget.findChildren(Figure))


def stops(start: QWidget | None) -> list[QWidget]:
    """Return what Tab comes to, from a control round to itself."""
    assert start is not None
    start.setFocus(Qt.FocusReason.TabFocusReason)
    found: list[QWidget] = []
    here: QWidget | None = start
    while here is not None and here not in found:
        found.append(here)
        assert len(found) < MOST_STOPS, f"Tab never comes back to {start.objectName()}"
        QTest.keyClick(here, Qt.Key.Key_Tab)
        here = QApplication.focusWidget()
    assert here is start, f"Tab does not leave {here and told(here)}"
    return found


def led_to(stop: QWidget) -> list[QWidget]:
    """Return the buttons that arrow keys lead to from one of a group of which one alone is chosen."""
    group = siblings(stop)
    found: list[QWidget] = []
    chosen = next((each for each in group if isinstance(each, QAbstractButton) and each.isChecked()), None)
    stop.setFocus()
    here: QWidget | None = stop
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Down):
        for _ in group:
            QTest.keyClick(here if here in group else stop, key)
            here = QApplication.focusWidget()
            found += [here] if here in group else []
    if chosen is not None:
        chosen.click()  # arrows choose what they lead to
    return found


def siblings(widget: QWidget) -> list[QWidget]:
    """Return the buttons of which one alone is chosen, a button among them."""
    if not isinstance(widget, QAbstractButton) or not widget.isCheckable():
        return []
    if widget.group() is not None:
        return list(widget.group().buttons())
    above = widget.parentWidget()
    if not widget.autoExclusive() or above is None:
        return []
    near = above.findChildren(QAbstractButton, options=Qt.FindChildOption.FindDirectChildrenOnly)
    return [each for each in near if each.autoExclusive()]


def has_ring(window: QWidget, stop: QWidget) -> bool:
    """Return whether a control with the keyboard has thick lines that it lacks without: level and upright."""
    stop.setFocus(Qt.FocusReason.OtherFocusReason)
    above = stop.parentWidget()
    while above is not None:  # as Tab does
        if isinstance(above, QScrollArea):
            above.ensureWidgetVisible(stop)
        above = above.parentWidget()
    QApplication.processEvents()
    place = QRect(stop.mapTo(window, QPoint(0, 0)), stop.size()).adjusted(-4, -4, 4, 4) & window.rect()
    for text in [stop, *stop.findChildren(QLineEdit)]:
        if isinstance(text, QLineEdit):
            text.deselect()  # what is chosen is no ring
    with_keys = pixels(window, place)
    stop.clearFocus()
    QApplication.processEvents()
    changed = np.abs(with_keys - pixels(window, place)).sum(axis=2) > SEEN
    return has_line(changed) and has_line(changed.T)


def has_line(changed: np.ndarray) -> bool:
    """Return whether (height, width) marks have a level line that is thick and long enough."""
    lines = changed.copy()
    for down in range(THICK):
        for right in range(LONG):
            lines &= np.roll(changed, (-down, -right), axis=(0, 1))
    return bool(lines.any())


def pixels(window: QWidget, place: QRect) -> np.ndarray:
    """Return a part of a window, (height, width, 3)."""
    image = window.grab(place).toImage().convertToFormat(QImage.Format.Format_RGB32)
    shape = (image.height(), image.width(), 4)
    return np.frombuffer(image.constBits(), np.uint8).reshape(shape)[:, :, :3].astype(int)


def told(widget: QWidget) -> str:
    """Return a widget's name for a person who mends it."""
    return f"{type(widget).__name__} {widget.objectName() or widget.accessibleName()!r}"


def states(hand: LookingHand) -> Iterator[str]:
    """Show every page, and every tab of it, at rest."""
    attention: Any = hand.window.page("attention")

    def rest() -> None:
        for _ in range(
            3
        ):  # what is shown first asks in the event loop's next round, and an answer may ask again
            QApplication.processEvents()
            hand.wait(lambda: hand.inspector.workers.is_idle and not attention.ablation.is_waiting)
        QApplication.processEvents()

    hand.window.show_page(list(PAGES)[-1])  # the first page, too, shall be entered anew and know what is new
    for key in PAGES:
        hand.window.show_page(key)
        rest()
        tabs = [each for each in hand.window.page(key).findChildren(QTabBar) if each.isVisible()]
        yield key
        for bar in tabs:
            for number in range(1, bar.count()):
                bar.setCurrentIndex(number)
                rest()
                yield f"{key}, {bar.tabText(number)}"
        for view in VIEWS if key == "attention" else ():
            hand.find(f"attention_view_{view}").click()
            rest()
            yield f"{key}, {view}"


def test_tab_reaches_every_control_and_shows_where_it_is(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    hand = LookingHand(window, qtbot)
    made_run(window.session.runs.root, "films")
    window.session.data.open(write_table(tmp_path / "reviews.csv", TWO))
    hand.inspector.choose(language_model(tmp_path / "model"))
    hand.inspector.set_text(SENTENCE, "")
    hand.wait(lambda: hand.inspector.about is not None and window.session.data.table is not None)
    faults, looked_at = [], set()
    for state in states(hand):
        page = window.page(window.current_page)
        reached = stops(window.findChild(QWidget, f"rail_{window.current_page}"))
        held = [sibling for stop in reached for sibling in siblings(stop)]
        lost = [each for each in controls(page) if each not in reached and each not in held]
        faults += [f"{state}: Tab never reaches {told(each)}" for each in lost]
        for stop in reached:
            if stop not in looked_at and is_control(stop):
                looked_at |= {stop, *siblings(stop)}
                unseen = not has_ring(window, stop)
                faults += [f"{state}: {told(stop)} does not show that it has the keyboard"] if unseen else []
                chosen = [each for each in siblings(stop) if each is not stop and each.isEnabled()]
                missing = set(chosen) - set(led_to(stop)) if chosen else set()
                faults += [f"{state}: no arrow key leads to {told(each)}" for each in missing]
        assert len(reached) > 2, state
    assert not faults, "\n" + "\n".join(faults)


def test_dialogs_are_answered_without_a_mouse(qtbot: QtBot) -> None:
    bars = BarsPlot("Labels")
    bars.set_bars([("for", 3), ("against", 4)])
    qtbot.addWidget(bars)
    dialogs = (
        HelpDialog(),
        ErrorDialog(RuntimeError("ours")),
        ClosingDialog(TrainingState(name="small")),
        SaveDialog("Labels", bars, lambda *_asked: None),
    )
    for dialog in dialogs:
        qtbot.addWidget(dialog)
        dialog.show()
        dialog.activateWindow()
        qtbot.waitUntil(dialog.isActiveWindow)
        reached = stops(dialog.focusWidget() or controls(dialog)[0])
        assert set(reached) == set(controls(dialog)), dialog
        assert all(has_ring(dialog, stop) for stop in reached), dialog
        dialog.close()
