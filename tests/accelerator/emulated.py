"""A GPU that is none: a device of torch, written in Python, on which the engine's road to a GPU can be gone.

Its tensors are torch's own, with addresses that nobody may read; what they hold lies in hidden memory of the
CPU, whose kernels compute it. So autograd, autocast and views are torch's own too. It behaves as CUDA does
where a mistake would show there, and more severely: see `Machine`. Once set up it stays for the process.
"""

from __future__ import annotations

import itertools
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache, partial
from types import ModuleType
from typing import Any

import torch
from torch import Tensor
from torch._C import DispatchKey, DispatchKeySet

NAME = "emulated"
HOST = "the host"
BYTE = 0xAB  # of memory that nobody wrote, where no number says so better
PAGE = 4096  # between the addresses of two stretches of memory
FIRST_ADDRESS = 1 << 46  # nothing lies there, so that reading it ends the process
_CPU = DispatchKeySet(DispatchKey.CPU)
_aten = torch.ops.aten

# what CUDA lets the host wait for: what is found decides how large the result is, or the host asks for it
WAITS = {
    "_local_scalar_dense",
    "_unique2",
    "bincount",
    "equal",
    "is_nonzero",
    "masked_select",
    "nonzero",
    "unique_consecutive",
    "unique_dim",
}
# which torch would else put together from others, with other bits than the CPU's kernel has
WHOLE = "mse_loss native_dropout native_dropout_backward native_layer_norm"
INDEXED = {"index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index", "_unsafe_index_put"}


class Fault(RuntimeError):
    """What a GPU would have refused, or would have computed wrongly without a word."""


@dataclass(eq=False)
class Memory:
    """A stretch of the device's memory: where its bytes lie, and which streams wrote and read it when."""

    hidden: torch.UntypedStorage
    num_bytes: int
    machine: Machine
    written: tuple[int, int] = (0, 0)  # stream, and which of its works
    read: dict[int, int] = field(default_factory=dict)

    def __del__(self) -> None:
        self.machine.taken -= self.num_bytes


@dataclass
class Machine:
    """What the device has done, and what it does not forgive.

    Work of a stream is done in order, and is `lag` works behind what is asked: until the host has waited, a
    copy that it does not wait for has not arrived. Who reads or writes what another stream may still be
    writing, or changes what is still being copied from, is told. Memory that nobody wrote holds NaN, or
    numbers far too large.

    syncs: where the host waited for all that was asked, as set_sync_debug_mode of CUDA tells; beside: the
    same of another stream than the first, which goes on; waits: where it waited for an event or a stream.
    limit: bytes of memory.
    """

    lag: int = 400
    limit: float = 16e9
    taken: int = 0
    most: int = 0
    has_bfloat16: bool = True
    may_wait: bool = True
    syncs: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)
    waits: list[str] = field(default_factory=list)
    copies: Counter[str] = field(default_factory=Counter)
    works: Counter[int] = field(default_factory=Counter)  # asked of each stream
    kinds: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.lock = threading.RLock()
        self.address = itertools.count(FIRST_ADDRESS, PAGE)
        self.of_thread = threading.local()
        self.renew()

    def renew(self) -> None:
        """Be as new; what memory holds stays, for it has owners."""
        self.known: dict[int | str, dict[int, int]] = {HOST: {}}  # who knows how far which stream is
        self.coming: list[tuple[int, int, Tensor, Tensor]] = []  # stream, work, host's tensor, its bytes
        self.leaving: list[tuple[int, int, Tensor, Tensor]] = []
        self.lag, self.limit, self.has_bfloat16, self.may_wait = 400, 16e9, True, True
        self.random = torch.Generator().manual_seed(0).get_state()

        self.most = self.taken
        self.forget()

    def forget(self) -> None:
        """Begin counting anew."""
        for counted in (self.syncs, self.beside, self.waits, self.copies, self.kinds):
            counted.clear()

    # --- what happens when -----------------------------------------------------------------------

    @property
    def stream(self) -> int:
        """The stream to which this thread gives its work."""
        return int(getattr(self.of_thread, "stream", 0))

    def begin(self, kind: str) -> None:
        """Ask the stream for one more work, which knows what the host knows."""
        stream = self.stream
        self.works[stream] += 1
        self.kinds[kind] += 1
        known = self.known.setdefault(stream, {})
        _merge(known, self.known[HOST])
        known[stream] = self.works[stream]

    def touch(self, memory: Memory, is_written: bool) -> None:
        """Note that the work reads or writes some memory. Raises: Fault."""
        stream, known = self.stream, self.known.setdefault(self.stream, {})
        own = self.works[stream]
        writer, when = memory.written
        if writer != stream and known.get(writer, 0) < when:
            raise Fault("a stream takes what another one may still be writing; it has to wait for an event")
        if is_written:
            if any(known.get(other, 0) < last for other, last in memory.read.items() if other != stream):
                raise Fault("a stream writes over what another one may still be reading")
            memory.written = stream, own
            memory.read.clear()
        else:
            memory.read[stream] = own

    def learn(self, known: Mapping[int, int]) -> None:
        """Let the host know how far streams are: what they have copied to it till then arrives."""
        host = self.known[HOST]
        _merge(host, known)
        still = []
        for stream, work, there, value in self.coming:
            if work <= host.get(stream, 0):
                there.copy_(value)
            else:
                still.append((stream, work, there, value))
        self.coming = still
        done = [one for one in self.leaving if one[1] <= host.get(one[0], 0)]
        self.leaving = [one for one in self.leaving if one[1] > host.get(one[0], 0)]
        for _, _, there, value in done:
            if not torch.equal(there.flatten().view(torch.uint8), value.flatten().view(torch.uint8)):
                raise Fault("the host changed memory that was still being copied from")

    def wait(self, kind: str) -> None:
        """Let the host wait until all is done that this thread's stream was asked for."""
        if not self.may_wait:
            raise Fault(f"the host waits for {kind} (at {_place()})")
        (self.beside if self.stream else self.syncs).append(f"{kind} at {_place()}")
        self.learn({self.stream: self.works[self.stream]})

    def is_done(self, stream: int, work: int) -> bool:
        """Whether a stream has come so far by now."""
        return work <= max(self.works[stream] - self.lag, self.known[HOST].get(stream, 0))

    # --- memory ----------------------------------------------------------------------------------

    def place(self, value: Tensor) -> Tensor:
        """Return a tensor of the device that holds what a tensor of the CPU holds, and takes it over."""
        hidden = value.untyped_storage()
        num_bytes = hidden.nbytes()
        if self.taken + num_bytes > self.limit:
            raise torch.OutOfMemoryError(f"{NAME} has no {num_bytes} bytes left")
        self.taken += num_bytes
        self.most = max(self.most, self.taken)
        bare = torch._C._acc.create_empty_tensor((0,), value.dtype)
        storage = torch._C._construct_storage_from_data_pointer(
            next(self.address), torch.device(NAME, 0), num_bytes
        )
        storage.memory = Memory(hidden, num_bytes, self, (self.stream, self.works[self.stream]))
        return set_storage(bare, storage, value.storage_offset(), value.shape, value.stride())


machine = Machine()


def _merge(known: dict[int, int], more: Mapping[int, int]) -> None:
    for stream, work in more.items():
        known[stream] = max(known.get(stream, 0), work)


def _place() -> str:
    """Return where in the program this was asked."""
    frame = sys._getframe()
    while frame is not None:
        name = frame.f_code.co_filename.replace("\\", "/")
        if "/engine/" in name and "/tests/" not in name:
            return f"engine/{name.rsplit('/engine/', 1)[1]}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return "a test"


# --- a work of the device ------------------------------------------------------------------------


def is_there(value: Any) -> bool:
    """Whether something is a tensor of the device."""
    return isinstance(value, Tensor) and value.device.type == NAME


def memory_of(there: Tensor) -> Memory:
    """Return where the bytes of a tensor of the device lie."""
    found: Memory = there.untyped_storage().memory  # type: ignore[attr-defined]
    return found


def twin(there: Tensor) -> Tensor:
    """Return what a tensor of the device holds, as one of the CPU over the same bytes."""
    twin = torch.empty(0, dtype=there.dtype)
    hidden = memory_of(there).hidden
    return twin.set_(hidden, there.storage_offset(), there.shape, there.stride())  # type: ignore[arg-type]


def poison(fresh: Tensor) -> Tensor:
    """Fill memory that nobody has written."""
    if fresh.is_floating_point():
        return fresh.fill_(torch.nan)
    if fresh.dtype in (torch.int32, torch.int64):
        return fresh.fill_(torch.iinfo(fresh.dtype).max // 3)
    return fresh.view(torch.uint8).fill_(BYTE if fresh.dtype == torch.uint8 else 1)


class _Work:
    """One work: its operation, of the device's tensors and of their twins."""

    def __init__(self, op: Any) -> None:
        self.op = op
        self.name = op._schema.name.split("::")[1]
        self.givers: dict[int, Tensor] = {}  # hidden storage -> a tensor of the device over it
        self.twins: list[tuple[Tensor, Tensor]] = []

    def down(self, value: Any, is_written: bool = False, is_many: bool = False) -> Any:
        """Return an argument as the CPU's kernel takes it. Raises: Fault."""
        if isinstance(value, Tensor):
            if value.device.type == NAME:
                machine.touch(memory_of(value), is_written)
                found = twin(value)
                self.givers.setdefault(found.untyped_storage()._cdata, value)
                self.twins.append((found, value))
                return found
            if value.device.type == "cpu" and (value.ndim or is_many):
                self.refuse(value)
            return value
        if isinstance(value, list | tuple) and value and any(isinstance(one, Tensor) for one in value):
            return [self.down(one, is_written, True) for one in value]
        return torch.device("cpu") if isinstance(value, torch.device) and value.type == NAME else value

    def refuse(self, value: Tensor) -> None:
        if self.name in INDEXED and not value.is_floating_point():
            machine.wait(f"{self.name} by numbers of the host")  # CUDA takes them along, and waits
            return
        raise Fault(
            f"Expected all tensors to be on the same device, but {self.name} got one of {tuple(value.shape)} "
            f"on cpu beside others on {NAME} (at {_place()})"
        )

    def up(self, value: Any) -> Any:
        """Return a result as a tensor of the device."""
        if isinstance(value, list | tuple):
            return type(value)(self.up(one) for one in value)
        if not isinstance(value, Tensor):
            return value
        for found, there in self.twins:
            if found is value:
                return there
        giver = self.givers.get(value.untyped_storage()._cdata)
        if giver is None:
            return machine.place(value)
        shape, stride, offset = value.shape, value.stride(), value.storage_offset()
        return _aten.as_strided.default.redispatch(_CPU, giver, shape, stride, offset)

    def settle(self) -> None:
        """Give tensors the shapes, and the memory, that the work has given them."""
        for found, there in self.twins:
            if found.shape == there.shape and found.stride() == there.stride():
                continue
            hidden, storage = found.untyped_storage(), there.untyped_storage()
            if hidden.nbytes() != storage.nbytes():
                storage = machine.place(found).untyped_storage()
            set_storage(there, storage, found.storage_offset(), found.shape, found.stride())


def _asks_host(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether CUDA would let the host wait."""
    if name in WAITS:
        return True
    if name == "repeat_interleave":  # of how many each, without their sum
        return kwargs.get("output_size") is None
    if name in INDEXED:
        return any(is_there(one) and one.dtype in (torch.bool, torch.uint8) for one in args[1])
    return False


@cache
def _facts(op: Any) -> tuple[tuple[str, ...], frozenset[str], bool]:
    """Return the names of an operation's arguments, which it writes to, and whether it draws at random."""
    arguments = op._schema.arguments
    written = (one.name for one in arguments if one.alias_info is not None and one.alias_info.is_write)
    is_random = torch.Tag.nondeterministic_seeded in op.tags
    return tuple(one.name for one in arguments), frozenset(written), is_random


def work(op: Any, *args: Any, kernel: Callable[..., Any] | None = None, **kwargs: Any) -> Any:
    """Let the device do what torch asks of it. Args: kernel: what computes it; None: the CPU's own."""
    names, written, is_random = _facts(op)
    with machine.lock, torch._C._AutoDispatchBelowAutograd():
        one = _Work(op)
        machine.begin(one.name)
        if _asks_host(one.name, args, kwargs):
            machine.wait(one.name)
        down = [one.down(value, name in written) for name, value in zip(names, args, strict=False)]
        named = {name: one.down(value, name in written) for name, value in kwargs.items()}
        if named.get("pin_memory"):
            named["pin_memory"] = False
        with _own_randomness() if is_random else nullcontext():
            result = (kernel or op)(*down, **named)
        one.settle()
        if one.name in ("empty", "empty_strided", "resize_"):
            poison(result)
        return one.up(result)


@contextmanager
def _own_randomness() -> Iterator[None]:
    """Draw from the device's own generator, not from the CPU's."""
    before = torch.default_generator.get_state()
    torch.default_generator.set_state(machine.random)
    try:
        yield
    finally:
        machine.random = torch.default_generator.get_state()
        torch.default_generator.set_state(before)


# --- copies --------------------------------------------------------------------------------------


def is_pinned(value: Tensor) -> bool:
    """Whether memory of the host is such that the device copies by itself."""
    return bool(getattr(value.untyped_storage(), "pinned", False))


def pinned(value: Tensor) -> Tensor:
    """Mark memory of the host, and return it."""
    value.untyped_storage().pinned = True  # type: ignore[attr-defined]
    return value


def _pin(value: Tensor, device: Any = None) -> Tensor:
    machine.copies["pinned"] += 1
    return pinned(value.clone())


def copy_(target: Tensor, source: Tensor, non_blocking: bool = False) -> Tensor:
    """Copy within the device, to it, or from it: then late, where nobody waits for it."""
    with machine.lock, torch._C._AutoDispatchBelowAutograd():
        machine.begin("copy_")
        stream, work = machine.stream, machine.works[machine.stream]
        if is_there(source):
            machine.touch(memory_of(source), False)
        if is_there(target):
            machine.touch(memory_of(target), True)
        if is_there(source) and is_there(target):
            machine.copies["within"] += 1
            twin(target).copy_(twin(source))
        elif is_there(target):
            machine.copies["to the device"] += 1
            twin(target).copy_(source)
            if source.ndim == 0 and not is_pinned(source):
                pass  # CUDA gives a kernel the number itself
            elif non_blocking and is_pinned(source):
                machine.leaving.append((stream, work, source, source.clone()))
            else:
                machine.wait("a copy to the device")
        else:
            machine.copies["to the host"] += 1
            value = twin(source).to(target.dtype, copy=True)
            if non_blocking and is_pinned(target):
                poison(target)
                machine.coming.append((stream, work, target, value))
            else:
                machine.wait("a copy to the host")
                target.copy_(value)
        return target


def to_copy(
    value: Tensor,
    *,
    dtype: torch.dtype | None = None,
    layout: Any = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
    non_blocking: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Return a copy of another type, or elsewhere; late ones go to pinned memory, as with CUDA."""
    device = value.device if device is None else device
    source = value
    if dtype not in (None, value.dtype):
        if is_there(value):
            source = work(_aten._to_copy.default, value, dtype=dtype)
        else:
            source = value.to(dtype)
            source = pinned(source) if is_pinned(value) else source
    if is_there(source) and device.type == NAME:
        return source if source is not value else work(_aten.clone.default, value)
    kept = torch.preserve_format if memory_format is None else memory_format
    target = torch.empty_like(source, device=device, memory_format=kept)
    if device.type == "cpu" and non_blocking:
        pinned(target)
    return copy_(target, source, non_blocking)


def clone_storage(storage: torch.UntypedStorage) -> torch.UntypedStorage:
    """Return a copy of memory, wherever it is: torch copies it by its address."""
    if storage.device.type != NAME:
        return _clone_of_host(storage)
    there = torch.empty(0, dtype=torch.uint8, device=NAME)
    set_storage(there, storage, 0, (storage.nbytes(),))
    return work(_aten.clone.default, there).untyped_storage()  # type: ignore[no-any-return]


def set_storage(there: Tensor, storage: Any, offset: int = 0, size: Any = (), stride: Any = ()) -> Tensor:
    """Let a tensor be over other memory of the device; nothing is computed."""
    stride = stride or torch.empty(size, device="meta").stride()
    return _aten.set_.source_Storage_storage_offset.redispatch(_CPU, there, storage, offset, size, stride)


_clone_of_host = torch.UntypedStorage.clone


# --- kernels that a CPU has not: attention over packed texts, and a step of an LSTM ---------------


def _flash_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    cum_seq_q: Tensor,
    cum_seq_k: Tensor,
    max_q: int,
    max_k: int,
    dropout_p: float,
    is_causal: bool,
    return_debug_mask: bool,
    *,
    scale: float | None = None,
    window_size_left: int | None = None,
    window_size_right: int | None = None,
    **_: Any,
) -> tuple[Tensor, ...]:
    """Attend inside each text; rows behind the last one are left as they are, as the kernel does."""
    assert max(cum_seq_q.diff()) <= max_q and not is_causal and dropout_p == 0.0
    out, sums = poison(torch.empty_like(query)), poison(torch.empty(query.shape[1], len(query)))
    for rows in _texts(cum_seq_q):
        scores = _compared(query[rows], key[rows], scale, window_size_left, window_size_right)
        sums[:, rows] = scores.logsumexp(-1)
        out[rows] = (scores.softmax(-1) @ _heads(value[rows])).transpose(0, 1).to(query.dtype)
    state = torch.zeros(2, dtype=torch.uint64), torch.zeros((), dtype=torch.uint64)
    return out, sums, *state, torch.empty(0)


def _flash_backward(
    grad_out: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    logsumexp: Tensor,
    cum_seq_q: Tensor,
    *_: Any,
    scale: float | None = None,
    window_size_left: int | None = None,
    window_size_right: int | None = None,
) -> list[Tensor]:
    """The gradients of that, with rows behind the last text left as they are."""
    gradients = [poison(torch.empty_like(each)) for each in (query, key, value)]
    times = query.shape[-1] ** -0.5 if scale is None else scale
    for rows in _texts(cum_seq_q):
        scores = _compared(query[rows], key[rows], scale, window_size_left, window_size_right)
        shares = (scores - logsumexp[:, rows, None]).exp()
        above = _heads(grad_out[rows])
        along = above @ _heads(value[rows]).transpose(1, 2)
        inner = (above * _heads(out[rows])).sum(-1, keepdim=True)
        below = shares * (along - inner) * times
        own, theirs = below @ _heads(key[rows]), below.transpose(1, 2) @ _heads(query[rows])
        parts = (own, theirs, shares.transpose(1, 2) @ above)
        for gradient, part in zip(gradients, parts, strict=True):
            gradient[rows] = part.transpose(0, 1).to(gradient.dtype)
    return gradients


def _texts(ends: Tensor) -> Iterator[slice]:
    yield from (slice(begin, end) for begin, end in itertools.pairwise(ends.tolist()) if end > begin)


def _heads(rows: Tensor) -> Tensor:
    return rows.transpose(0, 1).float()


def _compared(
    q: Tensor, k: Tensor, scale: float | None, left: int | None, right: int | None
) -> Tensor:  # (H, T, T)
    scores = _heads(q) @ _heads(k).transpose(1, 2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    apart = torch.arange(len(k)) - torch.arange(len(q))[:, None]
    for most, way in ((left, -1), (right, 1)):
        if most is not None and most >= 0:
            scores = scores.masked_fill(apart * way > most, -torch.inf)
    return scores


def _lstm_forward(
    input_gates: Tensor,
    hidden_gates: Tensor,
    cx: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the hidden state, the cell, and the gates as the gradient needs them."""
    sums = input_gates + hidden_gates
    for bias in (input_bias, hidden_bias):
        sums = sums if bias is None else sums + bias
    i, f, g, o = sums.chunk(4, 1)
    gates = [i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()]
    cell = gates[1] * cx + gates[0] * gates[2]
    return gates[3] * cell.tanh(), cell, torch.cat(gates, 1)


def _lstm_backward(
    grad_hy: Tensor | None, grad_cy: Tensor | None, cx: Tensor, cy: Tensor, workspace: Tensor, has_bias: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of the sums before the gates, of the cell before, and of a bias."""
    i, f, g, o = workspace.chunk(4, 1)
    above = torch.zeros_like(cy) if grad_hy is None else grad_hy
    cell = above * o * (1 - cy.tanh().square()) + (0.0 if grad_cy is None else grad_cy)
    slopes = (cell * g * i * (1 - i), cell * cx * f * (1 - f), cell * i * (1 - g * g))
    sums = torch.cat([*slopes, above * cy.tanh() * o * (1 - o)], 1)
    return sums, cell * f, sums.sum(0)


OWN: dict[str, Callable[..., Any]] = {
    "_flash_attention_forward": _flash_forward,
    "_flash_attention_backward": _flash_backward,
    "_thnn_fused_lstm_cell": _lstm_forward,
    "_thnn_fused_lstm_cell_backward_impl": _lstm_backward,
}


# --- autocast, which torch leaves to each device --------------------------------------------------

LOW = "addmm baddbmm bmm linear matmul mm scaled_dot_product_attention"  # in half precision, as on CUDA
FULL = (  # in float32
    "binary_cross_entropy_with_logits cosine_similarity cross_entropy_loss cumsum exp layer_norm "
    "linalg_vector_norm log log_softmax logsumexp mse_loss nll_loss norm pow prod rsqrt softmax sum"
)
_AUTOCAST = DispatchKeySet(DispatchKey.AutocastPrivateUse1)


def _casting(op: Any, is_low: bool) -> Any:
    """Return an operation that takes numbers of one precision where autocast is on."""

    def cast(value: Any, kind: torch.dtype) -> Any:
        if isinstance(value, list | tuple):
            return [cast(one, kind) for one in value]
        is_wide = is_there(value) and value.is_floating_point() and value.dtype != torch.float64
        return value.to(kind) if is_wide and value.dtype != kind else value

    def run(*args: Any, **kwargs: Any) -> Any:
        kind = torch.get_autocast_dtype(NAME) if is_low else torch.float32
        with torch._C._ExcludeDispatchKeyGuard(_AUTOCAST):
            return op(*cast(args, kind), **{name: cast(value, kind) for name, value in kwargs.items()})

    return run


# --- what torch asks a device's module -----------------------------------------------------------


class Stream:
    """Works that are done one after the other."""

    _numbers = itertools.count(1)

    def __init__(self, number: int | None = None) -> None:
        self.number = next(self._numbers) if number is None else number

    def wait_event(self, event: Event) -> None:
        _merge(machine.known.setdefault(self.number, {}), event.known)

    def wait_stream(self, other: Stream) -> None:
        self.wait_event(Event().record(other))

    def record_event(self, event: Event | None = None) -> Event:
        return (event or Event()).record(self)

    def synchronize(self) -> None:
        machine.waits.append(f"a stream at {_place()}")
        machine.learn({self.number: machine.works[self.number]})


class Event:
    """How far a stream was when it was recorded."""

    def __init__(self, **_: Any) -> None:
        self.known: dict[int, int] = {}
        self.stream = 0

    def record(self, stream: Stream | None = None) -> Event:
        self.stream = machine.stream if stream is None else stream.number
        own = {self.stream: machine.works[self.stream]}
        self.known = {**machine.known.get(self.stream, {}), **own}
        return self

    def query(self) -> bool:
        is_done = machine.is_done(self.stream, self.known.get(self.stream, 0))
        if is_done:
            machine.learn(self.known)
        return is_done

    def synchronize(self) -> None:
        machine.waits.append(f"an event at {_place()}")
        machine.learn(self.known)


class Module(ModuleType):
    """What stands in torch beside torch.cuda, and says what that says."""

    Stream, Event = Stream, Event
    is_bf16_supported = staticmethod(lambda including_emulation=True: machine.has_bfloat16)
    is_available = is_initialized = staticmethod(lambda: True)
    device_count = staticmethod(lambda: 1)
    current_device = staticmethod(lambda: 0)
    set_device = staticmethod(lambda device: None)
    get_device_name = staticmethod(lambda device=None: "an emulated GPU")
    get_device_capability = staticmethod(lambda device=None: (8, 0))
    get_amp_supported_dtype = staticmethod(lambda: [torch.float16, torch.bfloat16])
    memory_reserved = staticmethod(lambda device=None: machine.taken)
    memory_allocated = staticmethod(lambda device=None: machine.taken)
    mem_get_info = staticmethod(lambda device=None: (int(machine.limit) - machine.taken, int(machine.limit)))
    empty_cache = staticmethod(lambda: machine.kinds.update(["empty_cache"]))
    current_stream = staticmethod(lambda device=None: Stream(machine.stream))
    get_rng_state = staticmethod(lambda device=None: machine.random.clone())
    _is_in_bad_fork = staticmethod(lambda: False)

    @staticmethod
    def manual_seed_all(seed: int) -> None:
        machine.random = torch.Generator().manual_seed(seed).get_state()

    @staticmethod
    def set_rng_state(state: Tensor, device: Any = None) -> None:
        machine.random = state.clone()

    @staticmethod
    def set_sync_debug_mode(mode: str) -> None:
        machine.may_wait = mode != "error"

    @staticmethod
    def synchronize(device: Any = None) -> None:
        machine.wait("synchronize")
        machine.learn(machine.works)

    @staticmethod
    @contextmanager
    def stream(stream: Stream) -> Iterator[None]:
        before = machine.stream
        machine.of_thread.stream = stream.number
        try:
            yield
        finally:
            machine.of_thread.stream = before


_kept: list[torch.library.Library] = []  # they live as long as the process


def set_up() -> torch.device:
    """Give this process the device, for good, and return it."""
    if not _kept:
        from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

        _setup_privateuseone_for_python_backend(NAME, Module(NAME))
        torch.UntypedStorage.clone = clone_storage  # type: ignore[method-assign]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a kernel takes the place of another one
            _add_kernels()
    return torch.device(NAME)


def _add_kernels() -> None:
    everything, aten = torch.library.Library("_", "IMPL"), torch.library.Library("aten", "IMPL")
    _kept.extend([everything, aten])
    everything.fallback(work, "PrivateUse1")
    aten.impl("copy_", copy_, "PrivateUse1")
    aten.impl("_to_copy", to_copy, "PrivateUse1")
    aten.impl("set_.source_Storage_storage_offset", set_storage, "PrivateUse1")
    aten.impl("_pin_memory", _pin, "CPU", allow_override=True)
    aten.impl("is_pinned", lambda value, device=None: is_pinned(value), "CPU", allow_override=True)
    for name in (*WHOLE.split(), *OWN):
        op = getattr(_aten, name).default
        aten.impl(name, partial(work, op, kernel=OWN.get(name)), "PrivateUse1")
    everything.fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")
    for names, is_low in ((LOW, True), (FULL, False)):
        for packet in (getattr(_aten, name) for name in names.split()):
            for overload in packet.overloads():
                if "out" not in overload:
                    op = getattr(packet, overload)
                    aten.impl(op, _casting(op, is_low), "AutocastPrivateUse1")
