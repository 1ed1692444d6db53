"""The life of a run, once for every kind of training: begun, trained, finished or kept, gone on with.

A kind of training is a `Training`: it says what is settled before the first step, which model and loop follow
from that, and what the result says of itself. All else is here: folder, lock and status, checkpoints, several
processes, and one rule for every end. Stopped (GeneratorExit), a run saves what it learned, and a save that
fails is told; ended by a fault, it saves what it can, and the fault is told.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from torch import nn

from engine.device import Device, is_out_of_memory, open_device
from engine.errors import RunError, Sentence, UserError, marked
from engine.events import Event, Finished, Noted, Started
from engine.model.bert import compile_blocks
from engine.model.fastest import fastest, said_of
from engine.model.heads import HeadedEncoder, PreTraining
from engine.model.weights import save_model
from engine.settings.shared import DeviceConfig
from engine.train.learned import as_tensors, kept_in, learned_by
from engine.train.loop import Loop, progressed_at
from engine.train.ranks import ALONE, PeerLost, Ranks, is_restarted
from engine.train.run.checkpoint import Checkpoint
from engine.train.run.folder import FollowedRun, Run, discard
from engine.train.run.history import WeightHistory
from engine.train.run.machine import as_before, recipe_of
from engine.train.run.runs import (
    MODEL,
    SETUP,
    RunConfig,
    chain_of,
    notes_document,
    notes_from,
    origin_of,
    read_config,
    read_status,
)
from engine.train.run.setup import RunSetup
from engine.train.schedule import TrainState
from engine.train.watchdog import Watchdog

AnyModel = TypeVar("AnyModel", bound=nn.Module)
Setup = TypeVar("Setup", bound=RunSetup)


class Training(ABC, Generic[Setup]):
    """What one kind of training says of itself. ranks: the processes that share it, this one among them."""

    config: RunConfig
    ranks: Ranks = ALONE

    @property
    @abstractmethod
    def base_model(self) -> str:
        """The model that it starts from: a folder, or new:SIZE."""

    @property
    @abstractmethod
    def num_kept(self) -> int:
        """How many copies of the weights it keeps along the way."""

    @abstractmethod
    def prepare(self) -> Generator[Event, None, Setup]:
        """Settle all that comes before the first step. Raises: UserError where the input is to blame."""

    @abstractmethod
    def load(self, folder: Path) -> Generator[Event, None, Setup]:
        """Read what was settled from the setup/ of a run. Raises: UserError if it is damaged."""

    @abstractmethod
    def model(
        self, setup: Setup, checkpoint: Checkpoint | None
    ) -> Generator[Event, None, tuple[Any, list[Sentence]]]:
        """Return the model with its first weights, or a checkpoint's, and what to know of them."""

    @abstractmethod
    def loop(self, run: Run, setup: Setup, device: Device, model: Any) -> Loop:
        """Return the loop at its beginning: feed, schedule, task and evaluation."""

    def get_ready(self, setup: Setup, loop: Loop) -> Iterator[Event]:
        """Compute what is computed once, before the first step or before going on."""
        yield from ()

    def settled(self, setup: Setup) -> Iterator[Event]:
        """Yield what was found before the first step that is part of the run's record."""
        yield from ()

    def first_notes(self, loop: Loop) -> list[Sentence]:
        """Return what a person should know of a loop that has not begun, beside the weights."""
        return []

    @abstractmethod
    def started(self, setup: Setup, loop: Loop) -> Started:
        """Return the event that says what is trained, and on how much."""

    @abstractmethod
    def finish(self, setup: Setup, loop: Loop, best: Checkpoint | None) -> Generator[Event, None, Finished]:
        """Measure what is measured once, on the weights that are the result; return the last event.

        Args: best: whose weights these are; None: the last ones.
        """

    def save(self, folder: Path, setup: Setup, model: Any, cloze: dict[str, Any]) -> None:
        """Write the result: the published layout, and what it came from. Raises: UserError."""
        save_model(folder, model, setup.wordpiece, cloze, learned=as_tensors(setup.learned))

    @abstractmethod
    def about(self, setup: Setup) -> dict[str, Any]:
        """Return what the cloze.json of weights along the way says."""

    @abstractmethod
    def about_result(self, setup: Setup, loop: Loop, at: TrainState) -> dict[str, Any]:
        """Return what the result's cloze.json says. Args: at: where the run stood with these weights."""


def begin(
    training: Training[Setup],
    run_dir: Path,
    device: Device,
    setup: Setup | None = None,
    notes: Iterable[Noted] = (),
) -> Iterator[Event]:
    """Train in a new run folder, in the first process of the run.

    Args: setup, notes: what was prepared already, and told; None: it is prepared in the folder, which is
          removed again where the input is to blame.
    """
    is_begun, was_there = False, run_dir.is_dir()
    try:
        with Run.create(run_dir, training.config) as run:
            is_begun = True
            run.set_status("running", step=0, num_steps=0)
            for note in notes:
                run.note(note)
            yield from guarded(run, training.ranks.watched(_anew(training, run, device, setup)))
    except UserError:
        if setup is None and is_begun and not (run_dir / SETUP).is_dir():
            discard(run_dir, was_there)
        raise


def resume(training: Training[Setup], run_dir: Path) -> Iterator[Event]:
    """Go on with a run, in its first process. Raises: RunError if it is finished, in use or not a run."""
    with Run.reopen(run_dir) as run:
        if read_status(run_dir).get("state") == "finished":
            raise RunError(
                marked("engine", "The run in {path} is finished. Its model is in {model}."),
                path=run_dir,
                model=run_dir / MODEL,
            )
        run.set_status("running")
        yield from guarded(run, training.ranks.watched(_again(training, run)))


def follow(training: Training[Setup], run_dir: Path) -> Iterator[Event]:
    """Train as one process of many, beside the first, which alone writes."""
    ranks = training.ranks
    try:
        yield from ranks.watched(_beside(training, FollowedRun(run_dir, training.config)))
    except (GeneratorExit, KeyboardInterrupt, PeerLost):
        raise
    except BaseException as error:  # the first one may hang in a GPU's call until it is killed
        if read_status(run_dir).get("state") == "running":
            with suppress(UserError):
                Run(run_dir, training.config).set_status("failed", reason=str(ranks.blamed(error)))
        raise


def is_begun_again(run_dir: Path, config: RunConfig) -> bool:
    """Whether torchrun started this work again, after its first processes failed, and its run is there."""
    try:
        return is_restarted() and read_config(run_dir) == config
    except UserError:
        return False


def guarded(run: Run, task: Iterator[Event]) -> Iterator[Event]:
    """Run a task and leave the folder's status true, however it ends; the first fault is the one told.

    What a watchdog has to say of the learning becomes part of the run.
    """
    watchdog = Watchdog()
    try:
        with closing(noting(task, run.note)) as events:
            for event in events:
                watchdog.take(event)
                if isinstance(event, Finished):
                    for note in watchdog.remarks(is_whole=True):
                        run.note(note)
                        yield note
                yield event
    except (GeneratorExit, KeyboardInterrupt):
        _keep_remarks(run, watchdog)
        run.set_status("stopped")
        raise
    except BaseException as error:
        _keep_remarks(run, watchdog)
        fault = run.removed() or _plainly(error)
        with suppress(UserError):
            run.set_status("failed", reason=str(fault) if isinstance(fault, UserError) else repr(fault))
        if fault is error:
            raise
        raise fault from error
    run.set_status("finished")


def _keep_remarks(run: Run, watchdog: Watchdog) -> None:
    with suppress(UserError):
        for note in watchdog.remarks(is_whole=False):
            run.note(note)


def noting(task: Iterator[Event], note: Callable[[Noted], None]) -> Generator[Event, None, Any]:
    """Run a task, with its return value, and pass on what it notes before anybody else hears of it."""
    try:
        while True:
            try:
                event = next(task)
            except StopIteration as end:
                return end.value
            if isinstance(event, Noted):
                note(event)
            yield event
    finally:
        if isinstance(task, Generator):
            task.close()


def placed(model: AnyModel, config: DeviceConfig, device: Device) -> AnyModel:
    """Return a model on the device that a run computes on, compiled where the settings ask for it."""
    model.to(device.device)
    if config.compile and device.device.type != "cpu" and isinstance(model, HeadedEncoder | PreTraining):
        compile_blocks(model.bert)
    return model


def stages(training: Training[Setup], setup: Setup, loop: Loop, **facts: Any) -> list[dict[str, Any]]:
    """Return the stages of training that the result has behind it, this run's last."""
    stage = {
        "task": loop.task.name,
        "run": loop.run.path.name,
        "from": origin_of(training.base_model),
        **facts,
        "date": time.strftime("%Y-%m-%d"),
    }
    return [*setup.about.get("chain", []), stage]


def _anew(training: Training[Setup], run: Run, device: Device, setup: Setup | None) -> Iterator[Event]:
    if setup is None:
        setup = yield from training.prepare()
    device = fastest(device, training.config.device, setup.config)
    said = said_of(device, training.config.device, setup.config)
    if said is not None:
        yield Noted(sentence=said, level="fine")
    chain = chain_of(training.base_model)
    about = {"recipe": recipe_of(device), "chain": chain, "notes": notes_document(run.notes)}
    learned = learned_by(training.base_model).joined(setup.learned)
    setup = replace(setup, about={**setup.about, **about}, learned=learned)
    setup.save(run.path / SETUP)
    yield from training.ranks.join(device)
    yield from _train(training, run, setup, device, None)


def _again(training: Training[Setup], run: Run) -> Iterator[Event]:
    ranks = training.ranks
    if not (run.path / SETUP).is_dir():  # it was cut off before anything was settled
        device = open_device(training.config.device)
        ranks.check(device)
        yield from _anew(training, run, device, None)
        return
    setup = yield from _loaded(training, run.path / SETUP)
    checkpoint = run.newest_checkpoint()
    if checkpoint is None:  # metrics.jsonl begins anew
        yield from notes_from(setup.about.get("notes"))
    device, differences = as_before(training.config.device, setup.about["recipe"], checkpoint)
    for difference in differences:
        yield Noted(sentence=difference)
    ranks.check(device)
    yield from ranks.join(device)
    yield from _train(training, run, setup, device, checkpoint)


def _loaded(training: Training[Setup], folder: Path) -> Generator[Event, None, Setup]:
    setup = yield from training.load(folder)
    hashes = kept_in(folder)
    return setup if hashes is None else replace(setup, learned=hashes)


def _beside(training: Training[Setup], run: FollowedRun) -> Iterator[Event]:
    ranks = training.ranks
    device = yield from ranks.told(training.config.device)  # when the first one has settled everything
    setup = yield from _loaded(training, run.path / SETUP)
    checkpoint = run.newest_checkpoint()
    yield from ranks.join(device)
    yield from _train(training, run, setup, device, checkpoint)


def _train(
    training: Training[Setup], run: Run, setup: Setup, device: Device, checkpoint: Checkpoint | None
) -> Iterator[Event]:
    lost = run.open_metrics(checkpoint.state["metrics_bytes"] if checkpoint else 0)
    model, notes = yield from training.model(setup, checkpoint)
    loop = training.loop(run, setup, device, placed(model, training.config.device, device))
    if training.num_kept:
        about = training.about(setup)
        loop.history = WeightHistory(run.path, model, setup.wordpiece, about, training.num_kept)
    if checkpoint is not None:
        with checkpoint.fitting():
            loop.restore(checkpoint)
        run.keep_only({checkpoint.step, *loop.best_steps})  # a kill may have come before that
    else:
        notes = [*notes, *training.first_notes(loop)]
    started = training.started(setup, loop)
    if checkpoint is None:
        run.set_status("running", num_steps=loop.schedule.num_steps, metric=loop.task.metric)
    with _keeping(partial(_keep, training, setup, loop)):
        if lost is not None:
            yield Noted(sentence=lost)
        for note in notes:
            yield Noted(sentence=note, level="fine")
        if checkpoint is None:
            run.log(started)
        yield started
        if checkpoint is None:
            for event in training.settled(setup):
                run.log(event)
                yield event
            yield from loop.begin()
        yield from training.get_ready(setup, loop)
        yield from loop.train()
        if loop.ranks.is_first:
            yield from _finish(training, setup, loop)


def _finish(training: Training[Setup], setup: Setup, loop: Loop) -> Iterator[Event]:
    """Put the best weights, else the last ones, into model/, and end."""
    run, step = loop.run, loop.at.best_step
    best = run.checkpoint(step) if step else None
    if best is None and step:
        note = marked(
            "engine", "The best checkpoint, of step {step}, is damaged, so the last weights are kept."
        )
        yield Noted(sentence=Sentence(note, {"step": step}), level="wrong")
    if best is not None and best.step != loop.at.step:
        best.load_into(loop.model)
    finished = yield from training.finish(setup, loop, best)
    _save(training, setup, loop, loop.at if best is None else replace(loop.at, step=best.step))
    run.log(finished)
    yield finished


def _keep(training: Training[Setup], setup: Setup, loop: Loop) -> None:
    """Leave the best weights on disk, else the newest, in model/ when a run ends before its time."""
    if not loop.ranks.is_first:
        return
    best = loop.run.checkpoint(loop.at.best_step) if loop.at.best_step else None
    kept = best or loop.run.newest_checkpoint()
    if kept is not None and kept.step > 0:  # the model in memory may hold what went wrong
        kept.load_into(loop.model)
        with kept.fitting():
            then = progressed_at(kept)
        at = replace(loop.at, step=then.step, tokens=then.tokens, used_s=then.used_s)
        _save(training, setup, loop, at)


def _save(training: Training[Setup], setup: Setup, loop: Loop, at: TrainState) -> None:
    """Write model/, with what it came from, on what, for how long."""
    training.save(loop.run.path / MODEL, setup, loop.model, training.about_result(setup, loop, at))


@contextmanager
def _keeping(keep: Callable[[], None]) -> Iterator[None]:
    """Call `keep`, which saves what was learned, where a run ends before its time.

    A save that fails when a run is stopped is told; beside another fault, that one is.
    """
    try:
        yield
    except GeneratorExit:
        keep()
        raise
    except BaseException:
        with suppress(UserError, MemoryError):
            keep()
        raise


def _plainly(error: BaseException) -> BaseException:
    """Return a sentence in the place of an error that says no more than that memory ran out."""
    if isinstance(error, UserError) or not is_out_of_memory(error):
        return error
    return UserError(
        marked(
            "engine",
            "There is not enough memory for this model. Choose a smaller one, or close other "
            "programs. The last checkpoint is kept.",
        )
    )
