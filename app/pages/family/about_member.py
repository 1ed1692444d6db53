"""What a member is, cannot do, and took to learn: sentences that a click on its name shows."""

from __future__ import annotations

from typing import Any

from app import words
from app.pages.family.fairness import PracticeModel, in_practice
from app.pages.family.kinds.kind import FamilyAnswer
from app.words import tr_engine, translate
from engine.family.card import INFORMED
from engine.family.members import ABOUT
from engine.family.questions.blank import BlankGuesses

NAMED = {about.said: name for name, about in ABOUT.items()}


def about_member(answer: FamilyAnswer[Any], said: str, practice: PracticeModel | None) -> list[str]:
    """Return sentences on a member of the family that answered. Args: said: what a column calls it."""
    name = NAMED[said]
    about, reached = ABOUT[name], answer.report.get("reached", {}).get(name)
    found = [
        translate("family", "{paper}. May see: {seen}.").format(
            paper=about.paper, seen=tr_engine(about.seen)
        ),
        tr_engine(about.cannot),
    ]
    if isinstance(answer.value, BlankGuesses) and name in answer.value.limits:
        shown = translate("family", "Shown here: {example}")
        found.append(shown.format(example=words.say(answer.value.limits[name])))
    if practice is not None and name == "bert" and answer.bert is not None:
        found.append(in_practice(practice, answer.report))
    elif name == "bert" and answer.report.get("informed_start"):
        found.append(tr_engine(INFORMED))
    if reached is not None and (name != "bert" or answer.bert is None):
        size = translate("family", "{weights} weights; read {words} words in {seconds} s.")
        found.append(
            size.format(
                weights=words.number(reached["weights"]),
                words=words.number(reached["words_read"]),
                seconds=words.number(round(reached["seconds"])),
            )
        )
    return found
