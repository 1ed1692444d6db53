"""How does a text go on?"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from engine.errors import UserError, marked
from engine.family.questions.question import FamilyQuestion, Option, one_text

if TYPE_CHECKING:
    from engine.family.ask import Family

Written = Mapping[str, str]
TEMPERATURE, SEED = 0.8, 42  # greedy, small models repeat themselves
MOST_TEMPERATURE = 2.0


@dataclass(frozen=True)
class GoOn(FamilyQuestion[Written]):
    """The beginning of a text. count: words at most. temperature: 0 for the likeliest word each time, 1 for
    words as often as the member expects them. seed: which words are drawn.
    """

    option = Option("go_on", "continue TEXT by at most this many words", type=int, metavar="WORDS")
    head = ("writes",)

    text: str
    count: int = 12
    temperature: float = TEMPERATURE
    seed: int = SEED

    @classmethod
    def given_by(cls, options: Namespace) -> Self:
        if not 0 <= options.temperature <= MOST_TEMPERATURE or options.seed < 0:
            raise UserError(
                marked("engine", "The temperature lies between 0 and {most:g}, and the seed is not below 0."),
                most=MOST_TEMPERATURE,
            )
        text = one_text(options)
        return cls(options.family, text, max(1, options.go_on), options.temperature, options.seed)

    def found(self, family: Family) -> Written:
        from engine.family.writing import go_on

        return go_on(family, self.text, self.count, self.temperature, self.seed)

    def documents(self, found: Written) -> Written:
        return found

    def said(self, found: Written) -> Mapping[str, tuple[str, ...]]:
        return {name: (one,) for name, one in found.items()}

    def arguments(self) -> list[str]:
        drawn = ["--temperature", f"{self.temperature:g}", "--seed", str(self.seed)]
        return ["--go-on", str(self.count), *drawn, self.text]
