"""A line of advice, and the order in which advice is read: what may be wrong stands first. No widgets.

Whoever gives advice keeps a list of checks, each a function that yields remarks: a new sentence is one entry.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from app.work.table_rows import Rows
from engine.text.recipe import RecipeStep

if TYPE_CHECKING:
    from engine.doctor.finding import Finding

ORDER = {"wrong": 0, "look": 1, "note": 2, "fine": 3}


@dataclass(frozen=True, slots=True)
class AdviceLine:
    """One line of advice. level: "fine", "look", "wrong" or "note".

    rows: those of the table that it is about, which a click shows; what: those rows in words. finding: what
    the doctor found, of which a click shows each row beside its partner, or the rows of another file.
    lines: whether it is about lines that are no rows. mend: a setting, and what a click would set it to;
    offer: what that click is called, where its page does not know.
    kind: of the doctor's finding that says the same. more: why it matters and what can be done. steps: mends
    that a click adds to the recipe; taken: one that a click takes back.
    """

    level: str
    text: str
    rows: Rows | None = field(default=None, compare=False)
    what: str = ""
    lines: bool = False
    mend: tuple[str, Any] | None = None
    offer: str = ""
    finding: Finding | None = field(default=None, compare=False)
    kind: str = ""
    more: str = field(default="", compare=False)
    steps: tuple[RecipeStep, ...] = field(default=(), compare=False)
    taken: RecipeStep | None = field(default=None, compare=False)


def in_order(remarks: Iterable[AdviceLine]) -> list[AdviceLine]:
    """Return the remarks without repeats, what may be wrong first."""
    return sorted(dict.fromkeys(remarks), key=lambda remark: ORDER.get(remark.level, 2))
