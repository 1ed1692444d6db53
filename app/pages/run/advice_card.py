"""The card that watches a run: advice in plain words, the result and the way on from it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QWidget

from app.look.labels import WholeLabel
from app.look.widgets import Advice, Card, button, set_role
from app.pages.advice.remark import AdviceLine
from app.pages.run.advice import RunAdvice, outcome_words

LOW_ADVICE = 84  # px


class AdviceCard(Card):
    """Shows what there is to say of a run; remarks are drawn only when they have changed."""

    try_wanted = Signal()
    folder_wanted = Signal()
    inside_wanted = Signal()
    export_wanted = Signal()
    mend_wanted = Signal(str, object)  # a setting, and its new value

    def __init__(self, about: RunAdvice, onwards: str, parent: QWidget | None = None) -> None:
        """Args: about: is told what the run says. onwards: where a model leads to, in words."""
        super().__init__(parent=parent)
        self.set_title(self.tr("Checks"))
        self._about = about
        self.advice = Advice()
        self.advice.setObjectName("advice")
        self.advice.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.advice.setMinimumHeight(LOW_ADVICE)
        self.result = WholeLabel("", "muted")
        self.result.setObjectName("result")
        self.outcome = WholeLabel("")
        self.outcome.setObjectName("outcome")
        self.onwards = button(onwards, "link", name="try_it_here")
        self.inside = button(self.tr("Look inside"), "link", name="look_inside")
        self.export = button(self.tr("Export…"), "link", name="export_run")
        self.export.setToolTip(self.tr("Export the model to another tool: transformers, ONNX, one file"))
        self.folder = button(self.tr("Open folder"), "link", name="open_folder")
        self.inside.clicked.connect(self.inside_wanted)
        self.onwards.clicked.connect(self.try_wanted)
        self.export.clicked.connect(self.export_wanted)
        self.folder.clicked.connect(self.folder_wanted)
        links = QHBoxLayout()
        links.setSpacing(12)
        links.addWidget(self.onwards)
        links.addWidget(self.inside)
        links.addWidget(self.export)
        links.addWidget(self.folder)
        links.addStretch(1)
        self._line = QFrame()
        self._line.setObjectName("advice_line")
        set_role(self._line, "line")
        self.add(self.advice, 1)
        self.add(self._line)
        self.add(self.result)
        self.add(self.outcome)
        self.body.addLayout(links)
        self._shown: list[AdviceLine] = []
        self.show_idle()

    def show_idle(self) -> None:
        """Before training: advice on the data only."""
        set_role(self.result, "muted")
        links = (self.onwards, self.inside, self.export, self.folder)
        for widget in (self._line, self.result, self.outcome, *links):
            widget.hide()
        self.refresh()

    def show_outcome(self, outcome: str, run_dir: Path | None, seconds: float, *, has_model: bool) -> None:
        """Say how the run ended and what can be done with it."""
        if outcome != "running":
            set_role(self.result, "strong")  # what one has waited for
        self.outcome.setText(outcome_words(outcome, run_dir, seconds))
        self.outcome.show()
        self._line.show()
        self.onwards.setVisible(has_model and outcome != "finished")  # there it is the page's primary action
        self.inside.setVisible(has_model)
        self.export.setVisible(has_model and outcome == "finished")
        self.folder.setVisible(run_dir is not None and run_dir.exists())

    def refresh(self) -> None:
        """Show the remarks as they are now; a remark that stays keeps its selection."""
        remarks = self._about.remarks()
        if remarks != self._shown:
            self._shown = remarks
            actions = {
                remark.text: [(remark.offer, partial(self.mend_wanted.emit, *remark.mend))]
                for remark in remarks
                if remark.mend is not None and remark.offer
            }
            self.advice.set_items([(remark.level, remark.text) for remark in remarks], actions)
        self.result.setText(self._about.result_words())
        self.result.setVisible(bool(self.result.text()))
        self._line.setVisible(not self.result.isHidden() or not self.outcome.isHidden())
