"""Which text is in view with what answer so far, and which comes next: one that waits, one whose label was
split, else what was chosen for a person.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.pages.label.answers import ANSWERS, Answer
from app.pages.label.learner import Learner
from app.work.labels import Labels
from engine.labelling.entry import OPEN, JournalEntry
from engine.labelling.labelled import Labelled
from engine.labelling.order import LIKE, WHY, Choice

SOUGHT, AGAIN, SPLIT = "sought", "again", "split"  # why a text is in view that nobody chose for a person


class TextWalk:
    """The way of a person through the texts. current: the text in view; None: there is none."""

    def __init__(self, labels: Labels, learner: Learner) -> None:
        self._labels, self._learner = labels, learner
        self.current: Choice | None = None
        self._shows_twins = True
        self._waiting: list[Choice] = []  # texts that a person went away from, the newest last
        self._answers: dict[int, Answer] = {}  # by place, of texts that have been in view and are not done

    def begin(self) -> None:
        """Have nothing in view, as where other texts are open."""
        self.current, self._waiting, self._answers = None, [], {}

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
    def shown(self) -> tuple[Choice, ...]:
        """The texts that are in view, or wait to be again."""
        return (*([] if self.current is None else [self.current]), *self._waiting)

    @property
    def coming(self) -> list[Choice]:
        """What comes after the text in view: first what waits, the newest first."""
        return [*reversed(self._waiting), *self.ahead()]

    def drop_like(self) -> None:
        """Have texts wait no more that are like another."""
        self._waiting = [one for one in self._waiting if one.why != LIKE]

    def wait_for(self, found: Sequence[Choice]) -> None:
        """Have texts come next, the first first."""
        self._waiting += reversed(found)

    @property
    def answer(self) -> Answer | None:
        """What is chosen for the text in view so far; what was chosen for a text that waits is kept."""
        labelled, texts, current = self._labels.labelled, self._learner.texts, self.current
        if labelled is None or texts is None or current is None:
            return None
        found = self._answers.get(current.place)
        text = texts.text(current.place)
        if found is None or found.text != text or not _is_of(found, labelled):
            before = labelled.given.get(self.row)
            if before is None and self.row in labelled.asked:
                before = labelled.asked[self.row].before
            before = before or self.twin
            found = ANSWERS[labelled.kind](before, text)
            self._answers[current.place] = found
        return found

    def show_twins(self, is_shown: bool) -> None:
        """Have answers begin with the label of the same text from now on, or with nothing."""
        self._shows_twins = is_shown
        self._see(self.current)

    @property
    def twin(self) -> JournalEntry | None:
        """The newest label of a text that is the same as the one in view, which has none; None: none has."""
        labelled, texts, known = self._labels.labelled, self._learner.texts, self._learner.known
        if labelled is None or texts is None or known is None or self.current is None:
            return None
        if self.row in labelled.given or not labelled.kind.is_of_rows or not self._shows_twins:
            return None
        places = texts.places([*labelled.given])
        place = known.order.same_as(self.current.place, places[places >= 0])
        return None if place is None else labelled.given[int(texts.rows[place])]

    def begin_with(self, place: int, entry: JournalEntry) -> None:
        """Have the answer to a text begin with what was given to it, and is given no more."""
        labelled, texts = self._labels.labelled, self._learner.texts
        if labelled is not None and texts is not None:
            found = self._answers[place] = ANSWERS[labelled.kind](entry, texts.text(place))
            found.begin_anew()

    def leave(self) -> Choice | None:
        """Have nothing in view; return what was."""
        left, self.current = self.current, None
        return left

    def forget(self, left: Choice | None) -> None:
        """Forget what was chosen for a text: it is given."""
        if left is not None:
            self._answers.pop(left.place, None)

    def ahead(self) -> list[Choice]:
        """Return what comes after the text in view, as far as that is known."""
        labelled = self._labels.labelled
        return [] if labelled is None else self._learner.ahead(labelled, self.shown)

    def take_next(self) -> None:
        """Have the next text in view: one that waits, else what was chosen last."""
        if self._labels.labelled is None or self._learner.texts is None:
            return
        self.current = None
        ahead = [self._waiting.pop()] if self._waiting else self._asked() or self.ahead()
        self._see(ahead[0] if ahead else None)

    def _see(self, choice: Choice | None) -> None:
        """Have a text in view, with what a person has chosen for it before."""
        found = self._answers.get(choice.place) if choice is not None else None
        if found is not None and not found.is_changed:
            self.forget(choice)
        self.current = choice

    def _asked(self) -> list[Choice]:
        """Return the texts whose label was split."""
        labelled, texts = self._labels.labelled, self._learner.texts
        if labelled is None or texts is None:
            return []
        return [Choice(int(place), SPLIT) for place in texts.places([*labelled.asked]) if place >= 0]

    def go_to(self, place: int, why: str = SOUGHT) -> bool:
        """Have a text in view that a person wants; what was there waits. Returns: whether it is another."""
        if self.current is not None and self.current.place == place:
            return False
        found = next((one for one in self.ahead() if one.place == place), Choice(place, why))
        waiting = [one for one in (*self._waiting, self.current) if one is not None and one.place != place]
        self._waiting = [one for one in waiting if one.why != AGAIN]
        self._see(found)
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


def _is_of(answer: Answer, labelled: Labelled) -> bool:
    """Whether an answer can still be given: it is of the kind and of the labels that there are."""
    has = {label for label in labelled.kind.labels_in(answer.entry) if label != OPEN}
    return type(answer) is ANSWERS[labelled.kind] and has <= labelled.names.keys()
