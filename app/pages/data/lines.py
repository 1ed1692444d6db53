"""The lines and rows of the open table that are left out, with their reasons."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from app import words
from app.look.inputs import TextEdit
from app.look.labels import label
from app.look.layout import column, dialog_buttons
from app.look.widgets import PAGE_MARGIN, button
from app.work.tables import TableSummary
from engine.text.table import BadLine, Table

MOST_LINES = 5000  # in the list


class LinesDialog(QDialog):
    """Reported lines with their reasons; deletes itself when closed. Args: mended: left out by mends."""

    def __init__(
        self,
        table: Table,
        summary: TableSummary | None,
        mended: Sequence[BadLine] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("lines_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Lines skipped in {name}").format(name=table.path.name))
        self.resize(640, 400)
        rows = summary.reported if summary else ()
        unread = words.counted(
            len(table.reported),
            self.tr("One line could not be read"),
            self.tr("{count} lines could not be read"),
        )
        unused = words.counted(
            len(rows),
            self.tr("one row has no text or no label"),
            self.tr("{count} rows have no text or no label"),
        )
        said = [unread, unused]
        if mended:
            said.append(
                words.counted(
                    len(mended),
                    self.tr("one row was excluded here"),
                    self.tr("{count} rows were excluded here"),
                )
            )
        self._text = TextEdit(readOnly=True, tabChangesFocus=True)
        self._text.setObjectName("lines_text")
        self._text.setAccessibleName(self.windowTitle())
        self._text.setPlainText(
            self._lines(sorted((*table.reported, *rows, *mended), key=lambda bad: bad.line))
        )
        copy = button(self.tr("Copy all"), name="lines_copy", icon="copy")
        copy.clicked.connect(self._copy)
        close = button(self.tr("Close"), "primary", name="lines_close")
        close.clicked.connect(self.accept)
        column(
            label(words.closed(words.clauses(said)), wrap=True),
            (self._text, 1),
            dialog_buttons(copy, reject=close),
            gap=12,
            margins=(PAGE_MARGIN, PAGE_MARGIN, PAGE_MARGIN, 16),
            parent=self,
        )

    def _lines(self, reported: list[BadLine]) -> str:
        lines = [words.say(bad.sentence) for bad in reported[:MOST_LINES]]
        if len(reported) > MOST_LINES:
            more = self.tr("… and {count} more").format(count=words.number(len(reported) - MOST_LINES))
            lines.append(more)
        return "\n".join(lines)

    def _copy(self) -> None:
        QApplication.clipboard().setText(self._text.toPlainText())
