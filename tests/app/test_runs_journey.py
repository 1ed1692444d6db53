"""From two trained runs to the texts where they differ, in the whole window, by clicks."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.pages.runs.lines_model import TICK
from app.settings import AppSettings
from engine.settings.config import with_values
from engine.train.finetune import fine_tune
from tests.app.hand import Hand, OpenWindow
from tests.engine.tiny_runs import tiny_config


@pytest.mark.slow
def test_two_runs_are_compared_by_their_texts_and_these_are_read(
    tmp_path: Path, settings: AppSettings, open_window: OpenWindow, qtbot: QtBot
) -> None:
    config, root = tiny_config(tmp_path), Path(settings.runs_root)
    list(fine_tune(config, root / "20261120-090000-few"))
    list(fine_tune(with_values(config, {"num_epochs": 5, "seed": 3}), root / "20261120-100000-more"))
    window = open_window(settings)
    hand = Hand(window, qtbot)
    qtbot.mouseClick(hand.find("rail_runs"), Qt.MouseButton.LeftButton)
    page = window.page("runs")
    qtbot.waitUntil(lambda: {row.name for row in page.shown.rows} == {"few", "more"})
    for name in ("few", "more"):
        names = [row.name for row in page.shown.rows]
        index = page.table.runs.index(names.index(name), page.table.runs.columns.index(TICK))
        at = page.table.visualRect(index).center()
        qtbot.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=at)
    qtbot.waitUntil(lambda: bool(hand.said("runs_verdict")))
    assert "One run each. Other seeds" in "".join(page.better.remarks.texts())
    assert page.better.hint_label.text().startswith("the same ")
    hand.click("runs_read_texts")
    qtbot.waitUntil(lambda: window.current_page == "evaluate")
    evaluate = window.page("evaluate")
    qtbot.waitUntil(lambda: evaluate.both is not None and not evaluate.is_asking)
    assert evaluate.folder == root / "20261120-090000-few" / "model"
    assert evaluate.both.other == root / "20261120-100000-more" / "model"
    assert evaluate.texts.listing.of("differ") is not None
