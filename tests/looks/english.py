"""What is still English in a window of another language: every page, tab, dialog and menu is walked.

    CLOZE_LANG=zh python -m tests.looks.english

Lists what a person sees, or hears from a screen reader, that has two or more words of Latin letters in a row
and is neither a name nor data. What may be so stands in `ACCEPTED`. The exit code is 1 where there is any.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from fnmatch import fnmatchcase
from html import unescape
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("CLOZE_LANG", "zh")

import engine  # noqa: F401, I001  # before torch, which reads how its threads wait
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton, QAbstractSpinBox, QComboBox, QLabel, QLineEdit, QPlainTextEdit, QTabBar, QTableView,
    QWidget,
)  # fmt: skip

from app import shipped
from app.application import make_application
from app.main_window import MainWindow
from app.page_stack import PAGES
from app.plots.figure import Figure
from app.settings import AppSettings
from tests.looks.fits import _rest, _tabs, _window

SIZE = QSize(1280, 800)
MOST_ROWS = 30  # of a table
TWO_WORDS = re.compile(r"[A-Za-z][A-Za-z’'-]+ [a-z][A-Za-z’'-]+")
SHOWN = Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole
ACCEPTED = (  # widgets, and what of theirs may be so; "" is any text
    ("*", r"et al\.|[A-Z][a-z]+ and [A-Z]|python -m engine"),  # papers, commands
    ("*", r"JSON lines|hf auth login|queue add|Adam beta"),  # what others call it
    ("table_view", ""),  # rows of the table
    ("game_sentence", ""),
    ("probe_template*", ""),
    ("pins", ""),
    ("question", r"The \[MASK\] was full of people"),
    ("action", r"[.!·]|\[MASK\]"),  # example texts in menus
    ("thread_text*", ""),
)


def said(window: MainWindow) -> Iterator[tuple[str, str]]:
    """Yield the name of each widget and what it says: words, tips, names for a screen reader, menus."""
    for widget in window.findChildren(QWidget):
        name = widget.objectName() or type(widget).__name__
        for text in (*_words(widget), widget.toolTip(), widget.accessibleName(), widget.statusTip()):
            yield name, text
    for action in window.findChildren(QAction):
        yield action.objectName() or "action", action.text()
        yield action.objectName() or "action", action.toolTip()


def _words(widget: QWidget) -> Iterator[str]:
    match widget:
        case QLabel() | QAbstractButton():
            yield widget.text()
        case QLineEdit() | QPlainTextEdit():
            yield widget.placeholderText()
        case QComboBox():
            for place in range(widget.count()):
                yield widget.itemText(place)
                yield str(widget.itemData(place, Qt.ItemDataRole.ToolTipRole) or "")
        case QTabBar():
            yield from map(widget.tabText, range(widget.count()))
            yield from map(widget.tabToolTip, range(widget.count()))
        case QAbstractSpinBox():
            yield widget.specialValueText() if hasattr(widget, "specialValueText") else ""
        case QTableView() if widget.model() is not None:
            yield from _cells(widget)
        case Figure():
            yield widget.title
            yield from (part for line in widget.caption for part in line)


def _cells(view: QTableView) -> Iterator[str]:
    model = view.model()
    for column in range(model.columnCount()):
        for role in SHOWN:
            yield str(model.headerData(column, Qt.Orientation.Horizontal, role) or "")
            for row in range(min(MOST_ROWS, model.rowCount())):
                yield str(model.index(row, column).data(role) or "")


def is_english(name: str, text: str) -> bool:
    """Whether what a widget says has words of English that are neither names nor data."""
    plain = unescape(re.sub(r"<[^>]*>", " ", text)).strip()
    return TWO_WORDS.search(plain) is not None and not any(
        fnmatchcase(name, widget) and re.search(pattern, plain) for widget, pattern in ACCEPTED
    )


def english() -> Iterator[tuple[str, str, str]]:
    """Walk the window; yield page, widget and text of what is English."""
    seen = set[str]()
    for state in ("empty", "open"):
        window = _window()
        window.show()
        if state == "open":
            window.session.data.open(shipped.sample_data_path())
            window.session.model.choose(str(shipped.tuned_model()))
            window.session.inspector.choose(shipped.starter_model() or "")
        for page in PAGES:
            for _tab in _tabs(window, page, SIZE, only_first=False):
                _rest(window)
                for name, text in said(window):
                    if text not in seen and is_english(name, text):
                        seen.add(text)
                        yield page, name, text
        window.close()
        assert window.session.wait_idle(60)


def main() -> int:
    """Run the command and return its exit code."""
    make_application(["english"], AppSettings(Path(tempfile.mkdtemp()) / "settings.ini"))
    found = list(english())
    for page, name, text in found:
        print(f"{page:<11} {name:<28} {text!r}")
    print(f"{len(found)} texts")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
