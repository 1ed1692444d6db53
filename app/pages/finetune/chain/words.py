"""What the chain says: its stages, its runs, what a stage gained and whether that is decided. No widgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app import words
from app.pages.finetune.chain.requests import Place
from app.words import translate
from engine.events import Gained
from engine.train.comparison import beside
from engine.train.metrics import LEAST_SEEDS

BASE = "base"
BETTER, WORSE, INCONCLUSIVE = "better", "worse", "inconclusive"


@dataclass(frozen=True, slots=True)
class StageGain:
    """What a stage has gained over fine-tuning alone, over the seeds that both have. interval: 95 %."""

    value: float
    interval: tuple[float, float] | None
    num_seeds: int

    @property
    def verdict(self) -> str:
        """A gain is decided where its interval leaves 0 out."""
        if self.interval is None or self.interval[0] <= 0 <= self.interval[1]:
            return INCONCLUSIVE
        return BETTER if self.value > 0 else WORSE


def gain_of(stage: Gained | None, base: Gained | None) -> StageGain | None:
    """Return what a stage has gained so far; None where no seed has been measured after both."""
    count = min(len(one.values) if one is not None else 0 for one in (stage, base))
    if stage is None or base is None or stage.stage == base.stage or not count:
        return None
    value, interval = beside(stage.values[:count], base.values[:count], base.rows)
    return StageGain(value, interval, count)


def signed(value: float) -> str:
    """Return a difference with its sign and three digits."""
    return f"{value:+.3f}".replace("-", "\u2212")


def stage_title(stage: str) -> str:
    """Return what a stage is called."""
    return {
        BASE: translate("chain", "Fine-tuning alone"),
        "domain": translate("chain", "After domain texts"),
        "task": translate("chain", "After task texts"),
    }.get(stage, stage)


def short_title(stage: str) -> str:
    """Return what a stage is called at the end of a line."""
    return {
        BASE: translate("chain", "Alone"),
        "domain": translate("chain", "Domain"),
        "task": translate("chain", "Task"),
    }.get(stage, stage)


def run_words(place: Place) -> str:
    """Return which run is under way."""
    stage, seed = place
    if seed is None:
        return {
            "domain": translate("chain", "Pretraining on domain texts"),
            "task": translate("chain", "Pretraining on task texts"),
        }.get(stage, stage)
    template = translate("chain", "{stage}: fine-tuning, seed {seed}")
    return template.format(stage=stage_title(stage), seed=words.number(seed))


def gain_words(gain: StageGain) -> str:
    """Return a gain with its interval: "+0.021 (−0.004 to +0.046)"."""
    if gain.interval is None:
        return signed(gain.value)
    template = translate("chain", "{gain} ({low} to {high})")
    low, high = map(signed, gain.interval)
    return template.format(gain=signed(gain.value), low=low, high=high)


def verdict_words(gain: StageGain) -> str:
    """Return whether a gain is decided, and over how many seeds."""
    if gain.interval is None and gain.num_seeds < LEAST_SEEDS:
        seeds = words.counted(
            gain.num_seeds, translate("chain", "1 seed"), translate("chain", "{count} seeds")
        )
        return translate("chain", "Inconclusive: {seeds}").format(seeds=seeds)
    return {
        BETTER: translate("chain", "Better"),
        WORSE: translate("chain", "Worse"),
        INCONCLUSIVE: translate("chain", "Inconclusive"),
    }[gain.verdict]


def result_words(stages: Sequence[str], reached: Mapping[str, Gained], metric: str) -> str:
    """Return which stages have decidedly changed the score, and how it was measured; "" before the first."""
    base = reached.get(BASE)
    gains = {stage: gain_of(reached.get(stage), base) for stage in stages[1:]}
    known = {stage: gain for stage, gain in gains.items() if gain is not None}
    if base is None or not known:
        return ""
    higher = translate(
        "chain",
        "{stage}, {metric} is higher by {gain} on these rows: the interval over the seeds excludes 0.",
    )
    lower = translate(
        "chain", "{stage}, {metric} is lower by {gain} on these rows: the interval over the seeds excludes 0."
    )
    said = [
        (higher if gain.verdict == BETTER else lower).format(
            stage=stage_title(stage), metric=metric, gain=words.decimal(abs(gain.value))
        )
        for stage, gain in known.items()
        if gain.verdict != INCONCLUSIVE
    ]
    if not said:
        said = [translate("chain", "Inconclusive: every interval includes 0.")]
        if all(gain.interval is None for gain in known.values()):
            said = [translate("chain", "Inconclusive: an interval needs at least 3 seeds.")]
    return words.sentences([*said, _measured_words(base)])


def _measured_words(base: Gained) -> str:
    """Return what the stages are compared with, and on what."""
    template = translate("chain", "Compared with fine-tuning alone over {seeds} on {rows} {split}.")
    seeds = words.counted(base.seeds_done, translate("chain", "1 seed"), translate("chain", "{count} seeds"))
    parts = {"test": translate("chain", "test rows"), "validation": translate("chain", "validation rows")}
    return template.format(seeds=seeds, rows=words.number(base.rows), split=parts[base.split])


def measured_here(stages: Sequence[str], reached: Mapping[str, Gained], name: str) -> str:
    """Return in a sentence what a chain of before has gained. Args: name: what it is called."""
    gains = ((stage, gain_of(reached.get(stage), reached.get(BASE))) for stage in stages[1:])
    said = [
        f"{stage_title(stage)} {gain_words(gain)}, {words.within(verdict_words(gain))}"
        for stage, gain in gains
        if gain is not None
    ]
    template = translate("chain", "Measured here on this table ({name}): {gains}.")
    return template.format(name=name, gains=words.clauses(said)) if said else ""
