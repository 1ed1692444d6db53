"""What stands beside the form while a run goes on: what the queue holds, and the checks of the next run."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from app import words
from app.look.labels import label
from app.look.widgets import Advice, Card
from app.pages.advice.remark import AdviceLine
from app.session import Session


class Meanwhile(Card):
    """Takes the place of the charts, which belong to the run in training."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("meanwhile")
        self.set_title(self.tr("The next run"))
        self._session = session
        self._remarks: list[tuple[str, str]] = []
        self.said = label("", "muted", wrap=True, name="meanwhile_words")
        self.advice = Advice()
        self.add(self.said)
        self.add(self.advice, 1)
        session.training.changed.connect(self.refresh)
        session.queue.changed.connect(self.refresh)
        self.refresh()

    def show_remarks(self, remarks: Sequence[AdviceLine]) -> None:
        """Show what is known of the data before the next run."""
        items = [(remark.level, remark.text) for remark in remarks]
        if items != self._remarks:
            self._remarks = items
            self.advice.set_items(items)

    def refresh(self) -> None:
        """Say what is in training, and how much waits."""
        text = self.tr(
            "“{name}” is in training. A run that you add to the queue begins when it has ended, even if the "
            "window is closed."
        )
        state = self._session.training.state
        if self._session.training.may_leave:
            text = self.tr(
                "“{name}” is in training on {host}. It continues there if you start another run; Runs can "
                "follow it again."
            )
        said = text.format(name=state.name, host=state.host)
        if count := self._session.queue.state.num_waiting:
            waits = words.counted(count, self.tr("1 run is waiting."), self.tr("{count} runs are waiting."))
            said = f"{said}\n{waits}"
        self.said.setText(said)
