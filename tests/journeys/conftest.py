"""Journeys go through the real window; they need no screen, and leave nothing running."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow
from app.session import Session
from app.settings import AppSettings
from tests.app.conftest import no_models_ship, nothing_is_left, qapp_args, qtbot
from tests.looks.scenes import write_vocabulary

__all__ = ["no_models_ship", "nothing_is_left", "qapp_args", "qtbot"]


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    settings = AppSettings(tmp_path / "settings.ini")
    settings.runs_root = str(tmp_path / "runs")
    settings.set_value("vocabularies", [str(write_vocabulary(tmp_path / "vocab.txt", 2))])
    made = MainWindow(Session(settings), warm_up=False)
    qtbot.addWidget(made)
    made.show()
    yield made
    if made.session.training.is_running:
        made.session.training.stop()
        qtbot.waitUntil(lambda: not made.session.training.is_running)
    made.close()
    assert made.session.wait_idle()
