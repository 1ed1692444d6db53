"""The life of NNLM, ELMo, GPT and BERT as runs: begun, trained, stopped and gone on with as the engine's are.

All begin alike, and are asked the same blanks at each evaluation.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, cast

import numpy as np
from torch import nn

from engine.device import Device
from engine.errors import Sentence
from engine.events import Event
from engine.family.bert import BertMember
from engine.family.blanks import draw_blanks, watch_blanks
from engine.family.layout import NEURAL, save_member
from engine.family.members import Member
from engine.family.reading import VOCAB, Streams, as_pretraining, streams
from engine.family.rows import NextWord, StreamFeed
from engine.family.starts import begin
from engine.inspect.loaded_model import LoadedModel, ModelSummary
from engine.model.heads import PreTraining
from engine.settings.family import FamilyConfig
from engine.settings.pretrain import PretrainConfig
from engine.train import lifecycle
from engine.train.loop import Loop, budgeted_loop
from engine.train.pretrain import Pretraining, TextTraining
from engine.train.pretraining.setup import PretrainSetup
from engine.train.run.checkpoint import Checkpoint
from engine.train.run.folder import Run
from engine.train.schedule import TrainState

RATES = {"nnlm": 3e-3, "elmo": 4e-3, "gpt": 2e-3}  # peaks where the settings leave them open


@dataclass(frozen=True)
class MemberTraining(TextTraining):
    """What one of these members adds to the life of a run. setup: of the family, which has all it needs."""

    config: FamilyConfig
    setup: PretrainSetup

    @property
    def name(self) -> str:
        return self.config.family.members

    @property
    def base_model(self) -> str:
        return f"new:{self.name}"

    @property
    def num_kept(self) -> int:
        return 0

    @cached_property
    def streams(self) -> Streams:
        """The family's text as words one after another."""
        return streams(self.config, self.setup)

    def prepare(self) -> Generator[Event, None, PretrainSetup]:
        """Return what the family prepared."""
        yield from ()
        return self.setup

    @property
    def text_config(self) -> PretrainConfig:
        return as_pretraining(self.config, Path(VOCAB))

    def model(
        self, setup: PretrainSetup, checkpoint: Checkpoint | None
    ) -> Generator[Event, None, tuple[nn.Module, list[Sentence]]]:
        """Return the network, begun as the settings say."""
        yield from ()
        family = self.config.family
        model = NEURAL[self.name].new(
            setup.wordpiece.vocab_size, family.width, family.layers, family.length, self.config.budget.seed
        )
        if checkpoint is not None:
            checkpoint.load_into(model)
        else:
            begin(model, self.streams.counts, family.starts)
        return model, []

    def loop(self, run: Run, setup: PretrainSetup, device: Device, model: Any) -> Loop:
        """Return the loop over rows of the stream, measured on rows of the held-out one."""
        budget, text = self.config.budget, self.config.text
        length = self.config.family.length
        feed = StreamFeed(self.streams.train, model.left, length, budget.batch_tokens, budget.seed)
        task = NextWord(model.per_word)
        loop = budgeted_loop(run, model, task, feed, budget, device, RATES[self.name])
        if len(self.streams.held_out):
            kept = StreamFeed(self.streams.held_out, model.left, length, budget.batch_tokens, 0)
            count = min(kept.num_rows, max(1, text.validation_tokens // length))
            batches = kept.parts(np.arange(count), device.micro_batch_tokens)
            loop.evaluation = lambda: task.evaluate(model, batches, loop.device)
            watch_blanks(loop, draw_blanks(self.streams.held_out), lambda network: cast(Member, network))
        return loop

    def save(self, folder: Path, setup: PretrainSetup, model: Any, cloze: dict[str, Any]) -> None:
        """Write the member's own layout."""
        save_member(folder, self.name, model, setup.wordpiece, sizes_of(self.config, setup), **cloze)

    def about(self, setup: PretrainSetup) -> dict[str, Any]:
        """Return nothing: no weights are kept along the way."""
        return {}

    def about_result(self, setup: PretrainSetup, loop: Loop, at: TrainState) -> dict[str, Any]:
        """Return what it learned from, and for how long."""
        return {
            "steps": at.step,
            "words_read": at.tokens,
            "seconds": round(at.used_s, 1),
            "chain": lifecycle.stages(self, setup, loop, steps=at.step),
        }


@dataclass(frozen=True)
class BertTraining(Pretraining):
    """The engine's own pretraining as the family has it. streams: of its text. starts: as the setting."""

    streams: Streams = field(kw_only=True)
    starts: str = field(kw_only=True)

    def model(
        self, setup: PretrainSetup, checkpoint: Checkpoint | None
    ) -> Generator[Event, None, tuple[PreTraining, list[Sentence]]]:
        """Return the network, begun as the settings say."""
        model, notes = yield from super().model(setup, checkpoint)
        if checkpoint is None:
            begin(model, self.streams.counts, self.starts)
        return model, notes

    def loop(self, run: Run, setup: PretrainSetup, device: Device, model: Any) -> Loop:
        """Return the loop of pretraining, which asks the blanks too."""
        loop = super().loop(run, setup, device, model)
        watch_blanks(loop, draw_blanks(self.streams.held_out), partial(_as_member, setup))
        return loop


def _as_member(setup: PretrainSetup, network: nn.Module) -> Member:
    """Return a network of pretraining that can be asked."""
    assert isinstance(network, PreTraining)
    about = ModelSummary(
        folder=Path(),
        name="",
        fingerprint="",
        config=network.config,
        wordpiece=setup.wordpiece,
        has_masked_words=True,
        has_next_sentence=True,
        has_pooler=True,
        labels=(),
        info={},
        notes=(),
        num_parameters=0,
    )
    return BertMember(LoadedModel(about, network.bert, network, None))


def sizes_of(config: FamilyConfig, setup: PretrainSetup) -> dict[str, int]:
    """Return the sizes that a member's folder tells, by which it is made again."""
    family = config.family
    sizes = {"width": family.width, "layers": family.layers, "length": family.length}
    return {"num_words": setup.wordpiece.vocab_size, **sizes}
