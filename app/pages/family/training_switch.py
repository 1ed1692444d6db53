"""The switch between members that were all given the same, and BERT as it is trained in practice."""

from __future__ import annotations

from PySide6.QtWidgets import QSizePolicy, QWidget

from app.look.labels import tip
from app.look.segmented_buttons import SegmentedButtons

GIVEN, PRACTICE = "given", "practice"


class TrainingSwitch(SegmentedButtons):
    """Two buttons; the second is off where a BERT trained longer cannot be asked, and says why."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("family_training", [(GIVEN, "", ""), (PRACTICE, "", "")], parent, height=30)
        said = self.tr("Every member was given the same, minutes or words, on the same text")
        self.buttons[GIVEN].setToolTip(said)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def name(self, given: str, *, is_short: bool) -> None:
        """Say what each button is. Args: given: to each member. is_short: room is."""
        practice = self.tr("in practice") if is_short else self.tr("as trained in practice")
        self.buttons[GIVEN].setText(self.tr("{given} each").format(given=given))
        self.buttons[PRACTICE].setText(practice)

    def show_training(self, *, is_practice: bool, why_not: str) -> None:
        """Show which is asked for. Args: why_not: why there is no other BERT to ask, "" where there is."""
        said = self.tr("BERT is the starter model, which was trained for longer")
        self.buttons[PRACTICE].setEnabled(not why_not)
        self.buttons[PRACTICE].setToolTip(tip(why_not or said))
        self.set_current(PRACTICE if is_practice and not why_not else GIVEN)
