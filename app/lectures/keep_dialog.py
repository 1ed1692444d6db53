"""Asks under which title a page is kept, and what is to be said of it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QWidget

from app import words
from app.lectures.lecture import LONGEST_SENTENCE, LONGEST_TITLE
from app.look.inputs import LineEdit, TextEdit
from app.look.labels import label
from app.look.layout import column, dialog_buttons, form_rows
from app.look.widgets import DIALOG_MARGINS, GAP, button, named

WIDTH = 520
LINES = 4


class KeepDialog(QDialog):
    """`kept` tells title and sentence. Args: place: the scene's in the lecture, from 1."""

    kept = Signal(str, str)

    def __init__(self, suggested: str, place: int, lecture: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("keep_scene_dialog")
        self.setWindowTitle(self.tr("Keep as a scene"))
        self.setMinimumWidth(WIDTH)
        self.title = named(LineEdit(suggested, maxLength=LONGEST_TITLE), "keep_title", self.tr("Title"))
        self.title.selectAll()
        self.sentence = named(TextEdit(tabChangesFocus=True), "keep_sentence", self.tr("Sentence"))
        self.sentence.setPlaceholderText(self.tr("One sentence on what to see here (optional)"))
        self.sentence.setFixedHeight(LINES * self.sentence.fontMetrics().lineSpacing() + 14)
        said = self.tr("It becomes scene {place} of “{lecture}”.")
        if not lecture:
            said = self.tr("It becomes scene {place} of a lecture without a title.")
        where = label(
            said.format(place=words.number(place), lecture=words.shorten(lecture, 60)), "muted", wrap=True
        )
        self.keep_button = button(self.tr("Keep"), "primary", name="keep_accept", call=self._keep)
        cancel = button(self.tr("Cancel"), name="keep_cancel")
        cancel.clicked.connect(self.reject)
        self.title.textChanged.connect(self._check)
        column(
            form_rows((self.tr("Title"), self.title), (self.tr("Sentence"), self.sentence), role="muted"),
            where,
            dialog_buttons(accept=self.keep_button, reject=cancel),
            gap=GAP,
            margins=DIALOG_MARGINS,
            parent=self,
        )
        self._check()
        self.title.setFocus()

    def _check(self) -> None:
        self.keep_button.setEnabled(bool(self.title.text().strip()))

    def _keep(self) -> None:
        sentence = " ".join(self.sentence.toPlainText().split())[:LONGEST_SENTENCE]
        self.kept.emit(self.title.text().strip(), sentence)
        self.accept()
