"""Pretraining from plain text, from random weights or further: masked words and next sentences."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from engine.device import Device, open_device
from engine.errors import Sentence, UserError, marked
from engine.events import Event, Finished, Noted, Started
from engine.model.config import BertConfig
from engine.model.heads import PreTraining
from engine.model.weights import save_model
from engine.settings.pretrain import PretrainConfig
from engine.text.corpus.masking import Masker
from engine.train.lifecycle import as_before, check_space, fitting, guarded, keeping, recipe_of, reopened
from engine.train.loop import Loop
from engine.train.pretraining import setup as pretraining_setup
from engine.train.pretraining.first_weights import placed, starting_model
from engine.train.pretraining.language import LanguageModel
from engine.train.pretraining.refusals import check_quickly, check_ranks
from engine.train.pretraining.setup import PretrainSetup
from engine.train.pretraining.text_feed import Growth, TextFeed
from engine.train.pretraining.watch import PinWatch, Questions
from engine.train.ranks import PeerLost, Ranks, is_restarted, joined_ranks
from engine.train.run.checkpoint import Checkpoint
from engine.train.run.history import Keeper
from engine.train.run.runs import (
    MODEL,
    SETUP,
    FollowedRun,
    Run,
    chain_of,
    check_new,
    discard,
    notes_document,
    notes_from,
    origin_of,
    read_config,
    read_status,
)
from engine.train.schedule import Budget


def pretrain(config: PretrainConfig, run_dir: Path, *, questions: Questions | None = None) -> Iterator[Event]:
    """Train a language model in a new run folder. The result lies in run_dir/model.

    Args:   questions: sentences to ask while it learns; None: those pinned in the settings.
    Raises: UserError in one sentence: before time or memory is spent where the input is to blame.
    """
    run_dir, config = Path(run_dir), pretraining_setup.absolute(config)
    if is_restarted() and _is_same(run_dir, config):  # torchrun's second try of the same work
        yield from resume(run_dir, questions=questions)
        return
    with joined_ranks() as ranks:
        if not ranks.is_first:
            yield from _follow(run_dir, config, ranks)
            return
        check_new(run_dir)
        check_ranks(config, ranks)
        device = open_device(config.device)
        ranks.check(device)
        check_quickly(config)
        check_space(run_dir, pretraining_setup.shape_of(config.start), config.budget.kept_weights)
        is_begun, was_there = False, run_dir.is_dir()
        try:
            with Run.create(run_dir, config) as run:
                is_begun = True
                run.set_status("running", step=0, num_steps=0)
                yield from guarded(run, ranks.watched(_anew(run, config, device, questions, ranks)))
        except UserError:
            if is_begun and not (run_dir / SETUP).is_dir():
                discard(run_dir, was_there)  # the input was to blame: no run is left behind
            raise


def resume(run_dir: Path, *, questions: Questions | None = None) -> Iterator[Event]:
    """Continue a run from its folder. Raises: RunError if it is finished, in use or not a run."""
    with joined_ranks() as ranks:
        config = read_config(Path(run_dir))
        assert isinstance(config, PretrainConfig)
        check_ranks(config, ranks)
        if not ranks.is_first:
            yield from _follow(Path(run_dir), config, ranks)
            return
        with reopened(Path(run_dir)) as run:
            yield from guarded(run, ranks.watched(_again(run, config, questions, ranks)))


def _is_same(run_dir: Path, config: PretrainConfig) -> bool:
    """Whether a folder holds a run with these settings."""
    try:
        return read_config(run_dir) == config
    except UserError:
        return False


def _follow(run_dir: Path, config: PretrainConfig, ranks: Ranks) -> Iterator[Event]:
    """Train as one rank of many, beside the first, which alone writes."""
    try:
        yield from ranks.watched(_beside(FollowedRun(run_dir, config), config, ranks))
    except (GeneratorExit, KeyboardInterrupt, PeerLost):
        raise
    except BaseException as error:  # the first one may hang in a GPU's call until it is killed
        if read_status(run_dir).get("state") == "running":
            with suppress(UserError):
                Run(run_dir, config).set_status("failed", reason=str(ranks.blamed(error)))
        raise


def _beside(run: FollowedRun, config: PretrainConfig, ranks: Ranks) -> Iterator[Event]:
    device = yield from ranks.told(config.device)  # when the first one has settled everything
    setup = yield from pretraining_setup.load(run.path / SETUP, config)
    checkpoint = run.newest_checkpoint()
    yield from ranks.join(device)
    yield from _train(run, config, setup, device, checkpoint, None, ranks)


def _anew(
    run: Run, config: PretrainConfig, device: Device, questions: Questions | None, ranks: Ranks
) -> Iterator[Event]:
    setup = yield from pretraining_setup.prepare(config)
    chain = chain_of(config.start.model)
    about = {"recipe": recipe_of(device), "chain": chain, "notes": notes_document(run.notes)}
    setup = replace(setup, about={**setup.about, **about})
    setup.save(run.path / SETUP)
    yield from ranks.join(device)
    yield from _train(run, config, setup, device, None, questions, ranks)


def _again(run: Run, config: PretrainConfig, questions: Questions | None, ranks: Ranks) -> Iterator[Event]:
    if not (run.path / SETUP).is_dir():  # it was cut off before anything was settled
        device = open_device(config.device)
        ranks.check(device)
        yield from _anew(run, config, device, questions, ranks)
        return
    setup = yield from pretraining_setup.load(run.path / SETUP, config)
    checkpoint = run.newest_checkpoint()
    if checkpoint is None:  # metrics.jsonl begins anew
        yield from notes_from(setup.about.get("notes"))
    device, differences = as_before(config.device, setup.about["recipe"], checkpoint)
    for difference in differences:
        yield Noted(sentence=difference)
    ranks.check(device)
    yield from ranks.join(device)
    yield from _train(run, config, setup, device, checkpoint, questions, ranks)


def _train(
    run: Run,
    config: PretrainConfig,
    setup: PretrainSetup,
    device: Device,
    checkpoint: Checkpoint | None,
    questions: Questions | None,
    ranks: Ranks,
) -> Iterator[Event]:
    lost = run.open_metrics(checkpoint.state["metrics_bytes"] if checkpoint else 0)
    model, notes = yield from starting_model(config, setup, checkpoint)
    loop = loop_of(run, config, setup, device, placed(model, config, device), ranks)
    pins = [line.strip() for line in config.budget.pins.split("\n") if line.strip()]
    if ranks.is_first:
        loop.watch = PinWatch(questions or Questions(pins), setup.wordpiece)
    if checkpoint is not None:
        with fitting(checkpoint):
            loop.restore(checkpoint)
        run.keep_only({checkpoint.step})  # a kill may have come before that
    elif config.objective.next_sentence and isinstance(loop.feed, TextFeed):
        notes.append(_what_pairs_show(loop.feed))
    started = _started(run, config, setup, loop)
    if checkpoint is None:
        run.set_status("running", num_steps=loop.schedule.num_steps, metric=loop.task.metric)
    with keeping(partial(_keep, run, config, setup, loop)):
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
        yield from _finish(run, config, setup, loop)


def loop_of(
    run: Run, config: PretrainConfig, setup: PretrainSetup, device: Device, model: PreTraining, ranks: Ranks
) -> Loop:
    """Return the training loop of a run, at its beginning."""
    objective, budget = config.objective, config.budget
    store, documents, _, _ = pretraining_setup.split(setup, config)
    feed = TextFeed(
        store,
        documents,
        setup.wordpiece,
        Masker(pretraining_setup.masking_of(objective, setup.wordpiece), setup.wordpiece, budget.seed),
        Growth(objective.start_length if is_new(config) else 0, objective.max_length, objective.growth_share),
        budget.batch_tokens,
        objective.next_sentence,
        not objective.dynamic_masking,
        budget.seed,
        ranks,
    )
    task = LanguageModel(objective.next_sentence)
    loop = Loop(
        run,
        model,
        task,
        feed,
        Budget(budget.steps, budget.tokens, budget.minutes, budget.warmup_ratio, budget.evaluations),
        None,
        budget,
        device,
        peak=budget.learning_rate or default_rate(config, setup.config),
        betas=(0.9, budget.adam_beta2),
        ranks=ranks,
    )
    batches = pretraining_setup.validation_batches(
        setup, config, config.text.validation_tokens, device.micro_batch_tokens
    )
    if batches:
        loop.evaluation = lambda: task.evaluate(model, batches, loop.device)
    if budget.kept_weights:
        about = _about(config, setup.about.get("chain", []))
        loop.keeper = Keeper(run.path, model, setup.wordpiece, about, budget.kept_weights)
    return loop


def is_new(config: PretrainConfig) -> bool:
    """Whether the model starts from random weights."""
    return config.start.model.startswith("new:")


def default_rate(config: PretrainConfig, shape: BertConfig) -> float:
    """Return a good peak rate by the encoder's size; further pretraining wants less than a new model."""
    weights = 12 * shape.num_hidden_layers * shape.hidden_size**2  # embeddings left out
    for limit, rate in ((5e6, 1e-3), (15e6, 7e-4), (50e6, 4e-4), (150e6, 2e-4)):
        if weights < limit:
            return rate if is_new(config) else rate / 2
    return 1e-4 if is_new(config) else 5e-5


def _what_pairs_show(feed: TextFeed) -> Sentence:
    """Return how much of the text an epoch shows."""
    template = marked(
        "engine",
        "Pairs of up to {length} WordPieces show {percent} % of the text each time it is gone through; the "
        "rest is cut off to make them fit.",
    )
    share = feed.shown()
    return Sentence(template, {"length": feed.at.length, "percent": int(100 * share)})


def _started(run: Run, config: PretrainConfig, setup: PretrainSetup, loop: Loop) -> Started:
    _, train, _, held_out = pretraining_setup.split(setup, config)
    return Started(
        run_dir=run.path,
        task=loop.task.name,
        device=loop.device.describe(),
        num_steps=loop.schedule.num_steps,
        first_step=loop.at.step + 1,
        num_epochs=0.0,
        steps_per_epoch=0,
        num_train=len(train),
        num_validation=len(held_out),
        num_test=0,
        labels=(),
        metric=loop.task.metric,
        num_parameters=sum(p.numel() for p in loop.model.parameters()),
        learning_rate=loop.peak,
        cut_share=0.0,
    )


def _finish(run: Run, config: PretrainConfig, setup: PretrainSetup, loop: Loop) -> Iterator[Event]:
    if not loop.ranks.is_first:
        return
    save_result(run, config, setup, loop)
    metric = loop.at.best_metric if loop.evaluation else None
    finished = Finished(path=run.path / MODEL, seconds=loop.at.used_s, best_metric=metric)
    run.log(finished)
    yield finished


def _keep(run: Run, config: PretrainConfig, setup: PretrainSetup, loop: Loop) -> None:
    """Leave the newest weights in model/ when a run ends before its time."""
    kept = run.newest_checkpoint() if loop.ranks.is_first else None
    if kept is not None and kept.step > 0:  # the model in memory may hold what went wrong
        with fitting(kept):
            loop.model.load_state_dict(kept.weights())
        spent = {name: kept.state[name] for name in ("tokens", "used_s")}
        loop.at = replace(loop.at, step=kept.step, **spent)
        save_result(run, config, setup, loop)


def save_result(run: Run, config: PretrainConfig, setup: PretrainSetup, loop: Loop) -> None:
    """Write model/: the published layout, and cloze.json with what it came from, on what, for how long."""
    assert isinstance(loop.model, PreTraining)
    stage: dict[str, Any] = {
        "task": loop.task.name,
        "run": run.path.name,
        "from": origin_of(config.start.model),
        "text": [
            {name: file[name] for name in ("name", "sha256") if name in file}
            for file in setup.about["text"].get("files", [])
        ],
        "steps": loop.at.step,
        "tokens": loop.at.tokens,
        "seconds": round(loop.at.used_s, 1),
        "learning_rate": loop.peak,
        "mlm_accuracy": loop.at.best_metric if loop.at.num_evaluations and loop.evaluation else None,
        "date": time.strftime("%Y-%m-%d"),
    }
    cloze = _about(config, [*setup.about.get("chain", []), stage])
    save_model(run.path / MODEL, loop.model, setup.wordpiece, cloze)


def _about(config: PretrainConfig, chain: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what cloze.json says of a model that this run made."""
    return {
        "schema_version": 1,
        "task": "pretraining",
        "max_length": config.objective.max_length,
        "next_sentence": config.objective.next_sentence,
        "base_model": config.start.model,
        "chain": chain,
    }
