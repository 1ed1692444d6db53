"""The card that watches a run: advice in plain words, live numbers, the result and the way on from it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QWidget

from app.pages.remarks import Remark, outcome_words
from app.widgets import Advice, Card, ElidedLabel, button, label, set_role
from engine.events import Event, Step


class Watcher(Protocol):
    """Hears a run's events and keeps the remarks that follow from them."""

    @property
    def has_nan(self) -> bool: ...
    def start(self) -> None: ...
    def hear(self, events: Sequence[Event]) -> None: ...
    def remarks(self) -> list[Remark]: ...


class Live(Protocol):
    """Shows a step's numbers."""

    def show_step(self, step: Step) -> None: ...


class WatchingCard(Card):
    """Told what a run says; draws remarks only when they have changed."""

    try_wanted = Signal()
    folder_wanted = Signal()
    inside_wanted = Signal()

    def __init__(self, watch: Watcher, live: Live, onwards: str, parent: QWidget | None = None) -> None:
        super().__init__("", parent=parent)
        self.set_title(self.tr("Watching"))
        self._watch, self._live = watch, live
        assert isinstance(live, QWidget)
        self.numbers: QWidget = live
        self.advice = Advice()
        self.advice.setObjectName("advice")
        self.advice.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.advice.setMinimumHeight(40)
        self.result = label("", "muted", wrap=True)
        self.result.setObjectName("result")
        self.outcome = ElidedLabel("")
        self.outcome.setObjectName("outcome")
        self.onwards = button(onwards, "link", name="try_it_here")
        self.inside = button(self.tr("Look inside"), "link", name="look_inside")
        self.folder = button(self.tr("Open folder"), "link", name="open_folder")
        self.inside.clicked.connect(self.inside_wanted)
        self.onwards.clicked.connect(self.try_wanted)
        self.folder.clicked.connect(self.folder_wanted)
        links = QHBoxLayout()
        links.setSpacing(12)
        links.addWidget(self.onwards)
        links.addWidget(self.inside)
        links.addWidget(self.folder)
        links.addStretch(1)
        self._line = QFrame()
        set_role(self._line, "line")
        self.add(self.advice, 1)
        self.add(self._line)
        self.add(self.numbers)
        self.add(self.result)
        self.add(self.outcome)
        self.body.addLayout(links)
        self._shown: list[tuple[str, str]] = []
        self.show_idle()

    def result_words(self) -> str:
        """Return the line about the best so far, or the result; a child class knows what that is."""
        return ""

    def show_idle(self) -> None:
        """Before training: advice on the data only."""
        links = (self.onwards, self.inside, self.folder)
        for widget in (self._line, self.numbers, self.result, self.outcome, *links):
            widget.hide()
        self.refresh()

    def show_step(self, step: Step) -> None:
        """Show a step's live numbers."""
        self.show_numbers()
        self._live.show_step(step)

    def show_numbers(self) -> None:
        """Make room for the live numbers."""
        self._line.show()
        self.numbers.show()

    def show_outcome(self, outcome: str, run_dir: Path | None, seconds: float, *, has_model: bool) -> None:
        """Say how the run ended and what can be done with it."""
        self.outcome.setText(outcome_words(outcome, run_dir, seconds))
        self.outcome.show()
        for widget in (self._line, self.numbers):
            widget.setVisible(not widget.isHidden() and outcome != "finished")  # nothing moves any more
        self.onwards.setVisible(has_model and outcome != "finished")  # there it is the page's primary action
        self.inside.setVisible(has_model)
        self.folder.setVisible(run_dir is not None and run_dir.exists())

    def refresh(self) -> None:
        """Show the remarks as they are now; a remark that stays keeps its selection."""
        items = [(remark.level, remark.text) for remark in self._watch.remarks()]
        if items != self._shown:
            self._shown = items
            self.advice.set_items(items)
        self.result.setText(self.result_words())
        self.result.setVisible(bool(self.result.text()))
