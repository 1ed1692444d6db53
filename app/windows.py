"""The window, and the one that takes its place when a person chooses another language."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

from app.language import language_of, speak_in
from app.main_window import MainWindow
from app.session import Session
from app.settings import AppSettings


class Windows(QObject):
    """Makes the windows of an application, one after the other. What was open is open again in the next."""

    def __init__(self, application: QApplication, settings: AppSettings, *, warm_up: bool = True) -> None:
        super().__init__(application)
        self._application, self._settings, self._warm_up = application, settings, warm_up
        self.window = self._made()

    def _made(self) -> MainWindow:
        window = MainWindow(Session(self._settings), warm_up=self._warm_up)
        window.session.setParent(window)
        window.language_chosen.connect(lambda: QTimer.singleShot(0, self, self.renew))
        return window

    def renew(self) -> None:
        """Close the window, which keeps what is open, and open one in the language that is chosen."""
        old = self.window
        self._application.setQuitOnLastWindowClosed(False)
        if old.close():
            speak_in(self._application, language_of(self._settings))
            self.window = self._made()
            self.window.reopen()
            self.window.show()
            old.deleteLater()
        self._application.setQuitOnLastWindowClosed(True)
