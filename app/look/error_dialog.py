"""The one dialog for errors: a sentence for what a person can mend, details to copy for a fault of ours."""

from __future__ import annotations

import logging
import sys
import traceback
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QStandardPaths, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QApplication, QDialog, QPlainTextEdit, QPushButton, QWidget

from app import words
from app.look import theme
from app.look.inputs import TextEdit
from app.look.labels import label
from app.look.layout import STRETCH, Item, column, row
from app.look.widgets import CARD_Y, DIALOG_MARGINS, LevelMark, button, leave_room, named
from engine.errors import UserError

log = logging.getLogger("cloze")


def log_file() -> Path:
    """Return where faults are written; the folder may not exist yet."""
    folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.AppLocalDataLocation)
    return Path(folder) / "cloze.log"


def show_error(error: BaseException, parent: QWidget | None = None) -> ErrorDialog:
    """Log an error, show it beside `parent` without blocking, and return the dialog."""
    _write(error)
    dialog = ErrorDialog(error, parent)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()
    return dialog


def install_excepthook() -> None:
    """Show what nobody caught on the window's thread, instead of losing it."""
    sys.excepthook = _uncaught


class ErrorDialog(QDialog):
    """What is wrong and what to do; for our own faults also the details and where they are kept."""

    def __init__(self, error: BaseException, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("error_dialog")
        ours = not isinstance(error, UserError | MemoryError)
        self._text = words.say_error(error)
        self._details = "".join(traceback.format_exception(error)) if ours else ""
        self.setWindowTitle(self.tr("An error in Cloze") if ours else self.tr("This is not possible yet"))
        self.setMinimumWidth(480)
        mark = LevelMark("wrong" if ours else "look")
        sentence = label(self._text, wrap=True, name="error_text")
        head = row((mark, Qt.AlignmentFlag.AlignTop), (sentence, 1), gap=CARD_Y)
        column(
            head,
            *(self._details_part() if ours else ()),
            row(STRETCH, *self._buttons(ours)),
            gap=CARD_Y,
            margins=DIALOG_MARGINS,
            parent=self,
        )

    def text(self) -> str:
        """Return the sentence that is shown."""
        return self._text

    def details(self) -> str:
        """Return the traceback; empty for what a person can mend."""
        return self._details

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        leave_room(self)

    def _details_part(self) -> tuple[Item, ...]:
        box = TextEdit(self._details, readOnly=True, tabChangesFocus=True)
        named(box, "error_details", self.tr("Details"))
        box.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        box.setFont(theme.mono_font(12))
        box.setMinimumHeight(160)
        where = self.tr("Nothing was sent anywhere. The details are also in {path}.").format(path=log_file())
        return (box, 1), label(where, "muted", wrap=True)

    def _buttons(self, ours: bool) -> tuple[QPushButton, ...]:
        close = button(self.tr("Close"), "primary", name="error_close")
        close.clicked.connect(self.accept)
        close.setDefault(True)
        if not ours:
            return (close,)
        copy = button(self.tr("Copy details"), name="error_copy", icon="copy")
        copy.clicked.connect(self._copy)
        return copy, close

    def _copy(self) -> None:
        QApplication.clipboard().setText(self._details)


def _write(error: BaseException) -> None:
    """Append the traceback to the log file; a log that cannot be written must not hide the error."""
    if not log.handlers:
        try:
            log_file().parent.mkdir(parents=True, exist_ok=True)
            handler: logging.Handler = RotatingFileHandler(
                log_file(), maxBytes=10**6, backupCount=1, encoding="utf-8"
            )
        except OSError:
            handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        log.addHandler(handler)
    log.error("%s", error, exc_info=error)


def _uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt) or QApplication.instance() is None:
        sys.__excepthook__(kind, error, trace)
        return
    show_error(error, QApplication.activeWindow())
