"""Blanks of a text: how many each member fills in a text that is chosen, and each model next to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from app import words
from app.pages.family.kinds.kind import FamilyAnswer, FamilyKind, GivenQuestion, Offer, bold_note
from app.pages.family.kinds.others import (
    head_of,
    member_cells,
    size_cells,
    size_heads,
    titles_of,
    waiting_or,
)
from app.pages.family.scores import cell, said, with_starts
from app.plots.member_column import FamilyLabels, MemberColumn, MemberScore
from app.words import translate
from engine.evaluation.statistics import Difference, p_words
from engine.family.card import ON_BLANKS, PERCENT, CardLine
from engine.family.members import About
from engine.family.questions.text_blanks import TextBlanks
from engine.family.text_blanks import FilledBlanks


class TextBlanksKind(FamilyKind[FilledBlanks]):
    """A file of plain text."""

    key = "text-blanks"
    has_words = False
    is_slow = True
    keeps_answer = True
    asks_files = True
    tells_progress = True
    takes_others = True

    @property
    def tab(self) -> tuple[str, str]:
        return translate("family", "Blanks of a text"), translate("family", "Text blanks")

    @property
    def files_title(self) -> str:
        return translate("family", "A text, as sentences")

    @property
    def progress(self) -> str:
        return translate("family", "Asking for the blanks of your text: {share}")

    def files_taken(self, files: tuple[Any, ...]) -> tuple[Any, ...]:
        return files[:1]

    def can_be_kept(self, files: object) -> bool:
        return False

    def question(self, given: GivenQuestion) -> TextBlanks:
        return TextBlanks(given.folder, given.files[0] if given.files else None, given.others)

    def lacks(self, question: TextBlanks) -> str | None:
        return None if question.file is not None else ""

    def offer(self, answer: FamilyAnswer[FilledBlanks] | None, table: str) -> Offer:
        text = translate(
            "family",
            "Up to 500 sentences of a text have a word masked. Models may have read your text in their "
            "training.",
        )
        return Offer(text, translate("family", "Choose a text…"))

    def lines(self, answer: FamilyAnswer[FilledBlanks]) -> list[CardLine]:
        found = answer.value
        scores = {name: asdict(one) for name, one in found.scores.items()}
        return with_starts([CardLine(ON_BLANKS[0], found.source, PERCENT, scores)])

    def column(
        self, answer: FamilyAnswer[FilledBlanks], about: About, head: Mapping[str, Any]
    ) -> MemberColumn:
        found, scores = answer.value, head["scores"]
        if found.others:
            scores = (*scores, *[MemberScore("")] * 3, *member_cells(about.name, found.sizes))
        return MemberColumn(**{**head, "scores": scores})

    def other_columns(self, answer: FamilyAnswer[FilledBlanks]) -> tuple[MemberColumn, ...]:
        found, lines = answer.value, self.lines(answer)
        columns = list[MemberColumn]()
        titles = titles_of([one.folder for one in found.others])
        for place, (one, title) in enumerate(zip(found.others, titles, strict=True)):
            kind, size = ("", None) if one.about is None else (one.about.family, one.about.size)
            share = "" if one.one_piece is None else words.decimal(100 * one.one_piece, 1)
            reached = (cell(line, str(place)) for line in lines)
            scores = (*reached, *_against(one.against), MemberScore(share), *size_cells(kind, size))
            text = waiting_or(one.refusal, is_whole=one.is_whole)
            columns.append(MemberColumn(**head_of(title, one.about), text=text, scores=scores))
        return tuple(columns)

    def labels(self, answer: FamilyAnswer[FilledBlanks]) -> FamilyLabels:
        rows = [said(line) for line in self.lines(answer)]
        more: tuple[tuple[str, str], ...] = ()
        if answer.value.others:
            more = (
                (translate("family", "More than BERT"), translate("family", "points, same blanks")),
                (translate("family", "p"), translate("family", "after Holm’s correction")),
                (translate("family", "Right words of one piece"), "%"),
                *size_heads(),
            )
        is_said = any(one.refusal is not None or not one.is_whole for one in answer.value.others)
        says = (translate("family", "Answer"), "") if is_said else ("", "")
        return FamilyLabels(says=says, scores=(*rows, *more), note=bold_note())


def _against(found: Difference | None) -> tuple[MemberScore, MemberScore]:
    """Return by how many points a model fills more blanks than BERT, with its interval and p."""
    if found is None or found.interval is None:
        return MemberScore(""), MemberScore("")
    value, low, high = (words.decimal(100 * one, 1) for one in (found.value, *found.interval))
    interval = translate("family", "{low} to {high}").format(low=low, high=high)
    p = p_words(found.p_value).removeprefix("= ")
    return MemberScore(value, interval, short=f"{low}…{high}"), MemberScore(p)
