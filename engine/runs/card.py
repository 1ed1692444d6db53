"""A model card in Markdown, of what a run's files say: data, split, seeds, scores with intervals, limits.

Nothing is guessed: what nobody has written down is said to be unknown.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import listed, marked, part_word, sentences, spanned
from engine.language import said, spoken
from engine.runs.facts import RunFacts, RunScore, state_word
from engine.settings.config import values_of
from engine.text.roles import ROLE_NAMES
from engine.train.metrics import mean_interval, written
from engine.train.run.runs import MODEL, chain_of, plain_config, stage_name

if TYPE_CHECKING:
    from engine.train.tasks.kind import Kind

MOST_LABELS = 50
OF_SIZE = marked("engine", "A BERT that {does}, {count:,} parameters.")
NONE_HELD_OUT = marked(
    "engine", "none held out, for the way to learn was chosen by cross-validation and all rows teach"
)
SHARE = marked("engine", "{share:.0%} of the rows, drawn with seed {seed}")
OVER_SEEDS = marked(
    "engine", "Over {count} seeds, {part} {metric} is {mean:.4f} ± {spread:.4f}{about} (by seed {each})."
)
FOR_THE_MEAN = marked("engine", ", 95 % for the mean {low:.4f} to {high:.4f}")
UNKNOWN = marked("engine", "unknown")
PICKED = marked(
    "engine",
    "The checkpoint was picked on the validation rows, so their score is a little too good. There was no "
    "test part.",
)
ONE_SEED = marked("engine", "One seed. Another may reach more or less than the interval over rows shows.")
NOT_FINISHED = marked("engine", "The run was not finished: {state} at step {step}. {why}")
NO_LICENCE = marked("engine", "Licence and origin of the data: unknown to the run. Fill them in.")
BEYOND = marked(
    "engine", "Nothing was measured beyond rows like these: other topics, languages, people, years."
)
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
    if kind is not None:
        does = spoken(kind.does)
    elif facts.kind == "pretrain":
        does = spoken(marked("engine", "guesses hidden words"))
    else:
        does = said(marked("engine", "was trained for {task}"), task=facts.task)
    template = OF_SIZE if facts.parameters else marked("engine", "A BERT that {does}.")
    yield sentences([said(template, does=does, count=facts.parameters), labels_line(facts.labels)])
    if facts.note:
        yield facts.note
    chain = chain_of(str(Path(facts.path) / MODEL))
    if len(chain) > 1:
        stages = listed(map(stage_name, chain))
        yield said(marked("engine", "Stages behind it, oldest first: {stages}."), stages=stages)


def labels_line(labels: Sequence[str]) -> str:
    """Return which labels a model answers; "" for none."""
    if not labels:
        return ""
    names = listed(f"`{label}`" for label in labels[:MOST_LABELS])
    if len(labels) > MOST_LABELS:
        more = len(labels) - MOST_LABELS
        return said(marked("engine", "Labels: {names} and {more} more."), names=names, more=more)
    return said(marked("engine", "Labels: {names}."), names=names)


def _data(facts: RunFacts) -> Iterator[str]:
    yield "## " + spoken(marked("engine", "Data"))
    settings = facts.settings
    names = [Path(place).name for place in facts.data.splitlines() if place.strip()] or [spoken(UNKNOWN)]
    lines = [said(marked("engine", "Trained on: {names}"), names=listed(f"`{one}`" for one in names[:10]))]
    columns = [f"{role} `{settings[role]}`" for role in ROLE_NAMES if settings.get(role)]
    if columns and facts.kind == "finetune":
        lines.append(said(marked("engine", "Columns: {names}"), names=listed(columns)))
    if facts.rows:
        counts = [f"{count:,} {part_word(part)}" for part, count in facts.rows.items() if count]
        lines.append(said(marked("engine", "Rows: {counts}"), counts=listed(counts)))
    if facts.kind == "finetune":
        lines.append(said(marked("engine", "Validation: {rows}"), rows=_validation(facts)))
    lines.append(spoken(NO_LICENCE))
    yield _points(lines)


def _points(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _validation(facts: RunFacts) -> str:
    """Return which rows measured the run while it learned."""
    settings = facts.settings
    if apart := settings.get("validation_data"):
        return said(marked("engine", "the file {name}"), name=f"`{Path(str(apart)).name}`")
    if facts.way:
        return spoken(NONE_HELD_OUT)
    return said(SHARE, share=settings.get("validation_share", 0), seed=settings.get("split_seed"))


def _results(runs: Sequence[RunFacts]) -> Iterator[str]:
    yield "## " + spoken(marked("engine", "Results"))
    head = (
        spoken(marked("engine", "measured on")),
        spoken(marked("engine", "metric")),
        spoken(marked("engine", "value")),
        spoken(marked("engine", "95 % over rows")),
        spoken(marked("engine", "rows")),
    )
    rows = [f"| {' | '.join(head)} |", "|---|---|---|---|---|"]
    first = runs[0]
    for score in first.scores:
        for name, value in {score.metric: score.value, **first.metrics.get(score.split, {})}.items():
            about = _interval(score) if name == score.metric else ""
            rows.append(
                f"| {spoken(score.split, 'word')} | {name} | {written(value)} | {about} | {score.rows:,} |"
            )
    unmeasured = spoken(marked("engine", "It was not measured, because no rows were held out."))
    yield "\n".join(rows) if first.scores else unmeasured
    for split in ("validation", "test"):
        found = [own for run in runs if (own := run.score(split)) is not None]
        if len(found) > 1:
            values = [own.value for own in found]
            span = mean_interval(values, min(own.rows for own in found), found[0].metric)
            about = said(FOR_THE_MEAN, low=span[0], high=span[1]) if span else ""
            each = listed(f"{run.seed}: {value:.4f}" for run, value in zip(runs, values, strict=False))
            over = said(
                OVER_SEEDS,
                count=len(values),
                part=part_word(split),
                metric=found[0].metric,
                mean=statistics.fmean(values),
                spread=statistics.stdev(values),
                about=about,
                each=each,
            )
            of_seed = said(marked("engine", "The model is that of seed {seed}."), seed=first.seed)
            yield sentences([over, of_seed])


def _interval(score: RunScore) -> str:
    if score.interval is None:
        return ""
    return spanned(*(f"{end:.4f}" for end in score.interval))


def _training(runs: Sequence[RunFacts]) -> Iterator[str]:
    first = runs[0]
    yield "## " + spoken(marked("engine", "Training"))
    usual = values_of(plain_config(first.kind))
    model = first.settings.get("model", "")
    start = f"`{Path(str(model)).name}`" if model else spoken(UNKNOWN)
    lines = [
        said(marked("engine", "Started from: {name}"), name=start),
        said(marked("engine", "Seed: {seed}"), seed=first.seed),
    ]
    if first.way:
        way = f"{first.way[:1].lower()}{first.way[1:]}"
        lines.append(said(marked("engine", "Method, chosen by cross-validation: {way}"), way=way))
    lines += [
        f"{name}: {value}"
        for name, value in first.settings.items()
        if name not in PLACES and value not in (None, "") and value != usual.get(name)
    ]
    if first.seconds:
        device = first.device or spoken(marked("engine", "an unknown device"))
        time = marked("engine", "Time: {seconds:,.0f} s on {device}")
        lines.append(said(time, seconds=first.seconds, device=device))
    lines.append(spoken(marked("engine", "All other settings are the defaults of Cloze.")))
    yield _points(lines)


def _limits(runs: Sequence[RunFacts]) -> Iterator[str]:
    first = runs[0]
    yield "## " + spoken(marked("engine", "Limits"))
    lines = [str(one["text"]) for one in first.remarks if one.get("level") in ("look", "wrong")]
    if first.score("validation") is not None and first.score("test") is None:
        lines.append(spoken(PICKED))
    if len(runs) < 2:
        lines.append(spoken(ONE_SEED))
    if first.state != "finished":
        state = state_word(first.state)
        lines.append(said(NOT_FINISHED, state=state, step=first.step, why=first.why).rstrip())
    lines.append(spoken(BEYOND))
    yield _points(lines)


def _use(facts: RunFacts) -> Iterator[str]:
    kind = _kind_of(facts)
    if facts.kind == "finetune" and kind is not None and kind.pipeline:
        yield "## " + spoken(marked("engine", "Use"))
        yield (
            "```python\nfrom transformers import pipeline\n\n"
            f'answer = pipeline({kind.pipeline}, model="model")\nanswer("A text")\n```'
        )
