"""One batch learned from in two ways: its loss and every gradient side by side.

Texts are ragged and batches have 0, 1 or 31 rows of filler; memory is full of NaN before each, so that
whoever reads what he did not write is found out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from engine.device import Device, open_device
from engine.model.bert import initialize
from engine.model.config import BertConfig
from engine.model.heads import PreTraining, SequenceClassifier
from engine.model.kernels import ROW_MULTIPLE
from engine.settings.shared import DeviceConfig
from engine.text.batch import Batch, Bounds, EncodedRows, collate
from engine.text.corpus.instances import MaskedBatch
from engine.train.pretraining.language import LanguageModel
from engine.train.tasks.classification.task import Classification

# B examples, T tokens of the longest, N tokens of all examples packed and their filler

RAGGED = {0: (61, 40, 40, 19), 1: (61, 40, 40, 18), 31: (61, 40, 21, 7)}  # rows of filler -> lengths
LABELS = ("bad", "good", "odd")
VOCAB = 997
SHAPE = {
    "vocab_size": VOCAB,
    "hidden_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 512,
    "max_position_embeddings": 64,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}
# how far a gradient may lie off, of its own size: rounding in float32, in another order or on another
# device; in bfloat16, whose three digits are lost anew in every layer
SAME, OTHER_DEVICE, LOW, LOW_BESIDE_FULL = 2e-5, 1e-3, 0.03, 0.04


@dataclass(frozen=True, slots=True)
class Learned:
    """The loss of a batch, and the gradient of every weight, on the CPU in float32."""

    loss: float
    gradients: dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two ways to learn from the same batch. limit: how far they may lie apart, of a gradient's size."""

    name: str
    found: Learned
    wanted: Learned
    limit: float

    def off(self) -> tuple[float, str]:
        """Return how far the worst gradient lies off, of its size, and its name; infinite where it is NaN.

        A gradient that is as good as zero is measured by a hundredth of what others are.
        """
        sizes = {name: float(gradient.norm()) for name, gradient in self.wanted.gradients.items()}
        least = 0.01 * float(np.median(list(sizes.values())))
        errors = {
            name: float((gradient - self.wanted.gradients[name]).norm()) / (sizes[name] + least)
            for name, gradient in self.found.gradients.items()
        }
        worst = max(errors, key=lambda name: np.nan_to_num(errors[name], nan=np.inf))
        return float(np.nan_to_num(errors[worst], nan=np.inf)), worst

    @property
    def passed(self) -> bool:
        """Whether loss and all gradients agree."""
        same = self.found.gradients.keys() == self.wanted.gradients.keys()
        near = abs(self.found.loss - self.wanted.loss) <= self.limit * abs(self.wanted.loss)
        return same and near and self.off()[0] <= self.limit

    def figures(self) -> str:
        """Return the figures in words."""
        off, name = self.off()
        loss = f"loss {self.found.loss:.5f} and {self.wanted.loss:.5f}"
        count = len(self.found.gradients)
        return f"{loss}; of {count} gradients the worst is {off:.1e} off, {name} (at most {self.limit:.0e})"


def pairs(has_gpu: bool) -> Iterator[Pair]:
    """Yield every pair that can be made here."""
    cpu = open_device(DeviceConfig(device="cpu", precision="float32"))
    for kind in ("pretraining", "classification"):
        for filler, lengths in RAGGED.items():
            about = f"{kind}, {filler} rows of filler"
            full = learned(kind, lengths, cpu)
            padded = learned(kind, lengths, cpu, is_padded=True)
            yield Pair(f"{about}: packed beside padded, CPU float32", full, padded, SAME)
            if not has_gpu:
                continue
            exact = open_device(DeviceConfig(device="cuda", precision="float32"))
            found = learned(kind, lengths, exact)
            yield Pair(f"{about}: GPU float32 beside CPU float32", found, full, OTHER_DEVICE)
            low = open_device(DeviceConfig(device="cuda"))
            if low.precision == torch.float32:
                continue
            found = learned(kind, lengths, low)
            runs = learned(kind, lengths, low, by_runs=True)
            yield Pair(f"{about}: packed kernel beside run by run, GPU bfloat16", found, runs, LOW)
            yield Pair(f"{about}: GPU bfloat16 beside CPU float32", found, full, LOW_BESIDE_FULL)


def learned(
    kind: str, lengths: tuple[int, ...], device: Device, *, is_padded: bool = False, by_runs: bool = False
) -> Learned:
    """Return what is learned from one batch. Args: by_runs: without the GPU's packed attention kernel."""
    batch: Batch | MaskedBatch
    model: PreTraining | SequenceClassifier
    task: LanguageModel | Classification
    if kind == "pretraining":
        model, task, batch = PreTraining(BertConfig(**SHAPE)), LanguageModel(True), masked_batch(lengths)
    else:
        model = SequenceClassifier(BertConfig(**SHAPE, id2label=LABELS))
        task, batch = Classification(LABELS), labelled_batch(lengths)
    initialize(model, 0.05, seed=1)
    model.to(device.device).train()
    totals = task.count([batch])
    batch = batch.to(device.device)
    poison(device.device)
    kernel: AbstractContextManager[object] = nullcontext()
    if by_runs:
        kernel = patch("engine.model.attention._has_varlen", lambda *_: False)
    with kernel:
        with device.autocast():
            loss = padded_loss(model, batch) if is_padded else task.loss(model, batch, totals)[0]
        poison(device.device)
        loss.backward()
    found = {n: p.grad.to_dense().float().cpu() for n, p in model.named_parameters() if p.grad is not None}
    return Learned(float(loss.detach()), found)


def poison(device: torch.device) -> None:
    """Fill free memory with NaN, so that memory which nobody writes does not look like zeros."""
    left = [torch.full((2**size,), torch.nan, device=device) for size in range(4, 22) for _ in range(6)]
    del left  # the allocators hand these out again, as they are


def padded_loss(model: nn.Module, batch: Batch | MaskedBatch) -> Tensor:
    """Return the loss of a batch laid out anew as (B, T) with an attention mask."""
    bounds, device = batch.bounds, batch.input_ids.device
    longest = bounds.max_length
    starts = np.cumsum((0, *bounds.lengths))[:-1]
    places = np.concatenate(
        [number * longest + np.arange(length) for number, length in enumerate(bounds.lengths)]
    )
    where = torch.from_numpy(places).to(device)  # row of the packed batch -> place in (B * T)

    def spread(rows: Tensor) -> Tensor:
        flat = rows.new_zeros(len(starts) * longest)
        return flat.index_copy(0, where, rows[: bounds.num_tokens]).view(len(starts), longest)

    mask = spread(torch.ones_like(batch.input_ids))
    words = (spread(batch.input_ids), spread(batch.token_type_ids), mask)
    if isinstance(batch, Batch):
        assert batch.targets is not None
        return F.cross_entropy(model(*words).float(), batch.targets)
    out = model(*words, masked=where[batch.masked])
    summed, _ = model.masked_loss(out.hidden, batch.targets)  # type: ignore[operator]
    assert batch.is_random is not None
    return summed / len(batch.masked) + F.cross_entropy(out.next_sentence.float(), batch.is_random)


def masked_batch(lengths: tuple[int, ...], seed: int = 3) -> MaskedBatch:
    """Return made-up pairs of texts, packed, a seventh of their pieces hidden."""
    rng = np.random.default_rng(seed)
    real = sum(lengths)
    filler = (0, -real % ROW_MULTIPLE)
    masked = np.sort(rng.choice(real, max(1, real // 7), replace=False))
    segments = np.concatenate([np.arange(length) > length // 2 for length in lengths]).astype(np.int64)
    return MaskedBatch(
        input_ids=torch.from_numpy(np.pad(rng.integers(5, VOCAB, real), filler)),
        token_type_ids=torch.from_numpy(np.pad(segments, filler)),
        position_ids=torch.from_numpy(np.pad(np.concatenate([np.arange(n) for n in lengths]), filler)),
        bounds=Bounds(lengths),
        masked=torch.from_numpy(masked),
        targets=torch.from_numpy(rng.integers(5, VOCAB, len(masked))),
        is_random=torch.from_numpy(rng.integers(0, 2, len(lengths))),
        actions=np.zeros(len(masked), np.uint8),
    )


def labelled_batch(lengths: tuple[int, ...], seed: int = 4) -> Batch:
    """Return made-up texts with labels, packed."""
    rng = np.random.default_rng(seed)
    pieces = [rng.integers(5, VOCAB, length).astype(np.int32) for length in lengths]
    labels = rng.integers(0, len(LABELS), len(lengths)).tolist()
    rows = list(range(len(lengths)))
    examples = EncodedRows.from_pieces(pieces, [length // 2 for length in lengths], labels, rows)
    return collate(examples, np.arange(len(lengths)), multiple=ROW_MULTIPLE)
