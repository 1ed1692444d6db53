"""A hand on the table: rows are given another label or left out, labels another name. Each is a step of the
recipe, and undone as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QCompleter, QDialog, QMenu, QWidget

from app import words
from app.look.inputs import LineEdit
from app.look.layout import column, dialog_buttons, form_rows
from app.look.widgets import CARD_Y, DIALOG_MARGINS, button, named
from app.session import Session
from app.work.found_rows import rows_with_label
from app.work.table_rows import Rows
from app.work.worker import Channel
from engine.text.recipe import DROP, MERGE, RELABEL, RecipeStep

MOST_OFFERED = 25  # labels in a menu; any other can be typed


class TableMenus(QObject):
    """Makes the menus of rows and of labels, and does what is chosen in them."""

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
            for label in self._labels()[:MOST_OFFERED]:
                more.addAction(words.shorten(label, 40), partial(self._relabel, rows, column_, label))
            more.addSeparator()
            ask = partial(self._ask_label, said, "", partial(self._relabel, rows, column_))
            more.addAction(self.tr("Another…"), ask)
        kept = [row for row in rows if row not in decided or decided[row].do != DROP]
        if kept:
            said = words.counted(len(kept), self.tr("Exclude the row"), self.tr("Exclude {count} rows"))
            menu.addAction(said, partial(self._decide, kept, RecipeStep(DROP)))
        if changed := [row for row in rows if row in decided]:
            said = words.counted(len(changed), self.tr("Restore the row"), self.tr("Restore {count} rows"))
            menu.addAction(said, partial(self._decide, changed, None))

    def add_label(self, menu: QMenu, label: str) -> None:
        """Add what can be done with a label, before what the menu holds."""
        column_ = self._label_column()
        if not column_ or label not in self._labels():
            return
        first = menu.actions()[0] if menu.actions() else None
        own = QMenu(menu)
        shown = words.shorten(label, 30)
        rename = partial(self._ask_label, self.tr("Rename “{label}”").format(label=shown), label)
        own.addAction(self.tr("Rename “{label}”…").format(label=shown), lambda: rename(self._merging(label)))
        others = [other for other in self._labels() if other != label]
        if others:
            into = own.addMenu(self.tr("Merge “{label}” into").format(label=shown))
            for other in others[:MOST_OFFERED]:
                into.addAction(words.shorten(other, 40), partial(self._merging(label), other))
        own.addAction(
            self.tr("Exclude the rows of “{label}”").format(label=shown), partial(self._drop, label)
        )
        own.addSeparator()
        menu.insertActions(first, own.actions()) if first is not None else menu.addActions(own.actions())

    def _decided(self) -> dict[int, RecipeStep]:
        recipe = self._session.data.mends.recipe
        return recipe.decided() if recipe is not None else {}

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

    def _merging(self, label: str) -> Callable[[str], None]:
        """Return what reads a label as another one from now on."""

        def merge(other: str) -> None:
            if other != label:
                step = RecipeStep(MERGE, label=other, labels=(label,), column=self._label_column())
                self._session.data.mends.add(step)

        return merge

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
