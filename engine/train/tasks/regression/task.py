"""A number for a text or a pair of texts: its loss and its measures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from torch import Tensor, nn
from torch.nn import functional as F

from engine.errors import Sentence, marked
from engine.events import Evaluated
from engine.model.heads import PLAIN, Unit
from engine.text.batch import Batch, EncodedRows
from engine.text.numbers import figure
from engine.train.scored import PEARSON, ScoreRows, coded
from engine.train.task import Measures, OfFirstTokens, StepMeans
from engine.train.tasks.regression.details import QUANTILES, number_details, places_of_points
from engine.train.tasks.regression.scores import pearson, pearson_interval, spearman, spearman_interval
from engine.train.tasks.rows.reading import PREDICTION

LABEL = "LABEL_0"  # as published models call their one output
NO_SPREAD = marked(
    "engine",
    "The predictions do not vary: the model predicts {number} for all {rows} {split} "
    "rows. It does not distinguish them, and no correlation can be computed.",
)
LITTLE = 0.1  # of the spread of the true numbers: predictions that hardly differ
_LITTLE_SPREAD = marked(
    "engine",
    "The predictions hardly differ. On the {rows} {split} rows their standard "
    "deviation is {predicted}, that of the true numbers {true}. Train longer, or "
    "with a higher learning rate.",
)
_NO_TRUE_SPREAD = marked(
    "engine",
    "The true numbers do not vary: all {rows} {split} rows have {number}, so no correlation can be computed.",
)
_LINES = """    return {"prediction": float(scores["logits"][0, 0])}"""


@dataclass(frozen=True)
class Regression(OfFirstTokens):
    """One number for a text or a pair of texts.

    unit: of what the model gives, and of an `EncodedRows`'s targets; measures are in the unit of the table.
    """

    labels: tuple[str, ...] = (LABEL,)
    unit: Unit = PLAIN
    name: ClassVar[str] = "regression"
    metric: ClassVar[str] = "pearson"
    keeps_best: ClassVar[bool] = True

    def loss(self, model: nn.Module, batch: Batch, totals: Tensor) -> tuple[Tensor, Tensor]:
        """Squared error in float32, a mean over the step's examples. Tally: (the same,).

        Source: transformers' problem_type regression.
        """
        found = self.forward(model, batch).float().squeeze(-1)
        assert batch.targets is not None
        loss = F.mse_loss(found, batch.targets.to(found.dtype), reduction="sum") / float(totals[0])
        return loss, loss.detach()[None]

    def read(self, tally: Tensor, totals: Tensor) -> StepMeans:
        """Return the mean loss."""
        return StepMeans(float(tally[0]), None, {})

    def decode(self, outputs: Tensor) -> Tensor:
        """Return (B, 1) float32."""
        return outputs.float()

    def measure(self, answers: np.ndarray, data: EncodedRows) -> Measures:
        """Args: answers: (E, 1). The loss is that of training, in the unit of the model."""
        found, truth = (
            side.astype(np.float64) * self.unit.sd + self.unit.mean for side in (answers, data.targets)
        )
        measures = self.score(found, truth)
        return replace(measures, loss=measures.loss / self.unit.sd**2, by_loss=True)

    def score(self, answers: np.ndarray, targets: np.ndarray) -> Measures:
        """Compare (E, 1) answers with (E,) numbers; E may be 0.

        A correlation where one side has no spread is 0, and so is R². details: num_examples, no_spread ("",
        "predicted" or "true"), spreads (standard deviations of true and predicted), intervals of 95 %, points
        (true, predicted), residuals (predicted less true) at QUANTILES.
        """
        found, truth = answers.reshape(-1).astype(np.float64), targets.astype(np.float64)
        errors = found - truth
        mse, mae = (float(one.mean()) if len(truth) else 0.0 for one in (errors**2, np.abs(errors)))
        linear, ranked = pearson(truth, found), spearman(truth, found)
        intervals: dict[str, Any] = {}
        if linear is not None and ranked is not None:
            intervals["pearson"] = pearson_interval(linear, len(truth))
            intervals["spearman"] = spearman_interval(ranked, len(truth))
        no_spread = ""
        if len(truth) and linear is None:
            no_spread = "true" if truth.min() == truth.max() else "predicted"
        places = places_of_points(len(truth))
        spreads = [
            float(side.std()) if len(side) and np.isfinite(side).all() else 0.0 for side in (truth, found)
        ]
        details = {
            "num_examples": len(truth),
            "no_spread": no_spread,
            "spreads": spreads,
            "intervals": {name: list(one) for name, one in intervals.items() if one is not None},
            "points": [[float(truth[i]), float(found[i])] for i in places] if len(truth) else [],
            "residuals": np.quantile(errors, QUANTILES).tolist() if len(truth) else [],
        }
        r2 = 1.0 - mse / spreads[0] ** 2 if spreads and spreads[0] else 0.0
        metrics = {"pearson": linear or 0.0, "spearman": ranked or 0.0, "r2": r2, "mse": mse, "mae": mae}
        return Measures(mse, metrics, details=details, each=partial(self.each, found, truth))

    def each(self, found: np.ndarray, truth: np.ndarray) -> ScoreRows:
        """Return what every text got. Args: found, truth: (E,) numbers."""
        spread = float(np.ptp(truth)) if len(truth) else 0.0
        written = ([figure(number, spread, 6) for number in side.tolist()] for side in (truth, found))
        names, (true, predicted) = coded(*written)
        off = np.abs(found - truth).astype(np.float32)
        x, y = (side - side.mean() if len(side) else side for side in (truth, found))
        adds = np.stack([x, y, x * x, y * y, x * y, np.ones(len(x))], 1)
        return ScoreRows(names, true, predicted, np.full(len(x), np.nan, np.float32), off, adds, PEARSON)

    def columns(self) -> list[str]:
        """Return the one column that predicting adds."""
        return [PREDICTION]

    def predictions(self, answers: np.ndarray) -> np.ndarray:
        """Return (E,), the numbers with all digits that they have."""
        return np.array([f"{number:.9g}" for number in answers.reshape(-1).tolist()], object)

    def others(self, answers: np.ndarray) -> list[list[str]]:
        """Nothing else is added."""
        return []

    def said(self, answer: np.ndarray) -> dict[str, Any]:
        """Return the number."""
        return {"prediction": float(answer.reshape(-1)[0])}

    def program_lines(self) -> tuple[str, dict[str, Any]]:
        """Return `said` as lines of a program, and their constants."""
        return _LINES, {}

    def needs_no_guard(self) -> bool:
        """A number below 0 stays one."""
        return True

    def remarks(self, measures: Measures | Evaluated, split: str) -> list[tuple[Sentence, str]]:
        """Say that all predictions, or all true numbers, are the same."""
        found = number_details(measures.details)
        points = found.points
        values = {"rows": found.num_examples, "split": split}
        if not found.no_spread and found.spreads and found.spreads[1] <= LITTLE * found.spreads[0]:
            true, predicted = (figure(spread, found.spreads[0] * LITTLE) for spread in found.spreads)
            values |= {"true": true, "predicted": predicted}
            return [(Sentence(_LITTLE_SPREAD, values), "wrong")]
        if not found.no_spread or not points:
            return []
        if found.no_spread == "true":
            return [(Sentence(_NO_TRUE_SPREAD, {**values, "number": f"{points[0][0]:.6g}"}), "look")]
        return [(Sentence(NO_SPREAD, {**values, "number": f"{points[0][1]:.6g}"}), "wrong")]
