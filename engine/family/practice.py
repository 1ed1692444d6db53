"""How much a model was trained that stands for BERT as it is trained in practice, as its card says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class PracticeTraining:
    """How much a model was trained, by its card. pieces: read, again counted each time. seconds: in all.
    base: the model that it began with, "" for none.
    """

    pieces: int
    seconds: float
    base: str


def training_of(card: Mapping[str, Any]) -> PracticeTraining | None:
    """Return how much a model was trained. Args: card: its cloze.json. None: the card does not say."""
    stages = [one for one in card.get("chain", ()) if one.get("tokens")]
    if not stages:
        return None
    base = str(stages[0].get("from", "") or "")
    return PracticeTraining(
        sum(int(one["tokens"]) for one in stages),
        sum(float(one.get("seconds", 0.0)) for one in stages),
        "" if base.startswith("new:") else base,
    )
