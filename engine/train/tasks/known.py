"""Which tasks there are, and which of them a file or a model is for. A new task is entered here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from engine.errors import ConfigError, Sentence, marked
from engine.events import Noted, Steps
from engine.model.info import read_info
from engine.model.weights import head_of, read_config
from engine.settings.finetune import DataConfig
from engine.text.examples import Roles, doubt_about_header
from engine.text.label_sets import label_columns, likely_roles
from engine.train.prepare import opening_table
from engine.train.tasks.classification.kind import Classifying
from engine.train.tasks.kind import Kind
from engine.train.tasks.multi_label.kind import MultiLabelling
from engine.train.tasks.questions.kind import AnsweringQuestions
from engine.train.tasks.regression.kind import Regressing
from engine.train.tasks.rows.kind import OfRows
from engine.train.tasks.token_labels.kind import TokenLabelling

CLASSIFICATION = Classifying()
KINDS = (CLASSIFICATION, TokenLabelling(), MultiLabelling(), Regressing(), AnsweringQuestions())
TASKS: dict[str, Kind] = {kind.name: kind for kind in KINDS}


def task_named(name: str) -> Kind:
    """Return a task by its name. Raises: ConfigError naming the setting."""
    if name not in TASKS:
        raise ConfigError(
            marked("engine", "{field} is {value!r}; it can be one of: {choices}."),
            field="task",
            value=name,
            choices=", ".join(map(repr, TASKS)),
        )
    return TASKS[name]


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
    if not data.data or (data.text and data.label) or not isinstance(guess_task(data)[0], OfRows):
        return data
    table = yield from opening_table(data, data.data, "data")
    likely, found = likely_roles(table), dict[str, str]()
    taken = {table.column(name) for name in (data.text, data.text_pair) if name}
    taken |= set(label_columns(table, data.label)) if data.label else set()
    for role in ("text", "text_pair", "label"):
        name = getattr(likely, role)
        is_wanted = not getattr(data, role) and (role != "text_pair" or "text" in found)
        if is_wanted and name and name not in taken:
            found[role] = name
            taken.add(name)
    if found:
        template = marked(
            "engine", "Columns guessed by their names and cells: {columns}. Name them where that is wrong."
        )
        said = [f"{role.replace('_', '-')} = {name}" for role, name in found.items()]
        yield Noted(sentence=Sentence(template, {"columns": said}), level="fine")
    roles = Roles(*(found.get(role, getattr(data, role)) for role in ("text", "text_pair", "label")))
    if found and (doubt := doubt_about_header(table, roles)) is not None:
        yield Noted(sentence=doubt, level="look")
    return replace(data, text=roles.text, text_pair=roles.text_pair, label=roles.label)


def task_of(folder: Path) -> Kind:
    """Return what a model folder was fine-tuned for, by its cloze.json, else by its config.json.

    Classification where neither says anything else. Raises: ModelError if they are damaged.
    """
    name = str(read_info(folder).get("task", ""))
    if name in TASKS:
        return TASKS[name]
    config = read_config(folder)
    kind, problem = head_of(config), config.problem
    for task in TASKS.values():
        if task.head.architecture == kind and problem in (task.problem or problem,):
            return task
    return CLASSIFICATION
