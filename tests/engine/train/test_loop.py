"""The loop: what a step is, whatever memory there is; when it stops; what it keeps."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from engine.errors import UserError
from engine.events import Evaluated, Finished, Noted, Saved, Started, Step
from engine.model.weights import load_classifier, load_tensors
from engine.text.batch import Batch, collate
from engine.train.finetune import fine_tune, resume
from engine.train.loop import Loop, TrainingError
from engine.train.optimizer import Optimizer, learning_rate_at
from engine.train.prepare import Setup
from engine.train.run.runs import read_metrics, read_status
from engine.train.task import Measures
from engine.train.tasks.classification.task import Classification
from tests.engine.tiny_runs import losses, outcome, tiny_config

NO_DROPOUT = {"hidden_dropout": 0.0, "attention_dropout": 0.0}
MEMORY_ERRORS = [
    torch.OutOfMemoryError("CUDA out of memory."),
    RuntimeError("[enforce fail at alloc_cpu.cpp:121] DefaultCPUAllocator: can't allocate memory: you tried"),
    MemoryError(),
]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """The examples of each micro-batch that was trained on, in order."""
    parts: list[list[int]] = []
    loss = Classification.loss

    def noting(self: Classification, model: nn.Module, batch: Batch, totals: Tensor) -> tuple[Tensor, Tensor]:
        parts.append(batch.indices.tolist())
        return loss(self, model, batch, totals)

    monkeypatch.setattr(Classification, "loss", noting)
    return parts


def by_step(parts: list[list[int]], sizes: list[int]) -> list[list[int]]:
    """Join micro-batches to steps of the given sizes."""
    steps, flat = [], [index for part in parts for index in part]
    for size in sizes:
        steps.append(flat[:size])
        flat = flat[size:]
    assert not flat
    return steps


def faulty_loss(
    monkeypatch: pytest.MonkeyPatch, spoil: Callable[[Tensor], Tensor], at_calls: Container[int]
) -> None:
    """Spoil the loss of some micro-batches, counted from 1."""
    calls, loss = [0], Classification.loss

    def spoiled(
        self: Classification, model: nn.Module, batch: Batch, totals: Tensor
    ) -> tuple[Tensor, Tensor]:
        calls[0] += 1
        value, tally = loss(self, model, batch, totals)
        value = spoil(value) if calls[0] in at_calls else value
        return value, torch.stack([value.detach(), tally[1]])

    monkeypatch.setattr(Classification, "loss", spoiled)


def falling_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every evaluation worse than the one before."""
    calls, measure = [0], Classification.measure

    def worse(self: Classification, answers: np.ndarray, targets: np.ndarray) -> Measures:
        calls[0] += 1
        found = measure(self, answers, targets)
        return replace(found, metrics={**found.metrics, "accuracy": 1 / calls[0]})

    monkeypatch.setattr(Classification, "measure", worse)


# What a step is


@pytest.mark.slow
@pytest.mark.parametrize("tokens", [40, 2000])
def test_a_step_has_batch_size_examples_and_an_epoch_every_example_once(
    tmp_path: Path, seen: list[list[int]], tokens: int
) -> None:
    list(fine_tune(tiny_config(tmp_path, micro_batch_tokens=tokens), tmp_path / "run"))
    steps = by_step(seen, 2 * [*[5] * 8, 2])  # 42 of 53 rows are trained on
    for epoch in (steps[:9], steps[9:]):
        assert sorted(index for step in epoch for index in step) == list(range(42))
    assert steps[:9] != steps[9:]
    assert (len(seen) == 18) == (tokens == 2000)


@pytest.mark.slow
def test_parts_of_a_step_give_the_loss_and_weights_of_the_whole(tmp_path: Path) -> None:
    whole, parts = (
        losses(
            fine_tune(tiny_config(tmp_path, micro_batch_tokens=tokens, **NO_DROPOUT), tmp_path / str(tokens))
        )
        for tokens in (2000, 30)
    )
    assert parts == pytest.approx(whole, rel=1e-5) and len(whole) == 18


@pytest.mark.slow
def test_accumulation_trains_as_one_large_batch_with_plain_torch_does(
    tmp_path: Path, seen: list[list[int]]
) -> None:
    config = tiny_config(tmp_path, gradient_accumulation_steps=3, weight_decay=0.05, **NO_DROPOUT)
    events = list(fine_tune(config, tmp_path / "run"))
    steps = by_step(seen, 2 * [15, 15, 12])
    setup = Setup.load(tmp_path / "run" / "setup")
    model, _ = load_classifier(tmp_path / "start", setup.labels)
    plain = [p for p in model.parameters() if p.ndim < 2]
    decayed = [p for p in model.parameters() if p.ndim >= 2]
    groups = [{"params": decayed, "weight_decay": 0.05}, {"params": plain, "weight_decay": 0.0}]
    adamw = torch.optim.AdamW(groups)
    wanted = []
    for number, indices in enumerate(steps, start=1):
        batch = collate(setup.sets["train"], np.array(sorted(indices)))
        logits = model(batch.input_ids, batch.token_type_ids, bounds=batch.bounds)
        loss = F.cross_entropy(logits, batch.targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for group in adamw.param_groups:
            group["lr"] = learning_rate_at(number, 6, 0.1, 3e-3)
        adamw.step()
        adamw.zero_grad()
        wanted.append(loss.item())
    assert losses(events) == pytest.approx(wanted, rel=1e-4)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_run_and_another_another(tmp_path: Path) -> None:
    runs = [
        losses(fine_tune(tiny_config(tmp_path, seed=seed), tmp_path / name))
        for seed, name in ((1, "a"), (1, "b"), (2, "c"))
    ]
    assert runs[0] == runs[1] != runs[2]
    first, again = outcome(tmp_path / "a"), outcome(tmp_path / "b")
    assert first == again


@pytest.mark.slow
def test_steps_tell_the_rate_the_epoch_and_the_share_that_was_right(tmp_path: Path) -> None:
    steps = [event for event in fine_tune(tiny_config(tmp_path), tmp_path / "run") if isinstance(event, Step)]
    assert [step.step for step in steps] == list(range(1, 19))
    assert steps[8].epoch == 1.0 and steps[-1].epoch == 2.0
    assert [step.learning_rate for step in steps] == [
        learning_rate_at(n, 18, 0.1, 3e-3) for n in range(1, 19)
    ]
    assert all(step.accuracy in (0, 0.2, 0.4, 0.6, 0.8, 1.0) for step in steps[:8])
    assert all(a.elapsed_s <= b.elapsed_s for a, b in pairwise(steps))
    assert steps[-1].remaining_s == 0


def test_no_yield_is_inside_no_grad_or_inference_mode(tmp_path: Path) -> None:
    for _ in fine_tune(tiny_config(tmp_path, num_epochs=1, test_share=0.2), tmp_path / "run"):
        assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled()


def test_events_come_in_the_promised_order(tmp_path: Path) -> None:
    events = list(fine_tune(tiny_config(tmp_path, test_share=0.2), tmp_path / "run"))
    kinds = [type(event) for event in events]
    assert kinds.index(Started) < kinds.index(Step) and kinds.count(Started) == 1
    assert kinds.count(Finished) == 1 and kinds[-1] is Finished
    assert [event.split for event in events if isinstance(event, Evaluated)] == [
        "validation",
        "validation",
        "test",
    ]
    assert [event.step for event in events if isinstance(event, Saved)] == [0, 2, 4, 6, 7, 8, 10, 12, 14]


# Memory


@pytest.mark.slow
@pytest.mark.parametrize("error", MEMORY_ERRORS, ids=lambda error: type(error).__name__)
def test_out_of_memory_halves_the_parts_and_keeps_the_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    config = tiny_config(tmp_path, **NO_DROPOUT)
    wanted = losses(fine_tune(config, tmp_path / "roomy"))
    forward = Classification.forward

    def cramped(self: Classification, model: Any, batch: Batch) -> Tensor:
        if batch.num_tokens > 40:
            raise error
        return forward(self, model, batch)

    monkeypatch.setattr(Classification, "forward", cramped)
    events = list(fine_tune(config, tmp_path / "run"))
    assert losses(events) == pytest.approx(wanted, rel=1e-5)
    told = [
        str(event.sentence)
        for event in events
        if isinstance(event, Noted) and "Memory" in str(event.sentence)
    ]
    assert told and all("The batch stays the same" in sentence for sentence in told)
    assert isinstance(events[-1], Finished)


def test_a_text_that_memory_cannot_hold_alone_stops_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cramped(*_: Any) -> Tensor:
        raise MEMORY_ERRORS[0]

    monkeypatch.setattr(Classification, "forward", cramped)
    with pytest.raises(UserError, match=r"There is not enough memory for one text of \d+ pieces"):
        list(fine_tune(tiny_config(tmp_path), tmp_path / "run"))
    assert read_status(tmp_path / "run")["state"] == "failed"
    assert "There is not enough memory" in read_status(tmp_path / "run")["reason"]


def test_memory_that_ends_outside_a_forward_pass_is_a_sentence_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cramped(*_: Any) -> Tensor:
        raise MEMORY_ERRORS[1]

    monkeypatch.setattr("engine.train.optimizer.Optimizer.step", cramped)
    with pytest.raises(UserError, match="There is not enough memory for this model"):
        list(fine_tune(tiny_config(tmp_path), tmp_path / "run"))


def test_an_error_of_ours_is_not_taken_for_a_lack_of_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Tensor:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    monkeypatch.setattr(Classification, "forward", broken)
    with pytest.raises(RuntimeError, match="mat1"):
        list(fine_tune(tiny_config(tmp_path), tmp_path / "run"))
    assert "mat1" in read_status(tmp_path / "run")["reason"]


# Numbers that are none


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "spoil"), [("loss", lambda loss: loss * math.nan), ("gradient", lambda loss: loss * 1e38 * loss)]
)
def test_a_loss_or_gradient_that_is_no_number_stops_and_the_last_good_checkpoint_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, spoil: Callable[[Tensor], Tensor]
) -> None:
    config = tiny_config(tmp_path)
    list(fine_tune(config, tmp_path / "whole"))
    with monkeypatch.context() as patched:
        faulty_loss(patched, spoil, range(14, 99))
        with pytest.raises(
            TrainingError, match=r"at step 16, so training stopped.*lower learning rate"
        ) as stopped:
            list(fine_tune(config, tmp_path / "run"))
    status = read_status(tmp_path / "run")
    assert (status["state"], status["reason"]) == ("failed", str(stopped.value))
    kept = {path.name for path in (tmp_path / "run" / "checkpoints").iterdir()}
    assert kept == {"step-00000009", "step-00000012"}
    model, _ = load_classifier(tmp_path / "run" / "model")
    assert all(value.isfinite().all() for value in model.state_dict().values())
    assert not any(math.isnan(record.get("loss", 0)) for record in read_metrics(tmp_path / "run"))
    list(resume(tmp_path / "run"))
    assert outcome(tmp_path / "run") == outcome(tmp_path / "whole")
    assert "reason" not in read_status(tmp_path / "run")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "spoil"), [("loss", lambda loss: loss * math.nan), ("gradient", lambda loss: loss * 1e38 * loss)]
)
def test_a_step_that_is_no_number_moves_no_weights_is_told_and_training_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, spoil: Callable[[Tensor], Tensor]
) -> None:
    faulty_loss(monkeypatch, spoil, (6, 9, 10, 12))
    weights: list[dict[str, Tensor]] = []
    step = Optimizer.step

    def noting(self: Optimizer, *given: Any) -> Tensor:
        norm = step(self, *given)
        weights.append({k: v.detach().clone() for k, v in {**self._named, **self.state()}.items()})
        return norm

    monkeypatch.setattr(Optimizer, "step", noting)
    events = list(fine_tune(tiny_config(tmp_path), tmp_path / "run"))
    assert isinstance(events[-1], Finished) and read_status(tmp_path / "run")["state"] == "finished"
    told = [str(event.sentence) for event in events if isinstance(event, Noted)]
    lost = [sentence for sentence in told if "did not change the weights" in sentence]
    assert [re.findall(r"at step (\d+)", sentence) for sentence in lost] == [["6"], ["9"], ["10"], ["12"]]
    steps = [event.step for event in events if isinstance(event, Step)]
    assert steps == [number for number in range(1, 19) if number not in (6, 9, 10, 12)]
    for number in range(2, 19):
        same = {k: torch.equal(v, weights[number - 2][k]) for k, v in weights[number - 1].items()}
        assert all(same.values()) if number in (6, 9, 10, 12) else not any(same.values()), number
        assert all(value.isfinite().all() for value in weights[number - 1].values())


@pytest.mark.slow
def test_the_memory_of_the_optimizer_is_taken_before_the_first_activations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[bool] = []
    gradients = Loop._gradients

    def noting(self: Loop, *given: Any) -> Any:
        state = self.optimizer.state()
        held.append(all(f"{name}/exp_avg_sq" in state for name, _ in self.model.named_parameters()))
        return gradients(self, *given)

    monkeypatch.setattr(Loop, "_gradients", noting)
    list(fine_tune(tiny_config(tmp_path), tmp_path / "run"))
    assert all(held) and len(held) == 18

    def cramped(*_: Any) -> None:
        raise MEMORY_ERRORS[0]

    monkeypatch.setattr(Optimizer, "reserve", cramped)
    with pytest.raises(UserError, match="There is not enough memory for this model"):
        list(fine_tune(tiny_config(tmp_path), tmp_path / "other"))


def test_without_validation_a_failure_leaves_the_newest_good_weights_in_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faulty_loss(monkeypatch, lambda loss: loss * math.nan, range(8, 99))
    with pytest.raises(TrainingError):
        list(fine_tune(tiny_config(tmp_path, validation_share=0.0), tmp_path / "run"))
    status = read_status(tmp_path / "run")
    assert status["step"] == 6
    load_classifier(tmp_path / "run" / "model")
    assert '"step": 6' in (tmp_path / "run" / "model" / "cloze.json").read_text()


def test_a_failure_before_anything_was_learned_leaves_no_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faulty_loss(monkeypatch, lambda loss: loss * math.inf, range(1, 99))
    with pytest.raises(TrainingError, match="became inf at step 3"):
        list(fine_tune(tiny_config(tmp_path), tmp_path / "run"))
    assert not (tmp_path / "run" / "model").exists()


# What is kept


@pytest.mark.slow
def test_the_newest_and_the_best_checkpoint_are_kept_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    falling_scores(monkeypatch)
    kept = []
    config = tiny_config(tmp_path, evaluate_every_steps=3, checkpoint_every_steps=2)
    for event in fine_tune(config, tmp_path / "run"):
        if isinstance(event, Saved):
            kept.append({int(path.name[5:]) for path in (tmp_path / "run" / "checkpoints").iterdir()})
    assert kept[:6] == [{0}, {2}, {3}, {3, 4}, {3, 6}, {3, 8}] and kept[-1] == {3, 18}


@pytest.mark.slow
def test_the_result_is_the_best_checkpoint_and_not_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    falling_scores(monkeypatch)
    events = list(fine_tune(tiny_config(tmp_path), tmp_path / "run"))
    end = events[-1]
    assert isinstance(end, Finished) and (end.best_step, end.best_metric) == (9, 1.0)
    assert [event.is_best for event in events if isinstance(event, Evaluated)] == [True, False]
    best, _ = load_classifier(tmp_path / "run" / "model")
    weights = load_tensors(tmp_path / "run" / "checkpoints" / "step-00000009" / "weights.safetensors")
    assert all(torch.equal(value, weights[name]) for name, value in best.state_dict().items())


@pytest.mark.slow
def test_of_equal_scores_the_lower_loss_is_the_better(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns: Iterator[tuple[float, float]] = iter([(0.5, 3.0), (0.5, 2.0), (0.5, 2.5), (0.4, 0.1)])
    measure = Classification.measure

    def next_turn(self: Classification, answers: np.ndarray, targets: np.ndarray) -> Measures:
        accuracy, loss = next(turns)
        return replace(measure(self, answers, targets), loss=loss, metrics={"accuracy": accuracy})

    monkeypatch.setattr(Classification, "measure", next_turn)
    events = list(fine_tune(tiny_config(tmp_path, num_epochs=4), tmp_path / "run"))
    assert [event.is_best for event in events if isinstance(event, Evaluated)] == [True, True, False, False]


@pytest.mark.slow
def test_early_stopping_waits_for_its_patience_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    falling_scores(monkeypatch)
    config = tiny_config(tmp_path, num_epochs=9, early_stopping_patience=2)
    end = list(fine_tune(config, tmp_path / "run"))[-1]
    assert isinstance(end, Finished) and end.stopped_early and end.best_step == 9
    assert (
        read_status(tmp_path / "run")["step"] == 27 and read_status(tmp_path / "run")["state"] == "finished"
    )


@pytest.mark.slow
def test_dropout_is_the_one_asked_for(tmp_path: Path) -> None:
    first = {
        p: losses(fine_tune(tiny_config(tmp_path, hidden_dropout=p, num_epochs=1), tmp_path / str(p)))[0]
        for p in (0.0, 0.5)
    }
    setup = Setup.load(tmp_path / "0.0" / "setup")
    model, _ = load_classifier(tmp_path / "start", setup.labels)
    assert first[0.0] != first[0.5]
    batch = collate(setup.sets["train"], np.arange(42))
    with torch.inference_mode():
        apart = F.cross_entropy(model(batch.input_ids, bounds=batch.bounds), batch.targets, reduction="none")
    assert apart.min() < first[0.0] < apart.max()
