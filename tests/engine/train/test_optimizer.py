"""Our AdamW against torch's own on dense gradients, and the learning rate by hand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from engine.model.config import BertConfig
from engine.text.batch import Bounds
from engine.train.adapt import rates_of
from engine.train.optimizer import Optimizer, default_learning_rate, learning_rate_at
from tests.fakes import same_weights, tiny_classifier

MAX_NORM, DECAY = 0.5, 0.1


def batches(count: int) -> list[tuple[Tensor, Bounds, Tensor]]:
    """Return packed batches of 3 texts in which tokens repeat and most tokens never come."""
    rng = np.random.default_rng(7)
    made = []
    for _ in range(count):
        bounds = Bounds(rng.integers(4, 9, 3))
        ids = torch.from_numpy(rng.choice([2, 3, 5, 5, 9, 31], bounds.num_tokens))
        made.append((ids, bounds, torch.from_numpy(rng.integers(0, 3, 3))))
    return made


def backward(model: torch.nn.Module, batch: tuple[Tensor, Bounds, Tensor], share: float = 1.0) -> None:
    ids, bounds, targets = batch
    (F.cross_entropy(model(ids, bounds=bounds), targets) * share).backward()


def reference(model: torch.nn.Module) -> torch.optim.AdamW:
    plain = [p for p in model.parameters() if p.ndim < 2]
    decayed = [p for p in model.parameters() if p.ndim >= 2]
    groups = [{"params": decayed, "weight_decay": DECAY}, {"params": plain, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, betas=(0.9, 0.999), eps=1e-8, fused=True)


@pytest.mark.parametrize("num_parts", [1, 3])
@pytest.mark.parametrize("max_norm", [MAX_NORM, 1e6, 0.0])
def test_a_sparse_word_gradient_moves_the_weights_as_a_dense_one_does(
    num_parts: int, max_norm: float
) -> None:
    # in float64, for Adam blows rounding up where a gradient is 0, as that of a key's bias is
    ours, theirs = tiny_classifier(seed=3).double(), tiny_classifier(seed=3).double()
    optimizer, adamw = Optimizer(ours, weight_decay=DECAY, max_gradient_norm=max_norm), reference(theirs)
    assert ours.bert.embeddings.word.sparse and not theirs.bert.embeddings.word.sparse
    every = batches(5 * num_parts)
    for step in range(5):
        for batch in every[step * num_parts : (step + 1) * num_parts]:
            backward(ours, batch, 1 / num_parts)
            backward(theirs, batch, 1 / num_parts)
        norm = torch.nn.utils.clip_grad_norm_(theirs.parameters(), max_norm or torch.inf)
        for group in adamw.param_groups:
            group["lr"] = 0.01 * (step + 1)
        adamw.step()
        adamw.zero_grad()
        assert optimizer.step(0.01 * (step + 1)).item() == pytest.approx(norm.item(), rel=1e-9)
        for name, value in ours.state_dict().items():
            torch.testing.assert_close(
                value, theirs.state_dict()[name], rtol=1e-7, atol=1e-8, msg=f"{name} {step}"
            )


def test_gradients_that_were_given_up_leave_no_trace() -> None:
    one, other = tiny_classifier(), tiny_classifier()
    first, second = batches(2)
    for model, given_up in ((one, True), (other, False)):
        optimizer = Optimizer(model, weight_decay=DECAY, max_gradient_norm=MAX_NORM)
        for _ in range(2):
            if given_up:
                backward(model, first)
                optimizer.clear()
            backward(model, second)
            optimizer.step(0.01)
    assert same_weights(one, other)


def test_moments_that_are_reserved_are_those_that_the_first_step_makes() -> None:
    early, late = tiny_classifier(), tiny_classifier()
    (batch,) = batches(1)
    states = []
    for model in (early, late):
        optimizer = Optimizer(model, weight_decay=DECAY, max_gradient_norm=MAX_NORM)
        if model is early:
            optimizer.reserve()
            state = {name: value.clone() for name, value in optimizer.state().items()}
            assert len(state) == 3 * len(list(model.parameters())) and not any(
                v.any() for v in state.values()
            )
        for _ in range(2):
            backward(model, batch)
            optimizer.step(0.01)
            optimizer.reserve()  # changes nothing any more
        states.append(optimizer.state())
    assert same_weights(early, late)
    assert states[0].keys() == states[1].keys()
    assert all(torch.equal(value, states[1][name]) for name, value in states[0].items())


@pytest.mark.parametrize("max_norm", [MAX_NORM, 0.0])
@pytest.mark.parametrize("bad", ["loss", "gradient", "a word's gradient"])
def test_what_is_not_finite_moves_neither_weights_nor_moments_nor_the_next_step(
    bad: str, max_norm: float
) -> None:
    spoiled, spared = tiny_classifier(), tiny_classifier()
    every = batches(3)
    for model in (spoiled, spared):
        optimizer = Optimizer(model, weight_decay=DECAY, max_gradient_norm=max_norm)
        for number, batch in enumerate(every):
            backward(model, batch)
            loss = torch.tensor(1.0)
            if number == 1 and model is spared:
                optimizer.clear()
                continue
            if number == 1 and bad == "loss":
                loss = loss * torch.inf
            elif number == 1:
                words = model.bert.embeddings.word.weight.grad
                (words._values() if bad != "gradient" else model.classifier.bias.grad).fill_(torch.nan)
            optimizer.step(0.01, loss)
    assert same_weights(spoiled, spared)


def test_an_optimizer_goes_on_bit_for_bit_from_its_saved_state() -> None:
    whole, halved = tiny_classifier(), tiny_classifier()
    every = batches(6)
    optimizer = Optimizer(whole, weight_decay=DECAY, max_gradient_norm=MAX_NORM)
    for batch in every:
        backward(whole, batch)
        optimizer.step(0.01)
    early = Optimizer(halved, weight_decay=DECAY, max_gradient_norm=MAX_NORM)
    for batch in every[:3]:
        backward(halved, batch)
        early.step(0.01)
    state = {name: value.clone() for name, value in early.state().items()}
    later = Optimizer(halved, weight_decay=DECAY, max_gradient_norm=MAX_NORM)
    later.load_state(state)
    for batch in every[3:]:
        backward(halved, batch)
        later.step(0.01)
    assert same_weights(whole, halved)
    assert len(state) == 3 * len(list(whole.parameters()))
    assert all(torch.equal(value, later.state()[name]) for name, value in optimizer.state().items())


def test_biases_and_norms_do_not_decay() -> None:
    model = tiny_classifier()
    before = {name: value.clone() for name, value in model.named_parameters()}
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    model.bert.embeddings.word.weight.grad = torch.zeros_like(model.bert.embeddings.word.weight).to_sparse(1)
    Optimizer(model, weight_decay=DECAY, max_gradient_norm=MAX_NORM).step(0.01)
    for name, value in model.named_parameters():
        wanted = before[name] * (1 - 0.01 * DECAY if value.ndim > 1 else 1)
        torch.testing.assert_close(value.detach(), wanted, msg=name)


def test_the_rate_climbs_over_the_warm_up_and_falls_to_nothing() -> None:
    rates = [learning_rate_at(step, 10, 0.2, 1.0) for step in range(1, 11)]
    assert rates == pytest.approx([0, 1 / 2, 1, 7 / 8, 6 / 8, 5 / 8, 4 / 8, 3 / 8, 2 / 8, 1 / 8])


@pytest.mark.parametrize("ratio", [0.0, 0.01, 0.5, 1.0])
@pytest.mark.parametrize("num_steps", [1, 2, 7])
def test_no_rate_is_negative_or_above_its_peak(ratio: float, num_steps: int) -> None:
    rates = [learning_rate_at(step, num_steps, ratio, 0.3) for step in range(1, num_steps + 1)]
    assert min(rates) >= 0 and max(rates) <= 0.3
    assert ratio or rates[0] == 0.3
    assert max(rates) > 0  # a run of one step learns, too


def test_small_models_are_given_a_higher_rate() -> None:
    names = ("tiny", "mini", "small", "medium", "base", "large")
    rates = [default_learning_rate(BertConfig.preset(name)) for name in names]
    asked = [default_learning_rate(BertConfig.preset(name), 3e-4) for name in names]
    assert asked[0] == rates[0] and asked[-1] == rates[-1] and min(asked[:3]) == 3e-4  # small ones alone
    assert rates == sorted(rates, reverse=True)
    assert rates[0] >= 1e-4 and rates[4] <= 5e-5


def test_word_embeddings_learn_at_their_own_rate_and_nothing_else_does() -> None:
    batch = batches(1)[0]
    moved = []
    for times in (1.0, 10.0, 0.0):
        model = tiny_classifier(seed=3).double()
        before = {name: weight.detach().clone() for name, weight in model.named_parameters()}
        rates = rates_of(model, 1.0, times)
        optimizer = Optimizer(model, weight_decay=0.0, max_gradient_norm=0.0, rates=rates)
        backward(model, batch)
        optimizer.step(1e-3)
        moved.append({name: weight.detach() - before[name] for name, weight in model.named_parameters()})
    word = "bert.embeddings.word.weight"
    once, tenfold, still = (each.pop(word) for each in moved)
    assert once.any() and torch.allclose(tenfold, 10 * once) and not still.any()
    for name, change in moved[0].items():
        assert torch.equal(change, moved[1][name]) and torch.equal(change, moved[2][name]), name


TRAINING = """
import pathlib, sys
from engine.train.finetune import fine_tune
from tests.engine.tiny_runs import tiny_config
folder = pathlib.Path(sys.argv[1])
list(fine_tune(tiny_config(folder), folder / "run"))
print(any(name.startswith(("torch._dynamo", "torch._inductor")) for name in sys.modules))
"""


@pytest.mark.slow
def test_training_does_not_make_torch_import_its_compiler(tmp_path: Path) -> None:
    """It takes two seconds of every command, and of the window's thread where it is imported beside it."""
    done = subprocess.run(
        [sys.executable, "-c", TRAINING, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["False"], done.stderr
