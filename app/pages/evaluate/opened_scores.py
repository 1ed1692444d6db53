"""What is known of texts that were scored: immutable values that know no widget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.evaluation.baselines import Baseline
from engine.evaluation.comparing import ComparedModels
from engine.evaluation.report import ScoreReport
from engine.evaluation.slices import Slice
from engine.questions.evaluate import EvaluationQuestion
from engine.text.listed import Indices
from engine.train.scored import ScoredTable


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
