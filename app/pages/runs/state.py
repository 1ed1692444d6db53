"""What a person looks at: which runs, grouped and ordered how, which are ticked. Never changed, replaced."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.work.page_state import PageState, limited
from engine.runs.groups import ScoreColumn

MOST_TICKED = 6
LONGEST = 10_000  # characters of a search, a path or the key of a line
OWN_SCORE = ScoreColumn()  # of each run, on validation rows
DESCENDING = ("score", "time", "size", "when", "seeds")  # what is looked at from its largest


@dataclass(frozen=True, slots=True)
class RunsState(PageState):
    """data: a path; "" for all. sort: the key of a column. ticked: keys of lines, A first."""

    search: str = limited("", longest=LONGEST)
    data: str = limited("", longest=LONGEST)
    is_grouped: bool = True
    measure: ScoreColumn = OWN_SCORE
    sort: str = limited("score", longest=LONGEST)
    is_descending: bool = True
    unfolded: frozenset[str] = limited(frozenset(), longest=LONGEST)
    ticked: tuple[str, ...] = limited((), longest=LONGEST, most=MOST_TICKED)

    def misfit(self) -> str:
        return "ticked" if len(set(self.ticked)) < len(self.ticked) else ""

    def sort_by(self, column: str) -> RunsState:
        """Order by a column; by the one there is, the other way round."""
        if column == self.sort:
            return replace(self, is_descending=not self.is_descending)
        return replace(self, sort=column, is_descending=column in DESCENDING)

    def fold(self, key: str, is_open: bool) -> RunsState:
        """Show the seeds of a group, or no longer."""
        return replace(self, unfolded=self.unfolded | {key} if is_open else self.unfolded - {key})

    def tick(self, key: str) -> RunsState:
        """Tick a line, or take its tick away; of more than can be told apart the last gives way."""
        if key in self.ticked:
            return replace(self, ticked=tuple(one for one in self.ticked if one != key))
        return replace(self, ticked=(*self.ticked[: MOST_TICKED - 1], key))

    def keep(self, keys: set[str]) -> RunsState:
        """Take away the ticks of lines that are there no more."""
        return replace(self, ticked=tuple(one for one in self.ticked if one in keys))

    def letter(self, key: str) -> str:
        """Return what a ticked line is called: A, B, ...; "" for another."""
        return chr(ord("A") + self.ticked.index(key)) if key in self.ticked else ""
