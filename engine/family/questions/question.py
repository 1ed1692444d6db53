"""A question to all members of a family is a frozen value that can be asked, printed, and typed as a line.

Two questions that are equal have the same answer. Nothing here, nor in a file of a question, imports torch
before it is asked: `family-ask --help` reads them all.
"""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from engine.errors import UserError, bracketed, clauses, marked, phrases, spanned
from engine.events import Steps
from engine.language import heads, said, spoken
from engine.own_process import command_words

if TYPE_CHECKING:
    from engine.family.ask import Family
    from engine.family.reached import ReachedScore

T = TypeVar("T")
Rows = list[tuple[str, ...]]  # the first of them: what stands in the columns


class Option:
    """What asks a question on the command line. how: as `add_argument` takes it."""

    def __init__(self, name: str, help: str, **how: Any) -> None:
        self.name, self.how = name, {"help": help, **how}


HEADS = (  # of the tables below
    marked("table", "member"),
    marked("table", "may see"),
    marked("table", "says"),
    marked("table", "guesses"),
    marked("table", "parameters"),
    marked("table", "vocabulary"),
    marked("table", "perplexity per word"),
    marked("table", "compared with BERT"),
    marked("table", "right words of one piece"),
    marked("table", "nearest words"),
    marked("table", "probability that it follows"),
    marked("table", "similarity of its vectors, layer by layer"),
    marked("table", "right, vectors frozen"),
    marked("table", "right, fine-tuned"),
    marked("table", "right, Naive Bayes over pairs of words"),
    marked("table", "analogies right"),
    marked("table", "rank correlation with people"),
)


@dataclass(frozen=True)
class FamilyQuestion(Generic[T]):
    """A question to the family in a folder. option: its own of family-ask; None asks by texts alone. head:
    over the columns of its answers. takes_others: whether it is put to models that are no members, too.
    """

    option: ClassVar[Option | None] = None
    head: ClassVar[tuple[str, ...]] = ()
    takes_others: ClassVar[bool] = False

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

    def documents(self, found: T) -> Mapping[str, Any]:
        """Return answers as JSON can hold them, by member."""
        raise NotImplementedError

    def said(self, found: T) -> Mapping[str, tuple[str, ...]]:
        """Return answers in words, by member, a column each."""
        raise NotImplementedError

    def document(self, family: Family, found: T) -> Any:
        """Return all as JSON can hold it: null for members that cannot be asked this, and what each is."""
        given = self.documents(found)
        return {
            **{name: given.get(name) for name in family.members},
            "about": {name: about_document(name) for name in family.members},
        }

    def rows(self, family: Family, found: T) -> Rows:
        """Return all as a table for a person; members that cannot be asked this say so."""
        from engine.family.card import CANNOT
        from engine.family.members import ABOUT

        said, nothing = self.said(found), (CANNOT, *("" for _ in self.head[1:]))
        members = ((ABOUT[name].said, *said.get(name, nothing)) for name in family.members)
        return [("member", *self.head), *members]

    def lines(self, family: Family, found: T) -> list[str]:
        """Return an answer as lines for a person."""
        from engine.train.gains import aligned

        head, *rows = self.rows(family, found)
        return aligned([heads(*head), *(tuple(map(spoken, row)) for row in rows)])

    def arguments(self) -> list[str]:
        """Return what stands behind the family in the line that asks this."""
        raise NotImplementedError

    def command(self) -> str:
        """Return the line that asks this without the window."""
        line = [*command_words(), "family-ask", "--family", str(self.folder)]
        return shlex.join([*line, *self.arguments()])


def bert_arguments(folder: Path | None) -> list[str]:
    """Return what names a BERT that answers in the place of the family's."""
    return [] if folder is None else ["--bert", str(folder)]


def other_arguments(folders: Sequence[Path]) -> list[str]:
    """Return what names models that answer next to the members."""
    return ["--beside", *map(str, folders)] if folders else []


def one_text(options: Namespace) -> str:
    """Return the text that a command line gives. Raises: UserError: it gives none, or several."""
    if len(options.texts) != 1:
        raise UserError(
            marked("engine", "Give one text, in quotation marks; {count} were given."),
            count=len(options.texts),
        )
    return str(options.texts[0])


def about_document(name: str) -> dict[str, Any]:
    """Return what a member is."""
    from engine.family.members import ABOUT

    about = ABOUT[name]
    names = ("said", "year", "paper", "says", "sees", "seen", "cannot")
    return {one: getattr(about, one) for one in names}


def said_score(score: ReachedScore | None) -> str:
    """Return a score with its interval in words, and what it was before training."""
    if score is None:
        return "-"
    parts = [spanned(f"{score.low:.3f}", f"{score.high:.3f}")]
    if score.start is not None:
        parts.append(said(marked("engine", "before training {value:.3f}"), value=score.start))
    about = clauses(parts)
    if not score.is_learned:
        about = phrases((about, spoken(marked("engine", "no clear gain"))))
    return bracketed(f"{score.value:.3f}", about)
