"""Claims: what is said of these models, with the figures and the verdict of this family."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from app import words
from app.pages.family.kinds.kind import FamilyAnswer, FamilyKind, GivenQuestion, Offer
from app.words import tr_engine, translate
from engine.evaluation.statistics import p_words
from engine.family.card import ONE_TRAINING, starts
from engine.family.questions.claims import Claims
from engine.family.verdicts import DOES_NOT, HOLDS, NO_VERDICT, OPEN, VERDICTS, Claim, JudgedClaim, judged_of

NewClaims = list[Claim]


class ClaimsKind(FamilyKind[NewClaims]):
    """The claims of a family's training, and those on a table of pairs of sentences."""

    key = "claims"
    has_words = False
    has_command = False
    is_in_words = True
    is_slow = True
    tells_progress = True
    asks_files = True

    @property
    def tab(self) -> tuple[str, str]:
        return translate("family", "Claims"), translate("family", "Claims")

    @property
    def files_title(self) -> str:
        return translate("family", "Pairs of sentences")

    def files_taken(self, files: tuple[Path, ...]) -> tuple[Path, ...]:
        return files[:1]

    def can_be_kept(self, files: tuple[Path, ...]) -> bool:
        return not files

    def question(self, given: GivenQuestion) -> Claims:
        return Claims(given.folder, given.files[0] if given.files else None)

    def offer(self, answer: Any, table: str) -> Offer:
        said = translate(
            "family", "A table of two sentences and their similarity shows more about vectors of sentences."
        )
        return Offer(said, translate("family", "Choose a table…"))

    def text(self, answer: FamilyAnswer[NewClaims]) -> str:
        """Return what is said of these models, each with its figures and verdict."""
        found = sorted(judged_of(answer.report), key=lambda one: VERDICTS.index(one.verdict))
        last = translate(
            "family",
            "A verdict is computed from this family alone: a larger one may show what this one does not.",
        )
        first = map(words.say, starts(answer.report))
        return "\n\n".join([*map(_said, found), tr_engine(ONE_TRAINING), *first, last])


def _said(told: JudgedClaim) -> str:
    verdicts = {
        HOLDS: translate("family", "Confirmed"),
        DOES_NOT: translate("family", "Not confirmed here"),
        OPEN: translate("family", "Inconclusive"),
        NO_VERDICT: translate("family", "No verdict"),
    }
    said = translate(
        "family",
        "{verdict}: {claim}\n{measure}: {first} and {second}, difference {difference} "
        "(95 %: {low} to {high}), over {count} texts{p}.{reason}",
    )
    one, p = told.claim, ""
    if told.p_value is not None:
        p = translate("family", "; p {p} after Holm’s correction").format(p=p_words(told.p_value))
    return said.format(
        verdict=verdicts[told.verdict],
        claim=tr_engine(one.claim),
        measure=tr_engine(one.measure),
        first=words.decimal(one.first, 3),
        second=words.decimal(one.second, 3),
        difference=_signed(one.difference),
        low=_signed(one.low),
        high=_signed(one.high),
        count=words.number(one.count),
        p=p,
        reason="" if told.reason is None else f" {words.say(told.reason)}",
    )


def _signed(x: float) -> str:
    return ("+" if round(x, 3) > 0 else "") + words.decimal(x, 3)
