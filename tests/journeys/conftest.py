"""Journeys go through the real window; they need no screen, and leave nothing running."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow
from app.settings import AppSettings
from tests.app.conftest import box_is_read_once, no_models_ship, nothing_is_left, qapp_args, qtbot, settings
from tests.app.hand import whole_window
from tests.engine.remote.conftest import served
from tests.looks.scenes import write_vocabulary

__all__ = [
    "box_is_read_once",
    "no_models_ship",
    "nothing_is_left",
    "qapp_args",
    "qtbot",
    "served",
    "settings",
]


@pytest.fixture
def window(settings: AppSettings, qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    settings.set_value("vocabularies", [str(write_vocabulary(tmp_path / "vocab.txt", 2))])
    with whole_window(settings, qtbot, QSize(1280, 800)) as made:
        yield made
