"""How many steps a fine-tuning makes and how long they take: told before it starts, or fitted into a time.

Where a time is given, speed is measured: a few real steps on a model that is thrown away. So many steps are
planned as fit, and the learning rate runs its whole way over them: a run is made shorter, never cut off.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_right
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.device import Device, finish, flops_estimate
from engine.errors import Sentence, marked
from engine.events import Event, Noted, Progress
from engine.model.bert import Bert
from engine.model.config import BertConfig, count_parameters
from engine.model.heads import HeadedEncoder
from engine.settings.finetune import FineTuneConfig, TrainingConfig
from engine.settings.shared import DeviceConfig
from engine.text.batch import EncodedRows
from engine.train.adapt import REPEATED, num_frozen, repeats, usual_rate
from engine.train.feed import EpochFeed
from engine.train.optimizer import Optimizer
from engine.train.schedule import Epochs, TimedEpochs
from engine.train.task import Answering
from engine.train.ways.names import (
    AUTO,
    CONTRASTIVE,
    COSTLY_FOLDS,
    FINE_TUNED,
    LEAST_STEPS,
    PAIRS,
    REGRESSION,
    tried,
)

PLANNED = 0.95  # of the time that is given: what is left is for a machine that becomes slower meanwhile
LONGEST_S = 4.0  # measured for; two steps at least, of which the first does not count
MOST_STEPS = 8
BUSY = 0.5  # processes a core, besides a run, from which on a computer is called busy
UNKNOWN = 2.0  # times longer than estimated a run may take here, while none has been made
SPREAD = 1.2  # times longer or shorter, once one has
SLOWEST = 50.0  # times the estimate that one run can teach
MASKED_SHARE = 0.15  # of tokens that are guessed in pretraining


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run will take, told before it starts.

    num_steps: of the run itself; 0 where its head is solved for. ways: those that are judged before, by
    cross-validation: num_steps is then of fine-tuning, if that is taken.
    """

    num_train: int
    num_validation: int
    num_test: int
    steps_per_epoch: int
    num_steps: int
    seconds: float
    learning_rate: float
    ways: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TimeEstimate:
    """Between how many seconds a run will take, and whether others keep the computer busy."""

    low: float
    high: float
    is_busy: bool


def told(seconds: float, busy: float, slowness: float = 0.0) -> TimeEstimate:
    """Return how long a run will take: `low` if it has the computer for itself, `high` if that stays as busy.

    Args: seconds: as planned. busy: processes a core, before it starts. slowness: what the last run taught.
    """
    low, high = seconds, UNKNOWN * seconds
    if 1 / SLOWEST <= slowness <= SLOWEST:
        low, high = seconds * slowness / SPREAD, seconds * slowness * SPREAD
    return TimeEstimate(low, high * (1.0 + busy), busy > BUSY)


def learned(planned: float, took: float, busy: float) -> float:
    """Return how many times longer than planned a run took, its share of a busy computer set aside.

    Args: busy: processes a core at its end, its own among them.
    """
    return min(SLOWEST, max(1.0 / SLOWEST, took / max(planned, 1e-9) / max(1.0, busy)))


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds of a step, of rows of the mean length, and of one look at the validation rows."""

    step_s: float
    evaluation_s: float

    def seconds(self, num_steps: int, every: int) -> float:
        """Return what so many steps take, with a look after every so many of them and after the last."""
        return num_steps * self.step_s + math.ceil(num_steps / every) * self.evaluation_s

    def steps_within(self, seconds: float, most: int, every: int) -> int:
        """Return how many steps of at most `most` fit into a time; one where none does."""
        found = bisect_right(range(1, most + 1), seconds, key=lambda steps: self.seconds(steps, every))
        return max(1, found)


def plan(
    config: FineTuneConfig,
    *,
    num_examples: int,
    num_tokens: int,
    model: BertConfig,
    label_counts: Sequence[int] = (),
    least_rate: float = 0.0,
) -> Plan:
    """Return the steps and roughly the seconds of a run. Arithmetic only.

    Args: num_examples, num_tokens: of the whole table, cut at max_length. label_counts: examples of each
        label. least_rate: of small encoders, as the task has it.
    """
    data, training = config.data, config.training
    is_judged = config.adapt.way == AUTO
    has_none_apart = data.validation_data or is_judged
    num_validation = 0 if has_none_apart else int(num_examples * data.validation_share + 0.5)
    num_test = 0 if data.test_data else int(num_examples * data.test_share + 0.5)
    num_train = max(1, num_examples - num_validation - num_test)
    num_seen = num_train  # in an epoch
    if config.adapt.rare_labels == REPEATED and label_counts:
        often = sum(count * times for count, times in zip(label_counts, repeats(label_counts), strict=True))
        num_seen = round(num_train * often / sum(label_counts))
    batches = math.ceil(num_seen / training.batch_size)
    steps_per_epoch = math.ceil(batches / training.gradient_accumulation_steps)
    work = _Work.of(config, model, num_tokens / max(1, num_examples))
    per_step = 3 * work.learning * work.row_s * num_seen / steps_per_epoch + work.optimizer_s
    pace = Pace(per_step, work.learning * work.row_s * num_validation)
    every = training.evaluate_every_steps or steps_per_epoch
    num_steps = steps_per_epoch * epochs_of(config, steps_per_epoch)
    if training.minutes:
        num_steps = pace.steps_within(PLANNED * 60 * training.minutes, num_steps, every)
    counts = [round(count * num_train / num_examples) for count in label_counts]
    ways = tried(counts, config.adapt.take) if is_judged else ()
    judging_s = work.judging_s(ways, num_train, training.batch_size, num_steps)
    ends = (config.adapt.take,) if config.adapt.take else ways or (config.adapt.way,)  # which it may take
    may_step = FINE_TUNED in ends
    solving_s = work.solving_s(CONTRASTIVE if CONTRASTIVE in ends else REGRESSION, num_train)
    steps_s = pace.seconds(num_steps, every) + (1.0 - work.learning) * work.row_s * num_examples
    return Plan(
        num_train=num_train,
        num_validation=num_validation,
        num_test=num_test,
        steps_per_epoch=steps_per_epoch,
        num_steps=num_steps if may_step else 0,
        seconds=judging_s + (steps_s if may_step else solving_s) + work.row_s * num_test,
        learning_rate=training.learning_rate or usual_rate(config, model, least_rate),
        ways=ways,
    )


def epochs_of(config: FineTuneConfig, steps_per_epoch: int) -> int:
    """Return the epochs that a run has: those asked for, more where they would be too few steps."""
    least = max(config.training.least_steps, LEAST_STEPS if config.adapt.way == AUTO else 0)
    return max(config.training.num_epochs, math.ceil(least / steps_per_epoch))


@dataclass(frozen=True)
class _Work:
    """Seconds that a model takes: row_s to read a row, optimizer_s to move its weights once.

    learning: the share of its layers that learn.
    """

    row_s: float
    optimizer_s: float
    learning: float = 1.0

    @classmethod
    def of(cls, config: FineTuneConfig, model: BertConfig, per_token: float) -> _Work:
        """Return it by arithmetic. Args: per_token: WordPieces of a row."""
        weights = 12 * model.num_hidden_layers * model.hidden_size**2
        flops = 2 * weights + 4 * model.num_hidden_layers * model.hidden_size * per_token
        rate = flops_estimate(config.device)
        learning, all_weights = 1.0, sum(count_parameters(model).values())
        if (frozen := num_frozen(config, model)) is not None:  # computed once, before the first step
            learning = 1.0 - frozen / model.num_hidden_layers
            all_weights = int(weights * learning)
        # the optimizer is bound by memory
        return cls(per_token * flops / rate, 12 * all_weights / (rate / 10), learning)

    def solving_s(self, way: str, rows: int) -> float:
        """Return what a way takes whose head is solved for, on so many rows."""
        vectors = rows * self.row_s
        pairs = LEAST_STEPS * (3 * 2 * PAIRS * self.row_s + self.optimizer_s)
        return vectors + pairs if way == CONTRASTIVE else vectors

    def judging_s(self, ways: Sequence[str], rows: int, batch_size: int, num_steps: int) -> float:
        """Return what it takes to cross-validate some ways. Args: num_steps: of fine-tuning."""
        found = self.solving_s(REGRESSION, rows) if ways else 0.0
        if CONTRASTIVE in ways:
            found += COSTLY_FOLDS * self.solving_s(CONTRASTIVE, rows)
        if FINE_TUNED in ways:
            step = 3 * min(batch_size, rows) * self.row_s + self.optimizer_s
            found += COSTLY_FOLDS * num_steps * step + rows * self.row_s
        return found


def pretraining_seconds(
    steps: int, batch_tokens: int, length: int, model: BertConfig, device: DeviceConfig
) -> float:
    """Return roughly what so many steps of pretraining take; arithmetic only. Args: length: of its texts."""
    hidden, layers = model.hidden_size, model.num_hidden_layers
    encoder = 24 * layers * hidden**2 + 4 * layers * hidden * length  # operations a token, forwards
    head = MASKED_SHARE * (2 * model.vocab_size * hidden + 2 * hidden**2)
    rate = flops_estimate(device)
    per_step = 12 * sum(count_parameters(model).values()) / (rate / 10)
    return steps * (3 * batch_tokens * (encoder + head) / rate + per_step)


def measure(
    model: HeadedEncoder,
    task: Answering,
    feed: EpochFeed,
    sets: Mapping[str, EncodedRows],
    training: TrainingConfig,
    device: Device,
) -> Generator[Event, None, Pace]:
    """Take a few steps with `model`, which is spoilt by it, and return the pace of such a run."""
    optimizer = Optimizer(
        model, weight_decay=training.weight_decay, max_gradient_norm=training.max_gradient_norm
    )
    noise = next(module.noise for module in model.modules() if isinstance(module, Bert))
    model.train()
    per_token = list[float]()
    began = time.perf_counter()
    while len(per_token) < MOST_STEPS and (len(per_token) < 2 or time.perf_counter() - began < LONGEST_S):
        step = len(per_token) + 1
        yield Progress(stage=marked("engine", "Measuring"), done=step - 1, total=MOST_STEPS)
        noise.seed(training.seed, step)
        taken = feed.take(1 + (step - 1) % feed.steps_per_epoch, 0.0)
        start = time.perf_counter()
        _one_step(model, task, feed.parts(taken, device.micro_batch_tokens), optimizer, device)
        per_token.append((time.perf_counter() - start) / int(feed.lengths(taken).sum()))
    token_s = min(per_token[1:])  # the least disturbed; the clock sees to what disturbs the run itself
    num_tokens = int(sets["train"].lengths.sum() if feed.order is None else feed.lengths(feed.order).sum())
    kept = int(sets["validation"].lengths.sum()) if "validation" in sets else 0
    return Pace(token_s * num_tokens / feed.steps_per_epoch, token_s * kept / 3)  # forwards alone


def _one_step(
    model: HeadedEncoder, task: Answering, parts: Any, optimizer: Optimizer, device: Device
) -> None:
    totals = task.count(parts)
    for part in parts:
        with device.autocast():
            loss, _ = task.loss(model, part.to(device.device), totals)
        loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step(1e-6)
    finish(device.device)


def fitted(full: Epochs, minutes: float, pace: Pace) -> TimedEpochs:
    """Return as much of a whole run as fits into so many minutes."""
    every, seconds = full.evaluate_every_steps or full.steps_per_epoch, 60 * minutes
    num_steps = pace.steps_within(PLANNED * seconds, full.num_steps, every)
    steps_s = max(seconds / 2, seconds - pace.evaluation_s)  # the look after the last step comes beside it
    return TimedEpochs(**vars(full), most_steps=num_steps, steps_s=steps_s)


def on_late(step: int, num_steps: int) -> Noted:
    """Say that the clock ended a run before the steps that were planned."""
    template = marked(
        "engine",
        "Training was slower than when it was measured. In the time, {step:,} of {all:,} "
        "planned steps were made, and the learning rate ran its whole course over them.",
    )
    return Noted(sentence=Sentence(template, {"step": step, "all": num_steps}), level="fine")


def on_fitted(found: TimedEpochs, training: TrainingConfig, num_rows: int) -> Noted:
    """Say what was chosen, and why. Args: num_rows: to learn from."""
    epochs = found.most_steps / found.steps_per_epoch
    values: dict[str, Any] = {"all": num_rows, "minutes": training.minutes}
    if found.most_steps == found.steps_per_epoch * found.num_epochs:
        values |= {"epochs": found.num_epochs}
        template = marked(
            "engine",
            "Everything fits into {minutes:g} min here, by measurement: each of {all:,} rows {epochs} times.",
        )
        if found.num_epochs == 1:
            template = marked(
                "engine",
                "Everything fits into {minutes:g} min here, by measurement: each of {all:,} rows once.",
            )
    elif epochs > 1:
        values |= {"epochs": epochs}
        template = marked(
            "engine",
            "Each of {all:,} rows {epochs:.1f} times: as often as fits into {minutes:g} min "
            "here, by measurement.",
        )
    else:
        rows = found.most_steps * training.batch_size * training.gradient_accumulation_steps
        values |= {"rows": min(num_rows, rows)}
        template = marked(
            "engine",
            "{rows:,} of {all:,} rows, each once: as many as fit into {minutes:g} min here, by measurement.",
        )
    return Noted(sentence=Sentence(template, values), level="fine")
