"""Pictures of the real window in the states a person meets, judged by what they must show.

The PNGs are left in tests/looks/artefacts/ for people to look at; they are never compared with older ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from app.look import theme
from app.main_window import MainWindow
from app.settings import AppSettings
from app.work import training as training_module
from tests.app.hand import wait_for_run, whole_window
from tests.looks.pictures import SIZES, clipped, picture, share_of
from tests.looks.scenes import (
    CHINESE,
    FIVE,
    TWENTY,
    TWO,
    InventedRun,
    write_table,
    write_vocabulary,
)

pytestmark = pytest.mark.slow  # whole windows, seen as pictures

Train = Callable[[Sequence[str], InventedRun | None], MainWindow]


@pytest.fixture
def window(settings: AppSettings, qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    settings.set_value("vocabularies", [str(write_vocabulary(tmp_path / "vocab.txt"))])
    with whole_window(settings, qtbot, SIZES[""]) as made:
        made.show_page("finetune")
        yield made


@pytest.fixture
def train(window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Train:
    """Open a table of these labels and new weights; press Start where there is a run."""

    def start(labels: Sequence[str], run: InventedRun | None) -> MainWindow:
        session, page = window.session, window.page("finetune")
        session.data.open(write_table(tmp_path / "news.csv", labels, rows_a_label=7))
        assert session.wait_idle()
        page.setup.chooser.start_from_random_weights()  # type: ignore[attr-defined]
        assert session.wait_idle()
        page.setup.check()  # type: ignore[attr-defined]
        if run is not None:
            begin(window, run, qtbot, monkeypatch)
        return window

    return start


def begin(window: MainWindow, run: InventedRun, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Press Start and wait until the run holds or ends."""
    monkeypatch.setattr(training_module, "fine_tune", run.fine_tune)
    window.page("finetune").start_button.click()  # type: ignore[attr-defined]
    wait_for_run(window.session, qtbot, run.hold_at)


def end(window: MainWindow, run: InventedRun, qtbot: QtBot) -> None:
    """End the training, so that the window closes without a question."""
    run.let_go()
    window.session.training.stop()
    qtbot.waitUntil(lambda: not window.session.training.is_running)


def test_a_window_without_data_says_what_comes_first(window: MainWindow) -> None:
    pictures = picture(window, "finetune-without-data")
    assert (
        pictures["light"].pixelColor(700, 700).lightness()
        > 200
        > 60
        > pictures["dark"].pixelColor(700, 700).lightness()
    )
    assert not clipped(window)


@pytest.mark.parametrize(
    ("name", "labels"),
    [("two", TWO), ("five", FIVE), ("twenty", TWENTY), ("chinese", CHINESE)],
    ids=["two", "five", "twenty", "chinese"],
)
def test_a_running_window_shows_curves_in_their_colours(
    train: Train,
    qtbot: QtBot,
    name: str,
    labels: Sequence[str],
) -> None:
    run = InventedRun(labels, hold_at=214, never=1 if len(labels) > 5 else -1)
    window = train(labels, run)
    charts = window.page("finetune").charts  # type: ignore[attr-defined]
    for size in SIZES:
        pictures = picture(window, f"finetune-running-{name}", size)
        assert not clipped(window), size
        for mode, colors in (("light", theme.LIGHT), ("dark", theme.DARK)):
            assert share_of(pictures[mode], charts.loss, window, QColor(colors.accent)) > 0.002, (size, mode)
            assert share_of(pictures[mode], charts.loss, window, QColor(colors.b)) > 0.0005, (size, mode)
        if not size:
            assert charts.verticalScrollBar().maximum() == 0, "everything is seen without scrolling"
            heights = charts.loss_card.height(), charts.scores_card.height()
            assert 1.0 < heights[0] / heights[1] < 1.6
    end(window, run, qtbot)


def test_a_run_can_be_read_before_it_begins_while_it_waits_and_once_it_is_stopped(
    train: Train, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = InventedRun(TWO, hold_at=214, overfits=True)
    window = train(TWO, None)
    page = window.page("finetune")
    judge(window, "ready")
    begin(window, run, qtbot, monkeypatch)
    page.pause_button.click()  # type: ignore[attr-defined]
    judge(window, "paused")
    page.stop_button.click()  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: not window.session.training.is_running)
    judge(window, "stopped")


@pytest.mark.parametrize("state", ["finished", "failed"])
def test_a_run_that_has_ended_can_be_read(train: Train, state: str) -> None:
    judge(train(TWO, InventedRun(TWO, fail_at=120 if state == "failed" else 0, overfits=True)), state)


def judge(window: MainWindow, state: str) -> None:
    """Leave a picture, and refuse what cannot be read on it or done in this state."""
    picture(window, f"finetune-{state}")
    assert not clipped(window)
    page: Any = window.page("finetune")
    link = page.run_card.form_button  # at the foot of the card, not one of the page's actions
    shown = [action for action in page._actions() if action.isVisible() and action is not link]
    main = sum(action.property("role") == "primary" for action in shown)
    assert 1 <= len(shown) <= 3 and main == 1
    assert page.header.copying is not None and page.header.more.isVisible(), "the command is in the menu"


def test_the_predict_page_says_what_is_missing(window: MainWindow) -> None:
    window.show_page("predict")
    picture(window, "predict-without-a-model")
    assert not clipped(window)
