"""Fine-tuning from a table: one run folder, one loop, and the model that comes out of it."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from torch import Tensor

from engine.device import Device, open_device
from engine.errors import ConfigError, Sentence, marked
from engine.events import Evaluated, Event, Finished, Noted, Started, Steps
from engine.model.bert import initialize, set_dropout
from engine.model.config import FIRST_LAST
from engine.model.fastest import fastest, measure_again
from engine.model.heads import HeadedEncoder, SequenceClassifier
from engine.model.info import read_info
from engine.model.weights import NEW, load_headed
from engine.model.weights import read_config as read_shape
from engine.settings.config import with_values
from engine.settings.finetune import AdaptConfig, FineTuneConfig
from engine.text.batch import Batch
from engine.train import data_notes, lifecycle
from engine.train.adapt import (
    ON_FROZEN,
    REPEATED,
    adapted,
    mix_shares,
    on_mix,
    on_pooling,
    rates_of,
    repeated,
    usual_rate,
)
from engine.train.evaluate import evaluate
from engine.train.feed import EpochFeed
from engine.train.frozen import with_states
from engine.train.learned import learned_by, telling_start
from engine.train.lifecycle import Training, noting, placed
from engine.train.loop import Loop, evaluated
from engine.train.plan import epochs_of, fitted, measure, on_fitted, on_late
from engine.train.prepare import BASE_LAYERS, Setup, with_length
from engine.train.ranks import ALONE, Ranks, check_alone, joined_ranks
from engine.train.run.answers import load_answers
from engine.train.run.checkpoint import Checkpoint
from engine.train.run.dynamics import DYNAMICS, DynamicsWriter, is_kept
from engine.train.run.folder import Run, check_new
from engine.train.run.machine import check_space
from engine.train.run.records import event_from_record, record_of
from engine.train.run.runs import LAYERS, MODEL, evaluation_of, read_config
from engine.train.run.setup import read_setup
from engine.train.schedule import Epochs, NoSteps, TimedEpochs, TrainState
from engine.train.task import Answering, Measures
from engine.train.tasks.classification.kind import Classifying
from engine.train.tasks.kind import Kind
from engine.train.tasks.known import guess_task, task_named
from engine.train.tasks.rows.kind import OfRows
from engine.train.ways.choose import Start, check_way, choosing, document_of, on_solved, solving
from engine.train.ways.frozen import put_head
from engine.train.ways.names import AUTO, FINE_TUNED, SOLVED

JUDGED = "judged"  # in the setup of a run whose way was chosen: the event that told of it
FITTED = {"planned_steps": int, "planned_s": float}  # in the setup of a run that has a time, and their types


def fine_tune(config: FineTuneConfig, run_dir: Path) -> Iterator[Event]:
    """Train what the data are for in a new run folder. The result lies in run_dir/model.

    Raises: UserError in one sentence: before time or memory is spent where the input is to blame.
    """
    run_dir, config = Path(run_dir), settled(config)
    if lifecycle.is_begun_again(run_dir, config):
        yield from resume(run_dir)
        return
    with joined_ranks() as ranks:
        training = FineTuning(config, ranks)
        if not ranks.is_first:
            yield from lifecycle.follow(training, run_dir)
            return
        check_new(run_dir)
        check_ranks(config, ranks)
        device = open_device(config.device)
        ranks.check(device)
        notes: list[Noted] = []
        # no folder is left behind by data that cannot be used
        setup = yield from noting(training.prepare(), notes.append)
        check_space(run_dir, setup.config, training.num_kept)
        yield from lifecycle.begin(training, run_dir, device, setup, notes)


def resume(run_dir: Path) -> Iterator[Event]:
    """Continue a run from its folder alone. Raises: RunError if it is finished, in use or not a run."""
    with joined_ranks() as ranks:
        config = read_config(Path(run_dir))
        assert isinstance(config, FineTuneConfig)
        check_ranks(config, ranks)
        go_on = lifecycle.resume if ranks.is_first else lifecycle.follow
        yield from go_on(FineTuning(config, ranks), Path(run_dir))


def settled(config: FineTuneConfig) -> FineTuneConfig:
    """Return settings as a run keeps them: where its way is chosen, cross-validation takes the place of rows
    that are held out of the table, and all of them teach.
    """
    return with_values(config, {"validation_share": 0.0}) if config.adapt.way == AUTO else config


def known_before(config: FineTuneConfig) -> Steps[list[Noted]]:
    """Return what the model that a run would start from has already learned of its data.

    The files are read where it has learned from any. Raises: UserError.
    """
    config = settled(config)
    model, found = config.model.model, list[Noted]()
    if learned_by(model):
        parts, split = yield from guess_task(config.data)[0].apart(config)
        yield from noting(telling_start(model, parts, split), found.append)
    return found


def check_ranks(config: FineTuneConfig, ranks: Ranks) -> None:
    """Refuse batches that have not two examples for each process: the last of an epoch takes some of those.

    Raises: ConfigError.
    """
    if config.training.batch_size < 2 * ranks.world_size:
        raise ConfigError(
            marked(
                "engine",
                "{field} is {value}; {count} processes that share each step need at least two examples each.",
            ),
            field="batch_size",
            value=config.training.batch_size,
            count=ranks.world_size,
        )


@dataclass(frozen=True)
class FineTuning(Training[Setup]):
    """What fine-tuning adds to the life of a run: epochs over a file, the best checkpoint as its result."""

    config: FineTuneConfig
    ranks: Ranks = ALONE

    @property
    def base_model(self) -> str:
        return self.config.model.model

    @property
    def num_kept(self) -> int:
        return self.config.training.kept_weights

    def prepare(self) -> Generator[Event, None, Setup]:
        """Read, check, encode and split the data; where a time is given, see how many steps fit into it."""
        kind, reason = guess_task(self.config.data)
        if reason is not None:
            yield Noted(sentence=reason, level="fine")
        check_suits(kind, self.config.adapt)
        check_way(self.config, kind.name)
        if self.config.data.recipe and not isinstance(kind, OfRows):
            template = marked(
                "engine", "{field} fixes tables, but the data of the task {task} is not a table."
            )
            raise ConfigError(template, field="recipe", task=kind.name)
        setup = yield from _but_none_apart(
            kind.prepare(with_length(self.config, kind.max_length)), self.config
        )
        setup = replace(setup, config=replace(setup.config, problem_type=kind.problem))
        if self.config.adapt.way != FINE_TUNED:
            setup = yield from self._with_way(setup)
            if _way_of(setup) in SOLVED:
                return setup
        pooled = on_pooling(self.config) if kind.head.reads_firsts else None
        if pooled is not None:
            yield Noted(sentence=pooled, level="note")
        if self.config.training.minutes:
            return (yield from self._fitted(setup))
        yield from self._on_few(setup)
        return setup

    def _on_few(self, setup: Setup) -> Iterator[Noted]:
        """Say where the run has few steps, or few rows, and what else there is."""
        num_steps, rows = self._epochs(setup, self._feed(setup)).num_steps, len(setup.sets["train"])
        has_ways = setup.task == Classifying.name and self.config.adapt.way == FINE_TUNED
        has_ways = has_ways and not self.base_model.startswith("new:")
        told = list(data_notes.on_steps(num_steps, has_ways=has_ways))
        yield from told
        if has_ways and not told:
            yield from data_notes.on_few(rows, len(setup.labels))

    def _with_way(self, setup: Setup) -> Generator[Event, None, Setup]:
        """Keep with the setup which way is taken, judged where that is asked for."""
        check_alone()
        document: dict[str, Any] = {"way": self.config.adapt.way}
        about = dict[str, Any]()
        if self.config.adapt.way == AUTO:
            start = Start(self.config, setup, open_device(self.config.device))
            judged = yield from choosing(start)
            document, about = document_of(judged, start), {JUDGED: record_of(judged)}
        shape = setup.config
        if document["way"] in SOLVED:
            shape = replace(shape, pooling=FIRST_LAST)
        return replace(setup, config=shape, about={**setup.about, **about, "way": document})

    def _fitted(self, setup: Setup) -> Generator[Event, None, Setup]:
        """Measure a model that is thrown away, and keep with the setup what fits into the time."""
        training = self.config.training
        device = fastest(open_device(self.config.device), self.config.device, setup.config)
        model, _ = yield from self.model(setup, None)
        model = placed(model, self.config.device, device)
        feed = self._feed(setup)
        pace = yield from measure(model, self._task(setup), feed, setup.sets, training, device)
        found = fitted(self._epochs(setup, feed), training.minutes, pace)
        yield on_fitted(found, training, len(setup.sets["train"]))
        kept = {"planned_steps": found.most_steps, "planned_s": found.steps_s, "pace": asdict(pace)}
        return replace(setup, about={**setup.about, **kept})

    def load(self, folder: Path) -> Generator[Event, None, Setup]:
        yield from ()
        kind = task_named(read_setup(folder, {"task": str})["task"])
        setup = kind.setup.load(folder)
        if self.config.training.minutes:
            read_setup(folder, FITTED)
        return setup

    def model(
        self, setup: Setup, checkpoint: Checkpoint | None
    ) -> Generator[Event, None, tuple[HeadedEncoder, list[Sentence]]]:
        """Return the model to train, and what a person should know of its weights."""
        yield from ()
        notes: list[Sentence] = []
        chosen, seed = self.config.model, self.config.training.seed
        kind = task_named(setup.task)
        head, is_new = kind.head, checkpoint is None
        if checkpoint is not None:
            model = head(setup.config)
            checkpoint.load_into(model)
        elif chosen.model.startswith("new:"):
            model = head(setup.config)
            initialize(model, setup.config.initializer_range, seed)
            notes.append(
                Sentence(marked("engine", "The model is new, so all its weights start from random numbers."))
            )
        else:
            own = setup.config
            shape = replace(
                read_shape(Path(chosen.model)),
                layer_mix=own.layer_mix,
                pooling=own.pooling,
                problem_type=own.problem_type,
            )
            model, report = load_headed(Path(chosen.model), head, setup.labels, config=shape, seed=seed)
            notes += report.sentences()
            is_new = head.parts[-1] in report.new
        if is_new:
            notes += kind.begin(model, setup)
        elif checkpoint is None:
            notes += kind.go_on(model, setup, read_info(Path(chosen.model)))
        kind.attach(model, setup)
        set_dropout(model, chosen.hidden_dropout, chosen.attention_dropout)
        notes = yield from self._adapted(setup, model, notes, is_begun=checkpoint is not None)
        if self.config.adapt.rare_labels:
            notes.append(kind.on_rare(setup, self.config.adapt.rare_labels))
        return model, notes

    def _adapted(
        self, setup: Setup, model: HeadedEncoder, notes: list[Sentence], *, is_begun: bool
    ) -> Generator[Event, None, list[Sentence]]:
        """Freeze, renew or solve for parts of a model; return what to know of its weights by then."""
        is_solved = not is_begun and _way_of(setup) in SOLVED
        if is_solved:
            yield from self._solve(setup, model)
        notes = [*notes, *adapted(model, self._as_taken(setup), is_begun=is_begun)]
        if not is_solved:
            return notes
        false = (*NEW.values(), ON_FROZEN)  # of a head that is solved for
        told = [note for note in notes if note.template not in false]
        return [*told, on_solved(_way_of(setup), len(setup.sets["train"]))]

    def _solve(self, setup: Setup, model: HeadedEncoder) -> Iterator[Event]:
        """Give a model the head that its way solves for."""
        assert isinstance(model, SequenceClassifier)
        device = open_device(self.config.device)
        model.to(device.device)
        head = yield from solving(Start(self.config, setup, device), _way_of(setup), model)
        put_head(model, head)

    def _as_taken(self, setup: Setup) -> FineTuneConfig:
        """Return the settings with those that the way settles."""
        if _way_of(setup) not in SOLVED:
            return self.config
        return with_values(self.config, {"encoder": "frozen", "pooling": "mean"})

    def loop(self, run: Run, setup: Setup, device: Device, model: Any) -> Loop:
        """Return the loop: every example once an epoch, measured on the validation part."""
        training, task = self.config.training, self._task(setup)
        feed, keep_beside, kind = self._feed(setup), None, task_named(setup.task)
        schedule = self._epochs(setup, feed)
        if training.minutes and _way_of(setup) not in SOLVED:
            num_steps, seconds = (setup.about[name] for name in FITTED)
            schedule = TimedEpochs(**vars(schedule), most_steps=num_steps, steps_s=seconds)
        num_epochs = math.ceil(schedule.num_steps / feed.steps_per_epoch)
        if self._notes_rows(len(feed.data), num_epochs):
            writer = DynamicsWriter(run.path / DYNAMICS, len(feed.data), num_epochs)

            def note(batch: Batch, logits: Tensor) -> None:
                assert batch.targets is not None
                writer.take(loop.at.step // feed.steps_per_epoch, batch.indices, logits, batch.targets)

            telling = kind.telling(task, note)
            if telling is not None:
                task, keep_beside = telling, writer.save
        loop = Loop(
            run,
            model,
            task,
            feed,
            schedule,
            None,
            training,
            device,
            peak=training.learning_rate or usual_rate(self.config, setup.config, kind.least_rate),
            patience=training.early_stopping_patience,
            rates=rates_of(model, self.config.adapt.layer_decay, training.embedding_rate),
            ranks=self.ranks,
            keep_beside=keep_beside,
        )
        if "validation" in setup.sets:
            loop.evaluation = lambda: evaluate(model, task, setup.sets["validation"], loop.device, self.ranks)
        return loop

    def _notes_rows(self, count: int, num_epochs: int) -> bool:
        """Whether it is noted how each row was learned: by one process, which sees all of them."""
        return self.ranks.world_size == 1 and is_kept(count, num_epochs)

    def get_ready(self, setup: Setup, loop: Loop) -> Iterator[Event]:
        """Compute what frozen layers make of all texts."""
        assert isinstance(loop.model, HeadedEncoder) and isinstance(loop.feed, EpochFeed)
        for name, data in setup.sets.items():
            setup.sets[name] = yield from with_states(loop.model, data, loop.device)
        loop.feed.data = setup.sets["train"]

    def settled(self, setup: Setup) -> Iterator[Event]:
        event = event_from_record(setup.about.get(JUDGED, {}))
        if event is not None:
            yield event

    def _feed(self, setup: Setup) -> EpochFeed:
        training = self.config.training
        gathered = training.gradient_accumulation_steps
        data, order = setup.sets["train"], None
        if self.config.adapt.rare_labels == REPEATED:
            order = repeated(data.targets, len(setup.labels))
        return EpochFeed(data, training.batch_size, gathered, training.seed, self.ranks, order)

    def _task(self, setup: Setup) -> Answering:
        return task_named(setup.task).task(setup, self.config.adapt)

    def _epochs(self, setup: Setup, feed: EpochFeed) -> Epochs:
        training = self.config.training
        every = training.evaluate_every_steps
        if _way_of(setup) in SOLVED:
            return NoSteps(feed.steps_per_epoch, 0, training.warmup_ratio, every)
        num_epochs = epochs_of(self.config, feed.steps_per_epoch)
        return Epochs(feed.steps_per_epoch, num_epochs, training.warmup_ratio, every)

    def started(self, setup: Setup, loop: Loop) -> Started:
        steps_per_epoch = self._feed(setup).steps_per_epoch
        return loop.started(
            num_epochs=loop.schedule.num_steps / steps_per_epoch,
            steps_per_epoch=steps_per_epoch,
            num_train=_num_rows(setup, "train"),
            num_validation=_num_rows(setup, "validation"),
            num_test=_num_rows(setup, "test"),
            cut_share=float(setup.about["cut_share"]),
        )

    def finish(self, setup: Setup, loop: Loop, best: Checkpoint | None) -> Generator[Event, None, Finished]:
        """Measure the result on the test set, and say where it has one answer for all."""
        if loop.at.step < loop.schedule.num_steps and loop.schedule.progress(loop.at) >= 1.0:
            yield on_late(loop.at.step, loop.schedule.num_steps)
            measure_again(setup.config)
        assert isinstance(loop.model, HeadedEncoder)
        if loop.model.mix is not None:
            yield Noted(sentence=on_mix(loop.model), level="fine")
        step = best.step if best else loop.at.step
        metrics: dict[str, float] = {}
        kind = task_named(setup.task)
        task = kind.task(setup, AdaptConfig())
        measured = evaluation_of(loop.run.path, "validation", step)
        if measured is not None:
            setup = replace(setup, about={**setup.about, **_chosen(measured, setup, loop)})
            for found, level in task.remarks(measured, measured.split):
                if level == "fine":
                    yield Noted(sentence=found, level=level)
            task = kind.task(setup, AdaptConfig())
        if "test" in setup.sets:
            measures = yield from evaluate(loop.model, task, setup.sets["test"], loop.device)
            measured = evaluated(step, loop.feed.epoch(step), "test", measures, task)
            loop.run.log(measured)
            if measures.each is not None:
                loop.run.keep_answers("test", step, measures.each())
            yield measured
            metrics = dict(measures.metrics)
        for hidden, level in task.remarks(measured, measured.split) if measured is not None else ():
            if level == "wrong":
                yield Noted(sentence=hidden, level=level)
        return Finished(
            path=loop.run.path / MODEL,
            seconds=loop.at.elapsed_s,
            best_step=best.step if best else None,
            best_metric=loop.at.best_metric if best or _is_solved_best(loop) else None,
            metrics=metrics,
            stopped_early=loop.schedule.progress(loop.at) < 1.0,
        )

    def about(self, setup: Setup) -> dict[str, Any]:
        """Return what the table and its labels make of the model."""
        return {
            key: value
            for key, value in setup.about.items()
            if key not in ("reported", "repaired", "notes", "mends", JUDGED)
        }

    def about_result(self, setup: Setup, loop: Loop, at: TrainState) -> dict[str, Any]:
        """Return that, with this run as the last stage, and how its weights were measured."""
        measured = evaluation_of(loop.run.path, "validation", at.step)
        found = _chosen(measured, setup, loop) if measured is not None else {}
        is_best = at.step == loop.at.best_step and math.isfinite(loop.at.best_metric)
        metric = loop.at.best_metric if is_best else None
        num_rows = _num_rows(setup, "validation")
        chain = lifecycle.stages(
            self,
            setup,
            loop,
            data=setup.about["data"],
            split=setup.about.get("split", {}),
            num_hashed=_num_rows(setup, "train") if len(setup.learned) else 0,
            steps=at.step,
            seconds=round(at.elapsed_s, 1),
            learning_rate=loop.peak,
            seed=self.config.training.seed,
            **{loop.task.metric: metric},
            validation_rows=num_rows,
            **({LAYERS: setup.about[BASE_LAYERS]} if BASE_LAYERS in setup.about else {}),
        )
        trained = {
            "step": at.step,
            "of_steps": loop.schedule.num_steps,
            "metric": loop.task.metric,
            "value": metric,
            "rows": num_rows,  # that the value was measured on
            "validated": is_best,
            "run": loop.run.path.name,
            "learning_rate": loop.peak,
            "batch_size": self.config.training.batch_size,
            "seed": self.config.training.seed,
        }
        if measured is not None and "thresholds" in found and metric != measured.metrics[loop.task.metric]:
            trained["with_thresholds"] = True  # that validation has chosen; the value is the result's
        assert isinstance(loop.model, HeadedEncoder)
        if shares := mix_shares(loop.model):
            found = {**found, "layer_mix": [round(share, 6) for share in shares]}
        return {**self.about(setup), **found, "chain": chain, "trained": trained}


def _way_of(setup: Setup) -> str:
    """Return the way that a run has taken."""
    return str(setup.about.get("way", {}).get("way", FINE_TUNED))


def _is_solved_best(loop: Loop) -> bool:
    """Whether weights that were solved for, not stepped to, were measured on validation rows."""
    return not loop.schedule.num_steps and math.isfinite(loop.at.best_metric)


def _but_none_apart(steps: Steps[Setup], config: FineTuneConfig) -> Steps[Setup]:
    """Pass on what is said, but not that nobody can say how good a model is that is cross-validated."""
    while True:
        try:
            event = next(steps)
        except StopIteration as end:
            setup: Setup = end.value
            return setup
        is_false = isinstance(event, Noted) and event.sentence.template == data_notes.NONE_APART
        if not (is_false and config.adapt.way == AUTO):
            yield event


def check_suits(kind: Kind, adapt: AdaptConfig) -> None:
    """Refuse settings that mean nothing to a task. Raises: ConfigError naming the setting."""
    for name in kind.without:
        if getattr(adapt, name) != getattr(AdaptConfig(), name):
            raise ConfigError(
                marked("engine", "{field} is {value}, but the task {task} has no labels for it to act on."),
                field=name,
                value=getattr(adapt, name),
                task=kind.name,
            )


def _num_rows(setup: Setup, split: str) -> int:
    return setup.sets[split].num_rows if split in setup.sets else 0


def _chosen(measured: Evaluated, setup: Setup, loop: Loop) -> dict[str, Any]:
    """Return what validation has chosen for the result, such as thresholds.

    The training measured before they were chosen. Where it follows from the probabilities that were kept,
    the result's score and answers are those with them from here on.
    """
    kind = task_named(setup.task)
    chosen = kind.chosen(measured)
    data, each = setup.sets["validation"], load_answers(loop.run.path, "validation", measured.step)
    if not chosen or each is None or each.probabilities.shape != data.targets.shape:
        return chosen
    task = kind.task(replace(setup, about={**setup.about, **chosen}), AdaptConfig())
    measures = task.measure(each.probabilities, data)
    if isinstance(measures, Measures) and measures.each is not None and measured.step == loop.at.best_step:
        loop.at.best_metric = measures.metrics[task.metric]
        loop.run.keep_answers("validation", measured.step, measures.each())
        loop.run.set_status("running", best_metric=loop.at.best_metric)
    return chosen
