"""What the window's workers do for the doctor: plain Python that touches no Qt object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from app.work.tables import ModelInfo
from app.work.titles import run_title
from engine.doctor.examine import examining
from engine.doctor.finding import Finding, NewFinding
from engine.doctor.learned import LearnedRows, learned_by
from engine.doctor.part import TablePart, part_name, reading_part
from engine.doctor.suspected import DoubtfulLabels, suspecting
from engine.durable import check_writable
from engine.errors import DataError, UserError, marked
from engine.events import Beat, Event, Steps
from engine.labelling.agreement import Agreement, comparing, unsettled
from engine.runs.index import run_folders
from engine.text.recipe import Recipe, write_mended
from engine.text.roles import Roles
from engine.text.table import Table, reading_table
from engine.train.run.dynamics import DYNAMICS


def examine(
    table: Table,
    recipe: Recipe,
    roles: Roles,
    files: tuple[Sequence[Path], Sequence[tuple[Path, str]]],
    model: ModelInfo | None,
    max_length: int,
    runs_root: Path,
) -> Steps[tuple[tuple[Finding, ...], tuple[TablePart, ...]]]:
    """Return what is doubtful in a table as a recipe leaves it, between it and other files, and what the last
    run found hard that learned from it; and the files as they were read, that one first.

    Args: files: that a person compares it with; and that a training would keep apart, each with its sheet (""
    for the first with rows), of which those are left aside that cannot be read in the same roles: training
    refuses them by itself. Raises: DataError.
    """
    parts = [(yield from reading_part(table.path.name, recipe.applied(table), roles))]
    against, apart = files
    for path, sheet in (*((path, "") for path in against), *apart):
        name = part_name(path, [part.name for part in parts])
        try:
            other = yield from reading_table(path, sheet=sheet)
            parts.append((yield from reading_part(name, recipe.merged(other), roles)))
        except DataError:
            if path in against:
                raise
    wordpiece = model.wordpiece if model is not None else None
    found: list[Finding] = []
    learned = yield from _last_learned(table, runs_root)
    yield from _gathered(examining(parts, wordpiece, max_length, learned), found)
    return tuple(found), tuple(parts)


def _last_learned(table: Table, runs_root: Path) -> Steps[LearnedRows | None]:
    """Return how learning went in the newest run over a table that has kept it."""
    for name in sorted(run_folders(runs_root), reverse=True):
        if (runs_root / name / DYNAMICS).is_file():
            found = learned_by(runs_root / name)
            yield Beat()
            if found is not None and found.sha256 == table.sha256:
                return replace(found, name=run_title(runs_root / name))
    return None


def suspect(
    table: Table, recipe: Recipe, roles: Roles, model: Path | None, max_length: int, *, closely: bool
) -> Steps[DoubtfulLabels]:
    """Return the labels that are in doubt, of the rows that a recipe leaves. Raises: UserError."""
    mended = recipe.applied(table)
    part = yield from reading_part(table.path.name, mended, roles)
    found = yield from suspecting(part, model, max_length, closely=closely)
    if found is None:
        raise UserError(marked("engine", "There are too few rows to find label errors."))
    return found


def _gathered(events: Iterator[Event], found: list[Finding]) -> Iterator[Event]:
    for event in events:
        if isinstance(event, NewFinding):
            found.append(event.finding)
        else:
            yield event


def compare_labels(
    table: Table, recipe: Recipe, columns: tuple[str, str], text: Sequence[str]
) -> Steps[tuple[Table, Agreement]]:
    """Return a table as a recipe mends it, and how far two of its columns agree. Raises: DataError.

    Args: recipe: what it settles of their disagreements does not count.
    """
    mended = unsettled(recipe).applied(table)
    return mended, (yield from comparing(mended, *columns, text))


def save_mended(table: Table, recipe: Recipe, path: Path) -> int:
    """Write a table as a recipe mends it into a new file; return the rows. Raises: UserError."""
    check_writable(path, table.path)
    return write_mended(recipe.applied(table), path)
