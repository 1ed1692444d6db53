"""All questions to a family, in the order in which `family-ask --help` tells of them."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from engine.errors import UserError, marked
from engine.family.questions.analogy import Analogy
from engine.family.questions.blank import FillBlank
from engine.family.questions.claims import Claims
from engine.family.questions.follows import FollowsSentence
from engine.family.questions.go_on import GoOn
from engine.family.questions.nearest import NearestWords
from engine.family.questions.question import FamilyQuestion
from engine.family.questions.results import Results
from engine.family.questions.senses import WordSenses
from engine.family.questions.task import SameTask
from engine.family.questions.text_blanks import TextBlanks
from engine.family.questions.word_files import Analogies, Similarity, WordFiles

OPTIONS: tuple[type[FamilyQuestion[Any]], ...] = (
    *(GoOn, NearestWords, WordSenses, Analogy, Analogies, Similarity, WordFiles),
    *(FollowsSentence, SameTask, TextBlanks, Claims, Results),
)
_NO_OTHERS = marked(
    "engine",
    "This question is for the members of the family only. Ask other models for a [MASK], or with "
    "--senses or --blanks.",
)


def question_of(options: Namespace) -> FamilyQuestion[Any]:
    """Return what a command line asks: by an option, else to fill a blank. Raises: UserError."""
    asked = (
        kind
        for kind in OPTIONS
        if kind.option is not None and getattr(options, kind.option.name) not in (None, False)
    )
    kind = next(asked, FillBlank)
    if options.beside and not kind.takes_others:
        raise UserError(_NO_OTHERS)
    return kind.given_by(options)
