"""A question to all members of a family is a frozen value that can be asked, printed, and typed as a line.

Two questions that are equal have the same answer. Nothing here, nor in a file of a question, imports torch
before it is asked: `family-ask --help` reads them all.
"""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from engine.errors import UserError, marked
from engine.events import Event, Steps

if TYPE_CHECKING:
    from engine.family.ask import Family
    from engine.family.reached import Score

T = TypeVar("T")
Rows = list[tuple[str, ...]]  # the first of them: what stands in the columns


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredSoFar(Event):
    """What is known of an answer that takes long, as the whole answer will be."""

    value: Any


@dataclass(frozen=True)
class FamilyQuestion(Generic[T]):
    """A question to the family in a folder. option: its own of family-ask; "" asks by texts alone."""

    option: ClassVar[str] = ""
    takes: ClassVar[Mapping[str, Any]] = {}  # how a parser reads the option

    folder: Path

    @classmethod
    def given_by(cls, options: Namespace) -> Self:
        """Return what a command line asks. Raises: UserError."""
        raise NotImplementedError

    def answer(self, family: Family) -> Steps[T]:
        """Return what the members answer, with steps where that takes long. Raises: UserError."""
        yield from ()
        return self.found(family)

    def found(self, family: Family) -> T:
        """Return what the members answer, where that is quick. Raises: UserError."""
        raise NotImplementedError

    def reported(self, report: dict[str, Any], found: T) -> dict[str, Any]:
        """Return a family's report with what was found now. Raises: UserError."""
        return report

    def document(self, family: Family, found: T) -> Any:
        """Return an answer as JSON can hold it."""
        raise NotImplementedError

    def rows(self, family: Family, found: T) -> Rows:
        """Return an answer as a table for a person."""
        raise NotImplementedError

    def lines(self, family: Family, found: T) -> list[str]:
        """Return an answer as lines for a person."""
        from engine.train.gains import aligned

        return aligned(self.rows(family, found))

    def arguments(self) -> list[str]:
        """Return what stands behind the family in the line that asks this."""
        raise NotImplementedError

    def command(self) -> str:
        """Return the line that asks this without the window."""
        line = ["python", "-m", "engine", "family-ask", "--family", str(self.folder)]
        return shlex.join([*line, *self.arguments()])


def one_text(options: Namespace) -> str:
    """Return the text that a command line gives. Raises: UserError: it gives none, or several."""
    if len(options.texts) != 1:
        raise UserError(
            marked("engine", "Give one text, in quotation marks; {count} were given."),
            count=len(options.texts),
        )
    return str(options.texts[0])


# ---- by member, for a program and for a person


def about_document(name: str) -> dict[str, Any]:
    """Return what a member is."""
    from engine.family.members import ABOUT

    about = ABOUT[name]
    names = ("said", "year", "paper", "says", "sees", "seen", "cannot")
    return {one: getattr(about, one) for one in names}


def by_member(family: Family, found: Mapping[str, Any]) -> dict[str, Any]:
    """Return answers by member, null for those that cannot be asked this, and what they are."""
    return {
        **{name: found.get(name) for name in family.members},
        "about": {name: about_document(name) for name in family.members},
    }


def member_rows(family: Family, head: tuple[str, ...], found: Mapping[str, tuple[str, ...]]) -> Rows:
    """Return a row for each member; those that cannot be asked this say so."""
    from engine.family.card import CANNOT
    from engine.family.members import ABOUT

    nothing = (CANNOT, *("" for _ in head[2:]))
    return [head, *((ABOUT[name].said, *found.get(name, nothing)) for name in family.members)]


def said_score(score: Score | None) -> str:
    """Return a score with its interval in words."""
    return "-" if score is None else f"{score.value:.3f} ({score.low:.3f} to {score.high:.3f})"


def score_document(score: Score | None) -> dict[str, Any] | None:
    """Return a score as JSON can hold it."""
    return None if score is None else asdict(score)
