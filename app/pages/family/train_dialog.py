"""What a person says before a family is trained: text, members, minutes and settings."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QGridLayout, QWidget

from app import words
from app.form.form import MOST_CAPTION, SettingsForm
from app.look.labels import label
from app.look.layout import STRETCH, column, dialog_buttons, form_rows, row
from app.look.widgets import CARD_Y, DIALOG_MARGINS, button, leave_room, named
from app.pages.choose.budget import BUDGETS, BudgetField
from app.pages.choose.text import TextChooser
from app.session import Session
from engine.errors import ConfigError
from engine.family.members import ABOUT
from engine.settings.config import values_of, with_values
from engine.settings.family import MEMBERS, FamilyConfig

PER_ROW = 4
SIZE = 560, 610  # px
OWN = ("text", "column", "members", *BUDGETS, "pins")  # shown elsewhere, or no member's
SETTINGS = ("starts", "trainings", "words", "width", "layers", "length", "seed")  # seen at once
USUAL = {"minutes": 24.0, "tokens": 2_000_000.0}


class TrainDialog(QDialog):
    """Asks; the button emits settings of a family."""

    wanted = Signal(object)  # FamilyConfig

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("family_dialog")
        self.setWindowTitle(self.tr("Train a family"))
        self.setMinimumWidth(520)
        self.resize(*SIZE)
        self.text = TextChooser(session, self, "family_text", opens_tables=False)
        self.budget = BudgetField(("minutes", "tokens", "steps"), "family_budget", USUAL)
        rest = (name for name in values_of(FamilyConfig()) if name not in (*OWN, *SETTINGS, "informed_start"))
        self.form = SettingsForm(FamilyConfig(), (*SETTINGS, *rest))
        self.members = {name: named(QCheckBox(ABOUT[name].said), f"family_member_{name}") for name in MEMBERS}
        self.said = label("", "muted", wrap=True, name="family_share")
        boxes = list(self.members.values())
        lines = [
            row(*boxes[begin : begin + PER_ROW], STRETCH, gap=14) for begin in range(0, len(boxes), PER_ROW)
        ]
        rows = form_rows(
            *self.text.rows(),
            (self.tr("Members"), column(*lines, gap=6)),
            (self.tr("Train for"), self.budget),
        )
        for grid in (rows, *self.form.findChildren(QGridLayout)):
            grid.setColumnMinimumWidth(0, MOST_CAPTION)
        self.start = button(self.tr("Train"), "primary", name="family_start", call=self._accept)
        cancel = button(self.tr("Cancel"))
        buttons = dialog_buttons(accept=self.start, reject=cancel)
        column(rows, self.form, self.said, buttons, gap=CARD_Y, margins=DIALOG_MARGINS, parent=self)
        for box in boxes:
            box.setChecked(True)
            box.toggled.connect(self._show)
        self.text.changed.connect(self._show)
        self.budget.edited.connect(self._show)
        self.form.changed.connect(self._show)
        cancel.clicked.connect(self.reject)
        self._show()
        leave_room(self)

    @property
    def chosen(self) -> tuple[str, ...]:
        """The members that are to learn."""
        return tuple(name for name, box in self.members.items() if box.isChecked())

    def _show(self) -> None:
        count, given = len(self.chosen), self.budget.values()
        trainings = max(1, int(self.form.values()["trainings"] or 1))
        share = given["minutes"] / max(1, count * trainings)
        said = {
            "minutes": self.tr(
                "Equal minutes: each training takes {given}, on the same text, one after the other."
            ),
            "tokens": self.tr("Equal words: each member reads {given} words, however long that takes."),
            "steps": self.tr("Equal steps: each member takes {given} steps, however long that takes."),
        }[self.budget.name]
        count_given = words.number(int(given[self.budget.name]))
        self.said.setText(said.format(given=f"{share:.1f}" if share else count_given))
        self.start.setEnabled(bool(count and self.text.has_text))

    def _accept(self) -> None:
        values = {
            **self.text.values(),
            "members": ",".join(self.chosen),
            **self.budget.values(),
            **self.form.values(),
        }
        self.form.clear_refusals()
        try:
            config = with_values(FamilyConfig(), values)
        except ConfigError as error:
            if not self.form.show_error(error):
                self.said.setText(words.say_error(error))
            return
        self.wanted.emit(config)
        self.accept()
