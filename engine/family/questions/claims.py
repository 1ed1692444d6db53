"""What is said of these models: does it hold for this family?"""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from engine.errors import UserError, marked
from engine.events import Steps
from engine.family.questions.question import FamilyQuestion, Option

if TYPE_CHECKING:
    from engine.family.ask import Family
    from engine.family.verdicts import Claim, JudgedClaim

NO_BERT = marked("engine", "This family has no BERT to compare with.")


@dataclass(frozen=True)
class Claims(FamilyQuestion["list[Claim]"]):
    """The claims of a family's training; of a table of pairs of sentences those on vectors of sentences."""

    option = Option("sentences", "sentence, sentence, similarity: a table", type=Path, metavar="FILE")

    sentences: Path | None = None

    @classmethod
    def given_by(cls, options: Namespace) -> Self:
        return cls(options.family, options.sentences)

    def answer(self, family: Family) -> Steps[list[Claim]]:
        import numpy as np

        from engine.family.claims import read_sentences, sentence_claims, trainings_cosines
        from engine.family.trainings import Trainings

        if self.sentences is None:
            return []
        pairs = read_sentences(self.sentences)
        now, before = yield from trainings_cosines(Trainings.beside(family), pairs)
        return sentence_claims(now, before, np.array([one[2] for one in pairs]))

    def reported(self, report: dict[str, Any], found: list[Claim]) -> dict[str, Any]:
        from engine.family.train import judge

        if self.sentences is None:
            return report
        if not found:
            raise UserError(NO_BERT)
        judge(report)  # which words those of an older report as they are said now
        said = {one.claim for one in found}
        report["claims"] = [
            *(one for one in report["claims"] if one["claim"] not in said),
            *map(asdict, found),
        ]
        judge(report)
        return report

    def document(self, family: Family, found: list[Claim]) -> Any:
        from engine.family.verdicts import document_of

        return document_of(self._judged(found))

    def lines(self, family: Family, found: list[Claim]) -> list[str]:
        from engine.family.card import claims_lines, trained_how_often

        if not found:
            return [NO_BERT]
        return [*claims_lines(self._judged(found)), str(trained_how_often(found[0].trainings))]

    def _judged(self, found: list[Claim]) -> list[JudgedClaim]:
        from engine.family.train import REPORT, read_report
        from engine.family.verdicts import judged

        report = read_report(self.folder) if (self.folder / REPORT).is_file() else {}
        informed, at_start = bool(report.get("informed_start")), report.get("at_start", ())
        return judged(found, informed=informed, at_start=at_start)
