"""The place of an answer: why there is none yet, that it is asked for, the answer, or why it is refused."""

from __future__ import annotations

from PySide6.QtWidgets import QProgressBar, QStackedWidget, QWidget

from app import words
from app.look.widgets import Card, EmptyState, set_role
from engine.events import Event, Progress


class Pending(QStackedWidget):
    """One of these at a time; what belongs to an answer alone stands in it.

    Args: answer: shown once there is one. nothing: each a reason why there is none, the first one first.
    name: of the words while it is asked for, as NAME_busy, and of those of a refusal, as NAME_problem.
    framed: whether all but the answer stands in a card of its own.
    """

    def __init__(self, answer: QWidget, *nothing: QWidget, name: str, framed: bool = True) -> None:
        super().__init__()
        self.answer, self.asking, self.refused = answer, EmptyState(""), EmptyState("")
        self.asking.label.setObjectName(f"{name}_busy")
        self.refused.label.setObjectName(f"{name}_problem")
        set_role(self.refused.label, "refusal")
        self._places = {answer: answer}
        for one in (*nothing, self.asking, self.refused):
            self._places[one] = _in_card(one) if framed else one
        for place in (*(self._places[one] for one in nothing), answer, self._places[self.asking]):
            self.addWidget(place)
        self.addWidget(self._places[self.refused])

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

    def refuse(self, error: BaseException) -> None:
        """Say in the place of an answer why there will be none."""
        self.refused.set_text(words.say_error(error))
        self.setCurrentWidget(self._places[self.refused])


class ProgressLine(QProgressBar):
    """How much of what is asked for is done, as a thin line; of unknown length until an event says more.

    Args: width: px; 0: what there is.
    """

    def __init__(self, name: str = "", *, width: int = 0) -> None:
        super().__init__(textVisible=False)
        self.setObjectName(name)
        if width:
            self.setFixedWidth(width)

    def begin(self) -> None:
        """Show that something has begun of which nobody knows how much it is."""
        self.setRange(0, 0)
        self.show()

    def hear(self, event: Event) -> bool:
        """Show how far an event says that it is. Returns: whether it says so."""
        if not isinstance(event, Progress):
            return False
        self.setRange(0, event.total)
        self.setValue(event.done)
        return True


def _in_card(widget: QWidget) -> Card:
    card = Card()
    card.add(widget, 1)
    return card
