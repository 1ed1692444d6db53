"""The settings of a comparison of ways to adapt: those of a fine-tuning, and how many seeds."""

from __future__ import annotations

from dataclasses import dataclass

from engine.settings.finetune import FineTuneConfig

SEEDS = 3


@dataclass(frozen=True)
class ComparisonConfig:
    """What a comparison needs to be begun. own: the settings that all its runs have alike."""

    own: FineTuneConfig
    seeds: int = SEEDS
