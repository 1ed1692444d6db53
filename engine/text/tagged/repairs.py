"""What was written otherwise than it is read: each by its line, counted by kind, a few bytes apiece."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from engine.errors import Sentence, marked


@dataclass(frozen=True, slots=True)
class Repair:
    """What stood in a line and what it is read as: two tags, or two pieces of a text."""

    line: int
    kind: Sentence
    was: str
    became: str

    @property
    def sentence(self) -> Sentence:
        template = marked("engine", "Line {line}: {was!r} is read as {became!r} ({kind}).")
        values = {"line": self.line, "was": self.was, "became": self.became, "kind": self.kind}
        return Sentence(template, values)


class RepairRows(Sequence[Repair]):
    """Repairs in the order they were found.

    Args: lines, kinds, was, became: (n,) each; the last two are places in `names`.
    """

    def __init__(
        self,
        kinds: Sequence[Sentence] = (),
        names: Sequence[str] = (),
        numbers: tuple[Any, Any, Any, Any] | None = None,
    ) -> None:
        self._kinds, self._names = tuple(kinds), names
        empty = np.zeros(0, np.uint32)
        found: tuple[Any, Any, Any, Any] = numbers or (empty, empty, empty, empty)
        self._lines, self._which, self._was, self._became = found

    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, place: int) -> Repair: ...

    @overload
    def __getitem__(self, place: slice) -> list[Repair]: ...

    def __getitem__(self, place: int | slice) -> Repair | list[Repair]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        place = range(len(self))[place]
        was, became = self._names[int(self._was[place])], self._names[int(self._became[place])]
        return Repair(int(self._lines[place]), self._kinds[int(self._which[place])], was, became)

    def kinds(self) -> list[tuple[Sentence, int]]:
        """Return the kinds that occur and how often each does, the commonest first."""
        counts = np.bincount(self._which, minlength=len(self._kinds)).tolist()
        found = [(kind, count) for kind, count in zip(self._kinds, counts, strict=True) if count]
        return sorted(found, key=lambda one: -one[1])


class RepairsWriter:
    """Takes repairs one by one."""

    def __init__(self, kinds: Mapping[str, Sentence]) -> None:
        self._kinds = kinds
        self._names: list[str] = []
        self._lines, self._which = array("I"), array("I")

    def add(self, line: int, kind: str, was: str, became: str) -> None:
        self._lines.append(line)
        self._which.append(list(self._kinds).index(kind))
        self._names += (was, became)

    def finish(self) -> RepairRows:
        places = np.arange(len(self._lines)) * 2
        lines, which = np.frombuffer(self._lines, np.uint32), np.frombuffer(self._which, np.uint32)
        return RepairRows(tuple(self._kinds.values()), self._names, (lines, which, places, places + 1))
