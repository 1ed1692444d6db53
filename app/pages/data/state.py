"""What a person looks at of the open table: which of its rows, in which order. Never changed, replaced."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.work.page_state import PageState, limited

UP, DOWN, LONGEST_FIRST = ORDERS = ("up", "down", "long")


@dataclass(frozen=True, slots=True)
class ColumnOrder:
    """The order of a column's cells. how: one of ORDERS."""

    column: str
    how: str = limited(UP, choices=ORDERS)


@dataclass(frozen=True, slots=True)
class DataState(PageState):
    """table: the file that all else is of, which the session opens; None: whichever is open.

    search: what its rows hold. order: None: that of the file. label: whose rows are shown alone. remark: the
    one of the doctor's card whose rows are, in its words.
    """

    table: Path | None = None
    search: str = ""
    order: ColumnOrder | None = None
    label: str = ""
    remark: str = ""

    def misfit(self) -> str:
        return "remark" if self.label and self.remark else ""
