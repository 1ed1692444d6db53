"""Makes the Qt application as every way of starting needs it: name, colours, translations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from app.look import theme
from app.settings import AppSettings
from app.work.garbage import GarbageCollector
from app.work.job import prepare_process

TRANSLATIONS = Path(__file__).parent / "translations"


def make_application(arguments: Sequence[str], settings: AppSettings | None = None) -> QApplication:
    """Return the application, ready for a window; `settings` says which colours."""
    prepare_process()
    application = QApplication(list(arguments))
    GarbageCollector(application)
    application.setApplicationName("Cloze")
    application.setOrganizationName("Cloze")
    application.setDesktopFileName("cloze")
    _translate(application)
    theme.apply_theme(application, (settings or AppSettings()).theme)
    application.setWindowIcon(QIcon(str(theme.ICONS / "logo.svg")))
    return application


def _translate(application: QApplication) -> None:
    """Load our own words and Qt's for the person's language, where there are any."""
    for name, folder in (
        ("qtbase", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)),
        ("cloze", str(TRANSLATIONS)),
    ):
        translator = QTranslator(application)
        if translator.load(QLocale(), name, "_", folder):
            application.installTranslator(translator)
