"""What draws a run at the right of its page: cards that scroll, with the advice on the run among them.

It is fed lists of events, live from a run or read back from its files; it knows no session, starts nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from app.look.widgets import set_role
from app.pages.run.advice import RunAdvice
from app.pages.run.advice_card import AdviceCard
from engine.events import Event, Progress, Step


class CardArea(QScrollArea):
    """Cards that scroll together; a child class puts them on `inner`, and elsewhere for another width."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, widgetResizable=True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.inner = QWidget()
        set_role(self.inner, "clear")
        self.setWidget(self.inner)

    def arrange(self, width: int) -> None:
        """Put the cards where they belong in an area of this width, px."""
        raise NotImplementedError

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.arrange(event.size().width())


class RunCharts(CardArea):
    """The cards of a run. A child class makes them and draws events; the advice is of its kind."""

    def __init__(self, advice: RunAdvice, onwards: str, parent: QWidget | None = None) -> None:
        """Args: onwards: where the model of a run leads to, in words."""
        super().__init__(parent)
        self.watching = AdviceCard(advice, onwards)
        self._about = advice

    def clear(self) -> None:
        """Empty everything for a new run."""
        self._about.clear()
        self.watching.show_idle()

    def hear(self, events: Sequence[Event]) -> None:
        """Draw a list of a run's events."""
        self._about.hear(events)
        if self._about.has_nan or not all(isinstance(event, Step | Progress) for event in events):
            self.watching.refresh()

    def end(self, outcome: str, run_dir: Path | None, seconds: float, *, has_model: bool) -> None:
        """Draw what is left, and say how the run ended."""
        self._about.is_over = outcome != "running"
        self.watching.refresh()
        self.watching.show_outcome(outcome, run_dir, seconds, has_model=has_model)
