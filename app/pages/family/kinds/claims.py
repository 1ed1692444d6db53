"""Claims: what is said of these models, with the figures and the verdict of this family."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from app import words
from app.pages.family.kinds.kind import CLAIMS, FamilyAnswer, FamilyKind, GivenQuestion, Offer
from app.plots.claim_rows import ClaimRow, signed
from app.words import tr_engine, translate
from engine.evaluation.statistics import p_words
from engine.family.card import (
    ONE_EACH,
    is_of_one_training,
    least_trainings,
    starts,
    trained_how_often,
)
from engine.family.questions.claims import Claims
from engine.family.verdicts import (
    ANSWERED,
    DOES_NOT,
    FILLED,
    HOLDS,
    LOGS,
    NO_VERDICT,
    OPEN,
    SAID,
    VERDICTS,
    Claim,
    JudgedClaim,
    judged_of,
)

NewClaims = list[Claim]
INKS = {HOLDS: "fine", DOES_NOT: "wrong", OPEN: "muted", NO_VERDICT: "muted"}


class ClaimsKind(FamilyKind[NewClaims]):
    """The claims of a family's training, and those on a table of pairs of sentences."""

    key = "claims"
    has_words = False
    has_command = False
    figure = CLAIMS
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
            "family", "A table of sentence pairs and their similarity shows more about sentence vectors."
        )
        return Offer(said, translate("family", "Choose a table…"))

    def claim_rows(self, answer: FamilyAnswer[NewClaims]) -> tuple[ClaimRow, ...]:
        """Return a row a claim, by verdict, the largest difference first."""
        found = sorted(
            judged_of(answer.report), key=lambda one: (VERDICTS.index(one.verdict), -one.claim.difference)
        )
        return tuple(map(_row, found))

    def headline(self, answer: FamilyAnswer[NewClaims], given: str) -> str:
        """Return how many claims got which verdict, in a sentence. Args: given: to each model."""
        found = judged_of(answer.report)
        counts, trainings = Counter(one.verdict for one in found), least_trainings(found)
        said = {
            HOLDS: translate("family", "{count} confirmed"),
            DOES_NOT: translate("family", "{count} not confirmed here"),
            OPEN: translate("family", "{count} inconclusive"),
            NO_VERDICT: translate("family", "{count} without a verdict"),
        }
        parts = [said[one].format(count=words.number(counts[one])) for one in VERDICTS if counts[one]]
        if not parts:
            return translate("family", "This family has no claims: they need BERT and another member.")
        template = translate(
            "family", "{models} models, {given} and {trainings}. Of {count} claims: {parts}."
        )
        several = translate("family", "{count} trainings each").format(count=words.number(trainings))
        return template.format(
            models=words.number(len(answer.names)),
            given=given,
            trainings=several if trainings > 1 else tr_engine(ONE_EACH),
            count=words.number(counts.total()),
            parts=words.phrases(parts),
        )

    def reasons(self, answer: FamilyAnswer[NewClaims]) -> str:
        """Return why claims have no verdict, each reason once; "" where all have one."""
        found = judged_of(answer.report)
        bare = {words.say(one.reason): None for one in found if one.verdict == NO_VERDICT and one.reason}
        said = translate("family", "No verdict: {reasons}")
        return said.format(reasons=words.sentences(bare)) if bare else ""

    def notes(self, answer: FamilyAnswer[NewClaims]) -> str:
        """Return what has to be known of all verdicts, in sentences."""
        found = judged_of(answer.report)
        last = translate(
            "family",
            "Verdicts are computed from this family alone. A larger family may show what this one does not.",
        )
        how_often = trained_how_often(least_trainings(found))
        return words.sentences([*map(words.say, (how_often, *starts(answer.report))), last])


def _row(told: JudgedClaim) -> ClaimRow:
    one, verdict = told.claim, told.verdict
    verdicts = {
        HOLDS: translate("family", "Confirmed"),
        DOES_NOT: translate("family", "Not confirmed here"),
        OPEN: translate("family", "Inconclusive"),
        NO_VERDICT: translate("family", "No verdict"),
    }
    short = SAID[one.claim].short if one.claim in SAID else one.claim
    return ClaimRow(
        tr_engine(short), _measure(one.measure), one.difference, one.low, one.high, verdicts[verdict],
        INKS[verdict], _whole(told), verdict == NO_VERDICT,
    )  # fmt: skip


def _measure(measure: str) -> str:
    """Return what is compared, in a word or two."""
    short = {
        FILLED: translate("family", "blanks filled"),
        LOGS: translate("family", "log-probability"),
        ANSWERED: translate("family", "accuracy"),
    }
    return short.get(measure, tr_engine(measure))


def _whole(told: JudgedClaim) -> str:
    one, p, start = told.claim, "", ""
    said = translate(
        "family",
        "{claim} {first} and {second}, difference {difference} (95 %: {low} to {high}), over {count} texts"
        "{p}.{start}{reason}",
    )
    if one.start is not None:
        start = translate("family", " Before training: {difference} ({low} to {high}).").format(
            difference=signed(one.start.difference), low=signed(one.start.low), high=signed(one.start.high)
        )
    if told.p_value is not None:
        p = translate("family", "; p {p} after Holm’s correction").format(p=p_words(told.p_value))
    once = translate("family", " This is about one training each.") if is_of_one_training(told) else ""
    return said.format(
        claim=tr_engine(one.claim),
        first=words.decimal(one.first, 3),
        second=words.decimal(one.second, 3),
        difference=signed(one.difference),
        low=signed(one.low),
        high=signed(one.high),
        count=words.number(one.count),
        p=p,
        start=start,
        reason=once if told.reason is None else f" {words.say(told.reason)}",
    )
