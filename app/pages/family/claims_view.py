"""Claims as a table: one sentence that counts the verdicts, a row each, and what holds for all of them."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.look.labels import WholeLabel, set_or_hide
from app.look.layout import STRETCH, column
from app.look.widgets import ScrollView, named
from app.pages.family.fairness import given_to_each, of_held_out
from app.pages.family.kinds.claims import ClaimsKind, NewClaims
from app.pages.family.kinds.kind import FamilyAnswer
from app.plots.claim_rows import ClaimRowsPlot


class ClaimsView(QWidget):
    """The headline, why some have no verdict, the rows, and the notes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.headline = named(WholeLabel("", "strong"), "family_claims_headline")
        self.reasons = named(WholeLabel("", "muted"), "family_claims_reasons")
        self.plot = named(ClaimRowsPlot(self.tr("Claims")), "family_claims")
        self.notes = named(WholeLabel("", "muted"), "family_claims_notes")
        inner = QWidget()
        column(self.headline, self.reasons, self.plot, self.notes, STRETCH, gap=8, parent=inner)
        column(ScrollView(inner), parent=self)

    def show_answer(self, kind: ClaimsKind, answer: FamilyAnswer[NewClaims]) -> None:
        """Show the claims of a family."""
        self.headline.setText(kind.headline(answer, given_to_each(answer.report)))
        set_or_hide(self.reasons, kind.reasons(answer))
        self.plot.show_rows(kind.claim_rows(answer))
        self.plot.setFixedHeight(self.plot.content_height + 4)
        self.notes.setText(f"{of_held_out(answer.report)} {kind.notes(answer)}")

    def clear(self) -> None:
        """Show nothing."""
        self.headline.setText("")
        self.reasons.setText("")
        self.plot.clear()
        self.notes.setText("")
