"""The language of the window: which one it is, and every text in it.

A window says everything in the language that it was made in; another one is taken by making a new window.
"""

from __future__ import annotations

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator
from PySide6.QtGui import QTextLayout
from PySide6.QtWidgets import QApplication

from app.settings import AppSettings
from engine.language import ENGLISH, Catalog, catalog, known_language, languages, named_outside, speak

_KEPT = "cloze_translators"  # property of the application


class CatalogTranslator(QTranslator):
    """Our own texts, as Qt asks for them."""

    def __init__(self, texts: Catalog, parent: QApplication) -> None:
        super().__init__(parent)
        self._texts = texts

    def translate(self, context: str, source: str, disambiguation: str | None = None, n: int = -1) -> str:
        """Return a text in the language, in English where it is not translated."""
        return self._texts.said(context, source)

    def isEmpty(self) -> bool:
        return not self._texts.texts


def language_of(settings: AppSettings) -> str:
    """Return the language to speak: the environment's, else the person's, else the system's where a font here
    has its letters, else English.
    """
    chosen = named_outside() or (settings.language if settings.language in languages() else "")
    of_system = known_language(QLocale.system().name())
    return chosen or (of_system if of_system and has_font_for(of_system) else ENGLISH)


def has_font_for(language: str) -> bool:
    """Whether this computer can write a language: some font has each letter of what its speakers call it."""
    layout = QTextLayout(own_name(language))
    layout.beginLayout()
    layout.createLine()
    layout.endLayout()
    return all(glyph for run in layout.glyphRuns() for glyph in run.glyphIndexes())


def own_name(language: str) -> str:
    """Return what speakers of a language call it."""
    if language == ENGLISH:
        return "English"
    return QLocale(catalog(language).locale).nativeLanguageName()


def speak_in(application: QApplication, language: str) -> None:
    """Have all that is made from now on speak a language, with its numbers, dates and direction."""
    for old in application.property(_KEPT) or []:
        application.removeTranslator(old)
    speak(language)
    texts = catalog(language)
    kept = list[QTranslator]()
    if language != ENGLISH:
        ours, qts = CatalogTranslator(texts, application), QTranslator(application)
        folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        kept.append(ours)
        if qts.load(QLocale(texts.locale), "qtbase", "_", folder):
            kept.append(qts)  # asked first, for it knows its own texts alone
    for translator in kept:
        application.installTranslator(translator)
    application.setProperty(_KEPT, kept)
    locale = QLocale.system() if language == ENGLISH else QLocale(texts.locale)
    QLocale.setDefault(locale)
    application.setLayoutDirection(QLocale(texts.locale).textDirection())
