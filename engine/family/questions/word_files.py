"""Files of questions about words: analogies, and the likeness of words as people see it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from engine.events import AnswerSoFar, Steps
from engine.family.questions.question import (
    FamilyQuestion,
    Option,
    Rows,
    said_score,
)

if TYPE_CHECKING:
    from engine.family.ask import Family
    from engine.family.exam import ExamRow
    from engine.family.words import WordFileScore

Reached = Mapping[str, "WordFileScore"]


@dataclass(frozen=True)
class WordFiles(FamilyQuestion["tuple[ExamRow, ...]"]):
    """Files of either kind, or folders of analogies; a row of scores for each."""

    option = Option(
        "words", "files of either kind, or folders of analogies", type=Path, nargs="+", metavar="FILE"
    )

    files: tuple[Path, ...] = ()

    @classmethod
    def given_by(cls, options: Namespace) -> Self:
        return cls(options.family, tuple(options.words))

    def answer(self, family: Family) -> Steps[tuple[ExamRow, ...]]:
        from engine.family.exam import of_words

        rows: tuple[ExamRow, ...] = ()
        for path in self.files:
            rows = (*rows, of_words(family, path))
            yield AnswerSoFar(value=rows)
        return rows

    def document(self, family: Family, found: tuple[ExamRow, ...]) -> Any:
        from engine.family.exam import rows_document

        return rows_document(found)

    def rows(self, family: Family, found: tuple[ExamRow, ...]) -> Rows:
        from engine.family.card import CANNOT
        from engine.family.members import ABOUT

        said = (
            (said_score(row.scores[name]) if name in row.scores else CANNOT for row in found)
            for name in family.members
        )
        head = ("member", *(f"{row.source} {row.unit}" for row in found))
        return [head, *((ABOUT[name].said, *one) for name, one in zip(family.members, said, strict=True))]

    def arguments(self) -> list[str]:
        return ["--words", *map(str, self.files)]


@dataclass(frozen=True)
class _OneFile(FamilyQuestion[Reached]):
    """A file of one kind of question, and what stands above its scores."""

    file: Path

    @classmethod
    def given_by(cls, options: Namespace) -> Self:
        assert cls.option is not None
        return cls(options.family, getattr(options, cls.option.name))

    def documents(self, found: Reached) -> Mapping[str, Any]:
        return {
            name: {"score": None if one.score is None else asdict(one.score), "left_out": one.left_out}
            for name, one in found.items()
        }

    def said(self, found: Reached) -> Mapping[str, tuple[str, ...]]:
        return {
            name: (said_score(one.score), str(one.score.count if one.score else 0), str(one.left_out))
            for name, one in found.items()
        }


@dataclass(frozen=True)
class Analogies(_OneFile):
    """A file of analogies."""

    option = Option("analogies", "a b c d, one per line", type=Path, metavar="FILE")
    head = ("analogies right", "asked", "skipped")

    def found(self, family: Family) -> Reached:
        from engine.family.words import analogies, check_has_vectors, read_analogies

        check_has_vectors(family)
        return analogies(family, read_analogies(self.file))


@dataclass(frozen=True)
class Similarity(_OneFile):
    """A file of pairs of words with the likeness that people gave."""

    option = Option("similarity", "word, word, similarity, one per line", type=Path, metavar="FILE")
    head = ("rank correlation with people", "pairs", "skipped")

    def found(self, family: Family) -> Reached:
        from engine.family.words import check_has_vectors, read_pairs, similarities

        check_has_vectors(family)
        return similarities(family, read_pairs(self.file))
