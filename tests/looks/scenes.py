"""What scenes to look at and to test are made of: small tables, a vocabulary, an invented run.

The invented run is a generator of events like the engine's, so that a scene is quick and always alike.
"""

from __future__ import annotations

import csv
import math
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from engine.errors import RunError, marked
from engine.events import Evaluated, Event, Finished, Progress, Saved, Started, Step
from engine.settings.finetune import FineTuneConfig

TWO = ("negative", "positive")
FIVE = ("business", "entertainment", "politics", "sport", "tech")
ABOUT = ("delivery and packaging", "prices", "the web site", "opening hours", "the staff in the shop")
TWENTY = tuple(
    f"{kind} of {what}" for kind in ("complaints", "praise", "questions", "requests") for what in ABOUT
)
CHINESE = ("财经", "房产", "教育", "科技", "体育", "游戏", "娱乐")
SHARED = ("the", "a", "film", "was", "and", "it", "of", "story", "with", "by")


def write_table(path: Path, labels: Sequence[str], rows_a_label: int = 40, seed: int = 7) -> Path:
    """Write a small table in which every label has words of its own; return its path."""
    rng = np.random.default_rng(seed)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["label", "text"])
        for row in range(rows_a_label * len(labels)):
            number = row % len(labels)
            own = [f"{word}{number}" for word in ("good", "play", "bad")]
            writer.writerow(
                [labels[number], " ".join(rng.choice([*SHARED, *own * 2], size=int(rng.integers(5, 40))))]
            )
    return path


def write_vocabulary(path: Path, num_labels: int = 20) -> Path:
    """Write a vocab.txt that knows the words of `write_table`; return its path."""
    own = [f"{word}{number}" for number in range(num_labels) for word in ("good", "play", "bad")]
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)] + list("0123456789")
    tokens = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *letters,
        *(f"##{c}" for c in letters),
        *SHARED[2:],
        *own,
    ]
    path.write_text("\n".join(dict.fromkeys([*tokens, *SHARED])) + "\n", encoding="utf-8")
    return path


class Invented:
    """What invented runs have in common: they wait at a step until `let_go`, and leave a folder behind."""

    def __init__(self, num_steps: int, hold_at: int, fail_at: int) -> None:
        self.num_steps, self.hold_at, self.fail_at = num_steps, hold_at, fail_at
        self.gate = threading.Event()
        self.closed = False

    def let_go(self) -> None:
        """Let a held run go on."""
        self.gate.set()

    def keep(self, run_dir: Path) -> None:
        """Leave what a run leaves: its folder of checkpoints, and a model."""
        (run_dir / "checkpoints").mkdir(parents=True, exist_ok=True)
        (run_dir / "model").mkdir(exist_ok=True)
        (run_dir / "model" / "config.json").write_text("{}", encoding="utf-8")


class InventedRun(Invented):
    """A training task that learns on paper: `hold_at` makes it wait at a step until `let_go`."""

    def __init__(
        self,
        labels: Sequence[str],
        *,
        num_steps: int = 336,
        per_label: int = 85,
        hold_at: int = 0,
        fail_at: int = 0,
        overfits: bool = False,
        never: int = -1,
    ) -> None:
        super().__init__(num_steps, hold_at, fail_at)
        self.labels, self.per_label = tuple(labels), per_label
        self.overfits, self.never = overfits, never

    def fine_tune(self, config: FineTuneConfig, run_dir: Path) -> Iterator[Event]:
        """The task, in the place of the engine's."""
        run_dir.mkdir(parents=True, exist_ok=True)
        yield Progress(stage="Tokenizing", done=1, total=2)
        yield self.started(run_dir)
        rng = np.random.default_rng(3)
        every = max(1, self.num_steps // 6)
        try:
            for step in range(1, self.num_steps + 1):
                yield self._step(step, rng)
                if step % every == 0:
                    yield self.evaluated(step, rng)
                    yield Saved(step=step, path=run_dir, is_best=True)
                while step == self.hold_at and not self.gate.wait(0.01):
                    yield Saved(step=step, path=run_dir, is_best=False)
                if step == self.fail_at:
                    raise RunError(
                        marked(
                            "engine",
                            "The loss has not been a number since step {step}. Try a lower learning rate.",
                        ),
                        step=step,
                    )
        except GeneratorExit:
            self.closed = True
            self.keep(run_dir)
            raise
        self.keep(run_dir)
        yield Finished(path=run_dir / "model", seconds=472.0, best_step=self.num_steps, best_metric=0.97)

    def evaluated(self, step: int, rng: np.random.Generator) -> Evaluated:
        """An evaluation as it would be at a step."""
        share = step / self.num_steps
        right = min(0.975, 1 / len(self.labels) + share * 1.8)
        count = len(self.labels)
        confusion = np.zeros((count, count), dtype=np.int64)
        for true in range(count):
            weights = np.full(count, (1 - right) / max(1, count - 1))
            weights[true] = right
            if self.never >= 0:
                weights[self.never] = 0
            confusion[true] = rng.multinomial(self.per_label - 3 * (true % 4), weights / weights.sum())
        accuracy = float(np.trace(confusion) / confusion.sum())
        loss = math.log(count) * (1 - accuracy) + (0.9 * max(0.0, share - 0.4) if self.overfits else 0.02)
        return Evaluated(
            step=step,
            epoch=3 * share,
            split="validation",
            loss=loss,
            metrics={"accuracy": accuracy, "macro_f1": accuracy - 0.004},
            labels=self.labels,
            confusion=confusion,
            per_label=dict.fromkeys(self.labels, (accuracy, accuracy, accuracy, self.per_label)),
            is_best=True,
        )

    def started(self, run_dir: Path) -> Started:
        """What the run says first."""
        return Started(
            run_dir=run_dir,
            task="classification",
            device="CPU · 2 cores",
            num_steps=self.num_steps,
            first_step=1,
            num_epochs=3,
            steps_per_epoch=self.num_steps // 3,
            num_train=len(self.labels) * self.per_label * 4,
            num_validation=len(self.labels) * self.per_label,
            num_test=0,
            labels=self.labels,
            metric="accuracy",
            num_parameters=11_170_560,
            learning_rate=2e-4,
            cut_share=0.12,
        )

    def _step(self, step: int, rng: np.random.Generator) -> Step:
        share = step / self.num_steps
        loss = math.log(len(self.labels)) * math.exp(-4.2 * share) * rng.normal(1, 0.12) + 0.05
        right = min(1.0, max(0.0, 1 - 0.8 * math.exp(-6 * share) + rng.normal(0, 0.03)))
        return Step(
            step=step,
            epoch=3 * share,
            loss=loss,
            accuracy=right,
            learning_rate=2e-4 * (1 - share),
            gradient_norm=1.8 + rng.normal(0, 0.2),
            num_tokens=2900,
            tokens_per_s=1480 + rng.normal(0, 30),
            elapsed_s=1.4 * step,
            remaining_s=1.4 * (self.num_steps - step),
        )
