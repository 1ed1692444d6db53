"""What a pipeline's settings mean: its stages and their settings, the task's text, what is refused early.

Nothing is written here. A stage that would fail after hours is refused before the first run begins.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from engine.errors import ConfigError, marked
from engine.events import Steps
from engine.model.config import BertConfig
from engine.model.trim import ids_to_keep
from engine.model.weights import read_config
from engine.settings.config import with_values
from engine.settings.finetune import USUAL_LENGTH, FineTuneConfig, ModelConfig
from engine.settings.pipeline import PipelineConfig, StagesConfig
from engine.settings.pretrain import PretrainConfig
from engine.text.corpus.corpus import Corpus
from engine.text.examples import LabelSettings, finding_examples
from engine.text.read_tokenizer import read_tokenizer
from engine.train.plan import pretraining_seconds
from engine.train.prepare import (
    check_lengths,
    of_setting,
    opening_table,
    roles_of,
    split_of,
    starting_config,
    with_length,
)
from engine.train.pretraining.refusals import check_quickly, reads_pairs
from engine.train.pretraining.setup import corpus_of
from engine.train.run.runs import CONFIG, MODEL

TASK_TEXT = "task.txt"
EVALUATIONS, VALIDATION_TOKENS = 5, 32768  # of each pretraining: enough for a curve, and seldom in the way
_LOOKED_AT = 1000  # documents


@dataclass(frozen=True)
class Stage:
    """What is fine-tuned, and what is pretrained for it first. model: the folder fine-tuning begins with."""

    name: str
    model: str
    pretraining: PretrainConfig | None = None


@dataclass(frozen=True)
class TaskTexts:
    """What the tables of a pipeline hold.

    hashes: of the tables. texts: those of the training rows, each once, where they are the task's text; else
    none. held_out: those of the validation and test rows.
    """

    hashes: tuple[str, ...]
    texts: tuple[str, ...]
    held_out: frozenset[str]


def stages_of(folder: Path, config: PipelineConfig) -> list[Stage]:
    """Return the stages that the settings ask for, in order; the base first."""
    asked, model = config.stages, config.stages.model
    found = [Stage("base", model)]
    if asked.domain_text:
        settings = _pretraining(config, model, asked.domain_minutes, asked.domain_steps)
        settings = with_values(settings, {"text": asked.domain_text, "column": asked.domain_column})
        model = str(folder / "domain" / MODEL)
        found.append(Stage("domain", model, settings))
    if asked.task_minutes or asked.task_steps:
        settings = _pretraining(config, model, asked.task_minutes, asked.task_steps)
        own = {"text": str(folder / TASK_TEXT), "layout": "lines"}
        given = {"text": asked.task_text, "column": asked.task_column}
        settings = with_values(settings, given if asked.task_text else own)
        found.append(Stage("task", str(folder / "task" / MODEL), settings))
    return found


def planned_seconds(config: PipelineConfig, shape: BertConfig, run_seconds: float) -> float:
    """Return roughly what all stages take; arithmetic only.

    Args: shape: of the model that the first stage begins with. run_seconds: of one fine-tuning run.
    """
    stages, seconds = stages_of(Path(), config), 0.0
    for budget, length in (
        (stage.pretraining.budget, stage.pretraining.objective.max_length)
        for stage in stages
        if stage.pretraining is not None
    ):
        seconds += 60 * budget.minutes or pretraining_seconds(
            budget.steps, budget.batch_tokens, length, shape, config.device
        )
    return seconds + len(stages) * config.stages.seeds * run_seconds


def _pretraining(config: PipelineConfig, model: str, minutes: float, steps: int) -> PretrainConfig:
    """Return the settings of a pretraining stage but for its text."""
    asked = config.stages
    values = {
        "model": model,
        "minutes": minutes,
        "steps": steps,
        "trim_vocab": asked.trim_vocab if model == asked.model else 0,
        "next_sentence": False,  # see `with_next_sentences`
        "batch_tokens": asked.batch_tokens,
        "learning_rate": asked.pretraining_rate,
        "validation_share": asked.held_out_share,
        "validation_tokens": VALIDATION_TOKENS,
        "evaluations": EVALUATIONS,
        "max_length": config.data.max_length or USUAL_LENGTH,
        "seed": config.training.seed,
    }
    return replace(with_values(PretrainConfig(), values), device=config.device)


def with_next_sentences(settings: PretrainConfig, asked: StagesConfig) -> PretrainConfig:
    """Return a stage's settings with next sentences asked for, if a person wants it, the model has a part for
    them and the text has them.
    """
    can = reads_pairs(read_config(Path(settings.start.model)))
    wanted = asked.next_sentence and can and has_next_sentences(corpus_of(settings, settings.text.text))
    return with_values(settings, {"next_sentence": wanted})


def has_next_sentences(corpus: Corpus) -> bool:
    """Whether most of the first documents have several sentences, and there is more than one document."""
    looked_at = several = 0
    for document in corpus.documents():
        looked_at += 1
        several += sum(map(len, document)) > 1
        if looked_at == _LOOKED_AT:
            break
    return looked_at > 1 and several > looked_at / 2


def fine_tuning(config: PipelineConfig, model: str, seed: int) -> FineTuneConfig:
    """Return the settings of a fine-tuning run: those of all stages alike but for model and seed."""
    return FineTuneConfig(
        data=config.data,
        model=ModelConfig(model=model),
        adapt=config.adapt,
        training=replace(config.training, seed=seed),
        device=config.device,
    )


def reads_rows(config: PipelineConfig) -> bool:
    """Whether the task's text is that of the rows to train on."""
    asked = config.stages
    return not asked.task_text and bool(asked.task_minutes or asked.task_steps)


def check(folder: Path, config: PipelineConfig) -> None:
    """Refuse what can be refused before time is spent on it. Raises: UserError."""
    asked, data = config.stages, config.data
    if asked.model.startswith("new:"):
        raise ConfigError(
            marked(
                "engine",
                "A pipeline begins with a trained {field}, not with {value}. Pretrain one first, and give "
                "its folder.",
            ),
            field="model",
            value=asked.model,
        )
    _check_budgets(asked)
    if not (data.validation_data or data.validation_share):
        raise ConfigError(
            marked("engine", "{field} is 0, so the gain of a stage cannot be measured. Hold out some rows."),
            field="validation_share",
        )
    first = with_length(fine_tuning(config, asked.model, 0), USUAL_LENGTH)
    shape, wordpiece = starting_config(first), read_tokenizer(Path(asked.model))
    check_lengths(first.data, shape, wordpiece)
    if asked.trim_vocab:
        ids_to_keep(np.zeros(wordpiece.vocab_size, np.int64), asked.trim_vocab, wordpiece)  # refuses too few
    for stage in stages_of(folder, config):
        if (folder / stage.name / CONFIG).is_file() or (stage.name == "task" and reads_rows(config)):
            continue
        if stage.pretraining is not None:
            settings = with_values(stage.pretraining, {"model": asked.model})  # its own is not there yet
            check_quickly(settings)
            documents = corpus_of(settings, settings.text.text).documents()
            _check_enough(asked, (text for document in documents for part in document for text in part))


def _check_budgets(asked: StagesConfig) -> None:
    for name, text, minutes, steps in (
        ("domain", asked.domain_text, asked.domain_minutes, asked.domain_steps),
        ("task", asked.task_text, asked.task_minutes, asked.task_steps),
    ):
        if (minutes and steps) or (text and not (minutes or steps)):
            raise ConfigError(
                marked(
                    "engine",
                    "Say how long to pretrain on {name} text. Give either {field} or {other}.",
                ),
                field=f"{name}_minutes",
                other=f"{name}_steps",
                name=name,
            )
    if not asked.domain_text and (asked.domain_minutes or asked.domain_steps):
        raise ConfigError(
            marked("engine", "There is a time for domain text but no text. Give {field}."),
            field="domain_text",
        )
    if not asked.domain_text and not (asked.task_minutes or asked.task_steps):
        raise ConfigError(
            marked(
                "engine",
                "There is no stage to compare with the original model. Give {field}, or task_minutes.",
            ),
            field="domain_text",
        )


def _check_enough(asked: StagesConfig, texts: Iterable[str]) -> None:
    """Refuse a text of fewer tokens than a step takes; reads no more than that. Raises: ConfigError."""
    wordpiece, found = read_tokenizer(Path(asked.model)), 0
    for text in texts:
        found += len(wordpiece.encode_ids([text])[0])
        if found * (1 - asked.held_out_share) >= asked.batch_tokens:
            return
    raise ConfigError(
        marked(
            "engine",
            "{field}: a text to pretrain on has {tokens:,} tokens, of which {share:.0%} are held out, but "
            "one step takes {batch:,}. Give more text, or take fewer tokens a step.",
        ),
        field="batch_tokens",
        tokens=found,
        share=asked.held_out_share,
        batch=asked.batch_tokens,
    )


def read_tables(config: PipelineConfig) -> Steps[TaskTexts]:
    """Return the tables' hashes, and which texts are trained on and which held out.

    Raises: DataError, ConfigError if the table cannot be used or has too little text.
    """
    data = config.data
    table = yield from opening_table(data, data.data, "data")
    found = yield from finding_examples(table, roles_of(data, table), LabelSettings.of(data))
    hashes = (table.sha256, *(_sha256(Path(path)) for path in data.apart.values()))
    strata = found.examples.labels.astype(np.int64)
    together = None if table.together is None else table.together[found.examples.rows]
    parts = [found.examples.take(part) for part in split_of(data, strata, together)]
    train, *held_out = (
        dict.fromkeys(line_of(text) for one in part for text in (one.text, one.text_pair or ""))
        for part in parts
    )
    apart = list[str]()
    for name, path in data.apart.items():
        with of_setting(f"{name}_data"):
            other = yield from opening_table(data, path, f"{name}_data")
            named = roles_of(data, other)
        for column in filter(None, (named.text, named.text_pair)):
            apart += map(line_of, other.frame[column])
    texts = tuple(filter(None, train)) if reads_rows(config) else ()
    if reads_rows(config):
        _check_enough(config.stages, texts)
    return TaskTexts(hashes, texts, frozenset(filter(None, (*held_out[0], *held_out[1], *apart))))


def line_of(text: str) -> str:
    """Return a text as a line, for a line is a document: each run of blanks is one."""
    return " ".join(text.split())


def _sha256(path: Path) -> str:
    if not path.is_file():
        return ""  # the first fine-tuning will say so
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
