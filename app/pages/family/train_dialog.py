"""What a person says before a family is trained: text, members, minutes and settings."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QGridLayout, QWidget

from app import words
from app.form.form import SettingsForm
from app.look.files import ask_file
from app.look.inputs import DoubleSpinBox, LineEdit
from app.look.labels import label
from app.look.layout import STRETCH, column, dialog_buttons, form_rows, row
from app.look.widgets import CARD_Y, DIALOG_MARGINS, button, leave_room, named, tidy_spin
from engine.errors import ConfigError
from engine.family.members import ABOUT
from engine.settings.config import with_values
from engine.settings.family import MEMBERS, FamilyConfig

PER_ROW = 4
CAPTIONS = 64  # px
SETTINGS = ("words", "width", "layers", "seed", "informed_start")


class TrainDialog(QDialog):
    """Asks; the button emits settings of a family."""

    wanted = Signal(object)  # FamilyConfig

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("family_dialog")
        self.setWindowTitle(self.tr("Train a family"))
        self.setMinimumWidth(520)
        self.text = named(LineEdit(), "family_text", self.tr("Text"))
        self.text.setPlaceholderText(self.tr("a text file, or a folder of text files"))
        self.browse = button(self.tr("Choose…"), name="family_text_choose", call=self._choose_text)
        minutes = DoubleSpinBox(minimum=0.1, maximum=100_000.0, decimals=1, value=24.0)
        self.minutes = tidy_spin(named(minutes, "family_minutes", self.tr("Minutes")))
        self.form = SettingsForm(FamilyConfig(), SETTINGS)
        self.members = {name: named(QCheckBox(ABOUT[name].said), f"family_member_{name}") for name in MEMBERS}
        self.said = label("", "muted", wrap=True, name="family_share")
        boxes = list(self.members.values())
        lines = [
            row(*boxes[begin : begin + PER_ROW], STRETCH, gap=14) for begin in range(0, len(boxes), PER_ROW)
        ]
        rows = form_rows(
            (self.tr("Text"), row((self.text, 1), self.browse, gap=8)),
            (self.tr("Members"), column(*lines, gap=6)),
            (self.tr("Minutes"), self.minutes),
        )
        for grid in (rows, *self.form.findChildren(QGridLayout)):
            grid.setColumnMinimumWidth(0, CAPTIONS)
        self.start = button(self.tr("Train"), "primary", name="family_start", call=self._accept)
        cancel = button(self.tr("Cancel"))
        buttons = dialog_buttons(accept=self.start, reject=cancel)
        column(rows, self.form, self.said, buttons, gap=CARD_Y, margins=DIALOG_MARGINS, parent=self)
        for box in boxes:
            box.setChecked(True)
            box.toggled.connect(self._show)
        self.text.textChanged.connect(self._show)
        self.minutes.valueChanged.connect(self._show)
        cancel.clicked.connect(self.reject)
        self._show()
        leave_room(self)

    @property
    def chosen(self) -> tuple[str, ...]:
        """The members that are to learn."""
        return tuple(name for name, box in self.members.items() if box.isChecked())

    def _show(self) -> None:
        count = len(self.chosen)
        share = self.minutes.value() / max(1, count)
        self.said.setText(
            self.tr(
                "Each member is trained for {minutes} minutes on the same text, one after the other."
            ).format(minutes=f"{share:.1f}")
        )
        self.start.setEnabled(bool(count and self.text.text().strip()))

    def _choose_text(self) -> None:
        ask_file(self, self.tr("Training text"), self.text.setText, name="family_text_dialog")

    def _accept(self) -> None:
        values = {
            "text": str(Path(self.text.text().strip()).expanduser()),
            "members": ",".join(self.chosen),
            "minutes": self.minutes.value(),
            **self.form.values(),
        }
        self.form.clear_refusals()
        try:
            config = with_values(FamilyConfig(), values)
        except ConfigError as error:
            self.form.show_refusal(error.field, words.say_error(error))
            return
        self.wanted.emit(config)
        self.accept()
