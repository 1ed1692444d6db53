"""Makes the Qt application as every way of starting needs it: name, colours, translations."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from app.language import language_of, speak_in
from app.look import theme
from app.settings import AppSettings
from app.work.garbage import GarbageCollector
from app.work.job import prepare_process

SCALE = "QT_SCALE_FACTOR"


def make_application(arguments: Sequence[str], settings: AppSettings | None = None) -> QApplication:
    """Return the application, ready for a window; `settings` says which colours and how large."""
    prepare_process()
    settings = settings or AppSettings()
    with _sized(settings.text_size):
        application = QApplication(list(arguments))
    GarbageCollector(application)
    application.setApplicationName("Cloze")
    application.setOrganizationName("Cloze")
    application.setDesktopFileName("cloze")
    speak_in(application, language_of(settings))
    theme.apply_theme(application, settings.theme)
    application.setWindowIcon(QIcon(str(theme.ICONS / "logo.svg")))
    return application


@contextmanager
def _sized(per_cent: int) -> Iterator[None]:
    """Let an application be made in a size, which Qt reads then alone; a size from outside has the last word.

    Programs that are started from here must not get it, too.
    """
    if per_cent == 100 or SCALE in os.environ:
        yield
        return
    os.environ[SCALE] = str(per_cent / 100)
    try:
        yield
    finally:
        del os.environ[SCALE]
