"""A page of runs shown alone, without the window, for whoever works on it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from PySide6.QtWidgets import QApplication, QWidget

from app.look import theme
from app.session import Session
from app.settings import AppSettings

Page = TypeVar("Page", bound=QWidget)


def show_alone(kind: Callable[[Session], Page], begin: Callable[[Page], object]) -> int:
    """Show a page whose runs are forgotten at the end. Args: begin: what is done once it is shown."""
    with TemporaryDirectory() as folder:
        app = QApplication(sys.argv)
        settings = AppSettings(Path(folder) / "settings.ini")
        settings.runs_root = folder
        theme.apply_theme(app, settings.theme)
        session = Session(settings)
        page = kind(session)
        page.resize(1104, 780)
        page.show()
        begin(page)
        result = app.exec()
        session.close()
    return result
