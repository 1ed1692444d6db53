"""Word tests: files of analogies, or of likeness as people see it, over which the members are measured."""

from __future__ import annotations

from dataclasses import asdict

from app.pages.family.kinds.kind import FamilyAnswer, FamilyKind, GivenQuestion, Offer, bold_note
from app.pages.family.scores import with_starts
from app.plots.member_column import FamilyLabels
from app.words import translate
from engine.family.card import CardLine
from engine.family.exam import ExamRow
from engine.family.questions.word_files import WordFiles

Rows = tuple[ExamRow, ...]


class WordTestsKind(FamilyKind[Rows]):
    """Files, and a row of scores for each."""

    key = "files"
    has_words = False
    is_slow = True
    keeps_answer = True
    asks_files = True

    @property
    def tab(self) -> tuple[str, str]:
        return translate("family", "Word tests"), translate("family", "Tests")

    @property
    def files_title(self) -> str:
        return translate("family", "Questions about words")

    def can_be_kept(self, files: object) -> bool:
        return False

    def question(self, given: GivenQuestion) -> WordFiles:
        return WordFiles(given.folder, given.files)

    def lacks(self, question: WordFiles) -> str | None:
        return None if question.files else ""

    def offer(self, answer: FamilyAnswer[Rows] | None, table: str) -> Offer:
        said = translate(
            "family",
            "Files of analogies (a b c d), or of similarity as people rate it (word, word, "
            "number), one per line.",
        )
        return Offer(said, translate("family", "Choose files…"))

    def lines(self, answer: FamilyAnswer[Rows]) -> list[CardLine]:
        return with_starts(
            CardLine(
                row.name,
                row.source,
                row.unit,
                {name: asdict(one) for name, one in row.scores.items()},
                left_out=row.left_out,
            )
            for row in answer.value
        )

    def labels(self, answer: FamilyAnswer[Rows]) -> FamilyLabels:
        return FamilyLabels(scores=self.said(answer), note=bold_note())
