"""Fine-tuning from a table: one run folder, one loop, and the model that comes out of it."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import torch
from torch import nn

from engine.config import FineTuneConfig
from engine.device import Device, flops_estimate, is_out_of_memory, open_device
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
from engine.train.runs import MODEL, SETUP, Checkpoint, Run, check_new, read_status
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
    num_validation = 0 if data.validation_data else int(num_examples * data.validation_share + 0.5)
    num_test = 0 if data.test_data else int(num_examples * data.test_share + 0.5)
    num_train = max(1, num_examples - num_validation - num_test)
    batches = math.ceil(num_train / training.batch_size)
    steps_per_epoch = math.ceil(batches / training.gradient_accumulation_steps)
    per_token = num_tokens / max(1, num_examples)
    weights = 12 * model.num_hidden_layers * model.hidden_size**2
    flops = 2 * weights + 4 * model.num_hidden_layers * model.hidden_size * per_token
    passes = training.num_epochs * (3 * num_train + num_validation) + num_test
    rate = flops_estimate(config.device)
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
    run_dir = Path(run_dir)
    check_new(run_dir)
    device = open_device(config.device)
    setup = yield from prepare(config)  # no folder is left behind by data that cannot be used
    _check_space(run_dir, setup.config)
    with Run.create(run_dir, config) as run:
        run.set_status("running", step=0, num_steps=0)
        yield from _guarded(run, _anew(run, setup, device))


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


def _anew(run: Run, setup: Setup, device: Device) -> Iterator[Event]:
    setup.save(run.path / SETUP)
    yield from _train(run, setup, device, None)


def _again(run: Run) -> Iterator[Event]:
    device = open_device(run.config.device)
    if (run.path / SETUP).is_dir():
        yield from _train(run, Setup.load(run.path / SETUP), device, run.newest_checkpoint())
    else:  # it was cut off before anything was settled
        setup = yield from prepare(run.config)
        yield from _anew(run, setup, device)


def _guarded(run: Run, task: Iterator[Event]) -> Iterator[Event]:
    """Run a task and leave the folder's status true, however it ends; the first fault is the one told."""
    try:
        yield from task
    except GeneratorExit:
        run.set_status("stopped")
        raise
    except BaseException as error:
        fault = _plainly(error)
        with suppress(UserError):
            run.set_status("failed", reason=str(fault) if isinstance(fault, UserError) else repr(fault))
        if fault is error:
            raise
        raise fault from error
    run.set_status("finished")


def _plainly(error: BaseException) -> BaseException:
    """Return a sentence in the place of an error that says no more than that memory ran out."""
    if isinstance(error, UserError) or not is_out_of_memory(error):
        return error
    return UserError(
        marked(
            "engine",
            "Memory does not suffice for this model. Choose a smaller one, or end other programs; the last "
            "checkpoint is kept.",
        )
    )


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
        run.keep_only({checkpoint.step, loop.at.best_step})  # a kill may have come before that
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
    except GeneratorExit:
        _keep(run, setup, loop)
        raise
    except BaseException:
        with suppress(UserError, MemoryError):  # the fault itself is what is told
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
    best = run.checkpoint(loop.at.best_step) if loop.at.best_step else None
    if best is not None and best.step != loop.at.step:
        loop.model.load_state_dict(best.weights())
    metrics: dict[str, float] = {}
    if "test" in setup.sets:
        measures = yield from evaluate(loop.model, loop.task, setup.sets["test"], loop.device)
        event = evaluated(
            loop.at.best_step or loop.at.step, loop.steps_per_epoch, "test", measures, loop.task
        )
        run.log(event)
        yield event
        metrics = dict(measures.metrics)
    _save_result(run, setup, loop, loop.at.best_step or loop.at.step)
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
    """Leave the best weights on disk, else the newest, in model/ when a run ends before its time."""
    best = run.checkpoint(loop.at.best_step) if loop.at.best_step else None
    kept = best or run.newest_checkpoint()
    if kept is not None and kept.step > 0:  # the model in memory may hold what went wrong
        loop.model.load_state_dict(kept.weights())
        _save_result(run, setup, loop, kept.step)


def _save_result(run: Run, setup: Setup, loop: Loop, step: int) -> None:
    is_best = step == loop.at.best_step
    cloze: dict[str, Any] = {
        **setup.about,
        "trained": {
            "step": step,
            "of_steps": loop.num_steps,
            "metric": loop.task.metric,
            "value": loop.at.best_metric if is_best else None,
            "validated": is_best,
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


def _check_space(run_dir: Path, config: BertConfig) -> None:
    """Refuse a run whose checkpoints the disk cannot hold. Raises: UserError."""
    weights = 4 * sum(count_parameters(config).values())
    needed = (
        8 * weights
    )  # two checkpoints of weights and two moments, one in the making aside, and the result
    there = next(folder for folder in (run_dir, *run_dir.absolute().parents) if folder.exists())
    free = shutil.disk_usage(there).free
    if free < needed:
        raise UserError(
            marked(
                "engine",
                "The disk has too little room: checkpoints need {needed:.1f} GB in {path}, and "
                "{free:.1f} GB are free.",
            ),
            needed=needed / 1e9,
            free=free / 1e9,
            path=there,
        )
