"""Pretraining from plain text, from random weights or further: masked words and next sentences."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.device import Device, open_device
from engine.errors import ModelError, Sentence, marked
from engine.events import Event, Finished, Started
from engine.model.config import BertConfig
from engine.model.heads import PreTraining
from engine.settings.config import absolute
from engine.settings.pretrain import PretrainConfig
from engine.text.corpus.masking import Masker
from engine.train import lifecycle
from engine.train.lifecycle import Training
from engine.train.loop import Loop, budgeted_loop
from engine.train.pretraining import setup as pretraining_setup
from engine.train.pretraining.first_weights import starting_model
from engine.train.pretraining.language import LanguageModel
from engine.train.pretraining.refusals import check_quickly, check_ranks
from engine.train.pretraining.setup import (
    PretrainSetup,
    masking_of,
    shape_of,
    split,
    validation_batches,
)
from engine.train.pretraining.teacher import Teacher, open_teacher
from engine.train.pretraining.text_feed import Growth, TextFeed
from engine.train.pretraining.watch import PinWatch, WatchQuestions
from engine.train.ranks import ALONE, Ranks, joined_ranks
from engine.train.run.checkpoint import Checkpoint
from engine.train.run.folder import Run, check_new
from engine.train.run.machine import check_space
from engine.train.run.runs import MODEL, read_config
from engine.train.schedule import TrainState


def pretrain(
    config: PretrainConfig, run_dir: Path, *, questions: WatchQuestions | None = None
) -> Iterator[Event]:
    """Train a language model in a new run folder. The result lies in run_dir/model.

    Args:   questions: sentences to ask while it learns; None: those pinned in the settings.
    Raises: UserError in one sentence: before time or memory is spent where the input is to blame.
    """
    run_dir, config = Path(run_dir), absolute(config)
    if lifecycle.is_begun_again(run_dir, config):
        yield from resume(run_dir, questions=questions)
        return
    with joined_ranks() as ranks:
        training = Pretraining(config, ranks, questions)
        if not ranks.is_first:
            yield from lifecycle.follow(training, run_dir)
            return
        check_new(run_dir)
        check_ranks(config, ranks)
        device = open_device(config.device)
        ranks.check(device)
        check_quickly(config)
        check_space(run_dir, shape_of(config.start), training.num_kept)
        yield from lifecycle.begin(training, run_dir, device)


def resume(run_dir: Path, *, questions: WatchQuestions | None = None) -> Iterator[Event]:
    """Continue a run from its folder. Raises: RunError if it is finished, in use or not a run."""
    with joined_ranks() as ranks:
        config = read_config(Path(run_dir))
        assert isinstance(config, PretrainConfig)
        check_ranks(config, ranks)
        training = Pretraining(config, ranks, questions)
        go_on = lifecycle.resume if ranks.is_first else lifecycle.follow
        yield from go_on(training, Path(run_dir))


class TextTraining(Training[PretrainSetup]):
    """What trainings on text have in common: their text, and the last weights as their result."""

    @property
    @abstractmethod
    def text_config(self) -> PretrainConfig:
        """The settings by which the text was prepared."""

    def load(self, folder: Path) -> Generator[Event, None, PretrainSetup]:
        """Read what `prepare` settled; a token store that is not whole is built again."""
        return pretraining_setup.load(folder, self.text_config)

    def started(self, setup: PretrainSetup, loop: Loop) -> Started:
        _, train, _, held_out = split(setup, self.text_config)
        return loop.started(num_train=len(train), num_validation=len(held_out))

    def finish(
        self, setup: PretrainSetup, loop: Loop, best: Checkpoint | None
    ) -> Generator[Event, None, Finished]:
        """Say what the last look at the held-out text found."""
        yield from ()
        metric = loop.at.best_metric if loop.evaluation else None
        return Finished(path=loop.run.path / MODEL, seconds=loop.at.used_s, best_metric=metric)


@dataclass(frozen=True)
class Pretraining(TextTraining):
    """What pretraining adds to the life of a run: a budget of text."""

    config: PretrainConfig
    ranks: Ranks = ALONE
    questions: WatchQuestions | None = None

    @property
    def text_config(self) -> PretrainConfig:
        return self.config

    @property
    def base_model(self) -> str:
        return self.config.start.model

    @property
    def num_kept(self) -> int:
        return self.config.budget.kept_weights

    def prepare(self) -> Generator[Event, None, PretrainSetup]:
        """Find the text, choose the vocabulary, cut the text into pieces."""
        return pretraining_setup.prepare(self.config)

    def model(
        self, setup: PretrainSetup, checkpoint: Checkpoint | None
    ) -> Generator[Event, None, tuple[PreTraining, list[Sentence]]]:
        """Return the model to train, and what a person should know of its weights."""
        return starting_model(self.config, setup, checkpoint)

    def loop(self, run: Run, setup: PretrainSetup, device: Device, model: Any) -> Loop:
        """Return the loop: text up to a budget, measured on fixed masks, asked the pinned sentences."""
        config, objective, budget = self.config, self.config.objective, self.config.budget
        store, documents, _, _ = split(setup, config)
        feed = TextFeed(
            store,
            documents,
            setup.wordpiece,
            Masker(masking_of(objective, setup.wordpiece), setup.wordpiece, budget.seed),
            Growth(
                objective.start_length if is_new(config) else 0, objective.max_length, objective.growth_share
            ),
            budget.batch_tokens,
            objective.next_sentence,
            not objective.dynamic_masking,
            budget.seed,
            self.ranks,
        )
        task = LanguageModel(objective.next_sentence, self._teacher(setup, device))
        usual_rate = default_rate(config, setup.config)
        loop = budgeted_loop(run, model, task, feed, budget, device, usual_rate, self.ranks)
        batches = validation_batches(setup, config, config.text.validation_tokens, device.micro_batch_tokens)
        if batches:
            loop.evaluation = lambda: task.evaluate(model, batches, loop.device, self.ranks)
        if self.ranks.is_first:
            pins = [line.strip() for line in budget.pins.split("\n") if line.strip()]
            loop.watch = PinWatch(self.questions or WatchQuestions(pins), setup.wordpiece)
        return loop

    def _teacher(self, setup: PretrainSetup, device: Device) -> Teacher | None:
        """Return the teacher that the run was begun with. Raises: ModelError: it is another by now."""
        teacher = open_teacher(self.config.objective, setup.wordpiece, device.device)
        if teacher is not None and teacher.sha256 != setup.about.get("teacher"):
            raise ModelError(
                marked(
                    "engine",
                    "The teacher {path} has changed since the run began, so the run cannot continue. "
                    "Start a new one.",
                ),
                path=self.config.objective.teacher,
            )
        return teacher

    def first_notes(self, loop: Loop) -> list[Sentence]:
        """Return how much of the text an epoch shows, where it shows pairs."""
        if not (self.config.objective.next_sentence and isinstance(loop.feed, TextFeed)):
            return []
        template = marked(
            "engine",
            "Pairs of up to {length} pieces show {percent} % of the text in each pass. "
            "The rest is truncated to make them fit.",
        )
        share = loop.feed.shown()
        return [Sentence(template, {"length": loop.feed.at.length, "percent": int(100 * share)})]

    def about(self, setup: PretrainSetup) -> dict[str, Any]:
        """Return what the text and the settings make of the model."""
        return {
            "schema_version": 1,
            "task": "pretraining",
            "max_length": self.config.objective.max_length,
            "next_sentence": self.config.objective.next_sentence,
            "base_model": self.config.start.model,
            "chain": setup.about.get("chain", []),
        }

    def about_result(self, setup: PretrainSetup, loop: Loop, at: TrainState) -> dict[str, Any]:
        """Return that, with this run as the last stage."""
        chain = lifecycle.stages(
            self,
            setup,
            loop,
            text=[
                {name: file[name] for name in ("name", "sha256") if name in file}
                for file in setup.about["text"].get("files", [])
            ],
            steps=at.step,
            tokens=at.tokens,
            seconds=round(at.used_s, 1),
            learning_rate=loop.peak,
            mlm_accuracy=at.best_metric if at.num_evaluations and loop.evaluation else None,
        )
        return {**self.about(setup), "chain": chain}


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
