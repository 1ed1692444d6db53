"""Ways to adapt side by side on the Fine-tune page: one click, a comparison, the same after reopening."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.pages.finetune.comparison import signed
from app.pages.finetune.page import FineTunePage
from engine.train.comparison import read_report
from tests.app.hand import Hand, ShowPage
from tests.engine.tiny_runs import tiny_config

SETTINGS = {"max_length": 23, "num_epochs": 1, "batch_size": 5, "device": "cpu", "precision": "float32",
            "kernels": "oneDNN", "num_threads": 1, "checkpoint_every_steps": 500}  # fmt: skip


@pytest.fixture
def page(show_page: ShowPage[FineTunePage], tmp_path: Path) -> FineTunePage:
    """The page with reviews and a small model to adapt."""
    page, config = show_page(FineTunePage), tiny_config(tmp_path)
    page.session.runs.set_root(tmp_path / "runs")
    page.session.data.open(config.data.data)
    page.session.model.choose(config.model.model)
    assert page.session.wait_idle()
    page.setup.set_values(SETTINGS)
    return page


@pytest.mark.slow
def test_one_click_compares_all_ways_and_goes_on_where_it_was_stopped_and_says_the_same_after_reopening(
    page: FineTunePage, hand: Hand, qtbot: QtBot, tmp_path: Path
) -> None:
    hand.click("compare_ways")
    qtbot.waitUntil(lambda: len(page.comparison.plot.numbers()) > 1)
    hand.click("stop_comparison")
    qtbot.waitUntil(lambda: not page.session.training.is_running)
    assert hand.shown("stop_comparison", "go_on_comparison") == ["go_on_comparison"]
    hand.click("go_on_comparison")
    qtbot.waitUntil(lambda: not page.session.training.is_running)
    assert page.session.wait_idle()
    (folder,) = (one for one in (tmp_path / "runs").iterdir() if one.is_dir())
    report = read_report(folder)
    shown = page.comparison.plot.numbers()
    assert len(shown) == 1 + 7 and [row[1] for row in shown[1:]] == [way["mean"] for way in report["ways"]]
    assert [tuple(row[4:]) for row in shown[1:]] == [tuple(way["values"]) for way in report["ways"]]
    said = [cell.text() for cell in page.comparison.table.findChildren(QLabel)]
    for way in report["ways"][1:]:
        assert any(text.startswith(f"{signed(way['difference'], in_points=True)} (") for text in said)
    assert len(page.comparison.mix.bars) == 3 and page.comparison.mix.isVisible()
    hand.click("close_comparison")
    assert not page.comparison.isVisible() and not page.setup.isHidden()
    page.setup.compare.chosen.emit(folder)
    assert page.session.wait_idle()
    assert page.comparison.isVisible() and page.comparison.plot.numbers() == shown


def test_what_cannot_be_compared_is_said_before_anything_is_written(
    page: FineTunePage, hand: Hand, qtbot: QtBot
) -> None:
    page.setup.set_values({"encoder": "frozen"})
    hand.click("compare_ways")
    qtbot.waitUntil(lambda: not page.session.training.is_running)
    assert "is what is compared" in hand.said("comparison_words")
