"""The suspected labels of the open table as a way through them: which row is in view, and what is decided.

A decision is a mend of the table, as all that is changed on Data, and no entry of the journal of labels: what
is suspected was not drawn at random, so that no decision of it may come into the random sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from app.work.mends import Mends
from engine.text.recipe import DROP, KEEP, RELABEL, SUSPECTED, Recipe, RecipeStep
from engine.text.table import Table

if TYPE_CHECKING:
    from engine.doctor.suspected import DoubtfulLabels


class SuspectedRows:
    """The rows whose label is suspected, the most doubtful first: a rank counts from 0.

    Args: found: of this table. column: of the labels. rank: of the row in view; None: there is none.
    """

    def __init__(self, found: DoubtfulLabels, table: Table, column: str, mends: Mends) -> None:
        self.found, self.column = found, column
        self.rows: tuple[int, ...] = tuple(found.rows[: found.count].tolist())
        self.rank: int | None = None
        self.skipped: set[int] = set()  # rows that are passed over for now
        self._cells, self._mends = table.frame[column].array, mends
        self.take_next()

    @property
    def row(self) -> int:
        """The row in view, -1 for none."""
        return -1 if self.rank is None else self.rows[self.rank]

    @property
    def decided(self) -> Mapping[int, RecipeStep]:
        """By row, what was decided of it."""
        recipe = self._mends.recipe
        return recipe.decided() if recipe is not None else {}

    @property
    def num_left(self) -> int:
        """How many rows nothing is decided of."""
        decided = self.decided
        return sum(row not in decided for row in self.rows)

    def names(self) -> list[str]:
        """Return the labels, numbered as those of `found`, as they are called now."""
        merged = self._merged()
        return [merged.get(name, name) for name in self.found.names]

    def label_of(self, rank: int) -> str:
        """Return the label that the table has at a rank now."""
        recipe, row = self._mends.recipe, self.rows[rank]
        changed = recipe.cells(self.column)[0] if recipe is not None else {}
        return changed[row] if row in changed else self._in_file(row)

    def _in_file(self, row: int) -> str:
        name = str(self._cells[row]).strip()
        return self._merged().get(name, name)

    def _merged(self) -> Mapping[str, str]:
        """Return what labels of the file are called now, of those that were merged into others."""
        recipe = self._mends.recipe
        return recipe.cells(self.column)[1] if recipe is not None else {}

    # ---- the way

    def take_next(self) -> None:
        """Have the next row in view that nothing is decided of, from the first on again after the last."""
        decided, count = self.decided, len(self.rows)
        start = 0 if self.rank is None else self.rank + 1
        ranks = ((start + further) % count for further in range(count))
        closed = decided.keys() | self.skipped
        self.rank = next((rank for rank in ranks if self.rows[rank] not in closed), None)

    def go_back(self) -> None:
        """Have the row before this one in view; after all, the last one."""
        self.rank = len(self.rows) - 1 if self.rank is None else max(0, self.rank - 1)

    def skip(self) -> None:
        """Decide nothing of the row in view for now."""
        if self.rank is not None:
            if self.row not in self.decided:
                self.skipped.add(self.row)
            self.take_next()

    # ---- deciding

    def give(self, name: str) -> None:
        """Give the row in view a label, by its name; it is kept as it is where its file says so."""
        is_own = name == self._in_file(self.row)
        self._decide(RecipeStep(KEEP) if is_own else RecipeStep(RELABEL, label=name, column=self.column))

    def exclude(self) -> None:
        """Leave the row in view out."""
        self._decide(RecipeStep(DROP))

    def _decide(self, step: RecipeStep) -> None:
        self.skipped.discard(self.row)
        self._mends.decide(self.row, replace(step, reason=SUSPECTED))
        self.take_next()

    def undo(self) -> bool:
        """Take the newest mend back where it is of one of these rows, and have that in view; False: it is of
        something else, which is undone on Data, where it is seen.
        """
        before, now = self._mends.before, self._mends.recipe
        if before is None or now is None:
            return False
        was, is_ = _decisions(before), _decisions(now)
        ranks = [rank for rank, row in enumerate(self.rows) if was.get(row) != is_.get(row)]
        if ranks:
            self._mends.undo()
            self.rank = ranks[0]
        return bool(ranks)


def _decisions(recipe: Recipe) -> dict[int, RecipeStep]:
    """Return what was decided of each row, without the others of which the same was."""
    return {row: replace(step, rows=()) for row, step in recipe.decided().items()}
