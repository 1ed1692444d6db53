"""What is taken along: the table, scalars for TensorBoard, a model card; all written by a worker."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from app.pages.runs.rows import RunRows, data_name, model_name, name_of, state_line
from engine.durable import write_text
from engine.events import Steps
from engine.runs.card import card
from engine.runs.facts import RunFacts
from engine.runs.groups import ScoreColumn, score_of
from engine.runs.scalars import write_events
from engine.text.table import write_csv


def write_table(path: Path, shown: RunRows, measure: ScoreColumn) -> Path:
    """Write the runs of a table, each with the settings that vary; return the path. Raises: UserError."""
    header = ["name", "data", "model", *shown.settings, "seed", "metric", "score", "low", "high", "rows"]
    header += ["seconds", "bytes", "state", "why", "tags", "note", "folder", "host"]
    rows = []
    for row in (one for one in shown.rows if not one.is_seed):
        for facts in row.runs:
            score = score_of(facts, measure)
            told: list[object] = ["", "", "", "", ""]
            if score is not None:
                told = [score.metric, score.value, *(score.interval or ("", "")), score.rows]
            settings = [facts.settings.get(name) for name in shown.settings]
            why = "" if score is not None else state_line(facts, measure.split)[1]
            rows.append(
                [row.name, data_name(facts), model_name(facts.model), *settings, facts.seed, *told]
                + [
                    facts.seconds,
                    facts.size,
                    facts.state,
                    why,
                    ", ".join(facts.tags),
                    facts.note,
                    facts.folder,
                    facts.host,
                ]
            )
    cells = [["" if cell is None else cell for cell in row] for row in rows]
    write_csv(path, header, cells, bom=True)
    return path


def write_scalars(folder: Path, runs: Sequence[RunFacts]) -> Steps[Path]:
    """Write a folder for each run that TensorBoard reads; return that around them. Raises: UserError."""
    for facts in runs:
        name = "".join(one if one.isalnum() or one in "-_ ." else "-" for one in name_of([facts])).strip(". ")
        yield from write_events(facts, folder / f"{name or 'run'} seed {facts.seed} {int(facts.began)}")
    return folder


def write_card(path: Path, runs: Sequence[RunFacts], title: str) -> Path:
    """Write what is known of a model; return the path. Raises: UserError."""
    write_text(path, card(runs, title))
    return path
