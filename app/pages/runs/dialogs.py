"""What is asked of a person about runs: what they are called, whether they go to the bin."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QWidget

from app import words
from app.look.inputs import LineEdit, TextEdit
from app.look.labels import label
from app.look.layout import column, dialog_buttons, form_rows
from app.look.sure_dialog import SureDialog
from app.look.widgets import CARD_Y, DIALOG_MARGINS, button, named
from app.pages.runs.rows import RunRow
from app.words import translate
from engine.runs.facts import RunFacts
from engine.runs.marks import LONGEST_NAME, tags_in


class MarksDialog(QDialog):
    """Name, tags and a note of a run, or of all runs of a group."""

    accepted_marks = Signal(dict)

    def __init__(self, row: RunRow, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("marks_dialog")
        self.setWindowTitle(self.tr("Name, tags and note"))
        self.setMinimumWidth(460)
        first = row.facts
        self._before = {"name": first.name, "tags": first.tags, "note": first.note}
        self.name = named(LineEdit(first.name), "marks_name", self.tr("Name"))
        self.name.setMaxLength(LONGEST_NAME)
        self.name.setPlaceholderText(row.name)
        self.tags = named(LineEdit(", ".join(first.tags)), "marks_tags", self.tr("Tags"))
        self.tags.setPlaceholderText(self.tr("separated by commas"))
        self.note = named(TextEdit(first.note), "marks_note", self.tr("Note"))
        self.note.setTabChangesFocus(True)
        self.note.setMinimumHeight(96)
        rows = form_rows(
            (self.tr("Name"), self.name), (self.tr("Tags"), self.tags), (self.tr("Note"), self.note)
        )
        said = self.tr("Kept in the folder of the run, so it moves with it.")
        if row.is_group:
            said = words.counted(
                len(row.runs), "", self.tr("For all {count} runs of this line. Kept in their own folders.")
            )
        keep, cancel = button(self.tr("Keep"), "primary", name="marks_keep"), button(self.tr("Cancel"))
        keep.clicked.connect(self._keep)
        cancel.clicked.connect(self.reject)
        buttons = dialog_buttons(accept=keep, reject=cancel)
        column(
            rows, label(said, "muted", wrap=True), buttons, gap=CARD_Y, margins=DIALOG_MARGINS, parent=self
        )
        self.name.setFocus()

    def _keep(self) -> None:
        now = {
            "name": self.name.text().strip(),
            "tags": tags_in(self.tags.text()),
            "note": self.note.toPlainText().strip(),
        }
        self.accepted_marks.emit({name: value for name, value in now.items() if value != self._before[name]})
        self.accept()


def slim_dialog(runs: Sequence[RunFacts], titles: Sequence[str], size: int, parent: QWidget) -> SureDialog:
    """Return what asks whether checkpoints are deleted. Args: size: bytes that this sets free."""
    title, stopped = translate("runs", "Delete checkpoints"), sum(facts.state == "stopped" for facts in runs)
    if len(runs) == 1:
        text = translate("runs", "Delete the checkpoints of “{name}”? That frees {size}.")
        stays = translate("runs", "The model with its best weights, its scores and its curves stay.")
        lost = translate("runs", "Nothing else needs them.")
        if stopped:
            lost = translate("runs", "It was stopped, and can no longer be resumed afterwards.")
    else:
        text = translate("runs", "Delete the checkpoints of these {count} runs? That frees {size}.")
        stays = translate("runs", "The models with their best weights, their scores and their curves stay.")
        lost = translate("runs", "Nothing else needs them.")
        if stopped:
            lost = words.counted(
                stopped,
                translate("runs", "One run was stopped, and can no longer be resumed afterwards."),
                translate("runs", "{count} runs were stopped, and can no longer be resumed afterwards."),
            )
    text = text.format(name=titles[0], count=words.number(len(runs)), size=words.file_size(size))
    return SureDialog("slim", title, f"{text} {stays} {lost}", titles, title, parent)


def bin_dialog(runs: Sequence[RunFacts], titles: Sequence[str], parent: QWidget) -> SureDialog:
    """Return what asks whether runs go to the bin, and says how much room that makes."""
    text = translate(
        "runs", "Move these {count} runs to the bin? Together they take {size}, including their models."
    )
    if len(runs) == 1:
        text = translate("runs", "Move the run “{name}” to the bin? It takes {size}, including its model.")
    size = words.file_size(sum(facts.size for facts in runs))
    said = text.format(name=titles[0], count=words.number(len(runs)), size=size)
    there = list(dict.fromkeys(facts.host for facts in runs if facts.host and facts.state == "running"))
    if there:
        more = translate(
            "runs", "What is in training on {hosts} continues there, and can no longer be followed."
        )
        said = words.sentences([said, more.format(hosts=words.listed(there))])
    title, action = translate("runs", "Move to the bin"), translate("runs", "Move to the bin")
    return SureDialog("bin", title, said, titles, action, parent)
