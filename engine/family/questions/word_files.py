"""Files of questions about words: analogies, and the likeness of words as people see it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from engine.events import Steps
from engine.family.questions.question import (
    AnsweredSoFar,
    FamilyQuestion,
    Rows,
    by_member,
    member_rows,
    said_score,
    score_document,
)

if TYPE_CHECKING:
    from engine.family.ask import Family
    from engine.family.exam import Row
    from engine.family.words import Answered

Reached = Mapping[str, "Answered"]


@dataclass(frozen=True)
class WordFiles(FamilyQuestion["tuple[Row, ...]"]):
    """Files of either kind, or folders of analogies; a row of scores for each."""

    option: ClassVar[str] = "words"
    takes: ClassVar[Mapping[str, Any]] = {
        "type": Path,
        "nargs": "+",
        "metavar": "FILE",
        "help": "files of either kind, or folders of analogies",
    }

    files: tuple[Path, ...] = ()

    @classmethod
    def given_by(cls, options: Namespace) -> Self:
        return cls(options.family, tuple(options.words))

    def answer(self, family: Family) -> Steps[tuple[Row, ...]]:
        from engine.family.exam import of_words

        rows: tuple[Row, ...] = ()
        for path in self.files:
            rows = (*rows, of_words(family, path))
            yield AnsweredSoFar(value=rows)
        return rows

    def document(self, family: Family, found: tuple[Row, ...]) -> Any:
        from engine.family.exam import rows_document

        return rows_document(found)

    def rows(self, family: Family, found: tuple[Row, ...]) -> Rows:
        from engine.family.card import CANNOT

        head = ("member", *(f"{row.source} {row.unit}" for row in found))
        said = {
            name: tuple(said_score(row.scores[name]) if name in row.scores else CANNOT for row in found)
            for name in family.members
        }
        return member_rows(family, head, said)

    def arguments(self) -> list[str]:
        return ["--words", *map(str, self.files)]


@dataclass(frozen=True)
class _OneFile(FamilyQuestion[Reached]):
    """A file of one kind of question, and what stands above its scores."""

    head: ClassVar[tuple[str, str]]

    file: Path

    @classmethod
    def given_by(cls, options: Namespace) -> Self:
        return cls(options.family, getattr(options, cls.option))

    def document(self, family: Family, found: Reached) -> Any:
        return by_member(
            family,
            {
                name: {"score": score_document(one.score), "left_out": one.left_out}
                for name, one in found.items()
            },
        )

    def rows(self, family: Family, found: Reached) -> Rows:
        said = {
            name: (said_score(one.score), str(one.score.count if one.score else 0), str(one.left_out))
            for name, one in found.items()
        }
        return member_rows(family, ("member", *self.head, "left out"), said)

    def arguments(self) -> list[str]:
        return [f"--{self.option}", str(self.file)]


@dataclass(frozen=True)
class Analogies(_OneFile):
    """A file of analogies."""

    option: ClassVar[str] = "analogies"
    takes: ClassVar[Mapping[str, Any]] = {"type": Path, "metavar": "FILE", "help": "a b c d, a line each"}
    head: ClassVar[tuple[str, str]] = ("analogies right", "asked")

    def found(self, family: Family) -> Reached:
        from engine.family.words import analogies, check_has_vectors, read_analogies

        check_has_vectors(family)
        return analogies(family, read_analogies(self.file))


@dataclass(frozen=True)
class Similarity(_OneFile):
    """A file of pairs of words with the likeness that people gave."""

    option: ClassVar[str] = "similarity"
    takes: ClassVar[Mapping[str, Any]] = {
        "type": Path,
        "metavar": "FILE",
        "help": "word, word, likeness, a line each",
    }
    head: ClassVar[tuple[str, str]] = ("rank correlation with people", "pairs")

    def found(self, family: Family) -> Reached:
        from engine.family.words import check_has_vectors, read_pairs, similarities

        check_has_vectors(family)
        return similarities(family, read_pairs(self.file))
