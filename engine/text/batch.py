"""From encoded texts to packed batches: no padding, so no token is computed for nothing.

A packed batch is one long row of tokens with the bounds of its examples. Examples are sorted by length inside
a batch, so that neighbours of equal length can be attended to together without a mask.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import torch

from engine.text.listed import ListedRows

# B examples, N tokens of all examples together, E examples of a whole set

IGNORE = -1  # a target that is not known
NOT_ASKED = -100  # in the place of a target: of this token nothing is asked
_NUMBERS = {"f": np.float32}  # of targets; all others are whole
MEGABATCH = 50  # batches whose examples are sorted by length together: near-equal lengths, yet a random order


class Bounds:
    """Where each example of a packed batch begins and ends.

    Args: lengths: tokens of each example, in the order they are packed.
    """

    def __init__(self, lengths: Sequence[int], device: torch.device | str = "cpu") -> None:
        self.lengths = tuple(int(length) for length in lengths)
        self.device = torch.device(device)
        self._filled: dict[int, torch.Tensor] = {}  # rows of filler -> offsets
        self._places: dict[int, torch.Tensor] = {}  # rows -> places

    def __len__(self) -> int:
        return len(self.lengths)

    @cached_property
    def num_tokens(self) -> int:
        """Real tokens of all examples."""
        return sum(self.lengths)

    @cached_property
    def max_length(self) -> int:
        """Tokens of the longest example."""
        return max(self.lengths)

    @cached_property
    def offsets(self) -> torch.Tensor:
        """(B + 1,) int32 on the batch's device: row where each example begins, and the end of the last."""
        return self._there(self.lengths)

    def sequences(self, num_rows: int) -> torch.Tensor:
        """Return `offsets` up to `num_rows`: what filler there is, is one more sequence, read by nobody.

        For kernels that leave rows behind the last offset unwritten, whose gradients would be made of
        whatever lay in that memory.
        """
        filler = num_rows - self.num_tokens
        if filler not in self._filled:
            self._filled[filler] = self._there((*self.lengths, filler)) if filler else self.offsets
        return self._filled[filler]

    def places(self, num_rows: int) -> torch.Tensor:
        """Return (num_rows,) int64, the place of each row in its example; 0 of filler."""
        if num_rows not in self._places:
            within = _counted_up(np.asarray(self.lengths, np.int64))
            self._places[num_rows] = self._moved(np.pad(within, (0, num_rows - len(within))))
        return self._places[num_rows]

    def _there(self, lengths: Sequence[int]) -> torch.Tensor:
        """Return where each of some stretches begins and the last ends."""
        return self._moved(np.cumsum((0, *lengths), dtype=np.int32))

    def _moved(self, numbers: np.ndarray) -> torch.Tensor:
        """Return numbers on the batch's device; the host does not wait for a GPU."""
        return on_device(torch.from_numpy(numbers), self.device)

    @cached_property
    def firsts(self) -> torch.Tensor:
        """(B,) int64: the row of each example's first token, which is [CLS]."""
        return self.offsets[:-1].long()

    @cached_property
    def runs(self) -> tuple[tuple[int, int], ...]:
        """Neighbours of equal length as (how many examples, tokens of each)."""
        runs: list[tuple[int, int]] = []
        for length in self.lengths:
            if runs and runs[-1][1] == length:
                runs[-1] = (runs[-1][0] + 1, length)
            else:
                runs.append((1, length))
        return tuple(runs)


class Unpadded:
    """Which tokens of a padded batch are real, for a graph that computes products for these alone.

    It says of packed rows what `Bounds` does, without numbers that the host would have to know. A text's
    first token counts as real in any case, so that there is one.

    Args: mask: (B, T), 0 where padded.
    """

    def __init__(self, mask: torch.Tensor) -> None:
        self.mask = mask.bool()
        is_first = torch.arange(mask.shape[1], device=mask.device) == 0
        real = (self.mask | is_first).flatten()  # (B * T,)
        self._rows = real.nonzero()[:, 0]  # (N,) of B * T
        self._places = real.long().cumsum(0) - 1  # (B * T,) of N; of padding, that of a token before it
        self.firsts = self._places.view(mask.shape)[:, 0]  # (B,)

    def places(self, num_rows: int) -> torch.Tensor:
        """Return (N,), the place of each row in its text."""
        within = torch.arange(self.mask.shape[1], device=self.mask.device)
        return self.packed(within.expand(self.mask.shape))

    def packed(self, padded: torch.Tensor) -> torch.Tensor:
        """Return (N, ...) of (B, T, ...)."""
        rows: torch.Tensor = padded.flatten(0, 1)
        return rows.index_select(0, self._rows)

    def padded(self, packed: torch.Tensor) -> torch.Tensor:
        """Return (B, T, ...) of (N, ...); what stands at padding means nothing."""
        return packed.index_select(0, self._places).view(*self.mask.shape, *packed.shape[1:])


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedRows:
    """Examples packed end to end, as a model reads them.

    input_ids, token_type_ids, position_ids: (N,) int64, a few rows of filler at the end included. bounds:
    their B examples.
    """

    input_ids: torch.Tensor
    token_type_ids: torch.Tensor
    position_ids: torch.Tensor
    bounds: Bounds

    @property
    def num_tokens(self) -> int:
        """Real tokens, filler left out."""
        return self.bounds.num_tokens

    def to(self, device: torch.device | str) -> Self:
        """Return the same on a device; a GPU's copies, of pinned memory, run on while the host goes ahead."""
        device = torch.device(device)
        if device.type == "cpu":
            return self
        held = {one.name: getattr(self, one.name) for one in fields(self)}
        moved: dict[str, Any] = {
            name: on_device(one, device) for name, one in held.items() if isinstance(one, torch.Tensor)
        }
        return replace(self, bounds=Bounds(self.bounds.lengths, device), **moved)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch(PackedRows):
    """Examples of a set, and the answers.

    targets: (B, ...) for the task's loss, (M,) where tokens are answered for, or None. indices: (B,) places
    in the set they came from. states: what frozen layers made of them, as `EncodedRows.states`, or None.
    chosen: (M,) int64, rows of the tokens that are answered for, where not the examples are.
    """

    targets: torch.Tensor | None
    indices: np.ndarray
    states: torch.Tensor | None = None
    chosen: torch.Tensor | None = None


def on_device(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Return a host tensor on a device; a GPU takes it while the host goes on."""
    if device.type == "cpu":
        return tensor
    return tensor.pin_memory().to(device, non_blocking=True)


@dataclass(frozen=True)
class EncodedRows:
    """Encoded examples end to end, as arrays that save and load without thinking.

    input_ids: (sum of lengths,) int32. bounds: (E + 1,) int64. num_a: (E,) int32, tokens of segment 0, [CLS]
    and its [SEP] included. targets: (E, ...), IGNORE where unknown; or, where tokens are answered for,
    (sum of lengths,), NOT_ASKED at the others. rows: (E,) int64, rows of the table.
    states: what frozen layers made of the texts, where that was computed beforehand: (sum of lengths, D), or
    (E, D), each example's first token alone, where all layers are frozen; (E, L + 1, D), at the embeddings
    and every layer, for a mix of them. Not saved.
    """

    input_ids: np.ndarray
    bounds: np.ndarray
    num_a: np.ndarray
    targets: np.ndarray
    rows: np.ndarray
    states: torch.Tensor | None = None

    def __len__(self) -> int:
        return len(self.num_a)

    @cached_property
    def lengths(self) -> np.ndarray:
        """(E,) int64: tokens of each example."""
        return np.diff(self.bounds)

    @property
    def sequences(self) -> tuple[np.ndarray, np.ndarray]:
        """Lengths and tokens of segment 0 of what is read at once, (E, ...): an example may be several
        sequences end to end.
        """
        return self.lengths, self.num_a

    @property
    def num_rows(self) -> int:
        """Rows of the data, as a person counts them: one may make several examples."""
        return len(self)

    @property
    def listed(self) -> ListedRows:
        """Where a person finds its texts; the texts themselves only where a kind of set keeps them."""
        return ListedRows(self.rows, np.zeros(len(self), np.int64), self.lengths)

    @property
    def is_of_tokens(self) -> bool:
        """Whether tokens are answered for, not examples."""
        return self.targets.ndim == 1 and len(self.targets) == len(self.input_ids) != len(self)

    @cached_property
    def answer_bounds(self) -> np.ndarray:
        """(E + 1,) int64: which answers, of all examples end to end, are those of each example."""
        if not self.is_of_tokens:
            return np.arange(len(self) + 1)
        if not len(self):
            return np.zeros(1, np.int64)
        counts = np.add.reduceat(self.targets != NOT_ASKED, self.bounds[:-1], dtype=np.int64)
        return np.concatenate([[0], np.cumsum(counts)])

    def fits(self, vocab_size: int) -> bool:
        """Whether the arrays belong together, and to a model with so many pieces. Targets are the task's."""
        arrays = (self.input_ids, self.bounds, self.num_a, self.rows)
        if any(one.ndim != 1 or one.dtype.kind not in "iu" for one in arrays) or not self.targets.ndim:
            return False
        count = len(self.num_a)
        num_targets = len(self.input_ids) if self.is_of_tokens else count
        sizes = (len(self.bounds) - 1, len(self.targets), len(self.rows))
        if not count or sizes != (count, num_targets, count):
            return False
        if self.bounds[0] != 0 or self.bounds[-1] != len(self.input_ids) or self.lengths.min() < 1:
            return False
        is_piece = (self.input_ids >= 0) & (self.input_ids < vocab_size)
        return bool(is_piece.all())

    def arrays(self) -> dict[str, np.ndarray]:
        """Return what is saved of a set, by name."""
        return {name: value for name, value in vars(self).items() if name in self._saved()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Self:
        """Put a set together again from its `arrays`. Raises: KeyError if one is missing."""
        found: dict[str, Any] = {name: arrays[name] for name in cls._saved()}
        return cls(**found)

    @classmethod
    def _saved(cls) -> tuple[str, ...]:
        return tuple(one.name for one in fields(cls) if one.name != "states")

    @classmethod
    def from_pieces(
        cls,
        pieces: Sequence[np.ndarray],
        num_a: Sequence[int],
        targets: Sequence[int],
        rows: Sequence[int],
    ) -> EncodedRows:
        """Join encoded examples. Args: pieces: (T_i,) int32 each; the others hold one number an example."""
        lengths = np.fromiter((len(piece) for piece in pieces), np.int64, len(pieces))
        return cls(
            input_ids=np.concatenate(pieces) if len(pieces) else np.zeros(0, np.int32),
            bounds=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            num_a=np.asarray(num_a, np.int32),
            targets=np.asarray(targets, np.int64),
            rows=np.asarray(rows, np.int64),
        )

    def subset(self, indices: np.ndarray) -> EncodedRows:
        """Return the examples at `indices`, in that order."""
        return EncodedRows.from_pieces(
            [self.input_ids[self.bounds[i] : self.bounds[i + 1]] for i in indices],
            self.num_a[indices],
            self.targets[indices],
            self.rows[indices],
        )


def collate(
    data: EncodedRows, indices: np.ndarray, device: torch.device | str = "cpu", multiple: int = 1
) -> Batch:
    """Pack the examples at `indices`, in that order, and fill up to a multiple of `multiple` rows."""
    lengths, num_a = (one[indices].reshape(-1) for one in data.sequences)
    positions = _counted_up(lengths)  # 0, 1, 2 ... within each sequence
    whole = data.lengths[indices]
    source = (positions if len(whole) == len(lengths) else _counted_up(whole)) + np.repeat(
        data.bounds[indices], whole
    )
    total = len(source)
    segments = positions >= np.repeat(num_a, lengths)

    def tensor(array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array, np.int64))

    filler = (0, -total % multiple)
    states = data.states
    if states is not None:
        is_firsts = len(states) == len(data)
        states = states[torch.from_numpy(np.asarray(indices) if is_firsts else source)]
    targets, chosen = data.targets[indices if not data.is_of_tokens else source], None
    if data.is_of_tokens:
        rows = np.flatnonzero(targets != NOT_ASKED)
        targets, chosen = targets[rows], tensor(rows)
    batch = Batch(
        input_ids=tensor(np.pad(data.input_ids[source], filler)),
        token_type_ids=tensor(np.pad(segments, filler)),
        position_ids=tensor(np.pad(positions, filler)),
        bounds=Bounds(lengths.tolist()),
        targets=torch.from_numpy(np.ascontiguousarray(targets, _NUMBERS.get(targets.dtype.kind, np.int64))),
        indices=np.asarray(indices),
        states=states,
        chosen=chosen,
    )
    return batch.to(device)


def _counted_up(lengths: np.ndarray) -> np.ndarray:
    """Return 0, 1, 2 ... within each of some stretches, end to end."""
    found: np.ndarray = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return found


def epoch_batches(lengths: np.ndarray, batch_size: int, seed: int, epoch: int) -> list[np.ndarray]:
    """Return the batches of one epoch: every example once, near-equal lengths together, in random order.

    The same (seed, epoch) gives the same batches, so a run resumes from three numbers. Each batch holds
    batch_size examples; the last example(s) of the epoch make one smaller batch. Inside a batch the longest
    come first.

    Args: lengths: (E,) tokens of each example.
    """
    keys = np.random.PCG64([seed, epoch]).random_raw(2 * len(lengths))  # a stream that no numpy will change
    order = np.argsort(keys[: len(lengths)], kind="stable")
    whole = len(order) - len(order) % batch_size
    batches: list[np.ndarray] = []
    span = MEGABATCH * batch_size
    for start in range(0, whole, span):
        mega = order[start : min(start + span, whole)]
        mega = mega[np.argsort(-lengths[mega], kind="stable")]
        batches.extend(mega.reshape(-1, batch_size))
    places = np.argsort(keys[len(lengths) : len(lengths) + len(batches)], kind="stable")
    shuffled = [batches[place] for place in places]
    if whole < len(order):
        rest = order[whole:]
        shuffled.append(rest[np.argsort(-lengths[rest], kind="stable")])
    return shuffled


def by_length(lengths: np.ndarray, num_tokens: int) -> Iterator[np.ndarray]:
    """Yield indices of all examples, longest first, in batches of at most `num_tokens` tokens."""
    order = np.argsort(-lengths, kind="stable")
    yield from split_by_tokens(order, lengths, num_tokens)


def split_by_tokens(indices: np.ndarray, lengths: np.ndarray, num_tokens: int) -> Iterator[np.ndarray]:
    """Yield `indices` in order, in parts of at most `num_tokens` tokens and at least one example."""
    start, total = 0, 0
    for place, index in enumerate(indices):
        if place > start and total + lengths[index] > num_tokens:
            yield indices[start:place]
            start, total = place, 0
        total += int(lengths[index])
    if start < len(indices):
        yield indices[start:]
