"""The place of an answer: why there is none yet, that it is asked for, or the answer."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QProgressBar, QStackedWidget, QWidget

from app import words
from app.look.widgets import Card, EmptyState
from engine.events import Event, Progress


class Pending(QStackedWidget):
    """One of these at a time; what belongs to an answer alone stands in it.

    Args: answer: shown once there is one. nothing: each a reason why there is none, the first one first.
    name: of the words while it is asked for, as NAME_busy.
    framed: whether all but the answer stands in a card of its own.
    """

    def __init__(self, answer: QWidget, *nothing: QWidget, name: str, framed: bool = True) -> None:
        super().__init__()
        self.answer, self.asking = answer, EmptyState("")
        self.asking.label.setObjectName(f"{name}_busy")
        self._places = {answer: answer}
        for one in (*nothing, self.asking):
            self._places[one] = _in_card(one) if framed else one
        for place in (*(self._places[one] for one in nothing), answer, self._places[self.asking]):
            self.addWidget(place)

    @property
    def is_answered(self) -> bool:
        return self.currentWidget() is self.answer

    def show_nothing(self, why: QWidget) -> None:
        """Show one of the reasons why there is nothing."""
        self.setCurrentWidget(self._places[why])

    def show_asking(self, text: str) -> None:
        """Say that an answer is on its way."""
        self.asking.set_text(text)
        self.setCurrentWidget(self._places[self.asking])

    def show_answer(self) -> None:
        self.setCurrentWidget(self.answer)


class ProgressLine(QProgressBar):
    """How much of what is asked for is done, as a thin line; of unknown length until an event says more.

    Args: width: px; 0: what there is.
    """

    def __init__(self, name: str = "", *, width: int = 0) -> None:
        super().__init__(textVisible=False)
        self.setObjectName(name)
        if width:
            self.setFixedWidth(width)

    def hear(self, event: Event) -> bool:
        """Show how far an event says that it is. Returns: whether it says so."""
        if not isinstance(event, Progress):
            return False
        self.setRange(0, event.total)
        self.setValue(event.done)
        return True


def say_progress(said: QLabel, event: Event) -> None:
    """Say in a line how far an event says that work is."""
    if isinstance(event, Progress) and event.total:
        said.setText(words.event_words(event))


def _in_card(widget: QWidget) -> Card:
    card = Card()
    card.add(widget, 1)
    return card
