"""A person new to Cloze, with the models in the box: from the first window to all it shows, by clicks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app import shipped
from app.main_window import MainWindow
from tests.journeys.looking_hand import LookingHand

pytestmark = pytest.mark.slow  # whole journeys, as a person makes them

MOST_CLICKS = 12
ROWS = 80  # of each end of the sample, where the two labels are: soon learned


class CountingHand(LookingHand):
    """A hand whose clicks are counted."""

    clicks = 0

    def click(self, name: str) -> None:
        self.clicks += 1
        super().click(name)


@pytest.fixture
def short_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the sample of film reviews be a few of its rows."""
    whole = shipped.home_table()
    lines = whole.path.read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / whole.file).write_text("".join(lines[: ROWS + 1] + lines[-ROWS:]), encoding="utf-8")
    tables = tuple(
        replace(one, file=str(tmp_path / one.file)) if one is whole else one for one in shipped.TABLES
    )
    monkeypatch.setattr("app.shipped.TABLES", tables)


def test_twelve_clicks_are_enough_for_a_guess_an_attention_picture_and_a_classifier(
    window: MainWindow, qtbot: QtBot, short_sample: None
) -> None:
    hand, session = CountingHand(window, qtbot), window.session

    hand.click("welcome_guess")
    hand.wait(lambda: window.findChild(QWidget, "probe_guesses_1") is not None)
    guesses = hand.find("probe_guesses_1")
    hand.wait(lambda: guesses.isVisible() and not (guesses.is_empty or guesses.is_dim))
    assert guesses.guesses[0].text == "doctor"

    hand.click("rail_attention")
    picture = hand.find("attention_heatmap")
    hand.wait(lambda: picture.isVisible() and picture.shown is not None)

    hand.click("rail_welcome")
    hand.click("welcome_reviews")
    hand.wait(lambda: session.model.chosen is not None and session.data.summary is not None)
    hand.click("start")
    hand.wait(lambda: session.training.state.step is not None and not session.training.is_running)
    assert session.training.state.outcome == "finished", session.training.state.error

    hand.click("try_it")
    qtbot.keyClicks(hand.find("text"), "A warm and funny film.")
    bars = hand.find("answer_bars")
    hand.wait(lambda: not bars.is_empty)
    assert bars.highlight in ("pos", "neg")
    assert hand.clicks <= MOST_CLICKS
