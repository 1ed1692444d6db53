"""Does a sentence follow another?"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from engine.errors import UserError, marked
from engine.family.questions.question import FamilyQuestion, Option

if TYPE_CHECKING:
    from engine.family.ask import Family

Probabilities = Mapping[str, float]


@dataclass(frozen=True)
class FollowsSentence(FamilyQuestion[Probabilities]):
    """Two sentences: how probable is it that the second follows the first?"""

    option = Option("follows", "does the second TEXT follow the first?", action="store_true")
    head = ("probability that it follows",)

    first: str
    second: str

    @classmethod
    def given_by(cls, options: Namespace) -> Self:
        if len(options.texts) != 2:
            raise UserError(marked("engine", "Give two texts: does the second follow the first?"))
        return cls(options.family, *options.texts)

    def found(self, family: Family) -> Probabilities:
        from engine.family.bert import BertMember

        a, b = family.words(self.first), family.words(self.second)
        return {
            name: one.follows(a, b) for name, one in family.members.items() if isinstance(one, BertMember)
        }

    def documents(self, found: Probabilities) -> Probabilities:
        return found

    def said(self, found: Probabilities) -> Mapping[str, tuple[str, ...]]:
        return {name: (f"{p:.3f}",) for name, p in found.items()}

    def arguments(self) -> list[str]:
        return ["--follows", self.first, self.second]
