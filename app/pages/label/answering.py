"""What a person gives to the text in view, and undoes: the keys that answer, of every kind of labels."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.pages.label.answers import NumberAnswer, TagsAnswer
from app.pages.label.codebook import NUM_KEYS
from app.pages.label.keys import ENTER, PageKey
from app.pages.label.learner import Learner
from app.pages.label.walk import AGAIN, TextWalk
from app.pages.label.work import LabelWork
from app.work.labels import Labels
from engine.labelling.entry import GIVE, SKIP
from engine.labelling.kinds import A_NUMBER, ONE_LABEL, SEVERAL_LABELS, TAGS_OF_WORDS

DIGITS, NUMBER_KEYS = "0123456789", "0123456789.,-+"


class Answering(QObject):
    """`done`: the text has the keyboard again. `passed`: the text in view stays as it is, and the next one
    comes. `wanted`: a text is to be in view, by its place, and why.
    """

    done = Signal()
    passed = Signal()
    wanted = Signal(int, str)

    def __init__(
        self, labels: Labels, learner: Learner, walk: TextWalk, work: LabelWork, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._labels, self._learner, self._walk, self._work = labels, learner, walk, work

    def keys(self) -> tuple[PageKey, ...]:
        """Return the keys that answer: they depend on what is given, and on how many labels there are."""
        kind, work, count = self._labels.kind, self._work, len(self._work.numbers())
        enter = self.tr("Enter")
        if kind is A_NUMBER:
            return (
                PageKey("number", self.tr("0–9"), self.tr("number"), work.card.number.setFocus),
                PageKey("accept", enter, self.tr("give it"), self.accept, ENTER),
            )
        finds = self.tr("find label") if count > NUM_KEYS else ""
        find = PageKey("find", "F", finds, work.codebook.begin_find, ("F",))
        digits = self.tr("1–{last}").format(last=max(NUM_KEYS, count))
        verbs = {
            ONE_LABEL: self.tr("label"),
            SEVERAL_LABELS: self.tr("choose"),
            TAGS_OF_WORDS: self.tr("tag"),
        }
        label = PageKey("label", digits, verbs[kind], work.codebook.begin_new)
        accepts = self.tr("accept") if kind is ONE_LABEL else self.tr("next")
        accept = PageKey("accept", enter, accepts, self.accept, ENTER)
        if kind is not TAGS_OF_WORDS:
            return label, accept, find
        select = PageKey("select", self.tr("Shift+←→"), self.tr("select"), self.done.emit)
        clear = PageKey("clear", self.tr("Del"), self.tr("no tag"), self.clear_tags)
        return select, label, clear, accept, find

    # ---- choosing

    def give(self, label: int) -> None:
        """Choose a label for the text in view; where it has one label, give it."""
        answer = self._walk.answer
        self._work.typed.end()
        if answer is None or not self._labels.is_ready:
            return
        if answer.press(label):
            self._give()
        else:
            self._work.show_answer()
            self.done.emit()

    def give_shown(self, place: int) -> None:
        """Choose the label at a place of those that are shown under the text."""
        if place < len(self._work.suggested_numbers):
            self.give(self._work.suggested_numbers[place])

    def type(self, typed: str, *, is_again: bool) -> bool:
        """Take a key that writes something. Args: is_again: it is held. Returns: whether it was a digit."""
        card = self._work.card
        if typed and typed in NUMBER_KEYS and self._labels.kind is A_NUMBER:
            card.number.setFocus()
            card.number.insert(typed)
            self.type_number(card.number.text())
        elif typed and typed in DIGITS:
            if not is_again:
                self._type_digit(typed)
        else:
            return False
        return True

    def _type_digit(self, digit: str) -> None:
        numbers = self._work.numbers()
        place = self._work.typed.type(digit, len(numbers))
        if place is not None:
            self.give(numbers[place])
        else:
            self._work.show_answer()

    def type_number(self, text: str) -> None:
        """Take a number as far as it is typed."""
        answer = self._walk.answer
        if isinstance(answer, NumberAnswer):
            answer.type(text)
            self._work.card.show_chosen("")

    def clear_tags(self) -> None:
        """Take the tags off the words that are selected."""
        answer = self._walk.answer
        if isinstance(answer, TagsAnswer):
            answer.clear()
            self._work.show_answer()

    # ---- giving

    def accept(self) -> None:
        """Give the text in view what is chosen, else the label that is suggested first."""
        place, answer, labelled = self._work.typed.end(), self._walk.answer, self._labels.labelled
        if answer is None or labelled is None:
            return
        suggested, fields = self._work.suggested(self._walk.current), answer.fields
        before = labelled.given.get(self._walk.row)
        if place is not None:
            self.give(self._work.numbers()[place])
        elif fields is not None and before is not None and answer.is_as(before):
            self._walk.leave()
            self.passed.emit()
        elif fields is not None:
            self._give()
        elif suggested and labelled.kind is ONE_LABEL:
            self.give(suggested[0][0])
        elif labelled.kind is A_NUMBER and answer.entry.text:
            self._work.card.show_chosen(self.tr("This is no number. Type one such as 3 or 2.5."))

    def _give(self) -> None:
        """Give the text in view what is chosen for it."""
        row, why, answer = self._walk.row, self._walk.why, self._walk.answer
        assert answer is not None and answer.fields is not None
        suggested, fields = self._work.is_suggesting, answer.fields
        left = self._walk.leave()
        if self._labels.give(row, suggested=suggested, why=why, **fields):
            self._walk.forget(left)
        else:
            self._walk.current = left
        self.done.emit()

    def skip(self) -> None:
        """Ask the text in view no more."""
        row = self._walk.row
        if row >= 0 and self._labels.is_ready:
            left = self._walk.leave()
            if self._labels.skip(row):
                self._walk.forget(left)
            else:
                self._walk.current = left

    def undo(self) -> None:
        """Undo what was chosen last for the text in view, else what was done last, and show that text."""
        answer = self._walk.answer
        if self._work.typed.end() is not None or (answer is not None and answer.undo()):
            self._work.show_answer()
            return
        entry, texts = self._labels.undo(), self._learner.texts
        if entry is None or texts is None or entry.do not in (GIVE, SKIP):
            return
        place = texts.place(entry.row)
        if place is not None:
            if entry.do == GIVE and self._labels.kind is not ONE_LABEL:
                self._walk.begin_with(place, entry)
            self.wanted.emit(place, entry.why or AGAIN)
