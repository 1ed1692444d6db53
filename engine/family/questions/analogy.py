"""What is to C as B is to A?"""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from engine.errors import UserError, marked
from engine.family.questions.nearest import Near, NearQuestion
from engine.family.questions.question import Option

if TYPE_CHECKING:
    from engine.family.ask import Family


@dataclass(frozen=True)
class Analogy(NearQuestion):
    """Three words, as they are typed. count: answers of each member."""

    option = Option(
        "analogy", "what is to C as B is to A, such as man king woman", nargs=3, metavar=("A", "B", "C")
    )

    three: tuple[str, ...]
    count: int = 6

    @classmethod
    def given_by(cls, options: Namespace) -> Self:
        return cls(options.family, tuple(options.analogy), max(1, options.count))

    def found(self, family: Family) -> Near:
        from engine.family.words import analogy

        if len(self.three) != 3:
            raise UserError(marked("engine", "Give three words, such as: man king woman"))
        a, b, c = self.three
        return analogy(family, a, b, c, self.count)

    def arguments(self) -> list[str]:
        return ["--analogy", *self.three]
