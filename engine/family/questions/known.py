"""All questions to a family, in the order in which `family-ask --help` tells of them."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

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
from engine.family.questions.word_files import Analogies, Similarity, WordFiles

OPTIONS: tuple[type[FamilyQuestion[Any]], ...] = (
    *(GoOn, NearestWords, WordSenses, Analogy, Analogies, Similarity, WordFiles),
    *(FollowsSentence, SameTask, Claims, Results),
)


def question_of(options: Namespace) -> FamilyQuestion[Any]:
    """Return what a command line asks: by an option, else to fill a blank. Raises: UserError."""
    asked = (
        kind
        for kind in OPTIONS
        if kind.option is not None and getattr(options, kind.option.name) not in (None, False)
    )
    return next(asked, FillBlank).given_by(options)
