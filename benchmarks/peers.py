"""The peer: `transformers` with its Trainer on the same ids and weights; P0 as its examples ship, P1 tuned.

P0 is run_glue.py: every text padded to the maximum length, random order, default settings. P1 pads to the
longest of a batch, groups by length, and leaves out all that is not training. Both have sdpa and fused AdamW.
"""

from __future__ import annotations

import copy
import math
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from torch import Tensor

from benchmarks.measure import Line, Segment, Stopwatch
from engine.device import num_cores
from engine.text.batch import EncodedRows
from engine.train.prepare import Setup

# shipped: with BERT's own attention dropout; bf16: under autocast to bfloat16 on a CPU too
NAMES = ("P0", "P1", "P1-shipped", "P1-bf16")


@dataclass(frozen=True, slots=True)
class PeerSpec:
    """What a peer trains, and how."""

    name: str
    folder: Path  # the starting model
    setup: Path  # a run's setup/, from which the ids are read
    batch_size: int
    max_length: int
    device: str
    num_threads: int = 0  # 0: one for each core
    hidden_dropout: float = 0.1
    attention_dropout: float = 0.0


def serve(line: Line, spec: PeerSpec) -> None:
    """Train in the Trainer's own loop, as many steps at a time as asked for."""
    torch.set_num_threads(spec.num_threads or num_cores())
    data = Setup.load(spec.setup).sets["train"]
    with tempfile.TemporaryDirectory() as folder:
        trainer = (_trainer_p0 if spec.name == "P0" else _trainer_p1)(spec, data, folder)
        trainer.add_callback(_Turns(line, trainer))
        trainer.train()


class _Trainer(transformers.Trainer):
    """Counts tokens and slots without looking at them, so that nothing waits for the GPU."""

    def training_step(self, model: Any, inputs: dict[str, Tensor], *args: Any) -> Tensor:
        if not hasattr(self, "counts"):
            self.counts: list[tuple[Tensor, int]] = []
        mask = inputs["attention_mask"]
        self.counts.append((mask.sum(), mask.numel()))
        return super().training_step(model, inputs, *args)

    def take_counts(self) -> tuple[int, int]:
        """Return tokens and slots since the last look."""
        counts, self.counts = self.counts, []
        return sum(int(tokens) for tokens, _ in counts), sum(slots for _, slots in counts)


class _Turns(transformers.TrainerCallback):
    """Stands still between two turns, in the middle of the Trainer's loop."""

    def __init__(self, line: Line, trainer: _Trainer) -> None:
        self._line, self._trainer = line, trainer
        self._left = 0
        self._clock = Stopwatch()
        self._asked = 0

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step == 0:
            self._line.send("ready")
            self._wait(control)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._left -= 1
        if self._left == 0:
            self._line.send(self._segment())
            self._wait(control)

    def _segment(self) -> Segment:
        tokens, slots = self._trainer.take_counts()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        return self._clock.segment(self._asked, tokens, slots)

    def _wait(self, control: Any) -> None:
        question = self._line.recv()
        if question is None:
            control.should_training_stop = True
            return
        self._asked = self._left = question
        self._clock = Stopwatch()


def _trainer_p0(spec: PeerSpec, data: EncodedRows, folder: str) -> _Trainer:
    from datasets import Dataset

    args = transformers.TrainingArguments(
        folder,
        per_device_train_batch_size=spec.batch_size,
        num_train_epochs=10_000,
        use_cpu=spec.device == "cpu",
    )
    rows = [_padded(row, spec.max_length) for row in _rows(data)]
    table = Dataset.from_dict({name: [row[name] for row in rows] for name in rows[0]})
    collator = transformers.default_data_collator
    return _Trainer(model_of(spec), args, train_dataset=table, data_collator=collator)


def _trainer_p1(spec: PeerSpec, data: EncodedRows, folder: str) -> _Trainer:
    on_gpu = spec.device == "cuda"
    args = quiet_arguments(
        folder,
        per_device_train_batch_size=spec.batch_size,
        num_train_epochs=10_000,
        train_sampling_strategy="group_by_length",
        bf16=on_gpu or spec.name == "P1-bf16",
        tf32=True if on_gpu else None,
        dataloader_pin_memory=on_gpu,
        dataloader_num_workers=4 if on_gpu else 0,
        dataloader_persistent_workers=on_gpu,
        use_cpu=not on_gpu,
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(spec.folder)
    collator = transformers.DataCollatorWithPadding(tokenizer)
    rows: Any = list(_rows(data))
    return _Trainer(
        model_of(spec), args, train_dataset=rows, data_collator=collator, processing_class=tokenizer
    )


def quiet_arguments(folder: str | Path, **changes: Any) -> transformers.TrainingArguments:
    """Return the Trainer's settings for training alone: nothing is logged, saved or measured."""
    return transformers.TrainingArguments(
        str(folder),
        optim="adamw_torch_fused",
        remove_unused_columns=False,
        logging_strategy="no",
        logging_nan_inf_filter=False,
        save_strategy="no",
        eval_strategy="no",
        report_to="none",
        disable_tqdm=True,
        **changes,
    )


def model_of(spec: PeerSpec) -> Any:
    """Return the peer's classifier with the folder's weights."""
    return transformers.AutoModelForSequenceClassification.from_pretrained(
        spec.folder,
        attn_implementation="sdpa",
        hidden_dropout_prob=spec.hidden_dropout,
        attention_probs_dropout_prob=0.1 if spec.name == "P1-shipped" else spec.attention_dropout,
    )


def _rows(data: EncodedRows) -> Iterable[dict[str, Any]]:
    kind = np.int64 if data.targets.dtype.kind in "iu" else np.float32  # several labels, or a number
    for i in range(len(data)):
        ids = data.input_ids[data.bounds[i] : data.bounds[i + 1]].tolist()
        first = int(data.num_a[i])
        yield {
            "input_ids": ids,
            "token_type_ids": [0] * first + [1] * (len(ids) - first),
            "attention_mask": [1] * len(ids),
            "label": np.asarray(data.targets[i], kind).tolist(),
        }


def _padded(row: dict[str, Any], length: int) -> dict[str, Any]:
    filler = [0] * (length - len(row["input_ids"]))  # [PAD] is 0
    return {name: value if name == "label" else value + filler for name, value in row.items()}


# --- the same batches by hand, for curves ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Curve:
    """Loss and gradient norm (before clipping) of every step."""

    losses: np.ndarray
    norms: np.ndarray


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the weights move; the words of `engine.settings.finetune.TrainingConfig`."""

    learning_rate: float
    warmup_ratio: float = 0.1
    weight_decay: float = 0.01
    max_gradient_norm: float = 1.0


def train_by_hand(
    model: Any,
    data: EncodedRows,
    steps: Sequence[Sequence[np.ndarray]],
    recipe: Recipe,
    device: str = "cpu",
) -> Curve:
    """Train a copy of a `transformers` classifier with its own and torch's parts; return its curve.

    Args: steps: of each step, its batches (indices into `data`); more than one are accumulated.
    """
    model = copy.deepcopy(model).to(device).train()
    rows = list(_rows(data))
    plain = [p for name, p in model.named_parameters() if "LayerNorm" in name or name.endswith("bias")]
    decayed = [p for name, p in model.named_parameters() if all(p is not other for other in plain)]
    groups = [
        {"params": decayed, "weight_decay": recipe.weight_decay},
        {"params": plain, "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=recipe.learning_rate, fused=True)
    warmup = math.ceil(len(steps) * recipe.warmup_ratio)
    schedule = transformers.get_linear_schedule_with_warmup(optimizer, warmup, len(steps))
    losses, norms = [], []
    for batches in steps:
        total = sum(len(batch) for batch in batches)
        summed = 0.0
        for batch in batches:
            with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
                loss = model(**_collated([rows[i] for i in batch], device)).loss * (len(batch) / total)
            loss.backward()
            summed += float(loss.detach())
        losses.append(summed)
        norms.append(float(torch.nn.utils.clip_grad_norm_(model.parameters(), recipe.max_gradient_norm)))
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    return Curve(np.array(losses), np.array(norms))


def _collated(rows: list[dict[str, Any]], device: str) -> dict[str, Tensor]:
    longest = max(len(row["input_ids"]) for row in rows)
    padded = [_padded(row, longest) for row in rows]
    names = {"label": "labels"}
    return {
        names.get(name, name): torch.tensor([row[name] for row in padded]).to(device) for name in padded[0]
    }
