"""How does a text go on?"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from engine.family.questions.question import FamilyQuestion, Option, one_text

if TYPE_CHECKING:
    from engine.family.ask import Family

Written = Mapping[str, str]


@dataclass(frozen=True)
class GoOn(FamilyQuestion[Written]):
    """The beginning of a text. count: words at most. temperature: 0 for the likeliest word each time."""

    option = Option("go_on", "continue TEXT by at most this many words", type=int, metavar="WORDS")
    head = ("writes",)

    text: str
    count: int = 12
    temperature: float = 0.0

    @classmethod
    def given_by(cls, options: Namespace) -> Self:
        return cls(options.family, one_text(options), max(1, options.go_on), options.temperature)

    def found(self, family: Family) -> Written:
        from engine.family.writing import go_on

        return go_on(family, self.text, self.count, self.temperature)

    def documents(self, found: Written) -> Written:
        return found

    def said(self, found: Written) -> Mapping[str, tuple[str, ...]]:
        return {name: (one,) for name, one in found.items()}

    def arguments(self) -> list[str]:
        return ["--go-on", str(self.count), self.text]
