"""Fine-tuning from a table: one run folder, one loop, and the model that comes out of it."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from engine.device import Device, open_device
from engine.errors import ConfigError, Sentence, marked
from engine.events import Evaluated, Event, Finished, Noted, Started
from engine.model.bert import initialize, set_dropout
from engine.model.fastest import fastest
from engine.model.heads import SequenceClassifier
from engine.model.weights import load_classifier
from engine.model.weights import read_config as read_shape
from engine.settings.finetune import FineTuneConfig
from engine.train import lifecycle
from engine.train.adapt import REPEATED, WEIGHTED, adapted, label_weights, on_mix, on_rare, rates_of, repeated
from engine.train.evaluate import evaluate
from engine.train.feed import EpochFeed
from engine.train.frozen import with_states
from engine.train.lifecycle import Training, noting, placed
from engine.train.loop import Loop, evaluated
from engine.train.metrics import ONE_ANSWER, notes_on
from engine.train.optimizer import default_learning_rate
from engine.train.plan import fitted, measure, on_fitted, on_late
from engine.train.prepare import Setup, prepare
from engine.train.ranks import ALONE, Ranks, joined_ranks
from engine.train.run.checkpoint import Checkpoint
from engine.train.run.folder import Run, check_new
from engine.train.run.machine import check_space
from engine.train.run.records import event_from_record
from engine.train.run.runs import MODEL, read_config, read_metrics
from engine.train.run.setup import read_setup
from engine.train.schedule import Epochs, Progressed, TimedEpochs
from engine.train.tasks import Classification

FITTED = {"planned_steps": int, "planned_s": float}  # in the setup of a run that has a time, and their types


def fine_tune(config: FineTuneConfig, run_dir: Path) -> Iterator[Event]:
    """Train a classifier in a new run folder. The result lies in run_dir/model.

    Raises: UserError in one sentence: before time or memory is spent where the input is to blame.
    """
    run_dir = Path(run_dir)
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
    """What fine-tuning adds to the life of a run: epochs over a table, the best checkpoint as its result."""

    config: FineTuneConfig
    ranks: Ranks = ALONE

    @property
    def base_model(self) -> str:
        return self.config.model.model

    @property
    def num_kept(self) -> int:
        return self.config.training.kept_weights

    def prepare(self) -> Generator[Event, None, Setup]:
        """Read, check, encode and split the table; where a time is given, see how many steps fit into it."""
        setup = yield from prepare(self.config)
        return (yield from self._fitted(setup)) if self.config.training.minutes else setup

    def _fitted(self, setup: Setup) -> Generator[Event, None, Setup]:
        """Measure a model that is thrown away, and keep with the setup what fits into the time."""
        training = self.config.training
        device = fastest(open_device(self.config.device), self.config.device, setup.config)
        model, _ = yield from self.model(setup, None)
        model = placed(model, self.config.device, device)
        feed = self._feed(setup)
        pace = yield from measure(model, self._task(setup), feed, setup.sets, training, device)
        found = fitted(self._epochs(feed), training.minutes, pace)
        yield on_fitted(found, training, len(setup.sets["train"]))
        kept = {"planned_steps": found.most_steps, "planned_s": found.steps_s, "pace": asdict(pace)}
        return replace(setup, about={**setup.about, **kept})

    def load(self, folder: Path) -> Generator[Event, None, Setup]:
        yield from ()
        setup = Setup.load(folder)
        if self.config.training.minutes:
            read_setup(folder, FITTED)
        return setup

    def model(
        self, setup: Setup, checkpoint: Checkpoint | None
    ) -> Generator[Event, None, tuple[SequenceClassifier, list[Sentence]]]:
        """Return the classifier to train, and what a person should know of its weights."""
        yield from ()
        notes: list[Sentence] = []
        chosen, seed = self.config.model, self.config.training.seed
        if checkpoint is not None:
            model = SequenceClassifier(setup.config)
            checkpoint.load_into(model)
        elif chosen.model.startswith("new:"):
            model = SequenceClassifier(setup.config)
            initialize(model, setup.config.initializer_range, seed)
            notes.append(
                Sentence(marked("engine", "The model is new: all its weights start from random numbers."))
            )
        else:
            shape = replace(read_shape(Path(chosen.model)), layer_mix=setup.config.layer_mix)
            model, report = load_classifier(Path(chosen.model), setup.labels, config=shape, seed=seed)
            notes += report.sentences()
        set_dropout(model, chosen.hidden_dropout, chosen.attention_dropout)
        notes += adapted(model, self.config, is_begun=checkpoint is not None)
        if self.config.adapt.rare_labels:
            notes.append(on_rare(setup.labels, setup.sets["train"].targets, self.config.adapt.rare_labels))
        return model, notes

    def loop(self, run: Run, setup: Setup, device: Device, model: Any) -> Loop:
        """Return the loop: every example once an epoch, measured on the validation part."""
        training, task = self.config.training, self._task(setup)
        feed = self._feed(setup)
        schedule = self._epochs(feed)
        if training.minutes:
            num_steps, seconds = (setup.about[name] for name in FITTED)
            schedule = TimedEpochs(**vars(schedule), most_steps=num_steps, steps_s=seconds)
        loop = Loop(
            run,
            model,
            task,
            feed,
            schedule,
            None,
            training,
            device,
            peak=training.learning_rate or default_learning_rate(setup.config),
            patience=training.early_stopping_patience,
            rates=rates_of(model, self.config.adapt.layer_decay, training.embedding_rate),
            ranks=self.ranks,
        )
        if "validation" in setup.sets:
            loop.evaluation = lambda: evaluate(model, task, setup.sets["validation"], loop.device, self.ranks)
        return loop

    def get_ready(self, setup: Setup, loop: Loop) -> Iterator[Event]:
        """Compute what frozen layers make of all texts."""
        assert isinstance(loop.model, SequenceClassifier) and isinstance(loop.feed, EpochFeed)
        for name, data in setup.sets.items():
            setup.sets[name] = yield from with_states(loop.model, data, loop.device)
        loop.feed.data = setup.sets["train"]

    def _feed(self, setup: Setup) -> EpochFeed:
        training = self.config.training
        gathered = training.gradient_accumulation_steps
        data, order = setup.sets["train"], None
        if self.config.adapt.rare_labels == REPEATED:
            order = repeated(data.targets, len(setup.labels))
        return EpochFeed(data, training.batch_size, gathered, training.seed, self.ranks, order)

    def _task(self, setup: Setup) -> Classification:
        adapt, targets = self.config.adapt, setup.sets["train"].targets
        weights = label_weights(targets, len(setup.labels)) if adapt.rare_labels == WEIGHTED else ()
        return Classification(setup.labels, weights, adapt.label_smoothing)

    def _epochs(self, feed: EpochFeed) -> Epochs:
        training = self.config.training
        every = training.evaluate_every_steps
        return Epochs(feed.steps_per_epoch, training.num_epochs, training.warmup_ratio, every)

    def started(self, setup: Setup, loop: Loop) -> Started:
        steps_per_epoch = self._feed(setup).steps_per_epoch
        return loop.started(
            num_epochs=loop.schedule.num_steps / steps_per_epoch,
            steps_per_epoch=steps_per_epoch,
            num_train=len(setup.sets["train"]),
            num_validation=len(setup.sets.get("validation", ())),
            num_test=len(setup.sets.get("test", ())),
            cut_share=float(setup.about["cut_share"]),
        )

    def finish(self, setup: Setup, loop: Loop, best: Checkpoint | None) -> Generator[Event, None, Finished]:
        """Measure the result on the test set, and say where it has one answer for all."""
        if loop.at.step < loop.schedule.num_steps and loop.schedule.progress(loop.at) >= 1.0:
            yield on_late(loop.at.step, loop.schedule.num_steps)
        assert isinstance(loop.model, SequenceClassifier)
        if loop.model.mix is not None:
            yield Noted(sentence=on_mix(loop.model), level="fine")
        step = best.step if best else loop.at.step
        metrics: dict[str, float] = {}
        measured = _kept_evaluation(loop.run, step)
        if "test" in setup.sets:
            task = Classification(setup.labels)
            measures = yield from evaluate(loop.model, task, setup.sets["test"], loop.device)
            measured = evaluated(step, loop.feed.epoch(step), "test", measures, task)
            loop.run.log(measured)
            yield measured
            metrics = dict(measures.metrics)
        if measured is not None and measured.confusion is not None:
            for hidden in notes_on(measured.labels, measured.confusion, measured.split):
                if hidden.template == ONE_ANSWER:
                    yield Noted(sentence=hidden, level="wrong")
        return Finished(
            path=loop.run.path / MODEL,
            seconds=loop.at.elapsed_s,
            best_step=best.step if best else None,
            best_metric=loop.at.best_metric if best else None,
            metrics=metrics,
            stopped_early=loop.schedule.progress(loop.at) < 1.0,
        )

    def about(self, setup: Setup) -> dict[str, Any]:
        """Return what the table and its labels make of the model."""
        return {key: value for key, value in setup.about.items() if key not in ("reported", "notes")}

    def about_result(self, setup: Setup, loop: Loop, at: Progressed) -> dict[str, Any]:
        """Return that, with this run as the last stage, and how its weights were measured."""
        metric = loop.at.best_metric if at.step == loop.at.best_step else None
        num_rows = len(setup.sets.get("validation", ()))
        chain = lifecycle.stages(
            self,
            setup,
            loop,
            data=setup.about["data"],
            steps=at.step,
            seconds=round(at.elapsed_s, 1),
            learning_rate=loop.peak,
            seed=self.config.training.seed,
            **{loop.task.metric: metric},
            validation_rows=num_rows,
        )
        trained = {
            "step": at.step,
            "of_steps": loop.schedule.num_steps,
            "metric": loop.task.metric,
            "value": metric,
            "rows": num_rows,  # that the value was measured on
            "validated": at.step == loop.at.best_step,
            "run": loop.run.path.name,
            "learning_rate": loop.peak,
            "batch_size": self.config.training.batch_size,
            "seed": self.config.training.seed,
        }
        return {**self.about(setup), "chain": chain, "trained": trained}


def _kept_evaluation(run: Run, step: int) -> Evaluated | None:
    """Return what validation found of the weights of a step, as the run has written it down."""
    for record in reversed(read_metrics(run.path)):
        if record.get("event") == "evaluated" and record.get("step") == step:
            found = event_from_record(record)
            if isinstance(found, Evaluated) and found.split == "validation":
                return found
    return None
