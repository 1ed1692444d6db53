"""The settings of ticked runs beside one another, what differs first."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QCheckBox, QDialog, QHeaderView, QWidget

from app import words
from app.look.cells import CellsModel
from app.look.layout import STRETCH, column, row
from app.look.table_view import TableView
from app.look.widgets import CARD_Y, DIALOG_MARGINS, button, named
from app.pages.runs.rows import RunRow, setting_words
from engine.runs.groups import varied


class SettingsDialog(QDialog):
    """A row a setting, a column a ticked line."""

    def __init__(self, rows: Sequence[RunRow], parent: QWidget | None = None) -> None:
        """Args: rows: A first."""
        super().__init__(parent)
        self.setObjectName("settings_dialog")
        self.setWindowTitle(self.tr("Settings compared"))
        self.resize(720, 480)
        self._rows = tuple(rows)
        firsts = [one.facts for one in rows]
        self._differ = varied(firsts)
        every = dict.fromkeys(name for facts in firsts for name in facts.settings)
        self._names = [
            *self._differ,
            *(name for name in every if name not in self._differ and name != "seed"),
        ]
        self._cells = CellsModel(self)
        self.table = named(TableView(), "settings_table", self.tr("Settings"))
        self.table.setModel(self._cells)
        self.table.verticalHeader().hide()
        self.only = named(QCheckBox(self.tr("Only what differs")), "settings_only")
        self.only.setChecked(bool(self._differ))
        self.only.toggled.connect(self._show)
        close = button(self.tr("Close"), "primary")
        close.clicked.connect(self.accept)
        foot = row(self.only, STRETCH, close)
        column((self.table, 1), foot, gap=CARD_Y, margins=DIALOG_MARGINS, parent=self)
        self._show()

    def _show(self) -> None:
        names = self._differ if self.only.isChecked() else self._names
        heads = [self.tr("setting")]
        heads += [f"{letter}  {one.name}" for letter, one in zip("ABCDEF", self._rows, strict=False)]

        def cell(place: int, at: int) -> str:
            name = names[place]
            if not at:
                return words.label_of(name)
            return setting_words(name, self._rows[at - 1].facts.settings.get(name))

        self._cells.set_rows(heads, len(names), cell)
        header = self.table.horizontalHeader()
        for at in range(len(heads)):
            header.setSectionResizeMode(at, QHeaderView.ResizeMode.Stretch)
