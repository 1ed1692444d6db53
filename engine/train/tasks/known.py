"""Which tasks there are, and which of them a file or a model is for. A new task is entered here."""

from __future__ import annotations

from pathlib import Path

from engine.errors import ConfigError, Sentence, marked
from engine.model.info import read_info
from engine.model.weights import head_of, read_config
from engine.settings.finetune import DataConfig
from engine.train.tasks.classification.kind import Classifying
from engine.train.tasks.kind import Kind
from engine.train.tasks.multi_label.kind import MultiLabelling
from engine.train.tasks.questions.kind import AnsweringQuestions
from engine.train.tasks.regression.kind import Regressing
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
