"""A list of questions with the passage of the chosen one under it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QCoreApplication

from app import words
from app.look.widgets import named
from app.pages.tasks.listing import CellTable, RowsList
from app.pages.tasks.questions.passages import Span, are_within, covered, words_of
from app.plots.passage import ANSWER, RIGHT, PassagePlot, ShadedWord

translate = QCoreApplication.translate
LEAST_LIST, LEAST_COLUMN = 88, 70  # px


class QuestionTable(CellTable):
    """Questions and what belongs to them; a column is as wide as its title needs."""

    def width_of(self, name: str, cells: Iterable[str]) -> int:
        return max(LEAST_COLUMN, super().width_of(name, ()))


class QuestionList(RowsList):
    """The questions above, the passage of the chosen one below."""

    def __init__(self, name: str, title: str, *, most_lines: int = 6) -> None:
        view = QuestionTable(name, title)
        view.setMinimumHeight(LEAST_LIST)
        self.passage = named(
            PassagePlot(translate("QuestionList", "Passage"), most_lines=most_lines), f"{name}_passage"
        )
        self.passage.set_empty_text(translate("QuestionList", "Choose a question to see its passage."))
        super().__init__(view, self.passage)

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
