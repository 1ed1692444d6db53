"""The list of lines and rows that are left out, each with its reason, to read and to copy."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QApplication, QDialog, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from app import words
from app.look.labels import label
from app.look.widgets import PAGE_MARGIN, button
from app.work.tables import Study
from engine.text.table import BadLine, Table

MOST_SHOWN = 5000


class LinesDialog(QDialog):
    """Reported lines with their reasons; deletes itself when closed."""

    def __init__(self, table: Table, study: Study | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("lines_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Lines left out of {name}").format(name=table.path.name))
        self.resize(640, 400)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(PAGE_MARGIN, PAGE_MARGIN, PAGE_MARGIN, 16)
        layout.setSpacing(12)
        rows = study.reported if study else ()
        unread = words.counted(
            len(table.reported),
            self.tr("One line could not be read"),
            self.tr("{count} lines could not be read"),
        )
        unused = words.counted(
            len(rows),
            self.tr("one row lacks a text or a label"),
            self.tr("{count} rows lack a text or a label"),
        )
        layout.addWidget(label(f"{unread}; {unused}.", wrap=True))
        self._text = QPlainTextEdit(readOnly=True, tabChangesFocus=True)
        self._text.setObjectName("lines_text")
        self._text.setAccessibleName(self.windowTitle())
        self._text.setPlainText(self._lines(sorted((*table.reported, *rows), key=lambda bad: bad.line)))
        layout.addWidget(self._text, 1)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        copy = button(self.tr("Copy all"), name="lines_copy", icon="copy")
        copy.clicked.connect(self._copy)
        buttons.addWidget(copy)
        close = button(self.tr("Close"), "primary", name="lines_close")
        close.clicked.connect(self.accept)
        close.setDefault(True)
        buttons.addWidget(close)
        layout.addLayout(buttons)

    def _lines(self, reported: list[BadLine]) -> str:
        lines = [words.say(bad.sentence) for bad in reported[:MOST_SHOWN]]
        if len(reported) > MOST_SHOWN:
            more = self.tr("… and {count} more").format(count=words.number(len(reported) - MOST_SHOWN))
            lines.append(more)
        return "\n".join(lines)

    @Slot()
    def _copy(self) -> None:
        QApplication.clipboard().setText(self._text.toPlainText())
