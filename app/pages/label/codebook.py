"""The codebook: labels with their keys, rules and numbers of texts; made, renamed and merged here."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.inputs import LineEdit
from app.look.labels import label
from app.look.layout import column, row
from app.look.widgets import Card, button, holder, named, set_role
from app.plots.label_rows import CodebookPlot, LabelRow
from app.work.labels import LONGEST_NAME, LONGEST_RULE, Labels
from engine.labelling.labelled import Labelled

NUM_KEYS = 9  # labels that have a key of their own
WIDTH = 232  # px


def key_of(place: int) -> str:
    """Return the key of the label at a place of the codebook; "" for none."""
    return str(place + 1) if place < NUM_KEYS else ""


def hairline() -> QFrame:
    """Return a line between two parts of a card."""
    made = QFrame()
    set_role(made, "line")
    return made


class CodebookCard(Card):
    """Labels from top to bottom. `given`: a person wants the text in view to have one, by its number."""

    given = Signal(int)
    left = Signal()  # what was typed is done with

    def __init__(self, labels: Labels, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Codebook"), parent=parent)
        self.setObjectName("label_codebook")
        self._labels = labels
        self._numbers: tuple[int, ...] = ()  # of the labels, from top to bottom
        self._edited: int | None = None
        self.rows = CodebookPlot(self.tr("Codebook"))
        self.rows.setObjectName("label_rows")
        self.rows.set_empty_text(self.tr("No label yet. Type the first one above."))
        self.rows.chosen.connect(self._choose)
        self.line = named(LineEdit(), "label_new", self.tr("Add a label (A)"))
        self.line.setPlaceholderText(self.tr("Add a label (A)"))
        self.line.setToolTip(self.tr("A new name adds a label. The name of a label gives it to the text."))
        self.line.setMaxLength(LONGEST_NAME)
        self.line.returnPressed.connect(self._take_line)
        self.edit_button = button(self.tr("Edit"), "link", name="label_edit", call=self._toggle_edit)
        self.edit_button.setToolTip(self.tr("Rename labels, write their rules, merge them (E)"))
        self.add_corner(self.edit_button)
        self.add(self.line)
        self.add(self.rows, 1)
        self.add(self._make_editor())

    @property
    def is_editing(self) -> bool:
        """Whether a click on a row edits its label, and does not give it."""
        return self.editor.isVisibleTo(self)

    def show_labels(self, labelled: Labelled | None, total: int) -> None:
        """Show the labels as they are now. Args: total: texts that can be labelled."""
        counts = labelled.count() if labelled is not None else {}
        self._numbers = tuple(counts)
        rows = []
        for place, (number, count) in enumerate(counts.items()):
            assert labelled is not None
            rows.append(LabelRow(key_of(place), labelled.names[number], labelled.rules[number], count))
        self.rows.show_rows(rows)
        given = sum(counts.values())
        said = self.tr("{given} of {total}")
        self.set_hint(said.format(given=words.number(given), total=words.number(total)) if total else "")
        self.line.setEnabled(labelled is not None)
        self.edit_button.setVisible(bool(rows))
        if self._edited not in self._numbers:
            self._show_editor(None)
        self._mark()

    def toggle_edit(self) -> None:
        """Begin to edit labels, or end it."""
        if self._numbers:
            self._toggle_edit()

    def begin_new(self) -> None:
        """Give the keyboard to the line for a new label."""
        self.line.setFocus()

    # ---- the line

    def _take_line(self) -> None:
        name = " ".join(self.line.text().split())
        self.line.clear()
        if not name:
            self.left.emit()
            return
        number = self._labels.named(name)
        if number is not None:
            self.given.emit(number)
        else:
            self._labels.define(name)

    def _choose(self, place: int) -> None:
        if self.is_editing:
            self._show_editor(self._numbers[place])
        else:
            self.given.emit(self._numbers[place])

    # ---- editing

    def _make_editor(self) -> QWidget:
        self.name_line = named(LineEdit(), "label_name", self.tr("Name"))
        self.name_line.setMaxLength(LONGEST_NAME)
        self.rule_line = named(LineEdit(), "label_rule", self.tr("Rule"))
        self.rule_line.setMaxLength(LONGEST_RULE)
        self.rule_line.setPlaceholderText(self.tr("When it is given, in a sentence"))
        for line in (self.name_line, self.rule_line):
            line.editingFinished.connect(self._save)
        self.merge_box = ChoiceBox("label_merge", self.tr("Merge into"))
        self.merge_box.setPlaceholderText(self.tr("Merge into…"))
        self.merge_box.chosen.connect(self._merge)
        self.problem = label("", "refusal", wrap=True, name="label_problem")
        self.problem.hide()
        done = button(self.tr("Done"), name="label_done", call=self._toggle_edit)
        self.editor = holder(
            column(
                hairline(),
                label(self.tr("Name"), "caption", buddy=self.name_line),
                self.name_line,
                label(self.tr("Rule"), "caption", buddy=self.rule_line),
                self.rule_line,
                self.problem,
                row((self.merge_box, 1), done),
                gap=6,
            )
        )
        self.editor.hide()
        return self.editor

    def _toggle_edit(self) -> None:
        if self.is_editing:
            self._show_editor(None)
            self.left.emit()
        else:
            self._show_editor(self._numbers[0])
            self.name_line.setFocus()
            self.name_line.selectAll()

    def _show_editor(self, number: int | None) -> None:
        labelled = self._labels.labelled
        self._edited = number
        self.problem.hide()
        self.editor.setVisible(number is not None)
        self.line.setVisible(number is None)
        if number is not None and labelled is not None:
            self.name_line.setText(labelled.names[number])
            self.rule_line.setText(labelled.rules[number])
            self.merge_box.clear()
            for other, name in labelled.names.items():
                if other != number:
                    self.merge_box.add_choice(name, other)
            self.merge_box.setCurrentIndex(-1)
            self.merge_box.setEnabled(len(labelled.names) > 1)
        self._mark()

    def _mark(self) -> None:
        self.rows.mark_rows([place for place, one in enumerate(self._numbers) if one == self._edited])

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
        self.problem.setText(refusal)
        self.problem.setVisible(bool(refusal))
        if not refusal and (name, rule) != (labelled.names[number], labelled.rules[number]):
            self._labels.define(name, rule, number)

    def _merge(self, into: object) -> None:
        if self._edited is not None and isinstance(into, int):
            edited, self._edited = self._edited, into
            self._labels.merge(edited, into)
            self._show_editor(into)
