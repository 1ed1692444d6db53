"""A label of the codebook as it is edited: its name and rule, merged into another, split into several."""

from __future__ import annotations

import re

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from app.look.boxes import ChoiceBox
from app.look.inputs import EnteredLine
from app.look.labels import label
from app.look.layout import column, row
from app.look.widgets import button, named, set_role
from app.work.labels import LONGEST_NAME, LONGEST_RULE, Labels

_BETWEEN = re.compile("[,;，；、]")  # names of labels that are typed one after the other


def hairline() -> QFrame:
    """Return a line between two parts of a card."""
    made = QFrame()
    set_role(made, "line")
    return made


class LabelEditor(QWidget):
    """`done`: a person has ended editing. `moved`: to another label, into which the first was merged."""

    done = Signal()
    moved = Signal(int)

    def __init__(self, labels: Labels, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._labels = labels
        self._edited: int | None = None
        set_role(self, "clear")
        self.name_line = self._line("label_name", self.tr("Name"), LONGEST_NAME)
        self.rule_line = self._line("label_rule", self.tr("Rule"), LONGEST_RULE)
        self.rule_line.setPlaceholderText(self.tr("When it is given, in a sentence"))
        for line in (self.name_line, self.rule_line):
            line.editingFinished.connect(self._save)
        self.merge_box = ChoiceBox("label_merge", self.tr("Merge into"))
        self.merge_box.setPlaceholderText(self.tr("Merge into…"))
        self.merge_box.chosen.connect(self._merge)
        self.split_line = self._line("label_split", self.tr("Split into"), 20 * LONGEST_NAME)
        self.split_line.setPlaceholderText(self.tr("Split into: name, name…"))
        self.split_line.setToolTip(
            self.tr("Two names or more, with commas between them. Its texts are asked again, one by one.")
        )
        self.split_line.returnPressed.connect(self._split)
        self.problem = label("", "refusal", wrap=True, name="label_problem")
        self.problem.hide()
        done = button(self.tr("Done"), name="label_done", call=self.done)
        column(
            hairline(),
            label(self.tr("Name"), "caption", buddy=self.name_line),
            self.name_line,
            label(self.tr("Rule"), "caption", buddy=self.rule_line),
            self.rule_line,
            self.split_line,
            self.problem,
            row((self.merge_box, 1), done),
            gap=6,
            parent=self,
        )
        self.hide()

    @staticmethod
    def _line(name: str, said: str, longest: int) -> EnteredLine:
        made = named(EnteredLine(), name, said)
        made.setMaxLength(longest)
        return made

    def show_label(self, number: int | None) -> None:
        """Show a label as it is now; None: none is edited."""
        labelled = self._labels.labelled
        self._edited = number
        self.problem.hide()
        self.setVisible(number is not None)
        if number is None or labelled is None:
            return
        self.name_line.setText(labelled.names[number])
        self.rule_line.setText(labelled.rules[number])
        self.split_line.clear()
        self.merge_box.clear()
        for other, name in labelled.names.items():
            if other != number:
                self.merge_box.add_choice(name, other)
        self.merge_box.setCurrentIndex(-1)
        self.merge_box.setEnabled(len(labelled.names) > 1)

    def begin(self) -> None:
        """Give the keyboard to the name."""
        self.name_line.setFocus()
        self.name_line.selectAll()

    # ---- what a person does

    def _refuse(self, refusal: str) -> bool:
        self.problem.setText(refusal)
        self.problem.setVisible(bool(refusal))
        return bool(refusal)

    def _save(self) -> None:
        number, labelled = self._edited, self._labels.labelled
        if number is None or labelled is None:
            return
        name, rule = (" ".join(line.text().split()) for line in (self.name_line, self.rule_line))
        other = self._labels.named(name)
        refusal = ""
        if not name:
            refusal = self.tr("A label needs a name.")
        elif other not in (None, number):
            refusal = self.tr("There is a label of this name. Merge the two, or choose another name.")
        if not self._refuse(refusal) and (name, rule) != (labelled.names[number], labelled.rules[number]):
            self._labels.define(name, rule, number)

    def _merge(self, into: object) -> None:
        if self._edited is not None and isinstance(into, int):
            edited, self._edited = self._edited, into
            self._labels.merge(edited, into)
            self.moved.emit(into)

    def _split(self) -> None:
        names = [" ".join(part.split()) for part in _BETWEEN.split(self.split_line.text())]
        names = [*{name.casefold(): name for name in names if name}.values()]
        if self._edited is None:
            return
        if len(names) < 2:
            self._refuse(self.tr("Type two different names or more, with commas between them."))
        elif any(len(name) > LONGEST_NAME for name in names):
            template = self.tr("A name has {most} characters at most.")
            self._refuse(template.format(most=LONGEST_NAME))
        else:
            edited, self._edited = self._edited, None
            if self._labels.split(edited, names):
                self.done.emit()
            else:
                self._edited = edited
