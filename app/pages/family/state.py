"""What the Family page shows, as a plain value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.pages.family.kinds.known import KINDS
from app.work.page_state import FAMILIES, PageState, limited, model_field, other_model
from engine.errors import marked
from engine.family.questions.go_on import MOST_TEMPERATURE, SEED

KEPT = tuple(kind.key for kind in KINDS if kind.can_be_kept(()))
MOST_SEED = 10**6
_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth")
MOST_OTHERS = len(_PLACES)
NO_FAMILY = marked("engine", "This scene cannot be shown: it names no family.")


@dataclass(frozen=True, slots=True)
class OtherModels:
    """Models next to the members, each a role of its own in a scene. titles: what all of them were called, so
    that one that is gone can be named.
    """

    first: Path | None = other_model("other 1")
    second: Path | None = other_model("other 2")
    third: Path | None = other_model("other 3")
    fourth: Path | None = other_model("other 4")
    fifth: Path | None = other_model("other 5")
    sixth: Path | None = other_model("other 6")
    titles: tuple[str, ...] = limited((), most=MOST_OTHERS, kind="spare", key="others")

    @classmethod
    def of(cls, folders: Sequence[Path], titles: Sequence[str]) -> OtherModels:
        """Return them in order."""
        places: dict[str, Any] = dict(zip(_PLACES, folders, strict=False))
        return cls(**places, titles=tuple(titles[: len(_PLACES)]))

    @property
    def _places(self) -> tuple[Path | None, ...]:
        return tuple(getattr(self, place) for place in _PLACES)

    @property
    def folders(self) -> tuple[Path, ...]:
        """Those that are here."""
        return tuple(one for one in self._places if one is not None)

    @property
    def gone(self) -> tuple[str, ...]:
        """What those are called that are not."""
        return tuple(title for title, one in zip(self.titles, self._places, strict=False) if one is None)


@dataclass(frozen=True, slots=True)
class FamilyState(PageState):
    """A question. answer: of a blank. second: sentence of a pair. sentences: of a word. row: the last that
    is seen where the columns are moved up; "" where they are not. temperature, seed: by which words are
    drawn; scenes of before took the likeliest. members: those that are shown, with commas, "first" for the
    first three; "": all, as scenes of before show them. practice: BERT is the starter model. others: models
    next to the members.
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
    others: OtherModels = limited(OtherModels(), kind="inline")
