"""A hand on the table: cells are changed, rows are given another label or left out, labels another name. Each
is a step of the recipe, and undone as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtWidgets import QCompleter, QDialog, QMenu, QWidget

from app import words
from app.look.inputs import LineEdit, TextEdit
from app.look.layout import column, dialog_buttons, form_rows
from app.look.widgets import CARD_Y, DIALOG_MARGINS, button, named
from app.session import Session
from app.work.found_rows import rows_with_label
from app.work.table_rows import Rows
from app.work.worker import Channel
from engine.text.recipe import DROP, MERGE, RELABEL, RecipeStep

MOST_OFFERED = 25  # labels in a menu; any other can be typed
KEYS = 9  # labels that have a key of their own


class TableMenus(QObject):
    """Makes the menus of rows and of labels, and does what is chosen in them, or asked for by keys.

    partner_wanted: a row is to be shown beside those that it is like, as a finding of these alone.
    """

    partner_wanted = Signal(object)

    def __init__(self, session: Session, owner: QWidget) -> None:
        super().__init__(owner)
        self._session, self._owner = session, owner
        self._looking = Channel(self, session.workers.files)

    def add_rows(self, menu: QMenu, rows: Sequence[int]) -> None:
        """Add what can be done with rows of the table."""
        decided = self._decided()
        column_ = self._label_column()
        if column_:
            said = words.counted(
                len(rows), self.tr("Give it another label"), self.tr("Give {count} rows another label")
            )
            more = menu.addMenu(said)
            for place, label in enumerate(self._labels()[:MOST_OFFERED]):
                act = more.addAction(words.shorten(label, 40), partial(self._relabel, rows, column_, label))
                if place < KEYS:
                    show_key(act, str(place + 1))
            more.addSeparator()
            ask = partial(self._ask_label, said, "", partial(self._relabel, rows, column_))
            more.addAction(self.tr("Another…"), ask)
        kept = [row for row in rows if row not in decided or decided[row].do != DROP]
        if kept:
            said = words.counted(len(kept), self.tr("Exclude the row"), self.tr("Exclude {count} rows"))
            show_key(menu.addAction(said, partial(self._decide, kept, RecipeStep(DROP))), "Del")
        touched = self._touched()
        if changed := [row for row in rows if row in touched]:
            said = words.counted(len(changed), self.tr("Restore the row"), self.tr("Restore {count} rows"))
            menu.addAction(said, partial(self._decide, changed, None))
        if len(rows) == 1:
            self._add_partners(menu, rows[0])

    def add_cell(self, menu: QMenu, row: int, column_: str, cell: str) -> None:
        """Add the way to change one cell, as it is now."""
        said = self.tr("Change the text…")
        if column_ == self._label_column():
            said = self.tr("Change the label…")
        show_key(menu.addAction(said, partial(self.change_cell, row, column_, cell)), "F2")

    def _add_partners(self, menu: QMenu, row: int) -> None:
        """Add the way to the rows that a row repeats, nearly repeats, or leaks into."""
        doctor = self._session.doctor
        said = {
            "exact_duplicates": self.tr("Show its duplicates"),
            "near_duplicates": self.tr("Show its near-duplicates"),
            "leaks": self.tr("Show the same text in {name}"),
            "near_leaks": self.tr("Show its near-duplicates in {name}"),
        }
        for finding in doctor.findings:
            about = finding.about(row) if finding.kind in said and doctor.is_own(finding) else None
            if about is not None:
                text = said[finding.kind].format(name=words.shorten(finding.other, 30))
                menu.addAction(text, partial(self.partner_wanted.emit, about))

    def change_cell(self, row: int, column_: str, cell: str) -> None:
        """Ask for what a cell is to hold. Args: cell: what it holds now."""
        table = self._session.data.table
        if table is None:
            return
        line = words.number(int(table.lines[row]))
        if column_ == self._label_column():
            title = self.tr("Label of line {line}").format(line=line)
            self._ask_label(title, cell, partial(self._relabel, [row], column_))
            return
        title = self.tr("{column} of line {line}").format(column=words.shorten(column_, 40), line=line)
        dialog = CellDialog(title, cell, self._owner)
        dialog.answered.connect(partial(self._session.data.mends.edit, row, column_))
        dialog.open()

    def exclude(self, rows: Sequence[int]) -> None:
        """Leave rows out; where all are left out, take them back."""
        decided = self._decided()
        kept = [row for row in rows if row not in decided or decided[row].do != DROP]
        self._decide(kept or rows, RecipeStep(DROP) if kept else None)

    def relabel_as(self, rows: Sequence[int], place: int) -> None:
        """Give rows the label of that rank, the commonest first."""
        labels, column_ = self._labels(), self._label_column()
        if column_ and place < len(labels) and rows:
            self._relabel(rows, column_, labels[place])

    def merge(self, label: str, other: str) -> None:
        """Read a label as another one from now on."""
        column_ = self._label_column()
        if column_ and other != label:
            self._session.data.mends.add(RecipeStep(MERGE, label=other, labels=(label,), column=column_))

    def add_label(self, menu: QMenu, label: str) -> None:
        """Add what can be done with a label, before what the menu holds."""
        column_ = self._label_column()
        if not column_ or label not in self._labels():
            return
        first = menu.actions()[0] if menu.actions() else None
        own = QMenu(menu)
        shown = words.shorten(label, 30)
        rename = partial(self._ask_label, self.tr("Rename “{label}”").format(label=shown), label)
        own.addAction(
            self.tr("Rename “{label}”…").format(label=shown), lambda: rename(partial(self.merge, label))
        )
        others = [other for other in self._labels() if other != label]
        if others:
            into = own.addMenu(self.tr("Merge “{label}” into").format(label=shown))
            for other in others[:MOST_OFFERED]:
                into.addAction(words.shorten(other, 40), partial(self.merge, label, other))
        own.addAction(
            self.tr("Exclude the rows of “{label}”").format(label=shown), partial(self._drop, label)
        )
        own.addSeparator()
        menu.insertActions(first, own.actions()) if first is not None else menu.addActions(own.actions())

    def _decided(self) -> dict[int, RecipeStep]:
        recipe = self._session.data.mends.recipe
        return recipe.decided() if recipe is not None else {}

    def _touched(self) -> set[int]:
        recipe = self._session.data.mends.recipe
        return recipe.touched() if recipe is not None else set()

    def _label_column(self) -> str:
        """Return the column whose cells are labels; "" where there is none, or several are one."""
        table, roles = self._session.data.table, self._session.data.roles
        return roles.label if table is not None and roles is not None and roles.label in table.columns else ""

    def _labels(self) -> list[str]:
        """Return the labels of the table where each row has one, the commonest first."""
        summary = self._session.data.table_summary
        if summary is None or not summary.chooses_one or summary.refusal is not None:
            return []
        return [summary.labels[place] for place in (-summary.counts).argsort(kind="stable").tolist()]

    def _relabel(self, rows: Sequence[int], column_: str, label: str) -> None:
        self._decide(rows, RecipeStep(RELABEL, label=label, column=column_))

    def _decide(self, rows: Sequence[int], step: RecipeStep | None) -> None:
        self._session.data.mends.decide_all(rows, step)

    def _drop(self, label: str) -> None:
        table, recipe = self._session.data.table, self._session.data.mends.recipe
        if table is None or recipe is None:
            return
        self._looking.ask(
            (table, recipe, label),
            partial(rows_with_label, table, self._label_column(), label, recipe),
            heard=self._drop_rows,
        )

    def _drop_rows(self, rows: Rows) -> None:
        decided = self._decided()
        self._decide(
            [row for row in rows.tolist() if row not in decided or decided[row].do != DROP], RecipeStep(DROP)
        )

    def _ask_label(self, title: str, before: str, call: Callable[[str], None]) -> None:
        dialog = LabelDialog(title, before, self._labels(), self._owner)
        dialog.answered.connect(call)
        dialog.open()


def show_key(action: QAction, key: str) -> None:
    """Show beside an entry of a menu the key that does the same; the table hears it."""
    action.setShortcut(QKeySequence(key))
    action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)  # of the menu alone, which hears no keys
    action.setShortcutVisibleInContextMenu(True)


class CellDialog(QDialog):
    """Asks for the text of a cell; deletes itself. Ctrl+Enter takes it."""

    answered = Signal(str)

    def __init__(self, title: str, before: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("cell_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.resize(560, 280)
        self.text = named(TextEdit(tabChangesFocus=True), "cell_text", self.tr("Text"))
        self.text.setPlainText(before)
        self._before = before
        self._take_button = button(self.tr("Change"), "primary", name="cell_take")
        self._take_button.setToolTip(self.tr("Change the cell in the recipe, not in the file (Ctrl+Enter)"))
        QShortcut(QKeySequence("Ctrl+Return"), self, self._take_button.click)
        cancel = button(self.tr("Cancel"))
        self._take_button.clicked.connect(self._take)
        cancel.clicked.connect(self.reject)
        self.text.textChanged.connect(self._refresh)
        column(
            (self.text, 1),
            dialog_buttons(accept=self._take_button, reject=cancel),
            gap=CARD_Y,
            margins=DIALOG_MARGINS,
            parent=self,
        )
        self._refresh()
        self.text.setFocus()

    def _refresh(self) -> None:
        text = self.text.toPlainText()
        self._take_button.setEnabled(bool(text.strip()) and text != self._before)

    def _take(self) -> None:
        self.answered.emit(self.text.toPlainText())
        self.accept()


class LabelDialog(QDialog):
    """Asks for a label, and offers those that there are as it is typed; deletes itself."""

    answered = Signal(str)

    def __init__(self, title: str, before: str, labels: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("label_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.setMinimumWidth(360)
        self.label = named(LineEdit(before), "label_name", self.tr("Label"))
        self.label.setCompleter(QCompleter(list(labels), self))
        self.label.selectAll()
        take, cancel = button(self.tr("Apply"), "primary", name="label_take"), button(self.tr("Cancel"))
        take.clicked.connect(self._take)
        cancel.clicked.connect(self.reject)
        self.label.textChanged.connect(lambda text: take.setEnabled(bool(text.strip())))
        take.setEnabled(bool(before))
        column(
            form_rows((self.tr("Label"), self.label)),
            dialog_buttons(accept=take, reject=cancel),
            gap=CARD_Y,
            margins=DIALOG_MARGINS,
            parent=self,
        )
        self.label.setFocus()

    def _take(self) -> None:
        self.answered.emit(self.label.text().strip())
        self.accept()
