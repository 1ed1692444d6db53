"""The emulated GPU itself: it computes as torch does, and lets nothing pass that a GPU would not forgive."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from tests.accelerator import emulated
from tests.accelerator.emulated import NAME, Fault, Stream, machine

pytestmark = pytest.mark.slow  # for the process that the first one starts
# as CUDA's documentation has it: what makes the host wait until all is done that was asked
WAITING: dict[str, Callable[[Tensor], object]] = {
    "item": lambda x: x.sum().item(),
    "a branch": lambda x: bool((x > 0).all()),
    "a float": lambda x: float(x[0]),
    "a list": lambda x: x.tolist(),
    "cpu": lambda x: x.cpu(),
    "nonzero": lambda x: x.nonzero(),
    "rows by a mask": lambda x: x[x > 2],
    "put by a mask": lambda x: x.masked_select(x > 2),
    "unique": lambda x: x.unique(),
    "equal": lambda x: torch.equal(x, x),
    "numbers from a list": lambda x: torch.tensor([1.0, 2.0], device=NAME),
    "memory that is not pinned": lambda x: torch.ones(3).to(NAME, non_blocking=True),
    "rows by a list": lambda x: x[[0, 2]],
    "repeated": lambda x: x.repeat_interleave(x.long()),
    "printed": lambda x: repr(x),
    "synchronize": lambda x: emulated.Module.synchronize(),
}
GOING_ON: dict[str, Callable[[Tensor], object]] = {
    "arithmetic": lambda x: (x * 2 + x.mean()).softmax(0),
    "a number of the host": lambda x: x + torch.tensor(3.0),
    "made there": lambda x: torch.arange(3, device=NAME) + torch.zeros(3, device=NAME),
    "rows by numbers": lambda x: x.index_select(0, torch.arange(3, device=NAME)),
    "a choice of values": lambda x: torch.where(x > 2, x, 0.0),
    "pinned memory": lambda x: torch.ones(3).pin_memory().to(NAME, non_blocking=True),
    "to the host, some time": lambda x: x.to("cpu", non_blocking=True),
    "repeated so often": lambda x: x.repeat_interleave(2),
    "dropout": lambda x: nn.functional.dropout(x, 0.5),
}


def numbers() -> Tensor:
    """Return six numbers on the device, which has nothing else to tell of."""
    found = torch.arange(6.0).to(NAME)
    machine.forget()
    return found


@pytest.mark.parametrize("name", WAITING)
def test_what_makes_the_host_wait_is_counted_and_refused_where_nobody_may(name: str) -> None:
    there = numbers()
    WAITING[name](there)
    assert machine.syncs
    emulated.Module.set_sync_debug_mode("error")
    with pytest.raises(Fault, match="the host waits for"):
        WAITING[name](there)


@pytest.mark.parametrize("name", GOING_ON)
def test_nobody_waits_for_what_a_gpu_does_by_itself(name: str) -> None:
    there = numbers()
    emulated.Module.set_sync_debug_mode("error")
    GOING_ON[name](there)
    assert machine.syncs == []


def test_a_tensor_left_on_the_cpu_is_refused_beside_one_that_is_not() -> None:
    there = numbers()
    for mixed in (
        lambda: there + torch.ones(6),
        lambda: there.index_select(0, torch.arange(3)),
        lambda: torch.cat([there, torch.ones(2)]),
        lambda: torch.stack([there.sum(), torch.tensor(1.0)]),
        lambda: nn.functional.linear(there, torch.ones(2, 6)),
        lambda: torch.ones(6).add_(there),
        lambda: there.view(2, 3).addmm_(torch.ones(2, 3), torch.ones(3, 3)),
    ):
        with pytest.raises(RuntimeError, match="on the same device|at least two devices|should match"):
            mixed()
    for hidden in (there.numpy, lambda: memoryview(there)):  # type: ignore[arg-type,call-overload]
        with pytest.raises(TypeError):
            hidden()


def test_memory_that_nobody_wrote_holds_no_number_that_could_pass_for_one() -> None:
    assert torch.empty(5, device=NAME).cpu().isnan().all()
    assert torch.empty(5, device=NAME, dtype=torch.bfloat16).cpu().isnan().all()
    places = torch.empty(3, device=NAME, dtype=torch.long)
    with pytest.raises(IndexError):
        torch.zeros(7, device=NAME).index_select(0, places)
    assert torch.zeros(4, device=NAME).new_empty(3).cpu().isnan().all()


def test_a_late_copy_holds_nothing_before_somebody_has_waited_for_it() -> None:
    there = numbers()
    copy = there.to("cpu", non_blocking=True)
    arrival = emulated.Event().record()
    assert copy.isnan().all() and not arrival.query() and copy.isnan().all()
    arrival.synchronize()
    assert copy.tolist() == [0, 1, 2, 3, 4, 5] and arrival.query() and len(machine.waits) == 1
    early, later = emulated.Event().record(), there.to("cpu", non_blocking=True)
    early.synchronize()
    assert later.isnan().all()  # of what was asked before alone is known that it is done
    for _ in range(machine.lag):
        there.add(1)
    late = emulated.Event().record()
    assert early.query() and not late.query()


def test_what_is_copied_from_may_not_be_changed_before_it_is_known_to_be_done() -> None:
    source = torch.arange(4.0).pin_memory()
    found = source.to(NAME, non_blocking=True)
    source.mul_(2)
    with pytest.raises(Fault, match="changed memory that was still being copied from"):
        found.sum().item()


def test_streams_that_do_not_wait_for_each_other_are_told() -> None:
    there = numbers()
    beside = Stream()
    made = emulated.Event().record()
    written_late = there.add_(1)
    with emulated.Module.stream(beside), pytest.raises(Fault, match="another one may still be writing"):
        written_late.cpu()
    beside.wait_event(made)
    with emulated.Module.stream(beside), pytest.raises(Fault, match="another one may still be writing"):
        written_late.cpu()
    beside.wait_event(emulated.Event().record())
    with emulated.Module.stream(beside):
        kept = there.to("cpu", non_blocking=True)
    with pytest.raises(Fault, match="another one may still be reading"):
        there.add_(1)
    beside.synchronize()
    there.add_(1)
    assert kept.tolist() == [1, 2, 3, 4, 5, 6] and there.tolist() == [2, 3, 4, 5, 6, 7]


def test_a_wait_for_another_stream_holds_the_first_one_up_for_nothing() -> None:
    there = numbers()
    beside = Stream()
    beside.wait_stream(Stream(0))
    with emulated.Module.stream(beside):
        there.cpu()
    assert machine.syncs == [] and len(machine.beside) == 1


def learned(device: str) -> list[Tensor]:
    """Return the gradients of a small network and what it then gives, after a step of AdamW."""
    generator = torch.Generator().manual_seed(3)
    net = nn.Sequential(nn.Embedding(11, 8), nn.Linear(8, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3))
    for weight in net.parameters():
        nn.init.normal_(weight, generator=generator)
    net.to(device)
    ids = torch.randint(11, (5, 7), generator=generator).to(device)
    loss = nn.functional.cross_entropy(net(ids).mean(1), torch.tensor([0, 2, 1, 1, 0]).to(device))
    loss.backward()
    gradients = [weight.grad.cpu() for weight in net.parameters()]  # type: ignore[union-attr]
    torch.optim.AdamW(net.parameters(), lr=0.1, fused=True).step()
    return [*gradients, net(ids).detach().cpu()]


def test_the_same_kernels_give_the_same_bits_forwards_and_backwards() -> None:
    for found, wanted in zip(learned(NAME), learned("cpu"), strict=True):
        assert torch.equal(found, wanted)


def test_views_share_memory_and_what_is_saved_for_the_gradient_lives_on() -> None:
    there = numbers()
    there.view(2, 3)[1].mul_(2)
    there.unsqueeze_(0)
    assert there.shape == (1, 6) and there.tolist() == [[0, 1, 2, 6, 8, 10]]
    x = torch.linspace(-1, 1, 5).to(NAME).requires_grad_()
    wanted = torch.linspace(-1, 1, 5).requires_grad_()
    for one in (x, wanted):
        one.tanh().exp().softmax(0).square().sum().backward()  # each of which keeps its own result
    assert torch.equal(x.grad.cpu(), wanted.grad)  # type: ignore[union-attr, arg-type]


def test_a_copy_of_a_network_is_a_copy_of_its_memory_there() -> None:
    net = nn.Linear(3, 2).to(NAME)
    other = copy.deepcopy(net)
    with torch.no_grad():
        net.weight.zero_()
    assert other.weight.device.type == NAME and other.weight.cpu().abs().sum() > 0
    part = other.weight.detach().t()[1:]
    assert torch.equal(copy.deepcopy(part).cpu(), part.cpu())


def test_a_cell_of_an_lstm_learns_what_it_learns_on_a_cpu() -> None:
    found = []
    for device in ("cpu", NAME):
        generator = torch.Generator().manual_seed(2)
        net = nn.LSTM(5, 7, num_layers=2, batch_first=True)
        for weight in net.parameters():
            nn.init.normal_(weight, generator=generator)
        inputs = torch.randn(3, 4, 5, generator=generator)
        net.to(device)(inputs.to(device))[0].square().sum().backward()
        found.append([weight.grad.cpu() for weight in net.parameters()])  # type: ignore[union-attr]
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)


def test_its_randomness_is_its_own_and_repeats_from_its_seed() -> None:
    there = numbers()
    torch.manual_seed(5)
    before = torch.default_generator.get_state()
    first = nn.functional.dropout(there, 0.5).tolist()
    assert torch.equal(torch.default_generator.get_state(), before)
    assert [nn.functional.dropout(there, 0.5).tolist() for _ in range(9)] != [first] * 9
    torch.manual_seed(5)  # seeds what devices there are as well
    assert nn.functional.dropout(there, 0.5).tolist() == first


def test_half_precision_is_taken_where_cuda_takes_it() -> None:
    there = numbers()
    x = there.view(2, 3)
    with torch.autocast(NAME, torch.bfloat16):
        product = x @ x.t()
        assert product.dtype == torch.bfloat16
        assert product.softmax(-1).dtype == nn.functional.layer_norm(product, (2,)).dtype == torch.float32
        assert (product + x @ x.t()).dtype == torch.bfloat16
    assert (x @ x.t()).dtype == torch.float32


def test_memory_is_counted_given_back_and_runs_out() -> None:
    before = machine.taken
    kept = torch.zeros(1000, device=NAME)
    assert machine.taken == before + 4000 == emulated.Module.memory_allocated()
    machine.limit = machine.taken + 1000
    with pytest.raises(torch.OutOfMemoryError):
        torch.zeros(1000, device=NAME)
    del kept
    assert machine.taken == before
    torch.zeros(1000, device=NAME)


def test_threads_have_streams_of_their_own() -> None:
    seen = list[int]()

    def work() -> None:
        seen.append(machine.stream)
        with emulated.Module.stream(Stream()):
            seen.append(machine.stream)

    with emulated.Module.stream(Stream(77)):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert machine.stream == 77
    assert seen[0] == 0 and seen[1] not in (0, 77)
