"""Which runs to make of one: more seeds, every combination of some values, or values drawn at random."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from engine.errors import ConfigError, UserError, marked
from engine.settings.config import values_of, with_values
from engine.train.run.runs import AnyConfig

MOST_RUNS = 500  # of one sweep


def seeds_for(used: Sequence[Sequence[int]], count: int) -> list[list[int]]:
    """Return the seeds that each of some ways to train still lacks, so that all have the same `count` seeds.

    Those that most ways have come first, then new ones from 1 on. Args: used: the seeds of each way.
    """
    had = Counter(seed for seeds in used for seed in set(seeds))
    wanted = sorted(had, key=lambda seed: (-had[seed], seed))[:count]
    fresh = (seed for seed in itertools.count(1) if seed not in had)
    wanted += itertools.islice(fresh, count - len(wanted))
    return [[seed for seed in wanted if seed not in seeds] for seeds in used]


def repeated(config: AnyConfig, seeds: Iterable[int]) -> list[AnyConfig]:
    """Return the same settings with other seeds."""
    return [with_values(config, {"seed": seed}) for seed in seeds]


def grid(config: AnyConfig, choices: Mapping[str, Sequence[Any]]) -> list[AnyConfig]:
    """Return the settings with every combination of the values given. Raises: ConfigError."""
    names = list(choices)
    count = math.prod(len(choices[name]) for name in names)
    _check_count(count)
    combined = itertools.product(*(choices[name] for name in names))
    return [with_values(config, dict(zip(names, values, strict=True))) for values in combined]


def drawn(
    config: AnyConfig, choices: Mapping[str, Sequence[Any]], count: int, seed: int = 0
) -> list[AnyConfig]:
    """Return so many settings drawn at random, none twice while there are others. Raises: ConfigError.

    Of a setting with two numbers given any number between them is drawn; by ratio where both are above 0.
    """
    _check_count(count)
    rng, known = random.Random(seed), values_of(config)
    found: list[AnyConfig] = []
    seen: set[str] = set()
    for _ in range(20 * count):
        values = {name: _draw(name, known.get(name), given, rng) for name, given in choices.items()}
        if repr(values) not in seen:
            seen.add(repr(values))
            found.append(with_values(config, values))
        if len(found) == count:
            break
    return found


def choices_in(text: str) -> dict[str, list[str]]:
    """Return the values that a person typed: "learning_rate=1e-4,3e-4 num_epochs=1,2". Raises: UserError."""
    found: dict[str, list[str]] = {}
    for part in text.split():
        name, equals, values = part.partition("=")
        given = [value for value in values.split(",") if value]
        if not equals or not name or not given:
            raise UserError(
                marked("engine", "{part} is not a setting with values. Write it as learning_rate=1e-4,3e-4."),
                part=part,
            )
        found[name] = given
    return found


def _draw(name: str, usual: Any, given: Sequence[Any], rng: random.Random) -> Any:
    try:
        low, high = (float(value) for value in given)
    except (ValueError, TypeError):
        return rng.choice(list(given))
    if high < low:
        raise ConfigError(
            marked("engine", "{field}: {low} to {high} is not a range. The first number is the larger one."),
            field=name,
            low=low,
            high=high,
        )
    value = math.exp(rng.uniform(math.log(low), math.log(high))) if low > 0 else rng.uniform(low, high)
    is_whole = isinstance(usual, int) and not isinstance(usual, bool)
    return round(value) if is_whole else float(f"{value:.3g}")


def _check_count(count: int) -> None:
    if not 0 < count <= MOST_RUNS:
        raise UserError(
            marked("engine", "That would be {count} runs, but a sweep has 1 to {most}."),
            count=count,
            most=MOST_RUNS,
        )
