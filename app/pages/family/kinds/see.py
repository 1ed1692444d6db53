"""What may each see? One sentence with a blank, and which of its words each member reads."""

from __future__ import annotations

from app.pages.family.kinds.blank import BlankKind, seen_words
from app.pages.family.kinds.kind import SEEN, FamilyAnswer, GivenQuestion
from app.plots.seen_rows import SeenRow
from app.words import tr_engine, translate
from engine.family.members import ABOUT, ALL, BOTH, LEFT, NEAR, SIDES, About
from engine.family.questions.blank import BlankGuesses, FillBlank


class SeeKind(BlankKind):
    """The same sentence as of the blank, and nothing that depends on training."""

    key = "see"
    typed_as = "fill"
    figure = SEEN
    can_practice = False
    has_figures = False
    hides_limits = True
    takes_others = False

    @property
    def tab(self) -> tuple[str, str]:
        return translate("family", "What may each see?"), translate("family", "See")

    def question(self, given: GivenQuestion) -> FillBlank:
        return FillBlank(given.folder, given.typed.text)  # whatever is hidden there

    def reading(self) -> tuple[str, ...]:
        return (
            translate("family", "Filled: seen in order. Round: seen without order. Dashed: not seen."),
            translate("family", "Frame: the blank. Orange: the other side, read by itself."),
        )

    def reached(self, answer: FamilyAnswer[BlankGuesses], name: str) -> str:
        return ""

    def seen_rows(self, answer: FamilyAnswer[BlankGuesses], names: tuple[str, ...]) -> tuple[SeenRow, ...]:
        """Return a row for each of some members."""
        found = answer.value
        return tuple(
            SeenRow(
                one.said,
                str(one.year),
                tr_engine(one.seen),
                _says(one),
                seen_words(one, found.words, found.place),
            )
            for one in (ABOUT[name] for name in names)
        )


def _says(about: About) -> str:
    said = {
        LEFT: translate("family", "Reads from the left and stops at the blank."),
        NEAR: translate("family", "Reads the words around the blank as a bag."),
        ALL: translate("family", "Reads all words as a bag."),
        SIDES: translate("family", "Reads each side by itself and joins them at the end."),
        BOTH: translate("family", "Reads both sides together, each word in its place."),
    }
    return said[about.sees]
