"""A list of questions with the passage of the chosen one under it; only what is in sight is asked for."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHeaderView, QWidget

from app import words
from app.look.cells import Cell, Cells
from app.look.layout import column
from app.look.table_view import TableView
from app.pages.tasks.questions.passages import Span, are_within, covered, words_of
from app.plots.passage import ANSWER, RIGHT, PassagePlot, ShadedWord


class QuestionList(QWidget):
    """The rows above, the passage of the chosen one below; `row_chosen` asks for it."""

    row_chosen = Signal(int)

    def __init__(self, name: str, title: str, parent: QWidget | None = None, *, most_lines: int = 6) -> None:
        super().__init__(parent)
        self.rows = Cells(self)
        self.view = TableView()
        self.view.setObjectName(name)
        self.view.setAccessibleName(title)
        self.view.setModel(self.rows)
        self.view.setSelectionBehavior(TableView.SelectionBehavior.SelectRows)
        self.view.setSelectionMode(TableView.SelectionMode.SingleSelection)
        self.view.verticalHeader().hide()
        self.view.verticalHeader().setDefaultSectionSize(26)
        self.view.setMinimumHeight(88)
        self.passage = PassagePlot(self.tr("Passage"), most_lines=most_lines)
        self.passage.setObjectName(f"{name}_passage")
        self.passage.set_empty_text(self.tr("Choose a question to see its passage."))
        column((self.view, 1), self.passage, parent=self)
        self.view.selectionModel().currentRowChanged.connect(self._chosen)

    def set_rows(self, names: Sequence[str], count: int, cell: Cell, *, wide: Sequence[int]) -> None:
        """Show rows, none of them chosen. Args: wide: the columns that share the room."""
        self.rows.set_rows(names, count, cell)
        header = self.view.horizontalHeader()
        header.setStretchLastSection(False)
        modes = QHeaderView.ResizeMode
        for place in range(len(names)):
            header.setSectionResizeMode(place, modes.Stretch if place in wide else modes.Interactive)
            if place not in wide:
                self.view.setColumnWidth(
                    place, max(70, header.fontMetrics().horizontalAdvance(names[place]) + 28)
                )
        self.passage.clear()

    def choose(self, row: int) -> None:
        """Choose a row as a click does."""
        self.view.selectRow(row)

    def show_passage(
        self,
        text: str,
        *,
        begin: int = 0,
        answer: Span = (-1, -1),
        right: Sequence[Span] = (),
        candidates: Sequence[tuple[Span, float]] = (),
    ) -> None:
        """Show the passage of the chosen row, or a part of it that begins at a character of it."""
        self.passage.set_words(shaded(text, begin=begin, answer=answer, right=right, candidates=candidates))
        self.passage.show_marked()

    @Slot()
    def _chosen(self) -> None:
        row = self.view.currentIndex().row()
        if row >= 0:
            self.row_chosen.emit(row)


def shaded(
    text: str,
    *,
    begin: int = 0,
    answer: Span = (-1, -1),
    right: Sequence[Span] = (),
    candidates: Sequence[tuple[Span, float]] = (),
) -> list[ShadedWord]:
    """Return a passage's words, shaded by how likely the answer holds them."""
    found = words_of(text, begin)
    shares = covered(found, candidates)
    given = are_within(found, answer)
    wanted = [any(one) for one in zip(*(are_within(found, span) for span in right), strict=True)] or [
        False
    ] * len(found)
    made = []
    for word, share, is_given, is_right in zip(found, shares, given, wanted, strict=True):
        marks = frozenset(mark for mark, on in ((ANSWER, is_given), (RIGHT, is_right)) if on)
        note = words.share(share) if candidates else ""
        made.append(ShadedWord(word.text, value=share, joined=word.joined, marks=marks, note=note))
    return made
