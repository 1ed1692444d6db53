"""What has each member reached on the text kept apart?"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from engine.family.questions.question import FamilyQuestion, Option

if TYPE_CHECKING:
    from engine.family.ask import Family


@dataclass(frozen=True)
class Results(FamilyQuestion[Mapping[str, Any]]):
    """All that a family's training told of it."""

    option = Option("scores", "what each reached on the held-out text", action="store_true")

    @classmethod
    def given_by(cls, options: Namespace) -> Self:
        return cls(options.family)

    def found(self, family: Family) -> Mapping[str, Any]:
        from engine.family.train import read_report

        return read_report(self.folder)

    def document(self, family: Family, found: Mapping[str, Any]) -> Any:
        return found

    def lines(self, family: Family, found: Mapping[str, Any]) -> list[str]:
        from engine.family.card import table

        return table(found)

    def arguments(self) -> list[str]:
        return ["--scores"]
