"""What the Family page shows, as a plain value."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.pages.family.kinds.known import KINDS
from app.work.page_state import FAMILIES, PageState, limited, model_field
from engine.errors import marked
from engine.family.questions.go_on import MOST_TEMPERATURE, SEED

KEPT = tuple(kind.key for kind in KINDS if kind.can_be_kept(()))
MOST_SEED = 10**6
NO_FAMILY = marked("engine", "This scene cannot be shown: it names no family.")


@dataclass(frozen=True, slots=True)
class FamilyState(PageState):
    """A question. answer: of a blank. second: sentence of a pair. sentences: of a word. row: the last that
    is seen where the columns are moved up; "" where they are not. temperature, seed: by which words are
    drawn; scenes of before took the likeliest. members: those that are shown, with commas, "first" for the
    first three; "": all, as scenes of before show them. practice: BERT is the starter model.
    """

    family: Path = model_field("family", lacking=NO_FAMILY, of=FAMILIES)
    kind: str = limited("fill", choices=KEPT)
    question: str = ""
    answer: str = ""
    second: str = ""
    sentences: str = ""
    temperature: float = limited(0.0, minimum=0.0, maximum=MOST_TEMPERATURE, kind="spare")
    seed: int = limited(SEED, minimum=0, maximum=MOST_SEED, kind="spare")
    row: str = limited("", kind="spare")
    members: str = limited("", kind="spare")
    practice: bool = limited(False, kind="spare")
