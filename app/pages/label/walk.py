"""Which text is in view, and which one comes next: one that waits, else what was chosen for a person."""

from __future__ import annotations

from app.pages.label.learner import Learner
from app.work.labels import Labels
from engine.labelling.order import WHY, Choice

SOUGHT, AGAIN = "sought", "again"  # why a text is in view that nobody chose for a person


class TextWalk:
    """The way of a person through the texts. current: the text in view; None: there is none."""

    def __init__(self, labels: Labels, learner: Learner) -> None:
        self._labels, self._learner = labels, learner
        self.current: Choice | None = None
        self._waiting: list[Choice] = []  # texts that a person went away from, the newest last

    def begin(self) -> None:
        """Have nothing in view, as where other texts are open."""
        self.current, self._waiting = None, []

    @property
    def row(self) -> int:
        """The row of the text in view, -1 for none."""
        texts = self._learner.texts
        return int(texts.rows[self.current.place]) if texts is not None and self.current is not None else -1

    @property
    def why(self) -> str:
        """Why the text in view is there, one of WHY; "" where nobody chose it for a person."""
        return self.current.why if self.current is not None and self.current.why in WHY else ""

    @property
    def shown(self) -> tuple[int, ...]:
        """The places that are in view, or wait to be again."""
        shown = [] if self.current is None else [self.current]
        return tuple(choice.place for choice in (*shown, *self._waiting))

    def ahead(self) -> list[Choice]:
        """Return what comes after the text in view, as far as that is known."""
        labelled = self._labels.labelled
        return [] if labelled is None else self._learner.ahead(labelled, self.shown)

    def take_next(self) -> None:
        """Have the next text in view: one that waits, else what was chosen last."""
        if self._labels.labelled is None or self._learner.texts is None:
            return
        self.current = None
        ahead = [self._waiting.pop()] if self._waiting else self.ahead()
        self.current = ahead[0] if ahead else None

    def go_to(self, place: int, why: str = SOUGHT) -> bool:
        """Have a text in view that a person wants; what was there waits. Returns: whether it is another."""
        if self.current is not None and self.current.place == place:
            return False
        found = next((one for one in self.ahead() if one.place == place), Choice(place, why))
        waiting = [one for one in (*self._waiting, self.current) if one is not None and one.place != place]
        self._waiting = [one for one in waiting if one.why != AGAIN]
        self.current = found
        return True

    def before(self) -> int | None:
        """Return the place of the last text before this one that has a label or was skipped; None: none."""
        texts, labelled = self._learner.texts, self._labels.labelled
        if texts is None or labelled is None:
            return None
        places = texts.places([*labelled.skipped, *labelled.given])
        done = [int(place) for place in places if place >= 0]
        here = self.current.place if self.current is not None else -1
        at = done.index(here) - 1 if here in done else len(done) - 1
        return done[at] if at >= 0 else None
