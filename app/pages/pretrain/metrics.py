"""What is measured while a model is pretrained: each number with its tile, its curve and its words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QCoreApplication

from app.plots.curve import CurvePlot
from app.plots.tile import Tile
from app.words import decimal, file_size, number, scientific, share
from engine.events import Evaluated, Step

translate = QCoreApplication.translate

GIGABYTE = 1e9


@dataclass(slots=True)
class Metric:
    """One number by step. value: of a step, None where it has none; said: of the tile, in words."""

    key: str
    title: str
    tile: Tile
    plot: CurvePlot
    value: Callable[[Step], float | None]
    said: Callable[[float], str]
    validation: str = ""  # its name among an evaluation's metrics
    axis_scale: float = 1.0

    @property
    def has_points(self) -> bool:
        return not self.plot.is_empty

    def clear(self) -> None:
        """Forget the run before."""
        self.plot.clear()
        self.tile.show_value("–")
        self.tile.show_curve(np.zeros(0))

    def add(self, steps: Sequence[Step]) -> None:
        """Add what some steps measured."""
        measured = [(step.step, self.value(step)) for step in steps]
        known = [(place, value) for place, value in measured if value is not None]
        if known:
            places, values = zip(*known, strict=True)
            self.plot.append(np.array(places, dtype=np.float64), np.array(values) / self.axis_scale)

    def add_evaluation(self, event: Evaluated) -> None:
        """Add what a look at held-out text measured."""
        if self.validation and self.validation in event.metrics:
            self.plot.append_validation(event.step, event.metrics[self.validation])

    def show_tile(self, *, with_curve: bool) -> None:
        """Show the newest number, and sometimes how it has moved."""
        newest = self.plot.last_train
        if newest is not None:
            self.tile.show_value(self.said(newest * self.axis_scale))
        if with_curve:
            self.tile.show_curve(self.plot.train.smoothed)

    def hint(self) -> str:
        """Return the words in the corner of the large card."""
        newest, kept = self.plot.last_train, self.plot.last_validation
        parts = []
        if newest is not None and kept is None:  # the tile says it too; there is no room for both
            template = translate("Metric", "train {value}") if self.validation else "{value}"
            parts.append(template.format(value=self.said(newest * self.axis_scale)))
        if kept is not None:
            parts.append(translate("Metric", "validation {value}").format(value=self.said(kept)))
        return "   ".join(parts)


@dataclass(frozen=True, slots=True)
class _Kind:
    """How one of them is measured and drawn."""

    value: Callable[[Step], float | None]
    said: Callable[[float], str]
    kind: str = "plain"
    validation: str = ""
    smoothing: float = 0.95
    axis_scale: float = 1.0


def _measure(name: str) -> Callable[[Step], float | None]:
    return lambda step: step.measures.get(name)


_KINDS = {
    "loss": _Kind(lambda s: s.measures.get("mlm_loss", s.loss), lambda x: decimal(x, 2), "loss", "mlm_loss"),
    "accuracy": _Kind(lambda step: step.accuracy, share, "accuracy", "mlm_accuracy"),
    "pairs": _Kind(_measure("nsp_accuracy"), share, "accuracy", "nsp_accuracy"),
    "rate": _Kind(lambda step: step.learning_rate, lambda x: scientific(x, 2), smoothing=0.0),
    "gradient": _Kind(lambda step: step.gradient_norm, lambda x: decimal(x, 2)),
    "speed": _Kind(lambda step: step.tokens_per_s, number, smoothing=0.9),
    "memory": _Kind(_measure("memory_bytes"), file_size, smoothing=0.0, axis_scale=GIGABYTE),
}


def make_metrics() -> list[Metric]:
    """Return all of them, in the order of their tiles."""
    found = []
    for key, (caption, title, help_text) in _texts().items():
        how = _KINDS[key]
        both = (translate("Metric", "train"), translate("Metric", "validation"))
        names = both if how.validation else (caption, "")
        plot = CurvePlot(title, kind=how.kind, names=names, smoothing=how.smoothing)
        plot.setObjectName(f"pretrain_{key}_plot")
        tile = Tile(f"tile_{key}", caption, help_text)
        found.append(Metric(key, title, tile, plot, how.value, how.said, how.validation, how.axis_scale))
    return found


def _texts() -> dict[str, tuple[str, str, str]]:
    """Return key -> caption of the tile, title of the large curve, help."""
    return {
        "loss": (
            translate("Metric", "Loss"),
            translate("Metric", "Masked-word loss"),
            translate(
                "Metric",
                "The mean surprisal of the masked words, in nats. e to this power is the "
                "perplexity: among how many words the model is still undecided.",
            ),
        ),
        "accuracy": (
            translate("Metric", "Words right"),
            translate("Metric", "Masked words right"),
            translate("Metric", "The share of masked words for which the first guess is right."),
        ),
        "pairs": (
            translate("Metric", "Pairs right"),
            translate("Metric", "Pairs classified correctly"),
            translate("Metric", "How often it says correctly whether B follows A. 50 % is chance."),
        ),
        "rate": (
            translate("Metric", "Learning rate"),
            translate("Metric", "Learning rate"),
            translate("Metric", "How far a step moves the weights. It climbs, then falls to zero."),
        ),
        "gradient": (
            translate("Metric", "Gradient"),
            translate("Metric", "Length of the gradient"),
            translate(
                "Metric", "How steep the loss is. High peaks mean that the learning rate is too large."
            ),
        ),
        "speed": (
            translate("Metric", "Tokens/s"),
            translate("Metric", "Tokens a second"),
            translate("Metric", "Pieces trained on each second."),
        ),
        "memory": (
            translate("Metric", "GPU memory"),
            translate("Metric", "GPU memory in GB"),
            translate("Metric", "How much GPU memory the run holds."),
        ),
    }
