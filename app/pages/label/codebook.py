"""The codebook: labels with their keys, rules and numbers of texts; found, made and edited here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.inputs import EnteredLine
from app.look.labels import label
from app.look.layout import column
from app.look.widgets import Card, button, holder, named
from app.pages.label.label_editor import LabelEditor, hairline
from app.plots.label_rows import CodebookPlot, LabelRow
from app.work.labels import LONGEST_NAME, Labels
from engine.labelling.kinds import KINDS
from engine.labelling.labelled import Labelled
from engine.text.numbers import number_in

if TYPE_CHECKING:
    from engine.labelling.columns import ColumnLabels

NUM_KEYS = 9  # labels that one key gives; of more, a filter helps to find one
WIDTH = 232  # px


def key_of(place: int) -> str:
    """Return what is typed for the label at a place of the codebook."""
    return str(place + 1)


class CodebookCard(Card):
    """Labels from top to bottom. `given`: a person wants the text in view to have one, by its number.

    `left`: what was typed is done with. `unfolded`: it is to be in view. `wanted`: labels of a column are to
    be taken over.
    """

    given = Signal(int)
    left = Signal()
    unfolded = Signal()
    kind_chosen = Signal(object)
    wanted = Signal(object)

    def __init__(self, labels: Labels, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Codebook"), parent=parent)
        self.setObjectName("label_codebook")
        self._labels = labels
        self._shown: tuple[int, ...] = ()  # labels, from top to bottom
        self._edited: int | None = None
        self._chosen: tuple[int, ...] = ()
        self._only: tuple[int, ...] = ()
        self._offered: ColumnLabels | None = None
        self.is_wanted = False  # whether a person types into it, also where a narrow page folds it away
        self.kind_box = ChoiceBox(
            "label_kind",
            self.tr("What is given to each text"),
            entries=[(words.tr_engine(kind.title), kind) for kind in KINDS.values()],
        )
        self.kind_box.chosen.connect(self.kind_chosen)
        self.rows = CodebookPlot(self.tr("Codebook"))
        self.rows.setObjectName("label_rows")
        self.rows.chosen.connect(self._choose)
        self._make_lines()
        self._kept = self.tr(
            "Labels are stored next to the table: fixes on Data leave them as they are. "
            "Ctrl+Z undoes the last label."
        )
        self.edit_button = button(self.tr("Edit"), "link", name="label_edit", call=self._toggle_edit)
        self.edit_button.setToolTip(self.tr("Rename labels, write their rules, merge and split them (E)"))
        self.add_corner(self.edit_button)
        self.editor = LabelEditor(labels)
        self.editor.done.connect(self._end_edit)
        self.editor.moved.connect(self._edit)
        self.numbers = label("", "muted", wrap=True, name="label_numbers")
        self.numbers.hide()
        self.finder.hide()
        for part in (self.kind_box, self.numbers, self.line, self._make_offer(), self.finder):
            self.add(part)
        self.add(self.rows, 1)
        self.add(self.editor)
        self.body.addStretch()

    def _make_lines(self) -> None:
        self.line = named(EnteredLine(), "label_new", self.tr("Add a label (A)"))
        self.line.setPlaceholderText(self.tr("Add a label (A)"))
        self.line.setToolTip(self.tr("A new name adds a label. The name of a label gives it to the text."))
        self.line.setMaxLength(LONGEST_NAME)
        self.line.returnPressed.connect(self._take_line)
        self.finder = named(EnteredLine(), "label_find", self.tr("Find a label (F)"))
        self.finder.setPlaceholderText(self.tr("Find a label (F)"))
        self.finder.setToolTip(self.tr("Part of its name or rule. Enter gives the first one to the text."))
        self.finder.setMaxLength(LONGEST_NAME)
        self.finder.textChanged.connect(self._show_rows)
        self.finder.returnPressed.connect(self._take_found)

    def _make_offer(self) -> QWidget:
        self.offer_words = label("", "muted", wrap=True, name="label_offer_words")
        self.offer_button = button(self.tr("Take over"), name="label_take_over", call=self._take_offer)
        self.offer = holder(column(self.offer_words, self.offer_button, hairline(), gap=6))
        self.offer.hide()
        return self.offer

    # ---- what is shown

    @property
    def is_editing(self) -> bool:
        """Whether a click on a row edits its label, and does not give it."""
        return self.editor.isVisibleTo(self)

    def show_labels(self, labelled: Labelled | None, total: int) -> None:
        """Show the labels as they are now. Args: total: texts that can be labelled."""
        has_codebook = labelled is None or labelled.kind.has_codebook
        given = len(labelled.given) if labelled is not None else 0
        said = self.tr("{given} of {total}")
        self.set_hint(
            said.format(given=words.number(given), total=words.number(total)) if total else "", self._kept
        )
        self.set_title(self.tr("Codebook") if has_codebook else self.tr("Numbers"))
        can_choose = labelled is not None and labelled.can_choose_kind
        self.kind_box.setVisible(can_choose)
        self.kind_box.choose(labelled.kind if labelled is not None else next(iter(KINDS.values())))
        self.line.setEnabled(labelled is not None)
        has_names = labelled is not None and bool(labelled.names)
        self.line.setPlaceholderText(
            self.tr("Next label, or Enter to begin")
            if has_names and not given
            else self.tr("Add a label (A)")
        )
        self.rows.setVisible(has_codebook)
        self.numbers.setVisible(not has_codebook)
        self.numbers.setText("" if labelled is None or has_codebook else self._numbers_said(labelled))
        if labelled is None or self._edited not in labelled.names:
            self._edit(None)
        self.edit_button.setVisible(labelled is not None and has_codebook and bool(labelled.names))
        self._show_lines(labelled)
        self._show_rows()
        self._show_offer(labelled)

    def _show_lines(self, labelled: Labelled | None) -> None:
        has_codebook = labelled is None or labelled.kind.has_codebook
        self.line.setVisible(has_codebook and not self.is_editing)
        is_long = labelled is not None and len(labelled.names) > NUM_KEYS
        self.finder.setVisible(has_codebook and is_long)
        if not is_long:
            self.finder.clear()

    def show_only(self, labels: Sequence[int]) -> None:
        """Show some labels alone, as those that a label was split into; none: all of them."""
        if self._only != tuple(labels):
            self._only = tuple(labels)
            self._show_rows()

    def _show_rows(self) -> None:
        labelled = self._labels.labelled
        if labelled is None:
            self._shown = ()
            self.rows.clear()
            return
        counts, sought = labelled.count(), self.finder.text().strip().casefold()
        rows, shown = list[LabelRow](), list[int]()
        for place, (number, name) in enumerate(labelled.names.items()):
            rule = labelled.rules[number]
            is_asked = number in self._only or not self._only or self.is_editing
            if (is_asked or sought) and sought in f"{name}\n{rule}\n{key_of(place)}".casefold():
                hue = place if not labelled.kind.is_of_rows else None
                rows.append(LabelRow(key_of(place), name, rule, counts[number], hue=hue))
                shown.append(number)
        self._shown = tuple(shown)
        nothing = self.tr("No label yet. Type the first one above.")
        self.rows.set_empty_text(self.tr("No label is called so.") if sought else nothing)
        self.rows.show_rows(rows)
        self._mark()

    def show_chosen(self, labels: Sequence[int]) -> None:
        """Mark the labels that the text in view has, or could have by the key that was typed."""
        self._chosen = tuple(labels)
        self._mark()
        if len(labels) == 1 and labels[0] in self._shown and not self.is_editing:
            self.rows.reveal(self._shown.index(labels[0]))

    def _mark(self) -> None:
        marked = (self._edited,) if self.is_editing else self._chosen
        self.rows.mark_rows([place for place, one in enumerate(self._shown) if one in marked])

    def _numbers_said(self, labelled: Labelled) -> str:
        found = (number_in(entry.text) for entry in labelled.given.values())
        numbers = [number for number in found if number is not None]
        if not numbers:
            return self.tr("Type a number, and Enter gives it to the text.")
        said = self.tr("{low} to {high}, mean {mean}")
        figures = (min(numbers), max(numbers), sum(numbers) / len(numbers))
        low, high, mean = (f"{figure:.6g}".replace("-", "−") for figure in figures)
        return said.format(low=low, high=high, mean=mean)

    # ---- labels of a column

    def offer_column(self, found: ColumnLabels | None) -> None:
        """Offer to take over what a column has; None: there is none."""
        self._offered = found
        self._show_offer(self._labels.labelled)

    def _show_offer(self, labelled: Labelled | None) -> None:
        found = self._offered
        fits = labelled is not None and found is not None and found.column not in labelled.columns
        fits = fits and (labelled.can_choose_kind or labelled.kind is found.kind)  # type: ignore[union-attr]
        self.offer.setVisible(bool(fits) and not self.is_editing)
        if found is None:
            return
        template = self.tr("Column “{column}” has {labels} labels on {texts} texts.")
        if not found.kind.has_codebook:
            template = self.tr("Column “{column}” has numbers on {texts} texts.")
        self.offer_words.setText(
            template.format(
                column=words.shorten(found.column, 40),
                labels=words.number(len(found.names)),
                texts=words.number(len(found.rows)),
            )
        )

    def _take_offer(self) -> None:
        if self._offered is not None:
            self.wanted.emit(self._offered)

    # ---- the lines

    def begin_new(self) -> None:
        """Give the keyboard to the line for a new label."""
        self._unfold()
        self.line.setFocus()

    def begin_find(self) -> None:
        """Give the keyboard to the filter, or to the line where there are few labels."""
        self._unfold()
        (self.finder if self.finder.isVisibleTo(self) else self.line).setFocus()

    def end_find(self) -> None:
        """Show all labels again; the text has the keyboard."""
        self.finder.clear()
        self.is_wanted = False

    def _unfold(self) -> None:
        self.is_wanted = True
        self.unfolded.emit()

    def _take_line(self) -> None:
        name = " ".join(self.line.text().split())
        self.line.clear()
        if not name:
            self._leave()
            return
        number = self._labels.named(name)
        if number is not None:
            self.given.emit(number)
        else:
            self._labels.define(name)

    def _take_found(self) -> None:
        found, sought = self._shown, self.finder.text().strip()
        self.finder.clear()
        if sought and found:
            exact = self._labels.named(sought)
            self.given.emit(exact if exact in found else found[0])
        self._leave()

    def _leave(self) -> None:
        self.is_wanted = False
        self.left.emit()

    def _choose(self, place: int) -> None:
        if self.is_editing:
            self._edit(self._shown[place])
        else:
            self.given.emit(self._shown[place])

    # ---- editing

    def toggle_edit(self) -> None:
        """Begin to edit labels, or end it."""
        if self._shown:
            self._toggle_edit()

    def _toggle_edit(self) -> None:
        if self.is_editing:
            self._end_edit()
        else:
            self._edit(next(iter(self._shown), None))
            self._unfold()
            self.editor.begin()

    def _end_edit(self) -> None:
        self._edit(None)
        self._leave()

    def _edit(self, number: int | None) -> None:
        self._edited = number
        self.editor.show_label(number)
        self._show_lines(self._labels.labelled)
        if self._only:
            self._show_rows()
        self._show_offer(self._labels.labelled)
        self._mark()
