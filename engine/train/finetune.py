"""Fine-tuning from a table: one run folder, one loop, and the model that comes out of it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from torch import nn

from engine.device import Device, flops_estimate, open_device
from engine.errors import Sentence, marked
from engine.events import Evaluated, Event, Finished, Noted, Started
from engine.model.bert import Attention, compile_blocks, initialize
from engine.model.config import BertConfig, count_parameters
from engine.model.heads import SequenceClassifier
from engine.model.kernels import Dropout
from engine.model.weights import load_classifier, save_model
from engine.settings.finetune import FineTuneConfig
from engine.train.evaluate import evaluate
from engine.train.feed import EpochFeed
from engine.train.lifecycle import (
    as_before,
    check_space,
    fitting,
    guarded,
    keeping,
    noting,
    recipe_of,
    reopened,
)
from engine.train.loop import Loop, evaluated
from engine.train.metrics import ONE_ANSWER, notes_on
from engine.train.optimizer import default_learning_rate
from engine.train.prepare import Setup, prepare
from engine.train.ranks import check_alone
from engine.train.run.checkpoint import Checkpoint
from engine.train.run.history import Keeper
from engine.train.run.records import event_from_record
from engine.train.run.runs import (
    MODEL,
    SETUP,
    Run,
    chain_of,
    check_new,
    notes_document,
    notes_from,
    origin_of,
    read_metrics,
)
from engine.train.schedule import Epochs
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
    check_alone()
    check_new(run_dir)
    device = open_device(config.device)
    notes: list[Noted] = []
    # no folder is left behind by data that cannot be used
    setup = yield from noting(prepare(config), notes.append)
    check_space(run_dir, setup.config, config.training.kept_weights)
    with Run.create(run_dir, config) as run:
        run.set_status("running", step=0, num_steps=0)
        for note in notes:
            run.note(note)
        yield from guarded(run, _anew(run, setup, device))


def resume(run_dir: Path) -> Iterator[Event]:
    """Continue a run from its folder alone. Raises: RunError if it is finished, in use or not a run."""
    check_alone()
    with reopened(Path(run_dir)) as run:
        yield from guarded(run, _again(run))


def _config(run: Run) -> FineTuneConfig:
    assert isinstance(run.config, FineTuneConfig)
    return run.config


def _anew(run: Run, setup: Setup, device: Device) -> Iterator[Event]:
    chain = chain_of(_config(run).model.model)
    about = {"recipe": recipe_of(device), "chain": chain, "notes": notes_document(run.notes)}
    setup = replace(setup, about={**setup.about, **about})
    setup.save(run.path / SETUP)
    yield from _train(run, setup, device, None)


def _again(run: Run) -> Iterator[Event]:
    if (run.path / SETUP).is_dir():
        setup, checkpoint = Setup.load(run.path / SETUP), run.newest_checkpoint()
        if checkpoint is None:  # metrics.jsonl begins anew
            yield from notes_from(setup.about.get("notes"))
        device, differences = as_before(_config(run).device, setup.about["recipe"], checkpoint)
        for difference in differences:
            yield Noted(sentence=difference)
        yield from _train(run, setup, device, checkpoint)
    else:  # it was cut off before anything was settled
        device = open_device(_config(run).device)
        setup = yield from prepare(_config(run))
        yield from _anew(run, setup, device)


def _train(run: Run, setup: Setup, device: Device, checkpoint: Checkpoint | None) -> Iterator[Event]:
    lost = run.open_metrics(checkpoint.state["metrics_bytes"] if checkpoint else 0)
    model, notes = _model(_config(run), setup, device, checkpoint)
    loop = _loop(run, setup, device, model)
    if checkpoint is not None:
        with fitting(checkpoint):
            loop.restore(checkpoint)
        run.keep_only({checkpoint.step, loop.at.best_step})  # a kill may have come before that
    started = _started(run, setup, device, loop)
    if checkpoint is None:
        run.set_status("running", num_steps=loop.schedule.num_steps, metric=loop.task.metric)
    with keeping(partial(_keep, run, setup, loop)):
        if lost is not None:
            yield Noted(sentence=lost)
        for note in notes:
            yield Noted(sentence=note, level="fine")
        if checkpoint is None:
            run.log(started)
        yield started
        if checkpoint is None:
            yield from loop.begin()
        yield from loop.train()
        yield from _finish(run, setup, loop)


def _loop(run: Run, setup: Setup, device: Device, model: nn.Module) -> Loop:
    training, task = _config(run).training, Classification(setup.labels)
    feed = EpochFeed(
        setup.sets["train"], training.batch_size, training.gradient_accumulation_steps, training.seed
    )
    loop = Loop(
        run,
        model,
        task,
        feed,
        Epochs(
            feed.steps_per_epoch, training.num_epochs, training.warmup_ratio, training.evaluate_every_steps
        ),
        None,
        training,
        device,
        peak=training.learning_rate or default_learning_rate(setup.config),
        patience=training.early_stopping_patience,
    )
    if "validation" in setup.sets:
        loop.evaluation = lambda: evaluate(model, task, setup.sets["validation"], loop.device)
    if training.kept_weights:
        assert isinstance(model, SequenceClassifier)
        loop.keeper = Keeper(run.path, model, setup.wordpiece, _about(setup), training.kept_weights)
    return loop


def _about(setup: Setup) -> dict[str, Any]:
    return {key: value for key, value in setup.about.items() if key not in ("reported", "notes")}


def _started(run: Run, setup: Setup, device: Device, loop: Loop) -> Started:
    return Started(
        run_dir=run.path,
        task=loop.task.name,
        device=device.describe(),
        num_steps=loop.schedule.num_steps,
        first_step=loop.at.step + 1,
        num_epochs=_config(run).training.num_epochs,
        steps_per_epoch=loop.schedule.num_steps // _config(run).training.num_epochs,
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
    step = best.step if best else loop.at.step
    if best is None and loop.at.best_step:
        note = marked("engine", "The best checkpoint, of step {step}, is damaged; the last weights are kept.")
        yield Noted(sentence=Sentence(note, {"step": loop.at.best_step}), level="wrong")
    if best is not None and best.step != loop.at.step:
        with fitting(best):
            loop.model.load_state_dict(best.weights())
    metrics: dict[str, float] = {}
    measured = _kept_evaluation(run, step)
    if "test" in setup.sets:
        task = Classification(setup.labels)
        measures = yield from evaluate(loop.model, task, setup.sets["test"], loop.device)
        event = evaluated(step, loop.feed.epoch(step), "test", measures, loop.task)
        run.log(event)
        yield event
        metrics, measured = dict(measures.metrics), event
    if measured is not None and measured.confusion is not None:
        for hidden in notes_on(measured.labels, measured.confusion, measured.split):
            if hidden.template == ONE_ANSWER:
                yield Noted(sentence=hidden, level="wrong")
    _save_result(run, setup, loop, step)
    finished = Finished(
        path=run.path / MODEL,
        seconds=loop.at.elapsed_s,
        best_step=best.step if best else None,
        best_metric=loop.at.best_metric if best else None,
        metrics=metrics,
        stopped_early=loop.at.step < loop.schedule.num_steps,
    )
    run.log(finished)
    yield finished


def _kept_evaluation(run: Run, step: int) -> Evaluated | None:
    """Return what validation found of the weights of a step, as the run has written it down."""
    for record in reversed(read_metrics(run.path)):
        if record.get("event") == "evaluated" and record.get("step") == step:
            found = event_from_record(record)
            if isinstance(found, Evaluated) and found.split == "validation":
                return found
    return None


def _keep(run: Run, setup: Setup, loop: Loop) -> None:
    """Leave the best weights on disk, else the newest, in model/ when a run ends before its time."""
    best = run.checkpoint(loop.at.best_step) if loop.at.best_step else None
    kept = best or run.newest_checkpoint()
    if kept is not None and kept.step > 0:  # the model in memory may hold what went wrong
        with fitting(kept):
            loop.model.load_state_dict(kept.weights())
        _save_result(run, setup, loop, kept.step)


def _save_result(run: Run, setup: Setup, loop: Loop, step: int) -> None:
    is_best = step == loop.at.best_step
    stage = {
        "task": loop.task.name,
        "run": run.path.name,
        "from": origin_of(_config(run).model.model),
        "data": setup.about["data"],
        "steps": step,
        "seconds": round(loop.at.elapsed_s, 1),
        "learning_rate": loop.peak,
        "seed": loop.config.seed,
        loop.task.metric: loop.at.best_metric if is_best else None,
        "validation_rows": len(setup.sets.get("validation", ())),
        "date": time.strftime("%Y-%m-%d"),
    }
    cloze: dict[str, Any] = {
        **_about(setup),
        "chain": [*setup.about.get("chain", []), stage],
        "trained": {
            "step": step,
            "of_steps": loop.schedule.num_steps,
            "metric": loop.task.metric,
            "value": loop.at.best_metric if is_best else None,
            "rows": len(setup.sets.get("validation", ())),  # that the value was measured on
            "validated": is_best,
            "run": run.path.name,
            "learning_rate": loop.peak,
            "batch_size": _config(run).training.batch_size,
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
        with fitting(checkpoint):
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
    model = model.to(device.device)
    if config.device.compile and device.device.type == "cuda":
        compile_blocks(model.bert)
    return model, notes
