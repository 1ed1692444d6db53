"""A model or a run as a page to send: what it reached on rows that it held out, and how it was trained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.errors import WORD, RunError, bracketed, captioned, listed, marked, phrases
from engine.events import Steps
from engine.language import heads, is_english, said, spoken
from engine.report import charts
from engine.report.blocks import Block, Command, Document, Facts, KeyNumber, KeyNumbers, Said, Section, Table
from engine.report.charts import Line
from engine.report.made import bare, made_by
from engine.report.numbers import between, is_share, measure
from engine.report.scored import (
    Scored,
    detail_sections,
    metric_title,
    score_section,
    texts_section,
    with_span,
)
from engine.runs.curves import LOSS, Curves, RunCurve, read_curves
from engine.runs.facts import CROSS_VALIDATION, RunFacts
from engine.settings.config import values_of
from engine.settings.finetune import FineTuneConfig
from engine.settings.pretrain import PretrainConfig
from engine.settings.setting import settings_of
from engine.text.roles import ROLE_NAMES
from engine.train.run.kept import run_of
from engine.train.run.runs import CONFIG, plain_config

PLACES = ("data", "validation_data", "test_data", "model", "vocab", "recipe", "text", "pins", "members")
KNOWN = {"train": "training", "validation": "validation", "test": "test"}
MOST_REMARKS = 12


@dataclass(frozen=True)
class Reported:
    """What a page is made of. model: its facts, as `model_facts` has them. scored: the rows it was measured
    on. run, curves: of its training, None where it is of none. commands: (what it does, line).
    """

    title: str
    model: Facts
    scored: Sequence[Scored] = ()
    run: RunFacts | None = None
    curves: Curves | None = None
    commands: Sequence[tuple[str, str]] = ()
    lacking: str = ""  # why nothing was measured
    notes: Sequence[str] = ()
    with_texts: bool = False


def run_folder(folder: Path) -> Path | None:
    """Return the run that a folder is, or that a model folder is the result of; None for other folders."""
    folder = folder.absolute()
    return folder if (folder / CONFIG).is_file() else run_of(folder)


def reading_curves(run_dir: Path) -> Steps[Curves | None]:
    """Return the curves of a run; None where it kept none that can be read."""
    try:
        return (yield from read_curves(run_dir, 400))
    except RunError:
        return None


def report_page(found: Reported) -> Document:
    """Return what was found as a page to send."""
    blocks = [*_measured(found), *_trained(found), *_commands(found)]
    return Document(
        found.title,
        found.scored[0].sentence if found.scored else sentence_of(found),
        blocks,
        (*found.model, *_measured_facts(found)),
        footer=made_by(),
    )


def sentence_of(found: Reported) -> str:
    """Return how good the run was by its own measure; why nobody knows, where nobody does."""
    score = None if found.run is None else found.run.score()
    if score is None:
        return found.lacking
    span = between(score.metric, score.interval)
    reached = f"{metric_title(score.metric)} {measure(score.metric, score.value)}"
    if span:
        reached = with_span(reached, span)
    values = {"score": reached, "count": score.rows, "part": spoken(score.split, WORD)}
    template = marked("engine", "{score} on {part}.")
    if score.split == CROSS_VALIDATION:
        template = marked("engine", "{score}, cross-validated on {count:,} labelled rows.")
    elif score.rows:
        template = marked("engine", "{score} on {count:,} {part} rows.")
    return said(template, **values)


def _measured(found: Reported) -> Iterator[Block]:
    for one in found.scored:
        title = one.texts[:1].upper() + one.texts[1:] if len(found.scored) > 1 else ""
        yield score_section(one, title)
        yield from detail_sections(one)
        if found.with_texts and len(one.report.scored.listed.texts):
            yield texts_section(one.report)
    if not found.scored:
        yield Section(spoken(marked("engine", "Score")), list(_without_evaluation(found)))
    if found.notes:
        yield Section(spoken(marked("engine", "Notes")), [Said(note) for note in found.notes])


def _without_evaluation(found: Reported) -> Iterator[Block]:
    run = found.run
    if run is not None and run.scores:
        yield KeyNumbers(
            [
                KeyNumber(
                    measure(one.metric, one.value),
                    phrases((metric_title(one.metric), spoken(one.split, WORD))),
                    between(one.metric, one.interval),
                )
                for one in run.scores
            ]
        )
    if found.lacking:
        yield Said(found.lacking, is_quiet=True)


def _trained(found: Reported) -> Iterator[Block]:
    run = found.run
    if run is None:
        return
    if found.curves is not None:
        drawn = _curves(found.curves)
        if drawn is not None:
            yield Section(spoken(marked("engine", "Training")), [drawn], _training_hint(run))
    table = Table(heads(marked("table", "setting"), marked("table", "value")), _settings(run))
    hint = spoken(marked("engine", "what differs from the defaults"))
    yield Section(spoken(marked("engine", "Settings")), [table], hint)
    remarks = [one for one in run.remarks if one.get("level") in ("look", "wrong")][:MOST_REMARKS]
    if remarks:
        yield Section(
            spoken(marked("engine", "Remarks")),
            [Said(str(one["text"]), str(one["level"])) for one in remarks],
        )


def _training_hint(run: RunFacts) -> str:
    parts = [said(marked("engine", "{count:,} steps"), count=run.step)]
    if run.seconds:
        parts.append(said(marked("engine", "{seconds:,.0f} s"), seconds=run.seconds))
    if run.state != "finished":
        parts.append(spoken(run.state, "state"))
    return phrases(parts)


def _curves(curves: Curves) -> Block | None:
    """Return the loss while training and on validation rows; None where there is none."""
    lines = []
    for name, measured, kind in (
        (spoken(marked("engine", "training loss")), curves.train.get(LOSS), "a"),
        (spoken(marked("engine", "validation loss")), curves.validation.get(LOSS), "second"),
    ):
        if measured is not None and measured.size > 1:
            lines.append(Line(name, *_thinned(measured), kind, kind == "second" and measured.size < 60))
    if not lines:
        return None
    words = (marked("engine", "Loss"), marked("engine", "step"), marked("engine", "loss"))
    title, x_name, y_name = map(spoken, words)
    return charts.curves(title, lines, x_name, y_name)


def _thinned(curve: RunCurve) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(curve.steps, np.float64), np.asarray(curve.mean, np.float64)


def _settings(run: RunFacts) -> list[tuple[str, str]]:
    usual = values_of(plain_config(run.kind))
    kind = spoken(run.task or run.kind, "task")
    rows = [(spoken(marked("engine", "kind of training")), kind), (setting_word("seed"), str(run.seed))]
    if run.way:
        rows.append((spoken(marked("engine", "method, chosen by cross-validation")), run.way))
    if run.data:
        names = listed(Path(place).name for place in run.data.splitlines() if place.strip())
        rows.append((setting_word("data"), names))
    if run.model and run.kind != "family":
        rows.append((spoken(marked("engine", "began with")), Path(run.model).name or run.model))
    rows += [
        (said(marked("engine", "{part} rows"), part=spoken(KNOWN.get(part, part), WORD)), f"{count:,}")
        for part, count in run.rows.items()
        if count
    ]
    rows += [
        (setting_word(name), str(value))
        for name, value in run.settings.items()
        if value not in (None, "")
        and (_is_column(name, run) or (name not in PLACES and value != usual.get(name)))
    ]
    if run.parameters:
        rows.append((spoken(marked("engine", "weights")), f"{run.parameters:,}"))
    if run.device:
        rows.append((setting_word("device"), run.device))
    return list(dict.fromkeys(rows))


def setting_word(name: str) -> str:
    """Return what a setting is called: in English by its name, so that a command can be told from it."""
    if is_english():
        return name.replace("_", " ")
    groups = [one for config in (FineTuneConfig(), PretrainConfig()) for one in vars(config).values()]
    return next((spoken(found[name].label) for found in map(settings_of, groups) if name in found), name)


def _is_column(name: str, run: RunFacts) -> bool:
    return name in ROLE_NAMES and run.kind == "finetune"


def _commands(found: Reported) -> Iterator[Block]:
    if found.commands:
        yield Section(
            spoken(marked("engine", "Do it again")),
            [Command(bare(line), name) for name, line in found.commands],
        )


def _measured_facts(found: Reported) -> Iterator[tuple[str, str]]:
    for one in found.scored:
        texts = said(marked("engine", "{count:,} {texts}"), count=one.report.count, texts=one.texts)
        yield spoken(marked("engine", "Measured on")), texts
        if one.method:
            yield spoken(marked("engine", "Interval")), one.method


def comparison_page(title: str, runs: Sequence[RunFacts], sentence: str, footer: str = "") -> Document:
    """Return several runs beside each other as a page to send."""
    rows, dots = [], []
    for run in runs:
        score, name = run.score(), run.name or run.folder
        reached = "" if score is None else measure(score.metric, score.value)
        span = "" if score is None else between(score.metric, score.interval)
        count = f"{score.rows:,} {spoken(score.split, WORD)}" if score is not None else ""
        told = reached, span, count, spoken(run.state, "state")
        rows.append((name, spoken(run.task, "task"), str(run.seed), *told))
        if score is not None:
            about = captioned(name, bracketed(reached, span) if span else reached)
            dots.append((score.metric, charts.Dot(name, score.value, score.interval, reached, about)))
    head = heads(
        marked("table", "run"),
        marked("table", "task"),
        marked("table", "seed"),
        marked("table", "score"),
        marked("table", "95 %"),
        marked("table", "rows"),
        marked("table", "state"),
    )
    table = Table(head, rows)
    blocks: list[Block] = []
    metrics = {metric for metric, _dot in dots}
    if len(metrics) == 1 and len(dots) > 1:
        metric = metrics.pop()
        unit, scale = ("%", 100.0) if is_share(metric) else ("", 1.0)
        blocks.append(charts.dots(metric_title(metric), [dot for _, dot in dots], unit, scale))
    template = marked("engine", "seed {seed}, {data}")
    facts = tuple(
        (run.name or run.folder, said(template, seed=run.seed, data=Path(run.data).name)) for run in runs
    )
    return Document(
        title,
        sentence,
        [Section(spoken(marked("engine", "Runs")), [*blocks, table])],
        facts,
        footer=footer or made_by(),
    )
