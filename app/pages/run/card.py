"""The left card of a training page while it shows a run: how far it is, and what it was made of. Read-only.

The form for a new run stands elsewhere, so that it never shows one run beside the curves of another.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QPushButton, QScrollArea, QWidget

from app.look.labels import ElidedLabel, label, set_or_hide, tip
from app.look.widgets import SETTINGS_WIDTH, Card, button, set_role
from app.pages.run.facts import Fact
from app.pages.run.progress import RunProgress
from app.work.titles import run_title

WIDEST_CAPTION = 112  # px
LONGEST_WORD = 20  # letters, of names that no line can be broken in


class RunCard(Card):
    """Progress and the run's own controls above, its settings below, the ways to a new run at the foot."""

    new_wanted = Signal()
    form_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("run_card")
        self.set_title(self.tr("This run"))
        self.setFixedWidth(SETTINGS_WIDTH)
        self._facts: list[Fact] = []
        self.name = ElidedLabel("")
        self.name.setObjectName("run_name")
        self.progress = RunProgress()
        self.place = label("", "strong", name="run_place")  # of a run of another computer: which
        self.contact = label("", "muted", wrap=True, name="run_contact")  # and whether it is heard
        self.controls = QWidget()
        row = QHBoxLayout(self.controls)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        line = QFrame()
        set_role(line, "line")
        self._area = QScrollArea(widgetResizable=True)
        self._area.setObjectName("run_facts")
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.new_button = button(self.tr("Duplicate run"), name="new_run")
        self.new_button.setToolTip(
            self.tr("Put this run’s settings, data and model into the form. Nothing starts yet.")
        )
        self.weights_button = button(self.tr("Download the weights"), name="copy_weights")
        self.form_button = button(self.tr("Back to settings"), "link", name="back_to_form")
        self.new_button.clicked.connect(self.new_wanted)
        self.form_button.clicked.connect(self.form_wanted)
        self.add(self.name)
        self.add(self.progress)
        self.add(self.place)
        self.add(self.contact)
        self.add(self.controls)
        self.add(self.weights_button)
        self.add(line)
        self.add(self._area, 1)
        self.add(self.new_button)
        self.add(self.form_button)

    def add_controls(self, left: Sequence[QPushButton], right: QPushButton) -> None:
        """Put the buttons of the run below its progress; no left one comes where the right one was."""
        row = self.controls.layout()
        assert isinstance(row, QHBoxLayout)
        for each in left:
            row.addWidget(each)
        row.addStretch(1)
        row.addWidget(right)

    def show_run(self, run_dir: Path, state: str) -> None:
        """Name the run. Args: state: in words."""
        self.name.setText(run_title(run_dir))
        self.name.setAccessibleDescription(str(run_dir))
        self.set_hint(state)

    def show_place(self, place: str, contact: str) -> None:
        """Say on which computer the run is trained, and whether that is heard; "" for this one."""
        set_or_hide(self.place, place)
        set_or_hide(self.contact, contact)

    def show_facts(self, facts: Sequence[Fact]) -> None:
        """Show what the run was made of."""
        if list(facts) == self._facts:
            return
        self._facts = list(facts)
        inner = QWidget()
        set_role(inner, "clear")
        grid = QGridLayout(inner)
        grid.setContentsMargins(0, 0, 4, 0)
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(5)
        grid.setColumnStretch(1, 1)
        grid.setColumnMinimumWidth(0, WIDEST_CAPTION)
        for row, fact in enumerate(self._facts):
            caption = label(fact.caption, "muted", wrap=True)
            caption.setMaximumWidth(WIDEST_CAPTION)
            longest = max(map(len, fact.value.split()), default=0)
            value = ElidedLabel(fact.value) if longest > LONGEST_WORD else label(fact.value, wrap=True)
            for part in (caption, value):
                if fact.whole:
                    part.setToolTip(tip(fact.whole))
            grid.addWidget(caption, row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(value, row, 1, Qt.AlignmentFlag.AlignTop)
        grid.setRowStretch(len(self._facts), 1)
        self._area.setWidget(inner)

    def facts(self) -> dict[str, str]:
        """Return what is shown, by caption."""
        return {fact.caption: fact.value for fact in self._facts}
