"""What the doctor says of a table: a finding, and the mends that a person may choose.

Rows are 0-based and of the part that is named. A sentence says how many, another why it matters, a third what
can be done: marked templates with their values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import Sentence
from engine.events import Event
from engine.text.recipe import DROP, RecipeStep

Rows = npt.NDArray[np.int64]
NO_ROWS: Rows = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """Something doubtful. kind: as `doctor --json` names it. level: "wrong", "look" or "note".

    part: the file that `rows` (N,) are of, in the order they are to be read in. partners: of each row those
    that it is compared with, of the file `other`, the likest first; similarity: (N,) 0..1 to that. values:
    more of each row, by name, (N,) each. counts: numbers of the whole, by name. shown: the rows that a click
    shows, where that is more than `rows`. mends: what a click does; none where the part has no recipe.
    """

    kind: str
    part: str
    rows: Rows
    sentence: Sentence
    why: Sentence
    advice: Sentence
    level: str = "look"
    other: str = ""
    partners: tuple[Rows, ...] | None = None
    similarity: npt.NDArray[np.float32] | None = None
    values: dict[str, Any] = field(default_factory=dict)
    counts: dict[str, Any] = field(default_factory=dict)
    shown: Rows | None = None
    mends: tuple[RecipeStep, ...] = ()

    @property
    def twins(self) -> Rows | None:
        """(N,) the row that each is most like, of `other`; None where rows are not compared."""
        return None if self.partners is None else np.array([rows[0] for rows in self.partners], np.int64)

    @property
    def to_show(self) -> Rows:
        """The rows that a person looks at."""
        return self.rows if self.shown is None else self.shown

    def about(self, row: int) -> Finding | None:
        """Return the finding of the pairs that a row of `part` is in alone; None where it is in none."""
        if self.partners is None or self.twins is None:
            return None
        is_of = self.rows == row
        if self.other == self.part:
            is_of |= self.twins == row
        places = np.flatnonzero(is_of)
        if not len(places):
            return None
        partners = tuple(self.partners[place] for place in places.tolist())
        near = None if self.similarity is None else self.similarity[places]
        return replace(
            self, rows=self.rows[places], partners=partners, similarity=near, values={}, shown=None, mends=()
        )

    def leaving_out(self, least: float) -> RecipeStep | None:
        """Return the mend that leaves out rows so like their partners; None where there is none."""
        drop = next((step for step in self.mends if step.do == DROP), None)
        if drop is None or self.similarity is None:
            return None
        return replace(drop, rows=tuple(self.rows[self.similarity >= np.float32(least)].tolist()))


@dataclass(frozen=True, slots=True)
class FindingWords:
    """What is said of one kind of finding: of many rows, of one, why it matters, what can be done."""

    many: str
    one: str
    why: str
    advice: str
    level: str = "look"

    def of(
        self, kind: str, part: str, rows: Rows, said: Mapping[str, object] | None = None, **more: Any
    ) -> Finding:
        """Return the finding.

        Args: said: what the sentence names beside the part, such as another count than that of the rows.
        more: fields of `Finding`.
        """
        named = {"count": len(rows), "name": part, **(said or {})}
        sentence = Sentence(self.one if named["count"] == 1 else self.many, named)
        fields = {"level": self.level, **more}
        return Finding(kind, part, rows, sentence, Sentence(self.why), Sentence(self.advice), **fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFinding(Event):
    """The doctor has found something."""

    finding: Finding
