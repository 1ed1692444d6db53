"""Invented text and an invented pretraining run, for the scenes and tests of the Pretrain page."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import RunError, marked
from engine.events import Evaluated, Event, Finished, Pinned, Progress, Reading, Saved, Started, Step
from engine.model.config import BertConfig, count_parameters
from engine.settings.pretrain import PretrainConfig
from engine.train.pretraining.forecast import Forecast
from tests.looks.scenes import Invented

NOUNS = ("river", "castle", "engine", "garden", "letter", "window", "market", "bridge", "winter")
VERBS = ("crossed", "painted", "opened", "forgot", "followed", "carried", "watched")
GUESSES = ("the", "was", "of", "game", "door", "born", "queen", "paris", "a")
BLIND, END = 6.4, 2.6  # nats at the beginning and at the end


def write_text(path: Path, documents: int = 30, seed: int = 3) -> Path:
    """Write documents of a few paragraphs, a blank line between them; return the path."""
    rng = np.random.default_rng(seed)

    def sentence() -> str:
        return f"The {rng.choice(NOUNS)} {rng.choice(VERBS)} the {rng.choice(NOUNS)} in {rng.choice(NOUNS)}."

    blocks = ("\n".join(" ".join(sentence() for _ in range(5)) for _ in range(4)) for _ in range(documents))
    path.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
    return path


def invented_forecast(config: PretrainConfig) -> Generator[Event, None, Forecast]:
    """A forecast that measures nothing, in the place of the engine's."""
    yield Progress(stage="Measuring", done=1, total=2)
    parts = count_parameters(BertConfig.preset("mini", 8192), pretraining=True)
    total = sum(parts.values())
    return Forecast(
        parts=parts,
        num_parameters=total,
        memory_bytes=16 * total,
        disk_bytes=32 * total,
        tokens_per_s=14_320.0,
        seconds=2700.0,
        steps=9_440,
        tokens=38_664_000,
        epochs=1.2,
        vocab_size=8192,
        shown=0.87,
    )


class InventedReading(Invented):
    """A pretraining task that learns on paper: `hold_at` makes it wait at a step until `let_go`."""

    def __init__(
        self,
        *,
        num_steps: int = 400,
        hold_at: int = 0,
        fail_at: int = 0,
        stuck: bool = False,
        pairs: bool = True,
    ) -> None:
        super().__init__(num_steps, hold_at, fail_at)
        self.stuck, self.pairs = stuck, pairs
        self.asked: list[str] = []

    def pretrain(self, config: PretrainConfig, run_dir: Path, *, questions: Any = None) -> Iterator[Event]:
        """The task, in the place of the engine's."""
        run_dir.mkdir(parents=True, exist_ok=True)
        yield Progress(stage="Tokenizing", done=1, total=2)
        yield self.started(run_dir)
        rng = np.random.default_rng(5)
        pins = [line for line in config.budget.pins.split("\n") if line]
        try:
            for step in range(1, self.num_steps + 1):
                yield self.step(step, rng)
                if step % max(1, self.num_steps // 12) == 0:
                    yield self.evaluated(step)
                    yield self.pinned(step, pins)
                while step == self.hold_at and not self.gate.wait(0.01):
                    yield from self._answers(step, questions)
                    yield Saved(step=step, path=run_dir, is_best=False)
                if step == self.fail_at:
                    raise RunError(
                        marked("engine", "The loss became nan at step {step}, so training stopped."),
                        step=step,
                    )
        except GeneratorExit:
            self.closed = True
            self.keep(run_dir)
            raise
        self.keep(run_dir)
        yield Finished(path=run_dir / "model", seconds=2700.0, best_metric=0.41)

    def started(self, run_dir: Path) -> Started:
        """What the run says first."""
        return Started(
            run_dir=run_dir,
            task="pretraining",
            device="CPU · 2 cores",
            num_steps=0,
            first_step=1,
            num_epochs=0.0,
            steps_per_epoch=0,
            num_train=11_441,
            num_validation=116,
            num_test=0,
            labels=(),
            metric="mlm_accuracy",
            num_parameters=5_529_090,
            learning_rate=1e-3,
            cut_share=0.0,
        )

    def loss(self, share: float) -> float:
        """Return the loss as it would be after a share of the run."""
        return BLIND if self.stuck else END + (BLIND - END) * math.exp(-4 * share)

    def step(self, step: int, rng: np.random.Generator) -> Step:
        """A step as it would be."""
        share = step / self.num_steps
        loss = self.loss(share) * rng.normal(1, 0.03)
        measures = {"mlm_loss": loss}
        if self.pairs:
            right = min(1.0, max(0.0, 0.5 + 0.4 * share + rng.normal(0, 0.08)))
            measures |= {"nsp_loss": 0.69 - 0.4 * share, "nsp_accuracy": right}
        return Step(
            step=step,
            epoch=share,
            loss=loss + measures.get("nsp_loss", 0.0),
            accuracy=min(1.0, max(0.0, self._accuracy(share) + rng.normal(0, 0.02))),
            learning_rate=1e-3 * min(share / 0.05, (1 - share) / 0.95),
            gradient_norm=1.2 + rng.normal(0, 0.15),
            num_tokens=4096,
            tokens_per_s=14_320 + rng.normal(0, 300),
            elapsed_s=2700 * share,
            remaining_s=2700 * (1 - share),
            progress=share,
            measures=measures,
        )

    def evaluated(self, step: int) -> Evaluated:
        """A look at held-out text as it would be at a step."""
        share = step / self.num_steps
        loss = self.loss(share) + 0.1
        metrics = {
            "mlm_loss": loss,
            "perplexity": math.exp(loss),
            "mlm_accuracy": self._accuracy(share) - 0.01,
        }
        if self.pairs:
            metrics |= {"nsp_loss": 0.4, "nsp_accuracy": 0.5 + 0.38 * share}
        return Evaluated(
            step=step, epoch=share, split="validation", loss=loss, metrics=metrics, labels=(), confusion=None,
            per_label={}, is_best=True,
        )  # fmt: skip

    def pinned(self, step: int, pins: Sequence[str], *, is_question: bool = False) -> Pinned:
        """What the model would answer at a step."""
        share = step / self.num_steps
        return Pinned(
            step=step,
            progress=share,
            readings=tuple(self._reading(number, pin, share) for number, pin in enumerate(pins)),
            is_question=is_question,
        )

    def _reading(self, number: int, pin: str, share: float) -> Reading:
        right = pin.partition("[")[2].partition("]")[0]
        known = 0.0 if self.stuck else 0.7 * share ** (1 + number)
        others = [word for word in GUESSES if word != right.lower()]
        first = 0 if self.stuck else number
        words = [others[(first + place) % len(others)] for place in range(4)]
        rest = [(1 - known) * 0.3 * 0.6**place for place in range(4)]
        guesses = sorted([*zip(words, rest, strict=True), (right.lower(), known)], key=lambda one: -one[1])
        place = [word for word, _value in guesses].index(right.lower())
        return Reading(
            sentence=pin,
            guesses=tuple(guesses),
            right=None if right == "MASK" else right,
            probability=None if right == "MASK" else known,
            rank=None if right == "MASK" else place + 1 if known > 0.01 else 214,
        )

    def _accuracy(self, share: float) -> float:
        return 0.06 if self.stuck else 0.06 + 0.36 * (1 - math.exp(-4 * share))

    def _answers(self, step: int, questions: Any) -> Iterator[Event]:
        _pins, asked = questions.taken() if questions is not None else (None, [])
        for sentence in asked:
            self.asked.append(sentence)
            yield self.pinned(step, [sentence], is_question=True)
