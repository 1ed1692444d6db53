"""All kinds of questions, the five scenes first."""

from __future__ import annotations

from typing import Any

from app.pages.family.kinds.analogy import AnalogyKind
from app.pages.family.kinds.blank import BlankKind
from app.pages.family.kinds.claims import ClaimsKind
from app.pages.family.kinds.follows import FollowsKind
from app.pages.family.kinds.go_on import GoOnKind
from app.pages.family.kinds.kind import FamilyKind
from app.pages.family.kinds.nearest import NearestKind
from app.pages.family.kinds.results import ResultsKind
from app.pages.family.kinds.see import SeeKind
from app.pages.family.kinds.senses import SensesKind
from app.pages.family.kinds.task import TaskKind
from app.pages.family.kinds.text_blanks import TextBlanksKind
from app.pages.family.kinds.word_tests import WordTestsKind

KINDS: tuple[FamilyKind[Any], ...] = (
    *(SeeKind(), BlankKind(), SensesKind(), ResultsKind(), ClaimsKind()),
    *(GoOnKind(), NearestKind(), AnalogyKind(), FollowsKind(), WordTestsKind(), TextBlanksKind(), TaskKind()),
)
SCENES = KINDS[:5]  # one question each; the others stand under "More"
KIND_OF = {kind.key: kind for kind in KINDS}
