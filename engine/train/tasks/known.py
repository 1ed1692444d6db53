"""Which tasks there are, and which of them a file or a model is for. A new task is entered here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.errors import Sentence, marked, not_among
from engine.events import Event, Noted, Steps
from engine.model.info import read_info
from engine.model.weights import read_config, tuned_head
from engine.settings.finetune import DataConfig
from engine.text.batch import EncodedRows
from engine.text.examples import doubt_about_header
from engine.text.label_sets import label_columns
from engine.text.roles import Roles, joined_names
from engine.train.prepare import opening_table
from engine.train.run.runs import SETUP
from engine.train.run.setup import read_setup
from engine.train.scored import ScoredTable
from engine.train.tasks.choice.kind import Choosing
from engine.train.tasks.classification.kind import Classifying
from engine.train.tasks.correcting.kind import Correcting
from engine.train.tasks.kind import Kind, StandIn
from engine.train.tasks.multi_label.kind import MultiLabelling
from engine.train.tasks.questions.kind import AnsweringQuestions
from engine.train.tasks.regression.kind import Regressing
from engine.train.tasks.rows.kind import OfRows
from engine.train.tasks.token_labels.kind import TokenLabelling

CLASSIFICATION = Classifying()
KINDS = (
    CLASSIFICATION,
    TokenLabelling(),
    MultiLabelling(),
    Regressing(),
    AnsweringQuestions(),
    Choosing(),
    Correcting(),
)
TASKS: dict[str, Kind] = {kind.name: kind for kind in KINDS}


def task_named(name: str) -> Kind:
    """Return a task by its name. Raises: ConfigError naming the setting."""
    if name not in TASKS:
        raise not_among("task", name, list(map(repr, TASKS)))
    return TASKS[name]


def of_rows(kind: Kind) -> OfRows:
    """Return a task of rows of tables; classification in the place of one that has files of its own."""
    return kind if isinstance(kind, OfRows) else CLASSIFICATION


def guess_task(data: DataConfig) -> tuple[Kind, Sentence | None]:
    """Return the task that the settings name, else the one that the file looks like, and why.

    What looks like nothing else is classification, which needs no reason. Raises: ConfigError.
    """
    if data.task:
        return task_named(data.task), None
    for kind in TASKS.values():
        reason = kind.looks(Path(data.data), data) if data.data else None
        if reason is not None:
            return kind, reason
    return CLASSIFICATION, None


def guessing_columns(data: DataConfig) -> Steps[DataConfig]:
    """Return the settings with the columns of text and label that nobody has named, as the window guesses
    them, and tell which; as they are for a file of a task's own.

    Raises: ConfigError, DataError.
    """
    kind = guess_task(data)[0] if data.data else None
    if not isinstance(kind, OfRows):
        return data
    asked = kind.reading.roles
    if all(getattr(data, role.name) for role in asked if role.is_needed):
        return data
    table = yield from opening_table(data, data.data, "data")
    likely, found = kind.reading.likely(table), dict[str, Any]()
    named = {role.name: getattr(data, role.name) for role in asked}
    taken = {column for name in named.values() if name for column in label_columns(table, name)}
    for role in asked:
        names = likely.get(role.name, ())
        is_wanted = not named[role.name] and (role.is_needed or "text" in found)
        if is_wanted and names and taken.isdisjoint(names):
            found[role.name] = joined_names(names)
            taken.update(names)
    if found:
        template = marked(
            "engine", "Columns detected by their names and cells: {columns}. If that is wrong, name them."
        )
        said = [f"{role.replace('_', '-')} = {name}" for role, name in found.items()]
        yield Noted(sentence=Sentence(template, {"columns": said}), level="fine")
    data = replace(data, **found)
    if found and (doubt := doubt_about_header(table, Roles.of(data))) is not None:
        yield Noted(sentence=doubt, level="look")
    return data


def task_of(folder: Path) -> Kind:
    """Return what a model folder was fine-tuned for, by its cloze.json, else by its config.json.

    Classification where neither says anything else. Raises: ModelError if they are damaged.
    """
    name = str(read_info(folder).get("task", ""))
    if name in TASKS:
        return TASKS[name]
    config = read_config(folder)
    head, problem = tuned_head(folder, config), config.problem
    for task in TASKS.values():
        if task.head is head and problem in (task.problem or problem,):
            return task
    return CLASSIFICATION


def kept_part(run: Path, split: str) -> EncodedRows | None:
    """Return a part of a run's data as it was encoded; None where the run has none. Raises: ModelError."""
    kind = task_named(read_setup(run / SETUP, {"task": str})["task"])
    return kind.setup.load_part(run / SETUP, split)


def evaluate_file(
    model: Path, data: DataConfig, device: str = "auto", stand_in: StandIn | None = None
) -> Steps[ScoredTable]:
    """Measure a model folder on a file, whatever it was fine-tuned for. Args, Raises: as `Kind` has it."""
    return (yield from task_of(model).evaluate_file(model, data, device, stand_in))


def predict_file(
    model: Path, data: DataConfig, out: Path, *, raw: bool = False, device: str = "auto"
) -> Iterator[Event]:
    """Write what a model folder answers to a file, whatever it was fine-tuned for: Progress, Noted, Finished
    and, of tables, Predicted.

    Args: raw: leave cells as they are that a spreadsheet would run. Raises: UserError in one sentence.
    """
    yield from task_of(model).predict_file(model, data, out, raw=raw, device=device)
