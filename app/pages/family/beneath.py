"""What stands beneath the picture: who else there is, and whether it is fair, or what a member is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.look.layout import row
from app.look.widgets import GAP
from app.pages.family import fairness
from app.pages.family.about_member import about_member
from app.pages.family.draft import FamilyDraft
from app.pages.family.kinds.kind import CLAIMS, SCORES, FamilyAnswer
from app.pages.family.kinds.known import SCENES
from app.pages.family.more_members import MoreMembers
from app.pages.family.note import NoteCard

FAIR = "?"  # in the place of a member: whether the figures are fair


@dataclass(frozen=True, slots=True)
class BeneathRoom:
    """How much room there is. is_bare: a lecture shows the page."""

    is_low: bool = False
    is_bare: bool = False


class Beneath(QWidget):
    """Two cards beside one another; in a low window one at a time."""

    told_of = Signal(str)  # a member as its column calls it, FAIR, or "" for none

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.more, self.note = MoreMembers(), NoteCard()
        row((self.more, 5), (self.note, 4), gap=GAP, parent=self)
        self.member = ""
        self.more.fair_wanted.connect(lambda: self.told_of.emit(FAIR))
        self.note.closed.connect(lambda: self.told_of.emit(""))

    def show_answer(
        self,
        draft: FamilyDraft,
        answered: FamilyAnswer[Any] | None,
        practice: fairness.PracticeModel | None,
        why_not: str,
        room: BeneathRoom,
    ) -> None:
        """Show what belongs to an answer. Args: practice, why_not: the BERT trained longer, or why none."""
        kind = draft.kind
        is_there = kind in SCENES and answered is not None and not room.is_bare
        is_table = kind.figure == SCORES and not draft.members
        has_more = is_there and kind.picks_members
        has_note = is_there and kind.figure != CLAIMS and not is_table
        is_note = has_note and (bool(self.member) or not room.is_low or not has_more)
        self.more.setVisible(has_more and not (room.is_low and is_note))
        self.more.set_low(room.is_low)
        fair, how = self.tr("Is that fair?"), self.tr("How to read it")
        self.more.fair_button.setText(fair if kind.has_figures else how)
        self.note.setVisible(is_note)
        self.setVisible(is_note or has_more)
        if answered is None:
            return
        reached = {name: kind.reached(answered, name) for name in answered.names}
        self.more.show_members(answered.names, draft.shown_of(answered.names), reached)
        if is_note:
            self._show_note(draft, answered, practice, why_not, can_close=bool(self.member) and room.is_low)

    def _show_note(
        self,
        draft: FamilyDraft,
        answered: FamilyAnswer[Any],
        practice: fairness.PracticeModel | None,
        why_not: str,
        *,
        can_close: bool,
    ) -> None:
        kind, report, title = draft.kind, answered.report, self.tr("Is that fair?")
        if self.member and self.member != FAIR:
            columns = [one.name for one in kind.other_columns(answered)]
            if self.member in columns:
                said = kind.about_other(answered, columns.index(self.member))
            else:
                said = about_member(answered, self.member, practice)
            self.note.show_note(self.member, said, can_close=True)
            return
        if not kind.has_figures:
            title, said = self.tr("How to read it"), [*kind.reading()]
        elif practice is not None and answered.bert is not None:
            more = kind.otherwise(answered, fairness.given_to_each(report))
            said = [fairness.in_practice(practice, report), more]
        elif kind.can_practice:
            other = fairness.would_be(practice) if practice is not None and not why_not else why_not
            said = [fairness.as_given(report), other]
        else:
            said = [fairness.of_held_out(report), fairness.of_rings(report)]
        self.note.show_note(title, [*said, *kind.other_notes(answered)], can_close=can_close)
