"""Fine-tuning from a table: one run folder, one loop, and the model that comes out of it."""

from __future__ import annotations

import math
import shutil
from collections.abc import Generator, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import torch
from torch import nn

from engine.config import FineTuneConfig
from engine.device import Device, open_device
from engine.errors import RunError, Sentence, UserError, marked
from engine.events import Event, Finished, Noted, Started
from engine.model.bert import Attention, initialize
from engine.model.config import BertConfig, count_parameters
from engine.model.heads import SequenceClassifier
from engine.model.kernels import Dropout
from engine.model.weights import load_classifier, save_model
from engine.train.evaluate import evaluate
from engine.train.loop import Loop, Progressed, evaluated
from engine.train.optimizer import default_learning_rate
from engine.train.prepare import Setup, prepare
from engine.train.runs import MODEL, SETUP, Checkpoint, Run, read_status
from engine.train.tasks import Classification


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run will take, told before it starts."""

    num_train: int
    num_validation: int
    num_test: int
    steps_per_epoch: int
    num_steps: int
    seconds: float
    learning_rate: float


def plan(config: FineTuneConfig, *, num_examples: int, num_tokens: int, model: BertConfig) -> Plan:
    """Return the steps and roughly the seconds of a run. Arithmetic only.

    Args: num_examples, num_tokens: of the whole table, cut at max_length.
    """
    data, training = config.data, config.training
    num_validation = 0 if data.validation_data else round(num_examples * data.validation_share)
    num_test = 0 if data.test_data else round(num_examples * data.test_share)
    num_train = max(1, num_examples - num_validation - num_test)
    batches = math.ceil(num_train / training.batch_size)
    steps_per_epoch = math.ceil(batches / training.gradient_accumulation_steps)
    per_token = num_tokens / max(1, num_examples)
    weights = 12 * model.num_hidden_layers * model.hidden_size**2
    flops = 2 * weights + 4 * model.num_hidden_layers * model.hidden_size * per_token
    passes = training.num_epochs * (3 * num_train + num_validation) + num_test
    rate = 1e14 if torch.cuda.is_available() and config.device.device != "cpu" else 1e11
    per_step = 12 * sum(count_parameters(model).values()) / (rate / 10)  # the optimizer is bound by memory
    return Plan(
        num_train=num_train,
        num_validation=num_validation,
        num_test=num_test,
        steps_per_epoch=steps_per_epoch,
        num_steps=steps_per_epoch * training.num_epochs,
        seconds=passes * per_token * flops / rate + steps_per_epoch * training.num_epochs * per_step,
        learning_rate=training.learning_rate or default_learning_rate(model),
    )


def fine_tune(config: FineTuneConfig, run_dir: Path) -> Iterator[Event]:
    """Train a classifier in a new run folder. The result lies in run_dir/model.

    Raises: UserError in one sentence: before time or memory is spent where the input is to blame.
    """
    device = open_device(config.device)
    preparing = prepare(config)
    first = next(preparing)  # settings, model folder and vocabulary are checked before a folder is made
    with Run.create(Path(run_dir), config) as run:
        run.set_status("running", step=0, num_steps=0)
        yield from _guarded(run, _from_the_start(run, device, first, preparing))


def resume(run_dir: Path) -> Iterator[Event]:
    """Continue a run from its folder alone. Raises: RunError if it is finished, in use or not a run."""
    run_dir = Path(run_dir)
    with Run.reopen(run_dir) as run:
        if read_status(run_dir).get("state") == "finished":
            raise RunError(
                marked("engine", "The run in {path} is finished; its model lies in {model}."),
                path=run_dir,
                model=run_dir / MODEL,
            )
        run.set_status("running")
        yield from _guarded(run, _again(run))


def _from_the_start(
    run: Run, device: Device, first: Event, preparing: Generator[Event, None, Setup]
) -> Iterator[Event]:
    run.open_metrics(0)
    yield first
    setup = yield from preparing
    _check_space(run, setup.config)
    setup.save(run.path / SETUP)
    yield from _train(run, setup, device, None)


def _again(run: Run) -> Iterator[Event]:
    device = open_device(run.config.device)
    if not (run.path / SETUP).is_dir():
        preparing = prepare(run.config)
        yield from _from_the_start(run, device, next(preparing), preparing)
        return
    yield from _train(run, Setup.load(run.path / SETUP), device, run.newest_checkpoint())


def _guarded(run: Run, task: Iterator[Event]) -> Iterator[Event]:
    """Run a task and leave the folder's status true, however it ends."""
    try:
        yield from task
    except GeneratorExit:
        run.set_status("stopped")
        raise
    except BaseException as error:
        run.set_status("failed", reason=str(error) if isinstance(error, UserError) else repr(error))
        raise
    run.set_status("finished")


def _train(run: Run, setup: Setup, device: Device, checkpoint: Checkpoint | None) -> Iterator[Event]:
    if checkpoint is not None:
        device = _as_before(device, checkpoint)
    run.open_metrics(int(checkpoint.state["metrics_bytes"]) if checkpoint else 0)
    model, notes = _model(run.config, setup, device, checkpoint)
    task = Classification(setup.labels)
    peak = run.config.training.learning_rate or default_learning_rate(setup.config)
    loop = Loop(run, model, task, setup.sets, run.config.training, device, peak)
    if checkpoint is not None:
        loop.optimizer.load_state(checkpoint.optimizer())
        known = {f.name for f in fields(Progressed)}
        loop.at = Progressed(**{k: v for k, v in checkpoint.state.items() if k in known})
        loop.saved_step = checkpoint.step
    started = _started(run, setup, device, loop)
    if checkpoint is None:
        run.log(started)
        run.set_status("running", num_steps=loop.num_steps, metric=task.metric)
    try:
        for note in notes:
            yield Noted(sentence=note, level="fine")
        yield started
        yield from loop.train()
        yield from _finish(run, setup, loop)
    except BaseException:
        _keep(run, setup, loop)
        raise


def _started(run: Run, setup: Setup, device: Device, loop: Loop) -> Started:
    return Started(
        run_dir=run.path,
        task=loop.task.name,
        device=device.describe(),
        num_steps=loop.num_steps,
        first_step=loop.at.step + 1,
        num_epochs=loop.config.num_epochs,
        steps_per_epoch=loop.steps_per_epoch,
        num_train=len(setup.sets["train"]),
        num_validation=len(setup.sets.get("validation", ())),
        num_test=len(setup.sets.get("test", ())),
        labels=setup.labels,
        metric=loop.task.metric,
        num_parameters=sum(p.numel() for p in loop.model.parameters()),
        learning_rate=loop.peak,
        cut_share=float(setup.about["cut_share"]),
    )


def _finish(run: Run, setup: Setup, loop: Loop) -> Iterator[Event]:
    """Put the best checkpoint into model/, measure it on the test set, and end."""
    _load_best(run, loop)
    metrics: dict[str, float] = {}
    if "test" in setup.sets:
        measures = yield from evaluate(loop.model, loop.task, setup.sets["test"], loop.device)
        event = evaluated(
            loop.at.best_step or loop.at.step, loop.steps_per_epoch, "test", measures, loop.task
        )
        run.log(event)
        yield event
        metrics = dict(measures.metrics)
    _save_result(run, setup, loop)
    finished = Finished(
        path=run.path / MODEL,
        seconds=loop.at.elapsed_s,
        best_step=loop.at.best_step or None,
        best_metric=loop.at.best_metric if loop.at.best_step else None,
        metrics=metrics,
        stopped_early=loop.at.step < loop.num_steps,
    )
    run.log(finished)
    yield finished


def _keep(run: Run, setup: Setup, loop: Loop) -> None:
    """Leave the best weights so far in model/ when a run ends before its time."""
    if loop.at.best_step and run.checkpoint(loop.at.best_step):
        _load_best(run, loop)
    elif loop.saved_step <= 0 or loop.saved_step != loop.at.step:
        return  # nothing that was learned is safe to keep
    _save_result(run, setup, loop)


def _load_best(run: Run, loop: Loop) -> None:
    best = run.checkpoint(loop.at.best_step) if loop.at.best_step else None
    if best is not None and best.step != loop.at.step:
        loop.model.load_state_dict(best.weights())


def _save_result(run: Run, setup: Setup, loop: Loop) -> None:
    cloze: dict[str, Any] = {
        **setup.about,
        "trained": {
            "step": loop.at.best_step or loop.at.step,
            "of_steps": loop.num_steps,
            "metric": loop.task.metric,
            "value": loop.at.best_metric if loop.at.best_step else None,
            "validated": bool(loop.at.best_step),
            "run": run.path.name,
            "learning_rate": loop.peak,
            "batch_size": loop.config.batch_size,
            "seed": loop.config.seed,
        },
    }
    assert isinstance(loop.model, SequenceClassifier)
    save_model(run.path / MODEL, loop.model, setup.wordpiece, cloze)


def _model(
    config: FineTuneConfig, setup: Setup, device: Device, checkpoint: Checkpoint | None
) -> tuple[nn.Module, list[Sentence]]:
    """Return the model to train, on its device, and what a person should know of its weights."""
    notes: list[Sentence] = []
    if checkpoint is not None:
        model = SequenceClassifier(setup.config)
        model.load_state_dict(checkpoint.weights())
    elif config.model.model.startswith("new:"):
        model = SequenceClassifier(setup.config)
        initialize(model, setup.config.initializer_range, config.training.seed)
        notes.append(
            Sentence(marked("engine", "The model is new: all its weights start from random numbers."))
        )
    else:
        model, report = load_classifier(Path(config.model.model), setup.labels, seed=config.training.seed)
        notes += report.sentences()
    for part in model.modules():
        if isinstance(part, Dropout):
            part.p = config.model.hidden_dropout
        if isinstance(part, Attention):
            part.dropout_p = config.model.attention_dropout
    return model.to(device.device), notes


def _as_before(device: Device, checkpoint: Checkpoint) -> Device:
    """Resume with the recorded threads and micro-batches, which decide the last bits."""
    threads = int(checkpoint.state["num_threads"])
    torch.set_num_threads(threads)
    return Device(device.device, device.precision, threads, int(checkpoint.state["micro_batch_tokens"]))


def _check_space(run: Run, config: BertConfig) -> None:
    """Refuse a run whose checkpoints the disk cannot hold. Raises: UserError."""
    weights = 4 * sum(count_parameters(config).values())
    needed = (
        8 * weights
    )  # two checkpoints of weights and two moments, one in the making aside, and the result
    free = shutil.disk_usage(run.path).free
    if free < needed:
        raise UserError(
            marked(
                "engine",
                "The disk has too little room: checkpoints need {needed:.1f} GB in {path}, and "
                "{free:.1f} GB are free.",
            ),
            needed=needed / 1e9,
            free=free / 1e9,
            path=run.path,
        )
