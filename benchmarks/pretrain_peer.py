"""The peer of pretraining: `BertForMaskedLM` in the Trainer with run_mlm.py's collator, on Cloze's blocks.

P1 is run_mlm.py tuned: full blocks, sdpa attention, fused AdamW, nothing logged or saved. Its vocabulary head
is computed for every position, as published. One process serves all variants, which differ in dropout alone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from torch import Tensor, nn

from benchmarks.measure import Line, Stopwatch
from benchmarks.peers import quiet_arguments
from benchmarks.pretrain_work import memory
from engine.device import num_cores
from engine.text.corpus.instances import MaskedBatch, joined, single
from engine.text.corpus.tokens import TokenStore
from engine.text.wordpiece import WordPiece

IGNORED = -100  # torch's label of what is not to be guessed


@dataclass(frozen=True, slots=True)
class PeerSpec:
    """What the peer trains. dropouts: of each variant, on hidden states and on attention weights."""

    model: Path
    tokens: Path  # Cloze's token store
    max_length: int
    batch_size: int
    learning_rate: float
    dropouts: dict[str, tuple[float, float]]
    num_threads: int = 0  # 0: one for each core


def serve(line: Line, spec: PeerSpec) -> None:
    """Train in the Trainer's own loop, for as many seconds at a time as asked for.

    It has the memory settings of engine.device: some 6 % faster so than with those of the C library.
    """
    torch.set_num_threads(spec.num_threads or num_cores())
    args = arguments_on_cpu(
        spec.model.parent / "peer",
        per_device_train_batch_size=spec.batch_size,
        num_train_epochs=10_000,
        learning_rate=spec.learning_rate,
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(spec.model)
    rows: Any = list(blocks(spec))
    trainer = transformers.Trainer(
        masked_language_model(spec.model),
        args,
        train_dataset=rows,
        data_collator=transformers.DataCollatorForLanguageModeling(tokenizer),
        processing_class=tokenizer,
    )
    trainer.add_callback(_Turns(line, spec, trainer.model))
    trainer.train()


def arguments_on_cpu(folder: Path, **changes: Any) -> transformers.TrainingArguments:
    """Return the Trainer's settings for training alone, on the CPU."""
    return quiet_arguments(folder, use_cpu=True, dataloader_pin_memory=False, **changes)


class _Turns(transformers.TrainerCallback):
    """Stands still between two turns, in the middle of the Trainer's loop."""

    def __init__(self, line: Line, spec: PeerSpec, model: Any) -> None:
        self._line, self._spec, self._model = line, spec, model
        self._clock, self._end, self._done = Stopwatch(), 0.0, 0

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step == 0:
            self._line.send("ready")
            self._wait()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._done += 1
        if time.perf_counter() >= self._end:
            tokens = self._done * self._spec.batch_size * self._spec.max_length  # the blocks are full
            self._line.send(self._clock.segment(self._done, tokens))
            self._wait()

    def _wait(self) -> None:
        while (question := self._line.recv()) == "memory":
            self._line.send(memory())
        if question is None:
            os._exit(0)  # what the Trainer does at its end takes longer than a turn
        variant, seconds = question
        set_dropout(self._model, *self._spec.dropouts[variant])
        self._clock, self._end, self._done = Stopwatch(), time.perf_counter() + seconds, 0


def blocks(spec: PeerSpec, documents: np.ndarray | None = None) -> Iterator[dict[str, list[int]]]:
    """Yield the rows that run_mlm.py would hand over: Cloze's full blocks, of all documents or some."""
    store, wordpiece = TokenStore.open(spec.tokens), WordPiece.from_folder(spec.model)
    documents = np.arange(store.num_documents) if documents is None else documents
    length = spec.max_length
    made = single(store, documents, max_length=length, seed=0, epoch=0)
    whole = np.flatnonzero(made.lengths == length)
    ids, types, *_ = joined(store, made, whole, wordpiece.cls_id, wordpiece.sep_id)
    special = np.isin(ids, (wordpiece.cls_id, wordpiece.sep_id))
    columns = {"input_ids": ids, "token_type_ids": types, "special_tokens_mask": special}
    table = {name: column.astype(int).reshape(-1, length).tolist() for name, column in columns.items()}
    for row in zip(*table.values(), strict=True):
        yield {**dict(zip(table, row, strict=True)), "attention_mask": [1] * length}


def masked_language_model(folder: Path) -> Any:
    """Return the peer's model with the folder's weights."""
    return transformers.AutoModelForMaskedLM.from_pretrained(folder, attn_implementation="sdpa")


def set_dropout(model: Any, hidden: float, attention: float) -> None:
    """Set how much is switched off."""
    for name, part in model.named_modules():
        if isinstance(part, nn.Dropout):
            part.p = attention if name.endswith("attention.self.dropout") else hidden


# --- the same batches by hand, for curves ------------------------------------------------------------


def train_by_hand(
    model: Any, steps: Sequence[Sequence[MaskedBatch]], rates: Sequence[float], weight_decay: float
) -> np.ndarray:
    """Train with dropout 0, all parts of a step at once; return the loss of every step."""
    set_dropout(model.train(), 0.0, 0.0)
    decayed = [p for p in model.parameters() if p.ndim >= 2]
    plain = [p for p in model.parameters() if p.ndim < 2]
    groups = [{"params": decayed, "weight_decay": weight_decay}, {"params": plain, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, fused=True)
    losses = []
    for parts, rate in zip(steps, rates, strict=True):
        for group in optimizer.param_groups:
            group["lr"] = rate
        loss = model(**_padded(parts)).loss
        loss.backward()
        losses.append(float(loss.detach()))
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    return np.array(losses)


def _padded(parts: Sequence[MaskedBatch]) -> dict[str, Tensor]:
    """Return packed batches as rows of one length, with labels."""
    lengths = torch.tensor([length for part in parts for length in part.bounds.lengths])
    inside = torch.arange(int(lengths.max())) < lengths[:, None]
    ids = torch.cat([part.input_ids[: part.num_tokens] for part in parts])
    rows = {"input_ids": torch.zeros(inside.shape, dtype=torch.long)}
    rows["labels"] = torch.full(inside.shape, IGNORED)
    rows["input_ids"][inside] = ids
    labels = []
    for part in parts:
        labels.append(torch.full((part.num_tokens,), IGNORED))
        labels[-1][part.masked] = part.targets
    rows["labels"][inside] = torch.cat(labels)
    return {**rows, "attention_mask": inside.long()}
