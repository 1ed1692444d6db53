"""Pictures of the Pretrain page in the states a person meets, judged by what they must show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.look import theme
from app.main_window import MainWindow
from app.settings import AppSettings
from app.work import training as training_module
from tests.app.hand import wait_for_run, whole_window
from tests.looks.language_scenes import InventedReading, invented_forecast, write_text
from tests.looks.pictures import SIZES, clipped, picture, share_of

pytestmark = pytest.mark.slow  # whole windows, seen as pictures

Read = Callable[[InventedReading | None], MainWindow]


@pytest.fixture
def window(settings: AppSettings, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    monkeypatch.setattr("app.pages.pretrain.findings.forecast", invented_forecast)
    with whole_window(settings, qtbot, SIZES[""]) as made:
        made.show_page("pretrain")
        yield made


@pytest.fixture
def read(window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Choose a text and wait until it is looked at; press Start where there is a run."""

    def start(run: InventedReading | None) -> MainWindow:
        session, page = window.session, page_of(window)
        page.take([str(write_text(tmp_path / "story.txt"))])
        page.setup.check()
        for _ in range(4):
            assert session.wait_idle()
            QApplication.processEvents()
        if run is not None:
            monkeypatch.setattr(training_module, "pretrain", run.pretrain)
            page.start_button.click()
            wait_for_run(session, qtbot, run.hold_at)
        return window

    return start


def page_of(window: MainWindow) -> Any:
    return window.page("pretrain")


def end(window: MainWindow, run: InventedReading, qtbot: QtBot) -> None:
    """End the training, so that the window closes without a question."""
    run.let_go()
    window.session.training.stop()
    qtbot.waitUntil(lambda: not window.session.training.is_running)


def test_a_page_without_text_says_what_comes_first(window: MainWindow) -> None:
    picture(window, "pretrain-without-text")
    assert not clipped(window)


def test_what_was_found_and_examples_of_it_are_seen_at_once(read: Read) -> None:
    window = read(None)
    before = page_of(window).before
    for size in SIZES:
        pictures = picture(window, "pretrain-ready", size)
        assert not clipped(window), size
        if not size:
            assert before.verticalScrollBar().maximum() == 0, "everything is seen without scrolling"
        for mode, colors in (("light", theme.LIGHT), ("dark", theme.DARK)):
            for color in (colors.accent_soft, colors.b, colors.fine):  # hidden, swapped, kept
                share = share_of(pictures[mode], before.examples, window, QColor(color))
                assert share > 0.0002, (size, mode, color)


def test_a_run_shows_curves_and_guesses_in_their_colours(read: Read, qtbot: QtBot) -> None:
    run = InventedReading(hold_at=240)
    window = read(run)
    charts = page_of(window).charts
    loss = charts.measure("loss").plot
    for size in SIZES:
        window.resize(SIZES[size])
        QApplication.processEvents()
        charts.ensureWidgetVisible(loss)  # in a low window the verdict stands before the curves
        pictures = picture(window, "pretrain-running", size)
        assert not clipped(window), size
        for mode, colors in (("light", theme.LIGHT), ("dark", theme.DARK)):
            assert share_of(pictures[mode], loss, window, QColor(colors.accent)) > 0.002, (size, mode)
            assert share_of(pictures[mode], loss, window, QColor(colors.b)) > 0.0005, (size, mode)
        if not size:
            assert charts.verticalScrollBar().maximum() == 0, "everything is seen without scrolling"
            rows = charts.pinned.plot.canvas().height()
            assert rows <= charts.pinned.plot.height(), "all five pinned sentences are seen"
    end(window, run, qtbot)


def test_the_right_words_are_lines_of_their_own_colours(read: Read, qtbot: QtBot) -> None:
    run = InventedReading(hold_at=240)
    window = read(run)
    charts = page_of(window).charts
    charts.choose("right_words")
    pictures = picture(window, "pretrain-right-words")
    for mode in ("light", "dark"):
        for color in theme.CATEGORIES[mode][:4]:
            assert share_of(pictures[mode], charts.right_words, window, QColor(color)) > 0.0004
    end(window, run, qtbot)


def test_a_run_can_be_read_while_it_waits_and_once_it_is_stopped(read: Read, qtbot: QtBot) -> None:
    window = read(InventedReading(hold_at=320))
    page_of(window).pause_button.click()
    judge(window, "paused")
    page_of(window).stop_button.click()
    qtbot.waitUntil(lambda: not window.session.training.is_running)
    judge(window, "stopped")


@pytest.mark.parametrize("state", ["finished", "failed"])
def test_a_run_that_has_ended_can_be_read(read: Read, state: str) -> None:
    judge(read(InventedReading(fail_at=120 if state == "failed" else 0)), state)


def test_a_run_that_learns_nothing_yet_can_be_read(read: Read, qtbot: QtBot) -> None:
    run = InventedReading(hold_at=320, stuck=True)
    window = read(run)
    judge(window, "stuck")
    assert "word frequency only" in page_of(window).charts.watching.advice.texts()[0]
    end(window, run, qtbot)


def judge(window: MainWindow, state: str) -> None:
    """Leave a picture, and refuse what cannot be read on it or done in this state."""
    picture(window, f"pretrain-{state}")
    assert not clipped(window)
    page = page_of(window)
    link = page.run_card.form_button  # at the foot of the card, not one of the page's actions
    shown = [action for action in page._actions() if action.isVisible() and action is not link]
    main = sum(action.property("role") == "primary" for action in shown)
    assert 1 <= len(shown) <= 3 and main == (not page.is_running or state == "paused")
    assert page.header.copying is not None and page.header.more.isVisible(), "the command is in the menu"
