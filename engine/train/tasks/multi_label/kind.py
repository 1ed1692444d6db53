"""Several labels a row, as a task among others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.errors import ConfigError, Sentence, marked, some_of
from engine.events import Evaluated, Steps
from engine.settings.finetune import AdaptConfig, DataConfig, FineTuneConfig
from engine.text.batch import EncodedRows
from engine.text.label_kinds import combination, listed
from engine.text.label_sets import LEAST_COLUMNS, label_columns, switch_columns
from engine.text.table import Table
from engine.train.adapt import REPEATED, WEIGHTED
from engine.train.loop import evaluated
from engine.train.prepare import Setup
from engine.train.scored import ScoredTable
from engine.train.task import scored
from engine.train.tasks.multi_label.details import set_details
from engine.train.tasks.multi_label.reading import SeveralLabels
from engine.train.tasks.multi_label.task import MultiLabel, known_thresholds
from engine.train.tasks.rows.kept import RowSetup
from engine.train.tasks.rows.kind import OfRows

MOST_WEIGHT = 10.0  # what an example of a rare label counts for it, at most


@dataclass(frozen=True)
class SetsSetup(RowSetup):
    """What several labels a row stand on: a target for each label."""

    def belongs_together(self) -> bool:
        return all(
            one.targets.ndim == 2 and one.targets.shape[1] == len(self.labels) and one.targets.dtype == bool
            for one in self.sets.values()
        )


class MultiLabelling(OfRows):
    """Several labels for a text or a pair of texts, or none."""

    name = MultiLabel.name
    does = marked("engine", "answers a text with any of several labels")
    pipeline = '"text-classification", top_k=None'
    problem = "multi_label_classification"
    reading = SeveralLabels()
    setup = SetsSetup

    def looks_like(self, table: Table, data: DataConfig) -> Sentence | None:
        if data.whole_labels:
            return None
        taken = {table.column(name) for name in (data.text, data.text_pair) if name}
        if not data.label:
            return _of_columns(switch_columns(table, taken), LEAST_COLUMNS)
        columns = label_columns(table, data.label)
        if len(columns) > 1:
            return _of_columns(columns, 2)
        cells = list(dict.fromkeys(filter(None, map(str.strip, table.frame[columns[0]].tolist()))))
        example = combination(cells)[1]
        if cells and all(isinstance(listed(cell), list) for cell in cells):
            example = max(cells, key=lambda cell: (len(cell), cell))
        if not example:
            return None
        template = marked(
            "engine",
            "Each row seems to have several labels, such as {example} in column {column}, so "
            "the task is multi-label.",
        )
        return Sentence(template, {"example": example[:40], "column": columns[0]})

    def prepare(self, config: FineTuneConfig) -> Steps[RowSetup]:
        if config.adapt.rare_labels == REPEATED:
            template = marked(
                "engine",
                "{field} is {value}, but a row may have rare and common labels at once, so it cannot be "
                "repeated for one of them. Choose weighted.",
            )
            raise ConfigError(template, field="rare_labels", value=REPEATED)
        if config.data.whole_labels:
            template = marked(
                "engine", "{field} takes each combination of labels as one class, which is classification."
            )
            raise ConfigError(template, field="whole_labels")
        return super().prepare(config)

    def task(self, setup: Setup, adapt: AdaptConfig) -> MultiLabel:
        weights: tuple[float, ...] = ()
        if adapt.rare_labels == WEIGHTED:
            weights = positive_weights(setup.sets["train"].targets)
        thresholds = known_thresholds(setup.labels, setup.about)
        return MultiLabel(setup.labels, weights, adapt.label_smoothing, thresholds)

    def on_rare(self, setup: Setup, how: str) -> Sentence:
        targets = setup.sets["train"].targets
        counts, weights = targets.sum(0), positive_weights(targets)
        rare, common = int(counts.argmin()), int(counts.argmax())
        template = marked(
            "engine",
            "Labels are weighted by rarity: an example that has {rare} counts {high:.2g} for "
            "it, one that has {common} {low:.2g}.",
        )
        values = {"rare": setup.labels[rare][:80], "common": setup.labels[common][:80]}
        return Sentence(template, {**values, "high": weights[rare], "low": weights[common]})

    def likeliest(self, scores: Sequence[np.ndarray], read: Any) -> np.ndarray:
        return scores[0] > 0

    def chosen(self, measured: Evaluated) -> dict[str, Any]:
        found = set_details(measured.details, measured.labels).chosen
        if found is None or not found.helps:
            return {}
        return {"thresholds": dict(zip(measured.labels, found.thresholds, strict=True))}

    def as_it_answers(
        self, found: ScoredTable, data: EncodedRows, info: Mapping[str, Any]
    ) -> ScoredTable | None:
        event, each = found.evaluated, found.each
        task = MultiLabel(event.labels, thresholds=known_thresholds(event.labels, info))
        if set_details(event.details, event.labels).thresholds == task.used:
            return found
        if each.probabilities.shape != data.targets.shape:
            return None
        measures = task.measure(each.probabilities, data)
        again = evaluated(event.step, event.epoch, event.split, measures, task)
        return scored(task, again, found.listed, measures)


def positive_weights(targets: np.ndarray) -> tuple[float, ...]:
    """Return (C,): how many rows lack a label for each that has it, 1 to MOST_WEIGHT.

    Source: pos_weight of torch's BCEWithLogitsLoss.
    """
    has = np.maximum(targets.sum(0), 1)
    return tuple(np.clip((len(targets) - has) / has, 1.0, MOST_WEIGHT).tolist())


def _of_columns(columns: tuple[str, ...], least: int) -> Sentence | None:
    if len(columns) < least:
        return None
    template = marked(
        "engine",
        "Each row seems to have several labels, a column of 0 and 1 for each ({names}), "
        "so the task is multi-label.",
    )
    return Sentence(template, {"names": some_of(columns, 3)})
