"""A model or a run as a page to send: what it reached on rows that it held out, and how it was trained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.errors import RunError, captioned, listed, marked, per_cent, phrases, rows_of
from engine.events import Steps
from engine.language import said as told
from engine.language import spoken
from engine.report import charts
from engine.report.blocks import Block, Command, Document, Facts, KeyNumber, KeyNumbers, Said, Section, Table
from engine.report.charts import Line
from engine.report.made import bare, made_by
from engine.report.numbers import between, is_share, measure, metric_title, with_interval
from engine.report.scored import SCORE, Scored, detail_sections, score_section, texts_section
from engine.runs.curves import LOSS, Curves, RunCurve, read_curves
from engine.runs.facts import CROSS_VALIDATION, RunFacts, state_word, task_word
from engine.settings.config import labels_of, values_of
from engine.text.roles import ROLE_NAMES
from engine.train.run.kept import run_of
from engine.train.run.runs import CONFIG, plain_config

PLACES = ("data", "validation_data", "test_data", "model", "vocab", "recipe", "text", "pins", "members")
SETTING_HEAD = marked("engine", "setting"), marked("engine", "value")
CROSS_VALIDATED = marked("engine", "{score}, cross-validated on {count:,} labelled rows.")
ON_ROWS, ON = marked("engine", "{score} on {count:,} {texts}."), marked("engine", "{score} on {texts}.")
RUN_HEAD = (
    marked("engine", "run"),
    marked("engine", "task"),
    marked("engine", "seed"),
    marked("engine", "score"),
    marked("engine", "rows"),
    marked("engine", "state"),
)
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
    value = with_interval(measure(score.metric, score.value), between(score.metric, score.interval))
    said = f"{metric_title(score.metric)} {value}"
    if score.split == CROSS_VALIDATION:
        return told(CROSS_VALIDATED, score=said, count=score.rows)
    if not score.rows:
        return told(ON, score=said, texts=rows_of(score.split))
    return told(ON_ROWS, score=said, count=score.rows, texts=rows_of(score.split))


def _measured(found: Reported) -> Iterator[Block]:
    for one in found.scored:
        title = one.texts[:1].upper() + one.texts[1:] if len(found.scored) > 1 else ""
        yield score_section(one, title)
        yield from detail_sections(one)
        if found.with_texts and len(one.report.scored.listed.texts):
            yield texts_section(one.report)
    if not found.scored:
        yield Section(spoken(SCORE), list(_without_evaluation(found)))
    if found.notes:
        yield Section(spoken(marked("engine", "Notes")), [Said(note) for note in found.notes])


def _without_evaluation(found: Reported) -> Iterator[Block]:
    run = found.run
    if run is not None and run.scores:
        yield KeyNumbers(
            [
                KeyNumber(
                    measure(one.metric, one.value),
                    phrases((metric_title(one.metric), rows_of(one.split))),
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
    hint = spoken(marked("engine", "what differs from the defaults"))
    table = Table(tuple(map(spoken, SETTING_HEAD)), _settings(run))
    yield Section(spoken(marked("engine", "Settings")), [table], hint)
    remarks = [one for one in run.remarks if one.get("level") in ("look", "wrong")][:MOST_REMARKS]
    if remarks:
        yield Section(
            spoken(marked("engine", "Remarks")),
            [Said(str(one["text"]), str(one["level"])) for one in remarks],
        )


def _training_hint(run: RunFacts) -> str:
    parts = [told(marked("engine", "{count:,} steps"), count=run.step)]
    if run.seconds:
        parts.append(told(marked("engine", "{seconds:,.0f} s"), seconds=run.seconds))
    if run.state != "finished":
        parts.append(state_word(run.state))
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
    words = marked("engine", "Loss"), marked("engine", "step"), marked("engine", "loss")
    title, step, loss = map(spoken, words)
    return charts.curves(title, lines, step, loss) if lines else None


def _thinned(curve: RunCurve) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(curve.steps, np.float64), np.asarray(curve.mean, np.float64)


def _settings(run: RunFacts) -> list[tuple[str, str]]:
    plain = plain_config(run.kind)
    usual, labels = values_of(plain), labels_of(plain)
    rows = [
        (spoken(marked("engine", "kind of training")), task_word(run.task or run.kind)),
        (spoken(marked("engine", "seed")), str(run.seed)),
    ]
    if run.way:
        rows.append((spoken(marked("engine", "method, chosen by cross-validation")), run.way))
    if run.data:
        names = listed(Path(place).name for place in run.data.splitlines() if place.strip())
        rows.append((spoken(marked("engine", "data")), names))
    if run.model and run.kind != "family":
        rows.append((spoken(marked("engine", "began with")), Path(run.model).name or run.model))
    rows += [(rows_of(part), f"{count:,}") for part, count in run.rows.items() if count]
    rows += [
        (_said_within(spoken(labels.get(name, name))), str(value))
        for name, value in run.settings.items()
        if value not in (None, "")
        and (_is_column(name, run) or (name not in PLACES and value != usual.get(name)))
    ]
    if run.parameters:
        rows.append((spoken(marked("engine", "weights")), f"{run.parameters:,}"))
    if run.device:
        rows.append((spoken(marked("engine", "device")), run.device))
    return list(dict.fromkeys(rows))


def _said_within(label: str) -> str:
    """Return a label as it stands within a line: "Learning rate" is "learning rate", "L2" stays."""
    return label[:1].lower() + label[1:] if label[1:2].islower() else label


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
        measured = told(marked("engine", "{count:,} {texts}"), count=one.report.count, texts=one.texts)
        yield spoken(marked("engine", "Measured on")), measured
        if one.method:
            yield spoken(marked("engine", "Interval")), one.method


def comparison_page(title: str, runs: Sequence[RunFacts], sentence: str, footer: str = "") -> Document:
    """Return several runs beside each other as a page to send."""
    rows, dots = [], []
    for run in runs:
        score, name = run.score(), run.name or run.folder
        said = "" if score is None else measure(score.metric, score.value)
        span = "" if score is None else between(score.metric, score.interval)
        count = ""
        if score is not None:
            texts = rows_of(score.split)
            count = told(marked("engine", "{count:,} {texts}"), count=score.rows, texts=texts)
        rows.append((name, task_word(run.task), str(run.seed), said, span, count, state_word(run.state)))
        if score is not None:
            about = captioned(name, with_interval(said, span, is_named=False))
            dots.append((score.metric, charts.Dot(name, score.value, score.interval, said, about)))
    head = [spoken(one) for one in RUN_HEAD]
    table = Table((*head[:4], per_cent("95"), *head[4:]), rows)
    blocks: list[Block] = []
    metrics = {metric for metric, _dot in dots}
    if len(metrics) == 1 and len(dots) > 1:
        metric = metrics.pop()
        unit, scale = ("%", 100.0) if is_share(metric) else ("", 1.0)
        blocks.append(charts.dots(metric_title(metric), [dot for _, dot in dots], unit, scale))
    facts = tuple((run.name or run.folder, _seed_and_data(run)) for run in runs)
    section = Section(spoken(marked("engine", "Runs")), [*blocks, table])
    return Document(title, sentence, [section], facts, footer=footer or made_by())


def _seed_and_data(run: RunFacts) -> str:
    return told(marked("engine", "seed {seed}, {data}"), seed=run.seed, data=Path(run.data).name)
