"""What the doctor says of a table: a finding, and the mends that a person may choose.

Rows are 0-based and of the part that is named. A sentence says how many, another why it matters, a third what
can be done: marked templates with their values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import Sentence
from engine.events import Event
from engine.text.recipe import Step

Rows = npt.NDArray[np.int64]
NO_ROWS: Rows = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """Something doubtful. kind: as `doctor --json` names it. level: "wrong", "look" or "note".

    part: the file that `rows` (N,) are of, in the order they are to be read in. twins: (N,) the row that
    each is compared with, of the file `other`, -1 for none; similarity: (N,) 0..1 to that. other_rows: of a
    leak the rows of `other`. values: more of each row, by name, (N,) each. shown: the rows that a click
    shows, where that is more than `rows`. mends: what a click does.
    """

    kind: str
    part: str
    rows: Rows
    sentence: Sentence
    why: Sentence
    advice: Sentence
    level: str = "look"
    other: str = ""
    twins: Rows | None = None
    similarity: npt.NDArray[np.float32] | None = None
    other_rows: Rows | None = None
    values: dict[str, Any] = field(default_factory=dict)
    shown: Rows | None = None
    mends: tuple[Step, ...] = ()

    @property
    def to_show(self) -> Rows:
        """The rows that a person looks at."""
        return self.rows if self.shown is None else self.shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Found(Event):
    """The doctor has found something."""

    finding: Finding
