"""What is scored, and which of its texts are listed: immutable values that know no widget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from app.work.text_filter import Filter
from engine.evaluation.baselines import Baseline
from engine.evaluation.comparing import ComparedModels
from engine.evaluation.report import ScoreReport
from engine.evaluation.slices import Slice
from engine.questions.evaluate import EvaluationQuestion
from engine.text.listed import Indices
from engine.train.scored import ScoredTable

SURE, UNSURE, LONG, SHORT, FILE = ORDERS = ("surest", "least sure", "longest", "shortest", "file")


@dataclass(frozen=True, eq=False)
class OpenedScores:
    """Scored texts, and what follows from them at once.

    file: in which their rows stand, None where that is not known. seconds: that it took.
    """

    source: EvaluationQuestion
    report: ScoreReport
    always: tuple[Baseline, ...]  # the commonest class of these texts; of the training rows, if it is another
    sizes: Indices  # (E,) characters of each text
    lengths: tuple[Slice, ...]
    num_seen: int | None  # texts that the model has learned from; None: that is not known
    can_count: bool  # whether the rows are known that it has learned from
    file: Path | None
    seconds: float

    @property
    def scored(self) -> ScoredTable:
        return self.report.scored

    @property
    def model(self) -> Path:
        """The folder of what answered."""
        return self.source.model.folder


@dataclass(frozen=True)
class Listing:
    """Which texts are listed, and in which order."""

    filters: tuple[Filter, ...] = ()
    search: str = ""
    order: str = SURE

    def toggled(self, wanted: Filter) -> Listing:
        """Return with a filter, in the place of one of its kind; without it where it was there."""
        if wanted in self.filters:
            return self.without(wanted)
        others = tuple(one for one in self.filters if one.place != wanted.place)
        return replace(self, filters=(*others, wanted))

    def without(self, unwanted: Filter) -> Listing:
        """Return without a filter."""
        return replace(self, filters=tuple(one for one in self.filters if one != unwanted))

    def of(self, kind: str) -> Filter | None:
        """Return the filter of a kind."""
        return next((one for one in self.filters if one.kind == kind), None)


@dataclass(frozen=True, eq=False)
class WorseSlices:
    """Slices that are worse than the rest, how many were tried, and columns: their cells, and by value."""

    slices: tuple[Slice, ...]
    num_tried: int
    columns: Mapping[str, tuple[str, ...]]
    by_column: Mapping[str, tuple[Slice, ...]]


@dataclass(frozen=True, eq=False)
class ScoredPair:
    """Two models on the same texts. other: what the second one is called and answered."""

    compared: ComparedModels
    other: Path
