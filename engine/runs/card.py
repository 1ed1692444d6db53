"""A model card in Markdown, of what a run's files say: data, split, seeds, scores with intervals, limits.

Nothing is guessed: what nobody has written down is said to be unknown.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engine.runs.facts import RunFacts, RunScore
from engine.settings.config import values_of
from engine.text.roles import ROLE_NAMES
from engine.train.metrics import mean_interval, written
from engine.train.run.runs import MODEL, chain_of, plain_config, stage_name

if TYPE_CHECKING:
    from engine.train.tasks.kind import Kind

PLACES = (
    "data",
    "text",
    "label",
    "text_pair",
    "model",
    "seed",
    "task",
    "validation_data",
    "test_data",
    "pins",
)


def card(runs: Sequence[RunFacts], title: str, *, with_use: bool = True) -> str:
    """Return the card of a model: the first of some runs of the same settings, with what the others add.

    Args: with_use: end with how `transformers` opens the run's own folder.
    """
    first = runs[0]
    parts = [f"# {title}", *_about(first), *_data(first), *_results(runs), *_training(runs), *_limits(runs)]
    return "\n\n".join([*parts, *(_use(first) if with_use else ())]) + "\n"


def _kind_of(facts: RunFacts) -> Kind | None:
    """Return the task of a run; None of pretraining, and of one that nobody knows."""
    from engine.train.tasks.known import TASKS  # which bring torch, that lists of runs do without

    return TASKS.get(facts.task)


def _about(facts: RunFacts) -> Iterator[str]:
    kind = _kind_of(facts)
    other = "guesses hidden words" if facts.kind == "pretrain" else f"was trained for {facts.task}"
    line = f"A BERT that {kind.does if kind is not None else other}"
    line += f", {facts.parameters:,} parameters." if facts.parameters else "."
    if facts.labels:
        line += f" Labels: {', '.join(f'`{label}`' for label in facts.labels[:50])}"
        line += f" and {len(facts.labels) - 50} more." if len(facts.labels) > 50 else "."
    yield line
    if facts.note:
        yield facts.note
    chain = chain_of(str(Path(facts.path) / MODEL))
    if len(chain) > 1:
        yield f"Stages behind it, oldest first: {', '.join(map(stage_name, chain))}."


def _data(facts: RunFacts) -> Iterator[str]:
    yield "## Data"
    settings = facts.settings
    names = [Path(place).name for place in facts.data.splitlines() if place.strip()] or ["unknown"]
    lines = [f"- Trained on: {', '.join(f'`{name}`' for name in names[:10])}"]
    columns = [f"{role} `{settings[role]}`" for role in ROLE_NAMES if settings.get(role)]
    if columns and facts.kind == "finetune":
        lines.append(f"- Columns: {', '.join(columns)}")
    if facts.rows:
        parts = [f"{count:,} {part}" for part, count in facts.rows.items() if count]
        lines.append(f"- Rows: {', '.join(parts)}")
    if facts.kind == "finetune":
        lines.append(f"- Validation: {_validation(facts)}")
    lines.append("- Licence and origin of the data: unknown to the run. Fill them in.")
    yield "\n".join(lines)


def _validation(facts: RunFacts) -> str:
    """Return which rows measured the run while it learned."""
    settings = facts.settings
    if apart := settings.get("validation_data"):
        return f"the file `{Path(str(apart)).name}`"
    if facts.way:
        return "none held out, for the way to learn was chosen by cross-validation and all rows teach"
    return (
        f"{settings.get('validation_share', 0):.0%} of the rows, drawn with seed {settings.get('split_seed')}"
    )


def _results(runs: Sequence[RunFacts]) -> Iterator[str]:
    yield "## Results"
    rows = ["| measured on | metric | value | 95 % over rows | rows |", "|---|---|---|---|---|"]
    first = runs[0]
    for score in first.scores:
        for name, value in {score.metric: score.value, **first.metrics.get(score.split, {})}.items():
            about = _interval(score) if name == score.metric else ""
            rows.append(f"| {score.split} | {name} | {written(value)} | {about} | {score.rows:,} |")
    yield "\n".join(rows) if first.scores else "It was not measured, because no rows were held out."
    for split in ("validation", "test"):
        found = [own for run in runs if (own := run.score(split)) is not None]
        if len(found) > 1:
            values = [own.value for own in found]
            span = mean_interval(values, min(own.rows for own in found), found[0].metric)
            about = f", 95 % for the mean {span[0]:.4f} to {span[1]:.4f}" if span else ""
            each = ", ".join(f"{run.seed}: {value:.4f}" for run, value in zip(runs, values, strict=False))
            yield (
                f"Over {len(values)} seeds, {split} {found[0].metric} is {statistics.fmean(values):.4f} ± "
                f"{statistics.stdev(values):.4f}{about} (by seed {each}). "
                f"The model is that of seed {first.seed}."
            )


def _interval(score: RunScore) -> str:
    return f"{score.interval[0]:.4f} to {score.interval[1]:.4f}" if score.interval else ""


def _training(runs: Sequence[RunFacts]) -> Iterator[str]:
    first = runs[0]
    yield "## Training"
    usual = values_of(plain_config(first.kind))
    model = first.settings.get("model", "")
    lines = [f"- Started from: `{Path(str(model)).name if model else 'unknown'}`", f"- Seed: {first.seed}"]
    if first.way:
        lines.append(f"- Method, chosen by cross-validation: {first.way[:1].lower()}{first.way[1:]}")
    lines += [
        f"- {name}: {value}"
        for name, value in first.settings.items()
        if name not in PLACES and value not in (None, "") and value != usual.get(name)
    ]
    if first.seconds:
        lines.append(f"- Time: {first.seconds:,.0f} s on {first.device or 'an unknown device'}")
    lines.append("- All other settings are the defaults of Cloze.")
    yield "\n".join(lines)


def _limits(runs: Sequence[RunFacts]) -> Iterator[str]:
    first = runs[0]
    yield "## Limits"
    lines = [f"- {one['text']}" for one in first.remarks if one.get("level") in ("look", "wrong")]
    if first.score("validation") is not None and first.score("test") is None:
        lines.append(
            "- The checkpoint was picked on the validation rows, so their score is a little too good. "
            "there was no test part."
        )
    if len(runs) < 2:
        lines.append("- One seed. Another may reach more or less than the interval over rows shows.")
    if first.state != "finished":
        lines.append(f"- The run was not finished: {first.state} at step {first.step}. {first.why}".rstrip())
    lines.append("- Nothing was measured beyond rows like these: other topics, languages, people, years.")
    yield "\n".join(lines)


def _use(facts: RunFacts) -> Iterator[str]:
    kind = _kind_of(facts)
    if facts.kind == "finetune" and kind is not None and kind.pipeline:
        yield "## Use"
        yield (
            "```python\nfrom transformers import pipeline\n\n"
            f'answer = pipeline({kind.pipeline}, model="model")\nanswer("A text")\n```'
        )
