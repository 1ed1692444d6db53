"""The pictures of an answer, of which one is shown: columns, rows of what is seen, dots of scores, claims."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QStackedWidget, QWidget

from app.look.layout import column
from app.look.widgets import button, named, set_role
from app.pages.family.claims_view import ClaimsView
from app.pages.family.draft import FamilyDraft
from app.pages.family.kinds.claims import ClaimsKind
from app.pages.family.kinds.kind import CLAIMS, COLUMNS, SCORES, SEEN, FamilyAnswer, FamilyKind
from app.pages.family.kinds.results import ResultsKind
from app.pages.family.kinds.see import SeeKind
from app.pages.family.learning import Learning
from app.pages.family.score_view import ScoreView
from app.plots.family_columns import FamilyColumns
from app.plots.figure import Figure
from app.plots.seen_rows import SeenRows

LIMITS = ("cannot", "shown")  # rows of the columns that a scene of before may speak of


class Pictures(QWidget):
    """What a family answered, as its kind of question shows it."""

    entry_chosen = Signal(str)
    member_chosen = Signal(str)  # what a column calls it
    all_turned = Signal(bool)  # whether all scores are wanted side by side

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.columns = named(FamilyColumns(self.tr("Family")), "family_columns")
        self.columns.name_hint = self.tr("Click to see what it cannot do")
        self.seen = named(SeenRows(self.tr("What may each see?")), "family_seen")
        self.seen.hint = self.columns.name_hint
        self.scores, self.claims, self.learning = ScoreView(), ClaimsView(), Learning()
        self.scores.plot.hint = self.columns.name_hint
        self.one_button = button(
            self.tr("Show one question as dots"), "link", name="family_one_score",
            call=lambda: self.all_turned.emit(False),
        )  # fmt: skip
        self.area = QScrollArea(widgetResizable=True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        set_role(self.columns, "clear")
        self.area.setWidget(self.columns)
        all_scores = QWidget()
        column(
            (self.one_button, Qt.AlignmentFlag.AlignRight), (self.area, 1), self.learning, parent=all_scores
        )
        self._stack = QStackedWidget()
        self._views = {COLUMNS: all_scores, SEEN: self.seen, SCORES: self.scores, CLAIMS: self.claims}
        for view in self._views.values():
            self._stack.addWidget(view)
        column(self._stack, parent=self)
        self._connect()

    def _connect(self) -> None:
        self.area.horizontalScrollBar().valueChanged.connect(self.columns.set_shift)
        self.area.verticalScrollBar().valueChanged.connect(self.columns.set_lift)
        self.columns.entry_chosen.connect(self.entry_chosen)
        self.scores.all_wanted.connect(lambda: self.all_turned.emit(True))
        for figure in (self.columns, self.seen, self.scores.plot):
            figure.member_chosen.connect(self.member_chosen)

    @property
    def figure(self) -> Figure:
        """The picture that is shown."""
        shown = self._stack.currentWidget()
        found: dict[QWidget | None, Figure] = {
            self.seen: self.seen,
            self.scores: self.scores.plot,
            self.claims: self.claims.plot,
        }
        return found.get(shown, self.columns)

    def figures(self) -> tuple[Figure, ...]:
        """Return all pictures that are shown and say something."""
        found = (self.figure, *self.learning.findChildren(Figure))
        return tuple(one for one in found if one.isVisible() and not one.is_empty)

    def clear(self) -> None:
        """Show nothing."""
        self.columns.clear()
        self.seen.clear()
        self.scores.clear()
        self.claims.clear()
        self.learning.hide()

    def show_kind(self, draft: FamilyDraft) -> None:
        """Show the picture of a kind of question."""
        figure = draft.kind.figure
        is_table = figure == SCORES and not draft.members
        self._stack.setCurrentWidget(self._views[COLUMNS if is_table else figure])
        self.one_button.setVisible(is_table)
        self.columns.hint = draft.kind.hint

    def show_answer(
        self, draft: FamilyDraft, answered: FamilyAnswer[Any], caption: Iterable[tuple[str, str]]
    ) -> None:
        """Show what a family answered. Args: caption: of the pictures, where they are saved."""
        self.show_kind(draft)
        kind, names, lines = draft.kind, draft.shown_of(answered.names), list(caption)
        for figure in (self.figure, *self.learning.findChildren(Figure)):
            figure.set_caption(lines)
        shown = self._stack.currentWidget()
        if shown is self.seen and isinstance(kind, SeeKind):
            self.seen.show_members(kind.seen_rows(answered, names))
        elif shown is self.scores and isinstance(kind, ResultsKind):
            self.scores.show_answer(kind, answered)
        elif shown is self.claims and isinstance(kind, ClaimsKind):
            self.claims.show_answer(kind, answered)
        else:
            self._show_columns(draft, kind, answered, names)

    def _show_columns(
        self, draft: FamilyDraft, kind: FamilyKind[Any], answered: FamilyAnswer[Any], names: tuple[str, ...]
    ) -> None:
        if kind.has_curves:
            self.learning.set_report(answered.report)
        self.learning.setVisible(kind.has_curves)
        labels = kind.all_labels(answered, has_limits=draft.wanted_row in LIMITS)
        columns = (*kind.columns(answered, names), *kind.other_columns(answered))
        self.columns.set_columns(columns, labels)
        self._wanted = draft.wanted_row
        QTimer.singleShot(0, self, self.reveal_row)  # once there is room for the columns

    # ---- rows that a scene speaks of

    _wanted = ""

    def reveal_row(self) -> None:
        """Move the columns up until a scene's row is seen."""
        if self._wanted:
            over = self.columns.end_of(self._wanted) - self.area.viewport().height()
            self.area.verticalScrollBar().setValue(max(0, over))

    def last_row(self) -> str:
        """Return the last row that is seen where the columns are moved up, "" where they are not."""
        top = self.area.verticalScrollBar().value()
        return self.columns.row_above(top + self.area.viewport().height()) if top else ""
