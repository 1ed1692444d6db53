"""The same labelled texts for all members: how many does each answer rightly?"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from engine.errors import UserError, marked
from engine.events import AnswerSoFar, Steps
from engine.family.questions.question import (
    FamilyQuestion,
    Option,
    said_score,
)

if TYPE_CHECKING:
    from engine.family.ask import Family
    from engine.family.reached import ReachedScore
    from engine.family.tasks import Hits
    from engine.text.roles import Roles
    from engine.text.table import Table

WAYS = ("frozen", "fine_tuned", "naive_bayes")


@dataclass(frozen=True, slots=True)
class SameTaskScores:
    """Shares of test texts that are right. fine_tuned: of those that are done, None for those without
    weights; None while nobody is asked to. naive_bayes: under the name of the n-gram.
    """

    frozen: Mapping[str, ReachedScore]
    fine_tuned: Mapping[str, ReachedScore | None] | None
    naive_bayes: Mapping[str, ReachedScore]

    def by_member(self) -> dict[str, dict[str, ReachedScore | None]]:
        """Return what each member reached, by each of WAYS; None where it cannot be asked that way."""
        members = {**self.naive_bayes, **self.frozen}
        return {one: {way: (getattr(self, way) or {}).get(one) for way in WAYS} for one in members}


@dataclass(frozen=True)
class SameTask(FamilyQuestion[SameTaskScores]):
    """A table with texts and labels. fine_tune: whether all weights are moved too."""

    option = Option("task", "a table with texts and labels", type=Path, metavar="FILE")
    head = ("right, vectors frozen", "right, fine-tuned", "right, Naive Bayes over pairs of words")

    table: Table | None
    roles: Roles | None
    fine_tune: bool = False

    @classmethod
    def given_by(cls, options: Namespace) -> Self:
        return cls(
            options.family, *labelled(options.task, options.text, options.label), fine_tune=options.fine_tune
        )

    def answer(self, family: Family) -> Steps[SameTaskScores]:
        from engine.family.tasks import add_tuned_hits, frozen_hits, parts_of
        from engine.text.examples import examples_from

        assert self.table is not None and self.roles is not None
        learned, asked = parts_of(family, examples_from(self.table, self.roles))
        hits = yield from frozen_hits(family, learned, asked)
        done = list[str]()
        for name in family.members if self.fine_tune else ():
            yield AnswerSoFar(value=self._scores(hits, done))
            yield from add_tuned_hits(family, hits, name, learned, asked)
            done.append(name)
        return self._scores(hits, done)

    def _scores(self, hits: Hits, done: list[str]) -> SameTaskScores:
        frozen, reached, naive_bayes = hits.scores()
        tuned = {name: reached.get(name) for name in done} if self.fine_tune else None
        return SameTaskScores(frozen, tuned, naive_bayes)

    def documents(self, found: SameTaskScores) -> Mapping[str, Any]:
        return {
            name: {way: None if score is None else asdict(score) for way, score in ways.items()}
            for name, ways in found.by_member().items()
        }

    def said(self, found: SameTaskScores) -> Mapping[str, tuple[str, ...]]:
        return {name: tuple(map(said_score, ways.values())) for name, ways in found.by_member().items()}


def labelled(path: Path, text: str | None, label: str | None) -> tuple[Table, Roles]:
    """Return a table and its roles. Args: text, label: columns; None: as guessed. Raises: UserError: it
    has no labels.
    """
    from engine.text.examples import guess_roles
    from engine.text.roles import Roles
    from engine.text.table import read_table

    table = read_table(path)
    guessed = guess_roles(table)
    roles = Roles(text or guessed.text, "", label or guessed.label)
    if not roles.label:
        raise UserError(marked("engine", "Name the column of the labels with --label."))
    return table, roles
